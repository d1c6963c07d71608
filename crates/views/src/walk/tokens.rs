//! What the paths of several tokens, and of their copies, reveal together: losses add.

use std::sync::Arc;

use sottovoce_protocol::walk::{TokenPath, Visit};

use super::average::Average;
use super::{Odometer, Trajectory};
use crate::{Result, parallel};

/// What each of the observers (a peer, or a coalition) has learnt after so many steps of every token, if all tokens are shown in the end, and were
/// shown after each of the numbers of steps in `shown`. Of a token that went on in several copies everyone is shown the value at the fork.
pub fn along(
    nodes: usize,
    tokens: &[TokenPath],
    observers: &[Vec<usize>],
    steps: usize,
    shown: &[usize],
) -> Result<Vec<Trajectory>> {
    together(tokens, |token| {
        let mut odometer = Odometer::new(nodes, observers)?;
        go(&mut odometer, token, steps.saturating_sub(token.start()), |place| {
            shown.contains(&(token.start() + place))
        })?;
        Ok(odometer.conclude(!token.is_lost()))
    })
}

/// What each of the observers learns from tokens that are averages; of a token's last value if it is shown to everyone, and of one that was lost never.
pub fn along_averages(
    nodes: usize,
    tokens: &[TokenPath],
    observers: &[Vec<usize>],
    average: &Arc<Average>,
    burn_in: usize,
    result_shown: bool,
) -> Result<Vec<Trajectory>> {
    // Observers are apart from each other: in parallel.
    let one = |i: usize| -> Result<Vec<Trajectory>> {
        together(tokens, |token| {
            let mut odometer = Odometer::averaging(nodes, &observers[i..=i], Arc::clone(average))?;
            odometer.begin_after(token.start().saturating_sub(burn_in));
            go(&mut odometer, token, usize::MAX, |_| false)?;
            Ok(odometer.conclude(result_shown && !token.is_lost()))
        })
    };
    let all = parallel::map(observers.len(), one, |_| {}).into_iter();
    Ok(all.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Goes along a path; everyone is shown the token before the holders that `shown` names, and where it forked.
fn go(odometer: &mut Odometer, token: &TokenPath, steps: usize, shown: impl Fn(usize) -> bool) -> Result<()> {
    let forks = token.forks();
    let mut end = 0;
    for (place, (holder, visit)) in token.iter().take(steps).enumerate() {
        if shown(place) || forks.binary_search(&place).is_ok() {
            odometer.show();
        }
        odometer.visit(holder, visit)?;
        end = place + 1;
    }
    if forks.binary_search(&end).is_ok() {
        odometer.show();
    }
    Ok(())
}

/// The sums of what several tokens reveal.
fn together(
    tokens: &[TokenPath],
    losses: impl Fn(&TokenPath) -> Result<Vec<Trajectory>>,
) -> Result<Vec<Trajectory>> {
    let mut all: Option<Vec<Trajectory>> = None;
    for token in tokens {
        let losses = losses(token)?;
        all = Some(match all {
            None => losses,
            Some(sums) => {
                sums.into_iter().zip(&losses).map(|(sum, more)| sum.and(more)).collect::<Result<_>>()?
            }
        });
    }
    // Of no token nothing is learnt.
    all.map_or_else(|| losses(&TokenPath::default()), Ok)
}

/// How often each of `nodes` peers contributed to all of these.
pub fn contributions(nodes: usize, tokens: &[TokenPath]) -> Vec<usize> {
    let mut counts = vec![0; nodes];
    let given = tokens.iter().flat_map(TokenPath::iter).filter(|(_, visit)| *visit == Visit::Contributed);
    given.filter(|(peer, _)| *peer < nodes).for_each(|(peer, _)| counts[peer] += 1);
    counts
}
