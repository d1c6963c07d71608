//! Descent by gossip (Muffliato-GD and -SGD, Algorithm 3): what observers learn of a peer over all its gradient steps.
//!
//! `T` times everyone makes one private gradient step, adds fresh noise, and mixes for `K` rounds. Losses are in units of one
//! local release: a loss `m` is exactly Gaussian privacy with `mu² = m Delta²/sigma²`, and `m = T` is no amplification at all.
//!
//! | | who | standing |
//! | --- | --- | --- |
//! | [`wire_tapper`] | whoever sees everything | proven |
//! | [`consensus`] | a peer or a coalition, where every averaging ends in exact consensus | proven |
//! | [`linear`] | the same for any gossip | conditional: no gradient reacts to what is hidden |
//! | [`relay`] | the same for plain gossip with fresh noise on every message | conditional |
//! | [`traced`] | the same from the coefficients of the messages, relay noise included | conditional |
//!
//! Why the condition is needed, and by how much its breach exceeds the loss, is in `docs/theorems/descent.md`.

mod bound;
mod butterfly;
pub mod consensus;
mod currency;
mod gram;
pub mod linear;
pub mod relay;
mod spaces;
pub mod traced;

pub use currency::Currency;

use serde::Serialize;
use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Loss, Standing, Unit, limits};

use crate::{Error, Result};

/// Room for rounding, for each iteration, when a loss becomes a guarantee.
pub(crate) const ROUNDING: f64 = 1e-9;

/// What a loss of so many iterations counts as, where it becomes a guarantee or noise is chosen for it: with room for rounding. What is exactly Gaussian is never more
/// than all releases; what is no number is as much.
///
/// ```
/// use sottovoce_views::descent::{Currency, with_room};
/// assert_eq!(with_room(2.0, 10, Currency::Gaussian), 2.0 + 1e-8);
/// assert_eq!(with_room(10.0, 10, Currency::Gaussian), 10.0);
/// ```
pub fn with_room(loss: f64, iterations: usize, currency: Currency) -> f64 {
    let (all, units) = (iterations as f64, loss + ROUNDING * iterations as f64);
    match currency {
        Currency::Gaussian if units < all => units,
        Currency::Gaussian => all,
        Currency::Concentrated => units,
    }
}

/// What linear views rest on from the second iteration on.
const REACTION: &str =
    "no peer's gradient, the protected peer's own included, reacts to states hidden from the observers";

/// What an adversary learns about every peer over a whole descent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DescentLoss {
    /// Who learns it.
    pub adversary: Adversary,
    /// Number of gradient steps: `T`.
    pub iterations: usize,
    /// For each peer the loss in units of one local release; 0 for observers themselves. An upper bound where the standing is
    /// proven or conditional.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Option<f64>>"))]
    pub losses: Vec<f64>,
    /// Number of independent things the observers learn, where it is known.
    pub rank: Option<usize>,
    /// By what right the losses are stated.
    pub standing: Standing,
    /// The currency in which the losses are paid.
    #[serde(skip)]
    pub currency: Currency,
}

impl DescentLoss {
    /// Mean over all peers (observers lose nothing to themselves, and are counted).
    pub fn mean(&self) -> f64 {
        self.losses.iter().sum::<f64>() / self.losses.len().max(1) as f64
    }

    /// The largest loss, and whose it is; what is no number is the largest.
    pub fn worst(&self) -> (usize, f64) {
        let all = self.losses.iter().copied().enumerate();
        all.fold((0, 0.0), |worst, next| if next.1 > worst.1 || next.1.is_nan() { next } else { worst })
    }

    /// The guarantee of peer `u` for steps that one user moves by at most `sensitivity`, under noise `sigma`.
    pub fn guarantee(&self, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee> {
        let Some(loss) = self.losses.get(u) else {
            let remedy = format!("there are {} peers, from 0", self.losses.len());
            return Err(Error::parameter("peer", u, remedy));
        };
        positive("sensitivity", sensitivity)?;
        positive("sigma", sigma)?;
        let loss = match self.standing.is_reliable() {
            true => {
                let units = with_room(*loss, self.iterations, self.currency);
                self.currency.loss(units, sigma / sensitivity)?
            }
            false => Loss::Gdp(Gdp::of_square(loss * (sensitivity / sigma).powi(2))?),
        };
        Ok(Guarantee {
            adversary: self.adversary.clone(),
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss,
            standing: self.standing.clone(),
            not_covered: limits::of_a_protocol(),
        })
    }
}

/// Towards someone who sees every message: the `T` releases compose, whatever is mixed with what.
///
/// Where gradients are taken of Poisson samples, the privacy crate amplifies each release by sampling instead.
///
/// ```
/// let loss = sottovoce_views::descent::wire_tapper(3, 20)?;
/// assert_eq!(loss.losses, [20.0; 3]);
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
pub fn wire_tapper(nodes: usize, iterations: usize) -> Result<DescentLoss> {
    check_iterations(iterations)?;
    Ok(DescentLoss {
        adversary: Adversary::WireTapper,
        iterations,
        losses: vec![iterations as f64; nodes],
        rank: Some(nodes.saturating_mul(iterations)),
        standing: Standing::Proven,
        currency: Currency::Gaussian,
    })
}

/// The adversary made of these observers.
pub(crate) fn adversary(observers: &[usize]) -> Adversary {
    match observers {
        [one] => Adversary::Peer(*one),
        _ => Adversary::Coalition(observers.to_vec()),
    }
}

/// The standing of a linear view. In the first iteration nothing is hidden yet that a gradient could react to.
fn standing(iterations: usize) -> Standing {
    if iterations > 1 { Standing::Conditional(vec![REACTION.into()]) } else { Standing::Proven }
}

/// What is true whatever was heard: every release is lost.
fn local(observers: &[usize], nodes: usize, iterations: usize) -> DescentLoss {
    let hidden = |u: usize| if observers.binary_search(&u).is_ok() { 0.0 } else { iterations as f64 };
    DescentLoss {
        adversary: adversary(observers),
        iterations,
        losses: (0..nodes).map(hidden).collect(),
        rank: None,
        standing: Standing::Proven,
        currency: Currency::Gaussian,
    }
}

fn positive(field: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::parameter(field, value, "give a positive, finite number"))
}

pub(crate) fn check_iterations(iterations: usize) -> Result<()> {
    match iterations {
        0 => Err(Error::parameter("iterations", 0, "give at least 1 gradient step")),
        _ => Ok(()),
    }
}

fn check_rounds(rounds: usize) -> Result<()> {
    match rounds {
        0 => Err(Error::parameter("rounds", 0, "give at least 1 round of averaging")),
        _ => Ok(()),
    }
}

/// Refuses averagings of different sizes, or none; returns the size.
fn same_size(field: &'static str, sizes: impl IntoIterator<Item = usize>) -> Result<usize> {
    let mut sizes = sizes.into_iter();
    let Some(nodes) = sizes.next() else {
        return Err(Error::parameter(field, "empty", "give one for all iterations, or several in turn"));
    };
    match sizes.find(|&other| other != nodes) {
        Some(odd) => {
            let remedy = format!("all must have {nodes} peers, as the first");
            Err(Error::parameter(field, format!("one of {odd} peers"), remedy))
        }
        None => Ok(nodes),
    }
}
