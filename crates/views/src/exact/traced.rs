//! Any linear protocol: losses from the coefficients of the messages themselves, as the protocol's own code produced them.
//!
//! The messages of a well-mixed protocol become nearly parallel, and doubles cannot tell their directions apart. Directions in
//! doubt count as seen; but some may be lost for good, and the loss then *understated*. Where remainders fade towards rounding
//! instead of ending with a clear gap, every message that was taken for a combination of others is reported as ambiguous, and
//! the guarantee is conditional. With relay noise, or few rounds, nothing is in doubt. For plain gossip and schedules prefer
//! [`gossip`](super::gossip()) and [`scheduled`](super::scheduled()), which are exact.

use super::Leakage;
use crate::basis::Basis;
use crate::error::check_observers;
use crate::{Error, Result};

/// Remainders down to here leave a clear gap to rounding.
const CLEAR: f64 = 1e-6;

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
    let variables = messages.iter().map(|message| message.len()).max().unwrap_or(0).max(nodes);
    let mut block = Vec::with_capacity(messages.len() * variables);
    for message in messages {
        let start = block.len();
        block.extend(message.iter().enumerate().map(|(i, &x)| if own(i) { 0.0 } else { x }));
        block.resize(start + variables, 0.0);
        let row = &mut block[start..];
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !length.is_finite() {
            return Err(Error::parameter("messages", length, "every coefficient must be a finite number"));
        }
        if length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
    }
    // Coefficients are products of weights: of any size.
    let mut basis = Basis::new(variables).careful(true);
    let terms = block.iter().map(|x| x.abs()).collect();
    basis.extend(block, || terms);
    let mut losses = basis.leverages();
    losses.truncate(nodes);
    let lost = if basis.shortest < CLEAR { basis.dropped } else { 0 };
    Ok(Leakage { observers, losses, rank: Some(basis.rank()), ambiguous: basis.ambiguous + lost })
}
