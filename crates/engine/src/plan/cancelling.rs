//! Noise that cancels: pairs who share a secret, on a butterfly or on gossip that goes on until their noise is gone.
//!
//! Its losses are those towards someone who sees every message and holds the secrets of so many peers, whoever they are, and so of any one peer, too.

use sottovoce_protocol::public::Scheme;
use sottovoce_views::cancelling::everything;
use sottovoce_views::door::Setting;
use sottovoce_views::exact::Leakage;
use sottovoce_views::parallel;
use sottovoce_views::utility::{Contraction, contraction, pairs_left};

use super::point::{Point, largest_spread};
use super::row::Kind;
use super::search::Observers;
use super::{Losses, Problem, Progress, Protocol, Row, Site};
use crate::Result;
use crate::learning::Secrets;
use crate::learning::method::messages;

/// By what right losses are stated.
const STANDING: &str = "proven, up to the cipher of the secrets";

/// Rounds of gossip that are tried, at most.
const MOST_ROUNDS: usize = 10_000;

/// The rows, where peers share secrets.
pub(super) fn rows(problem: &Problem, peers: usize, sites: &[&Site]) -> Result<Vec<Row>> {
    let Some(secrets) = &problem.secrets else { return Ok(Vec::new()) };
    let losses = losses(problem, secrets);
    let mut rows = vec![butterfly(problem, peers, losses)?];
    for site in sites {
        rows.extend(gossip(problem, site, secrets, losses)?);
    }
    Ok(rows)
}

/// Everybody loses no more than this to whoever helps.
fn losses(problem: &Problem, secrets: &Secrets) -> Losses {
    let most = secrets.worst();
    let share = problem.target.falling.map(|least| most / least);
    Losses { mean: most, worst: most, far: Some(most), share }
}

fn point(problem: &Problem, steps: usize, share: f64, spread_left: f64, losses: Losses) -> Point {
    let variance = problem.target.variance(&losses, problem.sensitivity);
    Point { steps, ratio: 0.0, variance, share, relay_share: 0.0, spread_left, losses }
}

fn butterfly(problem: &Problem, peers: usize, losses: Losses) -> Result<Row> {
    let scheme = Scheme::Butterfly { positions: (0..peers).collect() };
    let kind = Kind {
        protocol: Protocol::CancellingButterfly,
        graph: None,
        messages: messages(&scheme)? as f64 / peers as f64,
        standing: STANDING.into(),
    };
    let share = Setting::of(scheme.clone()).noise_error(1.0)?;
    Ok(Row::new(problem, peers, kind, &point(problem, scheme.rounds(), share, 0.0, losses)))
}

/// Gossip until what is left of the pairs' noise is no more than what averaged noise leaves; none where it takes too long.
fn gossip(problem: &Problem, site: &Site, secrets: &Secrets, losses: Losses) -> Result<Option<Row>> {
    let (peers, pairs) = (site.nodes(), secrets.pairs());
    let enough = 1.0 / (peers as f64 * (1.0 + pairs.kappa().powi(2) * peers as f64));
    let Some(steps) = (1..MOST_ROUNDS).find(|&t| contraction(site.gap, t) <= enough) else {
        return Ok(None);
    };
    let own = Contraction::new(&site.mixing, steps)?.shares[steps];
    let share = own + pairs_left(&site.mixing, pairs, steps)?[steps];
    let left = contraction(site.gap, steps) * largest_spread(problem.sensitivity);
    let scheme = Scheme::Gossip { mixing: site.mixing.clone(), rounds: steps, accelerated: false };
    let kind = Kind {
        protocol: Protocol::CancellingGossip,
        graph: Some(site.name.clone()),
        messages: messages(&scheme)? as f64 / peers as f64,
        standing: STANDING.into(),
    };
    Ok(Some(Row::new(problem, peers, kind, &point(problem, steps, share, left, losses))))
}

/// What each observer learns, were it to see every message.
pub(super) fn views(secrets: &Secrets, observers: &Observers, progress: Progress) -> Result<Vec<Leakage>> {
    let one = |i: usize| Ok(everything(secrets.pairs(), &[observers.all[i]])?);
    let done = |done| progress("verifying", done, observers.all.len());
    parallel::map(observers.all.len(), one, done).into_iter().collect()
}

/// What it costs if a peer vanishes after the others have spoken and they go on without it: the mean squared error of what its pairs leave in the sum.
pub(super) fn vanished(secrets: &Secrets, sigma: f64) -> f64 {
    let keys = secrets.pairs().keys();
    let partners = (0..keys.nodes()).map(|peer| keys.degree(peer)).max().unwrap_or(0); // whole numbers
    partners as f64 * (secrets.pairs().kappa() * sigma / keys.nodes() as f64).powi(2)
}
