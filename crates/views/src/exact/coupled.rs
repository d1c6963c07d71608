//! Accelerated randomised gossip: pairs by a schedule, and for every peer a second value that runs ahead.
//!
//! Messages are other combinations than those of the same pairs without acceleration, and have losses of their own.

use sottovoce_protocol::averaging::Coupling;
use sottovoce_topology::schedule::Schedule;

use super::Leakage;
use super::scheduled::{check, until};
use crate::Result;
use crate::error::{check_observers, check_published};
use crate::span::{Coupled, Space, together_coupled};

/// What `observers` together learn in the first `steps` steps of a schedule of pairs, and from the results of the peers who `published` them.
pub fn coupled(
    schedule: &Schedule,
    coupling: Coupling,
    observers: &[usize],
    steps: usize,
    published: &[usize],
) -> Result<Leakage> {
    let space = space(schedule, coupling, observers, steps, published)?;
    Ok(Leakage::of(space.as_ref(), check_observers(observers, schedule.nodes())?, schedule.nodes()))
}

/// What each of `observers`, on its own, learns until each of `cuts` (numbers of steps, in increasing order).
pub fn coupled_each(
    schedule: &Schedule,
    coupling: Coupling,
    observers: &[usize],
    cuts: &[usize],
) -> Result<Vec<Vec<Leakage>>> {
    let steps = cuts.iter().copied().max().unwrap_or(0);
    check(schedule, steps)?;
    observers.iter().try_for_each(|&v| check_observers(&[v], schedule.nodes()).map(|_| ()))?;
    let spaces = together_coupled(schedule, coupling, observers, steps);
    Ok(until(&spaces, observers, schedule.nodes(), cuts))
}

fn space(
    schedule: &Schedule,
    coupling: Coupling,
    observers: &[usize],
    steps: usize,
    published: &[usize],
) -> Result<Option<Space>> {
    check(schedule, steps)?;
    let observers = check_observers(observers, schedule.nodes())?;
    let published = check_published(published, schedule.nodes())?;
    Ok(Space::of(&Coupled::new(schedule, steps, coupling, &observers, &published)))
}
