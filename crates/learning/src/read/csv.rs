//! Fields between commas, semicolons or tabs: one column is the label, all others are numbers or categories.
//!
//! A row is a line: line breaks within quotes, which tables of numbers do not need, are refused, so every message has its line.
//!
//! Whether the first line is a header is told from what it must not depend on anybody's row: if all its features are words it is one, if all
//! are numbers it is a row, and anything between (some of them words; or just `0,1,2,...`, as numbered columns are called) is refused until it is said.

use std::io::Read;

use ::csv::{Position, ReaderBuilder, StringRecord};

use super::rows::{Layout, Role, Rows};
use super::source::{is_missing, not_text, plain, show};
use super::{Column, Found, Header, Options, Separator};
use crate::{Error, Result};

/// Reads comma-separated values. Fields may be quoted by `"` (doubled within quotes); empty lines are skipped.
pub fn csv(reader: impl Read, options: &Options) -> Result<Found> {
    let text = plain(reader)?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let separator = options.separator.of(text);
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator.byte()).from_reader(text);
    let mut body: Option<Body> = None;
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| not_text(line(text, error.position())))? {
        let line = line(text, record.position());
        let fields: Vec<&str> = record.iter().map(bare).collect();
        if fields.iter().all(|field| field.is_empty()) && fields.len() == 1 {
            continue;
        }
        if record.iter().any(|field| field.contains('\n')) {
            return Err(Error::line(
                line,
                "a closing \" is missing; a field ends in the line where it starts",
            ));
        }
        match &mut body {
            Some(body) => body.push(line, &fields, separator)?,
            None => body = Some(Body::start(line, &fields, separator, options)?),
        }
    }
    let body = body.ok_or_else(|| Error::Format("the file is empty; give a row in each line".into()))?;
    let mut found = body.rows.finish("no rows follow the header; give at least one")?;
    found.notes.splice(0..0, body.notes);
    Ok(found)
}

/// A field without blanks around it, and without quotes that had blanks before them.
fn bare(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(field)
}

/// The line on which a record starts: `csv` gives the position before the blank lines that it skips.
fn line(text: &[u8], position: Option<&Position>) -> usize {
    let Some(position) = position else { return 1 };
    let ahead = text.get(position.byte() as usize..).unwrap_or_default();
    let blank = ahead.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r');
    position.line() as usize + blank.filter(|&&byte| byte == b'\n').count()
}

impl Separator {
    /// What separates the fields of a text: itself, or the first kind that its first line has outside quotes.
    fn of(self, text: &[u8]) -> Self {
        if self != Self::Auto {
            return self;
        }
        let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
        let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
        // What is between quotes is every second piece.
        let outside = |separator: &Self| {
            first.split(|&byte| byte == b'"').step_by(2).any(|piece| piece.contains(&separator.byte()))
        };
        [Self::Tab, Self::Semicolon, Self::Comma].into_iter().find(outside).unwrap_or(Self::Comma)
    }

    fn byte(self) -> u8 {
        match self {
            Self::Comma | Self::Auto => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Comma | Self::Auto => "commas",
            Self::Semicolon => "semicolons",
            Self::Tab => "tabs",
        }
    }
}

/// The rows so far, and how many columns they have.
struct Body {
    width: usize,
    rows: Rows,
    notes: Vec<String>,
}

impl Body {
    /// Learns from the first line what the columns are, and takes it for a header or a row.
    fn start(line: usize, fields: &[&str], separator: Separator, options: &Options) -> Result<Self> {
        if fields.len() < 2 {
            let words = separator.words();
            let problem = format!("there is one field, if fields are separated by {words}");
            let advice = "there must be a label and at least one feature in each row, separated by commas, semicolons or tabs";
            return Err(Error::line(line, format!("{problem}; {advice}")));
        }
        let named = is_header(line, fields, options)?;
        let names = named.then(|| fields.iter().map(ToString::to_string).collect::<Vec<_>>());
        let mut layout = Layout::new(names.as_deref(), fields.len(), options)?;
        let mut notes = Vec::new();
        if named {
            notes.extend(leave_out_index(fields, &mut layout));
        }
        let mut body = Self { width: fields.len(), rows: Rows::new(layout, options)?, notes };
        if !named {
            body.push(line, fields, separator)?;
        }
        Ok(body)
    }

    fn push(&mut self, line: usize, fields: &[&str], separator: Separator) -> Result<()> {
        if fields.len() != self.width {
            let (count, words) = (fields.len(), separator.words());
            let advice = "give every row the same, and quote fields that contain the separator";
            let problem =
                format!("{count} fields (separated by {words}), where the first line has {}", self.width);
            return Err(Error::line(line, format!("{problem}; {advice}")));
        }
        self.rows.push(line, fields.iter().copied())
    }
}

/// A column whose name is empty, as pandas writes the numbers of rows, is left out. The header alone says so.
fn leave_out_index(names: &[&str], layout: &mut Layout) -> Option<String> {
    let unnamed = names[0].is_empty() || names[0].starts_with("Unnamed: ");
    (unnamed && layout.roles[0] == Role::Number).then(|| {
        layout.roles[0] = Role::Left;
        "the first column has no name: it is taken for an index and left out (pandas: `to_csv(index=False)`)"
            .into()
    })
}

/// Whether the first line holds names.
fn is_header(line: usize, fields: &[&str], options: &Options) -> Result<bool> {
    match options.header {
        Header::Yes => return Ok(true),
        Header::No => return Ok(false),
        Header::Auto if options.names_a_column() => return Ok(true),
        Header::Auto => {}
    }
    let unsure = |what: String| {
        let advice = "say whether the first line is a header (--header yes, or --header no)";
        Err(Error::line(line, format!("{what}; {advice}")))
    };
    let numbered = fields.iter().enumerate().all(|(place, field)| *field == place.to_string());
    if numbered && fields.len() > 2 {
        return unsure(format!("the fields are 0 to {}: numbered columns, or a row", fields.len() - 1));
    }
    let layout = Layout::new(None, fields.len(), options)?;
    let features = fields.iter().zip(&layout.roles).filter(|(_, role)| **role == Role::Number);
    let filled: Vec<&str> = features.map(|(field, _)| *field).filter(|field| !is_missing(field)).collect();
    let word = |field: &&&str| field.parse::<f64>().is_err();
    match (filled.iter().find(word), filled.iter().find(|field| !word(field))) {
        (Some(word), Some(number)) => {
            unsure(format!("`{}` is no number, but `{}` is one", show(word), show(number)))
        }
        (word, _) => Ok(word.is_some()),
    }
}

impl Options {
    /// Whether a column is given by its name, so that there must be a header.
    fn names_a_column(&self) -> bool {
        let others = self.peer.iter().chain(&self.left);
        let categories = self.categories.keys().map(|column| Column::parse(column));
        let mut all = others.cloned().chain([self.label.clone()]).chain(categories);
        all.any(|column| matches!(column, Column::Name(_)))
    }
}
