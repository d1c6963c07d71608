//! A table of one's own for personalised models: a column names the agent who holds a row, and a graph, or public features of agents, say who resembles whom.
//!
//! ```text
//! --data FILE --peer-column C, bounds of features ─► rows of every agent, every fifth of hers for testing ─┐
//! --similar GRAPH, or --profiles FILE --neighbours K ─► who resembles whom, all of it public ──────────────┴─► Agents
//! ```
//!
//! Rows are read as those of learning are ([`TaskSpec`]): each by itself, from public bounds, and no longer than these allow.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sottovoce_learning::Shards;
use sottovoce_learning::personal::{Agents, nearest_profiles};
use sottovoce_learning::read::{self, Column, Options, Rows};
use sottovoce_topology::io::{self, Weighted};

#[cfg(feature = "flags")]
use super::flags::real;
use super::graph::at;
use super::memory::Memory;
use super::task::{LONGEST, LossSpec, Said, TaskSpec};
use super::values::Range;
use crate::{Error, Result, require};

/// Nearest agents, where no number is given.
const NEIGHBOURS: usize = 5;

/// What is publicly known of a table, and who resembles whom.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
#[cfg_attr(feature = "flags", command(next_help_heading = "Own table"))]
pub struct PersonalTable {
    /// Column of a table (--data FILE) that names the agent who holds a row. Every fifth row of an agent is for testing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "COLUMN", requires = "data"))]
    pub peer_column: Option<String>,
    /// Who resembles whom: a graph of the agents by name, with positive weights of its edges in the third column of an edge list, or as `weight` in GraphML
    /// (default: 1). Public.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "flags",
        arg(long, value_name = "FILE", requires = "peer_column", conflicts_with = "profiles")
    )]
    pub similar: Option<PathBuf>,
    /// Public features of the agents instead: lines of a name and two numbers or more. Everybody resembles her nearest, by the cosine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FILE", requires = "peer_column"))]
    pub profiles: Option<PathBuf>,
    /// So many nearest agents by their profiles (default: 5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub neighbours: Option<usize>,
    /// Column of the label (default: the last).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "COLUMN", requires = "peer_column"))]
    pub label: Option<String>,
    /// What is learned: a class of two (logistic), or a number (squared).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_enum, requires = "peer_column"))]
    pub objective: Option<LossSpec>,
    /// Public bounds of a feature; once for each. What lies outside is moved to the nearer end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "flags",
        arg(long, value_name = "COLUMN=LOW:HIGH", requires = "peer_column", allow_hyphen_values = true)
    )]
    pub range: Vec<String>,
    /// File of such bounds: JSON (`{"age": [0, 120]}`), or lines `column,low,high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FILE", requires = "peer_column"))]
    pub bounds: Option<PathBuf>,
    /// Instead of ranges: rows are divided by this length, and shortened to it where they are longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "R", requires = "peer_column", conflicts_with_all = ["range", "bounds"], value_parser = real, allow_negative_numbers = true))]
    pub norm: Option<f64>,
    /// The label that counts as +1; all others are -1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "flags",
        arg(long, value_name = "LABEL", requires = "peer_column", allow_hyphen_values = true)
    )]
    pub positive: Option<String>,
    /// The number from which labels count as +1 (a public one).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", requires = "peer_column", conflicts_with = "positive", value_parser = real, allow_negative_numbers = true))]
    pub label_threshold: Option<f64>,
    /// Public bounds of a label that is a number: it is scaled to -1..1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "LOW:HIGH", requires = "peer_column", conflicts_with_all = ["positive", "label_threshold"], allow_hyphen_values = true))]
    pub label_bounds: Option<Range>,
    /// Column to leave out; once for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub drop_column: Vec<String>,
    /// All values that a column of words can hold; once for each such column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "COLUMN=A,B,...", requires = "peer_column"))]
    pub category: Vec<String>,
    /// What stands for a number that is missing: nothing (`refuse`, the default), `zero`, or a number given here, before scaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "flags",
        arg(long, value_name = "refuse|zero|VALUE", requires = "peer_column", allow_negative_numbers = true)
    )]
    pub missing: Option<String>,
    /// Whether the first line of comma-separated values holds the names of the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_enum, requires = "peer_column"))]
    pub header: Option<Said>,
    /// The rows themselves, where they are in memory.
    #[serde(skip)]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub rows: Memory<Rows>,
    /// Who resembles whom, where that is in memory.
    #[serde(skip)]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub resembling: Memory<Weighted>,
}

/// Agents by name, and who resembles whom.
struct Crowd {
    names: Vec<String>,
    similar: Vec<(usize, usize, f64)>,
    notes: Vec<String>,
    /// Whether they have no names but their numbers.
    numbered: bool,
}

impl PersonalTable {
    /// Whether anything is said of a table.
    pub(super) fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// The files that it names, by the field that does.
    pub(crate) fn files(&mut self) -> [(&'static str, Option<&mut PathBuf>); 3] {
        [
            ("similar", self.similar.as_mut()),
            ("profiles", self.profiles.as_mut()),
            ("bounds", self.bounds.as_mut()),
        ]
    }

    /// Refuses what does not fit together, before anything is read.
    pub(super) fn check(&self) -> Result<()> {
        if self.peer_column.is_none() {
            let remedy =
                "a table needs a column that names the agent who holds a row; give --peer-column COLUMN";
            return Err(Error::missing("peer-column", remedy));
        }
        match (&self.similar, &self.profiles) {
            (None, None) => {
                let remedy = "say who resembles whom: give --similar GRAPH, or --profiles FILE with public features of agents";
                return Err(Error::missing("similar", remedy));
            }
            (Some(similar), Some(_)) => {
                let remedy = "profiles are given, and say the same; give one of them";
                return Err(Error::parameter("similar", similar.display(), remedy));
            }
            (Some(_), None) => {
                if let Some(count) = self.neighbours {
                    let remedy = "nearest agents are those by --profiles; leave it out with a graph";
                    return Err(Error::parameter("neighbours", count, remedy));
                }
            }
            (None, Some(_)) => {}
        }
        require(self.neighbours != Some(0), "neighbours", 0, "give 1 or more")?;
        let remedy = "models have one score; give logistic or squared";
        require(self.objective != Some(LossSpec::Softmax), "objective", "softmax", remedy)
    }

    /// Reads the agents, and says what was noticed.
    pub(super) fn agents(&self, data: &Path, folder: &Path) -> Result<(Agents, Vec<String>)> {
        self.check()?;
        let crowd = self.crowd(folder)?;
        let found = self.spec().prepared(at(folder, data), folder).map_err(called)?;
        let Some(held) = &found.peers else {
            return Err(Error::missing("peer-column", "name the column that says who holds a row"));
        };
        let places: BTreeMap<&str, usize> = crowd.names.iter().map(String::as_str).zip(0..).collect();
        let (mut rows, mut tested) = (vec![Vec::new(); places.len()], vec![Vec::new(); places.len()]);
        for (peer, name) in held.names.iter().enumerate() {
            let Some(&place) = places.get(name.as_str()) else {
                let remedy = "she has rows, but nobody resembles her; name her where similarities are, or leave her rows out";
                return Err(Error::parameter("agent", format!("`{name}`"), remedy));
            };
            (rows[place], tested[place]) = (held.rows[peer].clone(), held.tested[peer].clone());
        }
        let dealt = |table, lists: &[Vec<usize>]| -> Result<Shards> {
            let shards = Shards::some_without(table, lists)?;
            Ok(if crowd.numbered { shards } else { shards.named(crowd.names.clone())? })
        };
        let agents = Agents {
            train: dealt(&found.train, &rows)?,
            test: dealt(&found.test, &tested)?,
            similar: crowd.similar,
            loss: found.loss,
            radius: LONGEST,
        };
        let mut notes = crowd.notes;
        notes.extend(found.notes);
        if let Some((low, high)) = found.label_bounds {
            let unit = 0.5 * (high - low);
            notes.push(format!("labels are scaled from {low}:{high} to -1..1, and errors with them: one is {unit} in the label's own unit"));
        }
        Ok((agents, notes))
    }

    fn crowd(&self, folder: &Path) -> Result<Crowd> {
        let crowd = match (&self.similar, &self.profiles) {
            (Some(path), _) => match self.resembling.of("similar", path, |lent| &lent.similar)? {
                Some(similar) => of_graph(similar.0.clone()),
                None => of_graph(read_similar(&folder.join(path))?),
            },
            (None, Some(path)) => of_profiles(&folder.join(path), self.neighbours.unwrap_or(NEIGHBOURS))?,
            (None, None) => return Err(Error::missing("similar", "say who resembles whom")),
        };
        let mut alone = vec![true; crowd.names.len()];
        crowd.similar.iter().for_each(|&(u, v, _)| (alone[u], alone[v]) = (false, false));
        match alone.iter().position(|alone| *alone) {
            Some(agent) => {
                let remedy = "nobody resembles her; give her an edge, or leave her out";
                Err(Error::parameter("agent", format!("`{}`", crowd.names[agent]), remedy))
            }
            None => Ok(crowd),
        }
    }

    /// How one agent's own file is read, where nothing is dealt out.
    pub fn own(&self) -> Result<TaskSpec> {
        let remedy = "everybody has a file of its own; leave it out";
        require(self.peer_column.is_none(), "peer-column", "given", remedy)?;
        let remedy = "models have one score; give logistic or squared";
        require(self.objective != Some(LossSpec::Softmax), "objective", "softmax", remedy)?;
        Ok(self.spec())
    }

    /// The same as a task of learning has it.
    fn spec(&self) -> TaskSpec {
        let usual = TaskSpec::default();
        TaskSpec {
            peer_column: self.peer_column.clone(),
            header: self.header.unwrap_or_default(),
            drop: self.drop_column.clone(),
            category: self.category.clone(),
            missing: self.missing.clone().unwrap_or(usual.missing),
            label: self.label.clone(),
            range: self.range.clone(),
            bounds: self.bounds.clone(),
            norm: self.norm,
            positive: self.positive.clone(),
            label_threshold: self.label_threshold,
            label_bounds: self.label_bounds,
            loss: self.objective,
            memory: self.rows.clone(),
            ..usual
        }
    }
}

/// Columns are dropped by another option here, since messages are dropped, too.
fn called(error: Error) -> Error {
    let said = error.to_string();
    match said.contains("--drop ") {
        true => Error::refused(said.replace("--drop ", "--drop-column ")),
        false => error,
    }
}

fn read_similar(path: &Path) -> Result<Weighted> {
    let wrong = |error: sottovoce_topology::Error| {
        Error::refused(format!("`similar` is {}: {error}", path.display()))
    };
    io::read_weighted_file(path, None).map_err(wrong)
}

fn of_graph(Weighted { graph, weights, notes, .. }: Weighted) -> Crowd {
    let names = (0..graph.nodes()).map(|agent| graph.label(agent)).collect();
    Crowd { names, similar: weights, notes, numbered: graph.labels().is_none() }
}

/// The first column names an agent. The reader of tables wants a label, which is the last of her numbers here.
fn of_profiles(path: &Path, neighbours: usize) -> Result<Crowd> {
    let refused = |remedy: &str| Error::parameter("profiles", path.display(), remedy);
    let options = Options { peer: Some(Column::Index(0)), ..Options::default() };
    let found = read::open(path, &options)?;
    let names = found.holders.map(|holders| holders.names).unwrap_or_default();
    let table = &found.table;
    require(
        table.classes().is_empty(),
        "profiles",
        path.display(),
        "its last column holds words; give numbers alone",
    )?;
    if names.len() != table.rows() {
        return Err(refused("an agent has two lines; give each of them one"));
    }
    if names.len() < 2 {
        return Err(refused("everybody needs somebody to resemble; give 2 agents or more"));
    }
    let profile = |agent: usize| [table.row(agent), &table.labels()[agent..=agent]].concat();
    let profiles: Vec<Vec<f64>> = (0..names.len()).map(profile).collect();
    Ok(Crowd { similar: nearest_profiles(&profiles, neighbours), names, notes: Vec::new(), numbered: false })
}
