//! Noise in shares: a sum to which every peer adds discrete Gaussian noise of its own (`docs/theorems/ring.md`).
//!
//! A sum of discrete Gaussians is not one, but nearly: its masses are those of the discrete Gaussian of the summed variance times a factor, and no two of these
//! factors are further apart than `e^tau`. Kairouz, Liu and Steinke (2021) bound that by `10 Σ exp(-2 pi² sigma² k/(k+1))`; the bound here has the same
//! exponents and less than half of the constant. From three grid steps on it is below `1.1e-38`.
//!
//! One sum of integers is asked about directly (`threshold.rs`); several go through the accountant, and vectors through moments.

use serde::{Deserialize, Serialize};

use crate::interval::{add_up, larger};
use crate::mechanism::{check_delta, positive};
use crate::special::UNIT;
use crate::threshold::{self, Tails};
use crate::{Accountant, Adjacency, Curve, Loss, Mechanism, Result, Risk, require};

/// Beyond these the losses of single integers are not listed one by one, and the bound by moments is used: `sigma` of the sum, and what one person moves.
const LISTED: (f64, f64) = (1e5, 1e6);

/// So many terms of `tau` are added one by one.
const MANY: u64 = 1 << 20;

/// So many equal shares, in steps of the grid.
///
/// ```
/// use sottovoce_privacy::{Moved, Shares};
/// // Sixty-four peers, each with noise of 128 steps; one of them moves the sum by 512 at most.
/// let shares = Shares::new(128.0, 64)?;
/// let epsilon = shares.epsilon(Moved::number(512.0)?, 1, 1e-5)?;
/// assert!((1.9..2.0).contains(&epsilon), "{epsilon}"); // a Gaussian of half of the noise has 1.9931
/// assert!(shares.apart() < 1e-300);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    sigma: f64,
    count: u64,
}

/// How far one person can move a sum, in steps of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    l2: f64,
    width: usize,
}

impl Moved {
    /// A single integer, by this much at most.
    pub fn number(steps: f64) -> Result<Self> {
        Self::vector(steps, 1)
    }

    /// A vector of so many integers, by this much in the 2-norm.
    pub fn vector(l2: f64, width: usize) -> Result<Self> {
        require(l2.is_finite() && l2 >= 0.0, "sensitivity", l2, "give a finite number of steps, 0 or more")?;
        require(width > 0, "width", width, "give at least one coordinate")?;
        Ok(Self { l2, width })
    }

    /// How far, in the 2-norm: of one integer a whole number.
    pub fn steps(&self) -> f64 {
        if self.width == 1 { self.l2.floor() } else { self.l2 }
    }
}

impl Shares {
    /// `count` shares of the parameter `sigma`.
    pub fn new(sigma: f64, count: u64) -> Result<Self> {
        positive("sigma", sigma)?;
        require(count > 0, "shares", count, "give at least one")?;
        Ok(Self { sigma, count })
    }

    /// Refuses what was not made by [`Self::new`] and [`Moved::vector`].
    pub(crate) fn check(&self, moved: Moved, releases: u64) -> Result<()> {
        Self::new(self.sigma, self.count)?;
        Moved::vector(moved.l2, moved.width)?;
        require(releases > 0, "releases", releases, "give at least one")
    }

    /// `sigma` of the discrete Gaussian of the summed variance, never more than it is.
    pub fn sigma(&self) -> f64 {
        (self.sigma * (self.count as f64).sqrt().next_down()).next_down()
    }

    /// `tau`, rounded up: how far apart, at most, the logarithms of two ratios of masses are, of the sum to the discrete Gaussian of its variance.
    /// Infinite where shares are so small that nothing is known.
    pub fn apart(&self) -> f64 {
        let mut sum = 0.0;
        for k in 1..self.count {
            let term = apart(self.sigma * self.sigma * k as f64 / (k + 1) as f64);
            sum += term;
            // Terms fall with `k`: all later ones together are at most as many of this one.
            if term <= 1e-18 * sum || k == MANY {
                sum += (self.count - k) as f64 * term;
                break;
            }
        }
        sum * (1.0 + 1e-9) + f64::MIN_POSITIVE
    }

    /// An upper bound on epsilon at `delta`, for someone who learns so many sums of this kind, each with fresh noise.
    pub fn epsilon(&self, moved: Moved, releases: u64, delta: f64) -> Result<f64> {
        check_delta(delta)?;
        let apart = self.all_apart(moved, releases)?;
        // What is left of delta for the discrete Gaussian: all of the sum's events are likelier by e^apart at most.
        let left = (delta * (-apart).exp()).next_down();
        check_delta(left)?;
        let steps = moved.l2.floor();
        if moved.width == 1 && steps == 0.0 {
            return Ok(apart);
        }
        let gaussian = match releases {
            1 if self.is_listed(moved) => threshold::epsilon(self.sigma(), steps as u32, left)?,
            _ => self.gaussian(moved, releases)?.epsilon(left)?.upper,
        };
        Ok(add_up(gaussian, apart))
    }

    /// What an attacker can do who learns so many sums.
    pub(crate) fn risk(&self, moved: Moved, releases: u64) -> Result<Risk> {
        let apart = self.all_apart(moved, releases)?;
        let steps = moved.l2.floor();
        if moved.width == 1 && steps == 0.0 {
            return Ok(Risk::of_pair(apart, 0.0));
        }
        if releases == 1 && self.is_listed(moved) {
            let tails = Tails::new(self.sigma(), steps);
            return Risk::new(&lifted(apart, &|epsilon| Ok(tails.delta(epsilon).unwrap_or(1.0))), None);
        }
        match self.gaussian(moved, releases)? {
            Loss::Pld(accountant) => Risk::new(&lifted(apart, &*accountant.curve()?), None),
            other => Risk::of_epsilons(&|delta| {
                let left = (delta * (-apart).exp()).next_down();
                Ok(add_up(other.epsilon(left)?.upper, apart))
            }),
        }
    }

    /// How far apart all sums and the discrete Gaussian's are.
    fn all_apart(&self, moved: Moved, releases: u64) -> Result<f64> {
        self.check(moved, releases)?;
        let apart = self.apart() * releases as f64 * moved.width as f64;
        let remedy = "shares of noise must be of half a grid step at least; take a finer grid";
        require(apart.is_finite(), "sigma", self.sigma, remedy)?;
        Ok(apart)
    }

    fn is_listed(&self, moved: Moved) -> bool {
        moved.width == 1 && self.sigma() <= LISTED.0 && moved.l2.floor() <= LISTED.1
    }

    /// The loss if the sums had discrete Gaussian noise.
    fn gaussian(&self, moved: Moved, releases: u64) -> Result<Loss> {
        if self.is_listed(moved) {
            let mut accountant = Accountant::new(Adjacency::AddRemove);
            let steps = moved.l2.floor() as u32;
            accountant.compose(Mechanism::discrete_gaussian(self.sigma(), steps)?, releases)?;
            return Ok(Loss::Pld(accountant));
        }
        let ratio = moved.l2 / self.sigma();
        Loss::zcdp(0.5 * ratio * ratio * releases as f64 * (1.0 + 1e-14))
    }
}

/// The curve of what is likelier than under another law by `e^apart` at most, from that of the other.
fn lifted<'a>(apart: f64, delta: &'a dyn Fn(f64) -> Result<f64>) -> Curve<'a> {
    Box::new(move |epsilon| {
        let (left, more) = if epsilon >= apart { (epsilon - apart, 0.0) } else { (0.0, apart.exp_m1()) };
        let found = (delta(larger(left.next_down(), 0.0))? * apart.exp() + more) * (1.0 + 4.0 * UNIT);
        Ok(if found < 1.0 { found } else { 1.0 })
    })
}

/// `ln((1 + theta)/(1 - theta))` with `theta = 2 Σ_j exp(-2 pi² s j²)`, rounded up.
fn apart(s: f64) -> f64 {
    let q = (-2.0 * std::f64::consts::PI.powi(2) * s * (1.0 - 1e-14)).exp();
    // `j² >= 1 + 3 (j - 1)`.
    let theta = 2.0 * q / (1.0 - q * q * q);
    if theta < 1.0 { 2.0 * theta.atanh() } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Masses of the sum, by convolution: index `i` is the integer `i - reach`.
    fn convolved(sigma: f64, count: usize, reach: i64) -> Vec<f64> {
        let one = masses(sigma, reach);
        (1..count).fold(one.clone(), |sum, _| {
            let at = |x: i64| -> f64 {
                let from = (-reach).max(x - reach); // whole numbers
                let to = reach.min(x + reach); // whole numbers
                (from..=to).map(|y| sum[(y + reach) as usize] * one[(x - y + reach) as usize]).sum()
            };
            (-reach..=reach).map(at).collect()
        })
    }

    fn masses(sigma: f64, reach: i64) -> Vec<f64> {
        let weight = |x: i64| libm::exp(-((x * x) as f64) / (2.0 * sigma * sigma));
        let total: f64 = (-reach..=reach).map(weight).sum();
        (-reach..=reach).map(|x| weight(x) / total).collect()
    }

    fn published(sigma: f64, count: usize) -> f64 {
        let term =
            |k: usize| libm::exp(-2.0 * (std::f64::consts::PI * sigma).powi(2) * k as f64 / (k + 1) as f64);
        10.0 * (1..count).map(term).sum::<f64>()
    }

    #[test]
    fn sums_are_as_near_to_a_discrete_gaussian_as_is_proven() {
        for (sigma, count) in [(0.5, 2), (0.5, 8), (0.6, 3), (0.8, 2), (0.8, 10), (1.0, 5), (1.2, 4)] {
            let shares = Shares::new(sigma, count as u64).unwrap();
            let reach = (16.0 * shares.sigma()) as i64 + 10;
            let (sum, known) = (convolved(sigma, count, reach), masses(shares.sigma(), reach));
            // Further out doubles hold nothing of the masses.
            let ratio = |i: usize| (known[i] > 1e-200 && sum[i] > 0.0).then(|| (sum[i] / known[i]).ln());
            let ratios: Vec<f64> = (0..sum.len()).filter_map(ratio).collect();
            let most = ratios.iter().copied().fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
            let least = ratios.iter().copied().fold(f64::INFINITY, |a, b| if b < a { b } else { a });
            let apart = shares.apart();
            assert!(most - least <= apart + 1e-12, "{sigma} {count}: {} above {apart}", most - least);
            // Of two shares the bound is all but attained.
            assert!(count > 2 || most - least > 0.4 * apart, "{sigma}: {} of {apart}", most - least);
            assert!(apart < 0.5 * published(sigma, count), "{sigma} {count}: {apart}");
        }
    }

    #[test]
    fn what_is_charged_is_no_less_than_what_is_lost() {
        for (sigma, count, moved) in [(0.5, 4, 1usize), (0.5, 9, 2), (0.7, 3, 2), (1.0, 6, 3), (2.0, 4, 2)] {
            let shares = Shares::new(sigma, count as u64).unwrap();
            let reach = (16.0 * shares.sigma()) as i64 + 10;
            let sum = convolved(sigma, count, reach);
            for delta in [1e-2, 1e-4, 1e-6] {
                let epsilon = shares.epsilon(Moved::number(moved as f64).unwrap(), 1, delta).unwrap();
                let excess =
                    |i: usize| sum[i] - epsilon.exp() * if i >= moved { sum[i - moved] } else { 0.0 };
                let lost: f64 = (0..sum.len()).map(excess).filter(|excess| *excess > 0.0).sum();
                assert!(lost <= delta, "{sigma} {count} {moved}: {lost} at {epsilon}, not {delta}");
                // Of small shares little is known.
                assert!(sigma < 1.0 || lost > 0.1 * delta, "{sigma} {count} {moved}: {lost} of {delta}");
            }
        }
    }

    #[test]
    fn vectors_and_large_numbers_are_bounded_by_moments() {
        let shares = Shares::new(1e5, 4).unwrap();
        let (number, vector) = (Moved::number(1e5).unwrap(), Moved::vector(1e5, 10).unwrap());
        let epsilon = shares.epsilon(number, 1, 1e-5).unwrap();
        assert_eq!(epsilon, shares.epsilon(vector, 1, 1e-5).unwrap());
        let exact = Shares::new(1e3, 4).unwrap().epsilon(Moved::number(1e3).unwrap(), 1, 1e-5).unwrap();
        assert!(exact < epsilon && epsilon < 1.25 * exact, "{exact} {epsilon}");
        assert!(shares.epsilon(vector, 5, 1e-5).unwrap() > 2.0 * epsilon);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (sigma, count) in [(0.0, 1), (f64::NAN, 1), (-1.0, 2), (1.0, 0)] {
            assert!(Shares::new(sigma, count).is_err(), "{sigma} {count}");
        }
        let error = Shares::new(0.2, 3).unwrap().epsilon(Moved::number(1.0).unwrap(), 1, 1e-5).unwrap_err();
        assert!(error.to_string().contains("finer grid"), "{error}");
        assert!(Shares::new(0.2, 1).unwrap().epsilon(Moved::number(1.0).unwrap(), 1, 1e-5).is_ok());
        assert!(Moved::number(f64::NAN).is_err() && Moved::vector(1.0, 0).is_err());
        assert_eq!(
            Shares::new(1.0, 1).unwrap().epsilon(Moved::number(0.9).unwrap(), 1, 1e-5).unwrap(),
            f64::MIN_POSITIVE
        );
    }

    proptest! {
        #[test]
        fn more_shares_lose_less(sigma in 3.0f64..200.0, count in 1u64..50, steps in 1u32..300) {
            let moved = Moved::number(f64::from(steps)).unwrap();
            let epsilon = |count| Shares::new(sigma, count).unwrap().epsilon(moved, 1, 1e-5).unwrap();
            prop_assert!(epsilon(count + 1) <= epsilon(count) * (1.0 + 1e-9));
        }
    }
}
