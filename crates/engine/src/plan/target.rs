//! What must hold: bounds on `mu² = f Delta² / sigma²` over pairs of a peer and another who observes it.
//!
//! Functionals of the pairs: the mean, the largest, the largest over pairs at least so many hops apart, and each pair by a bound of its own that falls with a
//! distance ([`super::distance`]). All but the first are promises: **a mean is a guarantee for nobody**, since some pairs lose more than it.

use serde::Serialize;
use sottovoce_privacy::Gdp;

use super::Losses;
use crate::{Error, Result, require};

/// `mu²` that neighbours may lose where nothing is said about them: an epsilon of 9.998 at a delta of 1e-5.
pub const NEIGHBOURS: f64 = 4.0;

/// Bounds on `mu²`; those that are there hold together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// Of the mean over ordered pairs of different peers. A guarantee for nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Of the worst pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
    /// Of the worst pair that is `beyond` hops apart or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<f64>,
    /// Hops from which on a pair is far.
    pub beyond: u32,
    /// The smallest of the bounds that fall with a distance, where there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub falling: Option<f64>,
}

/// Which functional a bound is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The mean.
    Mean,
    /// The worst pair.
    Worst,
    /// The worst of the far pairs.
    Far,
}

impl Target {
    /// No bound yet; pairs are far from `beyond` hops on.
    pub fn none(beyond: u32) -> Self {
        Self { mean: None, worst: None, far: None, beyond, falling: None }
    }

    /// With a bound on `mu²`.
    pub fn with(mut self, bound: Bound, mu_squared: f64) -> Self {
        match bound {
            Bound::Mean => self.mean = Some(mu_squared),
            Bound::Worst => self.worst = Some(mu_squared),
            Bound::Far => self.far = Some(mu_squared),
        }
        self
    }

    /// With a bound on the worst pair, where only far pairs have one: else the least error is often one step without any
    /// noise, in which neighbours hear each other's naked values.
    pub fn guarded(self) -> Self {
        match (self.worst, self.far) {
            (None, Some(far)) => self.with(Bound::Worst, far.max(NEIGHBOURS)),
            _ => self,
        }
    }

    /// Refuses bounds that are no positive numbers, or that are not there.
    pub fn check(&self) -> Result<()> {
        let named = [
            ("target-mean", self.mean),
            ("target-worst", self.worst),
            ("target-far", self.far),
            ("within", self.falling),
        ];
        let mut bounds = 0;
        for (field, value) in named.iter().filter_map(|(field, value)| Some((field, (*value)?))) {
            // Beyond 10^8 (mu = 10000) there is nothing left to protect, and no epsilon to state.
            let remedy = "give a bound on mu² above 0 and up to 1e8, or --epsilon and --delta";
            require(value > 0.0 && value <= 1e8, field, value, remedy)?;
            bounds += 1;
        }
        let remedy = "give --target-mean, --target-worst, --target-far, or --distance and --within";
        require(bounds != 0, "target", "missing", remedy)?;
        let remedy = "give at least 2 hops, or use --target-worst";
        require(self.beyond >= 2 || self.far.is_none(), "beyond", self.beyond, remedy)
    }

    /// The closed form: the least `sigma²` at which every bound holds, for losses in units of local DP.
    pub fn variance(&self, losses: &Losses, sensitivity: f64) -> f64 {
        let needed = self.each(losses).map(|(loss, bound)| loss / bound).fold(0.0, f64::max);
        needed * sensitivity * sensitivity
    }

    /// Whether every bound holds for losses that are `mu²` already.
    pub fn holds(&self, mu_squared: &Losses) -> bool {
        self.each(mu_squared).all(|(loss, bound)| loss <= bound)
    }

    /// The smallest bound: what a result that everyone sees must keep.
    pub fn tightest(&self) -> f64 {
        [self.mean, self.worst, self.far, self.falling].into_iter().flatten().fold(f64::INFINITY, f64::min)
    }

    /// Whether a bound is on a worst case, for which every observer counts.
    pub fn is_worst_case(&self) -> bool {
        self.worst.is_some() || self.far.is_some() || self.falling.is_some()
    }

    fn each(&self, losses: &Losses) -> impl Iterator<Item = (f64, f64)> {
        let pairs = [
            (Some(losses.mean), self.mean),
            (Some(losses.worst), self.worst),
            (losses.far, self.far),
            // A share of a bound: it may be all of it.
            (losses.share, self.falling.map(|_| 1.0)),
        ];
        pairs.into_iter().filter_map(|(loss, bound)| loss.zip(bound))
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let far = format!("the worst pair at distance {} or more", self.beyond);
        let named = [("the mean over pairs", self.mean), ("the worst pair", self.worst), (&far, self.far)];
        let bound = |(name, value): (&str, Option<f64>)| Some(format!("{name} at mu² <= {:.6}", value?));
        let falling =
            self.falling.map(|least| format!("each pair by its distance, the farthest at mu² <= {least:.6}"));
        f.write_str(&named.into_iter().filter_map(bound).chain(falling).collect::<Vec<_>>().join(", "))
    }
}

/// The largest `mu²` that is `(epsilon, delta)`-private; never too large.
///
/// ```
/// use sottovoce_privacy::Gdp;
/// let mu_squared = sottovoce_engine::plan::target::mu_squared_at(1.0, 1e-5)?;
/// assert!(Gdp::of_square(mu_squared)?.epsilon(1e-5)?.upper <= 1.0 + 1e-12);
/// assert!(Gdp::of_square(mu_squared * 1.000001)?.epsilon(1e-5)?.lower > 1.0);
/// # Ok::<(), sottovoce_engine::Error>(())
/// ```
pub fn mu_squared_at(epsilon: f64, delta: f64) -> Result<f64> {
    require(epsilon > 0.0 && epsilon.is_finite(), "epsilon", epsilon, "give a positive, finite number")?;
    // As the calibration squares it, which has checked just this number.
    let much = |_| Error::parameter("epsilon", epsilon, "that protects nobody; give less");
    let noise = Gdp::calibrate(epsilon, delta);
    // Of an epsilon beyond all measure it is the Gaussian loss that is refused: nobody gave one.
    let mu = match noise {
        Err(problem) if problem.at_fault().is_some_and(|fault| fault.field == "mu") => {
            return Err(much(problem));
        }
        noise => 1.0 / noise?,
    };
    Gdp::new(mu).map_err(much)?;
    Ok(mu * mu)
}
