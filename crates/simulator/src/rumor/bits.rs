//! Sets of peers as bits, changed without branches.

/// A set of peers.
#[derive(Debug, Clone)]
pub(super) struct Bits(pub(super) Vec<u64>);

impl Bits {
    pub(super) fn new(peers: usize) -> Self {
        Self(vec![0; peers.div_ceil(64)])
    }

    /// Adds a peer, if it `is` so; returns whether it was added and is new.
    #[inline]
    pub(super) fn add(&mut self, peer: usize, is: bool) -> bool {
        let (word, bit) = (&mut self.0[peer / 64], u64::from(is) << (peer % 64));
        let new = bit & !*word != 0;
        *word |= bit;
        new
    }

    #[inline]
    pub(super) fn set(&mut self, peer: usize, is: bool) {
        let word = &mut self.0[peer / 64];
        *word = *word & !(1 << (peer % 64)) | u64::from(is) << (peer % 64);
    }

    #[inline]
    pub(super) fn has(&self, peer: usize) -> bool {
        self.0[peer / 64] >> (peer % 64) & 1 == 1
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Adds another set; returns how many are new.
    pub(super) fn unite(&mut self, other: &Self) -> usize {
        let mut new = 0;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new += (theirs & !*mine).count_ones() as usize;
            *mine |= theirs;
        }
        new
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// In increasing order.
    pub(super) fn members(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let next = |left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
            std::iter::successors(Some(word).filter(|word| *word != 0), next)
                .map(move |left| (i * 64) as u32 + left.trailing_zeros())
        })
    }
}
