//! Any linear descent: losses from the coefficients of the messages themselves, as the protocol's own code produced them.
//!
//! For relay noise, schedules within an iteration, gradients that are linear maps, and to check [`linear`](super::linear). The
//! warnings of [`exact::traced`](crate::exact::traced()) hold here too: without relay noise, messages of many rounds become
//! parallel, and where doubles cannot certify their directions every release counts as lost.

use sottovoce_dense::Mat;

use super::bound::largest_shift;
use super::{Currency, DescentLoss, adversary, check_iterations, local, standing};
use crate::Result;
use crate::error::check_observers;
use crate::exact::span;
use crate::span::Space;

/// What `observers` learn from messages given by their coefficients over standardised base variables (those beyond the end are 0).
///
/// `steps[u]` are the variables of peer `u`'s gradient steps, the noises under which they enter. `own(i)` says whether variable
/// `i` was drawn by an observer, who knows it.
pub fn linear_view(
    messages: &[&[f64]],
    observers: &[usize],
    steps: &[Vec<usize>],
    own: impl Fn(usize) -> bool,
) -> Result<DescentLoss> {
    let observers = check_observers(observers, steps.len())?;
    let iterations = steps.iter().map(Vec::len).max().unwrap_or(0);
    check_iterations(iterations)?;
    let Some(basis) = span(messages, 0, own)? else {
        return Ok(local(&observers, steps.len(), iterations));
    };
    let rounding = f64::EPSILON * (16 + basis.rank() + iterations * iterations) as f64;
    // Each entry of a projection whose space is off by an angle is off by no more.
    let doubt = (iterations * iterations) as f64 * basis.angle;
    let loss = |u: usize| match observers.binary_search(&u) {
        Ok(_) => 0.0,
        Err(_) => (largest_shift(&block(&basis, &steps[u]), rounding) + doubt).min(iterations as f64),
    };
    Ok(DescentLoss {
        adversary: adversary(&observers),
        iterations,
        losses: (0..steps.len()).map(loss).collect(),
        rank: Some(basis.rank()),
        standing: standing(iterations),
        currency: Currency::Gaussian,
    })
}

/// The variables of everyone's gradient steps as the state machines draw them: step `t` is draw `t (rounds + 1)` of a peer, after
/// which come its relay noises, and draw `k` of peer `u` is variable `k nodes + u`.
pub fn step_variables(nodes: usize, rounds: usize, iterations: usize) -> Vec<Vec<usize>> {
    let of = |u: usize| (0..iterations).map(|t| t * (rounds + 1) * nodes + u).collect();
    (0..nodes).map(of).collect()
}

/// The projection on the basis, between these variables.
fn block(basis: &Space, variables: &[usize]) -> Mat {
    let mut block = Mat::zeros(variables.len(), variables.len());
    for column in (0..basis.rank()).map(|i| basis.column(i)) {
        // Variables that no message contains are not seen.
        let entry = |i: usize| column.get(variables[i]).copied().unwrap_or(0.0);
        for t in 0..variables.len() {
            (0..variables.len()).for_each(|s| block[(s, t)] += entry(s) * entry(t));
        }
    }
    block
}
