//! Losses after *every* number of steps at once, at several strengths of relay noise: for those who search.
//!
//! Messages are ordered by step, so what was heard in the first `t` steps is the beginning of what was heard in all. An
//! orthonormal basis, or the Cholesky factor of the Gram matrix, has the same beginning: one factorisation serves every `t`,
//! and the loss after `t` steps is a partial sum. The Gram matrix splits into `H + tau² C`, both the same for every `tau`
//! (`relay.rs` has the formula), with `C[t, s] = C[t-1, s-1] + h_(t+s)`.

use sottovoce_dense::{Mat, MatRef, solve_lower};
use sottovoce_topology::mixing::Mixing;

use super::Leakage;
use super::gossip::Hidden;
use super::relay::{Factored, Powers, check_tau, relative_rounding, squared_length};
use crate::Result;
use crate::error::{check_observers, check_steps};
use crate::span::krylov;

/// What `observers` together learn in 1, 2, ..., `steps` steps of gossip, for each of `taus` (relay noise in units of the local
/// noise; 0 for none): `result[i][t - 1]` belongs to `taus[i]` and `t` steps. Bounds from above, as those of
/// [`relay_gossip`](super::relay_gossip).
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// use sottovoce_views::exact;
/// let ring = generate(&Family::Ring { n: 12 }, 0, true)?;
/// let mixing = Mixing::new(&ring, Weights::MetropolisPlusOne);
/// let all = exact::by_steps(&mixing, &[0], 6, &[0.0, 0.1])?;
/// let plain: Vec<_> = all[0].iter().map(|leakage| leakage.rank).collect();
/// assert_eq!(plain, [2, 4, 6, 8, 10, 11].map(Some)); // one more peer on either side at every step
/// let direct = exact::relay_gossip(&mixing, &[0], 4, 0.1)?;
/// assert!((all[1][3].losses[3] - direct.losses[3]).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn by_steps(
    mixing: &Mixing,
    observers: &[usize],
    steps: usize,
    taus: &[f64],
) -> Result<Vec<Vec<Leakage>>> {
    mixing.check()?;
    check_steps(steps)?;
    taus.iter().try_for_each(|&tau| check_tau(tau))?;
    let observers = check_observers(observers, mixing.nodes())?;
    let hidden = Hidden::new(mixing, &observers);
    let space = krylov(mixing, &observers, steps);
    let plain = Leakage::until(space.as_ref(), &observers, mixing.nodes(), 1..=steps);
    let gram = taus.iter().any(|&tau| tau > 0.0).then(|| Gram::new(&hidden, mixing.nodes(), steps));
    let relayed = |tau: f64| match &gram {
        Some(gram) if tau > 0.0 => gram.bounded(tau, &plain),
        _ => plain.clone(),
    };
    Ok(taus.iter().map(|&tau| relayed(tau)).collect())
}

/// The Gram matrix of all messages in its two parts, and the messages' coefficients.
struct Gram {
    powers: Powers,
    /// `h_(t+s)`: from the private values' noises.
    values: Mat,
    /// `C`: from the relay noises.
    relayed: Mat,
}

impl Gram {
    fn new(hidden: &Hidden, nodes: usize, steps: usize) -> Self {
        let powers = Powers::new(hidden, nodes, steps);
        let b = powers.heard;
        let moments: Vec<Mat> = (0..2 * steps - 1).map(|k| powers.moment(k)).collect();
        let mut values = Mat::zeros(b * steps, b * steps);
        let mut relayed = values.clone();
        for t in 0..steps {
            sottovoce_fault::stop::look();
            for s in 0..=t {
                let mut block = moments[t + s].clone();
                values.set(t * b, s * b, &block);
                if s > 0 {
                    block += &relayed.submatrix((t - 1) * b, (s - 1) * b, b, b).to_owned();
                }
                relayed.set(t * b, s * b, &block);
            }
        }
        Self { powers, values, relayed }
    }

    /// The smaller of two bounds: by this matrix, its rounding added, and without relay noise (more noise never reveals more).
    fn bounded(&self, tau: f64, plain: &[Leakage]) -> Vec<Leakage> {
        let solved = self.losses(tau);
        let bound = |(t, plain): (usize, &Leakage)| {
            let Some(losses) = solved.get(t) else {
                return Leakage { rank: None, certified: false, ..plain.clone() };
            };
            let smaller = |(&a, &b): (&f64, &f64)| f64::min(a, b);
            let losses = losses.iter().zip(&plain.losses).map(smaller).collect();
            Leakage { losses, rank: None, certified: true, rounding: 0.0, observers: plain.observers.clone() }
        };
        plain.iter().enumerate().map(bound).collect()
    }

    /// Losses after each number of steps, as far as the matrix is positive definite in doubles.
    fn losses(&self, tau: f64) -> Vec<Vec<f64>> {
        let mut steps = self.powers.steps;
        loop {
            if let Some(losses) = self.first(steps, tau) {
                return losses;
            }
            steps = 3 * steps / 4;
            if steps == 0 {
                return Vec::new();
            }
        }
    }

    fn first(&self, steps: usize, tau: f64) -> Option<Vec<Vec<f64>>> {
        let (b, nodes) = (self.powers.heard, self.powers.nodes);
        let size = b * steps;
        let mut gram = self.values.submatrix(0, 0, size, size).to_owned();
        gram.add_scaled(tau * tau, &self.relayed.submatrix(0, 0, size, size).to_owned());
        let factored = Factored::new(&gram)?;
        let all = MatRef::from_slice(&self.powers.columns[..nodes * size], nodes, size);
        let mut solved = all.transpose().to_owned();
        solve_lower(&factored.lower, &mut solved);
        let mut sums = vec![0.0; nodes];
        let mut losses = Vec::with_capacity(steps);
        for t in 0..steps {
            let part = |u: usize| squared_length(&solved.col(u)[t * b..][..b]);
            sums.iter_mut().enumerate().for_each(|(u, sum)| *sum += part(u));
            let rounding = relative_rounding(factored.condition_of(b * (t + 1)), b * (t + 1));
            if !rounding.is_finite() {
                break;
            }
            losses.push(sums.iter().map(|sum| (sum * (1.0 + rounding)).min(1.0)).collect());
        }
        Some(losses)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{gossip, relay_gossip};
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    fn mixing(family: &Family) -> Mixing {
        Mixing::new(&generate(family, 5, true).unwrap(), Weights::MetropolisPlusOne)
    }

    #[test]
    fn every_number_of_steps_agrees_with_its_own_computation() {
        let families = [
            Family::Ring { n: 11 },
            Family::Star { n: 9 },
            Family::RandomRegular { n: 20, degree: 3 },
            Family::Hypercube { dimension: 4 },
        ];
        let taus = [0.0, 0.01, 0.1, 1.0];
        for family in &families {
            let mixing = mixing(family);
            let all = by_steps(&mixing, &[1], 9, &taus).unwrap();
            for (tau, found) in taus.iter().zip(&all) {
                for (t, found) in found.iter().enumerate() {
                    let direct = relay_gossip(&mixing, &[1], t + 1, *tau).unwrap();
                    let off = (found.losses.iter().zip(&direct.losses))
                        .map(|(a, b)| (a - b).abs())
                        .fold(0.0, f64::max);
                    assert!(off < 1e-7, "{family} tau {tau} steps {}: {off:e}", t + 1);
                    assert_eq!((found.rank, found.certified), (direct.rank, direct.certified));
                }
            }
        }
    }

    #[test]
    fn bounds_hold_where_the_matrix_is_beyond_doubles() {
        let mixing = mixing(&Family::Complete { n: 6 });
        let all = by_steps(&mixing, &[0, 2], 40, &[1e-9]).unwrap();
        let plain = gossip(&mixing, &[0, 2], 40).unwrap();
        for u in [1, 3, 4, 5] {
            let loss = all[0][39].losses[u];
            assert!(loss <= plain.losses[u] && loss > 0.9, "{loss}");
        }
    }

    #[test]
    fn losses_grow_with_the_steps() {
        let mixing = mixing(&Family::RandomRegular { n: 30, degree: 3 });
        for found in by_steps(&mixing, &[4], 15, &[0.0, 0.03, 0.3]).unwrap() {
            for (before, after) in found.iter().zip(&found[1..]) {
                let pairs = before.losses.iter().zip(&after.losses);
                assert!(pairs.into_iter().all(|(before, after)| *after >= before - 1e-12));
            }
        }
    }
}
