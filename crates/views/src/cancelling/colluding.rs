//! What someone learns who sees every message and holds the secrets of any `k` peers: the worst of all coalitions, or a bound on it.
//!
//! | keys | how | |
//! | --- | --- | --- |
//! | complete | all coalitions are alike | exact |
//! | few coalitions | every one | exact |
//! | otherwise | the smaller of two bounds for each peer (`docs/theorems/cancelling.md`, Theorem 3) | from above |

use serde::Serialize;
use sottovoce_dense::{Mat, cholesky, eigenvalues, solve_cholesky};
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_protocol::public::Cancelling;

use super::honest::Honest;
use super::{everything, gap};
use crate::exact::Leakage;
use crate::{Error, Result, parallel, require};

/// Coalitions that are looked at one by one, times the cube of the peers.
const WORK: f64 = 3e8;

/// Edges to go along for coalitions that are drawn.
const DRAWN_WORK: f64 = 2e7;

/// Fewer of them say nothing.
const FEWEST: usize = 30;

/// One minus the confidence of what is said of them.
const UNSURE: f64 = 1e-3;

/// Peers up to which matrices are solved as a whole.
const DENSE: usize = 2000;

/// By how much bounds may be off by rounding, relatively.
const ROUNDING: f64 = 1e-9;

/// What is learnt with the help of any `colluders` peers, of each of the others: losses towards the coalition that is worst for each, `certified` where they are
/// exact and not bounds from above.
///
/// ```
/// use sottovoce_protocol::public::Cancelling;
/// use sottovoce_topology::family::{Family, generate};
/// use sottovoce_views::cancelling::with_any;
/// let keys = generate(&Family::Complete { n: 64 }, 0, true)?;
/// let found = with_any(&Cancelling::new(keys, 10.0)?, 6)?;
/// assert!((found.losses[0] * 58.0 - 1.0).abs() < 0.02); // one of 58 honest peers
/// let ring = generate(&Family::Ring { n: 64 }, 0, true)?;
/// assert_eq!(with_any(&Cancelling::new(ring, 10.0)?, 2)?.losses[0], 1.0); // both partners collude
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn with_any(cancelling: &Cancelling, colluders: usize) -> Result<Leakage> {
    let (n, keys) = (cancelling.peers(), cancelling.keys());
    check_colluders(colluders, n)?;
    if colluders == 0 {
        return everything(cancelling, &[]);
    }
    if 2 * keys.edge_count() == n * (n - 1) {
        let first: Vec<usize> = (0..colluders).collect();
        let found = everything(cancelling, &first)?;
        let each = found.losses[n - 1];
        return Ok(Leakage { observers: Vec::new(), losses: vec![each; n], ..found });
    }
    // All of a peer's partners: then nothing is left to hide behind.
    let alone = |u: usize| keys.degree(u) <= colluders;
    if !(0..n).all(alone) && coalitions(n, colluders) * (n as f64).powi(3) <= WORK {
        return every_one(cancelling, colluders);
    }
    let losses = bounds(cancelling, colluders)?;
    let exact = (0..n).all(alone);
    Ok(Leakage { observers: Vec::new(), losses, rank: None, certified: exact, rounding: 0.0 })
}

/// What coalitions learn that were drawn without looking at the keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtRandom {
    /// How many were drawn.
    pub drawn: usize,
    /// The largest loss of anybody to any of them.
    pub loss: f64,
    /// No larger share of all coalitions than this takes more, with a confidence of 99.9 %.
    pub exceeded: f64,
}

/// Refuses coalitions that leave nobody to hide behind.
pub(crate) fn check_colluders(colluders: usize, peers: usize) -> Result<()> {
    let remedy = match peers {
        0..=2 => "no secret hides one peer from the other, and with nobody else there is nothing to hide behind; leave secrets out, or take more peers".to_owned(),
        n => format!("there are {n} peers, and two must be honest; give at most {}", n - 2),
    };
    require(colluders.saturating_add(2) <= peers, "colluders", colluders, remedy)
}

/// The largest loss to coalitions of so many peers that are drawn at random, and how likely another one takes more: if a share `p` of all coalitions did, none of `N` would with
/// probability `(1 - p)^N`. None where so few can be looked at that nothing would be said, and where all coalitions are alike.
pub fn at_random(cancelling: &Cancelling, colluders: usize, seed: u64) -> Result<Option<AtRandom>> {
    let n = cancelling.peers();
    check_colluders(colluders, n)?;
    let edges = (cancelling.keys().edge_count() + n) as f64;
    let drawn = (DRAWN_WORK / (n as f64 * edges)).clamp(0.0, 1000.0) as usize;
    if drawn < FEWEST || 2 * cancelling.keys().edge_count() == n * (n - 1) {
        return Ok(None);
    }
    let mut loss = 0.0;
    for i in 0..drawn {
        let mut rng = Seed(seed).stream(Stream::Sample, u64::MAX, i as u64);
        let coalition = rand::seq::index::sample(&mut rng, n, colluders).into_vec();
        let worst = everything(cancelling, &coalition)?.worst().1;
        loss = if worst > loss { worst } else { loss };
    }
    Ok(Some(AtRandom { drawn, loss, exceeded: 1.0 - UNSURE.powf(1.0 / drawn as f64) }))
}

/// The number of coalitions.
fn coalitions(peers: usize, colluders: usize) -> f64 {
    (0..colluders).map(|i| (peers - i) as f64 / (i + 1) as f64).product()
}

/// The worst of all coalitions, one by one.
fn every_one(cancelling: &Cancelling, colluders: usize) -> Result<Leakage> {
    let n = cancelling.peers();
    let mut worst = vec![0.0_f64; n];
    let mut coalition: Vec<usize> = (0..colluders).collect();
    let mut certified = true;
    loop {
        sottovoce_fault::stop::look();
        let found = everything(cancelling, &coalition)?;
        certified &= found.certified;
        for (most, loss) in worst.iter_mut().zip(found.losses) {
            *most = if loss > *most { loss } else { *most };
        }
        // The next coalition in the order of words.
        let Some(i) = (0..colluders).rev().find(|&i| coalition[i] < n - colluders + i) else { break };
        let next = coalition[i] + 1;
        (i..colluders).for_each(|j| coalition[j] = next + j - i);
    }
    Ok(Leakage { observers: Vec::new(), losses: worst, rank: None, certified, rounding: 0.0 })
}

/// The smaller of both bounds for each peer, and never more than all.
fn bounds(cancelling: &Cancelling, colluders: usize) -> Result<Vec<f64>> {
    let (n, keys, squared) = (cancelling.peers(), cancelling.keys(), cancelling.kappa().powi(2));
    let honest = (n - colluders) as f64;
    let left = connectivity(cancelling)? - colluders as f64;
    // Who is left is connected, and a peer's own noise is 1 plus what all others but the constants add.
    let spectral = match left > 0.0 {
        true => 1.0 / honest + (1.0 - 1.0 / honest) / (1.0 + squared * left),
        false => 1.0,
    };
    let alone = |u: usize| keys.degree(u) <= colluders;
    let flows = if n <= DENSE { flows(cancelling, colluders)? } else { vec![1.0; n] };
    let smaller = |(u, flow): (usize, f64)| {
        let bound = if flow < spectral { flow } else { spectral } * (1.0 + ROUNDING);
        if alone(u) || bound.is_nan() || bound > 1.0 { 1.0 } else { bound }
    };
    Ok(flows.into_iter().enumerate().map(smaller).collect())
}

/// The second smallest eigenvalue of the Laplacian of the keys, from below.
fn connectivity(cancelling: &Cancelling) -> Result<f64> {
    let (n, keys) = (cancelling.peers(), cancelling.keys());
    let everyone = Honest::new(keys, Vec::new());
    if everyone.sizes.len() > 1 {
        return Ok(0.0);
    }
    if n > DENSE {
        return Ok(gap::at_least(&everyone));
    }
    let laplacian = laplacian(cancelling, 1.0, 0.0);
    let unsolved = || Error::parameter("keys", "given", "their eigenvalues were not found; take other keys");
    let values = eigenvalues(&laplacian).ok_or_else(unsolved)?;
    let largest = values.last().copied().unwrap_or(0.0);
    Ok(values.get(1).copied().unwrap_or(0.0) - 1e-12 * n as f64 * largest)
}

/// `own I + squared L`.
fn laplacian(cancelling: &Cancelling, squared: f64, own: f64) -> Mat {
    let (n, keys) = (cancelling.peers(), cancelling.keys());
    let mut matrix = Mat::zeros(n, n);
    for u in 0..n {
        matrix[(u, u)] = own + squared * keys.degree(u) as f64;
        keys.neighbors(u).iter().for_each(|&v| matrix[(u, v as usize)] = -squared);
    }
    matrix
}

/// Each peer's bound by a flow that goes from it to everyone: what colluders take is at most what goes through the `colluders` busiest peers.
fn flows(cancelling: &Cancelling, colluders: usize) -> Result<Vec<f64>> {
    let n = cancelling.peers();
    let squared = cancelling.kappa().powi(2);
    let matrix = laplacian(cancelling, squared, 1.0);
    let unsolved = || Error::parameter("cancel", cancelling.kappa(), "too loud to be solved for; give less");
    let lower = cholesky(&matrix).ok_or_else(unsolved)?;
    let mut potentials = Mat::identity(n);
    solve_cholesky(&lower, &mut potentials);
    let bound = |u: usize| flow(cancelling, squared, colluders, u, |v| potentials[(v, u)]);
    Ok(parallel::map(n, bound, |_| ()))
}

/// The energy of the flow of these potentials from `u`, whatever they are, over the square of what colluders cannot take of it.
fn flow(
    cancelling: &Cancelling,
    squared: f64,
    colluders: usize,
    u: usize,
    potential: impl Fn(usize) -> f64,
) -> f64 {
    let (n, keys) = (cancelling.peers(), cancelling.keys());
    let mut energy = 0.0;
    let mut through = Vec::with_capacity(n);
    for v in 0..n {
        let (mut entering, mut leaving) = (0.0, 0.0);
        for &w in keys.neighbors(v) {
            let flow = squared * (potential(w as usize) - potential(v));
            if flow > 0.0 {
                entering += flow;
                energy += flow * flow / squared;
            } else {
                leaving -= flow;
            }
        }
        // What stays here.
        let kept = f64::from(v == u) + entering - leaving;
        energy += kept * kept;
        if v != u {
            through.push(entering);
        }
    }
    through.sort_by(|a, b| b.total_cmp(a));
    let taken: f64 = through.iter().take(colluders).sum();
    let left = 1.0 - taken * (1.0 + ROUNDING);
    if left > 0.0 { energy / (left * left) } else { 1.0 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    #[test]
    fn no_coalition_learns_more_than_the_bounds() {
        let mut sharp = 0;
        for seed in 0..40 {
            let n = 6 + seed as usize % 7;
            let share = [0.3, 0.6, 0.9][seed as usize % 3];
            let keys = generate(&Family::ErdosRenyi { n, p: share }, seed, false).unwrap();
            let kappa = 10_f64.powf(seed as f64 / 8.0 - 2.0);
            let pairs = Cancelling::new(keys, kappa).unwrap();
            for colluders in 1..4 {
                let (exact, bound) =
                    (every_one(&pairs, colluders).unwrap().losses, bounds(&pairs, colluders).unwrap());
                for (u, (loss, most)) in exact.iter().zip(&bound).enumerate() {
                    assert!(*loss <= *most + 1e-12, "{seed} {colluders} {u}: {loss} {most}");
                    sharp += usize::from(*most < 0.9 && *most < 2.0 * loss);
                }
            }
        }
        // Bounds that say nothing would hold, too.
        assert!(sharp > 100, "{sharp}");
    }

    #[test]
    fn all_coalitions_are_looked_at() {
        // A path: whoever knows one peer's secrets knows the sums of both sides.
        let keys = sottovoce_topology::Graph::from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 4)]).unwrap();
        let found = with_any(&Cancelling::new(keys, 1e3).unwrap(), 1).unwrap();
        let expected = [1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 2.0, 1.0];
        for (loss, expected) in found.losses.iter().zip(expected) {
            assert!((loss - expected).abs() < 1e-3, "{:?}", found.losses);
        }
    }

    #[test]
    fn most_coalitions_learn_less_than_the_worst() {
        let keys = generate(&Family::RandomRegular { n: 64, degree: 6 }, 3, true).unwrap();
        let pairs = Cancelling::new(keys, 10.0).unwrap();
        let (found, worst) = (at_random(&pairs, 6, 1).unwrap().unwrap(), with_any(&pairs, 6).unwrap());
        assert_eq!(worst.worst().1, 1.0, "six partners may all collude");
        assert!(found.loss > 0.017 && found.loss < 0.6, "{found:?}");
        assert!(found.exceeded < 0.01, "{found:?}");
    }

    #[test]
    fn large_graphs_of_many_keys_are_bounded_well() {
        let keys = generate(&Family::RandomRegular { n: 400, degree: 40 }, 3, true).unwrap();
        let found = with_any(&Cancelling::new(keys, 10.0).unwrap(), 8).unwrap();
        let worst = found.worst().1;
        assert!(worst > 1.0 / 392.0 && worst < 1.5 / 392.0, "{worst}");
    }
}
