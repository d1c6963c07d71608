//! The worst coalition of a given size: the one that learns most.
//!
//! What a coalition hears is the sum of the spaces its members hear, so the dimension of its view grows *submodularly*: a member
//! adds the less the more the others know. Hence taking the best next member again and again reaches at least `1 - 1/e` of the
//! best, and what is left to gain bounds the best from above (Nemhauser, Wolsey and Fisher 1978). Where all coalitions can be
//! looked at, they are.

use serde::Serialize;
use sottovoce_topology::mixing::Mixing;

use super::{Leakage, gossip};
use crate::error::{Error, check_steps};
use crate::{Result, parallel, require};

/// Most coalitions to look at one by one.
const ENUMERATED: u64 = 5_000;

/// The coalition found, and how good it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorstCoalition {
    /// What it learns.
    pub leakage: Leakage,
    /// No coalition of this size has a larger mean loss.
    pub mean_at_most: f64,
    /// Whether all coalitions were looked at.
    pub exhaustive: bool,
}

/// The coalition of `size` peers with the largest mean loss (its rank, over the number of peers) in `steps` steps of gossip.
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// let path = generate(&Family::Path { n: 5 }, 0, true)?;
/// let found = sottovoce_views::exact::worst_coalition(&Mixing::new(&path, Weights::Metropolis), 2, 1, &|_| ())?;
/// assert!(found.exhaustive);
/// assert_eq!(found.leakage.observers, [0, 3]); // together they hear 1, 2 and 4: everybody else
/// assert_eq!(found.leakage.rank, Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn worst_coalition(
    mixing: &Mixing,
    size: usize,
    steps: usize,
    done: &(dyn Fn(usize) + Sync),
) -> Result<WorstCoalition> {
    mixing.check()?;
    check_steps(steps)?;
    let n = mixing.nodes();
    let remedy = format!("give a size from 1 to {}", n.saturating_sub(1));
    require(size != 0 && size < n, "coalition", size, remedy)?;
    if combinations(n, size) <= ENUMERATED {
        return enumerate(mixing, size, steps, done);
    }
    greedy(mixing, size, steps, done)
}

fn enumerate(
    mixing: &Mixing,
    size: usize,
    steps: usize,
    done: &(dyn Fn(usize) + Sync),
) -> Result<WorstCoalition> {
    let all = subsets(mixing.nodes(), size);
    let found = parallel::map(all.len(), |i| gossip(mixing, &all[i], steps), done);
    let leakages: Vec<Leakage> = found.into_iter().collect::<Result<_>>()?;
    best(leakages)
        .map(|leakage| WorstCoalition { mean_at_most: leakage.mean(), leakage, exhaustive: true })
        .ok_or_else(|| Error::parameter("coalition", size, "give a size that leaves somebody to observe"))
}

fn greedy(
    mixing: &Mixing,
    size: usize,
    steps: usize,
    done: &(dyn Fn(usize) + Sync),
) -> Result<WorstCoalition> {
    let n = mixing.nodes();
    let mut members: Vec<usize> = Vec::new();
    // Dimensions count the members' own variables too: only then are they submodular.
    // What could not be certified counts as everything.
    let dimension = |leakage: &Leakage| leakage.rank.map_or(n, |rank| rank + leakage.observers.len());
    let (mut reached, mut bound) = (0, n);
    let mut leakage = None;
    for round in 0..size {
        let candidates: Vec<usize> = (0..n).filter(|v| !members.contains(v)).collect();
        let joined = |v: usize| members.iter().copied().chain([v]).collect::<Vec<_>>();
        let found = parallel::map(
            candidates.len(),
            |i| gossip(mixing, &joined(candidates[i]), steps),
            |count| {
                done(round * n + count);
            },
        );
        let found: Vec<Leakage> = found.into_iter().collect::<Result<_>>()?;
        let mut gains: Vec<usize> =
            found.iter().map(|leakage| dimension(leakage).saturating_sub(reached)).collect();
        gains.sort_unstable_by(|a, b| b.cmp(a));
        // Any `size` further members add no more than the sum of what each would add alone.
        bound = bound.min(reached + gains.iter().take(size).sum::<usize>());
        let Some(next) = best(found) else { break };
        reached = dimension(&next);
        members.clone_from(&next.observers);
        leakage = Some(next);
    }
    let leakage = leakage.ok_or_else(|| Error::parameter("coalition", size, "give a smaller size"))?;
    let mean_at_most = bound.saturating_sub(size) as f64 / n as f64;
    Ok(WorstCoalition { mean_at_most: mean_at_most.max(leakage.mean()), leakage, exhaustive: false })
}

/// The largest rank; among equals the first.
fn best(leakages: Vec<Leakage>) -> Option<Leakage> {
    let rank = |leakage: &Leakage| leakage.rank.unwrap_or(usize::MAX);
    leakages.into_iter().reduce(|best, next| if rank(&next) > rank(&best) { next } else { best })
}

fn combinations(n: usize, k: usize) -> u64 {
    let k = k.min(n - k);
    (0..k).fold(1_u64, |product, i| product.saturating_mul((n - i) as u64) / (i as u64 + 1))
}

fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..size {
        all = all
            .into_iter()
            .flat_map(|set: Vec<usize>| {
                let from = set.last().map_or(0, |last| last + 1);
                (from..n).map(move |v| set.iter().copied().chain([v]).collect())
            })
            .collect();
    }
    all
}
