//! What the commands print with `--json`, held against `sottovoce schema`.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::commands::{COMMANDS, filled, folder};
use common::{json, sottovoce};
use serde_json::Value;

/// Keys that only rare results have, or long work.
const RARE: [&str; 11] = [
    "silence",
    "ended",
    "worst_understatement",
    "labels",
    "names",
    "paper",
    "quick",
    "out",
    "data",
    "rmse",
    "r_squared",
];

/// Commands whose documents state what is promised.
const GUARANTEED: [&str; 11] = [
    "audit reconstruct",
    "account averaging",
    "account learning",
    "account rumor",
    "account mechanism",
    "plan averaging",
    "plan rumor",
    "run quickstart",
    "run averaging",
    "run rumor",
    "run learning",
];

/// What is wrong with a value, if anything is: the subset of JSON Schema that is used.
fn wrong(value: &Value, schema: &Value, root: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let named = root.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name}"));
        return wrong(value, named, root, at);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let all: Vec<String> = any.iter().filter_map(|one| wrong(value, one, root, at)).collect();
        return (all.len() == any.len()).then(|| all.join(" and "));
    }
    if let Some(word) = schema.get("const") {
        return (value != word).then(|| format!("{at} is {value}, not {word}"));
    }
    let kind = schema["type"].as_str()?;
    let fits = match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    if !fits {
        return Some(format!("{at} is {value}, no {kind}"));
    }
    if let Some(items) = value.as_array() {
        return items.iter().find_map(|item| wrong(item, &schema["items"], root, &format!("{at}[]")));
    }
    let fields = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing =
        required.filter(|key| !fields.contains_key(*key)).map(|key| format!("{at}.{key} is missing"));
    missing
        .chain(fields.iter().filter_map(|(key, value)| {
            let at = format!("{at}.{key}");
            match (&schema["properties"][key], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => Some(format!("{at} is not in the schema: {value}")),
                (Value::Null, others) => wrong(value, others, root, &at),
                (known, _) => wrong(value, known, root, &at),
            }
        }))
        .next()
}

#[test]
fn documents_have_the_form_that_the_schema_says() {
    let folder = folder();
    let schemas: BTreeMap<String, Value> =
        serde_json::from_slice(&sottovoce("schema").assert().success().get_output().stdout).unwrap();
    let mut used: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, command) in COMMANDS {
        let command = filled(command, folder.path());
        let found = json(&command);
        let schema = &schemas[*name];
        assert_eq!(wrong(&found, schema, schema, name), None, "{command}");
        used.entry(name).or_default().extend(found.as_object().unwrap().keys().cloned());
        // What it rests on.
        let words: Vec<&str> = command.split_whitespace().chain(["--json"]).collect();
        assert_eq!(found["command"], serde_json::json!(words));
        assert_eq!((&found["schema_version"], &found["seed"]), (&1.into(), &0.into()));
        let reads = command.contains("GRAPH") || command.contains("NAMED") || command.contains("ONE.");
        assert_eq!(found.get("graph_sha256").is_some(), reads || command.contains("SCHEDULE"), "{command}");
        // Guarantees as numbers.
        if GUARANTEED.contains(name) {
            let stated = found["guarantees"].as_array().unwrap();
            assert!(!stated.is_empty() || command.contains("published"), "{command}");
        }
    }
    // Nothing is described that no command prints.
    for (name, schema) in schemas.iter().filter(|(name, _)| {
        !["run file", "run quickstart", "audit file", "account file", "plan file"].contains(&name.as_str())
    }) {
        let printed = &used[name.as_str()];
        let described = schema["properties"].as_object().unwrap().keys();
        let described = described.filter(|key| !RARE.contains(&key.as_str()));
        let unseen: Vec<_> =
            described.filter(|key| !printed.contains(key) && !key.ends_with("sha256")).collect();
        assert!(unseen.is_empty(), "{name}: {unseen:?}");
    }
}

#[test]
fn a_hash_is_that_of_the_bytes_that_were_read() {
    let folder = folder();
    let hash = "ae5e015949c73bf59835098cd1faaf2d5063a43bfea9b71035e159bce539598f";
    let path = folder.path().join("GRAPH.txt");
    let found = json(&format!("account averaging --graph {} --steps 2 --observers 0", path.display()));
    assert_eq!(found["graph_sha256"], hash);
    let mut command = sottovoce("graph inspect - --json");
    let output = command.write_stdin(std::fs::read(&path).unwrap()).output().unwrap();
    let piped: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(piped["graph_sha256"], hash);
}
