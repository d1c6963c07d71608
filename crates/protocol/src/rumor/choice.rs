//! One telling: whom to tell, and whether to go on. The whole of the randomness of the protocol is here.

use crate::Chance;

/// With which probability a peer stays active after telling: `s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Muting {
    s: f64,
    /// `s` in units of `2^-32`, and what that leaves, in units of `2^-53` of a unit.
    threshold: u64,
    rest: u64,
}

/// `s` is no probability.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("muting {0}: give a probability from 0 (a walk, the most private) to 1 (push, not private at all)")]
pub struct BadMuting(pub f64);

impl Muting {
    /// Checks that `s` is a probability.
    pub fn new(s: f64) -> Result<Self, BadMuting> {
        if !(0.0..=1.0).contains(&s) {
            return Err(BadMuting(s));
        }
        let scaled = s * 2.0_f64.powi(32);
        let rest = (scaled.fract() * 2.0_f64.powi(53)) as u64;
        Ok(Self { s, threshold: scaled as u64, rest })
    }

    /// The probability.
    pub fn s(self) -> f64 {
        self.s
    }

    /// By 32 bits that were drawn already; once in four thousand million times they do not decide, and more are drawn.
    #[inline]
    fn stays(self, bits: u32, chance: &mut (impl Chance + ?Sized)) -> bool {
        if u64::from(bits) == self.threshold {
            return chance.bits() >> 11 < self.rest;
        }
        u64::from(bits) < self.threshold
    }
}

/// Whom a peer can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contacts<'a> {
    /// All of so many peers, itself included: the model of the theorems.
    Everyone(usize),
    /// These.
    Only(&'a [u32]),
}

impl Contacts<'_> {
    #[inline]
    fn pick(self, bits: u32, chance: &mut (impl Chance + ?Sized)) -> Option<usize> {
        match self {
            Self::Everyone(0) | Self::Only([]) => None,
            Self::Everyone(peers) => Some(chance.below_by(bits, peers as u32)),
            Self::Only(peers) => Some(peers[chance.below_by(bits, peers.len() as u32)] as usize),
        }
    }
}

/// What a peer does when it is its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    /// Whom it tells.
    pub to: usize,
    /// Whether it stays active. One who told itself does in any case.
    pub stays: bool,
}

/// Decides on one telling, by 32 bits for each of its two choices; `None` without contacts.
#[inline]
pub fn tell(contacts: Contacts<'_>, muting: Muting, chance: &mut (impl Chance + ?Sized)) -> Option<Telling> {
    let bits = chance.bits();
    let to = contacts.pick((bits >> 32) as u32, chance)?;
    Some(Telling { to, stays: muting.stays(bits as u32, chance) })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A simple generator; enough for tests.
    pub(crate) struct Weyl(pub(crate) u64);

    impl Chance for Weyl {
        fn bits(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }
    }

    /// No budget to keep, and nothing to add.
    impl<V> crate::Means<V> for Weyl {
        fn admit(&mut self, _: &crate::Release) -> Result<(), crate::Overspent> {
            Ok(())
        }

        fn cover(&mut self, _: u64, _: f64, _: &mut V) -> Result<(), crate::Uncovered> {
            Ok(())
        }
    }

    #[test]
    fn contacts_are_equally_likely_and_muting_has_its_probability() {
        let mut chance = Weyl(3);
        let (muting, runs) = (Muting::new(0.3).unwrap(), 60_000);
        let (mut counts, mut stayed) = ([0u32; 6], 0);
        for _ in 0..runs {
            let telling = tell(Contacts::Everyone(6), muting, &mut chance).unwrap();
            counts[telling.to] += 1;
            stayed += u32::from(telling.stays);
        }
        // Five standard deviations: 91 of 1/6, 112 of 0.3.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 460), "{counts:?}");
        assert!(stayed.abs_diff(18_000) < 562, "{stayed}");
    }

    #[test]
    fn at_the_ends_muting_is_certain() {
        let mut chance = Weyl(1);
        let mut always = |s: f64, stays: bool| {
            let muting = Muting::new(s).unwrap();
            (0..1000).all(|_| tell(Contacts::Everyone(2), muting, &mut chance).unwrap().stays == stays)
        };
        assert!(always(0.0, false) && always(1.0, true));
        for s in [-0.1, 1.1, f64::NAN] {
            assert!(Muting::new(s).is_err(), "{s}");
        }
    }

    /// Draws that a multiplication alone would favour are drawn again.
    #[test]
    fn no_number_is_favoured() {
        struct Fixed(Vec<u64>);
        impl Chance for Fixed {
            fn bits(&mut self) -> u64 {
                self.0.pop().unwrap()
            }
        }
        // 2^32 = 1 (mod 3): of the products with 3, exactly the one of 0 is too many.
        assert_eq!(Fixed(vec![u64::MAX, 0]).below(3), 2);
        assert_eq!(Fixed(vec![1 << 32]).below(3), 0);
        // A muting parameter between two multiples of 2^-32 is decided by further bits.
        let muting = Muting::new(0.75 * 0.5_f64.powi(32)).unwrap();
        assert!(muting.stays(0, &mut Fixed(vec![0])) && !muting.stays(0, &mut Fixed(vec![u64::MAX])));
        assert!(!muting.stays(1, &mut Fixed(vec![])));
    }

    #[test]
    fn without_contacts_nobody_is_told() {
        let muting = Muting::new(0.5).unwrap();
        assert_eq!(tell(Contacts::Only(&[]), muting, &mut Weyl(1)), None);
        assert_eq!(tell(Contacts::Everyone(0), muting, &mut Weyl(1)), None);
        assert_eq!(tell(Contacts::Only(&[7]), muting, &mut Weyl(1)).unwrap().to, 7);
    }
}
