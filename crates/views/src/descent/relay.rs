//! Gossip with relay noise over all iterations: every message carries fresh noise of its own.
//!
//! Rounds are counted through all iterations, `r = t K + k`. With the observers' own variables known, the message of round `r` is `B^(r - sK)` of the
//! gradient steps and noises of iterations `s`, plus `tau` times `B^(r-q)` of the relay noises of rounds `q`, up to `r`. In units of `sigma`, with
//! `h_k = E' B^k E` as in [`exact::relay_gossip`](crate::exact::relay_gossip),
//!
//! ```text
//! G[(r,w),(r',w')] = Σ_(sK <= r,r') h_(r+r'-2sK) + tau² Σ_(q <= r,r') h_(r+r'-2q)       A_us[(r,w)] = (B^(r-sK) E)_uw, from r = sK on
//! ```
//!
//! and the block of `u` is `A_u' G^-1 A_u`. Rounding is bounded and added; since more noise never reveals more, the loss without relay noise
//! ([`linear`]) is a bound too. Conditional like that.

use sottovoce_dense::{Mat, solve_lower};
use sottovoce_topology::mixing::Mixing;

use super::bound::largest_shift;
use super::{Currency, DescentLoss, adversary, check_iterations, check_rounds, linear, standing};
use crate::error::check_observers;
use crate::exact::gossip::Hidden;
use crate::exact::relay::{Factored, Powers, check_tau, relative_rounding};
use crate::{Result, parallel, require};

/// Messages that are solved for at once, at most.
const LARGEST: usize = 8192;

/// Above this the loss without relay noise is asked as well.
const LITTLE: f64 = 1e-8;

/// What `observers` together learn in `iterations` gradient steps, each followed by `rounds` rounds of plain gossip with relay noise of `tau` times the
/// noise on a step.
pub fn loss(
    mixing: &Mixing,
    observers: &[usize],
    rounds: usize,
    iterations: usize,
    tau: f64,
) -> Result<DescentLoss> {
    check_tau(tau)?;
    if tau == 0.0 {
        return linear::loss(&[mixing], observers, rounds, iterations);
    }
    check_iterations(iterations)?;
    check_rounds(rounds)?;
    mixing.check()?;
    let observers = check_observers(observers, mixing.nodes())?;
    let hidden = Hidden::new(mixing, &observers);
    let messages = hidden.heard().len().saturating_mul(rounds).saturating_mul(iterations);
    let remedy =
        format!("that makes {messages} messages, and at most {LARGEST} can be solved for; take fewer");
    require(messages <= LARGEST, "iterations", iterations, remedy)?;
    let powers = Powers::new(&hidden, mixing.nodes(), rounds * iterations);
    let solved =
        Factored::new(&gram(&powers, rounds, tau * tau)).map(|factored| losses(&powers, &factored, rounds));
    let losses = match solved {
        Some((losses, rounding)) if rounding <= LITTLE => losses,
        other => {
            let plain = linear::loss(&[mixing], &observers, rounds, iterations)?;
            let smaller =
                |(u, bound): (usize, f64)| other.as_ref().map_or(bound, |(losses, _)| losses[u].min(bound));
            plain.losses.into_iter().enumerate().map(smaller).collect()
        }
    };
    let adversary = adversary(&observers);
    Ok(DescentLoss {
        adversary,
        iterations,
        losses,
        rank: None,
        standing: standing(iterations),
        currency: Currency::Gaussian,
    })
}

/// The covariances of all messages: the lower triangle, by rounds.
fn gram(powers: &Powers, rounds: usize, tau_squared: f64) -> Mat {
    let (b, all) = (powers.heard, powers.steps);
    let moments: Vec<Mat> = (0..2 * all - 1).map(|k| powers.moment(k)).collect();
    // What grows by one round is what was there two powers earlier, and the new noises.
    let mut gram = Mat::zeros(b * all, b * all);
    for r in 0..all {
        for s in 0..=r {
            let mut block = Mat::zeros(b, b);
            for q in 0..=s {
                let weight = tau_squared + if q % rounds == 0 { 1.0 } else { 0.0 };
                block.add_scaled(weight, &moments[r + s - 2 * q]);
            }
            gram.set(r * b, s * b, &block);
        }
    }
    gram
}

/// Every peer's loss, and the relative rounding that was added.
fn losses(powers: &Powers, factored: &Factored, rounds: usize) -> (Vec<f64>, f64) {
    let (n, b, all) = (powers.nodes, powers.heard, powers.steps);
    let iterations = all / rounds;
    let size = b * all;
    let rounding =
        relative_rounding(factored.condition_of(size), size) + f64::EPSILON * (16 + iterations) as f64;
    // Step `s` of everyone: the columns of the first step, later by as many rounds.
    let solve = |s: usize| {
        let later = s * rounds * b;
        let entry =
            |row: usize, u: usize| if row < later { 0.0 } else { powers.columns[(row - later) * n + u] };
        let mut column = Mat::from_fn(size, n, entry);
        solve_lower(&factored.lower, &mut column);
        column
    };
    let solved = parallel::map(iterations, solve, |_| {});
    let product = |u: usize, s: usize, t: usize| -> f64 {
        solved[s].col(u).iter().zip(solved[t].col(u)).map(|(x, y)| x * y).sum()
    };
    let loss =
        |u: usize| largest_shift(&Mat::from_fn(iterations, iterations, |s, t| product(u, s, t)), rounding);
    (parallel::map(n, loss, |_| {}), rounding)
}
