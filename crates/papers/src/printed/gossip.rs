//! Losses of gossip as printed (Muffliato), in units of local DP.
//!
//! The messages that a peer hears share the same `n` noises, so their losses do not add up as Theorem 1 has it: on a ring of
//! twelve the printed loss of the opposite peer is 0.0002, and the truth is 1 (`docs/theorems/muffliato-refuted.md`). What rests
//! on the mean over peers alone survives: [`random_graph`].

use sottovoce_dense::Mat;
use sottovoce_privacy::Standing;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::{Schedule, Step};
use sottovoce_views::parallel;

use super::{check_observers, check_steps, each_iterate};
use crate::{Error, Result, require};

/// Theorem 1, and Theorem 12 for a coalition: `Σ_t Σ_w (W^t)_uw² / |(W^t)_w|²` over the messages that `observers` hear together, for every peer `u`.
pub(crate) fn theorem1(mixing: &Mixing, observers: &[usize], steps: usize) -> Result<Vec<f64>> {
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(observers, mixing.nodes())?;
    let senders = senders(&Step::Mixing(mixing), &observers);
    let zeros = || Mat::zeros(mixing.nodes(), 1);
    let mut losses = zeros();
    // In this order the sums have the bits that they always had.
    for block in senders.chunks(16) {
        let mut sums = zeros();
        block.iter().for_each(|&w| sums += &contributions(mixing, w, steps));
        losses += &sums;
    }
    Ok(losses.into_numbers())
}

/// The same of every pair, `losses[v * n + u]` that of `u` towards `v`.
pub(crate) fn theorem1_all_pairs(mixing: &Mixing, steps: usize) -> Result<Vec<f64>> {
    mixing.check()?;
    check_steps(steps)?;
    // What hearing a peer in all steps reveals about each peer. An observer hears its neighbours.
    let n = mixing.nodes();
    let heard = parallel::map(n, |w| contributions(mixing, w, steps), |_| ());
    let row = |v: usize| {
        let mut sums = Mat::zeros(n, 1);
        mixing.graph().neighbors(v).iter().for_each(|&w| sums += &heard[w as usize]);
        sums.into_numbers()
    };
    Ok(parallel::map(n, row, |_| ()).concat())
}

/// The printed loss over a schedule (Theorem 1 with its general matrices).
pub(crate) fn scheduled(schedule: &Schedule, observers: &[usize], steps: usize) -> Result<Vec<f64>> {
    check_steps(steps)?;
    let n = schedule.nodes();
    let observers = check_observers(observers, n)?;
    // `W_{0:t}`, row after row.
    let mut product = vec![0.0; n * n];
    (0..n).for_each(|i| product[i * n + i] = 1.0);
    let mut next = vec![0.0; n * n];
    let mut losses = vec![0.0; n];
    for t in 0..steps {
        let Some(step) = schedule.step(t) else {
            return Err(Error::parameter("steps", steps, format!("the schedule has {t}")));
        };
        for w in senders(&step, &observers) {
            let row = &product[w * n..(w + 1) * n];
            let length: f64 = row.iter().map(|x| x * x).sum();
            losses.iter_mut().zip(row).for_each(|(loss, x)| *loss += x * x / length);
        }
        step.apply_block(&product, n, &mut next);
        std::mem::swap(&mut product, &mut next);
    }
    Ok(losses)
}

/// Corollaries 1 and 3: `n max_w W_vw^-2 Σ_(t=1..T) P(X^t in V | X^0 = u)²` for the walk with transitions `W`.
pub(crate) fn random_walk(mixing: &Mixing, observers: &[usize], steps: usize) -> Result<Vec<f64>> {
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(observers, mixing.nodes())?;
    let n = mixing.nodes();
    let smallest = (observers.iter())
        .flat_map(|&v| mixing.row(v))
        .filter(|(w, weight)| *weight > 0.0 && observers.binary_search(w).is_err())
        .map(|(_, weight)| weight)
        .fold(f64::INFINITY, f64::min);
    let mut reach = vec![0.0; n];
    observers.iter().for_each(|&v| reach[v] = 1.0);
    let mut next = vec![0.0; n];
    let mut losses = vec![0.0; n];
    for _ in 0..steps {
        mixing.apply(&reach, &mut next);
        std::mem::swap(&mut reach, &mut next);
        losses.iter_mut().zip(&reach).for_each(|(loss, p)| *loss += p * p);
    }
    losses.iter_mut().for_each(|loss| *loss *= n as f64 / (smallest * smallest));
    Ok(losses)
}

/// Theorems 4 and 9, Corollary 5: the loss of a peer that is no neighbour of the observers, on a secret random graph.
///
/// `degree` is the number of peers the observers hear. Conditional: the graph is secret beyond one's neighbours, all others are
/// alike to the observers, and `sigma² >= Delta² alpha (alpha - 1) / 2` at the order `alpha` one asks for.
pub(crate) fn random_graph(nodes: usize, degree: usize, steps: usize) -> Result<(f64, Standing)> {
    check_steps(steps)?;
    // The printed denominator is one too large, which the printed numerator makes up for only in runs that are not long.
    let remedy = format!("the theorem needs degree + 2 steps < {nodes} peers");
    require(degree + 2 * steps < nodes, "steps", steps, remedy)?;
    let loss = 2.0 * (steps * degree) as f64 / (nodes - degree) as f64;
    let assumptions = [
        "the graph is secret beyond one's own neighbours, and all others are alike",
        "sigma² >= Delta² alpha (alpha - 1) / 2 at the Rényi order alpha",
    ];
    Ok((loss.min(1.0), Standing::Conditional(assumptions.map(String::from).to_vec())))
}

/// Theorem 4 and Corollary 5: the probability that a peer is heard directly by one of `observers` peers, on a random graph with
/// edge probability `q`; its loss is then that of local DP.
pub(crate) fn neighbour_probability(q: f64, observers: usize) -> f64 {
    -(observers as f64 * (-q).ln_1p()).exp_m1()
}

/// Whom the observers hear, in increasing order.
fn senders(step: &Step, observers: &[usize]) -> Vec<usize> {
    let watching = |v: &usize| observers.binary_search(v).is_ok();
    let mut heard: Vec<usize> = match step {
        Step::Mixing(mixing) => {
            let neighbours = |&v: &usize| mixing.graph().neighbors(v).iter().map(|&w| w as usize);
            observers.iter().flat_map(neighbours).collect()
        }
        Step::Pair(u, v) if watching(u) || watching(v) => vec![*u, *v],
        Step::Pair(..) | Step::Idle => Vec::new(),
    };
    heard.retain(|w| !watching(w));
    heard.sort_unstable();
    heard.dedup();
    heard
}

/// What all messages of a sender contribute, of each peer.
fn contributions(mixing: &Mixing, sender: usize, steps: usize) -> Mat {
    let mut sums = Mat::zeros(mixing.nodes(), 1);
    each_iterate(mixing, None, sender, steps, |_, x| add_shares(x.as_slice(), sums.as_mut_slice()));
    sums
}

/// Adds the squares of these numbers over their sum. Places are counted by hand: this crate is built without optimisation, in which iterators take most of the time.
fn add_shares(x: &[f64], sums: &mut [f64]) {
    let (mut length, mut i) = (0.0, 0);
    while i < x.len() {
        length += x[i] * x[i];
        i += 1;
    }
    let inverse = 1.0 / length;
    i = 0;
    while i < x.len() {
        sums[i] += x[i] * x[i] * inverse;
        i += 1;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    fn mixing(family: &Family) -> Mixing {
        Mixing::new(&generate(family, 3, true).unwrap(), Weights::MetropolisPlusOne)
    }

    /// Written out with full matrices.
    #[test]
    fn theorem_1_is_the_printed_sum() {
        let mixing = mixing(&Family::ErdosRenyi { n: 13, p: 0.3 });
        let (n, steps) = (13, 5);
        let mut power: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let mut sums = vec![0.0; n * n];
        for _ in 0..steps {
            for v in 0..n {
                for &w in mixing.graph().neighbors(v) {
                    let row = &power[w as usize];
                    let length: f64 = row.iter().map(|x| x * x).sum();
                    (0..n).for_each(|u| sums[v * n + u] += row[u] * row[u] / length);
                }
            }
            let entry = |i: usize, j: usize| (0..n).map(|k| power[i][k] * mixing.weight(k, j)).sum();
            power = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        }
        let all = theorem1_all_pairs(&mixing, steps).unwrap();
        for v in 0..n {
            let one = theorem1(&mixing, &[v], steps).unwrap();
            for u in 0..n {
                assert!((all[v * n + u] - sums[v * n + u]).abs() < 1e-12);
                assert!((one[u] - sums[v * n + u]).abs() < 1e-12);
            }
            // Summed over everyone it is the number of messages.
            assert!((one.iter().sum::<f64>() - (mixing.graph().degree(v) * steps) as f64).abs() < 1e-9);
        }
    }

    /// Corollary 1 bounds Theorem 1 (as its proof says), for one observer and for several.
    #[test]
    fn the_walk_form_is_looser() {
        let mixing = mixing(&Family::ErdosRenyi { n: 20, p: 0.25 });
        for observers in [vec![0], vec![2, 7]] {
            let walk = random_walk(&mixing, &observers, 6).unwrap();
            let sum = theorem1(&mixing, &observers, 6).unwrap();
            let others = (0..20).filter(|u| !observers.contains(u));
            others.for_each(|u| assert!(walk[u] >= sum[u] - 1e-12, "{u}: {} {}", walk[u], sum[u]));
        }
    }

    #[test]
    fn random_graphs_have_the_printed_bound_and_its_conditions() {
        let (loss, standing) = random_graph(2000, 10, 8).unwrap();
        assert!((loss - 160.0 / 1990.0).abs() < 1e-15);
        assert!(matches!(standing, Standing::Conditional(_)));
        assert!(random_graph(20, 10, 8).is_err());
        assert!((neighbour_probability(0.01, 1) - 0.01).abs() < 1e-15);
        assert!((neighbour_probability(0.5, 3) - 0.875).abs() < 1e-15);
    }
}
