//! Edge lists: numbering, comments, separators, and what is refused on which line.

use super::*;

fn parsed(text: &str) -> Graph {
    read(text.as_bytes(), Listing::Once).unwrap().0
}

fn notes(text: &str) -> Vec<String> {
    read(text.as_bytes(), Listing::Once).unwrap().1
}

fn message(text: &str) -> String {
    read(text.as_bytes(), Listing::Once).unwrap_err().to_string()
}

fn labels(text: &str) -> Option<Vec<String>> {
    parsed(text).labels().map(<[String]>::to_vec)
}

#[test]
fn integers_are_numbered_in_increasing_order() {
    let graph = parsed("2 0\n0 1\n");
    assert_eq!((graph.nodes(), graph.labels()), (3, None));
    assert!(graph.has_edge(0, 2));
    // Not 0..n: the numbers stay as labels; 10 comes after 9.
    let graph = parsed("10 9\n9 2\n");
    assert_eq!(graph.labels().unwrap(), ["2", "9", "10"]);
    assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    // Far apart: another route, the same result.
    let graph = parsed("9000000000000000000 5\n5 3\n");
    assert_eq!(graph.labels().unwrap(), ["3", "5", "9000000000000000000"]);
    assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
}

#[test]
fn other_names_are_numbered_by_first_appearance() {
    let graph = parsed("b a\n7 b\n");
    assert_eq!(graph.labels().unwrap(), ["b", "a", "7"]);
    assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
    // Leading zeros and signs are names, not numbers.
    assert_eq!(labels("01 1\n").unwrap(), ["01", "1"]);
    assert_eq!(labels("-1 1\n").unwrap(), ["-1", "1"]);
}

#[test]
fn separators_comments_and_blank_lines() {
    let expected = parsed("0 1\n1 2\n");
    for text in [
        "0,1\n1,2",
        "0\t1\n1\t2\n",
        "0;1\n1; 2",
        "\"0\",\"1\"\n1,2",
        "  0   1  \r\n\r\n# comment\n1 \t 2 # more\n",
        "\u{feff}0 1\n1, 2\n",
        "0 1 {}\n1 2 {'weight': 2.0, 'color': '#ff0000'}\n",
        "0,1,{}\n1\t2\t{} # comment\n",
        "# Nodes: 7 Edges: 9\n0 1#x\n1 2",
    ] {
        assert_eq!(parsed(text), expected, "{text:?}");
    }
    assert_eq!(labels("Ann Lee\tBob\nBob\tEve X\n").unwrap(), ["Ann Lee", "Bob", "Eve X"]);
    assert_eq!(labels("Ann Lee, Bob\n").unwrap(), ["Ann Lee", "Bob"]);
}

#[test]
fn comments_declare_nodes_without_edges() {
    let graph = parsed("# nodes: 5\n0 1\n");
    assert_eq!((graph.nodes(), graph.edge_count(), graph.labels()), (5, 1, None));
    assert_eq!(parsed("# nodes: 3\n").nodes(), 3);
    assert_eq!(labels("# nodes: 2\n7 9\n").unwrap(), ["7", "9"]);
    assert_eq!(labels("# node: z\n# node: b c\na\tb c\n").unwrap(), ["z", "b c", "a"]);
    assert_eq!(labels("# node: 9\n# node: 4\n4 9\n").unwrap(), ["9", "4"]);
}

#[test]
fn bad_lines_are_refused_with_their_number() {
    for (text, expected) in [
        ("0 1\n\n2 2\n", "line 3: `2` is joined to itself; remove self-loops"),
        ("# x\na a\n", "line 2: `a` is joined to itself; remove self-loops"),
        ("0 1\n1 2\n\n# c\n1 0\n", "line 5: `1 0` repeats the edge of line 1; list each edge once"),
        ("a b\n1 2\na b\n", "line 3: `a b` repeats the edge of line 1; list each edge once"),
        (
            "0 1\n5\n",
            "line 2: `5` is not an edge (separated by blanks); give two names (a node without edges is written `# node: NAME`)",
        ),
        ("0 1 0.5\n1 2 x\n", "line 2: `x` follows the two names of an edge (separated by blanks); remove"),
        ("0 1\nAnn Lee Bob\n", "line 2: a third column (separated by blanks), but none on line 1"),
        ("0;1;3\n1;2\n", "line 2: no third column (separated by semicolons), but one on line 1"),
        ("0 1 0\n", "line 1: the weight is `0`: give a positive number, or remove an edge that is none"),
        ("0,1,-2\n", "line 1: the weight is `-2`"),
        ("0 1 nan\n", "line 1: the weight is `nan`"),
        ("0 1 2 3\n", "line 1: `3` is a fourth column (separated by blanks)"),
        ("from to weight\na b c\n", "line 2: `c` follows"),
        ("0 1 {'w': 1\n", "line 1: `{'w': 1` is not `{...}` data after two names; remove it"),
        ("0 1{}\n", "line 1: `{}` is not `{...}` data after two names"),
        ("0 1 {} 7\n", "line 1: `{} 7` is not `{...}` data"),
        ("0,,1\n", "line 1: `0,,1` is not an edge (separated by commas)"),
        (",1\n", "line 1: `,1` is not an edge"),
        (
            "# nodes: 2\n0 5\n5 9\n",
            "line 1: `# nodes: 2` does not fit: 3 names are used, not all of them below 2",
        ),
        ("a b\n# nodes: 3\n", "line 2: `# nodes: 3` does not fit: 2 names"),
        ("# nodes: 0\n", "line 1: `# nodes: 0` must be from 1 to 100000000"),
        ("# nodes: 99999999999\n0 1", "line 1: `# nodes: 99999999999` must be"),
        ("# node: a\n# node: a\n", "line 2: `a` must be a new name"),
        ("", "no edges found"),
        ("# only comments\n", "no edges found"),
    ] {
        assert!(message(text).starts_with(expected), "{text:?}: {}", message(text));
    }
    let error = read(b"a b\nb \xff\n", Listing::Once).unwrap_err();
    assert!(error.to_string().starts_with("line 2: ") && error.to_string().ends_with("is not UTF-8 text"));
}

#[test]
fn headers_are_noticed_and_said() {
    for text in
        ["source,target\na,b\nb,c\n", "# nodes: 3\nFrom To\na b\nb c\n", "\"src\";\"dst\"\na;b\nb;c\n"]
    {
        assert_eq!(labels(text).unwrap(), ["a", "b", "c"], "{text}");
        assert!(notes(text).len() == 1 && notes(text)[0].contains("is taken for a header"), "{text}");
    }
    // Words above numbers are a header, whatever they say.
    let text = "user friend\n0 1\n1 2\n";
    assert_eq!((parsed(text).nodes(), notes(text).len()), (3, 1));
    // Names that take part later, or are declared, are nodes.
    for text in ["from to\nto x\n", "# node: from\nfrom to\nx y\n", "ann bob\nbob eve\n", "ann bob\n"] {
        assert_eq!(notes(text), Vec::<String>::new(), "{text}");
    }
    assert!(message("from to\n").starts_with("no edges found"));
}

#[test]
fn weights_are_read_and_left_out_with_a_note() {
    let text = "source,target,weight\n0,1,0.5\n1,2,3\n";
    assert_eq!(parsed(text), parsed("0 1\n1 2\n"));
    assert!(notes(text)[1].starts_with("the third column (weights) is left out"), "{:?}", notes(text));
    let text = "0 1 {'weight': 2}\n1 2 {}\n";
    assert!(notes(text)[0].starts_with("`{...}` data of the edges is left out"), "{:?}", notes(text));
    assert_eq!(notes("0 1 {}\n"), Vec::<String>::new());
}

#[test]
fn files_under_snaps_comments_may_list_both_directions() {
    let text = "# Undirected graph: a\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t0\n1\t2\n2\t1\n";
    assert_eq!((parsed(text).edge_count(), notes(text).len()), (2, 0));
    assert_eq!(parsed("% sym unweighted\n% 2 3 3\n0 1\n1 2\n").edge_count(), 2);
}

#[test]
fn the_writer_names_nodes_only_where_it_must() {
    let written = |graph: &Graph| {
        let mut out = Vec::new();
        write(graph, None, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written(&parsed("3 8\n8 9\n")), "# nodes: 3\n3 8\n8 9\n");
    assert_eq!(written(&parsed("b a\n")), "# nodes: 2\n# node: b\n# node: a\nb a\n");
    assert_eq!(written(&parsed("b c\ta\n")), "# nodes: 2\n# node: b c\n# node: a\nb c\ta\n");
}

#[test]
fn a_hundred_thousand_edges_load() {
    let text: String = (1..100_001).map(|v| format!("{} {v}\n", v / 2)).collect();
    let graph = parsed(&text);
    assert_eq!((graph.nodes(), graph.edge_count()), (100_001, 100_000));
    assert_eq!(graph.neighbors(100), &[50, 200, 201]);
}
