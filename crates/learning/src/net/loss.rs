//! Cross-entropy: minus the logarithm of the probability that a net gives to the label.

use fearless_simd::prelude::*;

use super::activation::exp;
use super::lanes::{Kernel, LANES, Row, ZERO, go, load, store};

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
    go(Exponentials { scores, largest: &largest, out: deltas, sum: &mut sum });
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

/// `e^(score - largest)`, and their sum.
struct Exponentials<'a> {
    scores: &'a [Row],
    largest: &'a Row,
    out: &'a mut [Row],
    sum: &'a mut Row,
}

impl Kernel for Exponentials<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (largest, mut sum) = (load(simd, self.largest), simd.splat_f32x16(0.0));
        for (row, out) in self.scores.iter().zip(self.out) {
            let power = exp(simd, load(simd, row) - largest);
            sum += power;
            store(out, power);
        }
        store(self.sum, sum);
    }
}
