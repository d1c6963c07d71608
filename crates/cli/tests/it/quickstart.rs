//! `sottovoce run quickstart`, as a newcomer types it: through the real binary, in an empty folder.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn run(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::cargo_bin("sottovoce").unwrap();
    command.current_dir(folder).args(["run", "quickstart"]).args(arguments.split_whitespace());
    command
}

fn output(folder: &Path, arguments: &str) -> String {
    String::from_utf8(run(folder, arguments).assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn it_needs_nothing_and_writes_a_new_report_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let text = output(folder.path(), "");
    assert!(
        text.contains("agree with the accountant") && text.contains("Report: sottovoce-report"),
        "{text}"
    );
    assert!(!text.contains("BROKEN"), "{text}");
    assert!(text.contains("not covered:\n  * peers who deviate") && text.contains("hides nothing"), "{text}");
    assert!(
        text.contains("mean of the private values *") && text.contains("* computed from the private values")
    );
    let names = ["report.html", "report.json", "losses.csv", "graph.svg", "graph.png", "error-by-step.svg"];
    for name in names {
        assert!(folder.path().join("sottovoce-report").join(name).is_file(), "{name}");
    }
    // The README shows what it draws.
    for name in ["graph.svg", "loss-by-distance.svg"] {
        let drawn = std::fs::read_to_string(folder.path().join("sottovoce-report").join(name)).unwrap();
        let shown = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures/").to_owned() + name;
        let again = "cargo run --release -- run quickstart --out /tmp/q && cp /tmp/q/{graph,loss-by-distance}.svg docs/pictures/";
        assert!(
            std::fs::read_to_string(shown).unwrap() == drawn,
            "{name} has changed; to draw it again: {again}"
        );
    }
    let first = std::fs::read(folder.path().join("sottovoce-report/report.html")).unwrap();
    assert!(output(folder.path(), "").contains("sottovoce-report-2"));
    let page = String::from_utf8_lossy(&first);
    for said in [
        "hides nothing",
        "<h3>Not covered</h3>",
        "<code>sottovoce run quickstart</code>",
        "Graph (SHA-256)",
        "id=\"headline\"",
        "<a href=\"experiment.toml\">",
        "<a href=\"transcript.json\">",
        "public seed",
        "computed from the private values without privacy",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // The same seed gives the same page, bit for bit.
    assert_eq!(first, std::fs::read(folder.path().join("sottovoce-report-2/report.html")).unwrap());
}

#[test]
fn numbers_agree_with_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let found: Value = serde_json::from_str(&output(folder.path(), "--no-report --json --seed 7")).unwrap();
    let number = |key: &str| found[key].as_f64().unwrap();
    assert_eq!(found["peers"], 64);
    assert_eq!(found["violations"].as_array().unwrap().len(), 0);
    // 400 runs of a mean over correlated peers: within a fifth at far more than 99.9 % confidence.
    let (predicted, measured) = (number("predicted_error"), number("measured_error"));
    assert!((predicted / measured - 1.0).abs() < 0.2, "{predicted} {measured}");
    assert!(number("mean_loss") < number("mean_loss_without_relay"));
    assert!(number("worst_far") < number("worst_far_without_relay"));
    assert!(found["not_covered"].to_string().contains("public seed"), "{found}");
    assert_eq!(found["computed_without_privacy"][0], "mean");
    assert!(found["attack"].as_str().unwrap().contains("agree with the accountant"));
    let other = output(folder.path(), "--no-report --json --seed 8");
    assert_ne!(other, found.to_string());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn nothing_is_overwritten_unless_asked() {
    let folder = tempfile::tempdir().unwrap();
    output(folder.path(), "--out mine");
    let refused = run(folder.path(), "--out mine").assert().code(2).get_output().stderr.clone();
    let message = String::from_utf8_lossy(&refused).into_owned();
    assert!(message.contains("exists") && message.contains("--overwrite"), "{message}");
    output(folder.path(), "--out mine --overwrite");
}
