//! One model by itself, exactly: what an agent computes at home, and what may be released of it is another question.
//!
//! ```text
//! minimise  weight·( mean loss + ridge/2 |t|² ) + pull/2 |t|² - towards·t
//! ```
//!
//! by Newton's method, whose steps are halved until they help. For squared losses the first step is the last. With a weight of 1 and no pull it is a locally
//! trained model; with `weight = mu D_ii c_i`, `pull = D_ii` and `towards = sum_j W_ij T_j` it is an agent's block of `Q`.

use sottovoce_learning::{Clip, Model, Shard, cholesky};

use super::Problem;
use crate::{Error, Result};

/// Newton's method needs a handful; many more mean that rounding is all that is left.
const MOST_STEPS: usize = 200;
/// A step may be halved so often.
const MOST_HALVINGS: usize = 60;

/// What is minimised.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The own loss and its ridge.
    pub model: Model,
    /// The rows.
    pub rows: Shard<'a>,
    /// What the own loss weighs.
    pub weight: f64,
    /// How much the model is held at all.
    pub pull: f64,
    /// Towards where, times how much.
    pub towards: &'a [f64],
}

/// A minimum.
#[derive(Debug, Clone, PartialEq)]
pub struct Solved {
    /// Where it is.
    pub model: Vec<f64>,
    /// The 2-norm of the gradient there: rounding. The minimum is no farther than this over the strong convexity.
    pub residual: f64,
}

impl<'a> Block<'a> {
    /// A locally trained model.
    pub fn alone(model: Model, rows: Shard<'a>, origin: &'a [f64]) -> Self {
        Self { model, rows, weight: 1.0, pull: 0.0, towards: origin }
    }

    /// Minimises, from 0.
    pub fn solve(&self) -> Result<Solved> {
        let width = self.towards.len();
        let convexity = self.weight * self.model.ridge + self.pull;
        if !(convexity.is_finite() && convexity > 0.0) {
            let remedy = "without it there may be many minima; give a positive number";
            return Err(Error::parameter("ridge", self.model.ridge, remedy));
        }
        let mut model = vec![0.0; width];
        let (mut cost, mut slope) = self.cost(&model);
        // Below this a gradient is made of rounding errors of its terms.
        let enough = 1e-15 * (1.0 + norm(&slope));
        for _ in 0..MOST_STEPS {
            let residual = norm(&slope);
            if residual <= enough {
                break;
            }
            let Some(step) = self.step(&model, &slope) else { break };
            let Some((next, better, there)) = self.walk(&model, cost, residual, &step) else { break };
            (model, cost, slope) = (next, better, there);
        }
        Ok(Solved { residual: norm(&slope), model })
    }

    /// The cost of a model, and its gradient.
    fn cost(&self, model: &[f64]) -> (f64, Vec<f64>) {
        let mut slope = vec![0.0; model.len()];
        self.model.gradient(model, self.rows, Clip::None, &mut slope);
        let mut cost = self.weight * self.model.objective(model, self.rows);
        for ((slope, x), towards) in slope.iter_mut().zip(model).zip(self.towards) {
            *slope = self.weight * *slope + self.pull * x - towards;
            cost += x * (0.5 * self.pull * x - towards);
        }
        (cost, slope)
    }

    /// Newton's step; none where the curvature is not positive in floating point.
    fn step(&self, model: &[f64], slope: &[f64]) -> Option<Vec<f64>> {
        let width = model.len();
        let (mut bends, mut curvature) = (vec![0.0; self.rows.labels.len()], vec![0.0; width * width]);
        self.model.bends(model, self.rows, &mut bends);
        self.model.add_curvature(&bends, self.rows, self.weight, &mut curvature);
        (0..width).for_each(|k| curvature[k * width + k] += self.pull);
        let mut step = slope.to_vec();
        cholesky::solve(&mut curvature, &mut step)?;
        Some(step)
    }

    /// As much of a step as helps: it costs less, or, where costs are alike up to rounding, its gradient is shorter.
    fn walk(
        &self,
        model: &[f64],
        cost: f64,
        residual: f64,
        step: &[f64],
    ) -> Option<(Vec<f64>, f64, Vec<f64>)> {
        let mut share = 1.0;
        for _ in 0..MOST_HALVINGS {
            let next: Vec<f64> = model.iter().zip(step).map(|(x, s)| x - share * s).collect();
            let (there, slope) = self.cost(&next);
            let alike = (there - cost).abs() <= 1e-12 * (1.0 + cost.abs());
            if (there < cost && !alike) || (alike && norm(&slope) < residual) {
                return Some((next, there, slope));
            }
            share *= 0.5;
        }
        None
    }
}

impl Problem {
    /// The best model of an agent for her own rows and these models of her neighbours': her block of `Q`, exactly. After her last release nobody is told, so
    /// it costs nothing. What others released may deserve less trust than their models would: `mu` is hers to choose.
    ///
    /// # Panics
    ///
    /// If there are not as many models as agents, or no such agent.
    pub fn own(&self, models: &[f64], agent: usize, mu: f64) -> Result<Solved> {
        let mut towards = vec![0.0; self.width()];
        let pull = self.pulled(models, agent, &mut towards);
        let weight = mu * pull * self.confidence(agent);
        Block { model: self.model(agent), rows: self.rows(agent), weight, pull, towards: &towards }.solve()
    }

    /// Everybody's, one after the other.
    pub fn all_own(&self, models: &[f64], mu: f64) -> Result<Vec<f64>> {
        let each = (0..self.agents()).map(|agent| Ok(self.own(models, agent, mu)?.model));
        Ok(each.collect::<Result<Vec<_>>>()?.concat())
    }
}

/// The 2-norm.
pub(super) fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::problem::tests::{small, some_models};
    use super::*;
    use sottovoce_learning::Loss;

    #[test]
    fn blocks_are_minima() {
        for loss in [Loss::Logistic, Loss::Squared] {
            let problem = small(loss);
            let mut models = some_models(&problem);
            let mut slope = vec![0.0; problem.width()];
            for agent in 0..problem.agents() {
                let before = problem.objective(&models);
                let solved = problem.own(&models, agent, problem.terms().mu).unwrap();
                models[agent * problem.width()..][..problem.width()].copy_from_slice(&solved.model);
                problem.gradient(&models, agent, &mut slope);
                assert!(norm(&slope) < 1e-13 && solved.residual < 1e-13, "{loss:?} {agent}");
                assert!(problem.objective(&models) <= before);
            }
        }
    }

    #[test]
    fn separable_classes_have_a_minimum_where_there_is_a_ridge() {
        let rows = Shard { features: &[1.0, 0.0, 0.9, 0.1, -1.0, 0.2], labels: &[1.0, 1.0, -1.0], width: 2 };
        for ridge in [1e-9, 1e-3, 1.0] {
            let model = Model { loss: Loss::Logistic, width: 2, ridge };
            let solved = Block::alone(model, rows, &[0.0; 2]).solve().unwrap();
            assert!(solved.residual < 1e-14, "{ridge}: {solved:?}");
        }
        let model = Model { loss: Loss::Logistic, width: 2, ridge: 0.0 };
        assert!(
            Block::alone(model, rows, &[0.0; 2]).solve().unwrap_err().to_string().contains("`ridge` is 0")
        );
    }

    #[test]
    fn without_rows_a_model_is_where_it_is_drawn() {
        let rows = Shard { features: &[], labels: &[], width: 2 };
        let model = Model { loss: Loss::Logistic, width: 2, ridge: 1.0 };
        let block = Block { model, rows, weight: 1.0, pull: 3.0, towards: &[8.0, -4.0] };
        let found = block.solve().unwrap().model;
        assert!((found[0] - 2.0).abs() < 1e-14 && (found[1] + 1.0).abs() < 1e-14);
    }
}
