//! MovieLens-100K.

use std::path::Path;

use sottovoce_engine::personal::{Problem, RIDGES, Terms, chosen, constant, local, optimum};
use sottovoce_learning::personal::{Agents, Recommendation, movielens};

use super::super::runs::{gaussian, printed, released};
use super::super::seed;
use super::Rows;
use crate::Result;
use crate::registry::Desk;

pub(super) const CONSTANT: &str = "own mean";
pub(super) const LOCAL: &str = "local, lambda = 1/m, as printed";
pub(super) const TUNED: &str = "local, tuned on own rows";
pub(super) const JOINT: &str = "joint optimum, mu = 0.04, not private";
pub(super) const PRINTED: &str = "as printed, epsilon 1";
pub(super) const RELEASED: &str = "honest, epsilon 1, as released";
pub(super) const ALONE: &str = "own block solved, neighbours' models at 0";
pub(super) const OWN: &str = "honest, epsilon 1, own block solved";

pub(super) const NOTES: &str = "As printed: Laplace noise, gradients clipped to 10 in the 2-norm, mu = 0.04, a start of 0, Theorem 1, and as many of 1, 5 or 20 updates as \
     are best on ratings held out of the training ones. These rows do not protect what they say: the 1-norm of clipped gradients is up to sqrt(20) times as large, a \
     rating that changes moves the mean by which its user's others are centred, and the number of updates was chosen without charge. A private warm start is not \
     possible: the squared loss has no bound on its gradients. Honest: Gaussian noise, C = 3, mu = 2, 5 updates, as earlier measurements on these films suggested, centring charged; then everybody \
     solves her own block at home with mu = 20, and tells nobody. Tuned: everybody's own ridge, chosen on her own ratings held out (five times) of features and \
     models alike, which costs nothing. The control solves the same block as if all neighbours were at 0: a ridge, and no message. Tuning on rows that the features were made from would choose far too small ridges.";

/// The paper's `mu` in our units: its squared loss is twice ours.
const MU: f64 = 2.0 * 0.04;
const HONEST_MU: f64 = 2.0 * 2.0;
const HOME_MU: f64 = 2.0 * 20.0;
/// `C/2`.
const CLIP: f64 = 5.0;
const HONEST_CLIP: f64 = 1.5;
const HONEST_UPDATES: usize = 5;
/// Stars from 1 to 5.
const RANGE: f64 = 4.0;
const EPSILONS: [(f64, f64); 3] = [(1.0, 0.9527), (0.5, 0.9545), (0.1, 0.9855)];
const UPDATES: [usize; 3] = [1, 5, 20];
/// Times that ratings are held out for tuning.
const HELD_OUT: u64 = 5;

pub(super) fn rows(folder: &Path, desk: &Desk) -> Result<Rows> {
    let ratings = movielens::read(folder)?;
    let task = Recommendation::default();
    let mut rows = Rows::default();
    for split in 0..if desk.options.quick { 1 } else { 5 } {
        (desk.watch.doing)(&format!("table1: split {}", split + 1));
        let seed = seed(desk, split);
        let agents = task.agents(&ratings, seed)?;
        let held_out = task.validation(&ratings, seed, HELD_OUT)?;
        without_noise(&agents, &held_out, &mut rows)?;
        with_noise(&agents, &held_out[0], seed, &mut rows)?;
    }
    Ok(rows)
}

fn terms(agents: &Agents, mu: f64) -> Terms {
    Terms::published(&agents.train, mu, 1.0)
}

fn without_noise(agents: &Agents, held_out: &[Agents], rows: &mut Rows) -> Result<()> {
    let worth = |models: &[f64]| agents.mean_worth(models);
    let alone = |ridges: &[f64]| local(&agents.train, agents.loss, ridges);
    rows.add(CONSTANT, Some(0.0), None, constant(agents));
    let terms = terms(agents, MU);
    rows.add(LOCAL, Some(0.0), Some(1.2834), worth(&alone(&terms.ridges)?));
    rows.add(TUNED, Some(0.0), None, worth(&alone(&chosen(held_out, &RIDGES)?)?));
    rows.add("local, lambda = 0.2 for all", Some(0.0), None, worth(&alone(&vec![0.2; agents.count()])?));
    rows.add(JOINT, None, Some(0.9502), worth(&optimum(&Problem::new(agents, terms)?)?.models));
    Ok(())
}

fn with_noise(agents: &Agents, held_out: &Agents, seed: u64, rows: &mut Rows) -> Result<()> {
    let problem = Problem::new(agents, terms(agents, MU))?;
    let trial = Problem::new(held_out, terms(held_out, MU))?;
    for (epsilon, paper) in EPSILONS {
        let mut best = (f64::INFINITY, UPDATES[0]);
        for updates in UPDATES {
            let rmse = held_out.mean_worth(&released(&trial, &printed(CLIP, updates, epsilon), seed)?);
            best = if rmse < best.0 { (rmse, updates) } else { best };
        }
        let models = released(&problem, &printed(CLIP, best.1, epsilon), seed)?;
        rows.add(format!("as printed, epsilon {epsilon}"), None, Some(paper), agents.mean_worth(&models));
    }
    let honest = Problem::new(agents, terms(agents, HONEST_MU))?;
    // The control: the same at home, as if nobody had ever said a word.
    let silence = honest.all_own(&vec![0.0; agents.count() * agents.width()], HOME_MU)?;
    rows.add(ALONE, Some(0.0), None, agents.mean_worth(&silence));
    let centring = RANGE * agents.radius;
    for (epsilon, _) in EPSILONS {
        let hiding = gaussian(HONEST_CLIP, centring, HONEST_UPDATES, epsilon);
        let models = released(&honest, &hiding, seed)?;
        let name = |part: &str| format!("honest, epsilon {epsilon}, {part}");
        rows.add(name("as released"), Some(epsilon), None, agents.mean_worth(&models));
        let own = honest.all_own(&models, HOME_MU)?;
        rows.add(name("own block solved"), Some(epsilon), None, agents.mean_worth(&own));
    }
    Ok(())
}
