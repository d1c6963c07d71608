//! The weighted mean of models along a run: the output of Muffliato's Theorems 5 and 10, with the weights of Koloskova, Loizou, Boreiri, Jaggi and Stich
//! (2020), `w_t = (1 - mu eta/2)^-(t+1)`, where losses are `mu`-strongly convex and `eta` is the step size. Later models count more; without strong
//! convexity all count alike.
//!
//! Every peer takes the mean of *its own* models, the start and the last included. That is a function of what it holds anyway: nobody sends anything, so
//! nobody learns anything. The mean over peers of these means is the weighted mean of the mean models, of which the theorems speak.

use crate::{Result, require};

/// The mean so far.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedMean {
    /// `1 - mu eta/2`: what a weight is times, one step earlier.
    keep: f64,
    /// The share of the newest model, `w_t / Σ_(s<=t) w_s`: weights themselves may be too large for a number.
    share: f64,
    values: Vec<f64>,
}

impl WeightedMean {
    /// From the models at the start, for losses of this strong convexity and steps of this size.
    pub fn new(convexity: f64, step: f64, start: Vec<f64>) -> Result<Self> {
        let keep = 1.0 - 0.5 * convexity * step;
        let remedy =
            "times the ridge it must be below 2, or the last model would be all that counts; lower it";
        require(keep > 0.0 && keep <= 1.0, "step-size", step, remedy)?;
        Ok(Self { keep, share: 1.0, values: start })
    }

    /// One more step was made: these are the models now.
    pub fn add(&mut self, models: &[f64]) {
        self.share = next(self.share, self.keep);
        let share = self.share;
        self.values.iter_mut().zip(models).for_each(|(mean, model)| *mean += share * (model - *mean));
    }

    /// Goes on from the mean after so many steps.
    pub fn resume(&mut self, steps: usize, values: Vec<f64>) {
        self.share = (0..steps).fold(1.0, |share, _| next(share, self.keep));
        self.values = values;
    }

    /// The means, one after the other.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// `w_(t+1)/W_(t+1)` from `w_t/W_t`.
fn next(share: f64, keep: f64) -> f64 {
    share / (share + keep)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Models 0, 1, 2, ...: the mean by its definition.
    fn defined(keep: f64, steps: usize) -> f64 {
        let weight = |t: usize| keep.powi(-(t as i32 + 1));
        let all = (0..=steps).map(weight).sum::<f64>();
        (0..=steps).map(|t| weight(t) * t as f64).sum::<f64>() / all
    }

    #[test]
    fn the_mean_is_that_of_its_definition() {
        for (convexity, step) in [(0.0, 4.0), (0.1, 0.7), (1.0, 1.0), (2.0, 0.99)] {
            let mut mean = WeightedMean::new(convexity, step, vec![0.0]).unwrap();
            let mut half = None;
            for t in 1..=12 {
                mean.add(&[t as f64]);
                let due = defined(1.0 - convexity * step / 2.0, t);
                assert!((mean.values()[0] - due).abs() < 1e-12 * due, "{convexity} {t}");
                half = if t == 5 { Some(mean.values().to_vec()) } else { half };
            }
            let mut again = WeightedMean::new(convexity, step, vec![0.0]).unwrap();
            again.resume(5, half.unwrap());
            (6..=12).for_each(|t| again.add(&[f64::from(t)]));
            assert_eq!(again, mean);
        }
        // Far beyond where weights overflow: what is left is the share of one among many.
        let mut long = WeightedMean::new(1.0, 1.0, vec![0.0]).unwrap();
        (0..5000).for_each(|_| long.add(&[3.0]));
        assert!((long.values()[0] - 3.0).abs() < 1e-12 && (long.share - 0.5).abs() < 1e-12);
    }

    #[test]
    fn steps_that_are_too_large_are_refused() {
        for (convexity, step) in [(1.0, 2.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (-1.0, 1.0)] {
            let error = WeightedMean::new(convexity, step, vec![0.0]).unwrap_err().to_string();
            assert!(error.starts_with("`step-size` is "), "{error}");
        }
    }
}
