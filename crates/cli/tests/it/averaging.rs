//! `sottovoce account averaging` through the real binary.

use crate::common;

use common::flat;
use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn ring(&self, n: usize) -> PathBuf {
        let edges: String = (0..n).map(|i| format!("{i} {}\n", (i + 1) % n)).collect();
        self.write("ring.txt", &edges)
    }
}

/// What differs between two ways of asking the same.
const PROVENANCE: [&str; 3] = ["command", "graph_sha256", "version"];

/// With the same flags all verbs speak of the same protocol: `account` once had other weights than `run`.
#[test]
fn the_same_flags_mean_the_same_protocol() {
    let files = Files::new();
    let (ring, out) = (files.ring(12), files.folder.path().join("out"));
    let flags = format!("--graph {} --steps 4 --observers 0 --relay-noise 0.3 --sigma 1", ring.display());
    common::json(&format!("run averaging {flags} --out {}", out.display()));
    let transcript = format!("account transcript {} --observers 0", out.join("transcript.json").display());
    let of = |line: &str, key: &str| -> Vec<f64> {
        serde_json::from_value(common::json(line)[key].clone()).expect(key)
    };
    let ran = of(&transcript, "leakage");
    assert!((ran[4] - 0.012_463).abs() < 1e-6, "{ran:?}");
    assert_eq!(of(&format!("account averaging {flags}"), "leakage"), ran);
    // A file with the same fields has the same answer, guarantees and all.
    let text = std::fs::read_to_string(out.join("experiment.toml")).unwrap();
    let file = files.write("same.toml", &text.replace("observers = [\"0\"]\n", ""));
    let plain = flags.replace("--observers 0", "");
    for towards in ["", "--observers 0,5", "--wire-tapper", "--wire-tapper --observers 3", "--all-pairs"] {
        let lines =
            [format!("account averaging {plain} {towards}"), format!("account {} {towards}", file.display())];
        let [by_flags, by_file] = lines.map(|line| {
            let mut document = common::json(&line);
            document.as_object_mut().unwrap().retain(|key, _| !PROVENANCE.contains(&key.as_str()));
            document
        });
        assert_eq!(by_flags, by_file, "{towards}");
    }
    let audited = common::json(&format!("audit reconstruct {flags} --runs 50"));
    for target in audited["targets"].as_array().unwrap() {
        let peer = common::number(target, "/peer") as usize;
        assert!((common::number(target, "/claimed") - ran[peer]).abs() < 1e-12, "{target}");
    }
}

fn account(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("sottovoce").unwrap();
    command.args(["account", "averaging"]).args(arguments);
    command
}

fn json(arguments: &[&str]) -> Value {
    let output = account(arguments).arg("--json").assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

fn losses(value: &Value, key: &str) -> Vec<f64> {
    value[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn refused(arguments: &[&str], words: &[&str]) {
    let output = account(arguments).assert().code(2).get_output().clone();
    let message = flat(&output.stderr);
    assert!(output.stdout.is_empty(), "{arguments:?}");
    for word in words {
        assert!(message.contains(word), "{arguments:?}: `{word}` is not in: {message}");
    }
}

#[test]
fn the_ring_of_twelve_is_fully_exposed() {
    let files = Files::new();
    let ring = files.ring(12);
    let base = [
        "--graph",
        ring.to_str().unwrap(),
        "--lazy",
        "0.3333333333333333",
        "--steps",
        "6",
        "--observers",
        "0",
    ];
    let found = json(&base);
    // Who is exposed loses exactly all.
    assert!(losses(&found, "leakage")[1..].iter().all(|loss| *loss == 1.0), "{found}");
    assert_eq!(found["rank"], 11);
    assert_eq!(found["exposed"].as_array().unwrap().len(), 11);
}

#[test]
fn observers_and_relay_noise() {
    let files = Files::new();
    let ring = files.ring(10);
    let base = ["--graph", ring.to_str().unwrap(), "--lazy", "0.5", "--steps", "4", "--observers", "0,5"];
    let with = |more: &[&str]| json(&[&base[..], more].concat());
    let exact = with(&[]);
    let relay = with(&["--relay-noise", "0.3"]);
    for (quiet, loud) in losses(&relay, "leakage").iter().zip(losses(&exact, "leakage")) {
        assert!(*quiet <= loud + 1e-9);
    }
    assert!(losses(&relay, "leakage")[2] < 0.9);
}

#[test]
fn schedules_traced_with_relay_noise() {
    let files = Files::new();
    let pairs = files.write("pairs.json", r#"{"pairwise": [[0, 1], [2, 3], [1, 2], [0, 1]]}"#);
    let base = ["--schedule", pairs.to_str().unwrap(), "--observers", "0"];
    let exact = json(&base);
    // Peer 0 hears 1's value, then 1's mean with 2, who had mixed with 3.
    let found = losses(&exact, "leakage");
    assert!((found[1] - 1.0).abs() < 1e-9 && (found[2] - 0.5).abs() < 1e-9 && (found[3] - 0.5).abs() < 1e-9);
    let relay = json(&[&base[..], &["--relay-noise", "0.5"]].concat());
    assert!(losses(&relay, "leakage")[2] < 0.5);
}

#[test]
fn all_pairs_and_the_worst_coalition() {
    let files = Files::new();
    let ring = files.ring(8);
    let base = ["--graph", ring.to_str().unwrap(), "--lazy", "0.4", "--steps", "1"];
    let matrix = json(&[&base[..], &["--all-pairs"]].concat());
    assert_eq!(matrix["pairs"].as_array().unwrap().len(), 8);
    assert!((matrix["mean_of_pairs"].as_f64().unwrap() - 2.0 / 8.0).abs() < 1e-12);
    let worst = json(&[&base[..], &["--worst-coalition", "2"]].concat());
    assert_eq!(worst["rank"], 4);
    assert_eq!(worst["coalitions"]["exhaustive"], true);
}

#[test]
fn bad_input_is_refused() {
    let files = Files::new();
    let (ring, split) = (files.ring(6), files.write("split.txt", "0 1\n2 3\n"));
    let uneven = files.write("path.txt", "0 1\n1 2\n");
    let bad = files.write("bad.json", r#"{"edges": []}"#);
    let (ring, split) = (ring.to_str().unwrap(), split.to_str().unwrap());
    let (uneven, bad) = (uneven.to_str().unwrap(), bad.to_str().unwrap());
    refused(&["--graph", ring, "--steps", "0", "--observers", "0"], &["steps", "0"]);
    refused(&["--graph", ring, "--weights", "metropolis", "--observers", "0"], &["`weights` is", "lazy"]);
    // A pair that exchanges meets halfway, whatever the weights.
    json(&[
        "--graph",
        ring,
        "--weights",
        "metropolis",
        "--protocol",
        "randomised",
        "--steps",
        "3",
        "--observers",
        "0",
    ]);
    refused(&["--graph", ring, "--steps", "3", "--observers", "6"], &["observers", "6", "0 to 5"]);
    refused(&["--graph", ring, "--steps", "3", "--observers", "x"], &["observers", "x"]);
    refused(
        &["--graph", ring, "--steps", "3", "--observers", "0", "--relay-noise", "-1"],
        &["relay-noise", "-1"],
    );
    refused(&["--graph", ring, "--steps", "3", "--observers", "0", "--relay-noise", "nan"], &["relay-noise"]);
    refused(
        &["--graph", ring, "--steps", "3", "--observers", "0", "--relay-noise", "1e300"],
        &["`relay-noise` is 1", "at most 1e6"],
    );
    refused(&["--graph", ring, "--steps", "3", "--observers", "0", "--sigma", "0"], &["sigma", "0"]);
    refused(&["--graph", ring, "--steps", "3", "--observers", "0", "--delta", "1"], &["delta", "1"]);
    refused(&["--graph", ring, "--steps", "3", "--observers", "0", "--lazy", "1"], &["lazy", "1"]);
    refused(&["--graph", split, "--steps", "3", "--observers", "0"], &["not connected"]);
    refused(&["--graph", uneven, "--steps", "3", "--observers", "0", "--weights", "uniform"], &["weights"]);
    refused(&["--schedule", bad, "--observers", "0"], &["edges_per_step"]);
    refused(&["--schedule", "nowhere.json", "--observers", "0"], &["schedule", "nowhere.json"]);
    refused(&["--graph", ring, "--steps", "3", "--worst-coalition", "6"], &["coalition", "6"]);
}

/// The terms without which no loss is printed.
fn has_terms(found: &Value, adversary: &str) {
    let stated = &found["guarantees"][0];
    assert_eq!((&stated["standing"], &stated["unit"]), (&"proven".into(), &"user".into()), "{found}");
    assert_eq!(stated["adjacency"], "replace", "{found}");
    assert_eq!(stated["adversary"], adversary, "{found}");
    let limits = found["not_covered"].as_array().unwrap();
    assert!(limits.iter().any(|limit| limit.as_str().unwrap().contains("lost or late")), "{found}");
    assert!(!found["statements"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
fn every_table_of_losses_carries_its_terms() {
    let files = Files::new();
    let ring = files.ring(6);
    let base = ["--graph", ring.to_str().unwrap(), "--lazy", "0.5", "--steps", "2"];
    for (who, adversary) in [
        (&["--all-pairs"][..], "any-peer"),
        (&["--all-pairs", "--relay-noise", "0.2"][..], "any-peer"),
        (&["--observers", "0"][..], "peer"),
        (&["--observers", "0,3"][..], "coalition"),
        (&["--worst-coalition", "2"][..], "coalition"),
        (&["--wire-tapper"][..], "wire-tapper"),
        (&[][..], "wire-tapper"),
    ] {
        let arguments = [&base[..], who].concat();
        has_terms(&json(&arguments), adversary);
        let text = flat(&account(&arguments).assert().success().get_output().stdout);
        for words in ["epsilon <=", "one user's data (replace)", "proven", "not covered:"] {
            assert!(text.contains(words), "{who:?}: {words} in {text}");
        }
    }
}

#[test]
fn a_coalition_of_everybody_is_refused() {
    let files = Files::new();
    let ring = files.ring(4);
    let base = ["--graph", ring.to_str().unwrap(), "--lazy", "0.5", "--steps", "2"];
    for who in [&["--observers", "0,1,2,3"][..], &["--observers", "3,2,1,0,0", "--relay-noise", "0.2"][..]] {
        refused(&[&base[..], who].concat(), &["all 4 peers", "nobody is left", "leave one out"]);
    }
    refused(&[&base[..], &["--worst-coalition", "4"][..]].concat(), &["from 1 to 3"]);
}

/// What `run averaging` takes, `account averaging` takes: protocols, drawn graphs, a target instead of a noise.
#[test]
fn every_averaging_that_is_run_is_accounted_for() {
    let files = Files::new();
    let ring = files.ring(8);
    let ring = ring.to_str().unwrap();
    let butterfly = json(&["--protocol", "butterfly", "--peers", "8", "--observers", "0"]);
    assert!(butterfly["distance"].is_null(), "{butterfly}");
    assert_eq!(losses(&butterfly, "leakage").len(), 8);
    let base = ["--graph", ring, "--lazy", "0.4", "--steps", "3", "--observers", "0"];
    let accelerated = json(&[&base[..], &["--protocol", "accelerated"]].concat());
    assert_eq!(losses(&accelerated, "leakage"), losses(&json(&base), "leakage"));
    let calibrated = json(&[&base[..], &["--epsilon", "2", "--against", "wire-tapper"]].concat());
    let sigma = 1.0 / calibrated["local_mu"].as_f64().unwrap();
    assert!(calibrated["guarantees"][0]["epsilon"].as_f64().unwrap() <= 2.0 && sigma > 1.0, "{calibrated}");
    let given = ["--against", "wire-tapper", "--sigma", "1"];
    refused(&[&base[..], &given].concat(), &["`against` is given", "give epsilon"]);
    refused(&[&base[..], &["--all-pairs"]].concat(), &["--all-pairs", "cannot be used"]);
    refused(
        &["--peers", "8", "--cancel", "2", "--colluders", "2", "--all-pairs"],
        &["`all-pairs`", "colluders"],
    );
    refused(
        &["--protocol", "butterfly", "--graph", ring, "--lazy", "0.1", "--observers", "0"],
        &["`lazy` is given", "leave it out"],
    );
}
