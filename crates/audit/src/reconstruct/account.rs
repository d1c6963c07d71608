//! What belongs to the account of a run under attack: distances along messages, and the error that noise brings.

use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::{Noising, Plan};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_simulator::trace::trace;
use sottovoce_topology::Graph;
use sottovoce_topology::paths::{UNREACHABLE, distances};
use sottovoce_views::utility::Contraction;

use super::Result;

/// Noises in units of the local one.
pub(super) fn standardised(relay_noise: f64) -> Noising {
    Noising { sensitivity: 1.0, local: 1.0, relay: relay_noise }
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
