//! `docs/papers.md`: every command of its tables runs, and every statement and figure that the program knows has a row.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::json;
use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/papers.md");

/// Standings that a row may have; a definition and an assumption have none.
const STANDINGS: [&str; 5] = ["", "Proven", "Conditional", "Published", "Refuted"];

/// A row of a table.
struct Row {
    statement: &'static str,
    place: &'static str,
    command: &'static str,
    standing: &'static str,
    verdict: &'static str,
}

fn rows() -> Vec<Row> {
    let lines = PAGE.lines().filter(|line| line.starts_with("| "));
    let cells = lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let own = cells.filter(|cells| cells[0] != "statement" && !cells[0].starts_with("---"));
    let row = |cells: Vec<&'static str>| {
        let [statement, _, place, command, standing, verdict] = cells[..] else { panic!("{cells:?}") };
        Row { statement, place, command, standing, verdict }
    };
    own.map(row).collect()
}

/// What stands in back quotes.
fn quoted(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

/// The blocks of a page, by what is written after their three back quotes.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("\n```").skip(1).step_by(2);
    parts.map(|block| block.split_once('\n').unwrap()).collect()
}

/// What a line of a page prints in a folder: this crate's program is run, the other is asked in this process.
fn run(folder: &Path, line: &str) -> String {
    if let Some(words) = line.strip_prefix("sottovoce-papers ") {
        let output = common::papers(words).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        return String::from_utf8(output.stdout).unwrap();
    }
    let words: Vec<&str> =
        line.strip_prefix("sottovoce ").unwrap_or_else(|| panic!("{line}")).split(' ').collect();
    // Files by their places, since this process is in another folder.
    let placed = |(before, word): (&&str, &&str)| match *before == "--out" || folder.join(word).is_file() {
        true => folder.join(word).into_os_string(),
        false => (*word).into(),
    };
    let words: Vec<std::ffi::OsString> = [&""].into_iter().chain(&words).zip(&words).map(placed).collect();
    sottovoce_cli::ask(&words).unwrap_or_else(|fault| panic!("{line}: {}", fault.message)).printed
}

/// The files that the page names: made by its own commands, or written as they stand there.
fn files() -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in blocks(PAGE) {
        match name.split_once(' ') {
            Some((_, file)) => std::fs::write(folder.path().join(file), text).unwrap(),
            None => text.lines().for_each(|line| _ = run(folder.path(), line)),
        }
    }
    let made = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap);
    made.map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())).collect()
}

/// Runs a command beside those files: the document that it prints.
fn document(files: &BTreeMap<String, Vec<u8>>, command: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, bytes)| std::fs::write(folder.path().join(name), bytes).unwrap());
    let printed = run(folder.path(), &format!("{command} --json"));
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{command}: {error}"))
}

/// The documents of all commands of one kind.
fn documents(kind: &str) -> BTreeMap<&'static str, Value> {
    let all: BTreeSet<&str> = rows().iter().filter_map(|row| quoted(row.command)).collect();
    let files = files();
    let all = all.into_iter().filter(|command| command.split(' ').nth(1) == Some(kind));
    all.map(|command| (command, document(&files, command))).collect()
}

/// `Theorem 1` as a command names it.
fn named(statement: &str) -> String {
    statement.to_lowercase().replace(' ', "-").replace('.', "")
}

/// What the program says of a standing, as the page writes it.
fn standing(value: &Value) -> String {
    let word = value.as_str().or_else(|| value.as_object()?.keys().next().map(String::as_str)).unwrap();
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn every_theorem_of_the_table_says_the_same_standing() {
    let documents = documents("theorem");
    let mut told = 0;
    for row in rows() {
        let Some(command) = quoted(row.command) else { continue };
        let words: Vec<&str> = command.split(' ').collect();
        let asked = words.get(2).and_then(|what| what.split_once('/'));
        if words[1] == "theorem" && asked.is_some_and(|(_, id)| id == named(row.statement)) {
            assert_eq!(
                standing(&documents[command]["standing"]),
                row.standing,
                "{}: {command}",
                row.statement
            );
            told += 1;
        }
    }
    assert!(told > 25, "{told}");
}

#[test]
#[ignore = "second tier: whole figures"]
fn every_figure_of_the_table_is_made() {
    let commands: BTreeSet<_> = rows().iter().filter_map(|row| quoted(row.command)).collect();
    let kinds: BTreeSet<_> = commands.iter().filter_map(|command| command.split(' ').nth(1)).collect();
    let others = kinds.into_iter().filter(|kind| *kind != "theorem");
    let made: usize = others.map(|kind| documents(kind).len()).sum();
    assert!(made > 40, "{made}");
}

#[test]
fn everything_that_the_program_knows_of_the_papers_has_a_row() {
    let commands: BTreeSet<&str> = rows().iter().filter_map(|row| quoted(row.command)).collect();
    for command in ["theorem", "reproduce"] {
        let listed = json(command);
        for item in listed["items"].as_array().unwrap() {
            let begin = format!("sottovoce-papers {command} {} ", item["name"].as_str().unwrap());
            assert!(commands.iter().any(|one| format!("{one} ").starts_with(&begin)), "{begin}");
        }
    }
}

#[test]
fn rows_say_where_to_look_and_what_came_of_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let rows = rows();
    assert!(rows.len() > 100, "{}", rows.len());
    for Row { statement, place, command, standing, verdict } in rows {
        let missing = |cell: &str| cell.starts_with("(library: ") && cell.ends_with(')');
        match quoted(place) {
            Some(path) => assert!(crates.join(path).is_file(), "{statement}: {path}"),
            None => assert!(missing(place), "{statement}: {place}"),
        }
        assert!(quoted(command).is_some() || missing(command), "{statement}: {command}");
        assert!(STANDINGS.contains(&standing), "{statement}: {standing}");
        assert!(!verdict.is_empty() || statement.starts_with("Definition"), "{statement}");
    }
}

/// Guides whose blocks are marked `sh test papers` (`crates/cli/tests/it/book.rs` runs all others): with the graphs that they make before.
#[test]
fn commands_of_guides_do_what_they_say() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut followed = 0;
    for page in ["concepts.md", "how-to/check-a-claim.md"] {
        let (text, folder) =
            (std::fs::read_to_string(docs.join(page)).unwrap(), tempfile::tempdir().unwrap());
        for (name, body) in blocks(&text) {
            let own = name == "sh test papers";
            let needed =
                |line: &&str| own || (name == "sh test" && line.starts_with("sottovoce graph generate "));
            for line in body.lines().filter(needed) {
                assert!(!run(folder.path(), line).is_empty(), "{page}: {line}");
                followed += usize::from(own);
            }
        }
    }
    assert!(followed >= 2, "{followed}");
}
