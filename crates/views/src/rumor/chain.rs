//! Who is active, as far as it matters to someone who compares two suspects.
//!
//! Peer 0 began, peer 1 is the other suspect. While 0 is active and 1 is not, the state is how many of the other honest peers (`k`) and
//! of the curious (`c`) are active. Its value `u(k, c)` is the probability that 0 is seen before 1, less that of the contrary.
//! Where both or none are active the value is 0, by symmetry; where 1 is active and 0 is not, it is `-u`. So
//!
//! ```text
//! u(k, c) = f / (n (k + c + 1))  +  Σ (probability of one step to (k', c')) u(k', c')
//! ```
//!
//! with probabilities that are not negative: 0 telling itself keeps `u`, 0 telling 1 and muting turns it into `-u`, and together that
//! is `s u`. Hence `I - P` has an inverse without negative entries, and whatever satisfies the equations with `>=` is above `u`.
//!
//! **Memory.** Curious peers also know whom *they* told. When one of them tells a suspect, the two cases may look different from then on, and are
//! counted as if they did: a reward of `2 c / n` more, and no further step. The value then bounds what can be told apart from above.
//!
//! **Totals.** Nearly everything depends on `a = k + c` alone; only when 0 itself tells an honest peer does `k` matter. With the
//! largest `k` of each total the equations give a value above `u` (as long as it falls with `a`), with the smallest one below.

use super::Rumor;

/// What the curious use of all they know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// Who told them.
    Heard,
    /// That, and whom they told themselves.
    Told,
}

/// The chain of one rumour with at least two honest peers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    memory: Memory,
    /// Honest peers who are neither of the suspects.
    pub(super) others: usize,
    pub(super) curious: usize,
    n: f64,
    s: f64,
}

/// Which split of a total is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// As many honest peers as can be.
    Honest,
    /// As many curious peers as can be.
    Curious,
}

impl Chain {
    /// `None` where there is nobody to hide among.
    pub(super) fn new(rumor: &Rumor, memory: Memory) -> Option<Self> {
        let others = rumor.honest().checked_sub(2)?;
        Some(Self { memory, others, curious: rumor.curious(), n: rumor.peers() as f64, s: rumor.muting() })
    }

    /// The probability that the next telling gives the source away: it is by 0 and overheard, or of a suspect by somebody who remembers.
    pub(super) fn reward(&self, k: usize, c: usize) -> f64 {
        let told = if self.memory == Memory::Told { 2 * c } else { 0 };
        (self.curious + told) as f64 / self.n / (k + c + 1) as f64
    }

    /// Calls `to(k', c', probability)` for what one telling may lead to.
    pub(super) fn each(&self, k: usize, c: usize, mut to: impl FnMut(usize, usize, f64)) {
        // That one given active peer tells one given peer.
        let one = 1.0 / (self.n * (k + c + 1) as f64);
        let (stays, mutes) = (one * self.s, one * (1.0 - self.s));
        to(k, c, stays * (k + 1) as f64);
        if k < self.others {
            to(k + 1, c, stays * (self.others - k) as f64);
        }
        let remembered = usize::from(self.memory == Memory::Heard);
        self.told(k, c, stays * k as f64, 1, &mut to);
        self.told(k, c, stays * c as f64, remembered, &mut to);
        if k > 0 {
            self.told(k - 1, c, mutes * k as f64, 1, &mut to);
        }
        if c > 0 {
            self.told(k, c - 1, mutes * c as f64, remembered, &mut to);
        }
    }

    /// Somebody else tells: 0 (if that counts for nothing) or an active peer, which changes nothing, or one more peer (or 1, and the two are
    /// even).
    fn told(&self, k: usize, c: usize, weight: f64, zero: usize, to: &mut impl FnMut(usize, usize, f64)) {
        to(k, c, weight * (k + c + zero) as f64);
        if k < self.others {
            to(k + 1, c, weight * (self.others - k) as f64);
        }
        if c < self.curious {
            to(k, c + 1, weight * (self.curious - c) as f64);
        }
    }

    /// The largest total.
    pub(super) fn most(&self) -> usize {
        self.others + self.curious
    }

    /// Probabilities that one telling takes the total `a` down, leaves it, or takes it up, where nobody remembers whom they told.
    pub(super) fn total(&self, a: usize, split: Split) -> [f64; 3] {
        let k = match split {
            Split::Honest => a.min(self.others),
            Split::Curious => a.saturating_sub(self.curious),
        };
        let one = 1.0 / (self.n * (a + 1) as f64);
        let (stays, mutes) = (one * self.s, one * (1.0 - self.s));
        let (active, rest) = (a as f64, (self.most() - a) as f64);
        [
            mutes * active * active,
            stays * (k + 1) as f64 + stays * active * (active + 1.0) + mutes * active * (rest + 1.0),
            stays * (self.others - k) as f64 + stays * active * rest,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Totals forget who is who, and nothing else.
    #[test]
    fn totals_are_sums_over_states() {
        for (n, f, s) in [(9, 3, 0.4), (7, 5, 0.9), (6, 1, 1.0), (6, 0, 0.3), (8, 2, 0.0)] {
            let chain = Chain::new(&Rumor::new(n, f, s).unwrap(), Memory::Heard).unwrap();
            for a in 0..=chain.most() {
                for (split, k) in
                    [(Split::Honest, a.min(chain.others)), (Split::Curious, a.saturating_sub(f))]
                {
                    let mut sums = [0.0; 3];
                    chain.each(k, a - k, |k, c, p| sums[k + c + 1 - a] += p);
                    let total = chain.total(a, split);
                    assert!(
                        (0..3).all(|i| (sums[i] - total[i]).abs() < 1e-15),
                        "{n} {a}: {sums:?} {total:?}"
                    );
                    // What is missing: 0 is overheard, somebody tells 1, or 0 mutes without telling itself.
                    let left = sums.iter().sum::<f64>() + chain.reward(k, a - k);
                    assert!(left < 1.0 + 1e-15, "{left}");
                }
            }
        }
    }
}
