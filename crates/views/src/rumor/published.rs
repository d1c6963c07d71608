//! What the paper prints (Theorems 4, 5, 7 and 8, Table 1), carried to `epsilon > 0` and to several rumours.
//!
//! Bellet, Guerraoui and Hendrikx, Who started this rumor?, 2020.

use super::law::ThreePoints;
use super::{Rumor, check_epsilon, check_rumors};
use crate::Result;

impl Rumor {
    /// The delta at `epsilon` of `rumors` rumours from one source.
    ///
    /// Of a walk (`s = 0`) this is Theorem 5, composed exactly. Else it is Theorem 7's `(0, delta)`, and as no observation is more
    /// than `n / (1 - s)` times as likely from one source as from another, it falls to 0 there, linearly in `e^epsilon`.
    pub fn delta(&self, epsilon: f64, rumors: u32) -> Result<f64> {
        check_epsilon(epsilon)?;
        check_rumors(rumors)?;
        let (n, f, _, s) = self.numbers();
        if self.curious == 0 {
            return Ok(0.0);
        }
        if s == 0.0 {
            return Ok(match rumors {
                1 => ((f - epsilon.exp_m1()) / n).max(0.0),
                _ => ThreePoints::new(f / n, f.ln_1p()).delta(epsilon, rumors),
            });
        }
        let all = match rumors {
            1 => self.theorem7(),
            _ => -(f64::from(rumors) * (-self.theorem7()).ln_1p()).exp_m1(),
        };
        Ok(all * chord(epsilon, f64::from(rumors) * self.published_pure_epsilon()))
    }

    /// Theorem 7's closed form, `1 - (1-s)q / (1-sq)` with `q = 1 - f/n`; of push (Theorem 4) 1.
    pub(super) fn theorem7(&self) -> f64 {
        let (n, f, h, s) = self.numbers();
        // The same as f / (n - s h), which does not cancel.
        if s == 1.0 { 1.0 } else { f / (n - s * h) }
    }

    /// Table 1's simpler and larger value, `s + (1-s) f/n`.
    pub fn table1(&self) -> f64 {
        let (n, f, _, s) = self.numbers();
        s + (1.0 - s) * f / n
    }

    /// The epsilon at which delta is 0, as published: `ln(f + 1)` of a walk, else `ln(n / (1 - s))`, infinite of push.
    pub fn published_pure_epsilon(&self) -> f64 {
        let (n, f, _, s) = self.numbers();
        if self.curious == 0 || s == 0.0 { f.ln_1p() } else { (n / (1.0 - s)).ln() }
    }

    /// Prediction uncertainty `c` after so many rumours of one source: whatever was seen, under a uniform prior the odds against any
    /// peer being the source are at least `c`, and its probability at most `1 / (1 + c)`.
    ///
    /// Theorem 5 for a walk, Theorem 8 else: of one rumour `n/(f+1) - 1` and `(1 - (f+1)/n)(1-s)`.
    pub fn prediction_uncertainty(&self, rumors: u32) -> f64 {
        let (n, f, h, s) = self.numbers();
        let ratio = if self.curious == 0 || s == 0.0 { 1.0 / (f + 1.0) } else { (1.0 - s) / n };
        (h - 1.0) * ratio.powf(f64::from(rumors))
    }
}

/// What is left at `epsilon` of a delta that falls to 0 at `pure`, linearly in `e^epsilon`.
fn chord(epsilon: f64, pure: f64) -> f64 {
    if epsilon >= pure { 0.0 } else { (epsilon - pure).exp_m1() / (-pure).exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rumor(peers: usize, curious: usize, muting: f64) -> Rumor {
        Rumor::new(peers, curious, muting).unwrap()
    }

    /// Reference values of the printed formulas: `n, f, s, delta, c`.
    const REFERENCE: [(usize, usize, f64, f64, f64); 4] = [
        (100, 10, 0.0, 0.09999999999999998, 8.090909090909092),
        (100, 10, 0.1, 0.10989010989010983, 0.801),
        (1000, 100, 0.5, 0.18181818181818188, 0.4495),
        (65536, 6553, 0.1, 0.10988015969764076, 0.8099945068359375),
    ];

    /// `epsilon, delta` of a walk with `n = 100`, `f = 10`.
    const CURVE: [(f64, f64); 6] = [
        (0.0, 0.1),
        (0.1, 0.09894829081924353),
        (0.5, 0.09351278729299872),
        (1.0, 0.08281718171540955),
        (2.0, 0.0361094390106935),
        (2.3978952727983707, 0.0),
    ];

    #[test]
    fn printed_formulas_have_their_reference_values() {
        for (n, f, s, delta, c) in REFERENCE {
            let rumor = rumor(n, f, s);
            assert!((rumor.delta(0.0, 1).unwrap() - delta).abs() < 1e-14, "{n} {s}");
            assert!((rumor.prediction_uncertainty(1) - c).abs() < 1e-12, "{n} {s}");
        }
        for (epsilon, delta) in CURVE {
            assert!((rumor(100, 10, 0.0).delta(epsilon, 1).unwrap() - delta).abs() < 1e-15, "{epsilon}");
        }
        assert!((rumor(100, 10, 0.1).table1() - 0.19).abs() < 1e-15);
    }

    #[test]
    fn push_promises_nothing_and_nobody_curious_sees_nothing() {
        assert_eq!(rumor(10, 2, 1.0).delta(5.0, 3).unwrap(), 1.0);
        assert_eq!(rumor(10, 2, 1.0).prediction_uncertainty(1), 0.0);
        for s in [0.0, 0.4, 1.0] {
            assert_eq!(rumor(10, 0, s).delta(0.0, 7).unwrap(), 0.0);
            assert_eq!(rumor(10, 0, s).prediction_uncertainty(7), 9.0);
        }
    }

    #[test]
    fn the_series_of_theorem_7_has_its_closed_form() {
        let (q, s) = (0.9_f64, 0.7_f64);
        let series: f64 = (0..400).map(|k| (1.0 - s) * s.powi(k) * q.powi(k + 1)).sum();
        assert!((rumor(100, 10, s).delta(0.0, 1).unwrap() - (1.0 - series)).abs() < 1e-14);
    }

    proptest! {
        #[test]
        fn more_muting_fewer_curious_and_larger_epsilons_lose_less(
            n in 2usize..2000, share in 0.0f64..1.0, s in 0.0f64..1.0, t in 0.0f64..1.0,
            epsilon in 0.0f64..8.0, more in 0.0f64..3.0, k in 1u32..5,
        ) {
            let f = ((n as f64 * share) as usize).min(n - 1);
            let (low, high) = (rumor(n, f, s.min(t)), rumor(n, f, s.max(t)));
            let delta = |rumor: Rumor, epsilon| rumor.delta(epsilon, k).unwrap();
            prop_assert!(delta(low, epsilon) <= delta(high, epsilon) + 1e-12);
            prop_assert!(low.prediction_uncertainty(k) >= high.prediction_uncertainty(k));
            prop_assert!(delta(low, epsilon + more) <= delta(low, epsilon) + 1e-12);
            prop_assert!(delta(low, epsilon) <= low.delta(epsilon, k + 1).unwrap() + 1e-12);
            prop_assert!(f == 0 || delta(rumor(n, f - 1, s), epsilon) <= delta(rumor(n, f, s), epsilon) + 1e-12);
            prop_assert!((0.0..=1.0).contains(&delta(high, epsilon)));
        }
    }
}
