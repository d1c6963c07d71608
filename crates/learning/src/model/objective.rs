//! What a model costs and how often it is right.

use super::{Loss, Model};
use crate::Shard;
use crate::linear::dot;

impl Model {
    /// The mean loss plus `ridge/2·|theta|²`. Without rows the mean counts as 0.
    ///
    /// # Panics
    ///
    /// If `theta` or `data` have other widths than the model.
    pub fn objective(&self, theta: &[f64], data: Shard<'_>) -> f64 {
        self.check_shapes(theta, data);
        let sum: f64 = rows(data).map(|(row, label)| self.loss_of(theta, row, label)).sum();
        sum / data.labels.len().max(1) as f64 + 0.5 * self.ridge * dot(theta, theta)
    }

    /// The share of rows that are classified right: by the sign, where ties count as +1, or by the largest score, where the first
    /// wins. A [`Loss::Squared`] model is right where prediction and label have the same sign. NaN without rows.
    ///
    /// # Panics
    ///
    /// If `theta` or `data` have other widths than the model.
    pub fn accuracy(&self, theta: &[f64], data: Shard<'_>) -> f64 {
        self.check_shapes(theta, data);
        let right = rows(data).filter(|&(row, label)| self.is_right(theta, row, label)).count();
        right as f64 / data.labels.len() as f64
    }

    pub(crate) fn check_shapes<F: Copy>(&self, theta: &[f64], data: Shard<'_, F>) {
        assert!(self.width > 0 && data.width == self.width, "the data has another width than the model");
        assert_eq!(theta.len(), self.parameters(), "theta has another length than the model");
        assert_eq!(data.features.len(), data.labels.len() * data.width, "a shard has a label for each row");
    }

    fn loss_of(&self, theta: &[f64], row: &[f64], label: f64) -> f64 {
        match self.loss {
            Loss::Logistic => softplus(-label * dot(theta, row)),
            Loss::Squared => {
                let error = dot(theta, row) - label;
                0.5 * error * error
            }
            Loss::Softmax { .. } => {
                let scores = || theta.chunks_exact(self.width).map(|block| dot(block, row));
                let largest = scores().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = scores().map(|score| (score - largest).exp()).sum();
                let own = scores().nth(label as usize).unwrap_or(f64::NAN);
                sum.ln() + (largest - own)
            }
        }
    }

    fn is_right(&self, theta: &[f64], row: &[f64], label: f64) -> bool {
        match self.loss {
            Loss::Logistic | Loss::Squared => (dot(theta, row) >= 0.0) == (label >= 0.0),
            Loss::Softmax { .. } => {
                let scores = theta.chunks_exact(self.width).map(|block| dot(block, row)).enumerate();
                let best = scores.fold(
                    (0, f64::NEG_INFINITY),
                    |best, score| {
                        if score.1 > best.1 { score } else { best }
                    },
                );
                best.0 as f64 == label
            }
        }
    }
}

fn rows(data: Shard<'_>) -> impl Iterator<Item = (&[f64], f64)> {
    data.features.chunks_exact(data.width).zip(data.labels.iter().copied())
}

/// `ln(1 + exp(x))` without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_at_the_ends() {
        assert_eq!(softplus(0.0), std::f64::consts::LN_2);
        assert_eq!(softplus(800.0), 800.0);
        assert_eq!(softplus(-800.0), 0.0);
        // exp(-40) is the first term of the series, and the second is below a rounding error.
        assert!((softplus(-40.0) / (-40.0f64).exp() - 1.0).abs() < 1e-15);
    }
}
