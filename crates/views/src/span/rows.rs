//! What messages are made of: coefficients over everyone's first values, in any arithmetic.
//!
//! The same recursion runs on residues, which decide what is independent of what, and on as many digits as it takes.

use std::sync::Arc;

use rayon::prelude::*;
use sottovoce_fault::stop;
use sottovoce_protocol::averaging;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::{Schedule, Step};

use super::field::Residue;
use super::fixed::Fixed;
use super::weight::Weight;
use crate::exact::ExecutedRound;

/// A number to compute coefficients in.
pub(crate) trait Number: Copy + Send + Sync + From<Weight> {
    fn zero() -> Self;
    fn one() -> Self;
    fn plus_times(self, factor: &Self, other: &Self) -> Self;
    fn minus(self, other: &Self) -> Self;

    /// Whether it is below 1/2 in size, for arithmetics in which sizes matter.
    fn fits(&self) -> bool {
        true
    }

    /// `own * x`, and the sum of products of weights with the values they belong to.
    #[inline(always)]
    fn mixture(own: &Self, x: &Self, others: &[(usize, Self)], values: &[Self]) -> Self {
        let first = Self::zero().plus_times(own, x);
        others.iter().fold(first, |sum, (v, weight)| sum.plus_times(weight, &values[*v]))
    }
}

impl Number for Residue {
    fn zero() -> Self {
        Self::ZERO
    }
    fn one() -> Self {
        Self::ONE
    }
    #[inline(always)]
    fn plus_times(self, factor: &Self, other: &Self) -> Self {
        Self::plus_times(self, *factor, *other)
    }
    fn minus(self, other: &Self) -> Self {
        Self::minus(self, *other)
    }
    #[inline(always)]
    fn mixture(own: &Self, x: &Self, others: &[(usize, Self)], values: &[Self]) -> Self {
        Self::sum_of_products((own, x), others, values)
    }
}

impl<const L: usize> Number for Fixed<L> {
    fn zero() -> Self {
        Self::ZERO
    }
    fn one() -> Self {
        Self::whole(1)
    }
    #[inline(always)]
    fn plus_times(self, factor: &Self, other: &Self) -> Self {
        self.plus(&factor.times(other))
    }
    fn minus(self, other: &Self) -> Self {
        Self::minus(self, other)
    }
    fn fits(&self) -> bool {
        self.room() > 0
    }
}

/// Where messages come from.
pub(crate) trait Source: Sync {
    /// Number of base variables.
    fn variables(&self) -> usize;

    /// How far coefficients may grow beyond 1.
    fn growth(&self) -> f64;

    /// By how much a coefficient may be off, in units of the last place of the arithmetic; and relatively, beside that.
    fn error(&self) -> (f64, f64);

    /// Products that it takes to compute all coefficients.
    fn products(&self) -> f64;

    /// Shows `visit` the coefficients of each message that is `wanted` (round, number), in order of time, those of the observers left
    /// out. `visit` says whether the message was news.
    fn each<N: Number>(
        &self,
        wanted: impl Fn(usize, usize) -> bool,
        visit: impl FnMut(usize, usize, &[N]) -> bool,
    );
}

/// Messages given by their coefficients, in doubles.
pub(crate) struct Given {
    variables: usize,
    rows: Vec<Vec<f64>>,
}

impl Given {
    /// Finite coefficients; those beyond the end of a row are 0. Rows are scaled to sizes below 1, which changes no space.
    pub(crate) fn new(variables: usize, rows: Vec<Vec<f64>>) -> Self {
        let scaled = |mut row: Vec<f64>| {
            let largest = row.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            // A power of two: nothing is rounded.
            let scale = if largest > 0.0 { 2_f64.powi(-(largest.log2().floor() as i32) - 1) } else { 1.0 };
            row.iter_mut().for_each(|x| *x *= scale);
            row.resize(variables, 0.0);
            row
        };
        Self { variables, rows: rows.into_iter().map(scaled).collect() }
    }
}

impl Source for Given {
    fn variables(&self) -> usize {
        self.variables
    }

    fn growth(&self) -> f64 {
        1.0
    }

    /// What was computed in doubles is off by some units of their last place, unless all are simple fractions.
    fn error(&self) -> (f64, f64) {
        let exact = self.rows.iter().flatten().all(|&x| Weight::of(x).halvings == 0);
        (2.0, if exact { 0.0 } else { 64.0 * f64::EPSILON })
    }

    fn products(&self) -> f64 {
        0.0
    }

    fn each<N: Number>(
        &self,
        wanted: impl Fn(usize, usize) -> bool,
        mut visit: impl FnMut(usize, usize, &[N]) -> bool,
    ) {
        for (i, row) in self.rows.iter().enumerate().filter(|(i, _)| wanted(*i, 0)) {
            visit(i, 0, &row.iter().map(|&x| N::from(Weight::of(x))).collect::<Vec<N>>());
        }
    }
}

/// How far a row may be from summing to one before what is left is no longer its own weight.
const ROUNDING: f64 = 1e-12;

/// One peer's row, as fractions.
#[derive(Debug, Clone)]
struct Row {
    peer: usize,
    /// None: what the others leave of one.
    own: Option<Weight>,
    from: Vec<(usize, Weight)>,
}

/// A row in one arithmetic.
pub(crate) struct Counted<N> {
    peer: usize,
    own: N,
    from: Vec<(usize, N)>,
}

impl<N: Copy> Counted<N> {
    /// All weights, its own first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, N)> {
        std::iter::once((self.peer, self.own)).chain(self.from.iter().copied())
    }
}

impl Row {
    fn new(peer: usize, own: f64, from: &[(usize, f64)]) -> Self {
        let sum = from.iter().fold(own, |sum, (_, weight)| sum + weight);
        let stochastic = (sum - 1.0).abs() <= ROUNDING;
        Self {
            peer,
            own: (!stochastic || own == 0.0).then(|| Weight::of(own)),
            from: from.iter().map(|&(v, weight)| (v, Weight::of(weight))).collect(),
        }
    }

    fn counted<N: Number>(&self, count: &mut impl FnMut(Weight) -> N) -> Counted<N> {
        let from: Vec<(usize, N)> = self.from.iter().map(|&(v, weight)| (v, count(weight))).collect();
        let rest = || from.iter().fold(N::one(), |rest, (_, weight)| rest.minus(weight));
        Counted { peer: self.peer, own: self.own.map_or_else(rest, N::from), from }
    }
}

/// A matrix: rows of those who change their value.
#[derive(Debug, Clone)]
struct Matrix(Vec<Row>);

impl Matrix {
    fn of(mixing: &Mixing) -> Self {
        let row = |u: usize| Row::new(u, mixing.diagonal()[u], &mixing.row(u).collect::<Vec<_>>());
        Self((0..mixing.nodes()).map(row).collect())
    }

    fn step(step: &Step) -> Self {
        match step {
            Step::Mixing(mixing) => Self::of(mixing),
            Step::Pair(u, v) => {
                let half = |a: usize, b: usize| Row::new(a, 0.5, &[(b, 0.5)]);
                Self(vec![half(*u, *v), half(*v, *u)])
            }
            Step::Idle => Self(Vec::new()),
        }
    }

    fn round(rows: &[averaging::Row]) -> Self {
        let changed = rows.iter().enumerate().filter(|(_, row)| row.own != 1.0 || !row.from.is_empty());
        Self(changed.map(|(u, row)| Row::new(u, row.own, &row.from)).collect())
    }

    fn counted<N: Number>(&self) -> Vec<Counted<N>> {
        // Many weights are alike, and neighbours' most of all.
        let mut last: Option<(Weight, N)> = None;
        let mut count = |weight: Weight| match last {
            Some((known, number)) if known == weight => number,
            _ => last.insert((weight, N::from(weight))).1,
        };
        self.0.iter().map(|row| row.counted(&mut count)).collect()
    }

    /// The largest sum of sizes of a row.
    fn growth(&self) -> f64 {
        let size = |weight: &Weight| {
            weight.numerator as f64 / weight.denominator as f64 * 0.5_f64.powi(weight.halvings as i32)
        };
        let sums = self.0.iter().map(|row| {
            let others: f64 = row.from.iter().map(|(_, weight)| size(weight)).sum();
            others + row.own.map_or((1.0 - others).abs(), |own| size(&own))
        });
        sums.fold(1.0, f64::max)
    }
}

/// Relay noise and the local one, in a common unit in which neither is above 1.
#[derive(Debug, Clone, Copy)]
struct Relay {
    share: Weight,
    local: Weight,
}

impl Relay {
    fn new(tau: f64) -> Self {
        let halvings = if tau > 1.0 { tau.log2().ceil() as u32 } else { 0 };
        let halved = |weight: Weight| Weight { halvings: weight.halvings + halvings, ..weight };
        Self { share: halved(Weight::of(tau)), local: halved(Weight::of(1.0)) }
    }
}

/// Rounds in which values are mixed, and who is heard in them.
pub(crate) struct Rounds {
    nodes: usize,
    matrices: Arc<Vec<Matrix>>,
    /// The matrix of each round.
    which: Vec<usize>,
    /// Senders heard in each round, and at the end; hidden ones only.
    heard: Vec<Vec<usize>>,
    /// Whether one symmetric matrix serves all rounds.
    powers: bool,
    /// Fresh noise on every message, as a share of the local one.
    relay: Option<Relay>,
    observers: Vec<usize>,
}

impl Rounds {
    /// `steps` times the same symmetric matrix; the last values of `published` are known, too.
    pub(crate) fn powers(mixing: &Mixing, observers: &[usize], steps: usize, published: &[usize]) -> Self {
        let graph = mixing.graph();
        let neighbours = observers.iter().flat_map(|&v| graph.neighbors(v).iter().map(|&w| w as usize));
        let heard = hidden(neighbours, observers);
        let mut all = vec![heard; steps];
        all.push(hidden(published.iter().copied(), observers));
        Self {
            nodes: mixing.nodes(),
            matrices: Arc::new(vec![Matrix::of(mixing)]),
            which: vec![0; steps],
            heard: all,
            powers: true,
            relay: None,
            observers: observers.to_vec(),
        }
    }

    /// The first `steps` steps of a schedule.
    pub(crate) fn scheduled(
        schedule: &Schedule,
        observers: &[usize],
        steps: usize,
        published: &[usize],
    ) -> Self {
        let all: Vec<Step> = (0..steps).map(|t| schedule.step(t).unwrap_or(Step::Idle)).collect();
        let senders = |step: &Step| hidden(crate::exact::heard(step, observers).into_iter(), observers);
        let mut heard: Vec<Vec<usize>> = all.iter().map(senders).collect();
        heard.push(hidden(published.iter().copied(), observers));
        Self {
            nodes: schedule.nodes(),
            matrices: Arc::new(all.iter().map(Matrix::step).collect()),
            which: (0..steps).collect(),
            heard,
            powers: false,
            relay: None,
            observers: observers.to_vec(),
        }
    }

    /// A schedule with these senders heard in each round, by observers who know what they know of their own.
    pub(crate) fn watched(schedule: &Schedule, mut heard: Vec<Vec<usize>>) -> Self {
        let steps = heard.len();
        heard.push(Vec::new());
        let step = |t: usize| Matrix::step(&schedule.step(t).unwrap_or(Step::Idle));
        Self {
            nodes: schedule.nodes(),
            matrices: Arc::new((0..steps).map(step).collect()),
            which: (0..steps).collect(),
            heard,
            powers: false,
            relay: None,
            observers: Vec::new(),
        }
    }

    /// Rounds as they were executed.
    pub(crate) fn executed(
        nodes: usize,
        rounds: &[ExecutedRound],
        observers: &[usize],
        published: &[usize],
    ) -> Self {
        let senders = |round: &ExecutedRound| {
            let watched = round.heard.iter().filter(|(_, to)| observers.binary_search(to).is_ok());
            hidden(watched.map(|&(from, _)| from), observers)
        };
        let mut heard: Vec<Vec<usize>> = rounds.iter().map(senders).collect();
        heard.push(hidden(published.iter().copied(), observers));
        Self {
            nodes,
            matrices: Arc::new(rounds.iter().map(|round| Matrix::round(&round.rows)).collect()),
            which: (0..rounds.len()).collect(),
            heard,
            powers: false,
            relay: None,
            observers: observers.to_vec(),
        }
    }

    /// Number of rounds.
    pub(crate) fn rounds(&self) -> usize {
        self.which.len()
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(crate) fn observers(&self) -> &[usize] {
        &self.observers
    }

    /// Who is heard in the first round.
    pub(crate) fn senders(&self) -> &[usize] {
        &self.heard[0]
    }

    /// The first value of a peer.
    pub(crate) fn unit<N: Number>(&self, w: usize) -> Vec<N> {
        let mut unit = vec![N::zero(); self.nodes];
        unit[w] = N::one();
        unit
    }

    /// The first matrix without the observers' rows and columns, as a map of vectors that are 0 there.
    pub(crate) fn mixer<N: Number>(&self) -> impl Fn(&[N]) -> Vec<N> {
        let matrix = self.matrix();
        move |x| self.hide(mixed(&matrix, x))
    }

    /// The first matrix.
    pub(crate) fn matrix<N: Number>(&self) -> Vec<Counted<N>> {
        self.matrices.first().map(Matrix::counted::<N>).unwrap_or_default()
    }

    /// The same matrix, seen by one of those who mix by it.
    pub(crate) fn seen_by(&self, observer: usize, senders: Vec<usize>, steps: usize) -> Self {
        let mut heard = vec![senders; steps];
        heard.push(Vec::new());
        Self {
            nodes: self.nodes,
            matrices: Arc::clone(&self.matrices),
            which: vec![0; steps],
            heard,
            powers: true,
            relay: None,
            observers: vec![observer],
        }
    }

    /// For one symmetric matrix: a vector for each sender, mixed once more in each round. What once was a combination of
    /// other messages of the same age or older stays one.
    fn each_power<N: Number>(
        &self,
        wanted: impl Fn(usize, usize) -> bool,
        mut visit: impl FnMut(usize, usize, &[N]) -> bool,
    ) {
        let mix = self.mixer::<N>();
        let mut active: Vec<(usize, Vec<N>)> = self.heard[0].iter().map(|&w| (w, self.unit(w))).collect();
        for t in 0..self.rounds() {
            if t > 0 {
                let here = stop::here();
                active.par_iter_mut().for_each(|(_, x)| here.go_on(|| *x = mix(x)));
            }
            active.retain(|(w, x)| wanted(t, *w) && visit(t, *w, x));
        }
        let last = self.rounds();
        for &w in self.heard[last].iter().filter(|&&w| wanted(last, w)) {
            let end = (0..last).fold(self.unit(w), |x, _| mix(&x));
            visit(last, w, &end);
        }
    }

    /// The same rounds with fresh noise of `tau` times the local one on every message, which its sender mixes, too: draw `t + 1` of peer `u`
    /// is variable `(t + 1) n + u`. Who neither speaks nor hears draws none.
    pub(crate) fn relayed(mut self, tau: f64) -> Self {
        (self.relay, self.powers) = (Some(Relay::new(tau)), false);
        self
    }

    /// For any matrices: everyone's coefficients, carried along.
    fn each_round<N: Number>(
        &self,
        wanted: impl Fn(usize, usize) -> bool,
        mut visit: impl FnMut(usize, usize, &[N]) -> bool,
    ) {
        let n = self.nodes;
        let hidden = |u: &usize| self.observers.binary_search(u).is_err();
        let mut values = vec![vec![N::zero(); self.variables()]; n];
        let local = self.relay.map_or(N::one(), |relay| N::from(relay.local));
        (0..n).filter(hidden).for_each(|u| values[u][u] = local);
        for t in 0..=self.rounds() {
            sottovoce_fault::stop::look();
            let which = self.which.get(t);
            if let (Some(relay), Some(&which)) = (self.relay, which) {
                let share = N::from(relay.share);
                let speak = self.matrices[which].0.iter().filter(|row| !row.from.is_empty());
                speak.map(|row| row.peer).filter(hidden).for_each(|u| values[u][(t + 1) * n + u] = share);
            }
            for &w in self.heard[t].iter().filter(|&&w| wanted(t, w)) {
                sottovoce_fault::stop::look();
                visit(t, w, &values[w]);
            }
            let Some(&which) = which else { break };
            let next: Vec<(usize, Vec<N>)> = (self.matrices[which].counted::<N>().iter())
                .map(|row| (row.peer, combined(row, &values)))
                .collect();
            next.into_iter().for_each(|(u, value)| values[u] = value);
        }
    }

    pub(crate) fn hide<N: Number>(&self, mut x: Vec<N>) -> Vec<N> {
        self.observers.iter().for_each(|&v| x[v] = N::zero());
        x
    }
}

impl Source for Rounds {
    fn variables(&self) -> usize {
        if self.relay.is_some() { self.nodes * (self.rounds() + 1) } else { self.nodes }
    }

    /// The product of the largest row sums.
    fn growth(&self) -> f64 {
        let each: Vec<f64> = self.matrices.iter().map(Matrix::growth).collect();
        self.which.iter().map(|&i| each[i]).product()
    }

    /// In every round, of every product a unit, and one of its weight.
    fn error(&self) -> (f64, f64) {
        (self.growth() * (self.rounds() as f64 + 1.0) * (2.0 * self.nodes as f64 + 2.0), 0.0)
    }

    fn products(&self) -> f64 {
        let width = if self.powers { self.heard[0].len() } else { self.variables() };
        let size = |matrix: &Matrix| matrix.0.iter().map(|row| row.from.len() + 1).sum::<usize>();
        let sizes: Vec<usize> = self.matrices.iter().map(size).collect();
        width as f64 * self.which.iter().map(|&i| sizes[i] as f64).sum::<f64>()
    }

    fn each<N: Number>(
        &self,
        wanted: impl Fn(usize, usize) -> bool,
        visit: impl FnMut(usize, usize, &[N]) -> bool,
    ) {
        if self.powers { self.each_power(wanted, visit) } else { self.each_round(wanted, visit) }
    }
}

/// Everyone but the observers, in increasing order, each once.
fn hidden(peers: impl Iterator<Item = usize>, observers: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = peers.filter(|w| observers.binary_search(w).is_err()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A matrix that has a row for everyone, applied.
fn mixed<N: Number>(matrix: &[Counted<N>], x: &[N]) -> Vec<N> {
    matrix.iter().map(|row| N::mixture(&row.own, &x[row.peer], &row.from, x)).collect()
}

fn combined<N: Number>(row: &Counted<N>, values: &[Vec<N>]) -> Vec<N> {
    let mut sum: Vec<N> = values[row.peer].iter().map(|x| N::zero().plus_times(&row.own, x)).collect();
    for (v, weight) in &row.from {
        sum.iter_mut().zip(&values[*v]).for_each(|(sum, x)| *sum = sum.plus_times(weight, x));
    }
    sum
}
