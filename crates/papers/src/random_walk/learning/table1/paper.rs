//! Table 1 as printed: accuracy and its deviation over 8 runs.

use super::super::graphs::Shape;

/// A row of the paper: mean loss, graph, gossip, random walk.
pub(super) struct Row {
    pub(super) loss: f64,
    pub(super) shape: Shape,
    pub(super) gossip: (f64, f64),
    pub(super) walk: (f64, f64),
}

const fn row(loss: f64, shape: Shape, gossip: (f64, f64), walk: (f64, f64)) -> Row {
    Row { loss, shape, gossip, walk }
}

/// All of it. The paper's exponential graph is a hypercube in the authors' code.
pub(super) static TABLE: [Row; 12] = [
    row(0.5, Shape::Complete, (0.65, 0.10), (0.841, 0.07)),
    row(0.5, Shape::Hypercube, (0.70, 0.10), (0.818, 0.09)),
    row(0.5, Shape::Geometric, (0.60, 0.07), (0.795, 0.06)),
    row(0.5, Shape::Grid, (0.60, 0.07), (0.803, 0.10)),
    row(1.0, Shape::Complete, (0.70, 0.10), (0.900, 0.04)),
    row(1.0, Shape::Hypercube, (0.77, 0.05), (0.883, 0.05)),
    row(1.0, Shape::Geometric, (0.66, 0.10), (0.873, 0.05)),
    row(1.0, Shape::Grid, (0.73, 0.10), (0.848, 0.07)),
    row(2.0, Shape::Complete, (0.83, 0.06), (0.940, 0.02)),
    row(2.0, Shape::Hypercube, (0.89, 0.04), (0.937, 0.01)),
    row(2.0, Shape::Geometric, (0.67, 0.04), (0.933, 0.02)),
    row(2.0, Shape::Grid, (0.72, 0.10), (0.919, 0.02)),
];

/// The rows of one graph, or of one loss.
pub(super) fn rows(keep: impl Fn(&Row) -> bool) -> Vec<&'static Row> {
    TABLE.iter().filter(|row| keep(row)).collect()
}
