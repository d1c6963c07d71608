//! What the drivers of personalised models are given: gradients of an agent's rows, clipped, and her locally trained model.

use sottovoce_learning::{Clip, Gradients, Model};
use sottovoce_simulator::personal::Rows;

use super::Problem;
use crate::{Result, require};

/// A problem whose rows are seen through clipped gradients.
#[derive(Debug, Clone)]
pub struct Clipped<'a> {
    problem: &'a Problem,
    gradients: Gradients<'a>,
    /// Everybody's locally trained model, one after the other; empty where nobody begins with hers.
    locals: Vec<f64>,
}

impl<'a> Clipped<'a> {
    /// Each row's gradient is clipped so; nobody begins with a model of her own.
    pub fn new(problem: &'a Problem, clip: Clip) -> Result<Self> {
        Ok(Self { problem, gradients: Gradients::new(problem.train(), clip)?, locals: Vec::new() })
    }

    /// The same, with models for those who begin with one.
    pub fn starting(self, locals: Vec<f64>) -> Result<Self> {
        let agents = self.problem.agents();
        let fits = locals.len() == agents * self.problem.width();
        require(fits, "locals", locals.len(), format!("give a model for each of the {agents} agents"))?;
        Ok(Self { locals, ..self })
    }
}

impl Rows for Clipped<'_> {
    fn gradient(&self, agent: usize, update: usize, model: &[f64], out: &mut [f64]) {
        self.gradient_while(agent, update, model, out, |_| ());
    }

    fn gradient_while(
        &self,
        agent: usize,
        _: usize,
        model: &[f64],
        out: &mut [f64],
        meanwhile: impl FnMut(usize),
    ) {
        // The ridge is public, and belongs to the update.
        let own = Model { ridge: 0.0, ..self.problem.model(agent) };
        self.gradients.of(agent, &own, model, out, meanwhile);
    }

    fn expect(&self, agent: usize) {
        self.gradients.expect(agent);
    }

    fn fetch(&self, agent: usize, turn: usize) {
        self.gradients.fetch(agent, turn);
    }

    fn local(&self, agent: usize, out: &mut [f64]) {
        match self.locals.get(agent * out.len()..(agent + 1) * out.len()) {
            Some(local) => out.copy_from_slice(local),
            None => out.fill(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::optimum;
    use super::super::problem::tests::small;
    use super::*;
    use sottovoce_learning::Loss;
    use sottovoce_protocol::Law;
    use sottovoce_protocol::personal::{Hidden, Plan};
    use sottovoce_simulator::personal::{FastPersonal, PersonalSetup};

    /// Without noise and clipping, coordinate descent ends where the solver says.
    #[test]
    fn coordinate_descent_reaches_the_joint_optimum() {
        for loss in [Loss::Logistic, Loss::Squared] {
            let problem = small(loss).with_mu(2.0).unwrap();
            let updates = 6000;
            let plan = |agent| {
                let multipliers: Arc<[f64]> = vec![0.0; updates].into();
                let hidden = Hidden { law: Law::Gaussian, sensitivity: 1.0, multipliers };
                let hidden = (problem.train().rows_of(agent) > 0).then_some(hidden);
                Plan { rule: problem.rule(agent), updates, hidden, warm: None, repeats: 0, patience: None }
            };
            let plans: Vec<Plan> = (0..problem.agents()).map(plan).collect();
            let start = vec![0.0; problem.width()];
            let setup = PersonalSetup::new(problem.similarity(), start, &plans, 3).unwrap();
            let rows = Clipped::new(&problem, Clip::None).unwrap();
            let mut run = FastPersonal::new(setup, &rows).unwrap();
            run.advance(usize::MAX);
            let wanted = optimum(&problem).unwrap().models;
            let apart = run.models().iter().zip(&wanted).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-8, "{loss:?}: {apart}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let problem = small(Loss::Squared);
        assert!(Clipped::new(&problem, Clip::Example(f64::NAN)).is_err());
        let rows = Clipped::new(&problem, Clip::ExampleL1(0.5)).unwrap();
        assert!(rows.starting(vec![0.0; 3]).is_err());
    }
}
