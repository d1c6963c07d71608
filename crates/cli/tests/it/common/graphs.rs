//! `sottovoce graph` in a folder of its own.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use super::flat;

/// The program in a folder of its own.
pub(crate) struct Session {
    pub(crate) folder: TempDir,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self { folder: tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `sottovoce graph` with arguments separated by blanks.
    pub(crate) fn run(&self, arguments: &str) -> Ended {
        self.run_with(arguments, "")
    }

    pub(crate) fn run_with(&self, arguments: &str, stdin: &str) -> Ended {
        let mut command = cargo_bin_cmd!("sottovoce");
        command.arg("graph").args(arguments.split_whitespace()).write_stdin(stdin);
        ended(command.current_dir(self.folder.path()))
    }

    /// Runs what must work, and returns standard output.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments}: {}", ended.stderr);
        ended.stdout
    }

    pub(crate) fn json(&self, arguments: &str) -> Value {
        parse(&self.ok(&format!("{arguments} --json")))
    }

    /// Runs what must be refused: exit code 2, the message, nothing on standard output, no new file.
    pub(crate) fn refused(&self, arguments: &str, expected: &str) {
        let before = self.files();
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments}\n  said {}  not {expected}", ended.stderr);
        // Programs get a document of the failure, people get nothing.
        let printed = if arguments.contains("--json") { "{\"schema_version\"" } else { "" };
        assert!(
            ended.stdout.starts_with(printed) && ended.stdout.is_empty() == printed.is_empty(),
            "{arguments}"
        );
        assert_eq!(self.files(), before, "{arguments}");
    }

    /// Everything in the folder, hidden files too.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap());
        let content = |path: &Path| fs::read(path).unwrap_or_default();
        let mut files: Vec<_> =
            entries.map(|entry| (entry.file_name().into_string().unwrap(), content(&entry.path()))).collect();
        files.sort();
        files
    }
}

pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: flat(&output.stderr) }
}

/// The one JSON document that the text is.
pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-9)
}

/// What is known about a graph from its definition; numbers without a closed form are left out.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known {
    pub(crate) nodes: u64,
    pub(crate) edges: u64,
    pub(crate) degrees: Option<(u64, u64)>,
    pub(crate) lambda_2: Option<f64>,
    pub(crate) lambda_n: Option<f64>,
    pub(crate) fiedler: Option<f64>,
}

pub(crate) fn known(nodes: u64, edges: u64) -> Known {
    Known { nodes, edges, ..Known::default() }
}

impl Known {
    pub(crate) fn degrees(self, min: u64, max: u64) -> Self {
        Self { degrees: Some((min, max)), ..self }
    }

    /// The two eigenvalues of Metropolis weights.
    pub(crate) fn mixes(self, lambda_2: f64, lambda_n: f64) -> Self {
        Self { lambda_2: Some(lambda_2), lambda_n: Some(lambda_n), ..self }
    }

    pub(crate) fn fiedler(self, value: f64) -> Self {
        Self { fiedler: Some(value), ..self }
    }

    pub(crate) fn check(&self, found: &Value, what: &str) {
        assert_eq!((&found["nodes"], &found["edges"]), (&self.nodes.into(), &self.edges.into()), "{what}");
        let mean = 2.0 * self.edges as f64 / self.nodes as f64;
        assert!(near(&found["mean_degree"], mean), "{what}: {found}");
        if let Some((min, max)) = self.degrees {
            let degrees = (&found["min_degree"], &found["max_degree"]);
            assert_eq!(degrees, (&min.into(), &max.into()), "{what}");
        }
        if let (Some(second), Some(last)) = (self.lambda_2, self.lambda_n) {
            assert!(near(&found["lambda_2"], second), "{what}: lambda_2 {} {second}", found["lambda_2"]);
            assert!(near(&found["lambda_n"], last), "{what}: lambda_n {} {last}", found["lambda_n"]);
            let gap = 1.0 - second.abs().max(last.abs());
            assert!(near(&found["spectral_gap"], gap), "{what}: gap {} {gap}", found["spectral_gap"]);
        }
        if let Some(fiedler) = self.fiedler {
            assert!(near(&found["fiedler"], fiedler), "{what}: fiedler {} {fiedler}", found["fiedler"]);
            assert!(near(&found["fiedler_normalized"], fiedler / self.nodes as f64), "{what}");
            assert_eq!(found["connected"], fiedler > 0.0, "{what}");
        }
    }
}
