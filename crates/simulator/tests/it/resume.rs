//! Every machine can be stopped after every step, stored as bytes, and go on from them: the run is the same bit for bit.

use crate::common;

use std::time::Duration;

use common::*;
use proptest::prelude::*;
use sottovoce_protocol::averaging::{AveragingTranscript, Coupling, Noising};
use sottovoce_protocol::public::{Among, AveragingPeer, Scheme};
use sottovoce_protocol::rumor::{Clock, Muting, RumorRules, Start};
use sottovoce_protocol::walk::{Course, Patience, Steps};
use sottovoce_protocol::{Data, Machine, Transcript};
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::descent::DescentSetup;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::network::{Faults, Latency, Network};
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::outcome::Outcome;
use sottovoce_simulator::rumor::{RumorOutcome, RumorRun};
use sottovoce_simulator::walk::{WalkOutcome, WalkRun, WalkSetup};

const SECOND: Duration = Duration::from_secs(1);

fn through_bytes<T: Data>(value: &T) -> T {
    postcard::from_bytes(&postcard::to_stdvec(value).unwrap()).unwrap()
}

type Run = (AveragingSetup, Network, Faults, u64);

fn averaging(run: &Run, strict: bool, stop: bool) -> (Outcome<Vec<f64>>, AveragingTranscript) {
    let (setup, network, faults, seed) = run;
    let peers = if strict { setup.numbers().unwrap() } else { lenient(setup) };
    let mut transcript = Transcript::default();
    let (fresh, noises) = (peers.clone(), PeerNoise::all(*seed, peers.len()));
    let simulation = Simulation::new(peers, noises, *network, *seed).unwrap().faults(faults).unwrap();
    let simulation = simulation.averaging(setup.facts().unwrap()).recorder(&mut transcript);
    let outcome = if stop { simulation.between(stored(fresh)).run() } else { simulation.run() };
    (outcome, transcript)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn averaging_goes_on((run, strict) in (any_faulty_run(), any::<bool>())) {
        let (first, second) = (averaging(&run, strict, false), averaging(&run, strict, true));
        prop_assert_eq!(&first, &second);
        prop_assert_eq!(through_bytes(&first.1), first.1);
    }

    #[test]
    fn descents_go_on((seed, network, relay) in (any::<u64>(), any_network(), any::<bool>())) {
        let noising = Noising { sensitivity: 1.0, local: 0.5, relay: if relay { 0.1 } else { 0.0 } };
        let scheme = Scheme::Gossip { mixing: mixing(8), rounds: 3, accelerated: true };
        // Without budget for the fourth step.
        let setup = DescentSetup { schemes: vec![scheme], iterations: 4, noising, cancelling: None, budget: 13.0, start: vec![1.0, -2.0] };
        let run = |stop: bool| {
            let peers: Vec<_> = setup.machines(&setup.start).unwrap().into_iter().map(|peer| peer.lenient()).collect();
            let (fresh, noises) = (peers.clone(), PeerNoise::all(seed, 8));
            let simulation = Simulation::new(peers, noises, network, seed).unwrap();
            let simulation = simulation.budgets(setup.allowances().unwrap()).unwrap().descending(|peer, _, value| {
                value.iter_mut().for_each(|x| *x -= 0.3 * (*x - peer as f64));
            });
            if stop { simulation.between(stored(fresh)).run() } else { simulation.run() }
        };
        let first = run(false);
        prop_assert_eq!(first.stopped.len(), 8);
        prop_assert_eq!(first, run(true));
    }
}

#[test]
fn second_values_go_on() {
    for seed in 0..5 {
        let mut setup = pairs(8, 40, PLAIN);
        if let Scheme::Scheduled { schedule, rounds } = setup.scheme {
            setup.scheme =
                Scheme::Coupled { schedule, rounds, coupling: Coupling { lean: 0.1, stride: 2.0 } };
        }
        let run = (
            setup,
            Network { drop: 0.02, timeout: Some(SECOND), ..Network::perfect() },
            Faults::default(),
            seed,
        );
        for strict in [true, false] {
            assert_eq!(averaging(&run, strict, false), averaging(&run, strict, true), "{seed} {strict}");
        }
    }
}

#[test]
fn tokens_go_on_whatever_gets_lost() {
    let mixing = mixing(12);
    for seed in 0..20 {
        let course = Course {
            steps: 100,
            burn_in: 5,
            sizes: Steps::Constant(0.1),
            sensitivity: 1.0,
            noise: 0.5,
            cap: 12,
        };
        let run = WalkRun {
            setup: WalkSetup {
                mixing: &mixing,
                course,
                launch: vec![0, 5],
                budget: 40.0,
                start: vec![3.0],
                worth: vec![],
            },
            network: Network { drop: 0.2, duplicate: 0.1, timeout: Some(SECOND), ..Network::perfect() },
            faults: Faults { crashes: vec![(5, 20 * SECOND)], ..Faults::default() },
            patience: Patience { attempts: 2 },
            deadline: 100_000 * SECOND,
            seed,
        };
        let descend =
            |peer: usize| move |_: usize, gamma: f64, x: &mut Vec<f64>| x[0] -= gamma * (x[0] - peer as f64);
        let first = run.run(descend).unwrap();
        assert!(first.finals.iter().all(Option::is_some) && first.violations.is_empty());
        let simulation = run.simulation(descend).unwrap();
        let fresh = simulation.machines().to_vec();
        assert_eq!(WalkOutcome::of(simulation.between(stored(fresh)).end(|_| {})), first);
        assert_eq!(through_bytes(&first.transcript), first.transcript);
    }
}

#[test]
fn rumours_go_on_and_so_do_their_answers() {
    let graph = mixing(20);
    for (seed, among) in
        (0..20).flat_map(|seed| [(seed, Among::Everyone(20)), (seed, Among::Graph(graph.graph()))])
    {
        let muting = Muting::new(0.2).unwrap();
        let run = RumorRun {
            among,
            rules: RumorRules { muting, clock: Clock::Poisson, start: Start::Alike, acknowledged: true },
            network: Network {
                latency: Latency::Exponential(SECOND),
                drop: 0.2,
                duplicate: 0.3,
                ..Network::perfect()
            },
            faults: Faults { crashes: vec![(7, 30 * SECOND)], ..Faults::default() },
            rumors: vec![(0, vec![1, 2]), (3, vec![])],
            curious: None,
            period: SECOND,
            deadline: 300 * SECOND,
            seed,
        };
        let first = run.run().unwrap();
        let simulation = run.simulation().unwrap();
        let fresh = simulation.machines().to_vec();
        assert!(first.violations.is_empty() && first.sent > 100);
        assert_eq!(RumorOutcome::of(simulation.between(stored(fresh)).end(|_| {})), first);
        assert_eq!(through_bytes(&first.transcript), first.transcript);
    }
}

#[test]
fn a_state_of_another_run_is_refused() {
    let peer = |setup: AveragingSetup| -> AveragingPeer<Vec<f64>> { setup.numbers().unwrap().swap_remove(0) };
    let state = |setup: AveragingSetup| {
        let seed = 3;
        let peers = setup.numbers().unwrap();
        let noises = PeerNoise::all(seed, peers.len());
        let mut last = None;
        let keep = |peer, machine: &mut AveragingPeer<Vec<f64>>| {
            if peer == 0 && machine.round() == 2 {
                last = Some(machine.state());
            }
        };
        Simulation::new(peers, noises, Network::perfect(), seed).unwrap().between(keep).run();
        last.unwrap()
    };
    let given = state(gossip(9, 2, 5, false, PLAIN));
    for (other, words) in [
        (gossip(9, 3, 5, false, PLAIN), "`value` is of another length"),
        (gossip(9, 2, 1, false, PLAIN), "`round` is 2 of 1"),
    ] {
        let mut other = peer(other);
        let before = other.state();
        let error = other.resume(given.clone()).unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
        assert_eq!(other.state(), before);
    }
    peer(gossip(9, 2, 5, false, PLAIN)).resume(given).unwrap();
}
