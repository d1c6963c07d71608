//! Gradients of what a peer holds: of its own rows, or as a program or a function answers. Whoever computes them, the node clips, rounds and hides them.

use std::time::Duration;

use sottovoce::experiment::{Clipped, TaskSpec};
use sottovoce_learning::data::Prepared;
use sottovoce_learning::{Clip, Model, Shard, Table};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_privacy::{Guarantee, Standing};

use crate::bounded::{Norm, shorten, stepped};
use crate::error::require;
use crate::part::Holding;
use crate::suggested::suggested;
use crate::{Error, Result};

/// Rows are no longer than this: a norm of 1, and an intercept.
pub(crate) const LONGEST: f64 = std::f64::consts::SQRT_2;

/// Gradients of what a peer holds.
pub(crate) trait Gradients: Send {
    /// The mean over all examples at a point, each at most `clip` long. It need not be: whoever asks shortens it again.
    fn mean(&mut self, step: usize, point: &[f64], clip: f64) -> Result<Vec<f64>>;

    /// The gradients of these examples at a point, one after the other, as they are.
    fn each(
        &mut self,
        step: usize,
        point: &[f64],
        picked: &[u32],
        take: &mut dyn FnMut(&mut [f64]) -> Result<()>,
    ) -> Result<()>;
}

/// Where they come from: a function or the program that the node names, or else the rows of its file, prepared as was agreed on. A step of a program lasts no longer than `patience`.
pub(crate) fn of_rows(
    holding: &Holding,
    task: &TaskSpec,
    (width, rows): (usize, Option<usize>),
    patience: Duration,
) -> Result<Box<dyn Gradients>> {
    match suggested(holding, (width, rows), patience)? {
        Some(suggested) => Ok(suggested),
        None => Ok(Box::new(Rows::read(holding, task, (width, rows))?)),
    }
}

/// Rows of one's own.
pub(crate) struct Rows {
    table: Table,
    model: Model,
    clipped: Clipped,
}

impl Rows {
    /// Reads a file of so many rows, where a number was agreed on, whose models have so many numbers.
    pub(crate) fn read(
        holding: &Holding,
        task: &TaskSpec,
        (width, rows): (usize, Option<usize>),
    ) -> Result<Self> {
        let Prepared { train: table, test, clipped, loss, .. } =
            task.own(&holding.file).map_err(|error| match error {
                sottovoce::Error::Learning(error) => unquoted(holding, &error),
                other => Error::from(other),
            })?;
        holding.check()?;
        // (A last column of ones is not the file's.)
        let all = (table.rows() + test.rows()) * table.width().saturating_sub(1);
        holding.note_clipped(clipped, all, "their ranges");
        // What pulls a model towards 0 is public, and added by whoever asks.
        let model = Model { loss, width: table.width(), ridge: 0.0 };
        let refused = |error: sottovoce_learning::Error| unquoted(holding, &error);
        model.check(&table).map_err(refused)?;
        Model::require_radius(&table, LONGEST).map_err(refused)?;
        let found = model.parameters();
        let remedy =
            format!("rows of {} make models of {found} numbers; agree on as many", holding.file.display());
        require(found == width, "width", width, remedy)?;
        let (found, agreed) = (table.rows(), rows.unwrap_or(table.rows()));
        let remedy =
            format!("{found} rows to learn from are in {}; agree on as many", holding.file.display());
        require(found == agreed, "rows", agreed, remedy)?;
        Ok(Self { table, model, clipped: task.clipped })
    }
}

impl Gradients for Rows {
    fn mean(&mut self, _: usize, point: &[f64], clip: f64) -> Result<Vec<f64>> {
        let clip = match self.clipped {
            Clipped::User => Clip::User(clip),
            Clipped::Example | Clipped::Nothing => Clip::Example(clip),
        };
        let mut out = vec![0.0; point.len()];
        self.model.gradient(point, self.table.view(), clip, &mut out);
        Ok(out)
    }

    fn each(
        &mut self,
        _: usize,
        point: &[f64],
        picked: &[u32],
        take: &mut dyn FnMut(&mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let mut out = vec![0.0; point.len()];
        for &row in picked {
            let row = row as usize;
            let (features, labels) = (self.table.row(row), &self.table.labels()[row..=row]);
            let one = Shard { features, labels, width: self.table.width() };
            self.model.gradient(point, one, Clip::None, &mut out);
            take(&mut out)?;
        }
        Ok(())
    }
}

/// What is promised of one row, where a program may have computed gradients: a transcript does not tell.
pub(crate) fn by_example(guarantee: Guarantee) -> Guarantee {
    let each = "no record enters another example's gradient, where a program or a function of the node's own computes them";
    Guarantee { standing: Standing::Conditional(vec![each.to_owned()]), ..guarantee }
}

/// What is wrong with a file of rows, and where, without what stands there: rows are private, and errors end in journals.
pub(crate) fn unquoted(holding: &Holding, error: &sottovoce_learning::Error) -> Error {
    use sottovoce_learning::Error as Wrong;
    let file = holding.file.display();
    let remedy = "words of it are private, and not said here: `sottovoce run learning --data FILE` says on this machine what is wrong; nothing was sent";
    match error {
        Wrong::File { problem, .. } => unquoted(holding, problem),
        Wrong::Parameter(fault) => {
            Error::parameter(fault.field, &fault.value, format!("{file} does not suit; {remedy}"))
        }
        Wrong::Line { line, .. } => {
            Error::parameter("values", format!("unreadable in line {line} of {file}"), remedy)
        }
        Wrong::Row { row, .. } => {
            Error::parameter("values", format!("unsuitable in row {row} of {file}"), remedy)
        }
        Wrong::Format(_) => Error::parameter("values", format!("{file}, which cannot be read"), remedy),
    }
}

/// The mean of vectors, each shortened to at most `clip`.
pub(crate) fn mean_of(vectors: &mut [f64], width: usize, clip: f64) -> Vec<f64> {
    let mut sum = vec![0.0; width];
    let share = width as f64 / vectors.len() as f64;
    for vector in vectors.chunks_exact_mut(width) {
        shorten(vector, clip, Norm::Two);
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += share * *x);
    }
    sum
}

/// How examples enter a sum, each by itself: so that one of them, exchanged, moves the sum by no more than twice its length and its rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entering {
    pub(crate) grid: Grid,
    /// How long an example's gradient may be.
    pub(crate) clip: f64,
    pub(crate) norm: Norm,
    /// What sums are divided by: public.
    pub(crate) divisor: f64,
}

impl Entering {
    /// How far one example, exchanged, moves the sum before it is rounded.
    pub(crate) fn sensitivity(&self) -> f64 {
        2.0 * self.longest()
    }

    fn longest(&self) -> f64 {
        self.clip / self.divisor
    }

    /// Refuses sums of so many examples that could leave the integers that doubles hold: what happens there would depend on what is summed.
    pub(crate) fn check(&self, rows: usize) -> Result<()> {
        let most = rows as f64 * (self.grid.units_of(self.longest()) + 1.0);
        let remedy = "sums of so many steps are not exact; take a coarser grid";
        require(most <= (1u64 << 50) as f64, "grid", self.grid.step(), remedy)
    }

    /// The sum over these examples at a point, in steps of the grid.
    pub(crate) fn sum(
        &self,
        gradients: &mut dyn Gradients,
        step: usize,
        point: &[f64],
        picked: &[u32],
    ) -> Result<Vec<i64>> {
        let mut sum = vec![0i64; point.len()];
        gradients.each(step, point, picked, &mut |gradient| {
            gradient.iter_mut().for_each(|x| *x /= self.divisor);
            let own = stepped(self.grid, gradient, self.longest(), self.norm)?;
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum = sum.saturating_add(own));
            Ok(())
        })?;
        Ok(sum)
    }
}
