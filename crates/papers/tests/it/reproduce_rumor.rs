//! `sottovoce-papers reproduce rumor`, as a newcomer types it: small.

use crate::common;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn program(folder: &Path, arguments: &str) -> Command {
    let mut command = common::papers(arguments);
    command.current_dir(folder);
    command
}

fn text(folder: &Path, arguments: &str) -> String {
    let output = program(folder, arguments).assert().success().get_output().clone();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&text(folder, &format!("{arguments} --json"))).unwrap()
}

fn files_of(item: &Value) -> Vec<&str> {
    item["files"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn everything_is_reproduced_and_holds_also_when_small() {
    let folder = tempfile::tempdir().unwrap();
    let result = json(folder.path(), "reproduce rumor --quick --out out");
    let items = result["items"].as_array().unwrap();
    let ids: Vec<&str> = items.iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["2a", "2b", "3a", "3b", "table1"]);
    for item in items {
        let verdict = &item["verdict"];
        assert!(verdict["reproduced"] == true && verdict["holds"] == true, "{}: {verdict}", item["id"]);
    }
    let dir = folder.path().join("out");
    let mut announced = vec!["index.html", "results.json"];
    announced.extend(items.iter().flat_map(files_of));
    for name in &announced {
        let content = fs::read(dir.join(name)).unwrap();
        let begins: &[u8] = match name.rsplit('.').next().unwrap() {
            "svg" => b"<?xml",
            "png" => b"\x89PNG",
            "csv" => b"muting,",
            "html" => b"<!DOCTYPE html>",
            _ => b"{",
        };
        assert!(content.starts_with(begins), "{name}");
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), announced.len());
    let page = fs::read_to_string(dir.join("index.html")).unwrap();
    assert!(page.contains("<strong>QUICK</strong>") && page.contains("<a href=\"#figure-3b\">"));
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.contains("5 of 5 hold.") && page.contains("--quick") && page.contains("Figure 3b"));
}

#[test]
fn one_figure_is_the_same_every_time_and_replaces_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let one = "reproduce rumor/2b --quick --out out";
    let line = text(folder.path(), one);
    assert!(line.starts_with("rumor: 1 of 1 claims reproduced, 1 hold (QUICK"), "{line}");
    assert!(line.contains("\n2b     reproduced, and holds: paper: ") && line.contains("theory: "), "{line}");
    let first = fs::read(folder.path().join("out/results.json")).unwrap();
    program(folder.path(), one).assert().code(2);
    text(folder.path(), &format!("{one} --overwrite --quiet"));
    assert_eq!(fs::read(folder.path().join("out/results.json")).unwrap(), first);
}
