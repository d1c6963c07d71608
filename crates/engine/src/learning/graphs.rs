//! Graphs that are drawn anew for every gradient step: the `W_t` of Muffliato's Algorithm 3, as its Figure 1c has them.

use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};

use crate::{Error, Result, require};

/// Edges of all graphs together, at most: they take a few gigabytes.
const MOST_EDGES: f64 = 1e8;

/// For each gradient step a connected Erdős–Rényi graph in which two peers are neighbours with probability `factor ln(n)/n`, drawn from the public
/// seed. Each is redrawn until it is connected: below a factor of 1 that may take long, and is refused if it takes too long.
///
/// ```
/// use sottovoce_engine::learning::graphs::fresh;
/// let graphs = fresh(64, 2.0, 3, 7)?;
/// assert!(graphs.len() == 3 && graphs[0] != graphs[1] && graphs.iter().all(|graph| graph.is_connected()));
/// assert_eq!(graphs, fresh(64, 2.0, 3, 7)?);
/// # Ok::<(), sottovoce_engine::Error>(())
/// ```
pub fn fresh(peers: usize, factor: f64, iterations: usize, seed: u64) -> Result<Vec<Graph>> {
    let field = "fresh-graphs";
    require(factor > 0.0 && factor.is_finite(), field, factor, "give a positive, finite number, such as 1")?;
    let n = peers as f64;
    let asked = factor * n.ln() / n;
    let p = if asked < 1.0 { asked } else { 1.0 };
    let edges = (0.5 * p * n + 1.0) * n * iterations as f64;
    let remedy = format!(
        "{iterations} graphs of {peers} peers would have about {edges:.0} edges; give fewer of them, or less"
    );
    require(edges <= MOST_EDGES, field, factor, remedy)?;
    let family = Family::ErdosRenyi { n: peers, p };
    let draw = |iteration: usize| {
        let sparse = |problem| {
            let remedy = format!("no connected graph was found ({problem}); raise it, well above 1");
            Error::parameter(field, factor, remedy)
        };
        generate(&family, Seed(seed).part(1 + iteration as u64).0, true).map_err(sparse)
    };
    (0..iterations).map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for (peers, factor, iterations, said) in [
            (64, 0.0, 2, "`fresh-graphs` is 0: give a positive"),
            (64, f64::NAN, 2, "`fresh-graphs` is NaN: give a positive"),
            (1_000_000, 1.0, 1000, "edges; give fewer"),
            (64, 0.05, 1, "no connected graph was found"),
        ] {
            let error = fresh(peers, factor, iterations, 1).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        // Everyone speaks to everyone where the factor says so.
        assert_eq!(fresh(8, 1e9, 1, 1).unwrap()[0].edge_count(), 28);
        assert_eq!(fresh(1, 1.0, 2, 1).unwrap().len(), 2);
    }
}
