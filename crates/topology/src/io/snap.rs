//! SNAP's edge lists (snap.stanford.edu): as [`super::edge_list`], but an undirected edge may be listed once in each
//! direction, as the collaboration and e-mail networks and the `.edges` of ego networks there do; the two are merged. Edge lists
//! under SNAP's comments are read so whatever they are called.

use std::io::{self, Write};

use super::assemble::Listing;
use super::{Noted, edge_list};
use crate::{Graph, Result};

/// Reads a SNAP file.
pub(super) fn read(text: &[u8]) -> Result<Noted> {
    edge_list::read(text, Listing::BothWays)
}

/// Writes each edge once, separated by tabs, under SNAP's column header.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Nodes: {} Edges: {}", graph.nodes(), graph.edge_count())?;
    writeln!(out, "# FromNodeId\tToNodeId")?;
    edge_list::write(graph, Some('\t'), out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_are_merged() {
        // The first lines of ca-GrQc.txt, with directions completed.
        let text = "# Directed graph (each unordered pair of nodes is saved once): CA-GrQc.txt\n\
                    # Nodes: 5242 Edges: 28980\n# FromNodeId\tToNodeId\n3466\t937\n3466\t5233\n937\t3466\r\n";
        let (graph, notes) = read(text.as_bytes()).unwrap();
        assert_eq!(graph.labels().unwrap(), ["937", "3466", "5233"]);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(
            notes,
            [
                "1 edges are listed in both directions and 1 in one only: all of them are taken to go both ways"
            ]
        );
    }

    #[test]
    fn repeats_in_one_direction_and_self_loops_are_refused() {
        let message = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            message("# x\n0\t1\n1\t0\n\n0\t1\n"),
            "line 5: `0 1` repeats the edge of line 2; list each edge once"
        );
        assert_eq!(message("0\t1\n3\t3\n"), "line 2: `3` is joined to itself; remove self-loops");
    }
}
