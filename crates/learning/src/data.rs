//! From a file to rows that can be dealt out: every step changes a row by itself, from what is public.
//!
//! | what | public because |
//! | --- | --- |
//! | scaling | bounds are given ([`Bounds`]); the bytes of images bound themselves |
//! | labels | the positive class, a threshold or all classes are given, or the file declares them |
//! | number of features | a header has it; of svmlight files, which have none, it must be given |
//! | training and test rows, and who holds which | by their places in the file |
//!
//! Whoever replaces one user's rows thereby changes nobody else's. How many rows there are is public: replacing keeps their number.

use std::path::{Path, PathBuf};

use crate::bounds::Bounds;
use crate::read::{self, Column, Format, Options};
use crate::{Error, Loss, Result, Table};

/// One row in so many is for testing.
const TESTED: usize = 5;

/// What labels mean.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Labels {
    /// What the file says: -1 and 1, numbers, or classes that it declares.
    #[default]
    AsDeclared,
    /// +1 is this class, and -1 any other.
    Positive(String),
    /// +1 from this number on, and -1 below it.
    Threshold(f64),
    /// All classes there can be, in order.
    Classes(Vec<String>),
    /// So many classes: 0, 1, ...
    Count(usize),
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
    /// The column of its label.
    pub label: Column,
    /// Bounds of its features.
    pub bounds: Bounds,
    /// What labels mean.
    pub labels: Labels,
    /// Number of features, where the file does not say.
    pub width: Option<usize>,
    /// What is learned.
    pub kind: Kind,
}

/// Rows to train and to test on, no longer than `sqrt(2)` (a norm of 1, and an intercept), and the loss for their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Rows to train on, in the order of the file.
    pub train: Table,
    /// Every fifth row.
    pub test: Table,
    /// The loss.
    pub loss: Loss,
}

impl Data {
    /// Reads and prepares it.
    pub fn read(&self) -> Result<Prepared> {
        let format = Format::of(&self.path)?;
        if format == Format::Svmlight && self.width.is_none() {
            let remedy = format!(
                "the largest feature that occurs in {} is somebody's; give the number of features there can be",
                self.path.display()
            );
            return Err(Error::parameter("width", "missing", remedy));
        }
        let options = Options { label: self.label.clone(), width: self.width, ..Options::default() };
        let table = read::open(&self.path, &options)?;
        if table.rows() < TESTED {
            let remedy = format!("give at least {TESTED}, of which one is for testing");
            return Err(Error::parameter("data", format!("{} rows long", table.rows()), remedy));
        }
        let (mut table, loss) = self.labelled(table)?;
        self.bounds_in(format).scale(&mut table)?;
        let table = table.with_intercept();
        let part = |test: bool| {
            let rows: Vec<usize> =
                (0..table.rows()).filter(|row| (row % TESTED == TESTED - 1) == test).collect();
            table.select(&rows)
        };
        Ok(Prepared { train: part(false)?, test: part(true)?, loss })
    }

    /// The bounds given; images need none, since their pixels are bytes.
    fn bounds_in(&self, format: Format) -> Bounds {
        match (format, &self.bounds) {
            (Format::Idx, Bounds::Unknown) => Bounds::Norm(1.0),
            (_, bounds) => bounds.clone(),
        }
    }

    fn labelled(&self, table: Table) -> Result<(Table, Loss)> {
        match self.kind {
            Kind::Logistic => Ok((self.two_classes(table)?, Loss::Logistic)),
            Kind::Softmax => self.several_classes(table),
            Kind::Squared => {
                if !table.classes().is_empty() || self.labels != Labels::AsDeclared {
                    let remedy = "it takes labels that are numbers, as they are; give --loss logistic or softmax for classes";
                    return Err(Error::parameter("loss", "squared", remedy));
                }
                Ok((table, Loss::Squared))
            }
        }
    }

    fn two_classes(&self, table: Table) -> Result<Table> {
        let declared = table.declared_classes().map(<[String]>::to_vec);
        Ok(match (&self.labels, declared.as_deref()) {
            (Labels::Positive(class), _) => table.binary(class)?,
            (Labels::Threshold(threshold), _) => table.above(*threshold)?,
            (Labels::Classes(list), _) => {
                let [_, positive] = list.as_slice() else {
                    let given = format!("a list of {}", list.len());
                    let remedy = "logistic regression takes two, the positive one last";
                    return Err(Error::parameter("classes", given, remedy));
                };
                table.classified(list)?.binary(positive)?
            }
            (Labels::Count(count), _) => {
                let remedy = "logistic regression takes two; name the positive one (--positive)";
                return Err(Error::parameter("classes", count, remedy));
            }
            (Labels::AsDeclared, Some([_, positive])) => table.binary(positive)?,
            (Labels::AsDeclared, None) if table.classes().is_empty() => numbered(table)?,
            (Labels::AsDeclared, _) => {
                let remedy = "labels are names, and those that occur are somebody's; give --positive NAME, or the two that there can be \
                              (--classes NO,YES)";
                return Err(Error::parameter("positive", "missing", remedy));
            }
        })
    }

    fn several_classes(&self, table: Table) -> Result<(Table, Loss)> {
        let declared = table.declared_classes().map(<[String]>::len);
        let (table, classes) = match (&self.labels, declared) {
            (Labels::Classes(list), _) => (table.classified(list)?, list.len()),
            (Labels::Count(count), _) if table.classes().is_empty() => (table, *count),
            (Labels::AsDeclared, Some(count)) => (table, count),
            _ => {
                let remedy = "the labels that occur are somebody's; give all that there can be (--classes A,B,C), or the number of \
                              classes 0, 1, ... (--classes N)";
                return Err(Error::parameter("classes", "missing", remedy));
            }
        };
        Ok((table, Loss::Softmax { classes }))
    }
}

/// Labels that are -1 and 1 already.
fn numbered(table: Table) -> Result<Table> {
    match table.labels().iter().position(|label| label.abs() != 1.0) {
        None => Ok(table),
        Some(row) => {
            let remedy = "logistic regression takes -1 and 1; give the number that counts as positive (--positive N), or the one from \
                          which labels do (--label-threshold N)";
            Err(Error::row("label", table.labels()[row], row, remedy))
        }
    }
}

/// The name of a file without its folder and its ending.
pub fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
