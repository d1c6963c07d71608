//! Coordinate descent as the figures run it: on a perfect network, by the fast driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use sottovoce_engine::personal::{Amount, Budgets, Clipped, Hiding, Hidings, Problem};
use sottovoce_learning::Clip;
use sottovoce_privacy::Law;
use sottovoce_privacy::allotment::{Allocation, Method};
use sottovoce_protocol::Release;
use sottovoce_protocol::personal::{Hidden, Plan, Warm};
use sottovoce_simulator::personal::{FastPersonal, PersonalSetup};

use crate::Result;

/// `exp(-5)`, the paper's delta. It is above `1/m` for agents with more than 148 rows.
pub(super) const DELTA: f64 = 0.006_737_946_999_085_467;

/// What everybody may lose, shared alike by her updates.
pub(super) fn budget(epsilon: f64, method: Method) -> Amount {
    let (others, allocation) = (BTreeMap::new(), Allocation::Uniform);
    Amount::Budget(Budgets { epsilon, others, delta: DELTA, method, allocation })
}

/// Gaussian noise for gradients clipped in the 2-norm: proven.
pub(super) fn gaussian(clip: f64, centring: f64, updates: usize, epsilon: f64) -> (Hiding, Clip) {
    let amount = budget(epsilon, Method::Gdp);
    (Hiding { law: Law::Gaussian, clip, centring, updates, amount, warm: None }, Clip::Example(clip))
}

/// As printed: Laplace noise for gradients clipped in the 2-norm, whose 1-norm may be larger. It does not protect as it says.
pub(super) fn printed(clip: f64, updates: usize, epsilon: f64) -> (Hiding, Clip) {
    let amount = budget(epsilon, Method::Theorem1);
    (Hiding { law: Law::Laplace, clip, centring: 0.0, updates, amount, warm: None }, Clip::Example(clip))
}

/// Without noise: it protects nobody.
pub(super) fn silent(updates: usize) -> (Hiding, Clip) {
    let (clip, amount) = (1.0, Amount::Fixed(0.0));
    (Hiding { law: Law::Gaussian, clip, centring: 0.0, updates, amount, warm: None }, Clip::None)
}

/// The models that everybody has released in the end, from a start of 0.
pub(super) fn released(problem: &Problem, (hiding, clip): &(Hiding, Clip), seed: u64) -> Result<Vec<f64>> {
    of_plans(problem, &hiding.plans(problem)?, *clip, (0.0, seed))
}

/// The same of everybody's part, which may begin with a warm start, or else at this number in every place.
pub(super) fn of_plans(
    problem: &Problem,
    hidings: &Hidings,
    clip: Clip,
    (start, seed): (f64, u64),
) -> Result<Vec<f64>> {
    let rows = Clipped::new(problem, clip)?;
    let rows = match &hidings.locals {
        Some(locals) => rows.starting(locals.clone())?,
        None => rows,
    };
    let start = vec![start; problem.width()];
    let setup = PersonalSetup::new(problem.similarity(), start, &hidings.plans, seed)?;
    let mut run = FastPersonal::new(setup, &rows)?;
    run.advance(usize::MAX);
    Ok(run.models().to_vec())
}

/// Without noise, from these models: `see` is given the vectors sent and the models after every `every` wake-ups, so many times.
pub(super) fn along(
    problem: &Problem,
    models: Vec<f64>,
    (every, times): (usize, usize),
    seed: u64,
    mut see: impl FnMut(u64, &[f64]),
) -> Result<()> {
    // Enough that nobody is done before the end: wake-ups are spread like Poisson numbers.
    let mean = (every * times).div_ceil(problem.agents());
    let updates = mean + 10 * (mean as f64).sqrt() as usize + 20;
    let multipliers: Arc<[f64]> = vec![0.0; updates].into();
    let plan = |agent| Plan {
        rule: problem.rule(agent),
        updates,
        hidden: Some(Hidden { law: Law::Gaussian, sensitivity: 1.0, multipliers: multipliers.clone() }),
        warm: Some(Warm { release: Some(Release::gaussian(1.0, 0.0)), wakes: 0 }),
        repeats: 0,
        patience: None,
    };
    let plans: Vec<Plan> = (0..problem.agents()).map(plan).collect();
    let rows = Clipped::new(problem, Clip::None)?.starting(models)?;
    let setup = PersonalSetup::new(problem.similarity(), vec![0.0; problem.width()], &plans, seed)?;
    let mut run = FastPersonal::new(setup, &rows)?;
    see(0, run.models());
    for _ in 0..times {
        run.advance(every);
        see(run.sent(), run.models());
    }
    Ok(())
}
