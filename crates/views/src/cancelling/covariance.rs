//! Beyond pairs: the covariance of all peers' noises that leaves the least error after so many steps of gossip, if nobody loses more than 1 to someone who sees
//! every message (`docs/theorems/cancelling.md`, Theorem 5).
//!
//! With `A = W^T' W^T / n` and `P` the inverse of the covariance, the error is `tr(A P^-1)` and the losses are the diagonal of `P`. At the best `P` there are
//! weights `D` with `A = P D P`, so `P` is a square root, and weights grow where losses are too large. Any weights bound every error from below:
//! `tr(A P^-1) >= 2 tr (D^½ A D^½)^½ - tr D`.

use sottovoce_dense::{Eigen, Mat, eigen};
use sottovoce_topology::mixing::Mixing;

use crate::error::check_steps;
use crate::{Error, Result, require};

/// Peers, at most: eigenvalues are found anew in every round.
const MOST_PEERS: usize = 400;
/// Rounds in which weights are mended.
const ROUNDS: usize = 200;
/// By how much the two bounds on the error may differ, relatively.
const CLOSE: f64 = 1e-6;
/// Directions that gossip takes to nothing may be as loud as one likes; this share of the rest is kept of them, so that noise stays finite.
const KEPT: f64 = 1e-9;

/// The best covariance.
#[derive(Debug, Clone)]
pub struct Best {
    /// The covariance of the peers' noises, in units in which local privacy has 1 on the diagonal.
    pub covariance: Mat,
    /// Mean squared error of a result, in units of the variance of local privacy.
    pub error: f64,
    /// No covariance has less than this.
    pub least: f64,
}

/// The covariance that leaves the least error after so many steps of gossip.
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// use sottovoce_views::cancelling::best_covariance;
/// let ring = Mixing::new(&generate(&Family::Ring { n: 16 }, 0, true)?, Weights::MetropolisPlusOne);
/// let best = best_covariance(&ring, 4)?;
/// // Own noise alone would leave 0.14, a trusted server 1/256.
/// assert!(best.error < 0.08 && best.error > 1.0 / 256.0 && best.least <= best.error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn best_covariance(mixing: &Mixing, steps: usize) -> Result<Best> {
    check_steps(steps)?;
    let n = mixing.nodes();
    let remedy = format!("a covariance of all peers is computed; give at most {MOST_PEERS}");
    require((2..=MOST_PEERS).contains(&n), "peers", n, remedy)?;
    let cost = cost(mixing, steps);
    let mut weights = vec![1.0; n];
    for round in 0..ROUNDS {
        sottovoce_fault::stop::look();
        let (inverse, root) = precision(&cost, &weights)?;
        let losses: Vec<f64> = (0..n).map(|u| inverse[(u, u)]).collect();
        let least = 2.0 * root - weights.iter().sum::<f64>();
        let largest = losses.iter().fold(0.0, |most: f64, loss| if *loss > most { *loss } else { most });
        // Scaled so that nobody loses more than 1.
        let covariance = inverted(&inverse)?;
        let spread: f64 =
            (0..n).map(|u| (0..n).map(|v| cost[(u, v)] * covariance[(v, u)]).sum::<f64>()).sum();
        let error = spread * largest;
        if error - least <= CLOSE * error || round + 1 == ROUNDS {
            let covariance = Mat::from_fn(n, n, |u, v| covariance[(u, v)] * largest);
            return Ok(Best { covariance, error, least });
        }
        weights.iter_mut().zip(&losses).for_each(|(weight, loss)| *weight *= loss);
    }
    Err(Error::parameter("steps", steps, "no covariance was found; give another number"))
}

/// `W^T' W^T / n`, with a little of everything.
fn cost(mixing: &Mixing, steps: usize) -> Mat {
    let n = mixing.nodes();
    let mut columns = Mat::identity(n);
    for j in 0..n {
        let mut now: Vec<f64> = (0..n).map(|i| columns[(i, j)]).collect();
        let mut next = vec![0.0; n];
        for _ in 0..steps {
            mixing.apply(&now, &mut next);
            std::mem::swap(&mut now, &mut next);
        }
        now.iter().enumerate().for_each(|(i, x)| columns[(i, j)] = *x);
    }
    let product = columns.transpose() * &columns;
    Mat::from_fn(n, n, |i, j| product[(i, j)] / n as f64 + if i == j { KEPT / n as f64 } else { 0.0 })
}

/// `D^-½ (D^½ A D^½)^½ D^-½`, and the trace of the root.
fn precision(cost: &Mat, weights: &[f64]) -> Result<(Mat, f64)> {
    let n = weights.len();
    let scaled = Mat::from_fn(n, n, |i, j| (weights[i] * weights[j]).sqrt() * cost[(i, j)]);
    let (root, trace) = spectral(&scaled, |value| if value > 0.0 { value.sqrt() } else { 0.0 })?;
    Ok((Mat::from_fn(n, n, |i, j| root[(i, j)] / (weights[i] * weights[j]).sqrt()), trace))
}

fn inverted(matrix: &Mat) -> Result<Mat> {
    Ok(spectral(matrix, |value| 1.0 / value)?.0)
}

/// A function of a symmetric matrix, and its trace.
fn spectral(matrix: &Mat, of: impl Fn(f64) -> f64) -> Result<(Mat, f64)> {
    let unsolved = || Error::parameter("steps", "given", "eigenvalues were not found; give another number");
    let Eigen { values, vectors } = eigen(matrix).ok_or_else(unsolved)?;
    let image: Vec<f64> = values.into_iter().map(of).collect();
    let n = image.len();
    let scaled = Mat::from_fn(n, n, |i, k| vectors[(i, k)] * image[k]);
    Ok((&scaled * vectors.transpose(), image.iter().sum()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cancelling::everything;
    use crate::utility::{Contraction, pairs_left};
    use sottovoce_simulator::cancelling::Cancelling;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    /// The least error of noise of pairs along the edges of a graph, over many loudnesses.
    fn by_pairs(mixing: &Mixing, keys: &Family, steps: usize) -> f64 {
        let own = Contraction::new(mixing, steps).unwrap().shares[steps];
        let at = |power: i32| {
            let pairs =
                Cancelling::new(generate(keys, 0, true).unwrap(), 10_f64.powf(f64::from(power) / 8.0))
                    .unwrap();
            let loss = everything(&pairs, &[]).unwrap().worst().1;
            loss * (own + pairs_left(mixing, &pairs, steps).unwrap()[steps])
        };
        (-24..25).map(at).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn on_gossip_that_stops_early_it_beats_pairs_and_at_consensus_nothing_does() {
        let family = Family::Ring { n: 24 };
        let ring = Mixing::new(&generate(&family, 0, true).unwrap(), Weights::MetropolisPlusOne);
        for (steps, at_most, at_least) in [(4, 0.97, 0.5), (16, 0.97, 0.5), (1500, 1.01, 0.98)] {
            let best = best_covariance(&ring, steps).unwrap();
            assert!(best.least <= best.error * (1.0 + 1e-9) && best.error - best.least < 1e-4 * best.error);
            let pairs = [&family, &Family::Complete { n: 24 }].map(|keys| by_pairs(&ring, keys, steps));
            let least = if pairs[0] < pairs[1] { pairs[0] } else { pairs[1] };
            let ratio = best.error / least;
            assert!(ratio < at_most && ratio > at_least, "{steps}: {} {pairs:?}", best.error);
        }
    }

    #[test]
    fn losses_of_the_covariance_are_one_at_most_on_graphs_without_symmetry() {
        let family = Family::ErdosRenyi { n: 20, p: 0.2 };
        let graph = generate(&family, 7, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let best = best_covariance(&mixing, 5).unwrap();
        let inverse = inverted(&best.covariance).unwrap();
        assert!((0..20).all(|u| inverse[(u, u)] <= 1.0 + 1e-6), "{inverse:?}");
        assert!(best.error - best.least < 1e-3 * best.error, "{} {}", best.error, best.least);
        // Never better than a trusted server, and better than own noise alone.
        let own = Contraction::new(&mixing, 5).unwrap().shares[5];
        assert!(best.least > 1.0 / 400.0 && best.error < own);
    }
}
