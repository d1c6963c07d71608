//! Gossip over one symmetric matrix: the Krylov space of what the observers hear.
//!
//! Observers know their own values, so of everyone else's they see the messages of their neighbours `E`, mixed by `B`, the
//! matrix without the observers' rows and columns: the span of `E, B E, ..., B^(T-1) E`. The powers become parallel
//! exponentially fast, and orthogonalising them would lose directions, that is, *understate* the loss. Multiplying the last
//! orthonormal block instead loses none.

use std::ops::Range;

use sottovoce_topology::mixing::Mixing;

use super::Leakage;
use crate::basis::Basis;
use crate::error::{check_observers, check_steps};
use crate::powers::apply_columns;
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
    Ok(krylov(mixing, observers, steps))
}

/// What every peer learns on its own: `losses[v]` are those towards observer `v`. `done` hears how many observers are ready.
pub fn gossip_all_pairs(mixing: &Mixing, steps: usize, done: impl Fn(usize) + Sync) -> Result<Vec<Leakage>> {
    mixing.check()?;
    check_steps(steps)?;
    Ok(parallel::map(mixing.nodes(), |v| krylov(mixing, vec![v], steps), done))
}

fn krylov(mixing: &Mixing, observers: Vec<usize>, steps: usize) -> Leakage {
    let basis = grow(&Hidden::new(mixing, &observers), mixing.nodes(), steps, |_, _| ());
    Leakage { losses: basis.leverages(), rank: Some(basis.rank()), ambiguous: basis.ambiguous, observers }
}

/// The space of what is heard, step by step; `each` sees it after every step, and which of its columns are new.
pub(super) fn grow(
    hidden: &Hidden,
    nodes: usize,
    steps: usize,
    mut each: impl FnMut(&Basis, Range<usize>),
) -> Basis {
    let mut basis = Basis::new(nodes).units(hidden.heard()).careful(has_tiny_weights(hidden.mixing));
    let mut last = 0..basis.rank();
    for t in 0..steps {
        // Where nothing was new, nothing ever will be.
        if t > 0 && !last.is_empty() {
            let columns = basis.columns(last).to_vec();
            let terms = || hidden.apply_columns(&columns.iter().map(|x| x.abs()).collect::<Vec<_>>());
            let new = basis.extend(hidden.apply_columns(&columns), terms);
            last = basis.rank() - new..basis.rank();
        }
        each(&basis, last.clone());
    }
    basis
}

/// Weights below this make entries that a norm does not notice.
const TINY: f64 = 1e-6;

/// Whether some neighbours hardly listen to each other. They hear each other all the same.
pub(super) fn has_tiny_weights(mixing: &Mixing) -> bool {
    mixing.weights().iter().any(|weight| *weight > 0.0 && *weight < TINY)
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
    fn apply_columns(&self, columns: &[f64]) -> Vec<f64> {
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
