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
use crate::personal::{Person, statement, written};
use crate::terms::{Stated, short_up};
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

/// What a run revealed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// Whether the account stands, and what was lost, in a sentence.
    pub headline: String,
    /// How many agents there were.
    pub agents: usize,
    /// Releases of all of them.
    pub releases: usize,
    /// Epsilon of every agent's rows; none where something was not hidden.
    pub epsilons: Vec<Option<f64>>,
    /// What the agents are called; none where they have no names but their numbers.
    pub names: Names,
    /// What is promised.
    pub guarantees: Vec<Stated>,
    /// The same in words.
    pub statements: Vec<String>,
}

impl std::fmt::Display for Revealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        if let Some(stated) = self.guarantees.first() {
            crate::terms::not_covered(f, &stated.not_covered)?;
        }
        Ok(())
    }
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
        let delta = delta.unwrap_or(experiment.target.delta);
        let account = door::account(&Models { releases: &releases }, &Adversary::WireTapper)?;
        let mut epsilons = account.leakage.epsilons(delta)?;
        if experiment.task.is_read() && experiment.noise.sigma.is_none() {
            // Without the rows the noise cannot be computed anew: nobody is said to have lost less than she agreed to.
            for (agent, epsilon) in epsilons.iter_mut().enumerate() {
                let agreed = experiment.agreed(agent, (self.agents.len(), &names))?;
                *epsilon = if agreed > *epsilon { agreed } else { *epsilon };
            }
        }
        let worst = epsilons.iter().copied().fold(0.0, |worst, one| if one <= worst { worst } else { one });
        let (mut guarantees, mut statements) = (Vec::new(), Vec::new());
        if worst.is_finite() {
            let (_, mut guarantee) = account.worst(1.0, 1.0)?;
            guarantee.standing = guarantee.standing.given(&experiment.task.assumptions());
            guarantee.not_covered.extend(experiment.task.not_covered());
            guarantees.push(Stated::at("any row of anyone, in the whole run", &guarantee, delta, worst));
            statements.push(statement(&guarantee, worst, delta));
        } else {
            statements.push("Nothing is promised: gradients left without noise.".to_owned());
        }
        let made: usize = releases.iter().map(Vec::len).sum();
        let lost = match worst.is_finite() {
            true => format!("no row loses more than epsilon {} at delta {}", short_up(worst), written(delta)),
            false => "rows are not protected".to_owned(),
        };
        Ok(Revealed {
            headline: format!(
                "The account stands: {} agents made {made} releases as agreed, and {lost}.",
                releases.len()
            ),
            agents: releases.len(),
            releases: made,
            names,
            epsilons: epsilons
                .into_iter()
                .map(|epsilon| Some(epsilon).filter(|epsilon| epsilon.is_finite()))
                .collect(),
            guarantees,
            statements,
        })
    }
}
