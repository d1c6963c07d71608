//! How far the results are from the mean of the private values.
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
use sottovoce_protocol::public::Cancelling;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;

use crate::error::check_steps;
use crate::powers::{WIDTH, each_iterate, squared_lengths};
use crate::{Result, parallel, require};

/// `|P_k|_F² / n` for `k = 0..=steps`: the share of a unit of noise per peer that is still there after `k` steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contraction {
    /// By number of steps.
    pub shares: Vec<f64>,
}

impl Contraction {
    /// Computes all shares of `W^k` up to `steps`, exactly but for rounding: `n` columns through `steps` products.
    pub fn new(mixing: &Mixing, steps: usize) -> Result<Self> {
        Self::accelerated(mixing, 1.0, steps)
    }

    /// The same for accelerated gossip, `x^(t+1) = gamma W x^t + (1 - gamma) x^(t-1)` after a plain first step.
    ///
    /// ```
    /// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
    /// use sottovoce_topology::spectrum::{Spectrum, chebyshev_weight};
    /// use sottovoce_views::utility::Contraction;
    /// let ring = Mixing::new(&generate(&Family::Ring { n: 32 }, 0, true)?, Weights::MetropolisPlusOne);
    /// let gamma = chebyshev_weight(Spectrum::of(&ring)?.gap.value)?;
    /// let (plain, quick) = (Contraction::new(&ring, 60)?, Contraction::accelerated(&ring, gamma, 60)?);
    /// assert!(plain.shares[60] > 1.4 / 32.0 && quick.shares[60] < 1.01 / 32.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn accelerated(mixing: &Mixing, gamma: f64, steps: usize) -> Result<Self> {
        check_steps(steps)?;
        require(gamma.is_finite(), "gamma", gamma, "give the Chebyshev weight of the spectral gap")?;
        let n = mixing.nodes();
        let columns: Vec<usize> = (0..n).collect();
        let blocks: Vec<&[usize]> = columns.chunks(WIDTH).collect();
        let sums = parallel::map(
            blocks.len(),
            |i| {
                let mut sums = vec![0.0; steps + 1];
                each_iterate(mixing, gamma, blocks[i], steps + 1, |t, x| {
                    sums[t] = squared_lengths(x).iter().sum();
                });
                sums
            },
            |_| (),
        );
        let shares = (0..=steps).map(|t| sums.iter().map(|sums| sums[t]).sum::<f64>() / n as f64).collect();
        Ok(Self { shares })
    }

    /// Expected squared error after `steps` (no more than were computed) that is due to noise, per coordinate. Relay noise
    /// (`tau`) is for plain gossip only.
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

/// Peers whose results are looked at, for the noise of pairs that is left in them; of more, so many of them.
const LOOKED_AT: usize = 256;

/// What is left in a result of the noise of pairs after `T = 0..=steps`, in units of the own noise's variance: `kappa² tr(W^T L W^T) / n`, with `L` the Laplacian
/// of the keys; of very many peers, the mean over some.
pub fn pairs_left(mixing: &Mixing, pairs: &Cancelling, steps: usize) -> Result<Vec<f64>> {
    check_steps(steps)?;
    let n = mixing.nodes();
    let looked_at = n.min(LOOKED_AT); // whole numbers
    let squares = |i: usize| {
        let (mut now, mut next) = (vec![0.0; n], vec![0.0; n]);
        now[i * n / looked_at] = 1.0;
        let mut left = Vec::with_capacity(steps + 1);
        for _ in 0..=steps {
            left.push(quadratic(pairs.keys(), &now));
            mixing.apply(&now, &mut next);
            std::mem::swap(&mut now, &mut next);
        }
        left
    };
    let all = parallel::map(looked_at, squares, |_| ());
    let mean = |t: usize| all.iter().map(|left| left[t]).sum::<f64>() / looked_at as f64;
    Ok((0..=steps).map(|t| pairs.kappa().powi(2) * mean(t)).collect())
}

/// `x' L x`: the squared differences along the edges. What `x` does not reach is 0.
pub(crate) fn quadratic(keys: &Graph, x: &[f64]) -> f64 {
    let at = |peer: usize| x.get(peer).copied().unwrap_or(0.0);
    keys.edges().map(|(one, other)| (at(one) - at(other)).powi(2)).sum()
}

/// A bound on `|P_T (x - mean)|² / |x - mean|²` for every `x`, after `steps` of plain gossip: `(1 - gap)^(2T)`.
pub fn contraction(gap: f64, steps: usize) -> f64 {
    (1.0 - gap).powf(2.0 * steps as f64)
}

/// The same for accelerated gossip with the weight of [`chebyshev_weight`](sottovoce_topology::spectrum::chebyshev_weight) at
/// this gap.
///
/// On the spectrum `|x| <= 1 - gap` the roots of the recursion are complex, `r e^(±i theta)` with `r² = gamma - 1` and
/// `2 r cos(theta) = gamma x`, so that `p_T(x) = r^T (cos(T theta) + c cos(theta) sin(T theta) / sin(theta))` with
/// `c = 2/gamma - 1`: at most `r^T min(1 + c T |cos(theta)|, sqrt(1 + c² cot²(theta)))`, which grows with `|x|`.
pub fn accelerated_contraction(gap: f64, gamma: f64, steps: usize) -> f64 {
    if steps <= 1 {
        return contraction(gap, steps);
    }
    let (r, t) = ((gamma - 1.0).sqrt(), steps as f64);
    let cos = (gamma * (1.0 - gap) / (2.0 * r)).min(1.0);
    let (c, sin_squared) = (2.0 / gamma - 1.0, 1.0 - cos * cos);
    let early = (1.0 + c * t * cos).powi(2);
    let late = 1.0 + c * c * cos * cos / sin_squared;
    r.powf(2.0 * t) * early.min(late)
}

/// How far the weighted mean of models is from the optimum at most, in expectation, where every averaging ends in consensus
/// (`docs/theorems/descent.md`, Theorem 6): `distance/(eta W) + eta noise`, with `W = Σ_(t<=T) (1 - mu eta/2)^-(t+1)`.
///
/// `distance` is that of the start from the optimum, squared; `noise` the mean squared length of the noise on the mean gradient; a step is at most `1/(2 L)`.
///
/// ```
/// use sottovoce_views::utility::weighted_output;
/// // Without strong convexity all models count alike.
/// assert!((weighted_output(0.0, 0.5, 9, 2.0, 0.1) - (2.0 / 5.0 + 0.05)).abs() < 1e-12);
/// ```
pub fn weighted_output(convexity: f64, step: f64, iterations: usize, distance: f64, noise: f64) -> f64 {
    let models = iterations as f64 + 1.0;
    let shrink = 0.5 * convexity * step;
    let forgotten = match shrink > 0.0 {
        true => 0.5 * convexity / (-models * (-shrink).ln_1p()).exp_m1(),
        false => 1.0 / (step * models),
    };
    distance * forgotten + step * noise
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;
    use sottovoce_topology::spectrum::{Spectrum, chebyshev_weight};

    fn graphs() -> Vec<Mixing> {
        let families = [
            Family::Ring { n: 17 },
            Family::Star { n: 10 },
            Family::Hypercube { dimension: 4 },
            Family::RandomRegular { n: 30, degree: 3 },
            Family::Complete { n: 9 },
        ];
        let mixing = |family| Mixing::new(&generate(family, 3, true).unwrap(), Weights::MetropolisPlusOne);
        families.iter().map(mixing).collect()
    }

    /// Column after column of a dense iterate, by the definition.
    fn dense(mixing: &Mixing, gamma: f64, steps: usize) -> Vec<Vec<f64>> {
        let n = mixing.nodes();
        let apply = |x: &[f64]| -> Vec<f64> {
            let row = |u: usize| (0..n).map(|v| mixing.weight(u, v) * x[v]).sum();
            (0..n).map(row).collect()
        };
        let column = |w: usize| {
            let mut before: Vec<f64> = (0..n).map(|u| f64::from(u8::from(u == w))).collect();
            let mut now = if steps == 0 { before.clone() } else { apply(&before) };
            for _ in 1..steps {
                let mixed = apply(&now);
                let next = mixed.iter().zip(&before).map(|(m, b)| gamma * m + (1.0 - gamma) * b).collect();
                before = std::mem::replace(&mut now, next);
            }
            now
        };
        (0..n).map(column).collect()
    }

    #[test]
    fn shares_agree_with_dense_iterates() {
        for mixing in graphs() {
            let gamma = chebyshev_weight(Spectrum::of(&mixing).unwrap().gap.value.min(1.0)).unwrap();
            for gamma in [1.0, gamma, 1.5] {
                let found = Contraction::accelerated(&mixing, gamma, 12).unwrap();
                for steps in 0..=12 {
                    let direct = dense(&mixing, gamma, steps).concat().iter().map(|x| x * x).sum::<f64>();
                    let direct = direct / mixing.nodes() as f64;
                    assert!((found.shares[steps] - direct).abs() < 1e-12 * direct.max(1.0), "{steps}");
                }
            }
        }
    }

    #[test]
    fn no_vector_keeps_more_than_the_contraction() {
        for mixing in graphs() {
            let gap = Spectrum::of(&mixing).unwrap().gap.lower().clamp(0.0, 1.0);
            let gamma = chebyshev_weight(gap).unwrap();
            for steps in 0..25 {
                for (gamma, bound) in
                    [(1.0, contraction(gap, steps)), (gamma, accelerated_contraction(gap, gamma, steps))]
                {
                    // Columns of the iterate without its mean are images of unit vectors without theirs.
                    let n = mixing.nodes() as f64;
                    for column in dense(&mixing, gamma, steps) {
                        let left = column.iter().map(|x| (x - 1.0 / n).powi(2)).sum::<f64>();
                        assert!(left <= bound * (1.0 - 1.0 / n) + 1e-13, "{steps} {gamma}: {left} {bound}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_slowest_vector_of_a_ring_attains_the_plain_contraction() {
        let ring = &graphs()[0];
        let slow: Vec<f64> = (0..17).map(|u| (std::f64::consts::TAU * f64::from(u) / 17.0).cos()).collect();
        let left = spread_left(ring, &slow, 20);
        let gap = Spectrum::of(ring).unwrap().gap.value;
        assert!((left[20] / left[0] - contraction(gap, 20)).abs() < 1e-12);
    }

    #[test]
    fn bad_weights_are_refused() {
        let error = Contraction::accelerated(&graphs()[0], f64::NAN, 3).unwrap_err().to_string();
        assert!(error.starts_with("`gamma` is NaN: give"), "{error}");
    }
}
