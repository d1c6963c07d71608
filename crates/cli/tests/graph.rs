//! `sottovoce graph`, run as users run it: every family against closed forms, every format, every refusal.

// Helpers outside the test functions unwrap as well.
#![allow(clippy::unwrap_used)]

mod common;

use common::flat;
use std::f64::consts::{PI, SQRT_2};
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// The program in a folder of its own.
struct Session {
    folder: TempDir,
}

/// How a run ended.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Session {
    fn new() -> Self {
        Self { folder: tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `sottovoce graph` with arguments separated by blanks.
    fn run(&self, arguments: &str) -> Ended {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &str, stdin: &str) -> Ended {
        let mut command = cargo_bin_cmd!("sottovoce");
        command.arg("graph").args(arguments.split_whitespace()).write_stdin(stdin);
        ended(command.current_dir(self.folder.path()))
    }

    /// Runs what must work, and returns standard output.
    fn ok(&self, arguments: &str) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments}: {}", ended.stderr);
        ended.stdout
    }

    fn json(&self, arguments: &str) -> Value {
        parse(&self.ok(&format!("{arguments} --json")))
    }

    /// Runs what must be refused: exit code 2, the message, nothing on standard output, no new file.
    fn refused(&self, arguments: &str, expected: &str) {
        let before = self.files();
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments}\n  said {}  not {expected}", ended.stderr);
        assert_eq!(ended.stdout, "", "{arguments}");
        assert_eq!(self.files(), before, "{arguments}");
    }

    /// Everything in the folder, hidden files too.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap());
        let content = |path: &Path| fs::read(path).unwrap_or_default();
        let mut files: Vec<_> =
            entries.map(|entry| (entry.file_name().into_string().unwrap(), content(&entry.path()))).collect();
        files.sort();
        files
    }
}

fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: flat(&output.stderr) }
}

/// The one JSON document that the text is.
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-9)
}

/// What is known about a graph from its definition; numbers without a closed form are left out.
#[derive(Clone, Copy, Default)]
struct Known {
    nodes: u64,
    edges: u64,
    degrees: Option<(u64, u64)>,
    lambda_2: Option<f64>,
    lambda_n: Option<f64>,
    fiedler: Option<f64>,
}

fn known(nodes: u64, edges: u64) -> Known {
    Known { nodes, edges, ..Known::default() }
}

impl Known {
    fn degrees(self, min: u64, max: u64) -> Self {
        Self { degrees: Some((min, max)), ..self }
    }

    /// The two eigenvalues of Metropolis weights.
    fn mixes(self, lambda_2: f64, lambda_n: f64) -> Self {
        Self { lambda_2: Some(lambda_2), lambda_n: Some(lambda_n), ..self }
    }

    fn fiedler(self, value: f64) -> Self {
        Self { fiedler: Some(value), ..self }
    }

    fn check(&self, found: &Value, what: &str) {
        assert_eq!((&found["nodes"], &found["edges"]), (&self.nodes.into(), &self.edges.into()), "{what}");
        let mean = 2.0 * self.edges as f64 / self.nodes as f64;
        assert!(near(&found["mean_degree"], mean), "{what}: {found}");
        if let Some((min, max)) = self.degrees {
            let degrees = (&found["min_degree"], &found["max_degree"]);
            assert_eq!(degrees, (&min.into(), &max.into()), "{what}");
        }
        if let (Some(second), Some(last)) = (self.lambda_2, self.lambda_n) {
            assert!(near(&found["lambda_2"], second), "{what}: lambda_2 {} {second}", found["lambda_2"]);
            assert!(near(&found["lambda_n"], last), "{what}: lambda_n {} {last}", found["lambda_n"]);
            let gap = 1.0 - second.abs().max(last.abs());
            assert!(near(&found["spectral_gap"], gap), "{what}: gap {} {gap}", found["spectral_gap"]);
        }
        if let Some(fiedler) = self.fiedler {
            assert!(near(&found["fiedler"], fiedler), "{what}: fiedler {} {fiedler}", found["fiedler"]);
            assert!(near(&found["fiedler_normalized"], fiedler / self.nodes as f64), "{what}");
            assert_eq!(found["connected"], fiedler > 0.0, "{what}");
        }
    }
}

/// The cosine of a fraction of the circle.
fn turn(fraction: f64) -> f64 {
    (2.0 * PI * fraction).cos()
}

#[test]
fn every_family_has_the_numbers_of_its_closed_form() {
    let cube = known(16, 32).degrees(4, 4).mixes(0.5, -1.0).fiedler(2.0);
    let complete = known(6, 15).degrees(5, 5).mixes(-0.2, -0.2).fiedler(6.0);
    let star = known(6, 5).degrees(1, 5).mixes(0.8, -0.2).fiedler(1.0);
    let torus = known(64, 192).degrees(6, 6).mixes(2.0 / 3.0, -1.0).fiedler(2.0);
    let square = known(16, 24).degrees(2, 4).fiedler(2.0 - SQRT_2);
    for (arguments, known) in [
        ("ring --nodes 9", known(9, 9).degrees(2, 2).mixes(turn(1.0 / 9.0), turn(4.0 / 9.0))),
        ("ring -n 9", known(9, 9).fiedler(2.0 - 2.0 * turn(1.0 / 9.0))),
        // Metropolis weights on a path are I - L/2, on a star I - L/5.
        ("path --nodes 5", known(5, 4).mixes(turn(0.1), -turn(0.1)).fiedler(2.0 - 2.0 * turn(0.1))),
        ("path --nodes 2", known(2, 1).degrees(1, 1).mixes(-1.0, -1.0).fiedler(2.0)),
        ("star --nodes 6", star),
        ("complete --nodes 6", complete),
        ("grid --rows 3 --cols 4", known(12, 17).degrees(2, 4).fiedler(2.0 - SQRT_2)),
        ("grid --nodes 16", square),
        ("grid --rows 4 --cols 4 --nodes 16", square),
        ("torus --sides 5,5", known(25, 50).mixes(0.5 + 0.5 * turn(0.2), turn(0.4))),
        ("torus --sides 4,4,4", torus),
        ("torus --nodes 64 --dimensions 3", torus),
        ("hypercube --nodes 16", cube),
        ("hypercube --dimension 4", cube),
        ("exponential --nodes 8", known(8, 20).mixes(0.2, -(1.0 + SQRT_2) / 5.0).fiedler(4.0)),
        ("erdos-renyi --nodes 6 --probability 1", complete),
        ("erdos-renyi --nodes 6 --mean-degree 5", complete),
        ("erdos-renyi --nodes 6 -p 0", known(6, 0).degrees(0, 0).fiedler(0.0)),
        ("random-regular --nodes 20 --degree 4", known(20, 40).degrees(4, 4)),
        ("random-regular --nodes 6 --degree 5", complete),
        ("geometric --nodes 6 --radius 1.5", complete),
        ("geometric-fiedler --nodes 6 --fiedler 1", complete),
        // Two complete pieces, and the complete bipartite graph.
        ("stochastic-block --sizes 3,4 --p-in 1 --p-out 0", known(7, 9).degrees(2, 3).fiedler(0.0)),
        ("stochastic-block --sizes 2,3 --p-in 0 --p-out 1", known(5, 6).degrees(2, 3).fiedler(2.0)),
        ("barabasi-albert --nodes 10 --attach 2", known(10, 16)),
        ("barabasi-albert --nodes 6 --attach 5", star),
        (
            "watts-strogatz --nodes 9 --neighbors 4 --rewire 0",
            known(9, 18).degrees(4, 4).fiedler(4.0 - 2.0 * turn(1.0 / 9.0) - 2.0 * turn(2.0 / 9.0)),
        ),
        ("watts-strogatz --nodes 30 --neighbors 4 --rewire 0.5", known(30, 60)),
        ("davis", known(32, 89).degrees(2, 14)),
    ] {
        let session = Session::new();
        let written = session.json(&format!("generate --family {arguments} --out graph.txt"));
        assert_eq!(written["family"], arguments.split(' ').next().unwrap());
        known.check(&session.json("inspect graph.txt"), arguments);
        assert_eq!((&written["nodes"], &written["edges"]), (&known.nodes.into(), &known.edges.into()));
    }
}

#[test]
fn a_mean_degree_is_met_on_average() {
    // 2000 nodes of mean degree 8: 8000 edges. The deviation is below 200 for either family, of which 5 are 1000.
    for family in ["erdos-renyi", "geometric"] {
        let edges = Session::new()
            .json(&format!("generate --family {family} --nodes 2000 --mean-degree 8 --quiet"))["edges"]
            .as_array()
            .unwrap()
            .len();
        assert!((7000..9000).contains(&edges), "{family}: {edges}");
    }
}

#[test]
fn a_fiedler_value_is_met_and_reported() {
    let session = Session::new();
    let written = session.json("generate --family geometric-fiedler --nodes 20 --fiedler 0.06 --out g.json");
    let achieved = written["fiedler_normalized"].as_f64().unwrap();
    assert!((achieved / 0.06 - 1.0).abs() <= 0.02, "{written}");
    assert!(written["radius"].as_f64().is_some_and(|radius| radius > 0.0 && radius < 1.5));
    assert!(near(&session.json("inspect g.json")["fiedler_normalized"], achieved));
}

#[test]
fn laziness_and_weights_change_the_spectrum_as_they_should() {
    let session = Session::new();
    session.ok("generate --family hypercube --nodes 16 --out cube.txt");
    // The eigenvalues 1 - k/2, k = 0..4: lazily (1 + them)/2, and with one more for oneself 1 - 2k/5.
    for (options, gap, lambda_2, lambda_n) in [
        ("", 0.0, 0.5, -1.0),
        ("--weights uniform", 0.0, 0.5, -1.0),
        ("--lazy 0.5", 0.25, 0.75, 0.0),
        ("--weights uniform --lazy 0.5", 0.25, 0.75, 0.0),
        ("--weights metropolis-plus-one", 0.4, 0.6, -0.6),
    ] {
        let found = session.json(&format!("inspect cube.txt {options}"));
        for (key, expected) in [("spectral_gap", gap), ("lambda_2", lambda_2), ("lambda_n", lambda_n)] {
            assert!(near(&found[key], expected), "{options}: {key} {}", found[key]);
        }
        assert!(near(&found["fiedler"], 2.0));
    }
}

/// Keys that every inspection has.
const KEYS: [&str; 31] = [
    "file",
    "nodes",
    "edges",
    "connected",
    "components",
    "largest_component",
    "min_degree",
    "max_degree",
    "mean_degree",
    "weights",
    "lazy",
    "spectral_gap",
    "spectral_gap_error_bound",
    "spectral_gap_method",
    "lambda_2",
    "lambda_2_error_bound",
    "lambda_2_method",
    "lambda_n",
    "lambda_n_error_bound",
    "lambda_n_method",
    "fiedler",
    "fiedler_error_bound",
    "fiedler_method",
    "fiedler_normalized",
    "relaxation_time",
    "mixing_time_eps",
    "mixing_time_lower",
    "mixing_time_upper",
    "chebyshev_gamma",
    "diameter",
    "average_distance",
];

#[test]
fn inspections_are_one_flat_object_whatever_the_graph() {
    let session = Session::new();
    for family in ["path --nodes 1", "path --nodes 2", "ring --nodes 9", "erdos-renyi --nodes 4 -p 0"] {
        session.ok(&format!("generate --family {family} --out g.txt --force"));
        let found = session.json("inspect g.txt --distances");
        let origin = ["schema_version", "version", "command", "seed", "graph_sha256"];
        let mut keys: Vec<_> = found.as_object().unwrap().keys().map(String::as_str).collect();
        keys.retain(|key| !origin.contains(key));
        let mut expected = KEYS;
        keys.sort_unstable();
        expected.sort_unstable();
        assert_eq!(keys, expected, "{family}");
        assert!(keys.iter().all(|key| !found[key].is_object() && !found[key].is_array()));
    }
    assert_eq!(session.json("inspect g.txt").as_object().unwrap().len(), KEYS.len() - 2 + 5);
}

#[test]
fn what_does_not_exist_is_null() {
    let session = Session::new();
    session.ok("generate --family path --nodes 1 --out one.txt");
    let one = session.json("inspect one.txt --distances");
    assert_eq!(
        (&one["connected"], &one["components"], &one["max_degree"]),
        (&true.into(), &1.into(), &0.into())
    );
    assert_eq!((&one["spectral_gap"], &one["fiedler"]), (&Value::Null, &Value::Null));
    assert_eq!((&one["diameter"], &one["average_distance"]), (&0.into(), &0.0.into()));
    session.ok("generate --family path --nodes 2 --out two.txt");
    let two = session.json("inspect two.txt --distances");
    assert_eq!((&two["spectral_gap"], &two["spectral_gap_method"]), (&0.0.into(), &"structure".into()));
    for key in ["relaxation_time", "mixing_time_lower", "mixing_time_upper", "chebyshev_gamma"] {
        assert_eq!(two[key], Value::Null, "{key}");
    }
    assert_eq!((&two["diameter"], &two["average_distance"]), (&1.into(), &1.0.into()));
}

#[test]
fn speeds_follow_from_the_gap() {
    let session = Session::new();
    session.ok("generate --family complete --nodes 5 --out g.txt");
    let found = session.json("inspect g.txt --distances");
    // Gap 3/4. (4/3 - 1) ln 2 <= t <= ln(5/0.25) / (3/4); gamma = 2 (1 - sqrt(39/64)) / (5/8)².
    for (key, expected) in [
        ("relaxation_time", 4.0 / 3.0),
        ("mixing_time_eps", 0.25),
        ("mixing_time_lower", 2f64.ln() / 3.0),
        ("mixing_time_upper", 20f64.ln() / 0.75),
        ("chebyshev_gamma", 2.0 * (1.0 - (39f64 / 64.0).sqrt()) / (25.0 / 64.0)),
        ("average_distance", 1.0),
    ] {
        assert!(near(&found[key], expected), "{key}: {} {expected}", found[key]);
    }
    assert!(found["spectral_gap_error_bound"].as_f64().is_some_and(|bound| bound > 0.0 && bound < 1e-12));
    assert_eq!((&found["spectral_gap_method"], &found["diameter"]), (&"dense".into(), &1.into()));
    // All weights 1/5: the gap is 1, and rounding must not turn the rest into null.
    let at_once = session.json("inspect g.txt --weights metropolis-plus-one");
    assert!(near(&at_once["spectral_gap"], 1.0) && at_once["chebyshev_gamma"].is_number(), "{at_once}");
}

#[test]
fn large_graphs_are_inspected_by_lanczos() {
    let session = Session::new();
    session.ok("generate --family torus --sides 35,35 --out g.txt");
    let found = session.json("inspect g.txt --lazy 0.5");
    assert_eq!(found["spectral_gap_method"], "lanczos");
    assert!(near(&found["spectral_gap"], (1.0 - turn(1.0 / 35.0)) / 4.0), "{found}");
    assert!(near(&found["fiedler"], 2.0 - 2.0 * turn(1.0 / 35.0)), "{found}");
    assert!(session.run("inspect g.txt --lazy 0.5").stderr.contains("highly likely, not proven"));
}

#[test]
fn a_graph_in_pieces_is_inspected_with_a_note() {
    let session = Session::new();
    fs::write(session.path("two.txt"), "0 1\n1 2\n2 0\n3 4\n").unwrap();
    let ended = session.run("inspect two.txt --distances --json");
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("note: the graph is in 2 pieces, the largest with 3 of 5 nodes"));
    let found = parse(&ended.stdout);
    assert_eq!((&found["connected"], &found["components"]), (&false.into(), &2.into()));
    assert_eq!((&found["largest_component"], &found["diameter"]), (&3.into(), &Value::Null));
    for (key, expected) in
        [("spectral_gap", 0.0), ("fiedler", 0.0), ("lambda_2", 1.0), ("fiedler_normalized", 0.0)]
    {
        assert_eq!(found[key], expected, "{key}");
    }
    assert_eq!(session.run("inspect two.txt --quiet").stderr, "");
}

#[test]
fn a_bipartite_graph_is_told_how_to_mix() {
    let session = Session::new();
    session.ok("generate --family ring --nodes 8 --out g.txt");
    let ended = session.run("inspect g.txt");
    assert!(ended.stderr.contains("the graph is bipartite") && ended.stderr.contains("try --lazy 0.5"));
    assert_eq!(session.run("inspect g.txt --lazy 0.5").stderr, "");
}

#[test]
fn people_get_a_table_with_meanings() {
    let session = Session::new();
    session.ok("generate --family star --nodes 6 --out star.txt");
    let text = session.ok("inspect star.txt --distances");
    for (name, value, meaning) in [
        ("nodes", "6", "peers"),
        ("connected", "yes", "every node can reach every other"),
        ("spectral gap", "0.2 ±", "larger mixes faster"),
        ("lambda_n", "-0.2 ±", "smallest eigenvalue"),
        ("fiedler / nodes", "0.166667", "1 for the complete graph"),
        ("average distance", "1.66667", "on average"),
    ] {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
        let rest = line.trim_start().strip_prefix(name).unwrap_or_default().trim_start();
        assert!(rest.starts_with(value) && rest.contains(meaning), "{name}: {line:?}\n{text}");
    }
    let column = |meaning: &str| {
        let before = text.lines().find_map(|line| line.split_once(meaning)).map(|(before, _)| before);
        before.map(|before| before.chars().count())
    };
    assert_eq!(column("peers"), column("larger mixes faster"), "{text}");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let session = Session::new();
    for family in [
        "erdos-renyi --nodes 50 -p 0.2",
        "random-regular --nodes 50 --degree 3",
        "geometric --nodes 50 --radius 0.3",
        "geometric-fiedler --nodes 12 --fiedler 0.1",
        "stochastic-block --sizes 25,25 --p-in 0.4 --p-out 0.1",
        "barabasi-albert --nodes 50 --attach 2",
        "watts-strogatz --nodes 50 --neighbors 4 --rewire 0.3",
    ] {
        let at = |seed: u64| {
            session.run(&format!("generate --family {family} --format graphml --seed {seed}")).stdout
        };
        assert_eq!(at(7), at(7), "{family}");
        assert_ne!(at(7), at(8), "{family}");
        let name = family.split(' ').next().unwrap();
        session.run(&format!("generate --family {family} --seed 7 --out {name}.graphml --quiet"));
        assert_eq!(fs::read_to_string(session.path(&format!("{name}.graphml"))).unwrap(), at(7));
    }
}

#[test]
fn standard_output_gets_an_edge_list_or_one_document() {
    let session = Session::new();
    assert_eq!(session.ok("generate --family path --nodes 3"), "# nodes: 3\n0 1\n1 2\n");
    assert_eq!(session.ok("generate --family path --nodes 3 --out -"), "# nodes: 3\n0 1\n1 2\n");
    assert_eq!(session.ok("generate --family path --nodes 2 --format adjacency-csv"), "0,1\n1,0\n");
    let document = session.json("generate --family path --nodes 3 --seed 5");
    assert_eq!(document["edges"], serde_json::json!([[0, 1], [1, 2]]));
    assert_eq!(
        (&document["family"], &document["nodes"], &document["seed"]),
        (&"path".into(), &3.into(), &5.into())
    );
    assert_eq!(session.json("generate --family davis")["labels"].as_array().unwrap().len(), 32);
    let coordinates = &session.json("generate --family geometric --nodes 4 --radius 2")["coordinates"];
    assert_eq!(coordinates.as_array().unwrap().len(), 4);
    assert!(session.files().is_empty());
}

#[test]
fn every_format_is_known_by_its_extension() {
    let session = Session::new();
    let drawn = known(10, 16);
    for (extension, format) in [
        ("txt", "edge-list"),
        ("tsv", "edge-list"),
        ("edges", "snap"),
        ("edgelist", "edge-list"),
        ("el", "edge-list"),
        ("snap", "snap"),
        ("graphml", "graphml"),
        ("xml", "graphml"),
        ("json", "node-link"),
        ("csv", "adjacency-csv"),
        ("gml", "gml"),
        ("mtx", "matrix-market"),
        ("mm", "matrix-market"),
    ] {
        let generate = format!("generate --family barabasi-albert --nodes 10 --attach 2 --out g.{extension}");
        assert_eq!(session.json(&generate)["format"], format);
        drawn.check(&session.json(&format!("inspect g.{extension}")), extension);
        // The same under a name that says nothing.
        fs::copy(session.path(&format!("g.{extension}")), session.path("graph")).unwrap();
        drawn.check(&session.json(&format!("inspect graph --format {format}")), format);
        let text = fs::read_to_string(session.path("graph")).unwrap();
        let piped = session.run_with(&format!("inspect - --format {format} --json"), &text);
        drawn.check(&parse(&piped.stdout), format);
    }
    session.ok("generate --family ring --nodes 5 --out ring --format snap");
    assert!(fs::read_to_string(session.path("ring")).unwrap().starts_with("# Nodes: 5 Edges: 5"));
}

#[test]
fn standard_input_is_an_edge_list_unless_said_otherwise() {
    let session = Session::new();
    let ended = session.run_with("inspect - --json", "ann bob\nbob eve\n");
    known(3, 2).check(&parse(&ended.stdout), &ended.stderr);
    let ended = session.run_with("inspect -", "0 1\n1 0\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("standard input: line 2: `1 0` repeats the edge of line 1"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_summary_says_what_was_written() {
    let session = Session::new();
    assert_eq!(
        session.ok("generate --family ring --nodes 5 --out ring.txt"),
        "wrote ring.txt (edge-list): ring(n=5), 5 nodes, 5 edges, connected\n"
    );
    assert_eq!(
        session.ok("generate --family barabasi-albert --nodes 5 --attach 1 --seed 3 --out tree.csv"),
        "wrote tree.csv (adjacency-csv): barabasi-albert(n=5, m=1), 5 nodes, 4 edges, connected, seed 3\n"
    );
    let mut written = session.json("generate --family ring --nodes 5 --out again.txt --seed 4");
    for key in ["schema_version", "version", "command"] {
        written.as_object_mut().unwrap().remove(key).unwrap();
    }
    let expected = serde_json::json!({
        "family": "ring", "description": "ring(n=5)", "seed": 4, "nodes": 5, "edges": 5, "connected": true,
        "components": 1, "out": "again.txt", "format": "edge-list"
    });
    assert_eq!(written, expected);
    assert!(
        session.ok("generate --family ring --nodes 5 --out quiet.txt --quiet").starts_with("wrote quiet.txt")
    );
    assert!(session.path("quiet.txt").exists());
}

#[test]
fn pieces_are_noted_and_can_be_redrawn() {
    let session = Session::new();
    let sparse = "generate --family erdos-renyi --nodes 40 --mean-degree 3 --out g.txt --force";
    let ended = session.run(sparse);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("note: the graph is in ") && ended.stderr.contains("--connected"));
    assert_eq!(session.run(&format!("{sparse} --quiet")).stderr, "");
    let ended = session.run(&format!("{sparse} --connected --json"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(parse(&ended.stdout)["connected"], true);
}

#[test]
fn existing_files_are_replaced_only_by_force() {
    let session = Session::new();
    fs::write(session.path("g.txt"), "mine").unwrap();
    session.refused(
        "generate --family ring --nodes 5 --out g.txt",
        "`out` is g.txt: the file exists; give another",
    );
    session.ok("generate --family ring --nodes 5 --out g.txt --force");
    assert!(fs::read_to_string(session.path("g.txt")).unwrap().starts_with("# nodes: 5\n"));
    assert_eq!(session.files().len(), 1);
    // What cannot be drawn leaves the old file as it was: checked by `refused`.
    let hopeless = "generate --family erdos-renyi --nodes 40 -p 0.001 --connected --out g.txt --force";
    session.refused(hopeless, "`connected` cannot be had: the graph is not connected");
}

#[cfg(unix)]
#[test]
fn a_write_that_fails_half_way_leaves_nothing_behind() {
    let session = Session::new();
    fs::write(session.path("g.txt"), "mine").unwrap();
    // At most one block of 512 (or 1024) bytes per file, and an error instead of a signal beyond.
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(cargo_bin_cmd!("sottovoce").get_program());
    command.args("graph generate --family ring --nodes 100000 --out g.txt --force".split(' '));
    let ended = ended(command.current_dir(session.folder.path()));
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("`out` is g.txt: cannot write in ."), "{}", ended.stderr);
    assert_eq!(session.files(), [("g.txt".to_owned(), b"mine".to_vec())]);
}

#[test]
fn parameters_must_fit_the_family() {
    let session = Session::new();
    for (arguments, expected) in [
        (
            "ring --nodes 9 --radius 0.1",
            "`radius` is not a parameter of ring: remove --radius; ring takes --peers",
        ),
        ("davis --nodes 32", "`peers` is not a parameter of davis"),
        ("geometric --nodes 9 -p 0.5", "`probability` is not a parameter of geometric"),
        ("ring", "`peers` is missing: ring needs --peers, such as --peers 16"),
        (
            "random-regular --nodes 8",
            "`degree` is missing: random-regular needs --degree, such as --degree 4",
        ),
        ("erdos-renyi --nodes 8", "`probability` is missing: erdos-renyi needs --probability, such as"),
        ("geometric --nodes 8", "`radius` is missing"),
        ("geometric-fiedler --nodes 8", "`fiedler` is missing"),
        ("stochastic-block --sizes 4,4 --p-in 1", "`p-out` is missing"),
        ("stochastic-block --p-in 1 --p-out 0", "`sizes` is missing"),
        ("barabasi-albert --nodes 8", "`attach` is missing"),
        ("watts-strogatz --nodes 8 --neighbors 2", "`rewire` is missing"),
        ("grid --rows 3", "`cols` is missing"),
        ("grid --cols 3", "`rows` is missing"),
        ("grid", "`rows` is missing: grid needs --rows and --cols, or --peers (a perfect square)"),
        ("torus --nodes 64", "`dimensions` is missing"),
        ("torus", "`sides` is missing"),
        ("hypercube", "`peers` is missing: hypercube needs --peers (a power of two) or --dimensions"),
        ("erdos-renyi --nodes 8 -p 0.5 --mean-degree 3", "`mean-degree` is 3: --probability is given too"),
        ("torus --sides 4,4 --dimensions 2", "`dimensions` is 2: --sides has it already"),
        (
            "grid --rows 3 --cols 4 --nodes 11",
            "`peers` is 11: the other parameters make 12; give 12 or leave",
        ),
    ] {
        session.refused(&format!("generate --out g.txt --family {arguments}"), expected);
    }
}

#[test]
fn values_out_of_range_are_refused_under_the_name_of_the_option() {
    let session = Session::new();
    for (arguments, expected) in [
        ("ring --nodes 2", "`peers` is 2: a ring needs at least 3 nodes"),
        ("ring --nodes -3", "'-3' for '--peers <N>': give a whole number"),
        ("ring --nodes ten", "'ten' for '--peers <N>': give a whole number"),
        ("complete --nodes 1000000", "`peers` is 1000000: the graph would have more than"),
        ("grid --nodes 10", "`peers` is 10: it is not a perfect square; give --rows and --cols"),
        (
            "torus --nodes 63 --dimensions 3",
            "`peers` is 63: it is not the power 3 of a whole number; give --sides",
        ),
        (
            "torus --nodes 1 --dimensions 4000000000",
            "`peers` is 1: in 4000000000 dimensions each side would be 1",
        ),
        ("torus --nodes 64 --dimensions 0", "`dimensions` is 0: give at least 1"),
        ("torus --sides 4,2", "`sides` is 2: each side of a torus must be at least 3"),
        ("hypercube --nodes 12", "`peers` is 12: give a power of two"),
        ("hypercube --dimensions 40", "`dimensions` is 40: give a number from 1 to 26"),
        ("erdos-renyi --nodes 9 -p 1.5", "`probability` is 1.5: give a probability from 0 to 1"),
        ("erdos-renyi --nodes 9 --probability -0.1", "`probability` is -0.1: give a probability from 0 to 1"),
        ("erdos-renyi --nodes 9 -p nan", "`probability` is NaN: give a probability from 0 to 1"),
        ("erdos-renyi --nodes 9 -p half", "'half' for '--probability <P>': give a number"),
        ("erdos-renyi --nodes 9 --mean-degree 9", "`mean-degree` is 9: give a number above 0 and up to 8"),
        ("erdos-renyi --nodes 9 --mean-degree nan", "`mean-degree` is NaN: give a number"),
        ("erdos-renyi --nodes 1 --mean-degree 1", "`peers` is 1: a mean degree needs at least 2 nodes"),
        ("geometric --nodes 9 --mean-degree 7.9", "`mean-degree` is 7.9: so few pairs"),
        ("geometric --nodes 9 --radius inf", "`radius` is inf: give a positive distance"),
        ("geometric-fiedler --nodes 9 --fiedler 0", "`fiedler` is 0: give a number above 0"),
        (
            "random-regular --nodes 5 --degree 3",
            "`degree` is 3: the number of nodes (5) times the degree must",
        ),
        ("stochastic-block --sizes 4,4 --p-in 2 --p-out 0", "`p-in` is 2: give a probability from 0 to 1"),
        ("stochastic-block --sizes 4,4 --p-in 1 --p-out nan", "`p-out` is NaN: give a probability"),
        ("barabasi-albert --nodes 5 --attach 5", "`attach` is 5: it must be below the number of nodes, 5"),
        ("watts-strogatz --nodes 9 --neighbors 3 --rewire 0", "`neighbors` is 3: give an even number from 2"),
        ("watts-strogatz --nodes 9 --neighbors 4 --rewire 1.1", "`rewire` is 1.1: give a probability"),
        ("wheel --nodes 9", "'wheel' for '--family <F>'"),
        (
            "erdos-renyi --nodes 40 -p 0.001 --connected",
            "erdos-renyi(n=40, p=0.001) was drawn 100 times; raise p above ln(n)/n = 9.222e-2",
        ),
    ] {
        session.refused(&format!("generate --out g.txt --family {arguments}"), expected);
    }
}

#[test]
fn places_that_cannot_be_written_are_refused() {
    let session = Session::new();
    fs::write(session.path("file"), "").unwrap();
    fs::create_dir(session.path("folder")).unwrap();
    for (options, expected) in [
        ("--out nowhere/g.txt", "`out` is nowhere/g.txt: there is no folder nowhere; create it first"),
        ("--out file/g.txt", "`out` is file/g.txt: there is no folder file; create it first"),
        ("--out folder --force --format snap", "`out` is folder: it is a folder; give a file name"),
        ("--out g.docx", "`out` is g.docx: use .txt, .tsv"),
        ("--out g", "`out` is g: use .txt, .tsv"),
        ("--out g.txt --format word", "'word' for '--format <FORMAT>'"),
        ("--force", "--out <FILE>"),
        ("--json --format snap", "`format` is snap: --json has its own on standard output"),
    ] {
        session.refused(&format!("generate --family ring --nodes 5 {options}"), expected);
    }
    #[cfg(target_os = "linux")]
    for (options, expected) in [
        // Not even the superuser makes files there.
        ("--out /proc/g.txt", "`out` is /proc/g.txt: cannot write in /proc;"),
        ("--out /dev/null --force --format snap", "`out` is /dev/null: it is not a plain file"),
    ] {
        session.refused(&format!("generate --family ring --nodes 5 {options}"), expected);
    }
}

#[test]
fn files_that_are_no_graphs_are_refused_with_the_line() {
    let session = Session::new();
    for (file, text, expected) in [
        ("loop.txt", "0 1\n1 1\n", "loop.txt (read as edge-list): line 2: `1` is joined to itself"),
        ("twice.txt", "0 1\n\n1 0\n", "line 3: `1 0` repeats the edge of line 1; list each edge once"),
        ("weights.txt", "0 1\n1 2 0.5\n", "line 2: a third column (separated by blanks), but none on line 1"),
        ("half.txt", "0 1\n# fine\n2\n", "line 3: `2` is not an edge (separated by blanks); give two names"),
        ("empty.txt", "", "empty.txt (read as edge-list): no edges found"),
        ("bad.csv", "0,1\n1,2\n", "bad.csv (read as adjacency-csv): line 2: column 2 holds `2`; give 0 or 1"),
        ("bad.json", "{\n\"nodes\": 3}", "bad.json (read as node-link): line 2: invalid type"),
        ("bad.graphml", "0 1\n", "bad.graphml (read as graphml): "),
        ("what.ever", "0 1\n", "`file` is what.ever: use .txt"),
        ("net.zip", "0 1\n", "`file` is net.zip: unpack it first"),
    ] {
        fs::write(session.path(file), text).unwrap();
        session.refused(&format!("inspect {file}"), expected);
    }
    session.refused("inspect missing.txt", "`file` is missing.txt: there is no such file; check the name");
    session.refused("inspect .", "`file` is .: it is a folder; give a file in it");
}

#[test]
fn mixing_options_out_of_range_are_refused() {
    let session = Session::new();
    session.ok("generate --family star --nodes 4 --out star.txt");
    for (options, expected) in [
        ("--lazy 1", "`lazy` is 1: give a share from 0 to below 1"),
        ("--lazy -0.1", "`lazy` is -0.1: give a share from 0 to below 1"),
        ("--lazy nan", "`lazy` is NaN: give a share from 0 to below 1"),
        ("--lazy much", "'much' for '--lazy <L>': give a number"),
        ("--weights equal", "'equal' for '--weights <WEIGHTS>'"),
        ("--weights uniform", "here it runs from 1 to 3; use --weights metropolis"),
    ] {
        session.refused(&format!("inspect star.txt {options}"), expected);
    }
}

#[test]
fn every_help_has_an_example() {
    let session = Session::new();
    for command in ["", "generate", "inspect"] {
        for flag in ["-h", "--help"] {
            let text = session.ok(&format!("{command} {flag}"));
            assert!(text.contains("Example:\n  sottovoce graph "), "{command}: {text}");
        }
    }
}
