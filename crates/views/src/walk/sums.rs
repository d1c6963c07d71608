//! Sums over all paths of a token, for all pairs of peers.
//!
//! The printed loss of one contribution is `Σ_(i=1..T) (W^i)_uv / i`, and for long walks `ln(T)/n - [ln(I - W + 11ᵀ/n)]_uv`. Both are
//! functions of one symmetric matrix: sums of Chebyshev polynomials where the spectrum leaves room, eigenvectors where it does not.

use std::cell::RefCell;

use faer::{Mat, Side};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::pairwise_rate;

use super::chebyshev::Expansion;
use super::clenshaw::{FEW_PEERS, Polynomial, Scratch, Slow, Start, cost};
use super::ends::{Ends, estimate};
use super::kernel::{Row, means};
use super::probe::first_to_agree;
use crate::error::{Error, check_steps};
use crate::{Result, parallel};

/// Columns at a time: what the second-level cache holds of 2000 peers.
const WIDTH: usize = 32;

/// Most terms that are still quicker than eigenvectors, for a sparse matrix.
const MOST_TERMS: usize = 1000;

/// Most peers whose pairs fit in memory.
const MOST_PEERS: usize = 20_000;

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
    if n > MOST_PEERS {
        return Err(Error::parameter(
            "graph",
            format!("{n} nodes"),
            format!("pairs are counted up to {MOST_PEERS}"),
        ));
    }
    mixing
        .graph()
        .require_connected("a walk must reach everyone: add edges, or take the largest component")?;
    if n == 1 {
        return Ok(vec![constant]);
    }
    match polynomial(mixing, &f)? {
        Some(polynomial) => Ok(by_polynomial(n, &polynomial, constant)),
        None => by_eigenvectors(mixing, f, constant),
    }
}

/// The shortest polynomial that can be relied on; `None` where eigenvectors are quicker.
fn polynomial(mixing: &Mixing, f: impl Fn(f64) -> f64) -> Result<Option<Polynomial>> {
    if let Some(narrow) = estimate(mixing).and_then(|ends| narrow(mixing, &ends, &f)) {
        return Ok(Some(narrow));
    }
    let gap = pairwise_rate(mixing)? * mixing.nodes() as f64;
    Ok(wide(mixing, gap, f))
}

/// For the estimated ends and a little more, with the slowest eigenvectors apart if that pays, or for all.
fn narrow(mixing: &Mixing, ends: &Ends, f: impl Fn(f64) -> f64) -> Option<Polynomial> {
    let wide = wide(mixing, 1.0 - ends.highest[0], &f)?;
    let apart = if mixing.nodes() > FEW_PEERS { ends.slow.len() } else { 0 };
    let without = |slow: usize| Some((slow, expansion(ends, slow, &f)?));
    let price = |(slow, expansion): &(usize, Expansion)| cost(expansion) + *slow as f64;
    let best = (0..=apart).filter_map(without).min_by(|a, b| price(a).total_cmp(&price(b)))?;
    let all = if best.0 > 0 { without(0) } else { None };
    let candidates = [Some(best), all].into_iter().flatten().map(|(slow, expansion)| {
        let slow = ends.slow[..slow].iter().zip(&ends.highest).map(|(vector, &eigenvalue)| Slow {
            eigenvalue,
            value: f(eigenvalue),
            vector: vector.clone(),
        });
        Polynomial::new(mixing, &expansion, slow.collect())
    });
    first_to_agree(candidates.collect(), &wide, mixing.nodes())
}

/// For an interval that leaves out so many of the highest eigenvalues.
fn expansion(ends: &Ends, slow: usize, f: impl Fn(f64) -> f64) -> Option<Expansion> {
    let gap = 1.0 - ends.highest[slow];
    let to = 1.0 - 0.98 * gap;
    // The function is far from singular at the lower end: room there is cheap. And an interval must have some length.
    let from = (ends.lowest - 0.01 * (to - ends.lowest)).min(to - 0.5 * gap);
    Expansion::new(from, to, MOST_TERMS, f)
}

/// Gershgorin's disks give a lower end without doubt. Above, half of the gap is left for doubts about its estimate.
fn wide(mixing: &Mixing, gap: f64, f: impl Fn(f64) -> f64) -> Option<Polynomial> {
    let from = mixing.diagonal().iter().fold(0.5, |least: f64, own| least.min(*own)).mul_add(2.0, -1.0);
    let expansion = Expansion::new(from, 1.0 - 0.5 * gap, MOST_TERMS, f)?;
    Some(Polynomial::new(mixing, &expansion, Vec::new()))
}

thread_local! {
    /// The allocator would hand it back to the system after each block of columns, and all threads would wait for that.
    static SCRATCH: RefCell<Scratch<WIDTH>> = RefCell::default();
}

fn by_polynomial(n: usize, polynomial: &Polynomial, constant: f64) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    parallel::fill(&mut out, WIDTH * n, |i, columns| {
        SCRATCH.with_borrow_mut(|scratch| {
            let start = Start::Identity(i * WIDTH, columns.len() / n);
            let rows = polynomial.apply(start, scratch);
            let shift = means(rows).map(|mean| constant / n as f64 - mean);
            transpose(rows, &shift, columns);
        });
    });
    out
}

/// Writes the columns one after the other, four at a time, `shift` added to each.
fn transpose(rows: &[Row<f64, WIDTH>], shift: &[f64; WIDTH], columns: &mut [f64]) {
    let n = rows.len();
    for (group, columns) in columns.chunks_mut(4 * n).enumerate() {
        let i = 4 * group;
        let mut four = columns.chunks_exact_mut(n);
        if let (Some(a), Some(b), Some(c), Some(d)) = (four.next(), four.next(), four.next(), four.next()) {
            let four = a.iter_mut().zip(b).zip(c).zip(d);
            for (row, (((a, b), c), d)) in rows.iter().zip(four) {
                (*a, *b) = (row.0[i] + shift[i], row.0[i + 1] + shift[i + 1]);
                (*c, *d) = (row.0[i + 2] + shift[i + 2], row.0[i + 3] + shift[i + 3]);
            }
        } else {
            for (j, column) in columns.chunks_exact_mut(n).enumerate() {
                column.iter_mut().zip(rows).for_each(|(x, row)| *x = row.0[i + j] + shift[i + j]);
            }
        }
    }
}

fn by_eigenvectors(mixing: &Mixing, f: impl Fn(f64) -> f64, constant: f64) -> Result<Vec<f64>> {
    let n = mixing.nodes();
    // The constant vector is moved to the eigenvalue -2, where no other can be.
    let entry = |u: usize, v: usize| mixing.weight(u, v) - 3.0 / n as f64;
    let eigen = Mat::from_fn(n, n, entry).self_adjoint_eigen(Side::Lower).map_err(|_| {
        Error::parameter("graph", format!("{n} nodes"), "its eigenvalues could not be computed")
    })?;
    let value = |x: f64| if x < -1.5 { constant } else { f(x) };
    let values: Vec<f64> = (0..n).map(|i| value(eigen.S()[i])).collect();
    let vectors = eigen.U();
    let scaled = Mat::from_fn(n, n, |u, i| vectors[(u, i)] * values[i]);
    let result = scaled * vectors.transpose();
    Ok((0..n * n).map(|i| result[(i / n, i % n)]).collect())
}

#[cfg(test)]
mod tests;
