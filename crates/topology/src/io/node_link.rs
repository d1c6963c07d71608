//! JSON node-link documents, as `networkx.node_link_data` makes them.
//!
//! ```json
//! {"directed": false, "multigraph": false, "nodes": [{"id": "a"}, {"id": "b"}],
//!  "edges": [{"source": "a", "target": "b"}]}
//! ```
//!
//! Older versions of networkx call the edges `links`. Names are strings or integers; nodes keep the order of the file.
//! `"pos": [x, y]`, or `"x"` and `"y"`, become coordinates if every node has them; other attributes are skipped.

use std::io::{self, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use super::assemble::{Listing, Names, assemble};
use super::{Noted, weights_left_out};
use crate::{Error, Graph, Result};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    directed: bool,
    #[serde(default)]
    multigraph: bool,
    nodes: Vec<Node>,
    edges: Option<Vec<Edge>>,
    links: Option<Vec<Edge>>,
}

#[derive(Deserialize)]
struct Node {
    id: Value,
    #[serde(default)]
    pos: Value,
    #[serde(default)]
    x: Value,
    #[serde(default)]
    y: Value,
}

#[derive(Deserialize)]
struct Edge {
    source: Value,
    target: Value,
    weight: Option<Value>,
}

impl Node {
    fn position(&self) -> Option<[f64; 2]> {
        match self.pos.as_array().map(Vec::as_slice) {
            Some([x, y]) => Some([x.as_f64()?, y.as_f64()?]),
            _ => Some([self.x.as_f64()?, self.y.as_f64()?]),
        }
    }
}

/// Reads a node-link document.
pub(super) fn read(text: &[u8]) -> Result<Noted> {
    let document: Document = serde_json::from_slice(text).map_err(|error| {
        Error::line(
            error.line(),
            format!("{error}; expected node-link JSON as `networkx.node_link_data` makes it"),
        )
    })?;
    let (field, edges) = check_kind(&document)?;
    let mut names = Names::default();
    for (index, node) in document.nodes.iter().enumerate() {
        let id = name(&node.id, || format!("nodes[{index}].id"))?;
        if names.add(&id).is_none() {
            return Err(Error::Format(format!(
                "nodes[{index}]: `{id}` is listed twice; list each node once"
            )));
        }
    }
    let ends = edges.iter().enumerate().map(|(index, edge)| ends(field, index, edge, &names));
    let ends = ends.collect::<Result<Vec<_>>>()?;
    let (nodes, numbering) = (names.len(), names.settle());
    let graph = assemble(nodes, &numbering.edges(&ends), Listing::Once, |repeat| {
        let (first, second) = (repeat.first, repeat.second);
        Error::Format(format!("{field}[{second}] repeats {field}[{first}]; list each edge once"))
    })?;
    let graph = numbering.dress(graph, document.nodes.iter().map(Node::position).collect())?;
    let weighted = edges.iter().any(|edge| edge.weight.is_some());
    Ok((graph, weighted.then(|| weights_left_out("`weight` of the edges")).into_iter().collect()))
}

/// Refuses directed graphs and multigraphs; returns the edges and what the document calls them.
fn check_kind(document: &Document) -> Result<(&'static str, &[Edge])> {
    let refuse = |problem: &str| Err(Error::Format(problem.into()));
    if document.directed {
        return refuse("`directed` is true; write it as undirected (networkx: `G.to_undirected()`)");
    }
    if document.multigraph {
        return refuse("`multigraph` is true; merge parallel edges first (networkx: `nx.Graph(G)`)");
    }
    if document.nodes.is_empty() {
        return refuse("`nodes` is empty; give at least one");
    }
    match (&document.edges, &document.links) {
        (Some(edges), None) => Ok(("edges", edges)),
        (None, Some(links)) => Ok(("links", links)),
        (None, None) => refuse("there is neither `edges` nor `links`; give one of them"),
        (Some(_), Some(_)) => refuse("there are both `edges` and `links`; give only one of them"),
    }
}

fn ends(field: &str, index: usize, edge: &Edge, names: &Names) -> Result<(u32, u32)> {
    let end = |value: &Value, end: &str| {
        let name = name(value, || format!("{field}[{index}].{end}"))?;
        let unknown = || Error::Format(format!("{field}[{index}].{end}: `{name}` is not among the nodes"));
        names.get(&name).ok_or_else(unknown)
    };
    let (source, target) = (end(&edge.source, "source")?, end(&edge.target, "target")?);
    if source == target {
        return Err(Error::Format(format!("{field}[{index}] joins a node to itself; remove self-loops")));
    }
    Ok((source, target))
}

/// A name: a string or an integer.
fn name(value: &Value, place: impl FnOnce() -> String) -> Result<String> {
    match value {
        Value::String(name) => Ok(name.clone()),
        Value::Number(number) if !number.is_f64() => Ok(number.to_string()),
        _ => {
            let advice = "use a string or an integer (networkx: `nx.convert_node_labels_to_integers(G)`)";
            Err(Error::Format(format!("{}: {value} cannot name a node; {advice}", place())))
        }
    }
}

/// Writes a node-link document, one node or edge per line.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"directed\": false, \"multigraph\": false, \"graph\": {{}},")?;
    let name = |node: usize| graph.labels().map_or_else(|| json!(node), |labels| json!(labels[node]));
    let nodes = (0..graph.nodes()).map(|node| match graph.coordinates() {
        Some(coordinates) => json!({"id": name(node), "pos": coordinates[node]}),
        None => json!({"id": name(node)}),
    });
    write_list("nodes", nodes, out)?;
    writeln!(out, ",")?;
    write_list("edges", graph.edges().map(|(u, v)| json!({"source": name(u), "target": name(v)})), out)?;
    writeln!(out, "}}")
}

fn write_list(field: &str, mut items: impl Iterator<Item = Value>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "\"{field}\": [")?;
    if let Some(first) = items.next() {
        write!(out, "\n{first}")?;
    }
    items.try_for_each(|item| write!(out, ",\n{item}"))?;
    write!(out, "]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_networkx_makes_is_read() {
        let text = r#"{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": "a"}, {"id": "b"},
            {"id": "c \"q\" & d"}, {"x": 1.5, "y": 2.0, "id": "z"}], "edges": [{"weight": 2.0, "source": "a",
            "target": "b"}, {"source": "b", "target": "c \"q\" & d"}]}"#;
        let (graph, notes) = read(text.as_bytes()).unwrap();
        assert!(notes.len() == 1 && notes[0].starts_with("`weight` of the edges is left out"), "{notes:?}");
        assert_eq!(graph.labels().unwrap(), ["a", "b", "c \"q\" & d", "z"]);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(graph.coordinates(), None);
        let older = text.replace("\"edges\"", "\"links\"");
        assert_eq!(read(older.as_bytes()).unwrap().0, graph);
    }

    #[test]
    fn integers_mean_themselves_and_positions_follow_them() {
        let text = r#"{"nodes": [{"id": 1, "pos": [0.5, 1]}, {"id": 0, "x": 2, "y": 3.5}],
                       "edges": [{"source": 0, "target": 1}]}"#;
        let (graph, _) = read(text.as_bytes()).unwrap();
        assert_eq!(graph.labels(), None);
        assert_eq!(graph.coordinates().unwrap(), [[2.0, 3.5], [0.5, 1.0]]);
    }

    #[test]
    fn bad_documents_are_refused_with_the_place() {
        let nodes = r#""nodes": [{"id": 0}, {"id": "b"}]"#;
        let edge = |source: &str, target: &str| format!(r#"{{"source": {source}, "target": {target}}}"#);
        let edges = |list: &[String]| format!("{{{nodes}, \"edges\": [{}]}}", list.join(","));
        for (text, expected) in [
            (format!("{{\"directed\": true, {nodes}}}"), "`directed` is true; write it as undirected"),
            (format!("{{\"multigraph\": true, {nodes}}}"), "`multigraph` is true; merge parallel edges"),
            (format!("{{{nodes}}}"), "there is neither `edges` nor `links`"),
            (format!("{{{nodes}, \"edges\": [], \"links\": []}}"), "there are both `edges` and `links`"),
            (r#"{"nodes": [], "edges": []}"#.into(), "`nodes` is empty"),
            (r#"{"nodes": [{"id": 1}, {"id": "1"}], "edges": []}"#.into(), "nodes[1]: `1` is listed twice"),
            (r#"{"nodes": [{"id": [0, 0]}], "edges": []}"#.into(), "nodes[0].id: [0,0] cannot name a node"),
            (
                edges(&[edge("0", "\"b\""), edge("\"b\"", "0")]),
                "edges[1] repeats edges[0]; list each edge once",
            ),
            (edges(&[edge("0", "0")]), "edges[0] joins a node to itself"),
            (edges(&[edge("0", "7")]), "edges[0].target: `7` is not among the nodes"),
            (edges(&[edge("1.5", "0")]), "edges[0].source: 1.5 cannot name a node"),
            ("{\n\"nodes\": [{}],\n\"edges\": []}".into(), "line 2: missing field `id`"),
            ("{\n\n\"nodes\": oops".into(), "line 3: expected value"),
        ] {
            assert!(message(&text).starts_with(expected), "{text}: {}", message(&text));
        }
    }
}
