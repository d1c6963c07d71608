//! Privacy-loss laws: the distribution of `ln(dP/dQ)` under `P` for a dominating pair `(P, Q)`, asked for by threshold.
//!
//! Every mechanism is described by the two tails of its loss under `P` and under `Q`; discretisation needs nothing
//! else. Tails are computed from the side on which they are small, so that they keep their *relative* accuracy.
//! The pairs themselves are derived in `docs/theorems/dominating-pairs.md`.

use super::atoms::Atoms;
use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling};
use crate::special::normal_above;
use crate::{Error, Result};

/// Probabilities of one event under `P` and under `Q`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Masses {
    pub(crate) p: f64,
    pub(crate) q: f64,
}

const NOTHING: Masses = Masses { p: 0.0, q: 0.0 };
const EVERYTHING: Masses = Masses { p: 1.0, q: 1.0 };

/// One direction of a dominating pair.
#[derive(Debug, Clone)]
pub(crate) enum Law {
    /// Shifted Gaussians: `P = N(shift, 1)`, `Q = N(0, 1)`.
    Gaussian { shift: f64 },
    /// Shifted Laplace laws of scale 1; the loss lies in `[-shift, shift]` with atoms at both ends.
    Laplace { shift: f64 },
    /// Finitely many outcomes.
    Atoms(Atoms),
    /// The record is present with probability `rate`, and removed: `P = (1-rate) Q0 + rate P0`, `Q = Q0`.
    Remove { base: Box<Law>, rate: f64 },
    /// The record is added: the same two laws, exchanged.
    Add { base: Box<Law>, rate: f64 },
    /// Poisson sampling when the record is replaced by its opposite: three laws at -1, 0 and 1.
    Opposite { noise: Bell, rate: f64 },
    /// A fixed batch when a record is replaced: the worse of both directions at every threshold (an atom at 0 remains).
    Symmetric { one_sided: Box<Law> },
}

/// A centred noise law of scale `scale` (its density falls in `|x|`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bell {
    Gaussian { scale: f64 },
    Laplace { scale: f64 },
}

/// The dominating pairs of a mechanism: one, or two where adding and removing a record differ.
pub(crate) fn laws(mechanism: &Mechanism, adjacency: Adjacency) -> Result<Vec<Law>> {
    let doubled = if adjacency == Adjacency::Replace { 2.0 } else { 1.0 };
    match mechanism.sampling() {
        Sampling::Everyone => Ok(vec![unsampled(mechanism.noise(), adjacency, doubled)?]),
        Sampling::Poisson { rate } if adjacency == Adjacency::AddRemove => {
            let base = Box::new(unsampled(mechanism.noise(), adjacency, doubled)?);
            Ok(vec![Law::Remove { base: base.clone(), rate }, Law::Add { base, rate }])
        }
        Sampling::Poisson { rate } => Ok(vec![Law::Opposite { noise: bell(mechanism)?, rate }]),
        Sampling::FixedBatch { population, batch } => {
            if adjacency == Adjacency::AddRemove {
                return Err(unsupported(mechanism, "a batch of fixed size needs `replace` adjacency"));
            }
            let base = Box::new(unsampled(mechanism.noise(), adjacency, doubled)?);
            let one_sided = Box::new(Law::Remove { base, rate: batch as f64 / population as f64 });
            Ok(vec![Law::Symmetric { one_sided }])
        }
        Sampling::Nobody => Ok(vec![Law::Atoms(Atoms::nothing())]),
    }
}

fn unsampled(noise: Noise, adjacency: Adjacency, doubled: f64) -> Result<Law> {
    Ok(match noise {
        Noise::Gaussian { noise_multiplier } => Law::Gaussian { shift: doubled / noise_multiplier },
        Noise::Laplace { scale } => Law::Laplace { shift: doubled / scale },
        Noise::DiscreteGaussian { sigma, contribution } => {
            Law::Atoms(Atoms::discrete_gaussian(sigma, f64::from(contribution) * doubled)?)
        }
        Noise::DiscreteLaplace { scale, contribution } => {
            Law::Atoms(Atoms::discrete_laplace(scale, f64::from(contribution) * doubled)?)
        }
        Noise::RandomizedResponse { random_probability, buckets } => {
            if adjacency == Adjacency::AddRemove {
                return Err(Error::Unsupported {
                    event: "randomised response".into(),
                    accountant: "add-remove adjacency",
                    remedy: "it hides which answer was given, not whether one was: use `replace` adjacency"
                        .into(),
                });
            }
            Law::Atoms(Atoms::randomized_response(random_probability, buckets))
        }
        Noise::Pure { epsilon } => Law::Atoms(Atoms::pure(epsilon)),
    })
}

fn bell(mechanism: &Mechanism) -> Result<Bell> {
    match mechanism.noise() {
        Noise::Gaussian { noise_multiplier } => Ok(Bell::Gaussian { scale: noise_multiplier }),
        Noise::Laplace { scale } => Ok(Bell::Laplace { scale }),
        _ => Err(unsupported(
            mechanism,
            "under `replace`, Poisson sampling is known for Gaussian and Laplace noise",
        )),
    }
}

fn unsupported(mechanism: &Mechanism, remedy: &str) -> Error {
    Error::Unsupported {
        event: mechanism.to_string(),
        accountant: "the privacy-loss accountant",
        remedy: remedy.into(),
    }
}

impl Law {
    /// Probabilities that the loss exceeds `y`, and that it does not. The smaller of the two is always computed directly,
    /// never as a complement.
    pub(crate) fn split(&self, y: f64) -> (Masses, Masses) {
        match self {
            Self::Gaussian { shift } => {
                let x = y / shift + shift / 2.0;
                pair(normal_split(x - shift), normal_split(x))
            }
            Self::Laplace { shift } if y < -shift => (EVERYTHING, NOTHING),
            Self::Laplace { shift } if y >= *shift => (NOTHING, EVERYTHING),
            Self::Laplace { shift } => {
                let (down, up) = (0.5 * ((y - shift) / 2.0).exp(), 0.5 * (-(y + shift) / 2.0).exp());
                pair((1.0 - down, down), (up, 1.0 - up))
            }
            Self::Atoms(atoms) => (atoms.above(y), atoms.at_most(y)),
            Self::Remove { base, rate } => {
                let (above, at_most) = base.split(base_threshold(y, *rate));
                (mixed(above, *rate), mixed(at_most, *rate))
            }
            Self::Add { base, rate } => {
                let (above, at_most) = base.split(base_threshold(-y, *rate));
                (swapped(mixed(at_most, *rate)), swapped(mixed(above, *rate)))
            }
            Self::Opposite { noise, rate } => {
                let x = noise.outcome(y, *rate);
                (noise.three_above(x, *rate), swapped(noise.three_above(-x, *rate)))
            }
            Self::Symmetric { one_sided } if y >= 0.0 => {
                let above = one_sided.above(y);
                (above, complement(above))
            }
            Self::Symmetric { one_sided } => {
                let at_most = swapped(one_sided.above(-y));
                (complement(at_most), at_most)
            }
        }
    }

    /// Probabilities that the loss exceeds `y`.
    pub(crate) fn above(&self, y: f64) -> Masses {
        self.split(y).0
    }

    /// Probabilities that the loss is at most `y`.
    pub(crate) fn at_most(&self, y: f64) -> Masses {
        self.split(y).1
    }

    /// Losses from `first` to `last` that are dense where the law is: evenly spaced before sampling.
    pub(crate) fn landmarks(&self, first: f64, last: f64, count: usize) -> Vec<f64> {
        let map = |x: f64| match self {
            Self::Remove { rate, .. } => mixed_loss(x, *rate),
            Self::Add { rate, .. } => -mixed_loss(-x, *rate),
            Self::Opposite { rate, .. } => mixed_loss(x, *rate) - mixed_loss(-x, *rate),
            Self::Symmetric { one_sided } => match **one_sided {
                Self::Remove { rate, .. } => mixed_loss(x.abs(), rate).copysign(x),
                _ => x,
            },
            _ => x,
        };
        // Where sampling maps a half-line to a point, the last 60 nats before sampling hold everything.
        let unmap = |y: f64| {
            let (mut a, mut b) = (-660.0, 660.0);
            for _ in 0..60 {
                let middle = 0.5 * (a + b);
                if map(middle) < y { a = middle } else { b = middle }
            }
            0.5 * (a + b)
        };
        let (a, b) = (unmap(first).max(-60.0), unmap(last).min(660.0));
        let inner = (1..count).map(|i| map(a + (b - a) * i as f64 / count as f64));
        std::iter::once(first).chain(inner).chain(std::iter::once(last)).collect()
    }

    /// The loss before sampling that has the loss `y` after it.
    pub(crate) fn base_loss(&self, y: f64) -> f64 {
        match self {
            Self::Remove { rate, .. } => base_threshold(y, *rate),
            Self::Symmetric { one_sided } => one_sided.base_loss(y),
            _ => y,
        }
    }

    /// The largest loss, where it is truly bounded (and not only cut, as that of the discrete Gaussian).
    pub(crate) fn bounded(&self) -> Option<f64> {
        match self {
            Self::Atoms(atoms) if atoms.left_out > 0.0 => None,
            Self::Remove { base, .. } => base.bounded().map(|_| self.range().1),
            Self::Add { .. } => Some(self.range().1),
            _ => Some(self.range().1).filter(|largest| largest.is_finite()),
        }
    }

    /// The smallest and largest possible loss (infinite where unbounded).
    pub(crate) fn range(&self) -> (f64, f64) {
        match self {
            Self::Gaussian { .. } => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Laplace { shift } => (-shift, *shift),
            Self::Atoms(atoms) => atoms.range(),
            Self::Remove { base, rate } => {
                let (low, high) = base.range();
                (mixed_loss(low, *rate), mixed_loss(high, *rate))
            }
            Self::Add { base, rate } => {
                let (low, high) = base.range();
                (-mixed_loss(high, *rate), -mixed_loss(low, *rate))
            }
            Self::Opposite { noise, rate } => {
                let top = noise.largest_loss(*rate);
                (-top, top)
            }
            Self::Symmetric { one_sided } => {
                let (_, high) = one_sided.range();
                (-high, high)
            }
        }
    }
}

/// `P[N(0,1) > x]` and `P[N(0,1) <= x]`.
fn normal_split(x: f64) -> (f64, f64) {
    let tail = normal_above(x.abs());
    if x > 0.0 { (tail, 1.0 - tail) } else { (1.0 - tail, tail) }
}

/// From `(above, at most)` under `P` and under `Q`.
fn pair(p: (f64, f64), q: (f64, f64)) -> (Masses, Masses) {
    (Masses { p: p.0, q: q.0 }, Masses { p: p.1, q: q.1 })
}

/// `ln(1 - rate + rate e^loss)`.
pub(crate) fn mixed_loss(base: f64, rate: f64) -> f64 {
    if base > 30.0 {
        return base + (rate + (1.0 - rate) * (-base).exp()).ln();
    }
    // Near 1 the logarithm wants the difference from 1; near 0 (a rate near 1) that difference would cancel.
    let excess = rate * base.exp_m1();
    if excess < -0.5 { ((1.0 - rate) + rate * base.exp()).ln() } else { excess.ln_1p() }
}

/// The base loss at which the mixed loss is `y`; minus infinity where every base loss exceeds it.
fn base_threshold(y: f64, rate: f64) -> f64 {
    if y > 30.0 {
        return y + ((1.0 - (1.0 - rate) * (-y).exp()) / rate).ln();
    }
    if y < -0.7 {
        let odds = (y.exp() - (1.0 - rate)) / rate;
        return if odds <= 0.0 { f64::NEG_INFINITY } else { odds.ln() };
    }
    let excess = y.exp_m1() / rate;
    if excess <= -1.0 { f64::NEG_INFINITY } else { excess.ln_1p() }
}

fn mixed(base: Masses, rate: f64) -> Masses {
    Masses { p: (1.0 - rate) * base.q + rate * base.p, q: base.q }
}

fn swapped(masses: Masses) -> Masses {
    Masses { p: masses.q, q: masses.p }
}

fn complement(masses: Masses) -> Masses {
    Masses { p: 1.0 - masses.p, q: 1.0 - masses.q }
}

impl Bell {
    fn above(self, x: f64) -> f64 {
        match self {
            Self::Gaussian { scale } => normal_above(x / scale),
            Self::Laplace { scale } if x >= 0.0 => 0.5 * (-x / scale).exp(),
            Self::Laplace { scale } => 1.0 - 0.5 * (x / scale).exp(),
        }
    }

    /// Probability that the outcome exceeds `x` under the mixture with centre 1 (`P`) and with centre -1 (`Q`).
    fn three_above(self, x: f64, rate: f64) -> Masses {
        let rest = (1.0 - rate) * self.above(x);
        Masses { p: rest + rate * self.above(x - 1.0), q: rest + rate * self.above(x + 1.0) }
    }

    fn largest_loss(self, rate: f64) -> f64 {
        match self {
            Self::Gaussian { .. } => f64::INFINITY,
            Self::Laplace { scale } => mixed_loss(1.0 / scale, rate) - mixed_loss(-1.0 / scale, rate),
        }
    }

    /// The outcome `x` whose loss is `y` (odd in `y`); infinite beyond the range of losses.
    fn outcome(self, y: f64, rate: f64) -> f64 {
        if y < 0.0 {
            return -self.outcome(-y, rate);
        }
        match self {
            Self::Gaussian { scale } => {
                // With w = e^(x/scale²) the loss is a ratio of two lines in w and 1/w: a quadratic.
                let variance = scale * scale;
                let ln_a = rate.ln() - 0.5 / variance;
                let half = 0.5 * (1.0 - rate) * -(-y).exp_m1();
                // Divided through by e^y to stay finite: a e^-y w² - 2 half w - a = 0, w = e^(x/variance).
                let a = ln_a.exp();
                let root = half + (half * half + a * a * (-y).exp()).sqrt();
                variance * (root.ln() - ln_a + y)
            }
            Self::Laplace { scale } => {
                let floor = 1.0 - rate + rate * (-1.0 / scale).exp();
                let ratio = (floor * y.exp() - (1.0 - rate)) / rate;
                let x = 0.5 * (1.0 + scale * ratio.ln());
                if y >= self.largest_loss(rate) { f64::INFINITY } else { x }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_laws() -> Vec<Law> {
        let mut all = Vec::new();
        for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
            for noise in [Mechanism::gaussian(0.9).unwrap(), Mechanism::laplace(1.4).unwrap()] {
                all.extend(laws(&noise, adjacency).unwrap());
                all.extend(laws(&noise.poisson(0.2).unwrap(), adjacency).unwrap());
            }
            all.extend(laws(&Mechanism::discrete_gaussian(1.5, 1).unwrap(), adjacency).unwrap());
            all.extend(laws(&Mechanism::discrete_laplace(0.7, 2).unwrap(), adjacency).unwrap());
        }
        for noise in [Mechanism::gaussian(0.9).unwrap(), Mechanism::laplace(1.4).unwrap()] {
            all.extend(laws(&noise.fixed_batch(3, 10).unwrap(), Adjacency::Replace).unwrap());
        }
        all.extend(laws(&Mechanism::randomized_response(0.3, 4).unwrap(), Adjacency::Replace).unwrap());
        all
    }

    #[test]
    fn tails_are_complementary_and_monotone() {
        for law in all_laws() {
            let mut last = EVERYTHING;
            for i in -400..400 {
                let y = f64::from(i) * 0.013 + 1e-7;
                let (up, down) = (law.above(y), law.at_most(y));
                assert!((up.p + down.p - 1.0).abs() < 1e-12, "{law:?} at {y}: {up:?} {down:?}");
                assert!((up.q + down.q - 1.0).abs() < 1e-12, "{law:?} at {y}: {up:?} {down:?}");
                assert!(up.p <= last.p + 1e-15 && up.q <= last.q + 1e-15, "{law:?} at {y}");
                last = up;
            }
        }
    }

    /// On a thin slice of losses around `y` the masses must stand in the ratio `e^y`: this is what a loss *is*.
    #[test]
    fn slices_have_the_likelihood_ratio_they_are_named_after() {
        for law in all_laws() {
            for i in -300..300 {
                let (y, width) = (f64::from(i) * 0.0171 + 3e-4, 1e-3);
                let (a, b) = (law.above(y), law.above(y + width));
                let (p, q) = (a.p - b.p, a.q - b.q);
                if p > 1e-9 && q > 1e-9 {
                    let loss = (p / q).ln();
                    assert!(loss > y - 1e-5 && loss < y + width + 1e-5, "{law:?} at {y}: {loss}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let batch = Mechanism::gaussian(1.0).unwrap().fixed_batch(1, 10).unwrap();
        assert!(laws(&batch, Adjacency::AddRemove).is_err());
        let response = Mechanism::randomized_response(0.5, 2).unwrap();
        assert!(laws(&response, Adjacency::AddRemove).is_err());
        let sampled = Mechanism::discrete_laplace(1.0, 1).unwrap().poisson(0.5).unwrap();
        assert!(laws(&sampled, Adjacency::Replace).is_err());
    }
}
