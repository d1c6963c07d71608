//! Gossip on a graph: plain, accelerated, and with relay noise.
//!
//! At a fixed `tau / sigma` losses do not depend on `sigma`, and one factorisation gives them after every number of steps
//! ([`by_steps`]), so a graph is searched with one pass over its observers. Where there are many, a few scouts go first, and
//! all observers look at what the scouts found best. For worst cases what scouts see is a bound from below, so settings
//! whose bound is no better than what is known need no second look.

use sottovoce_topology::paths;
use sottovoce_views::exact::by_steps;
use sottovoce_views::parallel;

use super::losses::{Seen, gather};
use super::point::{Curve, Point, better};
use super::row::Kind;
use super::search::Observers;
use super::{Losses, Problem, Progress, Protocol, Row, Site};
use crate::Result;

/// `tau / sigma` to look at: four a decade. Beyond 1 it is the relay noise that protects; on dense graphs that is best.
const RATIOS: [f64; 11] = [0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.562, 1.0, 1.78, 3.16];

/// Settings of relay noise that all observers look at in one pass, and passes at most.
const BATCH: usize = 3;
const PASSES: usize = 3;

/// Losses after 1, 2, ... steps at one `tau / sigma`.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// `tau / sigma`.
    pub ratio: f64,
    /// By number of steps, from 1.
    pub losses: Vec<Losses>,
}

/// The exact losses towards the given observers, each on its own; `complete` if they are all there are.
pub fn profiles(
    problem: &Problem,
    site: &Site,
    (observers, complete): (&[usize], bool),
    steps: usize,
    ratios: &[f64],
    done: impl Fn(usize) + Sync,
) -> Result<Vec<Profile>> {
    let one = |i: usize| -> Result<Vec<Vec<Seen>>> {
        let hops = paths::distances(site.graph(), observers[i])?;
        let views = by_steps(&site.mixing, &observers[i..=i], steps, ratios)?;
        let seen = |view| Seen::new(problem, observers[i], &problem.short_of_consensus(view), &hops);
        Ok(views.iter().map(|views| views.iter().map(seen).collect()).collect())
    };
    let seen: Vec<Vec<Vec<Seen>>> =
        parallel::map(observers.len(), one, done).into_iter().collect::<Result<_>>()?;
    let losses = |i: usize, t: usize| gather(seen.iter().map(|one| &one[i][t]), complete);
    let profile = |(i, &ratio)| Profile { ratio, losses: (0..steps).map(|t| losses(i, t)).collect() };
    Ok(ratios.iter().enumerate().map(profile).collect())
}

/// The point of least error on a curve.
pub fn best(problem: &Problem, curve: &Curve, profile: &Profile) -> Option<Point> {
    let losses = profile.losses.iter().enumerate();
    let points = losses.filter_map(|(t, losses)| curve.at(problem, t + 1, profile.ratio, *losses));
    points.fold(None, better)
}

/// The rows of a graph.
pub(super) fn rows(
    problem: &Problem,
    site: &Site,
    observers: &Observers,
    progress: Progress,
) -> Result<Vec<Row>> {
    let search = Search { problem, site, observers, progress };
    let (plain, quick) = search.plain()?;
    let relay = search.relay()?;
    let row = |protocol, point: Point| {
        let kind = Kind {
            protocol,
            graph: Some(site.name.clone()),
            messages: point.steps as f64 * site.mean_degree(),
            standing: observers.standing(),
        };
        Row::new(problem, site.nodes(), kind, &point)
    };
    let found =
        [(Protocol::Gossip, plain), (Protocol::AcceleratedGossip, quick), (Protocol::RelayGossip, relay)];
    Ok(found.into_iter().filter_map(|(protocol, point)| Some(row(protocol, point?))).collect())
}

/// The search on one graph.
struct Search<'a> {
    problem: &'a Problem,
    site: &'a Site,
    observers: &'a Observers,
    progress: Progress<'a>,
}

impl Search<'_> {
    fn look(&self, all: bool, steps: usize, ratios: &[f64]) -> Result<Vec<Profile>> {
        let who = if all { &self.observers.all } else { &self.observers.scouts };
        let stage = format!("{}: {}", self.site.name, if all { "every observer" } else { "scouting" });
        let done = |done: usize| (self.progress)(&stage, done, who.len());
        profiles(self.problem, self.site, (who, self.observers.complete), steps, ratios, done)
    }

    /// Without relay noise: the best of plain and of accelerated gossip, which lose the same.
    fn plain(&self) -> Result<(Option<Point>, Option<Point>)> {
        let (steps, quick_steps) = (self.site.steps(), self.site.accelerated_steps());
        let (plain, quick) = (Curve::plain(self.site, steps)?, Curve::accelerated(self.site, quick_steps)?);
        let most = steps.max(quick_steps);
        let pick = |found: &[Profile]| {
            let on = |curve| {
                found.iter().filter_map(|profile| best(self.problem, curve, profile)).fold(None, better)
            };
            (on(&plain), on(&quick))
        };
        let scouted = pick(&self.look(false, most, &[0.0])?);
        if self.observers.are_scouts() {
            return Ok(scouted);
        }
        let longest = [scouted.0, scouted.1].into_iter().flatten().map(|point| point.steps + 1).max();
        Ok(pick(&self.look(true, longest.unwrap_or(most).min(most), &[0.0])?))
    }

    /// With relay noise.
    fn relay(&self) -> Result<Option<Point>> {
        let most = self.site.relay_steps();
        let curve = Curve::plain(self.site, most)?;
        let pick = |profile: &Profile| best(self.problem, &curve, profile);
        let mut open: Vec<Point> = self.look(false, most, &RATIOS)?.iter().filter_map(pick).collect();
        open.sort_by(|a, b| a.error().total_cmp(&b.error()));
        if self.observers.are_scouts() {
            return Ok(open.first().copied());
        }
        let mut known: Option<Point> = None;
        for _ in 0..PASSES {
            let promising = |point: &Point| known.is_none_or(|known| point.error() < known.error());
            let batch: Vec<Point> = open.drain(..BATCH.min(open.len())).filter(promising).collect();
            let Some(longest) = batch.iter().map(|point| point.steps + 1).max() else { break };
            let ratios: Vec<f64> = batch.iter().map(|point| point.ratio).collect();
            let found = self.look(true, longest.min(most), &ratios)?;
            known = found.iter().filter_map(pick).fold(known, better);
        }
        Ok(known)
    }
}
