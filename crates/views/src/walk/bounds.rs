//! Rényi losses over random paths, from the losses of simulated ones: estimates and upper bounds.

use serde::Serialize;

use super::moments::Sums;
use super::trajectory::Trajectory;
use crate::{Result, require};

/// How the mean over paths is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Number of simulated runs.
    pub samples: usize,
    /// What they are a function of.
    pub seed: u64,
    /// Probability, over the simulated runs, that all upper bounds hold.
    pub confidence: f64,
}

/// Losses of a walk to come, to one observer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expected {
    /// If all losses are linear.
    pub linear: Bounds,
    /// If all losses are convex and smooth, and steps do not expand.
    pub convex: Bounds,
}

/// Losses of each peer; those of the observers themselves are 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bounds {
    /// The mean of what a path reveals, in units of `alpha / (2 sigma²)`: an estimate of the loss at orders near 1, and no bound.
    pub mean: Vec<f64>,
    /// Rényi losses, for each order that was asked for.
    pub orders: Vec<AtOrder>,
}

/// Rényi losses at one order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtOrder {
    /// The order `alpha`.
    pub order: f64,
    /// By peer, the estimate.
    pub estimate: Vec<f64>,
    /// By peer, the bound.
    pub upper: Vec<f64>,
}

impl Bounds {
    /// A peer's bounds as pairs of order and loss, which `Loss::rdp` takes; empty if there is no such peer.
    pub fn points(&self, peer: usize) -> Vec<(f64, f64)> {
        self.orders.iter().filter_map(|at| Some((at.order, *at.upper.get(peer)?))).collect()
    }
}

impl Sampling {
    pub(super) fn check(&self) -> Result<()> {
        require(self.samples >= 2, "samples", self.samples, "give at least two; a thousand says more")?;
        let remedy = "give a probability between 0 and 1, such as 0.999999";
        require(self.confidence > 0.0 && self.confidence < 1.0, "confidence", self.confidence, remedy)
    }
}

/// An order, and what a unit of loss is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    alpha: f64,
    /// `alpha / (2 sigma²)`.
    unit: f64,
}

impl Order {
    pub(super) fn new(sigma: f64, alpha: f64) -> Result<Self> {
        require(sigma > 0.0 && sigma.is_finite(), "sigma", sigma, "give a finite number above 0")?;
        require(alpha > 1.0 && alpha.is_finite(), "alpha", alpha, "give a finite order above 1")?;
        Ok(Self { alpha, unit: alpha / (2.0 * sigma * sigma) })
    }

    /// `exp((alpha - 1) eps) - 1` of a path that reveals `loss`: what is averaged.
    fn excess(&self, loss: f64) -> f64 {
        ((self.alpha - 1.0) * self.unit * loss).exp_m1()
    }

    /// The Rényi loss whose excess is that, at most the one of `most` contributions. Where nothing is known (a sum that
    /// is no finite number) it is the latter.
    fn loss(&self, excess: f64, most: f64) -> f64 {
        let certain = self.unit * most;
        let loss = excess.ln_1p() / (self.alpha - 1.0) * (1.0 + 4.0 * f64::EPSILON);
        if loss.is_nan() { certain } else { loss.min(certain) }
    }
}

/// Sums over simulated runs, for each peer.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    runs: usize,
    linear: Column,
    convex: Column,
}

/// Those of one kind of loss.
#[derive(Debug, Clone)]
struct Column {
    losses: Vec<f64>,
    /// By order, then by peer.
    excesses: Vec<Vec<Sums>>,
}

impl Moments {
    pub(super) fn new(nodes: usize, orders: usize) -> Self {
        let column =
            Column { losses: vec![0.0; nodes], excesses: vec![vec![Sums::default(); nodes]; orders] };
        Self { runs: 0, linear: column.clone(), convex: column }
    }

    pub(super) fn add(&mut self, run: &Trajectory, orders: &[Order]) {
        self.runs += 1;
        self.linear.add(&run.linear, orders);
        self.convex.add(&run.convex, orders);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.linear.merge(&other.linear);
        self.convex.merge(&other.convex);
    }

    /// Every single bound fails with probability at most `failure`; `most` is what a peer can contribute at most.
    pub(super) fn expected(&self, orders: &[Order], most: &[f64], failure: f64) -> Expected {
        let bounds = |column: &Column| column.bounds(self.runs, orders, most, failure);
        Expected { linear: bounds(&self.linear), convex: bounds(&self.convex) }
    }
}

impl Column {
    fn add(&mut self, losses: &[f64], orders: &[Order]) {
        self.losses.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss);
        for (sums, order) in self.excesses.iter_mut().zip(orders) {
            // A loss of 0 adds nothing to any sum.
            for (sums, &loss) in sums.iter_mut().zip(losses).filter(|(_, loss)| **loss > 0.0) {
                sums.add(order.excess(loss));
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.losses.iter_mut().zip(&other.losses).for_each(|(sum, loss)| *sum += loss);
        let both = self.excesses.iter_mut().flatten().zip(other.excesses.iter().flatten());
        both.for_each(|(sums, other)| sums.merge(other));
    }

    fn bounds(&self, runs: usize, orders: &[Order], most: &[f64], failure: f64) -> Bounds {
        let at = |(order, sums): (&Order, &Vec<Sums>)| {
            let each = |excess: &dyn Fn(&Sums, f64) -> f64| {
                sums.iter().zip(most).map(|(sums, &most)| order.loss(excess(sums, most), most)).collect()
            };
            AtOrder {
                order: order.alpha,
                estimate: each(&|sums, _| sums.mean(runs)),
                upper: each(&|sums, most| sums.upper(runs, order.excess(most), failure)),
            }
        };
        Bounds {
            mean: self.losses.iter().map(|sum| sum / runs as f64).collect(),
            orders: orders.iter().zip(&self.excesses).map(at).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses far beyond what doubles can exponentiate: the bound is what is certain.
    #[test]
    fn sums_that_overflow_fall_back_to_what_is_certain() {
        let order = Order::new(0.01, 50.0).unwrap();
        let mut moments = Moments::new(2, 1);
        for loss in [1.0, 3.0, 0.5] {
            moments.add(&Trajectory { linear: vec![0.0, loss], convex: vec![0.0, loss] }, &[order]);
        }
        let bounds = moments.expected(&[order], &[0.0, 4.0], 0.01).convex;
        let certain = 50.0 * 4.0 / (2.0 * 1e-4);
        assert_eq!(bounds.orders[0].upper, [0.0, certain]);
        assert_eq!(bounds.orders[0].estimate, [0.0, certain]);
        assert!(bounds.mean == [0.0, 1.5] && bounds.points(2).is_empty());
    }
}
