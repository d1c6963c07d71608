//! Who holds which rows: a table reordered so that each peer's rows follow each other.

use std::ops::Range;

use prefetch_index::prefetch_index;

use crate::{Error, Result, Table, require};

/// Some peer's rows.
#[derive(Debug, Clone, Copy)]
pub struct Shard<'a, F = f64> {
    /// The features, row by row.
    pub features: &'a [F],
    /// A label for each row.
    pub labels: &'a [f64],
    /// The number of features of a row.
    pub width: usize,
}

/// A table dealt out to peers: each holds consecutive rows, and at least one unless [`Shards::some_without`] made them.
#[derive(Debug, Clone, PartialEq)]
pub struct Shards {
    table: Table,
    /// Where each peer's rows start, and where the last one's end.
    starts: Vec<usize>,
    /// What the peers are called; none where they are just numbered.
    names: Option<Vec<String>>,
}

impl Shards {
    /// Consecutive blocks of `floor(rows/peers)` rows; the rest is left out, as in the papers.
    pub fn even(table: &Table, peers: usize) -> Result<Self> {
        let size = even_size(table, peers)?;
        let rows: Vec<usize> = (0..size * peers).collect();
        let starts = (0..=peers).map(|peer| peer * size).collect();
        Ok(Self { table: table.gather(&rows), starts, names: None })
    }

    /// The rows that `lists` names for each peer; others are left out. Each row has at most one holder, and nobody holds none.
    pub fn by_lists(table: &Table, lists: &[Vec<usize>]) -> Result<Self> {
        if let Some(peer) = lists.iter().position(Vec::is_empty) {
            let remedy = "every peer needs at least one row; give it some or leave it out";
            return Err(Error::parameter("lists", format!("empty for peer {peer}"), remedy));
        }
        Self::some_without(table, lists)
    }

    /// The same where peers may hold no row: those who learn from others alone.
    pub fn some_without(table: &Table, lists: &[Vec<usize>]) -> Result<Self> {
        require(!lists.is_empty(), "peers", 0, "give at least one peer a list of rows")?;
        let mut holder: Vec<Option<usize>> = vec![None; table.rows()];
        let mut starts = vec![0];
        for (peer, list) in lists.iter().enumerate() {
            list.iter().try_for_each(|&row| take(&mut holder, row, peer))?;
            starts.push(starts[peer] + list.len());
        }
        let rows: Vec<usize> = lists.iter().flatten().copied().collect();
        Ok(Self { table: table.gather(&rows), starts, names: None })
    }

    /// Consecutive rows of a table, so many for each peer; all of them.
    pub(crate) fn in_order(table: Table, sizes: &[usize]) -> Self {
        let mut starts = vec![0];
        sizes.iter().for_each(|size| starts.push(starts[starts.len() - 1] + size));
        debug_assert_eq!(starts[sizes.len()], table.rows(), "every row has a holder");
        Self { table, starts, names: None }
    }

    /// With a name for each peer.
    pub fn named(self, names: Vec<String>) -> Result<Self> {
        let remedy = format!("give one for each of the {} peers", self.peers());
        require(names.len() == self.peers(), "names", names.len(), remedy)?;
        Ok(Self { names: Some(names), ..self })
    }

    /// The same with all rows of one peer alike: as its longest, with this label.
    ///
    /// # Panics
    ///
    /// If there is no such peer.
    pub(crate) fn alike(mut self, peer: usize, label: f64) -> Self {
        let Range { start: from, end: to } = self.range(peer);
        let length = |row: usize| self.table.row(row).iter().map(|x| x * x).sum::<f64>();
        let longest = (from..to).max_by(|one, other| length(*one).total_cmp(&length(*other)));
        if let Some(longest) = longest {
            let row = self.table.row(longest).to_vec();
            self.table.fill(from, to, &row, label);
        }
        self
    }

    /// What the peers are called, where they have names.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The same peers in the order of these names, which must be theirs: a graph's, say. Peers without names keep their order.
    pub fn in_order_of(self, order: &[String]) -> Result<Self> {
        let Some(names) = &self.names else { return Ok(self) };
        if let Some(stranger) = names.iter().find(|name| !order.contains(name)) {
            let remedy = "the graph has no node of this name; name its nodes and the peers alike";
            return Err(Error::parameter("peer", format!("`{stranger}`"), remedy));
        }
        let place = |name: &String| {
            let missing = || {
                let remedy = "no row belongs to this node of the graph; give it rows, or leave it out";
                Error::parameter("peer", format!("`{name}`"), remedy)
            };
            names.iter().position(|known| known == name).ok_or_else(missing)
        };
        let places = order.iter().map(place).collect::<Result<Vec<_>>>()?;
        let rows = |&peer: &usize| self.range(peer).collect();
        Self::some_without(&self.table, &places.iter().map(rows).collect::<Vec<_>>())?.named(order.to_vec())
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
        self.table.range(self.range(peer))
    }

    /// Asks the memory where the rows of a peer lie.
    #[inline(always)]
    pub(crate) fn expect(&self, peer: usize) {
        prefetch_index(&self.starts, peer);
    }

    /// Where the rows of a peer lie in the table.
    #[inline(always)]
    pub(crate) fn range(&self, peer: usize) -> Range<usize> {
        self.starts[peer]..self.starts[peer + 1]
    }

    /// How many rows a peer holds.
    ///
    /// # Panics
    ///
    /// If there is no such peer.
    pub fn rows_of(&self, peer: usize) -> usize {
        self.range(peer).len()
    }

    /// Everybody's rows: the first peer's, then the second's, and so on.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

/// Rows of each peer, if they are dealt out evenly.
pub(crate) fn even_size(table: &Table, peers: usize) -> Result<usize> {
    require(peers != 0, "peers", 0, "give at least one peer")?;
    let remedy = format!("there are {} rows, and every peer needs one; take fewer peers", table.rows());
    require(peers <= table.rows(), "peers", peers, remedy)?;
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
            let remedy = format!("peer {other} holds it already; name each row once");
            Err(Error::parameter("lists", value, remedy))
        }
        Some(free) => {
            *free = Some(peer);
            Ok(())
        }
    }
}
