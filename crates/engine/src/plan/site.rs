//! A graph to choose from, with what the planner needs to know of it; and the families it looks at by itself.

use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate, root};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::paths;
use sottovoce_topology::spectrum::{Spectrum, chebyshev_weight, pairwise_rate};
use sottovoce_views::utility::{accelerated_contraction, contraction};

use crate::{Error, Result, require};

/// Names that [`family`] knows.
pub const FAMILIES: [&str; 9] =
    ["hypercube", "random-regular", "exponential", "ring", "complete", "star", "path", "grid", "torus"];

/// Peers beyond which a plan would take hours: errors grow with the square of their number.
const MOST_PEERS: usize = 10_000;

/// Steps beyond which a graph is too slow to look at.
const MOST_STEPS: usize = 2000;

/// Messages an observer hears, beyond which relay noise takes too long to account for.
const MOST_HEARD: f64 = 320.0;

/// Spread of the private values left, relative to that of one peer, below which more steps are not worth looking at.
const MIXED: f64 = 1e-6;

/// A graph with its weights.
#[derive(Debug, Clone)]
pub struct Site {
    /// What it is called in the table.
    pub name: String,
    /// The weights.
    pub mixing: Mixing,
    /// Spectral gap, not above the truth.
    pub gap: f64,
    /// Chebyshev weight that belongs to it.
    pub gamma: f64,
    /// Contraction per step of pairwise gossip.
    pub pairwise: f64,
    /// Largest distance.
    pub diameter: u32,
}

impl Site {
    /// Looks at a graph; refuses one that is in pieces or never mixes.
    pub fn new(name: impl Into<String>, mixing: Mixing) -> Result<Self> {
        let name = name.into();
        let remedy = "give at least 3 peers, or there is nobody to hide among";
        require(mixing.nodes() >= 3, "peers", mixing.nodes(), remedy)?;
        let remedy = format!("give at most {MOST_PEERS}, or plan on a smaller graph of the same kind");
        require(mixing.nodes() <= MOST_PEERS, "peers", mixing.nodes(), remedy)?;
        mixing.check()?;
        let remedy = "averaging needs a connected graph: add edges, or take its largest component";
        mixing.graph().require_connected(remedy)?;
        let found = Spectrum::of(&mixing)?.gap;
        let gap = found.lower().min(1.0);
        if gap <= 0.0 {
            return Err(Error::parameter(
                "weights",
                format!("such that {name} never mixes (its gap is {})", found.value),
                "use --weights metropolis-plus-one or --lazy 0.1",
            ));
        }
        let diameter = paths::summary(mixing.graph())?.diameter;
        let (gamma, pairwise) = (chebyshev_weight(gap)?, pairwise_rate(&mixing)?);
        Ok(Self { name, mixing, gap, gamma, pairwise, diameter })
    }

    /// A graph of a family, with weights that mix on every graph.
    pub fn of_family(family: &Family, seed: u64) -> Result<Self> {
        let graph = generate(family, seed, true)?;
        Self::new(family.to_string(), Mixing::new(&graph, Weights::default()))
    }

    /// Number of peers.
    pub fn nodes(&self) -> usize {
        self.mixing.nodes()
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        self.mixing.graph()
    }

    /// Mean number of neighbours.
    pub fn mean_degree(&self) -> f64 {
        2.0 * self.graph().edge_count() as f64 / self.nodes() as f64
    }

    /// Steps of plain gossip worth looking at. A function of the graph alone, so that a looser target finds no fewer.
    pub fn steps(&self) -> usize {
        self.first(|t| contraction(self.gap, t))
    }

    /// Steps of accelerated gossip worth looking at.
    pub fn accelerated_steps(&self) -> usize {
        self.first(|t| accelerated_contraction(self.gap, self.gamma, t))
    }

    /// Steps with relay noise worth looking at: the work grows with the cube of the messages heard.
    pub fn relay_steps(&self) -> usize {
        let cube = |u| (self.graph().degree(u) as f64).powi(3);
        let heard = ((0..self.nodes()).map(cube).sum::<f64>() / self.nodes() as f64).cbrt();
        self.steps().min((MOST_HEARD / heard) as usize).max(2)
    }

    fn first(&self, contraction: impl Fn(usize) -> f64) -> usize {
        let enough = MIXED / self.nodes() as f64;
        (1..MOST_STEPS).find(|&t| contraction(t) <= enough).unwrap_or(MOST_STEPS)
    }
}

/// The families the planner looks at where none is named: those that make sense for so many peers.
pub fn default_families(nodes: usize) -> Vec<&'static str> {
    let mut names = vec!["random-regular", "exponential", "ring"];
    if nodes.is_power_of_two() {
        names.insert(0, "hypercube");
    }
    if regular_degree(nodes) + 1 >= nodes {
        names.retain(|name| *name != "random-regular");
    }
    names
}

/// About `log2 n` neighbours, so that degrees and peers have an even product.
fn regular_degree(nodes: usize) -> usize {
    let degree = ((nodes as f64).log2().round() as usize).max(3);
    degree + (degree * nodes) % 2
}

/// A family by name, for so many peers; `degree` is for random-regular graphs.
pub fn family(name: &str, nodes: usize, degree: Option<usize>) -> Result<Family> {
    require(nodes >= 4, "peers", nodes, "give at least 4 peers")?;
    let n = nodes;
    let side = |power| {
        root(n, power).ok_or_else(|| {
            Error::parameter(
                "families",
                name,
                format!("{n} peers make no square; give another family or number of nodes"),
            )
        })
    };
    Ok(match name {
        "hypercube" if n.is_power_of_two() => Family::Hypercube { dimension: n.ilog2() },
        "hypercube" => {
            let remedy = format!("{n} is no power of two; give another family or number of nodes");
            return Err(Error::parameter("families", "hypercube", remedy));
        }
        "random-regular" => Family::RandomRegular { n, degree: degree.unwrap_or_else(|| regular_degree(n)) },
        "exponential" => Family::Exponential { n },
        "ring" => Family::Ring { n },
        "complete" => Family::Complete { n },
        "star" => Family::Star { n },
        "path" => Family::Path { n },
        "grid" => Family::Grid { rows: side(2)?, cols: side(2)? },
        "torus" => Family::Torus { sides: vec![side(2)?; 2] },
        _ => return Err(Error::parameter("families", name, format!("give some of {}", FAMILIES.join(", ")))),
    })
}
