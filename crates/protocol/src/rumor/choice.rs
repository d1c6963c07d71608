//! One telling: whom to tell, and whether to go on. The whole of the randomness of the protocol is here.

/// Randomness, from whoever drives the peer. For a real run it must not be predictable.
pub trait Chance {
    /// 64 fresh random bits.
    fn bits(&mut self) -> u64;

    /// A number below `count`, all equally likely (0 if there is none).
    #[inline]
    fn below(&mut self, count: usize) -> usize {
        let count = count as u64;
        let mut wide = u128::from(self.bits()) * u128::from(count);
        // The rare low products that would make some numbers likelier are drawn again.
        if (wide as u64) < count {
            let unfair = count.wrapping_neg() % count.max(1);
            while (wide as u64) < unfair {
                wide = u128::from(self.bits()) * u128::from(count);
            }
        }
        (wide >> 64) as usize
    }

    /// A number from 0 to 1, neither included.
    fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (0.5_f64).powi(52)
    }
}

/// With which probability a peer stays active after telling: `s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Muting {
    s: f64,
    /// `s` in 64 bits; 1 is a case of its own.
    threshold: u64,
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
        Ok(Self { s, threshold: (s * 2.0_f64.powi(64)) as u64 })
    }

    /// The probability.
    pub fn s(self) -> f64 {
        self.s
    }

    #[inline]
    fn stays(self, chance: &mut (impl Chance + ?Sized)) -> bool {
        chance.bits() < self.threshold || self.s == 1.0
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
    fn pick(self, chance: &mut (impl Chance + ?Sized)) -> Option<usize> {
        match self {
            Self::Everyone(0) | Self::Only([]) => None,
            Self::Everyone(peers) => Some(chance.below(peers)),
            Self::Only(peers) => Some(peers[chance.below(peers.len())] as usize),
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

/// Decides on one telling; `None` without contacts.
#[inline]
pub fn tell(contacts: Contacts<'_>, muting: Muting, chance: &mut (impl Chance + ?Sized)) -> Option<Telling> {
    let to = contacts.pick(chance)?;
    Some(Telling { to, stays: muting.stays(chance) })
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
        // 2^64 = 1 (mod 3): of the products with 3, exactly the one of 0 is too many.
        assert_eq!(Fixed(vec![u64::MAX, 0]).below(3), 2);
        assert_eq!(Fixed(vec![1]).below(3), 0);
    }

    #[test]
    fn without_contacts_nobody_is_told() {
        let muting = Muting::new(0.5).unwrap();
        assert_eq!(tell(Contacts::Only(&[]), muting, &mut Weyl(1)), None);
        assert_eq!(tell(Contacts::Everyone(0), muting, &mut Weyl(1)), None);
        assert_eq!(tell(Contacts::Only(&[7]), muting, &mut Weyl(1)).unwrap().to, 7);
    }
}
