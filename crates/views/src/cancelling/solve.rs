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
    mean_degree: f64,
    largest_degree: f64,
}

/// A part of the graph that grows, and vectors on it. Peers are numbered as they are reached, so that all of it lies together.
pub(super) struct Scratch {
    /// The number of each peer, and `UNREACHED`.
    number: Vec<u32>,
    peers: Vec<usize>,
    at: Vec<Entry>,
    /// Neighbours of the first peers, by number, and where the list of each ends.
    neighbours: Vec<u32>,
    ends: Vec<usize>,
}

const UNREACHED: u32 = u32::MAX;

/// What there is of the vectors at a peer.
#[derive(Clone, Copy, Default)]
struct Entry {
    x: f64,
    rest: f64,
    direction: f64,
    image: f64,
    /// The sizes of all that makes up the image.
    spread: f64,
}

impl<'a> Solver<'a> {
    pub(super) fn new(honest: &'a Honest<'a>, squared: f64, edges: f64) -> Self {
        let keys = honest.keys;
        let mean_degree = 2.0 * keys.edge_count() as f64 / keys.nodes() as f64;
        let largest_degree = (0..keys.nodes()).map(|v| keys.degree(v)).max().unwrap_or(0) as f64;
        Self { honest, squared, edges, mean_degree, largest_degree }
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch {
            number: vec![UNREACHED; self.honest.group.len()],
            peers: Vec::new(),
            at: Vec::new(),
            neighbours: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// What is known of a peer's loss; nothing is lost of those who attack.
    pub(super) fn loss(&self, u: usize, s: &mut Scratch) -> Known {
        let Some(group) = self.honest.group[u] else { return Known::default() };
        s.reach(u);
        self.descend(s);
        let found = self.known(self.honest.sizes[group] as f64, s);
        s.clear();
        found
    }

    /// About `M^-1 e_u`: nothing at those who attack.
    pub(super) fn solution(&self, u: usize) -> Vec<f64> {
        let (mut s, mut x) = (self.scratch(), vec![0.0; self.honest.group.len()]);
        s.reach(u);
        self.descend(&mut s);
        s.peers.iter().zip(&s.at).for_each(|(peer, at)| x[*peer] = at.x);
        x
    }

    /// Conjugate gradients for `M x = e_u`, where `u` is the first peer reached.
    fn descend(&self, s: &mut Scratch) {
        (s.at[0].rest, s.at[0].direction) = (1.0, 1.0);
        let (mut square, mut edges) = (1.0, 0);
        for _ in 0..MOST_STEPS {
            sottovoce_fault::stop::look();
            s.widen(self.honest);
            self.multiply(s, |at| at.direction);
            edges += s.neighbours.len();
            let inner = s.ends.len();
            let along: f64 = s.at[..inner].iter().map(|at| at.direction * at.image).sum();
            let step = square / along;
            if !step.is_finite() {
                return;
            }
            s.at[..inner].iter_mut().for_each(|at| at.x += step * at.direction);
            // One more step goes along the edges of all peers reached.
            if edges as f64 + self.mean_degree * s.at.len() as f64 > self.edges {
                return;
            }
            s.at.iter_mut().for_each(|at| at.rest -= step * at.image);
            let next: f64 = s.at.iter().map(|at| at.rest * at.rest).sum();
            if next <= EXACT * EXACT {
                return;
            }
            let kept = next / square;
            s.at.iter_mut().for_each(|at| at.direction = at.rest + kept * at.direction);
            square = next;
        }
    }

    /// `image = M v` for a vector that is zero at the peers whose neighbours are not known yet.
    fn multiply(&self, s: &mut Scratch, of: impl Fn(&Entry) -> f64) {
        s.at.iter_mut().for_each(|at| at.image = 0.0);
        let mut first = 0;
        for (v, &end) in s.ends.iter().enumerate() {
            let (own, mut sum, mut spread) = (of(&s.at[v]), 0.0, 0.0);
            for &other in &s.neighbours[first..end] {
                let across = &mut s.at[other as usize];
                // Differences, since neighbours are nearly alike and `kappa²` may be large.
                let pull = self.squared * (own - of(across));
                sum += pull;
                spread += pull.abs();
                if other as usize >= s.ends.len() {
                    across.image -= pull;
                }
            }
            let at = &mut s.at[v];
            (at.image, at.spread) = (own + sum, own.abs() + spread);
            first = end;
        }
    }

    /// The identity above, for the `x` that was found.
    fn known(&self, size: f64, s: &mut Scratch) -> Known {
        self.multiply(s, |at| at.x);
        let (mut sum, mut square, mut product) = (0.0, 0.0, 0.0);
        // Sizes of what is summed, and by how much each part may be off.
        let (mut sizes, mut off) = (0.0, 0.0);
        for (v, &Entry { x, image, spread, .. }) in s.at.iter().enumerate() {
            let rest = f64::from(v == 0) - image;
            sum += x;
            square += rest * rest;
            product += x * image;
            // At the rim all parts have one sign.
            let spread = if v < s.ends.len() { spread } else { image.abs() };
            sizes += x.abs() + (x * image).abs() + rest * rest;
            off += (8.0 + self.largest_degree) * spread * (x.abs() + 2.0 * rest.abs());
        }
        // What constants add, and what they take from the remainder.
        let constants = (1.0 - sum).powi(2) / size;
        let rounding = f64::EPSILON * ((16.0 + s.at.len() as f64) * (2.0 + 4.0 * sizes) + off);
        Known { lower: 2.0 * s.at[0].x - product + constants, left: square - constants, rounding }
    }
}

impl Scratch {
    /// The number of a peer, who may be reached now.
    #[inline]
    fn reach(&mut self, peer: usize) -> u32 {
        if self.number[peer] == UNREACHED {
            self.number[peer] = self.peers.len() as u32;
            self.peers.push(peer);
            self.at.push(Entry::default());
        }
        self.number[peer]
    }

    /// One hop further: the neighbours of all peers reached so far.
    fn widen(&mut self, honest: &Honest<'_>) {
        for v in self.ends.len()..self.peers.len() {
            for other in honest.others(self.peers[v]) {
                let number = self.reach(other);
                self.neighbours.push(number);
            }
            self.ends.push(self.neighbours.len());
        }
    }

    fn clear(&mut self) {
        self.peers.iter().for_each(|&peer| self.number[peer] = UNREACHED);
        self.peers.clear();
        self.at.clear();
        self.neighbours.clear();
        self.ends.clear();
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
