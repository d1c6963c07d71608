//! What is achieved without looking at any feature: an accuracy, or an error, means little without it.
//!
//! The constant prediction is learned from the labels of the training rows: the commonest class, or the mean. It is computed without
//! privacy, like every other number it is held against.

use std::collections::BTreeMap;

use crate::{Loss, Measures};
use serde::Serialize;

/// The worth of the best constant prediction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trivial {
    /// What it is worth on the test rows: the commonest class of the training rows, or the mean of their labels.
    #[serde(flatten)]
    pub measures: Measures,
    /// Its mean loss on the training rows, without ridge.
    pub objective: f64,
}

impl Trivial {
    /// Of labels to train and to test on.
    pub(super) fn new(loss: Loss, train: &[f64], test: &[f64]) -> Self {
        let share = |right: &dyn Fn(f64) -> bool| {
            test.iter().filter(|label| right(**label)).count() as f64 / test.len() as f64
        };
        if loss == Loss::Squared {
            let rows = train.len() as f64;
            let mean = train.iter().sum::<f64>() / rows;
            let objective =
                train.iter().map(|label| 0.5 * (label - mean) * (label - mean)).sum::<f64>() / rows;
            let measures = Measures::of_numbers(test.iter().map(|_| mean), test);
            return Self { measures, objective };
        }
        // Labels are small whole numbers.
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        train.iter().for_each(|label| *counts.entry(*label as i64).or_default() += 1);
        let commonest = counts.iter().max_by_key(|(_, count)| **count).map_or(0, |(label, _)| *label);
        let rows = train.len() as f64;
        let entropy = counts.values().map(|&count| -(count as f64 / rows) * (count as f64 / rows).ln()).sum();
        let accuracy = share(&|label| label as i64 == commonest);
        Self { measures: Measures::Classes { accuracy }, objective: entropy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_class_or_the_mean() {
        let found = Trivial::new(Loss::Logistic, &[1.0, -1.0, -1.0, -1.0], &[1.0, -1.0]);
        assert_eq!(*found.measures.first(), 0.5);
        let entropy = -(0.25f64 * 0.25f64.ln() + 0.75 * 0.75f64.ln());
        assert!((found.objective - entropy).abs() < 1e-15);
        let found = Trivial::new(Loss::Softmax { classes: 3 }, &[2.0, 2.0, 0.0], &[2.0, 1.0, 2.0]);
        assert!((found.measures.first() - 2.0 / 3.0).abs() < 1e-15);
        let found = Trivial::new(Loss::Squared, &[1.0, 3.0], &[5.0, -1.0]);
        // The mean 2 misses 5 and -1, whose own mean it is, by 3 each.
        assert_eq!((found.measures, found.objective), (Measures::Numbers { rmse: 3.0, r_squared: 0.0 }, 0.5));
    }
}
