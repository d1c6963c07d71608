//! Mixing that varies over time: one matrix for good, a sequence of them, or one pair of peers at a time.
//!
//! A [`Schedule`] is plain data, drawn before the run from a seed, so that a simulation, a deployment and the
//! accountant all see the same one. A pairwise step is kept as the pair, not as a matrix: both take the half-sum of
//! their values.

use crate::graph::check_nodes;
use crate::require;
use crate::{
    Error, Graph, MOST_NODES, Result, family,
    mixing::{Mixing, Weights},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// So many numbers may stand for one node that takes part in a schedule.
const STRAY: usize = 8;

/// Most pairs to draw: they take 12 GB.
const MOST_PAIRS: usize = 1_000_000_000;

/// What happens after the last step of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The schedule is over: [`Schedule::step`] returns `None`.
    Stop,
    /// It starts again from the first step.
    Repeat,
}

/// Who mixes with whom at each step; steps are numbered from 0.
///
/// ```
/// use sottovoce_topology::schedule::{Ending, Schedule, Step};
/// let pairs = Schedule::pairwise(3, [(0, 1), (1, 2)], Ending::Stop)?;
/// let (mut x, mut out) = (vec![4.0, 0.0, 1.0], vec![0.0; 3]);
/// let mut t = 0;
/// while let Some(step) = pairs.step(t) {
///     step.apply(&x, &mut out);
///     std::mem::swap(&mut x, &mut out);
///     t += 1;
/// }
/// assert_eq!(x, [2.0, 1.5, 1.5]);
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    nodes: usize,
    plan: Plan,
    ending: Ending,
}

#[derive(Debug, Clone, PartialEq)]
enum Plan {
    Mixings(Vec<Mixing>),
    /// `None` is a step at which nobody mixes.
    Pairs(Vec<Option<(u32, u32)>>),
}

/// One step of a schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step<'a> {
    /// Everyone mixes by this matrix.
    Mixing(&'a Mixing),
    /// These two take the half-sum of their values; everyone else keeps theirs.
    Pair(usize, usize),
    /// Nobody mixes.
    Idle,
}

impl Step<'_> {
    /// `out = W_t x`.
    ///
    /// # Panics
    /// If `x` and `out` do not have one entry per node.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        self.apply_block(x, 1, out);
    }

    /// `out = W_t X` for vectors of length `width` per node, stored node after node.
    ///
    /// # Panics
    /// If `x` or `out` does not have `width` entries per node, or `width` is 0.
    pub fn apply_block(&self, x: &[f64], width: usize, out: &mut [f64]) {
        match *self {
            Self::Mixing(mixing) => mixing.apply_block(x, width, out),
            Self::Pair(u, v) => {
                out.copy_from_slice(x);
                for i in 0..width {
                    let half = (x[u * width + i] + x[v * width + i]) / 2.0;
                    out[u * width + i] = half;
                    out[v * width + i] = half;
                }
            }
            Self::Idle => out.copy_from_slice(x),
        }
    }
}

impl Schedule {
    /// The same matrix at every step, without end.
    pub fn constant(mixing: Mixing) -> Self {
        Self { nodes: mixing.nodes(), plan: Plan::Mixings(vec![mixing]), ending: Ending::Repeat }
    }

    /// One matrix after the other; all must have the same number of nodes.
    pub fn sequence(mixings: Vec<Mixing>, ending: Ending) -> Result<Self> {
        let nodes = mixings.first().map(Mixing::nodes).ok_or_else(|| empty("mixings"))?;
        if let Some((t, odd)) = mixings.iter().enumerate().find(|(_, mixing)| mixing.nodes() != nodes) {
            let value = format!("{} nodes at step {t}", odd.nodes());
            let remedy = format!("give {nodes} nodes at every step, as at step 0");
            return Err(Error::parameter("mixings", value, remedy));
        }
        Ok(Self { nodes, plan: Plan::Mixings(mixings), ending })
    }

    /// One pair per step, in the order given.
    pub fn pairwise(
        nodes: usize,
        pairs: impl IntoIterator<Item = (usize, usize)>,
        ending: Ending,
    ) -> Result<Self> {
        Self::exchanges(nodes, pairs.into_iter().map(Some), ending)
    }

    /// One pair per step, or none: a step in which everyone keeps its value.
    pub fn exchanges(
        nodes: usize,
        pairs: impl IntoIterator<Item = Option<(usize, usize)>>,
        ending: Ending,
    ) -> Result<Self> {
        check_nodes("nodes", nodes)?;
        let check = |(t, pair): (usize, Option<(usize, usize)>)| {
            let Some((u, v)) = pair else { return Ok(None) };
            if u == v || u.max(v) >= nodes {
                let remedy = format!("give two different nodes below {nodes}");
                return Err(Error::parameter("pairwise", format!("[{u}, {v}] at step {t}"), remedy));
            }
            Ok(Some((u as u32, v as u32)))
        };
        let pairs: Vec<_> = pairs.into_iter().enumerate().map(check).collect::<Result<_>>()?;
        if pairs.is_empty() {
            return Err(empty("pairwise"));
        }
        Ok(Self { nodes, plan: Plan::Pairs(pairs), ending })
    }

    /// `steps` edges drawn independently, edge `e` with probability `probabilities[e]` (in the order of
    /// [`Graph::edges`]).
    ///
    /// They may sum to less than 1: what is missing is the probability that a step is idle.
    pub fn random_edges(graph: &Graph, probabilities: &[f64], steps: usize, seed: u64) -> Result<Self> {
        if steps == 0 {
            return Err(empty("steps"));
        }
        require(steps <= MOST_PAIRS, "steps", steps, format!("give at most {MOST_PAIRS}"))?;
        let cumulative = cumulative(graph, probabilities)?;
        let edges: Vec<_> = graph.edges().map(|(u, v)| (u as u32, v as u32)).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let draw = |_| {
            let target = rng.random::<f64>();
            edges.get(cumulative.partition_point(|&sum| sum <= target)).copied()
        };
        let pairs = (0..steps).map(draw).collect();
        Ok(Self { nodes: graph.nodes(), plan: Plan::Pairs(pairs), ending: Ending::Stop })
    }

    /// Randomised gossip that matches a mixing matrix: edge `{v, w}` with probability `2 W_vw / n`.
    ///
    /// These sum to `1 - trace(W) / n`: the weight that nodes keep for themselves becomes the probability of an idle
    /// step.
    pub fn randomised(mixing: &Mixing, steps: usize, seed: u64) -> Result<Self> {
        mixing.check()?;
        let n = mixing.nodes() as f64;
        let probabilities: Vec<f64> =
            mixing.graph().edges().map(|(u, v)| 2.0 * mixing.weight(u, v) / n).collect();
        Self::random_edges(mixing.graph(), &probabilities, steps, seed)
    }

    /// A fresh Erdős–Rényi graph per step, each pair an edge with probability `p` ([`fresh_mixings`], kept in
    /// memory).
    pub fn fresh_erdos_renyi(
        nodes: usize,
        p: f64,
        weights: Weights,
        steps: usize,
        seed: u64,
    ) -> Result<Self> {
        check_size(nodes, steps)?;
        let family = family::Family::ErdosRenyi { n: nodes, p };
        let mixings = fresh_mixings(&family, weights, seed).take(steps).collect::<Result<_>>()?;
        Self::sequence(mixings, Ending::Stop)
    }

    /// What [`Self::from_json`] reads, of one period. Weights are left out: whoever reads it chooses them.
    ///
    /// ```
    /// use sottovoce_topology::schedule::{Ending, Schedule};
    /// let pairs = Schedule::exchanges(3, [Some((0, 1)), None], Ending::Stop)?;
    /// assert_eq!(pairs.to_json()?, r#"{"pairwise":[[0,1],null]}"#);
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn to_json(&self) -> Result<String> {
        let wide = |(u, v): (u32, u32)| (u as usize, v as usize);
        let file = match &self.plan {
            Plan::Mixings(mixings) => {
                File::EdgesPerStep(mixings.iter().map(|mixing| mixing.graph().edges().collect()).collect())
            }
            Plan::Pairs(pairs) => File::Pairwise(pairs.iter().map(|pair| pair.map(wide)).collect()),
        };
        serde_json::to_string(&file).map_err(shape)
    }

    /// Reads `{"edges_per_step": [[[0, 1], ...], ...]}`, with `weights` at each step, or `{"pairwise": [[0, 1],
    /// ...]}`, where `null` is a step at which nobody mixes.
    ///
    /// ```
    /// use sottovoce_topology::{mixing::Weights, schedule::{Ending, Schedule}};
    /// let text = r#"{"edges_per_step": [[[0, 1]], [[1, 2], [0, 1]]]}"#;
    /// let schedule = Schedule::from_json(text, 3, Weights::Metropolis, Ending::Repeat)?;
    /// assert_eq!(schedule.period(), 2);
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn from_json(text: &str, nodes: usize, weights: Weights, ending: Ending) -> Result<Self> {
        match serde_json::from_str(text).map_err(shape)? {
            File::Pairwise(pairs) => Self::exchanges(nodes, pairs, ending),
            File::EdgesPerStep(steps) => {
                check_size(nodes, steps.len())?;
                let mixing = |(t, edges)| match Graph::from_edges(nodes, edges) {
                    Ok(graph) => Ok(Mixing::new(&graph, weights)),
                    Err(error) => Err(Error::Format(format!("edges_per_step, step {t}: {error}"))),
                };
                let mixings = steps.into_iter().enumerate().map(mixing).collect::<Result<_>>()?;
                Self::sequence(mixings, ending)
            }
        }
    }

    /// The number of nodes that a file for [`Self::from_json`] speaks of: one more than the largest it names. Numbers far
    /// beyond how many nodes there are ask for memory and work that nobody meant, and are refused.
    pub fn nodes_in_json(text: &str) -> Result<usize> {
        let named: Vec<(usize, usize)> = match serde_json::from_str(text).map_err(shape)? {
            File::Pairwise(pairs) => pairs.into_iter().flatten().collect(),
            File::EdgesPerStep(steps) => steps.concat(),
        };
        let distinct: BTreeSet<usize> = named.into_iter().flat_map(|(u, v)| [u, v]).collect();
        let Some(&largest) = distinct.last() else { return Ok(0) };
        let remedy = format!("{} nodes are named; number them 0, 1, 2, ...", distinct.len());
        require(largest <= STRAY * distinct.len() + 1000, "node", largest, remedy)?;
        Ok(largest + 1)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Steps until it ends or repeats.
    pub fn period(&self) -> usize {
        match &self.plan {
            Plan::Mixings(mixings) => mixings.len(),
            Plan::Pairs(pairs) => pairs.len(),
        }
    }

    /// Number of steps; `None` if it repeats without end.
    pub fn steps(&self) -> Option<usize> {
        (self.ending == Ending::Stop).then(|| self.period())
    }

    /// The step `t`, from 0; `None` after the end.
    pub fn step(&self, t: usize) -> Option<Step<'_>> {
        let t = if self.ending == Ending::Repeat { t % self.period() } else { t };
        match &self.plan {
            Plan::Mixings(mixings) => mixings.get(t).map(Step::Mixing),
            Plan::Pairs(pairs) => {
                pairs.get(t).map(|pair| pair.map_or(Step::Idle, |(u, v)| Step::Pair(u as usize, v as usize)))
            }
        }
    }
}

/// A mixing matrix per step on a fresh graph of the family, without end; steps have independent seeds drawn from
/// `seed`.
///
/// Graphs need not be connected: over time, news gets through.
pub fn fresh_mixings(
    family: &family::Family,
    weights: Weights,
    seed: u64,
) -> impl Iterator<Item = Result<Mixing>> {
    let mut seeds = ChaCha8Rng::seed_from_u64(seed);
    std::iter::repeat_with(move || {
        Ok(Mixing::new(&family::generate(family, seeds.random(), false)?, weights))
    })
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum File {
    EdgesPerStep(Vec<Vec<(usize, usize)>>),
    /// `null` is a step at which nobody mixes.
    Pairwise(Vec<Option<(usize, usize)>>),
}

#[allow(clippy::needless_pass_by_value)] // the shape of `map_err`
fn shape(error: serde_json::Error) -> Error {
    Error::Format(format!(
        "the schedule is not {{\"edges_per_step\": ...}} or {{\"pairwise\": ...}}: {error}"
    ))
}

/// Refuses what would not fit in memory: every step has a matrix of its own, with an entry for each node.
fn check_size(nodes: usize, steps: usize) -> Result<()> {
    check_nodes("nodes", nodes)?;
    if nodes.saturating_mul(steps) <= MOST_NODES {
        return Ok(());
    }
    let remedy = format!(
        "give at most {MOST_NODES} nodes in all steps together; nodes are numbered from 0, without gaps"
    );
    Err(Error::parameter("schedule", format!("{nodes} nodes in each of {steps} steps"), remedy))
}

fn empty(field: &'static str) -> Error {
    Error::parameter(field, "empty", "give at least one step")
}

/// Running sums of edge probabilities.
fn cumulative(graph: &Graph, probabilities: &[f64]) -> Result<Vec<f64>> {
    let remedy = format!("give one for each of the {} edges", graph.edge_count());
    require(probabilities.len() == graph.edge_count(), "probabilities", probabilities.len(), remedy)?;
    let mut sum = 0.0;
    let mut sums = Vec::with_capacity(probabilities.len());
    for ((u, v), &p) in graph.edges().zip(probabilities) {
        let value = format_args!("{p} for edge ({u}, {v})");
        require(p.is_finite() && p >= 0.0, "probabilities", value, "give a number from 0 to 1")?;
        sum += p;
        sums.push(sum);
    }
    // Plain sums of many probabilities may exceed 1 by rounding.
    if sum > 1.0 + 1e-9 {
        let remedy = "they must sum to at most 1; rescale them";
        return Err(Error::parameter("probabilities", format!("{sum} in sum"), remedy));
    }
    Ok(sums)
}

#[cfg(test)]
mod tests;
