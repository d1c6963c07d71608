//! Loss laws with finitely many values: discrete Gaussian, discrete Laplace, randomised response.
//!
//! Their losses lie on an arithmetic progression, so they compose without any discretisation error.

use super::law::Masses;
use crate::interval::{smaller, within};
use crate::pure;
use crate::{Error, Result};

/// More than the mass of a discrete Gaussian beyond 14 sigma.
pub(crate) const CUT: f64 = 1e-40;

/// Weights below `e` to minus this are lost in doubles, or soon will be.
const LN_SMALLEST: f64 = 690.0;

/// Outcomes `first + i * step` of the loss, with their masses under `P` and under `Q` (`p e^-loss`).
#[derive(Debug, Clone)]
pub(crate) struct Atoms {
    pub(crate) first: f64,
    pub(crate) step: f64,
    pub(crate) masses: Vec<f64>,
    others: Vec<f64>,
    /// Mass under `P` of the outcomes left out above (counted as fully revealing, and the first thing to show at a small
    /// enough delta).
    pub(crate) left_out: f64,
    /// Suffix and prefix sums of the masses, one longer than `masses`: both, so that either tail keeps its relative accuracy.
    /// Those under `Q` above are times `e^loss` of their first atom.
    above: Vec<Masses>,
    below: Vec<Masses>,
}

impl Atoms {
    /// Masses under `P` at the losses `-last, -last + step, ..., last`; those under `Q` are the same in reverse.
    fn new(last: f64, step: f64, masses: Vec<f64>, left_out: f64) -> Self {
        let others = masses.iter().rev().copied().collect();
        Self::of(-last, step, masses, others, left_out)
    }

    /// Masses under `P` and under `Q` at the losses from `first` on.
    fn of(first: f64, step: f64, masses: Vec<f64>, others: Vec<f64>, left_out: f64) -> Self {
        let mut above = vec![Masses { p: 0.0, q: 0.0 }; masses.len() + 1];
        let mut below = vec![Masses { p: 0.0, q: 0.0 }; masses.len() + 1];
        let shrink = (-step).exp();
        for (i, mass) in masses.iter().enumerate().rev() {
            let beyond = above[i + 1];
            above[i] = Masses { p: beyond.p + mass, q: beyond.q * shrink + mass };
        }
        for (i, (p, q)) in masses.iter().zip(&others).enumerate() {
            below[i + 1] = Masses { p: below[i].p + p, q: below[i].q + q };
        }
        Self { first, step, masses, others, left_out, above, below }
    }

    /// `P` and `Q` in each other's place.
    pub(crate) fn exchanged(&self) -> Self {
        let reversed = |masses: &[f64]| masses.iter().rev().copied().collect();
        Self::of(-self.range().1, self.step, reversed(&self.others), reversed(&self.masses), self.left_out)
    }

    /// `P` is the discrete Gaussian moved by `shift`, `Q` the one at 0; the loss at `k` is `(2 k shift - shift²) / 2 sigma²`. The
    /// outcomes kept are all that matter under either of the two.
    pub(crate) fn discrete_gaussian(sigma: f64, shift: f64) -> Result<Self> {
        let reach = (14.0 * sigma + 2.0).ceil();
        if reach > 2e6 {
            let remedy = "give at most 100000; beyond that account for it as a Gaussian of the same sigma";
            return Err(Error::parameter("sigma", sigma, remedy));
        }
        if shift > 2e6 {
            return Err(Error::parameter("contribution", shift, "give at most 1000000"));
        }
        // What would underflow is among what is left out, and bounded as that is.
        let reach = smaller(reach, (sigma * (2.0 * LN_SMALLEST).sqrt()).floor());
        let weight = |k: f64| (-0.5 * (k / sigma) * (k / sigma)).exp();
        let total: f64 = 1.0 + 2.0 * (1..=reach as i64).map(|k| weight(k as f64)).sum::<f64>();
        let outcomes = -(reach as i64)..=(reach + shift) as i64;
        let masses = outcomes.map(|k| weight(k as f64 - shift) / total).collect();
        let variance = sigma * sigma;
        Ok(Self::new((reach + 0.5 * shift) * shift / variance, shift / variance, masses, CUT))
    }

    /// `P[k] ∝ exp(-|k - shift|/scale)`: losses from `-shift/scale` to `shift/scale` in steps of `2/scale`.
    pub(crate) fn discrete_laplace(scale: f64, shift: f64) -> Result<Self> {
        if shift > 1e6 {
            return Err(Error::parameter("contribution", shift, "give at most 500000"));
        }
        let t = (-1.0 / scale).exp();
        let point = |k: f64| (1.0 - t) / (1.0 + t) * t.powf(k.abs());
        // P[outcome <= 0] and P[outcome >= shift]: geometric tails.
        let low = t.powf(shift) / (1.0 + t);
        let high = 1.0 / (1.0 + t);
        let inner = (1..shift as i64).map(|k| point(k as f64 - shift));
        let masses = std::iter::once(low).chain(inner).chain(std::iter::once(high)).collect();
        Ok(Self::new(shift / scale, 2.0 / scale, masses, 0.0))
    }

    /// Keeps the answer with probability `1 - p`, else draws one of `buckets` uniformly.
    pub(crate) fn randomized_response(p: f64, buckets: u32) -> Self {
        let other = p / f64::from(buckets);
        let truth = 1.0 - p + other;
        if p >= 1.0 {
            return Self::nothing();
        }
        let loss = pure::replaced(p, f64::from(buckets));
        if buckets == 2 {
            return Self::new(loss, 2.0 * loss, vec![other, truth], 0.0);
        }
        Self::new(loss, loss, vec![other, f64::from(buckets - 2) * other, truth], 0.0)
    }

    /// The same answer against any answer, all `buckets` alike: two losses.
    pub(crate) fn response_or_any(p: f64, buckets: u32) -> Self {
        let k = f64::from(buckets);
        if p >= 1.0 {
            return Self::nothing();
        }
        let (truth, lie) = (pure::answered(p, k), p.ln());
        let lies = p * (k - 1.0) / k;
        Self::of(lie, truth - lie, vec![lies, 1.0 - p + p / k], vec![(k - 1.0) / k, 1.0 / k], 0.0)
    }

    /// Mass under `Q` of the atoms that have all but none under `P`: beyond what their loss could tell in doubles.
    pub(crate) fn vanished(&self) -> f64 {
        let pairs = self.masses.iter().zip(&self.others);
        pairs.filter(|(p, _)| **p < 1e-300).map(|(_, q)| q).sum()
    }

    /// The worst of all laws whose losses stay within `epsilon`: two answers, the true one with odds `e^epsilon`.
    pub(crate) fn pure(epsilon: f64) -> Self {
        let odds = (-epsilon).exp();
        Self::new(epsilon, 2.0 * epsilon, vec![odds / (1.0 + odds), 1.0 / (1.0 + odds)], 0.0)
    }

    /// No loss, for certain.
    pub(crate) fn nothing() -> Self {
        Self::new(0.0, 1.0, vec![1.0], 0.0)
    }

    pub(crate) fn range(&self) -> (f64, f64) {
        (self.first, self.first + (self.masses.len() - 1) as f64 * self.step)
    }

    /// The event that the loss exceeds `y` (with `e^y` times its mass under `Q`).
    pub(crate) fn above(&self, y: f64) -> Masses {
        let index = self.index_above(y);
        let Masses { p, q } = self.above[index];
        let loss = self.first + index as f64 * self.step;
        Masses { p, q: if q == 0.0 { 0.0 } else { q * (y - loss).exp() } }
    }

    /// The event that it does not.
    pub(crate) fn at_most(&self, y: f64) -> Masses {
        let Masses { p, q } = self.below[self.index_above(y)];
        Masses { p, q: if q == 0.0 { 0.0 } else { q * y.exp() } }
    }

    /// Index of the first atom above `y`.
    fn index_above(&self, y: f64) -> usize {
        let position = ((y - self.first) / self.step).floor() + 1.0;
        within(position, 0.0, self.masses.len() as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_laws_have_total_mass_one() {
        let all = [
            // Far apart: where one law lives the other has all but vanished.
            Atoms::discrete_gaussian(0.3, 10.0).unwrap(),
            Atoms::discrete_gaussian(0.05, 3.0).unwrap(),
            Atoms::discrete_laplace(0.01, 9.0).unwrap(),
            Atoms::discrete_gaussian(0.7, 1.0).unwrap(),
            Atoms::discrete_gaussian(5.0, 2.0).unwrap(),
            Atoms::discrete_laplace(2.0, 3.0).unwrap(),
            Atoms::randomized_response(0.5, 2),
            Atoms::randomized_response(0.2, 10),
            Atoms::randomized_response(1.0, 3),
            Atoms::response_or_any(0.3, 5),
            Atoms::response_or_any(0.3, 5).exchanged(),
            Atoms::response_or_any(1.0, 5),
            Atoms::pure(0.7),
            Atoms::pure(30.0),
            Atoms::nothing(),
        ];
        for atoms in all {
            let total = atoms.below[atoms.masses.len()];
            assert!((total.p - 1.0).abs() < 1e-13 && (total.q - 1.0).abs() < 1e-13, "{atoms:?}");
        }
    }
}
