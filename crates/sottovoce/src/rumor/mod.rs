//! A rumour whose source is hidden, as a ready example: spread it, account for it, attack it, and report.
//!
//! | file | what |
//! | --- | --- |
//! | `course` | the run that is shown |
//! | `words` | guarantees and findings in sentences |
//! | `network`, `survive` | a rumour by messages, with clocks, losses and peers who come and go: does it survive? |
//! | `listeners` | who is curious |
//! | `past` | what a run reveals, planned or past, and whom its listeners suspect |
//!
//! The run and the attacks go round by round: every active peer tells once, and whoever is told begins in the next round.

mod course;
mod listeners;
mod network;
mod past;
mod survive;
mod words;

pub use course::kept_after;
pub use listeners::{drawn, listeners};
pub(crate) use network::{Networked, Run};
pub use past::{Revealed, Suspected, account, audit, audit_messages, reveal, reveal_messages};
pub use survive::{End, Ran, Survived, survive};

use std::path::PathBuf;

use serde::Serialize;
use sottovoce_audit::source::{Pace, Setting, Sight, precision};
use sottovoce_privacy::Adversary;
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::public::{Among, Curious, Rules};
use sottovoce_report::rumor::{Suspicion, Trade};
use sottovoce_report::{Provenance, RumorReport};
use sottovoce_simulator::rumor::{Crowd, Dice};
use sottovoce_views::door::{self, Told};
use sottovoce_views::parallel;
use sottovoce_views::rumor::{self, Account, Rumor, attack_success, mean_dynamics, rounds_muting_for};

use crate::experiment::{self, Experiment};
use crate::spine::{Context, Outcome, Protocol};
use crate::terms::Stated;
use crate::transcript::{self, Tellings};
use crate::{Error, Result, require};
use course::Course;

/// Most peers: beyond, the example takes long.
pub const MOST_PEERS: usize = 1_000_000;
/// Runs of each attack.
const ATTACKS: u64 = 40_000;
/// Intervals of all attacks hold together with this confidence.
const CONFIDENCE: f64 = 0.9999;
/// Numbers of suspects, where there are at least twice as many honest peers; all of those come last.
const SUSPECTS: [usize; 3] = [2, 10, 100];
/// Muting parameters along the curve of privacy and speed.
const MUTINGS: [f64; 15] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Most runs over which rounds are measured, and about how many tellings they may take.
const RUNS: f64 = 200.0;
const TELLINGS: f64 = 1e8;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// All peers.
    pub nodes: usize,
    /// Those who write down who tells them; one in sixteen where nothing is said.
    pub curious: Option<usize>,
    /// How privacy is chosen.
    pub privacy: Privacy,
    /// Seed of everything random.
    pub seed: u64,
}

/// How privacy is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Privacy {
    /// Delta at most twice the smallest there is, `f/n`.
    TwiceTheBest,
    /// Delta at most this.
    Delta(f64),
    /// This muting parameter.
    Muting(f64),
}

/// What came of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Found {
    /// Seed of everything random.
    pub seed: u64,
    /// Guarantees and predictions.
    pub account: Account,
    /// The delta that was aimed at; none where the muting parameter was given.
    pub target: Option<f64>,
    /// The delta at `epsilon = 0` that is guaranteed: of rounds, in which the run goes.
    pub delta: f64,
    /// Rounds until everyone knew, in the run shown.
    pub rounds: u64,
    /// Tellings of that run.
    pub tellings: u64,
    /// Mean number of rounds, and over how many runs.
    pub mean_rounds: (f64, usize),
    /// Who began.
    pub source: usize,
    /// Who told a curious peer first.
    pub heard: Option<usize>,
    /// How often the source was found.
    pub suspicions: Vec<Suspicion>,
    /// Whether every attack stayed within its bounds, within the confidence of its interval.
    pub within_bounds: bool,
    /// Guarantees in words.
    pub statements: Vec<String>,
    /// The first of them as numbers.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
    /// Verdict of the attack.
    pub attack: String,
    /// Each peer's round after which it knew, and whether it is curious.
    #[serde(skip)]
    pub everybody: Vec<(Option<u64>, bool)>,
    /// Everything the report shows.
    #[serde(skip)]
    pub report: RumorReport,
    /// Who told whom in the run shown.
    #[serde(skip)]
    pub told: Tellings,
}

impl Protocol for experiment::Rumor {
    fn seed(&self) -> Option<u64> {
        self.seed
    }

    fn seed_mut(&mut self) -> &mut Option<u64> {
        &mut self.seed
    }

    fn seeds_mut(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.seeds)
    }

    fn files(&mut self) -> Vec<(&'static str, Option<&mut PathBuf>)> {
        vec![("graph", self.graph.as_mut())]
    }

    fn page_files(&self) -> Vec<&'static str> {
        RumorReport::file_names()
    }

    fn run(&self, context: &Context<'_>) -> Result<Outcome> {
        if self.is_networked() {
            return survive::outcome(self, context);
        }
        let &Context { seed, progress, .. } = context;
        let settings = self.settings(seed)?;
        progress.begin(PARTS, "spreading, attacking");
        let mut found = run(&settings, || progress.step(""))?;
        let (told, report) = (std::mem::take(&mut found.told), found.report.clone());
        let transcript = transcript::Rumor::new(&Experiment::Rumor(self.clone()), &settings, told)?;
        let experiment = context.again(Experiment::Rumor(self.clone()));
        let refuted = (!found.within_bounds).then(|| found.attack.clone());
        let outcome = Outcome::new(found, experiment, &transcript)?.refuted_by(refuted);
        Ok(outcome.with_page(survive::page_of(report)))
    }
}

/// In how many parts the work falls.
const PARTS: usize = SUSPECTS.len() + 3;

/// Runs it. `done` is called once a part.
pub fn run(settings: &Settings, done: impl Fn()) -> Result<Found> {
    let example = Example::new(settings)?;
    let course = Course::new(&example.curious, example.rules, settings.seed)?;
    done();
    let mean_rounds = example.mean_rounds()?;
    done();
    let suspicions = example.attack(ATTACKS, &done)?;
    example.conclude(course, mean_rounds, suspicions)
}

/// Who tells whom in the run of these settings.
pub(crate) fn spread(settings: &Settings) -> Result<Tellings> {
    let example = Example::new(settings)?;
    Ok(Course::new(&example.curious, example.rules, settings.seed)?.told)
}

struct Example {
    seed: u64,
    rumor: Rumor,
    rules: Rules,
    curious: Curious,
    target: Option<f64>,
}

impl Settings {
    /// The rumour that is asked for: how many are curious, and how soon peers fall silent.
    pub fn rumor(&self) -> Result<Rumor> {
        let Self { nodes, privacy, .. } = *self;
        let remedy = format!("give a number from 4 to {MOST_PEERS}");
        require((4..=MOST_PEERS).contains(&nodes), "peers", nodes, remedy)?;
        let count = self.curious.unwrap_or((nodes / 16).max(1));
        let most = format!("give a number from 1 to {}, so that the source can be hidden", nodes - 2);
        require((1..nodes - 1).contains(&count), "curious", count, most)?;
        let muting = match (privacy, self.target(count)) {
            (Privacy::Muting(s), _) => s,
            (_, delta) => rounds_muting_for(nodes, count, delta.unwrap_or(1.0))?,
        };
        Ok(Rumor::new(nodes, count, muting)?)
    }

    /// The delta that is aimed at, if one is.
    fn target(&self, curious: usize) -> Option<f64> {
        match self.privacy {
            Privacy::TwiceTheBest => Some((2.0 * curious as f64 / self.nodes as f64).min(0.999)),
            Privacy::Delta(delta) => Some(delta),
            Privacy::Muting(_) => None,
        }
    }
}

impl Example {
    fn new(settings: &Settings) -> Result<Self> {
        let rumor = settings.rumor()?;
        let (rules, curious) = (Rules::new(rumor.muting())?, Curious::last(rumor.curious(), rumor.peers())?);
        let target = settings.target(rumor.curious());
        Ok(Self { seed: settings.seed, rumor, rules, curious, target })
    }

    /// Rounds until everyone knows, over many runs.
    fn mean_rounds(&self) -> Result<(f64, usize)> {
        let n = self.rumor.peers() as f64;
        let runs = (TELLINGS / (n * n.ln())).clamp(4.0, RUNS) as usize;
        let one = |run: usize| -> Result<u64> {
            let everyone = Among::Everyone(self.rumor.peers());
            let mut crowd = Crowd::new(everyone, self.rules, 0, Dice::new(self.seed, run as u64, 2))?;
            while crowd.informed() < self.rumor.peers() {
                crowd.silent_round();
            }
            Ok(crowd.rounds())
        };
        let rounds = parallel::map(runs, one, |_| ()).into_iter().collect::<Result<Vec<u64>>>()?;
        Ok((rounds.iter().sum::<u64>() as f64 / runs as f64, runs))
    }

    /// The first suspect heard is named, for several numbers of suspects.
    fn attack(&self, runs: u64, done: &impl Fn()) -> Result<Vec<Suspicion>> {
        let setting = Setting {
            among: Among::Everyone(self.rumor.peers()),
            rules: self.rules,
            curious: &self.curious,
            pace: Pace::Rounds,
            sight: Sight::Senders,
        };
        let honest = self.curious.honest();
        let fewer = SUSPECTS.into_iter().filter(|count| 2 * count <= honest.len());
        let numbers: Vec<usize> = fewer.chain([honest.len()]).collect();
        let confidence = 1.0 - (1.0 - CONFIDENCE) / numbers.len() as f64;
        let one = |(part, &suspects): (u64, &usize)| {
            let seed = Seed(self.seed).part(1 + part).0;
            let found = precision(&setting, &honest[..suspects], runs, seed, |_| ())?;
            done();
            let (low, high) = found.interval(confidence);
            Ok(Suspicion {
                suspects,
                found: found.estimate(),
                low,
                high,
                bound: self.success(suspects),
                uncertainty: (suspects == honest.len()).then(|| posterior(&self.rumor)),
            })
        };
        (0..).zip(&numbers).map(one).collect()
    }

    /// No attack on so many suspects is right more often.
    fn success(&self, suspects: usize) -> f64 {
        attack_success(suspects, self.rumor.rounds_delta())
    }

    /// What is promised, as numbers.
    fn stated(&self, account: &Account) -> Result<Stated> {
        let told = Told {
            peers: self.rumor.peers(),
            muting: self.rumor.muting(),
            course: rumor::Course { rounds: true, ..rumor::Course::default() },
        };
        let delta = door::account(&told, &Adversary::Coalition(self.curious.members()))?.leakage.at_zero;
        let stated = Stated::of_source("tellings in rounds", 0.0, delta);
        Ok(Stated { not_covered: words::not_covered(account), ..stated })
    }

    /// What each muting parameter costs; what takes too long to predict is left out.
    fn trade(&self) -> Result<Vec<Trade>> {
        let all = MUTINGS.iter().map(|&s| {
            let rumor = Rumor::new(self.rumor.peers(), self.rumor.curious(), s)?;
            Ok(cost(&rumor))
        });
        Ok(all.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn conclude(
        self,
        course: Course,
        mean_rounds: (f64, usize),
        suspicions: Vec<Suspicion>,
    ) -> Result<Found> {
        let account = self.rumor.account(0.0, 1)?;
        let chosen = cost(&self.rumor).ok_or_else(|| {
            Error::refused("this muting parameter takes too long to predict: give a larger one")
        })?;
        let within_bounds = within(&suspicions);
        let (lines, statements) = words::guarantees(&account, &self.rumor);
        let stated = self.stated(&account)?;
        let mut found = Found {
            seed: self.seed,
            target: self.target,
            delta: stated.delta,
            rounds: course.moments.last().map_or(0, |moment| moment.round),
            tellings: course.tellings,
            mean_rounds,
            source: course.source,
            heard: course.heard,
            attack: words::attack(&suspicions, within_bounds, &course, true),
            everybody: (course.knew.iter().enumerate())
                .map(|(peer, round)| (*round, self.curious.has(peer)))
                .collect(),
            suspicions,
            within_bounds,
            statements,
            guarantees: vec![stated],
            not_covered: words::not_covered(&account),
            account,
            report: RumorReport::default(),
            told: Tellings::default(),
        };
        let last = found.rounds as usize;
        found.report = RumorReport {
            title: format!("A rumour among {} peers", self.rumor.peers()),
            headline: found.headline() + ".",
            summary: words::summary(&found),
            peers: self.rumor.peers(),
            source: course
                .dot(course.source)
                .ok_or_else(|| Error::refused("the source has no dot: please report this"))?,
            guess: course.heard.and_then(|peer| course.dot(peer)),
            predicted: predicted(&self.rumor, last),
            trade: self.trade()?,
            chosen,
            attack: words::attack(&found.suspicions, within_bounds, &course, false),
            suspicions: found.suspicions.clone(),
            guarantees: lines,
            notes: words::notes(),
            dots: course.dots,
            frames: course.frames,
            course: course.moments,
            survival: None,
            beside: Vec::new(),
            provenance: Provenance { seed: Some(self.seed), ..Provenance::default() },
        };
        found.report.check()?;
        found.told = course.told;
        Ok(found)
    }
}

/// Nobody is the source with a larger probability, whatever was heard.
fn posterior(rumor: &Rumor) -> f64 {
    1.0 / (1.0 + rumor.improved_uncertainty(1).max(rumor.prediction_uncertainty(1)))
}

/// Whether no attack found the source more often than is proven possible.
fn within(suspicions: &[Suspicion]) -> bool {
    !suspicions.iter().any(|s| s.low > s.bound.min(s.uncertainty.unwrap_or(1.0)))
}

fn cost(rumor: &Rumor) -> Option<Trade> {
    Some(Trade {
        muting: rumor.muting(),
        rounds: rumor.spread()?.rounds,
        delta: rumor.rounds_delta(),
        printed: rumor.table1(),
    })
}

/// The predicted course, as far as it can be shown round by round.
fn predicted(rumor: &Rumor, last: usize) -> Vec<(f64, f64)> {
    const MOST: usize = 20_000;
    mean_dynamics(rumor.peers(), rumor.muting()).take((last + 1).min(MOST)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
