//! Mixtures of Gaussians: a record contributes an amount that is drawn from a known law.
//!
//! Without the record the release is `N(0, sigma²)`; with it `N(c, sigma²)`, where `c` has the given law. Banded and other
//! matrix mechanisms on samples are of this form: which rounds a record takes part in is drawn, and each choice has a
//! contribution of known length. In several dimensions the lengths are all that counts
//! (`docs/theorems/mixtures.md`).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::batches::divided_down;
use crate::interval::smaller;
use crate::mechanism::positive;
use crate::{Error, Mechanism, Result, require};

/// How far the probabilities may be from adding up to 1.
const TOTAL: f64 = 1e-9;
/// Most amounts.
const MOST: usize = 10_000;

/// Gaussian noise on a contribution that is drawn.
///
/// ```
/// use sottovoce_privacy::{Accountant, Adjacency, Mixture};
/// let thrice = Mixture::new(1.0, &[0.0, 1.0, 2.0], &[0.2, 0.6, 0.2])?;
/// let mut accountant = Accountant::new(Adjacency::AddRemove);
/// accountant.compose(thrice, 3)?;
/// assert!(accountant.epsilon(1e-6)?.upper < 16.0);
/// assert!(Mixture::new(1.0, &[0.0, 1.0], &[0.2, 0.6]).is_err());        // the rest of the probability is missing
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Mixture {
    sigma: f64,
    /// Amounts, each once and from the smallest to the largest, with their probabilities (all positive).
    parts: Vec<(f64, f64)>,
}

/// As it is written, and read: not yet checked.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Stored {
    sigma: f64,
    sensitivities: Vec<f64>,
    probabilities: Vec<f64>,
}

impl TryFrom<Stored> for Mixture {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        Self::new(stored.sigma, &stored.sensitivities, &stored.probabilities)
    }
}

impl From<Mixture> for Stored {
    fn from(mixture: Mixture) -> Self {
        let (sensitivities, probabilities) = mixture.parts.into_iter().unzip();
        Self { sigma: mixture.sigma, sensitivities, probabilities }
    }
}

impl Mixture {
    /// Noise of standard deviation `sigma`; the contribution is each of the `sensitivities` with its probability. What rounding leaves out of their sum is
    /// that of the largest amount: this is the law that answers are of, both their ends.
    pub fn new(sigma: f64, sensitivities: &[f64], probabilities: &[f64]) -> Result<Self> {
        positive("sigma", sigma)?;
        let count = sensitivities.len();
        require(
            count == probabilities.len(),
            "probabilities",
            format!("a list of {}", probabilities.len()),
            format!("give one for each of the {count} sensitivities"),
        )?;
        let remedy = format!("give from 1 to {MOST} amounts");
        require(count != 0 && count <= MOST, "sensitivities", format!("a list of {count}"), remedy)?;
        for &amount in sensitivities {
            let fits = amount == 0.0 || (1e-9..=1e3).contains(&(amount / sigma));
            require(fits, "sensitivities", amount, "give 0, or from 1e-9 to 1000 times sigma")?;
        }
        for &probability in probabilities {
            require(
                (0.0..=1.0).contains(&probability),
                "probabilities",
                probability,
                "give numbers from 0 to 1",
            )?;
        }
        let total: f64 = probabilities.iter().sum();
        require((total - 1.0).abs() <= TOTAL, "probabilities", total, "give numbers that add up to 1")?;
        let mut parts: Vec<(f64, f64)> = sensitivities
            .iter()
            .copied()
            .zip(probabilities.iter().copied())
            .filter(|part| part.1 > 0.0)
            .collect();
        parts.sort_by(|a, b| a.0.total_cmp(&b.0));
        parts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        fill_up(&mut parts);
        Ok(Self { sigma, parts })
    }

    /// The standard deviation of the noise.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Amounts and their probabilities, from the smallest amount to the largest.
    pub fn parts(&self) -> &[(f64, f64)] {
        &self.parts
    }

    /// The largest amount, in units of the noise.
    pub(crate) fn largest(&self) -> f64 {
        self.parts.last().map_or(0.0, |part| part.0 / self.sigma)
    }

    /// The same release as a Gaussian one, sampled or not, where at most one amount is not 0.
    pub(crate) fn simple(&self) -> Result<Option<Mechanism>> {
        match self.parts[..] {
            [(0.0, _)] => Ok(Some(Mechanism::gaussian(1.0)?.on_nobody())),
            [(amount, _)] => Mechanism::gaussian(divided_down(self.sigma, amount)).map(Some),
            [(0.0, _), (amount, probability)] => {
                let rate = smaller(probability, 1.0);
                Mechanism::gaussian(divided_down(self.sigma, amount))?.poisson(rate).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Makes the probabilities add up to 1, or a rounding more, by what only adds to the loss: what is missing goes to the largest
/// amount, what is too much is taken from the smallest ones.
fn fill_up(parts: &mut Vec<(f64, f64)>) {
    let total = less_one(parts.iter().map(|part| part.1));
    if total <= 0.0 {
        if let Some(last) = parts.last_mut().filter(|_| total < 0.0) {
            last.1 = (last.1 - total).next_up();
        }
        return;
    }
    let mut excess = total;
    for part in parts.iter_mut() {
        if part.1 > excess {
            part.1 = (part.1 - excess).next_up();
            break;
        }
        excess -= part.1;
        part.1 = 0.0;
    }
    parts.retain(|part| part.1 > 0.0);
}

/// The sum of some probabilities, less 1; what each addition drops is added at the end (Neumaier).
fn less_one(probabilities: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut rest) = (-1.0_f64, 0.0);
    for probability in probabilities {
        let next = sum + probability;
        let (large, small) = if sum.abs() >= probability { (sum, probability) } else { (probability, sum) };
        rest += (large - next) + small;
        sum = next;
    }
    sum + rest
}

impl fmt::Display for Mixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.parts.iter().take(4).map(|(c, p)| format!("{c} with {p}")).collect();
        let more = if self.parts.len() > 4 { ", ..." } else { "" };
        write!(f, "mixture-of-gaussians(sigma={}; {}{more})", self.sigma, shown.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_are_kept_in_order_and_refusals_name_the_field() {
        let mixture = Mixture::new(2.0, &[3.0, 0.0, 3.0, 100.0], &[0.25, 0.5, 0.25, 0.0]).unwrap();
        assert_eq!(mixture.parts(), [(0.0, 0.5), (3.0, 0.5)]);
        let gaussian = Mechanism::gaussian(2.0 / 3.0).unwrap().poisson(0.5).unwrap();
        assert_eq!(mixture.simple().unwrap(), Some(gaussian));
        for (sigma, amounts, probabilities, field) in [
            (0.0, vec![1.0], vec![1.0], "sigma"),
            (1.0, vec![], vec![], "sensitivities"),
            (1.0, vec![-1.0], vec![1.0], "sensitivities"),
            (1.0, vec![f64::NAN], vec![1.0], "sensitivities"),
            (1.0, vec![1e9], vec![1.0], "sensitivities"),
            (1.0, vec![1.0, 2.0], vec![1.0], "probabilities"),
            (1.0, vec![1.0, 2.0], vec![1.2, -0.2], "probabilities"),
            (1.0, vec![1.0, 2.0], vec![0.5, 0.4], "probabilities"),
            (1.0, vec![1.0, 2.0], vec![0.5, f64::NAN], "probabilities"),
        ] {
            let message = Mixture::new(sigma, &amounts, &probabilities).unwrap_err().to_string();
            assert!(message.contains(&format!("`{field}` is")), "{message}");
        }
    }

    #[test]
    fn what_rounding_leaves_over_goes_to_the_safe_side() {
        let less = Mixture::new(1.0, &[0.0, 1.0, 2.0], &[0.5, 0.3, 0.2 - 1e-10]).unwrap();
        assert!(less.parts()[2].1 > 0.2 - 1e-15 && less.parts()[0].1 == 0.5);
        let more = Mixture::new(1.0, &[0.0, 1.0, 2.0], &[0.5, 0.3, 0.2 + 1e-10]).unwrap();
        assert!(more.parts()[0].1 < 0.5 && more.parts()[2].1 == 0.2 + 1e-10);
        // However many there are, none of the mass is missing; nor is there more than a hair too much.
        for count in [3, 10, 1000, 9999] {
            let amounts: Vec<f64> = (0..count).map(f64::from).map(|i| 0.1 + 1e-4 * i).collect();
            for off in [1.0 - 3e-10, 1.0, 1.0 + 3e-10] {
                let each = vec![off / f64::from(count); amounts.len()];
                let mixture = Mixture::new(1.0, &amounts, &each).unwrap();
                let total = less_one(mixture.parts().iter().map(|part| part.1));
                assert!((0.0..1e-15).contains(&total), "{count} {off}: {total:e}");
            }
        }
    }

    /// A quotient that rounds up would be noise that nobody added.
    #[test]
    fn simple_mixtures_have_no_more_noise_than_was_said() {
        for i in 1..500 {
            let (sigma, amount) = (1.0 + 0.01 * f64::from(i), 0.3 + 0.007 * f64::from(i));
            for (amounts, probabilities) in [(vec![amount], vec![1.0]), (vec![0.0, amount], vec![0.7, 0.3])] {
                let simple =
                    Mixture::new(sigma, &amounts, &probabilities).unwrap().simple().unwrap().unwrap();
                let crate::Noise::Gaussian { noise_multiplier } = simple.noise() else {
                    panic!("a Gaussian")
                };
                // The product less sigma, rounded once: its sign is right.
                assert!(noise_multiplier.mul_add(amount, -sigma) <= 0.0, "{sigma} / {amount}");
            }
        }
    }
}
