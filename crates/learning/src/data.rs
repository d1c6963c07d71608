//! From a file to rows that can be dealt out: every step changes a row by itself, from what is public.
//!
//! | what | public because |
//! | --- | --- |
//! | scaling | bounds are given ([`Bounds`]); the bytes of images bound themselves |
//! | labels | the positive class, a threshold or all classes are given; of 0 and 1, or -1 and 1, 1 is positive |
//! | labels that are numbers | as they are, or scaled by bounds that are given |
//! | categories | all values there can be are given: each becomes a column of 0 and 1 |
//! | what is missing | refused, or a number given beforehand |
//! | number of features | the first line has it |
//! | training and test rows, and who holds which | by their places in the file, and by a column that names peers, if one is given |
//!
//! Whoever replaces one user's rows thereby changes nobody else's. How many rows there are is public: replacing keeps their number.

use std::path::{Path, PathBuf};

use crate::bounds::Bounds;
use crate::read::{self, Format, Found, Holders, Options, Rows, Source};
use crate::{Error, Loss, Result, Shards, Table, require};

/// One row in so many is for testing.
const TESTED: usize = 5;

/// What labels mean.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Labels {
    /// What the file says: 0 or -1 and 1, or numbers.
    #[default]
    AsRead,
    /// +1 is this class, and -1 any other.
    Positive(String),
    /// +1 from this number on, and -1 below it.
    Threshold(f64),
    /// All classes there can be, in order.
    Classes(Vec<String>),
    /// So many classes: 0, 1, ...
    Count(usize),
    /// Numbers between these two, scaled to -1..1. What lies outside is moved to the nearer end.
    Within(f64, f64),
}

/// What is learned of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One of two classes.
    Logistic,
    /// A number.
    Squared,
    /// One of several classes.
    Softmax,
}

/// A file, and all that must be known beforehand to read it without looking at everybody's rows together.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// The file.
    pub path: PathBuf,
    /// How it is read.
    pub options: Options,
    /// Bounds of its features.
    pub bounds: Bounds,
    /// What labels mean.
    pub labels: Labels,
    /// What is learned; by default one of as many classes as are given, and of two where none are.
    pub kind: Option<Kind>,
}

/// Rows to train and to test on, no longer than `sqrt(2)` (a norm of 1, and an intercept), and the loss for their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Rows to train on, in the order of the file.
    pub train: Table,
    /// Every fifth row; every fifth of each peer, where a column names peers.
    pub test: Table,
    /// The loss.
    pub loss: Loss,
    /// The bounds from which labels were scaled to -1..1.
    pub label_bounds: Option<(f64, f64)>,
    /// The peers that a column names, each with its rows to train on.
    pub peers: Option<Named>,
    /// How many features of all rows lay outside their ranges, and were moved to the nearer end.
    pub clipped: usize,
    /// What whoever gave the file should know.
    pub notes: Vec<String>,
    /// The files.
    pub sources: Vec<Source>,
}

/// Peers by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What they are called.
    pub names: Vec<String>,
    /// The rows to train on that each of them holds.
    pub rows: Vec<Vec<usize>>,
    /// The rows to test on.
    pub tested: Vec<Vec<usize>>,
}

impl Prepared {
    /// The rows to train on dealt out to the peers that are named, if any are.
    pub fn named_shards(&self) -> Result<Option<Shards>> {
        let deal = |peers: &Named| Shards::by_lists(&self.train, &peers.rows)?.named(peers.names.clone());
        self.peers.as_ref().map(deal).transpose()
    }
}

impl Data {
    /// Reads and prepares it.
    pub fn read(&self) -> Result<Prepared> {
        let format = Format::of(&self.path)?;
        self.prepared(read::open(&self.path, &self.options)?, &self.bounds_in(format))
    }

    /// The same of rows that are in memory already.
    pub fn prepare(&self, rows: &Rows) -> Result<Prepared> {
        self.prepared(rows.found()?, &self.bounds)
    }

    fn prepared(&self, found: Found, bounds: &Bounds) -> Result<Prepared> {
        let Found { table, holders, notes, sources } = found;
        let remedy = format!("give at least {TESTED}, of which one is for testing");
        require(table.rows() >= TESTED, "data", format_args!("{} rows long", table.rows()), remedy)?;
        let (mut table, loss) = self.labelled(table)?;
        let clipped = bounds.scale(&mut table)?;
        let table = table.with_intercept();
        let (train, test, peers) = parts(table.rows(), holders);
        let remedy =
            format!("every {TESTED}th row of a peer is for testing; give one of them {TESTED} or more");
        require(!test.is_empty(), "peer-column", "a name for few rows each", remedy)?;
        let (train, test) = (table.select(&train)?, table.select(&test)?);
        let label_bounds = match self.labels {
            Labels::Within(low, high) => Some((low, high)),
            _ => None,
        };
        Ok(Prepared { train, test, loss, label_bounds, peers, clipped, notes, sources })
    }

    /// The bounds given; images need none, since their pixels are bytes.
    fn bounds_in(&self, format: Format) -> Bounds {
        match (format, &self.bounds) {
            (Format::Idx, Bounds::Unknown) => Bounds::Norm(1.0),
            (_, bounds) => bounds.clone(),
        }
    }

    /// What is learned: as is said, or by the number of classes that are known beforehand.
    fn kind(&self) -> Kind {
        let classes = match &self.labels {
            Labels::Classes(list) => list.len(),
            Labels::Count(count) => *count,
            Labels::Within(..) => return self.kind.unwrap_or(Kind::Squared),
            Labels::AsRead | Labels::Positive(_) | Labels::Threshold(_) => 2,
        };
        self.kind.unwrap_or(if classes > 2 { Kind::Softmax } else { Kind::Logistic })
    }

    fn labelled(&self, table: Table) -> Result<(Table, Loss)> {
        match (self.kind(), &self.labels) {
            (Kind::Squared, Labels::Within(low, high)) => Ok((table.between(*low, *high)?, Loss::Squared)),
            (_, Labels::Within(low, high)) => {
                let remedy =
                    "bounds are for labels that are numbers; give --objective squared, or leave them out";
                Err(Error::parameter("label-bounds", format!("{low}:{high}"), remedy))
            }
            (Kind::Logistic, _) => Ok((self.two_classes(table)?, Loss::Logistic)),
            (Kind::Softmax, _) => self.several_classes(table),
            (Kind::Squared, _) => {
                let remedy = "it takes labels that are numbers, as they are or scaled (--label-bounds); give --objective logistic or softmax for classes";
                require(
                    table.classes().is_empty() && self.labels == Labels::AsRead,
                    "objective",
                    "squared",
                    remedy,
                )?;
                Ok((table, Loss::Squared))
            }
        }
    }

    fn two_classes(&self, table: Table) -> Result<Table> {
        Ok(match &self.labels {
            Labels::Positive(class) => table.binary(class)?,
            Labels::Threshold(threshold) => table.above(*threshold)?,
            Labels::Classes(list) => {
                let [_, positive] = list.as_slice() else {
                    let given = format!("a list of {}", list.len());
                    let remedy = "logistic regression takes two, the positive one last";
                    return Err(Error::parameter("classes", given, remedy));
                };
                table.classified(list)?.binary(positive)?
            }
            Labels::Count(2) | Labels::AsRead if table.classes().is_empty() => numbered(table)?,
            Labels::Count(count) => {
                let remedy = "logistic regression takes two; name the positive one (--positive)";
                return Err(Error::parameter("classes", count, remedy));
            }
            Labels::AsRead | Labels::Within(..) => {
                let remedy = "labels are names, and those that occur are somebody's; give --positive NAME, or the two that there can be \
                              (--classes NO,YES)";
                return Err(Error::parameter("positive", "missing", remedy));
            }
        })
    }

    fn several_classes(&self, table: Table) -> Result<(Table, Loss)> {
        let (table, classes) = match &self.labels {
            Labels::Classes(list) => (table.classified(list)?, list.len()),
            Labels::Count(count) if table.classes().is_empty() => (table, *count),
            _ => {
                let remedy = "the labels that occur are somebody's; give all that there can be (--classes A,B,C), or the number of \
                              classes 0, 1, ... (--classes N)";
                return Err(Error::parameter("classes", "missing", remedy));
            }
        };
        Ok((table, Loss::Softmax { classes }))
    }
}

/// Labels that are numbers: 1 is positive, and 0 and -1 are not.
fn numbered(table: Table) -> Result<Table> {
    match table.labels().iter().position(|label| ![-1.0, 0.0, 1.0].contains(label)) {
        None => table.binary("1"),
        Some(row) => {
            let remedy = "logistic regression takes 0 or -1, and 1; give the number that counts as positive (--positive N), or the one \
                          from which labels do (--label-threshold N); or learn the number itself (--objective squared)";
            Err(Error::row("label", table.labels()[row], row, remedy))
        }
    }
}

/// The places of rows to train and to test on, and which of the former are whose: every fifth row of a file, or of a peer in it, is for testing.
fn parts(rows: usize, holders: Option<Holders>) -> (Vec<usize>, Vec<usize>, Option<Named>) {
    let (names, of_rows) = match holders {
        Some(holders) => (Some(holders.names), holders.of_rows),
        None => (None, vec![0; rows]),
    };
    let peers = names.as_ref().map_or(1, Vec::len);
    let (mut train, mut test, mut seen) = (Vec::new(), Vec::new(), vec![0; peers]);
    let (mut lists, mut tested) = (vec![Vec::new(); peers], vec![Vec::new(); peers]);
    for (row, peer) in of_rows.into_iter().enumerate() {
        if seen[peer] % TESTED == TESTED - 1 {
            tested[peer].push(test.len());
            test.push(row);
        } else {
            lists[peer].push(train.len());
            train.push(row);
        }
        seen[peer] += 1;
    }
    (train, test, names.map(|names| Named { names, rows: lists, tested }))
}

/// The name of a file without its folder and its ending.
pub fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
