//! Fields between commas, semicolons or tabs: one column is the label, all others are numbers.
//!
//! A row is a line: line breaks within quotes, which tables of numbers do not need, are refused, so every message has its line.

use std::borrow::Cow;
use std::io::Read;

use super::labels::Labels;
use super::source::{Lines, number, show};
use super::{Column, Header, Options, Separator, place};
use crate::{Error, Result, Table};

/// Reads comma-separated values. Fields may be quoted by `"` (doubled within quotes); empty lines are skipped.
pub fn csv(reader: impl Read, options: &Options) -> Result<Table> {
    let mut lines = Lines::new(reader)?;
    let mut body: Option<Body> = None;
    while let Some((line, text)) = lines.next()? {
        match &mut body {
            _ if text.trim().is_empty() => {}
            Some(body) => body.push(line, &fields(line, text, body.separator)?)?,
            None => body = Some(Body::start(line, text, options)?),
        }
    }
    let body = body.ok_or_else(|| Error::Format("the file is empty; give a row in each line".into()))?;
    let (labels, classes) = body.labels.settle();
    if labels.is_empty() {
        return Err(Error::Format("no rows follow the header; give at least one".into()));
    }
    let columns = columns(body.names, body.width, body.label);
    Ok(Table::new(body.features, body.width - 1, labels)?.with_classes(classes, false).with_columns(columns))
}

/// What the features are called: by the header, or by their places in the file.
fn columns(names: Option<Vec<String>>, width: usize, label: usize) -> Vec<String> {
    let mut columns = names.unwrap_or_else(|| (0..width).map(|column| column.to_string()).collect());
    columns.remove(label);
    columns
}

impl Separator {
    fn of(self, line: &str) -> char {
        match self {
            Self::Comma => ',',
            Self::Semicolon => ';',
            Self::Tab => '\t',
            Self::Auto => {
                // What is between quotes is every second piece.
                let outside =
                    |separator: &char| line.split('"').step_by(2).any(|piece| piece.contains(*separator));
                ['\t', ';', ','].into_iter().find(outside).unwrap_or(',')
            }
        }
    }
}

/// The fields of a line, without blanks and quotes around them.
fn fields(line: usize, text: &str, separator: char) -> Result<Vec<Cow<'_, str>>> {
    if !text.contains('"') {
        return Ok(text.split(separator).map(|field| Cow::Borrowed(field.trim())).collect());
    }
    let (mut fields, mut rest) = (Vec::new(), Some(text));
    while let Some(text) = rest {
        let field;
        (field, rest) = first_field(line, text, separator)?;
        fields.push(field);
    }
    Ok(fields)
}

/// The first field, and what follows its separator, if there is one.
fn first_field(line: usize, text: &str, separator: char) -> Result<(Cow<'_, str>, Option<&str>)> {
    let blank = |c: char| c.is_whitespace() && c != separator;
    let Some(quoted) = text.trim_start_matches(blank).strip_prefix('"') else {
        let (field, rest) =
            text.split_once(separator).map_or((text, None), |(field, rest)| (field, Some(rest)));
        return Ok((Cow::Borrowed(field.trim()), rest));
    };
    let (mut field, mut rest) = (String::new(), quoted);
    loop {
        let Some((before, after)) = rest.split_once('"') else {
            return Err(Error::line(
                line,
                "a closing \" is missing; a field ends in the line where it starts",
            ));
        };
        field.push_str(before);
        match after.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => {
                rest = after.trim_start_matches(blank);
                break;
            }
        }
    }
    match rest.strip_prefix(separator) {
        Some(next) => Ok((field.into(), Some(next))),
        None if rest.is_empty() => Ok((field.into(), None)),
        None => {
            let problem = format!("`{}` follows a quoted field; put a separator between fields", show(rest));
            Err(Error::line(line, problem))
        }
    }
}

/// The rows so far.
struct Body {
    separator: char,
    /// Columns, the label's included.
    width: usize,
    label: usize,
    names: Option<Vec<String>>,
    features: Vec<f64>,
    labels: Labels,
}

impl Body {
    /// Learns from the first line what separates fields and where the label is, and takes it for a header or a row.
    fn start(line: usize, text: &str, options: &Options) -> Result<Self> {
        let separator = options.separator.of(text);
        let fields = fields(line, text, separator)?;
        let named = match (options.header, &options.label) {
            (Header::Yes, _) | (Header::Auto, Column::Name(_)) => true,
            (Header::No, _) => false,
            (Header::Auto, label) => {
                let label = place(label, None, fields.len())?;
                let mut features = fields.iter().enumerate().filter(|&(column, _)| column != label);
                features.any(|(_, field)| field.parse::<f64>().is_err())
            }
        };
        let names = named.then(|| fields.iter().map(|field| field.to_string()).collect::<Vec<_>>());
        let (width, label) = (fields.len(), place(&options.label, names.as_deref(), fields.len())?);
        let (features, labels) = (Vec::new(), Labels::default());
        let mut body = Self { separator, width, label, names, features, labels };
        if !named {
            body.push(line, &fields)?;
        }
        Ok(body)
    }

    fn push(&mut self, line: usize, fields: &[Cow<'_, str>]) -> Result<()> {
        if fields.len() != self.width {
            let advice = "give every row the same, and quote fields that contain the separator";
            let problem =
                format!("{} fields, where the first line has {}; {advice}", fields.len(), self.width);
            return Err(Error::line(line, problem));
        }
        for (column, field) in fields.iter().enumerate() {
            if column == self.label {
                self.labels.push(line, field)?;
            } else {
                self.features.push(self.number(line, column, field)?);
            }
        }
        Ok(())
    }

    fn number(&self, line: usize, column: usize, field: &str) -> Result<f64> {
        match field.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            // The slow path has time for names.
            _ => match &self.names {
                Some(names) => number(line, &format!("`{}`", names[column]), field),
                None => number(line, &format!("column {column}"), field),
            },
        }
    }
}
