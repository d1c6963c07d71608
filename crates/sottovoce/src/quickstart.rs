//! The main job on an embedded example: simulate private averaging, account for it exactly, attack it, and report.
//!
//! Sixty-four peers, each with a private number between 0 and 1, speak only to those nearby. They add noise, gossip with relay
//! noise, and end up close to the mean.

use std::time::Duration;

use serde::Serialize;
use sottovoce_audit::reconstruct::{Claim, Findings, Prior, Question, Target};
use sottovoce_privacy::noise::simulation::SimulationRng;
use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Loss, Standing, Unit, limits, round_up};
use sottovoce_protocol::averaging::Noising;
use sottovoce_report::{
    Attack, AttackRow, AveragingReport, Cell, GuaranteeLine, Promised, Provenance, Series, hash,
};
use sottovoce_simulator::averaging::{AveragingSetup, Scheme};
use sottovoce_simulator::bulk::Bulk;
use sottovoce_simulator::events::Simulation;
use sottovoce_simulator::invariants;
use sottovoce_simulator::network::{Latency, Network};
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::outcome::Outcome;
use sottovoce_topology::Graph;
use sottovoce_topology::family::{self, Family};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::paths;
use sottovoce_views::door::Setting;
use sottovoce_views::exact::{self, Leakage};
use sottovoce_views::published::{self, Formula};
use sottovoce_views::utility::{Contraction, spread_left};

use crate::origin::graph_hash;
use crate::{Error, Result};

const PEERS: usize = 64;
const RADIUS: f64 = 0.22;
/// Values lie between 0 and 1.
const SENSITIVITY: f64 = 1.0;
const SIGMA: f64 = 1.0;
const DELTA: f64 = 1e-5;
/// The run's own relay noise and steps, by their places in the grid.
const CHOSEN: (usize, usize) = (3, 4);
const RELAY: [f64; 6] = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4];
const STEPS: [usize; 7] = [2, 4, 7, 10, 15, 20, 30];
/// Runs over which errors are measured.
const RUNS: usize = 400;
/// Runs of the attack.
const ATTACKS: usize = 1000;
/// Whose view is attacked, and shown first.
const OBSERVER: usize = 0;
/// The stream of the private values; 0 is noise.
const VALUES: u64 = 0x7661_6c73;

const NOTES: [&str; 4] = [
    "Losses are in units of local DP: 1 is no protection beyond a peer's own noise, 0 is nothing learnt. They are exact \
     (docs/theorems/linear-views.md) and assume that peers follow the protocol and are merely curious.",
    "The published formula (Muffliato, Theorem 1) adds up losses of messages that share their noise. It is refuted: without relay \
     noise a peer's true loss can be 1 where the formula says next to nothing (docs/theorems/muffliato-refuted.md).",
    "The mean over pairs is a summary, and a guarantee for nobody.",
    STARRED,
];

/// What the star behind a fact means.
pub const STARRED: &str =
    "* computed from the private values without privacy: whoever publishes it reveals more than is promised.";

/// What came of it.
#[derive(Debug, Serialize)]
pub struct Quickstart {
    /// Seed of everything random.
    pub seed: u64,
    /// Number of peers.
    pub peers: usize,
    /// Number of edges.
    pub edges: usize,
    /// Gossip steps.
    pub steps: usize,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// Standard deviation of the relay noise.
    pub tau: f64,
    /// Probability with which the stated epsilons may fail.
    pub delta: f64,
    /// Mean of the private values.
    pub mean: f64,
    /// Mean of the peers' results in the run shown.
    pub estimate: f64,
    /// Mean squared error of a peer's result: predicted, and measured over many runs.
    pub predicted_error: f64,
    /// Measured.
    pub measured_error: f64,
    /// Mean over pairs of the loss, in units of local DP.
    pub mean_loss: f64,
    /// The same without relay noise.
    pub mean_loss_without_relay: f64,
    /// The largest loss of peers at distance two or more.
    pub worst_far: f64,
    /// The same without relay noise.
    pub worst_far_without_relay: f64,
    /// The largest loss that the published formula gives peers at distance two or more (it knows no relay noise).
    pub worst_far_published: f64,
    /// Messages sent in the run shown.
    pub messages: u64,
    /// Its virtual duration in seconds.
    pub virtual_seconds: f64,
    /// Invariants that were broken: none, or the run is void.
    pub violations: Vec<String>,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
    /// Which of these numbers no noise protects.
    pub computed_without_privacy: [&'static str; 2],
    /// Verdict of the attack.
    pub attack: String,
    /// Everything the report shows.
    #[serde(skip)]
    pub report: AveragingReport,
}

/// What is computed in parts, so that a caller can show progress.
pub const PARTS: usize = RELAY.len() * STEPS.len() + 3;

/// Runs it. `done` is called [`PARTS`] times.
pub fn quickstart(seed: u64, done: impl Fn()) -> Result<Quickstart> {
    let example = Example::new(seed)?;
    let outcome = example.simulate()?;
    done();
    let measured = example.measure()?;
    done();
    let grid = example.grid(&done)?;
    let attack = example.attack()?;
    done();
    example.conclude(&outcome, &measured, &grid, attack)
}

struct Example {
    seed: u64,
    graph: Graph,
    mixing: Mixing,
    values: Vec<f64>,
    hops: Vec<Vec<u32>>,
}

/// All pairs' losses at a point of the grid.
struct Point {
    leakages: Vec<Leakage>,
    error: f64,
    mean: f64,
    worst_far: f64,
}

impl Example {
    fn new(seed: u64) -> Result<Self> {
        let graph = family::generate(&Family::Geometric { n: PEERS, radius: RADIUS }, seed, true)?;
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let value = |peer: usize| {
            use rand::RngExt;
            SimulationRng::new(seed, peer as u64, 0).purpose(VALUES).random::<f64>()
        };
        let hops = (0..PEERS).map(|v| paths::distances(&graph, v)).collect::<Result<_, _>>()?;
        Ok(Self { seed, values: (0..PEERS).map(value).collect(), graph, mixing, hops })
    }

    fn noising(&self) -> Noising {
        Noising { sensitivity: SENSITIVITY, local: SIGMA, relay: RELAY[CHOSEN.0] * SIGMA }
    }

    fn setup(&self) -> AveragingSetup {
        AveragingSetup {
            values: self.values.iter().map(|&x| vec![x]).collect(),
            scheme: Scheme::Gossip {
                mixing: self.mixing.clone(),
                rounds: STEPS[CHOSEN.1],
                accelerated: false,
            },
            noising: self.noising(),
            budget: (SENSITIVITY / SIGMA).powi(2),
        }
    }

    /// One run, message by message, over a network with delays. Its rounds are strict: if everyone has a result nobody missed anybody, and the planned
    /// losses are those of the run.
    fn simulate(&self) -> Result<Outcome<Vec<f64>>> {
        let setup = self.setup();
        let latency = Latency::LogNormal { median: Duration::from_millis(40), sigma: 0.5 };
        let network = Network { latency, timeout: Some(Duration::from_secs(30)), ..Network::perfect() };
        let simulation =
            Simulation::new(setup.numbers()?, PeerNoise::all(self.seed, PEERS), network, self.seed)?;
        let checks = invariants::of_averaging(&setup)?;
        let outcome = simulation.averaging(setup.facts()?).invariants(checks).run();
        if !outcome.complete {
            return Err(Error::refused(
                "the simulated run did not finish: this is a bug, please report the seed",
            ));
        };
        Ok(outcome)
    }

    /// Mean squared error by step over many runs: mean, and its standard error.
    fn measure(&self) -> Result<Vec<(f64, f64)>> {
        let steps = *STEPS.last().ok_or_else(|| Error::missing("steps", "give a grid of them"))?;
        let mean = self.values.iter().sum::<f64>() / PEERS as f64;
        let mut sums = vec![(0.0, 0.0); steps + 1];
        for run in 0..RUNS as u64 {
            let seed = self.seed.wrapping_mul(RUNS as u64 + 1).wrapping_add(run + 1);
            let mut bulk = Bulk::new(&self.mixing, self.values.clone(), self.noising(), None, seed, 1)?;
            for (sum, squares) in &mut sums {
                let error = bulk.values().iter().map(|x| (x - mean).powi(2)).sum::<f64>() / PEERS as f64;
                (*sum, *squares) = (*sum + error, *squares + error * error);
                bulk.step();
            }
        }
        let runs = RUNS as f64;
        let summary = |(sum, squares): (f64, f64)| {
            let mean = sum / runs;
            (mean, ((squares / runs - mean * mean).max(0.0) / (runs - 1.0)).sqrt())
        };
        Ok(sums.into_iter().map(summary).collect())
    }

    fn grid(&self, done: &impl Fn()) -> Result<Vec<Point>> {
        let steps = *STEPS.last().ok_or_else(|| Error::missing("steps", "give a grid of them"))?;
        let contraction = Contraction::new(&self.mixing, steps)?;
        let spread = spread_left(&self.mixing, &self.values, steps);
        let mut points = Vec::with_capacity(RELAY.len() * STEPS.len());
        for tau in RELAY {
            for steps in STEPS {
                let leakages = exact::relay_gossip_all_pairs(&self.mixing, steps, tau, |_| ())?;
                let mean = leakages.iter().map(Leakage::mean).sum::<f64>() / PEERS as f64;
                let worst_far = self.worst_far(|v, u| leakages[v].losses[u]);
                let error = spread[steps] + contraction.noise_error(steps, SIGMA, tau * SIGMA);
                points.push(Point { leakages, error, mean, worst_far });
                done();
            }
        }
        Ok(points)
    }

    /// The observer's best reconstruction of everyone's value, against what the accountant says.
    fn attack(&self) -> Result<Attack> {
        let question = Question {
            setting: Setting {
                scheme: self.setup().scheme,
                relay_noise: RELAY[CHOSEN.0],
                results: exact::Results::Kept,
            },
            observers: vec![OBSERVER],
            sigma: SIGMA,
            sensitivity: SENSITIVITY,
            values: Some(self.values.clone()),
            prior: Prior { mean: 0.5, deviation: 0.5 },
            runs: ATTACKS,
            seed: self.seed,
        };
        let findings = question.reconstruct(&Claim::Exact, |_| ())?;
        Ok(Attack { text: verdict(&findings), rows: findings.targets.iter().map(row).collect() })
    }

    /// The largest loss among pairs that are not neighbours.
    fn worst_far(&self, loss: impl Fn(usize, usize) -> f64) -> f64 {
        let pairs = (0..PEERS).flat_map(|v| (0..PEERS).map(move |u| (v, u)));
        pairs.filter(|&(v, u)| self.hops[v][u] >= 2).map(|(v, u)| loss(v, u)).fold(0.0, f64::max)
    }
}

impl Example {
    /// Puts the pieces together.
    fn conclude(
        self,
        outcome: &Outcome<Vec<f64>>,
        measured: &[(f64, f64)],
        grid: &[Point],
        attack: Attack,
    ) -> Result<Quickstart> {
        let steps = STEPS[CHOSEN.1];
        let printed = published::gossip_all_pairs(Formula::Theorem1, &self.mixing, steps)?;
        let chosen = &grid[CHOSEN.0 * STEPS.len() + CHOSEN.1];
        let plain = &grid[CHOSEN.1];
        let positions = self
            .graph
            .coordinates()
            .ok_or_else(|| Error::missing("coordinates", "a geometric graph has them"))?
            .to_vec();
        let finals: Vec<f64> = outcome.finals.iter().flatten().map(|value| value[0]).collect();
        let (lines, statements) = self.guarantees(chosen, &printed)?;
        let quickstart = Quickstart {
            seed: self.seed,
            peers: PEERS,
            edges: self.graph.edge_count(),
            steps,
            sigma: SIGMA,
            tau: RELAY[CHOSEN.0] * SIGMA,
            delta: DELTA,
            mean: self.values.iter().sum::<f64>() / PEERS as f64,
            estimate: finals.iter().sum::<f64>() / finals.len() as f64,
            predicted_error: chosen.error,
            measured_error: measured[steps].0,
            mean_loss: chosen.mean,
            mean_loss_without_relay: plain.mean,
            worst_far: chosen.worst_far,
            worst_far_without_relay: plain.worst_far,
            worst_far_published: self.worst_far(|v, u| printed[v * PEERS + u]),
            messages: outcome.traffic.sent,
            virtual_seconds: outcome.duration.as_secs_f64(),
            violations: outcome.violations.iter().map(ToString::to_string).collect(),
            statements,
            not_covered: simulated(limits::of_a_protocol()),
            computed_without_privacy: ["mean", "measured_error"],
            attack: attack.text.clone(),
            report: AveragingReport::default(),
        };
        let report = AveragingReport {
            title: "Private averaging among 64 peers".into(),
            summary: summary(&quickstart),
            positions: positions.iter().map(|&[x, y]| (x, y)).collect(),
            edges: self.graph.edges().map(|(u, v)| (u as u32, v as u32)).collect(),
            labels: None,
            observer: OBSERVER,
            relay_noises: RELAY.to_vec(),
            steps: STEPS.to_vec(),
            chosen: CHOSEN,
            distances: (self.hops.iter())
                .map(|hops| hops.iter().map(|&hops| u16::try_from(hops).unwrap_or(u16::MAX)).collect())
                .collect(),
            published: printed.chunks(PEERS).map(<[f64]>::to_vec).collect(),
            central: SIGMA * SIGMA / ((PEERS * PEERS) as f64 * chosen.error),
            errors: self.errors(measured)?,
            attack,
            guarantees: lines,
            notes: [crate::SIMULATED].iter().chain(&NOTES).map(|note| note.to_string()).collect(),
            cells: self.cells(grid, quickstart.estimate)?,
            headline: self.headline(chosen, CHOSEN, quickstart.estimate)?,
            provenance: self.provenance(),
        };
        report.check()?;
        Ok(Quickstart { report, ..quickstart })
    }

    /// The grid for the page: losses, and what would be said and promised at each point of it.
    fn cells(&self, grid: &[Point], estimate: f64) -> Result<Vec<Cell>> {
        let printed = STEPS.map(|steps| published::gossip_all_pairs(Formula::Theorem1, &self.mixing, steps));
        let printed = printed.into_iter().collect::<std::result::Result<Vec<_>, _>>()?;
        let one = |(i, point): (usize, &Point)| {
            let place = (i / STEPS.len(), i % STEPS.len());
            let (lines, _) = self.guarantees(point, &printed[place.1])?;
            Ok(Cell {
                headline: self.headline(point, place, estimate)?,
                promised: lines.iter().map(Promised::from).collect(),
                ..cell(point)
            })
        };
        grid.iter().enumerate().map(one).collect()
    }

    /// What comes of a point of the grid, in a sentence. Only the run's own has an average.
    fn headline(&self, point: &Point, place: (usize, usize), estimate: f64) -> Result<String> {
        let error = point.error.sqrt();
        let average = match place == CHOSEN {
            true => format!("Average {estimate:.2} ± {error:.2} *"),
            false => format!(
                "With relay noise {} and {} steps, an average known to ± {error:.2} *",
                RELAY[place.0], STEPS[place.1]
            ),
        };
        let worst = (0..PEERS).flat_map(|v| (0..PEERS).map(move |u| (v, u))).filter(|(v, u)| v != u);
        let worst =
            worst.max_by(|a, b| point.leakages[a.0].losses[a.1].total_cmp(&point.leakages[b.0].losses[b.1]));
        let Some((v, u)) = worst else { return Ok(average) };
        let peer = point.leakages[v].guarantee(u, SENSITIVITY, SIGMA)?.epsilon(DELTA)?.upper;
        let local = Gdp::new(SENSITIVITY / SIGMA)?.epsilon(DELTA)?.upper;
        Ok(format!(
            "{average}; no peer learns more than epsilon {} of another; plain local privacy would be {} (delta = {DELTA:e}).",
            sottovoce_report::text::up(peer, 3),
            sottovoce_report::text::up(local, 3)
        ))
    }

    /// Hashes of the values and of the graph; the caller knows the rest.
    fn provenance(&self) -> Provenance {
        Provenance {
            seed: Some(self.seed),
            data_hash: Some(hash(self.values.iter().map(|value| value.to_le_bytes()))),
            graph_hash: Some(graph_hash(&self.graph)),
            ..Provenance::default()
        }
    }

    /// Mean squared error by step: measured, predicted, and what would remain without relay noise.
    fn errors(&self, measured: &[(f64, f64)]) -> Result<Vec<Series>> {
        let steps = measured.len() - 1;
        let contraction = Contraction::new(&self.mixing, steps)?;
        let spread = spread_left(&self.mixing, &self.values, steps);
        let curve = |name: &str, value: &dyn Fn(usize) -> f64| Series {
            name: name.into(),
            points: (0..=steps).map(|t| (t as f64, value(t))).collect(),
            band: None,
        };
        let tau = RELAY[CHOSEN.0] * SIGMA;
        let seen = curve(&format!("measured over {RUNS} runs (95 %)"), &|t| measured[t].0);
        let band = measured.iter().map(|(mean, error)| (mean - 1.96 * error, mean + 1.96 * error)).collect();
        Ok(vec![
            Series { band: Some(band), ..seen },
            curve("predicted", &|t| spread[t] + contraction.noise_error(t, SIGMA, tau)),
            curve("without relay noise", &|t| spread[t] + contraction.noise_error(t, SIGMA, 0.0)),
            curve("all noises averaged perfectly", &|_| SIGMA * SIGMA / PEERS as f64),
        ])
    }

    /// Towards the wire-tapper, the worst pair, the worst pair that are not neighbours; and the published figure.
    fn guarantees(&self, chosen: &Point, printed: &[f64]) -> Result<(Vec<GuaranteeLine>, Vec<String>)> {
        let everyone = Guarantee {
            adversary: Adversary::WireTapper,
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss: Loss::Gdp(Gdp::new(SENSITIVITY / SIGMA)?),
            standing: Standing::Proven,
            not_covered: limits::of_a_protocol(),
        };
        let pairs = || (0..PEERS).flat_map(|v| (0..PEERS).map(move |u| (v, u))).filter(|(v, u)| v != u);
        let worst = |least: u32| {
            let far = pairs().filter(|&(v, u)| self.hops[v][u] >= least);
            far.max_by(|a, b| chosen.leakages[a.0].losses[a.1].total_cmp(&chosen.leakages[b.0].losses[b.1]))
        };
        let mut all = vec![("towards someone who sees everything".to_owned(), everyone)];
        for least in [1, 2, 4] {
            let Some((v, u)) = worst(least) else { continue };
            let text = format!("the worst pair at distance {least} or more (peer {u} towards peer {v})");
            all.push((text, chosen.leakages[v].guarantee(u, SENSITIVITY, SIGMA)?));
        }
        if let Some((v, u)) = worst(2) {
            let printed = printed[v * PEERS + u].min(1.0);
            let loss = Loss::Gdp(Gdp::of_square(printed * (SENSITIVITY / SIGMA).powi(2))?);
            let exact = chosen.leakages[v].guarantee(u, SENSITIVITY, SIGMA)?;
            let text = format!(
                "what the published formula says of peer {u} towards peer {v} (it knows no relay noise)"
            );
            all.push((text, Guarantee { loss, standing: Standing::Refuted, ..exact }));
        }
        let mut lines =
            all.iter().map(|(text, guarantee)| line(text, guarantee)).collect::<Result<Vec<_>>>()?;
        if let (Some((v, u)), Some(claim)) = (worst(2), lines.iter_mut().find(|line| line.is_claim())) {
            claim.truth = shown(&chosen.leakages[v].guarantee(u, SENSITIVITY, SIGMA)?)?;
        }
        let reliable = all.iter().filter(|(_, guarantee)| guarantee.standing.is_reliable());
        let statements = reliable.map(|(text, guarantee)| Ok(format!("{text}: {}", guarantee.state(DELTA)?)));
        Ok((lines, statements.collect::<Result<_>>()?))
    }
}

/// A simulation's own output is covered by nothing.
fn simulated(mut not_covered: Vec<String>) -> Vec<String> {
    not_covered.push(limits::SIMULATION.to_owned());
    not_covered
}

fn verdict(findings: &Findings) -> String {
    let outcome = if findings.passed() {
        "the measured errors agree with the accountant for every peer"
    } else {
        "THE MEASURED ERRORS DO NOT AGREE WITH THE ACCOUNTANT: please report the seed"
    };
    format!(
        "Peer {OBSERVER} attacked everyone {ATTACKS} times with its best unbiased estimate of their private value, knowing all \
         other values. The mean squared error should be sigma² / loss; {outcome} ({:.1} % confidence over all peers together). \
         Fully exposed: {}.",
        100.0 * findings.confidence,
        match findings.exposed().len() {
            0 => "nobody".to_owned(),
            n => format!("{n} of {}", findings.peers - 1),
        }
    )
}

fn row(target: &Target) -> AttackRow {
    AttackRow {
        peer: target.peer,
        distance: target.distance.and_then(|hops| u16::try_from(hops).ok()).unwrap_or(u16::MAX),
        loss: target.loss,
        predicted: target.informed.map_or(f64::INFINITY, |errors| errors.predicted),
        measured: target.informed.map_or(f64::INFINITY, |errors| errors.measured),
        low: target.interval.map_or(0.0, |interval| interval.lower),
        high: target.interval.map_or(f64::INFINITY, |interval| interval.upper),
        exposed: target.exposed,
    }
}

fn line(text: &str, guarantee: &Guarantee) -> Result<GuaranteeLine> {
    Ok(GuaranteeLine {
        statement: text.to_owned(),
        adversary: guarantee.adversary.to_string(),
        unit: guarantee.unit.to_string(),
        adjacency: guarantee.adjacency.to_string(),
        loss: shown(guarantee)?,
        standing: guarantee.standing.to_string(),
        not_covered: simulated(guarantee.not_covered.clone()),
        truth: String::new(),
    })
}

fn shown(guarantee: &Guarantee) -> Result<String> {
    Ok(format!("epsilon <= {} at delta = {DELTA:e}", round_up(guarantee.epsilon(DELTA)?.upper)))
}

fn cell(point: &Point) -> Cell {
    // Never shown smaller than it is.
    let up = |loss: &f64| {
        let near = *loss as f32;
        if f64::from(near) < *loss { near.next_up() } else { near }
    };
    Cell {
        losses: point.leakages.iter().map(|leakage| leakage.losses.iter().map(up).collect()).collect(),
        error: point.error,
        mean: point.mean,
        worst_far: point.worst_far,
        ..Cell::default()
    }
}

fn summary(found: &Quickstart) -> Vec<(String, String)> {
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    [
        ("peers", format!("{} on a random geometric graph with {} edges", found.peers, found.edges)),
        (
            "noise",
            format!(
                "local {}, relay {} (standard deviations; values lie between 0 and 1)",
                found.sigma, found.tau
            ),
        ),
        ("gossip steps", found.steps.to_string()),
        ("mean of the private values *", format!("{:.4}", found.mean)),
        ("mean of the peers' results", format!("{:.4}", found.estimate)),
        (
            "mean squared error of a peer's result *",
            format!("{:.5} predicted, {:.5} measured", found.predicted_error, found.measured_error),
        ),
        (
            "mean loss over pairs, of local DP's",
            format!(
                "{} (without relay noise {})",
                percent(found.mean_loss),
                percent(found.mean_loss_without_relay)
            ),
        ),
        (
            "largest loss at distance 2 or more",
            format!(
                "{} (without relay noise {})",
                percent(found.worst_far),
                percent(found.worst_far_without_relay)
            ),
        ),
        ("messages", format!("{}, in {:.2} s of virtual time", found.messages, found.virtual_seconds)),
        ("seed", found.seed.to_string()),
    ]
    .map(|(label, value)| (label.to_owned(), value))
    .to_vec()
}

impl std::fmt::Display for Quickstart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "Private averaging among {} peers who speak only to those nearby\n", self.peers)?;
        for (label, value) in &self.report.summary {
            writeln!(f, "  {label:<40} {value}")?;
        }
        writeln!(f, "\n{STARRED}\n\nWhat is promised")?;
        crate::terms::promised(f, &self.statements, &self.not_covered)?;
        writeln!(f, "\nThe attack\n  {}", self.attack)?;
        if let Some(violation) = self.violations.first() {
            writeln!(f, "\nBROKEN INVARIANT: {violation}")?;
        }
        Ok(())
    }
}
