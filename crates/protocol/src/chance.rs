//! Randomness for choices, from whoever drives a peer.

/// Randomness, from whoever drives the peer. For a real run it must not be predictable.
pub trait Chance {
    /// 64 fresh random bits.
    fn bits(&mut self) -> u64;

    /// A number below `count`, all equally likely (0 if there is none). `count` has 32 bits at most, and is cut to them.
    #[inline]
    fn below(&mut self, count: usize) -> usize {
        let bits = (self.bits() >> 32) as u32;
        self.below_by(bits, count as u32)
    }

    /// The same, by 32 bits that were drawn already.
    #[inline]
    fn below_by(&mut self, bits: u32, count: u32) -> usize {
        let mut wide = u64::from(bits) * u64::from(count);
        // The rare low products that would make some numbers likelier are drawn again.
        if (wide as u32) < count {
            let unfair = count.wrapping_neg() % count.max(1);
            while (wide as u32) < unfair {
                wide = (self.bits() >> 32) * u64::from(count);
            }
        }
        (wide >> 32) as usize
    }

    /// A name that nobody else will think of.
    fn name(&mut self) -> u64 {
        self.bits()
    }

    /// A number from 0 to 1, neither included.
    fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (0.5_f64).powi(52)
    }
}
