//! What the path of a token reveals.
//!
//! The observer sees the token at each of its visits. Between two visits `L` other holders each add noise once, and some of them are `u`.
//! Of *linear* losses the observer sees the sum over the gap: `m` contributions of `u` in noise of variance `L`, a loss of `m²/L`. Of
//! *convex* losses with steps that do not expand, amplification by iteration lets a contribution be moved to later noise, but not to
//! earlier: with shifts `a_k` whose sums up to any holder are at most those of the contributions, and the same in the end, the loss
//! is `Σ a_k²`. The best shifts are the slopes of the greatest convex minorant of the contributions' cumulative curve.
//!
//! What comes after the observer's last visit it never sees, unless it is shown the result ([`Odometer::conclude`]).

use serde::Serialize;
use sottovoce_protocol::walk::Visit;

use super::odometer::Odometer;
use crate::error::Error;
use crate::{Result, require};

/// What a path reveals to one observer about each peer, in units of `alpha / (2 sigma²)`.
///
/// The observer's own entries are 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trajectory {
    /// If all losses are linear: exact.
    pub linear: Vec<f64>,
    /// If all losses are convex and smooth, and steps do not expand: a bound, and the smallest that holds for all of them.
    pub convex: Vec<f64>,
}

impl Trajectory {
    /// Nothing seen yet.
    pub(super) fn nothing(nodes: usize) -> Self {
        Self { linear: vec![0.0; nodes], convex: vec![0.0; nodes] }
    }

    /// The losses of two tokens, or of two branches of one, together.
    pub fn and(mut self, other: &Self) -> Result<Self> {
        let (mine, theirs) = (self.linear.len(), other.linear.len());
        let remedy = format!("give the losses of the same {mine} peers");
        let value = format_args!("of {theirs} peers");
        require((theirs, theirs) == (mine, other.convex.len()), "trajectory", value, remedy)?;
        self.linear.iter_mut().zip(&other.linear).for_each(|(sum, x)| *sum += x);
        self.convex.iter_mut().zip(&other.convex).for_each(|(sum, x)| *sum += x);
        Ok(self)
    }
}

/// Accounts for the holders of a token, in their order, among `nodes` peers; all of them contribute.
///
/// ```
/// use sottovoce_views::walk::trajectory;
/// // Peer 1 holds the token twice, then two others once, then the observer, peer 0, sees it.
/// let loss = trajectory(&[1, 1, 2, 3, 0, 1], 4, 0)?;
/// assert_eq!(loss.linear, [0.0, 1.0, 0.25, 0.25]);
/// assert_eq!(loss.convex[3], 1.0); // Whoever comes last hides behind its own noise only.
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
pub fn trajectory(holders: &[usize], nodes: usize, observer: usize) -> Result<Trajectory> {
    let mut odometer = Odometer::new(nodes, &[vec![observer]])?;
    if let Some(at) = holders.iter().position(|&holder| holder >= nodes) {
        let value = format!("{} at place {at}", holders[at]);
        return Err(Error::parameter("trajectory", value, format!("there are {nodes} peers, from 0")));
    }
    holders.iter().try_for_each(|&holder| odometer.visit(holder, Visit::Contributed))?;
    Ok(odometer.conclude(false).swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_seen_without_a_visit() {
        assert_eq!(trajectory(&[1, 2, 1], 3, 0).unwrap().convex, [0.0; 3]);
        assert_eq!(trajectory(&[], 3, 0).unwrap().linear, [0.0; 3]);
        assert!(trajectory(&[3], 3, 0).is_err() && trajectory(&[0], 3, 3).is_err());
    }

    #[test]
    fn losses_of_tokens_add() {
        let one = trajectory(&[1, 2, 0], 3, 0).unwrap();
        let both = one.clone().and(&trajectory(&[1, 0], 3, 0).unwrap()).unwrap();
        assert_eq!((both.linear, both.convex), (vec![0.0, 1.5, 0.5], vec![0.0, 1.5, 1.0]));
        assert!(one.and(&trajectory(&[], 4, 0).unwrap()).is_err());
    }
}
