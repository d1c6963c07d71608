//! What the accountant says about the run under attack, by the method that is exact for it.

use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::{Noising, Plan};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_simulator::trace::trace;
use sottovoce_topology::Graph;
use sottovoce_topology::paths::{UNREACHABLE, distances};
use sottovoce_topology::schedule::Schedule;
use sottovoce_views::exact::{self, Leakage, Results};
use sottovoce_views::published::{self, Formula};
use sottovoce_views::utility::Contraction;

use super::{Error, Result};

/// Noises in units of the local one.
pub(super) fn standardised(relay_noise: f64) -> Noising {
    Noising { sensitivity: 1.0, local: 1.0, relay: relay_noise }
}

/// The exact loss of every peer towards the observers; `relay_noise` is a share of the local noise.
///
/// Acceleration costs nothing without relay noise, since it spans the same space; with relay noise it does (each message also
/// carries the value before last, whose relay noise was never added), and only tracing is exact.
pub fn exact_loss(
    scheme: &Scheme,
    observers: &[Peer],
    relay_noise: f64,
    results: Results,
) -> Result<Leakage> {
    let published = results.of(scheme.peers());
    match scheme {
        Scheme::Gossip { mixing, rounds, .. } if relay_noise == 0.0 => {
            Ok(exact::gossip_published(mixing, observers, *rounds, &published)?)
        }
        Scheme::Gossip { mixing, rounds, accelerated: false } if results == Results::Kept => {
            Ok(exact::relay_gossip(mixing, observers, *rounds, relay_noise)?)
        }
        Scheme::Scheduled { schedule, rounds } if relay_noise == 0.0 => {
            Ok(exact::scheduled_published(schedule, observers, *rounds, &published)?)
        }
        Scheme::Gossip { mixing, rounds, accelerated: false } => {
            let constant = Schedule::constant(mixing.clone());
            Ok(exact::relay_scheduled(&constant, observers, *rounds, relay_noise, &published)?)
        }
        Scheme::Scheduled { schedule, rounds } => {
            Ok(exact::relay_scheduled(schedule, observers, *rounds, relay_noise, &published)?)
        }
        _ => traced(scheme, observers, relay_noise, results),
    }
}

fn traced(scheme: &Scheme, observers: &[Peer], relay_noise: f64, results: Results) -> Result<Leakage> {
    let peers = scheme.peers();
    let trace = trace(scheme, standardised(relay_noise), observers)?;
    let heard = trace.heard.iter().map(|message| &message.coefficients.0[..]);
    let known = trace.finals.iter().map(|last| &last.0[..]).filter(|_| results == Results::Published);
    let messages: Vec<&[f64]> = heard.chain(known).collect();
    Ok(exact::traced(&messages, observers, peers, |i| observers.contains(&(i % peers)))?)
}

/// The loss as Theorem 1 (and 12) prints it: refuted, and here to be caught.
pub fn published_loss(scheme: &Scheme, observers: &[Peer]) -> Result<Vec<f64>> {
    match scheme {
        Scheme::Gossip { mixing, rounds, .. } => {
            Ok(published::gossip(Formula::Theorem1, mixing, observers, *rounds)?)
        }
        Scheme::Scheduled { schedule, rounds } => Ok(published::scheduled(schedule, observers, *rounds)?),
        Scheme::Butterfly { .. } => {
            let remedy = "the formula is printed for gossip; claim the exact loss";
            Err(Error::parameter("claim", "published", remedy))
        }
    }
}

/// Hops from each peer to the nearest observer along messages, whatever their round; none where no message leads.
pub(super) fn hops(scheme: &Scheme, observers: &[Peer]) -> Result<Vec<Option<u32>>> {
    let mut edges = Vec::new();
    for (peer, part) in scheme.parts()?.iter().enumerate() {
        let rows = (0..part.rounds()).map(|round| part.row(round));
        edges.extend(rows.flat_map(|row| &row.from).map(|&(from, _)| (peer.min(from), peer.max(from))));
        edges.sort_unstable();
        edges.dedup();
    }
    let graph = Graph::from_edges(scheme.peers(), edges)?;
    let mut nearest = vec![UNREACHABLE; graph.nodes()];
    for &observer in observers {
        let found = distances(&graph, observer)?;
        nearest.iter_mut().zip(found).for_each(|(near, hops)| *near = (*near).min(hops));
    }
    Ok(nearest.into_iter().map(|hops| (hops != UNREACHABLE).then_some(hops)).collect())
}

/// Expected squared error of a result that is due to noise, per coordinate, averaged over peers.
pub(super) fn noise_error(scheme: &Scheme, sigma: f64, relay_noise: f64) -> Result<f64> {
    match scheme {
        Scheme::Gossip { mixing, rounds, accelerated: false } => {
            let left = Contraction::new(mixing, *rounds)?;
            Ok(left.noise_error(*rounds, sigma, sigma * relay_noise))
        }
        _ => Ok(sigma * sigma * traced_noise(scheme, relay_noise)?),
    }
}

/// The same for any linear protocol, in units of the local noise: the squared coefficients of all results.
pub(super) fn traced_noise(scheme: &Scheme, relay_noise: f64) -> Result<f64> {
    let trace = trace(scheme, standardised(relay_noise), &[])?;
    let squares = trace.finals.iter().flat_map(|result| &result.0).map(|x| x * x);
    Ok(squares.sum::<f64>() / scheme.peers() as f64)
}
