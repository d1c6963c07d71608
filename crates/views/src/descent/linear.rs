//! Any gossip: what observers learn over all iterations, with all gradients held fixed (or known to the observers).
//!
//! What is hidden from the observers after an iteration stays in the network and is mixed on, so that a later iteration tells
//! more about earlier steps: the losses of iterations do not add up, and shifts of one peer in several steps add like
//! *amplitudes*. The view is linear in the noises `z_(i,t)`, and the loss of `u` is the most that `T` shifts of length one of its
//! variables move the projection on everything heard.
//!
//! Conditional: no gradient reacts to states that are hidden from the observers (`docs/theorems/descent.md`, Theorem 3). For one
//! iteration there is nothing to react to, and the loss is that of [`exact::gossip`](crate::exact::gossip()).

use sottovoce_topology::mixing::Mixing;

use super::spaces::{Gossip, Spaces};
use super::{
    Currency, DescentLoss, adversary, check_iterations, check_rounds, gram, local, same_size, standing,
};
use crate::error::check_observers;
use crate::exact::gossip::Hidden;
use crate::{Error, Result, require};

/// Independent messages that are solved for at once, at most: 2 GiB.
const LARGEST: usize = 16_384;

/// What `observers` together learn in `iterations` gradient steps, each followed by `rounds` rounds of gossip over the next of
/// `mixings`, in turn.
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// use sottovoce_views::descent::linear;
/// // Peer 0 hears only peer 1, which passes on half of what peer 2 did one iteration earlier: each hides the other a little.
/// let path = generate(&Family::Path { n: 3 }, 0, true)?;
/// let mixing = Mixing::new(&path, Weights::Metropolis);
/// let loss = linear::loss(&[&mixing], &[0], 1, 2)?;
/// assert!((loss.losses[1] - (1.0 + 1.0 / 1.25)).abs() < 1e-12);
/// assert!((loss.losses[2] - 0.25 / 1.25).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn loss(
    mixings: &[&Mixing],
    observers: &[usize],
    rounds: usize,
    iterations: usize,
) -> Result<DescentLoss> {
    let plain: Vec<(&Mixing, f64)> = mixings.iter().map(|&mixing| (mixing, 1.0)).collect();
    accelerated(&plain, observers, rounds, iterations)
}

/// The same for accelerated gossip, `x^(k+1) = gamma W x^k + (1 - gamma) x^(k-1)` after a first round without `gamma`: each
/// matrix with its weight `gamma`, from 1 (plain) to 2.
pub fn accelerated(
    gossips: &[(&Mixing, f64)],
    observers: &[usize],
    rounds: usize,
    iterations: usize,
) -> Result<DescentLoss> {
    check_iterations(iterations)?;
    check_rounds(rounds)?;
    let nodes = same_size("mixings", gossips.iter().map(|(mixing, _)| mixing.nodes()))?;
    let observers = check_observers(observers, nodes)?;
    for (mixing, gamma) in gossips {
        mixing.check()?;
        require((1.0..=2.0).contains(gamma), "gamma", gamma, "give a weight from 1 (plain gossip) to 2")?;
    }
    // Each peer that is heard adds noise of its own in every iteration: so many messages are independent at least.
    let heard = gossips.iter().map(|(mixing, _)| Hidden::new(mixing, &observers).heard().len());
    check_rank(heard.min().unwrap_or(0).saturating_mul(iterations), iterations)?; // whole numbers
    let gossips: Vec<Gossip> = gossips.iter().map(|&(mixing, gamma)| Gossip { mixing, gamma }).collect();
    let Some(spaces) = Spaces::new(&gossips, &observers, rounds, iterations) else {
        return Ok(local(&observers, nodes, iterations));
    };
    let rank = gram::rank(&spaces);
    check_rank(rank, iterations)?;
    Ok(DescentLoss {
        adversary: adversary(&observers),
        iterations,
        losses: gram::losses(&spaces),
        rank: Some(rank),
        standing: standing(iterations),
        currency: Currency::Gaussian,
    })
}

fn check_rank(rank: usize, iterations: usize) -> Result<()> {
    if rank <= LARGEST {
        return Ok(());
    }
    let remedy = format!(
        "that makes {rank} independent messages, and at most {LARGEST} can be solved for; take fewer (towards someone \
         who sees every message the loss is their number)"
    );
    Err(Error::parameter("iterations", iterations, remedy))
}
