//! Ratings as a task for agents: everybody learns what she thinks of items from their features.

use sottovoce_privacy::noise::simulation::Seed;

use super::factors::{Fit, features};
use super::nearest::nearest;
use super::{Agents, Ratings};
use crate::linear::norm;
use crate::{Error, Loss, Result, Shards, Table, require};

/// What is subtracted from ratings before they are learned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Centre {
    /// Each user's own mean over her training ratings, as in the paper. It is private: one rating that changes moves all labels of its user, which a
    /// sensitivity must cover.
    OwnMean,
    /// A public number: labels move one by one.
    Public(f64),
}

/// How features and similarities are made; the paper's choices by default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommendation {
    /// Features of an item.
    pub width: usize,
    /// The weighted ridge of alternating least squares.
    pub ridge: f64,
    /// How many times users and items take their turns.
    pub turns: usize,
    /// How many nearest neighbours everybody has, at least.
    pub neighbours: usize,
    /// What is subtracted from ratings.
    pub centre: Centre,
}

impl Default for Recommendation {
    fn default() -> Self {
        Self { width: 20, ridge: 0.05, turns: 20, neighbours: 10, centre: Centre::OwnMean }
    }
}

impl Recommendation {
    /// Splits everybody's ratings (four fifths to train on), and makes features and neighbours of the former.
    pub fn agents(&self, ratings: &Ratings, seed: u64) -> Result<Agents> {
        let (train, test) = ratings.split(seed);
        self.of_parts(&train, &test, seed)
    }

    /// The same within the training ratings of [`Recommendation::agents`], so often: to choose parameters without a look at the test rows. Features and
    /// neighbours are made anew: those of all training ratings know what was held out, and models of them would seem better than they are.
    pub fn validation(&self, ratings: &Ratings, seed: u64, times: u64) -> Result<Vec<Agents>> {
        let (train, _) = ratings.split(seed);
        let inner = |time: u64| {
            let seed = Seed(seed).part(1 + time).0;
            let (train, test) = train.split(seed);
            self.of_parts(&train, &test, seed)
        };
        (0..times).map(inner).collect()
    }

    fn of_parts(&self, train: &Ratings, test: &Ratings, seed: u64) -> Result<Agents> {
        self.check(train)?;
        let centre = |user| match self.centre {
            Centre::OwnMean => train.mean(user),
            Centre::Public(number) => number,
        };
        let (items, centres) = (train.items(), (0..train.users()).map(centre).collect::<Vec<f64>>());
        let (train, test) = (train.less(&centres), test.less(&centres));
        let fit = Fit { width: self.width, ridge: self.ridge, turns: self.turns };
        let features = features(&train, items, fit, seed);
        // Over all items, rated or not: as public as they are.
        let radius = features.chunks_exact(self.width).map(norm).fold(0.0, f64::max);
        Ok(Agents {
            similar: nearest(&train, items, self.neighbours),
            train: self.rows(&train, &features)?,
            test: self.rows(&test, &features)?,
            loss: Loss::Squared,
            radius,
        })
    }

    fn rows(&self, by_user: &[Vec<(usize, f64)>], features: &[f64]) -> Result<Shards> {
        let all = || by_user.iter().flatten();
        let row = |&(item, _): &(usize, f64)| &features[item * self.width..][..self.width];
        let table = Table::new(
            all().flat_map(row).copied().collect(),
            self.width,
            all().map(|(_, label)| *label).collect(),
        )?;
        Ok(Shards::in_order(table, &by_user.iter().map(Vec::len).collect::<Vec<_>>()))
    }

    fn check(&self, ratings: &Ratings) -> Result<()> {
        let remedy = "everybody needs somebody to be similar to; give 2 or more";
        require(ratings.users() >= 2, "users", ratings.users(), remedy)?;
        for (field, value) in [("width", self.width), ("turns", self.turns), ("neighbours", self.neighbours)]
        {
            require(value != 0, field, 0, "give 1 or more")?;
        }
        require(self.ridge.is_finite() && self.ridge > 0.0, "ridge", self.ridge, "give a positive number")?;
        match self.centre {
            Centre::Public(number) if !number.is_finite() => {
                Err(Error::parameter("centre", number, "give a finite number"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use crate::personal::Rating;

    fn ratings() -> Ratings {
        let stars = |user: usize, item: usize| 1.0 + ((user * item + user / 3 + item) % 5) as f64;
        let each = (0..8).flat_map(|user| (0..12).map(move |item| (user, item)));
        let list: Vec<Rating> = each
            .filter(|(user, item)| (user + item) % 3 != 0)
            .map(|(user, item)| Rating { user, item, stars: stars(user, item) })
            .collect();
        Ratings::new(8, 13, &list).unwrap()
    }

    #[test]
    fn ratings_become_rows_around_a_centre() {
        let task = Recommendation { width: 3, neighbours: 2, ..Recommendation::default() };
        let agents = task.agents(&ratings(), 3).unwrap();
        assert_eq!((agents.count(), agents.width()), (8, 3));
        Model::require_radius(agents.train.table(), agents.radius).unwrap();
        Model::require_radius(agents.test.table(), agents.radius).unwrap();
        for agent in 0..8 {
            let labels = agents.train.shard(agent).labels;
            assert!(labels.iter().sum::<f64>().abs() < 1e-12);
            assert_eq!((labels.len(), agents.test.rows_of(agent)), (7, 1));
            assert!(agents.similar.iter().any(|&(i, j, _)| i == agent || j == agent));
        }
        let middle = Recommendation { centre: Centre::Public(3.0), ..task }.agents(&ratings(), 3).unwrap();
        assert!(
            middle.train.table().labels().iter().all(|label| [-2.0, -1.0, 0.0, 1.0, 2.0].contains(label))
        );
        assert_eq!(task.agents(&ratings(), 3).unwrap(), agents);
        let inner = task.validation(&ratings(), 3, 2).unwrap();
        assert_ne!(inner[0], inner[1]);
        for (agent, inner) in (0..8).flat_map(|agent| inner.iter().map(move |inner| (agent, inner))) {
            assert_eq!((inner.train.rows_of(agent), inner.test.rows_of(agent)), (6, 1));
        }
    }

    #[test]
    fn what_makes_no_features_is_refused() {
        let task = Recommendation::default();
        for (bad, field) in [
            (Recommendation { width: 0, ..task }, "width"),
            (Recommendation { ridge: f64::NAN, ..task }, "ridge"),
            (Recommendation { neighbours: 0, ..task }, "neighbours"),
            (Recommendation { centre: Centre::Public(f64::NAN), ..task }, "centre"),
        ] {
            let refused = bad.agents(&ratings(), 0).unwrap_err();
            assert_eq!(refused.at_fault().map(|fault| fault.field), Some(field));
        }
        assert!(task.agents(&Ratings::new(1, 1, &[]).unwrap(), 0).is_err());
    }
}
