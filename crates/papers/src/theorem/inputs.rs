//! What statements are asked about. Everything has a default, so that any statement answers at once.

use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;
use sottovoce::experiment::graph::{GraphSpec, peer};
use sottovoce_topology::Graph;
use sottovoce_topology::family::Family;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::{Spectrum, accelerated_steps, pairwise_rate, randomised_steps};
use sottovoce_views::rumor::Rumor;

use crate::{Error, Result, require};

/// What describes a graph.
pub(super) const GRAPH: [&str; 7] =
    ["file", "format", "family", "peers", "weights", "lazy", "largest-component"];

/// Most peers of graphs that are drawn.
const MOST_PEERS: usize = 2000;
/// Most peers times steps.
const MOST_WORK: usize = 2_000_000;

/// A case. Fields are named as in the papers' words; each statement lists those that it uses.
#[derive(Debug, Clone, PartialEq, Default, Serialize, clap::Args)]
#[serde(rename_all = "kebab-case")]
pub struct Inputs {
    /// The graph (default: a hypercube of 64).
    #[serde(flatten)]
    #[command(flatten)]
    pub graph: GraphSpec,
    /// Deviation of the noise (default: 1).
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub sigma: Option<f64>,
    /// Mean squared distance of the private values from their mean (default: 0.25).
    #[arg(long, value_name = "S2", allow_negative_numbers = true)]
    pub spread: Option<f64>,
    /// Number of steps (default: what the statement's own stopping rule says).
    #[arg(long, value_name = "T")]
    pub steps: Option<usize>,
    /// Peers who put together what they hear, by name (default: the first).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    pub observers: Vec<String>,
    /// Number of peers who put together what they hear, where they are not named (default: 3).
    #[arg(long, value_name = "N")]
    pub coalition: Option<usize>,
    /// Edges of a random graph have the probability of this times ln(n)/n (default: 1.5).
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub factor: Option<f64>,
    /// Number of gradient steps.
    #[arg(long, value_name = "T")]
    pub iterations: Option<usize>,
    /// Smoothness L of the objective (default: 1).
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub smoothness: Option<f64>,
    /// Strong convexity mu of the objective (default: 0.1).
    #[arg(long, value_name = "MU", allow_negative_numbers = true)]
    pub convexity: Option<f64>,
    /// Squared distance zeta² of local gradients from their mean, at the optimum (default: 1).
    #[arg(long, value_name = "Z2", allow_negative_numbers = true)]
    pub heterogeneity: Option<f64>,
    /// Variance rho² of gradients of single rows (default: 0).
    #[arg(long, value_name = "R2", allow_negative_numbers = true)]
    pub variance: Option<f64>,
    /// Squared distance of the first model from the best one (default: 1).
    #[arg(long, value_name = "D2", allow_negative_numbers = true)]
    pub distance: Option<f64>,
    /// Rényi order (default: 2).
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub alpha: Option<f64>,
    /// Privacy loss epsilon (default: 1).
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// By how much a number exceeds its mean.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub excess: Option<f64>,
    /// Number of curious peers (default: one in sixteen).
    #[arg(long, value_name = "F")]
    pub curious: Option<usize>,
    /// Probability of staying active after a telling (default: 0.5).
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub muting: Option<f64>,
    /// Probability that a message is lost (default: 0.1).
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub drop: Option<f64>,
    /// Number of terms r of a bound (default: 2).
    #[arg(long, value_name = "R")]
    pub terms: Option<u16>,
    /// Multiple C of a number of messages (default: 1).
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub multiple: Option<f64>,
    /// Number of simulations (default: 100).
    #[arg(long, value_name = "N")]
    pub runs: Option<usize>,
    /// Probability of failure (default: 0.05).
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub probability: Option<f64>,
    /// How near a mean must be (default: 0.1).
    #[arg(long, value_name = "ETA", allow_negative_numbers = true)]
    pub accuracy: Option<f64>,
    /// Number of parameters of the model (default: 10).
    #[arg(long, value_name = "D")]
    pub dimension: Option<usize>,
    /// Probability of keeping the token (default: 0.01).
    #[arg(long, value_name = "KAPPA", allow_negative_numbers = true)]
    pub kept: Option<f64>,
    /// Probability delta up to which a loss holds (default: e^-5).
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub delta: Option<f64>,
    /// Number of rows of an agent (default: 100).
    #[arg(long, value_name = "M")]
    pub rows: Option<u64>,
    /// Bound on the gradient of a row (default: 1; for ratings 2).
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub clip: Option<f64>,
    /// Weight mu of the agents' own losses (default: 1).
    #[arg(long, value_name = "MU", allow_negative_numbers = true)]
    pub trade_off: Option<f64>,
    /// SHA-256 of the graph's file, once it has been read.
    #[serde(skip)]
    #[arg(skip)]
    pub graph_sha256: OnceLock<String>,
    /// Seed of everything random.
    #[serde(skip)]
    #[arg(skip)]
    pub seed: u64,
    /// Used by no statement.
    #[cfg(test)]
    #[arg(skip)]
    pub(super) unused: Option<u8>,
}

impl Inputs {
    /// Names of what is given.
    pub(super) fn given(&self) -> Result<Vec<String>> {
        let unread = |source| Error::Json { problem: "the inputs cannot be listed".into(), source };
        let serde_json::Value::Object(fields) = serde_json::to_value(self).map_err(unread)? else {
            return Ok(Vec::new());
        };
        Ok(fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name).collect())
    }

    /// The graph with its weights.
    pub(super) fn mixing(&self) -> Result<(Graph, Mixing)> {
        let mut spec = self.graph.clone();
        if spec == GraphSpec::default() {
            spec.base.family = Some(Family::Hypercube { dimension: 6 });
        }
        let place = spec.place(Path::new("."), self.seed)?;
        if let Some(sha256) = place.sha256 {
            _ = self.graph_sha256.set(sha256);
        }
        let nodes = place.graph.nodes();
        let remedy = format!("give one of 2 to {} peers", 2 * MOST_PEERS);
        require((2..=2 * MOST_PEERS).contains(&nodes), "graph", format!("of {nodes} peers"), remedy)?;
        let mixing = spec.base.mixing(&place.graph)?;
        Ok((place.graph, mixing))
    }

    /// Peers and edge probability of a random graph.
    pub(super) fn random_graph(&self) -> Result<(usize, f64)> {
        let n = self.graph.peers.unwrap_or(128);
        require((3..=MOST_PEERS).contains(&n), "peers", n, format!("give a number from 3 to {MOST_PEERS}"))?;
        let q = positive("factor", self.factor.unwrap_or(1.5))? * (n as f64).ln() / n as f64;
        let remedy = "the probability would be above 1; give less";
        require(q <= 1.0, "factor", q * n as f64 / (n as f64).ln(), remedy)?;
        Ok((n, q))
    }

    /// The number of peers of a star, a ring or a complete graph.
    pub(super) fn drawn(&self, default: usize) -> Result<usize> {
        let n = self.graph.peers.unwrap_or(default);
        require((4..=MOST_PEERS).contains(&n), "peers", n, format!("give a number from 4 to {MOST_PEERS}"))?;
        Ok(n)
    }

    /// Who puts together what it hears: peers of the graph, each once, in their order.
    pub(super) fn observers(&self, graph: &Graph) -> Result<Vec<usize>> {
        let number = |name: &String| peer("observers", name, Some(graph), graph.nodes());
        let mut all = self.observers.iter().map(number).collect::<std::result::Result<Vec<_>, _>>()?;
        all.sort_unstable();
        all.dedup();
        Ok(if all.is_empty() { vec![0] } else { all })
    }

    /// How many do.
    pub(super) fn coalition(&self) -> Result<usize> {
        let coalition = self.coalition.unwrap_or(3);
        require(coalition > 0, "coalition", coalition, "give at least 1")?;
        Ok(coalition)
    }

    /// Gradient steps, where they are given; at most so many, where each takes work.
    pub(super) fn iterations(&self, most: usize) -> Result<Option<usize>> {
        if let Some(iterations) = self.iterations {
            let remedy = format!("give a number from 1 to {most}");
            require((1..=most).contains(&iterations), "iterations", iterations, remedy)?;
        }
        Ok(self.iterations)
    }

    /// Steps among so many peers: as given, or else those of a rule. What would take long is refused.
    pub(super) fn steps_or(&self, nodes: usize, rule: impl FnOnce() -> Result<u64>) -> Result<usize> {
        let most = MOST_WORK / nodes.max(1); // whole numbers
        let steps = match self.steps {
            Some(steps) => steps as u64,
            None => rule()?,
        };
        let remedy = format!("give a number from 1 to {most}, among {nodes} peers");
        require((1..=most as u64).contains(&steps), "steps", steps, remedy)?;
        Ok(steps as usize)
    }

    /// Rounds of accelerated gossip: as given, or the paper's stopping time.
    pub(super) fn rounds(&self, mixing: &Mixing, noise: f64, spread: f64) -> Result<usize> {
        let gap = Spectrum::of(mixing)?.gap.value.min(1.0);
        self.steps_or(mixing.nodes(), || Ok(accelerated_steps(gap, mixing.nodes(), noise, spread)?))
    }

    /// Exchanges of randomised gossip: as given, or the paper's stopping time.
    pub(super) fn exchanges(&self, mixing: &Mixing, noise: f64, spread: f64) -> Result<usize> {
        let rate = pairwise_rate(mixing)?;
        self.steps_or(mixing.nodes(), || Ok(randomised_steps(rate, mixing.nodes(), noise, spread)?))
    }

    /// Smoothness and strong convexity.
    pub(super) fn curvature(&self) -> Result<(f64, f64)> {
        let smooth = positive("smoothness", self.smoothness.unwrap_or(1.0))?;
        let convex = positive("convexity", self.convexity.unwrap_or(0.1))?;
        require(convex <= smooth, "convexity", convex, format!("it is at most the smoothness, {smooth}"))?;
        Ok((smooth, convex))
    }

    /// `zeta²`.
    pub(super) fn heterogeneity(&self) -> Result<f64> {
        not_negative("heterogeneity", self.heterogeneity.unwrap_or(1.0))
    }

    /// `rho²`.
    pub(super) fn variance(&self) -> Result<f64> {
        not_negative("variance", self.variance.unwrap_or(0.0))
    }

    /// `|theta_0 - theta*|²`.
    pub(super) fn distance(&self) -> Result<f64> {
        not_negative("distance", self.distance.unwrap_or(1.0))
    }

    /// A rumour, with a muting parameter that it has where none is given.
    pub(super) fn rumor(&self, muting: f64) -> Result<Rumor> {
        let peers = self.graph.peers.unwrap_or(100);
        let curious = self.curious.unwrap_or((peers / 16).max(1)); // whole numbers
        Ok(Rumor::new(peers, curious, self.muting(muting)?)?)
    }

    /// The muting parameter.
    pub(super) fn muting(&self, default: f64) -> Result<f64> {
        let muting = self.muting.unwrap_or(default);
        require((0.0..=1.0).contains(&muting), "muting", muting, "give a probability from 0 to 1")?;
        Ok(muting)
    }

    /// A probability of losing a message.
    pub(super) fn drop(&self) -> Result<f64> {
        let drop = self.drop.unwrap_or(0.1);
        require((0.0..1.0).contains(&drop), "drop", drop, "give a probability from 0 to below 1")?;
        Ok(drop)
    }

    /// The number of terms.
    pub(super) fn terms(&self) -> Result<u16> {
        require(self.terms != Some(0), "terms", 0, "give at least 1")?;
        Ok(self.terms.unwrap_or(2))
    }

    /// The multiple of a number of messages.
    pub(super) fn multiple(&self) -> Result<f64> {
        let multiple = self.multiple.unwrap_or(1.0);
        require((1.0..=100.0).contains(&multiple), "multiple", multiple, "give a number from 1 to 100")?;
        Ok(multiple)
    }

    /// The number of simulations.
    pub(super) fn runs(&self) -> Result<usize> {
        let runs = self.runs.unwrap_or(100);
        require((1..=100_000).contains(&runs), "runs", runs, "give a number from 1 to 100,000")?;
        Ok(runs)
    }

    /// A probability of failure.
    pub(super) fn probability(&self) -> Result<f64> {
        let p = self.probability.unwrap_or(0.05);
        require(p > 0.0 && p < 1.0, "probability", p, "give a probability between 0 and 1")?;
        Ok(p)
    }

    /// How near a mean must be.
    pub(super) fn accuracy(&self) -> Result<f64> {
        positive("accuracy", self.accuracy.unwrap_or(0.1))
    }

    /// The number of parameters.
    pub(super) fn dimension(&self) -> Result<usize> {
        require(self.dimension != Some(0), "dimension", 0, "give at least 1")?;
        Ok(self.dimension.unwrap_or(10))
    }

    /// The probability of keeping a token.
    pub(super) fn kept(&self) -> Result<f64> {
        let kept = self.kept.unwrap_or(0.01);
        require((0.0..1.0).contains(&kept), "kept", kept, "give a probability from 0 to less than 1")?;
        Ok(kept)
    }

    /// The one who listens.
    pub(super) fn observer(&self, graph: &Graph) -> Result<usize> {
        let observers = self.observers(graph)?;
        let remedy = "the statement is about one; name one peer";
        require(observers.len() == 1, "observers", self.observers.join(","), remedy)?;
        Ok(observers[0])
    }

    /// A Rényi order.
    pub(super) fn alpha(&self) -> Result<f64> {
        let alpha = self.alpha.unwrap_or(2.0);
        require(alpha > 1.0 && alpha.is_finite(), "alpha", alpha, "give a finite number above 1")?;
        Ok(alpha)
    }

    /// A privacy loss.
    pub(super) fn epsilon(&self) -> Result<f64> {
        positive("epsilon", self.epsilon.unwrap_or(1.0))
    }

    /// A probability up to which a loss holds.
    pub(super) fn delta(&self) -> Result<f64> {
        let delta = self.delta.unwrap_or((-5.0_f64).exp());
        require(delta > 0.0 && delta < 1.0, "delta", delta, "give a probability between 0 and 1")?;
        Ok(delta)
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> Result<u64> {
        let rows = self.rows.unwrap_or(100);
        require((1..=1_000_000_000).contains(&rows), "rows", rows, "give a number from 1 to 1e9")?;
        Ok(rows)
    }

    /// The bound on the gradient of a row.
    pub(super) fn clip(&self, default: f64) -> Result<f64> {
        positive("clip", self.clip.unwrap_or(default))
    }

    /// How far the exchange of a row moves a mean of gradients: `2 C/m`.
    pub(super) fn sensitivity(&self, clip: f64) -> Result<f64> {
        Ok(2.0 * self.clip(clip)? / self.rows()? as f64)
    }

    /// By how much a number exceeds its mean, where it is given.
    pub(super) fn excess(&self) -> Result<Option<f64>> {
        self.excess.map(|excess| not_negative("excess", excess)).transpose()
    }

    /// The deviation of the noise.
    pub(super) fn sigma(&self) -> Result<f64> {
        positive("sigma", self.sigma.unwrap_or(1.0))
    }

    /// The spread of the private values.
    pub(super) fn spread(&self) -> Result<f64> {
        not_negative("spread", self.spread.unwrap_or(0.25))
    }
}

/// A number that must be finite, and at least 0.
pub(super) fn not_negative(field: &'static str, value: f64) -> Result<f64> {
    require(value >= 0.0 && value.is_finite(), field, value, "give a finite number, 0 or more")?;
    Ok(value)
}

/// A number that must be positive and finite.
pub(super) fn positive(field: &'static str, value: f64) -> Result<f64> {
    require(value > 0.0 && value.is_finite(), field, value, "give a positive, finite number")?;
    Ok(value)
}
