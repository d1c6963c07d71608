//! Ours in closed form: below Theorems 7 and 8, equal to Theorem 5 at `s = 0`, against curious peers who know whom they told.
//!
//! The source's own tellings alone decide `epsilon = 0`: overheard (`f/n`), else it stays the only one of the two suspects who is
//! active with probability at most `s (h-1)/n`, because telling itself and telling the other one (and muting) undo each other. And a
//! rumour of another source is soon where a rumour of this one begins: it wanders, one peer active at a time, until it is there. Curious peers who
//! remember their own tellings count once more for as long as they are active, and that is made up for by what the others tell the suspects.

use super::Rumor;
use super::law::ThreePoints;

impl Rumor {
    /// `f / (n - s (h-1))`: a delta at `epsilon = 0` of asynchronous tellings that holds against clocks and with losses, too.
    ///
    /// ```
    /// use sottovoce_views::rumor::Rumor;
    /// let push = Rumor::new(4, 1, 1.0)?;
    /// assert_eq!(push.delta(0.0, 1)?, 1.0);                           // as published
    /// assert!((push.improved_delta() - 0.5).abs() < 1e-12);           // 7/16 is the truth
    /// # Ok::<(), sottovoce_views::Error>(())
    /// ```
    pub fn improved_delta(&self) -> f64 {
        let (n, f, h, s) = self.numbers();
        if s == 0.0 || self.honest() < 2 {
            return self.theorem7();
        }
        (f / (n - s * (h - 1.0)) * (1.0 + 8.0 * f64::EPSILON)).min(1.0)
    }

    /// A delta at `epsilon = 0` in rounds, which holds against clocks too: the same for `s` up to about 0.7, and up to three times as much beyond.
    ///
    /// ```
    /// use sottovoce_views::rumor::Rumor;
    /// let [slow, quick] = [0.6, 0.9].map(|s| Rumor::new(1000, 100, s).unwrap());
    /// assert!(slow.rounds_delta() < slow.improved_delta() * (1.0 + 1e-12));
    /// assert!(quick.rounds_delta() > 1.6 * quick.improved_delta());
    /// ```
    pub fn rounds_delta(&self) -> f64 {
        let (n, f, h, s) = self.numbers();
        if self.curious == 0 || s == 0.0 || self.honest() < 2 {
            return self.improved_delta();
        }
        let alike = s * (h - 1.0) / n;
        let again = (s * (n - 2.0) + 1.0 - s + f) / n;
        let factor = (2.0 * alike * (1.0 - alike) / (1.0 - alike * again)).clamp(1.0, 1.0 + 2.0 * alike);
        (self.improved_delta() * factor * (1.0 + 32.0 * f64::EPSILON)).min(1.0)
    }

    /// A delta at `epsilon = 0` in rounds whose messages may be lost, each with the same probability, whatever it is.
    pub fn lossy_rounds_delta(&self) -> f64 {
        (3.0 * self.improved_delta()).min(1.0)
    }

    /// The epsilon at which delta is 0: the logarithm of `(n-1)/(1-s) - (h-2)`, which of a walk is `f + 1`. Infinite of push.
    pub fn pure_epsilon(&self) -> f64 {
        let (n, f, _, s) = self.numbers();
        if self.curious == 0 || s == 0.0 || self.honest() < 2 {
            return self.published_pure_epsilon();
        }
        // The ratio less one is f + s (n-1)/(1-s), which does not cancel; of push it is infinite.
        (f + s / (1.0 - s) * (n - 1.0)).ln_1p() * (1.0 + 8.0 * f64::EPSILON)
    }

    /// Prediction uncertainty after so many rumours of one source: `(h-1)` over the ratio of [`Self::pure_epsilon`].
    pub fn improved_uncertainty(&self, rumors: u32) -> f64 {
        (self.honest() as f64 - 1.0) * (-f64::from(rumors) * self.pure_epsilon()).exp()
    }

    /// The privacy losses that a delta at `epsilon = 0` leaves possible, together with [`Self::pure_epsilon`].
    pub(super) fn losses(&self, at_zero: f64) -> ThreePoints {
        ThreePoints::new(at_zero, self.pure_epsilon())
    }
}
