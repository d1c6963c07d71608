//! Averagings that end in exact consensus: losses of iterations add up, with a proof.
//!
//! After an iteration everyone holds the same model, and the observers hold it too. The next gradients are functions of the
//! data and of what the observers know; the next noises are fresh. Given the past, an iteration is one more averaging, of loss
//! `f_t(u, V)`, and over all of them `mu² = Σ_t f_t Delta²/sigma²`: Gaussian privacy composes exactly, adaptively chosen or not
//! (`docs/theorems/descent.md`, Theorem 2). No gossip that stops short of consensus has that, however close it comes: so an
//! [`Averaging`] is made only by checks that the consensus is reached at a stroke.

use sottovoce_privacy::Standing;
use sottovoce_topology::schedule::Schedule;

use super::{Currency, DescentLoss, adversary, butterfly, check_iterations, same_size};
use crate::error::{check_observers, check_steps};
use crate::exact::{self, Leakage};
use crate::{Error, Result, require};

/// Of a coefficient, less than this is rounding.
const ROUNDING: f64 = 1e-12;

/// Peers that are closer than this, and not equal, are on their way to a consensus that never comes.
const CLEAR: f64 = 1e-6;

/// One averaging that ends in exact consensus, and what the observers learn from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Averaging {
    leakage: Leakage,
}

impl Averaging {
    /// A butterfly of any size, where `positions[i]` is the peer at position `i`. In closed form.
    ///
    /// ```
    /// use sottovoce_views::descent::consensus::Averaging;
    /// let averaging = Averaging::butterfly(&[0, 1, 2, 3, 4, 5, 6, 7], &[0])?;
    /// assert_eq!(averaging.leakage().losses, [0.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]);
    /// # Ok::<(), sottovoce_views::Error>(())
    /// ```
    pub fn butterfly(positions: &[usize], observers: &[usize]) -> Result<Self> {
        let observers = check_observers(observers, positions.len())?;
        let (losses, rank) = butterfly::losses(positions, &observers)?;
        Ok(Self { leakage: Leakage { observers, losses, rank: Some(rank), certified: true, rounding: 0.0 } })
    }

    /// The first `steps` steps of a schedule, if they average exactly: a complete graph with equal weights in one step, or
    /// any other finite sequence.
    pub fn scheduled(schedule: &Schedule, observers: &[usize], steps: usize) -> Result<Self> {
        check_steps(steps)?;
        let leakage = exact::scheduled(schedule, observers, steps)?;
        let nodes = schedule.nodes();
        let mut values: Vec<f64> = vec![0.0; nodes * nodes];
        (0..nodes).for_each(|i| values[i * nodes + i] = 1.0);
        let mut next = values.clone();
        let mut distances = Vec::with_capacity(steps);
        for step in (0..steps).filter_map(|t| schedule.step(t)) {
            step.apply_block(&values, nodes, &mut next);
            std::mem::swap(&mut values, &mut next);
            distances.push(values.iter().map(|x| (x * nodes as f64 - 1.0).abs()).fold(0.0, f64::max));
        }
        reached_at_a_stroke(distances)?;
        check_consensus(&values.chunks_exact(nodes).collect::<Vec<_>>())?;
        Ok(Self { leakage })
    }

    /// Any averaging, from the coefficients of the messages that observers heard and of everyone's result (`finals[v]` is peer
    /// `v`'s), over standardised base variables: variable `v` is peer `v`'s step, and `own(i)` says whether an
    /// observer drew variable `i`.
    pub fn traced(
        messages: &[&[f64]],
        finals: &[&[f64]],
        observers: &[usize],
        own: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        check_consensus(finals)?;
        reached_at_a_stroke(messages.iter().map(|message| distance(message, finals[0])))?;
        Ok(Self { leakage: exact::traced(messages, observers, finals.len(), own)? })
    }

    /// What the observers learn from this one averaging.
    pub fn leakage(&self) -> &Leakage {
        &self.leakage
    }
}

/// What observers learn in `iterations` gradient steps, each followed by the next of `averagings`, in turn.
///
/// ```
/// use sottovoce_views::descent::consensus::{Averaging, loss};
/// let (even, odd) = ([0, 1, 2, 3], [0, 2, 1, 3]);
/// let averagings = [Averaging::butterfly(&even, &[0])?, Averaging::butterfly(&odd, &[0])?];
/// assert_eq!(loss(&averagings, 10)?.losses, [0.0, 7.5, 7.5, 5.0]);
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
pub fn loss(averagings: &[Averaging], iterations: usize) -> Result<DescentLoss> {
    check_iterations(iterations)?;
    let nodes = same_size("averagings", averagings.iter().map(|averaging| averaging.leakage.losses.len()))?;
    let observers = &averagings[0].leakage.observers;
    if let Some(other) = averagings.iter().find(|averaging| averaging.leakage.observers != *observers) {
        let value = format!("seen by {:?}", other.leakage.observers);
        let remedy = format!("all must be seen by the same observers, {observers:?}");
        return Err(Error::parameter("averagings", value, remedy));
    }
    let mut losses = vec![0.0; nodes];
    let mut rank = Some(0);
    for (i, Averaging { leakage }) in averagings.iter().enumerate() {
        let times = iterations / averagings.len() + usize::from(i < iterations % averagings.len());
        losses
            .iter_mut()
            .zip(&leakage.losses)
            .for_each(|(sum, loss)| *sum += times as f64 * (loss + leakage.rounding));
        rank = rank.zip(leakage.rank).map(|(sum, rank)| sum + times * rank);
    }
    let standing = Standing::Proven;
    Ok(DescentLoss {
        adversary: adversary(observers),
        iterations,
        losses,
        rank,
        standing,
        currency: Currency::Gaussian,
    })
}

/// The loss of one peer towards another in one butterfly among `nodes`, if positions are drawn at random: each value with its
/// probability.
///
/// Positions are public, so a run's guarantee is the sum over the positions it had ([`loss`]). The mean of this law, for `2^m` peers `m / (2^m - 1)`, is what to
/// expect of that sum, iteration by iteration; it is no guarantee itself.
pub fn pair_law(nodes: usize) -> Result<Vec<(f64, f64)>> {
    match nodes {
        0 | 1 => Err(Error::parameter("nodes", nodes, "a pair takes at least 2 peers")),
        _ => Ok(butterfly::pair_law(nodes)),
    }
}

/// Refuses results, one for each peer, that are not the same mean of all values at everyone's. Of further variables (relay noise)
/// everyone must hold the same share.
pub fn check_consensus(finals: &[&[f64]]) -> Result<()> {
    let Some(first) = finals.first() else {
        return Err(Error::parameter("finals", "empty", "give everyone's result"));
    };
    if let Some(wrong) = finals.iter().flat_map(|last| *last).find(|x| !x.is_finite()) {
        return Err(Error::parameter("finals", wrong, "every coefficient must be a finite number"));
    }
    let (nodes, share) = (finals.len(), first.first().copied().unwrap_or(0.0));
    let equal = (0..nodes).all(|u| (at(first, u) - share).abs() <= ROUNDING * share);
    let value = "not the mean of all values at peer 0";
    require(equal && share > 0.0, "finals", value, "use an averaging that gives every value the same share")?;
    match finals.iter().position(|last| distance(last, first) > ROUNDING) {
        None => Ok(()),
        Some(peer) => {
            let value = format!("different at peers 0 and {peer}");
            Err(Error::parameter("finals", value, "use a butterfly, or account for linear views"))
        }
    }
}

/// Refuses a consensus that was approached: gradients could react to differences too small to see here.
fn reached_at_a_stroke(distances: impl IntoIterator<Item = f64>) -> Result<()> {
    match distances.into_iter().find(|distance| (ROUNDING..CLEAR).contains(distance)) {
        None => Ok(()),
        Some(near) => {
            let value = format!("a consensus up to {near:e}");
            let remedy = "it must be exact: use a butterfly, or account for linear views";
            Err(Error::parameter("averaging", value, remedy))
        }
    }
}

fn at(coefficients: &[f64], i: usize) -> f64 {
    coefficients.get(i).copied().unwrap_or(0.0)
}

/// The largest difference, beside the share of a value.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let largest = (0..a.len().max(b.len())).map(|i| (at(a, i) - at(b, i)).abs()).fold(0.0, f64::max);
    largest / at(b, 0)
}
