//! Asking the program: in this process where words and documents are all that matters, as a process where streams, folders or exits do.
// Not every file of tests uses all of it.
#![allow(dead_code)]

pub(crate) mod commands;
pub(crate) mod graphs;

use assert_cmd::Command;
use serde_json::Value;
use sottovoce_cli::{Answer, Fault};

/// The program with these arguments, separated by spaces.
pub(crate) fn sottovoce(arguments: &str) -> Command {
    let mut command = Command::cargo_bin("sottovoce").unwrap();
    command.args(arguments.split_whitespace());
    command
}

/// What the program answers in this process.
pub(crate) fn asked(arguments: &str) -> Result<Answer, Fault> {
    sottovoce_cli::ask(&arguments.split_whitespace().collect::<Vec<_>>())
}

/// The document it prints, with nothing beside it.
pub(crate) fn json(arguments: &str) -> Value {
    let answer =
        asked(&format!("{arguments} --json")).unwrap_or_else(|fault| panic!("{arguments}: {fault:?}"));
    // A process that is to be quiet prints no notes.
    assert!(answer.notes.is_empty() || arguments.contains("--quiet"), "{arguments}: {:?}", answer.notes);
    serde_json::from_str(&answer.printed).unwrap()
}

/// The number at a path of a document.
pub(crate) fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} of {value}"))
}

/// What was printed as one line, wherever lines were broken.
pub(crate) fn flat(printed: &[u8]) -> String {
    String::from_utf8_lossy(printed).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fails with exit code 2, a message with each of the words, and nothing on standard output.
pub(crate) fn refused(arguments: &str, words: &[&str]) {
    let fault = asked(arguments).expect_err(arguments);
    assert_eq!((fault.code, fault.printed.as_str()), (2, ""), "{arguments}: {}", fault.message);
    let message = flat(fault.message.as_bytes());
    for word in words {
        assert!(message.contains(word), "{arguments}: `{word}` is not in: {message}");
    }
}
