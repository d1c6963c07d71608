//! Gossip to exact consensus, in `log2 n` rounds among partners of its own, in fresh public positions after every gradient step.
//!
//! Everyone knows the state after every iteration, so that losses of iterations add (proven).

use rand::seq::SliceRandom;
use sottovoce_privacy::Standing;
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::door::Learning;

use super::{Entry, Method, Options, Way, messages};
use crate::learning::calibrate::Currency;
use crate::learning::engine::{Descent, Engine};
use crate::learning::losses::{Past, Question, Revealed, Summary};
use crate::learning::path::Pairs;
use crate::learning::{Settings, Task};
use crate::{Result, require};

/// Positions of all peers in all iterations, at most: 400 MB of them.
const MOST_POSITIONS: usize = 50_000_000;
/// Losses that are added up for all pairs, at most: minutes.
const MOST_PAIRS: usize = 100_000_000_000;

pub(super) const ENTRY: Entry = Entry {
    name: "butterfly",
    about: "the same to exact consensus, whatever the graph",
    needs_graph: false,
    varying: false,
    options: &["final-model"],
    planned: Options::NONE,
    make: |_, _, _| Ok(Method::Butterfly),
};

/// It has no parameters.
pub(super) struct Butterfly;

/// The public positions of a butterfly's peers in an iteration: a fresh permutation each time, so that nobody is always next to the same.
pub fn positions(peers: usize, seed: u64, iteration: usize) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..peers).collect();
    positions.shuffle(&mut Seed(seed).stream(Stream::Positions, 0, iteration as u64));
    positions
}

/// A scheme for each iteration.
pub(super) fn schemes(peers: usize, settings: &Settings) -> Vec<Scheme> {
    let draw = |iteration| {
        sottovoce_fault::stop::look();
        Scheme::Butterfly { positions: positions(peers, settings.seed, iteration) }
    };
    (0..settings.iterations).map(draw).collect()
}

fn natural(peers: usize) -> Scheme {
    Scheme::Butterfly { positions: (0..peers).collect() }
}

/// Refuses iterations whose positions would not fit in memory, before any are drawn.
fn check(peers: usize, iterations: usize) -> Result<()> {
    let most = MOST_POSITIONS / peers.max(1); // whole numbers
    let remedy = format!(
        "{peers} peers have new positions in each, {MOST_POSITIONS} in all are feasible; give a number from 1 to {most}"
    );
    require((1..=most).contains(&iterations), "iterations", iterations, remedy)
}

fn learning(run: &Question) -> Result<Learning<'static>> {
    check(run.peers, run.iterations)?;
    let drawn = |iteration| positions(run.peers, run.seed, iteration);
    Ok(Learning::Butterfly { positions: (0..run.iterations).map(drawn).collect() })
}

/// Losses of all pairs.
fn pairs(run: &Question) -> Result<Pairs> {
    // Every pair, in every iteration.
    let most = MOST_PAIRS / run.peers.saturating_mul(run.peers).max(1); // whole numbers
    let remedy = format!("losses of all pairs of {} peers are added up; give at most {most}", run.peers);
    require(run.iterations <= most, "iterations", run.iterations, remedy)?;
    let losses = learning(run)?.all_pairs()?;
    Ok(Pairs::of(run.peers, |v, u| losses[v][u]))
}

impl Way for Butterfly {
    fn name(&self) -> &'static str {
        "butterfly"
    }

    fn start<'a>(
        &self,
        task: &'a Task,
        _mixings: &'a [Mixing],
        settings: &Settings,
        threads: usize,
    ) -> Result<Box<dyn Engine + 'a>> {
        check(task.peers(), settings.iterations)?;
        Ok(Box::new(Descent::start(task, schemes(task.peers(), settings), 0.0, settings, threads)?))
    }

    fn messages(&self, run: &Question) -> Result<u64> {
        Ok(run.iterations as u64 * messages(&natural(run.peers))?)
    }

    fn ours(&self, run: &Question) -> Result<Summary> {
        let pairs = pairs(run)?;
        Ok(Summary {
            mean: pairs.mean,
            worst: pairs.worst,
            ..Summary::local(run.iterations, Currency::Gaussian)
        })
    }

    fn overheard<'a>(&self, run: &Question<'a>, _past: &Past) -> Result<Learning<'a>> {
        learning(run)
    }

    fn revealed(&self, run: &Question, _past: &Past) -> Result<Revealed> {
        Ok(Revealed { pairs: pairs(run)?, currency: Currency::Gaussian, standing: Standing::Proven })
    }

    fn hides_from_peers(&self) -> bool {
        true
    }

    fn cancels(&self) -> bool {
        true
    }

    fn rounds(&self, peers: usize) -> usize {
        natural(peers).rounds()
    }
}
