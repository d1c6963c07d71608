//! `sottovoce audit reconstruct`, through the real binary.

use crate::common;

use common::flat;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn sottovoce(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::cargo_bin("sottovoce").unwrap();
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

/// A folder with a ring of twelve, a path, and a schedule of pairs.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ring: String = (0..12).map(|u| format!("{u} {}\n", (u + 1) % 12)).collect();
    fs::write(folder.path().join("ring.txt"), ring).unwrap();
    fs::write(folder.path().join("path.txt"), "0 1\n1 2\n2 3\n").unwrap();
    fs::write(folder.path().join("names.txt"), "ann bob\nbob cid\ncid dan\ndan ann\n").unwrap();
    let pairs = r#"{"pairwise": [[0, 1], [2, 3], [1, 2], [0, 1], [3, 0]]}"#;
    fs::write(folder.path().join("pairs.json"), pairs).unwrap();
    fs::write(folder.path().join("broken.json"), "{").unwrap();
    folder
}

const RING: &str =
    "audit reconstruct --graph ring.txt --lazy 0.3333333333333333 --steps 6 --observers 0 --sigma 1";

fn json(folder: &Path, arguments: &str, code: i32) -> Value {
    let output = sottovoce(folder, arguments).arg("--json").assert().code(code).get_output().clone();
    assert_eq!(output.stderr.is_empty(), code == 0, "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(folder: &Path, arguments: &str) -> String {
    let output = sottovoce(folder, arguments).assert().success().get_output().clone();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_peer_opposite_is_reconstructed_and_the_accountant_knew() {
    let folder = folder();
    let found = json(folder.path(), RING, 0);
    assert_eq!(found["verdict"], "agrees");
    let opposite = &found["targets"][5];
    assert_eq!((&opposite["peer"], &opposite["distance"]), (&6.into(), &6.into()));
    assert_eq!((&opposite["exposed"], &opposite["solved"]), (&true.into(), &true.into()));
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(number(&opposite["noisy"]["measured"]) < 1e-18, "{opposite}");
    let interval = (number(&opposite["interval"]["lower"]), number(&opposite["interval"]["upper"]));
    assert!(interval.0 < 1.0 && 1.0 < interval.1, "{opposite}");
    // Relay noise takes the loss of the ten that are two hops away or more to one half, and one edge less halves the exposed.
    let relay = &found["remedies"]["relay_noise"];
    assert!(number(&relay["loss_after"]) <= 0.5 && number(&relay["share"]) > 0.0, "{relay}");
    assert!(number(&relay["error"][1]) > number(&relay["error"][0]), "{relay}");
    assert_eq!(relay["peers"], 9);
    assert_eq!(found["remedies"]["edge"]["best"]["exposed"], 6);
}

#[test]
fn people_get_a_table_remedies_and_a_verdict() {
    let folder = folder();
    let text = text(folder.path(), RING);
    for words in [
        "12 peers, 6 rounds; observed by peer 0; 2000 runs",
        "fully exposed (value plus noise is known exactly): 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11",
        "edge: drop 0 - 1: 1, 2, 3, 4, 5 no longer exposed, 6 still",
        "2 of 2 edges at observers tried, 2 can go",
        "relay noise: --relay-noise",
        "verdict: PASSED. The exact loss stands for all 11 peers at 99.9 % confidence.",
    ] {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}

#[test]
fn the_remedy_that_is_printed_is_one() {
    let folder = folder();
    let share = json(folder.path(), RING, 0)["remedies"]["relay_noise"]["share"].to_string();
    let after = json(folder.path(), &format!("{RING} --relay-noise {share}"), 0);
    for target in after["targets"].as_array().unwrap() {
        let far = target["distance"].as_u64().unwrap() >= 2;
        assert!(!far || target["loss"].as_f64().unwrap() <= 0.5, "{target}");
    }
}

#[test]
fn a_claim_that_understates_fails_with_exit_code_one() {
    let folder = folder();
    // What Muffliato's Theorem 1 prints of the peer opposite, and a list that is none.
    std::fs::write(folder.path().join("claim.json"), "[0,1,1,1,1,1,0.0003,1,1,1,1,1]").unwrap();
    std::fs::write(folder.path().join("none.json"), "{}").unwrap();
    let claim = format!("{RING} --claim claim.json");
    let found = json(folder.path(), &claim, 1);
    assert_eq!(found["verdict"], "understated");
    let output = sottovoce(folder.path(), &claim).assert().code(1).get_output().clone();
    let (text, note) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(text.contains("verdict: FAILED") && text.contains("at 95 %"), "{text}");
    assert!(note.contains("the audit FAILED: the given loss does not stand"), "{note}");
}

#[test]
fn every_protocol_passes() {
    let folder = folder();
    for arguments in [
        "--graph ring.txt --lazy 0.3 --steps 4 --observers 0,3 --relay-noise 0.2",
        "--graph ring.txt --lazy 0.3 --steps 4 --observers 0 --protocol accelerated",
        "--graph ring.txt --lazy 0.3 --steps 4 --observers 0 --protocol accelerated --relay-noise 0.2",
        "--graph path.txt --steps 3 --observers 1 --sigma 3 --sensitivity 2 --prior-mean 5",
        "--schedule pairs.json --observers 1",
        "--schedule pairs.json --observers 1 --relay-noise 0.5 --steps 4",
        "--protocol butterfly --peers 8 --observers 0",
        "--protocol butterfly --peers 6 --observers 4",
        "--protocol butterfly --graph ring.txt --observers 5",
    ] {
        let found = json(folder.path(), &format!("audit reconstruct --runs 500 {arguments}"), 0);
        assert_eq!(found["verdict"], "agrees", "{arguments}");
    }
}

#[test]
fn peers_go_by_the_names_of_the_file() {
    let folder = folder();
    let arguments = "audit reconstruct --runs 100 --graph names.txt --steps 1 --observers ann";
    assert!(text(folder.path(), arguments).contains("known exactly): bob, dan"));
}

#[test]
fn the_seed_decides_everything() {
    let folder = folder();
    let arguments = "audit reconstruct --graph path.txt --steps 2 --observers 0 --runs 300 --seed";
    let run = |seed: u64| text(folder.path(), &format!("{arguments} {seed}"));
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn bad_input_is_refused_with_field_value_and_remedy() {
    let folder = folder();
    let refused = |arguments: &str, words: &[&str]| {
        let output = sottovoce(folder.path(), &format!("audit reconstruct {arguments}")).assert().code(2);
        let output = output.get_output();
        let message = flat(&output.stderr);
        assert!(output.stdout.is_empty(), "{arguments}");
        for word in words {
            assert!(message.contains(word), "{arguments}: `{word}` is not in: {message}");
        }
    };
    let ring = "--graph ring.txt --steps 3 --observers 0";
    for sigma in ["0", "-1", "nan", "inf"] {
        refused(&format!("{ring} --sigma {sigma}"), &["`sigma` is", "give a positive number"]);
        refused(&format!("{ring} --sensitivity {sigma}"), &["`sensitivity` is", "give a positive number"]);
        refused(&format!("{ring} --prior-deviation {sigma}"), &["`prior-deviation` is"]);
    }
    refused(&format!("{ring} --relay-noise -1"), &["`relay-noise` is -1", "0 or a positive"]);
    refused(&format!("{ring} --runs 3"), &["`runs` is 3", "from 20"]);
    refused(&format!("{ring} --runs many"), &["--runs", "whole number"]);
    for target in ["0", "1", "-0.5", "nan"] {
        refused(&format!("{ring} --target {target}"), &["`target` is", "between 0 and 1"]);
    }
    refused("--graph ring.txt --steps 3 --observers 12", &["`observers` is 12", "from 0 to 11"]);
    refused("--graph ring.txt --steps 3 --observers x", &["`observers` is x"]);
    refused("--graph names.txt --steps 3 --observers eve", &["`observers` is eve", "name"]);
    refused(
        "--graph path.txt --steps 3 --observers 0,1,2,3",
        &["`observers` is all 4 peers", "leave one out"],
    );
    refused("--graph ring.txt --weights metropolis --observers 0", &["`weights` is", "metropolis-plus-one"]);
    refused("--graph ring.txt --steps 0 --observers 0", &["is 0", "at least 1"]);
    refused("--graph none.txt --steps 3 --observers 0", &["none.txt", "no such file"]);
    refused("--graph ring.txt --steps 3", &["--observers"]);
    refused("--peers 0 --protocol butterfly --observers 0", &["0"]);
    refused("--peers 8 --protocol butterfly --observers 0 --steps 2", &["`steps` is 2", "leave"]);
    refused(
        "--peers 8 --protocol butterfly --observers 0 --claim none.json",
        &["`claim` is none.json", "check the name"],
    );
    refused("--schedule pairs.json --protocol butterfly --observers 0", &["`protocol` is butterfly"]);
    refused("--schedule pairs.json --protocol accelerated --observers 0", &["`protocol` is accelerated"]);
    refused("--schedule pairs.json --observers 0 --steps 9", &["is 9", "5"]);
    refused("--schedule broken.json --observers 0", &["broken.json"]);
    refused("--schedule none.json --observers 0", &["none.json", "there is no such file"]);
}

#[test]
fn help_has_examples() {
    let folder = folder();
    for command in ["audit", "audit reconstruct"] {
        assert!(text(folder.path(), &format!("{command} --help")).contains("Example"), "{command}");
    }
}
