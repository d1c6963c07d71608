//! What the program prints: documents of the form that `sottovoce-papers schema` says, and nothing wider than 100 columns.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use common::{flat, json, papers, refused, text};
use serde_json::Value;
use sottovoce_testing::held;

const WIDTH: usize = 100;

/// Commands by the name of their schema, with `GRAPH` and `OUT` in a folder.
const COMMANDS: [(&str, &str); 10] = [
    ("reproduce", "reproduce"),
    ("reproduce", "reproduce rumor/2b --quick --out OUT"),
    ("reproduce", "reproduce muffliato/1b --quick --out OUT-skipped"),
    ("theorem", "theorem"),
    ("theorem", "theorem muffliato/theorem-1 --graph GRAPH --steps 3"),
    ("theorem", "theorem muffliato/footnote-2 --graph GRAPH"),
    ("theorem", "theorem random-walk/theorem-5 --peers 8"),
    ("theorem", "theorem personalized/theorem-1 --iterations 5"),
    ("theorem", "theorem personalized/appendix-d2 --dimension 4"),
    ("theorem", "theorem consensus-deep-learning/theorem-51 --peers 6"),
];

/// A folder with the graph, and the commands with its names.
fn commands() -> (tempfile::TempDir, Vec<(&'static str, String)>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("GRAPH.txt"), "0 1\n1 2\n2 3\n3 0\n0 2\n").unwrap();
    let filled = |command: &str| {
        let place = |name| format!(" {}/{name}", folder.path().display());
        command.replace(" GRAPH", &place("GRAPH.txt")).replace(" OUT", &place("OUT"))
    };
    let all = COMMANDS.iter().map(|(name, command)| (*name, filled(command))).collect();
    (folder, all)
}

fn narrow(arguments: &str, text: &str) {
    let wide = text.lines().find(|line| line.chars().count() > WIDTH);
    assert_eq!(wide, None, "{arguments}");
}

/// The keys that a schema names at its top.
fn described(schema: &Value) -> BTreeSet<&String> {
    let parts = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let own = schema["properties"].as_object().into_iter().flat_map(serde_json::Map::keys);
    own.chain(parts.flat_map(described)).collect()
}

#[test]
fn documents_have_the_form_that_the_schema_says() {
    let (_folder, commands) = commands();
    let schemas: BTreeMap<String, Value> = serde_json::from_str(&text("schema")).unwrap();
    assert_eq!(schemas.keys().collect::<Vec<_>>(), ["failure", "reproduce", "theorem"]);
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, command) in commands {
        let found = json(&command);
        let schema = &schemas[name];
        held(&found, schema, schema, name).unwrap_or_else(|why| panic!("{command}: {why}"));
        used.entry(name).or_default().extend(found.as_object().unwrap().keys().cloned());
        let words: Vec<&str> = command.split_whitespace().chain(["--json"]).collect();
        assert_eq!(found["command"], serde_json::json!(words));
        assert_eq!((&found["schema_version"], &found["seed"]), (&1.into(), &0.into()));
        assert_eq!(found.get("graph_sha256").is_some(), command.contains("GRAPH"), "{command}");
        assert!(schema["title"].as_str().unwrap().starts_with("sottovoce-papers "), "{schema}");
    }
    // Nothing is described that no command prints.
    let rare = |key: &str| key == "unchecked" || key == "data" || key.ends_with("sha256");
    for (name, printed) in &used {
        let described = described(&schemas[*name]).into_iter();
        let unseen: Vec<_> = described.filter(|key| !printed.contains(*key) && !rare(key)).collect();
        assert!(unseen.is_empty(), "{name}: {unseen:?}");
    }
    // A command that comes to nothing prints why, also where it cannot be read.
    for (wrong, said) in [
        ("reproduce muffliato/7 --json", "sottovoce-papers: `figure` is 7"),
        ("theorem --what 3 --json", "error: unexpected argument '--what'"),
    ] {
        let failed = papers(wrong).assert().code(2).get_output().clone();
        let failure: Value = serde_json::from_slice(&failed.stdout).unwrap();
        held(&failure, &schemas["failure"], &schemas["failure"], "failure").unwrap();
        assert!(flat(&failed.stderr).starts_with(said), "{failure}");
    }
    refused("schema nonsense", &["`command` is nonsense", "failure, reproduce, theorem"]);
}

#[test]
fn everything_fits() {
    let (_folder, commands) = commands();
    for (_, command) in commands {
        let shown = text(&format!("{command} --verbose"));
        assert!(shown.len() > 30 && shown.lines().all(|line| line == line.trim_end()), "{command}: {shown}");
        narrow(&command, &shown);
    }
    for wrong in
        ["", "theorem nothing/theorem-1", "theorem muffliato/theorem-1 --curious 3", "reproduce --out x"]
    {
        let output = papers(wrong).output().unwrap();
        assert!(!output.status.success(), "{wrong}");
        narrow(wrong, &String::from_utf8([output.stdout, output.stderr].concat()).unwrap());
    }
}

#[test]
fn all_help_fits_and_has_examples() {
    for command in ["", "reproduce", "theorem", "schema"] {
        let help = text(&format!("{command} --help"));
        narrow(command, &help);
        narrow(command, &text(&format!("{command} -h")));
        let examples = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
        let examples: Vec<&str> = examples.take_while(|line| !line.is_empty()).collect();
        let begin = format!("  sottovoce-papers {command}");
        assert!(!examples.is_empty() && examples.iter().all(|line| line.starts_with(&begin)), "{help}");
    }
    assert!(text("--help").starts_with("Figures, tables and statements"));
}
