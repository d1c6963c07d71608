//! Edge lists: two node names per line.
//!
//! ```text
//! # nodes: 5            the number of nodes, where some have no edges
//! 0 1                   whitespace, a tab or a comma between the names
//! 1 2 {'weight': 3}     networkx's data dictionaries are skipped
//! ```
//!
//! If every name is a non-negative integer, nodes are numbered in increasing order of it. Otherwise they are numbered
//! by first appearance. In both cases names that are not just `0..n` are kept as labels. A line with a tab is split at
//! tabs only, and one with a comma at commas only, so names may contain spaces there. Comments start with `#`, anywhere
//! in a line; two of them are understood: `# nodes: N`, and `# node: NAME`, which adds a node by name, so that isolated
//! named nodes and the order of names survive being written and read.
//!
//! Integers take a path without any allocation per line; other names restart on a slower one.

use std::io::{self, Write};

use super::assemble::{Listing, Names, Repeat, assemble, integer};
use crate::{Error, Graph, Result};

/// More nodes than this are not believed of a comment, whose few bytes would otherwise claim gigabytes.
const MOST_DECLARED: usize = 100_000_000;

/// Something a line says.
enum Item<'a> {
    /// `# nodes: N`
    Count(usize),
    /// `# node: NAME`
    Node(&'a [u8]),
    /// Two names.
    Edge(&'a [u8], &'a [u8]),
}

/// Reads an edge list.
pub(super) fn read(text: &[u8], listing: Listing) -> Result<Graph> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    match read_integers(text, listing)? {
        Some(graph) => Ok(graph),
        None => read_names(text, listing),
    }
}

/// What the lines say, with line numbers from 1; lines that say nothing are left out.
fn items(text: &[u8]) -> impl Iterator<Item = (usize, Result<Item<'_>>)> {
    let lines = text.split(|&byte| byte == b'\n').enumerate();
    lines.filter_map(|(index, line)| Some((index + 1, item(index + 1, line.trim_ascii()).transpose()?)))
}

fn item(number: usize, line: &[u8]) -> Result<Option<Item<'_>>> {
    match line.iter().position(|&byte| byte == b'#' || byte == b'{') {
        None if line.is_empty() => Ok(None),
        None => ends(number, line).map(Some),
        Some(0) if line[0] == b'#' => comment(number, line[1..].trim_ascii()),
        Some(at) if line[at] == b'#' => ends(number, line[..at].trim_ascii()).map(Some),
        Some(at) => ends(number, before_data(number, line, at)?).map(Some),
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
        Ok(count) if (1..=MOST_DECLARED).contains(&count) => Ok(Some(Item::Count(count))),
        _ => Err(Error::line(number, format!("`# nodes: {count}` must be from 1 to {MOST_DECLARED}"))),
    }
}

/// The part of a line before a closed `{...}` that starts at `at`.
fn before_data(number: usize, line: &[u8], at: usize) -> Result<&[u8]> {
    let (names, data) = line.split_at(at);
    let after = data.iter().rposition(|&byte| byte == b'}').map(|end| data[end + 1..].trim_ascii());
    let closed = after.is_some_and(|after| after.is_empty() || after[0] == b'#');
    let separate = names.last().is_some_and(|&byte| byte.is_ascii_whitespace() || byte == b',');
    if !(closed && separate) {
        let problem = format!("`{}` is not `{{...}}` data after two names; remove it", show(data));
        return Err(Error::line(number, problem));
    }
    let names = names.trim_ascii();
    Ok(names.strip_suffix(b",").unwrap_or(names))
}

/// The two names on a line.
fn ends(number: usize, line: &[u8]) -> Result<Item<'_>> {
    let comma = !line.contains(&b'\t') && line.contains(&b',');
    let separates: fn(&u8) -> bool = match (comma, line.contains(&b'\t')) {
        (true, _) => |&byte| byte == b',',
        (_, true) => |&byte| byte == b'\t',
        _ => u8::is_ascii_whitespace,
    };
    // Runs of blanks separate once, but between two commas a name is missing.
    let mut names = line.split(separates).map(<[u8]>::trim_ascii).filter(|name| comma || !name.is_empty());
    match (names.next(), names.next(), names.next()) {
        (Some(a), Some(b), None) if a == b => {
            Err(Error::line(number, format!("`{}` is joined to itself; remove self-loops", show(a))))
        }
        (Some(a), Some(b), None) if !a.is_empty() && !b.is_empty() => Ok(Item::Edge(a, b)),
        (Some(_), Some(_), Some(extra)) => {
            let advice = "remove weights and other columns, and separate names that contain spaces by a tab";
            Err(Error::line(number, format!("`{}` follows the two names of an edge; {advice}", show(extra))))
        }
        _ => {
            let advice = "(a node without edges is written `# node: NAME`)";
            Err(Error::line(number, format!("`{}` is not an edge; give two names {advice}", show(line))))
        }
    }
}

/// Text for a message: short, whatever the file holds.
fn show(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.chars().count() > 40 { text.chars().take(40).chain("...".chars()).collect() } else { text.into() }
}

/// Reads a file in which every name is an integer; none if there are others.
fn read_integers(text: &[u8], listing: Listing) -> Result<Option<Graph>> {
    let mut ids = Vec::new();
    let mut count = None;
    for (number, item) in items(text) {
        match item? {
            Item::Count(nodes) => count = Some((number, nodes)),
            Item::Node(_) => return Ok(None),
            Item::Edge(a, b) => match (integer(a), integer(b)) {
                (Some(a), Some(b)) => ids.push((a, b)),
                _ => return Ok(None),
            },
        }
    }
    let distinct = Distinct::new(&ids);
    if let Some((_, nodes)) = count.filter(|&(_, nodes)| distinct.largest.is_none_or(|id| id < nodes as u64))
    {
        let edges: Vec<_> = ids.iter().map(|&(a, b)| (a as u32, b as u32)).collect();
        return assemble(nodes, &edges, listing, |repeat| repeated(text, &repeat)).map(Some);
    }
    check_count(count, distinct.ids.len())?;
    let edges: Vec<_> = ids.iter().map(|&(a, b)| (distinct.rank(a), distinct.rank(b))).collect();
    let graph = assemble(distinct.ids.len(), &edges, listing, |repeat| repeated(text, &repeat))?;
    if distinct.largest == Some(distinct.ids.len() as u64 - 1) {
        return Ok(Some(graph));
    }
    graph.with_labels(distinct.ids.iter().map(u64::to_string).collect()).map(Some)
}

/// The integers in use, in increasing order, and how to find the rank of one.
struct Distinct {
    ids: Vec<u64>,
    largest: Option<u64>,
    /// Rank by integer, where the integers are dense enough for a table.
    table: Option<Vec<u32>>,
}

impl Distinct {
    fn new(edges: &[(u64, u64)]) -> Self {
        let ends = || edges.iter().flat_map(|&(a, b)| [a, b]);
        let largest = ends().max();
        let size = largest.map_or(0, |id| id.saturating_add(1));
        if size > 8 * edges.len() as u64 + 1000 {
            let mut ids: Vec<u64> = ends().collect();
            ids.sort_unstable();
            ids.dedup();
            return Self { ids, largest, table: None };
        }
        let mut table = vec![0u32; size as usize];
        ends().for_each(|id| table[id as usize] = 1);
        let mut ids = Vec::new();
        for (id, rank) in table.iter_mut().enumerate().filter(|(_, used)| **used == 1) {
            *rank = ids.len() as u32;
            ids.push(id as u64);
        }
        Self { ids, largest, table: Some(table) }
    }

    fn rank(&self, id: u64) -> u32 {
        match &self.table {
            Some(table) => table[id as usize],
            None => self.ids.partition_point(|&other| other < id) as u32,
        }
    }
}

/// Reads a file with any names.
fn read_names(text: &[u8], listing: Listing) -> Result<Graph> {
    let (mut names, mut edges, mut count) = (Names::default(), Vec::new(), None);
    for (number, item) in items(text) {
        match item? {
            Item::Count(nodes) => count = Some((number, nodes)),
            Item::Node(name) => {
                let name = utf8(number, name)?;
                let added = if name.is_empty() { None } else { names.add(name) };
                added.ok_or_else(|| Error::line(number, format!("`{name}` must be a new name")))?;
            }
            Item::Edge(a, b) => {
                let mut node = |name| utf8(number, name).map(|name| numbered(&mut names, name));
                edges.push((node(a)?, node(b)?));
            }
        }
    }
    check_count(count, names.len())?;
    let (nodes, numbering) = (names.len(), names.settle());
    let graph = assemble(nodes, &numbering.edges(&edges), listing, |repeat| repeated(text, &repeat))?;
    numbering.dress(graph, Vec::new())
}

fn numbered(names: &mut Names, name: &str) -> u32 {
    let known = names.get(name).or_else(|| names.add(name));
    known.unwrap_or_default()
}

fn utf8(number: usize, name: &[u8]) -> Result<&str> {
    std::str::from_utf8(name).map_err(|_| Error::line(number, format!("`{}` is not UTF-8 text", show(name))))
}

/// Refuses files without nodes and files whose comment counts other nodes than there are.
fn check_count(count: Option<(usize, usize)>, found: usize) -> Result<()> {
    match count {
        Some((line, nodes)) if nodes != found => {
            let problem = format!(
                "`# nodes: {nodes}` does not fit: {found} names are used, not all of them below {nodes}"
            );
            Err(Error::line(line, problem))
        }
        _ if found == 0 => Err(Error::Format("no edges found; give one per line, as two names".into())),
        _ => Ok(()),
    }
}

/// Says where an edge is repeated: each edge item is one line, so the lines are found by counting again.
fn repeated(text: &[u8], repeat: &Repeat) -> Error {
    let lines = items(text).filter(|(_, item)| matches!(item, Ok(Item::Edge(..))));
    let mut lines = lines.map(|(number, item)| match item {
        Ok(Item::Edge(a, b)) => (number, format!("`{} {}`", show(a), show(b))),
        _ => (number, String::new()),
    });
    let (first, _) = lines.nth(repeat.first).unwrap_or_default();
    let (second, edge) = lines.nth(repeat.second - repeat.first - 1).unwrap_or_default();
    Error::line(second, format!("{edge} repeats the edge of line {first}; list each edge once"))
}

/// Writes an edge list with a `# nodes:` header.
pub(super) fn write(graph: &Graph, separator: Option<char>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# nodes: {}", graph.nodes())?;
    let labels = graph.labels().unwrap_or_default();
    let spaced = labels.iter().any(|label| label.contains([' ', ',']));
    let separator = separator.unwrap_or(if spaced { '\t' } else { ' ' });
    if !order_is_implied(graph) {
        labels.iter().try_for_each(|label| writeln!(out, "# node: {label}"))?;
    }
    match graph.labels() {
        None => graph.edges().try_for_each(|(u, v)| writeln!(out, "{u}{separator}{v}")),
        Some(names) => {
            graph.edges().try_for_each(|(u, v)| writeln!(out, "{}{separator}{}", names[u], names[v]))
        }
    }
}

/// Whether a reader recovers the labels and their order from the edges alone: increasing integers, all in use.
fn order_is_implied(graph: &Graph) -> bool {
    let ids: Option<Vec<u64>> =
        graph.labels().unwrap_or_default().iter().map(|label| integer(label.as_bytes())).collect();
    let increasing = ids.is_some_and(|ids| ids.windows(2).all(|pair| pair[0] < pair[1]));
    increasing && (0..graph.nodes()).all(|node| graph.degree(node) > 0)
}

/// Why a label cannot be written into an edge list, if it cannot.
pub(super) fn unwritable(label: &str) -> Option<&'static str> {
    if label.is_empty() || label.trim_ascii() != label {
        return Some("names in edge lists must not be empty or start or end with a space");
    }
    if label.contains(['#', '{', '}']) || label.contains(|c: char| c.is_ascii_control()) {
        return Some("names in edge lists must not contain tabs, line ends, `#` or braces");
    }
    None
}

#[cfg(test)]
#[path = "edge_list_tests.rs"]
mod tests;
