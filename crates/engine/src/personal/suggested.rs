//! How many updates, by the corrected Theorem 2 (`docs/theorems/personalized.md`, section 6): more of them leave less of the start, and make each noisier.
//!
//! Only public numbers enter: similarities, how many rows everybody has, promised lengths, the largest label, the budget.

use sottovoce_privacy::Law;
use sottovoce_privacy::allotment::{Suggested, suggested};

use super::{Amount, Hiding, Problem, own_factor};
use crate::{Error, Result};
use sottovoce_learning::Loss;

impl Problem {
    /// A public bound on `Q(0) - Q*`, all models being 0 at the start: losses are not negative, and at 0 the own one is `ln 2`, or half the largest squared label.
    pub fn start_bound(&self, largest_label: f64) -> f64 {
        let own = match self.loss() {
            Loss::Squared => 0.5 * largest_label * largest_label,
            _ => std::f64::consts::LN_2,
        };
        let rows = (0..self.agents()).filter(|&agent| self.train().rows_of(agent) > 0);
        own * rows.map(|agent| self.weight(agent)).sum::<f64>()
    }
}

impl Hiding {
    /// What squared noise of one sensitivity on everybody's updates adds to the bound on `Q - Q*`: `v/(2 L_min)` times the sum of `(mu D_ii c_i sensitivity_i)²`.
    fn unit(&self, problem: &Problem) -> f64 {
        let width = problem.width() as f64;
        let each = match self.law {
            Law::Laplace => 2.0 * width,
            Law::Gaussian => width,
            Law::Radial => width * (width + 1.0),
        };
        let moved = |agent: usize| match problem.train().rows_of(agent) {
            0 => 0.0,
            rows => problem.weight(agent) * self.sensitivity(rows),
        };
        let squares: f64 = (0..problem.agents()).map(|agent| moved(agent) * moved(agent)).sum();
        each / (2.0 * problem.smoothnesses().0) * squares
    }

    /// The number of updates, up to `most`, with the least bound on how far models are from the best, from a start of 0; what this asks for is the usual budget's.
    /// A bound for equal shares of the budget until the first agent stops, where nothing is clipped; an estimate otherwise.
    pub fn suggested(&self, problem: &Problem, largest_label: f64, most: usize) -> Result<Suggested> {
        let Amount::Budget(budgets) = &self.amount else {
            return Err(Error::parameter(
                "sigma",
                "given",
                "a number of updates is found for a budget; give one",
            ));
        };
        if let Some(start) = self.warm {
            let remedy = "a warm start has no public bound; leave it out, or say how many updates";
            return Err(Error::parameter("warm", start.epsilon, remedy));
        }
        let request = self.request(budgets, budgets.epsilon, own_factor(problem));
        Ok(suggested(&request, problem.start_bound(largest_label), self.unit(problem), most)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::tests::small;
    use super::super::{Budgets, Clipped, optimum};
    use super::*;
    use sottovoce_learning::Clip;
    use sottovoce_privacy::allotment::{Allocation, Method};
    use sottovoce_simulator::personal::{FastPersonal, PersonalSetup};

    fn hiding(epsilon: f64, updates: usize) -> Hiding {
        let budgets = Budgets {
            epsilon,
            others: Default::default(),
            delta: 1e-5,
            method: Method::Gdp,
            allocation: Allocation::Uniform,
        };
        let amount = Amount::Budget(budgets);
        Hiding { law: Law::Gaussian, clip: 10.0, centring: 0.0, updates, amount, warm: None }
    }

    /// The bound on the start is one, and more noise means fewer updates.
    #[test]
    fn suggestions_rest_on_what_is_public() {
        for loss in [Loss::Logistic, Loss::Squared] {
            let problem = small(loss).with_mu(2.0).unwrap();
            let zeros = vec![0.0; problem.agents() * problem.width()];
            let gap = problem.objective(&zeros) - optimum(&problem).unwrap().objective;
            let bound = problem.start_bound(2.0);
            assert!(gap <= bound, "{loss:?}: {gap} {bound}");
            // Noise goes with the bound on gradients: of a small one it is soon less than what an update mends.
            let [quiet, loud] = [1e5, 1.0].map(|epsilon| {
                let hiding = Hiding { clip: 0.1, ..hiding(epsilon, 1) };
                hiding.suggested(&problem, 2.0, 1000).unwrap()
            });
            assert!(
                quiet.updates > loud.updates && quiet.bound() < loud.bound(),
                "{loss:?}: {quiet:?} {loud:?}"
            );
        }
    }

    /// Runs that nobody stops early stay below the bound, in the mean.
    #[test]
    fn the_bound_holds_for_the_number_that_it_suggests() {
        let problem = small(Loss::Logistic).with_mu(2.0).unwrap();
        let found = hiding(1e4, 1).suggested(&problem, 1.0, 50).unwrap();
        let hiding = hiding(1e4, found.updates);
        let (plans, least) = (hiding.plans(&problem).unwrap().plans, optimum(&problem).unwrap().objective);
        let rows = Clipped::new(&problem, Clip::Example(10.0)).unwrap();
        let runs = 20;
        let mut mean = 0.0;
        for seed in 0..runs {
            let setup =
                PersonalSetup::new(problem.similarity(), vec![0.0; problem.width()], &plans, seed).unwrap();
            let mut run = FastPersonal::new(setup, &rows).unwrap();
            run.advance(usize::MAX);
            mean += (problem.objective(run.models()) - least) / runs as f64;
        }
        assert!(mean <= found.bound(), "{mean} {}", found.bound());
    }

    #[test]
    fn what_has_no_public_bound_is_refused() {
        let problem = small(Loss::Logistic);
        let fixed = Hiding { amount: Amount::Fixed(1.0), ..hiding(1.0, 1) };
        assert!(fixed.suggested(&problem, 1.0, 10).unwrap_err().to_string().starts_with("`sigma`"));
    }
}
