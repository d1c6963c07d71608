//! The task of learning: which rows, and all that must be public about them.

use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sottovoce_learning::houses::{self, Houses};
use sottovoce_learning::read::{Column, Header, Missing, Options, Rows, Separator};
use sottovoce_learning::{Clip, Loss, Model, Shards, Table, split as deal};

use sottovoce_learning::data::{Kind, Labels, Prepared, stem};
use sottovoce_learning::{Batch, Bounds, Data, Oracle, Origin, Task};

#[cfg(feature = "flags")]
use super::flags::{checked, count, real};
use super::graph::at;
use super::memory::Memory;
use super::values::Range;
use crate::require;
use crate::{Error, Result};

/// Seed of the synthetic look-alike: the same data whatever the run's seed.
const LOOK_ALIKE: u64 = 823;
/// Number of peers where nothing says it.
const PEERS: usize = 512;
/// Seed of dealing it out.
const DEALING: u64 = 1;
/// Rows have norm at most 1, and an intercept.
pub(super) const LONGEST: f64 = SQRT_2;

/// What dealing rows out by their labels assumes.
const DEALT_BY_LABEL: &str = "labels are public (rows were dealt out by them)";

/// Which data, and how gradients are bounded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct TaskSpec {
    /// Number of peers that the data is dealt out to (default: those of the graph that is given, or else 512).
    #[cfg_attr(feature = "flags", arg(long = "peers", value_name = "N", value_parser = count, conflicts_with = "peer_column"))]
    #[serde(rename = "peers", skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
    /// Rows of each peer (default: as many as there are for all).
    #[cfg_attr(feature = "flags", arg(long, value_name = "R", value_parser = count, conflicts_with = "peer_column"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// How rows are dealt out: evenly in their order, by classes whose shares are drawn for each peer (`dirichlet:0.5`), or from apart to alike (`similarity:0`
    /// to `similarity:1`). The latter two look at all labels: they are for Houses and its look-alike, and every guarantee says so.
    #[cfg_attr(feature = "flags", arg(long, value_name = "SPLIT", default_value = "even", value_parser = checked(split)))]
    pub split: String,
    /// Folder with the Houses data (`cal_housing.data`), or a file to learn from, gzipped or not: comma-separated values (.csv, .tsv, .data, .txt), or images
    /// as MNIST has them (`train-images-idx3-ubyte`, with `train-labels-idx1-ubyte` beside it).
    #[cfg_attr(feature = "flags", arg(long, value_name = "PATH"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Column that names who holds a row: rows of the same name belong to one peer, and there are as many peers as names.
    #[cfg_attr(feature = "flags", arg(long, value_name = "COLUMN", requires = "data"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_column: Option<String>,
    /// Whether the first line of comma-separated values holds the names of the columns; what cannot be told is asked for.
    #[cfg_attr(feature = "flags", arg(long, value_enum, requires = "data", default_value_t = Said::Auto))]
    pub header: Said,
    /// Column to leave out; once for each.
    #[cfg_attr(feature = "flags", arg(long, value_name = "COLUMN", requires = "data"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
    /// All values that a column of words can hold; once for each such column. Every value becomes a feature that is 0 or 1. (Those that happen to occur
    /// are somebody's.)
    #[cfg_attr(feature = "flags", arg(long, value_name = "COLUMN=A,B,...", requires = "data", value_parser = checked(category)))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub category: Vec<String>,
    /// What stands for a number that is missing (an empty field, `?`, NA, NaN or null): nothing (`refuse`), `zero`, or a number given here, before scaling.
    #[cfg_attr(feature = "flags", arg(long, value_name = "refuse|zero|VALUE", requires = "data", default_value = "refuse", value_parser = checked(missing), allow_negative_numbers = true))]
    pub missing: String,
    /// Name or number of the label's column in such a file.
    #[cfg_attr(feature = "flags", arg(long, value_name = "COLUMN", requires = "data"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Public bounds of a feature in such a file, by its name or number; once for each. What lies outside is moved to the nearer end. (Not from the
    /// file itself: a mean or a maximum of its rows would show them to everyone.)
    #[cfg_attr(feature = "flags", arg(long, value_name = "COLUMN=LOW:HIGH", requires = "data", value_parser = checked(range), allow_hyphen_values = true))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub range: Vec<String>,
    /// File of such bounds: JSON (`{"age": [0, 120]}`), or lines `column,low,high`.
    #[cfg_attr(feature = "flags", arg(long, value_name = "FILE", requires = "data"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<PathBuf>,
    /// Instead of ranges: rows are divided by this length, and shortened to it where they are longer.
    #[cfg_attr(feature = "flags", arg(long, value_name = "R", requires = "data", conflicts_with_all = ["range", "bounds"], value_parser = real, allow_negative_numbers = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub norm: Option<f64>,
    /// The label that counts as +1; all others are -1. (Of 0 and 1, or -1 and 1, 1 does.)
    #[cfg_attr(
        feature = "flags",
        arg(long, value_name = "LABEL", requires = "data", allow_hyphen_values = true)
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// The number from which labels count as +1 (a public one: not their mean or median).
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", requires = "data", conflicts_with = "positive", value_parser = real, allow_negative_numbers = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_threshold: Option<f64>,
    /// Public bounds of a label that is a number: it is scaled to -1..1, so that steps and clipping fit it whatever its unit; what lies outside is moved to
    /// the nearer end. Errors are told in the label's own units. (Not from the file itself.)
    #[cfg_attr(feature = "flags", arg(long, value_name = "LOW:HIGH", requires = "data", conflicts_with_all = ["positive", "label_threshold", "classes"], allow_hyphen_values = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_bounds: Option<Range>,
    /// All labels there can be, in order, or the number of classes 0, 1, ...
    #[cfg_attr(feature = "flags", arg(long, value_name = "A,B,...|N", requires = "data", conflicts_with_all = ["positive", "label_threshold"], value_delimiter = ','))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// What is learned: a class of two (logistic), a number (squared), or one of several classes (softmax). Default: by how many classes are named.
    #[cfg_attr(feature = "flags", arg(long = "objective", value_enum))]
    #[serde(rename = "objective", skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Weight of the squared length of the model in the loss.
    #[cfg_attr(feature = "flags", arg(long, value_name = "L", default_value = "0", value_parser = real, allow_negative_numbers = true))]
    pub ridge: f64,
    /// Largest norm of a gradient.
    #[cfg_attr(feature = "flags", arg(long, value_name = "C", default_value = "0.4", value_parser = real, allow_negative_numbers = true))]
    pub clip: f64,
    /// What is clipped.
    #[cfg_attr(feature = "flags", arg(skip = Clipped::Example))]
    pub clipped: Clipped,
    /// Rows of each gradient, drawn anew (default: all of a peer's rows).
    #[cfg_attr(feature = "flags", arg(long, value_name = "B", value_parser = count))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// The rows themselves, where they are in memory.
    #[serde(skip)]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub memory: Memory<Rows>,
}

/// What is true of every run of a task, whatever its rows are.
pub(crate) struct Terms {
    /// Whether the objective is known.
    pub(crate) known: bool,
    /// How far one user moves a gradient, at most.
    pub(crate) sensitivity: f64,
    /// Whether a step moves no two models apart.
    pub(crate) nonexpansive: bool,
    /// Assumptions, and what is not covered under them.
    pub(crate) limits: Vec<(Vec<String>, Vec<String>)>,
}

/// How rows are dealt out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Split {
    Even,
    Dirichlet(f64),
    Similarity(f64),
}

fn split(text: &str) -> std::result::Result<Split, String> {
    let number =
        |text: &str| text.parse().map_err(|_| format!("`{text}` is no number; give one, such as 0.5"));
    match text.split_once(':') {
        None if text == "even" => Ok(Split::Even),
        Some(("dirichlet", concentration)) => Ok(Split::Dirichlet(number(concentration)?)),
        Some(("similarity", t)) => Ok(Split::Similarity(number(t)?)),
        _ => Err("give even, dirichlet:CONCENTRATION or similarity:T".to_owned()),
    }
}

/// `COLUMN=LOW:HIGH`; a name may contain both signs.
fn range(text: &str) -> std::result::Result<(String, (f64, f64)), String> {
    let parse = || {
        let (rest, high) = text.rsplit_once(':')?;
        let (column, low) = rest.rsplit_once('=')?;
        Some((column.trim().to_owned(), (low.trim().parse().ok()?, high.trim().parse().ok()?)))
    };
    parse().ok_or_else(|| "give COLUMN=LOW:HIGH, such as age=0:120".to_owned())
}

/// `COLUMN=A,B,...`
fn category(text: &str) -> std::result::Result<(String, Vec<String>), String> {
    let advice = || "give COLUMN=A,B,..., such as colour=red,green,blue, each value once".to_owned();
    let (column, values) = text.split_once('=').ok_or_else(advice)?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    let once = values
        .iter()
        .all(|value| !value.is_empty() && values.iter().filter(|other| *other == value).count() == 1);
    if once { Ok((column.trim().to_owned(), values)) } else { Err(advice()) }
}

fn missing(text: &str) -> std::result::Result<Missing, String> {
    match text {
        "refuse" => Ok(Missing::Refuse),
        "zero" => Ok(Missing::Value(0.0)),
        number => match number.parse() {
            Ok(value) if f64::is_finite(value) => Ok(Missing::Value(value)),
            _ => Err("give refuse, zero, or a public number (not a mean of the rows, which would be about everybody's)".to_owned()),
        },
    }
}

/// What may be said, or left to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Said {
    /// To be told from the file.
    #[default]
    Auto,
    /// Yes.
    Yes,
    /// No.
    No,
}

/// What is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum LossSpec {
    /// A class of two.
    #[default]
    Logistic,
    /// A number.
    Squared,
    /// One of several classes.
    Softmax,
}

/// What is clipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Clipped {
    /// Each row's.
    #[default]
    Example,
    /// A peer's mean.
    User,
    /// Nothing: rows have a bounded length, and the loss a bounded slope.
    Nothing,
}

impl Default for TaskSpec {
    fn default() -> Self {
        Self {
            nodes: None,
            rows: None,
            split: "even".to_owned(),
            data: None,
            peer_column: None,
            header: Said::Auto,
            drop: Vec::new(),
            category: Vec::new(),
            missing: "refuse".to_owned(),
            label: None,
            range: Vec::new(),
            bounds: None,
            norm: None,
            positive: None,
            label_threshold: None,
            label_bounds: None,
            classes: Vec::new(),
            loss: None,
            ridge: 0.0,
            clip: 0.4,
            clipped: Clipped::Example,
            batch: None,
            memory: Memory::default(),
        }
    }
}

/// Refuses batches that are larger than what anybody holds.
fn check_batch(batch: Option<usize>, most: usize) -> Result<()> {
    let remedy = format!("no peer holds more than {most} rows; give at most that");
    batch.map_or(Ok(()), |batch| require(batch <= most, "batch", batch, remedy))
}

/// A field that is written as text, read.
fn read<T>(field: &'static str, text: &str, parse: fn(&str) -> std::result::Result<T, String>) -> Result<T> {
    parse(text).map_err(|remedy| Error::parameter(field, text, remedy))
}

impl TaskSpec {
    /// The data, dealt out to as many peers as are asked for or the graph has, and what was noticed in the file. `folder` is where relative names begin.
    pub fn read(&self, folder: &Path, of_graph: Option<usize>) -> Result<(Task, Vec<String>)> {
        let peers = self.nodes.or(of_graph).unwrap_or(PEERS);
        let data = self.data.as_ref().map(|path| at(folder, path));
        let mut notes = Vec::new();
        let task = match &data {
            Some(path) if !path.is_dir() => {
                let remedy = "who holds which row would depend on everybody's labels, which are private; give --split even, which goes by their places in \
                                  the file";
                require(self.split()? == Split::Even, "split", "by label", remedy)?;
                let found = self.prepared(path.clone(), folder)?;
                notes = found.notes.clone();
                let shards = match found.named_shards()? {
                    Some(shards) => shards,
                    None => self.deal(&found.train, peers)?,
                };
                let task = self.task(stem(path), shards, found.train.width(), found.test, found.loss)?;
                Ok(task.from_files(found.sources).scaled_from(found.label_bounds))
            }
            Some(path) => self.houses("Houses", &houses::read(path, houses::Split::Eighty)?, peers),
            None => self.houses("A look-alike of Houses", &houses::look_alike(LOOK_ALIKE), peers),
        };
        Ok((task?, notes))
    }

    /// Rows of a file, or of memory, as they are learned from.
    pub(super) fn prepared(&self, path: PathBuf, folder: &Path) -> Result<Prepared> {
        let Some(rows) = self.memory.of("data", &path, |lent| &lent.rows)? else {
            return Ok(self.file(path, folder)?.read()?);
        };
        let columns = [
            ("label", self.label.is_some()),
            ("header", self.header != Said::Auto),
            ("drop", !self.drop.is_empty()),
            ("category", !self.category.is_empty()),
            ("missing", self.missing != "refuse"),
        ];
        if let Some((field, _)) = columns.into_iter().find(|(_, given)| *given) {
            let remedy = "rows in memory are numbers, with labels and owners apart; leave it out";
            return Err(Error::parameter(field, "given", remedy));
        }
        Ok(self.file(path, folder)?.prepare(&rows.0)?)
    }

    /// One peer's own file, by itself, where all this was agreed on and the file was not: nothing is dealt out.
    pub fn own(&self, path: &Path) -> Result<Prepared> {
        self.check_own()?;
        Ok(self.file(path.to_owned(), Path::new(""))?.read()?)
    }

    /// A task whose gradients come from outside, of so many rows of each peer: of what is said here, clipping and batches are all that it has a use for.
    pub(crate) fn outside(&self, oracle: Arc<dyn Oracle>, rows: Vec<usize>, start: Vec<f64>) -> Result<Task> {
        let Self { nodes, clip, clipped, batch, .. } = *self;
        let remedy = "rows and gradients come from outside; of a task give clip, clipped and batch alone";
        let known = Self { nodes, clip, clipped, batch, ..Self::default() };
        require(*self == known, "task", "given", remedy)?;
        let remedy = format!("there are rows of {}; leave it out", rows.len());
        let given = nodes.unwrap_or(rows.len());
        require(given == rows.len(), "peers", given, remedy)?;
        let most = rows.iter().copied().max().unwrap_or(0);
        check_batch(batch, most)?;
        let batch = batch.map_or(Batch::All, Batch::Rows);
        Ok(Task::from_outside("A task of one's own", oracle, rows, start, self.clipping(), batch)?)
    }

    /// Refuses what is about one file of many peers' rows.
    pub fn check_own(&self) -> Result<()> {
        let remedy = "everybody has a file of its own, and nothing is dealt out; leave it out";
        require(self.peer_column.is_none(), "peer-column", "given", remedy)?;
        require(self.split()? == Split::Even, "split", &self.split, remedy)?;
        require(self.rows.is_none(), "rows", "given", remedy)?;
        let remedy = "on a node every gradient is that of all rows; leave it out";
        require(self.batch.is_none(), "batch", "given", remedy)
    }

    fn clipping(&self) -> Clip {
        match self.clipped {
            Clipped::Example => Clip::Example(self.clip),
            Clipped::User => Clip::User(self.clip),
            Clipped::Nothing => Clip::None,
        }
    }

    /// The same with what the rows and the graph made of it: so that whoever has no files knows it, too.
    pub(crate) fn as_run(&self, loss: Option<Loss>, peers: usize) -> Self {
        let loss = loss.map(|loss| match loss {
            Loss::Logistic => LossSpec::Logistic,
            Loss::Squared => LossSpec::Squared,
            Loss::Softmax { .. } => LossSpec::Softmax,
        });
        let nodes = if self.peer_column.is_none() { Some(peers) } else { self.nodes };
        Self { loss: loss.or(self.loss), nodes, ..self.clone() }
    }

    /// What is true of every run of it whatever the rows are. Of an objective that only a file tells, the weakest.
    pub(crate) fn terms(&self, step: f64) -> Result<Terms> {
        const ANY: [Loss; 3] = [Loss::Logistic, Loss::Squared, Loss::Softmax { classes: 2 }];
        let losses = match (self.loss, &self.data) {
            (Some(LossSpec::Logistic), _) | (None, None) => &ANY[..1],
            (Some(LossSpec::Squared), _) => &ANY[1..2],
            (Some(LossSpec::Softmax), _) => &ANY[2..],
            (None, Some(_)) => &ANY[..],
        };
        let mut terms =
            Terms { known: losses.len() == 1, sensitivity: 0.0, nonexpansive: true, limits: self.limits()? };
        for &loss in losses {
            let model = Model { loss, width: 1, ridge: self.ridge };
            terms.nonexpansive &= model.keeps_distances(self.clipping(), Some(LONGEST), step);
            // What nothing bounds could not have been run.
            if let Ok(moved) = model.sensitivity(self.clipping(), LONGEST)
                && moved > terms.sensitivity
            {
                terms.sensitivity = moved;
            }
        }
        Ok(terms)
    }

    /// What guarantees may assume, and what they then leave out: of rows that are drawn; of a folder, or of a file, which only its place tells apart.
    fn limits(&self) -> Result<Vec<(Vec<String>, Vec<String>)>> {
        let even = self.split()? == Split::Even;
        let of_houses = |public: Option<&str>, origin: Origin| {
            let all = public.into_iter().chain((!even).then_some(DEALT_BY_LABEL));
            (all.map(str::to_owned).collect(), origin.not_covered())
        };
        Ok(match self.data {
            None => vec![of_houses(None, Origin::Synthetic)],
            Some(_) if even => vec![
                of_houses(Some(houses::PUBLIC), Origin::Published),
                (Vec::new(), Origin::Private.not_covered()),
            ],
            Some(_) => vec![of_houses(Some(houses::PUBLIC), Origin::Published)],
        })
    }

    fn split(&self) -> Result<Split> {
        read("split", &self.split, split)
    }

    fn houses(&self, name: &str, houses: &Houses, peers: usize) -> Result<Task> {
        let labelled = self.label.is_some()
            || self.positive.is_some()
            || self.label_threshold.is_some()
            || self.label_bounds.is_some()
            || !self.classes.is_empty();
        let read = self.peer_column.is_some()
            || !self.drop.is_empty()
            || !self.category.is_empty()
            || self.header != Said::Auto
            || self.missing != "refuse";
        let bounded = !self.range.is_empty() || self.bounds.is_some() || self.norm.is_some();
        let remedy = "Houses has labels and a scaling of its own; leave out bounds, labels, classes and columns, or give a file";
        require(!labelled && !bounded && !read, "data", "a folder", remedy)?;
        let loss = match self.loss {
            None | Some(LossSpec::Logistic) => Loss::Logistic,
            Some(LossSpec::Squared) => Loss::Squared,
            Some(LossSpec::Softmax) => {
                let remedy = "the labels of Houses are -1 and 1; give --objective logistic";
                return Err(Error::parameter("objective", "softmax", remedy));
            }
        };
        let (shards, width) = (self.deal(&houses.train, peers)?, houses.train.width());
        let task = self.task(name.to_owned(), shards, width, houses.test.clone(), loss)?.of_houses(houses);
        Ok(task.assuming((self.split()? != Split::Even).then_some(DEALT_BY_LABEL)))
    }

    fn task(&self, name: String, shards: Shards, width: usize, test: Table, loss: Loss) -> Result<Task> {
        let model = Model { loss, width, ridge: self.ridge };
        let batch = self.batch.map_or(Batch::All, Batch::Rows);
        let most = (0..shards.peers()).map(|peer| shards.shard(peer).labels.len()).max().unwrap_or(0);
        check_batch(self.batch, most)?;
        let task = Task::new(name, shards, test, model, Clip::Example(1.0), batch)?;
        Ok(task.within(LONGEST)?.clipped(self.clipping())?)
    }

    /// What is publicly known of a file.
    fn file(&self, path: PathBuf, folder: &Path) -> Result<Data> {
        let named = (&self.positive, self.label_threshold, self.classes.as_slice());
        let labels = match (self.label_bounds, named) {
            (Some(Range { low, high }), (None, None, [])) => Labels::Within(low, high),
            (Some(bounds), _) => {
                let remedy = "labels are numbers or classes; leave out bounds, or positive, label-threshold and classes";
                return Err(Error::parameter("label-bounds", String::from(bounds), remedy));
            }
            (None, (Some(positive), ..)) => Labels::Positive(positive.clone()),
            (None, (None, Some(threshold), _)) => Labels::Threshold(threshold),
            (None, (None, None, [])) => Labels::AsRead,
            (None, (None, None, [count])) => match count.parse() {
                Ok(count) => Labels::Count(count),
                Err(_) => {
                    let remedy = "give all of them, separated by commas, or their number";
                    return Err(Error::parameter("classes", count, remedy));
                }
            },
            (None, (None, None, list)) => Labels::Classes(list.to_vec()),
        };
        Ok(Data {
            path,
            options: self.options()?,
            bounds: {
                let ranges =
                    self.range.iter().map(|text| read("range", text, range)).collect::<Result<Vec<_>>>()?;
                let file = self.bounds.as_ref().map(|path| folder.join(path));
                Bounds::new(&ranges, file.as_deref(), self.norm)?
            },
            labels,
            kind: self.loss.map(|loss| match loss {
                LossSpec::Logistic => Kind::Logistic,
                LossSpec::Squared => Kind::Squared,
                LossSpec::Softmax => Kind::Softmax,
            }),
        })
    }

    /// How it is read.
    fn options(&self) -> Result<Options> {
        let mut categories = BTreeMap::new();
        for text in &self.category {
            let (column, values) = read("category", text, category)?;
            let new = categories.insert(column.clone(), values).is_none();
            require(new, "category", format_args!("given twice for column {column}"), "give it once")?;
        }
        Ok(Options {
            label: self.label.as_deref().map_or(Column::Last, Column::parse),
            header: match self.header {
                Said::Auto => Header::Auto,
                Said::Yes => Header::Yes,
                Said::No => Header::No,
            },
            separator: Separator::Auto,
            peer: self.peer_column.as_deref().map(Column::parse),
            left: self.drop.iter().map(|column| Column::parse(column)).collect(),
            categories,
            missing: read("missing", &self.missing, missing)?,
        })
    }

    fn deal(&self, train: &Table, peers: usize) -> Result<Shards> {
        let wanted = self.rows.map(|rows| rows.saturating_mul(peers));
        let fewer = match wanted {
            Some(wanted) if wanted > train.rows() || wanted == 0 => {
                let most = peers.max(1); // whole numbers
                let remedy = format!(
                    "{peers} peers share {} rows; give from 1 to {}",
                    train.rows(),
                    train.rows() / most
                );
                return Err(Error::parameter("rows", wanted / most, remedy));
            }
            Some(wanted) => Some(train.select(&(0..wanted).collect::<Vec<_>>())?),
            None => None,
        };
        let table = fewer.as_ref().unwrap_or(train);
        Ok(match self.split()? {
            Split::Even => Shards::even(table, peers)?,
            Split::Dirichlet(concentration) => deal::dirichlet(table, peers, concentration, DEALING)?,
            Split::Similarity(t) => deal::similarity(table, peers, t, DEALING)?,
        })
    }
}
