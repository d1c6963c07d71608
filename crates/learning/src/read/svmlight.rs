//! svmlight files: `label index:value index:value ... # comment`.
//!
//! Indices count from 1 and increase; features that are not named are 0. `qid:N`, which groups rows for ranking, is skipped.

use std::io::Read;

use super::MOST_NUMBERS;
use super::source::{Lines, number, show};
use crate::{Error, Result, Table};

/// The features that are not zero, row by row.
#[derive(Default)]
struct Sparse {
    labels: Vec<f64>,
    /// Where each row's entries end.
    ends: Vec<usize>,
    /// Columns, from 0, and values.
    entries: Vec<(usize, f64)>,
    largest: usize,
}

/// Reads svmlight data into a dense table of this width, or of the largest index that occurs.
pub fn svmlight(reader: impl Read, width: Option<usize>) -> Result<Table> {
    let mut lines = Lines::new(reader)?;
    let mut data = Sparse::default();
    while let Some((line, text)) = lines.next()? {
        let text = text.split('#').next().unwrap_or_default();
        let mut words = text.split_ascii_whitespace();
        if let Some(label) = words.next() {
            data.labels.push(number(line, "`label`", label)?);
            data.row(line, words, width)?;
        }
    }
    if data.labels.is_empty() {
        return Err(Error::Format("no rows found; give a label and `index:value` pairs in each line".into()));
    }
    data.dense(width)
}

impl Sparse {
    fn row<'a>(
        &mut self,
        line: usize,
        words: impl Iterator<Item = &'a str>,
        width: Option<usize>,
    ) -> Result<()> {
        let mut last = 0;
        for word in words.filter(|word| !word.starts_with("qid:")) {
            let (index, value) = pair(line, word)?;
            if index <= last {
                let problem = format!("`{}` follows index {last}", show(word));
                return Err(Error::line(line, format!("{problem}; indices count from 1 and must increase")));
            }
            if let Some(width) = width.filter(|&width| index > width) {
                let problem = format!("index {index} is beyond the width of {width}; give a larger width");
                return Err(Error::line(line, problem));
            }
            self.entries.push((index - 1, value));
            last = index;
        }
        self.largest = self.largest.max(last);
        self.ends.push(self.entries.len());
        Ok(())
    }

    fn dense(self, width: Option<usize>) -> Result<Table> {
        let (rows, width) = (self.labels.len(), width.unwrap_or(self.largest.max(1)));
        let size = rows.checked_mul(width).filter(|&size| size <= MOST_NUMBERS);
        let Some(size) = size else {
            let remedy =
                format!("{rows} dense rows would be more than {MOST_NUMBERS} numbers; drop features");
            return Err(Error::parameter("width", width, remedy));
        };
        let mut features = vec![0.0; size];
        let mut from = 0;
        for (row, &to) in self.ends.iter().enumerate() {
            self.entries[from..to].iter().for_each(|&(column, value)| features[row * width + column] = value);
            from = to;
        }
        let columns = (1..=width).map(|index| index.to_string()).collect();
        Ok(Table::new(features, width, self.labels)?.with_columns(columns))
    }
}

fn pair(line: usize, word: &str) -> Result<(usize, f64)> {
    let split = word.split_once(':').and_then(|(index, value)| Some((index.parse().ok()?, value)));
    let Some((index, value)) = split else {
        let problem = format!("`{}` is not `index:value`, with an index from 1", show(word));
        return Err(Error::line(line, problem));
    };
    Ok((index, number(line, &format!("feature {index}"), value)?))
}
