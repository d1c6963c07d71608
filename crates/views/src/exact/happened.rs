//! Any linear protocol without relay noise, round by round as it happened: lost messages, asymmetric weights, published results.
//!
//! In round `t` peer `u` tells whom it tells its value, and takes `own * x_u + Σ weight * x_from`. Where a message is missed, the row
//! that was really used stands here, so that a run is accounted for as what it was.

use super::Leakage;
use crate::error::{check_observers, check_published};
use crate::span::{Rounds, Space};
use crate::{Error, Result};

/// The largest weight there can be.
const LARGEST: f64 = 1e6;

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
    let published = check_published(published, nodes)?;
    rounds.iter().enumerate().try_for_each(|(t, round)| check(t, round, nodes))?;
    let space = Space::of(&Rounds::happened(nodes, rounds, &observers, &published));
    Ok(Leakage::of(space.as_ref(), observers, nodes))
}

fn check(t: usize, round: &Round, nodes: usize) -> Result<()> {
    let named = round.heard.iter().flat_map(|&(from, to)| [from, to]);
    let used = round.rows.iter().flat_map(|row| row.from.iter().map(|&(from, _)| from));
    let stranger = named.chain(used).find(|&peer| peer >= nodes);
    let weights =
        round.rows.iter().flat_map(|row| row.from.iter().map(|&(_, weight)| weight).chain([row.own]));
    if let Some(weight) = weights.into_iter().find(|weight| weight.is_nan() || weight.abs() > LARGEST) {
        let value = format!("a weight of {weight} in round {t}");
        return Err(Error::parameter("rounds", value, format!("give numbers from -{LARGEST} to {LARGEST}")));
    }
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
