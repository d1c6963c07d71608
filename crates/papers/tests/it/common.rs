//! Asking the program.

use assert_cmd::Command;
use serde_json::Value;

/// The program with these arguments, separated by spaces.
pub(crate) fn papers(arguments: &str) -> Command {
    let mut command = Command::cargo_bin("sottovoce-papers").unwrap();
    command.args(arguments.split_whitespace());
    command
}

/// What it prints, with nothing beside it.
pub(crate) fn text(arguments: &str) -> String {
    let output = papers(arguments).assert().success().get_output().clone();
    assert!(output.stderr.is_empty(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The document it prints, with nothing beside it.
pub(crate) fn json(arguments: &str) -> Value {
    serde_json::from_str(&text(&format!("{arguments} --json"))).unwrap()
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
    let output = papers(arguments).assert().code(2).get_output().clone();
    let message = flat(&output.stderr);
    assert!(output.stdout.is_empty(), "{arguments}");
    for word in words {
        assert!(message.contains(word), "{arguments}: `{word}` is not in: {message}");
    }
}
