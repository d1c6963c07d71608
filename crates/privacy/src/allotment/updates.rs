//! How many updates: fewer leave more of the start, more leave more noise.
//!
//! With `T` wake-ups of everybody the corrected utility bound is about `e^(-rho T) start + unit * damped(T)`, `rho = 1 - factor`, where the
//! noise of each wake-up itself grows with `T`, since a budget is spread over more of them. (At fixed noise there is no best number: the bound
//! moves from one end to the other.) Only public numbers enter, so the choice costs nothing. It is a bound for uniform shares, and an estimate for
//! others: `docs/theorems/personalized.md`.

use serde::Serialize;

use super::{Allotment, MOST, Request};
use crate::{Result, require};

/// A number of updates, and what it promises.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Suggested {
    /// The number of updates of each agent.
    pub updates: usize,
    /// How much of the start is left.
    pub start: f64,
    /// What the noise adds.
    pub noise: f64,
    /// The noises.
    pub allotment: Allotment,
}

impl Suggested {
    /// The whole bound.
    pub fn bound(&self) -> f64 {
        self.start + self.noise
    }
}

/// The number of updates, up to `most`, with the least bound among those tried: the request's own number is disregarded. `start` is a public bound on how far the
/// objective is from its least value at the start, and `unit` what squared noise of one sensitivity adds to it.
///
/// ```
/// use sottovoce_privacy::allotment::{Allocation, Law, Method, Request, suggested};
/// let request = Request {
///     epsilon: 1.0,
///     delta: 1e-5,
///     law: Law::Gaussian,
///     method: Method::Gdp,
///     allocation: Allocation::Uniform,
///     updates: 1,
///     factor: 0.8,
///     before: 0.0,
/// };
/// let quiet = suggested(&request, 10.0, 1e-6, 1000)?;
/// let noisy = suggested(&request, 10.0, 1e-3, 1000)?;
/// assert!(noisy.updates < quiet.updates && noisy.bound() > quiet.bound());
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn suggested(request: &Request, start: f64, unit: f64, most: usize) -> Result<Suggested> {
    for (field, value) in [("start", start), ("unit", unit)] {
        require(value >= 0.0 && value.is_finite(), field, value, "give a finite number, 0 or more")?;
    }
    require(most != 0 && most <= MOST, "most", most, format!("give a number from 1 to {MOST}"))?;
    // Trials in closed form; what is found is accounted for as requested.
    let at = |request: Request, updates: usize| -> Result<Suggested> {
        let allotment = Request { updates, ..request }.allot()?;
        let left = (-(1.0 - request.factor) * updates as f64).exp() * start;
        Ok(Suggested { updates, start: left, noise: unit * allotment.damped(), allotment })
    };
    let tried = |updates: usize| at(request.closed(), updates);
    let mut best = tried(1)?;
    let mut step = 1;
    // Twice as many while that helps, and then ever smaller steps to either side.
    while best.updates < most {
        // With so many no noise may do.
        let Ok(next) = tried((2 * best.updates).min(most)) else { break }; // whole numbers
        if next.bound() >= best.bound() {
            break;
        }
        step = next.updates - best.updates;
        best = next;
    }
    step = step.max(best.updates); // whole numbers
    while step > 1 {
        step = step.div_ceil(2);
        for updates in [best.updates.saturating_sub(step), best.updates + step] {
            if !(1..=most).contains(&updates) {
                continue;
            }
            if let Ok(next) = tried(updates)
                && next.bound() < best.bound()
            {
                best = next;
            }
        }
    }
    if request.composes() { at(*request, best.updates) } else { Ok(best) }
}
