//! Butterfly averaging: after `log2 n` rounds every peer holds the exact mean of the noisy values.
//!
//! With `n = 2^m`, in round `b` peer `i` exchanges with `i xor 2^b`, and both take the half-sum. The messages a peer hears have
//! disjoint supports, so its loss towards the peer that first differs in bit `b` is `2^-b` of local DP's: half of all pairs
//! lose only `2/n`.
//!
//! Any other `n`: let `m = 2^k` be the largest power below. The `n - m` peers from `m` on are *guests*: before the butterfly
//! guest `m + i` hands its value to host `i`, who adds it to its own; afterwards the host hands the mean back. With all
//! values scaled by `m/n` on entry, the butterfly's mean of `m` values is the mean of all `n`. A guest loses to its host what
//! a butterfly's first partner loses, and hears nothing but the mean.
//!
//! Positions may be shuffled by a public permutation per run, so that over many runs everyone is everyone's neighbour
//! equally often.

use super::{Plan, Row};
use crate::Peer;

/// One peer's part.
#[derive(Debug, Clone, PartialEq)]
pub struct Butterfly {
    rows: Vec<Row>,
    conserves_mass: bool,
}

impl Butterfly {
    /// The part of `peer` where `positions[i]` is the peer at position `i` (a permutation of all peers).
    ///
    /// # Panics
    /// If `peer` is not among the positions.
    pub fn new(positions: &[Peer], peer: Peer) -> Self {
        let Some(place) = positions.iter().position(|&other| other == peer) else {
            panic!("peer {peer} has no position");
        };
        Self::at(positions, place)
    }

    /// The parts of all peers, in their order.
    ///
    /// # Panics
    /// If the positions are not a permutation of all peers.
    pub fn all(positions: &[Peer]) -> impl Iterator<Item = Self> {
        let mut places = vec![None; positions.len()];
        positions.iter().enumerate().for_each(|(place, &peer)| places[peer] = Some(place));
        places.into_iter().enumerate().map(|(peer, place)| match place {
            Some(place) => Self::at(positions, place),
            None => panic!("peer {peer} has no position"),
        })
    }

    fn at(positions: &[Peer], place: usize) -> Self {
        let n = positions.len();
        let core = if n == 0 { 0 } else { 1 << n.ilog2() };
        let guests = n - core;
        let mut rows = Vec::new();
        if guests > 0 {
            rows.push(entry(positions, place, core));
        }
        for bit in 0..core.ilog2() {
            let partner = place ^ (1 << bit);
            rows.push(if place < core { Row::mutual(0.5, [(positions[partner], 0.5)]) } else { Row::idle() });
        }
        if guests > 0 {
            rows.push(farewell(positions, place, core));
        }
        Self { rows, conserves_mass: guests == 0 }
    }

    /// The same for sums in place of means: nobody scales anything, and everybody ends with the sum. All weights are whole, as on a
    /// [ring](crate::ring).
    ///
    /// # Panics
    /// If `peer` is not among the positions.
    pub fn sums(positions: &[Peer], peer: Peer) -> Self {
        Self::new(positions, peer).summing()
    }

    /// This part with sums in place of means.
    pub fn summing(mut self) -> Self {
        for row in &mut self.rows {
            row.own = row.own.ceil();
            row.from.iter_mut().for_each(|(_, weight)| *weight = weight.ceil());
        }
        self.conserves_mass = false;
        self
    }

    /// The part of `peer` among `n` in their natural order.
    ///
    /// # Panics
    /// If `peer >= n`.
    pub fn natural(n: usize, peer: Peer) -> Self {
        Self::new(&(0..n).collect::<Vec<_>>(), peer)
    }
}

/// Guests speak to their hosts; everybody's value is scaled.
fn entry(positions: &[Peer], place: usize, core: usize) -> Row {
    let share = core as f64 / positions.len() as f64;
    if place >= core {
        return Row { own: 1.0, from: Vec::new(), to: vec![positions[place - core]] };
    }
    let guest = positions.get(core + place);
    Row { own: share, from: guest.map(|&guest| (guest, share)).into_iter().collect(), to: Vec::new() }
}

/// Hosts tell their guests the mean.
fn farewell(positions: &[Peer], place: usize, core: usize) -> Row {
    if place >= core {
        return Row { own: 0.0, from: vec![(positions[place - core], 1.0)], to: Vec::new() };
    }
    Row { own: 1.0, from: Vec::new(), to: positions.get(core + place).copied().into_iter().collect() }
}

impl Plan for Butterfly {
    fn rounds(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, round: usize) -> &Row {
        &self.rows[round]
    }

    fn conserves_mass(&self) -> bool {
        self.conserves_mass
    }
}
