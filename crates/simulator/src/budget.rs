//! What a peer may release: the proven filter, asked before anything is sent.

use sottovoce_privacy::{Budget, Filter};
use sottovoce_protocol::{Overspent, Release};

use crate::Result;

/// A peer's budget, and what was spent of it (`docs/theorems/filters.md`).
///
/// ```
/// use sottovoce_protocol::Release;
/// use sottovoce_simulator::Allowance;
/// let mut allowance = Allowance::gaussian(0.3)?;
/// assert!(allowance.admit(&Release::gaussian(1.0, 2.0)).is_ok());
/// let refused = allowance.admit(&Release::gaussian(1.0, 2.0)).unwrap_err();
/// assert!((refused.left - 0.05).abs() < 1e-12);
/// # Ok::<(), sottovoce_protocol::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Allowance {
    filter: Filter,
}

impl Allowance {
    /// A budget in any currency.
    pub fn new(budget: Budget) -> Result<Self> {
        Ok(Self { filter: Filter::new(budget)? })
    }

    /// A budget of squared Gaussian loss towards a wire-tapper; infinite: everything is admitted, and still counted.
    pub fn gaussian(mu_squared: f64) -> Result<Self> {
        Self::new(Budget::gaussian(mu_squared)?)
    }

    /// Admits a release and counts it, or refuses it and changes nothing.
    pub fn admit(&mut self, release: &Release) -> std::result::Result<(), Overspent> {
        let loss = release.loss();
        let admitted = match &loss {
            Ok(loss) => self.filter.spend(loss),
            Err(_) => self.filter.spend_unknown(),
        };
        admitted.map_err(|_| {
            let asked = loss.map_or(f64::INFINITY, |loss| self.filter.price(&loss));
            Overspent { asked, left: self.filter.remaining() }
        })
    }

    /// How many of `most` such releases in a row it admits. They are counted.
    ///
    /// ```
    /// use sottovoce_protocol::Release;
    /// use sottovoce_simulator::Allowance;
    /// assert_eq!(Allowance::gaussian(1.1)?.times(&Release::gaussian(1.0, 2.0), 9), 4);
    /// # Ok::<(), sottovoce_protocol::Error>(())
    /// ```
    pub fn times(&mut self, release: &Release, most: usize) -> usize {
        (0..most).take_while(|_| self.admit(release).is_ok()).count()
    }

    /// What was spent, in the budget's currency, rounded up.
    pub fn spent(&self) -> f64 {
        self.filter.spent()
    }
}

/// Refuses a budget of squared Gaussian loss that is none.
pub(crate) fn check(budget: f64) -> Result<()> {
    Allowance::gaussian(budget).map(drop)
}
