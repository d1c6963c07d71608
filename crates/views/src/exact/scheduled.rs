//! Gossip over a schedule: the observable subspace, backwards.
//!
//! What the observers will hear from step `t` on is a set `S_t` of linear functions of the values at step `t`:
//!
//! ```text
//! S_T = nothing        S_t = span{ e_v, e_w : v observes, w is heard at t } + W_t' S_(t+1)
//! ```
//!
//! and `S_0` is the span of all messages. Each `S_t` is kept as an orthonormal basis, so no direction drowns in the others.

use sottovoce_topology::schedule::{Schedule, Step};

use super::Leakage;
use super::gossip::has_tiny_weights;
use crate::Result;
use crate::basis::Basis;
use crate::error::{Error, check_observers, check_steps};

/// What `observers` together learn in the first `steps` steps of a schedule.
pub fn scheduled(schedule: &Schedule, observers: &[usize], steps: usize) -> Result<Leakage> {
    check_steps(steps)?;
    let observers = check_observers(observers, schedule.nodes())?;
    if let Some(length) = schedule.steps().filter(|&length| length < steps) {
        return Err(Error::parameter("steps", steps, format!("the schedule has {length}")));
    }
    let n = schedule.nodes();
    let mut basis = Basis::new(n);
    let (mut ambiguous, mut careful) = (0, false);
    for t in (0..steps).rev() {
        let Some(step) = schedule.step(t) else { continue };
        check(&step)?;
        let tiny = matches!(step, Step::Mixing(mixing) if has_tiny_weights(mixing));
        careful |= tiny;
        let mut next = Basis::new(n).units(heard(&step, &observers)).careful(careful);
        // Symmetric, hence its own transpose.
        let mixed = |sign: fn(f64) -> f64| {
            let mut mixed = vec![0.0; basis.rank() * n];
            for (i, out) in mixed.chunks_exact_mut(n).enumerate() {
                let column: Vec<f64> = basis.column(i).iter().map(|x| sign(*x)).collect();
                step.apply(&column, out);
            }
            mixed
        };
        next.extend(mixed(|x| x), || mixed(f64::abs));
        ambiguous += next.ambiguous;
        basis = next;
    }
    let mut losses = basis.leverages();
    observers.iter().for_each(|&v| losses[v] = 0.0);
    // The observers' own variables were counted as seen.
    let rank = Some(basis.rank() - observers.len());
    Ok(Leakage { observers, losses, rank, ambiguous })
}

fn check(step: &Step) -> Result<()> {
    match step {
        Step::Mixing(mixing) => Ok(mixing.check()?),
        Step::Pair(..) | Step::Idle => Ok(()),
    }
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
