//! Graph families: the named graphs of the papers, drawn from a seed.
//!
//! A [`Family`] is plain data; [`generate`] turns it into a [`Graph`] that is a function of the family and the seed
//! alone. Every family costs time linear in nodes and edges, except [`Family::GeometricFiedler`], which computes
//! eigenvalues.

mod block;
mod check;
mod davis;
mod draw;
mod fiedler;
mod fixed;
mod geometric;
mod growth;
mod regular;
mod sizes;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::fmt;

pub use fiedler::{FIEDLER_TOLERANCE, FiedlerDraw, geometric_at_fiedler};
pub use sizes::{radius_reaching, root, share_of_pairs};

use crate::{Graph, Result};
use draw::Draw;

/// Draws of a random family before a connected one is given up on.
const TRIES: u32 = 100;

/// Nodes and edges drawn before a connected graph is given up on: for large graphs this ends the search earlier.
const WORK: usize = 100_000_000;

/// Numbers that keep the random streams of the families apart.
mod purpose {
    pub(super) const ERDOS_RENYI: u32 = 1;
    pub(super) const REGULAR: u32 = 2;
    pub(super) const GEOMETRIC: u32 = 3;
    pub(super) const FIEDLER: u32 = 4;
    pub(super) const BLOCK: u32 = 5;
    pub(super) const BARABASI_ALBERT: u32 = 6;
    pub(super) const WATTS_STROGATZ: u32 = 7;
}

/// A family of graphs with its parameters, which are checked by [`generate`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Family {
    /// The cycle on `n >= 3` nodes.
    Ring {
        /// Nodes.
        n: usize,
    },
    /// The line on `n` nodes.
    Path {
        /// Nodes.
        n: usize,
    },
    /// Node 0 joined to all others.
    Star {
        /// Nodes, the centre included.
        n: usize,
    },
    /// All pairs of `n` nodes.
    Complete {
        /// Nodes.
        n: usize,
    },
    /// A rectangle without wrap-around; node `(r, c)` is `r * cols + c`.
    Grid {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// A grid of any dimension that wraps around in each; the last coordinate varies fastest.
    ///
    /// Sides must be at least 3. With side 2 the step forward and the step back lead to the same node, so the edge
    /// would be double; such sides are refused, since a simple graph cannot tell a 2-torus from a path of 2.
    Torus {
        /// Length of each side.
        sides: Vec<usize>,
    },
    /// `2^dimension` nodes, joined when their numbers differ in one bit.
    Hypercube {
        /// Bits of a node's number, 1 to 26.
        dimension: u32,
    },
    /// Node `i` joined to `i ± 2^k` modulo `n`, for every `2^k < n`.
    Exponential {
        /// Nodes.
        n: usize,
    },
    /// Erdős–Rényi `G(n, p)`: each pair is an edge independently with probability `p`.
    ErdosRenyi {
        /// Nodes.
        n: usize,
        /// Probability of an edge.
        p: f64,
    },
    /// Every node has `degree` neighbours; random pairing with switching, uniform in the limit of large `n`.
    RandomRegular {
        /// Nodes; `n * degree` must be even.
        n: usize,
        /// Neighbours of each node, below `n`.
        degree: usize,
    },
    /// Uniform points of the unit square, joined at distance at most `radius`. Keeps coordinates.
    Geometric {
        /// Nodes.
        n: usize,
        /// Largest distance that is an edge.
        radius: f64,
    },
    /// As `Geometric`, with the radius chosen so that the second smallest Laplacian eigenvalue divided by `n` is near
    /// a target; [`geometric_at_fiedler`] also returns the value achieved.
    GeometricFiedler {
        /// Nodes.
        n: usize,
        /// Normalised Fiedler value, above 0 and up to 1.
        target: f64,
    },
    /// The stochastic block model: consecutive blocks of nodes, edges independent given the blocks.
    StochasticBlock {
        /// Nodes in each block.
        sizes: Vec<usize>,
        /// Probability of an edge between each pair of blocks: square and symmetric.
        probabilities: Vec<Vec<f64>>,
    },
    /// Preferential attachment from a star on `m + 1` nodes; each newcomer brings `m` edges.
    BarabasiAlbert {
        /// Nodes.
        n: usize,
        /// Edges brought by each newcomer.
        m: usize,
    },
    /// A ring lattice with `k` neighbours each, whose edges are rewired with probability `beta`.
    WattsStrogatz {
        /// Nodes.
        n: usize,
        /// Neighbours before rewiring: even, below `n`.
        k: usize,
        /// Probability of rewiring an edge.
        beta: f64,
    },
    /// Davis's southern women and the events they attended: 32 named nodes, 89 edges.
    Davis,
}

impl Family {
    /// A stochastic block model with one probability inside blocks and another between them.
    pub fn planted_partition(sizes: Vec<usize>, p_in: f64, p_out: f64) -> Self {
        let blocks = sizes.len();
        let row = |a: usize| (0..blocks).map(|b| if a == b { p_in } else { p_out }).collect();
        Self::StochasticBlock { probabilities: (0..blocks).map(row).collect(), sizes }
    }

    /// The name users write.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ring { .. } => "ring",
            Self::Path { .. } => "path",
            Self::Star { .. } => "star",
            Self::Complete { .. } => "complete",
            Self::Grid { .. } => "grid",
            Self::Torus { .. } => "torus",
            Self::Hypercube { .. } => "hypercube",
            Self::Exponential { .. } => "exponential",
            Self::ErdosRenyi { .. } => "erdos-renyi",
            Self::RandomRegular { .. } => "random-regular",
            Self::Geometric { .. } => "geometric",
            Self::GeometricFiedler { .. } => "geometric-fiedler",
            Self::StochasticBlock { .. } => "stochastic-block",
            Self::BarabasiAlbert { .. } => "barabasi-albert",
            Self::WattsStrogatz { .. } => "watts-strogatz",
            Self::Davis => "davis",
        }
    }

    /// Whether the seed matters.
    pub fn is_random(&self) -> bool {
        use Family::*;
        !matches!(
            self,
            Ring { .. }
                | Path { .. }
                | Star { .. }
                | Complete { .. }
                | Grid { .. }
                | Torus { .. }
                | Hypercube { .. }
                | Exponential { .. }
                | Davis
        )
    }

    /// What to change when draws keep falling apart.
    fn remedy(&self) -> String {
        match *self {
            Self::ErdosRenyi { n, .. } => {
                let n = n as f64;
                format!("raise p above ln(n)/n = {:.3e}", n.ln() / n)
            }
            Self::Geometric { n, .. } => {
                let n = n as f64;
                format!(
                    "raise radius above sqrt(ln(n)/(pi n)) = {:.3e}",
                    (n.ln() / (std::f64::consts::PI * n)).sqrt()
                )
            }
            Self::RandomRegular { .. } => "raise degree to 3 or more".into(),
            Self::StochasticBlock { .. } => "raise the probabilities, inside and between blocks".into(),
            Self::WattsStrogatz { .. } => "raise k or lower beta".into(),
            _ => "choose another family".into(),
        }
    }

    /// The graph of one attempt.
    fn attempt(&self, seed: u64, attempt: u32) -> Result<Graph> {
        let draw = |purpose| Draw::new(seed, purpose, attempt);
        match self {
            &Self::Ring { n } => fixed::ring(n),
            &Self::Path { n } => fixed::path(n),
            &Self::Star { n } => fixed::star(n),
            &Self::Complete { n } => fixed::complete(n),
            &Self::Grid { rows, cols } => fixed::grid(rows, cols),
            Self::Torus { sides } => fixed::torus(sides),
            &Self::Hypercube { dimension } => fixed::hypercube(dimension),
            &Self::Exponential { n } => fixed::exponential(n),
            &Self::ErdosRenyi { n, p } => block::erdos_renyi(n, p, &mut draw(purpose::ERDOS_RENYI)),
            &Self::RandomRegular { n, degree } => {
                regular::random_regular(n, degree, &mut draw(purpose::REGULAR))
            }
            &Self::Geometric { n, radius } => {
                geometric::random_geometric(n, radius, &mut draw(purpose::GEOMETRIC))
            }
            &Self::GeometricFiedler { n, target } => Ok(geometric_at_fiedler(n, target, seed)?.graph),
            Self::StochasticBlock { sizes, probabilities } => {
                block::stochastic_block(sizes, probabilities, &mut draw(purpose::BLOCK))
            }
            &Self::BarabasiAlbert { n, m } => {
                growth::barabasi_albert(n, m, &mut draw(purpose::BARABASI_ALBERT))
            }
            &Self::WattsStrogatz { n, k, beta } => {
                growth::watts_strogatz(n, k, beta, &mut draw(purpose::WATTS_STROGATZ))
            }
            Self::Davis => davis::davis(),
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Ring { n } | Self::Path { n } | Self::Star { n } => write!(f, "(n={n})"),
            Self::Complete { n } | Self::Exponential { n } => write!(f, "(n={n})"),
            Self::Grid { rows, cols } => write!(f, "(rows={rows}, cols={cols})"),
            Self::Torus { sides } => write!(f, "(sides={sides:?})"),
            Self::Hypercube { dimension } => write!(f, "(dimension={dimension})"),
            Self::ErdosRenyi { n, p } => write!(f, "(n={n}, p={p})"),
            Self::RandomRegular { n, degree } => write!(f, "(n={n}, degree={degree})"),
            Self::Geometric { n, radius } => write!(f, "(n={n}, radius={radius})"),
            Self::GeometricFiedler { n, target } => write!(f, "(n={n}, target={target})"),
            Self::StochasticBlock { sizes, probabilities } => {
                write!(f, "(sizes={sizes:?}, probabilities={probabilities:?})")
            }
            Self::BarabasiAlbert { n, m } => write!(f, "(n={n}, m={m})"),
            Self::WattsStrogatz { n, k, beta } => write!(f, "(n={n}, k={k}, beta={beta})"),
            Self::Davis => Ok(()),
        }
    }
}

/// Generates a graph of the family; the same family and seed always give the same graph.
///
/// With `connected`, a random family is redrawn (each attempt has its own random stream) until the graph is connected;
/// after 100 attempts, or 10^8 nodes and edges in all, that is given up with a remedy.
///
/// ```
/// use sottovoce_topology::family::{Family, generate};
/// let family = Family::ErdosRenyi { n: 100, p: 0.06 };
/// let graph = generate(&family, 7, true)?;
/// assert!(graph.is_connected());
/// assert_eq!(graph, generate(&family, 7, true)?);
/// assert_eq!(family.to_string(), "erdos-renyi(n=100, p=0.06)");
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn generate(family: &Family, seed: u64, connected: bool) -> Result<Graph> {
    let mut graph = family.attempt(seed, 0)?;
    let (mut draws, mut work) = (1, 0);
    while connected && !graph.is_connected() {
        work += graph.nodes() + graph.edge_count();
        if !family.is_random() || draws == TRIES || work > WORK {
            graph.require_connected(format!("{family} was drawn {draws} times; {}", family.remedy()))?;
        }
        graph = family.attempt(seed, draws)?;
        draws += 1;
    }
    Ok(graph)
}
