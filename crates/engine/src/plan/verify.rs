//! The chosen plan, accounted for once more with the noises as printed: never by a formula, never by the search's own numbers.

use sottovoce_privacy::{Adjacency, Adversary, Gdp, Loss, Risk, Standing, Unit, round_up};
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::{Graph, paths};
use sottovoce_views::door::{self, Setting};
use sottovoce_views::exact::Leakage;
use sottovoce_views::parallel;

use super::losses::{Seen, gather, outward, unit};
use super::pairs::PairLosses;
use super::row::{self, up};
use super::search::Observers;
use super::{
    Binding, Class, Losses, Problem, Progress, Protocol, Row, Site, butterfly, cancelling, masked, randomised,
};
use crate::terms::Stated;
use crate::{Error, Result};

/// How often a hair of noise may be added.
const TRIES: usize = 3;

/// A row, accounted for.
pub struct Verified {
    /// Its losses as `mu²`.
    pub mu_squared: Losses,
    /// Those of all pairs, in units of local DP.
    pub pairs: PairLosses,
}

/// The losses of a row, by the exact accountant. Should they miss the target by rounding, a hair of noise is added.
pub fn verify(
    problem: &Problem,
    row: &mut Row,
    observers: &Observers,
    progress: Progress,
) -> Result<Verified> {
    for _ in 0..TRIES {
        let views = views(problem, row, observers, progress)?;
        let losses = losses(problem, &graph(problem, row)?, observers, &views)?;
        let mu_squared = losses.scaled(masked::moved(problem, row)?, row.sigma);
        let holds = match &problem.secrets {
            Some(secrets) if row.protocol.masks() => masked::keeps(problem, secrets, row)?,
            _ => problem.target.holds(&mu_squared),
        };
        if holds {
            row.loss = Some(losses);
            row.mu_squared = mu_squared;
            return Ok(Verified { mu_squared, pairs: PairLosses::new(&observers.all, &views) });
        }
        (row.sigma, row.tau) = (up(row.sigma * (1.0 + 1e-6)), up(row.tau * (1.0 + 1e-6)));
    }
    let remedy = "the accountant does not confirm what the search found; please report this";
    Err(Error::parameter("target", problem.target, remedy))
}

/// The losses of all pairs of a row, in units of local DP.
pub(super) fn pairs(
    problem: &Problem,
    row: &Row,
    observers: &Observers,
    progress: Progress,
) -> Result<PairLosses> {
    Ok(PairLosses::new(&observers.all, &views(problem, row, observers, progress)?))
}

fn site<'a>(problem: &'a Problem, row: &Row) -> Result<&'a Site> {
    let named = problem.sites.iter().find(|site| Some(&site.name) == row.graph.as_ref());
    named.ok_or_else(|| Error::parameter("graph", format!("{:?}", row.graph), "it is none of those given"))
}

/// What each observer learns from a row; a list for each schedule that was drawn.
fn views(
    problem: &Problem,
    row: &Row,
    observers: &Observers,
    progress: Progress,
) -> Result<Vec<Vec<Leakage>>> {
    let all = &observers.all;
    let done = |done| progress("verifying", done, all.len());
    match row.protocol {
        Protocol::Gossip | Protocol::AcceleratedGossip | Protocol::RelayGossip => {
            Ok(vec![gossip(problem, site(problem, row)?, row, observers, progress)?])
        }
        Protocol::RandomisedGossip => {
            let schedules = randomised::schedules(problem, site(problem, row)?, row.steps)?;
            let one = |schedule| randomised::views(problem, all, schedule, row.steps, done);
            schedules.iter().map(one).collect()
        }
        Protocol::Butterfly => Ok(vec![butterfly::views(problem, &scheme(problem)?, observers, progress)?.0]),
        Protocol::CancellingButterfly | Protocol::CancellingGossip => match &problem.secrets {
            Some(secrets) => Ok(vec![cancelling::views(secrets, observers, progress)?]),
            None => Err(Error::missing("keys", "noise cancels only among those who share secrets")),
        },
        Protocol::MaskedButterfly => match &problem.secrets {
            Some(secrets) => Ok(vec![masked::views(secrets, observers)?]),
            None => Err(Error::missing("keys", "masks cancel only among those who share secrets")),
        },
        Protocol::LocalDp | Protocol::CentralDp => Err(Error::parameter(
            "protocol",
            row.protocol.name(),
            "a baseline has no messages to account for",
        )),
    }
}

/// The graph that distances are of.
pub(super) fn graph(problem: &Problem, row: &Row) -> Result<Graph> {
    match row.protocol {
        Protocol::Butterfly | Protocol::CancellingButterfly | Protocol::MaskedButterfly => {
            butterfly::graph(problem, &scheme(problem)?)
        }
        _ => Ok(site(problem, row)?.graph().clone()),
    }
}

/// The butterfly of all peers.
fn scheme(problem: &Problem) -> Result<Scheme> {
    let site = problem
        .sites
        .first()
        .ok_or_else(|| Error::parameter("families", "empty", "give at least one graph"))?;
    Ok(Scheme::Butterfly { positions: (0..site.nodes()).collect() })
}

/// Gossip at just this `tau / sigma` and number of steps.
fn gossip(
    problem: &Problem,
    site: &Site,
    row: &Row,
    observers: &Observers,
    progress: Progress,
) -> Result<Vec<Leakage>> {
    // Without relay noise acceleration reveals no more.
    let scheme = Scheme::Gossip { mixing: site.mixing.clone(), rounds: row.steps, accelerated: false };
    let setting = Setting { relay_noise: row.tau / row.sigma, ..Setting::of(scheme) };
    let one = |i: usize| -> Result<Leakage> {
        let leakage = door::account(&setting, &Adversary::Peer(observers.all[i]))?.leakage;
        Ok(problem.short_of_consensus(&leakage).into_owned())
    };
    let done = |done| progress("verifying", done, observers.all.len());
    parallel::map(observers.all.len(), one, done).into_iter().collect()
}

/// Functionals of what observers learn, in units of local DP; of several schedules the largest.
pub(super) fn losses(
    problem: &Problem,
    graph: &Graph,
    observers: &Observers,
    runs: &[Vec<Leakage>],
) -> Result<Losses> {
    let mut worst: Option<Losses> = None;
    for views in runs {
        let seen =
            |(view, &v): (&Leakage, &usize)| Ok(Seen::new(problem, v, view, &paths::distances(graph, v)?));
        let seen = views.iter().zip(&observers.all).map(seen).collect::<Result<Vec<_>>>()?;
        let found = gather(seen.iter(), observers.complete);
        worst = Some(worst.map_or(found, |worst| worst.max(&found)));
    }
    worst.ok_or_else(|| Error::parameter("schedules", "empty", "draw at least one"))
}

/// An ordered pair, what it loses as `mu²`, and its hops.
type PairLoss = ((usize, usize), f64, u32);

/// All ordered pairs of a verified row.
fn all_pairs(problem: &Problem, row: &Row, verified: &Verified) -> Result<Vec<PairLoss>> {
    let graph = graph(problem, row)?;
    let unit = unit(masked::moved(problem, row)?, row.sigma);
    let mut hops: (usize, Vec<u32>) = (usize::MAX, Vec::new());
    let mut all = Vec::new();
    for ((v, u), loss) in verified.pairs.pairs() {
        if hops.0 != v {
            hops = (v, paths::distances(&graph, v)?);
        }
        all.push(((v, u), loss * unit, hops.1[u]));
    }
    Ok(all)
}

/// What each class of distance got.
pub(super) fn classes(problem: &Problem, row: &Row, verified: &Verified) -> Result<Vec<Class>> {
    let Some(falling) = &problem.falling else { return Ok(Vec::new()) };
    falling.classes(all_pairs(problem, row, verified)?.into_iter(), problem.delta)
}

/// The pair that comes nearest to a bound of its own.
pub(super) fn binding(problem: &Problem, row: &Row, verified: &Verified) -> Result<Option<Binding>> {
    let target = &problem.target;
    let bound = |(v, u): (usize, usize), hops: u32| {
        let far = target.far.filter(|_| hops >= target.beyond);
        let falling = problem.falling.as_ref().map(|falling| falling.bound(v, u, hops));
        let all = [target.worst, far, falling];
        all.into_iter().flatten().reduce(|least, one| if one < least { one } else { least })
    };
    let mut most: Option<(f64, (usize, usize), f64, f64)> = None;
    for (pair, mu_squared, hops) in all_pairs(problem, row, verified)? {
        let Some(bound) = bound(pair, hops) else { continue };
        let share = mu_squared / bound;
        if most.is_none_or(|(known, ..)| share > known) {
            most = Some((share, pair, mu_squared, bound));
        }
    }
    let names = problem.names();
    let found = |(_, (observer, peer), mu_squared, bound)| {
        let names = [names.of(observer), names.of(peer)];
        Binding { observer, peer, names, mu_squared, bound }
    };
    Ok(most.map(found))
}

/// What a verified row promises, to whom and by what right.
pub(super) fn statements(
    problem: &Problem,
    row: &Row,
    verified: &Losses,
    classes: &[Class],
    observers: &Observers,
) -> Result<Vec<String>> {
    let (delta, beyond) = (problem.delta, problem.target.beyond);
    let standing = &row.standing;
    if let (true, Some(secrets)) = (row.protocol.masks(), &problem.secrets) {
        let told = |epsilon: Option<f64>| match epsilon {
            Some(epsilon) => format!("epsilon <= {}", round_up(epsilon)),
            None => "no protection".to_owned(),
        };
        return Ok(vec![
            format!(
                "any two peers: {} at delta = {delta:e} for one user's data (replace); {standing}",
                told(row.epsilon.peer)
            ),
            format!(
                "{}: {} at delta = {delta:e}; proven",
                secrets.adversary(),
                told(row.epsilon.wire_tapper)
            ),
        ]);
    }
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
    let names = problem.names();
    for class in classes {
        let Some((observer, peer)) = class.observer.zip(class.peer) else { continue };
        let allowed =
            class.allowed.map_or_else(String::new, |allowed| format!(" (asked for: {})", round_up(allowed)));
        said.push(format!(
            "{}: {}{allowed} at delta = {delta:e}, the worst peer {} towards peer {}; {standing}",
            class.step,
            epsilon(class.mu_squared.unwrap_or(0.0), delta)?,
            names.of(peer),
            names.of(observer)
        ));
    }
    let (who, share) = match &problem.secrets {
        Some(secrets) if row.protocol.cancels() => (secrets.adversary(), outward(secrets.worst())),
        _ => (Adversary::WireTapper, 1.0),
    };
    said.push(format!(
        "{who}: {} at delta = {delta:e}; proven",
        epsilon(share * unit(problem.sensitivity, row.sigma), delta)?
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
    classes: &[Class],
    observers: &Observers,
    not_covered: &[String],
) -> Result<Vec<Stated>> {
    let standing = match row.protocol {
        Protocol::RandomisedGossip => Standing::Conditional(vec![row.standing.clone()]),
        Protocol::Butterfly | Protocol::CancellingButterfly | Protocol::MaskedButterfly => {
            Standing::Conditional(vec!["everyone can reach the butterfly's partners".into()])
        }
        _ => Standing::Proven,
    };
    let stated = |about: String,
                  adversary: &'static str,
                  epsilon: Option<f64>,
                  mu_squared: Option<f64>,
                  standing|
     -> Result<Stated> {
        // Masks leave a loss that is not Gaussian.
        let gaussian = mu_squared.filter(|_| epsilon.is_some() && !row.protocol.masks());
        let risk = match gaussian {
            Some(mu_squared) => Loss::Gdp(Gdp::of_square(mu_squared)?).risk()?,
            None => Risk::of_pair(epsilon.unwrap_or(f64::INFINITY), problem.delta),
        };
        Ok(Stated {
            about,
            epsilon,
            risk,
            delta: problem.delta,
            adversary: adversary.into(),
            observers: Vec::new(),
            colluders: None,
            observer_names: Vec::new(),
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            standing,
            not_covered: not_covered.to_vec(),
        })
    };
    let mut all = Vec::new();
    if observers.complete {
        all.push(stated(
            "any two peers".into(),
            "any-peer",
            row.epsilon.peer,
            Some(row.mu_squared.worst),
            standing.clone(),
        )?);
        if row.mu_squared.far.is_some() {
            let about = format!("peers at distance {} or more", problem.target.beyond);
            all.push(stated(about, "any-peer", row.epsilon.far, row.mu_squared.far, standing.clone())?);
        }
        for class in classes.iter().filter(|class| class.pairs > 0) {
            all.push(stated(
                class.step.to_string(),
                "any-peer",
                class.epsilon,
                class.mu_squared,
                standing.clone(),
            )?);
        }
    }
    let about = "everyone, towards someone who sees every message".to_owned();
    let tapped =
        stated(about, "wire-tapper", row.epsilon.wire_tapper, row.tapped(problem), Standing::Proven)?;
    all.push(match &problem.secrets {
        Some(secrets) if row.protocol.shares_secrets() => Stated {
            adversary: "wire-tapper-with-any".into(),
            colluders: Some(secrets.colluders()),
            ..tapped
        },
        _ => tapped,
    });
    Ok(all)
}

/// `epsilon <= ...`, or that there is no protection to speak of.
fn epsilon(mu_squared: f64, delta: f64) -> Result<String> {
    Ok(match row::epsilon(mu_squared, delta)? {
        Some(epsilon) => format!("epsilon <= {}", round_up(epsilon)),
        None => format!("no protection (mu² = {mu_squared:.3e})"),
    })
}
