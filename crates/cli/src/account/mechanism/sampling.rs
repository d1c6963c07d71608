//! Which records enter a release, and how many releases there are.

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use sottovoce_privacy::{Mechanism, Result};

/// Sampling and repetition.
#[derive(Debug, Args)]
pub(super) struct SamplingArgs {
    /// Poisson sampling: each record enters a step with this probability (0: no record ever does).
    #[arg(long, value_name = "Q", allow_hyphen_values = true,
          conflicts_with_all = ["batch", "population", "batch_size", "epochs"])]
    sampling_rate: Option<f64>,
    /// Fixed batches without replacement: records in a batch.
    #[arg(long, value_name = "M", requires = "population")]
    batch: Option<u64>,
    /// Fixed batches without replacement: records in all (under add-remove, in the larger data set).
    #[arg(long, value_name = "N")]
    population: Option<u64>,
    /// Poisson sampling by numbers: rows of the data; the rate is the batch size divided by them.
    #[arg(long, value_name = "N", conflicts_with_all = ["batch", "population"])]
    rows: Option<u64>,
    /// Poisson sampling by numbers: rows in a batch on average.
    #[arg(long, value_name = "B", requires = "rows")]
    batch_size: Option<u64>,
    /// Keep at most so many rows of a Poisson sample, drawn among them (under add-remove, --rows counts the larger data set).
    #[arg(long, value_name = "B", requires = "rows")]
    most: Option<u64>,
    /// Passes over the data, instead of --steps: epochs times rows divided by batch size, rounded up.
    #[arg(
        long,
        value_name = "E",
        requires = "batch_size",
        conflicts_with = "steps",
        allow_hyphen_values = true
    )]
    epochs: Option<f64>,
    /// Number of releases (1 unless given).
    #[arg(long, value_name = "T", value_parser = whole, allow_hyphen_values = true)]
    steps: Option<u64>,
}

/// A whole number, with a remedy where there is none.
fn whole(text: &str) -> std::result::Result<u64, String> {
    text.parse().map_err(|_| "give a whole number from 1 to 1000000000".to_owned())
}

/// How the records of a release are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Draw {
    Everyone,
    Nobody,
    Poisson { rate: f64 },
    Truncated { rate: f64, rows: u64, most: u64 },
    Fixed { batch: u64, population: u64 },
}

impl Draw {
    /// At this rate; 0 is nobody.
    pub(super) fn at_rate(rate: f64) -> anyhow::Result<Self> {
        if !(0.0..=1.0).contains(&rate) {
            bail!("`sampling-rate` is {rate}: give a probability, from 0 to 1");
        }
        Ok(if rate == 0.0 { Self::Nobody } else { Self::Poisson { rate } })
    }

    /// At this rate out of so many rows, and at most so many; 0 of any is nobody.
    pub(super) fn at_most(rate: f64, rows: u64, most: u64) -> anyhow::Result<Self> {
        Ok(match Self::at_rate(rate)? {
            Self::Poisson { rate } if rows > 0 && most > 0 => Self::Truncated { rate, rows, most },
            _ => Self::Nobody,
        })
    }

    /// In batches of fixed size; 0 is nobody.
    pub(super) fn in_batches(batch: u64, population: u64) -> Self {
        if batch == 0 { Self::Nobody } else { Self::Fixed { batch, population } }
    }

    /// The release on such a sample.
    pub(super) fn of(self, release: Mechanism) -> Result<Mechanism> {
        match self {
            Self::Everyone => Ok(release),
            Self::Nobody => Ok(release.on_nobody()),
            Self::Poisson { rate } => release.poisson(rate),
            Self::Truncated { rate, rows, most } => release.truncated_poisson(rate, rows, most),
            Self::Fixed { batch, population } => release.fixed_batch(batch, population),
        }
    }
}

/// Where a number of steps came from.
#[derive(Debug, Clone, Copy, Serialize, schemars::JsonSchema)]
pub(super) struct Passes {
    rows: u64,
    /// Rows in a batch on average.
    batch_size: u64,
    /// Passes over the data.
    epochs: f64,
    pub(super) rounded_up: bool,
}

impl SamplingArgs {
    pub(super) fn draw(&self) -> anyhow::Result<Draw> {
        if let (Some(most), Some(rows)) = (self.most, self.rows) {
            let rate = match (self.sampling_rate, self.batch_size) {
                (Some(rate), _) => rate,
                (None, Some(size)) if size <= rows => size as f64 / rows as f64,
                _ => bail!("`most` is {most}: give --sampling-rate Q, or --batch-size B of at most the rows"),
            };
            return Draw::at_most(rate, rows, most);
        }
        match (self.sampling_rate, self.batch, self.population, self.rows, self.batch_size) {
            (Some(_), _, _, Some(rows), _) => {
                bail!("`rows` is {rows} beside a sampling rate: give --most B with it, or leave it out")
            }
            (Some(rate), ..) => Draw::at_rate(rate),
            (None, Some(batch), Some(population), ..) => Ok(Draw::in_batches(batch, population)),
            (None, None, Some(population), ..) => {
                bail!("`population` is {population}: give --batch M with it, or --calibrate-batch to find it")
            }
            (None, None, None, Some(rows), Some(size)) => batches_of(size, rows),
            (None, None, None, Some(rows), None) => {
                bail!("`rows` is {rows}: give --batch-size B with it, or --calibrate-batch to find it")
            }
            _ => Ok(Draw::Everyone),
        }
    }

    /// Draws batches of any size, with the option that gives it and the largest there is: for finding one.
    pub(super) fn batches(
        &self,
    ) -> anyhow::Result<(&'static str, u64, impl Fn(u64) -> anyhow::Result<Draw>)> {
        if let Some(epochs) = self.epochs {
            bail!("`epochs` is {epochs}: the number of steps would change with the batch; give --steps");
        }
        let given = [("batch", self.batch), ("batch-size", self.batch_size)];
        if let Some((name, Some(size))) = given.iter().find(|(_, size)| size.is_some()) {
            bail!("`{name}` is {size}: --calibrate-batch finds it; remove one of the two");
        }
        let (fixed, rows) = match (self.population, self.rows) {
            (Some(population), _) => (true, population),
            (None, Some(rows)) => (false, rows),
            (None, None) => {
                bail!("`population` is missing: give --population N (fixed batches) or --rows N (Poisson)")
            }
        };
        let draw =
            move |size: u64| if fixed { Ok(Draw::in_batches(size, rows)) } else { batches_of(size, rows) };
        let largest = if fixed { rows.saturating_sub(1) } else { rows };
        Ok((if fixed { "batch" } else { "batch-size" }, largest, draw))
    }

    /// The number of releases.
    pub(super) fn steps(&self) -> anyhow::Result<u64> {
        match (self.epochs, self.rows, self.batch_size) {
            (Some(epochs), Some(rows), Some(size)) => steps_of(epochs, rows, size).map(|(steps, _)| steps),
            _ => Ok(self.steps.unwrap_or(1)),
        }
    }

    /// The number of releases that was given, where --calibrate-steps would ignore it.
    pub(super) fn refuse_steps(&self) -> anyhow::Result<()> {
        if let Some(steps) = self.steps {
            bail!("`steps` is {steps}: --calibrate-steps finds it; remove one of the two");
        }
        if let Some(epochs) = self.epochs {
            bail!("`epochs` is {epochs}: --calibrate-steps finds the steps; remove one of the two");
        }
        Ok(())
    }

    /// What was said about passes over the data.
    pub(super) fn passes(&self) -> anyhow::Result<Option<Passes>> {
        let (Some(epochs), Some(rows), Some(batch_size)) = (self.epochs, self.rows, self.batch_size) else {
            return Ok(None);
        };
        let (_, rounded_up) = steps_of(epochs, rows, batch_size)?;
        Ok(Some(Passes { rows, batch_size, epochs, rounded_up }))
    }
}

/// A Poisson sample of `size` out of `rows` on average.
fn batches_of(size: u64, rows: u64) -> anyhow::Result<Draw> {
    if size > rows {
        bail!("`batch-size` is {size}: give at most the rows, {rows}");
    }
    if size == 0 { Ok(Draw::Nobody) } else { Draw::at_rate(size as f64 / rows as f64) }
}

/// `epochs * rows / size` steps, rounded up, and whether they had to be.
fn steps_of(epochs: f64, rows: u64, size: u64) -> anyhow::Result<(u64, bool)> {
    if size == 0 {
        bail!(
            "`batch-size` is 0: batches without rows make no pass over the data; give at least 1, or --steps"
        );
    }
    let steps = epochs * rows as f64 / size as f64;
    if !(steps > 0.0 && steps <= 1e9) {
        bail!(
            "`epochs` is {epochs}: that makes {steps} steps; give a number that makes from 1 to 1000000000"
        );
    }
    Ok((steps.ceil() as u64, steps.fract() != 0.0))
}

impl std::fmt::Display for Passes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} epochs of {} rows in batches of {}", self.epochs, self.rows, self.batch_size)
    }
}
