//! What a driver lends to a machine: random bits, the budget, noise.

use serde::{Deserialize, Serialize};

use crate::{Chance, Law, Release};

/// Noise is never further out than so many scales, in any coordinate: whoever covers a value cuts it there. (A Gaussian is not drawn so far out
/// once in `10^340` times.) So what honest peers say has a range.
pub const FAR: f64 = 40.0;

/// What a driver lends to a machine while it handles an input.
pub trait Means<V>: Chance {
    /// Admits a release and counts it, or refuses it and changes nothing. On a node the count is durable before this returns.
    fn admit(&mut self, release: &Release) -> Result<(), Overspent>;

    /// Hides a value: rounds it to the grid, if there is one, then adds fresh Gaussian noise of this scale to every coordinate, cut at [`FAR`]
    /// scales. `draw` numbers the draws of a peer: no two may share a number. Where it fails nothing may be sent.
    fn cover(&mut self, draw: u64, scale: f64, value: &mut V) -> Result<(), Uncovered>;

    /// The same under another law. (Laplace and radial noise is not cut: its tails are what makes its loss pure.) Who has no such noise hides nothing, and
    /// says so.
    fn cover_by(&mut self, law: Law, draw: u64, scale: f64, value: &mut V) -> Result<(), Uncovered> {
        match law {
            Law::Gaussian => self.cover(draw, scale, value),
            Law::Laplace | Law::Radial => Err(Uncovered { draw, scale }),
        }
    }

    /// Hides a private value as [`Self::cover_by`] does, and in the noise that it shares with others as well, where it shares secrets: what one end of a pair
    /// adds the other takes away, under the same number of a draw.
    fn hide(&mut self, law: Law, draw: u64, scale: f64, value: &mut V) -> Result<(), Uncovered> {
        self.cover_by(law, draw, scale, value)
    }

    /// Releases a private value: admitted first, then hidden. Where this fails nothing may be sent.
    fn release(&mut self, release: &Release, draw: u64, scale: f64, value: &mut V) -> Result<(), Withheld> {
        self.admit(release)?;
        Ok(self.hide(release.law, draw, scale, value)?)
    }
}

/// Fresh noise for one peer.
pub trait Noise<V> {
    /// Independent noise of standard deviation `scale` in every coordinate of a value shaped `like` this one, and none at all where the scale is 0;
    /// `draw` numbers the draws of a peer: no two may share a number.
    fn draw(&mut self, draw: u64, scale: f64, like: &V) -> Result<V, Uncovered>;

    /// What noise made of this value in an earlier run, where this one is that run again: then nothing is drawn.
    fn again(&mut self, _draw: u64, _value: &V) -> Option<V> {
        None
    }

    /// Adds what the peer shares with others to the noise of a private value, under the number of its draw; most share nothing.
    fn share(&mut self, _draw: u64, _scale: f64, _noise: &mut V) -> Result<(), Uncovered> {
        Ok(())
    }
}

/// A release was refused; nothing was spent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("the release costs {asked} of the budget and {left} is left: raise the budget or the noise")]
pub struct Overspent {
    /// What the release would cost; infinite if the budget has no price for it.
    pub asked: f64,
    /// What is left.
    pub left: f64,
}

/// A value could not be hidden; nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("`scale` is {scale} at draw {draw}: no such noise can be drawn; give a positive, finite scale")]
pub struct Uncovered {
    /// Which draw.
    pub draw: u64,
    /// The scale that was asked for.
    pub scale: f64,
}

/// Why a private value was not released.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Withheld {
    /// The budget forbids it.
    #[error(transparent)]
    Overspent(#[from] Overspent),
    /// There is no noise for it.
    #[error(transparent)]
    Uncovered(#[from] Uncovered),
}
