//! The graphs that several papers share: four of about 2048 peers, and the friends of ten people (SNAP's Facebook data).

use std::path::Path;

use sottovoce_topology::Graph;
use sottovoce_topology::family::Family;
use sottovoce_topology::io::{Format, read_file};

use crate::{Error, Result};

/// All ten people.
pub(super) const EGOS: [u64; 10] = [0, 107, 348, 414, 686, 698, 1684, 1912, 3437, 3980];
/// Those whose friends are few enough to try things out.
pub(super) const SMALL_EGOS: [u64; 2] = [698, 3980];
/// Where they lie in the data folder.
const FOLDER: &str = "facebook-ego";

/// Said where there are no data.
pub(super) const NO_EGOS: &str =
    "it needs the Facebook graphs; give --data DIR, a folder with facebook-ego/N.edges (SNAP)";

/// The four graphs, by the names used here; the edges of the random one have probability `factor` `ln(n)/n`.
pub(super) fn four(quick: bool, factor: f64) -> [(&'static str, Family); 4] {
    let (dimension, side) = if quick { (7, 11) } else { (11, 45) };
    let n = 1usize << dimension;
    // The papers' radius, scaled to the same number of neighbours.
    let radius = 0.07 * (2048.0 / n as f64).sqrt();
    [
        ("hypercube", Family::Hypercube { dimension }),
        ("Erdős–Rényi", Family::ErdosRenyi { n, p: factor * (n as f64).ln() / n as f64 }),
        ("geometric", Family::Geometric { n, radius }),
        ("grid", Family::Grid { rows: side, cols: side }),
    ]
}

/// The largest component of one person's friends.
pub(super) fn ego(data: &Path, number: u64) -> Result<Graph> {
    let path = data.join(FOLDER).join(format!("{number}.edges"));
    let unread = |problem| format!("{FOLDER}/{number}.edges cannot be read: {problem}");
    let graph = read_file(&path, Some(Format::Snap))
        .map_err(|problem| Error::parameter("data", data.display(), unread(problem)))?;
    Ok(graph.graph.largest_component()?)
}
