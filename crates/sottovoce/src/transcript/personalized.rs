//! A run of personalised models: what everybody released.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Adversary;
use sottovoce_protocol::Release;
use sottovoce_views::door::{self, Models};

use super::{SCHEMA_VERSION, SHOWN, astray};
use crate::experiment::{self, Experiment, Tasks};
use crate::personal::statement;
use crate::require;
use crate::terms::Stated;
use crate::{Error, Result};

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
    rows: usize,
    releases: Vec<(Release, usize)>,
}

/// What a run revealed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// How many agents there were.
    pub agents: usize,
    /// Releases of all of them.
    pub releases: usize,
    /// Epsilon of every agent's rows; none where something was not hidden.
    pub epsilons: Vec<Option<f64>>,
    /// What is promised.
    pub guarantees: Vec<Stated>,
    /// The same in words.
    pub statements: Vec<String>,
}

impl std::fmt::Display for Revealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} agents made {} releases\n", self.agents, self.releases)?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        if let Some(stated) = self.guarantees.first() {
            crate::terms::not_covered(f, &stated.not_covered)?;
        }
        Ok(())
    }
}

impl Personalized {
    /// Of a run.
    pub fn new(experiment: &Experiment, rows: &[usize], releases: &[Vec<Release>]) -> Result<Self> {
        let grouped = |all: &Vec<Release>| {
            all.chunk_by(|one, other| one == other).map(|same| (same[0], same.len())).collect()
        };
        let agents =
            rows.iter().zip(releases).map(|(&rows, all)| Agent { rows, releases: grouped(all) }).collect();
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

    /// Whether agents released what was agreed: problems, none where they did.
    pub fn check(&self) -> Result<Vec<String>> {
        let experiment = self.experiment()?;
        let releases = self.releases()?;
        let mut problems = Vec::new();
        let seed = experiment.seed.unwrap_or(0);
        let moves = experiment.network.moves();
        if experiment.task.kind() == Tasks::Movielens {
            // Where the noise is given it is known, too.
            let louder = |release: &Release| {
                experiment
                    .noise
                    .sigma
                    .is_some_and(|sigma| release.scale > sigma * release.sensitivity * (1.0 + 1e-12))
            };
            // Without the ratings: what one row can move is at least what it moves without centring.
            for (agent, (record, all)) in self.agents.iter().zip(&releases).enumerate() {
                let least = 2.0 * experiment.noise.clip / record.rows.max(1) as f64; // whole numbers
                let agreed = if record.rows > 0 { experiment.protocol.updates } else { 0 };
                let wrong = all.len() > agreed
                    || (all.len() < agreed && !moves)
                    || all.iter().any(|release| {
                        release.law != experiment.noise.law || release.sensitivity < least || louder(release)
                    });
                if wrong {
                    problems.push(format!("agent {agent} released something else than was agreed"));
                }
            }
        } else {
            let ready = experiment.ready(std::path::Path::new(""), seed)?;
            if ready.agents.count() != self.agents.len() {
                problems.push(format!(
                    "there are {} agents instead of {}",
                    self.agents.len(),
                    ready.agents.count()
                ));
            }
            let planned = ready.releases();
            let records = self.agents.iter().zip(&releases).zip(planned.iter().enumerate());
            for ((record, all), (agent, agreed)) in records {
                if record.rows != ready.agents.train.rows_of(agent) {
                    problems.push(format!(
                        "agent {agent} has {} rows instead of {}",
                        record.rows,
                        ready.agents.train.rows_of(agent)
                    ));
                }
                // Nobody is done sooner but who left, or was left alone.
                let fewer = all.len() < agreed.len() && !moves;
                if fewer || all.len() > agreed.len() || all[..] != agreed[..all.len()] {
                    problems.push(format!("agent {agent} released something else than was agreed"));
                }
            }
        }
        Ok(problems)
    }

    /// What the run revealed to someone who saw every message. A run that did not follow its plan is refused.
    pub fn account(&self, delta: Option<f64>) -> Result<Revealed> {
        let problems = self.check()?;
        if !problems.is_empty() {
            return Err(astray(&problems[..problems.len().min(SHOWN)].join("; "))); // whole numbers
        }
        let (experiment, mut releases) = (self.experiment()?, self.releases()?);
        if experiment.network.moves() && experiment.task.kind() != Tasks::Movielens {
            // Who left cannot be told from a transcript that was shortened: everybody is charged for all that was agreed on.
            let seed = experiment.seed.unwrap_or(0);
            releases = experiment.ready(std::path::Path::new(""), seed)?.releases();
        }
        let delta = delta.unwrap_or(experiment.target.delta);
        let account = door::account(&Models { releases: &releases }, &Adversary::WireTapper)?;
        let mut epsilons = account.leakage.epsilons(delta)?;
        if experiment.task.kind() == Tasks::Movielens && experiment.noise.sigma.is_none() {
            // Without the ratings the noise cannot be computed anew: nobody is said to have lost less than she agreed to.
            for (agent, epsilon) in epsilons.iter_mut().enumerate() {
                let agreed = experiment.agreed(agent, self.agents.len())?;
                *epsilon = if agreed > *epsilon { agreed } else { *epsilon };
            }
        }
        let worst = epsilons.iter().copied().fold(0.0, |worst, one| if one <= worst { worst } else { one });
        let (mut guarantees, mut statements) = (Vec::new(), Vec::new());
        if worst.is_finite() {
            let (_, mut guarantee) = account.worst(1.0, 1.0)?;
            guarantee.standing = guarantee.standing.given(&experiment.task.assumptions());
            guarantees.push(Stated::at("any row of anyone, in the whole run", &guarantee, delta, worst));
            statements.push(statement(&guarantee, worst, delta));
        } else {
            statements.push("Nothing is promised: gradients left without noise.".to_owned());
        }
        Ok(Revealed {
            agents: releases.len(),
            releases: releases.iter().map(Vec::len).sum(),
            epsilons: epsilons
                .into_iter()
                .map(|epsilon| Some(epsilon).filter(|epsilon| epsilon.is_finite()))
                .collect(),
            guarantees,
            statements,
        })
    }
}
