//! Agents on a circle: neighbours on it are alike.
//!
//! The targets of the synthetic tasks lie on the unit circle of a plane of `R^p`. Isotropic targets of many dimensions would be almost at right angles to
//! each other, and nobody would have anybody to learn from.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::linear::{add_multiple, dot, norm};

/// `gamma` of the paper: weights are `exp((cos - 1)/gamma)`.
const BANDWIDTH: f64 = 0.1;
/// Smaller weights are dropped.
const NEGLIGIBLE: f64 = 0.01;

/// Directions on the circle of a plane.
pub(super) struct Circle {
    angles: Vec<f64>,
    plane: [Vec<f64>; 2],
}

impl Circle {
    /// A plane of `R^width`, and so many angles.
    pub(super) fn draw(agents: usize, width: usize, rng: &mut ChaCha8Rng) -> Self {
        let first = unit(width, rng);
        let second = loop {
            let mut other = unit(width, rng);
            let along = dot(&first, &other);
            add_multiple(&mut other, -along, &first);
            let length = norm(&other);
            // What is left of a vector that was nearly parallel is mostly rounding.
            if length > 0.01 {
                other.iter_mut().for_each(|x| *x /= length);
                break other;
            }
        };
        let angles = (0..agents).map(|_| TAU * rng.random::<f64>()).collect();
        Self { angles, plane: [first, second] }
    }

    /// The direction of an agent.
    pub(super) fn direction(&self, agent: usize) -> Vec<f64> {
        let (sine, cosine) = self.angles[agent].sin_cos();
        let [first, second] = &self.plane;
        first.iter().zip(second).map(|(x, y)| cosine * x + sine * y).collect()
    }

    /// Who resembles whom: all weights that are not negligible, and the largest of whoever has no other.
    pub(super) fn similar(&self) -> Vec<(usize, usize, f64)> {
        let agents = self.angles.len();
        let weight = |i: usize, j: usize| (((self.angles[i] - self.angles[j]).cos() - 1.0) / BANDWIDTH).exp();
        let pairs = (0..agents).flat_map(|i| (i + 1..agents).map(move |j| (i, j)));
        let mut similar: Vec<_> =
            pairs.map(|(i, j)| (i, j, weight(i, j))).filter(|(.., weight)| *weight >= NEGLIGIBLE).collect();
        let mut alone = vec![true; agents];
        similar.iter().for_each(|&(i, j, _)| (alone[i], alone[j]) = (false, false));
        for agent in (0..agents).filter(|&agent| alone[agent]) {
            let others = (0..agents).filter(|&other| other != agent);
            let nearest = others.max_by(|a, b| weight(agent, *a).total_cmp(&weight(agent, *b)));
            let pair = nearest.map(|other| (agent.min(other), agent.max(other)));
            similar.extend(pair.map(|(i, j)| (i, j, weight(i, j))));
        }
        similar.sort_by_key(|&(i, j, _)| (i, j));
        similar.dedup_by_key(|&mut (i, j, _)| (i, j));
        similar
    }
}

/// A direction, uniform.
fn unit(width: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let drawn: Vec<f64> = (0..width).map(|_| StandardNormal.sample(rng)).collect();
    let length = norm(&drawn);
    drawn.iter().map(|x| x / length).collect()
}

/// A point of the unit ball, uniform, of numbers that 32 bits hold.
pub(super) fn in_ball(width: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let length = rng.random::<f64>().powf(1.0 / width as f64);
    unit(width, rng).iter().map(|x| shorter(length * x)).collect()
}

/// The nearest 32-bit number that is not larger in size: what was in the ball stays there.
fn shorter(x: f64) -> f64 {
    let near = x as f32;
    let inner = if f64::from(near).abs() > x.abs() { f32::from_bits(near.to_bits() - 1) } else { near };
    f64::from(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn directions_are_units_at_the_angles_drawn() {
        let circle = Circle::draw(6, 40, &mut ChaCha8Rng::seed_from_u64(1));
        for (i, j) in [(0, 0), (0, 1), (2, 5)] {
            let cosine = dot(&circle.direction(i), &circle.direction(j));
            assert!((cosine - (circle.angles[i] - circle.angles[j]).cos()).abs() < 1e-14);
        }
    }

    #[test]
    fn everybody_has_somebody() {
        let plane = [vec![1.0, 0.0], vec![0.0, 1.0]];
        let circle = Circle { angles: vec![0.0, 0.1, 3.0, 1.6], plane };
        let pairs: Vec<_> = circle.similar().iter().map(|&(i, j, _)| (i, j)).collect();
        // The third and the fourth have nobody near: they take each other's hand, the fourth as its nearest.
        assert_eq!(pairs, [(0, 1), (2, 3)]);
        assert!(circle.similar().iter().all(|(.., weight)| *weight > 0.0));
        let many = Circle::draw(100, 100, &mut ChaCha8Rng::seed_from_u64(2)).similar();
        let mean = 2.0 * many.len() as f64 / 100.0;
        assert!((27.0..37.0).contains(&mean), "{mean}");
    }

    #[test]
    fn points_fill_the_ball() {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let points: Vec<Vec<f64>> = (0..4000).map(|_| in_ball(3, rng)).collect();
        assert!(points.iter().flatten().all(|&x| f64::from(x as f32) == x));
        let lengths: Vec<f64> = points.iter().map(|point| norm(point)).collect();
        assert!(lengths.iter().all(|length| *length <= 1.0));
        // The mean length of a point of the ball is p/(p+1).
        let mean = lengths.iter().sum::<f64>() / 4000.0;
        assert!((mean - 0.75).abs() < 0.012, "{mean}");
    }

    #[test]
    fn numbers_become_shorter_and_hardly() {
        for x in [0.1, -0.1, 1.0 / 3.0, -1.0 + 1e-12, 1e-42, 0.0, 0.5] {
            let inner = shorter(x);
            assert!(inner.abs() <= x.abs() && (x - inner).abs() <= 2f64.powi(-23) * x.abs() + 1e-44, "{x}");
            assert_eq!(f64::from(inner as f32), inner);
        }
    }
}
