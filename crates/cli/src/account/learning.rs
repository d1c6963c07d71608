//! `sottovoce account learning`: what gradient steps with averaging in between reveal.

use std::fmt;

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde::Serialize;
use sottovoce_privacy::{Gdp, limits, round_up};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;
use sottovoce_views::descent::{self, DescentLoss, consensus, linear, published};

use crate::Global;
use crate::graph::source::{GraphSource, peer};
use crate::graph::{count, real};
use sottovoce::learning::Method;
use sottovoce::learning::method::positions;
use sottovoce::terms::Stated;

const EXAMPLES: &str = "Examples:
  sottovoce account learning --graph friends.txt --iterations 10 --observers 0
  sottovoce account learning --graph friends.txt --iterations 10 --steps 1 --observers 0,3 --sigma 4
  sottovoce account learning --method butterfly --peers 64 --iterations 10 --observers 0 --json

Everyone makes a private gradient step, adds fresh noise, and averages with the others; so often as --iterations says. A loss of 1 is that of one
gradient released under its own noise; as many as there are iterations is no amplification at all.";

/// Most peers of a butterfly.
const MOST_PEERS: usize = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Averaging {
    Gossip,
    Butterfly,
}

/// Arguments of `account learning`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LearningArgs {
    /// How models are averaged after each gradient step. (Of walks: see `account walk`.)
    #[arg(long, value_enum, default_value_t = Averaging::Gossip)]
    method: Averaging,
    #[command(flatten)]
    source: GraphSource,
    /// Number of peers of a butterfly.
    #[arg(long = "peers", alias = "nodes", value_name = "N", value_parser = count)]
    nodes: Option<usize>,
    /// Gradient steps.
    #[arg(long, value_name = "T", value_parser = count, allow_negative_numbers = true)]
    iterations: usize,
    /// Gossip steps after each (default: as the paper has it).
    #[arg(long, alias = "rounds", value_name = "K", value_parser = count)]
    steps: Option<usize>,
    /// Peers who pool what they hear.
    #[arg(long, alias = "observer", value_name = "V,...", value_delimiter = ',', required = true)]
    observers: Vec<String>,
    /// Noise on a gradient, in units of its sensitivity.
    #[arg(long, value_name = "S", default_value = "1", value_parser = real, allow_negative_numbers = true)]
    sigma: f64,
    /// Probability with which stated epsilons may fail.
    #[arg(long, value_name = "DELTA", default_value = "1e-5", value_parser = real, allow_negative_numbers = true)]
    delta: f64,
}

/// Everything found.
#[derive(Debug, Serialize)]
struct Accounted {
    unit: &'static str,
    rounds: usize,
    /// What may be relied on.
    ours: DescentLoss,
    /// As printed (Theorem 6).
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<DescentLoss>,
    /// To someone who sees every message.
    wire_tapper: DescentLoss,
    /// Guarantees, with their standing.
    statements: Vec<String>,
    /// The same as numbers.
    guarantees: Vec<Stated>,
    /// What they do not speak of.
    not_covered: Vec<String>,
}

impl LearningArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        // Refuses a delta outside (0, 1), and a noise that is none, before the work.
        Gdp::of_noise(self.sigma)?.epsilon(self.delta)?;
        let mut accounted = match self.method {
            Averaging::Gossip => self.gossip()?,
            Averaging::Butterfly => self.butterfly(global.seed)?,
        };
        let (worst, _) = accounted.ours.worst();
        let further = limits::list(&[limits::BOUNDS, limits::COUNTS, limits::MEASURED]);
        for loss in [&accounted.ours, &accounted.wire_tapper] {
            let guarantee = loss.guarantee(worst, 1.0, self.sigma)?;
            accounted.statements.push(format!("peer {worst}: {}", guarantee.state(self.delta)?));
            let mut stated = Stated::new(format!("peer {worst}, the worst off"), &guarantee, self.delta)?;
            stated.not_covered.extend(further.clone());
            accounted.guarantees.push(stated);
            accounted.not_covered = guarantee.not_covered;
        }
        accounted.not_covered.extend(further);
        global.print(&accounted)
    }

    fn gossip(&self) -> anyhow::Result<Accounted> {
        if let Some(peers) = self.nodes {
            bail!("`peers` is {peers}: the graph has its own number of peers; leave --peers out");
        }
        let Some(graph) = self.source.read()? else { bail!("`graph` is missing: give --graph FILE") };
        let mixing = self.source.mixing(&graph)?;
        let n = graph.nodes();
        let observers: Vec<usize> = self
            .observers
            .iter()
            .map(|name| peer("observers", name, Some(&graph), n))
            .collect::<Result<_, _>>()?;
        let rounds = self.steps.map_or_else(|| default_rounds(&mixing), Ok)?;
        Ok(Accounted {
            unit: "one local release",
            rounds,
            ours: linear::loss(&[&mixing], &observers, rounds, self.iterations)?,
            published: Some(published::theorem6(&mixing, &observers, rounds, self.iterations)?),
            wire_tapper: descent::wire_tapper(n, self.iterations)?,
            statements: Vec::new(),
            guarantees: Vec::new(),
            not_covered: Vec::new(),
        })
    }

    fn butterfly(&self, seed: u64) -> anyhow::Result<Accounted> {
        let Some(n) = self.nodes else {
            bail!("`peers` is missing: give the number of peers of the butterfly")
        };
        self.source.refuse("a butterfly")?;
        if let Some(steps) = self.steps {
            bail!("`steps` is {steps}: a butterfly has its own number of rounds; leave --steps out");
        }
        if n > MOST_PEERS {
            bail!("`peers` is {n}: give at most {MOST_PEERS}");
        }
        let observers: Vec<usize> =
            self.observers.iter().map(|name| peer("observers", name, None, n)).collect::<Result<_, _>>()?;
        let averaging =
            |iteration| consensus::Averaging::butterfly(&positions(n, seed, iteration), &observers);
        let averagings = (0..self.iterations).map(averaging).collect::<Result<Vec<_>, _>>()?;
        if averagings.is_empty() {
            bail!("`iterations` is 0: give at least 1 gradient step");
        }
        Ok(Accounted {
            unit: "one local release",
            rounds: n.max(1).ilog2() as usize,
            ours: consensus::loss(&averagings, self.iterations)?,
            published: None,
            wire_tapper: descent::wire_tapper(n, self.iterations)?,
            statements: Vec::new(),
            guarantees: Vec::new(),
            not_covered: Vec::new(),
        })
    }
}

fn default_rounds(mixing: &Mixing) -> anyhow::Result<usize> {
    let gap = Spectrum::of(mixing)?.gap.value;
    if gap <= 0.0 {
        bail!(
            "`graph` never mixes with these weights (its spectral gap is 0): add --lazy 0.5, use --weights metropolis-plus-one, or give --steps"
        );
    }
    Ok(Method::gossip_rounds(gap, mixing.nodes()))
}

impl Accounted {
    fn headline(&self) -> String {
        let shown = |place: usize| self.guarantees.get(place).map_or_else(|| "-".to_owned(), Stated::shown);
        let delta = self.guarantees.first().map_or(0.0, |stated| stated.delta);
        format!(
            "No peer loses more than epsilon {} at delta {delta:e} to {}; without averaging it would be {}",
            shown(0),
            self.ours.adversary,
            shown(1)
        )
    }

    /// Losses of all peers.
    fn list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printed = if self.published.is_some() { "printed" } else { "" };
        writeln!(f, "  peer    ours            {printed}")?;
        for (peer, loss) in self.ours.losses.iter().enumerate() {
            let printed = self
                .published
                .as_ref()
                .map_or_else(String::new, |published| round_up(published.losses[peer]));
            writeln!(f, "  {peer:<8}{:<16}{printed}", round_up(*loss))?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Accounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        writeln!(
            f,
            "Losses in units of {}, over {} gradient steps with {} rounds of averaging after each, to {}\n",
            self.unit, self.ours.iterations, self.rounds, self.ours.adversary
        )?;
        if f.alternate() {
            self.list(f)?;
        }
        let row = |loss: &DescentLoss| {
            format!("mean {:<12} largest {:<12}", round_up(loss.mean()), round_up(loss.worst().1))
        };
        writeln!(f, "  ours:    {} {}", row(&self.ours), self.ours.standing)?;
        if let Some(published) = &self.published {
            writeln!(f, "  printed: {} {}", row(published), published.standing)?;
        }
        writeln!(f, "\nWhat is promised of the peer that loses most")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        writeln!(f, "\n  not covered:")?;
        self.not_covered.iter().try_for_each(|what| writeln!(f, "  * {what}"))
    }
}
