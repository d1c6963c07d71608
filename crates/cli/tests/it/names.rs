//! Peers that have names are called by them, wherever they are spoken of; JSON has the names beside the numbers.

use crate::common;

use std::path::Path;

use common::sottovoce;
use serde_json::{Value, json};

const NAMES: [&str; 5] = ["ann", "bob", "cyd", "dee", "eve"];

/// A folder with a graph and a table whose peers have names.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("named.txt", "ann bob\nbob cyd\ncyd dee\ndee eve\neve ann\nann cyd\n");
    let row = |i: usize| format!("{},{},{}\n", NAMES[i % 5], i % 7, i % 2);
    write("visits.csv", &format!("hospital,age,ill\n{}", (0..50).map(row).collect::<String>()));
    folder
}

fn text(arguments: &str, folder: &Path) -> String {
    let output = sottovoce(arguments).current_dir(folder).assert().success().get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

fn document(arguments: &str, folder: &Path) -> Value {
    serde_json::from_str(&text(&format!("{arguments} --json"), folder)).unwrap()
}

/// Whether a peer is called by its number: in a sentence, so with one blank between. (Columns of tables have more, and `--peers 5` is an
/// option.)
fn numbered(text: &str) -> bool {
    let is_number = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    ["peer ", "peers ", "Peer ", "Peers "].iter().any(|word| {
        let called =
            |line: &str, at: usize| !line[..at].ends_with('-') && is_number(&line[at + word.len()..]);
        text.lines().any(|line| line.match_indices(word).any(|(at, _)| called(line, at)))
    })
}

/// Peers of a table.
const TABLE: &str = "run learning --data visits.csv --label ill --range age=0:7 --peer-column hospital \
                     --iterations 2 --sigma 2 --seeds 1 --no-report";
/// Agents of a table.
const OWN: &str = "run personalized --data visits.csv --label ill --range age=0:7 --peer-column hospital --similar named.txt --updates 2 \
                   --seeds 1 --no-report";
const LEARNING: &str = "--peers 5 --rows 20 --iterations 2 --seeds 1 --sigma 2";

#[test]
fn no_peer_with_a_name_is_called_by_its_number() {
    let folder = folder();
    for command in [
        "account averaging --graph named.txt --steps 2 --observers cyd",
        "account averaging --graph named.txt --steps 2 --all-pairs",
        "account averaging --graph named.txt --steps 2 --worst-coalition 2",
        "account learning --graph named.txt --iterations 2 --observers cyd",
        "account learning --graph named.txt --iterations 2 --observers cyd,dee",
        "account walk --graph named.txt --steps 9 --observers cyd",
        "account walk --graph named.txt --steps 9 --observers cyd --sigma 8 --order 2 --expected 99",
        "audit reconstruct --graph named.txt --steps 2 --observers cyd --runs 200",
        "audit source --graph named.txt --curious-peers cyd --muting 0.5 --runs 200",
        "graph inspect named.txt",
        "run averaging --graph named.txt --sigma 1 --steps 2 --no-report",
        "run averaging --graph named.txt --protocol walk --sigma 1 --steps 20 --no-report",
        &format!("run learning --method gossip --graph named.txt {LEARNING} --no-report"),
        &format!("run learning --method walk --graph named.txt {LEARNING} --no-report"),
        TABLE,
        OWN,
    ] {
        let shown = text(&format!("{command} --verbose"), folder.path());
        assert!(!numbered(&shown), "{command}: {shown}");
        assert!(NAMES.iter().all(|name| shown.contains(name)), "{command}: {shown}");
    }
}

#[test]
fn guarantees_name_who_attacks() {
    let folder = folder();
    for command in [
        "account learning --graph named.txt --iterations 2 --observers cyd",
        TABLE,
        "account averaging --graph named.txt --steps 2 --observers cyd",
        "run averaging --graph named.txt --sigma 1 --steps 2 --no-report",
        "run averaging --graph named.txt --protocol walk --sigma 1 --steps 20 --no-report",
    ] {
        let found = document(command, folder.path());
        let names = found.get("names").or(found.get("labels")).unwrap();
        assert_eq!(names, &json!(NAMES), "{command}");
        let peers: Vec<&Value> =
            found["guarantees"].as_array().unwrap().iter().filter(|one| one["adversary"] == "peer").collect();
        assert!(!peers.is_empty(), "{command}");
        for one in peers {
            let observer = one["observers"][0].as_u64().unwrap() as usize;
            assert_eq!(one["observer_names"], json!([NAMES[observer]]), "{command}");
            let against = format!("against peer {},", NAMES[observer]);
            let said = found["statements"].as_array().unwrap();
            let named = said.iter().any(|line| line.as_str().unwrap().contains(&against));
            assert!(named || one["standing"] == "refuted", "{command}: {said:?}");
        }
    }
}

#[test]
fn pages_and_tables_call_peers_by_their_names() {
    let folder = folder();
    text("run averaging --graph named.txt --sigma 1 --steps 2 --out averaged", folder.path());
    text(&format!("run learning --method walk --graph named.txt {LEARNING} --out learned"), folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("averaged/losses.csv").lines().nth(1).unwrap().starts_with("ann,bob,1,"));
    let page = read("learned/report.html");
    assert!(NAMES.iter().all(|name| page.contains(name)) && !numbered(&page.replace(['<', '>'], " ")));
    // What a page shows as data begins like every other document.
    let data: Value = serde_json::from_str(&read("averaged/report.json")).unwrap();
    assert_eq!((&data["schema_version"], &data["seed"]), (&json!(1), &json!(0)));
    assert_eq!(data["command"][0], "run");
    assert!(data["graph_sha256"].is_string() && data["version"].is_string());
}

#[test]
fn a_new_experiment_can_be_had_as_json() {
    let folder = folder();
    let found = document("new averaging", folder.path());
    assert_eq!((&found["experiment"], &found["schema_version"]), (&json!("averaging"), &json!(1)));
    assert_eq!(found["target"]["epsilon"], 4.0);
    let file = text("new averaging", folder.path());
    assert!(file.starts_with("# ") && file.contains("\n[target]\n"));
}
