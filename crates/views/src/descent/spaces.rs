//! What observers hear in each iteration, as functions of the state at its beginning, and carried back to all earlier noises.
//!
//! Let `B_t` be the mixing matrix of iteration `t` without the observers, `E_t` the peers they hear, and `F_t = p_K(B_t)` what `K`
//! rounds do to the hidden state (`p_K(x) = x^K`, or Chebyshev's if accelerated). They hear `Y_t = span(E_t, B_t E_t, ..., B_t^(K-1) E_t)`
//! of the state `x_t = z_t + F_(t-1) x_(t-1)`, up to what they know. Over the noises an orthonormal basis
//! `Q_t` of `Y_t`, the one of [`exact::gossip`](crate::exact::gossip()), reads
//!
//! ```text
//! z_t: Q_t     z_(t-1): F_(t-1) Q_t     z_(t-2): F_(t-2) F_(t-1) Q_t     ...
//! ```

use sottovoce_topology::mixing::Mixing;

use crate::parallel;
use crate::powers::apply_columns;
use crate::span::krylov;

/// The gossip of one iteration. `gamma` is the weight of accelerated gossip; 1 is plain.
#[derive(Clone, Copy)]
pub(super) struct Gossip<'a> {
    pub(super) mixing: &'a Mixing,
    pub(super) gamma: f64,
}

impl Gossip<'_> {
    /// `B` times each of the columns, all 0 at the observers.
    fn mix(&self, observers: &[usize], columns: &[f64]) -> Vec<f64> {
        let mut out = apply_columns(self.mixing, columns);
        for column in out.chunks_exact_mut(self.mixing.nodes().max(1)) {
            observers.iter().for_each(|&v| column[v] = 0.0);
        }
        out
    }

    /// `F` times each of the columns: all rounds. It is symmetric.
    fn all_rounds(&self, observers: &[usize], rounds: usize, columns: &[f64]) -> Vec<f64> {
        let mut before = columns.to_vec();
        let mut now = self.mix(observers, columns);
        for _ in 1..rounds {
            let mut next = self.mix(observers, &now);
            if self.gamma != 1.0 {
                let faded = |next: f64, before: f64| self.gamma * next + (1.0 - self.gamma) * before;
                next.iter_mut().zip(&before).for_each(|(next, before)| *next = faded(*next, *before));
            }
            before = std::mem::replace(&mut now, next);
        }
        now
    }
}

/// What is heard in all iterations, over all noises.
pub(super) struct Spaces {
    pub(super) nodes: usize,
    pub(super) iterations: usize,
    /// Gossips in turn: iteration `t` is of kind `t % kinds`.
    kinds: Vec<Kind>,
    /// No basis is further from the true one than by this angle.
    pub(super) angle: f64,
}

/// Iterations over the same gossip.
struct Kind {
    rank: usize,
    /// The basis over the noise of its own iteration, of the one before, and so on: columns one after the other.
    carried: Vec<Vec<f64>>,
}

impl Spaces {
    /// None if what is heard in an iteration cannot be certified.
    pub(super) fn new(
        gossips: &[Gossip],
        observers: &[usize],
        rounds: usize,
        iterations: usize,
    ) -> Option<Self> {
        let nodes = gossips.first().map_or(0, |gossip| gossip.mixing.nodes());
        let kind = |which: usize| {
            let space = krylov(gossips[which].mixing, observers, rounds)?;
            let last = which + (iterations - 1 - which) / gossips.len() * gossips.len();
            let (rank, angle) = (space.rank(), space.angle);
            let mut carried = vec![space.columns];
            for s in (0..last).rev() {
                let later = &carried[carried.len() - 1];
                carried.push(gossips[s % gossips.len()].all_rounds(observers, rounds, later));
            }
            Some((Kind { rank, carried }, angle))
        };
        let kinds = parallel::map(gossips.len().min(iterations), kind, |_| ());
        let (kinds, angles): (Vec<Kind>, Vec<f64>) =
            kinds.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let angle = angles.into_iter().fold(0.0, f64::max);
        Some(Self { nodes, iterations, kinds, angle })
    }

    /// After how many iterations the same comes again.
    pub(super) fn period(&self) -> usize {
        self.kinds.len().max(1)
    }

    fn kind(&self, t: usize) -> &Kind {
        &self.kinds[t % self.kinds.len()]
    }

    /// Number of independent things heard in iteration `t`.
    pub(super) fn rank(&self, t: usize) -> usize {
        self.kind(t).rank
    }

    /// What is heard in iteration `t`, over the noises of iteration `s <= t`: a column for each.
    pub(super) fn over(&self, t: usize, s: usize) -> &[f64] {
        &self.kind(t).carried[t - s]
    }
}
