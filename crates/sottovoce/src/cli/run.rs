//! `sottovoce run`: the main job.
//!
//! `quickstart` needs no files: a group of peers on a graph, how fast they mix, and what a day of noisy releases among them
//! costs in privacy.

use std::fmt;

use clap::{Args, ValueEnum};
use serde::Serialize;
use sottovoce_privacy::{Accountant, Adjacency, Adversary, Gdp, Guarantee, Loss, Mechanism, Standing, Unit};
use sottovoce_topology::family::{self, Family};
use sottovoce_topology::mixing::Weights;

use super::Global;
use super::graph::Inspection;

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce run quickstart\n  sottovoce run quickstart --seed 7 --json")]
pub(crate) struct Run {
    /// The experiment.
    #[arg(value_enum)]
    experiment: Experiment,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Experiment {
    /// Peers on a random geometric graph: its mixing speed, and the price of averaging and learning on it.
    Quickstart,
}

const PEERS: usize = 64;
const RADIUS: f64 = 0.22;
const DELTA: f64 = 1e-5;

impl Run {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match self.experiment {
            Experiment::Quickstart => global.print(&quickstart(global.seed)?),
        }
    }
}

fn quickstart(seed: u64) -> anyhow::Result<Quickstart> {
    let family = Family::Geometric { n: PEERS, radius: RADIUS };
    let graph = family::generate(&family, seed, true)?;
    let inspection = Inspection::new(family.to_string(), &graph, Weights::Metropolis, 0.0)?;

    // Averaging: every peer publishes one value in [0, 1], so replacing it moves it by at most 1, with Gaussian noise.
    let averaging = Loss::Gdp(Gdp::of_noise(3.0)?);
    // Learning: a thousand steps on one record in a hundred.
    let mut steps = Accountant::new(Adjacency::AddRemove);
    steps.compose(Mechanism::gaussian(1.1)?.poisson(0.01)?, 1000)?;
    let releases = vec![
        Release::new(
            "each peer publishes one value in [0, 1] with Gaussian noise of standard deviation 3",
            Unit::User,
            Adjacency::Replace,
            averaging,
        )?,
        Release::new(
            "each peer publishes 1000 clipped gradients of 1 % of its records, with noise multiplier 1.1",
            Unit::Record,
            Adjacency::AddRemove,
            Loss::Pld(steps),
        )?,
    ];
    Ok(Quickstart { seed, graph: inspection, delta: DELTA, releases })
}

/// The printed result.
#[derive(Serialize)]
struct Quickstart {
    seed: u64,
    graph: Inspection,
    delta: f64,
    releases: Vec<Release>,
}

#[derive(Serialize)]
struct Release {
    what: &'static str,
    epsilon_lower: f64,
    epsilon_upper: f64,
    adversary: Adversary,
    unit: Unit,
    adjacency: Adjacency,
    standing: Standing,
    statement: String,
}

impl Release {
    fn new(what: &'static str, unit: Unit, adjacency: Adjacency, loss: Loss) -> anyhow::Result<Self> {
        let guarantee =
            Guarantee { adversary: Adversary::WireTapper, unit, adjacency, loss, standing: Standing::Proven };
        let epsilon = guarantee.epsilon(DELTA)?;
        Ok(Self {
            what,
            epsilon_lower: epsilon.lower,
            epsilon_upper: epsilon.upper,
            statement: guarantee.state(DELTA)?,
            adversary: guarantee.adversary,
            unit,
            adjacency,
            standing: guarantee.standing,
        })
    }
}

impl fmt::Display for Quickstart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Sottovoce quickstart: {PEERS} peers who speak only to those nearby (seed {})",
            self.seed
        )?;
        writeln!(f)?;
        writeln!(f, "{}", self.graph)?;
        writeln!(f)?;
        writeln!(f, "What a listener learns")?;
        for release in &self.releases {
            writeln!(f, "  {}:", release.what)?;
            writeln!(f, "    {}", release.statement)?;
        }
        writeln!(f)?;
        writeln!(f, "Next: `sottovoce graph generate --help`, `sottovoce account mechanism --help`")
    }
}
