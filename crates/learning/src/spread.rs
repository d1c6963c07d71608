//! A measurement over several seeds: one run alone may be a lucky one.

use std::fmt;

use serde::Serialize;

/// Mean, deviation and range of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// The mean.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub mean: f64,
    /// The standard deviation of a single run (0 where there was one only).
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub deviation: f64,
    /// The smallest.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub least: f64,
    /// The largest.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub most: f64,
    /// Over how many runs.
    pub runs: usize,
}

impl Spread {
    /// Of at least one measurement; NaN of none.
    pub fn of(values: &[f64]) -> Self {
        let runs = values.len();
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(*value), most.max(*value))
        });
        Self { mean, deviation: (squares / runs.saturating_sub(1).max(1) as f64).sqrt(), least, most, runs }
    }
}

impl Spread {
    /// With all that one should know of it.
    pub fn words(&self) -> String {
        match self.runs {
            1 => format!("{:.3} (one seed only)", self.mean),
            runs => format!("{self} over {runs} seeds ({:.3} to {:.3})", self.least, self.most),
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ± {:.3}", self.mean, self.deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_those_of_a_sample() {
        let found = Spread::of(&[1.0, 2.0, 6.0]);
        assert_eq!((found.mean, found.least, found.most, found.runs), (3.0, 1.0, 6.0, 3));
        assert!((found.deviation - 7f64.sqrt()).abs() < 1e-15);
        assert_eq!(Spread::of(&[5.0]).to_string(), "5.000 ± 0.000");
        assert!(Spread::of(&[]).mean.is_nan());
        assert_eq!(Spread::of(&[0.5, 0.75]).words(), "0.625 ± 0.177 over 2 seeds (0.500 to 0.750)");
    }
}
