//! Who holds which rows: a table reordered so that each peer's rows follow each other.

use crate::{Error, Result, Table};

/// Some peer's rows.
#[derive(Debug, Clone, Copy)]
pub struct Shard<'a> {
    /// The features, row by row.
    pub features: &'a [f64],
    /// A label for each row.
    pub labels: &'a [f64],
    /// The number of features of a row.
    pub width: usize,
}

/// A table dealt out to peers: each holds consecutive rows, and at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Shards {
    table: Table,
    /// Where each peer's rows start, and where the last one's end.
    starts: Vec<usize>,
}

impl Shards {
    /// Consecutive blocks of `floor(rows/peers)` rows; the rest is left out, as in the papers.
    pub fn even(table: &Table, peers: usize) -> Result<Self> {
        let size = even_size(table, peers)?;
        let rows: Vec<usize> = (0..size * peers).collect();
        Ok(Self { table: table.gather(&rows), starts: (0..=peers).map(|peer| peer * size).collect() })
    }

    /// The rows that `lists` names for each peer; others are left out. Each row has at most one holder, and nobody holds none.
    pub fn by_lists(table: &Table, lists: &[Vec<usize>]) -> Result<Self> {
        if lists.is_empty() {
            return Err(Error::parameter("peers", 0, "give at least one peer a list of rows"));
        }
        let mut holder: Vec<Option<usize>> = vec![None; table.rows()];
        let mut starts = vec![0];
        for (peer, list) in lists.iter().enumerate() {
            if list.is_empty() {
                let remedy = "every peer needs at least one row; give it some or leave it out";
                return Err(Error::parameter("lists", format!("empty for peer {peer}"), remedy));
            }
            list.iter().try_for_each(|&row| take(&mut holder, row, peer))?;
            starts.push(starts[peer] + list.len());
        }
        let rows: Vec<usize> = lists.iter().flatten().copied().collect();
        Ok(Self { table: table.gather(&rows), starts })
    }

    /// The number of peers.
    pub fn peers(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of a peer.
    ///
    /// # Panics
    ///
    /// If there is no such peer.
    pub fn shard(&self, peer: usize) -> Shard<'_> {
        self.table.range(self.starts[peer], self.starts[peer + 1])
    }

    /// Everybody's rows: the first peer's, then the second's, and so on.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

/// Rows of each peer, if they are dealt out evenly.
pub(crate) fn even_size(table: &Table, peers: usize) -> Result<usize> {
    if peers == 0 {
        return Err(Error::parameter("peers", 0, "give at least one peer"));
    }
    if peers > table.rows() {
        let remedy = format!("there are {} rows, and every peer needs one; take fewer peers", table.rows());
        return Err(Error::parameter("peers", peers, remedy));
    }
    Ok(table.rows() / peers)
}

fn take(holder: &mut [Option<usize>], row: usize, peer: usize) -> Result<()> {
    let rows = holder.len();
    match holder.get_mut(row) {
        None => {
            let value = format!("row {row} for peer {peer}");
            Err(Error::parameter("lists", value, format!("there are {rows} rows, counted from 0")))
        }
        Some(Some(other)) => {
            let value = format!("row {row} for peer {peer}");
            Err(Error::parameter(
                "lists",
                value,
                format!("peer {other} holds it already; name each row once"),
            ))
        }
        Some(free) => {
            *free = Some(peer);
            Ok(())
        }
    }
}
