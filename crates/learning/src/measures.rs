//! What a model is worth: how often it names the right class, or how near its numbers come.

use serde::{Deserialize, Serialize};

use crate::linear::dot;
use crate::{Loss, Model, Shard, Spread};

/// Measures that suit what is learned: of one model, or spread over several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Measures<T = f64> {
    /// Of classes.
    Classes {
        /// The share of rows that are classified right.
        accuracy: T,
    },
    /// Of numbers.
    Numbers {
        /// Root of the mean squared error, in units of the label.
        rmse: T,
        /// The share of the labels' variance that is explained: 1 is perfect, 0 what their mean achieves, and less is worse than that.
        r_squared: T,
    },
}

impl<T> Measures<T> {
    /// All of them with their names, the one that is to be large first.
    pub fn list(&self) -> Vec<(&'static str, &T)> {
        match self {
            Self::Classes { accuracy } => vec![("accuracy", accuracy)],
            Self::Numbers { rmse, r_squared } => vec![("R²", r_squared), ("RMSE", rmse)],
        }
    }

    /// The one that is to be large.
    pub fn first(&self) -> &T {
        match self {
            Self::Classes { accuracy } => accuracy,
            Self::Numbers { r_squared, .. } => r_squared,
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Classes { .. } => "accuracy",
            Self::Numbers { .. } => "R²",
        }
    }

    /// The accuracy, where classes are learned.
    pub fn accuracy(&self) -> Option<&T> {
        match self {
            Self::Classes { accuracy } => Some(accuracy),
            Self::Numbers { .. } => None,
        }
    }
}

impl Measures {
    /// Something of each measure over several models of one kind; accuracies of none.
    pub fn over<T>(all: &[Self], each: impl Fn(&[f64]) -> T) -> Measures<T> {
        let column = |pick: &dyn Fn(&Self) -> f64| each(&all.iter().map(pick).collect::<Vec<_>>());
        match all.first() {
            Some(Self::Numbers { .. }) => Measures::Numbers {
                rmse: column(&|one| if let Self::Numbers { rmse, .. } = one { *rmse } else { f64::NAN }),
                r_squared: column(&|one| *one.first()),
            },
            _ => Measures::Classes { accuracy: column(&|one| *one.first()) },
        }
    }

    /// The same where a number of 1 stands for `unit`.
    pub(crate) fn in_units(self, unit: f64) -> Self {
        match self {
            Self::Numbers { rmse, r_squared } => Self::Numbers { rmse: rmse * unit, r_squared },
            classes => classes,
        }
    }

    /// Of predictions of numbers.
    pub(crate) fn of_numbers(predictions: impl Iterator<Item = f64>, labels: &[f64]) -> Self {
        let rows = labels.len() as f64;
        let mean = labels.iter().sum::<f64>() / rows;
        let square = |x: f64| x * x;
        let errors: f64 = predictions.zip(labels).map(|(prediction, label)| square(prediction - label)).sum();
        let variation: f64 = labels.iter().map(|label| square(label - mean)).sum();
        // Where all labels are alike there is nothing to explain; as others do it, 1 is for no error at all.
        let r_squared = match variation == 0.0 {
            true => f64::from(u8::from(errors == 0.0)),
            false => 1.0 - errors / variation,
        };
        Self::Numbers { rmse: (errors / rows).sqrt(), r_squared }
    }
}

impl Measures<Spread> {
    /// Of several runs.
    pub fn of_runs(all: &[Measures]) -> Self {
        Measures::over(all, Spread::of)
    }
}

impl Model {
    /// What the model is worth on these rows. NaN without rows.
    ///
    /// # Panics
    ///
    /// If `theta` or `data` have other widths than the model.
    pub fn measures(&self, theta: &[f64], data: Shard<'_>) -> Measures {
        match self.loss {
            Loss::Squared => {
                self.check_shapes(theta, data);
                let predictions = data.features.chunks_exact(data.width).map(|row| dot(theta, row));
                Measures::of_numbers(predictions, data.labels)
            }
            Loss::Logistic | Loss::Softmax { .. } => {
                Measures::Classes { accuracy: self.accuracy(theta, data) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_measured_by_their_errors() {
        let model = Model { loss: Loss::Squared, width: 1, ridge: 0.0 };
        let data = Shard { features: &[1.0, 2.0, 3.0], labels: &[2.0, 4.0, 9.0], width: 1 };
        // Errors 0, 0 and 3; the labels vary by 9 + 1 + 16 about their mean of 5.
        let Measures::Numbers { rmse, r_squared } = model.measures(&[2.0], data) else {
            panic!("labels are numbers");
        };
        assert!((rmse - 3f64.sqrt()).abs() < 1e-15 && (r_squared - (1.0 - 9.0 / 26.0)).abs() < 1e-15);
        let alike = |prediction: f64| *Measures::of_numbers([prediction].into_iter(), &[7.0]).first();
        assert_eq!((alike(7.0), alike(6.0)), (1.0, 0.0));
    }

    #[test]
    fn measures_keep_their_names_when_written() {
        let classes = Measures::Classes { accuracy: 0.5 };
        assert_eq!(serde_json::to_string(&classes).unwrap(), "{\"accuracy\":0.5}");
        let numbers = Measures::Numbers { rmse: 1.0, r_squared: 0.25 };
        let text = serde_json::to_string(&numbers).unwrap();
        assert_eq!(text, "{\"rmse\":1.0,\"r_squared\":0.25}");
        assert_eq!(serde_json::from_str::<Measures>(&text).unwrap(), numbers);
        let spread = Measures::of_runs(&[numbers, Measures::Numbers { rmse: 3.0, r_squared: 0.75 }]);
        assert_eq!((spread.first().mean, spread.list()[1].1.mean), (0.5, 2.0));
    }
}
