//! Weights of edges: who resembles whom, and how much. Graphs leave them out; edge lists and GraphML may say them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::{Format, edge_list, graphml, read, source, weights_left_out};
use crate::{Error, Graph, Result};

/// A graph, a weight for each of its edges, what is to be said of it, and which bytes it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighted {
    /// The graph.
    pub graph: Graph,
    /// Each edge once, the smaller number first, with its weight: 1 where the file has none.
    pub weights: Vec<(usize, usize, f64)>,
    /// What whoever gave the file should know.
    pub notes: Vec<String>,
    /// The SHA-256 of the bytes as they were given.
    pub sha256: String,
}

/// An edge as a file lists it: its ends, its weight, and its line.
pub(super) type Listed = (u32, u32, f64, usize);

/// Reads a graph with the weights of its edges. A pair may be listed in both directions, with one weight.
///
/// ```
/// use sottovoce_topology::io::{Format, read_weighted};
/// let found = read_weighted("ann bob 2\nbob eve 0.5\nbob ann 2\n".as_bytes(), Format::EdgeList)?;
/// assert_eq!(found.weights, [(0, 1, 2.0), (1, 2, 0.5)]);
/// let refused = read_weighted("ann bob 2\nbob ann 1\n".as_bytes(), Format::EdgeList).unwrap_err();
/// assert!(refused.to_string().starts_with("line 2: `bob ann` has the weight 1, and 2 on line 1"));
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn read_weighted(reader: impl Read, format: Format) -> Result<Weighted> {
    let raw = source::bytes(reader)?;
    let sha256 = source::sha256(&raw);
    let (graph, listed, notes) = match format {
        Format::EdgeList | Format::Snap => edge_list::weighted(&source::unpacked(raw)?)?,
        Format::GraphMl => graphml::weighted(&source::unpacked(raw)?)?,
        _ => {
            let found = read(raw.as_slice(), format)?;
            // Better no weights than others than were meant.
            if found.notes.iter().any(|note| note.ends_with(&weights_left_out(""))) {
                let remedy = "its weights are not read; write the graph as an edge list or as GraphML";
                return Err(Error::parameter("format", format, remedy));
            }
            let each = found.graph.edges().map(|(u, v)| (u as u32, v as u32, 1.0, 0)).collect();
            (found.graph, each, found.notes)
        }
    };
    Ok(Weighted { weights: symmetric(&graph, &listed)?, graph, notes, sha256 })
}

/// The same from a file; without a format, the extension tells it.
pub fn read_weighted_file(path: impl AsRef<Path>, format: Option<Format>) -> Result<Weighted> {
    let path = path.as_ref();
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    read_weighted(super::open(path)?, format)
}

/// Each pair once; refuses two weights of one pair.
fn symmetric(graph: &Graph, listed: &[Listed]) -> Result<Vec<(usize, usize, f64)>> {
    let mut known: BTreeMap<(u32, u32), (f64, usize)> = BTreeMap::new();
    for &(u, v, weight, line) in listed {
        let (before, there) = *known.entry((u.min(v), u.max(v))).or_insert((weight, line));
        if before != weight {
            let pair = format!("`{} {}`", graph.label(u as usize), graph.label(v as usize));
            let problem = format!("{pair} has the weight {weight}, and {before} on line {there}");
            return Err(Error::line(
                line,
                format!("{problem}: both resemble each other alike; give one weight"),
            ));
        }
    }
    Ok(known.into_iter().map(|((u, v), (weight, _))| (u as usize, v as usize, weight)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(text: &str, format: Format) -> Vec<(usize, usize, f64)> {
        read_weighted(text.as_bytes(), format).unwrap().weights
    }

    const GRAPHML: &str = "<graphml><key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n\
        <graph edgedefault=\"undirected\"><node id=\"b\"/><node id=\"a\"/>\n\
        <edge source=\"a\" target=\"b\"><data key=\"d0\">0.25</data></edge></graph></graphml>";

    #[test]
    fn weights_are_those_of_the_file() {
        assert_eq!(weights("2 0 3\n0 1 1.5\n", Format::EdgeList), [(0, 1, 1.5), (0, 2, 3.0)]);
        assert_eq!(weights("10,20\n20,30\n", Format::EdgeList), [(0, 1, 1.0), (1, 2, 1.0)]);
        assert_eq!(weights("from,to,weight\nb,a,2\nc,a,4\n", Format::EdgeList), [(0, 1, 2.0), (1, 2, 4.0)]);
        assert_eq!(weights(GRAPHML, Format::GraphMl), [(0, 1, 0.25)]);
        let plain = GRAPHML.replace("<data key=\"d0\">0.25</data>", "").replace("weight", "length");
        assert_eq!(weights(&plain, Format::GraphMl), [(0, 1, 1.0)]);
    }

    #[test]
    fn what_is_no_similarity_is_refused_with_its_line() {
        let refused = |text: &str, format| read_weighted(text.as_bytes(), format).unwrap_err().to_string();
        for weight in ["0", "-1", "nan", "inf"] {
            let said = refused(&format!("0 1 1\n1 2 {weight}\n"), Format::EdgeList);
            assert!(said.starts_with("line 2: the weight is"), "{said}");
            let said = refused(&GRAPHML.replace("0.25", weight), Format::GraphMl);
            assert!(said.starts_with("line 3: the weight is"), "{said}");
        }
        assert!(refused("0 1 1\n0 1 1\n", Format::EdgeList).contains("repeats the edge of line 1"));
        assert!(refused("0 1 1\n1 2\n", Format::EdgeList).contains("same columns"));
        let without = GRAPHML.replace("<data key=\"d0\">0.25</data>", "");
        assert!(refused(&without, Format::GraphMl).contains("has no weight"));
        let twice = GRAPHML
            .replace("</graph>", "<edge source=\"b\" target=\"a\"><data key=\"d0\">1</data></edge></graph>");
        assert!(refused(&twice, Format::GraphMl).contains("repeats the edge"));
    }
}
