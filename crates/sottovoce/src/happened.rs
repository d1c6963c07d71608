//! The guarantee of an averaging run is that of the run that happened.
//!
//! | the run | what is accounted for |
//! | --- | --- |
//! | nobody went on without somebody (complete, or in strict rounds) | the plan: what was said is a part of it |
//! | somebody did, without relay noise and momentum | every message that arrived, with the rows that were really used |
//! | somebody did, and it cannot be traced, or would be too large | local privacy |
//!
//! A missed message changes what is said later. In a star of twelve, one message in twenty lost takes a leaf's loss towards another from 0.1 to 1
//! (`docs/theorems/linear-views.md`).

use serde::Serialize;
use sottovoce_audit::reconstruct::exact_loss;
use sottovoce_privacy::{Guarantee, limits};
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::happened::{Arrivals, Happened, happened};
use sottovoce_simulator::outcome::Outcome;
use sottovoce_views::exact::{self, Leakage, Mixed, Results, Round};

use crate::Result;

/// Coefficients that a trace may hold: 400 MB of them.
const LARGEST: usize = 50_000_000;

/// What a run's losses were computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The plan: nobody went on without somebody.
    Planned,
    /// What was really sent.
    Traced,
    /// A peer's own noise alone.
    Local,
}

/// What some observers learnt from a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLosses {
    /// The losses.
    pub leakage: Leakage,
    /// Where they come from.
    pub source: Source,
}

impl RunLosses {
    /// The guarantee of peer `u` in this run. Lost messages are accounted for in it.
    pub fn guarantee(&self, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee> {
        let mut guarantee = self.leakage.guarantee(u, sensitivity, sigma)?;
        guarantee.not_covered.retain(|limit| limit != limits::LOST_MESSAGES);
        Ok(guarantee)
    }
}

/// What `observers` learnt about everyone from a run of `setup`, whose messages `arrived`, and from the results if these are published.
pub fn losses<V>(
    setup: &AveragingSetup,
    outcome: &Outcome<V>,
    arrived: &Arrivals,
    observers: &[usize],
    results: Results,
) -> Result<RunLosses> {
    if outcome.misses.is_empty() {
        let tau = setup.noising.relay / setup.noising.local;
        let leakage = exact_loss(&setup.scheme, observers, tau, results)?;
        return Ok(RunLosses { leakage, source: Source::Planned });
    }
    let nodes = setup.scheme.peers();
    let watched = arrived.0.iter().filter(|(_, _, to)| observers.contains(to)).count();
    let traceable = setup.noising.relay == 0.0 && setup.scheme.gamma()?.is_none();
    if !traceable || (watched + nodes).saturating_mul(nodes) > LARGEST {
        return Ok(RunLosses { leakage: exact::local(nodes, observers)?, source: Source::Local });
    }
    let rounds: Vec<Round> = happened(&setup.scheme, outcome, arrived)?.into_iter().map(of_views).collect();
    let finished = |peer: &usize| outcome.finals.get(*peer).is_some_and(Option::is_some);
    let published: Vec<usize> = results.of(nodes).into_iter().filter(finished).collect();
    let leakage = exact::happened(nodes, &rounds, observers, &published)?;
    Ok(RunLosses { leakage, source: Source::Traced })
}

fn of_views(round: Happened) -> Round {
    let rows = round.rows.into_iter().map(|row| Mixed { own: row.own, from: row.from }).collect();
    Round { rows, heard: round.heard }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::averaging::Noising;
    use sottovoce_simulator::averaging::{AveragingPeer, Scheme};
    use sottovoce_simulator::events::Simulation;
    use sottovoce_simulator::network::Network;
    use sottovoce_simulator::noise::PeerNoise;
    use sottovoce_topology::Graph;
    use sottovoce_topology::mixing::{Mixing, Weights};
    use std::time::Duration;

    fn star(accelerated: bool, relay: f64) -> AveragingSetup {
        let graph = Graph::from_edges(12, (1..12).map(|leaf| (0, leaf))).unwrap();
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        setup(Scheme::Gossip { mixing, rounds: 20, accelerated }, relay)
    }

    fn setup(scheme: Scheme, relay: f64) -> AveragingSetup {
        let noising = Noising { sensitivity: 1.0, local: 1.0, relay };
        AveragingSetup { values: vec![vec![0.5]; scheme.peers()], scheme, noising, budget: 1.0 }
    }

    /// One message in twenty is lost.
    fn run(setup: &AveragingSetup, strict: bool, seed: u64) -> (Outcome<Vec<f64>>, Arrivals) {
        let network = Network { loss: 0.05, timeout: Some(Duration::from_millis(50)), ..Network::perfect() };
        let lenient = |peer: AveragingPeer<Vec<f64>>| if strict { peer } else { peer.lenient() };
        let peers = setup.numbers().unwrap().into_iter().map(lenient).collect();
        let mut arrived = Arrivals::default();
        let noises = PeerNoise::all(seed, setup.values.len());
        let simulation = Simulation::new(peers, noises, network, seed).unwrap();
        let outcome = simulation.recorder(&mut arrived).run();
        (outcome, arrived)
    }

    fn of_run(setup: &AveragingSetup, strict: bool, seed: u64, observer: usize) -> RunLosses {
        let (outcome, arrived) = run(setup, strict, seed);
        losses(setup, &outcome, &arrived, &[observer], Results::Kept).unwrap()
    }

    #[test]
    fn one_message_in_twenty_lost_exposes_the_leaves_of_a_star() {
        let setup = star(false, 0.0);
        let planned = exact_loss(&setup.scheme, &[1], 0.0, Results::Kept).unwrap();
        assert!((planned.losses[7] - 0.1).abs() < 1e-9, "{:?}", planned.losses);
        let lenient = of_run(&setup, false, 1, 1);
        assert_eq!(lenient.source, Source::Traced);
        assert!(lenient.leakage.losses[7] > 1.0 - 1e-6, "{:?}", lenient.leakage.losses);
        let strict = of_run(&setup, true, 1, 1);
        assert_eq!((strict.source, &strict.leakage), (Source::Planned, &planned));
        let guarantee = lenient.guarantee(7, 1.0, 1.0).unwrap();
        assert!(!guarantee.not_covered.iter().any(|limit| limit == limits::LOST_MESSAGES));
    }

    #[test]
    fn far_pairs_of_a_butterfly_lose_twenty_times_as_much() {
        let setup = setup(Scheme::Butterfly { positions: (0..256).collect() }, 0.0);
        let far = |leakage: &Leakage| leakage.losses[128..].iter().fold(0.0_f64, |most, x| most.max(*x));
        let planned = exact_loss(&setup.scheme, &[0], 0.0, Results::Kept).unwrap();
        assert!((far(&planned) - 2.0 / 256.0).abs() < 1e-9);
        let (outcome, arrived) = run(&setup, false, 1);
        let loss = |v: usize| losses(&setup, &outcome, &arrived, &[v], Results::Kept).unwrap().leakage;
        let towards = |v: usize| {
            let leakage = loss(v);
            (0..256).filter(|u| u ^ v >= 128).map(|u| leakage.losses[u]).fold(0.0, f64::max)
        };
        let worst = (0..256).map(towards).fold(0.0, f64::max);
        assert!(worst > 20.0 * 2.0 / 256.0, "{worst}");
    }

    #[test]
    fn what_cannot_be_traced_has_local_privacy() {
        for setup in [star(true, 0.0), star(false, 0.3)] {
            let found = of_run(&setup, false, 1, 1);
            assert_eq!(found.source, Source::Local);
            assert!(found.leakage.losses.iter().enumerate().all(|(u, loss)| (u == 1) == (*loss == 0.0)));
            let strict = of_run(&setup, true, 1, 1);
            assert!(strict.source == Source::Planned && strict.leakage.losses[7] < 0.2);
        }
    }
}
