//! The losses of descent as printed (Muffliato: Theorems 6 and 11, Proposition 1). **Kept for comparison only.**
//!
//! The theorems add the losses of the messages within an averaging, which share their noises, and then those of iterations, of which
//! each mixes on what the ones before have left. Both are refuted: a peer two steps away, which one round of gossip does not reach,
//! is said to lose nothing, and does (`docs/theorems/descent.md`).

use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;

use super::gossip::{neighbour_probability, theorem1};
use super::{check_observers, check_steps};
use crate::{Result, require};

/// Theorem 6: `T Σ_(k<K) Σ_(w~v) (W^k)_uw² / |(W^k)_w|²`; for a coalition as in Theorem 12.
pub(crate) fn theorem6(
    mixing: &Mixing,
    observers: &[usize],
    rounds: usize,
    iterations: usize,
) -> Result<Vec<f64>> {
    theorem11(&[mixing], observers, rounds, iterations)
}

/// Theorem 11: the same sum with the matrix of each iteration, in turn.
pub(crate) fn theorem11(
    mixings: &[&Mixing],
    observers: &[usize],
    rounds: usize,
    iterations: usize,
) -> Result<Vec<f64>> {
    let mut losses = vec![0.0; mixings[0].nodes()];
    for (i, mixing) in mixings.iter().enumerate() {
        let times = iterations / mixings.len() + usize::from(i < iterations % mixings.len());
        let printed = theorem1(mixing, observers, rounds)?;
        losses.iter_mut().zip(printed).for_each(|(sum, loss)| *sum += times as f64 * loss);
    }
    observers.iter().for_each(|&v| losses[v] = 0.0);
    Ok(losses)
}

/// Proposition 1, for the graphs of a run, one for each iteration: `2 Σ_t [β_t + (1 - β_t) K |N_t| / (n - |N_t|)]`, where `N_t` are the
/// observers' neighbours in graph `t`, and `β_t` is 1 if `u` is one of them.
///
/// At a Rényi order `alpha > 1` with `sigma² >= Delta² alpha (alpha - 1) / 2`. (The printed sum has one iteration more than the algorithm.)
pub(crate) fn proposition1(graphs: &[&Graph], observers: &[usize], rounds: usize) -> Result<Vec<f64>> {
    check_steps(rounds)?;
    let nodes = graphs[0].nodes();
    let observers = check_observers(observers, nodes)?;
    let mut losses = vec![0.0; nodes];
    for graph in graphs {
        let mut near = vec![false; nodes];
        observers.iter().flat_map(|&v| graph.neighbors(v)).for_each(|&w| near[w as usize] = true);
        observers.iter().for_each(|&v| near[v] = false);
        let heard = near.iter().filter(|near| **near).count();
        let far = (rounds * heard) as f64 / (nodes - heard) as f64;
        losses.iter_mut().zip(near).for_each(|(sum, near)| *sum += 2.0 * if near { 1.0 } else { far });
    }
    observers.iter().for_each(|&v| losses[v] = 0.0);
    Ok(losses)
}

/// What to expect of [`proposition1`] where every graph is random, with edges of probability `q`, towards `observers` peers.
pub(crate) fn proposition1_expected(
    nodes: usize,
    q: f64,
    observers: usize,
    rounds: usize,
    iterations: usize,
) -> Result<f64> {
    check_steps(rounds)?;
    require((0.0..=1.0).contains(&q), "q", q, "give a probability from 0 to 1")?;
    let remedy = format!("give at least 1, and fewer than the {nodes} peers there are");
    require(observers != 0 && observers < nodes, "observers", observers, remedy)?;
    let near = neighbour_probability(q, observers);
    // Given that `u` is no neighbour, each of the others is one independently.
    let ratio = mean_ratio(nodes - observers - 1, near, nodes);
    let one = near + (1.0 - near) * rounds as f64 * ratio;
    Ok(2.0 * iterations as f64 * one)
}

/// `E[N / (nodes - N)]` for `N` binomial.
fn mean_ratio(trials: usize, p: f64, nodes: usize) -> f64 {
    if p == 0.0 || p == 1.0 {
        let count = if p == 0.0 { 0 } else { trials };
        return count as f64 / (nodes - count) as f64;
    }
    let (odds, mut log) = (p.ln() - (-p).ln_1p(), trials as f64 * (-p).ln_1p());
    let mut sum = 0.0;
    for count in 0..=trials {
        sum += log.exp() * count as f64 / (nodes - count) as f64;
        log += odds + ((trials - count) as f64 / (count + 1) as f64).ln();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_ratio_is_the_sum_over_all_outcomes() {
        // Two trials: 0, 1 or 2 of 10.
        let (p, expected) = (0.3, 2.0 * 0.3 * 0.7 / 9.0 + 0.3 * 0.3 * 2.0 / 8.0);
        assert!((mean_ratio(2, p, 10) - expected).abs() < 1e-15);
        assert_eq!((mean_ratio(5, 0.0, 10), mean_ratio(5, 1.0, 10)), (0.0, 1.0));
    }
}
