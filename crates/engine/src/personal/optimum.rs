//! The joint optimum: all models at once, exactly, by whoever sees everything. What private runs are held against.
//!
//! Newton's method on `Q`, whose linear systems are solved by conjugate gradients: a product with the curvature costs as much as a gradient. They are
//! scaled by the curvature's diagonal, since degrees differ by orders of magnitude.

use super::Problem;
use super::block::norm;
use crate::{Error, Result};

const MOST_STEPS: usize = 100;
const MOST_HALVINGS: usize = 60;
const MOST_PRODUCTS: usize = 20_000;
/// Each step's system is solved up to this part of its right side.
const SOLVED: f64 = 1e-7;
/// What the gradient's length must fall to, beside what it is at 0.
const CONVERGED: f64 = 1e-10;

/// The minimum of `Q`.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// All models, one after the other.
    pub models: Vec<f64>,
    /// `Q` there.
    pub objective: f64,
    /// The 2-norm of the gradient there.
    pub residual: f64,
    /// No farther (in the 2-norm over all models) is the true minimum, by strong convexity.
    pub distance: f64,
}

/// Finds it.
pub fn optimum(problem: &Problem) -> Result<Optimum> {
    let mut models = vec![0.0; problem.agents() * problem.width()];
    let mut slope = slopes(problem, &models);
    let mut cost = problem.objective(&models);
    let first = 1.0 + norm(&slope);
    for _ in 0..MOST_STEPS {
        sottovoce_fault::stop::look();
        let residual = norm(&slope);
        if residual <= 1e-15 * first {
            break;
        }
        let step = Curvature::at(problem, &models).solve(&slope);
        let Some((next, there)) = walk(problem, &models, cost, residual, &step) else { break };
        (models, cost) = (next, there);
        slope = slopes(problem, &models);
    }
    let residual = norm(&slope);
    if !(residual <= CONVERGED * first && cost.is_finite()) {
        let problem = format!(
            "the joint optimum was not found: a gradient of {residual:.1e} is left; give larger ridges, or a larger mu"
        );
        return Err(Error::refused(problem));
    }
    Ok(Optimum { models, objective: cost, residual, distance: residual / problem.strong_convexity() })
}

/// All blocks of the gradient.
fn slopes(problem: &Problem, models: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0; models.len()];
    let blocks = all.chunks_exact_mut(problem.width()).enumerate();
    blocks.for_each(|(agent, out)| problem.gradient(models, agent, out));
    all
}

/// As much of a step as helps: it costs less, or, where costs are alike up to rounding, its gradient is shorter.
fn walk(
    problem: &Problem,
    models: &[f64],
    cost: f64,
    residual: f64,
    step: &[f64],
) -> Option<(Vec<f64>, f64)> {
    let mut share = 1.0;
    for _ in 0..MOST_HALVINGS {
        let next: Vec<f64> = models.iter().zip(step).map(|(x, s)| x - share * s).collect();
        let there = problem.objective(&next);
        let alike = (there - cost).abs() <= 1e-12 * (1.0 + cost.abs());
        if (there < cost && !alike) || (alike && norm(&slopes(problem, &next)) < residual) {
            return Some((next, there));
        }
        share *= 0.5;
    }
    None
}

/// The second derivative of `Q` at some models.
struct Curvature<'a> {
    problem: &'a Problem,
    /// Of every row's loss.
    bends: Vec<Vec<f64>>,
    diagonal: Vec<f64>,
}

impl<'a> Curvature<'a> {
    fn at(problem: &'a Problem, models: &[f64]) -> Self {
        let width = problem.width();
        let (mut all, mut diagonal) = (Vec::new(), Vec::new());
        for (agent, model) in models.chunks_exact(width).enumerate() {
            let (own, rows) = (problem.model(agent), problem.rows(agent));
            let mut bends = vec![0.0; rows.labels.len()];
            own.bends(model, rows, &mut bends);
            let mut place = vec![problem.similarity().degree(agent); width];
            own.add_curvature_diagonal(&bends, rows, problem.weight(agent), &mut place);
            all.push(bends);
            diagonal.extend(place);
        }
        Self { problem, bends: all, diagonal }
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let (problem, width) = (self.problem, self.problem.width());
        let mut product = vec![0.0; vector.len()];
        for (agent, out) in product.chunks_exact_mut(width).enumerate() {
            let own = &vector[agent * width..][..width];
            let total = problem.pulled(vector, agent, out);
            out.iter_mut().zip(own).for_each(|(sum, x)| *sum = total * x - *sum);
            let (model, rows) = (problem.model(agent), problem.rows(agent));
            model.add_curvature_along(&self.bends[agent], rows, problem.weight(agent), own, out);
        }
        product
    }

    /// Conjugate gradients.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let scaled =
            |vector: &[f64]| -> Vec<f64> { vector.iter().zip(&self.diagonal).map(|(x, d)| x / d).collect() };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut x, mut rest) = (vec![0.0; right.len()], right.to_vec());
        let mut near = scaled(&rest);
        let (mut direction, mut square) = (near.clone(), dot(&rest, &near));
        let enough = SOLVED * SOLVED * square;
        for _ in 0..MOST_PRODUCTS {
            sottovoce_fault::stop::look();
            let product = self.times(&direction);
            let bend = dot(&direction, &product);
            // Rounding has the last word.
            if !(bend > 0.0 && square > enough) {
                break;
            }
            let share = square / bend;
            x.iter_mut().zip(&direction).for_each(|(x, d)| *x += share * d);
            rest.iter_mut().zip(&product).for_each(|(r, p)| *r -= share * p);
            near = scaled(&rest);
            let next = dot(&rest, &near);
            direction.iter_mut().zip(&near).for_each(|(d, n)| *d = n + next / square * *d);
            square = next;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::tests::small;
    use super::*;
    use sottovoce_learning::Loss;

    /// An independent solver: plain Newton steps, the whole matrix by differences of nothing but its definition, eliminated with pivots.
    fn dense(problem: &Problem) -> Vec<f64> {
        let (n, p) = (problem.agents(), problem.width());
        let mut x = vec![0.0; n * p];
        for _ in 0..60 {
            let (mut matrix, mut right) = (vec![vec![0.0; n * p]; n * p], vec![0.0; n * p]);
            for i in 0..n {
                for (j, weight) in problem.similarity().row(i) {
                    for k in 0..p {
                        matrix[i * p + k][i * p + k] += weight;
                        matrix[i * p + k][j * p + k] -= weight;
                        right[i * p + k] -= weight * (x[i * p + k] - x[j * p + k]);
                    }
                }
                let (rows, own) = (problem.rows(i), problem.weight(i));
                for k in 0..p {
                    matrix[i * p + k][i * p + k] += own * problem.terms().ridges[i];
                    right[i * p + k] -= own * problem.terms().ridges[i] * x[i * p + k];
                }
                for (row, y) in rows.features.chunks_exact(p).zip(rows.labels) {
                    let z: f64 = (0..p).map(|k| row[k] * x[i * p + k]).sum();
                    let (first, second) = match problem.loss() {
                        Loss::Squared => (z - y, 1.0),
                        _ => (-y / (1.0 + (y * z).exp()), 1.0 / ((1.0 + z.exp()) * (1.0 + (-z).exp()))),
                    };
                    let share = own / rows.labels.len() as f64;
                    for k in 0..p {
                        right[i * p + k] -= share * first * row[k];
                        (0..p).for_each(|l| matrix[i * p + k][i * p + l] += share * second * row[k] * row[l]);
                    }
                }
            }
            let step = eliminate(matrix, right);
            x.iter_mut().zip(step).for_each(|(x, s)| *x += s);
        }
        x
    }

    fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
            a.swap(k, pivot);
            b.swap(k, pivot);
            for i in k + 1..n {
                let factor = a[i][k] / a[k][k];
                let above = a[k].clone();
                a[i].iter_mut().zip(&above).skip(k).for_each(|(x, y)| *x -= factor * y);
                b[i] -= factor * b[k];
            }
        }
        for k in (0..n).rev() {
            b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
        }
        b
    }

    #[test]
    fn as_an_independent_solver_says() {
        for loss in [Loss::Logistic, Loss::Squared] {
            for mu in [1e-3, 0.3, 30.0] {
                let problem = small(loss).with_mu(mu).unwrap();
                let (found, wanted) = (optimum(&problem).unwrap(), dense(&problem));
                let apart = found.models.iter().zip(&wanted).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-10, "{loss:?} {mu}: {apart}");
                assert!(found.distance < 1e-8, "{loss:?} {mu}: {found:?}");
                assert!(found.objective <= problem.objective(&wanted) + 1e-12);
            }
        }
    }
}
