//! What nodes show after a run over the network, and what others make of it. (With the feature `node`: `cargo test -p sottovoce-cli --features node --test node_transcript`.)

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use sottovoce_testing::ports;

fn command(folder: &Path, arguments: &str) -> std::process::Command {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("sottovoce"));
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

fn sottovoce(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

fn done(folder: &Path, arguments: &str) -> String {
    let output = sottovoce(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What is printed for people: nothing is wider than a console.
fn told(folder: &Path, arguments: &str) -> String {
    let text = done(folder, arguments);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
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

/// Three nodes who have averaged, with a file of each.
fn averaged(folder: &Path) {
    let mut new = "node agree new --name mean".to_owned();
    for (i, (name, port)) in NAMES.iter().zip(ports(NAMES.len())).enumerate() {
        let made = json(folder, &format!("node init {name}"));
        fs::write(folder.join(name).join("values.txt"), format!("0.{i}\n")).unwrap();
        new += &format!(" --peer {name}={}@127.0.0.1:{port}", made["key"].as_str().unwrap());
    }
    fs::write(folder.join("mean.toml"), done(folder, &new)).unwrap();
    NAMES.iter().for_each(|name| drop(done(folder, &format!("node agree sign {name} mean.toml --yes"))));
    let start = |name: &&str| {
        let arguments = format!("node run {name} mean.toml --json --record {name}.secret");
        command(folder, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = NAMES.iter().map(start).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for name in NAMES {
        let written = told(folder, &format!("node transcript {name} mean.toml --out {name}.json"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(folder.join(format!("{name}.json"))).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(written.contains("each signed"), "{written}");
    }
}

#[test]
fn three_organisations_show_what_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    averaged(here);
    // The account is what the ledger says.
    let account = json(here, "account transcript ana.json");
    let status = json(here, "node status ana");
    let observers = account["observers"].as_array().unwrap();
    assert_eq!(observers.len(), 3);
    for one in observers {
        let epsilon = one["guarantee"]["epsilon"].as_f64().unwrap();
        let known =
            status["budgets"].as_array().unwrap().iter().map(|budget| budget["spent"].as_f64().unwrap());
        assert!(known.into_iter().any(|known| (known - epsilon).abs() <= 1e-12 * known), "{one}");
        assert_eq!(one["guarantee"]["unit"], "user");
        assert_eq!(one["guarantee"]["standing"], "proven");
        assert_eq!(one["guarantee"]["adjacency"], "replace");
    }
    assert_eq!(observers[2]["guarantee"]["adversary"], "wire-tapper-with-any");
    let text = told(here, "account transcript ana.json");
    assert!(
        text.contains("which was debited") && text.contains("one user's data (replace); proven"),
        "{text}"
    );
    assert!(text.contains("not covered:") && text.contains("unchecked:"), "{text}");
    // All three fit together.
    let audit = json(here, "audit transcript ana.json ben.json eva.json");
    let said: u64 = audit["nodes"].as_array().unwrap().iter().map(|one| one["said"].as_u64().unwrap()).sum();
    assert_eq!((audit["stands"].as_bool(), audit["matched"].as_u64()), (Some(true), Some(said)));
    assert_eq!(audit["absent"], Value::Array(vec![]));
    let text = told(here, "audit transcript ana.json ben.json");
    assert!(text.contains("no file of eva") && text.contains("told alike by both ends"), "{text}");
    // What a node writes itself goes to standard output as it is.
    let printed: Value = serde_json::from_str(&done(here, "node transcript ana mean.toml")).unwrap();
    assert_eq!(printed["node"], "ana");
    assert_eq!(printed, serde_json::from_slice::<Value>(&fs::read(here.join("ana.json")).unwrap()).unwrap());
    refused(here, "node transcript ana mean.toml --out ana.json", 2, &["exists", "--overwrite"]);
    done(here, "node transcript ana mean.toml --out ana.json --overwrite");
    // What was recorded is nobody else's.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(here.join("ana.secret")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    refused(here, "node run ana mean.toml --wait 1 --record other.secret", 2, &["begun without it"]);
    wrong(here);
    again(here);
}

/// Files that were changed, and files that are none.
fn wrong(here: &Path) {
    let good = fs::read_to_string(here.join("ana.json")).unwrap();
    for (old, new) in [
        ("\"node\": \"ana\"", "\"node\": \"ben\""),
        ("\"delta\": 0.0", "\"delta\": 0.5"),
        ("\"epsilon\": 4.0", "\"epsilon\": 40.0"),
        ("\"doubted\": false", "\"doubted\": true"),
    ] {
        assert!(good.contains(old), "{old}");
        fs::write(here.join("changed.json"), good.replacen(old, new, 1)).unwrap();
        refused(
            here,
            "account transcript changed.json",
            2,
            &["`transcript` is changed.json", "not what its owner signed"],
        );
        refused(here, "audit transcript changed.json ben.json", 2, &["not what its owner signed"]);
    }
    fs::write(here.join("changed.json"), &good[..good.len() - 100]).unwrap();
    refused(here, "audit transcript changed.json", 2, &["`transcript` is changed.json"]);
    refused(here, "account transcript ana.json --delta 0.1", 2, &["`delta` is 0.1", "of its own"]);
    refused(here, "account transcript ana.json --observers ben", 2, &["`observers` is ben"]);
    refused(here, "audit transcript ana.json mean.toml", 2, &["`transcript` is mean.toml"]);
    refused(here, "audit transcript mean.toml mean.toml", 2, &["given 2 times"]);
    refused(here, "node transcript ana nothing.toml", 2, &["nothing.toml"]);
}

/// A new key for old data.
fn again(here: &Path) {
    fs::write(here.join("old.json"), done(here, "node status ana --json")).unwrap();
    refused(here, "node init anew --spent old.json", 2, &["`spent` is old.json", "--files"]);
    fs::write(here.join("old.json"), done(here, "node status ana --json --files")).unwrap();
    assert!(told(here, "node init anew --spent old.json").contains("3 budgets were entered"));
    let (old, new) = (json(here, "node status ana"), json(here, "node status anew"));
    let spent = |status: &Value| {
        let budgets = status["budgets"].as_array().unwrap().iter();
        budgets.map(|one| one["spent"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert!(spent(&old).iter().zip(spent(&new)).all(|(old, new)| new >= *old), "{old} {new}");
    refused(here, "node init other --spent mean.toml", 2, &["`spent` is mean.toml", "node status --json"]);
    assert!(!here.join("other").exists());
}
