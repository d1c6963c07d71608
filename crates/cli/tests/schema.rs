//! What the commands print with `--json`, held against `sottovoce schema`.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::{json, sottovoce};
use serde_json::Value;

/// Commands by the name of their schema, with `GRAPH` and other files in a folder.
const COMMANDS: &[(&str, &str)] = &[
    ("graph generate", "graph generate --family geometric --peers 12 --mean-degree 5"),
    ("graph generate", "graph generate --family davis"),
    (
        "graph generate",
        "graph generate --family geometric-fiedler --peers 12 --fiedler 0.1 --out OUT.graphml",
    ),
    ("graph inspect", "graph inspect GRAPH --distances"),
    ("graph inspect", "graph inspect ONE --quiet"),
    ("account averaging", "account averaging --graph GRAPH --steps 2 --observers 0"),
    (
        "account averaging",
        "account averaging --graph GRAPH --steps 2 --observers 0,1 --relay-noise 0.1 --results published",
    ),
    ("account averaging", "account averaging --graph NAMED --steps 2 --observers b --method published"),
    ("account averaging", "account averaging --graph GRAPH --steps 2 --all-pairs"),
    ("account averaging", "account averaging --graph GRAPH --steps 2 --worst-coalition 2"),
    ("account averaging", "account averaging --schedule SCHEDULE --observers 0"),
    ("account learning", "account learning --graph GRAPH --iterations 2 --observers 0,1"),
    ("account learning", "account learning --method butterfly --peers 8 --iterations 2 --observers 0"),
    ("account walk", "account walk --graph GRAPH --steps 9 --observers 1"),
    ("account walk", "account walk --graph GRAPH --steps 4 --observers 1 --trajectory PATH --matrix"),
    ("account walk", "account walk --graph GRAPH --steps 9 --observers 1 --sigma 8 --order 2 --expected 200"),
    ("account walk", "account walk --graph GRAPH --steps 9 --observers 1 --sigma 1 --order 8 --expected 50"),
    ("account rumor", "account rumor --peers 100 --curious 10 --muting 0.1"),
    ("account rumor", "account rumor --peers 100 --curious 99 --muting 1"),
    ("account mechanism", "account mechanism --gaussian --noise-multiplier 2 --table --epsilon 1"),
    ("account mechanism", "account mechanism --gaussian --noise-multiplier 2 --delta 0"),
    (
        "account mechanism",
        "account mechanism --laplace --scale 2 --group 3 --rows 100 --batch-size 10 --epochs 2",
    ),
    ("account mechanism", "account mechanism --gaussian --noise-multiplier 4 --batch 10 --population 100"),
    ("account mechanism", "account mechanism --discrete-gaussian --sigma 4 --steps 2"),
    (
        "account mechanism",
        "account mechanism --randomized-response --random-probability 0.5 --adjacency replace",
    ),
    ("account mechanism", "account mechanism --events EVENTS"),
    ("account mechanism", "account mechanism --gaussian --calibrate --epsilon 3"),
    ("account mechanism", "account mechanism --gaussian --noise-multiplier 2 --calibrate-steps --epsilon 3"),
    (
        "account mechanism",
        "account mechanism --gaussian --noise-multiplier 4 --population 100 --calibrate-batch --epsilon 3",
    ),
    (
        "account mechanism",
        "account mechanism --gaussian --noise-multiplier 4 --rows 100 --calibrate-batch --epsilon 3",
    ),
    ("account mechanism", "account mechanism --laplace --calibrate --epsilon 3"),
    ("account mechanism", "account mechanism --discrete-gaussian --calibrate --epsilon 3"),
    (
        "account mechanism",
        "account mechanism --randomized-response --adjacency replace --calibrate --epsilon 3",
    ),
    ("plan averaging", "plan averaging --graph GRAPH --target-worst 1"),
    (
        "plan averaging",
        "plan averaging --peers 16 --target-far --epsilon 1 --target-mean 4 --out OUT-plan.toml",
    ),
    ("plan rumor", "plan rumor --peers 100 --curious 10 --delta 0.2 --out OUT-rumor.toml"),
    (
        "plan learning",
        "plan learning --peers 16 --rows 20 --iterations 2 --runs 1 --epsilon 4 --out OUT-learning.toml",
    ),
    ("audit reconstruct", "audit reconstruct --graph GRAPH --steps 2 --observers 0 --runs 200"),
    ("audit reconstruct", "audit reconstruct --protocol butterfly --peers 8 --observers 0 --runs 200"),
    ("audit source", "audit source --peers 20 --curious 3 --muting 0.5 --runs 200"),
    ("audit source", "audit source --graph GRAPH --curious 1 --muting 0.5 --runs 200"),
    ("run quickstart", "run quickstart --no-report"),
    ("run averaging", "run averaging --graph NAMED --steps 2 --sigma 1 --out OUT-averaging"),
    ("run rumor", "run rumor --peers 64 --out OUT-rumour"),
    ("run learning", "run learning --peers 16 --rows 20 --iterations 2 --seeds 2 --no-report"),
    ("run learning", "run learning --peers 16 --rows 20 --iterations 2 --seeds 1 --out OUT-folder"),
    ("compare", "compare OUT-averaging OUT-averaging"),
    ("account transcript", "account transcript OUT-averaging/transcript.json"),
    ("audit transcript", "audit transcript OUT-averaging/transcript.json"),
    ("account transcript rumor", "account transcript OUT-rumour/transcript.json"),
    ("audit transcript rumor", "audit transcript OUT-rumour/transcript.json --runs 200"),
    ("account transcript learning", "account transcript OUT-folder/transcript.json --observers 0"),
    ("audit transcript learning", "audit transcript OUT-folder/transcript.json"),
    ("audit file learning", "audit OUT-folder/experiment.toml --runs 50"),
    ("reproduce", "reproduce"),
];

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

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("GRAPH", "0 1\n1 2\n2 3\n3 0\n0 2\n"),
        ("NAMED", "a b\nb c\nc a\n"),
        ("ONE", "{\"nodes\": [{\"id\": 0}], \"links\": []}"),
        ("SCHEDULE", "{\"pairwise\": [[0, 1], [1, 2]]}"),
        ("PATH", "[0, 1, 2, 3]"),
        ("EVENTS", "[{\"laplace\": {\"scale\": 2}}, {\"epsilon\": 0.5, \"delta\": 1e-6}]"),
    ] {
        let ending = if name == "GRAPH" || name == "NAMED" { "txt" } else { "json" };
        std::fs::write(folder.path().join(format!("{name}.{ending}")), content).unwrap();
    }
    folder
}

/// The command with the names of the files in the folder.
fn filled(command: &str, folder: &std::path::Path) -> String {
    let at = |name: &str| folder.join(name).display().to_string();
    let words = command.split(' ').map(|word| match word {
        "GRAPH" | "NAMED" => at(&format!("{word}.txt")),
        "ONE" | "SCHEDULE" | "PATH" | "EVENTS" => at(&format!("{word}.json")),
        word if word.starts_with("OUT") => at(word),
        word => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

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
