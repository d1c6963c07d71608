//! `sottovoce run rumor`, as a newcomer types it: through the real binary, small.

use crate::common;

use common::flat;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn sottovoce(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::cargo_bin("sottovoce").unwrap();
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

fn text(folder: &Path, arguments: &str) -> String {
    let output = sottovoce(folder, arguments).assert().success().get_output().clone();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&text(folder, &format!("{arguments} --json"))).unwrap()
}

/// Fails with exit code 2, a message with each of the words, and nothing on standard output.
fn refused(arguments: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let output = sottovoce(folder.path(), arguments).assert().code(2).get_output().clone();
    let message = flat(&output.stderr);
    assert!(output.stdout.is_empty(), "{arguments}");
    for word in words {
        assert!(message.contains(word), "{arguments}: `{word}` is not in: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn a_run_needs_nothing_and_writes_a_new_report_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let said = text(folder.path(), "run rumor --peers 256");
    for words in ["stays within what is proven", "delta <= 0.125", "proven", "Report: sottovoce-report"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let page = fs::read_to_string(folder.path().join("sottovoce-report/report.html")).unwrap();
    for words in ["hides nothing", "public seed", "graphs that are not complete"] {
        assert!(said.contains(words) && page.contains(words), "{words}: {said}");
    }
    assert!(said.contains("not covered:") && page.contains("<h3>Not covered</h3>"));
    let names =
        ["report.html", "report.json", "course.csv", "spread.svg", "spread.png", "attack.png", "course.svg"];
    for name in names {
        assert!(folder.path().join("sottovoce-report").join(name).is_file(), "{name}");
    }
    assert!(text(folder.path(), "run rumor --peers 256").contains("sottovoce-report-2"));
    // The same seed gives the same page, bit for bit.
    let page = |name: &str| fs::read(folder.path().join(name).join("report.html")).unwrap();
    assert_eq!(page("sottovoce-report"), page("sottovoce-report-2"));
}

#[test]
fn numbers_of_a_run_agree_with_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let found = json(folder.path(), "run rumor --peers 300 --curious 30 --delta 0.25 --no-report --seed 7");
    assert!(found["delta"].as_f64().unwrap() <= 0.25 && found["within_bounds"] == true);
    assert_eq!((&found["account"]["nodes"], &found["account"]["curious"]), (&300.into(), &30.into()));
    let suspicions = found["suspicions"].as_array().unwrap();
    assert_eq!(suspicions.len(), 4);
    for one in suspicions {
        let number = |key: &str| one[key].as_f64().unwrap();
        assert!(number("low") <= number("found") && number("found") <= number("high"));
        assert!(number("low") <= number("bound"), "{one}");
    }
    let push = json(folder.path(), "run rumor --peers 300 --muting 1 --no-report");
    assert!(push["target"].is_null() && push["rounds"].as_u64().unwrap() < found["rounds"].as_u64().unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn a_report_is_not_overwritten_unless_asked() {
    let folder = tempfile::tempdir().unwrap();
    let run = "run rumor --peers 64 --quiet --out mine";
    text(folder.path(), run);
    let refused = sottovoce(folder.path(), run).assert().code(2).get_output().stderr.clone();
    let message = String::from_utf8_lossy(&refused).into_owned();
    assert!(message.contains("exists") && message.contains("--overwrite"), "{message}");
    text(folder.path(), &format!("{run} --overwrite"));
}

#[test]
fn bad_runs_are_refused_before_any_work() {
    refused("run rumor --peers 2", &["`peers` is 2", "from 4"]);
    refused("run rumor --peers 100 --curious 99", &["`curious` is 99", "from 1 to 98"]);
    refused("run rumor --muting 1.5", &["`muting` is 1.5", "probability"]);
    refused("run rumor --delta 0.01", &["`delta` is 0.01", "f/n = 0.0625"]);
    refused("run rumor --delta 0.2 --muting 0.5", &["--delta", "--muting"]);
}

#[test]
fn a_rumour_by_messages_says_whether_it_survives() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ring.txt"), "a b\nb c\nc d\nd e\ne a\n").unwrap();
    let found = json(
        folder.path(),
        "run rumor --peers 64 --muting 0.4 --drop 0.2 --set clocks=poisson --seeds 60 --out out --seed 3",
    );
    let count = |name: &str| found[name].as_u64().unwrap();
    assert_eq!(count("everyone") + count("died") + count("unfinished"), 60);
    let (low, high) = (found["low"].as_f64().unwrap(), found["high"].as_f64().unwrap());
    let branching = found["branching"].as_f64().unwrap();
    assert!((branching - 0.625).abs() < 1e-12 && low < branching && branching < high, "{found}");
    assert!(found["guarantees"][0]["delta"].as_f64().unwrap() < 1.0);
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("Does it survive?") && !folder.path().join("out/attack.svg").exists());
    let again = json(folder.path(), "run out/experiment.toml --no-report");
    assert_eq!(again["each"], found["each"]);
    let ring =
        text(folder.path(), "run rumor --graph ring.txt --muting 0.6 --set churn=0.2 --seeds 5 --no-report");
    assert!(ring.contains("reached all 5 peers") && ring.contains("nothing is proven"), "{ring}");
    let refused = |line: &str, parts: &[&str]| {
        let said = flat(&sottovoce(folder.path(), line).assert().code(2).get_output().stderr);
        assert!(parts.iter().all(|part| said.contains(part)), "{line}: {said}");
    };
    refused("run rumor --graph ring.txt", &["`muting` is missing"]);
    refused("run rumor --peers 64 --drop 1", &["`drop` is 1"]);
    refused("run rumor --peers 64 --seeds 0", &["`seeds` is 0"]);
    refused("run rumor --peers 64 --drop 0.1 --delta 0.3", &["`delta` is 0.3", "muting"]);
    refused("run rumor --graph ring.txt --muting 0.5 --curious-peers z", &["`curious-peers` is z"]);
}
