//! Muffliato-GD: gossip after every gradient step of all, nearly to consensus; on one graph, or on others each time (the `W_t` of Algorithm 3).
//!
//! Neighbours lose as much as to a wire-tapper (proven). What others lose on average follows from linear views of all iterations, if gradients do
//! not react to what is hidden. The printed sums (Theorems 6 and 11) are refuted.

use rand::seq::index;
use serde::{Deserialize, Serialize};
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_privacy::{Adversary, Standing};
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::{Spectrum, optimisation_rounds};
use sottovoce_views::door::{Learning, account};

use super::{Entry, Method, Options, Way, graph, messages};
use crate::learning::calibrate::Currency;
use crate::learning::engine::{Descent, Engine};
use crate::learning::losses::{Past, Question, Summary};
use crate::learning::{Settings, Task};
use crate::{Error, Result, require};

/// Rounds beyond which values do not mix in any reasonable time: a gap that is 0 may be computed as a rounding error.
const MOST_ROUNDS: u64 = 1_000_000;

pub(super) const ENTRY: Entry = Entry {
    name: "gossip",
    about: "gossip after every step of all",
    needs_graph: true,
    varying: true,
    options: &["steps", "heterogeneity", "accelerated", "relay-noise", "final-model"],
    planned: Options { accelerated: true, ..Options::NONE },
    make: |options, mixings, sigma| {
        let mixings = graphs(mixings)?;
        let rounds = match (options.rounds, options.heterogeneity) {
            (Some(rounds), None) => rounds,
            (Some(rounds), Some(_)) => {
                let remedy = "heterogeneity is given too, which says how many; give one of them";
                return Err(Error::parameter("steps", rounds, remedy));
            }
            (None, heterogeneity) => usual_rounds(mixings, heterogeneity.unwrap_or(0.0), sigma)?,
        };
        let remedy = format!("give a number from 1 to {MOST_ROUNDS}");
        require((1..=MOST_ROUNDS).contains(&(rounds as u64)), "steps", rounds, remedy)?;
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

/// `K = ceil(gap^(-1/2) ln max(n, zeta²/sigma²))`: the rounds of gossip that the paper asks for, on the graph that mixes most slowly; refused where
/// gossip never mixes.
///
/// `heterogeneity` is `zeta²`, the mean squared norm of the peers' gradients at the optimum, in squared sensitivities, as `sigma` is in
/// sensitivities (infinite while it is not known). Where gradients differ no more than that, `ln n` is what counts. Gradients of all rows have no
/// variance of their own; what that of batches would add to `sigma²` is left out, which only adds rounds.
pub fn usual_rounds(mixings: &[Mixing], heterogeneity: f64, sigma: f64) -> Result<usize> {
    let zeta = heterogeneity;
    require(zeta >= 0.0 && zeta.is_finite(), "heterogeneity", zeta, "give a finite number of at least 0")?;
    let remedy = "without noise, and with heterogeneity, no number of rounds is enough; give --steps instead";
    require(zeta == 0.0 || sigma > 0.0, "sigma", sigma, remedy)?;
    let (zeta, noise) = if zeta > 0.0 && sigma.is_finite() { (zeta, sigma * sigma) } else { (0.0, 1.0) };
    let mut most = 1;
    for mixing in mixings {
        let gap = Spectrum::of(mixing)?.gap.value;
        let value = format!("such that gossip never mixes here (the spectral gap is {gap})");
        let remedy = "use --weights metropolis-plus-one or --lazy 0.1, or give --steps";
        require(gap > 0.0, "weights", &value, remedy)?;
        // A gap of exactly 1 may be computed a rounding error above.
        let rounds = optimisation_rounds(gap.min(1.0), mixing.nodes(), zeta, noise, 0.0)?;
        require(rounds <= MOST_ROUNDS, "weights", value, remedy)?;
        most = most.max(rounds as usize); // whole numbers
    }
    Ok(most)
}

/// The graphs after each gradient step, in turn: at least one.
fn graphs(mixings: &[Mixing]) -> Result<&[Mixing]> {
    graph(mixings, "gossip")?;
    Ok(mixings)
}

/// How often each of the graphs is used: they come in turn.
fn times(mixings: &[Mixing], iterations: usize) -> impl Iterator<Item = (&Mixing, usize)> {
    let (every, left) = (iterations / mixings.len().max(1), iterations % mixings.len().max(1)); // whole numbers
    mixings.iter().enumerate().map(move |(place, mixing)| (mixing, every + usize::from(place < left)))
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
        mixings: &'a [Mixing],
        settings: &Settings,
        threads: usize,
    ) -> Result<Box<dyn Engine + 'a>> {
        let schemes = graphs(mixings)?.iter().map(|mixing| self.scheme(mixing)).collect();
        let plain = self.relay == 0.0 || !self.accelerated;
        require(plain, "relay-noise", self.relay, "relay noise goes with plain gossip only")?;
        let engine = Descent::start(task, schemes, self.relay, settings, threads)?;
        Ok(Box::new(engine.without_consensus()))
    }

    fn messages(&self, run: &Question) -> Result<u64> {
        let each = times(graphs(run.mixings)?, run.iterations);
        each.map(|(mixing, times)| Ok(times as u64 * messages(&self.scheme(mixing))?)).sum()
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
            mixings: graphs(run.mixings)?,
            rounds: self.rounds,
            accelerated: self.accelerated,
            relay_noise: self.relay,
            iterations: run.iterations,
        })
    }

    fn cancels(&self) -> bool {
        true
    }

    fn rounds(&self, _peers: usize) -> usize {
        self.rounds
    }
}
