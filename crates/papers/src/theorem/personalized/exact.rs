//! A problem whose expected error is known exactly: agents on a ring (two of them: one edge), all weights 1, losses `|theta|²/2`, confidences 1.
//!
//! `Q = T'HT/2` with `H = D(1 + mu) I - W`, least at 0. When a uniform agent wakes, the second moments `S` of the models become
//! `S - (HS + SH)/(nL) + diag((HSH)_ii/L² + noise)/n`. Everything is circulant, so each eigenvalue of `S` is followed by itself.

use std::f64::consts::TAU;

use super::super::{Inputs, inputs};
use crate::{Result, require};

/// The problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ring {
    pub(super) peers: usize,
    /// Weight `mu` of the agents' own losses.
    pub(super) trade_off: f64,
}

impl Ring {
    pub(super) fn of(inputs: &Inputs) -> Result<Self> {
        let peers = inputs.graph.peers.unwrap_or(2);
        require((2..=1000).contains(&peers), "peers", peers, "give a number from 2 to 1000")?;
        let trade_off = inputs::positive("trade-off", inputs.trade_off.unwrap_or(1.0))?;
        require((1e-6..=1e6).contains(&trade_off), "trade-off", trade_off, "give a number from 1e-6 to 1e6")?;
        Ok(Self { peers, trade_off })
    }

    pub(super) fn n(&self) -> f64 {
        self.peers as f64
    }

    /// `D_ii`.
    pub(super) fn degree(&self) -> f64 {
        if self.peers == 2 { 1.0 } else { 2.0 }
    }

    /// The smoothness of a block, `L = D(1 + mu)`: `L_min` and `L_max` alike.
    pub(super) fn smoothness(&self) -> f64 {
        self.degree() * (1.0 + self.trade_off)
    }

    /// `sigma/L_max`, with the strong convexity `sigma = mu D` (exact: a Laplacian's least eigenvalue is 0).
    pub(super) fn ratio(&self) -> f64 {
        self.trade_off * self.degree() / self.smoothness()
    }

    /// The factor `C` of one tick of the common clock.
    pub(super) fn factor(&self) -> f64 {
        1.0 - self.ratio() / self.n()
    }

    /// What a unit of squared noise in a gradient adds to the objective in a step, in one coordinate: `(mu D)²/(2L)`.
    pub(super) fn unit(&self) -> f64 {
        (self.trade_off * self.degree()).powi(2) / (2.0 * self.smoothness())
    }

    /// `Q` where all models are at the same place, at a squared distance from the best one.
    pub(super) fn start(&self, distance: f64) -> f64 {
        0.5 * self.trade_off * self.degree() * self.n() * distance
    }

    /// Expected `Q` after as many ticks as there are noises (mean squared lengths of the noise in a gradient), from such a start.
    pub(super) fn expected(&self, distance: f64, noises: &[f64]) -> f64 {
        let (n, smooth) = (self.n(), self.smoothness());
        let weight = |k: usize| self.degree() * (TAU * k as f64 / n).cos();
        let eigenvalues: Vec<f64> = (0..self.peers).map(|k| smooth - weight(k)).collect();
        let mut moments = vec![0.0; self.peers];
        moments[0] = n * distance;
        for noise in noises {
            let of_all =
                |moments: &[f64]| moments.iter().zip(&eigenvalues).map(|(s, h)| h * h * s).sum::<f64>();
            let fresh = of_all(&moments) / (n * smooth * smooth)
                + (self.trade_off * self.degree() / smooth).powi(2) * noise;
            for (moment, eigenvalue) in moments.iter_mut().zip(&eigenvalues) {
                *moment += (fresh - 2.0 * eigenvalue * *moment / smooth) / n;
            }
        }
        0.5 * moments.iter().zip(&eigenvalues).map(|(s, h)| h * s).sum::<f64>()
    }

    /// The corrected bound of Theorem 2: noise `t` is damped by every later tick, and has the length of all its coordinates.
    pub(super) fn bound(&self, distance: f64, noises: &[f64]) -> f64 {
        noises.iter().fold(self.start(distance), |gap, noise| self.factor() * gap + self.unit() * noise)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use sottovoce_privacy::noise::simulation::{Seed, Stream};

    use super::*;

    /// The recursion is the mean of simulations of the update itself.
    #[test]
    fn expectations_are_those_of_the_update() {
        let ring = Ring { peers: 5, trade_off: 0.7 };
        let (runs, noises) = (40_000, [0.3, 0.0, 0.2, 0.9, 0.1, 0.0, 0.4]);
        let mut rng = Seed(7).stream(Stream::Sample, 0, 0);
        let step = 1.0 / (1.0 + ring.trade_off);
        let mut mean = 0.0;
        for _ in 0..runs {
            let mut models = [1.5_f64; 5];
            for noise in noises {
                let i = rng.random_range(0..5);
                let around = 0.5 * (models[(i + 1) % 5] + models[(i + 4) % 5]);
                // A fair sign has the variance of any other noise.
                let noise = if rng.random::<bool>() { noise_of(noise) } else { -noise_of(noise) };
                models[i] = (1.0 - step) * models[i] + step * (around - ring.trade_off * (models[i] + noise));
            }
            let pairs: f64 = (0..5).map(|i| (models[i] - models[(i + 1) % 5]).powi(2)).sum();
            let own: f64 = models.iter().map(|model| model * model).sum();
            mean += (0.5 * pairs + 0.5 * ring.trade_off * 2.0 * own) / f64::from(runs);
        }
        let exact = ring.expected(2.25, &noises);
        assert!((mean / exact - 1.0).abs() < 0.01, "{mean} {exact}");
    }

    fn noise_of(variance: f64) -> f64 {
        variance.sqrt()
    }

    /// Proposition 1 and the corrected Theorem 2 are upper bounds, and no weaker than by what curvature explains.
    #[test]
    fn corrected_bounds_hold() {
        for peers in [2, 3, 8, 50] {
            for trade_off in [0.05, 1.0, 20.0] {
                let ring = Ring { peers, trade_off };
                for ticks in [1, 2, 10, 300] {
                    let noises: Vec<f64> = (0..ticks).map(|t| f64::from(t % 3)).collect();
                    for distance in [0.0, 1.0] {
                        let (exact, bound) =
                            (ring.expected(distance, &noises), ring.bound(distance, &noises));
                        assert!(exact <= bound * (1.0 + 1e-12), "{ring:?} {ticks} {exact} {bound}");
                        assert!(exact >= 0.0 && (bound == 0.0 || exact > 0.0));
                    }
                }
            }
        }
    }
}
