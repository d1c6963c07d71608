//! Pairs of peers by how far apart they are.

/// Parts of all pairs, by Euclidean distance.
pub(super) const QUANTILES: usize = 10;

/// Pairs of peers by quantile of distance.
pub(super) struct Pairs<'a> {
    positions: &'a [(f64, f64)],
    /// Of each quantile; `u < v`.
    parts: Vec<Vec<(usize, usize)>>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(positions: &'a [(f64, f64)]) -> Self {
        let mut this = Self { positions, parts: Vec::new() };
        let n = positions.len();
        let mut all: Vec<(usize, usize)> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
        all.sort_by(|a, b| this.distance(a.0, a.1).total_cmp(&this.distance(b.0, b.1)));
        let bound = |q: usize| q * all.len() / QUANTILES;
        this.parts = (0..QUANTILES).map(|q| all[bound(q)..bound(q + 1)].to_vec()).collect();
        this
    }

    pub(super) fn distance(&self, u: usize, v: usize) -> f64 {
        let ((a, b), (c, d)) = (self.positions[u], self.positions[v]);
        (a - c).hypot(b - d)
    }

    /// The mean of each part, over both directions.
    pub(super) fn means(&self, value: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mean = |part: &Vec<(usize, usize)>| {
            let sum: f64 = part.iter().map(|&(u, v)| value(u, v) + value(v, u)).sum();
            sum / (2 * part.len()) as f64
        };
        self.parts.iter().map(mean).collect()
    }
}
