//! Randomised gossip: one pair at a time, by a schedule that is drawn beforehand and public.
//!
//! Losses are the largest over the schedules, the error is their mean: both are statements about *these* schedules. What is
//! left of the spread is bounded in expectation over all schedules.

use sottovoce_topology::paths;
use sottovoce_topology::schedule::{Schedule, Step};
use sottovoce_views::exact::{Leakage, scheduled_each};
use sottovoce_views::parallel;

use super::losses::{Seen, gather};
use super::point::{Point, better, largest_spread};
use super::row::Kind;
use super::search::Observers;
use super::{Losses, Problem, Progress, Protocol, Row, Site};
use crate::Result;

/// Schedules to draw.
const SCHEDULES: u64 = 3;

/// Observers of a schedule that are asked at once: what they hear is kept in memory.
pub(super) const TOGETHER: usize = 32;

/// Exchanges per peer to look at.
const EXCHANGES: [usize; 10] = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48];

/// The schedules of a site: the same seeds always give the same.
pub fn schedules(problem: &Problem, site: &Site, steps: usize) -> Result<Vec<Schedule>> {
    let draw = |i| Ok(Schedule::randomised(&site.mixing, steps, problem.seed.wrapping_add(i))?);
    (0..SCHEDULES).map(draw).collect()
}

/// The row of a graph.
pub(super) fn row(
    problem: &Problem,
    site: &Site,
    observers: &Observers,
    progress: Progress,
) -> Result<Option<Row>> {
    let cuts = cuts(site);
    let pick = |found: Vec<Point>| found.into_iter().fold(None, better);
    let mut found = pick(points(problem, site, (&observers.scouts, observers.complete), &cuts, progress)?);
    if let Some(point) = found.filter(|_| !observers.are_scouts()) {
        let all = (&observers.all[..], observers.complete);
        found = pick(points(problem, site, all, &[point.steps], progress)?);
    }
    let seeds: Vec<String> = (0..SCHEDULES).map(|i| problem.seed.wrapping_add(i).to_string()).collect();
    Ok(found.map(|point| {
        let idle = site.mixing.diagonal().iter().sum::<f64>() / site.nodes() as f64;
        let kind = Kind {
            protocol: Protocol::RandomisedGossip,
            graph: Some(site.name.clone()),
            messages: 2.0 * point.steps as f64 * (1.0 - idle) / site.nodes() as f64,
            standing: format!("{}, for the schedules of seeds {}", observers.standing(), seeds.join(", ")),
        };
        Row::new(problem, site.nodes(), kind, &point)
    }))
}

/// Numbers of steps to look at, up to where the graph is mixed.
fn cuts(site: &Site) -> Vec<usize> {
    let enough = ((1e6 * site.nodes() as f64).ln() / site.pairwise).ceil();
    let steps = EXCHANGES.map(|exchanges| exchanges * site.nodes() / 2);
    let within = steps.iter().filter(|&&steps| (steps as f64) < enough).count();
    // One beyond: the first at which all is mixed.
    steps[..(within + 1).min(steps.len())].to_vec()
}

/// The points at the given numbers of steps.
fn points(
    problem: &Problem,
    site: &Site,
    (observers, complete): (&[usize], bool),
    cuts: &[usize],
    progress: Progress,
) -> Result<Vec<Point>> {
    let Some(&most) = cuts.last() else { return Ok(Vec::new()) };
    let mut losses: Vec<Option<Losses>> = vec![None; cuts.len()];
    let mut shares = vec![0.0; cuts.len()];
    for (i, schedule) in schedules(problem, site, most)?.iter().enumerate() {
        let noises = shares_at(schedule, cuts);
        let stage = format!("{}: schedule {} of {SCHEDULES}", site.name, i + 1);
        let seen =
            seen(problem, site, observers, schedule, cuts, |done| progress(&stage, done, observers.len()))?;
        for (c, known) in losses.iter_mut().enumerate() {
            let found = gather(seen.iter().map(|one| &one[c]), complete);
            *known = Some(known.map_or(found, |known| known.max(&found)));
            shares[c] += noises[c] / SCHEDULES as f64;
        }
    }
    let point = |((&steps, share), losses): ((&usize, &f64), Option<Losses>)| {
        let losses = losses?;
        Some(Point {
            steps,
            ratio: 0.0,
            variance: problem.target.variance(&losses, problem.sensitivity),
            share: *share,
            relay_share: 0.0,
            spread_left: largest_spread(problem.sensitivity) * (1.0 - site.pairwise).powf(steps as f64),
            losses,
        })
    };
    Ok(cuts.iter().zip(&shares).zip(losses).filter_map(point).collect())
}

/// What each observer learns up to each cut, in short.
fn seen(
    problem: &Problem,
    site: &Site,
    observers: &[usize],
    schedule: &Schedule,
    cuts: &[usize],
    done: impl Fn(usize) + Sync,
) -> Result<Vec<Vec<Seen>>> {
    let short = |v: usize, views: Vec<Leakage>| {
        let hops = paths::distances(site.graph(), v)?;
        Ok(views.iter().map(|view| Seen::new(problem, v, &problem.short_of_consensus(view), &hops)).collect())
    };
    each(observers, schedule, cuts, short, done)
}

/// What each observer learns in the end.
pub(super) fn views(
    problem: &Problem,
    observers: &[usize],
    schedule: &Schedule,
    steps: usize,
    done: impl Fn(usize) + Sync,
) -> Result<Vec<Leakage>> {
    let shown = |_, views: Vec<Leakage>| {
        Ok(views.iter().map(|view| problem.short_of_consensus(view).into_owned()).collect::<Vec<_>>())
    };
    Ok(each(observers, schedule, &[steps], shown, done)?.concat())
}

/// Asks each observer of a schedule, some at once, and keeps of its views what `keep` makes of them.
fn each<T: Send + Clone>(
    observers: &[usize],
    schedule: &Schedule,
    cuts: &[usize],
    keep: impl Fn(usize, Vec<Leakage>) -> Result<T> + Sync,
    done: impl Fn(usize) + Sync,
) -> Result<Vec<T>> {
    let groups: Vec<&[usize]> = observers.chunks(TOGETHER).collect();
    let group = |i: usize| -> Result<Vec<T>> {
        let views = scheduled_each(schedule, groups[i], cuts)?;
        views.into_iter().zip(groups[i]).map(|(views, &v)| keep(v, views)).collect()
    };
    let found =
        parallel::map(groups.len(), group, |finished| done((finished * TOGETHER).min(observers.len())));
    Ok(found.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// `|W_(T-1) ... W_0|_F² / n` at each cut: the share of one noise in everybody's result.
fn shares_at(schedule: &Schedule, cuts: &[usize]) -> Vec<f64> {
    let n = schedule.nodes();
    let mut rows: Vec<Vec<f64>> = (0..n).map(|u| unit(n, u)).collect();
    let mut shares = Vec::with_capacity(cuts.len());
    for t in 0.. {
        if cuts.contains(&t) {
            shares.push(rows.iter().flatten().map(|x| x * x).sum::<f64>() / n as f64);
        }
        match schedule.step(t) {
            Some(Step::Pair(u, v)) => {
                let half: Vec<f64> = rows[u].iter().zip(&rows[v]).map(|(a, b)| (a + b) / 2.0).collect();
                rows[u].copy_from_slice(&half);
                rows[v] = half;
            }
            Some(_) => {}
            None => break,
        }
    }
    shares
}

fn unit(n: usize, u: usize) -> Vec<f64> {
    (0..n).map(|v| f64::from(u8::from(u == v))).collect()
}
