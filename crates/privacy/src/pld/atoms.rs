//! Loss laws with finitely many values: discrete Gaussian, discrete Laplace, randomised response.
//!
//! Their losses lie on an arithmetic progression, so they compose without any discretisation error.

use super::law::Masses;
use crate::{Error, Result};

/// Outcomes `first + i * step` of the loss, with their masses under `P` (those under `Q` are `p e^-loss`).
#[derive(Debug, Clone)]
pub(crate) struct Atoms {
    pub(crate) first: f64,
    pub(crate) step: f64,
    pub(crate) masses: Vec<f64>,
    /// Mass under `P` of the outcomes left out above (below any meaningful delta; counted as fully revealing).
    pub(crate) left_out: f64,
    /// Suffix and prefix sums of the masses under `P` and `Q`, one longer than `masses`: both, so that either tail keeps
    /// its relative accuracy.
    above: Vec<Masses>,
    below: Vec<Masses>,
}

impl Atoms {
    fn new(first: f64, step: f64, masses: Vec<f64>, left_out: f64) -> Self {
        let nothing = Masses { p: 0.0, q: 0.0 };
        let pairs: Vec<Masses> = (masses.iter().enumerate())
            .map(|(i, &p)| Masses {
                p,
                q: if p == 0.0 { 0.0 } else { p * (-(first + i as f64 * step)).exp() },
            })
            .collect();
        let add = |a: Masses, b: &Masses| Masses { p: a.p + b.p, q: a.q + b.q };
        let mut above = vec![Masses { p: left_out, q: 0.0 }; masses.len() + 1];
        let mut below = vec![nothing; masses.len() + 1];
        for i in (0..masses.len()).rev() {
            above[i] = add(above[i + 1], &pairs[i]);
        }
        for i in 0..masses.len() {
            below[i + 1] = add(below[i], &pairs[i]);
        }
        Self { first, step, masses, left_out, above, below }
    }

    /// `P` is the discrete Gaussian moved by `shift`; the loss at `k` is `(2 k shift - shift²) / 2 sigma²`.
    pub(crate) fn discrete_gaussian(sigma: f64, shift: f64) -> Result<Self> {
        let reach = (14.0 * sigma + 2.0).ceil();
        if reach > 2e6 {
            let remedy = "give at most 100000; beyond that account for it as a Gaussian of the same sigma";
            return Err(Error::parameter("sigma", sigma, remedy));
        }
        let weight = |k: f64| (-0.5 * (k / sigma) * (k / sigma)).exp();
        let total: f64 = 1.0 + 2.0 * (1..=reach as i64).map(|k| weight(k as f64)).sum::<f64>();
        let variance = sigma * sigma;
        let masses = (-(reach as i64)..=reach as i64).map(|k| weight(k as f64) / total).collect();
        // Under P the outcome is k + shift; its loss is linear in it.
        let first = (2.0 * (-reach + shift) * shift - shift * shift) / (2.0 * variance);
        Ok(Self::new(first, shift / variance, masses, 1e-40))
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
        Ok(Self::new(-shift / scale, 2.0 / scale, masses, 0.0))
    }

    /// Keeps the answer with probability `1 - p`, else draws one of `buckets` uniformly.
    pub(crate) fn randomized_response(p: f64, buckets: u32) -> Self {
        let other = p / f64::from(buckets);
        let truth = 1.0 - p + other;
        let loss = (truth / other).ln();
        if loss == 0.0 {
            return Self::nothing();
        }
        if buckets == 2 {
            return Self::new(-loss, 2.0 * loss, vec![other, truth], 0.0);
        }
        Self::new(-loss, loss, vec![other, f64::from(buckets - 2) * other, truth], 0.0)
    }

    /// The worst of all laws whose losses stay within `epsilon`: two answers, the true one with odds `e^epsilon`.
    pub(crate) fn pure(epsilon: f64) -> Self {
        let odds = (-epsilon).exp();
        Self::new(-epsilon, 2.0 * epsilon, vec![odds / (1.0 + odds), 1.0 / (1.0 + odds)], 0.0)
    }

    /// No loss, for certain.
    pub(crate) fn nothing() -> Self {
        Self::new(0.0, 1.0, vec![1.0], 0.0)
    }

    pub(crate) fn range(&self) -> (f64, f64) {
        (self.first, self.first + (self.masses.len() - 1) as f64 * self.step)
    }

    pub(crate) fn above(&self, y: f64) -> Masses {
        self.above[self.index_above(y)]
    }

    pub(crate) fn at_most(&self, y: f64) -> Masses {
        self.below[self.index_above(y)]
    }

    /// Index of the first atom above `y`.
    fn index_above(&self, y: f64) -> usize {
        let position = (y - self.first) / self.step;
        if position < 0.0 { 0 } else { (position.floor() as usize + 1).min(self.masses.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_laws_have_total_mass_one() {
        let all = [
            Atoms::discrete_gaussian(0.7, 1.0).unwrap(),
            Atoms::discrete_gaussian(5.0, 2.0).unwrap(),
            Atoms::discrete_laplace(2.0, 3.0).unwrap(),
            Atoms::randomized_response(0.5, 2),
            Atoms::randomized_response(0.2, 10),
            Atoms::randomized_response(1.0, 3),
            Atoms::pure(0.7),
            Atoms::pure(30.0),
            Atoms::nothing(),
        ];
        for atoms in all {
            let total = atoms.above(f64::NEG_INFINITY);
            assert!((total.p - 1.0).abs() < 1e-13 && (total.q - 1.0).abs() < 1e-13, "{atoms:?}");
        }
    }
}
