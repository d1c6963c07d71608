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
const ROWS: u32 = 16;

/// Peers in a block of columns: their values take 128 kB.
const COLUMNS: u32 = 14;

/// The entries beside the diagonal.
#[derive(Debug, Clone)]
pub(crate) struct Tiles {
    nodes: usize,
    rows: u32,
    columns: u32,
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

impl Tiles {
    /// In blocks of the usual size.
    pub(crate) fn new(mixing: &Mixing) -> Self {
        Self::cut(mixing, ROWS, COLUMNS)
    }

    /// In blocks of `2^rows` by `2^columns` (16 bits each at most).
    fn cut(mixing: &Mixing, rows: u32, columns: u32) -> Self {
        let (nodes, (offsets, targets)) = (mixing.nodes(), mixing.graph().rows());
        let blocks = nodes.div_ceil(1 << columns);
        let mut weights = vec![0.0; targets.len()];
        let (mut starts, mut places) = (vec![0], vec![0u32; targets.len()]);
        for first in (0..nodes).step_by(1 << rows) {
            let peers = first..nodes.min(first + (1 << rows));
            let mut next =
                begin(&targets[offsets[peers.start]..offsets[peers.end]], columns, blocks, offsets[first]);
            starts.extend(&next[1..]);
            for peer in peers {
                for entry in offsets[peer]..offsets[peer + 1] {
                    let place = &mut next[(targets[entry] >> columns) as usize];
                    places[*place] = ((peer - first) as u32) << 16 | targets[entry] & ((1 << columns) - 1);
                    weights[*place] = mixing.weights()[entry];
                    *place += 1;
                }
            }
        }
        Self { nodes, rows, columns, starts, places, weights: Weights::new(weights) }
    }

    /// Peers in a block of rows.
    pub(crate) fn block(&self) -> usize {
        1 << self.rows
    }

    /// Adds the weighted neighbours' values to the sums of the peers from `first` on, which begins a block of rows.
    pub(crate) fn add(&self, first: usize, said: &[f64], sums: &mut [f64]) {
        let blocks = self.nodes.div_ceil(1 << self.columns);
        let tiles = (first >> self.rows) * blocks..;
        for (tile, values) in tiles.zip(said.chunks(1 << self.columns)) {
            self.add_tile(self.starts[tile]..self.starts[tile + 1], values, sums);
        }
    }

    fn add_tile(&self, entries: Range<usize>, values: &[f64], sums: &mut [f64]) {
        let places = &self.places[entries.clone()];
        match &self.weights {
            Weights::Each(weights) => add(places, weights[entries].iter().copied(), values, sums),
            Weights::Coded(table, codes) => {
                add(places, codes[entries].iter().map(|&code| table[usize::from(code)]), values, sums);
            }
        }
    }
}

/// Where the entries of each block of columns begin, and the end.
fn begin(targets: &[u32], columns: u32, blocks: usize, offset: usize) -> Vec<usize> {
    let mut next = vec![0; blocks + 1];
    next[0] = offset;
    targets.iter().for_each(|&target| next[(target >> columns) as usize + 1] += 1);
    (0..blocks).for_each(|block| next[block + 1] += next[block]);
    next
}

fn add(places: &[u32], weights: impl Iterator<Item = f64>, values: &[f64], sums: &mut [f64]) {
    for (&place, weight) in places.iter().zip(weights) {
        sums[(place >> 16) as usize] += weight * values[(place & 0xffff) as usize];
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

    #[test]
    fn tiles_give_the_same_bits_as_rows() {
        for (n, distinct) in [(50, 3), (777, 200), (777, 5000)] {
            let mixing = random(n, distinct);
            let said: Vec<f64> = (0..n).map(|u| ((u * 37) % 101) as f64 / 7.0).collect();
            let mut expected = vec![0.0; n];
            mixing.apply(&said, &mut expected);
            for (rows, columns) in [(2, 3), (5, 2), (8, 8), (16, 16)] {
                let tiles = Tiles::cut(&mixing, rows, columns);
                assert_eq!(matches!(tiles.weights, Weights::Coded(..)), distinct <= 256);
                let mut sums: Vec<f64> = said.iter().zip(mixing.diagonal()).map(|(x, own)| x * own).collect();
                for (block, sums) in sums.chunks_mut(tiles.block()).enumerate() {
                    tiles.add(block * tiles.block(), &said, sums);
                }
                assert_eq!(sums, expected, "{n} peers in blocks of 2^{rows} by 2^{columns}");
            }
        }
    }
}
