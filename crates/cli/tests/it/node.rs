//! `sottovoce node`, as three organisations would use it. (With the feature `node`: `cargo test -p sottovoce-cli --features node --test node`.)
#![cfg(feature = "node")]

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn sottovoce(folder: &Path, arguments: &str) -> Output {
    Command::cargo_bin("sottovoce")
        .unwrap()
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

fn done(folder: &Path, arguments: &str) -> String {
    let output = sottovoce(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        arguments.ends_with("--json") || text.lines().all(|line| line.chars().count() <= 100),
        "{arguments}:\n{text}"
    );
    text
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("{arguments} --json"))).unwrap()
}

fn refused(folder: &Path, arguments: &str, code: i32, expected: &[&str]) {
    let output = sottovoce(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(expected.iter().all(|part| flat.contains(part)), "{arguments}: {text}");
}

const NAMES: [&str; 3] = ["ana", "ben", "eva"];

/// Three nodes with values, and an agreement of theirs.
fn three(folder: &Path) {
    let mut new = "node agree new --name mean".to_owned();
    for (i, name) in NAMES.iter().enumerate() {
        let made = json(folder, &format!("node init {name}"));
        fs::write(folder.join(name).join("values.txt"), format!("0.{i}\n")).unwrap();
        new += &format!(" --peer {name}={}@127.0.0.1:400{i}", made["key"].as_str().unwrap());
    }
    fs::write(folder.join("mean.toml"), done(folder, &new)).unwrap();
}

#[test]
fn three_organisations_agree_and_see_what_it_would_cost() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    three(here);
    assert!(done(here, "node agree sign ana mean.toml --yes").contains("waits for ben, eva"));
    assert!(done(here, "node agree sign ben mean.toml --yes").contains("waits for eva"));
    assert!(done(here, "node plan eva mean.toml").contains("not signed yet: eva"));
    assert!(done(here, "node agree sign eva mean.toml --yes").contains("all have signed"));
    let plan = json(here, "node plan ana mean.toml");
    assert_eq!(plan["affordable"], true);
    assert_eq!(plan["missing"], Value::Array(vec![]));
    let observers = plan["observers"].as_array().unwrap();
    let names: Vec<&str> = observers.iter().map(|one| one["observer"].as_str().unwrap()).collect();
    assert_eq!(names, ["ben", "eva", "who sees every message"]);
    // The target of the agreement is 2, in the currency of integers; budgets add in another that asks a little more.
    let tapper = observers[2]["epsilon"].as_f64().unwrap();
    assert!(tapper > 1.9 && tapper < 2.5, "{tapper}");
    let text = done(here, "node plan ana mean.toml");
    assert!(text.starts_with("who sees every message learns most"), "{text}");
    assert!(["honest", "malicious", "vanishing", "then"].iter().all(|word| text.contains(word)), "{text}");
    for one in observers {
        let epsilon = one["epsilon"].as_f64().unwrap();
        assert!(one["malicious"] == one["epsilon"] && one["vanishing"] == one["epsilon"], "{one}");
        // The ledger adds in a currency of its own, which asks no less.
        assert!(one["then"].as_f64().unwrap() >= epsilon * (1.0 - 1e-9) && one["spent"] == 0.0, "{one}");
    }
    // A plan changes nothing.
    let status = json(here, "node status ana");
    assert_eq!((status["records"].as_u64(), status["budgets"].as_array().map(Vec::len)), (Some(0), Some(0)));
    assert!(done(here, "node status ana").contains("nothing was spent"));
}

#[test]
fn what_differs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    three(here);
    let text = fs::read_to_string(here.join("mean.toml")).unwrap();
    fs::write(here.join("same.toml"), format!("# another comment\n{text}")).unwrap();
    assert!(done(here, "node agree diff mean.toml same.toml").contains("agree in every field"));
    fs::write(
        here.join("other.toml"),
        text.replace("epsilon = 2.0", "epsilon = 5.0").replace("round = 60.0", "round = 6.0"),
    )
    .unwrap();
    let output = sottovoce(here, "node agree diff mean.toml other.toml");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(
        said.contains("`experiment.target.epsilon` is 2.0 here and 5.0 there") && said.contains("`round`"),
        "{said}"
    );
    // A signature of the one is none of the other.
    refused(here, "node agree sign ana mean.toml", 2, &["`yes` is missing"]);
    assert!(!here.join("mean.toml.signed").exists());
    done(here, "node agree sign ana mean.toml --yes");
    fs::copy(here.join("mean.toml.signed"), here.join("other.toml.signed")).unwrap();
    let output = sottovoce(here, "node agree verify other.toml --json");
    let verified: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), verified["missing"].as_array().map(Vec::len)), (Some(5), Some(3)));
}

#[test]
fn what_cannot_be_paid_is_said_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    three(here);
    let config = here.join("ana/node.toml");
    let text = fs::read_to_string(&config).unwrap().replace("epsilon = 8.0", "epsilon = 0.5");
    fs::write(&config, text).unwrap();
    let output = sottovoce(here, "node plan ana mean.toml --json");
    assert_eq!(output.status.code(), Some(3));
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["affordable"], false);
    let why = plan["refusal"].as_str().unwrap();
    assert!(why.contains("the wire-tapper") && why.contains("`values`") && why.contains("is left"), "{why}");
    let output = sottovoce(here, "node plan ana mean.toml");
    assert!(String::from_utf8(output.stdout).unwrap().contains("CANNOT BE PAID"));
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn bad_input_is_named_and_nothing_is_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    three(here);
    refused(here, "node init ana", 2, &["`folder` is ana", "nothing is overwritten"]);
    refused(here, "node status nobody", 2, &["`node` is nobody", "node init"]);
    refused(here, "node agree new --name x --peer ana", 2, &["NAME=KEY@ADDRESS"]);
    refused(here, "node agree new --name x --peer ana=00@1", 2, &["`key` is 00"]);
    refused(here, "node plan ana nothing.toml", 2, &["nothing.toml"]);
    done(here, "node init zoe");
    refused(here, "node agree sign zoe mean.toml --yes", 2, &["not among its peers"]);
    assert!(!here.join("mean.toml.signed").exists());
    let text = fs::read_to_string(here.join("mean.toml")).unwrap();
    fs::write(here.join("odd.toml"), text.replace("grid = 0.000244140625", "grid = 0.1")).unwrap();
    refused(here, "node plan ana odd.toml", 2, &["`grid` is 0.1", "power of two"]);
    fs::write(here.join("ana/node.toml"), "label = 'x'\n").unwrap();
    refused(here, "node plan ana mean.toml", 2, &["node.toml", "values"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(here.join("ben/key"), fs::Permissions::from_mode(0o644)).unwrap();
        refused(here, "node status ben", 2, &["644", "chmod 600"]);
    }
}
