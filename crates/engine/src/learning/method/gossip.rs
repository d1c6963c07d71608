//! Muffliato-GD: gossip after every gradient step of all, nearly to consensus.
//!
//! Neighbours lose as much as to a wire-tapper (proven). What others lose on average follows from linear views of all iterations, if gradients do
//! not react to what is hidden. The printed sum (Theorem 6) is refuted.

use rand::seq::index;
use serde::{Deserialize, Serialize};
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_privacy::{Adversary, Standing};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;
use sottovoce_views::descent::{DescentLoss, published as printed};
use sottovoce_views::door::{Learning, account};
use sottovoce_views::published::{self, Formula};

use super::{Entry, Method, Options, Way, graph, messages};
use crate::learning::calibrate::Currency;
use crate::learning::engine::{Descent, Engine};
use crate::learning::losses::{Past, Question, Summary};
use crate::learning::path::Pairs;
use crate::learning::{Settings, Task};
use crate::{Result, require};

/// Rounds beyond which values do not mix in any reasonable time: a gap that is 0 may be computed as a rounding error.
const MOST_ROUNDS: usize = 1_000_000;

pub(super) const ENTRY: Entry = Entry {
    name: "gossip",
    about: "gossip after every step of all",
    needs_graph: true,
    options: &["steps", "accelerated", "relay-noise"],
    planned: Options { accelerated: true, ..Options::NONE },
    make: |options, mixing| {
        let mixing = graph(mixing, "gossip")?;
        let rounds = options.rounds.map_or_else(|| usual_rounds(mixing), Ok)?;
        let remedy = format!("give a number from 1 to {MOST_ROUNDS}");
        require((1..=MOST_ROUNDS).contains(&rounds), "steps", rounds, remedy)?;
        let (accelerated, relay) = (options.accelerated, options.relay.unwrap_or(0.0));
        Ok(Method::Gossip(Gossip { rounds, accelerated, relay }))
    },
};

/// Its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gossip {
    /// Rounds of gossip after each gradient step: `K`.
    pub rounds: usize,
    /// Whether gossip is accelerated.
    pub accelerated: bool,
    /// Fresh noise on every message, as a share of the noise on a gradient.
    pub relay: f64,
}

/// `K = ceil(gap^(-1/2) ln n)`: the rounds of gossip that the paper asks for, where gradients differ no more than their noise.
pub fn gossip_rounds(gap: f64, peers: usize) -> usize {
    // A gap of exactly 1 may be computed a rounding error above.
    ((peers as f64).ln() / gap.min(1.0).sqrt() - 1e-9).ceil().max(1.0) as usize
}

/// The same on a graph; refused where gossip never mixes.
fn usual_rounds(mixing: &Mixing) -> Result<usize> {
    let gap = Spectrum::of(mixing)?.gap.value;
    let value = format!("such that gossip never mixes here (the spectral gap is {gap})");
    let rounds = gossip_rounds(gap, mixing.nodes());
    require(
        gap > 0.0 && rounds <= MOST_ROUNDS,
        "weights",
        value,
        "use --weights metropolis-plus-one or --lazy 0.1, or give --steps",
    )?;
    Ok(rounds)
}

impl Gossip {
    fn scheme(&self, mixing: &Mixing) -> Scheme {
        Scheme::Gossip { mixing: mixing.clone(), rounds: self.rounds, accelerated: self.accelerated }
    }
}

impl Way for Gossip {
    fn name(&self) -> &'static str {
        if self.relay > 0.0 { "gossip with relay noise" } else { "gossip" }
    }

    fn start<'a>(
        &self,
        task: &'a Task,
        mixing: Option<&'a Mixing>,
        settings: &Settings,
        threads: usize,
    ) -> Result<Box<dyn Engine + 'a>> {
        let mixing = graph(mixing, "gossip")?;
        let plain = self.relay == 0.0 || !self.accelerated;
        require(plain, "relay-noise", self.relay, "relay noise goes with plain gossip only")?;
        let engine = Descent::start(task, vec![self.scheme(mixing)], self.relay, settings, threads)?;
        Ok(Box::new(engine.without_consensus()))
    }

    fn messages(&self, run: &Question) -> Result<u64> {
        Ok(run.iterations as u64 * messages(&self.scheme(graph(run.mixing, "gossip")?))?)
    }

    fn published(&self, run: &Question) -> Result<Option<(f64, f64)>> {
        let (Some(mixing), true) = (run.mixing, self.relay == 0.0) else { return Ok(None) };
        let all = published::gossip_all_pairs(Formula::Theorem1, mixing, self.rounds)?;
        let (pairs, times) = (Pairs::of(run.peers, |v, u| all[v * run.peers + u]), run.iterations as f64);
        Ok(Some((times * pairs.mean, times * pairs.worst)))
    }

    /// The mean over sampled observers of the linear views of all iterations.
    fn ours(&self, run: &Question) -> Result<Summary> {
        let mut rng = Seed(run.seed).stream(Stream::Sample, 0, 0);
        let observers = index::sample(&mut rng, run.peers, run.sample.clamp(1, run.peers)).into_vec();
        let overheard = self.overheard(run, &Past::PLANNED)?;
        let (mut sum, mut standing) = (0.0, Standing::Proven);
        for &observer in &observers {
            let loss = account(&overheard, &Adversary::Peer(observer))?.leakage;
            sum += loss.losses.iter().sum::<f64>();
            standing = loss.standing;
        }
        let mean = sum / (observers.len() * (run.peers - 1)).max(1) as f64;
        Ok(Summary { mean, mean_standing: standing, ..Summary::local(run.iterations, Currency::Gaussian) })
    }

    fn overheard<'a>(&self, run: &Question<'a>, _past: &Past) -> Result<Learning<'a>> {
        Ok(Learning::Gossip {
            mixing: graph(run.mixing, "gossip")?,
            rounds: self.rounds,
            accelerated: self.accelerated,
            relay_noise: self.relay,
            iterations: run.iterations,
        })
    }

    fn published_to_observers(&self, run: &Question, observers: &[usize]) -> Result<Option<DescentLoss>> {
        if self.relay > 0.0 || self.accelerated {
            return Ok(None);
        }
        let mixing = graph(run.mixing, "gossip")?;
        Ok(Some(printed::theorem6(mixing, observers, self.rounds, run.iterations)?))
    }

    fn rounds(&self, _peers: usize) -> usize {
        self.rounds
    }
}
