//! Sums over all paths of a token, for all pairs of peers.
//!
//! The printed loss of one contribution is `Σ_(i=1..T) (W^i)_uv / i`, and for long walks `ln(T)/n - [ln(I - W + 11ᵀ/n)]_uv`. Both are
//! functions of one symmetric matrix. On graphs of some size that mix well they are sums of Chebyshev's polynomials, which take products with
//! a sparse matrix only (`chebyshev.rs`); on all others they are computed by eigenvectors, which takes eight times as long for twice as many
//! peers.

use sottovoce_dense::{Mat, eigen};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;

use super::chebyshev::Expansion;
use super::check_steps;
use crate::{Error, Result, require};

/// Up to so many peers eigenvectors take no time.
const FEW_PEERS: usize = 1000;

/// Most peers whose eigenvectors are worth waiting for: some minutes, and 4 GB.
const MOST_PEERS: usize = 10_000;

/// Most steps whose sum is worth waiting for: some seconds.
const MOST_STEPS: usize = 1 << 30;

/// `Σ_(i=1..T) W^i / i`, row after row.
pub(super) fn power_sums(mixing: &Mixing, steps: usize) -> Result<Vec<f64>> {
    check_steps(steps)?;
    let remedy = format!("paths are added up one length after the other; give at most {MOST_STEPS}");
    require(steps <= MOST_STEPS, "steps", steps, remedy)?;
    let sum = |x: f64| truncated_log(x, steps);
    apply(mixing, sum, sum(1.0))
}

/// `-ln(I - W + 11ᵀ/n)`, row after row.
pub(super) fn negative_log(mixing: &Mixing) -> Result<Vec<f64>> {
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
///
/// `f` is the logarithm's series, up to some power.
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
    if n > FEW_PEERS {
        let found = Spectrum::of(mixing).ok().and_then(|spectrum| {
            let ends = (spectrum.lambda_n.lower(), spectrum.lambda_2.upper());
            Expansion::new(ends, n, worthwhile(mixing), &f)?.apply(mixing, constant)
        });
        if let Some(out) = found {
            return Ok(out);
        }
    }
    by_eigenvectors(mixing, f, constant)
}

/// Most terms of a polynomial that take less time than eigenvectors.
fn worthwhile(mixing: &Mixing) -> usize {
    let n = mixing.nodes();
    2 * n * n / (mixing.weights().len() + 4 * n)
}

fn by_eigenvectors(mixing: &Mixing, f: impl Fn(f64) -> f64, constant: f64) -> Result<Vec<f64>> {
    let n = mixing.nodes();
    // The constant vector is moved to the eigenvalue -2, where no other can be.
    let entry = |u: usize, v: usize| mixing.weight(u, v) - 3.0 / n as f64;
    let unsolved =
        || Error::parameter("graph", format!("{n} nodes"), "its eigenvalues could not be computed");
    let found = eigen(&Mat::from_fn(n, n, entry)).ok_or_else(unsolved)?;
    let value = |x: f64| if x < -1.5 { constant } else { f(x) };
    let values: Vec<f64> = found.values.iter().map(|x| value(*x)).collect();
    let scaled = Mat::from_fn(n, n, |u, i| found.vectors[(u, i)] * values[i]);
    // Its columns are the rows.
    let sums = (&found.vectors * scaled.transpose()).into_numbers();
    // An eigenvalue that rounding took to 1 has no logarithm.
    if sums.iter().all(|sum| sum.is_finite()) { Ok(sums) } else { Err(unsolved()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    fn of(family: &Family, lazy: f64) -> Mixing {
        let graph = generate(family, 5, true).unwrap();
        Mixing::new(&graph, Weights::MetropolisPlusOne).lazy(lazy).unwrap()
    }

    fn ends(mixing: &Mixing) -> (f64, f64) {
        let spectrum = Spectrum::of(mixing).unwrap();
        (spectrum.lambda_n.value, spectrum.lambda_2.value)
    }

    fn log(x: f64) -> f64 {
        -(-x).ln_1p()
    }

    #[test]
    fn polynomials_are_what_eigenvectors_give() {
        for (family, lazy) in [
            (Family::Hypercube { dimension: 8 }, 0.0),
            (Family::Hypercube { dimension: 7 }, 0.4),
            (Family::ErdosRenyi { n: 300, p: 0.03 }, 0.0),
            (Family::RandomRegular { n: 290, degree: 4 }, 0.0),
            (Family::BarabasiAlbert { n: 270, m: 3 }, 0.1),
        ] {
            let mixing = of(&family, lazy);
            for steps in [1, 7, 300, 1 << 20] {
                let (sum, constant) = (|x: f64| truncated_log(x, steps), truncated_log(1.0, steps));
                let expansion = Expansion::new(ends(&mixing), mixing.nodes(), 1000, sum).unwrap();
                let found = expansion.apply(&mixing, constant).unwrap();
                let expected = by_eigenvectors(&mixing, sum, constant).unwrap();
                let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 2e-13, "{family:?}, {steps} steps: {off:e}");
            }
        }
    }

    #[test]
    fn an_eigenvalue_that_was_missed_is_found_out() {
        for family in [Family::Hypercube { dimension: 8 }, Family::ErdosRenyi { n: 300, p: 0.03 }] {
            let mixing = of(&family, 0.0);
            let (from, to) = ends(&mixing);
            let expansion = |ends: (f64, f64)| Expansion::new(ends, mixing.nodes(), 1000, log).unwrap();
            let found = |ends: (f64, f64)| expansion(ends).apply(&mixing, 0.0);
            assert!(found((from, to)).is_some() && found((from - 0.02, to + 0.01)).is_some());
            for wrong in [(from, to - 0.02), (from + 0.05, to), (0.5 * from, 0.5 * to)] {
                assert!(found(wrong).is_none(), "{family:?}: {wrong:?}");
            }
        }
    }

    /// Slightly missed is within the bound: the polynomial still holds there.
    #[test]
    fn a_hair_outside_is_within_the_bound() {
        let mixing = of(&Family::ErdosRenyi { n: 300, p: 0.03 }, 0.0);
        let (from, to) = ends(&mixing);
        let exact = by_eigenvectors(&mixing, log, 0.0).unwrap();
        for hair in [1e-6, 1e-5, 1e-4, 1e-3] {
            let expansion = Expansion::new((from, to - hair), 300, 1000, log).unwrap();
            let Some(found) = expansion.apply(&mixing, 0.0) else { continue };
            let off = found.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 2e-13, "{hair}: {off:e}");
        }
    }

    #[test]
    fn eigenvectors_serve_where_polynomials_are_slow() {
        for family in [Family::Ring { n: 200 }, Family::Complete { n: 200 }] {
            let mixing = of(&family, 0.1);
            assert!(Expansion::new(ends(&mixing), mixing.nodes(), worthwhile(&mixing), log).is_none());
        }
    }
}
