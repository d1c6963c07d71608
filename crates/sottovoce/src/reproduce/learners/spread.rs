//! Mean and deviation of several runs.

use std::fmt;

use sottovoce_report::{Curve, Series};

/// Mean and standard deviation (of a sample).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::reproduce) struct Spread {
    pub(in crate::reproduce) mean: f64,
    pub(in crate::reproduce) deviation: f64,
}

impl Spread {
    /// Not a number of no values; one value deviates by nothing.
    pub(in crate::reproduce) fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        Self { mean, deviation: (squares / (n - 1.0).max(1.0)).sqrt() }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ± {:.3}", self.mean, self.deviation)
    }
}

/// A curve of means, with a deviation to both sides: `runs[i][k]` is the value of run `i` at place `at[k]`.
pub(in crate::reproduce) fn band(name: impl Into<String>, at: &[f64], runs: &[Vec<f64>]) -> Curve {
    let spreads: Vec<Spread> =
        (0..at.len()).map(|k| Spread::of(&runs.iter().map(|run| run[k]).collect::<Vec<_>>())).collect();
    Curve::line(Series {
        name: name.into(),
        points: at.iter().zip(&spreads).map(|(&x, spread)| (x, spread.mean)).collect(),
        band: Some(spreads.iter().map(|s| (s.mean - s.deviation, s.mean + s.deviation)).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_by_hand() {
        let spread = Spread::of(&[1.0, 2.0, 3.0]);
        assert_eq!((spread.mean, spread.deviation), (2.0, 1.0));
        assert_eq!(Spread::of(&[5.0]).to_string(), "5.000 ± 0.000");
        assert!(Spread::of(&[]).mean.is_nan());
    }
}
