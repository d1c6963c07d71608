//! Own training where all rows of a peer are protected: the methods of `learning`.

use std::path::Path;

use sottovoce_engine::learning::canary::{Caught, attack_with};
use sottovoce_engine::learning::losses::Question;
use sottovoce_engine::learning::{Against, Job, Run, Session};
use sottovoce_privacy::{Gdp, Unit};
use sottovoce_topology::mixing::Mixing;

use super::{Hear, Moment, Outside, Trained, due, headline, stopped};
use crate::Result;
use crate::experiment::{Learning, ReadyLearning};
use crate::names::Names;
use crate::terms::Stated;

/// Bytes of a number on the wire.
const DOUBLE: u64 = 8;

fn ready(asked: &Learning, folder: &Path, seed: u64, outside: Outside) -> Result<ReadyLearning> {
    let Outside { oracle, rows, start } = outside;
    asked.ready_with(folder, seed, |_| Ok((asked.task.outside(oracle, rows, start)?, Vec::new())))
}

/// One gradient at a time, so that they are asked for in the same order in every run.
fn job<'a>(asked: &Learning, ready: &'a ReadyLearning, seed: u64) -> Job<'a> {
    Job { threads: 1, seeds: 1, ..asked.job(ready, seed) }
}

pub(super) fn train(
    asked: &Learning,
    folder: &Path,
    seed: u64,
    outside: Outside,
    hear: &mut Hear<'_>,
) -> Result<Trained> {
    let ready = ready(asked, folder, seed, outside)?;
    let job = job(asked, &ready, seed);
    let mut run = job.start()?;
    let mut history = vec![moment(&run, job.delta)?];
    let all = run.progress().1;
    while run.progress().0 < all {
        let more = run.go(1, |_| ())?;
        let step = run.progress().0;
        if due(step, all) || !more {
            let now = moment(&run, job.delta)?;
            let goes_on = hear(&now, &|| split(run.session()));
            history.push(now);
            if !goes_on {
                return Err(stopped());
            }
        }
        if !more {
            break;
        }
    }
    history.dedup_by_key(|moment| moment.step);
    trained(&job, &ready, &run, history)
}

pub(super) fn audit(
    asked: &Learning,
    folder: &Path,
    seed: u64,
    versions: [Outside; 2],
    (peer, runs): (usize, usize),
    done: impl Fn() + Sync,
) -> Result<Caught> {
    let [one, other] = versions;
    let (one, other) = (ready(asked, folder, seed, one)?, ready(asked, folder, seed, other)?);
    let remedy = "both versions must have the same peers, as many rows each, and the same start";
    let same = one.task.peers() == other.task.peers()
        && one.task.start() == other.task.start()
        && (0..one.task.peers()).all(|peer| one.task.rows_of(peer) == other.task.rows_of(peer));
    crate::require(same, "instead", "of another form", remedy)?;
    let remedy = format!("there are {} peers, from 0", one.task.peers());
    crate::require(peer < one.task.peers(), "peer", peer, remedy)?;
    crate::require((1..=1_000_000).contains(&runs), "runs", runs, "give a number from 1 to 1,000,000")?;
    let versions = [one.task.clone(), other.task];
    attack_with(&job(asked, &one, seed), &versions, peer, runs, done)
}

/// Everybody's model.
fn split(session: &Session<'_>) -> Vec<Vec<f64>> {
    let width = session.model().len();
    session.models().chunks_exact(width.max(1)).map(<[f64]>::to_vec).collect()
}

fn moment(run: &Run<'_>, delta: f64) -> Result<Moment> {
    let session = run.session();
    let (models, mean) = (split(session), session.model());
    let squared = |model: &Vec<f64>| model.iter().zip(&mean).map(|(x, mean)| (x - mean).powi(2)).sum::<f64>();
    let disagreement = (models.iter().map(squared).sum::<f64>() / models.len() as f64).sqrt();
    let epsilon = match session.settings().sigma > 0.0 {
        true => Some(Gdp::of_square(session.spent())?.epsilon(delta)?.upper),
        false => None,
    };
    Ok(Moment { step: run.progress().0, disagreement, epsilon })
}

fn trained(job: &Job<'_>, ready: &ReadyLearning, run: &Run<'_>, history: Vec<Moment>) -> Result<Trained> {
    let (session, task) = (run.session(), job.task);
    let settings = session.settings();
    let names =
        run.mixings().first().map(|mixing: &Mixing| Names::of_graph(mixing.graph())).unwrap_or_default();
    let mut promised = run.guarantees(job.delta)?;
    // First the one that the target was set for.
    if job.noise.promise().is_some_and(|promise| promise.against != Against::WireTapper) {
        promised.reverse();
    }
    let stated = |guarantee| Ok(Stated::new("any peer's data", guarantee, job.delta)?.named(&names));
    let guarantees = promised.iter().map(stated).collect::<Result<Vec<_>>>()?;
    let statements =
        promised.iter().map(|one| Ok(names.state(one, job.delta)?)).collect::<Result<Vec<_>>>()?;
    let messages = settings.method.way().messages(&Question::of(task, run.mixings(), settings))?;
    let (peers, steps) = (task.peers(), run.progress());
    Ok(Trained {
        headline: headline(peers, steps.0, &guarantees),
        seed: Some(settings.seed),
        method: settings.method.name(),
        unit: Unit::User,
        peers,
        names,
        rows: (0..peers).map(|peer| task.rows_of(peer)).collect(),
        parameters: task.parameters(),
        steps,
        releases: session.released(),
        sensitivity: task.sensitivity(),
        noise_multipliers: vec![settings.sigma; peers],
        messages,
        bytes: messages * DOUBLE * task.parameters() as u64,
        history,
        ended: session.stopped().map(|overspent| overspent.to_string()),
        guarantees,
        statements,
        notes: ready.notes.clone(),
        models: split(session),
    })
}
