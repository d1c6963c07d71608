//! One peer's loss towards someone who sees every message, from below and from above: `e_u' M^-1 e_u` with `M = I + kappa² L`.
//!
//! For any `x` with remainder `r = e_u - M x`,
//!
//! ```text
//! e_u' M^-1 e_u = 2 x_u - x' M x + r' M^-1 r
//! ```
//!
//! and the last term is positive and at most `|r|²`, since no eigenvalue of `M` is below 1. `M` leaves constants on a group of connected peers alone, so
//! the best multiple of them is added to `x`; then `r` is orthogonal to them, and the last term is at most `|r|²` over the next eigenvalue.
//! `x` comes from conjugate gradients that start at `u` and reach one hop further with each step, until they are exact or have gone along as many edges
//! as they may. Whatever rounding did to `x`, the two bounds are those of the `x` that was found: only `r` and the sums are computed anew from it.

use super::honest::Honest;

/// Steps after which conjugate gradients stop, exact or not.
const MOST_STEPS: usize = 400;

/// Where the bounds are this near to each other, in all, there is nothing left to gain.
const EXACT: f64 = 1e-14;

pub(super) struct Solver<'a> {
    honest: &'a Honest<'a>,
    /// `kappa²`.
    squared: f64,
    /// Edges to go along for one peer.
    edges: f64,
}

/// Vectors of which only some entries are not zero.
pub(super) struct Scratch {
    at: Vec<Entry>,
    /// Peers reached so far.
    reached: Vec<usize>,
}

/// What there is of the vectors at a peer, in one place of the memory.
#[derive(Clone, Copy, Default)]
struct Entry {
    x: f64,
    rest: f64,
    direction: f64,
    image: f64,
    reached: bool,
}

impl<'a> Solver<'a> {
    pub(super) fn new(honest: &'a Honest<'a>, squared: f64, edges: f64) -> Self {
        Self { honest, squared, edges }
    }

    pub(super) fn nodes(&self) -> usize {
        self.honest.group.len()
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch { at: vec![Entry::default(); self.nodes()], reached: Vec::new() }
    }

    /// What is known of a peer's loss; nothing is lost of those who attack.
    pub(super) fn loss(&self, u: usize, s: &mut Scratch) -> Known {
        let Some(group) = self.honest.group[u] else { return Known::default() };
        self.descend(u, s);
        let found = self.known(u, self.honest.sizes[group] as f64, s);
        s.clear();
        found
    }

    /// Conjugate gradients for `M x = e_u`.
    fn descend(&self, u: usize, s: &mut Scratch) {
        s.reach(u);
        (s.at[u].rest, s.at[u].direction) = (1.0, 1.0);
        let (mut square, mut edges) = (1.0, 0.0);
        for _ in 0..MOST_STEPS {
            edges += self.multiply(s);
            let along: f64 = s.entries().map(|at| at.direction * at.image).sum();
            let step = square / along;
            if !step.is_finite() {
                return;
            }
            let mut next = 0.0;
            for &v in &s.reached {
                let at = &mut s.at[v];
                at.x += step * at.direction;
                at.rest -= step * at.image;
                next += at.rest * at.rest;
            }
            let ahead: usize = s.reached.iter().map(|&v| self.honest.keys.degree(v)).sum();
            if next <= EXACT * EXACT || edges + ahead as f64 > self.edges {
                return;
            }
            let kept = next / square;
            for &v in &s.reached {
                s.at[v].direction = s.at[v].rest + kept * s.at[v].direction;
            }
            square = next;
        }
    }

    /// `image = M direction`, one hop further out; the edges that it took.
    fn multiply(&self, s: &mut Scratch) -> f64 {
        s.reached.iter().for_each(|&v| s.at[v].image = 0.0);
        let mut edges = 0_usize;
        for i in 0..s.reached.len() {
            let v = s.reached[i];
            let own = s.at[v].direction;
            if own == 0.0 {
                continue;
            }
            for other in self.honest.others(v) {
                let across = s.at[other].direction;
                // Differences, since neighbours are nearly alike and `kappa²` may be large.
                let pull = self.squared * (own - across);
                s.at[v].image += pull;
                if across == 0.0 {
                    s.reach(other);
                    s.at[other].image -= pull;
                }
                edges += 1;
            }
            s.at[v].image += own;
        }
        edges as f64
    }

    /// The identity above, for the `x` that was found.
    fn known(&self, u: usize, size: f64, s: &mut Scratch) -> Known {
        s.reached.iter().for_each(|&v| s.at[v].direction = s.at[v].x);
        self.multiply(s);
        let (mut sum, mut square, mut product) = (0.0, 0.0, 0.0);
        // Sizes of what is summed, and by how much each part may be off.
        let (mut sizes, mut off) = (0.0, 0.0);
        for &v in &s.reached {
            let Entry { x, image, .. } = s.at[v];
            let rest = f64::from(v == u) - image;
            sum += x;
            square += rest * rest;
            product += x * image;
            let spread = if x == 0.0 { image.abs() } else { self.spread(v, s) };
            sizes += x.abs() + (x * image).abs() + rest * rest;
            off += (8.0 + self.honest.keys.degree(v) as f64) * spread * (x.abs() + 2.0 * rest.abs());
        }
        // What constants add, and what they take from the remainder.
        let constants = (1.0 - sum).powi(2) / size;
        let rounding = f64::EPSILON * ((16.0 + s.reached.len() as f64) * (2.0 + 4.0 * sizes) + off);
        Known { lower: 2.0 * s.at[u].x - product + constants, left: square - constants, rounding }
    }

    /// The sizes of all that makes up an entry of `M x`.
    fn spread(&self, v: usize, s: &Scratch) -> f64 {
        let own = s.at[v].x;
        own.abs() + self.squared * self.honest.others(v).map(|w| (own - s.at[w].x).abs()).sum::<f64>()
    }
}

/// A loss is between `lower`, and as much more as `left` over the least eigenvalue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    lower: f64,
    left: f64,
    rounding: f64,
}

impl Known {
    /// From below and above, where no eigenvalue but those of the constants is below `floor`.
    pub(super) fn bounds(self, floor: f64) -> (f64, f64) {
        let left = if self.left > 0.0 { self.left / floor } else { 0.0 };
        let upper = self.lower + left + self.rounding;
        let least = self.lower - self.rounding;
        (if least > 0.0 { least } else { 0.0 }, if upper < 1.0 { upper } else { 1.0 })
    }
}

impl Scratch {
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.reached.iter().map(|&v| &self.at[v])
    }

    #[inline]
    fn reach(&mut self, v: usize) {
        if !std::mem::replace(&mut self.at[v].reached, true) {
            self.reached.push(v);
        }
    }

    fn clear(&mut self) {
        self.reached.iter().for_each(|&v| self.at[v] = Entry::default());
        self.reached.clear();
    }
}
