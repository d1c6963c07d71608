//! Any linear protocol: losses from the coefficients of the messages themselves, as the protocol's own code produced them.
//!
//! The messages of a well-mixed protocol become nearly parallel, and coefficients in doubles cannot tell their directions apart. What can
//! be certified nevertheless is returned; otherwise everyone's loss counts as 1. With relay noise, or few rounds, nothing is in doubt.
//! For gossip and schedules use [`gossip`](super::gossip()) and [`scheduled`](super::scheduled()), which know the weights and are exact.

use super::Leakage;
use crate::error::check_observers;
use crate::span::Space;
use crate::{Error, Result};

/// What `observers` learn about each of `nodes` peers from messages, given by their coefficients over standardised base
/// variables (those beyond the end are 0). Variable `v` is peer `v`'s value and first noise, and
/// `own(i)` says whether variable `i` was drawn by an observer, who knows it.
pub fn traced(
    messages: &[&[f64]],
    observers: &[usize],
    nodes: usize,
    own: impl Fn(usize) -> bool,
) -> Result<Leakage> {
    let observers = check_observers(observers, nodes)?;
    let mut space = span(messages, nodes, own)?;
    if let Some(space) = &mut space {
        // Of further variables nobody asks.
        space.keep(nodes);
    }
    Ok(Leakage::of(space.as_ref(), observers, nodes))
}

/// What the messages span beside what observers drew themselves; none if that cannot be certified.
pub(crate) fn span(messages: &[&[f64]], least: usize, own: impl Fn(usize) -> bool) -> Result<Option<Space>> {
    let variables = messages.iter().map(|message| message.len()).max().unwrap_or(0).max(least);
    let mut rows = Vec::with_capacity(messages.len());
    for message in messages {
        if let Some(x) = message.iter().find(|x| !x.is_finite()) {
            return Err(Error::parameter("messages", x, "every coefficient must be a finite number"));
        }
        rows.push(message.iter().enumerate().map(|(i, &x)| if own(i) { 0.0 } else { x }).collect());
    }
    Ok(Space::given(variables, rows))
}
