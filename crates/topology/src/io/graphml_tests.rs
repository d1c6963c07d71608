//! GraphML as networkx 3.6 writes it, and files that must be refused.

use super::*;

/// `networkx.write_graphml` of a graph with names, a weight and partial positions.
const NETWORKX: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="d2" for="edge" attr.name="weight" attr.type="double" />
  <key id="d1" for="node" attr.name="y" attr.type="double" />
  <key id="d0" for="node" attr.name="x" attr.type="double" />
  <graph edgedefault="undirected">
    <node id="a" />
    <node id="b" />
    <node id="c &quot;q&quot; &amp; d" />
    <node id="z">
      <data key="d0">1.5</data>
      <data key="d1">2.0</data>
    </node>
    <edge source="a" target="b">
      <data key="d2">2.0</data>
    </edge>
    <edge source="b" target="c &quot;q&quot; &amp; d" />
  </graph>
</graphml>
"#;

/// A small document around the given elements; they start on line 3.
fn document(graph: &str, elements: &str) -> String {
    format!("<graphml>\n{graph}\n{elements}\n</graph></graphml>")
}

fn message(text: &str) -> String {
    read(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn what_networkx_writes_is_read() {
    let (graph, notes) = read(NETWORKX.as_bytes()).unwrap();
    assert!(notes.len() == 1 && notes[0].starts_with("`weight` of the edges is left out"), "{notes:?}");
    assert_eq!(graph.labels().unwrap(), ["a", "b", "c \"q\" & d", "z"]);
    assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    // Only one node has a position.
    assert_eq!(graph.coordinates(), None);
}

#[test]
fn numbers_mean_themselves_and_positions_follow_them() {
    let elements = r#"<edge source="1" target="0"/>
        <node id="1"><data key="k">0.25</data><data key="l">1e-3</data></node>
        <node id="0"><data key="k">-1</data><data key="l">2</data><data key="other">9</data></node>"#;
    let text = document("<graph>", elements).replace(
        "<graphml>",
        r#"<graphml><key id="k" for="node" attr.name="pos_x"/><key id="l" for="node" attr.name="pos_y"/>"#,
    );
    let (graph, _) = read(text.as_bytes()).unwrap();
    assert_eq!(graph.labels(), None);
    assert_eq!(graph.coordinates().unwrap(), [[-1.0, 2.0], [0.25, 1e-3]]);
    assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1)]);
}

#[test]
fn edge_data_are_not_positions() {
    let elements = r#"<node id="a"/><node id="b"/><edge source="a" target="b"><data key="k">1</data></edge>"#;
    let keys = r#"<graphml><key id="k" for="all" attr.name="x"/><key id="k" for="all" attr.name="y"/>"#;
    let text = document("<graph>", elements).replace("<graphml>", keys);
    assert_eq!(read(text.as_bytes()).unwrap().0.coordinates(), None);
}

#[test]
fn directed_graphs_are_refused_with_a_remedy() {
    let text = document(r#"<graph edgedefault="directed">"#, "<node id='0'/>");
    assert_eq!(
        message(&text),
        "line 2: the graph is directed; write it as undirected (networkx: `G.to_undirected()`)"
    );
    let text =
        document("<graph>", "<node id='0'/><node id='1'/>\n<edge source='0' target='1' directed='true'/>");
    assert!(message(&text).starts_with("line 4: the graph is directed"));
}

#[test]
fn bad_elements_are_refused_with_their_line() {
    let nodes = "<node id='a'/>\n<node id='b'/>\n";
    for (elements, expected) in [
        ("<edge source='a' target='a'/>", "line 5: `a` is joined to itself; remove self-loops"),
        ("<edge source='a' target='c'/>", "line 5: the edge ends at `c`, which is not a node"),
        ("<edge source='a'/>", "line 5: <edge> has no `target`"),
        ("<node id='a'/>", "line 5: node `a` is listed twice; list each node once"),
        ("<node/>", "line 5: <node> has no `id`"),
        ("<hyperedge/>", "line 5: hyperedges are not supported; use edges between two nodes"),
        ("<node id='c'>\n<graph>", "line 6: there is a second <graph>"),
        (
            "<edge source='a' target='b'/>\n\n<edge source='b' target='a'/>",
            "line 7: `b a` repeats the edge of line 5; list each edge once",
        ),
        ("\n</oops>", "line 6: the XML is broken"),
        ("<edge source='a' target='&nope;'/>", "line 5: attribute `target` is broken"),
    ] {
        let text = document("<graph>", &format!("{nodes}{elements}"));
        assert!(message(&text).starts_with(expected), "{elements}: {}", message(&text));
    }
}

#[test]
fn other_files_are_refused() {
    assert_eq!(message("<html></html>"), "no <node> elements found; is this GraphML?");
    assert_eq!(message(""), "no <node> elements found; is this GraphML?");
    assert_eq!(
        message("<graphml>\n<graph><node id='0'/>\n"),
        "line 3: the file ends inside an element; it seems to be cut off"
    );
    assert_eq!(
        read(b"<graphml>\n\xff").unwrap_err().to_string(),
        "line 2: the file is not UTF-8 text; save it as UTF-8"
    );
}
