//! How far the results are from the mean of the private values: exactly, and as published.
//!
//! Values after `T` steps are linear in the private values and the noises, so the mean squared error of a peer (averaged over
//! peers, per coordinate) is
//!
//! ```text
//! |P_T (x - mean)|² / n  +  sigma² |P_T|_F² / n  +  tau² Σ_(k=1..T) |W^k|_F² / n
//! ```
//!
//! with `P_T = W^T`, or the Chebyshev polynomial of `W` if accelerated. The first term is the spread that is left, the second
//! the noise that everyone shares (`sigma²/n` at best), the third the price of relay noise.

use serde::Serialize;
use sottovoce_topology::mixing::Mixing;

use crate::error::check_steps;
use crate::powers::{WIDTH, each_power, squared_lengths};
use crate::{Result, parallel};

/// `|W^k|_F² / n` for `k = 0..=steps`: the share of a unit of noise per peer that is still there after `k` steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contraction {
    /// By number of steps.
    pub shares: Vec<f64>,
}

impl Contraction {
    /// Computes all shares up to `steps`, exactly but for rounding: `n` columns through `steps` products.
    pub fn new(mixing: &Mixing, steps: usize) -> Result<Self> {
        check_steps(steps)?;
        let n = mixing.nodes();
        let columns: Vec<usize> = (0..n).collect();
        let blocks: Vec<&[usize]> = columns.chunks(WIDTH).collect();
        let sums = parallel::map(
            blocks.len(),
            |i| {
                let mut sums = vec![0.0; steps + 1];
                each_power(mixing, blocks[i], steps + 1, |t, x| {
                    sums[t] = squared_lengths(x).iter().sum();
                });
                sums
            },
            |_| (),
        );
        let shares = (0..=steps).map(|t| sums.iter().map(|sums| sums[t]).sum::<f64>() / n as f64).collect();
        Ok(Self { shares })
    }

    /// Expected squared error after `steps` (no more than were computed) that is due to noise, per coordinate.
    pub fn noise_error(&self, steps: usize, sigma: f64, tau: f64) -> f64 {
        sigma * sigma * self.shares[steps] + tau * tau * self.shares[1..=steps].iter().sum::<f64>()
    }
}

/// `|W^T (x - mean)|² / n` for `T = 0..=steps`: the spread of the private values that is left.
pub fn spread_left(mixing: &Mixing, values: &[f64], steps: usize) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let mut now: Vec<f64> = values.iter().map(|x| x - mean).collect();
    let mut next = vec![0.0; now.len()];
    let mut left = Vec::with_capacity(steps + 1);
    for _ in 0..=steps {
        left.push(now.iter().map(|x| x * x).sum::<f64>() / n);
        mixing.apply(&now, &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    left
}

/// Theorems 2 and 7, as printed: a bound on half the mean squared error of accelerated gossip after `steps`.
///
/// `spread` is the mean squared distance of the private values from their mean; `gap` the spectral gap.
pub fn published_accelerated(spread: f64, sigma: f64, nodes: usize, gap: f64, steps: usize) -> f64 {
    (spread + sigma * sigma) * (-(steps as f64) * gap.sqrt()).exp() + sigma * sigma / nodes as f64
}

/// Theorems 3 and 8: the same for randomised gossip, with the rate per step of its activation probabilities.
pub fn published_randomised(spread: f64, sigma: f64, nodes: usize, rate: f64, steps: usize) -> f64 {
    (spread + sigma * sigma) * (-(steps as f64) * rate).exp() + sigma * sigma / nodes as f64
}

/// Table 1: the mean squared error, up to constants and logarithms, at a mean Rényi loss of `epsilon` at order `alpha`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Table1 {
    /// Synchronous, accelerated.
    pub synchronous: f64,
    /// Randomised.
    pub randomised: f64,
    /// Everybody's noise is public.
    pub local: f64,
    /// A trusted aggregator.
    pub central: f64,
}

impl Table1 {
    /// For a graph with largest degree `degree` and spectral gap `gap`, with `alpha Delta² / epsilon = unit`.
    pub fn new(nodes: usize, degree: usize, gap: f64, unit: f64) -> Self {
        let n = nodes as f64;
        Self {
            synchronous: unit * degree as f64 / (n * n * gap.sqrt()),
            randomised: unit / (n * n * gap),
            local: unit / n,
            central: unit / (n * n),
        }
    }
}
