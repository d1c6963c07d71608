//! What observers hear in each iteration, as functions of the state at its beginning, and carried back to all earlier noises.
//!
//! Let `B_t` be the mixing matrix of iteration `t` without the observers, `E_t` the peers they hear, and `F_t = p_K(B_t)` what `K`
//! rounds do to the hidden state (`p_K(x) = x^K`, or Chebyshev's if accelerated). They hear `Y_t = span(E_t, B_t E_t, ..., B_t^(K-1) E_t)`
//! of the state `x_t = z_t + F_(t-1) x_(t-1)`, up to what they know. An orthonormal basis `Q_t` of `Y_t` is grown block by block as in
//! [`exact::gossip`](crate::exact::gossip()), so no direction drowns; over the noises it reads
//!
//! ```text
//! z_t: Q_t     z_(t-1): F_(t-1) Q_t     z_(t-2): F_(t-2) F_(t-1) Q_t     ...
//! ```

use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::Step;

use crate::basis::Basis;
use crate::exact::heard;
use crate::parallel;
use crate::powers::apply_columns;

/// Weights below this make entries that a norm does not notice.
const TINY: f64 = 1e-6;

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

    /// `Q`: what is heard of the state at the beginning.
    fn heard(&self, observers: &[usize], rounds: usize) -> Basis {
        let senders = heard(&Step::Mixing(self.mixing), observers);
        let hidden = senders.into_iter().filter(|w| observers.binary_search(w).is_err()).collect();
        let careful = self.mixing.weights().iter().any(|weight| *weight > 0.0 && *weight < TINY);
        let mut basis = Basis::new(self.mixing.nodes()).units(hidden).careful(careful);
        let mut last = 0..basis.rank();
        for _ in 1..rounds {
            // Where nothing was new, nothing ever will be.
            if last.is_empty() {
                break;
            }
            let columns = basis.columns(last).to_vec();
            let terms = || self.mix(observers, &columns.iter().map(|x| x.abs()).collect::<Vec<_>>());
            let new = basis.extend(self.mix(observers, &columns), terms);
            last = basis.rank() - new..basis.rank();
        }
        basis
    }
}

/// What is heard in all iterations, over all noises.
pub(super) struct Spaces {
    pub(super) nodes: usize,
    pub(super) iterations: usize,
    /// Gossips in turn: iteration `t` is of kind `t % kinds`.
    kinds: Vec<Kind>,
}

/// Iterations over the same gossip.
struct Kind {
    rank: usize,
    doubtful: usize,
    /// The basis over the noise of its own iteration, of the one before, and so on: columns one after the other.
    carried: Vec<Vec<f64>>,
}

impl Spaces {
    pub(super) fn new(gossips: &[Gossip], observers: &[usize], rounds: usize, iterations: usize) -> Self {
        let nodes = gossips.first().map_or(0, |gossip| gossip.mixing.nodes());
        let kind = |which: usize| {
            let basis = gossips[which].heard(observers, rounds);
            let last = which + (iterations - 1 - which) / gossips.len() * gossips.len();
            let mut carried = vec![basis.columns(0..basis.rank()).to_vec()];
            for s in (0..last).rev() {
                let later = &carried[carried.len() - 1];
                carried.push(gossips[s % gossips.len()].all_rounds(observers, rounds, later));
            }
            Kind { rank: basis.rank(), doubtful: basis.ambiguous, carried }
        };
        let kinds = parallel::map(gossips.len().min(iterations), kind, |_| ());
        Self { nodes, iterations, kinds }
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

    pub(super) fn doubtful(&self) -> usize {
        (0..self.iterations).map(|t| self.kind(t).doubtful).sum()
    }
}
