//! The accountant: composes releases, answers in certified intervals.
//!
//! It sees parameters, never values. What it does not know it refuses; nothing ever counts as zero. Every method that
//! applies answers, and the answer is what all of them leave; if they contradict each other, that is an error.
//!
//! | releases | methods |
//! | --- | --- |
//! | unsampled Gaussian noise only | closed form ([`Gdp`]) |
//! | a single release of anything | the hockey-stick curve itself |
//! | many sampled Gaussians | contour integral, about ten digits |
//! | anything else, any mixture | lattice and tilted transform: about six digits (fewer where sampling is rare) |
//! | everything | Rényi divergences, zCDP or Gaussian loss, the largest possible loss: bounds from above |

use std::cell::OnceCell;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sottovoce_fault::stop;

use crate::contour::{self, CHEAP, DEAR};
use crate::event::Event;
use crate::interval::{Reason, add_up, best_bound, larger, largest, probability_above, smaller, smallest};
use crate::mechanism::{Adjacency, Sampling, check_delta, check_epsilon};
use crate::memo::Memo;
use crate::quadrature::sides;
use crate::special::{Interval, UNIT};
use crate::{Curve, Error, Gdp, Loss, Result, kov, pld, rdp, require};

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Accountant {
    adjacency: Adjacency,
    /// Sorted, each kind once: composing in any order or grouping gives the same bits.
    events: Vec<(Event, u64)>,
    /// Its Rényi losses.
    #[serde(skip)]
    total: Memo<rdp::Total>,
}

/// As it is read: not yet composed.
#[derive(Deserialize)]
struct Stored {
    adjacency: Adjacency,
    events: Vec<(Event, u64)>,
}

impl TryFrom<Stored> for Accountant {
    type Error = Error;

    fn try_from(Stored { adjacency, events }: Stored) -> Result<Self> {
        let mut accountant = Self::new(adjacency);
        events.into_iter().try_for_each(|(event, count)| accountant.compose(event, count))?;
        Ok(accountant)
    }
}

impl Accountant {
    /// An accountant that has seen nothing.
    pub fn new(adjacency: Adjacency) -> Self {
        Self { adjacency, events: Vec::new(), total: Memo::default() }
    }

    /// Adds `count` releases. Refuses what it cannot account for, and then remains as it was.
    pub fn compose(&mut self, event: impl Into<Event>, count: u64) -> Result<()> {
        let event = event.into().known(self.adjacency)?;
        pld::check(&event, self.adjacency)?;
        let position = self.events.iter().position(|(known, _)| *known == event);
        let before = position.map_or(0, |index| self.events[index].1);
        let total = before.saturating_add(count);
        let remedy = format!("give a number from 1 to {}", MOST - before);
        require(count != 0 && total <= MOST, "steps", count, remedy)?;
        if event.is_on_nobody() {
            return Ok(());
        }
        self.total = Memo::default();
        match position {
            Some(index) => self.events[index].1 = total,
            None => {
                self.events.push((event, total));
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
    pub fn events(&self) -> &[(Event, u64)] {
        &self.events
    }

    /// Epsilon at `delta`.
    pub fn epsilon(&self, delta: f64) -> Result<Interval> {
        Ok(self.epsilons(&[delta])?[0])
    }

    /// Epsilon at several deltas, for little more than the cost of one.
    pub fn epsilons(&self, deltas: &[f64]) -> Result<Vec<Interval>> {
        stop::look();
        deltas.iter().try_for_each(|&delta| check_delta(delta))?;
        if self.events.is_empty() || deltas.is_empty() {
            return Ok(vec![Interval::ZERO; deltas.len()]);
        }
        let sharp = if let Some(gdp) = self.gdp() {
            deltas.iter().map(|&delta| gdp.epsilon(delta)).collect::<Result<Vec<_>>>()?
        } else if let [(event, 1)] = &self.events[..] {
            let one = |&delta| pld::single_epsilon(event, self.adjacency, delta).or_else(no_accuracy);
            deltas.iter().map(one).collect::<Result<Vec<_>>>()?
        } else {
            let least = smallest(1.0, deltas.iter().copied());
            if self.sum_at_zero()? <= least {
                return Ok(vec![Interval::ZERO; deltas.len()]);
            }
            self.composed(deltas)?
        };
        // Rényi divergences count where they may be below the rest.
        let questions: Vec<(f64, f64)> =
            sharp.iter().zip(deltas).map(|(interval, &delta)| (delta, interval.upper)).collect();
        let by_rdp = self.total()?.epsilons(&questions);
        let all = sharp.into_iter().zip(deltas).zip(by_rdp);
        all.map(|((interval, &delta), (by_rdp, _))| self.narrowed(interval, delta, by_rdp)).collect()
    }

    /// Delta at 0, and so at any epsilon, is at most the sum of those of the releases.
    fn sum_at_zero(&self) -> Result<f64> {
        let mut total = 0.0;
        for (event, count) in &self.events {
            total += *count as f64 * pld::single_delta(event, self.adjacency, 0.0)?.upper * (1.0 + 1e-12);
        }
        Ok(total)
    }

    /// Epsilons of a composition, direction by direction: by contour, and where that is not sharp by lattice.
    fn composed(&self, deltas: &[f64]) -> Result<Vec<Interval>> {
        let mut result = vec![Interval::ZERO; deltas.len()];
        let ways = pld::directions(&self.events, self.adjacency)?;
        let order = pld::from_the_worst(&ways, deltas);
        let contour = |way: usize, effort| {
            let side = *sides(self.adjacency).get(way)?;
            contour::Direction::new(&self.events, side, self.adjacency, effort)
        };
        let cheap = |way: usize| -> Vec<Option<Interval>> {
            contour(way, CHEAP).map_or(vec![None; deltas.len()], |contour| contour.epsilons(deltas))
        };
        let context = stop::here();
        let contours: Vec<_> =
            (0..ways.len()).into_par_iter().map(|way| context.go_on(|| cheap(way))).collect();
        for way in order {
            let (laws, mut here) = (&ways[way], contours[way].clone());
            let resolved = |interval: &Option<Interval>| interval.is_some_and(contour::sharp);
            if !here.iter().all(resolved) {
                let lattice = pld::epsilons(laws, deltas, &result)
                    .or_else(|error| no_accuracy(error).map(|unknown| vec![unknown; deltas.len()]))?;
                here = meet_all(here, lattice)?;
            }
            for ((known, found), &delta) in result.iter_mut().zip(here).zip(deltas) {
                let mut found = found.unwrap_or(Interval::unknown(Reason::Uneven));
                // What is certain to lie below another direction need not be resolved.
                if found.upper > known.lower
                    && !found.is_within(POOR)
                    && let Some(Some(better)) =
                        contour(way, DEAR).map(|contour| contour.epsilons(&[delta])[0])
                {
                    found = found.meet(better)?;
                }
                *known = known.larger(found);
            }
        }
        Ok(result)
    }

    /// Intersects an interval for epsilon with the bounds of every other currency, and says why it is wide where it is.
    fn narrowed(&self, interval: Interval, delta: f64, by_rdp: f64) -> Result<Interval> {
        let upper = best_bound(self.upper_bounds(delta)?.into_iter().chain([by_rdp]));
        let bound =
            if upper.is_finite() { Interval::new(0.0, upper)? } else { Interval::unknown(Reason::Uneven) };
        let mut interval = self.bounded(interval, bound)?;
        if !interval.is_within(POOR) {
            // More releases never lose less: any single one bounds them from below.
            let singles = self.events.iter().map(|(one, _)| {
                let single = pld::single_epsilon(one, self.adjacency, delta);
                single.map_or(0.0, |single| single.lower)
            });
            let least = largest(0.0, singles);
            interval = interval.meet(Interval::new(least, larger(least, interval.upper))?)?;
        }
        Ok(if interval.is_within(POOR) { interval } else { interval.because(reason(interval, delta)) })
    }

    /// Intersects an interval with a bound from above. A bound on the truth may lie below what the dominating pairs lose, where
    /// nobody need attain that: then only the bound is left.
    fn bounded(&self, interval: Interval, bound: Interval) -> Result<Interval> {
        let below = bound.upper < interval.lower && self.lower_end() == LowerEnd::DominatingPair;
        if below { Ok(bound) } else { interval.meet(bound) }
    }

    /// Bounds on epsilon by the loss before sampling, and by the largest possible loss.
    fn upper_bounds(&self, delta: f64) -> Result<Vec<f64>> {
        let mut bounds = Vec::new();
        // What is pure is added to what is Gaussian.
        if let Some((gdp, pure)) = self.parted()? {
            bounds.push(add_up(gdp.epsilon(delta)?.upper, pure));
        }
        if let Some(rho) = self.zcdp()? {
            bounds.push(Loss::zcdp(rho)?.epsilon(delta)?.upper);
        }
        if let Some(largest) = self.largest_loss()? {
            bounds.push(largest);
            if let [(event, count)] = &self.events[..]
                && let Some(each) = pld::largest_loss(event, self.adjacency)?
            {
                bounds.push(kov::composed_epsilon(each, 0.0, *count, delta)?.upper);
            }
        }
        Ok(bounds)
    }

    /// The largest possible loss of everything, where there is one (rounded up).
    fn largest_loss(&self) -> Result<Option<f64>> {
        let mut total = 0.0;
        for (event, count) in &self.events {
            let Some(largest) = pld::largest_loss(event, self.adjacency)? else { return Ok(None) };
            total += *count as f64 * largest;
        }
        Ok(Some(total * (1.0 + 1e-12)))
    }

    /// The zCDP loss of everything, sampling disregarded (which never adds to a loss).
    fn zcdp(&self) -> Result<Option<f64>> {
        let mut total = 0.0;
        for (event, count) in &self.events {
            let each = match event.shift(self.adjacency) {
                // A bounded loss of epsilon is epsilon²/2-zCDP (Bun and Steinke 2016).
                None => pld::largest_loss(event, self.adjacency)?,
                shift => shift,
            };
            let Some(mu) = each else { return Ok(None) };
            total += *count as f64 * 0.5 * mu * mu;
        }
        Ok(Some(total * (1.0 + 1e-13)).filter(|total| total.is_finite()))
    }

    /// The Gaussian loss of Gaussian noise, sampling disregarded.
    fn unsampled(&self) -> Option<Gdp> {
        let mut total = Gdp::new(0.0).ok()?;
        for (event, count) in &self.events {
            let shift = event.gaussian_shift(self.adjacency)?;
            total = total.and(Gdp::of_release(shift, 1.0).ok()?.times(*count));
        }
        Some(total)
    }

    /// The same, and the largest losses of everything else together, where they have one (rounded up).
    fn parted(&self) -> Result<Option<(Gdp, f64)>> {
        let (mut total, mut pure) = (Gdp::new(0.0)?, 0.0);
        for (event, count) in &self.events {
            if let Some(shift) = event.gaussian_shift(self.adjacency) {
                let Ok(one) = Gdp::of_release(shift, 1.0) else { return Ok(None) };
                total = total.and(one.times(*count));
            } else if let Some(largest) = pld::largest_loss(event, self.adjacency)? {
                let rounded = if *count == 1 { 1.0 } else { 1.0 + 2.0 * UNIT };
                pure = add_up(pure, *count as f64 * largest * rounded);
            } else {
                return Ok(None);
            }
        }
        Ok(Some((total, pure)))
    }

    /// What the lower end of an interval bounds.
    pub fn lower_end(&self) -> LowerEnd {
        let releases: u64 = self.events.iter().map(|(_, count)| count).sum();
        let bound = |(event, _): &(Event, u64)| event.is_a_bound(self.adjacency, releases == 1);
        if self.events.iter().any(bound) { LowerEnd::DominatingPair } else { LowerEnd::Truth }
    }

    /// Delta at `epsilon`.
    pub fn delta(&self, epsilon: f64) -> Result<Interval> {
        stop::look();
        check_epsilon(epsilon)?;
        if self.events.is_empty() {
            return Ok(Interval::ZERO);
        }
        if let Some(gdp) = self.gdp() {
            return gdp.delta(epsilon);
        }
        if let Some(largest) = self.largest_loss()?
            && epsilon >= largest
        {
            return Ok(Interval::ZERO);
        }
        if let [(event, 1)] = &self.events[..] {
            return self.narrowed_delta(pld::single_delta(event, self.adjacency, epsilon)?, epsilon);
        }
        let mut result = Interval::ZERO;
        for (way, laws) in pld::directions(&self.events, self.adjacency)?.iter().enumerate() {
            let contour = |effort| {
                let side = *sides(self.adjacency).get(way)?;
                contour::Direction::new(&self.events, side, self.adjacency, effort)?.delta(epsilon)
            };
            let mut found = contour(CHEAP).unwrap_or(Interval::PROBABILITY);
            if !contour::sharp(found) {
                found = found.meet(
                    pld::delta(laws, epsilon)
                        .or_else(|error| no_accuracy(error).map(|_| Interval::PROBABILITY))?,
                )?;
            }
            if found.upper > result.lower
                && !found.is_within(POOR)
                && let Some(better) = contour(DEAR)
            {
                found = found.meet(better)?;
            }
            result = result.larger(found);
        }
        self.narrowed_delta(result, epsilon)
    }

    /// Deltas from above at whatever epsilons, for what a few cost.
    pub fn curve(&self) -> Result<Curve<'_>> {
        if let Some(gdp) = self.gdp() {
            return Ok(Box::new(move |epsilon| Ok(gdp.delta(epsilon)?.upper)));
        }
        if self.events.is_empty() {
            return Ok(Box::new(|_| Ok(0.0)));
        }
        if let [(event, 1)] = &self.events[..] {
            return Ok(Box::new(|epsilon| Ok(pld::single_delta(event, self.adjacency, epsilon)?.upper)));
        }
        let laws = pld::directions(&self.events, self.adjacency)?;
        let contours: Option<Vec<_>> = (0..laws.len())
            .map(|way| {
                let exact = sides(self.adjacency)
                    .get(way)
                    .and_then(|&side| contour::Direction::new(&self.events, side, self.adjacency, CHEAP));
                exact.or_else(|| pld::from_above(&laws[way], RARE)).map(contour::Curve::new)
            })
            .collect();
        let (sum, by_rdp) = (self.sum_at_zero()?, self.total()?);
        let lattice = OnceCell::new();
        let by_contour = move |epsilon: f64| {
            let each: Option<Vec<f64>> = contours.iter().flatten().map(|way| way.delta(epsilon)).collect();
            each.filter(|each| !each.is_empty()).map(|each| largest(0.0, each))
        };
        Ok(Box::new(move |epsilon| {
            let sharp = match by_contour(epsilon) {
                Some(sharp) => sharp,
                None => match lattice.get_or_init(|| pld::Curve::new(laws.clone())) {
                    Ok(lattice) => lattice.delta(epsilon),
                    // What cannot be composed is left to the bounds.
                    Err(_) => 1.0,
                },
            };
            // Rényi divergences count where nothing was composed.
            let quick = smaller(sum, if sharp < 1.0 { sharp } else { by_rdp.delta(epsilon) });
            // The largest advantage is asked for once, and a delta near 1 is not what a curve is composed for.
            Ok(if epsilon == 0.0 && quick > 0.5 { smaller(quick, self.delta(epsilon)?.upper) } else { quick })
        }))
    }

    /// Delta at `epsilon` from above, where that is a closed form.
    pub(crate) fn closed_delta(&self, epsilon: f64) -> Result<Option<f64>> {
        if self.events.is_empty() {
            return Ok(Some(0.0));
        }
        if let Some(gdp) = self.gdp() {
            return Ok(Some(gdp.delta(epsilon)?.upper));
        }
        if let [(event, 1)] = &self.events[..] {
            return Ok(Some(pld::single_delta(event, self.adjacency, epsilon)?.upper));
        }
        Ok(None)
    }

    /// Intersects an interval for delta with the bounds of other currencies, and says why it is wide where it is.
    fn narrowed_delta(&self, interval: Interval, epsilon: f64) -> Result<Interval> {
        let by_sum = probability_above(self.sum_at_zero()?);
        let bound = Interval::new(0.0, smaller(by_sum, self.rdp_delta(epsilon)?))?;
        let mut interval = self.bounded(interval, bound)?;
        if let Some(gdp) = self.unsampled() {
            interval = self.bounded(interval, Interval::new(0.0, gdp.delta(epsilon)?.upper)?)?;
        }
        if !interval.is_within(POOR) {
            for (one, _) in &self.events {
                let single = pld::single_delta(one, self.adjacency, epsilon)?.lower;
                interval = interval.meet(Interval::new(single, larger(single, interval.upper))?)?;
            }
        }
        let reason = if interval.upper < 1e-13 { Reason::Rounding } else { Reason::Uneven };
        Ok(if interval.is_within(POOR) { interval } else { interval.because(reason) })
    }

    /// The Rényi losses of everything.
    pub(crate) fn total(&self) -> Result<Arc<rdp::Total>> {
        self.total.get(|| rdp::Total::new(&self.events, &[], self.adjacency))
    }

    /// Delta at `epsilon` by Rényi divergences: at every order at most `e^((order-1)(loss - epsilon))`, and less.
    fn rdp_delta(&self, epsilon: f64) -> Result<f64> {
        Ok(self.total()?.delta(epsilon))
    }

    /// Epsilon at `delta` by Rényi divergences, with the order that gives it.
    pub fn rdp_epsilon(&self, delta: f64) -> Result<(f64, f64)> {
        check_delta(delta)?;
        if self.events.is_empty() {
            return Ok((0.0, f64::INFINITY));
        }
        Ok(self.total()?.epsilon(delta))
    }

    /// The total Rényi loss at `order`.
    pub fn rdp(&self, order: f64) -> Result<f64> {
        stop::look();
        let mut total = 0.0;
        for (event, count) in &self.events {
            total += *count as f64 * rdp::loss_of(event, self.adjacency, order)?;
        }
        Ok(total * (1.0 + 1e-15 * (1.0 + self.events.len() as f64)))
    }

    /// The exact Gaussian loss, where everything is unsampled Gaussian noise.
    pub fn gdp(&self) -> Option<Gdp> {
        let everyone = self.events.iter().all(|(event, _)| event.sampling() == Some(Sampling::Everyone));
        if everyone { self.unsampled() } else { None }
    }
}

/// What the lower end of an interval bounds from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LowerEnd {
    /// The loss itself: some neighbouring data sets attain it.
    Truth,
    /// The loss of the composed dominating pairs, which no pair of data sets need attain: the true loss may be smaller than the
    /// lower end (never larger than the upper one).
    DominatingPair,
}

/// The rarest failures that a curve of risks is asked for, about.
const RARE: f64 = 1e-6;
/// Wider than this share, an interval says why.
const POOR: f64 = 1e-2;

/// Why an interval for epsilon could not be made narrow.
fn reason(interval: Interval, delta: f64) -> Reason {
    if delta < 1e-30 {
        Reason::Cut
    } else if interval.upper < 1e-7 {
        Reason::Rounding
    } else {
        Reason::Uneven
    }
}

/// What a method cannot certify it says nothing about; any other refusal remains one.
fn no_accuracy(error: Error) -> Result<Interval> {
    if matches!(error, Error::Accuracy { .. }) { Ok(Interval::unknown(Reason::Uneven)) } else { Err(error) }
}

/// Intersects two lists of answers, the first of which may have gaps.
fn meet_all(some: Vec<Option<Interval>>, all: Vec<Interval>) -> Result<Vec<Option<Interval>>> {
    some.into_iter().zip(all).map(|(a, b)| a.map_or(Ok(b), |a| a.meet(b)).map(Some)).collect()
}
