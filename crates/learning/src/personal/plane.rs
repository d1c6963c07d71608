//! The synthetic task of Bellet, Guerraoui, Taziki and Tommasi (their section 5.1, after Vanhaesebrouck, Bellet and Tommasi): linear classification.
//!
//! ```text
//! targets        directions in a plane of R^p, one for each agent
//! similarity     exp((cos(angle between targets) - 1)/0.1), below 0.01 dropped: about 31 neighbours of 100
//! rows           m_i uniform from 10 to 100; points uniform in the unit ball; labels by the target's side, one in twenty flipped
//! tests          100 points for each agent, labels not flipped
//! ```
//!
//! Similarities are made from the targets, which agents do not know: as in the paper, they are given and public.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Agents;
use super::circle::{Circle, in_ball};
use crate::linear::dot;
use crate::{Error, Loss, Result, Shards, Table};

/// The task's numbers; the paper's by default, in 100 dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// Agents, two or more.
    pub agents: usize,
    /// Dimensions of a point, two or more.
    pub width: usize,
    /// The fewest rows of an agent; 0 is legal.
    pub fewest: usize,
    /// The most rows of an agent.
    pub most: usize,
    /// The share of labels that are flipped.
    pub flipped: f64,
    /// Test rows of each agent.
    pub tested: usize,
}

impl Default for Plane {
    fn default() -> Self {
        Self { agents: 100, width: 100, fewest: 10, most: 100, flipped: 0.05, tested: 100 }
    }
}

impl Plane {
    /// Draws it.
    pub fn draw(&self, seed: u64) -> Result<Agents> {
        self.check()?;
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let circle = Circle::draw(self.agents, self.width, rng);
        let sizes: Vec<usize> = (0..self.agents).map(|_| rng.random_range(self.fewest..=self.most)).collect();
        let train = self.points(&circle, &sizes, self.flipped, rng);
        let test = self.points(&circle, &vec![self.tested; self.agents], 0.0, rng);
        Ok(Agents { train, test, similar: circle.similar(), loss: Loss::Logistic, radius: 1.0 })
    }

    fn points(&self, circle: &Circle, sizes: &[usize], flipped: f64, rng: &mut ChaCha8Rng) -> Shards {
        let (mut features, mut labels) = (Vec::new(), Vec::new());
        for (agent, &size) in sizes.iter().enumerate() {
            let target = circle.direction(agent);
            for _ in 0..size {
                let point = in_ball(self.width, rng);
                let side = if dot(&target, &point) >= 0.0 { 1.0 } else { -1.0 };
                labels.push(if rng.random::<f64>() < flipped { -side } else { side });
                features.extend(point);
            }
        }
        Shards::in_order(Table::of_finite(features, self.width, labels), sizes)
    }

    fn check(&self) -> Result<()> {
        let refuse = |field, value: String, remedy: &str| Err(Error::parameter(field, value, remedy));
        match self {
            Self { agents: 0 | 1, .. } => refuse(
                "agents",
                self.agents.to_string(),
                "everybody needs somebody to be similar to; give 2 or more",
            ),
            Self { width: 0 | 1, .. } => {
                refuse("width", self.width.to_string(), "targets lie in a plane; give 2 or more")
            }
            Self { fewest, most, .. } if fewest > most => refuse(
                "fewest",
                fewest.to_string(),
                &format!("the most rows of an agent are {most}; give no more"),
            ),
            Self { flipped, .. } if !(0.0..=1.0).contains(flipped) => {
                refuse("flipped", flipped.to_string(), "give a share from 0 to 1")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    #[test]
    fn the_papers_numbers() {
        let drawn = Plane { width: 20, ..Plane::default() }.draw(1).unwrap();
        assert_eq!((drawn.count(), drawn.width(), drawn.test.rows_of(99)), (100, 20, 100));
        assert!((0..100).all(|agent| (10..=100).contains(&drawn.train.rows_of(agent))));
        Model::require_radius(drawn.train.table(), drawn.radius).unwrap();
        let mean = drawn.train.table().rows() as f64 / 100.0;
        assert!((45.0..65.0).contains(&mean), "{mean}");
        assert_eq!(drawn, Plane { width: 20, ..Plane::default() }.draw(1).unwrap());
    }

    #[test]
    fn labels_are_flipped_as_often_as_said() {
        let plane = Plane { agents: 50, width: 3, fewest: 100, ..Plane::default() };
        let drawn = plane.draw(5).unwrap();
        let circle = Circle::draw(50, 3, &mut ChaCha8Rng::seed_from_u64(5));
        let wrong = |shards: &Shards| {
            let of = |agent: usize| {
                let (shard, target) = (shards.shard(agent), circle.direction(agent));
                let rows = shard.features.chunks_exact(3).zip(shard.labels);
                rows.filter(|(row, label)| dot(&target, row) * **label < 0.0).count()
            };
            (0..50).map(of).sum::<usize>() as f64 / shards.table().rows() as f64
        };
        assert!((wrong(&drawn.train) - 0.05).abs() < 0.012, "{}", wrong(&drawn.train));
        assert_eq!(wrong(&drawn.test), 0.0);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let plane = Plane::default();
        for (bad, field) in [
            (Plane { agents: 1, ..plane }, "agents"),
            (Plane { width: 1, ..plane }, "width"),
            (Plane { fewest: 101, ..plane }, "fewest"),
            (Plane { flipped: f64::NAN, ..plane }, "flipped"),
        ] {
            assert_eq!(bad.draw(0).unwrap_err().at_fault().map(|fault| fault.field), Some(field));
        }
    }
}
