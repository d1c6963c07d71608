//! An attack on learning: someone who sees every message tells two versions of one peer's rows apart.
//!
//! ```text
//! rows A ─► runs (the very engines that learn) ─► what the peer released ─┐
//! rows B ─► as many, with other seeds ──────────► what the peer released ─┴─► nearer to A or to B? ─► errors ─► epsilon and mu at least
//! ```
//!
//! The rows are as far apart as labels can make them, and the attacker knows both: it compares each release with the two that it would be without noise
//! (the likelihood ratio; its threshold, 0, is fixed beforehand). What its errors prove must not exceed what is claimed of a wire-tapper.

use std::fmt;

use serde::Serialize;
use sottovoce_audit::Attack;
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_privacy::{Adversary, Gdp, Guarantee};
use sottovoce_protocol::Peer;
use sottovoce_views::{door, parallel};

use super::losses::{Past, Question};
use super::{Job, Session, Settings, Task};
use crate::terms::{Stated, short_up};
use crate::{Error, Result, require};

/// Confidence of the lower bounds.
const CONFIDENCE: f64 = 0.999;

/// What the attack proved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caught {
    /// In a sentence.
    pub headline: String,
    /// The method's name.
    pub method: &'static str,
    /// Number of peers.
    pub peers: usize,
    /// Whose rows were exchanged.
    pub target: Peer,
    /// Releases of that peer that were heard in a run, at most.
    pub releases: usize,
    /// Runs with either version of its rows.
    pub runs: usize,
    /// Runs with the first version that were taken for the second.
    pub misses: u64,
    /// The reverse.
    pub false_alarms: u64,
    /// Of the lower bounds, together.
    pub confidence: f64,
    /// At which epsilons are.
    pub delta: f64,
    /// No smaller epsilon is true.
    pub epsilon_lower: f64,
    /// No smaller Gaussian loss is.
    pub mu_lower: f64,
    /// The Gaussian loss of what was heard, in the run in which it was largest: the attack proves no more.
    pub mu: f64,
    /// Whether the claim survived.
    pub stands: bool,
    /// What is claimed.
    pub guarantees: Vec<Stated>,
}

/// Attacks one peer in so many runs with either version of its rows; `done` is called after each.
pub fn attack(job: &Job, target: Peer, runs: usize, done: impl Fn() + Sync) -> Result<Caught> {
    attack_with(job, &job.task.neighbours(target)?, target, runs, done)
}

/// The same where the two versions are given: tasks that differ in the rows of that peer alone.
pub fn attack_with(
    job: &Job,
    versions: &[Task; 2],
    target: Peer,
    runs: usize,
    done: impl Fn() + Sync,
) -> Result<Caught> {
    let (settings, last) = job.settings(job.seed)?;
    let remedy = "without noise nothing is claimed; give some";
    require(settings.sigma > 0.0, "sigma", settings.sigma, remedy)?;
    if let Some(secrets) = &settings.secrets {
        let remedy = "the attack listens to one peer, whom the noise of its pairs hides: that it finds nothing would say nothing; attack an averaging with audit reconstruct --wire-tapper";
        return Err(Error::parameter("cancel", secrets.pairs().kappa(), remedy));
    }
    let stage = Stage { job, versions, settings: &settings, last, target };
    let one = |run: usize| stage.listen(run % 2, Seed(job.seed).part(1 + run as u64).0);
    let all = parallel::map(2 * runs, one, |_| done()).into_iter().collect::<Result<Vec<Heard>>>()?;
    let wrong = |version: usize| {
        all.iter().skip(version).step_by(2).filter(|heard| heard.taken != version).count() as u64
    };
    let (misses, false_alarms) = (wrong(0), wrong(1));
    let rates = Attack::new(misses, runs as u64, false_alarms, runs as u64)?.error_rates(1.0 - CONFIDENCE)?;
    let claim = claimed(job.task, &stage, target)?;
    let stated = Stated::new(format!("peer {}'s data", job.task.name_of(target)), &claim, job.delta)?;
    let (epsilon_lower, mu_lower) = (rates.epsilon_lower(job.delta)?, rates.mu_lower());
    // The claim is as strong as the epsilon of a Gaussian loss of `mu_lower` at its delta.
    let proven = if mu_lower > 0.0 { Gdp::new(mu_lower)?.epsilon(job.delta)?.lower } else { 0.0 };
    let stands = stated.epsilon.is_some_and(|claimed| epsilon_lower <= claimed && proven <= claimed);
    Ok(Caught {
        headline: format!(
            "Whoever sees every message loses {} of {} bets on peer {}'s rows; epsilon {} at least, {} claimed: the claim {}",
            misses + false_alarms,
            2 * runs,
            job.task.name_of(target),
            // Never more than was proven.
            (proven * 1e3).floor() / 1e3,
            stated.epsilon.map_or_else(|| "none".to_owned(), short_up),
            if stands { "stands" } else { "FELL" }
        ),
        method: settings.method.name(),
        peers: job.task.peers(),
        target,
        releases: all.iter().map(|heard| heard.releases).max().unwrap_or(0), // whole numbers
        runs,
        misses,
        false_alarms,
        confidence: CONFIDENCE,
        delta: job.delta,
        epsilon_lower,
        mu_lower,
        mu: all.iter().map(|heard| heard.mu_squared.sqrt()).fold(0.0, f64::max),
        stands,
        guarantees: vec![stated],
    })
}

/// What is claimed of the target towards a wire-tapper, by the accountant's door.
fn claimed(task: &Task, stage: &Stage<'_>, target: Peer) -> Result<Guarantee> {
    let question = Question::of(task, stage.job.mixings, stage.settings);
    let overheard = stage.settings.method.way().overheard(&question, &Past::PLANNED)?;
    let mut claim =
        door::account(&overheard, &Adversary::WireTapper)?.guarantee(target, 1.0, stage.settings.sigma)?;
    claim.standing = claim.standing.given(task.assumptions());
    Ok(claim)
}

/// What the attacker made of one run.
struct Heard {
    /// Which version it takes the rows for.
    taken: usize,
    releases: usize,
    /// How far apart the two versions were in what it heard, in deviations of the noise.
    mu_squared: f64,
}

struct Stage<'a> {
    job: &'a Job<'a>,
    versions: &'a [Task; 2],
    settings: &'a Settings,
    last: Option<usize>,
    target: Peer,
}

impl Stage<'_> {
    /// One run with this version of the rows.
    fn listen(&self, version: usize, seed: u64) -> Result<Heard> {
        let settings = Settings { seed, ..self.settings.clone() };
        let (step, noise) = (settings.step, settings.step * settings.sigma * self.job.task.sensitivity());
        let mut session = Session::new(&self.versions[version], self.job.mixings, settings, 1)?;
        let (mut nearer, mut apart, mut releases) = (0.0, 0.0, 0);
        loop {
            let more = session.listen(|peer, before, after| {
                if peer != self.target {
                    return;
                }
                let [one, other] = self.versions.each_ref().map(|task| {
                    let mut model = before.to_vec();
                    task.descend(seed, peer, releases, step, &mut model);
                    model
                });
                for ((x, one), other) in after.iter().zip(&one).zip(&other) {
                    nearer += (x - 0.5 * (one + other)) * (other - one);
                    apart += (other - one).powi(2);
                }
                releases += 1;
            })?;
            if !more || self.last.is_some_and(|last| session.progress().0 >= last) {
                let taken = usize::from(nearer > 0.0);
                return Ok(Heard { taken, releases, mu_squared: apart / (noise * noise) });
            }
        }
    }
}

impl fmt::Display for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(
            f,
            "  {} peers, {}; {} releases of peer {} in a run",
            self.peers, self.method, self.releases, self.target
        )?;
        writeln!(
            f,
            "  two versions of its rows, {} runs each: {} and {} taken for the other",
            self.runs, self.misses, self.false_alarms
        )?;
        writeln!(
            f,
            "  Gaussian loss: {:.4} at least (confidence {}); {:.4} in what was heard",
            self.mu_lower, self.confidence, self.mu
        )?;
        writeln!(
            f,
            "  epsilon at delta {:e}, whatever the noise: {:.4} at least",
            self.delta, self.epsilon_lower
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::method::{Entry, METHODS, Options};
    use crate::learning::{Batch, Choice, Noise};
    use sottovoce_learning::{Clip, Loss, Model, Shards, Table};
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::{Mixing, Weights};

    fn task(peers: usize) -> Task {
        let rows: Vec<f64> = (0..4 * peers).map(|i| if i % 3 == 0 { 1.0 } else { -0.5 }).collect();
        let labels = (0..2 * peers).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let table = Table::new(rows, 2, labels).unwrap();
        let model = Model { loss: Loss::Logistic, width: 2, ridge: 0.0 };
        let shards = Shards::even(&table, peers).unwrap();
        Task::new("small", shards, table, model, Clip::Example(0.2), Batch::All).unwrap().within(2.0).unwrap()
    }

    fn caught(peers: usize, method: &'static Entry, sigma: f64) -> Result<Caught> {
        let task = task(peers);
        let graph = generate(&Family::Ring { n: peers }, 0, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let job = Job {
            task: &task,
            mixings: if method.needs_graph { std::slice::from_ref(&mixing) } else { &[] },
            choice: Choice { method, options: Options::default(), iterations: 3, step: None },
            noise: Noise::Given(sigma, None),
            seeds: 1,
            seed: 4,
            delta: 1e-5,
            threads: 1,
            network: None,
            secrets: None,
        };
        attack(&job, 0, 1000, || ())
    }

    #[test]
    fn claims_stand_and_the_attack_is_nearly_as_strong_as_they_are() {
        let methods = METHODS.iter().filter(|entry| entry.name != "central");
        // Among six peers some speak for another, too, before anybody has heard them alone.
        for (peers, entry) in methods.flat_map(|entry| [(8, entry), (6, entry)]) {
            let caught = caught(peers, entry, 1.0).unwrap();
            assert!(caught.stands && caught.releases == 3, "{caught:?}");
            // Clipped gradients of opposite labels are as far apart as any.
            let all = 3.0_f64.sqrt();
            assert!((caught.mu - all).abs() < 1e-9, "{}: {}", entry.name, caught.mu);
            let least = if entry.name == "walk" { 0.5 } else { 1.0 };
            assert!((least..=all).contains(&caught.mu_lower), "{}: {}", entry.name, caught.mu_lower);
        }
        let central = METHODS.iter().find(|entry| entry.name == "central").unwrap();
        assert!(caught(8, central, 1.0).unwrap_err().to_string().contains("`method` is central"));
    }

    /// What is heard of a run with less noise than is claimed makes the claim fall.
    #[test]
    fn a_claim_that_is_too_small_falls() {
        let entry = Entry::find("butterfly").unwrap();
        let honest = caught(8, entry, 0.5).unwrap();
        let (mu, claimed) = (honest.mu_lower, Gdp::new(3.0_f64.sqrt()).unwrap().epsilon(1e-5).unwrap().upper);
        // The noise was half of what a claim at sigma 1 says.
        assert!(Gdp::new(mu).unwrap().epsilon(1e-5).unwrap().lower > claimed, "{mu}");
    }
}
