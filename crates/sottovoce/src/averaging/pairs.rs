//! Losses of all pairs, and distances between them.

use sottovoce_topology::paths;
use sottovoce_views::door::{Overheard, Setting};
use sottovoce_views::exact::Leakage;

use crate::Result;

/// What every peer learns of every other.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// One for each observer.
    pub leakages: Vec<Leakage>,
}

impl Pairs {
    /// As planned.
    pub(super) fn planned(setting: &Setting, done: &(dyn Fn(usize) + Sync)) -> Result<Self> {
        Ok(Self { leakages: setting.leakages(done)? })
    }

    /// As a run happened.
    pub(super) fn of(run: &impl Overheard<Learnt = Leakage>, done: &(dyn Fn(usize) + Sync)) -> Result<Self> {
        let one = |v: usize| run.leakage(&[v]).inspect(|_| done(v + 1));
        Ok(Self { leakages: (0..run.peers()).map(one).collect::<Result<_, _>>()? })
    }

    /// The mean over all pairs.
    pub(super) fn mean(&self) -> f64 {
        self.leakages.iter().map(Leakage::mean).sum::<f64>() / self.leakages.len() as f64
    }

    /// The pair with the largest loss among those so many hops apart or more: who learns, of whom.
    pub(super) fn worst(&self, hops: &[Vec<u32>], least: u32) -> Option<(usize, usize)> {
        let n = self.leakages.len();
        let pairs = (0..n).flat_map(|v| (0..n).map(move |u| (v, u)));
        let far = pairs.filter(|&(v, u)| v != u && hops[v][u] >= least);
        far.max_by(|a, b| self.loss(*a).total_cmp(&self.loss(*b)))
    }

    /// What `v` learns of `u`.
    pub(super) fn loss(&self, (v, u): (usize, usize)) -> f64 {
        self.leakages[v].losses[u]
    }

    /// The largest loss of those that are not neighbours.
    pub(super) fn worst_far(&self, hops: &[Vec<u32>]) -> f64 {
        self.worst(hops, 2).map_or(0.0, |pair| self.loss(pair))
    }
}

/// Hops between all pairs, along messages.
pub(super) fn hops(setting: &Setting) -> Result<Vec<Vec<u32>>> {
    let graph = setting.graph()?;
    Ok((0..setting.peers()).map(|v| paths::distances(&graph, v)).collect::<Result<_, _>>()?)
}
