//! What is achieved without collaboration, or with one model for all.
//!
//! What an agent does with her own rows and tells nobody costs no privacy: so a local model may be tuned as well as its rows allow, and every gain of
//! collaboration is to be measured against that.

use rand::seq::SliceRandom;
use sottovoce_learning::personal::Agents;
use sottovoce_learning::{Loss, Model, Shard, Shards};
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_views::parallel;

use super::Problem;
use super::block::Block;
use crate::{Error, Result, require};

/// Ridges that agents try.
pub const RIDGES: [f64; 9] = [1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.2, 0.5, 1.0, 3.0];
/// Parts of an agent's rows, each of which the others are tried on.
const FOLDS: usize = 5;

/// The mean over agents of what the best constant of their own is worth: the RMSE of their mean label, or the accuracy of their commonest one.
pub fn constant(agents: &Agents) -> f64 {
    let own = |agent: usize| {
        let (train, test) = (agents.train.shard(agent).labels, agents.test.shard(agent).labels);
        let mean = train.iter().sum::<f64>() / train.len().max(1) as f64;
        let wrong = |label: &f64| match agents.loss {
            Loss::Squared => (label - mean) * (label - mean),
            _ => f64::from(u8::from((*label >= 0.0) != (mean >= 0.0))),
        };
        let share = test.iter().map(wrong).sum::<f64>() / test.len() as f64;
        (!test.is_empty()).then_some(if agents.loss == Loss::Squared { share.sqrt() } else { 1.0 - share })
    };
    let worths: Vec<f64> = (0..agents.count()).filter_map(own).collect();
    worths.iter().sum::<f64>() / worths.len() as f64
}

/// Everybody's model of her own rows alone, one after the other, with these ridges; 0 where she has no rows.
pub fn local(train: &Shards, loss: Loss, ridges: &[f64]) -> Result<Vec<f64>> {
    let given = ridges.len();
    require(
        given == train.peers(),
        "ridges",
        given,
        format!("give one for each of the {} agents", train.peers()),
    )?;
    let width = train.table().width();
    let each = ridges.iter().enumerate().map(|(agent, &ridge)| alone(loss, width, ridge, train.shard(agent)));
    Ok(each.collect::<Result<Vec<_>>>()?.concat())
}

/// The same where each agent chooses among ridges by cross-validation over her own rows; with the ridges chosen. Who has a single row, or none, takes the
/// largest.
pub fn tuned(train: &Shards, loss: Loss, ridges: &[f64], seed: u64) -> Result<(Vec<f64>, Vec<f64>)> {
    require(!ridges.is_empty(), "ridges", 0, "give at least one to choose from")?;
    let width = train.table().width();
    let largest =
        ridges.iter().enumerate().fold(0, |best, (i, ridge)| if *ridge > ridges[best] { i } else { best });
    let chosen = (0..train.peers()).map(|agent| {
        let solve = |ridge: &f64, rows: Shard<'_>| alone(loss, width, *ridge, rows);
        Ok(ridges[choose((train, loss, agent), (ridges, largest), solve, seed)?])
    });
    let chosen = chosen.collect::<Result<Vec<_>>>()?;
    Ok((local(train, loss, &chosen)?, chosen))
}

/// The ridge of each agent whose models cost least on her rows held out of `validations`, summed over these: for tasks whose features know the training
/// rows, and must be made anew without the rows held out. Of equal ones she takes the last.
pub fn chosen(validations: &[Agents], ridges: &[f64]) -> Result<Vec<f64>> {
    let Some(first) = validations.first() else {
        return Err(Error::parameter("validations", 0, "give at least one"));
    };
    let mut costs = vec![vec![0.0; ridges.len()]; first.count()];
    for agents in validations {
        let (loss, width) = (agents.loss, agents.width());
        let free = Model { loss, width, ridge: 0.0 };
        for (agent, costs) in costs.iter_mut().enumerate() {
            sottovoce_fault::stop::look();
            for (cost, &ridge) in costs.iter_mut().zip(ridges) {
                let model = alone(loss, width, ridge, agents.train.shard(agent))?;
                let rows = agents.test.shard(agent);
                *cost += rows.labels.len() as f64 * free.objective(&model, rows);
            }
        }
    }
    let least = |costs: &Vec<f64>| {
        let better = |best: (f64, f64), next: (f64, f64)| if next.0 <= best.0 { next } else { best };
        costs.iter().copied().zip(ridges.iter().copied()).fold((f64::INFINITY, 0.0), better).1
    };
    Ok(costs.iter().map(least).collect())
}

/// Weights of own losses that agents try at home, in units of the problem's.
const WEIGHTS: [f64; 6] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// Everybody's model after her last release: her own block for her neighbours' models, or her own rows alone; how much of which she chooses by cross-validation
/// over her own rows. Nobody is told, so it costs nothing.
///
/// # Panics
///
/// If there are not as many models as agents.
pub fn home(problem: &Problem, models: &[f64], seed: u64) -> Result<Vec<f64>> {
    let one = |agent: usize| home_of(problem, models, agent, seed);
    let all = parallel::map(problem.agents(), one, |_| ()).into_iter().collect::<Result<Vec<_>>>()?;
    Ok(all.concat())
}

fn home_of(problem: &Problem, models: &[f64], agent: usize, seed: u64) -> Result<Vec<f64>> {
    let (own, nothing) = (problem.model(agent), vec![0.0; problem.width()]);
    let mut towards = nothing.clone();
    let pull = problem.pulled(models, agent, &mut towards);
    let together = WEIGHTS
        .map(|weight| (weight * problem.terms().mu * pull * problem.confidence(agent), pull, own.ridge));
    let candidates: Vec<(f64, f64, f64)> = together.into_iter().collect();
    let solve = |&(weight, pull, ridge): &(f64, f64, f64), rows: Shard<'_>| {
        let towards = if pull > 0.0 { &towards } else { &nothing };
        Ok(Block { model: Model { ridge, ..own }, rows, weight, pull, towards }.solve()?.model)
    };
    // With too few rows to choose by, as the problem has it.
    let chosen = choose((problem.train(), problem.loss(), agent), (&candidates, 1), solve, seed)?;
    solve(&candidates[chosen], problem.rows(agent))
}

/// One model for all, of everybody's rows together: as if there were no differences, and no privacy.
pub fn global(train: &Shards, loss: Loss, ridge: f64) -> Result<Vec<f64>> {
    Ok(alone(loss, train.table().width(), ridge, train.table().view())?.repeat(train.peers()))
}

fn alone(loss: Loss, width: usize, ridge: f64, rows: Shard<'_>) -> Result<Vec<f64>> {
    Ok(Block::alone(Model { loss, width, ridge }, rows, &vec![0.0; width]).solve()?.model)
}

/// The candidate whose models cost least on rows they were not made from, of equal ones the last; the default where there are too few rows to tell.
fn choose<C>(
    (train, loss, agent): (&Shards, Loss, usize),
    (candidates, default): (&[C], usize),
    solve: impl Fn(&C, Shard<'_>) -> Result<Vec<f64>>,
    seed: u64,
) -> Result<usize> {
    let (rows, width) = (train.shard(agent), train.table().width());
    let mut order: Vec<usize> = (0..train.rows_of(agent)).collect();
    order.shuffle(&mut Seed(seed).stream(Stream::Shuffle, agent as u64, 0));
    let folds = FOLDS.min(order.len()); // whole numbers
    if folds < 2 {
        return Ok(default);
    }
    let parts: Vec<[Part; 2]> = (0..folds)
        .map(|fold| [false, true].map(|held| Part::of(rows, &order, |place| (place % folds == fold) == held)))
        .collect();
    let mut best = (f64::INFINITY, default);
    for (place, candidate) in candidates.iter().enumerate() {
        let mut cost = 0.0;
        for [kept, held] in &parts {
            sottovoce_fault::stop::look();
            let model = solve(candidate, kept.shard(width))?;
            let rows = held.shard(width);
            cost += rows.labels.len() as f64 * Model { loss, width, ridge: 0.0 }.objective(&model, rows);
        }
        if cost <= best.0 {
            best = (cost, place);
        }
    }
    Ok(best.1)
}

/// Some rows.
struct Part {
    features: Vec<f64>,
    labels: Vec<f64>,
}

impl Part {
    /// The rows at the places that suit.
    fn of(rows: Shard<'_>, order: &[usize], suits: impl Fn(usize) -> bool) -> Self {
        let chosen = || order.iter().enumerate().filter(|(place, _)| suits(*place)).map(|(_, row)| *row);
        let features = chosen().flat_map(|row| &rows.features[row * rows.width..][..rows.width]);
        Self { features: features.copied().collect(), labels: chosen().map(|row| rows.labels[row]).collect() }
    }

    fn shard(&self, width: usize) -> Shard<'_> {
        Shard { features: &self.features, labels: &self.labels, width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_learning::personal::{Plane, Tastes};

    #[test]
    fn one_model_for_all_is_worth_less_than_ones_own_where_people_differ() {
        let drawn = Plane { width: 3, fewest: 60, ..Plane::default() }.draw(1).unwrap();
        let alike = vec![0.02; drawn.count()];
        let own = drawn.mean_worth(&local(&drawn.train, drawn.loss, &alike).unwrap());
        let one = drawn.mean_worth(&global(&drawn.train, drawn.loss, 0.02).unwrap());
        assert!(own > 0.85 && one < 0.65, "{own} {one}");
        assert!((0.4..0.6).contains(&constant(&drawn)), "{}", constant(&drawn));
    }

    #[test]
    fn ridges_are_chosen_by_rows_held_out() {
        let drawn = Tastes { agents: 10, fewest: 2, most: 12, ..Tastes::default() }.draw(3).unwrap();
        let inner = [1, 2].map(|seed| drawn.validation(seed).unwrap());
        let ridges = chosen(&inner, &RIDGES).unwrap();
        for (agent, &ridge) in ridges.iter().enumerate() {
            let cost = |ridge: f64| -> f64 {
                let of = |agents: &Agents| {
                    let model = alone(agents.loss, 9, ridge, agents.train.shard(agent)).unwrap();
                    let rows = agents.test.shard(agent);
                    let errors = rows.features.chunks_exact(9).zip(rows.labels);
                    errors
                        .map(|(x, y)| (x.iter().zip(&model).map(|(x, t)| x * t).sum::<f64>() - y).powi(2))
                        .sum::<f64>()
                };
                inner.iter().map(of).sum()
            };
            assert!(RIDGES.iter().all(|&other| cost(ridge) <= cost(other) * (1.0 + 1e-12)), "{agent}");
        }
        assert!(chosen(&[], &RIDGES).is_err());
    }

    #[test]
    fn tuning_helps_and_looks_at_no_test_row() {
        let drawn = Tastes { fewest: 0, most: 12, ..Tastes::default() }.draw(3).unwrap();
        let (models, ridges) = tuned(&drawn.train, drawn.loss, &RIDGES, 7).unwrap();
        let tuned_worth = drawn.mean_worth(&models);
        let little = local(&drawn.train, drawn.loss, &vec![1e-3; drawn.count()]).unwrap();
        assert!(tuned_worth < drawn.mean_worth(&little) - 0.05, "{tuned_worth}");
        assert!(ridges.iter().all(|ridge| RIDGES.contains(ridge)));
        let single = (0..drawn.count()).filter(|&agent| drawn.train.rows_of(agent) < 2);
        assert!(single.map(|agent| ridges[agent]).all(|ridge| ridge == 3.0));
        assert_eq!(tuned(&drawn.train, drawn.loss, &RIDGES, 7).unwrap().0, models);
        assert!(
            tuned(&drawn.train, drawn.loss, &[], 7).is_err()
                && local(&drawn.train, drawn.loss, &[1.0]).is_err()
        );
    }
}
