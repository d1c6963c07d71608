//! The chosen plan, accounted for once more with the noises as printed: never by a formula, never by the search's own numbers.

use sottovoce_privacy::{Adjacency, Adversary, Standing, Unit, round_up};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_topology::paths;
use sottovoce_views::door::{self, Setting};
use sottovoce_views::parallel;

use super::losses::{Seen, gather};
use super::row::{self, up};
use super::search::Observers;
use super::{Losses, Problem, Progress, Protocol, Row, Site, butterfly, randomised};
use crate::terms::Stated;
use crate::{Error, Result};

/// How often a hair of noise may be added.
const TRIES: usize = 3;

/// The losses of a row as `mu²`, by the exact accountant. Should they miss the target by rounding, a hair of noise is added.
pub fn verify(problem: &Problem, row: &mut Row, observers: &Observers, progress: Progress) -> Result<Losses> {
    for _ in 0..TRIES {
        let losses = account(problem, row, observers, progress)?;
        let mu_squared = losses.scaled(problem.sensitivity, row.sigma);
        if problem.target.holds(&mu_squared) {
            row.loss = Some(losses);
            row.mu_squared = mu_squared;
            return Ok(mu_squared);
        }
        (row.sigma, row.tau) = (up(row.sigma * (1.0 + 1e-6)), up(row.tau * (1.0 + 1e-6)));
    }
    Err(Error::parameter(
        "target",
        problem.target,
        "the accountant does not confirm what the search found; please report this",
    ))
}

/// Losses in units of local DP.
fn account(problem: &Problem, row: &Row, observers: &Observers, progress: Progress) -> Result<Losses> {
    let site = || {
        let named = problem.sites.iter().find(|site| Some(&site.name) == row.graph.as_ref());
        named
            .ok_or_else(|| Error::parameter("graph", format!("{:?}", row.graph), "it is none of those given"))
    };
    match row.protocol {
        Protocol::Gossip | Protocol::AcceleratedGossip | Protocol::RelayGossip => {
            gossip(problem, site()?, row, observers, progress)
        }
        Protocol::RandomisedGossip => scheduled(problem, site()?, row, observers, progress),
        Protocol::Butterfly => {
            let scheme = Scheme::Butterfly { positions: everyone(problem)? };
            let own = butterfly::partners(&scheme)?;
            let given = problem.sites.first().filter(|_| problem.graph_is_given);
            Ok(butterfly::losses(problem, &scheme, given.map_or(&own, Site::graph), observers, progress)?.0)
        }
        Protocol::LocalDp | Protocol::CentralDp => Ok(Losses::local()),
    }
}

fn everyone(problem: &Problem) -> Result<Vec<usize>> {
    let site = problem
        .sites
        .first()
        .ok_or_else(|| Error::parameter("families", "empty", "give at least one graph"))?;
    Ok((0..site.nodes()).collect())
}

/// Gossip at just this `tau / sigma` and number of steps.
fn gossip(
    problem: &Problem,
    site: &Site,
    row: &Row,
    observers: &Observers,
    progress: Progress,
) -> Result<Losses> {
    // Without relay noise acceleration reveals no more.
    let scheme = Scheme::Gossip { mixing: site.mixing.clone(), rounds: row.steps, accelerated: false };
    let setting = Setting { relay_noise: row.tau / row.sigma, ..Setting::of(scheme) };
    let one = |i: usize| -> Result<Seen> {
        let v = observers.all[i];
        let leakage = door::account(&setting, &Adversary::Peer(v))?.leakage;
        let shown = problem.short_of_consensus(&leakage);
        Ok(Seen::new(&shown, &paths::distances(site.graph(), v)?, problem.target.beyond))
    };
    let done = |done| progress("verifying", done, observers.all.len());
    let seen = parallel::map(observers.all.len(), one, done).into_iter().collect::<Result<Vec<_>>>()?;
    Ok(gather(seen.iter(), observers.complete))
}

/// The drawn schedules, one after the other.
fn scheduled(
    problem: &Problem,
    site: &Site,
    row: &Row,
    observers: &Observers,
    progress: Progress,
) -> Result<Losses> {
    let mut worst: Option<Losses> = None;
    for schedule in randomised::schedules(problem, site, row.steps)? {
        let done = |done| progress("verifying", done, observers.all.len());
        let seen = randomised::seen(problem, site, &observers.all, &schedule, &[row.steps], done)?.concat();
        let found = gather(seen.iter(), observers.complete);
        worst = Some(worst.map_or(found, |worst| worst.max(&found)));
    }
    worst.ok_or_else(|| Error::parameter("schedules", "empty", "draw at least one"))
}

/// What a verified row promises, to whom and by what right.
pub(super) fn statements(
    problem: &Problem,
    row: &Row,
    verified: &Losses,
    observers: &Observers,
) -> Result<Vec<String>> {
    let (delta, beyond) = (problem.delta, problem.target.beyond);
    let standing = &row.standing;
    let mut said = vec![format!(
        "any two peers: {} at delta = {delta:e} for one user's data (replace); {standing}",
        epsilon(verified.worst, delta)?
    )];
    if let Some(far) = verified.far {
        said.push(format!(
            "peers at distance {beyond} or more: {} at delta = {delta:e}; {standing}",
            epsilon(far, delta)?
        ));
    }
    said.push(format!(
        "a wire-tapper who sees every message: {} at delta = {delta:e}; proven",
        epsilon((problem.sensitivity / row.sigma).powi(2) * (1.0 + 4.0 * f64::EPSILON), delta)?
    ));
    let estimate = if observers.complete { "" } else { " (estimated, three standard errors added)" };
    said.push(format!(
        "mean over pairs: mu² <= {}{estimate}; a mean is a guarantee for nobody",
        round_up(verified.mean)
    ));
    Ok(said)
}

/// The same as numbers; what was estimated from some observers is no guarantee, and left out.
pub(super) fn guarantees(
    problem: &Problem,
    row: &Row,
    observers: &Observers,
    not_covered: &[String],
) -> Vec<Stated> {
    let standing = match row.protocol {
        Protocol::RandomisedGossip => Standing::Conditional(vec![row.standing.clone()]),
        Protocol::Butterfly => {
            Standing::Conditional(vec!["everyone can reach the butterfly's partners".into()])
        }
        _ => Standing::Proven,
    };
    let stated = |about: String, adversary, epsilon, standing| Stated {
        about,
        epsilon,
        delta: problem.delta,
        adversary,
        observers: Vec::new(),
        observer_names: Vec::new(),
        unit: Unit::User,
        adjacency: Adjacency::Replace,
        standing,
        not_covered: not_covered.to_vec(),
    };
    let mut all = Vec::new();
    if observers.complete {
        all.push(stated("any two peers".into(), "any-peer", row.epsilon.peer, standing.clone()));
        if row.mu_squared.far.is_some() {
            let about = format!("peers at distance {} or more", problem.target.beyond);
            all.push(stated(about, "any-peer", row.epsilon.far, standing));
        }
    }
    let about = "everyone, towards someone who sees every message".to_owned();
    all.push(stated(about, "wire-tapper", row.epsilon.wire_tapper, Standing::Proven));
    all
}

/// `epsilon <= ...`, or that there is no protection to speak of.
fn epsilon(mu_squared: f64, delta: f64) -> Result<String> {
    Ok(match row::epsilon(mu_squared, delta)? {
        Some(epsilon) => format!("epsilon <= {}", round_up(epsilon)),
        None => format!("no protection (mu² = {mu_squared:.3e})"),
    })
}
