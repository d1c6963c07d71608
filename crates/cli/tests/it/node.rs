//! `sottovoce node`, as three organisations would use it. (With the feature `node`: `cargo test -p sottovoce-cli --features node --test node`.)
#![cfg(feature = "node")]

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use sottovoce_node::{Agreement, Hand, Options, Place, Ready};

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

fn sign(folder: &Path, file: &str) {
    NAMES.iter().for_each(|name| drop(done(folder, &format!("node agree sign {name} {file} --yes"))));
}

/// Writes down what a run of `ana` writes down before it opens the network.
fn declared(folder: &Path, file: &str) {
    let agreement = Agreement::parse(&fs::read_to_string(folder.join(file)).unwrap()).unwrap();
    let place = Place::open(&folder.join("ana")).unwrap();
    let ready = Ready::of(&place, &agreement, &Options::default(), &Hand::default()).unwrap();
    let (mut bill, holding) = (ready.bill, ready.holding);
    bill.ledger.hold_all(&holding, false).unwrap();
    bill.ledger.declare_all(&bill.config.label, &bill.budgets).unwrap();
}

/// Plan, check and run say the same, with the same code: the failure of the last one.
fn all_refuse(folder: &Path, file: &str, code: i32, field: Option<&str>) -> Value {
    let refused = |command: &str| {
        let output = sottovoce(folder, &format!("node {command} --json"));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{command}: {said}");
        said
    };
    let run = refused(&format!("run ana {file} --wait 1"))["failure"].clone();
    assert_eq!((run["exit_code"].as_i64(), run["field"].as_str()), (Some(code.into()), field), "{run}");
    assert_eq!(refused(&format!("check ana {file} --wait 1"))["failure"]["message"], run["message"]);
    // A plan that cannot be paid is printed all the same, with the reason.
    let plan = refused(&format!("plan ana {file}"));
    let why = if plan["failure"].is_null() { &plan["refusal"] } else { &plan["failure"]["message"] };
    assert_eq!(*why, run["message"]);
    run
}

#[test]
fn plan_and_check_refuse_what_a_run_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    three(here);
    sign(here, "mean.toml");
    declared(here, "mean.toml");
    let config = here.join("ana/node.toml");
    let known = fs::read_to_string(&config).unwrap();
    let with = |old: &str, new: &str| {
        assert!(known.contains(old), "{old}");
        fs::write(&config, known.replacen(old, new, 1)).unwrap();
    };
    with("label = \"values\"", "label = \"others\"");
    all_refuse(here, "mean.toml", 2, Some("data"));
    with("epsilon = 4.0", "epsilon = 4.5");
    all_refuse(here, "mean.toml", 2, Some("budget"));
    with("delta = 1e-6", "delta = 1e-7");
    let failure = all_refuse(here, "mean.toml", 2, Some("budget"));
    assert!(failure["value"].as_str().unwrap().starts_with("delta "), "{failure}");
    assert_eq!(failure["peers"], serde_json::json!(["ben"]), "{failure}");
    with("label = ", "page = \"192.0.2.1:8080\"\nlabel = ");
    all_refuse(here, "mean.toml", 2, Some("page"));
    with("label = ", "relay = \"nonsense\"\nlabel = ");
    all_refuse(here, "mean.toml", 2, Some("relay"));
    fs::write(&config, &known).unwrap();
    // Another target than the budget has room for.
    let text = fs::read_to_string(here.join("mean.toml")).unwrap();
    fs::write(here.join("dear.toml"), text.replace("epsilon = 2.0", "epsilon = 50.0")).unwrap();
    for name in NAMES {
        drop(sottovoce(here, &format!("node agree sign {name} dear.toml --yes")));
    }
    let failure = all_refuse(here, "dear.toml", 3, None);
    assert_eq!((&failure["kind"], &failure["peers"]), (&"budget".into(), &serde_json::json!(["ben"])));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let ledger = here.join("ana/ledger");
        fs::set_permissions(&ledger, fs::Permissions::from_mode(0o644)).unwrap();
        all_refuse(here, "mean.toml", 2, Some("ledger"));
        fs::set_permissions(&ledger, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let whole = fs::read(here.join("ana/ledger")).unwrap();
    fs::write(here.join("ana/ledger"), &whole[..whole.len() / 2]).unwrap();
    all_refuse(here, "mean.toml", 8, None);
    fs::write(here.join("ana/ledger"), &whole).unwrap();
    done(here, "node plan ana mean.toml");
}

#[test]
fn a_program_that_cannot_be_started_is_no_secret_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let mut new = "node agree new --kind learning --name model".to_owned();
    for (i, name) in NAMES.iter().enumerate() {
        let made = json(here, &format!("node init {name}"));
        fs::write(here.join(name).join("values.txt"), "1\n").unwrap();
        new += &format!(" --peer {name}={}@127.0.0.1:400{i}", made["key"].as_str().unwrap());
    }
    fs::write(here.join("model.toml"), sottovoce(here, &new).stdout).unwrap();
    let config = here.join("ana/node.toml");
    let known = fs::read_to_string(&config).unwrap();
    fs::write(here.join("ana/step.txt"), "no program").unwrap();
    for program in ["nobody-has-such-a-program", "./step.txt"] {
        let program = format!("program = [\"{program}\"]\none-by-one = true\nlabel = ");
        fs::write(&config, known.replacen("label = ", &program, 1)).unwrap();
        for name in NAMES {
            drop(sottovoce(here, &format!("node agree sign {name} model.toml --yes")));
        }
        all_refuse(here, "model.toml", 2, Some("program"));
    }
}

#[cfg(unix)]
#[test]
fn what_others_can_write_to_is_no_node() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    three(here);
    sign(here, "mean.toml");
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(here.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    for (path, field, closed) in [("ana", "node", 0o700), ("ana/node.toml", "node.toml", 0o600)] {
        mode(path, closed | 0o077);
        all_refuse(here, "mean.toml", 2, Some(field));
        mode(path, closed);
    }
    // A link is as open as what it leads to.
    fs::create_dir(here.join("open")).unwrap();
    fs::write(here.join("open/values.txt"), "0.5\n").unwrap();
    mode("open", 0o755);
    fs::remove_file(here.join("ana/values.txt")).unwrap();
    symlink("../open/values.txt", here.join("ana/values.txt")).unwrap();
    mode("open/values.txt", 0o644);
    all_refuse(here, "mean.toml", 2, Some("values"));
    mode("open/values.txt", 0o600);
    done(here, "node plan ana mean.toml");
}

#[test]
fn a_demonstration_of_too_few_says_how_many_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["averaging", "statistics", "learning"] {
        let output = sottovoce(folder.path(), &format!("node demo --kind {kind} --peers 2 --json"));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &said["failure"]["field"]), (Some(2), &"peers".into()), "{said}");
    }
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left");
}

#[test]
fn a_demonstration_counts_what_it_clips() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ours.csv"), "0.5,2\n0.25,0\n-1,1\n").unwrap();
    let shown = json(folder.path(), "node demo --values ours.csv");
    assert_eq!(shown["clipped"], serde_json::json!({ "values": 2, "of": 6 }));
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
