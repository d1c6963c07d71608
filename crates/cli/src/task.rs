//! What `run learning` and `plan learning` ask of data: which rows, and all that must be public about them.

use std::f64::consts::SQRT_2;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use sottovoce_learning::houses::{self, Houses};
use sottovoce_learning::read::Column;
use sottovoce_learning::{Clip, Loss, Model, Shards, Table, split as deal};

use super::graph::{count, real};
use super::input;
use sottovoce::learning::{Batch, Bounds, Data, Task};
use sottovoce_learning::data::{Kind, Labels, stem};

/// Seed of the synthetic look-alike: the same data whatever the run's seed.
const LOOK_ALIKE: u64 = 823;
/// Seed of dealing it out.
const DEALING: u64 = 1;

/// What dealing rows out by their labels assumes.
const DEALT_BY_LABEL: &str = "labels are public (rows were dealt out by them)";

/// Which data, and how gradients are bounded.
#[derive(Debug, Args)]
pub(super) struct TaskArgs {
    /// Number of peers that the data is dealt out to.
    #[arg(long = "peers", alias = "nodes", value_name = "N", default_value = "512", value_parser = count)]
    pub(super) nodes: usize,
    /// Rows of each peer (default: as many as there are for all).
    #[arg(long, value_name = "R", value_parser = count)]
    rows: Option<usize>,
    /// How rows are dealt out: evenly in their order, by classes whose shares are drawn for each peer (`dirichlet:0.5`), or from apart to alike (`similarity:0`
    /// to `similarity:1`). The latter two look at all labels: they are for Houses and its look-alike, and every guarantee says so.
    #[arg(long, value_name = "SPLIT", default_value = "even", value_parser = split)]
    split: Split,
    /// Folder with the Houses data (`cal_housing.data`), or a file to learn from: CSV, ARFF or SVMlight.
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Name or number of the label's column in such a file.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    label: Option<String>,
    /// Public bounds of a feature in such a file, by its name or number; once for each. What lies outside is moved to the nearer end. (Not from the
    /// file itself: a mean or a maximum of its rows would show them to everyone.)
    #[arg(long, value_name = "COLUMN=LOW:HIGH", requires = "data", value_parser = range, allow_hyphen_values = true)]
    range: Vec<(String, (f64, f64))>,
    /// File of such bounds: JSON (`{"age": [0, 120]}`), or lines `column,low,high`.
    #[arg(long, value_name = "FILE", requires = "data")]
    bounds: Option<PathBuf>,
    /// Instead of ranges: rows are divided by this length, and shortened to it where they are longer.
    #[arg(long, value_name = "R", requires = "data", conflicts_with_all = ["range", "bounds"], value_parser = real, allow_negative_numbers = true)]
    norm: Option<f64>,
    /// The label that counts as +1; all others are -1.
    #[arg(long, value_name = "LABEL", requires = "data", allow_hyphen_values = true)]
    positive: Option<String>,
    /// The number from which labels count as +1 (a public one: not their mean or median).
    #[arg(long, value_name = "N", requires = "data", conflicts_with = "positive", value_parser = real, allow_negative_numbers = true)]
    label_threshold: Option<f64>,
    /// All labels there can be, in order, or the number of classes 0, 1, ...
    #[arg(long, value_name = "A,B,...|N", requires = "data", conflicts_with_all = ["positive", "label_threshold"], value_delimiter = ',')]
    classes: Vec<String>,
    /// Number of features of an SVMlight file.
    #[arg(long, value_name = "N", requires = "data", value_parser = count)]
    width: Option<usize>,
    /// What is learned: a class of two (labels -1 and 1), a number, or one of several classes.
    #[arg(long, value_enum, default_value_t = LossArg::Logistic)]
    loss: LossArg,
    /// Weight of the squared length of the model in the loss.
    #[arg(long, value_name = "L", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    ridge: f64,
    /// Largest norm of a gradient.
    #[arg(long, value_name = "C", default_value = "0.4", value_parser = real, allow_negative_numbers = true)]
    clip: f64,
    /// What is clipped.
    #[arg(long, value_enum, default_value_t = Clipped::Example)]
    clipped: Clipped,
    /// Rows of each gradient, drawn anew (default: all of a peer's rows).
    #[arg(long, value_name = "B", value_parser = count)]
    batch: Option<usize>,
}

/// How rows are dealt out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Split {
    Even,
    Dirichlet(f64),
    Similarity(f64),
}

fn split(text: &str) -> Result<Split, String> {
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
fn range(text: &str) -> Result<(String, (f64, f64)), String> {
    let parse = || {
        let (rest, high) = text.rsplit_once(':')?;
        let (column, low) = rest.rsplit_once('=')?;
        Some((column.trim().to_owned(), (low.trim().parse().ok()?, high.trim().parse().ok()?)))
    };
    parse().ok_or_else(|| "give COLUMN=LOW:HIGH, such as age=0:120".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LossArg {
    Logistic,
    Squared,
    Softmax,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Clipped {
    /// Each row's.
    Example,
    /// A peer's mean.
    User,
    /// Nothing: rows have a bounded length, and the loss a bounded slope.
    Nothing,
}

impl TaskArgs {
    /// The data, dealt out.
    pub(super) fn read(&self) -> anyhow::Result<Task> {
        if let Some(path) = &self.data {
            // Whatever is wrong with it, the reader says better.
            _ = input::hash(input::DATA, path);
        }
        match &self.data {
            Some(path) if !path.is_dir() => {
                if self.split != Split::Even {
                    bail!(
                        "`split` is by label: who holds which row would depend on everybody's labels, which are private; give --split even, which goes by \
                         their places in the file"
                    );
                }
                let found = self.file(path.clone())?.read()?;
                self.task(stem(path), &found.train, found.test, found.loss)
            }
            Some(path) => self.houses("Houses", &houses::read(path, houses::Split::Eighty)?),
            None => self.houses("A look-alike of Houses", &houses::look_alike(LOOK_ALIKE)),
        }
    }

    fn houses(&self, name: &str, houses: &Houses) -> anyhow::Result<Task> {
        let labelled = self.label.is_some()
            || self.positive.is_some()
            || self.label_threshold.is_some()
            || !self.classes.is_empty();
        let bounded =
            !self.range.is_empty() || self.bounds.is_some() || self.norm.is_some() || self.width.is_some();
        if labelled || bounded {
            bail!(
                "`data` is a folder: Houses has labels and a scaling of its own; leave out bounds, labels and classes, or give a file"
            );
        }
        let loss = match self.loss {
            LossArg::Logistic => Loss::Logistic,
            LossArg::Squared => Loss::Squared,
            LossArg::Softmax => {
                bail!("`loss` is softmax: the labels of Houses are -1 and 1; give --loss logistic")
            }
        };
        let task = self.task(name.to_owned(), &houses.train, houses.test.clone(), loss)?.of_houses(houses);
        Ok(task.assuming((self.split != Split::Even).then_some(DEALT_BY_LABEL)))
    }

    fn task(&self, name: String, train: &Table, test: Table, loss: Loss) -> anyhow::Result<Task> {
        let clip = match self.clipped {
            Clipped::Example => Clip::Example(self.clip),
            Clipped::User => Clip::User(self.clip),
            Clipped::Nothing => Clip::None,
        };
        let model = Model { loss, width: train.width(), ridge: self.ridge };
        let shards = self.deal(train)?;
        let batch = self.batch.map_or(Batch::All, Batch::Rows);
        // Rows of norm at most 1 and an intercept.
        let task = Task::new(name, shards, test, model, Clip::Example(1.0), batch)?;
        Ok(task.within(SQRT_2)?.clipped(clip)?)
    }

    /// What is publicly known of a file.
    fn file(&self, path: PathBuf) -> anyhow::Result<Data> {
        let column = |name: &String| name.parse().map_or_else(|_| Column::Name(name.clone()), Column::Index);
        let labels = match (&self.positive, self.label_threshold, self.classes.as_slice()) {
            (Some(positive), ..) => Labels::Positive(positive.clone()),
            (None, Some(threshold), _) => Labels::Threshold(threshold),
            (None, None, []) => Labels::AsDeclared,
            (None, None, [count]) => match count.parse() {
                Ok(count) => Labels::Count(count),
                Err(_) => {
                    bail!("`classes` is {count}: give all of them, separated by commas, or their number")
                }
            },
            (None, None, list) => Labels::Classes(list.to_vec()),
        };
        Ok(Data {
            path,
            label: self.label.as_ref().map_or(Column::Last, column),
            bounds: Bounds::new(&self.range, self.bounds.as_deref(), self.norm)?,
            labels,
            width: self.width,
            kind: match self.loss {
                LossArg::Logistic => Kind::Logistic,
                LossArg::Squared => Kind::Squared,
                LossArg::Softmax => Kind::Softmax,
            },
        })
    }

    fn deal(&self, train: &Table) -> anyhow::Result<Shards> {
        let wanted = self.rows.map(|rows| rows.saturating_mul(self.nodes));
        let fewer = match wanted {
            Some(wanted) if wanted > train.rows() || wanted == 0 => bail!(
                "`rows` is {}: {} peers share {} rows; give from 1 to {}",
                wanted / self.nodes.max(1),
                self.nodes,
                train.rows(),
                train.rows() / self.nodes.max(1)
            ),
            Some(wanted) => Some(train.select(&(0..wanted).collect::<Vec<_>>())?),
            None => None,
        };
        let table = fewer.as_ref().unwrap_or(train);
        Ok(match self.split {
            Split::Even => Shards::even(table, self.nodes)?,
            Split::Dirichlet(concentration) => deal::dirichlet(table, self.nodes, concentration, DEALING)?,
            Split::Similarity(t) => deal::similarity(table, self.nodes, t, DEALING)?,
        })
    }
}
