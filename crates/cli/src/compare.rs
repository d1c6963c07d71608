//! `sottovoce compare`: two runs beside each other.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::Global;
use crate::runs::{Row, Run, differences, ratio, shown};
use sottovoce::names::end;

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run averaging --peers 32 --epsilon 2 --out a\n  sottovoce run averaging --peers 32 --epsilon 2 --relay-noise 0.2 --out b\n  sottovoce compare a b"
)]
pub(crate) struct Compare {
    /// Folder of the first run's report.
    first: PathBuf,
    /// Folder of the second's.
    second: PathBuf,
}

/// Where two runs differ.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Comparison {
    /// Folder of the first run.
    first: PathBuf,
    /// Folder of the second.
    second: PathBuf,
    /// Fields of the experiments that differ.
    experiment: Vec<Difference>,
    /// Numbers that differ.
    results: Vec<Difference>,
    /// How many fields are the same.
    same: usize,
    /// Those; a list for people.
    #[serde(skip)]
    alike: Vec<Difference>,
}

/// One field of both.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Difference {
    /// Its path.
    field: String,
    first: Option<Value>,
    second: Option<Value>,
}

impl Compare {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let [first, second] = [&self.first, &self.second].map(|folder| Run::read(folder));
        let (first, second) = (first?, second?);
        let (experiment, mut alike) = differences(&[&first.experiment, &second.experiment]);
        let (results, more) = differences(&[&first.results, &second.results]);
        alike.extend(more);
        let listed = |rows: Vec<Row>| -> Vec<Difference> { rows.into_iter().map(Difference::from).collect() };
        global.print(&Comparison {
            first: self.first.clone(),
            second: self.second.clone(),
            experiment: listed(experiment),
            results: listed(results),
            same: alike.len(),
            alike: listed(alike),
        })
    }
}

impl From<Row> for Difference {
    fn from(row: Row) -> Self {
        let mut values = row.values.into_iter();
        Self { field: row.field, first: values.next().flatten(), second: values.next().flatten() }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        writeln!(
            f,
            "{} of the experiment and {} of the results differ; {} more are the same\n",
            count(self.experiment.len(), "field"),
            count(self.results.len(), "number"),
            self.same
        )?;
        let folders = [&self.first, &self.second].map(|folder| folder.display().to_string());
        row(f, "", folders, "ratio")?;
        let alike = self.alike.iter().filter(|_| f.alternate());
        let rows: Vec<&Difference> = self.experiment.iter().chain(&self.results).chain(alike).collect();
        rows.into_iter().try_for_each(|one| {
            let both = [one.first.as_ref(), one.second.as_ref()];
            row(f, &one.field, both.map(shown), &ratio(both[0], both[1]))
        })
    }
}

/// A line of the table, in 100 columns.
fn row(f: &mut fmt::Formatter<'_>, field: &str, both: [String; 2], ratio: &str) -> fmt::Result {
    let [first, second] = both.map(|value| end(&value, 22));
    writeln!(f, "  {:<40} {first:>22} {second:>22} {ratio:>10}", end(field, 40))
}
