//! Errors as printed (Muffliato).

/// Theorems 2 and 7, as printed: a bound on half the mean squared error of accelerated gossip after `steps`.
///
/// `spread` is the mean squared distance of the private values from their mean; `gap` the spectral gap.
pub(crate) fn accelerated(spread: f64, sigma: f64, nodes: usize, gap: f64, steps: usize) -> f64 {
    (spread + sigma * sigma) * (-(steps as f64) * gap.sqrt()).exp() + sigma * sigma / nodes as f64
}

/// Theorems 3 and 8: the same for randomised gossip, with the rate per step of its activation probabilities.
pub(crate) fn randomised(spread: f64, sigma: f64, nodes: usize, rate: f64, steps: usize) -> f64 {
    (spread + sigma * sigma) * (-(steps as f64) * rate).exp() + sigma * sigma / nodes as f64
}

/// Table 1: the mean squared error, up to constants and logarithms, at a mean Rényi loss of `epsilon` at order `alpha`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Table1 {
    /// Synchronous, accelerated.
    pub(crate) synchronous: f64,
    /// Randomised.
    pub(crate) randomised: f64,
    /// Everybody's noise is public.
    pub(crate) local: f64,
    /// A trusted aggregator.
    pub(crate) central: f64,
}

impl Table1 {
    /// For a graph with largest degree `degree` and spectral gap `gap`, with `alpha Delta² / epsilon = unit`. For a coalition
    /// (Corollary 4) `degree` is the number of peers it hears.
    pub(crate) fn new(nodes: usize, degree: usize, gap: f64, unit: f64) -> Self {
        let n = nodes as f64;
        Self {
            synchronous: unit * degree as f64 / (n * n * gap.sqrt()),
            randomised: unit / (n * n * gap),
            local: unit / n,
            central: unit / (n * n),
        }
    }
}
