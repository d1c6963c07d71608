//! The accountant: composes releases, answers in certified intervals.
//!
//! It sees parameters, never values. What it does not know it refuses; nothing ever counts as zero. Behind one door
//! stand four methods, and every answer comes from the sharpest that applies:
//!
//! | releases | method |
//! | --- | --- |
//! | unsampled Gaussian noise only | closed form ([`Gdp`]) |
//! | a single release of anything | the hockey-stick curve itself |
//! | many sampled Gaussians | contour integral, about ten digits |
//! | anything else, any mixture | lattice and tilted transform: about six digits (two where sampling is rare) |

use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling, check_delta, check_epsilon};
use crate::special::Interval;
use crate::{Error, Gdp, Result, batches, contour, pld, rdp};

/// Most releases of one kind.
const MOST: u64 = 1_000_000_000;

/// A composition of releases under one adjacency.
///
/// ```
/// use sottovoce_privacy::{Accountant, Adjacency, Mechanism};
/// let mut accountant = Accountant::new(Adjacency::AddRemove);
/// accountant.compose(Mechanism::gaussian(1.1)?.poisson(0.01)?, 1000)?;
/// let epsilon = accountant.epsilon(1e-5)?;
/// assert!(epsilon.lower > 1.5153 && epsilon.upper < 1.5154 && epsilon.width() < 1e-6);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Accountant {
    adjacency: Adjacency,
    /// Sorted, each kind once: composing in any order or grouping gives the same bits.
    events: Vec<(Mechanism, u64)>,
}

impl Accountant {
    /// An accountant that has seen nothing.
    pub fn new(adjacency: Adjacency) -> Self {
        Self { adjacency, events: Vec::new() }
    }

    /// Adds `count` releases. Refuses what it cannot account for, and then remains as it was.
    pub fn compose(&mut self, mechanism: Mechanism, count: u64) -> Result<()> {
        let mechanism = batches::equivalent(mechanism, self.adjacency)?;
        pld::check(&mechanism, self.adjacency)?;
        let position = self.events.iter().position(|(known, _)| *known == mechanism);
        let before = position.map_or(0, |index| self.events[index].1);
        let total = before.saturating_add(count);
        if count == 0 || total > MOST {
            return Err(Error::parameter(
                "steps",
                count,
                format!("give a number from 1 to {}", MOST - before),
            ));
        }
        if mechanism.sampling() == Sampling::Nobody {
            return Ok(());
        }
        match position {
            Some(index) => self.events[index].1 = total,
            None => {
                self.events.push((mechanism, total));
                // Parameters are finite by construction, so the order is total.
                self.events.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
            }
        }
        Ok(())
    }

    /// The adjacency.
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// What was composed.
    pub fn events(&self) -> &[(Mechanism, u64)] {
        &self.events
    }

    /// Epsilon at `delta`.
    pub fn epsilon(&self, delta: f64) -> Result<Interval> {
        Ok(self.epsilons(&[delta])?[0])
    }

    /// Epsilon at several deltas, for little more than the cost of one.
    pub fn epsilons(&self, deltas: &[f64]) -> Result<Vec<Interval>> {
        deltas.iter().try_for_each(|&delta| check_delta(delta))?;
        if self.events.is_empty() || deltas.is_empty() {
            return Ok(vec![Interval { lower: 0.0, upper: 0.0 }; deltas.len()]);
        }
        if let Some(gdp) = self.gdp() {
            return deltas.iter().map(|&delta| gdp.epsilon(delta)).collect();
        }
        if let [(mechanism, 1)] = &self.events[..] {
            return deltas
                .iter()
                .map(|&delta| pld::single_epsilon(mechanism, self.adjacency, delta))
                .collect();
        }
        if let Some(epsilons) = contour::epsilons(&self.events, self.adjacency, deltas) {
            return Ok(epsilons);
        }
        let epsilons = pld::epsilons(&self.events, self.adjacency, deltas)?;
        epsilons.into_iter().zip(deltas).map(|(interval, &delta)| self.narrowed(interval, delta)).collect()
    }

    /// Where the lattice could not resolve a composition well, Rényi divergences may bound it better.
    fn narrowed(&self, interval: Interval, delta: f64) -> Result<Interval> {
        if interval.width() <= 1e-2 * interval.upper {
            return Ok(interval);
        }
        let upper = interval.upper.min(self.rdp_epsilon(delta)?.0);
        if upper.is_finite() {
            return Ok(Interval { lower: interval.lower.min(upper), upper });
        }
        Err(Error::Accuracy {
            computation: "the loss of this composition".into(),
            remedy: "add more noise, or account for its parts one by one".into(),
        })
    }

    /// Delta at `epsilon`.
    pub fn delta(&self, epsilon: f64) -> Result<Interval> {
        check_epsilon(epsilon)?;
        if self.events.is_empty() {
            return Ok(Interval { lower: 0.0, upper: 0.0 });
        }
        if let Some(gdp) = self.gdp() {
            return gdp.delta(epsilon);
        }
        if let [(mechanism, 1)] = &self.events[..] {
            return pld::single_delta(mechanism, self.adjacency, epsilon);
        }
        match contour::delta(&self.events, self.adjacency, epsilon) {
            Some(delta) => Ok(delta),
            None => pld::delta(&self.events, self.adjacency, epsilon),
        }
    }

    /// Epsilon at `delta` by Rényi divergences, with the order that gives it.
    pub fn rdp_epsilon(&self, delta: f64) -> Result<(f64, f64)> {
        if self.events.is_empty() {
            check_delta(delta)?;
            return Ok((0.0, f64::INFINITY));
        }
        rdp::epsilon(&self.events, self.adjacency, delta)
    }

    /// The total Rényi loss at `order`.
    pub fn rdp(&self, order: f64) -> Result<f64> {
        let mut total = 0.0;
        for (mechanism, count) in &self.events {
            total += *count as f64 * rdp::loss(mechanism, self.adjacency, order)?;
        }
        Ok(total)
    }

    /// The exact Gaussian loss, where everything is unsampled Gaussian noise.
    pub fn gdp(&self) -> Option<Gdp> {
        let doubled = if self.adjacency == Adjacency::Replace { 2.0 } else { 1.0 };
        let mut total = Gdp::new(0.0).ok()?;
        for (mechanism, count) in &self.events {
            match (mechanism.noise(), mechanism.sampling()) {
                (Noise::Gaussian { noise_multiplier }, Sampling::Everyone) => {
                    total = total.and(Gdp::new(doubled / noise_multiplier).ok()?.times(*count));
                }
                _ => return None,
            }
        }
        Some(total)
    }
}
