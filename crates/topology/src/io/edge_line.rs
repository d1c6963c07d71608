//! What a line of an edge list says.

use super::assemble::integer;
use super::show;
use crate::graph::MOST_NODES;
use crate::{Error, Result};

/// Something a line says.
pub(super) enum Item<'a> {
    /// `# nodes: N`
    Count(usize),
    /// `# node: NAME`
    Node(&'a [u8]),
    /// Two names.
    Edge(Edge<'a>),
}

/// Two names and what follows them.
pub(super) struct Edge<'a> {
    pub(super) a: &'a [u8],
    pub(super) b: &'a [u8],
    /// The third column.
    pub(super) weight: Option<&'a [u8]>,
    /// Whether there is more in `{...}`.
    pub(super) data: bool,
    /// What separates the columns, in words.
    pub(super) separator: &'static str,
}

/// What the lines say, with line numbers from 1; a header and lines that say nothing are left out.
pub(super) fn items(text: &[u8], header: Option<usize>) -> impl Iterator<Item = (usize, Result<Item<'_>>)> {
    let lines =
        text.split(|&byte| byte == b'\n').enumerate().filter(move |(index, _)| Some(index + 1) != header);
    lines.filter_map(|(index, line)| Some((index + 1, item(index + 1, line.trim_ascii()).transpose()?)))
}

fn item(number: usize, line: &[u8]) -> Result<Option<Item<'_>>> {
    match line.iter().position(|&byte| byte == b'#' || byte == b'{') {
        _ if line.starts_with(b"%") => Ok(None),
        None if line.is_empty() => Ok(None),
        None => ends(number, line, false).map(Some),
        Some(0) if line[0] == b'#' => comment(number, line[1..].trim_ascii()),
        Some(at) if line[at] == b'#' => ends(number, line[..at].trim_ascii(), false).map(Some),
        Some(at) => {
            let (names, data) = before_data(number, line, at)?;
            ends(number, names, data).map(Some)
        }
    }
}

fn comment(number: usize, text: &[u8]) -> Result<Option<Item<'_>>> {
    if let Some(name) = text.strip_prefix(b"node:") {
        return Ok(Some(Item::Node(name.trim_ascii())));
    }
    // Other programs' headers (`# Nodes: 5 Edges: 6`) are plain comments.
    let Some(count) = text.strip_prefix(b"nodes:").and_then(|count| integer(count.trim_ascii())) else {
        return Ok(None);
    };
    match usize::try_from(count) {
        Ok(count) if (1..=MOST_NODES).contains(&count) => Ok(Some(Item::Count(count))),
        _ => Err(Error::line(number, format!("`# nodes: {count}` must be from 1 to {MOST_NODES}"))),
    }
}

/// The part of a line before a closed `{...}` that starts at `at`, and whether there is something in it.
fn before_data(number: usize, line: &[u8], at: usize) -> Result<(&[u8], bool)> {
    let (names, data) = line.split_at(at);
    let after = data.iter().rposition(|&byte| byte == b'}').map(|end| data[end + 1..].trim_ascii());
    let closed = after.is_some_and(|after| after.is_empty() || after[0] == b'#');
    let separate =
        names.last().is_some_and(|&byte| byte.is_ascii_whitespace() || byte == b',' || byte == b';');
    if !(closed && separate) {
        let problem = format!("`{}` is not `{{...}}` data after two names; remove it", show(data));
        return Err(Error::line(number, problem));
    }
    let names = names.trim_ascii();
    let names = names.strip_suffix(b",").or_else(|| names.strip_suffix(b";")).unwrap_or(names);
    Ok((names, !data.starts_with(b"{}")))
}

/// The two names on a line.
fn ends(number: usize, line: &[u8], data: bool) -> Result<Item<'_>> {
    let separators = [(b'\t', "tabs"), (b';', "semicolons"), (b',', "commas"), (b' ', "blanks")];
    let found = separators.into_iter().find(|(byte, _)| line.contains(byte));
    let (separator, words) = found.unwrap_or((b' ', "blanks"));
    // Runs of blanks separate once, but between two commas a name is missing.
    let strict = separator == b',' || separator == b';';
    let mut names = line
        .split(|&byte| byte == separator || (separator == b' ' && byte.is_ascii_whitespace()))
        .map(|name| unquoted(name.trim_ascii()))
        .filter(|name| strict || !name.is_empty());
    match (names.next(), names.next(), names.next(), names.next()) {
        (Some(a), Some(b), None, None) if a == b => {
            Err(Error::line(number, format!("`{}` is joined to itself; remove self-loops", show(a))))
        }
        (Some(a), Some(b), weight, None) if !a.is_empty() && !b.is_empty() && a != b => {
            Ok(Item::Edge(Edge { a, b, weight, data, separator: words }))
        }
        (Some(a), Some(b), Some(_), Some(extra)) if !a.is_empty() && !b.is_empty() => {
            let advice = "give two names and a weight at most, and separate names that contain spaces by a tab (matrices: docs/how-to/own-graph.md)";
            let problem = format!("`{}` is a fourth column (separated by {words}); {advice}", show(extra));
            Err(Error::line(number, problem))
        }
        _ => {
            let advice = "(a node without edges is written `# node: NAME`)";
            let problem =
                format!("`{}` is not an edge (separated by {words}); give two names {advice}", show(line));
            Err(Error::line(number, problem))
        }
    }
}

/// A name without the quotes around it.
fn unquoted(name: &[u8]) -> &[u8] {
    match name {
        [b'"', inner @ .., b'"'] if !inner.is_empty() && !inner.contains(&b'"') => inner,
        _ => name,
    }
}
