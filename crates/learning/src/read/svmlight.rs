//! svmlight files: `label index:value index:value ... # comment`.
//!
//! Indices count from 1, or from 0 where that is said (scikit-learn's default), and increase; features that are not named are 0. `qid:N`, which groups rows
//! for ranking, is skipped. From where indices count is never told from the indices: one row more would move everybody's. A comment that says it does.

use std::io::Read;

use super::source::{is_missing, lines, number, plain, show};
use super::{Found, MOST_NUMBERS, Missing, Options, ZeroBased};
use crate::{Error, Result, Table};

/// The comments that scikit-learn writes.
const COMMENTS: [(&str, bool); 2] =
    [("Column indices are zero-based", true), ("Column indices are one-based", false)];

/// The features that are not zero, row by row.
#[derive(Default)]
struct Sparse {
    labels: Vec<f64>,
    /// Where each row's entries end.
    ends: Vec<usize>,
    /// Columns, from 0, and values.
    entries: Vec<(usize, f64)>,
    /// How many features the largest index makes.
    largest: usize,
    /// The first index.
    first: usize,
    missing: Missing,
}

/// Reads svmlight data into a dense table of the width given, or of the largest index that occurs.
pub fn svmlight(reader: impl Read, options: &Options) -> Result<Found> {
    let text = plain(reader)?;
    let mut data =
        Sparse { first: options.zero_based.first(&text), missing: options.missing, ..Sparse::default() };
    for next in lines(&text) {
        let (line, text) = next?;
        let text = text.split('#').next().unwrap_or_default();
        let mut words = text.split_ascii_whitespace();
        if let Some(label) = words.next() {
            data.labels.push(number(line, "`label`", label)?);
            data.row(line, words, options.width)?;
        }
    }
    if data.labels.is_empty() {
        return Err(Error::Format("no rows found; give a label and `index:value` pairs in each line".into()));
    }
    Ok(Found::of(data.dense(options.width)?))
}

impl ZeroBased {
    /// The first index: as is said, or as the comments of scikit-learn say.
    fn first(self, text: &[u8]) -> usize {
        let zero = match self {
            Self::Yes => true,
            Self::No => false,
            Self::Auto => {
                let comments =
                    lines(text).map_while(Result::ok).take_while(|(_, line)| line.starts_with('#'));
                let says = |(_, line): (usize, &str)| {
                    COMMENTS.iter().find(|(comment, _)| line.contains(comment)).map(|&(_, zero)| zero)
                };
                comments.into_iter().find_map(says).unwrap_or(false)
            }
        };
        usize::from(!zero)
    }
}

impl Sparse {
    fn row<'a>(
        &mut self,
        line: usize,
        words: impl Iterator<Item = &'a str>,
        width: Option<usize>,
    ) -> Result<()> {
        let first = self.first;
        let mut next = first;
        for word in words.filter(|word| !word.starts_with("qid:")) {
            let (index, value) = self.pair(line, word)?;
            if index == 0 && first == 1 {
                let advice =
                    "if indices count from 0, as scikit-learn writes them, say so (--zero-based yes)";
                return Err(Error::line(
                    line,
                    format!("`{}` has index 0, but indices count from 1; {advice}", show(word)),
                ));
            }
            if index < next {
                let problem = format!("`{}` follows index {}", show(word), next - 1);
                return Err(Error::line(line, format!("{problem}; indices must increase")));
            }
            let column = index - first;
            if let Some(width) = width.filter(|&width| column >= width) {
                let advice = "give a larger width, or say from where indices count (--zero-based)";
                return Err(Error::line(
                    line,
                    format!("index {index} is beyond the width of {width}; {advice}"),
                ));
            }
            self.entries.push((column, value));
            next = index.saturating_add(1);
        }
        self.largest = self.largest.max(next - first); // whole numbers
        self.ends.push(self.entries.len());
        Ok(())
    }

    fn pair(&self, line: usize, word: &str) -> Result<(usize, f64)> {
        let split = word.split_once(':').and_then(|(index, value)| Some((index.parse().ok()?, value)));
        let Some((index, value)) = split else {
            let problem = format!("`{}` is not `index:value`, with a whole number as index", show(word));
            return Err(Error::line(line, problem));
        };
        match self.missing {
            Missing::Value(imputed) if is_missing(value) => Ok((index, imputed)),
            _ => Ok((index, number(line, &format!("feature {index}"), value)?)),
        }
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
        let columns = (self.first..self.first + width).map(|index| index.to_string()).collect();
        Ok(Table::new(features, width, self.labels)?.with_columns(columns))
    }
}
