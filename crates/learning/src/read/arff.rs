//! ARFF, the format of Weka and OpenML: declared attributes, then comma-separated rows.
//!
//! ```text
//! % a comment
//! @relation houses
//! @attribute income numeric
//! @attribute 'age of house' real
//! @attribute class {P, N}
//! @data
//! 8.3,41,P
//! ```
//!
//! Features are numeric, integer or real. The label may be nominal: classes in the order of their declaration.

use std::io::Read;

use super::source::{Lines, number, show};
use super::{Column, place};
use crate::{Error, Result, Table};

/// What an attribute may be.
enum Kind {
    Numeric,
    Nominal(Vec<String>),
    /// Text or dates, by the name of the type.
    Other(String),
}

/// A declared attribute.
struct Attribute {
    name: String,
    kind: Kind,
    line: usize,
}

/// Reads ARFF; `label` names or counts an attribute.
pub fn arff(reader: impl Read, label: &Column) -> Result<Table> {
    let mut lines = Lines::new(reader)?;
    let attributes = header(&mut lines)?;
    let names: Vec<String> = attributes.iter().map(|attribute| attribute.name.clone()).collect();
    let label = place(label, Some(&names), attributes.len())?;
    check(&attributes, label)?;
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    while let Some((line, text)) = lines.next()? {
        let text = text.trim();
        if text.is_empty() || text.starts_with('%') {
            continue;
        }
        let fields = row(line, text, attributes.len())?;
        for (column, (field, attribute)) in fields.iter().zip(&attributes).enumerate() {
            let values = if column == label { &mut labels } else { &mut features };
            values.push(value(line, field, attribute)?);
        }
    }
    if labels.is_empty() {
        return Err(Error::Format("no rows follow `@data`; give at least one".into()));
    }
    let classes = match &attributes[label].kind {
        Kind::Nominal(values) => values.clone(),
        _ => Vec::new(),
    };
    let mut columns = names;
    columns.remove(label);
    Ok(Table::new(features, attributes.len() - 1, labels)?.with_classes(classes, true).with_columns(columns))
}

/// Reads up to `@data`.
fn header(lines: &mut Lines<'_>) -> Result<Vec<Attribute>> {
    let mut attributes = Vec::new();
    while let Some((line, text)) = lines.next()? {
        let text = text.trim();
        let (word, rest) = text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
        match word.to_ascii_lowercase().as_str() {
            "@attribute" => attributes.push(attribute(line, rest.trim())?),
            "@data" => return Ok(attributes),
            "" | "@relation" => {}
            _ if text.starts_with('%') => {}
            _ => {
                let problem = format!("`{}` is not `@relation`, `@attribute` or `@data`", show(text));
                return Err(Error::line(line, format!("{problem}; remove it or make it a comment with `%`")));
            }
        }
    }
    Err(Error::Format(
        "there is no `@data`; an ARFF file declares attributes, then has `@data` and rows".into(),
    ))
}

fn attribute(line: usize, text: &str) -> Result<Attribute> {
    let missing = || Error::line(line, "an attribute needs a name and a type: `@attribute NAME numeric`");
    let (name, rest) = match text.chars().next().ok_or_else(missing)? {
        quote @ ('\'' | '"') => quoted(line, &text[1..], quote)?,
        _ => {
            let end = text.find(|c: char| c.is_ascii_whitespace() || c == '{').ok_or_else(missing)?;
            (text[..end].to_string(), &text[end..])
        }
    };
    let rest = rest.trim();
    let kind = match rest.strip_prefix('{') {
        Some(values) => {
            let closed = values.rsplit_once('}').ok_or_else(|| Error::line(line, "a `}` is missing"))?;
            Kind::Nominal(fields(line, closed.0)?)
        }
        None => match rest.split_ascii_whitespace().next().ok_or_else(missing)? {
            word if ["numeric", "real", "integer"].contains(&word.to_ascii_lowercase().as_str()) => {
                Kind::Numeric
            }
            word => Kind::Other(word.to_string()),
        },
    };
    Ok(Attribute { name, kind, line })
}

/// Refuses features that are no numbers and labels that are no classes.
fn check(attributes: &[Attribute], label: usize) -> Result<()> {
    for (column, attribute) in attributes.iter().enumerate() {
        let kind = match &attribute.kind {
            Kind::Numeric => continue,
            Kind::Nominal(_) if column == label => continue,
            Kind::Nominal(_) => "nominal",
            Kind::Other(kind) => kind,
        };
        let problem = format!("`{}` is {}", show(&attribute.name), show(kind));
        let advice = "features must be numeric and the label numeric or nominal; encode it or leave it out";
        return Err(Error::line(attribute.line, format!("{problem}; {advice}")));
    }
    Ok(())
}

fn row(line: usize, text: &str, width: usize) -> Result<Vec<String>> {
    if text.starts_with('{') {
        return Err(Error::line(line, "sparse rows `{index value, ...}` are not read; write all values"));
    }
    let fields = fields(line, text)?;
    if fields.len() != width {
        let problem = format!("{} values, where {width} attributes are declared", fields.len());
        return Err(Error::line(line, format!("{problem}; give one for each")));
    }
    Ok(fields)
}

fn value(line: usize, field: &str, attribute: &Attribute) -> Result<f64> {
    let name = format!("`{}`", attribute.name);
    match &attribute.kind {
        Kind::Nominal(values) => match values.iter().position(|value| value == field) {
            Some(class) => Ok(class as f64),
            None => {
                let declared = show(&values.join(", "));
                Err(Error::line(line, format!("{name} is `{}`: give one of {declared}", show(field))))
            }
        },
        _ => number(line, &name, field),
    }
}

/// The values between commas, without blanks and quotes around them.
fn fields(line: usize, text: &str) -> Result<Vec<String>> {
    let (mut fields, mut rest) = (Vec::new(), text);
    loop {
        rest = rest.trim_start();
        let field;
        (field, rest) = match rest.chars().next() {
            Some(quote @ ('\'' | '"')) => quoted(line, &rest[1..], quote)?,
            _ => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].trim_end().to_string(), &rest[end..])
            }
        };
        fields.push(field);
        rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None if rest.is_empty() => return Ok(fields),
            None => {
                let problem = format!("`{}` follows a quoted value; put a comma between values", show(rest));
                return Err(Error::line(line, problem));
            }
        }
    }
}

/// What stands before the closing quote, and what follows it. A backslash takes the next character as it is.
fn quoted(line: usize, text: &str, quote: char) -> Result<(String, &str)> {
    let (mut value, mut escaped) = (String::new(), false);
    for (at, c) in text.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            c if c == quote && !escaped => return Ok((value, &text[at + 1..])),
            c => {
                value.push(c);
                escaped = false;
            }
        }
    }
    Err(Error::line(line, format!("a closing {quote} is missing")))
}
