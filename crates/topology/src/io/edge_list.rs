//! Edge lists: two node names per line, and perhaps a weight.
//!
//! ```text
//! # nodes: 5            the number of nodes, where some have no edges
//! source target         a header is noticed
//! 0 1                   blanks, a tab, a semicolon or a comma between the names
//! 1 2 {'weight': 3}     networkx's data dictionaries are left out
//! ```
//!
//! If every name is a non-negative integer, nodes are numbered in increasing order of it. Otherwise they are numbered
//! by first appearance. In both cases names that are not just `0..n` are kept as labels. A line with a tab is split at
//! tabs only, one with a semicolon at semicolons only, and one with a comma at commas only, so names may contain spaces
//! there. Comments start with `#`, anywhere in a line, or with `%` at its start; two of them are understood: `# nodes: N`, and
//! `# node: NAME`, which adds a node by name, so that isolated named nodes and the order of names survive being written and
//! read.
//!
//! **Weights** in a third column are read, must be positive numbers in every line, and are left out of the graph, which says so in a note: an edge is
//! there or not, and how much neighbours give each other is decided apart, by weights that keep averages.
//!
//! Integers take a path without any allocation per line; other names restart on a slower one.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::assemble::{Listing, Names, Repeat, assemble, integer};
use super::edge_line::{Edge, Item, items};
use super::weighted::Listed;
use super::{Noted, show, weights_left_out};
use crate::{Error, Graph, Result};

/// Reads an edge list.
pub(super) fn read(text: &[u8], listing: Listing) -> Result<Noted> {
    let (file, mut notes) = File::of(text, listing);
    let columns = file.columns()?;
    let graph = file.graph()?;
    notes.extend(columns.notes());
    notes.extend(directions(columns.edges, graph.edge_count()));
    Ok((graph, notes))
}

/// The same with the weight of every line, which is 1 where there is none; pairs may be listed in both directions.
pub(super) fn weighted(text: &[u8]) -> Result<(Graph, Vec<Listed>, Vec<String>)> {
    let (file, notes) = File::of(text, Listing::BothWays);
    if file.columns()?.data {
        let problem = "`{...}` data of the edges are not read; give weights in a third column, or none";
        return Err(Error::Format(problem.into()));
    }
    let graph = file.graph()?;
    // Names were settled with the graph: labels, or numbers that mean themselves.
    let labels = graph.labels().unwrap_or_default().iter();
    let places: BTreeMap<&[u8], u32> = labels.map(String::as_bytes).zip(0..).collect();
    let place = |name: &[u8]| match graph.labels() {
        Some(_) => places.get(name).copied().unwrap_or_default(),
        None => integer(name).unwrap_or_default() as u32,
    };
    let mut listed = Vec::new();
    for (line, item) in file.items() {
        let Item::Edge(edge) = item? else { continue };
        let weight = edge.weight.map_or(Ok(1.0), |weight| self::weight(line, weight, edge.separator))?;
        listed.push((place(edge.a), place(edge.b), weight, line));
    }
    Ok((graph, listed, notes))
}

/// Whether the comments are those of SNAP's files, which list edges in both directions.
fn is_snap(text: &[u8]) -> bool {
    let comments =
        text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).take_while(|line| line.starts_with(b"#"));
    let has = |line: &[u8], word: &[u8]| line.windows(word.len()).any(|part| part == word);
    comments.into_iter().any(|line| has(line, b"Nodes:") && has(line, b"Edges:") || has(line, b"FromNodeId"))
}

/// What to say where some edges are listed in both directions and others are not: perhaps they were meant so.
fn directions(listed: usize, edges: usize) -> Option<String> {
    let both = listed - edges;
    let one = edges - both;
    (both > 0 && one > 0).then(|| {
        format!("{both} edges are listed in both directions and {one} in one only: all of them are taken to go both ways")
    })
}

/// Pairs of words over the columns of edge lists.
const HEADERS: [(&str, &str); 12] = [
    ("source", "target"),
    ("source", "destination"),
    ("from", "to"),
    ("src", "dst"),
    ("fromnodeid", "tonodeid"),
    ("from_node", "to_node"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("start", "end"),
    ("peer1", "peer2"),
];

/// Whether the two names are words over the columns of edge lists.
fn is_known(edge: &Edge<'_>) -> bool {
    let word = |name: &[u8]| String::from_utf8_lossy(name).to_ascii_lowercase();
    let words = [word(edge.a), word(edge.b)];
    HEADERS.iter().any(|&(a, b)| words == [a, b])
}

/// The line of a header, and what to say of it: the first line, if it holds two known words that are no nodes elsewhere, or
/// two words where all other names are integers.
fn header(text: &[u8]) -> Option<(usize, String)> {
    let mut edges = items(text, None);
    let (line, first) = loop {
        match edges.next()? {
            (line, Ok(Item::Edge(edge))) => break (line, edge),
            (_, Ok(Item::Count(_))) => {}
            // Whoever declares names needs no header.
            _ => return None,
        }
    };
    if integer(first.a).is_some() || integer(first.b).is_some() {
        return None;
    }
    let (mut again, mut numbered, mut others) = (false, true, false);
    for (_, item) in edges {
        match item.ok()? {
            Item::Edge(edge) => {
                let names = [edge.a, edge.b];
                again |= names.iter().any(|name| *name == first.a || *name == first.b);
                numbered &= names.iter().all(|name| integer(name).is_some());
                others = true;
            }
            Item::Count(_) => {}
            Item::Node(_) => return None,
        }
    }
    let taken = (is_known(&first) && !again) || (numbered && others);
    taken.then(|| {
        let names = format!("`{} {}`", show(first.a), show(first.b));
        let advice = "if these are nodes, declare them first (`# node: NAME`)";
        (line, format!("line {line}: {names} is taken for a header; {advice}"))
    })
}

/// Whether lines have a third column or `{...}`, which is the same for all.
struct Columns {
    edges: usize,
    weighted: bool,
    data: bool,
}

impl Columns {
    fn notes(&self) -> Vec<String> {
        let weights = self.weighted.then(|| weights_left_out("the third column (weights)"));
        let data = self.data.then(|| weights_left_out("`{...}` data of the edges"));
        weights.into_iter().chain(data).collect()
    }
}

/// A text, and how it is to be read.
struct File<'a> {
    text: &'a [u8],
    listing: Listing,
    /// The line of its header.
    header: Option<usize>,
}

impl<'a> File<'a> {
    /// A text, and what is to be said of its header.
    fn of(text: &'a [u8], listing: Listing) -> (Self, Vec<String>) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let listing = if is_snap(text) { Listing::BothWays } else { listing };
        let header = header(text);
        let file = Self { text, listing, header: header.as_ref().map(|(line, _)| *line) };
        (file, header.map(|(_, note)| note).into_iter().collect())
    }

    fn graph(&self) -> Result<Graph> {
        match self.integers()? {
            Some(graph) => Ok(graph),
            None => self.names(),
        }
    }

    fn items(&self) -> impl Iterator<Item = (usize, Result<Item<'_>>)> {
        items(self.text, self.header)
    }

    /// Checks what follows the names.
    fn columns(&self) -> Result<Columns> {
        let mut columns = Columns { edges: 0, weighted: false, data: false };
        let mut first = None;
        for (line, item) in self.items() {
            let Item::Edge(edge) = item? else { continue };
            let &mut (from, weighted) = first.get_or_insert((line, edge.weight.is_some()));
            if weighted != edge.weight.is_some() {
                let (here, there) = if weighted { ("no", "one") } else { ("a", "none") };
                let problem = format!(
                    "{here} third column (separated by {}), but {there} on line {from}",
                    edge.separator
                );
                return Err(Error::line(line, format!("{problem}; give every line the same columns")));
            }
            if let Some(weight) = edge.weight {
                self::weight(line, weight, edge.separator)?;
            }
            columns.edges += 1;
            columns.weighted |= weighted;
            columns.data |= edge.data;
        }
        Ok(columns)
    }

    /// Reads a file in which every name is an integer; none if there are others.
    fn integers(&self) -> Result<Option<Graph>> {
        let mut ids = Vec::new();
        let mut count = None;
        for (number, item) in self.items() {
            match item? {
                Item::Count(nodes) => count = Some((number, nodes)),
                Item::Node(_) => return Ok(None),
                Item::Edge(edge) => match (integer(edge.a), integer(edge.b)) {
                    (Some(a), Some(b)) => ids.push((a, b)),
                    _ => return Ok(None),
                },
            }
        }
        let distinct = Distinct::new(&ids);
        if let Some((_, nodes)) =
            count.filter(|&(_, nodes)| distinct.largest.is_none_or(|id| id < nodes as u64))
        {
            let edges: Vec<_> = ids.iter().map(|&(a, b)| (a as u32, b as u32)).collect();
            return assemble(nodes, &edges, self.listing, |repeat| self.repeated(&repeat)).map(Some);
        }
        check_count(count, distinct.ids.len())?;
        let edges: Vec<_> = ids.iter().map(|&(a, b)| (distinct.rank(a), distinct.rank(b))).collect();
        let graph = assemble(distinct.ids.len(), &edges, self.listing, |repeat| self.repeated(&repeat))?;
        if distinct.largest == Some(distinct.ids.len() as u64 - 1) {
            return Ok(Some(graph));
        }
        graph.with_labels(distinct.ids.iter().map(u64::to_string).collect()).map(Some)
    }

    /// Reads a file with any names.
    fn names(&self) -> Result<Graph> {
        let (mut names, mut edges, mut count) = (Names::default(), Vec::new(), None);
        for (number, item) in self.items() {
            match item? {
                Item::Count(nodes) => count = Some((number, nodes)),
                Item::Node(name) => {
                    let name = utf8(number, name)?;
                    let added = if name.is_empty() { None } else { names.add(name) };
                    added.ok_or_else(|| Error::line(number, format!("`{name}` must be a new name")))?;
                }
                Item::Edge(edge) => {
                    let mut node = |name| utf8(number, name).map(|name| numbered(&mut names, name));
                    edges.push((node(edge.a)?, node(edge.b)?));
                }
            }
        }
        check_count(count, names.len())?;
        let (nodes, numbering) = (names.len(), names.settle());
        let graph = assemble(nodes, &numbering.edges(&edges), self.listing, |repeat| self.repeated(&repeat))?;
        numbering.dress(graph, Vec::new())
    }

    /// Says where an edge is repeated: each edge item is one line, so the lines are found by counting again.
    fn repeated(&self, repeat: &Repeat) -> Error {
        let lines = self.items().filter(|(_, item)| matches!(item, Ok(Item::Edge(..))));
        let mut lines = lines.map(|(number, item)| match item {
            Ok(Item::Edge(edge)) => (number, format!("`{} {}`", show(edge.a), show(edge.b))),
            _ => (number, String::new()),
        });
        let (first, _) = lines.nth(repeat.first).unwrap_or_default();
        let (second, edge) = lines.nth(repeat.second - repeat.first - 1).unwrap_or_default();
        Error::line(second, format!("{edge} repeats the edge of line {first}; list each edge once"))
    }
}

/// Weights are positive: an edge of weight 0 may be none, and one of less may mean anything.
pub(super) fn weight(line: usize, text: &[u8], separator: &str) -> Result<f64> {
    let weight = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    let problem = match weight {
        Some(weight) if weight.is_finite() && weight > 0.0 => return Ok(weight),
        Some(_) => {
            format!("the weight is `{}`: give a positive number, or remove an edge that is none", show(text))
        }
        None => format!(
            "`{}` follows the two names of an edge (separated by {separator}); remove all columns but weights, and separate names that contain spaces by a tab",
            show(text)
        ),
    };
    Err(Error::line(line, problem))
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

/// Writes an edge list with a `# nodes:` header.
pub(super) fn write(graph: &Graph, separator: Option<char>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# nodes: {}", graph.nodes())?;
    let labels = graph.labels().unwrap_or_default();
    let spaced = labels.iter().any(|label| label.contains([' ', ',', ';']));
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
        return Some("must not be empty or start or end with a space");
    }
    if label.starts_with(['%', '"']) {
        return Some("must not start with `%` or a quote");
    }
    if label.contains(['#', '{', '}']) || label.contains(|c: char| c.is_ascii_control()) {
        return Some("must not contain tabs, line ends, `#` or braces");
    }
    None
}

#[cfg(test)]
#[path = "edge_list_tests.rs"]
mod tests;
