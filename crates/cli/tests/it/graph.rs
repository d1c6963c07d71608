//! `sottovoce graph`, run as users run it: every family against closed forms, and what an inspection says.

// Helpers outside the test functions unwrap as well.

use crate::common;

use std::f64::consts::{PI, SQRT_2};
use std::fs;

use common::graphs::{Session, known, near, parse};
use serde_json::Value;

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
        ("ring --peers 9", known(9, 9).degrees(2, 2).mixes(turn(1.0 / 9.0), turn(4.0 / 9.0))),
        ("ring -n 9", known(9, 9).fiedler(2.0 - 2.0 * turn(1.0 / 9.0))),
        // Metropolis weights on a path are I - L/2, on a star I - L/5.
        ("path --peers 5", known(5, 4).mixes(turn(0.1), -turn(0.1)).fiedler(2.0 - 2.0 * turn(0.1))),
        ("path --peers 2", known(2, 1).degrees(1, 1).mixes(-1.0, -1.0).fiedler(2.0)),
        ("star --peers 6", star),
        ("complete --peers 6", complete),
        ("grid --set rows=3 --set cols=4", known(12, 17).degrees(2, 4).fiedler(2.0 - SQRT_2)),
        ("grid --peers 16", square),
        ("grid --set rows=4 --set cols=4 --peers 16", square),
        ("torus --set sides=5,5", known(25, 50).mixes(0.5 + 0.5 * turn(0.2), turn(0.4))),
        ("torus --set sides=4,4,4", torus),
        ("torus --peers 64 --set dimensions=3", torus),
        ("hypercube --peers 16", cube),
        ("hypercube --set dimensions=4", cube),
        ("exponential --peers 8", known(8, 20).mixes(0.2, -(1.0 + SQRT_2) / 5.0).fiedler(4.0)),
        ("erdos-renyi --peers 6 --set probability=1", complete),
        ("erdos-renyi --peers 6 --mean-degree 5", complete),
        ("erdos-renyi --peers 6 --set probability=0", known(6, 0).degrees(0, 0).fiedler(0.0)),
        ("random-regular --peers 20 --degree 4", known(20, 40).degrees(4, 4)),
        ("random-regular --peers 6 --degree 5", complete),
        ("geometric --peers 6 --set radius=1.5", complete),
        ("geometric-fiedler --peers 6 --set fiedler=1", complete),
        // Two complete pieces, and the complete bipartite graph.
        (
            "stochastic-block --set sizes=3,4 --set p-in=1 --set p-out=0",
            known(7, 9).degrees(2, 3).fiedler(0.0),
        ),
        (
            "stochastic-block --set sizes=2,3 --set p-in=0 --set p-out=1",
            known(5, 6).degrees(2, 3).fiedler(2.0),
        ),
        ("barabasi-albert --peers 10 --set attach=2", known(10, 16)),
        ("barabasi-albert --peers 6 --set attach=5", star),
        (
            "watts-strogatz --peers 9 --set neighbors=4 --set rewire=0",
            known(9, 18).degrees(4, 4).fiedler(4.0 - 2.0 * turn(1.0 / 9.0) - 2.0 * turn(2.0 / 9.0)),
        ),
        ("watts-strogatz --peers 30 --set neighbors=4 --set rewire=0.5", known(30, 60)),
        ("davis", known(32, 89).degrees(2, 14)),
    ] {
        let session = Session::new();
        let written = session.json(&format!("generate --family {arguments} --out graph.txt"));
        assert_eq!(written["family"], arguments.split(' ').next().unwrap());
        known.check(&session.json("inspect graph.txt --weights metropolis"), arguments);
        assert_eq!((&written["nodes"], &written["edges"]), (&known.nodes.into(), &known.edges.into()));
    }
}

#[test]
fn a_mean_degree_is_met_on_average() {
    // 2000 nodes of mean degree 8: 8000 edges. The deviation is below 200 for either family, of which 5 are 1000.
    for family in ["erdos-renyi", "geometric"] {
        let edges = Session::new()
            .json(&format!("generate --family {family} --peers 2000 --mean-degree 8 --quiet"))["edges"]
            .as_array()
            .unwrap()
            .len();
        assert!((7000..9000).contains(&edges), "{family}: {edges}");
    }
}

#[test]
fn a_fiedler_value_is_met_and_reported() {
    let session = Session::new();
    let written =
        session.json("generate --family geometric-fiedler --peers 20 --set fiedler=0.06 --out g.json");
    let achieved = written["fiedler_normalized"].as_f64().unwrap();
    assert!((achieved / 0.06 - 1.0).abs() <= 0.02, "{written}");
    assert!(written["radius"].as_f64().is_some_and(|radius| radius > 0.0 && radius < 1.5));
    assert!(near(&session.json("inspect g.json")["fiedler_normalized"], achieved));
}

#[test]
fn laziness_and_weights_change_the_spectrum_as_they_should() {
    let session = Session::new();
    session.ok("generate --family hypercube --peers 16 --out cube.txt");
    // The eigenvalues 1 - k/2, k = 0..4: lazily (1 + them)/2, and with one more for oneself 1 - 2k/5.
    for (options, gap, lambda_2, lambda_n) in [
        ("", 0.4, 0.6, -0.6),
        ("--weights metropolis", 0.0, 0.5, -1.0),
        ("--weights uniform", 0.0, 0.5, -1.0),
        ("--weights metropolis --lazy 0.5", 0.25, 0.75, 0.0),
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
    for family in
        ["path --peers 1", "path --peers 2", "ring --peers 9", "erdos-renyi --peers 4 --set probability=0"]
    {
        session.ok(&format!("generate --family {family} --out g.txt --overwrite"));
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
    session.ok("generate --family path --peers 1 --out one.txt");
    let one = session.json("inspect one.txt --distances");
    assert_eq!(
        (&one["connected"], &one["components"], &one["max_degree"]),
        (&true.into(), &1.into(), &0.into())
    );
    assert_eq!((&one["spectral_gap"], &one["fiedler"]), (&Value::Null, &Value::Null));
    assert_eq!((&one["diameter"], &one["average_distance"]), (&0.into(), &0.0.into()));
    session.ok("generate --family path --peers 2 --out two.txt");
    let two = session.json("inspect two.txt --distances --weights metropolis");
    assert_eq!((&two["spectral_gap"], &two["spectral_gap_method"]), (&0.0.into(), &"structure".into()));
    for key in ["relaxation_time", "mixing_time_lower", "mixing_time_upper", "chebyshev_gamma"] {
        assert_eq!(two[key], Value::Null, "{key}");
    }
    assert_eq!((&two["diameter"], &two["average_distance"]), (&1.into(), &1.0.into()));
}

#[test]
fn speeds_follow_from_the_gap() {
    let session = Session::new();
    session.ok("generate --family complete --peers 5 --out g.txt");
    let found = session.json("inspect g.txt --distances --weights metropolis");
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
    session.ok("generate --family torus --set sides=35,35 --out g.txt");
    let found = session.json("inspect g.txt --weights metropolis --lazy 0.5");
    assert_eq!(found["spectral_gap_method"], "lanczos");
    assert!(near(&found["spectral_gap"], (1.0 - turn(1.0 / 35.0)) / 4.0), "{found}");
    assert!(near(&found["fiedler"], 2.0 - 2.0 * turn(1.0 / 35.0)), "{found}");
    assert!(
        session
            .run("inspect g.txt --weights metropolis --lazy 0.5")
            .stderr
            .contains("highly likely, not proven")
    );
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
    session.ok("generate --family ring --peers 8 --out g.txt");
    let ended = session.run("inspect g.txt --weights metropolis");
    assert!(ended.stderr.contains("the graph is bipartite") && ended.stderr.contains("try --lazy 0.5"));
    assert_eq!(session.run("inspect g.txt --weights metropolis --lazy 0.5").stderr, "");
}

#[test]
fn people_get_a_table_with_meanings() {
    let session = Session::new();
    session.ok("generate --family star --peers 6 --out star.txt");
    let text = session.ok("inspect star.txt --distances --weights metropolis");
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
