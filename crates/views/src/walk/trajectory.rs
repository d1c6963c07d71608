//! What the path of a token reveals.
//!
//! The observer sees the token at each of its visits. Between two visits `L` other holders each add noise once, and some of them are `u`.
//! Of *linear* losses the observer sees the sum over the gap: `m` contributions of `u` in noise of variance `L`, a loss of `m²/L`. Of
//! *convex* losses with steps that do not expand, amplification by iteration lets a contribution be moved to later noise, but not to
//! earlier: with shifts `a_k` whose sums up to any holder are at most those of the contributions, and the same in the end, the loss
//! is `Σ a_k²`. The best shifts are the slopes of the greatest convex minorant of the contributions' cumulative curve.
//!
//! What comes after the observer's last visit it never sees.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::Error;
use crate::{Result, error::check_observers};

/// What one path reveals to one observer about each peer, in units of `alpha / (2 sigma²)`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trajectory {
    /// If all losses are linear: exact.
    pub linear: Vec<f64>,
    /// If all losses are convex and smooth, and steps do not expand: a bound.
    pub convex: Vec<f64>,
}

/// Accounts for the holders of a token, in their order, among `nodes` peers.
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
    check_observers(&[observer], nodes)?;
    if let Some(at) = holders.iter().position(|&holder| holder >= nodes) {
        let value = format!("{} at place {at}", holders[at]);
        return Err(Error::parameter("trajectory", value, format!("there are {nodes} peers, from 0")));
    }
    let mut losses = Trajectory { linear: vec![0.0; nodes], convex: vec![0.0; nodes] };
    let visited = holders.iter().rposition(|&holder| holder == observer).unwrap_or(0);
    for gap in holders[..visited].split(|&holder| holder == observer) {
        let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        gap.iter().enumerate().for_each(|(place, &holder)| places.entry(holder).or_default().push(place));
        for (peer, places) in places {
            losses.linear[peer] += (places.len() as f64).powi(2) / gap.len() as f64;
            losses.convex[peer] += minorant(&places, gap.len());
        }
    }
    Ok(losses)
}

/// The sum of squared slopes, over all places, of the greatest convex function below the curve that rises by one at each of `places`.
fn minorant(places: &[usize], length: usize) -> f64 {
    // The curve's lower corners: before each rise, and the end.
    let corners = places.iter().enumerate().map(|(rises, &place)| (place as f64, rises as f64));
    let mut hull: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    for (x, y) in corners.chain([(length as f64, places.len() as f64)]) {
        while let [.., (x0, y0), (x1, y1)] = hull[..]
            && (y1 - y0) * (x - x0) >= (y - y0) * (x1 - x0)
        {
            hull.pop();
        }
        hull.push((x, y));
    }
    let pieces = hull.windows(2).filter(|pair| pair[1].0 > pair[0].0);
    pieces.map(|pair| (pair[1].1 - pair[0].1).powi(2) / (pair[1].0 - pair[0].0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Among shifts on a grid none that are allowed do better (short gaps, tried one after the other).
    #[test]
    fn no_other_shifts_do_better() {
        let steps = 12;
        for places in [vec![0], vec![2], vec![0, 1], vec![1, 2], vec![0, 3], vec![0, 1, 3]] {
            let length = 4;
            let best = minorant(&places, length);
            let total = places.len() * steps;
            let rises = |k: usize| places.iter().filter(|&&place| place <= k).count() * steps;
            let mut least = f64::INFINITY;
            // Cumulative shifts after the first, second and third holder.
            for a in 0..=rises(0) {
                for b in a..=rises(1) {
                    for c in b..=rises(2) {
                        let shifts = [a, b - a, c - b, total - c];
                        let sum = shifts.iter().map(|x| (*x as f64 / steps as f64).powi(2)).sum::<f64>();
                        least = least.min(sum);
                    }
                }
            }
            assert!(best <= least + 1e-12 && least < best + 0.02, "{places:?}: {best} {least}");
        }
    }

    proptest! {
        /// The bound for convex losses is never below the loss of linear ones, which are convex.
        #[test]
        fn convex_losses_lose_more(holders in prop::collection::vec(0..6usize, 0..60), observer in 0..6usize) {
            let loss = trajectory(&holders, 6, observer).unwrap();
            prop_assert_eq!(loss.linear[observer], 0.0);
            for (linear, convex) in loss.linear.iter().zip(&loss.convex) {
                prop_assert!(convex >= &(linear - 1e-12));
            }
        }
    }

    #[test]
    fn nothing_is_seen_without_a_visit() {
        assert_eq!(trajectory(&[1, 2, 1], 3, 0).unwrap().convex, [0.0; 3]);
        assert_eq!(trajectory(&[], 3, 0).unwrap().linear, [0.0; 3]);
        assert!(trajectory(&[3], 3, 0).is_err() && trajectory(&[0], 3, 3).is_err());
    }
}
