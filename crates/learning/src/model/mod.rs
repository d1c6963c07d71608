//! Losses of linear models: what is learned, what it costs, and in which direction it improves.
//!
//! | loss | of a row `x` with label `y`, where `z = x·theta` | labels |
//! | --- | --- | --- |
//! | [`Loss::Logistic`] | `ln(1 + exp(-y·z))` | -1 or 1 |
//! | [`Loss::Squared`] | `(z - y)²/2` | any number |
//! | [`Loss::Softmax`] | `ln(sum_k exp(z_k)) - z_y`, where `z_k = x·theta_k` | 0, 1, ... up to `classes - 1` |
//!
//! A model's objective is the mean over the rows plus `ridge/2·|theta|²`. The parameters of softmax are `classes` blocks of `width`
//! numbers.

mod along;
mod bounds;
mod curvature;
mod gradient;
mod objective;

pub(crate) use along::TURN;
pub(crate) use gradient::Bounded;

use crate::{Error, Result, Table, require};

/// What a wrong prediction costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// Two classes, -1 and 1.
    Logistic,
    /// Half the square of the error.
    Squared,
    /// Several classes 0, 1, ...
    Softmax {
        /// How many.
        classes: usize,
    },
}

/// How gradients are bounded before they leave a peer.
///
/// A bound that is not a positive number shrinks gradients to zero: no mistake lets more through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clip {
    /// Not at all.
    None,
    /// Each row's gradient is shrunk to this norm, if it is longer, before the mean is taken.
    Example(f64),
    /// The same in the 1-norm, the sum of sizes: what Laplace noise of each number asks for.
    ExampleL1(f64),
    /// The mean over the rows is shrunk to this norm, if it is longer.
    User(f64),
}

impl Clip {
    /// Refuses bounds that are not positive numbers.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Example(bound) | Self::ExampleL1(bound) | Self::User(bound)
                if !(bound.is_finite() && bound > 0.0) =>
            {
                Err(Error::parameter("clip", bound, "give a positive number"))
            }
            _ => Ok(()),
        }
    }

    /// How far replacing all rows of a user can move a gradient that is bounded like this, whoever computed it; infinite where nothing is bounded.
    pub fn sensitivity(&self) -> f64 {
        match *self {
            Self::None => f64::INFINITY,
            Self::Example(bound) | Self::ExampleL1(bound) | Self::User(bound) => 2.0 * bound,
        }
    }
}

/// A linear model with its loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// What a wrong prediction costs.
    pub loss: Loss,
    /// Features of a row.
    pub width: usize,
    /// Weight of `|theta|²/2` in the objective.
    pub ridge: f64,
}

impl Model {
    /// The number of parameters: `width`, or `classes·width`.
    pub fn parameters(&self) -> usize {
        match self.loss {
            Loss::Logistic | Loss::Squared => self.width,
            Loss::Softmax { classes } => classes.saturating_mul(self.width),
        }
    }

    /// Refuses tables that this model cannot learn from, and a ridge that is no regularisation.
    pub fn check(&self, table: &Table) -> Result<()> {
        let remedy = "give a finite number, zero or more";
        require(self.ridge.is_finite() && self.ridge >= 0.0, "ridge", self.ridge, remedy)?;
        let remedy = format!("the table has {} columns; give the model as many", table.width());
        require(self.width == table.width(), "width", self.width, remedy)?;
        require(table.rows() != 0, "rows", 0, "there is nothing to learn from; give a table with rows")?;
        if let Loss::Softmax { classes } = self.loss {
            require(classes >= 2, "classes", classes, "give two or more")?;
            let remedy = "this is more than memory; give fewer";
            require(classes.checked_mul(self.width).is_some(), "classes", classes, remedy)?;
        }
        self.check_labels(table.labels())
    }

    fn check_labels(&self, labels: &[f64]) -> Result<()> {
        let (fits, remedy): (Box<dyn Fn(f64) -> bool>, String) = match self.loss {
            Loss::Squared => return Ok(()),
            Loss::Logistic => {
                let remedy = "logistic regression takes -1 or 1; `Table::binary` makes them of classes";
                (Box::new(|label| label.abs() == 1.0), remedy.into())
            }
            Loss::Softmax { classes } => {
                let remedy = format!("softmax with {classes} classes takes 0, 1, ... up to {}", classes - 1);
                let limit = classes as f64;
                (Box::new(move |label| label >= 0.0 && label < limit && label.fract() == 0.0), remedy)
            }
        };
        match labels.iter().position(|&label| !fits(label)) {
            Some(row) => Err(Error::row("label", labels[row], row, remedy)),
            None => Ok(()),
        }
    }
}
