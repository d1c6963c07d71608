//! Data that is alike where peers are near, as in the heterogeneity experiment of the random-walk paper (its Figure 7).

use crate::shards::even_size;
use crate::{Error, Result, Shards, Table};

/// What makes rows alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Their label.
    Label,
    /// This column, counted from 0.
    Column(usize),
}

/// Sorts rows by a key, sorts peers by the sum of their coordinates, and deals out even blocks in that order.
///
/// Each peer gets `floor(rows/peers)` rows. Those left out are spread over the whole order, so that no end of it is missing.
pub fn by_position(table: &Table, positions: &[(f64, f64)], key: Key) -> Result<Shards> {
    let peers = positions.len();
    let size = even_size(table, peers)?;
    if let Some(peer) = positions.iter().position(|(x, y)| !(x + y).is_finite()) {
        let value = format!("{:?} for peer {peer}", positions[peer]);
        return Err(Error::parameter("positions", value, "give two finite numbers"));
    }
    let rows = sorted_rows(table, key)?;
    let mut order: Vec<usize> = (0..peers).collect();
    order.sort_by(|&a, &b| sum(positions[a]).total_cmp(&sum(positions[b])));
    let mut lists = vec![Vec::new(); peers];
    for (rank, &peer) in order.iter().enumerate() {
        let from = (rank as u128 * rows.len() as u128 / peers as u128) as usize;
        lists[peer] = rows[from..from + size].to_vec();
    }
    Shards::by_lists(table, &lists)
}

fn sum(position: (f64, f64)) -> f64 {
    position.0 + position.1
}

fn sorted_rows(table: &Table, key: Key) -> Result<Vec<usize>> {
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    match key {
        Key::Label => rows.sort_by(|&a, &b| table.labels()[a].total_cmp(&table.labels()[b])),
        Key::Column(column) if column < table.width() => {
            rows.sort_by(|&a, &b| table.row(a)[column].total_cmp(&table.row(b)[column]));
        }
        Key::Column(column) => {
            let remedy = format!("there are {} columns, counted from 0", table.width());
            return Err(Error::parameter("key", format!("column {column}"), remedy));
        }
    }
    Ok(rows)
}
