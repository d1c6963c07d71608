//! Public bounds, from which rows are scaled: nobody's row may change another's.
//!
//! Whoever standardises by what the rows hold tells everyone about them before the first noise is added. So bounds come from outside: a
//! range for each column, a file of ranges, or a length that no row should exceed. What lies outside is moved inside, row by row
//! (`docs/theorems/preparing-data.md`).

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use sottovoce_fault::file;

use crate::{Error, Result, Table, require};

/// Names of columns in a message, at most.
const SHOWN: usize = 8;

/// What is publicly known of the columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Bounds {
    /// Nothing.
    #[default]
    Unknown,
    /// The least and the largest number of each column, by its name.
    Ranges(BTreeMap<String, (f64, f64)>),
    /// How long a row should be at most.
    Norm(f64),
}

/// `{"column": ..., "low": ..., "high": ...}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    column: String,
    low: f64,
    high: f64,
}

/// The two ways to write bounds in JSON.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Document {
    Pairs(BTreeMap<String, (f64, f64)>),
    List(Vec<Entry>),
}

impl Bounds {
    /// From single ranges, a file of them, or a norm; not from several kinds at once.
    pub fn new(ranges: &[(String, (f64, f64))], file: Option<&Path>, norm: Option<f64>) -> Result<Self> {
        let mut all = Vec::new();
        if let Some(path) = file {
            all = read(path)?;
        }
        all.extend_from_slice(ranges);
        match norm {
            Some(norm) if all.is_empty() => return Ok(Self::Norm(norm)),
            Some(norm) => {
                let remedy = "rows have ranges already; give ranges or a norm";
                return Err(Error::parameter("norm", norm, remedy));
            }
            None if all.is_empty() && file.is_none() => return Ok(Self::Unknown),
            None => {}
        }
        let mut known = BTreeMap::new();
        for (column, range) in all {
            let (low, high) = range;
            let given = format_args!("{column}={low}:{high}");
            let remedy = "give two finite numbers, the lower one first";
            require(low.is_finite() && high.is_finite() && low < high, "range", given, remedy)?;
            let new = known.insert(column.clone(), range).is_none();
            require(new, "range", format_args!("given twice for column {column}"), "give it once")?;
        }
        Ok(Self::Ranges(known))
    }

    /// Scales a table so that no row is longer than 1, each row by itself. How many values lay outside their ranges.
    pub fn scale(&self, table: &mut Table) -> Result<usize> {
        let clipped = match self {
            Self::Norm(norm) => return table.shorten_rows(*norm).map(|()| 0),
            Self::Unknown => table.scale_to_ranges(&in_order(&BTreeMap::new(), table)?)?,
            Self::Ranges(ranges) => table.scale_to_ranges(&in_order(ranges, table)?)?,
        };
        table.shorten_rows(1.0).map(|()| clipped)
    }
}

/// A range for each column of the table; refuses columns without one, and ranges of no column.
fn in_order(ranges: &BTreeMap<String, (f64, f64)>, table: &Table) -> Result<Vec<(f64, f64)>> {
    let columns: Vec<String> = (0..table.width()).map(|column| table.column(column)).collect();
    let strange: Vec<&str> =
        ranges.keys().filter(|name| !columns.contains(name)).map(String::as_str).collect();
    let remedy = format!("there is no such feature; the features are {}", some(&columns));
    require(strange.is_empty(), "range", format_args!("given for {}", some(&strange)), remedy)?;
    let known = |column: usize| ranges.contains_key(&columns[column]) || table.is_indicator(column);
    let missing: Vec<&String> = (0..columns.len()).filter(|&at| !known(at)).map(|at| &columns[at]).collect();
    if let Some(first) = missing.first() {
        let remedy = format!(
            "scaling by what the rows hold would show them to everyone; give public bounds that do not come from these rows, such as --range \
             {first}=LOW:HIGH for each, a file of them (--bounds FILE), or a length that rows are shortened to (--norm R)"
        );
        return Err(Error::parameter("range", format!("missing for {}", some(&missing)), remedy));
    }
    // Zeros and ones stay as they are.
    Ok(columns.iter().map(|name| ranges.get(name).copied().unwrap_or((-1.0, 1.0))).collect())
}

/// Some of the names, and how many more there are.
fn some(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let kind = if names.len() == 1 { "column" } else { "columns" };
    match names.len().saturating_sub(SHOWN) {
        0 => format!("{kind} {}", shown.join(", ")),
        more => format!("{kind} {} and {more} more", shown.join(", ")),
    }
}

/// A file of ranges: JSON, or lines `column,low,high`.
fn read(path: &Path) -> Result<Vec<(String, (f64, f64))>> {
    let refused = |remedy: String| Error::parameter("bounds", path.display(), remedy);
    let text = file::text("bounds", path, file::MOST)?;
    let text = text.trim_start_matches('\u{feff}');
    let ranges = if text.trim_start().starts_with(['{', '[']) { json(text) } else { lines(text) };
    match ranges.map_err(|error| refused(error.to_string()))? {
        none if none.is_empty() => Err(refused("it names no column; give a range for each".into())),
        ranges => Ok(ranges),
    }
}

fn json(text: &str) -> Result<Vec<(String, (f64, f64))>> {
    let shape =
        "give {\"column\": [low, high], ...} or [{\"column\": ..., \"low\": ..., \"high\": ...}, ...]";
    let document = serde_json::from_str(text).map_err(|error| Error::Format(format!("{shape} ({error})")))?;
    Ok(match document {
        Document::Pairs(pairs) => pairs.into_iter().collect(),
        Document::List(list) => {
            list.into_iter().map(|entry| (entry.column, (entry.low, entry.high))).collect()
        }
    })
}

fn lines(text: &str) -> Result<Vec<(String, (f64, f64))>> {
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut ranges = Vec::new();
    for (place, (number, line)) in filled.enumerate() {
        // A name may contain commas.
        let mut fields = line.rsplitn(3, ',').map(str::trim);
        let (high, low, column) = (fields.next(), fields.next(), fields.next());
        let value = |field: Option<&str>| field.and_then(|field| field.parse::<f64>().ok());
        match (column, value(low), value(high)) {
            (Some(column), Some(low), Some(high)) => {
                ranges.push((column.trim_matches('"').to_owned(), (low, high)));
            }
            // A header.
            _ if place == 0 && low.is_some_and(|low| low.eq_ignore_ascii_case("low")) => {}
            _ => return Err(Error::line(number + 1, "give column,low,high")),
        }
    }
    Ok(ranges)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::new(vec![0.0, 5.0, 10.0, 5.0], 2, vec![1.0, -1.0]).unwrap()
    }

    fn written(text: &str) -> Result<Bounds> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bounds");
        std::fs::write(&path, text).unwrap();
        Bounds::new(&[], Some(&path), None)
    }

    #[test]
    fn bounds_are_read_from_all_kinds_of_files() {
        let known = Bounds::Ranges([("0".to_owned(), (0.0, 10.0)), ("a, b".to_owned(), (-1.0, 1.0))].into());
        for text in [
            r#"{"0": [0, 10], "a, b": [-1, 1]}"#,
            r#"[{"column": "0", "low": 0, "high": 10}, {"column": "a, b", "low": -1, "high": 1}]"#,
            "column,low,high\n0,0,10\n\n\"a, b\",-1,1\n",
            "0, 0, 10\r\na, b, -1, 1\r\n",
        ] {
            assert_eq!(written(text).unwrap(), known, "{text}");
        }
        for bad in ["", "{}", "{\"a\": 3}", "a,0\n", "a,0,x\n", "a,1,0\n", "a,0,1\na,0,2\n", "a,0,inf\n"] {
            assert!(written(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_column_needs_a_range_and_every_range_a_column() {
        let refused = |bounds: Bounds| bounds.scale(&mut table()).unwrap_err().to_string();
        let message = refused(Bounds::Unknown);
        assert!(message.starts_with("`range` is missing for columns 0, 1: ") && message.contains("--norm"));
        let only = Bounds::Ranges([("1".to_owned(), (0.0, 1.0))].into());
        assert!(refused(only).contains("missing for column 0: "));
        let strange = [("0", (0.0, 1.0)), ("1", (0.0, 1.0)), ("z", (0.0, 1.0))];
        let strange = Bounds::Ranges(strange.map(|(name, range)| (name.to_owned(), range)).into());
        assert!(refused(strange).contains("given for column z: there is no such feature"));
    }
}
