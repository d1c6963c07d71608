//! Curves of several runs.

use sottovoce_report::{Curve, Series};

use sottovoce::learning::Spread;

/// A curve of means, with a deviation to both sides: `runs[i][k]` is the value of run `i` at place `at[k]`.
pub(crate) fn band(name: impl Into<String>, at: &[f64], runs: &[Vec<f64>]) -> Curve {
    let spreads: Vec<Spread> =
        (0..at.len()).map(|k| Spread::of(&runs.iter().map(|run| run[k]).collect::<Vec<_>>())).collect();
    Curve::line(Series {
        name: name.into(),
        points: at.iter().zip(&spreads).map(|(&x, spread)| (x, spread.mean)).collect(),
        band: Some(spreads.iter().map(|s| (s.mean - s.deviation, s.mean + s.deviation)).collect()),
    })
}
