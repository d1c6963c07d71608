//! Bounds that fall with a public distance of the user's: `f(u, v) <= g(|z_u - z_v|)`.
//!
//! What `z` is, is for the user to say: hops, places, columns of similarity, or distances pair by pair. `g` is a function that never rises, in steps: within so
//! much of each other a pair may lose so much, and farther apart so much less. **Distances are public**: what they tell of a person, nothing here protects.
//!
//! The planner needs one number of it, the largest *share* that a pair's loss takes of its own bound: at a fixed `tau / sigma` it falls like `1/sigma²`, so
//! that the noise follows in closed form, as for every other target.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sottovoce_topology::{Graph, paths};
use sottovoce_views::exact::Leakage;

use super::losses::outward;
use super::row;
use crate::{Error, Result, require};

/// How far rows of numbers are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Their distance in space.
    #[default]
    Euclidean,
    /// One less the cosine of the angle between them, from 0 to 2.
    Cosine,
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "euclidean" => Ok(Self::Euclidean),
            "cosine" => Ok(Self::Cosine),
            _ => Err(Error::parameter("metric", text, "give euclidean or cosine")),
        }
    }
}

/// How far peers are apart. Public.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distances {
    /// Along edges.
    Hops,
    /// Between places: a row of numbers for each peer, all of the same length.
    Places(Vec<Vec<f64>>, Metric),
    /// As they are given, one row for each peer.
    Given(Vec<Vec<f64>>),
}

impl Distances {
    /// Refuses numbers from which no distance follows.
    fn check(&self) -> Result<()> {
        let (Self::Places(rows, _) | Self::Given(rows)) = self else { return Ok(()) };
        for (peer, row) in rows.iter().enumerate() {
            let sound = row.iter().all(|number| number.is_finite());
            require(sound, "distance", format!("not finite for peer {peer}"), "give finite numbers")?;
            if let Self::Places(_, Metric::Cosine) = self {
                let remedy =
                    "a row of zeros has no direction; leave the peer out, or take the Euclidean metric";
                let zero = row.iter().all(|number| *number == 0.0);
                require(!zero, "metric", format!("cosine, and peer {peer} has zeros only"), remedy)?;
            }
        }
        Ok(())
    }

    /// Whether there are so many peers, each with as much as every other.
    pub fn fits(&self, peers: usize) -> bool {
        match self {
            Self::Hops => true,
            Self::Places(rows, _) => {
                rows.len() == peers && rows.windows(2).all(|two| two[0].len() == two[1].len())
            }
            Self::Given(rows) => rows.len() == peers && rows.iter().all(|row| row.len() == peers),
        }
    }

    /// Between two peers, who are so many hops apart.
    pub fn between(&self, v: usize, u: usize, hops: u32) -> f64 {
        match self {
            Self::Hops => f64::from(hops),
            Self::Places(all, Metric::Euclidean) => {
                all[v].iter().zip(&all[u]).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
            }
            Self::Places(all, Metric::Cosine) => 1.0 - cosine(&all[v], &all[u]),
            Self::Given(all) => all[v][u],
        }
    }
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    // Relative to the largest number, so that no square overflows or vanishes.
    let largest = |row: &[f64]| row.iter().fold(0.0, |most, x| if x.abs() > most { x.abs() } else { most });
    let (most_a, most_b) = (largest(a), largest(b));
    let dot = |x: &[f64], y: &[f64], by: f64, to: f64| {
        x.iter().zip(y).map(|(x, y)| (x / by) * (y / to)).sum::<f64>()
    };
    let lengths = dot(a, a, most_a, most_a) * dot(b, b, most_b, most_b);
    dot(a, b, most_a, most_b) / lengths.sqrt()
}

/// A step of the bound: pairs up to this distance, and farther apart than the step before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Largest distance; none: whatever is farther.
    pub within: Option<f64>,
    /// What such a pair may lose, as `mu²`.
    pub mu_squared: f64,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some(within) => write!(f, "pairs within {within}"),
            None => f.write_str("pairs farther apart"),
        }
    }
}

/// The pair that loses most of its bound, and how much of it.
type Worst = Option<((usize, usize), f64)>;

/// A bound that falls with distance.
#[derive(Debug, Clone, PartialEq)]
pub struct Falling {
    distances: Distances,
    steps: Vec<Step>,
}

impl Falling {
    /// From steps `(distance, mu²)`, nearest first, and what those farther apart may lose: as much as the last step, where nothing is said.
    pub fn new(distances: Distances, within: &[(f64, f64)], farther: Option<f64>) -> Result<Self> {
        distances.check()?;
        let Some(&(_, last)) = within.last() else {
            return Err(Error::missing("within", "give at least one step, such as --within 0.1=4"));
        };
        let beyond = farther.map_or(last, |farther| farther);
        let mut before = (f64::NEG_INFINITY, f64::INFINITY);
        for &(distance, bound) in within {
            require(distance.is_finite() && distance >= 0.0, "within", distance, "give distances from 0 on")?;
            require(distance > before.0, "within", distance, "give each distance once, the smallest first")?;
            let remedy = "a bound must not rise with distance; give smaller epsilons to those farther apart";
            require(
                bound > 0.0 && bound < f64::INFINITY && bound <= before.1,
                "within",
                format!("larger at {distance} than before"),
                remedy,
            )?;
            before = (distance, bound);
        }
        let remedy = "a bound must not rise with distance; give no more than the last --within";
        require(beyond > 0.0 && beyond <= last, "farther", "larger than within", remedy)?;
        let near = within.iter().map(|&(within, mu_squared)| Step { within: Some(within), mu_squared });
        Ok(Self { distances, steps: near.chain([Step { within: None, mu_squared: beyond }]).collect() })
    }

    /// The distances by which it falls.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// The steps, nearest first; the last is for whatever is farther.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Which step a pair is on. What compares with nothing counts as farthest.
    pub fn class(&self, v: usize, u: usize, hops: u32) -> usize {
        let distance = self.distances.between(v, u, hops);
        let near = self.steps.iter().position(|step| step.within.is_some_and(|within| distance <= within));
        near.unwrap_or(self.steps.len() - 1)
    }

    /// What `u` may lose to `v`, as `mu²`.
    pub fn bound(&self, v: usize, u: usize, hops: u32) -> f64 {
        self.steps[self.class(v, u, hops)].mu_squared
    }

    /// The smallest bound.
    pub fn tightest(&self) -> f64 {
        self.steps[self.steps.len() - 1].mu_squared
    }

    /// The largest share of its own bound that a pair loses to one observer, with the hops from it; times `sigma²/Delta²`, as a loss.
    pub(super) fn share_of(&self, observer: usize, view: &Leakage, hops: &[u32]) -> Option<f64> {
        let others = view.losses.iter().zip(hops).enumerate().filter(|(_, (_, hops))| **hops > 0);
        let share = |(u, (loss, hops)): (usize, (&f64, &u32))| {
            outward(loss + view.rounding) / self.bound(observer, u, *hops)
        };
        others.map(share).reduce(|most, one| if one > most { one } else { most })
    }

    /// The same of all observers, one view for each peer: `sigma²` that keeps every bound, for a sensitivity of 1.
    pub fn share(&self, graph: &Graph, views: &[Leakage]) -> Result<f64> {
        let mut most = 0.0;
        for (v, view) in views.iter().enumerate() {
            let share = self.share_of(v, view, &paths::distances(graph, v)?).unwrap_or(0.0);
            most = if share > most { share } else { most };
        }
        Ok(most)
    }

    /// What each class of pairs got: of ordered pairs (observer, peer), with what is lost as `mu²` and the hops between them.
    pub fn classes(
        &self,
        pairs: impl Iterator<Item = ((usize, usize), f64, u32)>,
        delta: f64,
    ) -> Result<Vec<Class>> {
        let mut worst: Vec<(usize, Worst)> = vec![(0, None); self.steps.len()];
        for ((v, u), mu_squared, hops) in pairs {
            let (count, most) = &mut worst[self.class(v, u, hops)];
            *count += 1;
            if most.is_none_or(|(_, most)| mu_squared > most) {
                *most = Some(((v, u), mu_squared));
            }
        }
        let class = |(step, (pairs, worst)): (&Step, (usize, Worst))| {
            Ok(Class {
                step: *step,
                allowed: row::epsilon(step.mu_squared, delta)?,
                pairs,
                observer: worst.map(|((v, _), _)| v),
                peer: worst.map(|((_, u), _)| u),
                mu_squared: worst.map(|(_, most)| most),
                epsilon: worst.map_or(Ok(None), |(_, most)| row::epsilon(most, delta))?,
                kept: worst.is_none_or(|(_, most)| most <= step.mu_squared),
            })
        };
        self.steps.iter().zip(worst).map(class).collect()
    }
}

/// What pairs of one class of distance got.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Class {
    /// The bound.
    #[serde(flatten)]
    pub step: Step,
    /// The bound as an epsilon; none where it protects nothing.
    pub allowed: Option<f64>,
    /// Number of ordered pairs.
    pub pairs: usize,
    /// Who learns most, of the pair that loses most; none where there is no pair.
    pub observer: Option<usize>,
    /// Of whom.
    pub peer: Option<usize>,
    /// What that pair loses, as `mu²`.
    #[serde(rename = "worst_mu_squared")]
    pub mu_squared: Option<f64>,
    /// The same as an epsilon.
    pub epsilon: Option<f64>,
    /// Whether every pair keeps the bound.
    pub kept: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(metric: Metric) -> Distances {
        Distances::Places(vec![vec![0.0, 1.0], vec![3.0, 5.0], vec![0.0, -2.0]], metric)
    }

    #[test]
    fn distances_are_what_they_are_called() {
        assert_eq!(places(Metric::Euclidean).between(0, 1, 9), 5.0);
        assert_eq!(places(Metric::Cosine).between(0, 2, 9), 2.0);
        assert!((places(Metric::Cosine).between(0, 1, 9) - (1.0 - 5.0 / 34f64.sqrt())).abs() < 1e-15);
        assert_eq!(Distances::Hops.between(0, 1, 9), 9.0);
        assert_eq!(Distances::Given(vec![vec![0.0, 7.0], vec![7.0, 0.0]]).between(0, 1, 9), 7.0);
        // No square overflows.
        let far = Distances::Places(vec![vec![1e200, 0.0], vec![1e200, 1e200]], Metric::Cosine);
        assert!((far.between(0, 1, 1) - (1.0 - 0.5f64.sqrt())).abs() < 1e-15);
    }

    #[test]
    fn bounds_fall_in_steps_and_the_last_is_for_all_who_are_farther() {
        let falling = Falling::new(places(Metric::Euclidean), &[(3.0, 4.0), (5.0, 1.0)], Some(0.1)).unwrap();
        assert_eq!([(0, 2), (0, 1), (1, 2)].map(|(v, u)| falling.bound(v, u, 1)), [4.0, 1.0, 0.1]);
        assert_eq!(falling.tightest(), 0.1);
        let silent = Falling::new(Distances::Hops, &[(1.0, 4.0)], None).unwrap();
        assert_eq!((silent.bound(0, 1, 1), silent.bound(0, 1, 2)), (4.0, 4.0));
        let pairs = [((0, 1), 0.9, 1), ((1, 0), 1.1, 1), ((0, 2), 3.0, 1)];
        let classes = falling.classes(pairs.into_iter(), 1e-5).unwrap();
        assert_eq!(classes.iter().map(|class| class.kept).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!((classes[1].observer, classes[1].peer, classes[2].pairs), (Some(1), Some(0), 0));
    }

    #[test]
    fn what_rises_or_is_no_number_is_refused() {
        let of = |within: &[(f64, f64)], farther| {
            Falling::new(Distances::Hops, within, farther).unwrap_err().to_string()
        };
        assert!(of(&[], None).contains("`within` is missing"));
        assert!(of(&[(1.0, 1.0), (2.0, 4.0)], None).contains("must not rise"));
        assert!(of(&[(1.0, 1.0)], Some(2.0)).contains("`farther`"));
        assert!(of(&[(2.0, 1.0), (1.0, 0.5)], None).contains("smallest first"));
        for wrong in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(of(&[(wrong, 1.0)], None).contains("`within`"));
            assert!(of(&[(1.0, wrong)], None).contains("`within`"));
        }
        let zeros = Distances::Places(vec![vec![0.0], vec![1.0]], Metric::Cosine);
        assert!(Falling::new(zeros, &[(1.0, 1.0)], None).unwrap_err().to_string().contains("no direction"));
        let nowhere = Distances::Places(vec![vec![f64::NAN], vec![1.0]], Metric::Euclidean);
        assert!(Falling::new(nowhere, &[(1.0, 1.0)], None).is_err());
    }
}
