//! The graphs of figure 2 and table 1.

use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

use crate::Options;
use crate::Result;

/// A kind of graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Complete,
    Hypercube,
    Geometric,
    Grid,
}

impl Shape {
    /// Its name; what the paper calls exponential is a hypercube in the authors' code.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Hypercube => "hypercube",
            Self::Geometric => "geometric",
            Self::Grid => "grid",
        }
    }

    /// The graph: of 2048 peers (a grid has 2025), or of 256.
    pub(super) fn mixing(self, options: &Options) -> Result<Mixing> {
        let (dimension, side, radius) = if options.quick { (8, 16, 0.2) } else { (11, 45, 0.07) };
        let n = peers(options);
        let family = match self {
            Self::Complete => Family::Complete { n },
            Self::Hypercube => Family::Hypercube { dimension },
            Self::Geometric => Family::Geometric { n, radius },
            Self::Grid => Family::Grid { rows: side, cols: side },
        };
        Ok(Mixing::new(&generate(&family, options.seed, true)?, Weights::MetropolisPlusOne))
    }
}

/// Number of peers of all graphs but the grid.
pub(super) fn peers(options: &Options) -> usize {
    if options.quick { 256 } else { 2048 }
}
