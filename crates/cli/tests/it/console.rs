//! What every command has in common: exit codes, closed pipes, headlines, widths, old spellings, refusals.

use crate::common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{flat, json, refused, sottovoce};

const EDGES: &str = "0 1\n1 2\n2 3\n3 0\n0 2\n";

/// A folder with a graph, and its name.
fn graph() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.txt");
    std::fs::write(&file, EDGES).unwrap();
    let name = file.to_str().unwrap().to_owned();
    (folder, name)
}

fn text(arguments: &str) -> String {
    let output = sottovoce(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Quick commands that print a result, with the graph's name filled in.
fn commands(graph: &str) -> Vec<String> {
    [
        "graph inspect GRAPH",
        "account averaging --graph GRAPH --steps 2 --observers 0",
        "account averaging --graph GRAPH --steps 2 --all-pairs",
        "account averaging --graph GRAPH --steps 2 --worst-coalition 2",
        "account learning --graph GRAPH --iterations 2 --observers 0",
        "account walk --graph GRAPH --steps 9 --observers 1",
        "account rumor --peers 100 --curious 10 --muting 0.1",
        "account mechanism --gaussian --noise-multiplier 2",
        "account mechanism --gaussian --calibrate --epsilon 3",
        "plan averaging --graph GRAPH --target-worst 1",
        "plan rumor --peers 100 --curious 10 --delta 0.2",
        "audit reconstruct --graph GRAPH --steps 2 --observers 0 --runs 200",
        "audit source --peers 20 --curious 3 --muting 0.5 --runs 200",
    ]
    .map(|command| command.replace("GRAPH", graph))
    .to_vec()
}

#[test]
#[cfg(target_os = "linux")]
fn exit_codes_tell_bad_input_from_a_failing_machine_and_from_a_claim_that_fell() {
    let (folder, graph) = graph();
    let full = |arguments: &str| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let binary = assert_cmd::cargo::cargo_bin("sottovoce");
        let output = Command::new(binary).args(arguments.split_whitespace()).stdout(full).output().unwrap();
        (output.status.code(), flat(&output.stderr))
    };
    for arguments in ["man", "completions zsh", "graph generate --family ring -n 5", "schema account walk"] {
        let (code, message) = full(arguments);
        assert_eq!(code, Some(3), "{arguments}: {message}");
        assert!(message.contains("standard output cannot be written"), "{message}");
    }
    for arguments in commands(&graph).iter().take(3) {
        assert_eq!(full(arguments).0, Some(3));
        assert_eq!(full(&format!("{arguments} --json")).0, Some(3));
    }
    // A device that cannot be read is not a wrong name.
    let broken = "graph inspect /proc/self/mem --format edge-list";
    let message = sottovoce(broken).assert().code(3).get_output().stderr.clone();
    assert!(flat(&message).contains("check the device"));
    refused("graph inspect missing.txt", &["there is no such file"]);
    refused(&format!("graph inspect {}", folder.path().display()), &["it is a folder"]);
    // A claim that somebody learns nothing falls on a ring.
    let ring = folder.path().join("ring.txt");
    let ring = ring.to_str().unwrap();
    sottovoce(&format!("graph generate --family ring --peers 12 --out {ring}")).assert().code(0);
    let claim = folder.path().join("claim.json");
    std::fs::write(&claim, "[0,1,1,1,1,1,0.01,1,1,1,1,1]").unwrap();
    let audit = format!(
        "audit reconstruct --graph {ring} --lazy 0.333 --steps 6 --observers 0 --runs 500 --claim {}",
        claim.display()
    );
    sottovoce(&audit).assert().code(1);
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    let (_folder, graph) = graph();
    let more = ["completions bash", "man", "schema", "graph generate --family ring --peers 50000", "--help"];
    for arguments in commands(&graph).iter().map(String::as_str).chain(more) {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("sottovoce"))
            .args(arguments.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}: {message}");
        assert!(!message.contains("panicked"), "{arguments}: {message}");
    }
}

#[test]
fn a_headline_comes_first_and_alone_when_quiet() {
    let (_folder, graph) = graph();
    for arguments in commands(&graph) {
        let full = text(&arguments);
        let quiet = sottovoce(&format!("{arguments} --quiet")).output().unwrap();
        assert!(quiet.stderr.is_empty(), "{arguments}");
        let headline = String::from_utf8(quiet.stdout).unwrap();
        assert!(headline.len() > 30 && headline.chars().any(char::is_numeric), "{arguments}: {headline}");
        assert_eq!(headline.lines().count(), 1, "{arguments}: {headline}");
        // It may be broken where there is more to see; a blank line follows.
        let first = full.split("\n\n").next().unwrap();
        let whole = flat(first.as_bytes()) == headline.trim();
        assert!(whole || arguments.contains("calibrate") && full.starts_with(&headline), "{full}");
    }
}

#[test]
fn tables_fit_a_hundred_columns_and_lists_of_peers_need_verbose() {
    let (_folder, graph) = graph();
    for arguments in commands(&graph)
        .iter()
        .map(String::as_str)
        .chain(["plan averaging --peers 16 --target-far --epsilon 1"])
    {
        for line in text(arguments).lines() {
            // A table has gaps between its columns.
            let is_table = line.trim_start().contains("   ");
            assert!(!is_table || line.chars().count() <= 100, "{arguments}: {line}");
        }
    }
    for (arguments, list) in [
        ("account averaging --graph GRAPH --steps 2 --observers 0", "  peer                        leakage"),
        (
            "account averaging --graph GRAPH --steps 2 --all-pairs",
            "  peer                        largest   to\n  0",
        ),
        (
            "account averaging --graph GRAPH --steps 2 --worst-coalition 2",
            "  peer                        leakage\n  0",
        ),
        ("account learning --graph GRAPH --iterations 2 --observers 0", "  peer                     leakage"),
        ("account walk --graph GRAPH --steps 9 --observers 1", "  peer              to come"),
        (
            "audit reconstruct --graph GRAPH --steps 2 --observers 0 --runs 200",
            "  peer                     hops",
        ),
        ("audit source --peers 20 --curious 3 --muting 0.5 --runs 200", "  curious   17, 18, 19"),
        (
            "graph inspect GRAPH",
            "  name                      neighbours\n  0                                  3",
        ),
        ("run rumor --peers 64 --no-report", "  peer       knew after round\n  0"),
        (
            "run learning --method walk --peers 8 --rows 20 --iterations 2 --seeds 1 --no-report",
            "  peer                         rows      epsilon\n  0                              20",
        ),
        ("plan averaging --graph GRAPH --target-worst 1", "guarantee for nobody\n\n  protocol"),
    ] {
        let arguments = arguments.replace("GRAPH", &graph);
        assert!(!text(&arguments).contains(list), "{arguments}");
        let long = text(&format!("{arguments} --verbose"));
        assert!(long.contains(list), "{arguments}: {long}");
        assert_eq!(long.lines().next(), text(&arguments).lines().next());
    }
    refused("graph inspect x.txt --quiet --verbose", &["cannot be used with"]);
}

#[test]
fn a_plan_shows_an_epsilon_for_each_adversary() {
    let plan = json("plan averaging --peers 16 --families ring --target-worst 2 --delta 1e-6");
    let chosen = &plan["rows"][plan["chosen"].as_u64().unwrap() as usize];
    let of = |who: &str| chosen["epsilon"][who].as_f64().unwrap();
    assert!(of("peer") <= of("wire_tapper") * (1.0 + 1e-9) && of("far") <= of("peer"));
    let stated: Vec<_> = plan["guarantees"].as_array().unwrap().iter().collect();
    assert_eq!(stated[0]["adversary"], "any-peer");
    assert_eq!(stated[0]["epsilon"], chosen["epsilon"]["peer"]);
    assert!(stated.iter().any(|one| one["adversary"] == "wire-tapper" && one["standing"] == "proven"));
    // A trusted party gets naked values: nothing holds on the wire.
    let rows = plan["rows"].as_array().unwrap();
    let central = rows.iter().find(|row| row["protocol"] == "central-dp").unwrap();
    assert!(central["epsilon"]["wire_tapper"].is_null());
    // What is estimated from some observers is no guarantee.
    let some = json("plan averaging --peers 16 --families ring --target-worst 2 --sample 4");
    assert!(some["guarantees"].as_array().unwrap().iter().all(|one| one["adversary"] == "wire-tapper"));
}

#[test]
fn options_without_a_use_and_bad_values_are_refused_before_the_work() {
    let (folder, graph) = graph();
    for (arguments, words) in [
        (
            "account averaging --graph GRAPH --steps 2 --all-pairs --worst-coalition 2",
            ["--worst-coalition", "cannot be used"],
        ),
        ("account averaging --graph missing.txt --steps 2 --observers 0 --delta 2", ["`delta` is 2", ""]),
        (
            "account averaging --graph missing.txt --steps 2 --all-pairs --sigma 0",
            ["`sigma` is 0", "positive"],
        ),
        (
            "account learning --method butterfly --peers 8 --iterations 2 --observers 0 --steps 3",
            ["`steps` is 3", "leave"],
        ),
        (
            "account learning --method butterfly --peers 8 --iterations 2 --observers 0 --lazy 0.5",
            ["`lazy` is given", "leave"],
        ),
        (
            "account learning --method butterfly --peers 4000000000 --iterations 2 --observers 0",
            ["`peers` is 4000000000", "take fewer"],
        ),
        (
            "account learning --graph GRAPH --peers 5 --iterations 2 --observers 0",
            ["`graph` has 4 peers", "leave out --peers"],
        ),
        ("account learning --graph missing.txt --iterations 2 --observers 0 --delta 1", ["`delta` is 1", ""]),
        ("account mechanism --gaussian --noise-multiplier 1 --buckets 3", ["`buckets` is 3", "leave"]),
        ("account mechanism --laplace --scale 1 --contribution 3", ["`contribution` is 3", "discrete"]),
        ("account walk --graph GRAPH --steps 3", ["--observers", ""]),
        ("plan averaging --peers 16 --target-worst 1 --lazy 0.5", ["--lazy", "cannot be used"]),
        ("plan averaging --peers 16 --target-worst 1 --weights uniform", ["--weights", "cannot be used"]),
        ("plan averaging --graph GRAPH --target-worst 1 --degree 3", ["--degree", "cannot be used"]),
        (
            "plan averaging --peers 16 --families ring --target-worst 1 --degree 3",
            ["`degree` is 3", "random-regular"],
        ),
        ("run learning --peers 8 --sigma 1 --against wire-tapper", ["`against` is given", "give epsilon"]),
        (
            "account averaging --protocol butterfly --peers 8 --observers 0 --format snap",
            ["`format` is snap", "leave it out"],
        ),
        (
            "audit source --peers 20 --curious 3 --muting 0.5 --format snap",
            ["`format` is snap", "leave it out"],
        ),
        (
            "audit reconstruct --protocol butterfly --peers 8 --observers 0 --weights uniform",
            ["`weights` is given", "leave it out"],
        ),
        (
            "account averaging --graph GRAPH --steps 2 --observers 0 --sigma 1e-300",
            ["`sigma` is 1e-300", "give at least"],
        ),
        (
            "run averaging --graph GRAPH --steps 2 --sigma 1e-9 --no-report",
            ["`sigma` is 1e-9", "give at least"],
        ),
        (
            "account learning --graph GRAPH --lazy 0.2 --iterations 2 --observers 0 --sigma 1e-300",
            ["`sigma` is 1e-300", "more noise"],
        ),
        ("run learning --peers 8 --sigma 1 --order 2", ["`order` is given", "give epsilon"]),
        (
            "account learning --method butterfly --peers 8 --observers 0 --sigma 1 --order 2",
            ["`order` is given", "give epsilon"],
        ),
        ("plan rumor --peers 50 --curious 5 --muting 0.2", ["`muting` is 0.2", "leave it out"]),
        ("plan averaging --graph missing.txt --target-worst 1 --delta 0", ["`delta` is 0", "between"]),
        ("audit source --peers 20 --curious 3 --muting 0.5 --repeated", ["--drop", ""]),
        ("audit source --peers 20 --curious 3 --muting 0.5 --drop 1.5", ["`drop` is 1.5", "below 1"]),
        ("audit source --peers 4000000000 --curious 3 --muting 0.5", ["`peers` is 4000000000", "at most"]),
        ("audit source --peers 20 --curious 3 --muting 0.5 --epsilon -1", ["`epsilon` is -1", "from 0"]),
        (
            "audit reconstruct --protocol butterfly --peers 4000000000 --observers 0",
            ["`peers` is 4000000000", "from 1 to"],
        ),
        ("completions bash --json", ["`json` is given", "leave"]),
        ("schema nonsense", ["`command` is nonsense", "account walk"]),
    ] {
        refused(&arguments.replace("GRAPH", &graph), &words);
    }
    // A report that is there already is noticed before the run.
    let there = folder.path().join("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::write(there.join("report.html"), "mine").unwrap();
    let began = std::time::Instant::now();
    for long in ["run quickstart", "run averaging --peers 1000 --seeds 10000"] {
        refused(&format!("{long} --out {}", there.display()), &["report.html", "--overwrite"]);
    }
    assert!(began.elapsed().as_secs() < 10, "such a run takes minutes");
    assert_eq!(std::fs::read_to_string(there.join("report.html")).unwrap(), "mine");
}

#[test]
fn an_even_ring_that_never_mixes_is_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let ring = folder.path().join("ring.txt");
    let ring = ring.to_str().unwrap();
    sottovoce(&format!("graph generate --family ring --peers 12 --out {ring}")).assert().success();
    let base = format!("account learning --graph {ring} --weights metropolis --iterations 2 --observers 0");
    refused(&base, &["`weights` is", "metropolis-plus-one", "lazy"]);
    refused(&format!("{base} --steps 2"), &["`weights` is"]);
    sottovoce(&base.replace("--weights metropolis", "")).assert().success();
    assert!(Path::new(ring).exists());
}
