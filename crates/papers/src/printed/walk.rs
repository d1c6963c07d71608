//! The losses of a walk as printed (Cyffers, Bellet and Upadhyay, Differentially private decentralized learning with random walks, 2024), for
//! all pairs. **Kept for comparison only.**
//!
//! The printed loss of one contribution of `u` to `v` holds. The printed loss of several is their sum, as if each had noise of its own.
//! Those between two visits of `v` share theirs: they add like amplitudes, and the true loss can be larger
//! (`docs/theorems/random-walks.md`). The closed forms printed for the star and the ring are wrong on their own; they are in the tests.

use sottovoce_topology::mixing::Mixing;
use sottovoce_views::walk::require_ergodic;

use super::sums::{negative_log, power_sums};
use super::{check_observers, check_steps};
use crate::{Result, require};

/// Printed losses of all pairs, in units of `alpha / (2 sigma²)`. They are meant for `sigma² >= 2 alpha (alpha - 1)`. As bounds on what a run reveals they are exceeded: on the star, for one.
#[derive(Debug, Clone)]
pub(crate) struct PublishedWalk<'a> {
    mixing: &'a Mixing,
    /// Of every pair, row after row; the diagonal is what returns to a peer itself.
    table: Vec<f64>,
}

impl<'a> PublishedWalk<'a> {
    /// One contribution, by the sum over paths of up to `steps` steps (equation 13): `2 Σ_i (W^i)_uv / i`.
    pub(crate) fn new(mixing: &'a Mixing, steps: usize) -> Result<Self> {
        let table = power_sums(mixing, steps)?.into_iter().map(|sum| 2.0 * sum).collect();
        Ok(Self { mixing, table })
    }

    /// [`PublishedWalk::new`] of a walk that has long mixed: `|lambda|^T` of every eigenvalue but that of the constant vector is so small that its
    /// part of the sum is the logarithm. The caller sees to that.
    pub(crate) fn mixed(mixing: &'a Mixing, steps: usize) -> Result<Self> {
        let constant = (1..=steps).rev().map(|i| 1.0 / i as f64).sum::<f64>() / mixing.nodes() as f64;
        Self::by_logarithm(mixing, steps, constant)
    }

    /// One contribution, by the closed form of Theorem 3: `2 (ln(T)/n - [ln(I - W + 11ᵀ/n)]_uv)`.
    ///
    /// It leaves out what vanishes with `T` and has `ln T` for `1 + 1/2 + ... + 1/T`: once the walk has mixed it lies below the sum it stands
    /// for, by about `1.15/n`. Of short walks it is above for neighbours and can be negative for distant peers. It needs an ergodic walk.
    pub(crate) fn theorem3(mixing: &'a Mixing, steps: usize) -> Result<Self> {
        Self::by_logarithm(mixing, steps, (steps as f64).ln() / mixing.nodes() as f64)
    }

    /// Twice a constant, for the constant vector, and the logarithm for all others.
    fn by_logarithm(mixing: &'a Mixing, steps: usize, constant: f64) -> Result<Self> {
        check_steps(steps)?;
        require_ergodic(mixing)?;
        let table = negative_log(mixing)?.into_iter().map(|log| 2.0 * (constant + log)).collect();
        Ok(Self { mixing, table })
    }

    /// The printed loss of so many contributions: that many times the loss of one. On average a walk of `T` steps has `T/n` of each peer.
    pub(crate) fn with_contributions(mut self, contributions: f64) -> Result<Self> {
        let remedy = "give a finite number, 0 or more";
        require(contributions.is_finite() && contributions >= 0.0, "contributions", contributions, remedy)?;
        self.table.iter_mut().for_each(|loss| *loss *= contributions);
        Ok(self)
    }

    /// Every peer's loss to `observer`; its own entry is 0.
    pub(crate) fn contribution(&self, observer: usize) -> Result<Vec<f64>> {
        self.coalition(&[observer])
    }

    /// Every peer's loss to `observer` if it knows who sent it the token (Appendix B.1): the largest loss to one of its neighbours.
    ///
    /// If the observer can keep the token it counts as its own neighbour, so that knowing the sender is never printed to reveal less. (The
    /// loss to a neighbour that is the contributor itself counts only walks that return to it, as printed.)
    pub(crate) fn sender_known(&self, observer: usize) -> Result<Vec<f64>> {
        check_observers(&[observer], self.mixing.nodes())?;
        let own = [(observer, self.mixing.diagonal()[observer])];
        let senders = self.mixing.row(observer).chain(own).filter(|(_, weight)| *weight > 0.0);
        let mut losses = vec![f64::NEG_INFINITY; self.mixing.nodes()];
        for (sender, _) in senders {
            losses.iter_mut().zip(self.row(sender)).for_each(|(most, loss)| *most = most.max(*loss));
        }
        losses[observer] = 0.0;
        Ok(losses)
    }

    /// Every peer's loss to a coalition: the sum over its members (equation 18). Members' entries are 0.
    pub(crate) fn coalition(&self, members: &[usize]) -> Result<Vec<f64>> {
        let members = check_observers(members, self.mixing.nodes())?;
        let mut losses = vec![0.0; self.mixing.nodes()];
        for &member in &members {
            losses.iter_mut().zip(self.row(member)).for_each(|(sum, loss)| *sum += loss);
        }
        members.iter().for_each(|&member| losses[member] = 0.0);
        Ok(losses)
    }

    /// The mean over all pairs of two peers, by which the paper sets its noise; 0 of a single peer.
    pub(crate) fn mean(&self) -> f64 {
        let n = self.mixing.nodes();
        let pairs = self.table.iter().enumerate().filter(|(i, _)| i / n != i % n);
        let sum: f64 = pairs.map(|(_, loss)| loss).sum();
        if n > 1 { sum / (n * (n - 1)) as f64 } else { 0.0 }
    }

    fn row(&self, peer: usize) -> &[f64] {
        &self.table[peer * self.mixing.nodes()..][..self.mixing.nodes()]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    #[test]
    fn senders_coalitions_and_means_are_what_they_say() {
        let graph = generate(&Family::Ring { n: 7 }, 0, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::Metropolis).lazy(0.2).unwrap();
        let walk = PublishedWalk::new(&mixing, 20).unwrap();
        let to = |v: usize| walk.contribution(v).unwrap();
        let known = walk.sender_known(0).unwrap();
        assert_eq!((known[0], known[3]), (0.0, to(6)[3].max(to(1)[3])));
        assert!((0..7).all(|u| known[u] >= to(0)[u]));
        let both = walk.coalition(&[2, 0, 2]).unwrap();
        assert_eq!((both[0], both[2]), (0.0, 0.0));
        assert!((both[4] - to(0)[4] - to(2)[4]).abs() < 1e-12);
        let mean = (0..7).flat_map(to).sum::<f64>() / 42.0;
        assert!((walk.mean() - mean).abs() < 1e-12);
        let thrice = walk.clone().with_contributions(3.0).unwrap();
        assert!((thrice.mean() - 3.0 * mean).abs() < 1e-12);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let graph = generate(&Family::Ring { n: 6 }, 0, true).unwrap();
        let even = Mixing::new(&graph, Weights::Metropolis);
        assert!(PublishedWalk::theorem3(&even, 10).unwrap_err().to_string().contains("laziness"));
        let walk = PublishedWalk::new(&even, 10).unwrap();
        assert!(
            walk.contribution(6).is_err() && walk.sender_known(6).is_err() && walk.coalition(&[]).is_err()
        );
        assert!(walk.with_contributions(f64::NAN).is_err());
        assert!(PublishedWalk::new(&even, 0).is_err());
    }
}
