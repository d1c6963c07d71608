//! Graphs in the formats that people have, and sizes that nobody means, through the program.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write;
use std::path::Path;

use common::{flat, json, number, refused, sottovoce};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A triangle with a tail, in every format.
const FILES: [(&str, &str); 8] = [
    ("weighted.csv", "source,target,weight\nann,bob,2\nbob,eve,0.5\neve,ann,1\neve,zoe,1\n"),
    ("semicolons.txt", "from;to\nann;bob\nbob;eve\neve;ann\neve;zoe\n"),
    ("0.edges", "1 2\n2 1\n2 3\n3 2\n3 1\n1 3\n3 4\n4 3\n"),
    (
        "snap.txt",
        "# Undirected graph: x\n# Nodes: 4 Edges: 4\n# FromNodeId\tToNodeId\n1\t2\n2\t1\n2\t3\n3\t2\n3\t1\n1\t3\n3\t4\n4\t3\n",
    ),
    (
        "net.gml",
        "graph [ node [ id 7 label \"ann\" ] node [ id 8 label \"bob\" ] node [ id 9 label \"eve\" ] node [ id 1 label \"zoe\" ]\n\
         edge [ source 7 target 8 value 3 ] edge [ source 8 target 9 ] edge [ source 9 target 7 ] edge [ source 9 target 1 ] ]",
    ),
    (
        "symmetric.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n2 1 0.5\n3 2 1\n3 1 1\n4 3 2\n",
    ),
    (
        "general.mtx",
        "%%MatrixMarket matrix coordinate pattern general\n4 4 8\n2 1\n1 2\n3 2\n2 3\n3 1\n1 3\n4 3\n3 4\n",
    ),
    ("plain.el", "0 1\n1 2\n2 0\n2 3\n"),
];

fn written(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn notes(arguments: &str) -> String {
    flat(&sottovoce(arguments).assert().success().get_output().stderr)
}

#[test]
fn every_format_is_read_packed_or_not() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        let plain = written(folder.path(), name, text.as_bytes());
        let gz = written(folder.path(), &format!("{name}.gz"), &packed(text));
        for file in [plain, gz] {
            let found = json(&format!("graph inspect {file} --quiet"));
            assert_eq!((number(&found, "/nodes"), number(&found, "/edges")), (4.0, 4.0), "{file}");
        }
    }
    refused(
        "graph generate --family ring --nodes 5 --out ring.txt.gz",
        &["written unpacked", "leave .gz out"],
    );
    let cut = packed(FILES[0].1);
    let cut = written(folder.path(), "cut.csv.gz", &cut[..cut.len() - 9]);
    refused(&format!("graph inspect {cut}"), &["cannot read the graph", "check that it is whole"]);
}

#[test]
fn what_is_left_out_is_said_once_and_not_when_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), FILES[0].0, FILES[0].1.as_bytes());
    let said = notes(&format!("graph inspect {file}"));
    for words in
        ["note: this is no square matrix", "`source target` is taken for a header", "weights) is left out"]
    {
        assert_eq!(said.matches(words).count(), 1, "{words}: {said}");
    }
    assert_eq!(notes(&format!("graph inspect {file} --quiet")), "");
    let file = written(folder.path(), FILES[4].0, FILES[4].1.as_bytes());
    assert!(notes(&format!("graph inspect {file}")).contains("`value` of the edges is left out"));
}

#[test]
fn wild_sizes_get_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let declared = written(folder.path(), "declared.txt", b"# nodes: 4000000000\n0 1\n");
    refused(&format!("graph inspect {declared}"), &["line 1", "4000000000", "from 1 to 100000000"]);
    let named = written(folder.path(), "named.txt", b"4294967295 0\n0 18446744073709551615\n");
    assert_eq!(number(&json(&format!("graph inspect {named}")), "/nodes"), 3.0);
    for family in
        ["ring", "path", "star", "complete", "erdos-renyi --mean-degree 3", "random-regular --degree 4"]
    {
        refused(&format!("graph generate --family {family} --nodes 4000000000"), &["4000000000"]);
    }
    refused(
        "audit source --nodes 4000000000 --curious 100 --muting 0.5",
        &["`peers` is 4000000000", "at most"],
    );
    let butterfly = "account learning --method butterfly --nodes 4000000000 --iterations 3 --observers 0";
    refused(butterfly, &["`peers` is 4000000000", "at most"]);
    for node in ["4294967295", "18446744073709551615", "99999999"] {
        let text = format!("{{\"pairwise\": [[0, 1], [1, {node}]]}}");
        let schedule = written(folder.path(), "schedule.json", text.as_bytes());
        refused(
            &format!("account averaging --schedule {schedule} --observers 0"),
            &["`node` is", node, "3 nodes are named"],
        );
    }
}

/// The rows of a matrix are called as its format counts them; what the program writes keeps its names.
#[test]
fn rows_of_a_matrix_count_from_one() {
    let folder = tempfile::tempdir().unwrap();
    let (name, text) = FILES.iter().find(|(name, _)| *name == "general.mtx").unwrap();
    let file = written(folder.path(), name, text.as_bytes());
    let account =
        |file: &str, who: &str| format!("account averaging --graph {file} --steps 2 --observers {who}");
    let found = json(&account(&file, "4"));
    assert_eq!(found["labels"], serde_json::json!(["1", "2", "3", "4"]));
    assert_eq!(found["observers"], serde_json::json!([3]));
    refused(&account(&file, "0"), &["`observers` is 0", "name one of its nodes"]);
    let ring = folder.path().join("ring.mtx");
    let ring = ring.to_str().unwrap();
    sottovoce(&format!("graph generate --family ring --nodes 5 --out {ring}")).assert().success();
    let found = json(&account(ring, "0"));
    assert!(found["labels"].is_null() && found["observers"] == serde_json::json!([0]), "{found}");
}
