//! From a target epsilon to the most steps, the largest batch, or the least noise that still meet it.
//!
//! Steps and batches are whole numbers, so an answer can be checked completely: it meets the target, and one more does not.

use crate::special::bisect;
use crate::{Epsilon, Error, Result};

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Most {
    /// The largest number that meets the target.
    pub number: u64,
    /// The epsilon at that number.
    pub spent: Epsilon,
    /// The epsilon at one more, where one more is allowed and can be computed.
    pub beyond: Option<Epsilon>,
}

/// The largest number from 1 to `largest` whose epsilon stays within `target`. Epsilon must grow with the number.
///
/// ```
/// use sottovoce_privacy::{Adjacency, Composition, Mechanism, Release, most};
/// let laplace = Release::Mechanism(Mechanism::laplace(4.0)?);
/// let spend = |steps: u64| {
///     let mut all = Composition::new(Adjacency::AddRemove);
///     all.add(laplace.clone(), steps)?;
///     all.epsilon(0.0)
/// };
/// assert_eq!(most::number("steps", 1_000, 3.1, spend)?.number, 12);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn number(
    field: &'static str,
    largest: u64,
    target: f64,
    spend: impl Fn(u64) -> Result<Epsilon>,
) -> Result<Most> {
    let mut spent = spend(1)?;
    if spent.upper() > target {
        let remedy = format!("not even 1 of `{field}` stays within it; give a larger epsilon or more noise");
        return Err(Error::parameter("epsilon", target, remedy));
    }
    let (mut low, mut high) = (1, largest.saturating_add(1));
    let mut above = None;
    for round in 0.. {
        if high - low <= 1 {
            break;
        }
        let next = if high > largest {
            low.saturating_mul(8)
        } else {
            between(low, high, round, target, &spent, above)
        };
        let next = if next > largest { largest } else { next };
        match spend(next) {
            Ok(epsilon) if epsilon.upper() <= target => (low, spent) = (next, epsilon),
            Ok(epsilon) => (high, above) = (next, Some(epsilon.upper())),
            Err(Error::Accuracy { .. }) => (high, above) = (next, None),
            Err(error) => return Err(error),
        }
    }
    let beyond = (low < largest).then(|| spend(low + 1).ok()).flatten();
    Ok(Most { number: low, spent, beyond })
}

/// Where to look next, strictly between: on the line through both ends, or, every third time, in the middle.
fn between(low: u64, high: u64, round: u32, target: f64, spent: &Epsilon, above: Option<f64>) -> u64 {
    let (at_low, at_high) = (spent.upper().ln(), above.unwrap_or(f64::INFINITY).ln());
    let share = (target.ln() - at_low) / (at_high - at_low);
    let (ln_low, ln_high) = ((low as f64).ln(), (high as f64).ln());
    if round % 3 == 2 || !share.is_finite() {
        return low + (high - low) / 2;
    }
    // Rounded to the whole number at or below, and kept inside (a cast takes what is not a number to 0).
    let guess = (ln_low + share * (ln_high - ln_low)).exp() as u64;
    guess.clamp(low + 1, high - 1) // whole numbers
}

/// The least noise, to a relative `1e-6`, whose epsilon stays within `target`; the noise returned was tried itself.
///
/// Where epsilon does not fall throughout as noise grows, there may be less noise that serves as well.
pub fn noise(target: f64, spend: impl Fn(f64) -> Result<Epsilon>) -> Result<f64> {
    let enough = |noise: f64| match spend(noise) {
        Ok(epsilon) => Ok(epsilon.upper() <= target),
        Err(Error::Accuracy { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    let mut high = 1.0;
    while !enough(high)? {
        high *= 2.0;
        if high > 5e8 {
            let remedy = "no noise up to 1e9 reaches it; give a larger epsilon or delta, or fewer steps";
            return Err(Error::parameter("epsilon", target, remedy));
        }
    }
    let mut low = high / 2.0;
    while low > 2e-3 && enough(low)? {
        (low, high) = (low / 2.0, low);
    }
    Ok(bisect(low, high, 1e-6, |noise| enough(noise).unwrap_or(false)).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interval;

    fn linear(number: u64) -> Result<Epsilon> {
        Interval::new(number as f64, number as f64).map(Epsilon::Within)
    }

    #[test]
    fn every_answer_is_the_last_one_that_fits() {
        for largest in [1, 2, 3, 7, 100, 1_000_000_000] {
            for target in [1.0, 1.5, 2.0, 3.9, 64.0, 65.0, 1e10] {
                let most = number("steps", largest, target, linear).unwrap();
                let expected = if target < largest as f64 { target as u64 } else { largest };
                assert_eq!(most.number, expected, "{largest} {target}");
                assert_eq!(most.beyond.is_none(), expected == largest);
            }
        }
        let found = noise(3.0, |noise| Interval::new(0.0, 7.0 / noise).map(Epsilon::Within)).unwrap();
        assert!(7.0 / found <= 3.0 && 7.0 / found > 3.0 - 1e-5);
        assert!(noise(0.0, |_| linear(1)).is_err());
        let message = number("steps", 10, 0.5, linear).unwrap_err().to_string();
        assert!(message.contains("`epsilon` is 0.5") && message.contains("`steps`"), "{message}");
    }
}
