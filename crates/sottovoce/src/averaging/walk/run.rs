//! A run: tokens walk on a network with faults, noise is found for the target, estimates are held against the mean.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use sottovoce_learning::Spread;
use sottovoce_protocol::walk::TokenPath;
use sottovoce_protocol::{Peer, Release};
use sottovoce_simulator::walk::{WalkOutcome, WalkSetup, copies, lineage};
use sottovoce_views::walk::{Mean, squared_error};

use super::reveal::{Public, WalkRevealed, pairs, reveal};
use crate::averaging::{Coordinate, STARRED};
use crate::experiment::{Against, Averaging, Experiment, ReadyWalk};
use crate::learning::method::launches;
use crate::learning::network::Traffic;
use crate::learning::transcript::Released;
use crate::plan::row::up;
use crate::plan::target::mu_squared_at;
use crate::spine::{Context, Outcome};
use crate::transcript;
use crate::{Error, Result, require};

/// Most that a value may be moved, in units of its noise: beyond, there is nothing to account for.
const MOST_MU: f64 = 1e4;

/// What came of an averaging by tokens.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Walked {
    /// In a sentence.
    pub headline: String,
    /// Seed of everything random.
    pub seed: u64,
    /// SHA-256 of the graph's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph_sha256: Option<String>,
    /// Number of edges.
    pub edges: usize,
    /// Each column of values: its mean, and the estimate of the run shown.
    pub coordinates: Vec<Coordinate>,
    /// Numbers that lay outside the public range and were moved inside.
    pub moved: usize,
    /// Mean squared error of the estimate, per coordinate: predicted over all paths and noises, without faults and caps.
    pub predicted_error: f64,
    /// Measured, over the runs in which a token arrived; none where none did.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub measured_error: f64,
    /// Root of the mean squared error over the runs.
    pub error: Spread,
    /// Runs over which errors were measured.
    pub runs: usize,
    /// What went over the network.
    pub traffic: Traffic,
    /// What was revealed.
    #[serde(flatten)]
    pub revealed: WalkRevealed,
    /// Invariants that were broken: none, or the run is void.
    pub violations: Vec<String>,
    /// Which of these numbers no noise protects.
    pub computed_without_privacy: [&'static str; 5],
    /// What was noticed in the graph's file.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// What happened, without values.
    #[serde(skip)]
    pub transcript: Option<transcript::Walk>,
}

/// Runs an averaging by tokens under its seeds, the first of which is shown. `done` is called after each.
pub fn run(experiment: &Averaging, folder: &Path, seed: u64, done: impl Fn()) -> Result<Walked> {
    let seeds = experiment.seeds.unwrap_or(1);
    require((1..=10_000).contains(&seeds), "seeds", seeds, "give a number from 1 to 10000")?;
    let ready = experiment.ready_walk(folder, seed)?;
    let sigma = calibrated(experiment, &Public::new(&ready, ready.sensitivity), || ready.paths(seed))?;
    let first = walk(&ready, seed, sigma)?;
    done();
    let mut errors = vec![ready.squared_error(&first)];
    for further in 1..seeds as u64 {
        errors.push(ready.squared_error(&walk(&ready, seed.wrapping_add(further), sigma)?));
        done();
    }
    Walked::new(&ready, &first, &errors, seed, sigma)
}

/// The same with its progress and its transcript, as every run returns it.
pub(crate) fn outcome(experiment: &Averaging, context: &Context<'_>) -> Result<Outcome> {
    let &Context { folder, seed, progress, .. } = context;
    progress.begin(experiment.seeds.unwrap_or(1), "walking");
    let mut found = run(experiment, folder, seed, || progress.step(""))?;
    let transcript = found.transcript.take();
    let (hash, notes) = (found.graph_sha256.clone(), std::mem::take(&mut found.notes));
    let again = context.again(Experiment::Averaging(Box::new(experiment.clone())));
    Ok(Outcome::new(found, again, &transcript)?.of_graph(hash, notes))
}

/// What the run of this seed will reveal, with all that gets lost on its network: where tokens go depends on no value and no noise.
/// To the spec's own observers, or to others where they are named; the noise is that of the spec.
pub fn account(ready: &ReadyWalk, seed: u64, observers: &[String]) -> Result<WalkRevealed> {
    let (public, paths) = (Public::new(ready, ready.sensitivity), ready.paths(seed)?);
    let sigma = calibrated(&ready.experiment, &public, || Ok(paths.clone()))?;
    reveal(&Public { sigma, ..public }.asked(observers, None)?, &paths)
}

/// The walk of this seed under this noise, message by message.
fn walk(ready: &ReadyWalk, seed: u64, sigma: f64) -> Result<WalkOutcome> {
    let ReadyWalk { mixing, agreed, values, sensitivity, worth, .. } = ready;
    let mu = sensitivity / sigma;
    let budget = agreed.cap.map_or(f64::INFINITY, |cap| cap as f64 * mu * mu * (1.0 + 1e-9));
    let setup = WalkSetup {
        mixing,
        course: agreed.course(*sensitivity, sigma),
        launch: launches(seed, agreed.tokens, mixing.nodes()),
        // What no filter counts, since it protects nothing, is not limited.
        budget: if budget < 1e8 { budget } else { f64::INFINITY },
        start: vec![0.0; values.columns.len()],
        worth: worth.clone(),
    };
    let descend = |peer: Peer| {
        let (own, worth) = (&values.all[peer], worth.get(peer).copied().unwrap_or(1.0));
        move |_: usize, gamma: f64, token: &mut Vec<f64>| {
            token.iter_mut().zip(own).for_each(|(x, y)| *x -= gamma * (*x - worth * y));
        }
    };
    Ok(ready.network.run(setup, seed).run(descend)?)
}

/// Who releases how often, and where tokens go, in the run of this seed under this noise: whoever's values they are.
pub(crate) fn happens(ready: &ReadyWalk, seed: u64, sigma: f64) -> Result<(Vec<Released>, Vec<TokenPath>)> {
    let outcome = walk(ready, seed, sigma)?;
    let release = ready.agreed.course(ready.sensitivity, sigma).release();
    Ok((released(&outcome, ready.mixing.nodes(), release), copies(&outcome.transcript)))
}

/// The noise: as given, or the least that the target allows on the paths of the run, which depend on no noise.
pub(crate) fn calibrated(
    experiment: &Averaging,
    public: &Public,
    paths: impl FnOnce() -> Result<Vec<TokenPath>>,
) -> Result<f64> {
    let sensitivity = public.sensitivity;
    if let Some(sigma) = experiment.noise.sigma {
        let least = sensitivity / MOST_MU;
        let remedy = format!(
            "it hides nothing of a value that one person can move by {sensitivity}; give at least {least}"
        );
        require(sigma >= least, "sigma", sigma, remedy)?;
        return Ok(sigma);
    }
    let target = &experiment.target;
    let mu_squared = mu_squared_at(target.epsilon(), target.delta)?;
    let units = match (target.against.unwrap_or_default(), public.agreed.cap) {
        (Against::WireTapper, Some(cap)) => cap as f64,
        (Against::WireTapper, None) => {
            let remedy = "someone who sees everything learns every contribution, and how many there will be is left to chance: give the most of a peer";
            return Err(Error::missing("cap", remedy));
        }
        (Against::WorstPeer, _) => {
            let Some(pairs) = pairs(public, &paths()?)? else {
                let remedy = "with so many peers not every pair is accounted for, and no noise can be found; give sigma";
                return Err(Error::missing("sigma", remedy));
            };
            pairs.worst
        }
    };
    let remedy = "on this path nobody learns anything of anybody; give sigma, or more steps";
    require(units > 0.0, "steps", public.agreed.steps, remedy)?;
    Ok(up(sensitivity * (units / mu_squared).sqrt() * (1.0 + 1e-9)))
}

impl ReadyWalk {
    /// The ways of all copies of all tokens. Any noise will do to see them.
    fn paths(&self, seed: u64) -> Result<Vec<TokenPath>> {
        Ok(copies(&walk(self, seed, self.sensitivity)?.transcript))
    }

    /// The mean of the tokens that arrived, each divided by its public mass.
    fn estimate(&self, outcome: &WalkOutcome) -> Option<Vec<f64>> {
        let average = self.agreed.average(self.worth.clone());
        let mut sum = vec![0.0; self.values.columns.len()];
        let mut count = 0;
        for token in outcome.finals.iter().flatten() {
            let mass = lineage(&outcome.transcript, token.sent()).map_or(1.0, |path| average.mass(path));
            // A token to which nobody contributed says nothing.
            if mass > 0.0 {
                sum.iter_mut().zip(&token.value).for_each(|(sum, x)| *sum += x / mass);
                count += 1;
            }
        }
        (count > 0).then(|| sum.into_iter().map(|sum| sum / f64::from(count)).collect())
    }

    /// Mean squared distance of the estimate from the mean of all private values, per coordinate; NaN where there is none.
    fn squared_error(&self, outcome: &WalkOutcome) -> f64 {
        let Some(estimate) = self.estimate(outcome) else { return f64::NAN };
        let off = estimate.iter().enumerate().map(|(i, x)| (x - self.mean(i)).powi(2));
        off.sum::<f64>() / estimate.len() as f64
    }

    /// The mean of a column.
    fn mean(&self, column: usize) -> f64 {
        let all = &self.values.all;
        all.iter().map(|value| value[column]).sum::<f64>() / all.len() as f64
    }

    /// The same expected, over paths and noises.
    fn predicted(&self, seed: u64, sigma: f64) -> Result<f64> {
        let launch = launches(seed, self.agreed.tokens, self.mixing.nodes());
        let mean = Mean {
            mixing: &self.mixing,
            launch: &launch,
            burn_in: self.agreed.burn_in,
            steps: self.agreed.steps,
            sizes: self.agreed.step_size.0,
            worth: &self.worth,
            noise: sigma,
        };
        let columns = self.values.columns.len();
        let mut sum = 0.0;
        for column in 0..columns {
            let values: Vec<f64> = self.values.all.iter().map(|value| value[column]).collect();
            sum += squared_error(&values, &mean)?;
        }
        Ok(sum / columns as f64)
    }
}

/// Equal releases of every peer, as many as there were.
fn released(outcome: &WalkOutcome, peers: usize, release: Release) -> Vec<Released> {
    let mut counts = vec![0; peers];
    outcome.transcript.releases.iter().for_each(|(peer, _)| counts[*peer] += 1);
    let all = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    all.map(|(peer, count)| Released { peer, release, count }).collect()
}

impl Walked {
    fn new(ready: &ReadyWalk, first: &WalkOutcome, errors: &[f64], seed: u64, sigma: f64) -> Result<Self> {
        let public = Public::new(ready, sigma);
        let paths: Vec<TokenPath> = copies(&first.transcript);
        let revealed = reveal(&public, &paths)?;
        let n = ready.mixing.nodes();
        let release = ready.agreed.course(ready.sensitivity, sigma).release();
        let experiment = Experiment::Averaging(Box::new(ready.experiment.clone()));
        let file = transcript::Walk::new(&experiment, seed, &public, released(first, n, release), paths)?;
        let estimate = ready.estimate(first);
        let coordinate = |(i, name): (usize, &String)| Coordinate {
            name: name.clone(),
            mean: ready.mean(i),
            estimate: estimate.as_ref().map_or(f64::NAN, |estimate| estimate[i]),
        };
        let arrived: Vec<f64> = errors.iter().copied().filter(|error| error.is_finite()).collect();
        let roots: Vec<f64> = errors.iter().map(|error| error.sqrt()).collect();
        let mut found = Self {
            headline: String::new(),
            seed,
            graph_sha256: ready.place.sha256.clone(),
            edges: ready.place.graph.edge_count(),
            coordinates: ready.values.columns.iter().enumerate().map(coordinate).collect(),
            moved: ready.values.moved,
            predicted_error: ready.predicted(seed, sigma)?,
            measured_error: arrived.iter().sum::<f64>() / arrived.len() as f64,
            error: Spread::of(&roots),
            runs: errors.len(),
            traffic: Traffic::of(first),
            revealed,
            violations: first.violations.iter().map(ToString::to_string).collect(),
            computed_without_privacy: [
                "coordinates/mean",
                "measured_error",
                "predicted_error",
                "error",
                "moved",
            ],
            notes: ready.place.notes.clone(),
            transcript: Some(file),
        };
        found.headline = found.sentence();
        Ok(found)
    }

    fn sentence(&self) -> String {
        let error = self.predicted_error.sqrt();
        let result = match &self.coordinates[..] {
            _ if self.traffic.finished == 0 => "No token arrived".to_owned(),
            [one] => format!("Average {:.3} ± {error:.3}", one.estimate),
            several => {
                let all: Vec<String> =
                    several.iter().map(|one| format!("{} {:.3}", one.name, one.estimate)).collect();
                format!("Averages {} (each ± {error:.3})", all.join(", "))
            }
        };
        format!("{result} by {} walking; {}", tokens(self.revealed.agreed.tokens), self.revealed.headline())
    }
}

fn tokens(count: usize) -> String {
    if count == 1 { "a token".to_owned() } else { format!("{count} tokens") }
}

impl fmt::Display for Walked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(f, "  {:<17} {} with {} edges", "peers", self.revealed.peers, self.edges)?;
        self.revealed.rows().iter().try_for_each(|(label, value)| writeln!(f, "  {label:<17} {value}"))?;
        let root = |square: f64| format!("{:.4}", square.sqrt());
        let measured = match self.measured_error.is_finite() {
            true => format!("{} over {} runs *", root(self.measured_error), self.runs),
            false => "unknown: no token arrived".to_owned(),
        };
        writeln!(
            f,
            "  {:<17} {} predicted *, {measured} (root mean square)",
            "error",
            root(self.predicted_error)
        )?;
        for one in &self.coordinates {
            writeln!(
                f,
                "  {:<17} {:.4} *, estimated {:.4}",
                format!("mean of {}", one.name),
                one.mean,
                one.estimate
            )?;
        }
        let rows = self.traffic.rows(self.revealed.agreed.tokens);
        rows.iter().try_for_each(|(label, value)| writeln!(f, "  {label:<17} {value}"))?;
        writeln!(f, "\n  {STARRED}")?;
        self.revealed.promised(f)
    }
}
