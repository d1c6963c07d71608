//! What the paths of several tokens reveal together: losses of tokens add.

use sottovoce_protocol::walk::TokenPath;

use super::{Odometer, Trajectory};
use crate::Result;

/// What each of the observers (a peer, or a coalition) has learnt after so many steps of every token, if all tokens are shown in the end, and were
/// shown after each of the numbers of steps in `shown`.
pub fn along(
    nodes: usize,
    tokens: &[TokenPath],
    observers: &[Vec<usize>],
    steps: usize,
    shown: &[usize],
) -> Result<Vec<Trajectory>> {
    let mut all: Option<Vec<Trajectory>> = None;
    for token in tokens {
        let mut odometer = Odometer::new(nodes, observers)?;
        for (step, (holder, visit)) in token.iter().take(steps).enumerate() {
            if shown.contains(&step) {
                odometer.show();
            }
            odometer.visit(holder, visit)?;
        }
        let losses = odometer.conclude(true);
        all = Some(match all {
            None => losses,
            Some(sums) => {
                sums.into_iter().zip(&losses).map(|(sum, more)| sum.and(more)).collect::<Result<_>>()?
            }
        });
    }
    Ok(all.unwrap_or_default())
}
