//! Cross-entropy: minus the logarithm of the probability that a net gives to the label.

use super::activation::exp;
use super::lanes::{LANES, Row, ZERO};

/// What a net says of the examples of some lanes.
pub(super) struct Told {
    /// Each example's loss.
    pub(super) losses: Row,
    /// Whether its label has the largest score.
    pub(super) right: [bool; LANES],
}

/// Losses of the examples with these labels; where there are no labels there is no loss. `deltas` become the probabilities less 1 at the label.
pub(super) fn cross_entropy(scores: &[Row], labels: &[u8], deltas: &mut [Row]) -> Told {
    let (mut largest, mut best) = ([f32::NEG_INFINITY; LANES], [0; LANES]);
    for (class, row) in scores.iter().enumerate() {
        for lane in 0..LANES {
            // The first of the largest, and what is not a number is never right.
            if row[lane] > largest[lane] {
                (largest[lane], best[lane]) = (row[lane], class);
            }
        }
    }
    let mut sum = ZERO;
    for (row, delta) in scores.iter().zip(&mut *deltas) {
        for lane in 0..LANES {
            delta[lane] = exp(row[lane] - largest[lane]);
            sum[lane] += delta[lane];
        }
    }
    let here: Row = std::array::from_fn(|lane| if lane < labels.len() { 1.0 / sum[lane] } else { 0.0 });
    for delta in &mut *deltas {
        for lane in 0..LANES {
            delta[lane] *= here[lane];
        }
    }
    let mut told = Told { losses: ZERO, right: [false; LANES] };
    for (lane, &label) in labels.iter().enumerate().take(LANES) {
        let label = usize::from(label);
        told.losses[lane] = sum[lane].ln() + largest[lane] - scores[label][lane];
        told.right[lane] = best[lane] == label && largest[lane] > f32::NEG_INFINITY;
        deltas[label][lane] -= 1.0;
    }
    told
}
