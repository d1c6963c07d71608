//! The two quadratic forms whose smallest eigenvalues the spectrum is made of.
//!
//! For a symmetric stochastic `W` with off-diagonal weights `w`,
//!
//! ```text
//! x' (I - W) x = sum over edges of w (x_u - x_v)²                                the Laplacian:  1 - lambda
//! x' (I + W) x = sum over edges of w (x_u + x_v)² + sum over nodes of 2 W_uu x_u²   the sum form:   1 + lambda
//! ```
//!
//! Working edge by edge, never with `W` itself, keeps the *relative* accuracy of a small gap: on a ring of 10^5 nodes
//! the gap is 2e-9, and `1 - lambda_2` computed from a rounded `lambda_2` would have lost half its digits.

use crate::Graph;

/// Half a unit in the last place of 1: the relative error of one operation.
pub(crate) const ROUNDING: f64 = f64::EPSILON / 2.0;

/// `(B x)_u = slack_u x_u + sum over neighbours of w_uv (x_u + sign x_v)`; positive semi-definite.
#[derive(Debug, Clone)]
pub(crate) struct EdgeForm {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    slack: Vec<f64>,
    sign: f64,
}

impl EdgeForm {
    /// The plain graph Laplacian `D - A`.
    pub(crate) fn laplacian(graph: &Graph) -> Self {
        let (offsets, targets) = graph.rows();
        let weights = vec![1.0; targets.len()];
        Self::new(offsets, targets, &weights, vec![0.0; graph.nodes()], -1.0)
    }

    /// A form over the positive weights of `rows`; edges of weight zero are dropped, so they connect nothing.
    pub(crate) fn new(
        offsets: &[usize],
        targets: &[u32],
        weights: &[f64],
        slack: Vec<f64>,
        sign: f64,
    ) -> Self {
        let mut form = Self { offsets: vec![0], targets: Vec::new(), weights: Vec::new(), slack, sign };
        for row in offsets.windows(2) {
            for i in (row[0]..row[1]).filter(|&i| weights[i] > 0.0) {
                form.targets.push(targets[i]);
                form.weights.push(weights[i]);
            }
            form.offsets.push(form.targets.len());
        }
        form
    }

    pub(crate) fn order(&self) -> usize {
        self.slack.len()
    }

    /// Neighbours of `u` with their weights, in node order.
    pub(crate) fn row(&self, u: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[u]..self.offsets[u + 1];
        self.targets[range.clone()].iter().map(|&v| v as usize).zip(self.weights[range].iter().copied())
    }

    pub(crate) fn slack(&self) -> &[f64] {
        &self.slack
    }

    /// -1 for the Laplacian, +1 for the sum form.
    pub(crate) fn sign(&self) -> f64 {
        self.sign
    }

    /// `out = B x`.
    pub(crate) fn apply(&self, x: &[f64], out: &mut [f64]) {
        for (u, out) in out.iter_mut().enumerate() {
            *out =
                self.slack[u] * x[u] + self.row(u).map(|(v, w)| w * (x[u] + self.sign * x[v])).sum::<f64>();
        }
    }

    /// The entry `B_uv` of the dense matrix, row by row: `(v, B_uv)` for `v != u`, and the diagonal last.
    pub(crate) fn entries(&self, u: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let diagonal = self.slack[u] + self.row(u).map(|(_, w)| w).sum::<f64>();
        self.row(u).map(|(v, w)| (v, self.sign * w)).chain([(u, diagonal)])
    }

    /// An upper bound on the largest eigenvalue (Gershgorin).
    pub(crate) fn norm(&self) -> f64 {
        let row = |u: usize| self.slack[u] + 2.0 * self.row(u).map(|(_, w)| w).sum::<f64>();
        (0..self.order()).map(row).fold(0.0, f64::max)
    }

    /// The Rayleigh quotient `y' B y / y' y`, from terms that are all positive: right to a few units in the last
    /// place.
    pub(crate) fn quotient(&self, y: &[f64]) -> f64 {
        let energy = |u: usize| {
            let edges = self.row(u).map(|(v, w)| w * (y[u] + self.sign * y[v]).powi(2)).sum::<f64>();
            // Each edge is seen from both of its ends.
            edges / 2.0 + self.slack[u] * y[u] * y[u]
        };
        (0..self.order()).map(energy).sum::<f64>() / y.iter().map(|y| y * y).sum::<f64>()
    }

    /// `out = B y - theta y`, and a bound on `|B y - theta y| / |y|` that holds for the exact product, not only the
    /// rounded one.
    ///
    /// Each row is a sum of at most `d + 1` products of rounded differences, so its error is at most `(d + 4)`
    /// roundings of the sum of absolute values, which is computed along. For a smooth `y` that sum is small, and so
    /// is the error.
    pub(crate) fn residual(&self, y: &[f64], theta: f64, out: &mut [f64]) -> f64 {
        let (mut squares, mut doubt, mut length) = (0.0, 0.0, 0.0);
        for (u, out) in out.iter_mut().enumerate() {
            let own = self.slack[u] * y[u];
            let (mut sum, mut absolute) = (own, own.abs());
            for (v, w) in self.row(u) {
                let term = w * (y[u] + self.sign * y[v]);
                sum += term;
                absolute += term.abs();
            }
            let terms = (self.offsets[u + 1] - self.offsets[u] + 4) as f64;
            *out = sum - theta * y[u];
            squares += *out * *out;
            doubt += (terms * absolute).powi(2);
            length += y[u] * y[u];
        }
        // A norm of n terms is itself right to n/2 + 1 roundings; 1.01 covers the second order of all of them.
        let inflate = 1.01 + self.order() as f64 * ROUNDING;
        inflate * ((squares / length).sqrt() + ROUNDING * (doubt / length).sqrt())
            + 4.0 * ROUNDING * theta.abs()
    }

    /// The smallest slack, taken off every node: the form is the identity times that number, plus what is left.
    ///
    /// A lazy matrix thereby becomes the one it was made from, whose small eigenvalues are easier to find.
    pub(crate) fn without_common_slack(mut self) -> (f64, Self) {
        let common = self.slack.iter().copied().fold(f64::INFINITY, f64::min);
        self.slack.iter_mut().for_each(|slack| *slack -= common);
        (common, self)
    }

    /// The number of connected components, and whether one of them is bipartite without slack.
    ///
    /// These are the exact zeros: a Laplacian has one null vector per component, a sum form one per such bipartition.
    pub(crate) fn pieces(&self) -> (usize, bool) {
        let mut color = vec![0i8; self.order()];
        let (mut pieces, mut balanced) = (0, false);
        for start in 0..self.order() {
            if color[start] == 0 {
                pieces += 1;
                balanced |= self.paint(start, &mut color);
            }
        }
        (pieces, balanced)
    }

    /// Two-colours the component of `start`; whether that succeeds and no node of it has slack.
    fn paint(&self, start: usize, color: &mut [i8]) -> bool {
        let mut balanced = true;
        let mut stack = vec![start];
        color[start] = 1;
        while let Some(u) = stack.pop() {
            balanced &= self.slack[u] == 0.0;
            for (v, _) in self.row(u) {
                balanced &= color[v] != color[u];
                if color[v] == 0 {
                    color[v] = -color[u];
                    stack.push(v);
                }
            }
        }
        balanced
    }
}
