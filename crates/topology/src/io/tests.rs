//! What all formats must do: survive a round trip, refuse what they cannot hold.

use proptest::prelude::*;

use super::*;
use crate::family::{Family, generate};

fn round_trip(graph: &Graph, format: Format) -> Result<Graph> {
    let mut text = Vec::new();
    write(graph, format, &mut text)?;
    let found = read(text.as_slice(), format)?;
    assert_eq!(found.notes, Vec::<String>::new(), "{format}");
    // Packed, it is the same graph from other bytes.
    let packed = read(packed(&text).as_slice(), format)?;
    assert!(packed.graph == found.graph && packed.sha256 != found.sha256);
    Ok(found.graph)
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Graphs with isolated nodes, and with labels of the given pattern or none.
fn graphs(label: &'static str) -> impl Strategy<Value = Graph> {
    (1usize..12).prop_flat_map(move |n| {
        let pairs = prop::collection::btree_set((0..n, 0..n), 0..20);
        let labels = prop::option::of(prop::collection::btree_set(label, n));
        let order = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
        (pairs, labels, order).prop_map(move |(pairs, labels, order)| {
            let edges = pairs.into_iter().filter(|(u, v)| u < v);
            let graph = Graph::from_edges(n, edges).unwrap();
            let Some(labels) = labels else { return graph };
            let sorted: Vec<_> = labels.into_iter().collect();
            graph.with_labels(order.into_iter().map(|at| sorted[at].clone()).collect()).unwrap()
        })
    })
}

/// A label that is not a node number, so that it must be kept.
const PLAIN: &str = "[a-zé][a-z0-9 ,._é-]{0,5}[a-z0-9]";
/// Labels that look like numbers but are none of `0..n`, in any order.
const NUMBERS: &str = "[1-9][0-9]{2,4}";
/// Labels with every nuisance that quoting must cope with.
const NASTY: &str = "[a-z][ \"'&<>,;#{}\\\\a-z]{0,5}";
const NASTIER: &str = "[a-z][ \"'&<>,;#{}\\\\\n\r\ta-z]{0,5}";

proptest! {
    #[test]
    fn every_format_round_trips(graph in graphs(PLAIN), numbered in graphs(NUMBERS)) {
        for format in Format::ALL {
            prop_assert_eq!(&round_trip(&graph, format).unwrap(), &graph, "{}", format);
            prop_assert_eq!(&round_trip(&numbered, format).unwrap(), &numbered, "{}", format);
        }
    }

    #[test]
    fn quoting_formats_round_trip_any_name(graph in graphs(NASTY), nastier in graphs(NASTIER)) {
        for format in [Format::GraphMl, Format::NodeLink] {
            prop_assert_eq!(&round_trip(&graph, format).unwrap(), &graph, "{}", format);
        }
        prop_assert_eq!(&round_trip(&nastier, Format::NodeLink).unwrap(), &nastier);
    }

    #[test]
    fn names_are_refused_or_round_trip(graph in graphs(NASTIER)) {
        for format in Format::ALL {
            if let Ok(()) = write(&graph, format, Vec::new()) {
                prop_assert_eq!(&round_trip(&graph, format).unwrap(), &graph, "{}", format);
            }
        }
    }

    #[test]
    fn coordinates_round_trip_exactly(seed: u64, n in 1usize..20) {
        let graph = generate(&Family::Geometric { n, radius: 0.4 }, seed, false).unwrap();
        for format in [Format::GraphMl, Format::NodeLink] {
            prop_assert_eq!(&round_trip(&graph, format).unwrap(), &graph, "{}", format);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "[0-3,;<>/\"{}\\[\\]:#%a \n\t]{0,60}",
        cut in 0usize..200,
        at in 0usize..200,
    ) {
        for format in Format::ALL {
            // A good file, cut off and with a wrong byte, packed or not, is nearer to what readers expect than noise.
            let mut good = Vec::new();
            write(&Graph::from_edges(5, [(0, 1), (1, 4)]).unwrap(), format, &mut good).unwrap();
            good.truncate(cut);
            if let (Some(byte), Some(&wrong)) = (good.get_mut(at), bytes.first()) {
                *byte = wrong;
            }
            let mut cut_off = packed(&good);
            cut_off.truncate(cut);
            let gz = [&[0x1f, 0x8b], bytes.as_slice()].concat();
            for input in [bytes.as_slice(), text.as_bytes(), &good, &packed(&good), &cut_off, &gz] {
                if let Ok(found) = read(input, format) {
                    prop_assert!(found.graph.nodes() > 0);
                }
            }
        }
    }
}

#[test]
fn the_southern_women_round_trip_with_their_names() {
    let women = generate(&Family::Davis, 0, true).unwrap();
    for format in Format::ALL {
        assert_eq!(round_trip(&women, format).unwrap(), women, "{format}");
    }
}

#[test]
fn labels_that_a_format_cannot_hold_are_refused() {
    let refused = |label: &str, other: &str, format, text: &str| {
        let graph = Graph::from_edges(2, [(0, 1)]).unwrap();
        let graph = graph.with_labels(vec![label.into(), other.into()]).unwrap();
        let mut out = Vec::new();
        let message = write(&graph, format, &mut out).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
        assert!(out.is_empty());
    };
    refused("a#b", "c", Format::EdgeList, "`label` is \"a#b\": names in edge-list files must not contain");
    refused("a\tb", "c", Format::Snap, "`label` is \"a\\tb\"");
    refused(" a", "c", Format::EdgeList, "must not be empty or start or end with a space");
    refused(
        "a\nb",
        "c",
        Format::GraphMl,
        "names in graphml files must not contain control characters; node-link",
    );
    refused("a", "a", Format::NodeLink, "two nodes have it");
}

#[test]
fn formats_are_told_by_name_and_by_extension() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
    }
    let message = "gexf".parse::<Format>().unwrap_err().to_string();
    assert_eq!(message, "`format` is gexf: choose one of edge-list, snap, graphml, node-link");
    for (name, format) in [
        ("a.txt", Format::EdgeList),
        ("a.b.EdgeList", Format::EdgeList),
        ("dir.x/a.json", Format::NodeLink),
        ("a.csv", Format::EdgeList),
        ("a.snap", Format::Snap),
        ("a.GRAPHML", Format::GraphMl),
        ("0.edges", Format::Snap),
        ("a.CSV.GZ", Format::EdgeList),
        ("ca-GrQc.txt.gz", Format::EdgeList),
    ] {
        assert_eq!(Format::from_path(name.as_ref()).unwrap(), format, "{name}");
    }
    let message = |name: &str| Format::from_path(name.as_ref()).unwrap_err().to_string();
    assert!(message("a.txt.zip").contains("unpack it first"));
    for (name, what) in [("a.b.gml", "GML"), ("a.MTX.GZ", "Matrix Market"), ("a.mm", "Matrix Market")] {
        assert_eq!(
            message(name),
            format!(
                "`file` is {name}: {what} is not read; convert it to GraphML or an edge list, as docs/how-to/own-graph.md says"
            )
        );
    }
    assert!(message("a.gz").contains("or name the format"));
    assert!(message("README").contains("or name the format: edge-list, snap"));
}

#[test]
fn files_are_read_by_extension_and_missing_ones_named() {
    let path = std::env::temp_dir().join(format!("sottovoce-topology-{}.csv", std::process::id()));
    std::fs::write(&path, "0,1\n").unwrap();
    let by_extension = read_file(&path, None);
    let by_format = read_file(&path, Some(Format::NodeLink));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(by_extension.unwrap().graph.edge_count(), 1);
    assert!(by_format.unwrap_err().to_string().contains("line 1"));
    assert!(read_file(&path, None).unwrap_err().to_string().contains(&path.display().to_string()));
}

#[test]
fn matrices_are_never_taken_for_edge_lists() {
    for (text, problem) in [
        ("0,1\n1,0\n", "repeats the edge"),
        ("0,1,0\n1,0,1\n0,1,0\n", "the weight is `0`"),
        ("a,0,1\nb,1,0\n", "the weight is `0`"),
        (",a,b\na,0,1\nb,1,0\n", "is not an edge"),
        ("a,b,c\n0,1,0\n1,0,1\n0,1,0\n", "the weight is `0`"),
        ("0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n", "(matrices: docs/how-to/own-graph.md)"),
    ] {
        let message = read(text.as_bytes(), Format::EdgeList).unwrap_err().to_string();
        assert!(message.contains(problem), "{text}: {message}");
    }
}

#[test]
fn wild_numbers_are_refused_and_ask_for_no_memory() {
    let refused = |text: &str, format| read(text.as_bytes(), format).unwrap_err().to_string();
    assert!(refused("# nodes: 4000000000\n0 1\n", Format::EdgeList).contains("must be from 1 to 100000000"));
    // Names are names, however large.
    let found = read("4294967295 4294967296\n18446744073709551615 0\n".as_bytes(), Format::EdgeList).unwrap();
    assert_eq!(found.graph.nodes(), 4);
    assert_eq!(found.sha256.len(), 64);
    assert_eq!(
        read("".as_bytes(), Format::EdgeList).unwrap_err().to_string(),
        "no edges found; give one per line, as two names"
    );
    assert!(
        Graph::from_edges(4_294_967_294, []).unwrap_err().to_string().starts_with("`nodes` is 4294967294: ")
    );
    assert!(
        generate(&Family::Ring { n: 4_000_000_000 }, 0, true)
            .unwrap_err()
            .to_string()
            .contains("at most 100000000")
    );
}
