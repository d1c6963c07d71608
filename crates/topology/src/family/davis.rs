//! Davis's southern women: who attended which of fourteen social events in Natchez, Mississippi, in the 1930s.
//!
//! A. Davis, B. B. Gardner and M. R. Gardner, "Deep South" (1941). The papers use it as a small real graph; it is
//! embedded here because it is tiny. Same edges and same node order (women first) as networkx's version.

use crate::{Graph, Result};

/// Each woman and the numbers of the events she attended.
const ATTENDED: [(&str, &[usize]); 18] = [
    ("Evelyn Jefferson", &[1, 2, 3, 4, 5, 6, 8, 9]),
    ("Laura Mandeville", &[1, 2, 3, 5, 6, 7, 8]),
    ("Theresa Anderson", &[2, 3, 4, 5, 6, 7, 8, 9]),
    ("Brenda Rogers", &[1, 3, 4, 5, 6, 7, 8]),
    ("Charlotte McDowd", &[3, 4, 5, 7]),
    ("Frances Anderson", &[3, 5, 6, 8]),
    ("Eleanor Nye", &[5, 6, 7, 8]),
    ("Pearl Oglethorpe", &[6, 8, 9]),
    ("Ruth DeSand", &[5, 7, 8, 9]),
    ("Verne Sanderson", &[7, 8, 9, 12]),
    ("Myra Liddel", &[8, 9, 10, 12]),
    ("Katherina Rogers", &[8, 9, 10, 12, 13, 14]),
    ("Sylvia Avondale", &[7, 8, 9, 10, 12, 13, 14]),
    ("Nora Fayette", &[6, 7, 9, 10, 11, 12, 13, 14]),
    ("Helen Lloyd", &[7, 8, 10, 11, 12]),
    ("Dorothy Murchison", &[8, 9]),
    ("Olivia Carleton", &[9, 11]),
    ("Flora Price", &[9, 11]),
];

/// Number of events, named `E1` to `E14`.
const EVENTS: usize = 14;

/// Eighteen women (nodes 0 to 17) joined to the fourteen events (nodes 18 to 31) they attended: 89 edges.
pub(super) fn davis() -> Result<Graph> {
    let women = ATTENDED.len();
    let edges = ATTENDED
        .iter()
        .enumerate()
        .flat_map(|(woman, (_, events))| events.iter().map(move |event| (woman, women + event - 1)));
    let names = ATTENDED.iter().map(|(name, _)| name.to_string());
    let labels = names.chain((1..=EVENTS).map(|event| format!("E{event}"))).collect();
    Graph::from_edges(women + EVENTS, edges)?.with_labels(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_is_the_published_one() {
        let graph = davis().unwrap();
        assert_eq!((graph.nodes(), graph.edge_count()), (32, 89));
        assert!(graph.is_connected());
        // Published margins: events attended by each woman, women at each event.
        let degrees: Vec<_> = (0..32).map(|v| graph.degree(v)).collect();
        assert_eq!(degrees[..18], [8, 7, 8, 7, 4, 4, 4, 3, 4, 4, 4, 6, 7, 8, 5, 2, 2, 2]);
        assert_eq!(degrees[18..], [3, 3, 6, 4, 8, 8, 10, 14, 12, 5, 4, 6, 3, 3]);
        assert!(graph.edges().all(|(u, v)| u < 18 && v >= 18));
    }

    #[test]
    fn nodes_carry_their_names() {
        let graph = davis().unwrap();
        assert_eq!(graph.label(0), "Evelyn Jefferson");
        assert_eq!(graph.label(17), "Flora Price");
        assert_eq!(graph.label(31), "E14");
        // Flora Price attended events 9 and 11.
        assert_eq!(graph.neighbors(17), &[26, 28]);
    }
}
