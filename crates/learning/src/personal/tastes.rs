//! Generated ratings: few of each agent, of items whose features say little by themselves, by people whose tastes go round a circle.
//!
//! ```text
//! features       a point of the unit ball for each item, and a 1: public, and not made from anybody's ratings
//! taste          strength·direction on the circle + own·N(0, I), and a liking of its own for everything
//! stars          3 + taste·features + noise·N(0, 1), rounded, 1 to 5
//! labels         stars less 3, the middle of the scale: public, so that one rating moves one label
//! similarity     as of [`Plane`](super::Plane): people near each other on the circle, which is public (an age, a place)
//! ```
//!
//! With fewer rows than features nobody learns her taste alone, and neighbours have almost the same.

use std::f64::consts::SQRT_2;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Agents;
use super::circle::{Circle, in_ball};
use super::ratings::{LEAST, MOST};
use crate::linear::{add_multiple, dot};
use crate::{Loss, Result, Shards, Table, require};

/// The numbers of the generator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tastes {
    /// People, two or more.
    pub agents: usize,
    /// Features of an item without the 1, two or more.
    pub width: usize,
    /// The fewest ratings of an agent; 0 is legal.
    pub fewest: usize,
    /// The most ratings of an agent.
    pub most: usize,
    /// How much features matter.
    pub strength: f64,
    /// How much tastes differ from those of the place on the circle.
    pub own: f64,
    /// How much stars differ from tastes.
    pub noise: f64,
    /// Ratings of each agent to test on.
    pub tested: usize,
}

impl Default for Tastes {
    fn default() -> Self {
        Self { agents: 60, width: 8, fewest: 4, most: 40, strength: 4.0, own: 0.3, noise: 0.5, tested: 50 }
    }
}

impl Tastes {
    /// Draws people and their ratings.
    pub fn draw(&self, seed: u64) -> Result<Agents> {
        self.check()?;
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let circle = Circle::draw(self.agents, self.width, rng);
        let tastes: Vec<Vec<f64>> = (0..self.agents).map(|agent| self.taste(&circle, agent, rng)).collect();
        let sizes: Vec<usize> = (0..self.agents).map(|_| rng.random_range(self.fewest..=self.most)).collect();
        let train = self.ratings(&tastes, &sizes, rng);
        let test = self.ratings(&tastes, &vec![self.tested; self.agents], rng);
        Ok(Agents { train, test, similar: circle.similar(), loss: Loss::Squared, radius: SQRT_2 })
    }

    fn taste(&self, circle: &Circle, agent: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut taste: Vec<f64> = (0..=self.width).map(|_| self.own * normal(rng)).collect();
        add_multiple(&mut taste[..self.width], self.strength, &circle.direction(agent));
        taste
    }

    fn ratings(&self, tastes: &[Vec<f64>], sizes: &[usize], rng: &mut ChaCha8Rng) -> Shards {
        let (mut features, mut labels) = (Vec::new(), Vec::new());
        let middle = f64::midpoint(LEAST, MOST);
        for (taste, &size) in tastes.iter().zip(sizes) {
            for _ in 0..size {
                let mut item = in_ball(self.width, rng);
                item.push(1.0);
                let stars =
                    (middle + dot(taste, &item) + self.noise * normal(rng)).round().clamp(LEAST, MOST);
                labels.push(stars - middle);
                features.extend(item);
            }
        }
        Shards::in_order(Table::of_finite(features, self.width + 1, labels), sizes)
    }

    fn check(&self) -> Result<()> {
        for (field, value) in [("agents", self.agents), ("width", self.width)] {
            require(value >= 2, field, value, "people lie on a circle; give 2 or more")?;
        }
        let remedy = format!("the most ratings of an agent are {}; give no more", self.most);
        require(self.fewest <= self.most, "fewest", self.fewest, remedy)?;
        for (field, value) in [("strength", self.strength), ("own", self.own), ("noise", self.noise)] {
            require(value.is_finite() && value >= 0.0, field, value, "give a finite number, zero or more")?;
        }
        Ok(())
    }
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    #[test]
    fn ratings_are_on_the_scale_and_rows_within_their_radius() {
        let tastes = Tastes { fewest: 0, ..Tastes::default() };
        let drawn = tastes.draw(2).unwrap();
        assert_eq!((drawn.count(), drawn.width()), (60, 9));
        assert!(drawn.train.table().labels().iter().all(|label| label.abs() <= 2.0 && label.fract() == 0.0));
        Model::require_radius(drawn.train.table(), drawn.radius).unwrap();
        assert_eq!(drawn, tastes.draw(2).unwrap());
        assert!((0..20).any(|seed| tastes.draw(seed).unwrap().train.rows_of(0) < 5));
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let tastes = Tastes::default();
        for (bad, field) in [
            (Tastes { agents: 1, ..tastes }, "agents"),
            (Tastes { fewest: 50, ..tastes }, "fewest"),
            (Tastes { noise: -1.0, ..tastes }, "noise"),
            (Tastes { own: f64::NAN, ..tastes }, "own"),
        ] {
            assert_eq!(bad.draw(0).unwrap_err().at_fault().map(|fault| fault.field), Some(field));
        }
    }
}
