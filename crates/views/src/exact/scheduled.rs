//! Gossip over a schedule: the observable subspace, backwards.
//!
//! What the observers will hear from step `t` on is a set `S_t` of linear functions of the values at step `t`:
//!
//! ```text
//! S_T = nothing        S_t = span{ e_v, e_w : v observes, w is heard at t } + W_t' S_(t+1)
//! ```
//!
//! and `S_0` is the span of all messages. It is found forwards, from the coefficients of the messages themselves, in as many digits as it
//! takes (`span/digits.rs`).

use sottovoce_topology::schedule::{Schedule, Step};

use super::Leakage;
use crate::Result;
use crate::error::{Error, check_observers, check_published, check_steps};
use crate::span::{Rounds, Space, together};

/// What `observers` together learn in the first `steps` steps of a schedule.
pub fn scheduled(schedule: &Schedule, observers: &[usize], steps: usize) -> Result<Leakage> {
    scheduled_published(schedule, observers, steps, &[])
}

/// The same, where the results of `published` peers are known as well.
pub fn scheduled_published(
    schedule: &Schedule,
    observers: &[usize],
    steps: usize,
    published: &[usize],
) -> Result<Leakage> {
    let observers = check_observers(observers, schedule.nodes())?;
    let space = space(schedule, &observers, steps, published)?;
    Ok(Leakage::of(space.as_ref(), observers, schedule.nodes()))
}

/// What each of `observers`, on its own, learns until each of `cuts` (numbers of steps, in increasing order).
pub fn scheduled_each(schedule: &Schedule, observers: &[usize], cuts: &[usize]) -> Result<Vec<Vec<Leakage>>> {
    let steps = cuts.iter().copied().max().unwrap_or(0);
    check(schedule, steps)?;
    observers.iter().try_for_each(|&v| check_observers(&[v], schedule.nodes()).map(|_| ()))?;
    let spaces = together(schedule, observers, steps);
    let each = |(space, &v): (Option<Space>, &usize)| {
        Leakage::until(space.as_ref(), &[v], schedule.nodes(), cuts.iter().copied())
    };
    Ok(spaces.into_iter().zip(observers).map(each).collect())
}

fn space(
    schedule: &Schedule,
    observers: &[usize],
    steps: usize,
    published: &[usize],
) -> Result<Option<Space>> {
    check(schedule, steps)?;
    let published = check_published(published, schedule.nodes())?;
    Ok(Space::of(&Rounds::scheduled(schedule, observers, steps, &published)))
}

pub(crate) fn check(schedule: &Schedule, steps: usize) -> Result<()> {
    check_steps(steps)?;
    if let Some(length) = schedule.steps().filter(|&length| length < steps) {
        return Err(Error::parameter("steps", steps, format!("the schedule has {length}")));
    }
    // One that repeats need not be looked at twice.
    for step in (0..steps.min(schedule.period())).filter_map(|t| schedule.step(t)) {
        if let Step::Mixing(mixing) = step {
            mixing.check()?;
        }
    }
    Ok(())
}

/// The observers and whom they hear, in increasing order.
pub(crate) fn heard(step: &Step, observers: &[usize]) -> Vec<usize> {
    let watching = |v: &usize| observers.binary_search(v).is_ok();
    let mut heard = observers.to_vec();
    match step {
        Step::Mixing(mixing) => {
            let neighbours = |&v: &usize| mixing.graph().neighbors(v).iter().map(|&w| w as usize);
            heard.extend(observers.iter().flat_map(neighbours));
        }
        Step::Pair(u, v) if watching(u) || watching(v) => heard.extend([*u, *v]),
        Step::Pair(..) | Step::Idle => {}
    }
    heard.sort_unstable();
    heard.dedup();
    heard
}
