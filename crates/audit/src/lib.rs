//! Lower bounds on privacy loss, proven by attacks.
//!
//! A guarantee says that no attack does better than so much; an attack that did better says how large epsilon must
//! have been. This crate turns counts of right and wrong guesses into bounds that hold with a stated confidence:
//!
//! * [`Attack`]: independent trials with and without the target; Clopper-Pearson limits on both error rates, then the
//!   epsilon or the Gaussian `mu` that every mechanism with such rates must have;
//! * [`OneRun`]: one training run with many examples flipped in or out at once (Steinke, Nasr and Jagielski 2023);
//! * [`reconstruct`]: the best linear reconstruction of every peer's value from the messages of an averaging run;
//! * [`source`]: who started a rumour, from what curious peers heard of it.
//!
//! Every rounding goes the safe way: limits on error rates and p-values are rounded up, bounds on epsilon and `mu` down.
//! The proofs are in `docs/theorems/audit-bounds.md` and `reconstruction.md`.

mod binomial;
mod chi_square;
mod one_run;
mod rates;
pub mod reconstruct;
pub mod source;

pub use one_run::{OneRun, Rule};
pub use rates::{Attack, ErrorRates};
pub use sottovoce_privacy::{Error, Result};

/// The largest count accepted: the sums behind the bounds take time proportional to it at worst.
pub const MAX_COUNT: u64 = 100_000_000;

/// Unit round-off of `f64`.
const UNIT: f64 = f64::EPSILON / 2.0;

fn check_total(field: &'static str, total: u64) -> Result<()> {
    if (1..=MAX_COUNT).contains(&total) {
        return Ok(());
    }
    Err(Error::parameter(field, total, format!("give a count from 1 to {MAX_COUNT}")))
}

fn check_part(field: &'static str, part: u64, of: &str, total: u64) -> Result<()> {
    if part <= total {
        return Ok(());
    }
    Err(Error::parameter(field, part, format!("it cannot exceed the number of {of}, {total}")))
}

/// One half is excluded because the published one-run p-value crosses a level once only below it.
fn check_significance(significance: f64) -> Result<()> {
    if significance > 0.0 && significance < 0.5 {
        return Ok(());
    }
    let remedy = "give a probability strictly between 0 and 0.5, such as 0.05 for 95 % confidence";
    Err(Error::parameter("significance", significance, remedy))
}

fn check_delta(delta: f64) -> Result<()> {
    if (0.0..1.0).contains(&delta) {
        return Ok(());
    }
    Err(Error::parameter("delta", delta, "give a probability of at least 0 and below 1, such as 1e-5"))
}

/// Closes in on the crossing of a monotone predicate, true at `yes` and false at `no`; returns the last point at which
/// it was *evaluated* to be true (or the first `yes`), so that whatever the rounding of the search the answer is safe.
fn last_true(mut yes: f64, mut no: f64, holds: impl Fn(f64) -> bool) -> f64 {
    while (yes - no).abs() > 1e-15 * yes.abs().max(no.abs()) {
        let middle = 0.5 * (yes + no);
        if middle == yes || middle == no {
            break;
        }
        if holds(middle) { yes = middle } else { no = middle }
    }
    yes
}
