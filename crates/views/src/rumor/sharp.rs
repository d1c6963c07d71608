//! The exact loss of asynchronous tellings at `epsilon = 0`, by the method that the size allows.
//!
//! For two suspects the best attack accuses the one who is seen first, so the total variation between two sources is the value of
//! the chain's first state (`docs/theorems/rumor-source.md`, Theorem 1). It holds against clocks too, but not for rounds, where all active
//! peers tell at once: there it is larger, and [`Rumor::improved_delta`] is the bound.

use serde::Serialize;
use sottovoce_privacy::Interval;

use super::Rumor;
use super::certify;
use super::chain::{Chain, Split};
use super::eliminate::{self, Layout};

/// Most multiplications for which all states are eliminated; beyond, totals are.
pub const EFFORT: f64 = 2e8;
/// Most entries of eliminated blocks that are kept.
const KEPT: f64 = 2e7;
/// Most totals; beyond, the closed form is used.
const TOTALS: usize = 4_000_000;

/// Where a sharp loss comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// All states of the chain: exact but for rounding.
    Exact,
    /// How many are active, whoever they are: an interval that contains the exact value, narrow where there are many peers.
    Totals,
    /// The closed form.
    ClosedForm,
}

/// A bound on the loss of asynchronous tellings that is close to the truth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sharp {
    /// The delta at `epsilon = 0` is in here.
    pub at_zero: Interval,
    /// How it was found.
    pub method: Method,
    #[serde(skip)]
    rumor: Rumor,
}

impl Rumor {
    /// The exact delta at `epsilon = 0` of asynchronous tellings, certified; `None` where only one peer is honest.
    ///
    /// ```
    /// use sottovoce_views::rumor::{Method, Rumor};
    /// let rumor = Rumor::new(40, 4, 0.7)?;
    /// let sharp = rumor.sharp().unwrap();
    /// assert_eq!(sharp.method, Method::Exact);
    /// assert!((sharp.at_zero.upper - 0.22198605315665468).abs() < 1e-11);
    /// assert!((rumor.delta(0.0, 1)? - 0.27027).abs() < 1e-5);       // as published
    /// # Ok::<(), sottovoce_views::Error>(())
    /// ```
    pub fn sharp(&self) -> Option<Sharp> {
        self.sharp_within(EFFORT)
    }

    /// The same with another limit on the effort of [`Method::Exact`].
    pub fn sharp_within(&self, effort: f64) -> Option<Sharp> {
        let chain = Chain::new(self)?;
        let exact = || exact(&chain, effort).map(|found| (found, Method::Exact));
        let totals = || totals(&chain).map(|found| (found, Method::Totals));
        let (found, method) = exact().or_else(totals).unwrap_or((UNKNOWN, Method::ClosedForm));
        // No s does better than a walk, and none worse than the closed form.
        let (least, most) = (self.curious as f64 / self.peers as f64, self.improved_delta());
        let at_zero =
            Interval::of_probability(found.lower.clamp(least, most), found.upper.clamp(least, most));
        Some(Sharp { at_zero, method, rumor: *self })
    }
}

const UNKNOWN: Interval = Interval::PROBABILITY;

fn exact(chain: &Chain, effort: f64) -> Option<Interval> {
    let layout = Layout::of(chain);
    let (blocks, width) = (layout.blocks as f64, layout.width as f64);
    if blocks * width.powi(3) > effort || blocks * width.powi(2) > KEPT {
        return None;
    }
    certify::states(chain, &layout, &eliminate::states(chain, &layout))
}

fn totals(chain: &Chain) -> Option<Interval> {
    if chain.most() > TOTALS {
        return None;
    }
    let (above, below) = (eliminate::totals(chain, Split::Honest), eliminate::totals(chain, Split::Curious));
    certify::totals(chain, &above, &below)
}

impl Sharp {
    /// The delta at `epsilon` of so many rumours from one source (as checked by [`Rumor::delta`]): exact at 0 for one rumour, above
    /// that the chord to [`Rumor::pure_epsilon`].
    pub fn delta(&self, epsilon: f64, rumors: u32) -> f64 {
        self.rumor.losses(self.at_zero.upper).delta(epsilon, rumors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sottovoce_privacy::Ends;

    fn rumor(peers: usize, curious: usize, muting: f64) -> Rumor {
        Rumor::new(peers, curious, muting).unwrap()
    }

    fn by_totals(rumor: Rumor) -> Interval {
        rumor.sharp_within(0.0).unwrap().at_zero
    }

    /// Values of an independent program (dense linear algebra on all states).
    #[test]
    fn reference_values() {
        for (n, f, s, value) in [
            (4, 1, 0.7, 0.36145383495629313),
            (4, 1, 0.3, 0.2892185665491159),
            (4, 1, 1.0, 0.4375),
            (5, 2, 0.9, 0.5860499854978114),
            (5, 1, 0.5, 0.270651089898846),
            (40, 4, 0.7, 0.22198605315665468),
            (40, 4, 0.0, 0.1),
        ] {
            let found = rumor(n, f, s).sharp().unwrap();
            assert_eq!(found.method, Method::Exact);
            let Ends { lower, upper } = *found.at_zero;
            assert!(lower <= value + 1e-15 && value <= upper + 1e-15, "{n} {s}: {lower} {upper}");
            assert!(upper - lower < 1e-11, "{n} {s}: {lower} {upper}");
            let Ends { lower, upper } = *by_totals(rumor(n, f, s));
            assert!(lower <= value + 1e-15 && value <= upper + 1e-15, "{n} {s}: {lower} {upper}");
        }
    }

    #[test]
    fn both_counts_can_be_the_larger_one() {
        for (n, f) in [(30, 3), (30, 15), (30, 27), (30, 28), (30, 0)] {
            let rumor = rumor(n, f, 0.8);
            let (exact, totals) = (rumor.sharp().unwrap(), by_totals(rumor));
            assert_eq!(exact.method, Method::Exact);
            assert!(totals.lower <= exact.at_zero.upper && exact.at_zero.lower <= totals.upper, "{f}");
            assert!(totals.upper - totals.lower < 4e-3, "{f}: {totals:?}");
        }
    }

    /// As the crowd grows at a fixed share of curious peers, the loss approaches Theorem 7's value, slowly for large `s`.
    #[test]
    fn theorem_7_is_the_limit_of_large_crowds() {
        for (s, close) in [(0.1, 1e-5), (0.5, 3e-4), (0.9, 0.1)] {
            let gap = |n: usize| {
                let rumor = rumor(n, n / 10, s);
                rumor.delta(0.0, 1).unwrap() - rumor.sharp_within(1e6).unwrap().at_zero.upper
            };
            let gaps: Vec<f64> = [20, 100, 1000, 10_000].map(gap).to_vec();
            assert!(gaps.windows(2).all(|pair| 0.0 < pair[1] && pair[1] < pair[0]), "{gaps:?}");
            assert!(gaps[3] < close, "{s}: {gaps:?}");
        }
    }

    #[test]
    fn large_crowds_have_narrow_intervals() {
        let found = rumor(65_536, 6553, 0.9).sharp().unwrap();
        assert_eq!(found.method, Method::Totals);
        let Ends { lower, upper } = *found.at_zero;
        assert!(lower > 0.476873 && upper < 0.476875 && lower < upper, "{found:?}");
        let found = rumor(500_000_000, 5, 0.9).sharp().unwrap();
        assert_eq!(found.method, Method::ClosedForm);
        assert_eq!(found.at_zero.upper, rumor(500_000_000, 5, 0.9).improved_delta());
    }

    #[test]
    fn one_honest_peer_hides_among_nobody() {
        assert_eq!(rumor(5, 4, 0.5).sharp(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn sharp_is_below_improved_is_below_published(
            n in 3usize..60, share in 0.0f64..1.0, s in 0.0f64..=1.0, epsilon in 0.0f64..6.0, k in 1u32..4,
        ) {
            let f = ((n as f64 * share) as usize).min(n - 2);
            let rumor = rumor(n, f, s);
            let sharp = rumor.sharp().unwrap();
            let improved = rumor.losses(rumor.improved_delta());
            let slack = 1e-13;
            prop_assert!(sharp.at_zero.lower >= f as f64 / n as f64 && sharp.at_zero.lower <= sharp.at_zero.upper);
            prop_assert!(sharp.delta(epsilon, k) <= improved.delta(epsilon, k) + slack);
            prop_assert!(improved.delta(epsilon, k) <= rumor.delta(epsilon, k).unwrap() + slack);
            prop_assert!(rumor.improved_uncertainty(k) >= rumor.prediction_uncertainty(k) * (1.0 - slack));
            prop_assert!(rumor.pure_epsilon() <= rumor.published_pure_epsilon() + slack);
            if s == 0.0 || f == 0 {
                prop_assert!((sharp.delta(epsilon, k) - rumor.delta(epsilon, k).unwrap()).abs() < slack);
            }
        }

        #[test]
        fn more_curious_peers_and_less_muting_lose_more(n in 4usize..40, share in 0.0f64..1.0, s in 0.0f64..0.99) {
            let f = ((n as f64 * share) as usize).min(n - 3);
            let upper = |f, s| rumor(n, f, s).sharp().unwrap().at_zero.upper;
            prop_assert!(upper(f, s) <= upper(f + 1, s) + 1e-11);
            prop_assert!(upper(f, s) <= upper(f, s + 0.01) + 1e-11);
        }
    }
}
