//! Driver 2: synchronous gossip of very many peers on a perfect network, without messages.
//!
//! What the [event driver](crate::driver) computes message by message is here one pass over the matrix in each round. Values are *the same bit for
//! bit*: noises are the same functions of `(seed, peer, draw)`, and every sum is taken as a peer takes it, its own
//! term first, then its neighbours' in increasing order. A test holds one driver against the other.
//!
//! Rows are dealt out to threads in contiguous parts with about equally many edges. A row is always summed by one thread, so
//! that the number of threads changes nothing.
//!
//! ```text
//! value     x^t                    read
//! message   x^t + relay noise      written, then read in place of the value; only if there is relay noise
//! other     x^(t-1) ──► x^(t+1)    read (if accelerated) and written, entry by entry: then it is exchanged with `value`
//! ```

use std::ops::Range;

use sottovoce_fault::stop;
use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::check;
use sottovoce_topology::mixing::Mixing;

use crate::tiles::Tiles;
use crate::{Error, Result, require};

/// Peers whose values no longer fit a cache: from here on the matrix is cut into tiles.
const MANY: usize = 1 << 17;

/// Peers in a block of rows of tiles.
const TILE: usize = <Tiles>::BLOCK;

/// Numbers to move before another thread is worth its start.
const WORTHWHILE: usize = 1 << 17;

/// All peers of a gossip run.
///
/// ```
/// use sottovoce_protocol::averaging::Noising;
/// use sottovoce_simulator::bulk::Bulk;
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// let mixing = Mixing::new(&generate(&Family::Complete { n: 4 }, 0, true)?, Weights::MetropolisPlusOne);
/// let noising = Noising { sensitivity: 1.0, local: 1e-9, relay: 0.0 };
/// let mut bulk = Bulk::new(&mixing, vec![1.0, 2.0, 3.0, 6.0], noising, None, 7, 1)?;
/// bulk.step();
/// assert!(bulk.values().iter().all(|x| (x - 3.0).abs() < 1e-8));
/// # Ok::<(), sottovoce_protocol::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bulk<'a> {
    mixing: &'a Mixing,
    tiles: Option<Tiles>,
    width: usize,
    gamma: Option<f64>,
    relay: Option<ContinuousLaw>,
    seed: u64,
    /// Number of every peer's first draw.
    first: u64,
    /// Each thread's peers.
    parts: Vec<Range<usize>>,
    round: usize,
    value: Vec<f64>,
    other: Vec<f64>,
    message: Vec<f64>,
}

impl<'a> Bulk<'a> {
    /// Peers whose values are stored one after the other, equally many numbers each; adds the first noise.
    ///
    /// `gamma` is the Chebyshev weight of accelerated gossip ([`Scheme::gamma`](sottovoce_protocol::public::Scheme::gamma) computes it).
    pub fn new(
        mixing: &'a Mixing,
        values: Vec<f64>,
        noising: Noising,
        gamma: Option<f64>,
        seed: u64,
        threads: usize,
    ) -> Result<Self> {
        check::noising(noising)?;
        Self::from_draw(0, mixing, values, noising, gamma, seed, threads)
    }

    /// The same from another first draw of every peer, and with no noise at all where its deviation is 0.
    pub(crate) fn from_draw(
        first: u64,
        mixing: &'a Mixing,
        values: Vec<f64>,
        noising: Noising,
        gamma: Option<f64>,
        seed: u64,
        threads: usize,
    ) -> Result<Self> {
        let nodes = mixing.nodes();
        let remedy = format!("give equally many to each of the {nodes} peers, at least one");
        let value = format_args!("{} numbers", values.len());
        require(!values.is_empty() && values.len().is_multiple_of(nodes), "values", value, remedy)?;
        if let Some(i) = values.iter().position(|x| !x.is_finite()) {
            let value = format!("{} at place {i}", values[i]);
            return Err(Error::parameter("values", value, "every coordinate must be a finite number"));
        }
        let width = values.len() / nodes;
        let relay = if noising.relay > 0.0 { Some(law("tau", noising.relay)?) } else { None };
        // Wider values fill whole cache lines, which is as good as a tile.
        let tiles = (width == 1 && nodes >= MANY).then(|| Tiles::new(mixing));
        let parts = parts(mixing, width, threads.max(1), if tiles.is_some() { TILE } else { 1 });
        let other = vec![0.0; values.len()];
        let message = if relay.is_some() { other.clone() } else { Vec::new() };
        let mut bulk = Self {
            mixing,
            tiles,
            width,
            gamma,
            relay,
            seed,
            first,
            parts,
            round: 0,
            value: values,
            other,
            message,
        };
        if noising.local > 0.0 {
            bulk.enter(law("sigma", noising.local)?);
        }
        Ok(bulk)
    }

    /// Hands the values out.
    pub fn into_values(self) -> Vec<f64> {
        self.value
    }

    /// The values after the rounds so far.
    pub fn values(&self) -> &[f64] {
        &self.value
    }

    /// Rounds so far.
    pub fn round(&self) -> usize {
        self.round
    }

    /// Runs so many rounds.
    pub fn run(&mut self, rounds: usize) {
        (0..rounds).for_each(|_| self.step());
    }

    /// One round of everyone.
    pub fn step(&mut self) {
        stop::look();
        self.speak();
        let said: &[f64] = if self.relay.is_some() { &self.message } else { &self.value };
        let rows = Rows::new(self.mixing, self.tiles.as_ref(), said, self.width);
        let gamma = self.gamma.filter(|_| self.round > 0);
        in_parallel(&self.parts, self.width, &mut self.other, |part, out| match gamma {
            None => rows.mix(part, out, |mixed, _| mixed),
            Some(gamma) => rows.mix(part, out, |mixed, before| mixed * gamma + (1.0 - gamma) * before),
        });
        std::mem::swap(&mut self.value, &mut self.other);
        self.round += 1;
    }

    /// The first draw of every peer.
    fn enter(&mut self, law: ContinuousLaw) {
        let (seed, width, first) = (self.seed, self.width, self.first);
        in_parallel(&self.parts, width, &mut self.value, |part, values| {
            add(law, seed, part, first, values, width);
        });
    }

    /// `t + 1` draws later: on every peer's message of round `t`.
    fn speak(&mut self) {
        let Some(law) = self.relay else { return };
        let (seed, width, values) = (self.seed, self.width, &self.value);
        let draw = self.first + self.round as u64 + 1;
        in_parallel(&self.parts, width, &mut self.message, |part, messages| {
            messages.copy_from_slice(&values[part.start * width..part.end * width]);
            add(law, seed, part, draw, messages, width);
        });
    }
}

/// One draw of every peer, added to its numbers.
fn add(law: ContinuousLaw, seed: u64, peers: Range<usize>, draw: u64, values: &mut [f64], width: usize) {
    if width == 1 {
        return SimulatedNoise::add_to_each(law, seed, peers.start as u64, draw, values);
    }
    for (peer, value) in peers.zip(values.chunks_exact_mut(width)) {
        SimulatedNoise::new(seed, peer as u64, draw).add(law, value);
    }
}

fn law(field: &'static str, scale: f64) -> Result<ContinuousLaw> {
    ContinuousLaw::gaussian(scale)
        .map_err(|_| Error::parameter(field, scale, "give a finite standard deviation"))
}

/// The matrix, and what everyone says.
#[derive(Clone, Copy)]
struct Rows<'a> {
    tiles: Option<&'a Tiles>,
    offsets: &'a [usize],
    targets: &'a [u32],
    weights: &'a [f64],
    diagonal: &'a [f64],
    said: &'a [f64],
    width: usize,
}

impl<'a> Rows<'a> {
    fn new(mixing: &'a Mixing, tiles: Option<&'a Tiles>, said: &'a [f64], width: usize) -> Self {
        let (offsets, targets) = mixing.graph().rows();
        Self { tiles, offsets, targets, weights: mixing.weights(), diagonal: mixing.diagonal(), said, width }
    }

    /// Writes `last(mixed value, what was there)` over the values of some peers.
    fn mix(&self, part: Range<usize>, out: &mut [f64], last: impl Fn(f64, f64) -> f64) {
        match (self.tiles, self.width) {
            (Some(tiles), _) => self.mix_tiles(tiles, part, out, last),
            (None, 1) => self.mix_numbers(part, out, last),
            _ => self.mix_vectors(part, out, last),
        }
    }

    fn mix_tiles(&self, tiles: &Tiles, part: Range<usize>, out: &mut [f64], last: impl Fn(f64, f64) -> f64) {
        let mut sums = <Tiles>::sums();
        for (first, out) in part.step_by(TILE).zip(out.chunks_mut(TILE)) {
            let own = self.said[first..].iter().zip(&self.diagonal[first..]);
            sums.iter_mut().zip(own).for_each(|(sum, (x, own))| *sum = x * own);
            tiles.add(first, self.said, &mut sums);
            out.iter_mut().zip(&*sums).for_each(|(out, sum)| *out = last(*sum, *out));
        }
    }

    fn mix_numbers(&self, part: Range<usize>, out: &mut [f64], last: impl Fn(f64, f64) -> f64) {
        let said = self.said;
        for (peer, out) in part.zip(out) {
            let (from, to) = (self.offsets[peer], self.offsets[peer + 1]);
            let mut sum = said[peer] * self.diagonal[peer];
            for (&target, &weight) in self.targets[from..to].iter().zip(&self.weights[from..to]) {
                sum += weight * said[target as usize];
            }
            *out = last(sum, *out);
        }
    }

    fn mix_vectors(&self, part: Range<usize>, out: &mut [f64], last: impl Fn(f64, f64) -> f64) {
        let vector = |peer: usize| &self.said[peer * self.width..][..self.width];
        let mut sum = vec![0.0; self.width];
        for (peer, out) in part.zip(out.chunks_exact_mut(self.width)) {
            let own = self.diagonal[peer];
            sum.iter_mut().zip(vector(peer)).for_each(|(sum, x)| *sum = x * own);
            let (from, to) = (self.offsets[peer], self.offsets[peer + 1]);
            for (&target, &weight) in self.targets[from..to].iter().zip(&self.weights[from..to]) {
                sum.iter_mut().zip(vector(target as usize)).for_each(|(sum, x)| *sum += weight * x);
            }
            out.iter_mut().zip(&sum).for_each(|(out, sum)| *out = last(*sum, *out));
        }
    }
}

/// Peers in contiguous parts of about equal work, one for each thread that is worth its start; none splits a block.
fn parts(mixing: &Mixing, width: usize, threads: usize, block: usize) -> Vec<Range<usize>> {
    let (offsets, nodes) = (mixing.graph().rows().0, mixing.nodes());
    let work = |peer: usize| (offsets[peer] + peer) * width;
    let count = threads.min(1 + work(nodes) / WORTHWHILE);
    let mut starts: Vec<usize> = (0..nodes).step_by(block).collect();
    starts.push(nodes);
    let bound = |i: usize| starts[starts.partition_point(|&peer| work(peer) < work(nodes) * i / count)];
    let bounds: Vec<usize> = (0..=count).map(bound).collect();
    bounds.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Hands each part its slice of `out`, each to a thread of the pool.
pub(crate) fn in_parallel(
    parts: &[Range<usize>],
    width: usize,
    mut out: &mut [f64],
    work: impl Fn(Range<usize>, &mut [f64]) + Sync,
) {
    if let [all] = parts {
        return work(all.clone(), out);
    }
    rayon::scope(|scope| {
        for part in parts {
            let (mine, rest) = std::mem::take(&mut out).split_at_mut(part.len() * width);
            out = rest;
            let (work, here) = (&work, stop::here());
            scope.spawn(move |_| here.go_on(|| work(part.clone(), mine)));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    #[test]
    fn parts_cover_everyone_once() {
        for (n, degree, width) in [(10, 4, 1), (5000, 20, 1), (5000, 20, 7), (9, 2, 100_000)] {
            let graph = generate(&Family::RandomRegular { n, degree }, 1, true).unwrap();
            let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
            for threads in 1..20 {
                for block in [2, 4096] {
                    let parts = parts(&mixing, width, threads, block);
                    assert!(parts.iter().all(|part| part.start % block == 0 || part.is_empty()));
                }
                let parts = parts(&mixing, width, threads, 1);
                assert!(parts.len() <= threads);
                assert_eq!(parts.into_iter().flatten().collect::<Vec<_>>(), (0..n).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let graph = generate(&Family::Ring { n: 4 }, 1, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let good = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
        for (values, noising, expected) in [
            (vec![0.0; 5], good, "`values` is 5 numbers"),
            (vec![], good, "`values` is 0 numbers"),
            (vec![0.0, 0.0, f64::NAN, 0.0], good, "`values` is NaN at place 2"),
            (vec![0.0; 4], Noising { relay: -1.0, ..good }, "`tau` is -1"),
        ] {
            let error = Bulk::new(&mixing, values, noising, None, 1, 1).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
