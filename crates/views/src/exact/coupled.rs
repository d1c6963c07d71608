//! Accelerated randomised gossip: pairs by a schedule, and for every peer a second value that runs ahead.
//!
//! Messages are other combinations than those of the same pairs without acceleration, and have losses of their own.

use sottovoce_protocol::averaging::Coupling;
use sottovoce_topology::schedule::Schedule;

use super::Leakage;
use super::scheduled::check;
use crate::Result;
use crate::error::{check_observers, check_published};
use crate::span::{Coupled, Space};

/// What `observers` together learn in the first `steps` steps of a schedule of pairs, and from the results of the peers who `published` them.
pub fn coupled(
    schedule: &Schedule,
    coupling: Coupling,
    observers: &[usize],
    steps: usize,
    published: &[usize],
) -> Result<Leakage> {
    check(schedule, steps)?;
    let observers = check_observers(observers, schedule.nodes())?;
    let published = check_published(published, schedule.nodes())?;
    let space = Space::of(&Coupled::new(schedule, steps, coupling, &observers, &published));
    Ok(Leakage::of(space.as_ref(), observers, schedule.nodes()))
}
