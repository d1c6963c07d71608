//! The alternating direction method of multipliers of Vanhaesebrouck, Bellet and Tommasi (2017), to compare coordinate descent with. No privacy.
//!
//! ```text
//! agent i    her model A, a copy B_j of each neighbour's, and for each edge {i, j} two agreed vectors Z^i, Z^j with duals U^i, U^j of her own
//! minimises  1/4 sum_j W_ij |A - B_j|² + mu D_ii c_i L_i(A) + sum_j U^i·(A - Z^i) + U^j·(B_j - Z^j) + rho/2 (|A - Z^i|² + |B_j - Z^j|²)
//! iteration  i draws a neighbour j; both take ten gradient steps on the above, send each other model, copy and two duals (eight vectors), and set
//!            Z^i = 1/2 [ (U_i^i + U_j^i)/rho + A_i + B_j^i ],  Z^j alike,  U += rho (own - Z)
//! ```
//!
//! A gradient step is as long as the curvature of its block allows: the second derivative has row sums of sizes at most `D_ii + mu D_ii c_i Lloc_i + rho
//! degree` for `A` and `W_ij + rho` for `B_j`, and is no larger than the diagonal matrix of these.

use rand::RngExt;
use sottovoce_learning::Clip;
use sottovoce_privacy::noise::simulation::{Seed, SimulationRng, Stream};

use super::Problem;
use crate::{Result, require};

/// Gradient steps of each of the two, in an iteration.
const STEPS: usize = 10;
/// Vectors that the two send each other, in an iteration.
const SENT: u64 = 8;

/// A run under way.
pub struct Admm<'a> {
    problem: &'a Problem,
    rho: f64,
    models: Vec<f64>,
    /// For each end of each edge, in the order of the graph's rows.
    ends: Vec<End>,
    /// Where each agent's ends begin, and where the last one's end.
    starts: Vec<usize>,
    /// The other end of each edge.
    others: Vec<usize>,
    rng: SimulationRng,
    iterations: u64,
}

/// What an agent holds for an edge: towards her own model, and towards her copy of the neighbour's.
#[derive(Clone)]
struct End {
    weight: f64,
    copy: Vec<f64>,
    agreed: [Vec<f64>; 2],
    duals: [Vec<f64>; 2],
}

impl<'a> Admm<'a> {
    /// Everybody begins at her model of these, and knows those of her neighbours.
    ///
    /// # Panics
    ///
    /// If there are not as many models as agents.
    pub fn new(problem: &'a Problem, rho: f64, models: Vec<f64>, seed: u64) -> Result<Self> {
        require(rho.is_finite() && rho > 0.0, "rho", rho, "give a positive number")?;
        let width = problem.width();
        assert_eq!(models.len(), problem.agents() * width, "every agent has a model");
        let of = |agent: usize| models[agent * width..][..width].to_vec();
        let graph = problem.similarity().graph();
        let starts = graph.rows().0.to_vec();
        let (mut ends, mut others) = (Vec::new(), Vec::new());
        for agent in 0..problem.agents() {
            for (other, weight) in problem.similarity().row(agent) {
                let none = vec![0.0; width];
                let agreed = [of(agent), of(other)];
                ends.push(End { weight, copy: of(other), agreed, duals: [none.clone(), none] });
                let place = graph.neighbors(other).partition_point(|&third| (third as usize) < agent);
                others.push(starts[other] + place);
            }
        }
        let rng = Seed(seed).stream(Stream::Sample, 0, 0);
        Ok(Self { problem, rho, models, ends, starts, others, rng, iterations: 0 })
    }

    /// All models, one after the other.
    pub fn models(&self) -> &[f64] {
        &self.models
    }

    /// Vectors sent so far.
    pub fn sent(&self) -> u64 {
        SENT * self.iterations
    }

    /// So many iterations, each of an agent and a neighbour drawn uniformly.
    pub fn advance(&mut self, iterations: usize) {
        for _ in 0..iterations {
            sottovoce_fault::stop::look();
            let agent = self.rng.random_range(0..self.problem.agents());
            let end = self.rng.random_range(self.starts[agent]..self.starts[agent + 1]);
            let other = self.problem.similarity().graph().neighbors(agent)[end - self.starts[agent]] as usize;
            self.descend(agent);
            self.descend(other);
            self.agree(agent, end, other);
            self.iterations += 1;
        }
    }

    /// Ten gradient steps of one agent.
    fn descend(&mut self, agent: usize) {
        let (problem, rho, width) = (self.problem, self.rho, self.problem.width());
        let ends = &mut self.ends[self.starts[agent]..self.starts[agent + 1]];
        let model = &mut self.models[agent * width..][..width];
        let (own, weight) = (problem.model(agent), problem.weight(agent));
        let size = 1.0 / (problem.smoothness(agent) + rho * ends.len() as f64);
        let mut slope = vec![0.0; width];
        for _ in 0..STEPS {
            own.gradient(model, problem.rows(agent), Clip::None, &mut slope);
            slope.iter_mut().for_each(|slope| *slope *= weight);
            for end in ends.iter_mut() {
                let copy_size = 1.0 / (end.weight + rho);
                for k in 0..width {
                    let apart = 0.5 * end.weight * (model[k] - end.copy[k]);
                    slope[k] += apart + end.duals[0][k] + rho * (model[k] - end.agreed[0][k]);
                    let back = end.duals[1][k] + rho * (end.copy[k] - end.agreed[1][k]) - apart;
                    end.copy[k] -= copy_size * back;
                }
            }
            model.iter_mut().zip(&slope).for_each(|(x, slope)| *x -= size * slope);
        }
    }

    /// The two ends of an edge agree, and note how far each was off.
    fn agree(&mut self, agent: usize, end: usize, other: usize) {
        let (width, rho, back) = (self.problem.width(), self.rho, self.others[end]);
        for k in 0..width {
            let (one, two) = (self.models[agent * width + k], self.models[other * width + k]);
            let theirs = [self.ends[back].copy[k], two];
            let mine = [one, self.ends[end].copy[k]];
            for side in 0..2 {
                // The neighbour's own model is her first vector, and the second at this end.
                let duals = self.ends[end].duals[side][k] + self.ends[back].duals[1 - side][k];
                let agreed = 0.5 * (duals / rho + mine[side] + theirs[side]);
                self.ends[end].agreed[side][k] = agreed;
                self.ends[back].agreed[1 - side][k] = agreed;
                self.ends[end].duals[side][k] += rho * (mine[side] - agreed);
                self.ends[back].duals[1 - side][k] += rho * (theirs[side] - agreed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::optimum;
    use super::super::problem::tests::small;
    use super::*;
    use sottovoce_learning::Loss;

    #[test]
    fn it_reaches_the_joint_optimum() {
        for loss in [Loss::Logistic, Loss::Squared] {
            let problem = small(loss);
            let wanted = optimum(&problem).unwrap();
            let start = vec![0.0; wanted.models.len()];
            let mut admm = Admm::new(&problem, 0.3, start, 5).unwrap();
            admm.advance(40_000);
            let apart =
                admm.models().iter().zip(&wanted.models).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-9, "{loss:?}: {apart}");
            assert_eq!(admm.sent(), 320_000);
        }
        let problem = small(Loss::Squared);
        for rho in [0.0, -1.0, f64::NAN] {
            assert!(Admm::new(&problem, rho, vec![0.0; problem.agents() * problem.width()], 0).is_err());
        }
    }
}
