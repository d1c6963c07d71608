//! What a folder holds of a run, by fields, and where runs differ: for `compare`, and for whoever shows several.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;
use sottovoce::experiment::Experiment;
use sottovoce::spine::{EXPERIMENT, RESULT};
use sottovoce_fault::file;

/// What differs from one run to the next and means nothing.
const LEFT_OUT: [&str; 5] = ["command", "files", "report", "schema_version", "seed"];

/// Fields by their paths.
pub(crate) type Fields = BTreeMap<String, Value>;

/// What a folder holds of a run, by fields.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) experiment: Fields,
    /// Of results only what can be weighed: numbers.
    pub(crate) results: Fields,
}

impl Run {
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Self> {
        if !folder.is_dir() {
            bail!(
                "`folder` is {}: there is no such folder; give one that a run has written (--out)",
                folder.display()
            );
        }
        let path = folder.join(RESULT);
        if !path.is_file() {
            bail!(
                "`folder` is {}: it holds no run ({RESULT} is missing); give one that a run has written (--out)",
                folder.display()
            );
        }
        let text = file::text("folder", &path, file::MOST)?;
        let results: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is damaged; run again", path.display()))?;
        let experiment = match file::text("folder", &folder.join(EXPERIMENT), file::MOST) {
            Ok(text) => serde_json::to_value(Experiment::parse(&text)?)?,
            Err(_) => Value::Null,
        };
        Ok(Self::of(&experiment, &results))
    }

    /// What is in these documents.
    pub(crate) fn of(experiment: &Value, results: &Value) -> Self {
        let mut run = Self::default();
        flatten("", experiment, &mut run.experiment);
        flatten("", results, &mut run.results);
        run.results.retain(|_, value| value.is_number());
        run
    }
}

/// Fields by their paths; of lists, those of the experiment and the guarantees are kept.
fn flatten(path: &str, value: &Value, all: &mut Fields) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(&path, value, all);
            }
        }
        Value::Null => {}
        // What is promised, by whom it is promised against.
        Value::Array(list) if path == "guarantees" => {
            for one in list {
                let who = [&one["about"], &one["adversary"]].map(|name| name.as_str().unwrap_or_default());
                let path = format!("guarantees.{} ({})", who[0], who[1]);
                let numbers = ["epsilon", "delta"].map(|name| (name, one[name].clone()));
                numbers.into_iter().for_each(|(name, value)| flatten(&format!("{path}.{name}"), &value, all));
            }
        }
        other => {
            all.insert(path.to_owned(), other.clone());
        }
    }
}

/// One field of all runs, in their order.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    /// Its path.
    pub(crate) field: String,
    pub(crate) values: Vec<Option<Value>>,
}

/// Fields that differ, and those that do not.
pub(crate) fn differences(runs: &[&Fields]) -> (Vec<Row>, Vec<Row>) {
    let mut names: Vec<&String> = runs.iter().flat_map(|fields| fields.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let rows = names.into_iter().map(|name| Row {
        field: name.clone(),
        values: runs.iter().map(|fields| fields.get(name).cloned()).collect(),
    });
    rows.partition(|row| row.values.iter().any(|value| *value != row.values[0]))
}

/// A value for people; a number with all its digits, since it may be a loss, which must not be rounded down.
pub(crate) fn shown(value: Option<&Value>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::Number(number)) => number.as_f64().map_or_else(
            || number.to_string(),
            |x| if x == x.trunc() && x.abs() < 1e15 { format!("{x}") } else { format!("{x:?}") },
        ),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// One value over another, where both are numbers.
pub(crate) fn ratio(first: Option<&Value>, second: Option<&Value>) -> String {
    match (first.and_then(Value::as_f64), second.and_then(Value::as_f64)) {
        (Some(first), Some(second)) if first != 0.0 => format!("{:.3}", second / first),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_several_runs_differ_where_one_does() {
        let runs = [
            json!({ "a": 1, "b": { "c": 2.5, "d": null }, "seed": 1 }),
            json!({ "a": 1, "b": { "c": 2.5, "d": [1] }, "seed": 2 }),
            json!({ "a": 1, "b": { "c": 3 } }),
        ]
        .map(|experiment| Run::of(&experiment, &json!({ "error": 0.5, "headline": "no number" })));
        assert_eq!(runs[0].results, Fields::from([("error".to_owned(), json!(0.5))]));
        let (differ, alike) = differences(&[0, 1, 2].map(|i| &runs[i].experiment));
        let row =
            |field: &str, values: [Option<Value>; 3]| Row { field: field.into(), values: values.into() };
        assert_eq!(
            differ,
            [
                row("b.c", [Some(json!(2.5)), Some(json!(2.5)), Some(json!(3))]),
                row("b.d", [None, Some(json!([1])), None])
            ]
        );
        assert_eq!(alike, [row("a", [1, 1, 1].map(|one| Some(json!(one))))]);
        assert_eq!(ratio(Some(&json!(2)), Some(&json!(3))), "1.500");
        assert_eq!((ratio(Some(&json!(0)), Some(&json!(3))), shown(None)), (String::new(), "-".to_owned()));
    }
}
