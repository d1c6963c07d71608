//! GML, as networkx, Gephi and yEd write it, and as many small networks are published.
//!
//! ```text
//! graph [
//!   directed 0
//!   node [ id 1 label "Ann" graphics [ x 0.5 y 2 ] ]
//!   edge [ source 1 target 2 value 3 ]
//! ]
//! ```
//!
//! Nodes are called by their labels if all have one, otherwise by their ids. Texts may hold `&quot;` and `&#233;`. Coordinates are kept if every node has some;
//! other keys are skipped.

use std::io::{self, Write};

use quick_xml::escape::unescape;

use super::assemble::{Listing, Names, assemble};
use super::{Noted, weights_left_out};
use crate::{Error, Graph, Result};

/// Deeper lists are refused: no graph needs them.
const DEEPEST: usize = 32;

/// What a key stands before.
enum Value {
    Word(String),
    List(Vec<Pair>),
}

/// A key, its value, and its line.
struct Pair {
    key: String,
    value: Value,
    line: usize,
}

/// Reads GML.
pub(super) fn read(text: &[u8]) -> Result<Noted> {
    let text = super::utf8(text)?;
    let mut parser = Parser { rest: text.trim_start_matches('\u{feff}'), line: 1 };
    let document = parser.list(0)?;
    let mut graphs = document.iter().filter(|pair| pair.key == "graph");
    let (Some(Pair { value: Value::List(graph), .. }), None) = (graphs.next(), graphs.next()) else {
        return Err(Error::Format("there is not one `graph [ ... ]`; give a GML file with one graph".into()));
    };
    if word(graph, "directed") == Some("1") {
        let line = graph.iter().find(|pair| pair.key == "directed").map_or(1, |pair| pair.line);
        let problem = "`directed` is 1; write it as undirected (networkx: `G.to_undirected()`)";
        return Err(Error::line(line, problem));
    }
    assembled(&elements(graph, "node")?, &elements(graph, "edge")?)
}

/// The lists with this key, and their lines.
fn elements<'a>(graph: &'a [Pair], key: &str) -> Result<Vec<(usize, &'a [Pair])>> {
    let element = |pair: &'a Pair| match &pair.value {
        Value::List(list) => Ok((pair.line, list.as_slice())),
        Value::Word(word) => {
            Err(Error::line(pair.line, format!("`{key}` is `{word}`: give a list in brackets")))
        }
    };
    graph.iter().filter(|pair| pair.key == key).map(element).collect()
}

fn assembled(nodes: &[(usize, &[Pair])], edges: &[(usize, &[Pair])]) -> Result<Noted> {
    if nodes.is_empty() {
        return Err(Error::Format("no `node [ ... ]` found; list every node".into()));
    }
    let mut ids = Names::default();
    for (line, node) in nodes {
        add(&mut ids, *line, "id", required(*line, node, "id")?)?;
    }
    let end = |line: usize, edge: &[Pair], key: &str| {
        let id = required(line, edge, key)?;
        let unknown = || Error::line(line, format!("the edge ends at `{id}`, which is no node's `id`"));
        ids.get(id).ok_or_else(unknown)
    };
    let mut ends = Vec::new();
    for &(line, edge) in edges {
        let (source, target) = (end(line, edge, "source")?, end(line, edge, "target")?);
        if source == target {
            return Err(Error::line(line, "the edge joins a node to itself; remove self-loops"));
        }
        ends.push((source, target));
    }
    let numbering = names(nodes, ids)?.settle();
    let graph = assemble(nodes.len(), &numbering.edges(&ends), Listing::Once, |repeat| {
        let (first, second) = (edges[repeat.first].0, edges[repeat.second].0);
        Error::line(second, format!("the edge repeats that of line {first}; list each edge once"))
    })?;
    let weighted =
        ["weight", "value"].into_iter().find(|key| edges.iter().any(|(_, e)| word(e, key).is_some()));
    let notes = weighted.map(|key| weights_left_out(&format!("`{key}` of the edges"))).into_iter().collect();
    Ok((numbering.dress(graph, nodes.iter().map(|(_, node)| position(node)).collect())?, notes))
}

/// Labels if every node has one, otherwise the ids.
fn names(nodes: &[(usize, &[Pair])], ids: Names) -> Result<Names> {
    if nodes.iter().any(|(_, node)| word(node, "label").is_none()) {
        return Ok(ids);
    }
    let mut labels = Names::default();
    for (line, node) in nodes {
        add(&mut labels, *line, "label", required(*line, node, "label")?)?;
    }
    Ok(labels)
}

fn add(names: &mut Names, line: usize, key: &str, name: &str) -> Result<()> {
    let twice = || Error::line(line, format!("`{key}` is `{name}` a second time; give each node its own"));
    names.add(name).map(drop).ok_or_else(twice)
}

fn word<'a>(list: &'a [Pair], key: &str) -> Option<&'a str> {
    list.iter().find(|pair| pair.key == key).and_then(|pair| match &pair.value {
        Value::Word(word) => Some(word.as_str()),
        Value::List(_) => None,
    })
}

fn required<'a>(line: usize, list: &'a [Pair], key: &str) -> Result<&'a str> {
    word(list, key).ok_or_else(|| Error::line(line, format!("`{key}` is missing; give one")))
}

fn position(node: &[Pair]) -> Option<[f64; 2]> {
    let graphics = node.iter().find(|pair| pair.key == "graphics")?;
    let Value::List(list) = &graphics.value else { return None };
    let number = |key| word(list, key)?.parse().ok().filter(|number: &f64| number.is_finite());
    Some([number("x")?, number("y")?])
}

/// What has not been read yet.
struct Parser<'a> {
    rest: &'a str,
    line: usize,
}

impl Parser<'_> {
    /// Pairs up to the closing bracket, or to the end of the file.
    fn list(&mut self, depth: usize) -> Result<Vec<Pair>> {
        let mut pairs = Vec::new();
        loop {
            self.blanks();
            let line = self.line;
            match self.rest.chars().next() {
                None if depth > 0 => {
                    return Err(Error::line(line, "a `]` is missing; the file seems to be cut off"));
                }
                None => return Ok(pairs),
                Some(']') if depth > 0 => {
                    self.skip(1);
                    return Ok(pairs);
                }
                Some(c) if c.is_ascii_alphabetic() || c == '_' => {}
                Some(c) => {
                    return Err(Error::line(
                        line,
                        format!("`{c}` stands where a key belongs; give `KEY VALUE`"),
                    ));
                }
            }
            let key = self.bare().to_owned();
            let value = self.value(&key, depth)?;
            pairs.push(Pair { key, value, line });
        }
    }

    fn value(&mut self, key: &str, depth: usize) -> Result<Value> {
        self.blanks();
        match self.rest.chars().next() {
            Some('[') if depth == DEEPEST => {
                Err(Error::line(self.line, format!("lists are nested deeper than {DEEPEST}; flatten them")))
            }
            Some('[') => {
                self.skip(1);
                self.list(depth + 1).map(Value::List)
            }
            Some('"') => self.quoted().map(Value::Word),
            Some(c) if c != ']' => Ok(Value::Word(self.bare().to_owned())),
            _ => Err(Error::line(self.line, format!("`{key}` has no value; give one"))),
        }
    }

    /// Skips blanks and comments.
    fn blanks(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.skip(blank);
            if !self.rest.starts_with('#') {
                return;
            }
            self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    fn skip(&mut self, bytes: usize) {
        let (gone, rest) = self.rest.split_at(bytes);
        self.line += gone.matches('\n').count();
        self.rest = rest;
    }

    /// A key or a number: up to a blank or a bracket, and at least one character.
    fn bare(&mut self) -> &str {
        let ends = |c: char| c.is_whitespace() || c == '[' || c == ']' || c == '"';
        let (word, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn quoted(&mut self) -> Result<String> {
        let line = self.line;
        let Some(end) = self.rest[1..].find('"') else {
            return Err(Error::line(line, "a closing \" is missing"));
        };
        let inner = &self.rest[1..=end];
        // Old files have a bare `&`: then nothing is escaped in them.
        let text = unescape(inner).map_or_else(|_| inner.to_owned(), std::borrow::Cow::into_owned);
        self.skip(end + 2);
        Ok(text)
    }
}

/// Writes GML that networkx reads: plain ASCII.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "graph [")?;
    for node in 0..graph.nodes() {
        let label = escaped(&graph.label(node));
        write!(out, "  node [\n    id {node}\n    label \"{label}\"\n")?;
        if let Some([x, y]) = graph.coordinates().map(|all| all[node]) {
            write!(out, "    graphics [\n      x {x}\n      y {y}\n    ]\n")?;
        }
        writeln!(out, "  ]")?;
    }
    for (u, v) in graph.edges() {
        write!(out, "  edge [\n    source {u}\n    target {v}\n  ]\n")?;
    }
    writeln!(out, "]")
}

fn escaped(label: &str) -> String {
    let mut text = String::new();
    for c in label.chars() {
        match c {
            '"' | '&' => text.push_str(&format!("&#{};", u32::from(c))),
            ' '..='~' => text.push(c),
            _ => text.push_str(&format!("&#{};", u32::from(c))),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_networkx_and_others_write_is_read() {
        // `networkx.write_gml` of a graph with a name in another script, and a file in the manner of M. Newman's collection.
        let text = "graph [\n  node [\n    id 0\n    label \"Zo&#235; &#34;Z&#34;\"\n  ]\n  node [\n    id 1\n    label \"b\"\n  ]\n  \
                    edge [\n    source 0\n    target 1\n  ]\n]\n";
        let (graph, notes) = read(text.as_bytes()).unwrap();
        assert_eq!((graph.labels().unwrap(), notes.len()), (&["Zoë \"Z\"".to_owned(), "b".into()][..], 0));
        let text = "Creator \"M on Fri\"\r\n# a comment [\ngraph\n[\n  directed 0\n  node\n  [\n    id 1\n  ]\n  node [ id 2 graphics [ x 1 y 2.5E-1 ] ]\n  \
                    node[id 3]\n  edge\n  [\n    source 3\n    target 1\n    value 2\n  ]\n]\n";
        let (graph, notes) = read(text.as_bytes()).unwrap();
        assert_eq!(graph.labels().unwrap(), ["1", "2", "3"]);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 2)]);
        assert!(notes[0].starts_with("`value` of the edges is left out"), "{notes:?}");
    }

    #[test]
    fn bad_documents_are_refused_with_their_line() {
        let graph = |inner: &str| format!("graph [\nnode [ id 0 ]\nnode [ id 1 ]\n{inner}\n]");
        for (text, expected) in [
            (graph("directed 1"), "line 4: `directed` is 1; write it as undirected"),
            (graph("edge [ source 0 target 7 ]"), "line 4: the edge ends at `7`, which is no node's `id`"),
            (graph("edge [ source 0 ]"), "line 4: `target` is missing"),
            (graph("edge [ source 0 target 0 ]"), "line 4: the edge joins a node to itself"),
            (
                graph("edge [ source 0 target 1 ]\nedge [ source 1 target 0 ]"),
                "line 5: the edge repeats that of line 4",
            ),
            (graph("node [ id 1 ]"), "line 4: `id` is `1` a second time"),
            (graph("node 3"), "line 4: `node` is `3`: give a list in brackets"),
            (graph("3 4"), "line 4: `3` stands where a key belongs"),
            (graph("edge"), "line 5: `edge` has no value"),
            (graph("x \"y"), "line 4: a closing \" is missing"),
            ("graph [\nnode [ id 0 ]\n".into(), "line 3: a `]` is missing"),
            (format!("graph [ {}", "a [ ".repeat(50)), "line 1: lists are nested deeper than 32"),
            (
                "graph [ node [ id 0 label 5 ] node [ id 1 label 5 ] ]".into(),
                "line 1: `label` is `5` a second",
            ),
            ("graph [ ]".into(), "no `node [ ... ]` found"),
            ("a 1".into(), "there is not one `graph [ ... ]`"),
        ] {
            assert!(message(&text).starts_with(expected), "{text}: {}", message(&text));
        }
    }
}
