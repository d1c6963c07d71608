//! Labels that are numbers or names, which only the end of a file tells.

use std::collections::BTreeMap;

use super::source::{is_missing, show};
use crate::{Error, Result};

/// The labels so far.
#[derive(Default)]
pub(super) struct Labels {
    /// Each different text, with its order of appearance.
    known: BTreeMap<String, usize>,
    /// For each row, the order of appearance of its text.
    rows: Vec<usize>,
    /// Where the first number and the first name were.
    number: Option<usize>,
    name: Option<usize>,
}

impl Labels {
    /// Adds the label of a row.
    pub(super) fn push(&mut self, line: usize, text: &str) -> Result<()> {
        let index = match self.known.get(text) {
            Some(&index) => index,
            None => self.add(line, text)?,
        };
        self.rows.push(index);
        Ok(())
    }

    fn add(&mut self, line: usize, text: &str) -> Result<usize> {
        if is_missing(text) {
            return Err(Error::line(line, format!("`label` is `{text}`: give one or remove the row")));
        }
        let first = if parse(text).is_some() { &mut self.number } else { &mut self.name };
        first.get_or_insert(line);
        if let (Some(number), Some(name)) = (self.number, self.name) {
            let problem = format!("`label` is `{}`", show(text));
            let other = if number == line {
                format!("line {name} has a name")
            } else {
                format!("line {number} has a number")
            };
            let advice = "make all labels finite numbers or none of them; or is the first line a header? (--header yes)";
            return Err(Error::line(line, format!("{problem}, but {other}; {advice}")));
        }
        let index = self.known.len();
        self.known.insert(text.to_string(), index);
        Ok(index)
    }

    /// Numbers as they are, or the ranks of the names and the names in order.
    pub(super) fn settle(self) -> (Vec<f64>, Vec<String>) {
        let mut values = vec![0.0; self.known.len()];
        for (rank, (text, &index)) in self.known.iter().enumerate() {
            values[index] = parse(text).unwrap_or(rank as f64);
        }
        let labels = self.rows.iter().map(|&index| values[index]).collect();
        let names = if self.name.is_some() { self.known.into_keys().collect() } else { Vec::new() };
        (labels, names)
    }
}

fn parse(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
