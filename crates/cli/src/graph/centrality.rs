//! Who is central, and who is close to whom.

use std::fmt;

use anyhow::bail;
use serde::Serialize;
use sottovoce::names::Names;
use sottovoce_topology::Graph;
use sottovoce_topology::centrality::{eigenvector, katz, walk_communicability};
use sottovoce_topology::mixing::{Mixing, Weights};

/// Most nodes: the matrix of all pairs is printed as JSON.
const MOST: usize = 2000;
/// So many of the most central are shown.
const SHOWN: usize = 5;

/// Centralities of every node, and communicability of every pair.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Centrality {
    /// What each further hop is multiplied by in Katz centrality.
    katz_alpha: f64,
    /// Katz centrality of every node.
    katz: Vec<f64>,
    /// Eigenvector centrality of every node; the largest is 1.
    eigenvector: Vec<f64>,
    /// How well every two nodes communicate: exp of the transitions.
    communicability: Vec<Vec<f64>>,
}

impl Centrality {
    pub(super) fn new(graph: &Graph, weights: Weights, lazy: f64) -> anyhow::Result<Self> {
        let nodes = graph.nodes();
        if nodes > MOST {
            bail!(
                "`centrality` is asked for of {nodes} nodes: it lists all pairs, and is kept to {MOST} nodes; leave it out"
            );
        }
        let mixing = Mixing::new(graph, weights).lazy(lazy)?;
        let found = katz(graph, None)?;
        Ok(Self {
            katz_alpha: found.alpha,
            katz: found.centrality.values,
            eigenvector: eigenvector(graph),
            communicability: walk_communicability(&mixing)?,
        })
    }

    /// The most central nodes, or with `all` every one; and the closest pair.
    pub(super) fn show(&self, f: &mut fmt::Formatter<'_>, names: &Names, all: bool) -> fmt::Result {
        let mut order: Vec<usize> = (0..self.katz.len()).collect();
        order.sort_by(|&a, &b| self.katz[b].total_cmp(&self.katz[a]).then(a.cmp(&b)));
        let shown = if all { order.len() } else { SHOWN };
        writeln!(f, "\n  {:<24} {:>12} {:>12} {:>16}", "most central", "Katz", "eigenvector", "closest to")?;
        for &u in order.iter().take(shown) {
            let others = (0..order.len()).filter(|&v| v != u);
            let closest = others.max_by(|&a, &b| {
                self.communicability[u][a].total_cmp(&self.communicability[u][b]).then(b.cmp(&a))
            });
            let closest = closest.map_or(String::new(), |v| names.of(v));
            let (name, katz) = (names.cell(u, 24), self.katz[u]);
            writeln!(f, "  {name} {katz:>12.4} {:>12.4} {closest:>16}", self.eigenvector[u])?;
        }
        Ok(())
    }
}
