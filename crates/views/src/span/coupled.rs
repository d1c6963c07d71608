//! What the messages of accelerated randomised gossip are made of, exactly.
//!
//! Every peer has two values, `x` and `z`. Between two pairs that it is part of, `k` rounds apart, they lean on each other `k` times: with
//! `c = (1 - 2a)^k` that is `x <- ((1 + c) x + (1 - c) z)/2`, and the same for `z`. So only the pair of a round is looked at in it.
//!
//! Coefficients of `z` may grow: they are no averages. They begin at `2^-16`, and where one reaches 1/2 nothing more is said: whoever asks finds that
//! messages are missing, and certifies nothing. How far rounding may have grown is carried along with the numbers.

use sottovoce_protocol::averaging::Coupling;
use sottovoce_topology::schedule::{Schedule, Step};

use super::larger;
use super::rows::{Number, Source};
use super::weight::Weight;
use crate::exact::heard;

/// All coefficients are this share of what they are: a power of two, which changes no space.
const UNIT: Weight = Weight { negative: false, numerator: 1, denominator: 1, halvings: 16 };

/// Largest stride: with values below 1/2, what is added to one then stays below where numbers end.
const LARGEST_STRIDE: f64 = 120.0;

/// Pairs of coupled peers, and who listens.
pub(crate) struct Coupled {
    nodes: usize,
    pairs: Vec<Option<(usize, usize)>>,
    coupling: Coupling,
    /// Senders heard in each round, and at the end, in increasing order.
    heard: Vec<Vec<usize>>,
    /// Those whose own values are known.
    observers: Vec<usize>,
    /// By how much a coefficient may be off, in units of the last place; infinite where numbers would not fit.
    error: f64,
}

/// One peer's two values, and how many rounds they have leaned on each other.
#[derive(Clone)]
struct Peer<N> {
    x: Vec<N>,
    z: Vec<N>,
    rounds: usize,
}

impl Coupled {
    /// The first `steps` steps of a schedule of pairs; the last values of `published` are known, too. Both lists are in increasing order.
    pub(crate) fn new(
        schedule: &Schedule,
        steps: usize,
        coupling: Coupling,
        observers: &[usize],
        published: &[usize],
    ) -> Self {
        let hidden = |w: &usize| observers.binary_search(w).is_err();
        let senders = |t: usize| match schedule.step(t) {
            Some(step @ Step::Pair(..)) => heard(&step, observers).into_iter().filter(hidden).collect(),
            _ => Vec::new(),
        };
        let mut heard: Vec<Vec<usize>> = (0..steps).map(senders).collect();
        heard.push(published.iter().copied().filter(hidden).collect());
        let pair = |t: usize| match schedule.step(t) {
            Some(Step::Pair(u, v)) => Some((u, v)),
            _ => None,
        };
        let (nodes, pairs) = (schedule.nodes(), (0..heard.len() - 1).map(pair).collect::<Vec<_>>());
        let error = match coupling.stride <= LARGEST_STRIDE {
            true => error(nodes, &pairs, coupling),
            false => f64::INFINITY,
        };
        Self { nodes, pairs, coupling, heard, observers: observers.to_vec(), error }
    }

    fn first<N: Number>(&self) -> Vec<Peer<N>> {
        let value = |u: usize| {
            let mut value = vec![N::zero(); self.nodes];
            if self.observers.binary_search(&u).is_err() {
                value[u] = N::from(UNIT);
            }
            value
        };
        (0..self.nodes).map(|u| Peer { x: value(u), z: value(u), rounds: 0 }).collect()
    }

    /// `((1 + c)/2, (1 - c)/2)` for each number of rounds, `c = (1 - 2a)^k`.
    fn leans<N: Number>(&self) -> Vec<(N, N)> {
        let (half, lean) = (N::from(Weight::of(0.5)), N::from(Weight::of(self.coupling.lean)));
        let kept = N::one().minus(&lean).minus(&lean);
        let mut power = N::one();
        let mut all = Vec::with_capacity(self.pairs.len() + 1);
        for _ in 0..=self.pairs.len() {
            let away = N::zero().plus_times(&half, &N::one().minus(&power));
            all.push((N::one().minus(&away), away));
            power = N::zero().plus_times(&power, &kept);
        }
        all
    }
}

impl<N: Number> Peer<N> {
    /// Leans until so many rounds have begun.
    fn lean(&mut self, rounds: usize, leans: &[(N, N)]) {
        let (kept, away) = leans[rounds - self.rounds];
        for (x, z) in self.x.iter_mut().zip(&mut self.z) {
            let (before, ahead) = (*x, *z);
            *x = N::zero().plus_times(&kept, &before).plus_times(&away, &ahead);
            *z = N::zero().plus_times(&kept, &ahead).plus_times(&away, &before);
        }
        self.rounds = rounds;
    }

    /// A pair takes the half-sum, and the second values go on; false where numbers no longer fit.
    fn exchange(&mut self, other: &mut Self, half: &N, stride: &N) -> bool {
        let mut fits = true;
        for i in 0..self.x.len() {
            let step = N::zero().plus_times(half, &self.x[i].minus(&other.x[i]));
            let further = N::zero().plus_times(stride, &step);
            self.x[i] = self.x[i].minus(&step);
            other.x[i] = self.x[i];
            self.z[i] = self.z[i].minus(&further);
            other.z[i] = other.z[i].plus_times(&N::one(), &further);
            fits &= self.x[i].fits() && self.z[i].fits() && other.z[i].fits();
        }
        fits
    }
}

/// The largest error of any `x`, in units of the last place, if all numbers stay below 1/2: every product is off by a unit, and by what its factors are off.
fn error(nodes: usize, pairs: &[Option<(usize, usize)>], coupling: Coupling) -> f64 {
    let mut all = vec![(2.0, 2.0, 0); nodes];
    let mut most = 2.0;
    let kept = 1.0 - 2.0 * coupling.lean;
    let mut lean = |peer: usize, rounds: usize, all: &mut Vec<(f64, f64, usize)>| {
        let (x, z, before) = all[peer];
        let k = rounds - before;
        let away = (1.0 - kept.powi(k as i32)) / 2.0;
        // A power of a weight is off by up to two units for each factor.
        let more = 2.0 * k as f64 + 8.0;
        let (x, z) = ((1.0 - away) * x + away * z + more, (1.0 - away) * z + away * x + more);
        all[peer] = (x, z, rounds);
        most = larger(most, x);
    };
    for (t, pair) in pairs.iter().enumerate() {
        let Some((u, v)) = *pair else { continue };
        lean(u, t + 1, &mut all);
        lean(v, t + 1, &mut all);
        let both = (all[u].0 + all[v].0) / 2.0 + 2.0;
        for peer in [u, v] {
            all[peer].0 = both;
            all[peer].1 += coupling.stride * both + 4.0;
        }
    }
    (0..nodes).for_each(|peer| lean(peer, pairs.len(), &mut all));
    // The sums above are rounded themselves.
    2.0 * most
}

impl Source for Coupled {
    fn variables(&self) -> usize {
        self.nodes
    }

    /// Numbers that do not fit are not shown.
    fn growth(&self) -> f64 {
        if self.error.is_finite() { 1.0 } else { f64::INFINITY }
    }

    fn error(&self) -> (f64, f64) {
        (self.error, 0.0)
    }

    fn products(&self) -> f64 {
        let each = 12.0 * self.nodes as f64;
        each * (self.pairs.iter().flatten().count() + self.heard[self.pairs.len()].len()) as f64
    }

    fn each<N: Number>(
        &self,
        wanted: impl Fn(usize, usize) -> bool,
        mut visit: impl FnMut(usize, usize, &[N]) -> bool,
    ) {
        let (mut peers, leans) = (self.first::<N>(), self.leans::<N>());
        let (half, stride) = (N::from(Weight::of(0.5)), N::from(Weight::of(self.coupling.stride)));
        for (t, pair) in self.pairs.iter().enumerate() {
            let Some((u, v)) = pair.map(|(u, v)| (u.min(v), u.max(v))) else { continue }; // whole numbers
            let (low, high) = peers.split_at_mut(v);
            let (first, second) = (&mut low[u], &mut high[0]);
            first.lean(t + 1, &leans);
            second.lean(t + 1, &leans);
            for &w in self.heard[t].iter().filter(|&&w| wanted(t, w)) {
                visit(t, w, if w == u { &first.x } else { &second.x });
            }
            if !first.exchange(second, &half, &stride) {
                return;
            }
        }
        let last = self.pairs.len();
        for &w in self.heard[last].iter().filter(|&&w| wanted(last, w)) {
            peers[w].lean(last, &leans);
            visit(last, w, &peers[w].x);
        }
    }
}
