//! GraphML, as networkx writes it: `<node id=".."/>` and undirected `<edge source=".." target=".."/>`.
//!
//! Nodes keep the order of the file, and their names become labels unless they are just `0..n`. Node data under keys
//! named `x` and `y` (or `pos_x` and `pos_y`) become coordinates if every node has both; other data are skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use quick_xml::XmlVersion;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::assemble::{Listing, Names, assemble};
use super::weighted::Listed;
use super::{Noted, edge_list, weights_left_out};
use crate::{Error, Graph, Result};

/// Reads GraphML.
pub(super) fn read(text: &[u8]) -> Result<Noted> {
    let (graph, _, weighted) = parse(text)?;
    Ok((graph, weighted.then(|| weights_left_out("`weight` of the edges")).into_iter().collect()))
}

/// The same with the weight of every edge, which is 1 where the file declares none.
pub(super) fn weighted(text: &[u8]) -> Result<(Graph, Vec<Listed>, Vec<String>)> {
    let (graph, edges, weighted) = parse(text)?;
    let weigh = |((u, v), edge): ((u32, u32), Edge)| match (weighted, edge.weight) {
        (false, _) => Ok((u, v, 1.0, edge.line)),
        (true, Some(weight)) => {
            Ok((u, v, edge_list::weight(edge.line, weight.trim().as_bytes(), "elements")?, edge.line))
        }
        (true, None) => {
            let pair = format!("`{} {}`", edge.source, edge.target);
            let problem = format!("{pair} has no weight, but weights are declared; give it one");
            Err(Error::line(edge.line, problem))
        }
    };
    let listed = edges.into_iter().map(weigh).collect::<Result<_>>()?;
    Ok((graph, listed, Vec::new()))
}

/// The graph, its edges by their final numbers, and whether weights are declared.
type Parsed = (Graph, Vec<((u32, u32), Edge)>, bool);

fn parse(text: &[u8]) -> Result<Parsed> {
    let text = super::utf8(text)?;
    let mut reader = Reader::from_str(text);
    let mut lines = Lines { text: text.as_bytes(), at: 0, line: 1 };
    let mut document = Document::default();
    loop {
        let line = lines.advance(reader.buffer_position());
        match reader.read_event() {
            Ok(Event::Start(tag)) => document.open(&tag, line)?,
            Ok(Event::Empty(tag)) => {
                document.open(&tag, line)?;
                document.close(tag.local_name().as_ref());
            }
            Ok(Event::End(tag)) => document.close(tag.local_name().as_ref()),
            Ok(Event::Text(data)) => document.text(&data.xml10_content()),
            Ok(Event::Eof) => return document.finish(line),
            Ok(_) => {}
            Err(error) => {
                let line = lines.advance(reader.error_position());
                return Err(Error::line(line, format!("the XML is broken: {error}")));
            }
        }
    }
}

/// Turns increasing byte positions into line numbers.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn advance(&mut self, position: u64) -> usize {
        let position = (position as usize).min(self.text.len()).max(self.at);
        self.line += self.text[self.at..position].iter().filter(|&&byte| byte == b'\n').count();
        self.at = position;
        self.line
    }
}

/// An edge by names, and its line.
struct Edge {
    source: String,
    target: String,
    weight: Option<String>,
    line: usize,
}

/// What has been read so far.
#[derive(Default)]
struct Document {
    graphs: usize,
    depth: usize,
    /// Data keys that hold a coordinate, with its axis.
    axes: BTreeMap<String, usize>,
    names: Names,
    positions: Vec<[Option<f64>; 2]>,
    edges: Vec<Edge>,
    /// Data keys that hold the weight of an edge.
    weights: BTreeSet<String>,
    in_node: bool,
    in_edge: bool,
    axis: Option<usize>,
    in_weight: bool,
}

impl Document {
    fn open(&mut self, tag: &BytesStart, line: usize) -> Result<()> {
        self.depth += 1;
        match tag.local_name().as_ref() {
            "key" => self.key(tag, line),
            "graph" => self.graph(tag, line),
            "node" => self.node(tag, line),
            "edge" => self.edge(tag, line),
            "data" if self.in_node => {
                self.axis = attribute(tag, "key", line)?.and_then(|key| self.axes.get(&key).copied());
                Ok(())
            }
            "data" if self.in_edge => {
                self.in_weight = attribute(tag, "key", line)?.is_some_and(|key| self.weights.contains(&key));
                Ok(())
            }
            "hyperedge" => {
                Err(Error::line(line, "hyperedges are not supported; use edges between two nodes"))
            }
            _ => Ok(()),
        }
    }

    fn close(&mut self, tag: &str) {
        self.depth -= 1;
        match tag {
            "node" => self.in_node = false,
            "edge" => self.in_edge = false,
            "data" => (self.axis, self.in_weight) = (None, false),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let (Some(axis), Some(position)) = (self.axis, self.positions.last_mut()) {
            position[axis] = text.trim().parse().ok().filter(|value: &f64| value.is_finite());
        }
        if let Some(edge) = self.edges.last_mut().filter(|_| self.in_weight) {
            edge.weight = Some(text.to_owned());
        }
    }

    fn key(&mut self, tag: &BytesStart, line: usize) -> Result<()> {
        let kind = attribute(tag, "for", line)?;
        let for_nodes = kind.as_deref().is_none_or(|kind| kind == "node" || kind == "all");
        let axis = match attribute(tag, "attr.name", line)?.as_deref() {
            Some("weight") => {
                if kind.as_deref().is_none_or(|kind| kind == "edge" || kind == "all") {
                    self.weights.extend(attribute(tag, "id", line)?);
                }
                return Ok(());
            }
            Some("x" | "pos_x") => 0,
            Some("y" | "pos_y") => 1,
            _ => return Ok(()),
        };
        if for_nodes {
            self.axes.insert(required(tag, "id", line)?, axis);
        }
        Ok(())
    }

    fn graph(&mut self, tag: &BytesStart, line: usize) -> Result<()> {
        self.graphs += 1;
        if self.graphs > 1 {
            return Err(Error::line(
                line,
                "there is a second <graph>; give one graph per file, without nesting",
            ));
        }
        match attribute(tag, "edgedefault", line)?.as_deref() {
            Some("directed") => Err(directed(line)),
            _ => Ok(()),
        }
    }

    fn node(&mut self, tag: &BytesStart, line: usize) -> Result<()> {
        let id = required(tag, "id", line)?;
        if self.names.add(&id).is_none() {
            return Err(Error::line(line, format!("node `{id}` is listed twice; list each node once")));
        }
        self.positions.push([None; 2]);
        self.in_node = true;
        Ok(())
    }

    fn edge(&mut self, tag: &BytesStart, line: usize) -> Result<()> {
        if attribute(tag, "directed", line)?.as_deref() == Some("true") {
            return Err(directed(line));
        }
        let (source, target) = (required(tag, "source", line)?, required(tag, "target", line)?);
        if source == target {
            return Err(Error::line(line, format!("`{source}` is joined to itself; remove self-loops")));
        }
        self.edges.push(Edge { source, target, weight: None, line });
        self.in_edge = true;
        Ok(())
    }

    fn finish(self, line: usize) -> Result<Parsed> {
        if self.depth > 0 {
            return Err(Error::line(line, "the file ends inside an element; it seems to be cut off"));
        }
        if self.names.len() == 0 {
            return Err(Error::Format("no <node> elements found; is this GraphML?".into()));
        }
        // Edges may come before their nodes, so names are only looked up now.
        let number = |name: &str, line: usize| {
            let unknown = || Error::line(line, format!("the edge ends at `{name}`, which is not a node"));
            self.names.get(name).ok_or_else(unknown)
        };
        let ends = |edge: &Edge| Ok((number(&edge.source, edge.line)?, number(&edge.target, edge.line)?));
        let edges = self.edges.iter().map(ends).collect::<Result<Vec<_>>>()?;
        let (nodes, numbering) = (self.names.len(), self.names.settle());
        let edges = numbering.edges(&edges);
        let graph = assemble(nodes, &edges, Listing::Once, |repeat| {
            let (first, second) = (&self.edges[repeat.first], &self.edges[repeat.second]);
            let edge = format!("`{} {}`", second.source, second.target);
            let problem = format!("{edge} repeats the edge of line {}; list each edge once", first.line);
            Error::line(second.line, problem)
        })?;
        let position = |[x, y]: [Option<f64>; 2]| Some([x?, y?]);
        let graph = numbering.dress(graph, self.positions.into_iter().map(position).collect())?;
        Ok((graph, edges.into_iter().zip(self.edges).collect(), !self.weights.is_empty()))
    }
}

fn directed(line: usize) -> Error {
    Error::line(line, "the graph is directed; write it as undirected (networkx: `G.to_undirected()`)")
}

fn attribute(tag: &BytesStart, name: &str, line: usize) -> Result<Option<String>> {
    let broken =
        |error: quick_xml::Error| Error::line(line, format!("attribute `{name}` is broken: {error}"));
    let Some(attribute) = tag.try_get_attribute(name).map_err(|error| broken(error.into()))? else {
        return Ok(None);
    };
    Ok(Some(attribute.normalized_value(XmlVersion::Implicit1_0).map_err(broken)?.into_owned()))
}

fn required(tag: &BytesStart, name: &str, line: usize) -> Result<String> {
    let element = tag.local_name();
    let missing = || Error::line(line, format!("<{}> has no `{name}`", element.as_ref()));
    attribute(tag, name, line)?.ok_or_else(missing)
}

/// Writes GraphML that networkx reads.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>")?;
    writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
    if graph.coordinates().is_some() {
        for axis in ["x", "y"] {
            writeln!(out, "  <key id=\"{axis}\" for=\"node\" attr.name=\"{axis}\" attr.type=\"double\"/>")?;
        }
    }
    writeln!(out, "  <graph edgedefault=\"undirected\">")?;
    for node in 0..graph.nodes() {
        let label = graph.label(node);
        match graph.coordinates().map(|all| all[node]) {
            None => writeln!(out, "    <node id=\"{}\"/>", escape(&label))?,
            Some([x, y]) => {
                let data = format!("<data key=\"x\">{x:?}</data><data key=\"y\">{y:?}</data>");
                writeln!(out, "    <node id=\"{}\">{data}</node>", escape(&label))?;
            }
        }
    }
    for (u, v) in graph.edges() {
        let (source, target) = (graph.label(u), graph.label(v));
        writeln!(out, "    <edge source=\"{}\" target=\"{}\"/>", escape(&source), escape(&target))?;
    }
    writeln!(out, "  </graph>\n</graphml>")
}

/// What is wrong with a label for XML, if anything is.
pub(super) fn unwritable(label: &str) -> Option<&'static str> {
    // XML turns line ends and tabs in attributes into spaces and forbids most other control characters.
    let forbidden = |c: char| c.is_control() || c == '\u{fffe}' || c == '\u{ffff}';
    label.contains(forbidden).then_some("must not contain control characters")
}

#[cfg(test)]
#[path = "graphml_tests.rs"]
mod tests;
