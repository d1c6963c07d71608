//! Mutants: bits turned, bytes changed, cut out, doubled, taken from another.

/// A small generator of dice, the same everywhere.
pub(crate) struct Dice(u64);

impl Dice {
    /// From a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % if most > 0 { most } else { 1 }
    }
}

/// A mutant of one of these.
pub(crate) fn mutant(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(4) {
        let place = dice.below(bytes.len());
        match dice.below(8) {
            _ if bytes.is_empty() => bytes.push(dice.below(256) as u8),
            0 | 1 => bytes[place] ^= 1 << dice.below(8),
            2 => bytes[place] = [0, 1, 0x7f, 0x80, 0xff][dice.below(5)],
            3 => bytes[place] = dice.below(256) as u8,
            4 => bytes.truncate(place),
            5 => bytes.insert(place, dice.below(256) as u8),
            6 => {
                let end = place + dice.below(bytes.len() - place) + 1;
                let part = bytes[place..end].to_vec();
                bytes.splice(place..place, part);
            }
            _ => {
                let other = &seeds[dice.below(seeds.len())];
                let from = dice.below(other.len());
                bytes.splice(place.., other[from.min(other.len())..].iter().copied()); // whole numbers
            }
        }
    }
    bytes
}
