//! The matrix `A(t)` of Bayrooti, Gao and Prorok's consensus learning (their equation 8).
//!
//! ```text
//! share of class j that agent i holds:   (1-t)/N                   where i is not j mod N
//!                                        1 - (N-1)(1-t)/N          where it is
//! ```
//!
//! At `t = 0` everybody has the same share of every class; at `t = 1` each class has one holder.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::classes::shuffled;
use crate::{Error, Result, Shards, Table, require};

/// Deals each class out by `A(t)`, `t` from 0 (alike) to 1 (exclusive); every row has a holder.
///
/// Shares are rounded so that the first `i` agents together have the nearest whole number of rows to what is theirs. A peer that
/// is left without any row is refused: at `t = 1` there must be no more peers than classes.
pub fn similarity(table: &Table, peers: usize, t: f64, seed: u64) -> Result<Shards> {
    Shards::by_lists(table, &similarity_lists(table.labels(), peers, t, seed)?)
}

/// The same for rows of which only the labels are known: the rows of each peer.
pub fn similarity_lists(labels: &[f64], peers: usize, t: f64, seed: u64) -> Result<Vec<Vec<usize>>> {
    let remedy = "give a number from 0 (equal shares) to 1 (exclusive classes)";
    require((0.0..=1.0).contains(&t), "t", t, remedy)?;
    require(peers != 0, "peers", 0, "give at least one peer")?;
    let remedy = format!("there are {} rows, and every peer needs one; take fewer peers", labels.len());
    require(peers <= labels.len(), "peers", peers, remedy)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut lists = vec![Vec::new(); peers];
    for (class, rows) in shuffled(labels, &mut rng)?.iter().enumerate() {
        let (mut held, mut from) = (0.0, 0);
        for (peer, list) in lists.iter_mut().enumerate() {
            held += share(peers, t, peer == class % peers);
            let to = if peer + 1 == peers { rows.len() } else { cut(held, rows.len()).max(from) };
            list.extend_from_slice(&rows[from..to]);
            from = to;
        }
    }
    if let Some(peer) = lists.iter().position(Vec::is_empty) {
        let remedy = format!("peer {peer} of {peers} would hold no row; take fewer peers or a smaller t");
        return Err(Error::parameter("t", t, remedy));
    }
    Ok(lists)
}

/// What an agent holds of a class.
fn share(peers: usize, t: f64, holder: bool) -> f64 {
    let other = (1.0 - t) / peers as f64;
    if holder { 1.0 - (peers - 1) as f64 * other } else { other }
}

/// The first agents' rows, together.
fn cut(share: f64, rows: usize) -> usize {
    ((share * rows as f64).round() as usize).min(rows)
}
