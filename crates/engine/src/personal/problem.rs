//! What agents minimise together (Bellet, Guerraoui, Taziki and Tommasi, their equation 2, with losses of our scale):
//!
//! ```text
//! Q(T) = 1/2 sum_{i<j} W_ij |T_i - T_j|² + mu sum_i D_ii c_i L_i(T_i),      L_i(t) = mean loss over the rows of i + ridge_i/2 |t|²
//! ```
//!
//! `c_i` is the number of rows of `i` over a public reference. The constants below come from public bounds alone: the promised length of rows, the ridges and
//! how many rows everybody has. The paper's `lambda |t|²` is a ridge of `2 lambda`, and its squared loss `(z - y)²` is twice ours, so that its `mu` and
//! `lambda` are `2 mu` and a ridge of `lambda` here.

use sottovoce_learning::personal::Agents;
use sottovoce_learning::{Clip, Loss, Model, Shard, Shards};
use sottovoce_protocol::personal::{Rule, pulled};
use sottovoce_topology::Similarity;

use crate::{Result, require};

/// An agent without rows counts as a tenth of one.
const ROWLESS: f64 = 0.1;

/// How much of what: all public.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Weight of agents' own losses.
    pub mu: f64,
    /// Weight of `|theta|²/2` in each agent's own loss.
    pub ridges: Vec<f64>,
    /// So many rows count as a confidence of 1: agreed beforehand, so that nobody's confidence changes when others come.
    pub reference: usize,
}

impl Terms {
    /// As the paper has them: ridges of `factor/m_i` (of `factor`, without rows), and the most rows of an agent as the reference.
    pub fn published(train: &Shards, mu: f64, factor: f64) -> Self {
        let rows = |agent| train.rows_of(agent).max(1);
        let ridges = (0..train.peers()).map(|agent| factor / rows(agent) as f64).collect();
        Self { mu, ridges, reference: (0..train.peers()).map(rows).max().unwrap_or(1) }
    }

    /// The same ridge for all.
    pub fn alike(train: &Shards, mu: f64, ridge: f64) -> Self {
        Self { ridges: vec![ridge; train.peers()], ..Self::published(train, mu, ridge) }
    }
}

/// Agents, their similarities, their rows and their losses.
#[derive(Debug, Clone)]
pub struct Problem {
    similarity: Similarity,
    train: Shards,
    loss: Loss,
    radius: f64,
    terms: Terms,
}

impl Problem {
    /// Of these agents. Refuses rows longer than they promise, and losses with several scores.
    pub fn new(agents: &Agents, terms: Terms) -> Result<Self> {
        let similarity = Similarity::new(agents.count(), &agents.similar)?;
        Self::over(similarity, agents.train.clone(), agents.loss, agents.radius, terms)
    }

    /// Of rows no longer than `radius`, on any similarity.
    pub fn over(
        similarity: Similarity,
        train: Shards,
        loss: Loss,
        radius: f64,
        terms: Terms,
    ) -> Result<Self> {
        let agents = train.peers();
        require(
            similarity.agents() == agents,
            "similarity",
            format!("one of {} agents", similarity.agents()),
            format!("{agents} have rows; give as many"),
        )?;
        require(
            !matches!(loss, Loss::Softmax { .. }),
            "loss",
            "softmax",
            "models have one score: give logistic or squared",
        )?;
        require(terms.mu.is_finite() && terms.mu > 0.0, "mu", terms.mu, "give a positive number")?;
        require(terms.reference > 0, "reference", terms.reference, "give at least one row")?;
        let given = terms.ridges.len();
        require(given == agents, "ridges", given, format!("give one for each of the {agents} agents"))?;
        for &ridge in &terms.ridges {
            require(ridge.is_finite() && ridge > 0.0, "ridge", ridge, "give every agent a positive number")?;
        }
        Model { loss, width: train.table().width(), ridge: 0.0 }.check(train.table())?;
        Model::require_radius(train.table(), radius)?;
        Ok(Self { similarity, train, loss, radius, terms })
    }

    /// The same with another weight of own losses.
    pub fn with_mu(&self, mu: f64) -> Result<Self> {
        require(mu.is_finite() && mu > 0.0, "mu", mu, "give a positive number")?;
        Ok(Self { terms: Terms { mu, ..self.terms.clone() }, ..self.clone() })
    }

    /// How many agents there are.
    pub fn agents(&self) -> usize {
        self.train.peers()
    }

    /// Numbers of a model.
    pub fn width(&self) -> usize {
        self.train.table().width()
    }

    /// Who is similar to whom.
    pub fn similarity(&self) -> &Similarity {
        &self.similarity
    }

    /// Everybody's rows.
    pub fn train(&self) -> &Shards {
        &self.train
    }

    /// An agent's rows.
    pub fn rows(&self, agent: usize) -> Shard<'_> {
        self.train.shard(agent)
    }

    /// What everybody learns.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// The promised length of rows.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// How much of what.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// An agent's own loss.
    pub fn model(&self, agent: usize) -> Model {
        Model { loss: self.loss, width: self.width(), ridge: self.terms.ridges[agent] }
    }

    /// `c_i`: rows over the reference, or little where there are none.
    pub fn confidence(&self, agent: usize) -> f64 {
        let rows = match self.train.rows_of(agent) {
            0 => ROWLESS,
            rows => rows as f64,
        };
        rows / self.terms.reference as f64
    }

    /// `mu D_ii c_i`: what the own loss of an agent weighs in `Q`.
    pub fn weight(&self, agent: usize) -> f64 {
        self.terms.mu * self.similarity.degree(agent) * self.confidence(agent)
    }

    /// `Lloc_i`: the smoothness of the own loss, whatever the rows.
    pub fn own_smoothness(&self, agent: usize) -> f64 {
        let model = self.model(agent);
        if self.train.rows_of(agent) == 0 { model.ridge } else { model.smoothness(self.radius) }
    }

    /// `L_i = D_ii (1 + mu c_i Lloc_i)`: the smoothness of `Q` in an agent's block.
    pub fn smoothness(&self, agent: usize) -> f64 {
        self.similarity.degree(agent) + self.weight(agent) * self.own_smoothness(agent)
    }

    /// `(L_min, L_max)`.
    pub fn smoothnesses(&self) -> (f64, f64) {
        let all = (0..self.agents()).map(|agent| self.smoothness(agent));
        all.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), one| (least.min(one), most.max(one)))
    }

    /// `sigma_Q`, a lower bound of the strong convexity of `Q`: `mu min_i D_ii c_i ridge_i`. The similarities add nothing in directions in which all models are
    /// alike.
    pub fn strong_convexity(&self) -> f64 {
        let own = |agent| self.weight(agent) * self.terms.ridges[agent];
        (0..self.agents()).map(own).fold(f64::INFINITY, f64::min)
    }

    /// An agent's update, with the step `1/(1 + mu c_i Lloc_i)`.
    pub fn rule(&self, agent: usize) -> Rule {
        let pull = self.terms.mu * self.confidence(agent);
        Rule::step(pull, self.terms.ridges[agent], self.own_smoothness(agent))
    }

    /// `Q` of all models, one after the other.
    ///
    /// # Panics
    ///
    /// If there are not as many as agents.
    pub fn objective(&self, models: &[f64]) -> f64 {
        assert_eq!(models.len(), self.agents() * self.width(), "every agent has a model");
        let model = |agent: usize| &models[agent * self.width()..][..self.width()];
        let mut sum = 0.0;
        for agent in 0..self.agents() {
            for (other, weight) in self.similarity.row(agent).filter(|(other, _)| *other > agent) {
                let apart =
                    model(agent).iter().zip(model(other)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                sum += 0.5 * weight * apart;
            }
            sum += self.weight(agent) * self.model(agent).objective(model(agent), self.rows(agent));
        }
        sum
    }

    /// The gradient of `Q` in an agent's block: `D_ii (T_i + mu c_i grad L_i(T_i)) - sum_j W_ij T_j`.
    ///
    /// # Panics
    ///
    /// If there are not as many models as agents, or no such agent.
    pub fn gradient(&self, models: &[f64], agent: usize, out: &mut [f64]) {
        let width = self.width();
        let own = &models[agent * width..][..width];
        let mut sum = vec![0.0; width];
        let total = self.pulled(models, agent, &mut sum);
        self.model(agent).gradient(own, self.rows(agent), Clip::None, out);
        let weight = self.weight(agent);
        for ((slope, x), sum) in out.iter_mut().zip(own).zip(&sum) {
            *slope = total * x + weight * *slope - sum;
        }
    }

    /// Writes `sum_j W_ij T_j`, and returns `D_ii`.
    pub(super) fn pulled(&self, models: &[f64], agent: usize, out: &mut [f64]) -> f64 {
        let width = self.width();
        let others = self.similarity.row(agent);
        pulled(others.map(|(other, weight)| (weight, &models[other * width..][..width])), out)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sottovoce_learning::personal::{Plane, Tastes};

    /// A few agents, one of them without rows; classes or numbers.
    pub(in crate::personal) fn small(loss: Loss) -> Problem {
        let agents = match loss {
            Loss::Squared => Tastes { agents: 7, width: 3, fewest: 0, most: 6, ..Tastes::default() }.draw(4),
            _ => Plane { agents: 7, width: 3, fewest: 0, most: 6, ..Plane::default() }.draw(4),
        };
        let agents = agents.unwrap();
        let terms = Terms::published(&agents.train, 0.3, 0.5);
        Problem::new(&agents, terms).unwrap()
    }

    /// Models that are no optimum.
    pub(in crate::personal) fn some_models(problem: &Problem) -> Vec<f64> {
        (0..problem.agents() * problem.width()).map(|k| ((k * 37 + 11) % 17) as f64 / 8.0 - 1.0).collect()
    }

    #[test]
    fn gradients_are_differences_of_the_objective() {
        for loss in [Loss::Logistic, Loss::Squared] {
            let problem = small(loss);
            let (models, step) = (some_models(&problem), 1e-5);
            let mut slope = vec![0.0; problem.width()];
            for agent in 0..problem.agents() {
                problem.gradient(&models, agent, &mut slope);
                for (k, slope) in slope.iter().enumerate() {
                    let at = |shift: f64| {
                        let mut models = models.clone();
                        models[agent * problem.width() + k] += shift;
                        problem.objective(&models)
                    };
                    let difference = (at(step) - at(-step)) / (2.0 * step);
                    assert!((slope - difference).abs() < 1e-7, "{loss:?} {agent} {k}: {slope} {difference}");
                }
            }
        }
    }

    /// Along random directions `Q` curves no less than `sigma_Q`, and no more than `L_i` in one block.
    #[test]
    fn constants_bound_the_curvature() {
        for loss in [Loss::Logistic, Loss::Squared] {
            let problem = small(loss);
            let (width, models) = (problem.width(), some_models(&problem));
            let (least, most) = problem.smoothnesses();
            let slopes = |models: &[f64]| {
                let mut all = vec![0.0; models.len()];
                for (agent, out) in all.chunks_exact_mut(width).enumerate() {
                    problem.gradient(models, agent, out);
                }
                all
            };
            let before = slopes(&models);
            for seed in 0..20usize {
                let direction: Vec<f64> =
                    (0..models.len()).map(|k| ((k * 31 + seed * 53) % 13) as f64 / 6.0 - 1.0).collect();
                let moved: Vec<f64> = models.iter().zip(&direction).map(|(x, d)| x + d).collect();
                let after = slopes(&moved);
                let along: f64 = (0..moved.len()).map(|k| (after[k] - before[k]) * direction[k]).sum();
                let length: f64 = direction.iter().map(|d| d * d).sum();
                assert!(along >= problem.strong_convexity() * length * (1.0 - 1e-12), "{loss:?}");
                let agent = seed % problem.agents();
                let mut one = models.clone();
                one[agent * width..][..width].copy_from_slice(&moved[agent * width..][..width]);
                let (block, own) = (slopes(&one), agent * width..(agent + 1) * width);
                let change = own.clone().map(|k| (block[k] - before[k]).powi(2)).sum::<f64>().sqrt();
                let length = own.map(|k| direction[k].powi(2)).sum::<f64>().sqrt();
                assert!(change <= problem.smoothness(agent) * length * (1.0 + 1e-12), "{loss:?}");
                assert!((least..=most).contains(&problem.smoothness(agent)));
            }
        }
    }

    #[test]
    fn what_is_no_problem_is_refused() {
        let agents = Plane { agents: 5, width: 2, ..Plane::default() }.draw(1).unwrap();
        let terms = Terms::published(&agents.train, 0.1, 1.0);
        let field = |agents: &Agents, terms: Terms| {
            Problem::new(agents, terms).unwrap_err().at_fault().map(|fault| fault.field)
        };
        assert_eq!(field(&agents, Terms { mu: f64::NAN, ..terms.clone() }), Some("mu"));
        assert_eq!(field(&agents, Terms { ridges: vec![1.0; 4], ..terms.clone() }), Some("ridges"));
        assert_eq!(field(&agents, Terms { ridges: vec![0.0; 5], ..terms.clone() }), Some("ridge"));
        assert_eq!(field(&agents, Terms { reference: 0, ..terms.clone() }), Some("reference"));
        let longer = Agents { radius: 0.1, ..agents.clone() };
        assert!(Problem::new(&longer, terms.clone()).unwrap_err().to_string().contains("`norm` is "));
        let alone = Agents { similar: agents.similar[..1].to_vec(), ..agents.clone() };
        assert!(Problem::new(&alone, terms.clone()).unwrap_err().to_string().contains("nobody is similar"));
        let softmax = Agents { loss: Loss::Softmax { classes: 2 }, ..agents };
        assert_eq!(field(&softmax, terms), Some("loss"));
    }
}
