//! Gossip over one symmetric matrix: the Krylov space of what the observers hear (`span/krylov.rs`).

use sottovoce_topology::mixing::Mixing;

use super::Leakage;
use crate::error::{check_observers, check_published, check_steps};
use crate::powers::apply_columns;
use crate::span::{AllPairs, Rounds, Space, krylov, rank};
use crate::{Result, parallel};

/// What `observers` together learn in `steps` steps of gossip.
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// use sottovoce_views::exact::gossip;
/// // On a ring of 12 one further peer on either side is exposed at every step, up to the one opposite.
/// let ring = generate(&Family::Ring { n: 12 }, 0, true)?;
/// let mixing = Mixing::new(&ring, Weights::Metropolis).lazy(1.0 / 3.0)?;
/// let leakage = gossip(&mixing, &[0], 6)?;
/// assert!((leakage.losses[6] - 1.0).abs() < 1e-12);
/// assert_eq!(leakage.rank, Some(11));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gossip(mixing: &Mixing, observers: &[usize], steps: usize) -> Result<Leakage> {
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(observers, mixing.nodes())?;
    Ok(leakage(mixing, observers, steps))
}

/// How many independent messages `observers` hear: the sum of all losses, without the losses.
pub fn gossip_rank(mixing: &Mixing, observers: &[usize], steps: usize) -> Result<usize> {
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(observers, mixing.nodes())?;
    Ok(rank(mixing, &observers, steps))
}

/// The same, where the results of `published` peers are known as well: all there is to know of those who end up with them.
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// use sottovoce_views::exact::gossip_published;
/// // One step on a path: peer 5 hears nothing of peer 0, unless results are shown.
/// let path = generate(&Family::Path { n: 6 }, 0, true)?;
/// let mixing = Mixing::new(&path, Weights::MetropolisPlusOne);
/// assert_eq!(gossip_published(&mixing, &[5], 1, &[])?.losses[0], 0.0);
/// assert!(gossip_published(&mixing, &[5], 1, &[0, 1, 2, 3, 4])?.losses[0] > 0.999);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gossip_published(
    mixing: &Mixing,
    observers: &[usize],
    steps: usize,
    published: &[usize],
) -> Result<Leakage> {
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(observers, mixing.nodes())?;
    if published.is_empty() {
        return Ok(leakage(mixing, observers, steps));
    }
    let published = check_published(published, mixing.nodes())?;
    let space = Space::of(&Rounds::powers(mixing, &observers, steps, &published));
    Ok(Leakage::of(space.as_ref(), observers, mixing.nodes()))
}

/// What every peer learns on its own: `losses[v]` are those towards observer `v`. `done` hears how many observers are ready.
pub fn gossip_all_pairs(
    mixing: &Mixing,
    steps: usize,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Leakage>> {
    mixing.check()?;
    check_steps(steps)?;
    check_observers(&[0], mixing.nodes())?;
    let all = AllPairs::new(mixing, steps);
    let one = |v: usize| Leakage::of(all.of(v).as_ref(), vec![v], mixing.nodes());
    Ok(parallel::map(mixing.nodes(), one, done))
}

fn leakage(mixing: &Mixing, observers: Vec<usize>, steps: usize) -> Leakage {
    let space = krylov(mixing, &observers, steps);
    Leakage::of(space.as_ref(), observers, mixing.nodes())
}

/// The mixing matrix without the observers' rows and columns.
pub(crate) struct Hidden<'a> {
    mixing: &'a Mixing,
    observers: &'a [usize],
}

impl<'a> Hidden<'a> {
    pub(crate) fn new(mixing: &'a Mixing, observers: &'a [usize]) -> Self {
        Self { mixing, observers }
    }

    /// The peers the observers hear, in increasing order. An edge of weight 0 carries messages too.
    pub(crate) fn heard(&self) -> Vec<usize> {
        let graph = self.mixing.graph();
        let mut heard: Vec<usize> = (self.observers.iter())
            .flat_map(|&v| graph.neighbors(v).iter().map(|&w| w as usize))
            .filter(|w| self.observers.binary_search(w).is_err())
            .collect();
        heard.sort_unstable();
        heard.dedup();
        heard
    }

    /// `B` times each of the columns, all 0 at the observers.
    pub(crate) fn apply_columns(&self, columns: &[f64]) -> Vec<f64> {
        let mut out = apply_columns(self.mixing, columns);
        for column in out.chunks_exact_mut(self.mixing.nodes()) {
            self.observers.iter().for_each(|&v| column[v] = 0.0);
        }
        out
    }

    /// `B x`, for an `x` that is 0 at the observers.
    pub(crate) fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        self.mixing.apply(x, &mut out);
        self.observers.iter().for_each(|&v| out[v] = 0.0);
        out
    }
}
