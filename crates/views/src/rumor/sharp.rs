//! The loss of asynchronous tellings at `epsilon = 0`, from both sides, by the method that the size allows.
//!
//! From below: what curious peers *hear* tells two suspects apart exactly as often as the chain's first state has value, since the best attack
//! accuses the one who is seen first (`docs/theorems/rumor-source.md`, Theorems 1 and 2). From above: with what they *told* (Theorem 6). Both hold
//! against clocks too, but not for rounds, where all active peers tell at once: there [`Rumor::rounds_delta`] is the bound.

use serde::Serialize;
use sottovoce_privacy::Interval;

use super::Rumor;
use super::certify;
use super::chain::{Chain, Memory, Split};
use super::eliminate::{self, Layout};

/// Most multiplications for which all states are eliminated; beyond, totals are.
pub const EFFORT: f64 = 2e8;
/// Most entries of eliminated blocks that are kept.
const KEPT: f64 = 2e7;
/// Most totals; beyond, the closed form is used.
const TOTALS: usize = 4_000_000;

/// Where a sharp loss comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// All states of the chain, from both sides.
    States,
    /// From below by how many are active, whoever they are; from above the closed form.
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
    /// The delta at `epsilon = 0` of asynchronous tellings against curious peers who know whom they told, certified from both sides; `None` where only
    /// one peer is honest.
    ///
    /// ```
    /// use sottovoce_views::rumor::{Method, Rumor};
    /// let rumor = Rumor::new(40, 4, 0.7)?;
    /// let sharp = rumor.sharp().unwrap();
    /// assert_eq!(sharp.method, Method::States);
    /// assert!((sharp.at_zero.lower - 0.22198605315665468).abs() < 1e-11);      // by what they hear alone
    /// assert!((sharp.at_zero.upper - 0.24169512567010415).abs() < 1e-11);      // with what they told, at most
    /// assert!((rumor.delta(0.0, 1)? - 0.27027).abs() < 1e-5);                  // as published
    /// # Ok::<(), sottovoce_views::Error>(())
    /// ```
    pub fn sharp(&self) -> Option<Sharp> {
        self.sharp_within(EFFORT)
    }

    /// The same with another limit on the effort of [`Method::States`].
    pub fn sharp_within(&self, effort: f64) -> Option<Sharp> {
        let (heard, told) = (self.heard_within(effort)?, Chain::new(self, Memory::Told)?);
        let told = states(&told, effort).map_or(f64::INFINITY, |found| found.upper);
        Some(self.certified(heard.at_zero.lower, told, heard.method))
    }

    /// The delta at `epsilon = 0` against the paper's adversary, who logs what it is told and does not use whom it told: exact but for rounding, or in a
    /// narrow interval where peers are many. For comparison with the paper; a guarantee is [`Self::sharp`].
    pub fn heard(&self) -> Option<Sharp> {
        self.heard_within(EFFORT)
    }

    fn heard_within(&self, effort: f64) -> Option<Sharp> {
        let chain = Chain::new(self, Memory::Heard)?;
        let states = || Some((states(&chain, effort)?, Method::States));
        let totals = || Some((totals(&chain)?, Method::Totals));
        let unknown = (Interval::PROBABILITY, Method::ClosedForm);
        let (found, method) = states().or_else(totals).unwrap_or(unknown);
        Some(self.certified(found.lower, found.upper, method))
    }

    /// No `s` does better than a walk, and none worse than the closed form.
    fn certified(&self, lower: f64, upper: f64, method: Method) -> Sharp {
        let (least, most) = (self.curious as f64 / self.peers as f64, self.improved_delta());
        let at_zero = Interval::of_probability(lower.clamp(least, most), upper.clamp(least, most));
        Sharp { at_zero, method, rumor: *self }
    }
}

fn states(chain: &Chain, effort: f64) -> Option<Interval> {
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
    /// The delta at `epsilon` of so many rumours from one source (as checked by [`Rumor::delta`]): the upper end at 0 for one
    /// rumour, above that the chord to [`Rumor::pure_epsilon`].
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
        rumor.heard_within(0.0).unwrap().at_zero
    }

    fn by_states(rumor: Rumor) -> Interval {
        rumor.heard().unwrap().at_zero
    }

    /// Values of an independent program (linear algebra on all states): by what is heard, and with what is told.
    #[test]
    fn reference_values() {
        for (n, f, s, heard, told) in [
            (4, 1, 0.7, 0.36145383495629313, 0.3753011717024661),
            (4, 1, 0.3, 0.2892185665491159, 0.2929500848982438),
            (4, 1, 1.0, 0.4375, 0.4666666666666666),
            (5, 2, 0.9, 0.5860499854978114, 0.606619946814023),
            (5, 1, 0.5, 0.270651089898846, 0.2809001204541508),
            (40, 4, 0.7, 0.22198605315665468, 0.24169512567010415),
            (40, 4, 0.0, 0.1, 0.1),
        ] {
            let found = rumor(n, f, s).sharp().unwrap();
            assert_eq!(found.method, Method::States);
            let Ends { lower, upper } = *found.at_zero;
            assert!(lower <= heard + 1e-15 && heard < lower + 1e-11, "{n} {s}: {lower} {heard}");
            assert!(told <= upper + 1e-15 && upper < told + 1e-11, "{n} {s}: {upper} {told}");
            for found in [by_states(rumor(n, f, s)), by_totals(rumor(n, f, s))] {
                let Ends { lower, upper } = *found;
                assert!(lower <= heard + 1e-15 && heard <= upper + 1e-15, "{n} {s}: {lower} {upper}");
            }
        }
    }

    #[test]
    fn both_counts_can_be_the_larger_one() {
        for (n, f) in [(30, 3), (30, 15), (30, 27), (30, 28), (30, 0)] {
            let rumor = rumor(n, f, 0.8);
            let (exact, totals) = (by_states(rumor), by_totals(rumor));
            assert_eq!(rumor.sharp().unwrap().method, Method::States);
            assert!(totals.lower <= exact.upper && exact.lower <= totals.upper, "{f}");
            assert!(totals.upper - totals.lower < 4e-3, "{f}: {totals:?}");
        }
    }

    /// As the crowd grows at a fixed share of curious peers, the loss approaches Theorem 7's value, slowly for large `s`.
    #[test]
    fn theorem_7_is_the_limit_of_large_crowds() {
        for (s, close) in [(0.1, 1e-5), (0.5, 3e-4), (0.9, 0.1)] {
            let gap = |n: usize| {
                let rumor = rumor(n, n / 10, s);
                rumor.delta(0.0, 1).unwrap() - by_totals(rumor).upper
            };
            let gaps: Vec<f64> = [20, 100, 1000, 10_000].map(gap).to_vec();
            assert!(gaps.windows(2).all(|pair| 0.0 < pair[1] && pair[1] < pair[0]), "{gaps:?}");
            assert!(gaps[3] < close, "{s}: {gaps:?}");
        }
    }

    #[test]
    fn large_crowds_have_an_exact_lower_end() {
        let found = rumor(65_536, 6553, 0.9).sharp().unwrap();
        assert_eq!(found.method, Method::Totals);
        let Ends { lower, upper } = *found.at_zero;
        assert!(lower > 0.476873 && lower < 0.476875 && upper == rumor(65_536, 6553, 0.9).improved_delta());
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
