//! A mixing matrix cut into tiles that fit a cache, for a product without cache misses.
//!
//! A row's neighbours are anywhere: with a million peers nearly every value read is a miss. So rows and columns are cut into
//! blocks, and the entries of each tile (block of rows by block of columns) are stored together, in the order of rows. A tile
//! reads one block of values and adds to one block of sums, both small.
//!
//! **The sums stay the same, bit for bit.** Neighbours are in increasing order in every row and the tiles of a block of rows are
//! worked through in increasing order of columns, so every sum gets the same terms in the same order as before.
//!
//! An entry takes as many bytes as in compressed rows: 4 for its place within the tile, 8 for its weight. Where there are at most
//! 256 different weights, as degrees make them, one byte says which.

use std::ops::Range;

use sottovoce_topology::mixing::Mixing;

/// Peers in a block of rows at most: their sums take half a megabyte.
const ROWS: usize = 1 << 16;

/// Peers in a block of columns: their values take 128 kB.
const COLUMNS: usize = 1 << 14;

/// The entries beside the diagonal, in tiles of `R` rows and `C` columns (powers of two, at most `2^16`).
///
/// The sizes are part of the type so that the innermost loop needs no check of an index.
#[derive(Debug, Clone)]
pub(crate) struct Tiles<const R: usize = ROWS, const C: usize = COLUMNS> {
    /// Where each tile begins: those of a block of rows one after the other.
    starts: Vec<usize>,
    /// Row within the tile in the upper half, column in the lower.
    places: Vec<u32>,
    weights: Weights,
}

#[derive(Debug, Clone)]
enum Weights {
    Each(Vec<f64>),
    Coded(Box<[f64; 256]>, Vec<u8>),
}

impl<const R: usize, const C: usize> Tiles<R, C> {
    /// Peers in a block of rows.
    pub(crate) const BLOCK: usize = R;

    pub(crate) fn new(mixing: &Mixing) -> Self {
        let (nodes, (offsets, targets)) = (mixing.nodes(), mixing.graph().rows());
        let blocks = nodes.div_ceil(C);
        let mut weights = vec![0.0; targets.len()];
        let (mut starts, mut places) = (vec![0], vec![0u32; targets.len()]);
        for first in (0..nodes).step_by(R) {
            let peers = first..nodes.min(first + R);
            let mut next =
                begin::<C>(&targets[offsets[peers.start]..offsets[peers.end]], blocks, offsets[first]);
            starts.extend(&next[1..]);
            for peer in peers {
                let row = offsets[peer]..offsets[peer + 1];
                for (&target, &weight) in targets[row.clone()].iter().zip(&mixing.weights()[row]) {
                    let place = &mut next[target as usize / C];
                    places[*place] = (((peer - first) << 16) | (target as usize % C)) as u32;
                    weights[*place] = weight;
                    *place += 1;
                }
            }
        }
        Self { starts, places, weights: Weights::new(weights) }
    }

    /// Room for the sums of a block of rows.
    pub(crate) fn sums() -> Box<[f64; R]> {
        zeros()
    }

    /// Adds the weighted neighbours' values to the sums of the peers from `first` on, which begins a block of rows.
    pub(crate) fn add(&self, first: usize, said: &[f64], sums: &mut [f64; R]) {
        let (whole, rest) = said.as_chunks::<C>();
        let mut last = zeros::<C>();
        last[..rest.len()].copy_from_slice(rest);
        let tiles = first / R * said.len().div_ceil(C)..;
        let rest = (!rest.is_empty()).then_some(&*last);
        for (tile, values) in tiles.zip(whole.iter().chain(rest)) {
            self.add_tile(self.starts[tile]..self.starts[tile + 1], values, sums);
        }
    }

    fn add_tile(&self, entries: Range<usize>, values: &[f64; C], sums: &mut [f64; R]) {
        let places = &self.places[entries.clone()];
        match &self.weights {
            Weights::Each(weights) => add(places, weights[entries].iter().copied(), values, sums),
            Weights::Coded(table, codes) => {
                add(places, codes[entries].iter().map(|&code| table[usize::from(code)]), values, sums);
            }
        }
    }
}

fn zeros<const N: usize>() -> Box<[f64; N]> {
    // By way of a slice, since a new boxed array would pass over the stack; it has this length.
    vec![0.0; N].into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([0.0; N]))
}

/// Where the entries of each block of columns begin, and the end.
fn begin<const C: usize>(targets: &[u32], blocks: usize, offset: usize) -> Vec<usize> {
    let mut next = vec![0; blocks + 1];
    next[0] = offset;
    targets.iter().for_each(|&target| next[target as usize / C + 1] += 1);
    (0..blocks).for_each(|block| next[block + 1] += next[block]);
    next
}

fn add<const R: usize, const C: usize>(
    places: &[u32],
    weights: impl Iterator<Item = f64>,
    values: &[f64; C],
    sums: &mut [f64; R],
) {
    for (&place, weight) in places.iter().zip(weights) {
        // Both are what they were without the remainder, which the compiler does not know.
        sums[(place >> 16) as usize % R] += weight * values[place as usize % C];
    }
}

impl Weights {
    fn new(weights: Vec<f64>) -> Self {
        let mut table: Vec<u64> = Vec::new();
        for weight in &weights {
            if let Err(place) = table.binary_search(&weight.to_bits()) {
                if table.len() == 256 {
                    return Self::Each(weights);
                }
                table.insert(place, weight.to_bits());
            }
        }
        // Every weight is in the table: the error cannot occur, and would point at a neighbour of the right place.
        let code = |weight: &f64| table.binary_search(&weight.to_bits()).unwrap_or_else(|place| place) as u8;
        let codes = weights.iter().map(code).collect();
        let mut all = Box::new([0.0; 256]);
        all.iter_mut().zip(&table).for_each(|(weight, bits)| *weight = f64::from_bits(*bits));
        Self::Coded(all, codes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    fn random(n: usize, distinct: u64) -> Mixing {
        let graph = generate(&Family::ErdosRenyi { n, p: 8.0 / n as f64 }, 1, false).unwrap();
        let similarity = |(u, v): (usize, usize)| ((u * 31 + v * 17) as u64 % distinct + 1) as f64;
        let similarities: Vec<f64> = graph.edges().map(similarity).collect();
        Mixing::from_similarities(&graph, &similarities).unwrap()
    }

    fn same<const R: usize, const C: usize>(mixing: &Mixing, distinct: u64, said: &[f64], expected: &[f64]) {
        let tiles = Tiles::<R, C>::new(mixing);
        assert_eq!(matches!(tiles.weights, Weights::Coded(..)), distinct <= 256);
        let own: Vec<f64> = said.iter().zip(mixing.diagonal()).map(|(x, own)| x * own).collect();
        for (block, (own, expected)) in own.chunks(R).zip(expected.chunks(R)).enumerate() {
            let mut sums = Tiles::<R, C>::sums();
            sums[..own.len()].copy_from_slice(own);
            tiles.add(block * R, said, &mut sums);
            assert_eq!(&sums[..own.len()], expected, "{} peers in blocks of {R} by {C}", said.len());
        }
    }

    #[test]
    fn tiles_give_the_same_bits_as_rows() {
        for (n, distinct) in [(50, 3), (777, 200), (777, 5000)] {
            let mixing = random(n, distinct);
            let said: Vec<f64> = (0..n).map(|u| ((u * 37) % 101) as f64 / 7.0).collect();
            let mut expected = vec![0.0; n];
            mixing.apply(&said, &mut expected);
            let (mixing, said, expected) = (&mixing, &said, &expected);
            same::<4, 8>(mixing, distinct, said, expected);
            same::<32, 4>(mixing, distinct, said, expected);
            same::<256, 256>(mixing, distinct, said, expected);
            same::<ROWS, COLUMNS>(mixing, distinct, said, expected);
            same::<65536, 65536>(mixing, distinct, said, expected);
        }
    }
}
