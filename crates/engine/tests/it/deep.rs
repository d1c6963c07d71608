//! Nets learned by consensus: the noise keeps its promise, machines and rounds agree, a run goes on bit for bit.

use std::time::Duration;

use sottovoce_engine::deep::{Amount, Gradients, Holdings, POINTS, Run, Setting, draws, hidden};
use sottovoce_learning::images::drawn;
use sottovoce_learning::net::Net;
use sottovoce_privacy::Adversary;
use sottovoce_protocol::consensus::{At, Band, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_simulator::consensus::{ConsensusRun, ConsensusSetup};
use sottovoce_simulator::network::{Faults, Network};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::door::{Drawn, account};

fn setting(method: Method, rate: f64, amount: Amount) -> Setting {
    let (train, test) = (drawn(120, 1).unwrap(), drawn(30, 2).unwrap());
    let net = Net::perceptron(train.shape(), &[8], 10).unwrap();
    let holdings = Holdings::dealt(&train, test, 3, 0.7, 5).unwrap();
    let mixing = Mixing::new(&Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap(), Weights::Metropolis);
    let plan =
        Plan { method, iterations: 12, rates: Rates::constant(rate), optimiser: Optimiser::new(Rule::Sgd) };
    let hidden = hidden(&holdings.sizes(), (10.0, 1.0), Band::NONE, (amount, plan.draws()), None).unwrap();
    let draws = draws(&hidden, &plan, None, None).unwrap();
    Setting {
        net,
        holdings,
        mixing,
        plan,
        hidden,
        secrets: None,
        draws,
        delta: 1e-3,
        seed: 3,
        points: POINTS,
    }
}

const METHODS: [Method; 3] =
    [Method::Dsgd { at: At::Own }, Method::Dsgt, Method::Dinno { primal: 2, rho: 0.5, growth: 1.0003 }];

fn whole(setting: &Setting) -> sottovoce_engine::deep::Outcome {
    let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
    let mut run = Run::new(setting, &gradients).unwrap();
    while run.go(usize::MAX).unwrap() {}
    run.outcome().unwrap()
}

#[test]
fn machines_that_talk_and_rounds_without_messages_learn_the_same_bits() {
    for method in METHODS {
        let setting = setting(method, 0.1, Amount::Multiplier(1.0));
        let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
        let start = setting.net.start(setting.seed).into();
        let setup =
            ConsensusSetup::new(&setting.mixing, start, setting.plan, &setting.hidden, setting.seed).unwrap();
        let (network, faults) = (Network::perfect(), Faults::default());
        let by_messages = ConsensusRun { setup, network, faults, deadline: Duration::from_secs(1 << 30) };
        let talked = by_messages.run(&gradients).unwrap();
        let rounds = whole(&setting);
        assert!(talked.violations.is_empty());
        assert_eq!((talked.models, talked.draws), (rounds.models, rounds.draws), "{method:?}");
    }
}

#[test]
fn a_run_goes_on_bit_for_bit_from_any_round() {
    for method in METHODS {
        let setting = setting(method, 0.1, Amount::Multiplier(1.0));
        let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
        let mut first = Run::new(&setting, &gradients).unwrap();
        while first.go(7).unwrap() {}
        assert_eq!(first.round(), 7);
        let stored = first.checkpoint();
        let mut second = Run::new(&setting, &gradients).unwrap().resume(stored).unwrap();
        while second.go(usize::MAX).unwrap() {}
        assert_eq!(second.outcome().unwrap(), whole(&setting), "{method:?}");
    }
}

#[test]
fn everybody_keeps_the_target_by_noise_for_her_own_number_of_rows() {
    let plan = setting(Method::Dsgt, 0.1, Amount::Multiplier(1.0)).plan;
    let sizes = [40, 41, 300, 5000, 0];
    for (epsilon, delta) in [(0.5, 1e-5), (8.0, 1e-3)] {
        let hidden =
            hidden(&sizes, (20.0, 3.0), Band::NONE, (Amount::Target { epsilon, delta }, plan.draws()), None)
                .unwrap();
        let draws = draws(&hidden, &plan, None, None).unwrap();
        let run = Drawn::alone(&hidden, &draws);
        let spent = account(&run, &Adversary::WireTapper).unwrap().leakage.epsilons(delta).unwrap();
        assert!(spent[..4].iter().all(|spent| (0.999 * epsilon..=epsilon).contains(spent)), "{spent:?}");
        assert_eq!((spent[4], draws[4]), (0.0, 0));
    }
}

/// With a band what is counted is cycles, at so many times the rate: noise for a target keeps it, and a budget ends draws after the last cycle that it pays for.
#[test]
fn a_band_is_accounted_for_by_cycles() {
    let plan = Plan { iterations: 50, ..setting(Method::Dsgt, 0.1, Amount::Multiplier(1.0)).plan };
    let (sizes, lots, delta) = ([300, 5000], (20.0, 3.0), 1e-5);
    let spent = |hidden: &[Option<sottovoce_protocol::consensus::Hidden>], draws: &[usize]| {
        let run = Drawn::alone(hidden, draws);
        account(&run, &Adversary::WireTapper).unwrap().leakage.epsilons(delta).unwrap()
    };
    let band = Band { width: 8, memory: 0.95 };
    let target = Amount::Target { epsilon: 4.0, delta };
    let [alone, banded] =
        [Band::NONE, band].map(|band| hidden(&sizes, lots, band, (target, plan.draws()), None).unwrap());
    let all = draws(&banded, &plan, None, None).unwrap();
    assert_eq!(all, [50, 50]);
    assert!(spent(&banded, &all).iter().all(|spent| (3.996..=4.0).contains(spent)));
    for (one, other) in alone.iter().zip(&banded) {
        assert!(one.unwrap().multiplier < other.unwrap().multiplier);
    }
    let given = hidden(&sizes, lots, band, (Amount::Multiplier(2.5), plan.draws()), None).unwrap();
    let few = draws(&given, &plan, Some((2.0, delta)), None).unwrap();
    assert!(few[0] < 50 && few.iter().all(|draws| draws % 8 == 0 || *draws == 50), "{few:?}");
    assert!(spent(&given, &few).iter().all(|spent| *spent <= 2.0));
    assert!(spent(&given, &[few[0] + 1, few[1]])[0] > 2.0);
    // A rate of 20/300 leaves room for 15 turns.
    let wide = Band { width: 16, memory: 1.0 };
    let refused = hidden(&sizes, lots, wide, (target, plan.draws()), None).unwrap_err().to_string();
    assert!(refused.contains("`band` is 16"), "{refused}");
}

#[test]
fn models_that_are_of_no_use_end_the_run() {
    let setting = setting(Method::Dsgt, 1e9, Amount::Multiplier(1.0));
    let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
    let mut run = Run::new(&setting, &gradients).unwrap();
    let ended = loop {
        match run.go(usize::MAX) {
            Ok(true) => {}
            other => break other,
        }
    };
    assert!(ended.unwrap_err().to_string().starts_with("`rates` is too large for agent"));
}
