//! `sottovoce compare`: two runs beside each other.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::Global;
use sottovoce::names::end;

/// Names under which runs keep what they print with --json.
const RESULTS: [&str; 3] = ["result.json", "learning.json", "report.json"];
/// What differs from one run to the next and means nothing.
const LEFT_OUT: [&str; 4] = ["command", "files", "report", "seed"];

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
        let (experiment, mut alike) = differences(&first.experiment, &second.experiment);
        let (results, more) = differences(&first.results, &second.results);
        alike.extend(more);
        global.print(&Comparison {
            first: self.first.clone(),
            second: self.second.clone(),
            experiment,
            results,
            same: alike.len(),
            alike,
        })
    }
}

/// What a folder holds of a run, by fields.
struct Run {
    experiment: BTreeMap<String, Value>,
    results: BTreeMap<String, Value>,
}

impl Run {
    fn read(folder: &Path) -> anyhow::Result<Self> {
        if !folder.is_dir() {
            bail!(
                "`folder` is {}: there is no such folder; give one that a run has written (--out)",
                folder.display()
            );
        }
        let Some(path) = RESULTS.map(|name| folder.join(name)).into_iter().find(|path| path.is_file()) else {
            bail!(
                "`folder` is {}: it holds no run (one of {}); give one that a run has written (--out)",
                folder.display(),
                RESULTS.join(", ")
            );
        };
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("`folder` is {}", folder.display()))?;
        let results: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is damaged; run again", path.display()))?;
        let experiment = match std::fs::read_to_string(folder.join("experiment.toml")) {
            Ok(text) => serde_json::to_value(sottovoce::experiment::Experiment::parse(&text)?)?,
            Err(_) => Value::Null,
        };
        let mut run = Self { experiment: BTreeMap::new(), results: BTreeMap::new() };
        flatten("", &experiment, &mut run.experiment);
        flatten("", &results, &mut run.results);
        // Of results only what can be weighed: numbers.
        run.results.retain(|_, value| value.is_number());
        Ok(run)
    }
}

/// Fields by their paths; lists are left out, but for those of the experiment.
fn flatten(path: &str, value: &Value, all: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(&path, value, all);
            }
        }
        Value::Null => {}
        other => {
            all.insert(path.to_owned(), other.clone());
        }
    }
}

/// Fields that differ, and those that do not.
fn differences(
    first: &BTreeMap<String, Value>,
    second: &BTreeMap<String, Value>,
) -> (Vec<Difference>, Vec<Difference>) {
    let mut names: Vec<&String> = first.keys().chain(second.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let both = names.into_iter().map(|name| Difference {
        field: name.clone(),
        first: first.get(name).cloned(),
        second: second.get(name).cloned(),
    });
    both.partition(|one| one.first != one.second)
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
            row(f, &one.field, [&one.first, &one.second].map(|value| shown(value.as_ref())), &one.ratio())
        })
    }
}

/// A line of the table, in 100 columns.
fn row(f: &mut fmt::Formatter<'_>, field: &str, both: [String; 2], ratio: &str) -> fmt::Result {
    let [first, second] = both.map(|value| end(&value, 22));
    writeln!(f, "  {:<40} {first:>22} {second:>22} {ratio:>10}", end(field, 40))
}

impl Difference {
    /// The second over the first, where both are numbers.
    fn ratio(&self) -> String {
        match (self.first.as_ref().and_then(Value::as_f64), self.second.as_ref().and_then(Value::as_f64)) {
            (Some(first), Some(second)) if first != 0.0 => format!("{:.3}", second / first),
            _ => String::new(),
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::Number(number)) => number.as_f64().map_or_else(
            || number.to_string(),
            |x| if x == x.trunc() && x.abs() < 1e15 { format!("{x}") } else { format!("{x:.6}") },
        ),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
