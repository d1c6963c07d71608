//! Random geometric graphs: points in the unit square, joined when they are near.

use super::check;
use super::draw::Draw;
use crate::{Graph, GraphBuilder, Result, require};

/// `n` points drawn uniformly from the unit square; two are joined when their distance is at most `radius`.
pub(super) fn random_geometric(n: usize, radius: f64, draw: &mut Draw) -> Result<Graph> {
    check::nodes(n, 1, "a geometric graph needs at least 1 node")?;
    let remedy = "give a positive distance (the square has side 1)";
    require(radius.is_finite() && radius > 0.0, "radius", radius, remedy)?;
    let share = (std::f64::consts::PI * radius * radius).min(1.0);
    check::edges("radius", radius, share * n as f64 * n as f64 / 2.0)?;
    near(points(n, draw), radius)
}

/// Uniform points in the unit square.
pub(super) fn points(n: usize, draw: &mut Draw) -> Vec<[f64; 2]> {
    (0..n).map(|_| [draw.unit(), draw.unit()]).collect()
}

/// Squared distance.
pub(super) fn squared(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}

/// Joins points at distance at most `radius`, looking only into the nine cells around each.
fn near(points: Vec<[f64; 2]>, radius: f64) -> Result<Graph> {
    let cells = Cells::new(&points, radius);
    let mut builder = GraphBuilder::new(points.len())?;
    for (u, &point) in points.iter().enumerate() {
        let [column, row] = cells.cell(point);
        for near_row in row.saturating_sub(1)..=(row + 1).min(cells.side - 1) {
            for near_column in column.saturating_sub(1)..=(column + 1).min(cells.side - 1) {
                for &v in cells.members(near_column, near_row) {
                    if u < v as usize && squared(point, points[v as usize]) <= radius * radius {
                        builder.edge(u, v as usize)?;
                    }
                }
            }
        }
    }
    builder.build()?.with_coordinates(points)
}

/// The points sorted into a square grid of cells at least `radius` wide.
struct Cells {
    side: usize,
    starts: Vec<usize>,
    members: Vec<u32>,
}

impl Cells {
    fn new(points: &[[f64; 2]], radius: f64) -> Self {
        // No more cells than about one per point, so that a tiny radius does not cost memory.
        let most = (points.len() as f64).sqrt().ceil();
        let side = (1.0 / radius).floor().clamp(1.0, most) as usize;
        let mut cells = Self { side, starts: vec![0; side * side + 1], members: vec![0; points.len()] };
        let index: Vec<usize> = points.iter().map(|&point| cells.index(cells.cell(point))).collect();
        for &cell in &index {
            cells.starts[cell + 1] += 1;
        }
        for cell in 0..side * side {
            cells.starts[cell + 1] += cells.starts[cell];
        }
        let mut next = cells.starts.clone();
        for (point, &cell) in index.iter().enumerate() {
            cells.members[next[cell]] = point as u32;
            next[cell] += 1;
        }
        cells
    }

    fn cell(&self, point: [f64; 2]) -> [usize; 2] {
        point.map(|at| ((at * self.side as f64) as usize).min(self.side - 1))
    }

    fn index(&self, [column, row]: [usize; 2]) -> usize {
        row * self.side + column
    }

    fn members(&self, column: usize, row: usize) -> &[u32] {
        let index = self.index([column, row]);
        &self.members[self.starts[index]..self.starts[index + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_find_exactly_the_near_pairs() {
        for (seed, radius) in [(1, 0.01), (2, 0.07), (3, 0.3), (4, 0.5), (5, 0.9), (6, 2.0), (7, 1e-9)] {
            let graph = random_geometric(300, radius, &mut Draw::new(seed, 0, 0)).unwrap();
            let points = graph.coordinates().unwrap();
            for u in 0..300 {
                for v in 0..u {
                    let near = squared(points[u], points[v]) <= radius * radius;
                    assert_eq!(graph.has_edge(u, v), near, "radius {radius}, {u} {v}");
                }
            }
        }
    }

    #[test]
    fn the_number_of_edges_is_as_expected() {
        // P(distance <= r) = pi r^2 - 8 r^3/3 + r^4/2 in the unit square. Over 20 seeds of 2000 points the observed
        // mean share differs from it by 1 % at most (the deviation of one graph is about 1 %).
        let (n, r) = (2000usize, 0.05f64);
        let expected = std::f64::consts::PI * r * r - 8.0 * r.powi(3) / 3.0 + r.powi(4) / 2.0;
        let pairs = (n * (n - 1) / 2) as f64;
        let share =
            |seed| random_geometric(n, r, &mut Draw::new(seed, 0, 0)).unwrap().edge_count() as f64 / pairs;
        let mean = (0..20).map(share).sum::<f64>() / 20.0;
        assert!((mean / expected - 1.0).abs() < 0.01, "{mean} against {expected}");
    }

    #[test]
    fn bad_radii_are_refused() {
        for radius in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            let error = random_geometric(5, radius, &mut Draw::new(0, 0, 0)).unwrap_err();
            assert!(error.to_string().starts_with(&format!("`radius` is {radius}")), "{error}");
        }
        assert!(random_geometric(1_000_000, 1.0, &mut Draw::new(0, 0, 0)).is_err());
    }
}
