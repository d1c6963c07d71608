//! Any linear protocol without relay noise, round by round as it happened: lost messages, asymmetric weights, published results.
//!
//! In round `t` peer `u` tells whom it tells its value, and takes `own * x_u + Σ weight * x_from`. Where a message is missed, the row
//! that was really used stands here, so that a run is accounted for as what it was.

use super::{Leakage, traced};
use crate::error::check_observers;
use crate::{Error, Result};

/// What one peer did with what it heard in a round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mixed {
    /// The weight of its own value.
    pub own: f64,
    /// Whom it heard, in increasing order, and with what weight it took that in.
    pub from: Vec<(usize, f64)>,
}

/// One round as it happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round {
    /// What each peer did; one for each.
    pub rows: Vec<Mixed>,
    /// Messages that arrived, used or not: (sender, receiver). Each carries the sender's value at the beginning of the round.
    pub heard: Vec<(usize, usize)>,
}

/// What `observers` learn about each of `nodes` peers in these rounds, and from the last values of the peers who `published` them.
pub fn happened(nodes: usize, rounds: &[Round], observers: &[usize], published: &[usize]) -> Result<Leakage> {
    let observers = check_observers(observers, nodes)?;
    let unit = |u: usize| (0..nodes).map(|v| f64::from(u8::from(u == v))).collect::<Vec<f64>>();
    let mut values: Vec<Vec<f64>> = (0..nodes).map(unit).collect();
    let mut messages = Vec::new();
    for (t, round) in rounds.iter().enumerate() {
        check(t, round, nodes)?;
        let watched = round.heard.iter().filter(|(_, to)| observers.binary_search(to).is_ok());
        messages.extend(watched.map(|&(from, _)| values[from].clone()));
        let mix = |(u, row): (usize, &Mixed)| {
            let mut next: Vec<f64> = values[u].iter().map(|x| row.own * x).collect();
            for &(from, weight) in &row.from {
                next.iter_mut().zip(&values[from]).for_each(|(next, x)| *next += weight * x);
            }
            next
        };
        values = round.rows.iter().enumerate().map(mix).collect();
    }
    messages.extend(published.iter().filter_map(|&u| values.get(u).cloned()));
    let messages: Vec<&[f64]> = messages.iter().map(Vec::as_slice).collect();
    traced(&messages, &observers, nodes, |i| observers.binary_search(&i).is_ok())
}

fn check(t: usize, round: &Round, nodes: usize) -> Result<()> {
    let named = round.heard.iter().flat_map(|&(from, to)| [from, to]);
    let used = round.rows.iter().flat_map(|row| row.from.iter().map(|&(from, _)| from));
    let stranger = named.chain(used).find(|&peer| peer >= nodes);
    match (round.rows.len() == nodes, stranger) {
        (true, None) => Ok(()),
        (false, _) => {
            let value = format!("{} rows in round {t}", round.rows.len());
            Err(Error::parameter("rounds", value, format!("give one for each of the {nodes} peers")))
        }
        (_, Some(peer)) => {
            let value = format!("peer {peer} in round {t}");
            Err(Error::parameter("rounds", value, format!("there are {nodes} peers, from 0")))
        }
    }
}
