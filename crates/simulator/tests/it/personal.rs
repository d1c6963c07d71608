//! Personalised models: by messages and without, on good and bad networks, with people who come and go.

use crate::common;

use std::sync::Arc;
use std::time::Duration;

use common::stored;
use sottovoce_protocol::personal::{Hidden, Note, Plan, Rule, Warm};
use sottovoce_protocol::{Law, Peer, Release};
use sottovoce_simulator::network::{Absence, Faults, Network};
use sottovoce_simulator::personal::{FastPersonal, PersonalOutcome, PersonalRun, PersonalSetup, Rows};
use sottovoce_topology::Similarity;

const HOUR: Duration = Duration::from_secs(3600);

/// The own loss of an agent is `k/2 |theta - b|²`.
struct Bowls {
    steepness: Vec<f64>,
    bottoms: Vec<Vec<f64>>,
}

impl Bowls {
    fn new(agents: usize, width: usize) -> Self {
        let number = |i: usize| ((i * 7919 + 13) % 1000) as f64 / 500.0 - 1.0;
        Self {
            steepness: (0..agents).map(|agent| 0.5 + (agent % 5) as f64).collect(),
            bottoms: (0..agents)
                .map(|agent| (0..width).map(|k| number(agent * width + k)).collect())
                .collect(),
        }
    }
}

impl Rows for Bowls {
    fn gradient(&self, agent: Peer, _: usize, model: &[f64], out: &mut [f64]) {
        for ((slope, x), bottom) in out.iter_mut().zip(model).zip(&self.bottoms[agent]) {
            *slope = self.steepness[agent] * (x - bottom);
        }
    }

    fn local(&self, agent: Peer, out: &mut [f64]) {
        out.copy_from_slice(&self.bottoms[agent]);
    }
}

const MU: f64 = 0.4;
const RIDGE: f64 = 0.1;

/// A ring with chords of unlike weights.
fn similar(agents: usize) -> Similarity {
    let ring = (0..agents).map(|u| (u, (u + 1) % agents, 1.0 + (u % 3) as f64));
    let chords = (0..agents / 2).step_by(3).map(|u| (u, u + agents / 2, 0.25));
    Similarity::new(agents, &ring.chain(chords).collect::<Vec<_>>()).unwrap()
}

fn confidence(agent: usize) -> f64 {
    0.2 + 0.1 * (agent % 8) as f64
}

fn plan(agent: usize, steepness: f64, updates: usize, law: Law, multiplier: f64) -> Plan {
    let rule = Rule::step(MU * confidence(agent), RIDGE, steepness + RIDGE);
    let multipliers: Arc<[f64]> = (0..updates).map(|k| multiplier * (1.0 + k as f64 / 10.0)).collect();
    let hidden = Hidden { law, sensitivity: 0.5, multipliers };
    Plan { rule, updates, hidden: Some(hidden), warm: None, repeats: 0, patience: None }
}

fn plans(bowls: &Bowls, updates: usize, law: Law, multiplier: f64) -> Vec<Plan> {
    let of = |(agent, &steepness)| plan(agent, steepness, updates, law, multiplier);
    bowls.steepness.iter().enumerate().map(of).collect()
}

fn run(setup: PersonalSetup<'_>) -> PersonalRun<'_> {
    let (network, faults) = (Network::perfect(), Faults::default());
    PersonalRun { setup, network, faults, newcomers: Vec::new(), deadline: Duration::MAX }
}

fn flat(outcome: &PersonalOutcome) -> Vec<f64> {
    outcome.models.concat()
}

/// `Q` is quadratic here, and coordinates are apart: its minimum by elimination, among those who are `here`.
fn optimum(similarity: &Similarity, bowls: &Bowls, ridge: f64, here: &[usize]) -> Vec<Vec<f64>> {
    let width = bowls.bottoms[0].len();
    let place = |agent: usize| here.iter().position(|&other| other == agent);
    let mut system: Vec<Vec<f64>> = Vec::new();
    for (i, &agent) in here.iter().enumerate() {
        let row: Vec<(usize, f64)> =
            similarity.row(agent).filter_map(|(other, weight)| Some((place(other)?, weight))).collect();
        let degree: f64 = row.iter().map(|(_, weight)| weight).sum();
        let pull = MU * confidence(agent);
        let mut line = vec![0.0; here.len() + width];
        line[i] = degree * (1.0 + pull * (bowls.steepness[agent] + ridge));
        row.iter().for_each(|&(j, weight)| line[j] = -weight);
        for k in 0..width {
            line[here.len() + k] = degree * pull * bowls.steepness[agent] * bowls.bottoms[agent][k];
        }
        system.push(line);
    }
    for i in 0..here.len() {
        let pivot = system[i].clone();
        for (j, line) in system.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = line[i] / pivot[i];
            line.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
            assert!(line[i].abs() < 1e-12 || j == i);
        }
    }
    let solved = |(i, line): (usize, &Vec<f64>)| line[here.len()..].iter().map(|x| x / line[i]).collect();
    system.iter().enumerate().map(solved).collect()
}

fn farthest(models: &[Vec<f64>], optimum: &[Vec<f64>]) -> f64 {
    let pairs = models.iter().flatten().zip(optimum.iter().flatten());
    pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn without_messages_the_bits_are_those_of_the_machines_whatever_the_threads() {
    let (agents, width) = (40, 3);
    let (similarity, bowls) = (similar(agents), Bowls::new(agents, width));
    for law in [Law::Gaussian, Law::Laplace] {
        let mut plans = plans(&bowls, 7, law, 0.3);
        // One without rows, one with a model of her own to begin with, one who is done sooner.
        plans[3].hidden = None;
        for agent in [5, 6, 20] {
            let release = if law == Law::Gaussian { Release::gaussian } else { Release::radial };
            plans[agent].warm = Some(Warm { release: Some(release(1.0, 0.2)), wakes: agent % 4 });
        }
        plans[7].warm = Some(Warm { release: None, wakes: 2 });
        plans[8].warm = Some(Warm { release: Some(Release::radial(1.0, 0.3)), wakes: 1 });
        plans[11].updates = 2;
        plans[13].updates = 0;
        let mut setup = PersonalSetup::new(&similarity, vec![0.25; width], &plans, 9).unwrap();
        // And one whose budget ends before her plan.
        setup.allowances[17] =
            sottovoce_simulator::personal::allowance(&Plan { updates: 4, ..plans[17].clone() }).unwrap();
        let by_messages = run(setup.clone()).run(&bowls).unwrap();
        assert!(by_messages.violations.is_empty());
        assert_eq!(by_messages.updates[17], 4);
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut fast = FastPersonal::new(setup.clone(), &bowls).unwrap();
                // In parts, as curves are drawn.
                while fast.remaining() > 0 {
                    fast.advance(37);
                }
                assert_eq!(fast.models(), flat(&by_messages), "{law:?}, {threads} threads");
                assert_eq!(fast.updates(), by_messages.updates);
                assert_eq!(fast.allowances(), by_messages.allowances);
            });
        }
    }
}

#[test]
fn a_machine_can_be_stored_after_every_step() {
    let (agents, width) = (12, 2);
    let (similarity, bowls) = (similar(agents), Bowls::new(agents, width));
    let mut plans = plans(&bowls, 5, Law::Laplace, 0.3);
    plans[2].warm = Some(Warm { release: Some(Release::radial(1.0, 0.2)), wakes: 3 });
    let setup = PersonalSetup::new(&similarity, vec![0.0; width], &plans, 4).unwrap();
    let run = run(setup);
    let once = run.run(&bowls).unwrap();
    let simulation = run.simulation(&bowls).unwrap();
    let between = stored(simulation.machines().to_vec());
    let again = PersonalOutcome::of(run.simulation(&bowls).unwrap().between(between).end(|_| {}));
    assert_eq!(once, again);
}

#[test]
fn without_noise_agents_reach_the_joint_optimum_and_model_propagation_its_own() {
    let (agents, width) = (24, 2);
    let (similarity, bowls) = (similar(agents), Bowls::new(agents, width));
    let plans = plans(&bowls, 800, Law::Gaussian, 0.0);
    let setup = PersonalSetup::new(&similarity, vec![0.0; width], &plans, 1).unwrap();
    let mut fast = FastPersonal::new(setup, &bowls).unwrap();
    fast.advance(usize::MAX);
    let everybody: Vec<usize> = (0..agents).collect();
    let models: Vec<Vec<f64>> = fast.models().chunks(width).map(<[f64]>::to_vec).collect();
    assert!(farthest(&models, &optimum(&similarity, &bowls, RIDGE, &everybody)) < 1e-8);
    let mut plans = plans.clone();
    for plan in &mut plans {
        let warm = Warm { release: Some(Release::radial(1.0, 0.0)), wakes: 800 };
        (plan.updates, plan.warm) = (0, Some(warm));
    }
    let setup = PersonalSetup::new(&similarity, vec![0.0; width], &plans, 1).unwrap();
    let mut propagated = FastPersonal::new(setup, &bowls).unwrap();
    propagated.advance(usize::MAX);
    let models: Vec<Vec<f64>> = propagated.models().chunks(width).map(<[f64]>::to_vec).collect();
    let round = Bowls { steepness: vec![1.0; agents], ..Bowls::new(agents, width) };
    assert!(farthest(&models, &optimum(&similarity, &round, 0.0, &everybody)) < 1e-8);
    // What is not hidden is counted as an infinite loss.
    assert!(fast.allowances().iter().all(|allowance| allowance.spent() == f64::INFINITY));
}

#[test]
fn lost_late_and_repeated_messages_do_no_harm() {
    let (agents, width) = (16, 2);
    let (similarity, bowls) = (similar(agents), Bowls::new(agents, width));
    let mut plans = plans(&bowls, 1500, Law::Gaussian, 0.0);
    plans.iter_mut().for_each(|plan| plan.repeats = 40);
    let setup = PersonalSetup::new(&similarity, vec![0.0; width], &plans, 3).unwrap();
    let network = Network { drop: 0.3, duplicate: 0.2, ..Network::perfect() };
    let outcome = PersonalRun { network, ..run(setup) }.run(&bowls).unwrap();
    assert!(outcome.lost > 1000 && outcome.violations.is_empty());
    let everybody: Vec<usize> = (0..agents).collect();
    assert!(farthest(&outcome.models, &optimum(&similarity, &bowls, RIDGE, &everybody)) < 1e-8);
}

#[test]
fn who_leaves_is_left_out_who_joins_counts_and_who_returns_keeps_what_she_spent() {
    let (agents, width) = (16, 2);
    let (similarity, bowls) = (similar(agents), Bowls::new(agents, width));
    let mut plans = plans(&bowls, 1500, Law::Gaussian, 0.0);
    plans.iter_mut().for_each(|plan| plan.patience = Some(30));
    // The one who returns has a few private updates, and never more.
    plans[9].updates = 12;
    plans[9].hidden.as_mut().unwrap().multipliers = vec![0.01; 12].into();
    let setup = PersonalSetup::new(&similarity, vec![0.0; width], &plans, 3).unwrap();
    let faults = Faults {
        crashes: vec![(5, 100 * HOUR)],
        departures: vec![
            Absence { peer: 2, from: Duration::ZERO, until: 150 * HOUR },
            Absence { peer: 9, from: 6 * HOUR, until: 200 * HOUR },
        ],
        ..Faults::default()
    };
    let outcome = PersonalRun { faults, newcomers: vec![2], ..run(setup) }.run(&bowls).unwrap();
    let notes = |wanted: Note| outcome.transcript.notes.iter().filter(|(_, note)| *note == wanted).count();
    assert!(notes(Note::Left(5)) >= 2 && notes(Note::Came(2)) >= 2 && notes(Note::Left(9)) >= 2);
    assert_eq!(notes(Note::Came(9)), notes(Note::Left(9)));
    assert_eq!(outcome.updates[9], 12);
    let spent = |(agent, _): &&(Peer, Release)| *agent == 9;
    assert_eq!(outcome.transcript.releases.iter().filter(spent).count(), 12);
    assert!(outcome.allowances[9].spent().is_finite());
    // Everybody but the one who left, and the one whose model stays where her budget ended.
    let at_9 = outcome.models[9].clone();
    let here: Vec<usize> = (0..agents).filter(|agent| *agent != 5).collect();
    let fixed = Bowls {
        // A very steep bowl holds her where she is.
        steepness: (0..agents).map(|agent| if agent == 9 { 1e13 } else { bowls.steepness[agent] }).collect(),
        bottoms: (0..agents)
            .map(|agent| if agent == 9 { at_9.clone() } else { bowls.bottoms[agent].clone() })
            .collect(),
    };
    let best = optimum(&similarity, &fixed, RIDGE, &here);
    let models: Vec<Vec<f64>> = here.iter().map(|&agent| outcome.models[agent].clone()).collect();
    assert!(farthest(&models, &best) < 1e-8, "{}", farthest(&models, &best));
}

/// Wake-ups of a Poisson clock: gaps of mean 1 and variance 1, and counts over a time whose variance is their mean.
#[test]
fn clocks_are_poisson_clocks() {
    struct Moments(Vec<Duration>);
    impl sottovoce_simulator::record::Recorder<sottovoce_protocol::personal::Agent> for Moments {
        fn step(
            &mut self,
            step: &sottovoce_simulator::record::Step<'_, sottovoce_protocol::personal::Agent>,
        ) {
            self.0.extend(step.notes().filter(|note| matches!(note, Note::Moved(_))).map(|_| step.time));
        }
    }
    let similarity = Similarity::new(2, &[(0, 1, 1.0)]).unwrap();
    let bowls = Bowls::new(2, 1);
    let mut plans = plans(&bowls, 20_000, Law::Gaussian, 0.0);
    plans[1].updates = 0;
    let setup = PersonalSetup::new(&similarity, vec![0.0], &plans, 8).unwrap();
    let run = run(setup);
    let mut moments = Moments(Vec::new());
    run.simulation(&bowls).unwrap().recorder(&mut moments).end(|_| {});
    let times: Vec<f64> = moments.0.iter().map(|time| time.as_secs_f64() / 3600.0).collect();
    let gaps: Vec<f64> =
        std::iter::once(times[0]).chain(times.windows(2).map(|pair| pair[1] - pair[0])).collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
    // Five standard errors: 1/sqrt(n) for the mean, sqrt(8/n) for the variance of an exponential.
    assert!((mean - 1.0).abs() < 5.0 / n.sqrt(), "{mean}");
    assert!((variance - 1.0).abs() < 5.0 * (8.0 / n).sqrt(), "{variance}");
    let hours = times.last().unwrap().floor() as usize;
    let mut counts = vec![0.0; hours + 1];
    times.iter().for_each(|time| counts[*time as usize] += 1.0);
    let none = counts[..hours].iter().filter(|count| **count == 0.0).count() as f64 / hours as f64;
    let expected = (-1.0f64).exp();
    assert!((none - expected).abs() < 5.0 * (expected * (1.0 - expected) / n).sqrt(), "{none}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let (similarity, bowls) = (similar(12), Bowls::new(12, 2));
    let good = plans(&bowls, 3, Law::Gaussian, 1.0);
    let refused = |change: &dyn Fn(&mut Vec<Plan>), start: Vec<f64>| {
        let mut plans = good.clone();
        change(&mut plans);
        let setup = PersonalSetup::new(&similarity, start, &plans, 1).unwrap();
        FastPersonal::new(setup, &bowls).err().map(|error| error.to_string())
    };
    let start = vec![0.0; 2];
    assert_eq!(refused(&|_| {}, start.clone()), None);
    assert!(refused(&|plans| drop(plans.pop()), start.clone()).unwrap().contains("plans"));
    assert!(refused(&|_| {}, vec![f64::NAN; 2]).unwrap().contains("start"));
    assert!(refused(&|plans| plans[0].rule.size = 0.0, start.clone()).unwrap().contains("rule"));
    assert!(refused(&|plans| plans[0].updates = 4, start.clone()).unwrap().contains("multipliers"));
    assert!(refused(&|plans| plans[0].patience = Some(3), start).unwrap().contains("patience"));
}
