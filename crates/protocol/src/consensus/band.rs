//! Noise that is correlated over time: what is added in one draw is partly taken back in the next ones, so that sums of many gradients have less of it.
//!
//! Let `C` be a lower triangular matrix with `width` diagonals, the same in every column, and columns of length 1. The noise of draws is `C^-1 z` for fresh `z`:
//! as private as `C` times the gradients under the noise `z`. If each row has its turn in one of `width` draws only, the columns of its gradients
//! do not overlap, and a cycle of `width` draws is one release (`docs/theorems/consensus-descent.md`, section 6).
//!
//! The diagonals are those of the square root of a sum with a memory: coefficients of `(1 - memory x)^(-1/2)`.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{Shared, Value};

/// How noises depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// Draws of a cycle; 1 for independent noises.
    pub width: usize,
    /// What descent keeps of a draw from step to step: 1 where gradients are summed.
    pub memory: f64,
}

impl Band {
    /// Independent noises.
    pub const NONE: Self = Self { width: 1, memory: 1.0 };

    /// Draws of a cycle, at least one.
    pub fn cycle(&self) -> usize {
        self.width.max(1) // whole numbers
    }

    /// The diagonals of `C`, from the main one down: a vector of length 1.
    ///
    /// ```
    /// use sottovoce_protocol::consensus::Band;
    /// assert_eq!(Band::NONE.diagonals(), [1.0]);
    /// let [main, below] = Band { width: 2, memory: 1.0 }.diagonals()[..] else { panic!("two") };
    /// assert_eq!((below / main, main.hypot(below)), (0.5, 1.0));
    /// ```
    pub fn diagonals(&self) -> Vec<f64> {
        let next = |(k, c): &(f64, f64)| Some((k + 1.0, c * self.memory * (k + 0.5) / (k + 1.0)));
        let all = std::iter::successors(Some((0.0, 1.0)), next).map(|(_, c)| c);
        let all: Vec<f64> = all.take(self.cycle()).collect();
        let length = all.iter().map(|c| c * c).sum::<f64>().sqrt();
        all.into_iter().map(|c| c / length).collect()
    }

    /// Makes the noise of a draw of fresh noise: `(z_t - sum_k c_k noise_(t-k)) / c_0`. The past has the latest first, and is kept.
    pub fn correlate(&self, past: &mut VecDeque<Shared>, noise: &mut Shared) {
        let diagonals = self.diagonals();
        for (c, before) in diagonals[1..].iter().zip(past.iter()) {
            noise.add(-c, before);
        }
        noise.scale(1.0 / diagonals[0]);
        past.push_front(noise.clone());
        past.truncate(self.cycle() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_the_matrix_the_noise_is_fresh() {
        let (band, steps) = (Band { width: 4, memory: 0.9 }, 12);
        let fresh: Vec<f32> = (0..steps).map(|t| ((t * 37 + 5) % 11) as f32 - 5.0).collect();
        let mut past = VecDeque::new();
        let noises: Vec<f32> = fresh
            .iter()
            .map(|z| {
                let mut noise = Shared::from(vec![*z]);
                band.correlate(&mut past, &mut noise);
                noise[0]
            })
            .collect();
        assert_eq!(past.len(), 3);
        let diagonals = band.diagonals();
        assert!((diagonals.iter().map(|c| c * c).sum::<f64>() - 1.0).abs() < 1e-12);
        for t in 0..steps {
            let row: f64 = (0..4.min(t + 1)).map(|k| diagonals[k] * f64::from(noises[t - k])).sum(); // whole numbers
            assert!((row - f64::from(fresh[t])).abs() < 1e-4, "{t}: {row} {}", fresh[t]);
        }
    }
}
