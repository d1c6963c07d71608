//! Everyone learns a model of her own, with help from similar agents.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sottovoce_learning::personal::{Agents, Centre, Plane, Ratings, Recommendation, Tastes, movielens};
use sottovoce_privacy::allotment::{Allocation, Method};
use sottovoce_privacy::{Law, limits};

#[cfg(feature = "flags")]
use super::flags::{count, real};
use super::memory::is_memory;
use super::personal_table::PersonalTable;
use super::task::LossSpec;
use crate::names::Names;
use crate::{Error, Result, require};

/// The middle of the scale of stars: public.
const MIDDLE: f64 = 3.0;

/// Personalised learning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct Personalized {
    /// Seed of everything random, where the command line gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub seed: Option<u64>,
    /// Runs with this and the following seeds over which models are judged (default: 5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count))]
    pub seeds: Option<usize>,
    /// Whose rows, and who is similar to whom.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub task: PersonalTask,
    /// What agents do.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub protocol: PersonalProtocol,
    /// Under which noise.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub noise: PersonalNoise,
    /// What may be lost.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub target: PersonalTarget,
    /// What may go wrong.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub network: PersonalNetwork,
}

/// Whose rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct PersonalTask {
    /// What is learned (default: plane; where there is data, table with --peer-column, else movielens).
    #[serde(rename = "kind", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long = "task", value_enum, value_name = "TASK"))]
    pub kind: Option<Tasks>,
    /// Folder with MovieLens-100K (`u.data`), or a table of one's own, with --peer-column.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "DIR"))]
    pub data: Option<PathBuf>,
    /// Number of agents of a generated task (default: 100).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count))]
    pub agents: Option<usize>,
    /// Features of a row (default: 20; 8 of generated ratings).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "P", value_parser = count))]
    pub width: Option<usize>,
    /// Fewest rows of an agent of a generated task (default: 10; 4 ratings). Agents without rows are legal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub fewest: Option<usize>,
    /// Most rows of an agent of a generated task (default: 100; 40 ratings).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub most: Option<usize>,
    /// What is subtracted from the ratings of MovieLens (default: own).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub centre: Option<Centring>,
    /// A table of one's own.
    #[serde(flatten)]
    #[cfg_attr(feature = "flags", command(flatten))]
    pub table: PersonalTable,
}

/// What is subtracted from ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Centring {
    /// Everybody's own mean, as in the paper: one rating moves all her labels, so that sensitivities are larger.
    Own,
    /// The middle of the scale, which is public: one rating moves one label.
    Public,
}

/// What is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Tasks {
    /// The paper's synthetic task: two classes, told apart by directions in a common plane.
    Plane,
    /// Generated ratings by people whose tastes go round a circle, of items with public features.
    Tastes,
    /// MovieLens-100K, with features learned from everybody's ratings, as in the paper.
    Movielens,
    /// A table of one's own.
    Table,
}

/// What agents do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct PersonalProtocol {
    /// Weight of agents' own losses beside their neighbours' models.
    #[cfg_attr(feature = "flags", arg(long, value_name = "MU", default_value = "1", value_parser = real, allow_negative_numbers = true))]
    pub mu: f64,
    /// Weight of the squared length of a model in everybody's own loss (default: 2 over the number of her rows; 1 over it for ratings).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "L", value_parser = real, allow_negative_numbers = true))]
    pub ridge: Option<f64>,
    /// So many rows count as a confidence of 1 (default: the most of anyone).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub reference: Option<usize>,
    /// Private updates of each agent.
    #[cfg_attr(feature = "flags", arg(long, value_name = "T", default_value = "10"))]
    pub updates: usize,
    /// How wake-ups share the budget.
    #[cfg_attr(feature = "flags", arg(skip = Allocation::Uniform))]
    pub allocation: Allocation,
    /// Part of epsilon for a warm start: a model of one's own rows, released at the beginning and smoothed over the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub warm: Option<f64>,
    /// Weight of the squared length of that model in its own loss: public, and large enough to hide a row (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub warm_ridge: Option<f64>,
    /// Wake-ups in which it is smoothed, which cost nothing (default: 10).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub warm_wakes: Option<usize>,
}

impl Default for PersonalProtocol {
    fn default() -> Self {
        let (ridge, reference, warm, warm_ridge, warm_wakes) = (None, None, None, None, None);
        let allocation = Allocation::Uniform;
        Self { mu: 1.0, ridge, reference, updates: 10, allocation, warm, warm_ridge, warm_wakes }
    }
}

/// The noise on gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct PersonalNoise {
    /// Its law: Gaussian (gradients are clipped in the 2-norm) or Laplace (in the 1-norm).
    #[cfg_attr(feature = "flags", arg(long, value_name = "LAW", default_value = "gaussian", value_parser = super::flags::named::<Law>(&["gaussian", "laplace"])))]
    pub law: Law,
    /// Largest norm of a row's gradient.
    #[cfg_attr(feature = "flags", arg(long, value_name = "C", default_value = "0.5", value_parser = real, allow_negative_numbers = true))]
    pub clip: f64,
    /// Noise of every update in units of its sensitivity, instead of a target; 0 for a run that protects nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true, conflicts_with = "epsilon"))]
    pub sigma: Option<f64>,
}

impl Default for PersonalNoise {
    fn default() -> Self {
        Self { law: Law::Gaussian, clip: 0.5, sigma: None }
    }
}

/// What may be lost of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct PersonalTarget {
    /// Epsilon that one row of anyone may lose in the whole run, to someone who sees every message (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "EPS", value_parser = real, allow_negative_numbers = true))]
    pub epsilon: Option<f64>,
    /// Probability with which it may fail.
    #[cfg_attr(feature = "flags", arg(long, value_name = "DELTA", default_value = "1e-5", value_parser = real, allow_negative_numbers = true))]
    pub delta: f64,
    /// How losses of updates are put together (default: gdp for Gaussian noise, pld for Laplace).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "METHOD", value_parser = super::flags::named::<Method>(&["sum", "theorem-1", "gdp", "pld"])))]
    pub method: Option<Method>,
    /// Another epsilon for one agent, by name or number; once for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub budget: Vec<String>,
}

impl Default for PersonalTarget {
    fn default() -> Self {
        Self { epsilon: None, delta: 1e-5, method: None, budget: Vec::new() }
    }
}

/// What may go wrong. An hour is the mean time between two wake-ups of an agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct PersonalNetwork {
    /// Probability that a message is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "P", value_parser = real, allow_negative_numbers = true))]
    pub drop: Option<f64>,
    /// An agent who leaves for good, and after how many hours; once for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub leave: Vec<String>,
    /// An agent who joins the others, and after how many hours; once for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub join: Vec<String>,
    /// Neighbours who were silent for so many of an agent's own wake-ups are taken for gone (default: 20, where anyone leaves or joins).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub patience: Option<usize>,
}

impl PersonalNetwork {
    /// Whether anyone comes or goes.
    pub fn moves(&self) -> bool {
        !self.leave.is_empty() || !self.join.is_empty() || self.patience.is_some()
    }

    /// Whether anything may go wrong: then it is run by messages.
    pub fn is_faulty(&self) -> bool {
        *self != Self::default()
    }
}

impl PersonalTask {
    /// SHA-256 of the file that says who is similar to whom.
    pub fn graph_sha256(&self, folder: &Path) -> Result<Option<String>> {
        let Some(path) = self.table.similar.as_ref().filter(|path| !is_memory(path)) else { return Ok(None) };
        let bytes = super::graph::bytes("similar", &folder.join(path))?;
        Ok(Some(super::sha256(&bytes)))
    }

    /// Which task it is.
    pub fn kind(&self) -> Tasks {
        self.kind.unwrap_or(match (&self.table.peer_column, &self.data) {
            (Some(_), _) => Tasks::Table,
            (None, Some(_)) => Tasks::Movielens,
            (None, None) => Tasks::Plane,
        })
    }

    /// Whether it is read from files: then whoever has the experiment alone does not have the rows.
    pub fn is_read(&self) -> bool {
        matches!(self.kind(), Tasks::Movielens | Tasks::Table)
    }

    /// Whether labels are centred by what their own agent's rows say.
    pub fn centres_by_own(&self) -> bool {
        self.kind() == Tasks::Movielens && self.centre != Some(Centring::Public)
    }

    /// Draws or reads the agents, with what was noticed in files; names of these begin in `folder`.
    pub fn agents(&self, folder: &Path, seed: u64) -> Result<(Agents, Vec<String>)> {
        self.check()?;
        self.check_size()?;
        let drawn = match self.kind() {
            Tasks::Plane => {
                let known = Plane::default();
                Plane {
                    agents: self.agents.unwrap_or(known.agents),
                    width: self.width.unwrap_or(20),
                    fewest: self.fewest.unwrap_or(known.fewest),
                    most: self.most.unwrap_or(known.most),
                    ..known
                }
                .draw(seed)?
            }
            Tasks::Tastes => {
                let known = Tastes::default();
                Tastes {
                    agents: self.agents.unwrap_or(known.agents),
                    width: self.width.unwrap_or(known.width),
                    fewest: self.fewest.unwrap_or(known.fewest),
                    most: self.most.unwrap_or(known.most),
                    ..known
                }
                .draw(seed)?
            }
            Tasks::Movielens => {
                let (recommendation, ratings) = self.films(folder)?;
                recommendation.agents(&ratings, seed)?
            }
            Tasks::Table => {
                let Some(data) = &self.data else {
                    return Err(Error::missing("data", "give --data FILE, the table"));
                };
                return self.table.agents(data, folder);
            }
        };
        Ok((drawn, Vec::new()))
    }

    /// The largest label there can be, up to its sign; none where nothing public says so.
    pub fn largest_label(&self) -> Option<f64> {
        match self.kind() {
            Tasks::Plane => Some(1.0),
            // Stars from 1 to 5, less a mean of theirs, or less their middle.
            Tasks::Movielens if self.centres_by_own() => Some(4.0),
            Tasks::Movielens | Tasks::Tastes => Some(2.0),
            Tasks::Table if self.table.objective == Some(LossSpec::Squared) => {
                self.table.label_bounds.map(|_| 1.0)
            }
            Tasks::Table => Some(1.0),
        }
    }

    /// Refuses what no memory holds, before anything is drawn.
    fn check_size(&self) -> Result<()> {
        const MOST: usize = 500_000_000;
        let (agents, width) = (self.agents.unwrap_or(100), self.width.unwrap_or(20));
        let rows = self.most.unwrap_or(100).saturating_add(100);
        let all = agents.saturating_mul(width).saturating_mul(rows);
        let remedy = format!(
            "with {width} features and {rows} rows each that is more than {MOST} numbers; give fewer"
        );
        require(all <= MOST, "agents", agents, remedy)
    }

    /// The ratings, and how features are made of them.
    fn films(&self, folder: &Path) -> Result<(Recommendation, Ratings)> {
        let Some(data) = &self.data else {
            return Err(Error::missing("data", "give --data DIR, a folder with u.data of MovieLens-100K"));
        };
        let width = self.width.unwrap_or(Recommendation::default().width);
        let centre = if self.centres_by_own() { Centre::OwnMean } else { Centre::Public(MIDDLE) };
        let recommendation = Recommendation { width, centre, ..Recommendation::default() };
        let path = folder.join(data);
        if path.is_file() {
            let remedy =
                "the data are a table; name the column that says who holds a row: --peer-column COLUMN";
            return Err(Error::missing("peer-column", remedy));
        }
        Ok((recommendation, movielens::read(&path)?))
    }

    /// The same agents with a fifth of their training rows held out, so often, for tasks whose features know the training rows; none for others.
    pub fn held_out(&self, folder: &Path, seed: u64, times: u64) -> Result<Option<Vec<Agents>>> {
        match self.kind() {
            Tasks::Plane | Tasks::Tastes | Tasks::Table => Ok(None),
            Tasks::Movielens => {
                let (recommendation, ratings) = self.films(folder)?;
                Ok(Some(recommendation.validation(&ratings, seed, times)?))
            }
        }
    }

    /// Refuses what the task has no use for.
    fn check(&self) -> Result<()> {
        if let Some(data) = self.data.as_ref().filter(|_| !self.is_read()) {
            let remedy = "the task is generated; leave it out, or give --task movielens or table";
            return Err(Error::parameter("data", data.display(), remedy));
        }
        if self.centre.is_some() && self.kind() != Tasks::Movielens {
            return Err(Error::parameter("centre", "given", "only MovieLens is centred; leave it out"));
        }
        if self.table.is_given() && self.kind() != Tasks::Table {
            let remedy =
                "it is about a table of one's own; leave it out, or give --task table and --data FILE";
            return Err(Error::parameter("peer-column", "given", remedy));
        }
        let width = self.width.filter(|_| self.kind() == Tasks::Table);
        let generated = [("agents", self.agents), ("fewest", self.fewest), ("most", self.most)];
        let unused = generated.into_iter().filter(|_| self.is_read()).chain([("width", width)]);
        match unused.into_iter().find_map(|(field, value)| Some((field, value?))) {
            Some((field, value)) => {
                let whose = if self.kind() == Tasks::Table { "the table" } else { "MovieLens" };
                let remedy = format!("{whose} has its own; leave it out, or give another --task");
                Err(Error::parameter(field, value, remedy))
            }
            None => Ok(()),
        }
    }

    /// What guarantees assume of it, beside the protocol's own: in words.
    pub fn assumptions(&self) -> Vec<String> {
        match self.kind() {
            Tasks::Movielens => vec![
                "features of items and similarities of agents are public (here they were learned from everybody's ratings, which is not counted)".into(),
            ],
            Tasks::Plane | Tasks::Tastes | Tasks::Table => Vec::new(),
        }
    }

    /// What no guarantee about it covers, beside what none about personalised models does.
    pub fn not_covered(&self) -> Vec<String> {
        if self.kind() == Tasks::Table { limits::list(&[limits::BOUNDS]) } else { Vec::new() }
    }
}

/// `AGENT@HOURS` or `AGENT=EPS`, where agents have names or numbers.
pub(crate) fn pair(
    field: &'static str,
    text: &str,
    sign: char,
    (agents, names): (usize, &Names),
) -> Result<(usize, f64)> {
    let parsed = text
        .rsplit_once(sign)
        .and_then(|(agent, number)| Some((agent.trim(), number.trim().parse::<f64>().ok()?)));
    let Some((agent, number)) = parsed else {
        return Err(Error::parameter(field, text, format!("give AGENT{sign}NUMBER, such as 3{sign}2.5")));
    };
    let place = match names.all() {
        Some(all) => all.iter().position(|name| name == agent),
        None => agent.parse().ok().filter(|agent| *agent < agents),
    };
    let Some(agent) = place else {
        let known: Vec<usize> = (0..agents).collect();
        let remedy = match names.are_numbers() {
            true => format!("agents are numbered from 0 to {}", agents.saturating_sub(1)),
            false => format!("nobody is called that; agents are {}", names.list(&known)),
        };
        return Err(Error::parameter(field, text, remedy));
    };
    require(number.is_finite() && number >= 0.0, field, text, "give a finite number, 0 or more")?;
    Ok((agent, number))
}
