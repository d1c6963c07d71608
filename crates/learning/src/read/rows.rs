//! What the columns of a file are for, and the rows that have been read so far.
//!
//! Every row is read by itself, from what is public: a list of all values makes zeros and ones of a category, a number given beforehand stands for what is
//! missing. Nothing is collected from other rows, but for the names of labels, which [`Table::classes`](crate::Table::classes) says.

use std::collections::BTreeMap;

use super::labels::Labels;
use super::source::{is_missing, number, show};
use super::{Column, Found, Holders, MOST_NUMBERS, Missing, Options};
use crate::{Error, Result, Table, require};

/// What a column is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    Label,
    Peer,
    /// Left out.
    Left,
    Number,
    /// One of these values.
    Category(Vec<String>),
}

/// What every column is for, by its place.
pub(super) struct Layout {
    pub(super) roles: Vec<Role>,
    /// What the columns are called: by the header, or by their places.
    names: Vec<String>,
    named: bool,
}

impl Layout {
    /// The columns of a file of this width, with names or without.
    pub(super) fn new(names: Option<&[String]>, width: usize, options: &Options) -> Result<Self> {
        let mut roles = vec![Role::Number; width];
        let label = place("label", &options.label, names, width)?;
        take(&mut roles, label, Role::Label, "label")?;
        if let Some(peer) = &options.peer {
            take(&mut roles, place("peer-column", peer, names, width)?, Role::Peer, "peer-column")?;
        }
        for column in &options.left {
            take(&mut roles, place("drop", column, names, width)?, Role::Left, "drop")?;
        }
        for (column, values) in &options.categories {
            let place = place("category", &Column::parse(column), names, width)?;
            take(&mut roles, place, Role::Category(values.clone()), "category")?;
        }
        let numbered = || (0..width).map(|column| column.to_string()).collect();
        Ok(Self { roles, names: names.map_or_else(numbered, <[String]>::to_vec), named: names.is_some() })
    }

    /// What to call a column in a message.
    fn name(&self, column: usize) -> String {
        if self.named { format!("`{}`", show(&self.names[column])) } else { format!("column {column}") }
    }

    /// What the features are called.
    fn features(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (name, role) in self.names.iter().zip(&self.roles) {
            match role {
                Role::Number => names.push(name.clone()),
                Role::Category(values) => names.extend(values.iter().map(|value| format!("{name}={value}"))),
                Role::Label | Role::Peer | Role::Left => {}
            }
        }
        names
    }

    /// Which features are zeros and ones by themselves.
    fn indicators(&self) -> Vec<bool> {
        let each = |role: &Role| match role {
            Role::Number => vec![false],
            Role::Category(values) => vec![true; values.len()],
            Role::Label | Role::Peer | Role::Left => Vec::new(),
        };
        self.roles.iter().flat_map(each).collect()
    }
}

fn take(roles: &mut [Role], column: usize, role: Role, field: &'static str) -> Result<()> {
    let remedy = "this column has another use already; give each column one";
    require(roles[column] == Role::Number, field, format_args!("column {column}"), remedy)?;
    roles[column] = role;
    Ok(())
}

/// The place of a column among `width`, whose names are known or not.
pub(super) fn place(
    field: &'static str,
    column: &Column,
    names: Option<&[String]>,
    width: usize,
) -> Result<usize> {
    match (column, names) {
        (Column::Last, _) => Ok(width.saturating_sub(1)),
        (Column::Index(index), _) if *index < width => Ok(*index),
        // What looks like a place may be a name.
        (Column::Index(index), Some(names)) if names.contains(&index.to_string()) => {
            named(field, &index.to_string(), names)
        }
        (Column::Index(index), _) => {
            let remedy = format!("there are {width}, counted from 0");
            Err(Error::parameter(field, format!("column {index}"), remedy))
        }
        (Column::Name(name), Some(names)) => named(field, name, names),
        (Column::Name(name), None) => {
            let remedy = "columns have no names without a header; give its place";
            Err(Error::parameter(field, format!("`{name}`"), remedy))
        }
    }
}

fn named(field: &'static str, name: &str, names: &[String]) -> Result<usize> {
    let mut places = (0..names.len()).filter(|&place| names[place] == name);
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (None, _) => {
            let remedy = format!("the columns are {}", show(&names.join(", ")));
            Err(Error::parameter(field, format!("`{name}`"), remedy))
        }
        (Some(_), Some(_)) => {
            let remedy = "several columns have this name; give its place";
            Err(Error::parameter(field, format!("`{name}`"), remedy))
        }
    }
}

/// The rows so far.
pub(super) struct Rows {
    layout: Layout,
    missing: Missing,
    features: Vec<f64>,
    width: usize,
    labels: Labels,
    /// Each peer's place in the order of appearance.
    peers: BTreeMap<String, usize>,
    holders: Holders,
    /// From where the first column counts rows, as long as it does.
    counts: Option<f64>,
}

impl Rows {
    pub(super) fn new(layout: Layout, options: &Options) -> Result<Self> {
        let width = layout.indicators().len();
        if width == 0 {
            return Err(Error::Format("there must be a label and at least one feature in each row".into()));
        }
        Ok(Self {
            layout,
            missing: options.missing,
            features: Vec::new(),
            width,
            labels: Labels::default(),
            peers: BTreeMap::new(),
            holders: Holders::default(),
            counts: None,
        })
    }

    /// Adds a row of as many fields as there are columns.
    pub(super) fn push<'a>(&mut self, line: usize, fields: impl Iterator<Item = &'a str>) -> Result<()> {
        for (column, field) in fields.enumerate() {
            match &self.layout.roles[column] {
                Role::Left => {}
                Role::Label => self.labels.push(line, field)?,
                Role::Peer => self.peer(line, column, field)?,
                Role::Number => {
                    let value = self.number(line, column, field)?;
                    self.count(column, value);
                    self.features.push(value);
                }
                Role::Category(_) => self.category(line, column, field)?,
            }
        }
        self.holders.rows += 1;
        if self.features.len() > MOST_NUMBERS {
            let problem = format!("{} features a row make more than {MOST_NUMBERS} numbers", self.width);
            return Err(Error::line(line, format!("{problem}; drop columns or give fewer rows")));
        }
        Ok(())
    }

    fn peer(&mut self, line: usize, column: usize, field: &str) -> Result<()> {
        if is_missing(field) {
            let name = self.layout.name(column);
            let problem = format!("{name} is `{}`: somebody must hold the row; name a peer", show(field));
            return Err(Error::line(line, problem));
        }
        let next = self.peers.len();
        let peer = *self.peers.entry(field.to_owned()).or_insert(next);
        if peer == next {
            self.holders.names.push(field.to_owned());
        }
        self.holders.of_rows.push(peer);
        Ok(())
    }

    fn number(&self, line: usize, column: usize, field: &str) -> Result<f64> {
        match (field.parse::<f64>(), self.missing) {
            (Ok(number), _) if number.is_finite() => Ok(number),
            (_, Missing::Value(value)) if is_missing(field) => Ok(value),
            _ if is_missing(field) => Err(self.absent(line, column, field)),
            (Ok(_), _) => number(line, &self.layout.name(column), field),
            // The slow path has time for names.
            (Err(_), _) => {
                let (name, option) = (self.layout.name(column), &self.layout.names[column]);
                let advice = format!(
                    "give a finite number with a decimal point; or, if it is a category, all values there can be (--category {option}=A,B,...); or \
                     leave the column out (--drop {option})"
                );
                Err(Error::line(line, format!("{name} is `{}`: {advice}", show(field))))
            }
        }
    }

    fn absent(&self, line: usize, column: usize, field: &str) -> Error {
        let name = self.layout.name(column);
        let advice = "remove the row, or say which number stands for it (--missing zero, or --missing VALUE)";
        Error::line(line, format!("{name} is missing (`{}`): {advice}", show(field)))
    }

    /// One for its value, zeros for all others; nothing but zeros where it is missing and that is allowed.
    fn category(&mut self, line: usize, column: usize, field: &str) -> Result<()> {
        let Role::Category(values) = &self.layout.roles[column] else { return Ok(()) };
        let own = match values.iter().position(|value| value == field) {
            None if is_missing(field) && self.missing == Missing::Refuse => {
                return Err(self.absent(line, column, field));
            }
            None if is_missing(field) => None,
            None => Some(among(values, line, &self.layout.name(column), field)?),
            own => own,
        };
        self.features.extend((0..values.len()).map(|value| f64::from(u8::from(Some(value) == own))));
        Ok(())
    }

    /// Watches whether the first column merely counts rows.
    fn count(&mut self, column: usize, value: f64) {
        if column == 0 {
            let row = self.holders.rows as f64;
            let start = if row == 0.0 { Some(value) } else { self.counts };
            self.counts = start.filter(|start| (*start == 0.0 || *start == 1.0) && value == start + row);
        }
    }

    /// The table, who holds its rows, and what should be said of it.
    pub(super) fn finish(self, none: &str) -> Result<Found> {
        if self.holders.rows == 0 {
            return Err(Error::Format(none.into()));
        }
        let (labels, classes) = self.labels.settle();
        let mut notes = Vec::new();
        if self.counts.is_some() && self.holders.rows > 2 {
            let (name, option) = (self.layout.name(0), &self.layout.names[0]);
            notes.push(format!("{name} counts the rows: if it is an index, leave it out (--drop {option})"));
        }
        let table = Table::new(self.features, self.width, labels)?
            .with_classes(classes)
            .with_columns(self.layout.features())
            .with_indicators(self.layout.indicators());
        let holders = (!self.holders.names.is_empty()).then_some(self.holders);
        Ok(Found { table, holders, notes, sources: Vec::new() })
    }
}

/// The place of a value in a public list.
fn among(values: &[String], line: usize, name: &str, field: &str) -> Result<usize> {
    values.iter().position(|value| value == field).ok_or_else(|| {
        let known = show(&values.join(", "));
        Error::line(
            line,
            format!("{name} is `{}`: give one of {known}, or name all that there can be", show(field)),
        )
    })
}
