//! Rows that a builder was given, with their public ranges.

use std::ops::RangeInclusive;

use sottovoce_learning::read::Rows;

use super::public_range;
use crate::Result;
use crate::experiment::{OWNER, PersonalTask, TaskSpec};

/// Rows, and the public range of each of their columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Bounded {
    rows: Rows,
    ranges: Vec<RangeInclusive<f64>>,
}

impl Bounded {
    pub(super) fn new<O: Into<String>, N: Into<String>>(
        rows: impl IntoIterator<Item = (O, Vec<f64>, f64)>,
        ranges: impl IntoIterator<Item = (N, RangeInclusive<f64>)>,
    ) -> Self {
        let (columns, ranges) = ranges.into_iter().map(|(name, range)| (name.into(), range)).unzip();
        let mut all = Rows { columns, ..Rows::default() };
        for (owner, features, label) in rows {
            all.owners.push(owner.into());
            all.features.push(features);
            all.labels.push(label);
        }
        Self { rows: all, ranges }
    }

    /// The ranges as a spec has them.
    fn ranges(&self) -> Result<Vec<String>> {
        let named = self.rows.columns.iter().zip(&self.ranges);
        named.map(|(column, range)| Ok(format!("{column}={}", String::from(public_range(range)?)))).collect()
    }

    /// Hands them to a task of learning.
    pub(super) fn task(&mut self, task: &mut TaskSpec) -> Result<()> {
        task.range = self.ranges()?;
        let rows = std::mem::take(&mut self.rows);
        let mut owners: Vec<&String> = rows.owners.iter().collect();
        owners.sort_unstable();
        owners.dedup();
        (task.nodes, task.peer_column) = (Some(owners.len()), Some(OWNER.to_owned()));
        let size = rows.labels.len();
        task.memory.put(&mut task.data, rows, size);
        Ok(())
    }

    /// Hands them to personalised models.
    pub(super) fn personal(&mut self, task: &mut PersonalTask) -> Result<()> {
        task.table.range = self.ranges()?;
        task.table.peer_column = Some(OWNER.to_owned());
        let rows = std::mem::take(&mut self.rows);
        let size = rows.labels.len();
        task.table.rows.put(&mut task.data, rows, size);
        Ok(())
    }
}
