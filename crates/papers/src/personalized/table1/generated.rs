//! Generated ratings.

use sottovoce_engine::personal::{Problem, RIDGES, Terms, constant, optimum, tuned};
use sottovoce_learning::personal::Tastes;

use super::super::runs::{gaussian, released};
use super::super::seed;
use super::Rows;
use crate::Result;
use crate::registry::Desk;

pub(super) const TUNED: &str = "local, tuned on own rows";
pub(super) const OWN: &str = "honest, epsilon 4, own block solved";

pub(super) const NOTES: &str = "Beside it, ratings drawn from tastes that go round a circle: 500 people with 4 to 40 ratings each, features of items that nobody's ratings \
     went into, labels centred by the middle of the scale, similarities by the place on the circle. Nobody can learn nine numbers from a handful of rows, and \
     neighbours have almost the same taste. Gaussian noise; parameters chosen on other draws, where epsilon 4 was enough and epsilon 1 was not.";

const MU: f64 = 10.0;
const RIDGE: f64 = 0.01;
const CLIP: f64 = 2.0;
const UPDATES: usize = 20;

pub(super) fn rows(desk: &Desk) -> Result<Rows> {
    let (people, draws) = if desk.options.quick { (60, 2) } else { (500, 5) };
    let mut rows = Rows::default();
    for draw in 0..draws {
        (desk.watch.doing)(&format!("table1: draw {}", draw + 1));
        let seed = seed(desk, draw);
        let agents = Tastes { agents: people, ..Tastes::default() }.draw(seed)?;
        rows.add("own mean", Some(0.0), None, constant(&agents));
        let (alone, _) = tuned(&agents.train, agents.loss, &RIDGES, seed)?;
        rows.add(TUNED, Some(0.0), None, agents.mean_worth(&alone));
        let problem = Problem::new(&agents, Terms::alike(&agents.train, MU, RIDGE))?;
        rows.add("joint optimum, not private", None, None, agents.mean_worth(&optimum(&problem)?.models));
        for epsilon in [4.0, 1.0] {
            let models = released(&problem, &gaussian(CLIP, 0.0, UPDATES, epsilon), seed)?;
            let name = |part: &str| format!("honest, epsilon {epsilon}, {part}");
            rows.add(name("as released"), Some(epsilon), None, agents.mean_worth(&models));
            let own = problem.all_own(&models, MU)?;
            rows.add(name("own block solved"), Some(epsilon), None, agents.mean_worth(&own));
        }
    }
    Ok(rows)
}
