//! Sums over all paths of a token, for all pairs of peers.
//!
//! The printed loss of one contribution is `Σ_(i=1..T) (W^i)_uv / i`, and for long walks `ln(T)/n - [ln(I - W + 11ᵀ/n)]_uv`. Both are
//! functions of one symmetric matrix, computed by its eigenvectors: some three seconds for 2000 peers, and eight times that for twice
//! as many.

use faer::{Mat, Side};
use sottovoce_topology::mixing::Mixing;

use crate::error::{Error, check_steps};
use crate::{Result, parallel, require};

/// Most peers whose eigenvectors are worth waiting for: some minutes, and 4 GB.
const MOST_PEERS: usize = 10_000;

/// Most steps whose sum is worth waiting for: some seconds.
const MOST_STEPS: usize = 1 << 30;

/// Rows of the result at a time.
const ROWS: usize = 64;

/// `Σ_(i=1..T) W^i / i`, row after row.
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// use sottovoce_views::walk::power_sums;
/// let mixing = Mixing::new(&generate(&Family::Complete { n: 4 }, 0, true)?, Weights::MetropolisPlusOne);
/// // Everyone is equally likely after any number of steps: a quarter of 1 + 1/2 + 1/3.
/// assert!((power_sums(&mixing, 3)?[1] - 11.0 / 24.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn power_sums(mixing: &Mixing, steps: usize) -> Result<Vec<f64>> {
    check_steps(steps)?;
    let remedy = format!("paths are added up one length after the other; give at most {MOST_STEPS}");
    require(steps <= MOST_STEPS, "steps", steps, remedy)?;
    let sum = |x: f64| truncated_log(x, steps);
    apply(mixing, sum, sum(1.0))
}

/// `-ln(I - W + 11ᵀ/n)`, row after row.
pub fn negative_log(mixing: &Mixing) -> Result<Vec<f64>> {
    apply(mixing, |x| -(-x).ln_1p(), 0.0)
}

/// `x + x²/2 + ... + x^T/T`.
fn truncated_log(x: f64, steps: usize) -> f64 {
    let mut power = 1.0;
    let mut sum = 0.0;
    for i in 1..=steps {
        power *= x;
        sum += power / i as f64;
        // Less than a rounding error from here on, whatever their number.
        if power.abs() < 1e-18 * (1.0 - x.abs()) {
            break;
        }
    }
    sum
}

/// `f(W)`, with `constant` for `f(1)` on the constant vector, which belongs to the eigenvalue 1.
fn apply(mixing: &Mixing, f: impl Fn(f64) -> f64, constant: f64) -> Result<Vec<f64>> {
    mixing.check()?;
    let n = mixing.nodes();
    let remedy = format!("pairs are counted up to {MOST_PEERS}");
    require(n <= MOST_PEERS, "graph", format_args!("{n} nodes"), remedy)?;
    mixing
        .graph()
        .require_connected("a walk must reach everyone: add edges, or take the largest component")?;
    if n == 1 {
        return Ok(vec![constant]);
    }
    // The constant vector is moved to the eigenvalue -2, where no other can be.
    let entry = |u: usize, v: usize| mixing.weight(u, v) - 3.0 / n as f64;
    let eigen = Mat::from_fn(n, n, entry).self_adjoint_eigen(Side::Lower).map_err(|_| {
        Error::parameter("graph", format!("{n} nodes"), "its eigenvalues could not be computed")
    })?;
    let value = |x: f64| if x < -1.5 { constant } else { f(x) };
    let values: Vec<f64> = (0..n).map(|i| value(eigen.S()[i])).collect();
    let vectors = eigen.U();
    let scaled = Mat::from_fn(n, n, |u, i| vectors[(u, i)] * values[i]);
    let mut out = vec![0.0; n * n];
    parallel::fill(&mut out, ROWS * n, |piece, rows| {
        let product = scaled.subrows(piece * ROWS, rows.len() / n) * vectors.transpose();
        rows.iter_mut().enumerate().for_each(|(i, x)| *x = product[(i / n, i % n)]);
    });
    Ok(out)
}
