//! What users can get wrong about an averaging run, each with its remedy.

use sottovoce_topology::schedule::{Schedule, Step};

use crate::averaging::{Coupling, Noising};
use crate::{Error, Peer, Result, require};

/// Refuses vectors of peers that are none, or of unlike length.
pub fn values(values: &[Vec<f64>]) -> Result<()> {
    let Some(first) = values.first() else {
        return Err(Error::parameter("values", "empty", "give a vector for each peer"));
    };
    require(!first.is_empty(), "values", "of length 0", "give vectors of at least one number")?;
    for (peer, value) in values.iter().enumerate() {
        let remedy = format_args!("give {} numbers to every peer, as to peer 0", first.len());
        let given = format_args!("{} numbers at peer {peer}", value.len());
        require(value.len() == first.len(), "values", given, remedy)?;
        if let Some((place, x)) = value.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            let remedy = "every coordinate must be a finite number";
            return Err(Error::parameter(
                "values",
                format!("{x} at coordinate {place} of peer {peer}"),
                remedy,
            ));
        }
    }
    Ok(())
}

/// Refuses noises that hide nothing.
pub fn noising(noising: Noising) -> Result<()> {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    let remedy = "give how far one person can move a value: positive and finite";
    require(positive(noising.sensitivity), "sensitivity", noising.sensitivity, remedy)?;
    let remedy = "give a positive, finite standard deviation; without noise nothing is private";
    require(positive(noising.local), "sigma", noising.local, remedy)?;
    let remedy = "give a finite standard deviation, zero (for none) or more";
    require(noising.relay == 0.0 || positive(noising.relay), "tau", noising.relay, remedy)
}

/// The same, but for a run that is meant to protect nobody: no noise, and no limit.
pub fn noising_or_none(noises: Noising, budget: f64) -> Result<()> {
    if noises.local == 0.0 && noises.relay == 0.0 && budget == f64::INFINITY {
        return noising(Noising { local: 1.0, ..noises });
    }
    noising(noises)
}

pub(crate) fn rounds(rounds: usize) -> Result<()> {
    if rounds > 0 { Ok(()) } else { Err(Error::parameter("rounds", rounds, "give at least 1 round")) }
}

pub(crate) fn schedule(schedule: &Schedule, rounds: usize) -> Result<()> {
    self::rounds(rounds)?;
    if let Some(steps) = schedule.steps().filter(|&steps| steps < rounds) {
        let remedy = format!("the schedule ends after {steps} steps; lower it, or let the schedule repeat");
        return Err(Error::parameter("rounds", rounds, remedy));
    }
    let steps = 0..rounds.min(schedule.period());
    for step in steps.filter_map(|t| schedule.step(t)) {
        if let Step::Mixing(mixing) = step {
            mixing.check()?;
        }
    }
    Ok(())
}

/// Pairs alone, coupled by numbers that can couple.
pub(crate) fn coupled(schedule: &Schedule, rounds: usize, coupling: &Coupling) -> Result<()> {
    self::schedule(schedule, rounds)?;
    if let Some(Step::Mixing(_)) = schedule.step(0) {
        let remedy = "accelerated randomised gossip goes by single pairs; give a schedule of pairs";
        return Err(Error::parameter("schedule", "one of graphs", remedy));
    }
    if coupling.is_sound() {
        return Ok(());
    }
    let value = format!("lean {}, stride {}", coupling.lean, coupling.stride);
    let remedy = "give a lean above 0 and at most 1/2, and a positive, finite stride";
    Err(Error::parameter("coupling", value, remedy))
}

/// Relay noise would move a peer's first value and not its second, and the mean with it.
pub(crate) fn no_relay(noising: Noising) -> Result<()> {
    if noising.relay == 0.0 {
        return Ok(());
    }
    let remedy = "accelerated randomised gossip has no noise on messages; leave it out, or take randomised";
    Err(Error::parameter("relay-noise", noising.relay, remedy))
}

pub(crate) fn permutation(positions: &[Peer]) -> Result<()> {
    require(!positions.is_empty(), "positions", "empty", "give a position to at least one peer")?;
    let mut seen = vec![false; positions.len()];
    for (place, &peer) in positions.iter().enumerate() {
        let wrong = match seen.get_mut(peer) {
            None => "is no peer",
            Some(true) => "has two",
            Some(slot) => {
                *slot = true;
                continue;
            }
        };
        let remedy = format!("{peer} {wrong}; list each of 0 to {} once", positions.len() - 1);
        return Err(Error::parameter("positions", format!("{peer} at position {place}"), remedy));
    }
    Ok(())
}
