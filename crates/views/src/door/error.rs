//! How far results are from the mean, whatever the protocol; and who ever speaks to whom.

use sottovoce_protocol::averaging::{Noising, Plan};
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::Graph;
use sottovoce_topology::paths::{UNREACHABLE, distances};

use super::{Overheard, Setting};
use crate::Result;
use crate::ring::Masks;
use crate::trace::{Trace, trace};
use crate::utility::{Contraction, pairs_left, quadratic, spread_left};

impl Setting {
    /// Everyone who ever speaks to someone, as a graph.
    pub fn graph(&self) -> Result<Graph> {
        let mut edges = Vec::new();
        for (peer, part) in self.scheme.parts()?.iter().enumerate() {
            let rows = (0..part.rounds()).map(|round| part.row(round));
            let pair = |&(from, _): &(usize, f64)| (peer.min(from), peer.max(from)); // whole numbers
            edges.extend(rows.flat_map(|row| &row.from).map(pair));
            edges.sort_unstable();
            edges.dedup();
        }
        Ok(Graph::from_edges(self.peers(), edges)?)
    }

    /// Hops from each peer to the nearest observer along messages, whatever their round; none where no message leads.
    pub fn hops(&self, observers: &[usize]) -> Result<Vec<Option<u32>>> {
        let graph = self.graph()?;
        let mut nearest = vec![UNREACHABLE; graph.nodes()];
        for &observer in observers {
            let found = distances(&graph, observer)?;
            nearest.iter_mut().zip(found).for_each(|(near, hops)| *near = (*near).min(hops)); // whole numbers
        }
        Ok(nearest.into_iter().map(|hops| (hops != UNREACHABLE).then_some(hops)).collect())
    }

    /// Expected squared error of a result that is due to noise, per coordinate, averaged over peers.
    pub fn noise_error(&self, sigma: f64) -> Result<f64> {
        if let Some(Masks { ring, .. }) = &self.masks {
            // Discrete noise of this parameter varies no more than a Gaussian.
            return Ok(ring.variance() / self.peers() as f64);
        }
        let own = match &self.scheme {
            Scheme::Gossip { mixing, rounds, accelerated: false } => {
                let left = Contraction::new(mixing, *rounds)?;
                left.noise_error(*rounds, sigma, sigma * self.relay_noise)
            }
            _ => sigma * sigma * self.traced_noise()?,
        };
        let Some(pairs) = &self.cancelling else { return Ok(own) };
        let left = match &self.scheme {
            Scheme::Gossip { mixing, rounds, accelerated: false } => {
                pairs_left(mixing, pairs, *rounds)?[*rounds]
            }
            // Sums of all peers, to the last digit but rounding.
            Scheme::Butterfly { .. } => 0.0,
            _ => {
                let finals = self.results_traced()?.finals;
                let squares: f64 = finals.iter().map(|row| quadratic(pairs.keys(), &row.0)).sum();
                pairs.kappa().powi(2) * squares / self.peers() as f64
            }
        };
        Ok(own + sigma * sigma * left)
    }

    /// The same for any linear protocol, in units of the local noise: the squared coefficients of all results.
    pub fn traced_noise(&self) -> Result<f64> {
        let squares: f64 =
            self.results_traced()?.finals.iter().flat_map(|result| &result.0).map(|x| x * x).sum();
        Ok(squares / self.peers() as f64)
    }

    /// Mean squared distance of results from the mean that is due to stopping early, or to rounding, of these values, averaged over peers: without noise.
    pub fn spread(&self, values: &[f64]) -> Result<f64> {
        if let Some(Masks { ring, .. }) = &self.masks {
            let off = values.iter().map(|x| Ok(ring.rounded(*x)? - x)).collect::<Result<Vec<f64>>>()?;
            return Ok((off.iter().sum::<f64>() / values.len() as f64).powi(2));
        }
        if let Scheme::Gossip { mixing, rounds, accelerated: false } = &self.scheme {
            return Ok(spread_left(mixing, values, *rounds)[*rounds]);
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let result =
            |coefficients: &Vec<f64>| coefficients.iter().zip(values).map(|(c, x)| c * x).sum::<f64>();
        let finals = self.results_traced()?.finals;
        Ok(finals.iter().map(|last| (result(&last.0) - mean).powi(2)).sum::<f64>() / values.len() as f64)
    }

    fn results_traced(&self) -> Result<Trace> {
        let noising = Noising { sensitivity: 1.0, local: 1.0, relay: self.relay_noise };
        trace(&self.scheme, noising, &[])
    }
}
