//! The losses of a walk as printed (Cyffers, Bellet and Upadhyay, Differentially private decentralized learning with random walks, 2024), for
//! all pairs. **Kept for comparison only.**
//!
//! The printed loss of one contribution of `u` to `v` holds. The printed loss of several is their sum, as if each had noise of its own.
//! Those between two visits of `v` share theirs: they add like amplitudes, and the true loss can be larger
//! (`docs/theorems/random-walks.md`). The closed forms printed for the star and the ring are wrong on their own; they are in the tests.

use sottovoce_privacy::{Interval, Standing, outward, round_up};
use sottovoce_topology::mixing::Mixing;

use super::ergodic::require_ergodic;
use super::sums::{negative_log, power_sums};
use crate::error::{Error, check_observers, check_steps};
use crate::{Result, require};

/// Printed losses of all pairs, in units of `alpha / (2 sigma²)`. They are meant for orders that [`check_order`] accepts.
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// use sottovoce_views::walk::PublishedWalk;
/// let mixing = Mixing::new(&generate(&Family::Complete { n: 4 }, 0, true)?, Weights::MetropolisPlusOne);
/// let walk = PublishedWalk::new(&mixing, 3)?;
/// // Twice a quarter of 1 + 1/2 + 1/3.
/// assert!((walk.contribution(0)?[1] - 11.0 / 12.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PublishedWalk<'a> {
    mixing: &'a Mixing,
    /// Of every pair, row after row; the diagonal is what returns to a peer itself.
    table: Vec<f64>,
}

/// Two peers and what one is printed to lose to the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Who contributes.
    pub contributor: usize,
    /// Who watches.
    pub observer: usize,
    /// The loss.
    pub loss: f64,
}

impl<'a> PublishedWalk<'a> {
    /// One contribution, by the sum over paths of up to `steps` steps (equation 13): `2 Σ_i (W^i)_uv / i`.
    pub fn new(mixing: &'a Mixing, steps: usize) -> Result<Self> {
        let table = power_sums(mixing, steps)?.into_iter().map(|sum| 2.0 * sum).collect();
        Ok(Self { mixing, table })
    }

    /// [`PublishedWalk::new`] of a walk that has long mixed: `|lambda|^T` of every eigenvalue but that of the constant vector is so small that its
    /// part of the sum is the logarithm. The caller sees to that.
    pub fn mixed(mixing: &'a Mixing, steps: usize) -> Result<Self> {
        let constant = (1..=steps).rev().map(|i| 1.0 / i as f64).sum::<f64>() / mixing.nodes() as f64;
        Self::by_logarithm(mixing, steps, constant)
    }

    /// One contribution, by the closed form of Theorem 3: `2 (ln(T)/n - [ln(I - W + 11ᵀ/n)]_uv)`.
    ///
    /// It leaves out what vanishes with `T` and has `ln T` for `1 + 1/2 + ... + 1/T`: once the walk has mixed it lies below the sum it stands
    /// for, by about `1.15/n`. Of short walks it is above for neighbours and can be negative for distant peers. It needs an ergodic walk.
    pub fn theorem3(mixing: &'a Mixing, steps: usize) -> Result<Self> {
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
    pub fn with_contributions(mut self, contributions: f64) -> Result<Self> {
        let remedy = "give a finite number, 0 or more";
        require(contributions.is_finite() && contributions >= 0.0, "contributions", contributions, remedy)?;
        self.table.iter_mut().for_each(|loss| *loss *= contributions);
        Ok(self)
    }

    /// As bounds on what a run reveals, these are exceeded: on the star, for one.
    pub fn standing() -> Standing {
        Standing::Refuted
    }

    /// Every peer's loss to `observer`; its own entry is 0.
    pub fn contribution(&self, observer: usize) -> Result<Vec<f64>> {
        self.coalition(&[observer])
    }

    /// Every peer's loss to `observer` if it knows who sent it the token (Appendix B.1): the largest loss to one of its neighbours.
    ///
    /// If the observer can keep the token it counts as its own neighbour, so that knowing the sender is never printed to reveal less. (The
    /// loss to a neighbour that is the contributor itself counts only walks that return to it, as printed.)
    pub fn sender_known(&self, observer: usize) -> Result<Vec<f64>> {
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
    pub fn coalition(&self, members: &[usize]) -> Result<Vec<f64>> {
        let members = check_observers(members, self.mixing.nodes())?;
        let mut losses = vec![0.0; self.mixing.nodes()];
        for &member in &members {
            losses.iter_mut().zip(self.row(member)).for_each(|(sum, loss)| *sum += loss);
        }
        members.iter().for_each(|&member| losses[member] = 0.0);
        Ok(losses)
    }

    /// The mean over all pairs of two peers, by which the paper sets its noise; 0 of a single peer.
    pub fn mean(&self) -> f64 {
        let n = self.mixing.nodes();
        let sum: f64 = self.pairs().map(|pair| pair.loss).sum();
        if n > 1 { sum / (n * (n - 1)) as f64 } else { 0.0 }
    }

    /// The pair with the largest loss, the first of several; none of a single peer.
    pub fn worst(&self) -> Option<Pair> {
        self.pairs().reduce(|worst, pair| if pair.loss > worst.loss { pair } else { worst })
    }

    fn row(&self, peer: usize) -> &[f64] {
        &self.table[peer * self.mixing.nodes()..][..self.mixing.nodes()]
    }

    fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        let n = self.mixing.nodes();
        let pair = move |(i, &loss): (usize, &f64)| Pair { observer: i / n, contributor: i % n, loss };
        self.table.iter().enumerate().map(pair).filter(|pair| pair.contributor != pair.observer)
    }
}

/// Refuses orders at which the printed losses are not claimed: they need `sigma² >= 2 alpha (alpha - 1)`, with `sigma` in units of the
/// sensitivity.
///
/// ```
/// use sottovoce_views::walk::check_order;
/// check_order(2.0, 2.0)?;
/// let error = check_order(1.9, 2.0).unwrap_err().to_string();
/// assert!(error.starts_with("`sigma` is 1.9: at order 2 give at least 2"));
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
pub fn check_order(sigma: f64, alpha: f64) -> Result<()> {
    require(alpha > 1.0 && alpha.is_finite(), "alpha", alpha, "give a finite order above 1")?;
    require(sigma > 0.0 && sigma.is_finite(), "sigma", sigma, "give a finite number above 0")?;
    if sigma * sigma >= 2.0 * alpha * (alpha - 1.0) {
        return Ok(());
    }
    let least = round_up((2.0 * alpha * (alpha - 1.0)).sqrt());
    let largest = 0.5 * (1.0 + (1.0 + 2.0 * sigma * sigma).sqrt());
    let (largest, _) = outward(Interval::exactly(largest)?);
    let remedy = format!("at order {alpha} give at least {least}, or take an order of at most {largest}");
    Err(Error::parameter("sigma", sigma, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    #[test]
    fn the_advice_on_orders_is_accepted() {
        for (sigma, alpha) in [(0.5, 2.0), (1.0, 1.6), (3.0, 17.3), (0.01, 1.5), (1.0, 1e3)] {
            let error = check_order(sigma, alpha).unwrap_err().to_string();
            let number = |words: &str| {
                let rest = &error[error.find(words).unwrap() + words.len()..];
                rest.split(',').next().unwrap().parse::<f64>().unwrap()
            };
            let (least, largest) = (number("at least "), number("order of at most "));
            check_order(least, alpha).unwrap();
            check_order(sigma, largest).unwrap();
            assert!(
                check_order(least * 0.9999, alpha).is_err() && check_order(sigma, largest * 1.0001).is_err()
            );
        }
        for (sigma, alpha) in [(0.0, 2.0), (f64::NAN, 2.0), (5.0, 1.0), (5.0, f64::INFINITY)] {
            assert!(check_order(sigma, alpha).is_err());
        }
    }

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
        let worst = walk.worst().unwrap();
        assert!((worst.loss - to(0)[1]).abs() < 1e-12 && to(worst.observer)[worst.contributor] == worst.loss);
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
