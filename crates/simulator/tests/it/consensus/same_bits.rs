//! By messages and without: the same bits, stored or not; and what bad networks and spent budgets do.

use std::time::Duration;

use sottovoce_protocol::Shared;
use sottovoce_protocol::consensus::{Band, Note};
use sottovoce_protocol::public::Cancelling;
use sottovoce_simulator::consensus::{Checkpoint, ConsensusOutcome, ConsensusRun, allowance};
use sottovoce_simulator::network::{Faults, Network};

use sottovoce_topology::family::{Family, generate};

use super::common::{ms, stored};
use super::*;

fn agents() -> Vec<Option<Hidden>> {
    let one = |agent: usize| if agent == 4 { None } else { hidden(10 + agent, 0.3, 1.0, 0.8) };
    (0..11).map(one).collect()
}

/// The same with correlated noise: every agent in cycles of her own.
fn banded() -> Vec<Option<Hidden>> {
    let band = |(agent, hidden): (usize, Option<Hidden>)| {
        let band = Band { width: 1 + agent % 3, memory: 0.9 };
        hidden.map(|hidden| Hidden { band, ..hidden })
    };
    agents().into_iter().enumerate().map(band).collect()
}

fn run(setup: ConsensusSetup<'_>) -> ConsensusRun<'_> {
    let (network, faults) = (Network::perfect(), Faults::default());
    ConsensusRun { setup, network, faults, deadline: Duration::MAX }
}

fn plans() -> impl Iterator<Item = Plan> {
    let adam = Optimiser { kept: false, ..Optimiser::new(Rule::ADAM) };
    let momentum = Optimiser { decay: 0.01, ..Optimiser::new(Rule::Momentum { beta: 0.5 }) };
    let with = |method, optimiser| Plan { optimiser, ..plan(method, 9) };
    METHODS.map(|method| plan(method, 9)).into_iter().chain([with(DINNO, adam), with(OWN, momentum)])
}

/// Pairs add and take away the same: by messages and without, and the mean of all models where everybody hears everybody knows nothing of it.
#[test]
fn pairs_cancel_in_the_mean_and_have_the_same_bits_by_messages() {
    let keys = generate(&Family::Complete { n: 6 }, 0, true).unwrap();
    let (mixing, bowls) = (Mixing::neighbourhoods(&keys), Bowls::new(6, 25, 5));
    let pairs = Cancelling::new(keys, 20.0).unwrap();
    let wide = Band { width: 2, memory: 0.9 };
    for (plan, band) in plans().flat_map(|plan| [(plan, Band::NONE), (plan, wide)]) {
        let one = |agent: usize| hidden(10 + agent, 0.3, 1.0, 0.8).map(|hidden| Hidden { band, ..hidden });
        let hidden: Vec<Option<Hidden>> = (0..6).map(one).collect();
        let alone = ConsensusSetup::new(&mixing, Shared::zeros(5), plan, &hidden, 5).unwrap();
        let setup = ConsensusSetup { pairs: Some(&pairs), ..alone.clone() };
        let by_messages = run(setup.clone()).run(&bowls).unwrap();
        let learned = |setup: &ConsensusSetup<'_>| {
            let mut bulk = BulkConsensus::new(setup.clone(), &bowls).unwrap();
            bulk.advance(9).unwrap();
            let settled = bulk.settled();
            // What is measured now is what one more exchange makes for good.
            bulk.advance(bulk.remaining()).unwrap();
            assert_eq!(bulk.settled(), settled);
            bulk.models().cloned().collect::<Vec<_>>()
        };
        let (models, without) = (learned(&setup), learned(&alone));
        assert_eq!(models, by_messages.models);
        assert_ne!(models, without);
    }
    // The gradient at the mixed model knows nothing of pairs, so that the means stay together.
    let hidden: Vec<Option<Hidden>> = (0..6).map(|_| hidden(12, 0.3, 1.0, 0.8)).collect();
    let alone = ConsensusSetup::new(&mixing, Shared::zeros(5), plan(MIXED, 9), &hidden, 5).unwrap();
    let means = [None, Some(&pairs)].map(|pairs| {
        let mut bulk = BulkConsensus::new(ConsensusSetup { pairs, ..alone.clone() }, &bowls).unwrap();
        bulk.advance(9).unwrap();
        let apart = bulk.disagreement();
        let mean = |i: usize| bulk.models().map(|model| f64::from(model[i])).sum::<f64>() / 6.0;
        ((0..5).map(mean).collect::<Vec<f64>>(), apart)
    });
    for (one, other) in means[0].0.iter().zip(&means[1].0) {
        assert!((one - other).abs() < 1e-5, "{one} {other}");
    }
    // One exchange takes it away.
    assert!(means[1].1 < 1e-6 && means[0].1 > 1e-3, "{} {}", means[1].1, means[0].1);
}

#[test]
fn pairs_that_would_not_cancel_are_refused() {
    let mixing = weights(11);
    let keys = |n| generate(&Family::Complete { n }, 0, true).unwrap();
    let all: Vec<Option<Hidden>> = (0..11).map(|agent| hidden(10 + agent, 0.3, 1.0, 0.8)).collect();
    let refused = |hidden: &[Option<Hidden>], n: usize, kappa: f64| {
        let pairs = Cancelling::new(keys(n), kappa).unwrap();
        let setup = ConsensusSetup::new(&mixing, Shared::zeros(5), plan(OWN, 9), hidden, 5).unwrap();
        let setup = ConsensusSetup { pairs: Some(&pairs), ..setup };
        BulkConsensus::new(setup, &Bowls::new(11, 25, 5)).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(&all, 10, 3.0).contains("keys"));
    assert!(refused(&all, 11, 2e3).contains("single precision"));
    assert!(refused(&agents(), 11, 3.0).contains("agent 4"));
    let silent: Vec<Option<Hidden>> = (0..11).map(|agent| hidden(10 + agent, 0.3, 1.0, 0.0)).collect();
    assert!(refused(&silent, 11, 3.0).contains("cancel"));
    let mut mixed = all.clone();
    mixed[3] = mixed[3].map(|hidden| Hidden { band: Band { width: 2, memory: 0.9 }, ..hidden });
    assert!(refused(&mixed, 11, 3.0).contains("band"));
}

#[test]
fn without_messages_the_bits_are_those_of_the_machines_whatever_the_threads() {
    let (mixing, bowls) = (weights(11), Bowls::new(11, 25, 5));
    for (plan, hidden) in plans().flat_map(|plan| [(plan, agents()), (plan, banded())]) {
        let mut setup = ConsensusSetup::new(&mixing, Shared::zeros(5), plan, &hidden, 5).unwrap();
        // One whose budget ends before the plan: with two primal steps, in the midst of an iteration.
        setup.allowances[6] = allowance(hidden[6].as_ref(), 5).unwrap();
        let by_messages = run(setup.clone()).run(&bowls).unwrap();
        assert!(by_messages.violations.is_empty());
        let mut draws = vec![plan.draws(); 11];
        (draws[4], draws[6]) = (0, 5);
        assert_eq!(by_messages.draws, draws);
        // One release for each draw, or for each cycle that was begun.
        for (agent, hidden) in hidden.iter().enumerate() {
            let released = by_messages.transcript.releases.iter().filter(|(who, _)| *who == agent).count();
            assert_eq!(released, hidden.map_or(0, |hidden| hidden.releases(draws[agent])));
        }
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut bulk = BulkConsensus::new(setup.clone(), &bowls).unwrap();
                while bulk.remaining() > 0 {
                    bulk.advance(2).unwrap();
                }
                assert!(bulk.models().eq(&by_messages.models), "{plan:?}, {threads} threads");
                assert_eq!(bulk.draws(), draws);
                assert!(bulk.allowances().eq(&by_messages.allowances));
                assert_eq!(bulk.sent(), by_messages.sent * (plan.vectors() * 5) as u64);
            });
        }
    }
}

#[test]
fn a_machine_can_be_stored_after_every_step_and_a_run_after_every_iteration() {
    let (mixing, bowls, hidden) = (weights(11), Bowls::new(11, 25, 5), banded());
    for plan in plans() {
        let setup = ConsensusSetup::new(&mixing, Shared::zeros(5), plan, &hidden, 5).unwrap();
        let run = run(setup.clone());
        let once = run.run(&bowls).unwrap();
        let simulation = run.simulation(&bowls).unwrap();
        let fresh = simulation.machines().to_vec();
        let again = ConsensusOutcome::of(simulation.between(stored(fresh)).end(|_| {}));
        assert_eq!(once, again);
        let new = || BulkConsensus::new(setup.clone(), &bowls).unwrap();
        let mut bulk = new();
        while bulk.remaining() > 0 {
            let bytes = postcard::to_stdvec(&bulk.checkpoint()).unwrap();
            bulk = new().resume(postcard::from_bytes::<Checkpoint>(&bytes).unwrap()).unwrap();
            bulk.advance(1).unwrap();
        }
        assert!(bulk.models().eq(&once.models) && bulk.allowances().eq(&once.allowances));
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let (mixing, bowls, hidden) = (weights(11), Bowls::new(11, 25, 5), agents());
    let setup = |method, width: usize| {
        ConsensusSetup::new(&mixing, Shared::zeros(width), plan(method, 9), &hidden, 5).unwrap()
    };
    let mut bulk = BulkConsensus::new(setup(OWN, 5), &bowls).unwrap();
    bulk.advance(7).unwrap();
    let checkpoint = bulk.checkpoint();
    let refused = |setup| {
        let bulk = BulkConsensus::new(setup, &bowls).unwrap();
        bulk.resume(checkpoint.clone()).map(drop).unwrap_err().to_string()
    };
    for other in [setup(Method::Dsgt, 5), setup(MIXED, 5), setup(OWN, 4)] {
        assert!(refused(other).contains("another run"));
    }
    let mut poor = setup(OWN, 5);
    poor.allowances[2] = allowance(hidden[2].as_ref(), 6).unwrap();
    assert!(refused(poor).contains("room for 6 releases"));
}

/// What is sent is shared with what is kept.
#[test]
fn a_message_costs_no_copy() {
    let learner = sottovoce_protocol::consensus::Learner::new(Method::Dsgt, Shared::zeros(1000));
    let (one, other) = (learner.said(), learner.said());
    assert!(std::ptr::eq(&one.model[..], &learner.model()[..]));
    assert!(std::ptr::eq(&one.tracker.unwrap()[..], &other.tracker.unwrap()[..]));
}

/// On a bad network agents go on without those they miss. Everybody makes all draws, and none twice.
#[test]
fn lost_late_and_repeated_messages_cost_no_draw() {
    let (mixing, bowls, hidden) = (weights(11), Bowls::new(11, 25, 5), agents());
    let network = Network { drop: 0.2, duplicate: 0.2, timeout: Some(ms(20)), ..Network::perfect() };
    let faults = Faults { crashes: vec![(9, ms(90))], ..Faults::default() };
    for plan in plans() {
        let setup = ConsensusSetup::new(&mixing, Shared::zeros(5), plan, &hidden, 5).unwrap();
        let bad = ConsensusRun { network, faults: faults.clone(), ..run(setup) };
        let outcome = bad.run(&bowls).unwrap();
        assert!(outcome.violations.is_empty() && outcome.lost > 20);
        let count = |wanted: &dyn Fn(&Note) -> bool| {
            outcome.transcript.notes.iter().filter(|(_, note)| wanted(note)).count()
        };
        assert_eq!(count(&|note| *note == Note::Finished), 10);
        assert!(count(&|note| matches!(note, Note::Missed { .. })) > 20);
        for agent in (0..11).filter(|agent| ![4, 9].contains(agent)) {
            assert_eq!(outcome.draws[agent], plan.draws());
        }
        assert!(outcome.draws[9] < plan.draws() && outcome.allowances[4].spent() == 0.0);
        let simulation = bad.simulation(&bowls).unwrap();
        let fresh = simulation.machines().to_vec();
        assert_eq!(ConsensusOutcome::of(simulation.between(stored(fresh)).end(|_| {})), outcome);
    }
}

/// Fewer draws than planned where the budget says so, by the certified accountant; and not one more.
#[test]
fn draws_stop_at_the_budget() {
    let (mixing, bowls) = (weights(11), Bowls::new(11, 25, 2));
    let hidden: Vec<_> =
        (0..11).map(|agent| hidden(25, if agent < 5 { 0.05 } else { 0.2 }, 1.0, 1.1)).collect();
    let setup = ConsensusSetup::new(&mixing, Shared::zeros(2), plan(OWN, 60), &hidden, 5).unwrap();
    let setup = setup.within(2.0, 1e-3).unwrap();
    let mut bulk = BulkConsensus::new(setup, &bowls).unwrap();
    bulk.advance(60).unwrap();
    for (draws, hidden) in bulk.draws().into_iter().zip(&hidden) {
        let epsilon = |draws: usize| {
            let mut all = sottovoce_privacy::Accountant::new(sottovoce_privacy::Adjacency::AddRemove);
            all.compose(hidden.unwrap().lots.mechanism(1.1).unwrap(), draws as u64).unwrap();
            all.epsilon(1e-3).unwrap().upper
        };
        assert!(draws == 60 || epsilon(draws + 1) > 2.0, "{draws}");
        assert!(epsilon(draws) <= 2.0 * (1.0 + 1e-9) && draws > 0);
    }
    assert!(bulk.draws()[10] < 60 && bulk.draws()[0] > bulk.draws()[10]);
    let setup = ConsensusSetup::new(&mixing, Shared::zeros(2), plan(OWN, 60), &hidden, 5).unwrap();
    assert!(setup.within(1e-4, 1e-9).unwrap_err().to_string().contains("draws"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let (mixing, good) = (weights(11), agents());
    let refused = |plan: Plan, hidden: &[Option<Hidden>], start: Vec<f32>| {
        let setup = ConsensusSetup::new(&mixing, Shared::from(start), plan, hidden, 1);
        setup.map(drop).map_err(|error| error.to_string()).err().unwrap_or_default()
    };
    let start = || vec![0.0; 2];
    let plain = plan(OWN, 3);
    assert_eq!(refused(plain, &good, start()), "");
    assert!(refused(plain, &good[1..], start()).contains("`hidden` is 10"));
    assert!(refused(plain, &good, vec![]).contains("start"));
    assert!(refused(plain, &good, vec![f32::NAN]).contains("start"));
    let rates = Rates { start: 0.1, finish: 0.0 };
    assert!(refused(Plan { rates, ..plain }, &good, start()).contains("rates"));
    let optimiser = Optimiser::new(Rule::Momentum { beta: 1.0 });
    assert!(refused(Plan { optimiser, ..plain }, &good, start()).contains("`beta` is 1"));
    assert!(refused(Plan { optimiser, ..plan(Method::Dsgt, 3) }, &good, start()).contains("beta"));
    let optimiser = Optimiser::new(Rule::ADAM);
    assert!(refused(Plan { optimiser, ..plan(Method::Dsgt, 3) }, &good, start()).contains("optimiser"));
    let optimiser = Optimiser { decay: f64::NAN, ..Optimiser::new(Rule::Sgd) };
    assert!(refused(Plan { optimiser, ..plain }, &good, start()).contains("decay"));
    for (primal, rho) in [(0, 0.5), (1, 0.0), (1, f64::NAN)] {
        let method = Method::Dinno { primal, rho, growth: 1.0 };
        assert!(!refused(plan(method, 3), &good, start()).is_empty());
    }
    for (clip, multiplier) in [(0.0, 1.0), (f64::INFINITY, 1.0), (1.0, -1.0), (1.0, f64::NAN)] {
        let bad = vec![hidden(10, 0.5, clip, multiplier); 11];
        assert!(!refused(plain, &bad, start()).is_empty(), "{clip} {multiplier}");
    }
    assert_eq!(refused(plain, &vec![hidden(10, 0.5, f64::INFINITY, 0.0); 11], start()), "");
    for (width, memory) in [(0, 1.0), (3, 1.0), (2, 0.0), (2, f64::NAN)] {
        let band = Band { width, memory };
        let bad = vec![hidden(10, 0.5, 1.0, 1.0).map(|hidden| Hidden { band, ..hidden }); 11];
        assert!(!refused(plain, &bad, start()).is_empty(), "{band:?}");
    }
}

/// Rates that are too large are found, and nothing after them is computed.
#[test]
fn what_diverges_is_found() {
    let (mixing, bowls) = (weights(11), Bowls::new(11, 25, 2));
    let open = vec![hidden(25, 0.5, f64::INFINITY, 0.0); 11];
    let wild = Plan { rates: Rates::constant(1e6), ..plan(OWN, 60) };
    let setup = ConsensusSetup::new(&mixing, Shared::zeros(2), wild, &open, 5).unwrap();
    let outcome = run(setup.clone()).run(&bowls).unwrap();
    let mut bulk = BulkConsensus::new(setup, &bowls).unwrap();
    assert!(bulk.advance(60).unwrap_err().to_string().contains("lower the rates"));
    let diverged = |note: &Note| matches!(note, Note::Diverged { .. } | Note::Unhidden);
    assert!(outcome.transcript.notes.iter().any(|(_, note)| diverged(note)));
    assert!(outcome.transcript.notes.iter().all(|(_, note)| *note != Note::Finished));
}
