//! What someone who sees every message makes of them: the private draws of an agent.
//!
//! All that an agent says is a function of her draws and of what was said before. So a listener repeats her round on what she heard, with a gradient of 0, and
//! compares: with plain steps and momentum the difference of models is the draw times the rate, with DSGT the difference of trackers is the draw itself. Adam's
//! steps are no multiples of draws: where each is heard, draws are found behind them (`adam.rs`); where several are made before she speaks again, differences still
//! tell of them, and less.

use sottovoce_protocol::consensus::{Learner, Method, Optimiser, Plan, Rule, Said};
use sottovoce_protocol::{Peer, Shared};
use sottovoce_topology::mixing::Mixing;

/// What Adam keeps of its means, where one of its steps is all that happens between two messages: then rounds are repeated without it, and directions are heard.
pub(super) fn adam_alone(plan: &Plan) -> Option<(f64, f64)> {
    match (plan.method, plan.optimiser.rule) {
        (Method::Dsgd { .. }, Rule::Adam { beta, square, .. }) if plan.optimiser.kept => Some((beta, square)),
        _ => None,
    }
}

/// An agent's round, repeated without her gradient.
pub(super) struct Heard {
    without: Learner,
    rate: f64,
}

impl Heard {
    /// Before a round: where the target stands, and what everybody says.
    pub(super) fn before(
        plan: &Plan,
        mixing: &Mixing,
        (target, round): (Peer, usize),
        learners: &[&Learner],
    ) -> Self {
        let bare = Plan { optimiser: Optimiser::new(Rule::Sgd), ..*plan };
        let plan = if adam_alone(plan).is_some() { &bare } else { plan };
        let said: Vec<Said> = learners.iter().map(|learner| learner.said()).collect();
        let heard: Vec<(f64, &Said)> =
            mixing.row(target).map(|(peer, weight)| (weight, &said[peer])).collect();
        let mut without = Learner::clone(learners[target]);
        without.hear(plan, round, &heard);
        let width = without.model().len();
        while !without.step(plan, round, Shared::zeros(width)) {}
        Self { without, rate: plan.rates.at(round, plan.iterations) }
    }

    /// After it: the draw, or the direction of a step by Adam alone.
    pub(super) fn draw(&self, after: &Learner) -> Vec<f64> {
        let (said, without) = (after.said(), self.without.said());
        let apart = |x: &[f32], y: &[f32], scale: f64| {
            x.iter().zip(y).map(|(x, y)| (f64::from(*x) - f64::from(*y)) / scale).collect()
        };
        match (&said.tracker, &without.tracker) {
            (Some(tracker), Some(other)) => apart(tracker, other, 1.0),
            _ => apart(&without.model, &said.model, self.rate),
        }
    }
}
