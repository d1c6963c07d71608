//! `sottovoce serve` as a user has it: the real binary, real runs, one of them under way.

use crate::common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use common::{json, refused, sottovoce};
use serde_json::Value;
use sottovoce_testing::held;

/// The program while it serves, and what it said first.
struct Served {
    process: Child,
    said: String,
    _rest: BufReader<ChildStdout>,
}

fn serve(folder: &Path, more: &[&str]) -> Served {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sottovoce"));
    command.arg("serve").arg(folder).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut rest = BufReader::new(process.stdout.take().unwrap());
    let mut said = String::new();
    rest.read_line(&mut said).unwrap();
    Served { process, said, _rest: rest }
}

impl Served {
    fn address(&self) -> &str {
        self.said.split("http://").nth(1).unwrap().split('/').next().unwrap()
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Ends it as Ctrl-C does; its exit code, and what it said on standard error.
    fn end(mut self) -> (Option<i32>, String) {
        let kill = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let begun = Instant::now();
        let code = self.process.wait().unwrap().code();
        assert!(begun.elapsed() < Duration::from_secs(10), "it ends when it is asked to");
        let mut errors = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (code, errors)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended needs no ending.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn run(folder: &Path, arguments: &str, name: &str) {
    let out = folder.join(name);
    sottovoce(&format!("run {arguments} --quiet --out {}", out.display())).assert().success();
}

#[test]
fn every_kind_of_run_is_listed_with_what_it_promises() {
    let place = tempfile::tempdir().unwrap();
    for (name, arguments) in [
        ("averaging", "averaging --peers 8 --epsilon 2 --steps 3"),
        ("walk", "averaging --peers 8 --protocol walk --steps 20 --epsilon 4"),
        ("learning", "learning --peers 8 --epsilon 4 --iterations 2 --seeds 2"),
        ("personalized", "personalized --agents 8 --updates 2 --seeds 1"),
        (
            "deep",
            "deep --agents 4 --images 100 --set task.test-images=20 --rounds 2 --lot 20 --model mlp --noise-multiplier 5",
        ),
        ("rumor", "rumor --peers 32 --muting 0.5"),
        ("survival", "rumor --peers 16 --muting 0.5 --drop 0.1 --seeds 5"),
    ] {
        run(place.path(), arguments, name);
    }
    let document = json(&format!("serve {}", place.path().display()));
    let schema = sottovoce("schema serve").assert().success().get_output().stdout.clone();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    held(&document, &schema, &schema, "serve").unwrap();
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 7);
    for run in runs {
        let folder = run["folder"].as_str().unwrap();
        assert_eq!(run["status"], "done", "{run}");
        assert!(run["kind"].is_string() && run["graph"].is_string() && run["protocol"].is_string(), "{run}");
        assert!(!run["measures"].as_array().unwrap().is_empty(), "{folder}: {run}");
        let promise = &run["guarantees"][0];
        assert!(promise["adversary"].is_string() && promise["not_covered"].is_array(), "{folder}: {run}");
        assert!(run["files"].to_string().contains("experiment.toml") && run["when"].as_u64().unwrap() > 0);
        // All of them can be compared.
        let at = |name: &str| place.path().join(name).display().to_string();
        let compared = json(&format!("compare {} {}", at("averaging"), at(folder)));
        assert!(compared["same"].as_u64().unwrap() > 0 || folder != "averaging", "{compared}");
    }
}

#[test]
fn a_run_is_seen_while_it_goes_and_a_killed_one_does_not_hide() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("long");
    let mut long = Command::new(env!("CARGO_BIN_EXE_sottovoce"))
        .args([
            "run", "rumor", "--peers", "2000", "--muting", "0.9", "--drop", "0.1", "--seeds", "10000",
            "--out",
        ])
        .arg(&out)
        .args(["--json", "--seed", "5"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let served = serve(place.path(), &["--port", "0"]);
    let last = Instant::now() + Duration::from_secs(60);
    let far = loop {
        assert!(Instant::now() < last && long.try_wait().unwrap().is_none());
        let answer = served.get("/runs.json");
        let runs: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        let run = &runs["runs"][0];
        if run["progress"]["done"].as_u64().is_some_and(|done| done > 0) {
            assert_eq!((&run["status"], &run["kind"]), (&"running".into(), &"rumor".into()), "{run}");
            assert_eq!((&run["seed"], &run["progress"]["all"]), (&5.into(), &10_000.into()), "{run}");
            break run["progress"]["done"].as_u64().unwrap();
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(far < 10_000);
    long.kill().unwrap();
    long.wait().unwrap();
    assert!(served.get("/").contains("under way"), "it will be silent in a while");
    let names: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.contains(&".sottovoce-progress.json".into()), "{names:?}");
    let (code, errors) = served.end();
    assert!(code == Some(0) && !errors.contains("is taken"), "{errors}");
}

#[test]
fn it_says_where_it_is_and_what_is_wrong() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().display();
    refused(&format!("serve {folder}/nowhere"), &["`folder` is", "no such folder", "--out"]);
    std::fs::write(place.path().join("file"), "").unwrap();
    refused(&format!("serve {folder}/file"), &["`folder` is", "it is not a folder"]);
    refused(&format!("serve {folder} --port 70000"), &["70000"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    refused(&format!("serve {folder} --port {port}"), &[&format!("`port` is {port}"), "give another"]);
    // An empty folder is served, too: a first run will appear.
    let served = serve(place.path(), &["--port", "0"]);
    assert!(
        served.said.starts_with("0 runs in ") && served.said.contains("http://127.0.0.1:"),
        "{}",
        served.said
    );
    assert!(served.get("/").contains("sottovoce run quickstart --out"));
    let (code, errors) = served.end();
    assert!(code == Some(0) && errors.contains("there are no runs"), "{errors}");
    let quiet = serve(place.path(), &["--port", "0", "--quiet"]);
    assert!(
        quiet.said.starts_with("http://127.0.0.1:") && quiet.said.trim().ends_with('/'),
        "{}",
        quiet.said
    );
    // The usual port may be taken, by this test or by somebody else: another is found, and said.
    let usual = TcpListener::bind("127.0.0.1:8686");
    let other = serve(place.path(), &[]);
    assert!(!other.said.contains(":8686"), "{}", other.said);
    assert!(other.end().1.contains("port 8686 is taken"));
    drop(usual);
}
