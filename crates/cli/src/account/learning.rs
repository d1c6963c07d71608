//! `sottovoce account learning`: what gradient steps with averaging in between reveal.

use std::fmt;

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde::Serialize;
use sottovoce_privacy::{limits, round_up};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;
use sottovoce_views::descent::{self, DescentLoss, consensus, linear, published};

use crate::Global;
use crate::graph::source::{GraphSource, peer};
use crate::graph::{count, real};
use sottovoce::learning::Method;
use sottovoce::learning::method::positions;

const EXAMPLES: &str = "Examples:
  sottovoce account learning --graph friends.txt --iterations 10 --observers 0
  sottovoce account learning --graph friends.txt --iterations 10 --rounds 1 --observers 0,3 --sigma 4
  sottovoce account learning --method butterfly --nodes 64 --iterations 10 --observers 0 --json

Everyone makes a private gradient step, adds fresh noise, and averages with the others; so often as --iterations says. A loss of 1 is that of one
gradient released under its own noise; as many as there are iterations is no amplification at all.";

/// Peers of a butterfly whose losses fit into memory for every step.
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
    #[arg(long, value_name = "N", value_parser = count)]
    nodes: Option<usize>,
    /// Gradient steps.
    #[arg(long, value_name = "T", value_parser = count, allow_negative_numbers = true)]
    iterations: usize,
    /// Rounds of gossip after each (default: as the paper has it).
    #[arg(long, value_name = "K", value_parser = count)]
    rounds: Option<usize>,
    /// Peers who pool what they hear.
    #[arg(long, value_name = "V,...", value_delimiter = ',', required = true)]
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
    /// What they do not speak of.
    not_covered: Vec<String>,
}

impl LearningArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let mut accounted = match self.method {
            Averaging::Gossip => self.gossip()?,
            Averaging::Butterfly => self.butterfly(global.seed)?,
        };
        let (worst, _) = accounted.ours.worst();
        for loss in [&accounted.ours, &accounted.wire_tapper] {
            let guarantee = loss.guarantee(worst, 1.0, self.sigma)?;
            accounted.statements.push(format!("peer {worst}: {}", guarantee.state(self.delta)?));
            accounted.not_covered = guarantee.not_covered;
        }
        accounted.not_covered.extend(limits::list(&[limits::BOUNDS, limits::COUNTS, limits::MEASURED]));
        global.print(&accounted)
    }

    fn gossip(&self) -> anyhow::Result<Accounted> {
        let Some(graph) = self.source.read()? else { bail!("`graph` is missing: give --graph FILE") };
        let mixing = self.source.mixing(&graph)?;
        let n = graph.nodes();
        let observers: Vec<usize> = self
            .observers
            .iter()
            .map(|name| peer("observers", name, Some(&graph), n))
            .collect::<Result<_, _>>()?;
        let rounds = self.rounds.map_or_else(|| default_rounds(&mixing), Ok)?;
        Ok(Accounted {
            unit: "one local release",
            rounds,
            ours: linear::loss(&[&mixing], &observers, rounds, self.iterations)?,
            published: Some(published::theorem6(&mixing, &observers, rounds, self.iterations)?),
            wire_tapper: descent::wire_tapper(n, self.iterations)?,
            statements: Vec::new(),
            not_covered: Vec::new(),
        })
    }

    fn butterfly(&self, seed: u64) -> anyhow::Result<Accounted> {
        let Some(n) = self.nodes else {
            bail!("`nodes` is missing: give the number of peers of the butterfly")
        };
        if n > MOST_PEERS {
            bail!("`nodes` is {n}: what each of them loses is computed; give at most {MOST_PEERS}");
        }
        if self.source.graph.is_some() {
            bail!("`graph` is given: a butterfly has no use for one; leave it out");
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
            not_covered: Vec::new(),
        })
    }
}

fn default_rounds(mixing: &Mixing) -> anyhow::Result<usize> {
    Ok(Method::gossip_rounds(Spectrum::of(mixing)?.gap.value, mixing.nodes()))
}

impl fmt::Display for Accounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Losses in units of {}, over {} gradient steps with {} rounds of averaging after each, to {}\n",
            self.unit, self.ours.iterations, self.rounds, self.ours.adversary
        )?;
        let printed = if self.published.is_some() { "printed" } else { "" };
        writeln!(f, "  peer    ours            {printed}")?;
        for (peer, loss) in self.ours.losses.iter().enumerate() {
            let printed = self
                .published
                .as_ref()
                .map_or_else(String::new, |published| round_up(published.losses[peer]));
            writeln!(f, "  {peer:<8}{:<16}{printed}", round_up(*loss))?;
        }
        writeln!(f, "\n  mean    {:<16}", round_up(self.ours.mean()))?;
        writeln!(f, "\n  ours:    {}", self.ours.standing)?;
        if let Some(published) = &self.published {
            writeln!(f, "  printed: {}", published.standing)?;
        }
        writeln!(f, "\nWhat is promised of the peer that loses most")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        writeln!(f, "\n  not covered:")?;
        self.not_covered.iter().try_for_each(|what| writeln!(f, "  * {what}"))
    }
}
