//! A run of personalised models: what everybody released.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sottovoce_privacy::{Adversary, Law};
use sottovoce_protocol::Release;
use sottovoce_views::door::{self, Models};

use super::{SCHEMA_VERSION, SHOWN, astray};
use crate::experiment::{self, Experiment};
use crate::names::Names;
use crate::personal::{Person, Revealed, reveal};
use crate::{Error, Result, require};

/// A run as a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Personalized {
    schema_version: u32,
    /// The experiment, as a file has it.
    pub(super) experiment: String,
    agents: Vec<Agent>,
}

/// An agent and what she released, in order: equal ones together, with how many there were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    rows: usize,
    releases: Vec<(Release, usize)>,
}

impl Personalized {
    /// Of a run.
    pub fn new(experiment: &Experiment, people: &[Person], releases: &[Vec<Release>]) -> Result<Self> {
        let grouped = |all: &Vec<Release>| {
            all.chunk_by(|one, other| one == other).map(|same| (same[0], same.len())).collect()
        };
        let agent = |(person, all): (&Person, &Vec<Release>)| {
            let (name, rows) = (person.name.clone(), person.rows);
            Agent { name, rows, releases: grouped(all) }
        };
        let agents = people.iter().zip(releases).map(agent).collect();
        Ok(Self { schema_version: SCHEMA_VERSION, experiment: experiment.to_toml()?, agents })
    }

    /// The experiment.
    pub fn experiment(&self) -> Result<experiment::Personalized> {
        match Experiment::parse(&self.experiment)? {
            Experiment::Personalized(experiment) => Ok(*experiment),
            _ => Err(Error::parameter("experiment", "another kind", "it must be personalized")),
        }
    }

    fn releases(&self) -> Result<Vec<Vec<Release>>> {
        const MOST: usize = 10_000_000;
        let count: usize = self
            .agents
            .iter()
            .flat_map(|agent| &agent.releases)
            .map(|(_, count)| *count)
            .fold(0, usize::saturating_add);
        require(count <= MOST, "releases", count, format!("a run has at most {MOST}"))?;
        let all = |agent: &Agent| {
            agent.releases.iter().flat_map(|(release, count)| std::iter::repeat_n(*release, *count)).collect()
        };
        Ok(self.agents.iter().map(all).collect())
    }

    /// What the agents are called.
    fn names(&self) -> Names {
        let all: Option<Vec<String>> = self.agents.iter().map(|agent| agent.name.clone()).collect();
        Names::new(all.as_deref())
    }

    /// Whether agents released what was agreed: problems, none where they did.
    pub fn check(&self) -> Result<Vec<String>> {
        let experiment = self.experiment()?;
        let releases = self.releases()?;
        match experiment.task.is_read() {
            true => self.check_without_rows(&experiment, &releases),
            false => self.check_with_rows(&experiment, &releases),
        }
    }

    /// Where the rows are generated, everything can be computed anew.
    fn check_with_rows(
        &self,
        experiment: &experiment::Personalized,
        releases: &[Vec<Release>],
    ) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let ready = experiment.ready(Path::new(""), experiment.seed.unwrap_or(0))?;
        if ready.agents.count() != self.agents.len() {
            let (there, agreed) = (self.agents.len(), ready.agents.count());
            problems.push(format!("there are {there} agents instead of {agreed}"));
        }
        let planned = ready.releases();
        let records = self.agents.iter().zip(releases).zip(planned.iter().enumerate());
        for ((record, all), (agent, agreed)) in records {
            let rows = ready.agents.train.rows_of(agent);
            if record.rows != rows {
                problems.push(format!("agent {agent} has {} rows instead of {rows}", record.rows));
            }
            // Nobody is done sooner but who left, or was left alone.
            let fewer = all.len() < agreed.len() && !experiment.network.moves();
            if fewer || all.len() > agreed.len() || all[..] != agreed[..all.len()] {
                problems.push(format!("agent {agent} released something else than was agreed"));
            }
        }
        Ok(problems)
    }

    /// Without the rows: what one of them can move is at least what it moves without centring.
    fn check_without_rows(
        &self,
        experiment: &experiment::Personalized,
        releases: &[Vec<Release>],
    ) -> Result<Vec<String>> {
        let (names, moves) = (self.names(), experiment.network.moves());
        // Where the noise is given it is known, too.
        let louder = |release: &Release| {
            let most = |sigma: f64| sigma * release.sensitivity * (1.0 + 1e-12);
            experiment.noise.sigma.is_some_and(|sigma| release.scale > most(sigma))
        };
        let mut problems = Vec::new();
        let called: BTreeSet<String> = (0..self.agents.len()).map(|agent| names.of(agent)).collect();
        if self.agents.is_empty() || called.len() < self.agents.len() {
            problems.push(format!("{} agents have {} names", self.agents.len(), called.len()));
            return Ok(problems);
        }
        let spent = match experiment.noise.sigma {
            // What a budget allows is known without the rows.
            None => door::account(&Models { releases }, &Adversary::WireTapper)?
                .leakage
                .epsilons(experiment.target.delta)?,
            Some(_) => vec![0.0; self.agents.len()],
        };
        for (agent, (record, all)) in self.agents.iter().zip(releases).enumerate() {
            let allowed = experiment.agreed(agent, (self.agents.len(), &names))? * (1.0 + 1e-5) + 1e-9;
            let over = experiment.noise.sigma.is_none() && (spent[agent].is_nan() || spent[agent] > allowed);
            let least = 2.0 * experiment.noise.clip / record.rows.max(1) as f64; // whole numbers
            let agreed = if record.rows > 0 { experiment.protocol.updates } else { 0 };
            let starts = usize::from(experiment.protocol.warm.is_some() && record.rows > 0);
            let (start, updates) = all.split_at(starts.min(all.len())); // whole numbers
            let wrong = over
                || start.len() < starts
                || start.iter().any(|release| release.law != Law::Radial)
                || updates.len() > agreed
                || (updates.len() < agreed && !moves)
                || updates.iter().any(|release| {
                    release.law != experiment.noise.law || release.sensitivity < least || louder(release)
                });
            if wrong {
                problems.push(format!("agent {} released something else than was agreed", names.of(agent)));
            }
        }
        Ok(problems)
    }

    /// All that was agreed on, where anyone may leave: who left cannot be told from a transcript that was shortened, so that everybody is charged for all of it.
    fn agreed(
        &self,
        experiment: &experiment::Personalized,
        mut releases: Vec<Vec<Release>>,
    ) -> Result<Vec<Vec<Release>>> {
        if !experiment.network.moves() {
            return Ok(releases);
        }
        if !experiment.task.is_read() {
            return Ok(experiment.ready(Path::new(""), experiment.seed.unwrap_or(0))?.releases());
        }
        // Where a budget sets the noise, nobody is said to have lost less than that; where the noise is given, it is known of all updates.
        if let Some(sigma) = experiment.noise.sigma {
            let (law, rate) = (experiment.noise.law, None);
            let usual = Release { law, sensitivity: 1.0, scale: sigma, rate };
            let with_rows = self.agents.iter().zip(&mut releases).filter(|(agent, _)| agent.rows > 0);
            with_rows.for_each(|(_, all)| all.resize(experiment.protocol.updates, usual));
        }
        Ok(releases)
    }

    /// What the run revealed to someone who saw every message. A run that did not follow its plan is refused.
    pub fn account(&self, delta: Option<f64>) -> Result<Revealed> {
        let problems = self.check()?;
        if !problems.is_empty() {
            return Err(astray(&problems[..problems.len().min(SHOWN)].join("; "))); // whole numbers
        }
        let (experiment, names) = (self.experiment()?, self.names());
        let releases = self.agreed(&experiment, self.releases()?)?;
        let rows: Vec<usize> = self.agents.iter().map(|agent| agent.rows).collect();
        let delta = delta.unwrap_or(experiment.target.delta);
        let found = reveal(&experiment, &releases, &rows, names, delta)?;
        Ok(Revealed { headline: format!("The account stands: {}", found.headline), ..found })
    }
}
