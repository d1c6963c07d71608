//! Rumours with a private source: how well "who began?" is hidden when news spreads from peer to peer.
//!
//! `n` peers can all reach each other, `f` of them are curious. An active peer tells a peer drawn among all `n`, stays active with
//! probability `s`, and whoever is told becomes active. The curious log who tells them and whom they tell, in order. What they can say of the
//! source:
//!
//! ```text
//! Rumor (n, f, s) ──► published: Theorems 5, 7 and 8 as printed, composed over rumours
//!                 ├─► improved:  closed forms of ours, below them and equal to Theorem 5 at s = 0
//!                 ├─► sharp:     the total variation of asynchronous tellings, certified from both sides
//!                 └─► spread:    how many rounds and messages it takes
//! OnGraph (graph, curious, s) ──► stopped where it is heard or branches; all active sets of a few peers
//! ```
//!
//! Statements, adversaries and proofs are in `docs/theorems/rumor-source.md`. Three things nobody may forget: the curious have no clock
//! (else only `epsilon = 0` holds), rounds lose more than single tellings ([`Rumor::rounds_delta`]), and the end of a run does not show
//! ([`NOT_COVERED`]).
//!
//! | file | what |
//! | --- | --- |
//! | `published` | the printed formulas |
//! | `improved` | ours in closed form |
//! | `chain`, `eliminate`, `certify`, `sharp` | sharp bounds: who is active, elimination, proof of the result, choice of method |
//! | `graph` | rumours among neighbours, on any graph |
//! | `law` | three possible privacy losses, composed |
//! | `inverse` | `s` for a target |
//! | `spread` | mean dynamics of the spreading |
//! | `survival` | whether it dies of lost messages |
//! | `account` | all of it for one question |
//! | `proven` | which theorem covers a run |

mod account;
mod certify;
mod chain;
mod eliminate;
mod graph;
mod improved;
mod inverse;
mod law;
mod proven;
mod published;
mod sharp;
mod spread;
mod survival;

pub use account::{Account, Better, NOT_COVERED};
pub use graph::{Hidden, MOST_HONEST, ON_GRAPHS, OnGraph, PairLoss, Question};
pub use inverse::{improved_muting_for, muting_for, rounds_muting_for, sharp_muting_for};
pub use proven::{Course, Proven, attack_success};
pub use sharp::{EFFORT, Method, Sharp};
pub use spread::{Spread, mean_dynamics};
pub use survival::{survival, survival_at_most};

use crate::{Error, Result, require};

/// Most peers of a rumour.
pub const MOST_PEERS: usize = 1_000_000_000;
/// Most rumours of one source that are composed.
pub const MOST_RUMORS: u32 = 10_000;

/// A rumour: how many can hear it, how many of them are curious, and the muting parameter `s`.
///
/// ```
/// use sottovoce_views::rumor::Rumor;
/// let walk = Rumor::new(100, 10, 0.0)?;
/// assert_eq!(walk.delta(0.0, 1)?, 0.1);                       // the source's first telling is overheard: f / n
/// assert!(walk.delta(11f64.ln(), 1)? < 1e-15);                // and it is ln(f + 1)-private with certainty
/// let quick = Rumor::new(100, 10, 0.5)?;
/// assert!((quick.delta(0.0, 1)? - 0.18182).abs() < 1e-5);     // Theorem 7
/// assert!(quick.sharp().unwrap().at_zero.upper < 0.17908);    // at most, for asynchronous tellings
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rumor {
    peers: usize,
    curious: usize,
    muting: f64,
}

impl Rumor {
    /// Refuses numbers of peers that make no sense, and an `s` that is no probability.
    pub fn new(peers: usize, curious: usize, muting: f64) -> Result<Self> {
        check_crowd(peers, curious)?;
        let remedy = "give a probability from 0 (a walk, the most private) to 1 (push, not private at all)";
        require((0.0..=1.0).contains(&muting), "muting", muting, remedy)?;
        Ok(Self { peers, curious, muting })
    }

    /// All who can hear it: `n`.
    pub fn peers(&self) -> usize {
        self.peers
    }

    /// Those who log what they hear: `f`.
    pub fn curious(&self) -> usize {
        self.curious
    }

    /// The probability to stay active after a telling: `s`.
    pub fn muting(&self) -> f64 {
        self.muting
    }

    /// Those among whom the source hides: `h = n - f`.
    pub fn honest(&self) -> usize {
        self.peers - self.curious
    }

    /// `n`, `f`, `h` and `s` as numbers to compute with.
    fn numbers(&self) -> (f64, f64, f64, f64) {
        (self.peers as f64, self.curious as f64, self.honest() as f64, self.muting)
    }
}

fn check_crowd(peers: usize, curious: usize) -> Result<()> {
    let remedy = format!("give a number from 2 to {MOST_PEERS}");
    require((2..=MOST_PEERS).contains(&peers), "peers", peers, remedy)?;
    let remedy = format!("give at most {}: the source is an honest peer", peers - 1);
    require(curious < peers, "curious", curious, remedy)
}

fn check_epsilon(epsilon: f64) -> Result<()> {
    if epsilon.is_finite() && epsilon >= 0.0 {
        return Ok(());
    }
    Err(Error::parameter("epsilon", epsilon, "give a finite number of at least 0"))
}

fn check_rumors(rumors: u32) -> Result<()> {
    if (1..=MOST_RUMORS).contains(&rumors) {
        return Ok(());
    }
    Err(Error::parameter("rumors", rumors, format!("give a number from 1 to {MOST_RUMORS}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_with_a_remedy() {
        let message = |rumor: Result<Rumor>| rumor.unwrap_err().to_string();
        assert!(message(Rumor::new(1, 0, 0.5)).starts_with("`peers` is 1: give a number from 2"));
        assert!(message(Rumor::new(10, 10, 0.5)).starts_with("`curious` is 10: give at most 9"));
        for muting in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(
                message(Rumor::new(10, 1, muting)).starts_with(&format!("`muting` is {muting}: give a prob"))
            );
        }
        let rumor = Rumor::new(10, 1, 0.5).unwrap();
        for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(rumor.delta(epsilon, 1).unwrap_err().to_string().contains("`epsilon` is"));
        }
        for rumors in [0, MOST_RUMORS + 1] {
            assert!(rumor.delta(0.0, rumors).unwrap_err().to_string().contains("from 1 to 10000"));
        }
    }
}
