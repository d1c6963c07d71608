//! Rows that a program hands over instead of a file of them.

use std::collections::BTreeMap;
use std::fmt;

use super::{Found, Holders};
use crate::{Error, Result, Table, require};

/// Rows of numbers, each with a label and, where they are not dealt out, an owner.
#[derive(Clone, Default, PartialEq)]
pub struct Rows {
    /// The features of each row, one number for each column.
    pub features: Vec<Vec<f64>>,
    /// The label of each row: a number, or a class 0, 1, ...
    pub labels: Vec<f64>,
    /// The name of the peer who holds each row; none where rows are dealt out.
    pub owners: Vec<String>,
    /// Names of the columns; without them they are called 0, 1, ...
    pub columns: Vec<String>,
}

/// Rows are private: only their number is shown.
impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows", self.labels.len())
    }
}

impl Rows {
    /// The same as the reader of a file finds it.
    pub(crate) fn found(&self) -> Result<Found> {
        let (rows, width) = (self.labels.len(), self.features.first().map_or(0, Vec::len));
        let same = |field: &'static str, count: usize, all: usize| {
            require(
                count == all,
                field,
                format!("{count} in number"),
                format!("give {all}, as many as there are of the others"),
            )
        };
        same("features", self.features.len(), rows)?;
        if !self.owners.is_empty() {
            same("owners", self.owners.len(), rows)?;
        }
        if !self.columns.is_empty() {
            same("columns", self.columns.len(), width)?;
        }
        if let Some(row) = self.features.iter().position(|numbers| numbers.len() != width) {
            let remedy = format!("give {width} numbers, as in the first row");
            return Err(Error::row("features", format!("{} numbers", self.features[row].len()), row, remedy));
        }
        let table = Table::new(self.features.concat(), width, self.labels.clone())?;
        Ok(Found { holders: self.holders(), ..Found::of(table.with_columns(self.columns.clone())) })
    }

    /// Who holds which rows, in the order of their first rows.
    fn holders(&self) -> Option<Holders> {
        let (mut names, mut places) = (Vec::new(), BTreeMap::new());
        let mut place = |owner: &String| {
            *places.entry(owner.clone()).or_insert_with(|| {
                names.push(owner.clone());
                names.len() - 1
            })
        };
        let of_rows: Vec<usize> = self.owners.iter().map(&mut place).collect();
        (!names.is_empty()).then_some(Holders { rows: of_rows.len(), names, of_rows })
    }
}
