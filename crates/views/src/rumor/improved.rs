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

    /// A delta at `epsilon = 0` of tellings by Poisson clocks whose messages are under way for a while, against curious peers who have clocks: how long may depend on who speaks to whom,
    /// and arrivals differ by at most `apart`, in mean times between two tellings of a peer (`docs/theorems/rumor-source.md`, Theorem D). 1 where nothing is proven: from `s = 1/2` on.
    ///
    /// ```
    /// use sottovoce_views::rumor::Rumor;
    /// let walk = Rumor::new(12, 1, 0.0)?;
    /// assert!((walk.delayed_delta(0.0) - 0.1).abs() < 1e-12);         // f / (n - 2): hops can be counted
    /// assert!(walk.delayed_delta(0.01) > 0.13 && walk.improved_delta() < 0.084);
    /// assert_eq!(Rumor::new(12, 1, 0.5)?.delayed_delta(0.0), 1.0);
    /// # Ok::<(), sottovoce_views::Error>(())
    /// ```
    pub fn delayed_delta(&self, apart: f64) -> f64 {
        let (n, f, _, s) = self.numbers();
        if self.honest() < 2 || self.peers < 3 || !(apart >= 0.0 && apart.is_finite()) {
            return 1.0;
        }
        let delta = if s == 0.0 {
            (f + 3.0 * apart * (n - 1.0)) / (n - 2.0)
        } else {
            let (stays, mutes) = (s * (n - 1.0) / n, (1.0 - s) * (n - 1.0) / n);
            let bad = (f + 1.0) / (n - 1.0);
            let told = 2.0 / n * stays / (mutes * (mutes - stays));
            // As many peers as are active tell faster than the source falls silent: nothing is bounded.
            if mutes <= stays {
                return 1.0;
            }
            bad / (1.0 - s + s * bad) + told + 3.0 * apart / (1.0 - s)
        };
        let delta = delta * (1.0 + 32.0 * f64::EPSILON);
        if delta < 1.0 { delta } else { 1.0 }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A walk whose hops can be counted, as where every message takes the same time: the law of who is first heard, and after how many hops.
    fn walk(n: usize, f: usize, source: usize) -> Vec<Vec<f64>> {
        let h = n - f;
        let mut at = vec![0.0; h];
        at[source] = 1.0;
        let share = 1.0 / (n - 1) as f64;
        let mut heard = Vec::new();
        for _ in 0..400 {
            heard.push(at.iter().map(|p| p * f as f64 * share).collect());
            let sum: f64 = at.iter().sum();
            at = at.iter().map(|p| (sum - p) * share).collect();
        }
        heard
    }

    #[test]
    fn counted_hops_lose_what_is_said() {
        for (n, f) in [(4, 1), (5, 2), (8, 1), (12, 3), (30, 5)] {
            let apart = |a: &[Vec<f64>], b: &[Vec<f64>]| {
                let pairs = a.iter().flatten().zip(b.iter().flatten());
                pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
            };
            let lost = apart(&walk(n, f, 0), &walk(n, f, 1));
            let bound = Rumor::new(n, f, 0.0).unwrap().delayed_delta(0.0);
            assert!(lost <= bound && lost > 0.999 * bound, "{n} {f}: {lost} {bound}");
        }
    }

    /// Poisson clocks, and messages that are under way for a while which their two ends decide: how often the first of two suspects who is heard is the source.
    #[test]
    fn tellings_under_way_lose_no_more_than_is_said() {
        struct Dice(u64);
        impl Dice {
            fn unit(&mut self) -> f64 {
                self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((z ^ (z >> 31)) >> 11) as f64 / 2f64.powi(53)
            }
        }
        let (n, f) = (9, 2);
        for (s, apart) in [(0.0, 0.0), (0.0, 0.02), (0.15, 0.0), (0.3, 0.02)] {
            let mut dice = Dice(7);
            let (runs, mut hits) = (40_000, 0i64);
            for _ in 0..runs {
                // Peers 0 and 1 are suspects, 0 is the source, and the last ones are curious. Events: the time, whose, and whether it is told then.
                let mut events = std::collections::BTreeMap::new();
                let mut active = vec![false; n];
                active[0] = true;
                let key = |time: f64| (time * 1e9) as u64;
                events.insert(key(-dice.unit().ln()), (0, false));
                while let Some((time, (peer, told))) = events.pop_first() {
                    let later = |span: f64| time + key(span) + 1;
                    if told {
                        if !active[peer] {
                            active[peer] = true;
                            events.insert(later(-dice.unit().ln()), (peer, false));
                        }
                        continue;
                    }
                    let to = (dice.unit() * n as f64) as usize;
                    if to != peer {
                        if to >= n - f && peer < 2 {
                            hits += if peer == 0 { 1 } else { -1 };
                            break;
                        }
                        let delay = apart * ((peer * 3 + to * 5) % 7) as f64 / 7.0;
                        events.insert(later(delay), (to, true));
                        active[peer] = dice.unit() < s;
                    }
                    if active[peer] {
                        events.insert(later(-dice.unit().ln()), (peer, false));
                    }
                }
            }
            let (share, bound) =
                (hits as f64 / f64::from(runs), Rumor::new(n, f, s).unwrap().delayed_delta(apart));
            assert!(share < bound + 5.0 / f64::from(runs).sqrt(), "{s} {apart}: {share} {bound}");
            assert!(share > 0.2 * bound, "{s} {apart}: {share} {bound}");
        }
    }

    #[test]
    fn what_is_not_proven_is_lost() {
        for (n, f, s, apart) in [
            (2, 0, 0.0, 0.0),
            (9, 8, 0.0, 0.0),
            (9, 1, 0.6, 0.0),
            (9, 1, 1.0, 0.0),
            (9, 1, 0.0, f64::NAN),
            (9, 1, 0.0, -1.0),
        ] {
            assert_eq!(Rumor::new(n, f, s).unwrap().delayed_delta(apart), 1.0, "{n} {f} {s} {apart}");
        }
        for (n, f, s) in [(12, 1, 0.0), (12, 3, 0.1), (100, 10, 0.3)] {
            let rumor = Rumor::new(n, f, s).unwrap();
            assert!(rumor.delayed_delta(0.0) > rumor.improved_delta(), "delays never help");
        }
    }
}
