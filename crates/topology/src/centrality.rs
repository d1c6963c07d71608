//! Who is central, and who is close to whom: communicability and Katz centrality, which the random-walk paper compares privacy losses
//! with.
//!
//! Communicability is `exp(A)` for the adjacency matrix `A` (Estrada and Hatano): walks of length `k` count `1/k!`.
//! Every term of its series is non-negative, so summing it loses no digits, not even in entries that are tiny beside
//! the largest; an eigendecomposition would drown them (the random-walk paper plots them on a logarithmic scale). Katz centrality is `(I
//! - alpha A)^-1 1`: walks of length `k` count `alpha^k`.

use crate::mixing::Mixing;
use crate::{Error, Graph, Result, require};
use sottovoce_dense::Mat;

/// Above this many nodes the full matrix is refused (three matrices of 134 MB each); rows are available for any
/// graph.
pub const FULL_LIMIT: usize = 4096;

/// Terms of the series for a matrix of norm at most 1; the remainder is below `1/30! = 4e-33`.
const TERMS: usize = 30;

/// The full communicability matrix `exp(A)`, for at most [`FULL_LIMIT`] nodes.
///
/// By scaling and squaring: the series for `A / 2^s` of norm at most 1, squared `s` times. Each entry has a relative
/// error of at most about `2^s n` roundings (1e-10 for a thousand nodes), except those more than 30 hops apart, which
/// are too small by more.
///
/// ```
/// use sottovoce_topology::{Graph, centrality::communicability};
/// let pair = Graph::from_edges(2, [(0, 1)])?;
/// assert!((communicability(&pair)?[0][1] - 1f64.sinh()).abs() < 1e-15);
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn communicability(graph: &Graph) -> Result<Vec<Vec<f64>>> {
    let n = graph.nodes();
    let remedy = format!("the full matrix is kept to {FULL_LIMIT} nodes; use communicability_row");
    require(n <= FULL_LIMIT, "nodes", n, remedy)?;
    // The largest entry is at least e^lambda / n: no need to find out by squaring.
    if largest_eigenvalue(graph).0 - (n as f64).ln() > f64::MAX.ln() {
        return Err(overflow(graph));
    }
    let neighbours = |u: usize, value: &dyn Fn(usize) -> f64| {
        graph.neighbors(u).iter().map(|&v| value(v as usize)).sum::<f64>()
    };
    exponential(n, norm_bound(graph), neighbours).ok_or_else(|| overflow(graph))
}

/// Communicability as the random-walk paper defines it: `exp(W)` for the transitions `W` of a walk (its Definition 8), for at most
/// [`FULL_LIMIT`] nodes. Unlike [`communicability`], a hop from a peer with many neighbours counts little.
///
/// ```
/// use sottovoce_topology::mixing::{Mixing, Weights};
/// use sottovoce_topology::{Graph, centrality::walk_communicability};
/// let pair = Mixing::new(&Graph::from_edges(2, [(0, 1)])?, Weights::MetropolisPlusOne);
/// // Both eigenvectors: exp(1) for (1, 1), exp(0) for (1, -1).
/// assert!((walk_communicability(&pair)?[0][1] - (1f64.exp() - 1.0) / 2.0).abs() < 1e-15);
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn walk_communicability(mixing: &Mixing) -> Result<Vec<Vec<f64>>> {
    let n = mixing.nodes();
    let remedy = format!("the full matrix is kept to {FULL_LIMIT} nodes");
    require(n <= FULL_LIMIT, "nodes", n, remedy)?;
    let row = |u: usize, value: &dyn Fn(usize) -> f64| {
        let others: f64 = mixing.row(u).map(|(v, weight)| weight * value(v)).sum();
        others + mixing.diagonal()[u] * value(u)
    };
    // Rows sum to 1: no entry is above e.
    Ok(exponential(n, 1.0, row).unwrap_or_default())
}

/// `exp(M)` for a matrix of norm at most `norm` without negative entries, of which `row(u, x)` is the product of row `u` and `x`; none
/// where it overflows. By scaling and squaring.
fn exponential(
    n: usize,
    norm: f64,
    row: impl Fn(usize, &dyn Fn(usize) -> f64) -> f64,
) -> Option<Vec<Vec<f64>>> {
    let squarings = norm.max(1.0).log2().ceil() as i32;
    let scale = 2f64.powi(-squarings);
    let (mut sum, mut term) = (Mat::identity(n), Mat::identity(n));
    for k in 1..=TERMS {
        let mut next = Mat::zeros(n, n);
        for column in 0..n {
            for u in 0..n {
                let walks = row(u, &|v| term[(v, column)]);
                next[(u, column)] = scale * walks / k as f64;
            }
        }
        term = next;
        sum += &term;
    }
    for _ in 0..squarings {
        sum = &sum * &sum;
    }
    let rows: Vec<Vec<f64>> = (0..n).map(|u| (0..n).map(|v| sum[(u, v)]).collect()).collect();
    rows.iter().flatten().all(|value| value.is_finite()).then_some(rows)
}

/// Values for every node, each within `error_bound` of the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Centrality {
    /// One value per node.
    pub values: Vec<f64>,
    /// The largest error of any of them.
    pub error_bound: f64,
}

/// One row of `exp(A)`: how well `node` communicates with everyone. For graphs of any size.
///
/// Sums the series until the rest is below the rounding errors. With `r >= |A|` and `q = r / (k + 1) < 1` the terms
/// after the `k`-th are at most a geometric series of ratio `q`; roundings add at most `k (d + 3)` units to each sum
/// of `k` terms.
pub fn communicability_row(graph: &Graph, node: usize) -> Result<Centrality> {
    let n = graph.nodes();
    require(node < n, "node", node, format!("node numbers must be below {n}"))?;
    let norm = norm_bound(graph);
    let mut values = vec![0.0; n];
    let (mut term, mut next) = (values.clone(), values.clone());
    (values[node], term[node]) = (1.0, 1.0);
    let mut k = 0.0;
    loop {
        k += 1.0;
        adjacency(graph, &term, &mut next);
        std::mem::swap(&mut term, &mut next);
        term.iter_mut().for_each(|term| *term /= k);
        values.iter_mut().zip(&term).for_each(|(value, term)| *value += term);
        let largest = values.iter().copied().fold(0.0, f64::max);
        if !largest.is_finite() {
            return Err(overflow(graph));
        }
        let ratio = norm / (k + 1.0);
        let rest = if ratio < 1.0 { length(&term) * ratio / (1.0 - ratio) } else { f64::INFINITY };
        if rest <= f64::EPSILON / 4.0 * largest {
            let rounding = k * (max_degree(graph) + 3.0) * f64::EPSILON / 2.0 * largest;
            return Ok(Centrality { values, error_bound: rest + rounding });
        }
    }
}

/// Katz centrality with the damping it was computed for.
#[derive(Debug, Clone, PartialEq)]
pub struct Katz {
    /// The values, not normalised: a node without neighbours has 1.
    pub centrality: Centrality,
    /// What each further hop is multiplied by.
    pub alpha: f64,
}

/// Katz centrality `(I - alpha A)^-1 1`; `alpha` is `0.9 / lambda_max` unless given, and refused from `1 /
/// lambda_max` on.
///
/// Solved by conjugate gradients; the error is at most `|residual| / (1 - alpha lambda_max)`.
///
/// ```
/// use sottovoce_topology::{Graph, centrality::katz};
/// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
/// let katz = katz(&path, Some(0.5))?; // x_1 = 1 + x_0, x_0 = 1 + x_1 / 2
/// assert!((katz.centrality.values[1] - 4.0).abs() < 1e-12);
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn katz(graph: &Graph, alpha: Option<f64>) -> Result<Katz> {
    let (low, high) = largest_eigenvalue(graph);
    // Without edges nothing depends on alpha.
    let alpha = alpha.unwrap_or(if high > 0.0 { 0.9 / high } else { 0.9 });
    let remedy = format!(
        "give a number from 0 to below 1/lambda_max, which is between {} and {}",
        1.0 / high,
        1.0 / low
    );
    require(alpha >= 0.0 && alpha * high < 1.0, "alpha", alpha, remedy)?;
    let operator = |x: &[f64], out: &mut [f64]| {
        adjacency(graph, x, out);
        out.iter_mut().zip(x).for_each(|(out, x)| *out = x - alpha * *out);
    };
    let values = conjugate_gradients(graph.nodes(), operator);
    let mut image = vec![0.0; graph.nodes()];
    operator(&values, &mut image);
    let residual: Vec<f64> = image.iter().map(|image| 1.0 - image).collect();
    let rounding = (max_degree(graph) + 4.0) * f64::EPSILON * length(&values);
    let error_bound = (1.01 * length(&residual) + rounding) / (1.0 - alpha * high);
    if error_bound <= 1e-6 * length(&values) {
        return Ok(Katz { centrality: Centrality { values, error_bound }, alpha });
    }
    let remedy = format!(
        "it is so close to 1/lambda_max = {} that the result is only known to {error_bound:e}; lower it",
        1.0 / high
    );
    Err(Error::parameter("alpha", alpha, remedy))
}

/// Solves `B x = 1` for a symmetric positive definite `B`, until the residual stops shrinking at rounding level.
fn conjugate_gradients(n: usize, operator: impl Fn(&[f64], &mut [f64])) -> Vec<f64> {
    let (mut x, mut residual) = (vec![0.0; n], vec![1.0; n]);
    let (mut direction, mut image) = (residual.clone(), vec![0.0; n]);
    let mut squares = dot(&residual, &residual);
    for _ in 0..10_000 {
        operator(&direction, &mut image);
        let step = squares / dot(&direction, &image);
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        residual.iter_mut().zip(&image).for_each(|(r, image)| *r -= step * image);
        let next = dot(&residual, &residual);
        if next.sqrt() <= 1e-15 * length(&x) {
            break;
        }
        direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + next / squares * *d);
        squares = next;
    }
    x
}

/// An interval that contains the largest eigenvalue of the adjacency matrix.
///
/// Power iteration on `A + I` from the all-ones vector. Below: the Rayleigh quotient. Above: Collatz and Wielandt,
/// the largest ratio `(A x)_u / x_u` for a positive `x`. Both hold for every graph, connected or not, whether or not
/// the iteration has converged.
pub fn largest_eigenvalue(graph: &Graph) -> (f64, f64) {
    let (interval, _) = power_iteration(graph);
    interval
}

/// Eigenvector centrality: the eigenvector of the adjacency matrix's largest eigenvalue, scaled to a largest entry of 1; of a connected
/// graph. An estimate: it carries no bound.
///
/// ```
/// use sottovoce_topology::{Graph, centrality::eigenvector};
/// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
/// assert!((eigenvector(&path)[0] - 0.5f64.sqrt()).abs() < 1e-6);
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn eigenvector(graph: &Graph) -> Vec<f64> {
    power_iteration(graph).1
}

/// Bounds on the largest eigenvalue, and the vector they are from.
fn power_iteration(graph: &Graph) -> ((f64, f64), Vec<f64>) {
    let n = graph.nodes();
    let (mut x, mut image) = (vec![1.0; n], vec![0.0; n]);
    let (mut low, mut high) = (0.0f64, max_degree(graph));
    for _ in 0..2000 {
        adjacency(graph, &x, &mut image);
        low = low.max(dot(&x, &image) / dot(&x, &x));
        high = high.min(x.iter().zip(&image).map(|(x, image)| image / x).fold(0.0, f64::max));
        if high - low <= 1e-12 * high {
            break;
        }
        x.iter_mut().zip(&image).for_each(|(x, image)| *x += image);
        let largest = x.iter().copied().fold(0.0, f64::max);
        // Weaker components fade; the bounds need them positive, not accurate.
        x.iter_mut().for_each(|x| *x = (*x / largest).max(1e-200));
    }
    // Both are ratios of sums of at most n positive terms.
    let slack = (n as f64 + max_degree(graph)) * f64::EPSILON;
    ((low * (1.0 - slack), high * (1.0 + (max_degree(graph) + 2.0) * f64::EPSILON)), x)
}

/// `out = A x`.
fn adjacency(graph: &Graph, x: &[f64], out: &mut [f64]) {
    for (u, out) in out.iter_mut().enumerate() {
        *out = graph.neighbors(u).iter().map(|&v| x[v as usize]).sum();
    }
}

/// `|A| <= max over edges of sqrt(d_u d_v)`: a diagonal similarity by the roots of the degrees, then the largest row
/// sum.
fn norm_bound(graph: &Graph) -> f64 {
    let product = |(u, v)| graph.degree(u) as f64 * graph.degree(v) as f64;
    graph.edges().map(product).fold(0.0, f64::max).sqrt()
}

fn max_degree(graph: &Graph) -> f64 {
    (0..graph.nodes()).map(|u| graph.degree(u)).max().unwrap_or(0) as f64
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn length(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn overflow(graph: &Graph) -> Error {
    let value = format!("degrees up to {}", max_degree(graph));
    Error::parameter(
        "graph",
        value,
        "exp(A) exceeds the largest number, about e^709; use a sparser graph or Katz centrality",
    )
}

#[cfg(test)]
mod tests;
