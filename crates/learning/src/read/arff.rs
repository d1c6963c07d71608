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
//! {0 8.3, 2 N}     sparse: places from 0; what is not named is 0, or the first value that is declared
//! ```
//!
//! Features are numeric, integer or real, or nominal: then zeros and a one for the values in the order of their declaration, which the file makes public. So
//! it does for classes of the label.

use std::io::Read;

use super::rows::{Answers, Layout, Role, Rows};
use super::source::{lines, plain, show};
use super::{Found, Options};
use crate::{Error, Result};

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

/// Reads ARFF, dense or sparse.
pub fn arff(reader: impl Read, options: &Options) -> Result<Found> {
    let text = plain(reader)?;
    let mut lines = lines(&text);
    let attributes = header(&mut lines)?;
    let names: Vec<String> = attributes.iter().map(|attribute| attribute.name.clone()).collect();
    let mut layout = Layout::new(Some(&names), attributes.len(), options)?;
    let mut answers = Answers::Any;
    for (attribute, role) in attributes.iter().zip(&mut layout.roles) {
        match (&attribute.kind, &*role) {
            (Kind::Numeric, Role::Label) => answers = Answers::Numbers,
            (Kind::Nominal(values), Role::Label) => answers = Answers::Declared(values.clone()),
            (Kind::Nominal(values), Role::Number) => *role = Role::Category(values.clone()),
            (Kind::Other(kind), Role::Number | Role::Label) => {
                let problem = format!("`{}` is {}", show(&attribute.name), show(kind));
                let advice = "features and labels are numeric or nominal";
                let remedy = format!("encode it or leave it out (--drop {})", show(&attribute.name));
                return Err(Error::line(attribute.line, format!("{problem}; {advice}; {remedy}")));
            }
            _ => {}
        }
    }
    let mut rows = Rows::new(layout, answers, options)?;
    for next in lines {
        let (line, text) = next?;
        let text = text.trim();
        if !text.is_empty() && !text.starts_with('%') {
            let fields = row(line, text, &attributes)?;
            rows.push(line, fields.iter().map(String::as_str))?;
        }
    }
    rows.finish("no rows follow `@data`; give at least one")
}

/// Reads up to `@data`.
fn header<'a>(lines: &mut impl Iterator<Item = Result<(usize, &'a str)>>) -> Result<Vec<Attribute>> {
    let mut attributes = Vec::new();
    for next in lines {
        let (line, text) = next?;
        let text = text.trim();
        let (word, rest) = text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
        match word.to_ascii_lowercase().as_str() {
            "@attribute" => attributes.push(attribute(line, rest.trim())?),
            "@data" if attributes.len() < 2 => {
                let problem = "there must be a label and at least one feature; declare them by `@attribute`";
                return Err(Error::line(line, problem));
            }
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

fn row(line: usize, text: &str, attributes: &[Attribute]) -> Result<Vec<String>> {
    if let Some(inner) = text.strip_prefix('{') {
        return sparse(line, inner, attributes);
    }
    let fields = fields(line, text)?;
    if fields.len() != attributes.len() {
        let problem = format!("{} values, where {} attributes are declared", fields.len(), attributes.len());
        return Err(Error::line(line, format!("{problem}; give one for each, separated by commas")));
    }
    Ok(fields)
}

/// A row of `index value` pairs up to a closing brace.
fn sparse(line: usize, inner: &str, attributes: &[Attribute]) -> Result<Vec<String>> {
    let open = || Error::line(line, "a `}` is missing");
    let default = |attribute: &Attribute| match &attribute.kind {
        Kind::Nominal(values) => values.first().cloned().unwrap_or_default(),
        _ => "0".to_owned(),
    };
    let mut row: Vec<String> = attributes.iter().map(default).collect();
    let (mut rest, mut least) = (inner.trim_start(), 0);
    while !rest.starts_with('}') {
        let end = rest.find(|c: char| c.is_ascii_whitespace()).ok_or_else(open)?;
        let index = rest[..end].parse().ok().filter(|index| (least..attributes.len()).contains(index));
        let Some(index) = index else {
            let problem =
                format!("`{}` is no place from {least} to {}", show(&rest[..end]), attributes.len() - 1);
            return Err(Error::line(line, format!("{problem}; places count from 0 and increase")));
        };
        rest = rest[end..].trim_start();
        (row[index], rest) = match rest.chars().next().ok_or_else(open)? {
            quote @ ('\'' | '"') => quoted(line, &rest[1..], quote)?,
            _ => {
                let end = rest.find([',', '}']).ok_or_else(open)?;
                (rest[..end].trim_end().to_owned(), &rest[end..])
            }
        };
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').map_or(rest, str::trim_start);
        least = index + 1;
    }
    Ok(row)
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
