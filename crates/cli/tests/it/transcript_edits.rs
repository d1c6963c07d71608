//! Transcripts with something changed in them: each is refused, or says no less than that of the run it came from.

use std::collections::BTreeMap;
use std::path::Path;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use super::common::{asked, json as answered};

/// A run of every kind, with the observers that its transcript is read for.
const RUNS: &[(&str, &str)] = &[
    ("averaging --peers 8 --steps 3 --relay-noise 0.3 --sigma 1", "0"),
    (
        "averaging --graph RING --set network.lenient=true --steps 4 --drop 0.2 --delay 50 --timeout 200 --sigma 1",
        "0,3",
    ),
    (
        "averaging --graph RING --set network.lenient=true --steps 3 --drop 0.2 --results published --sigma 1",
        "2",
    ),
    ("averaging --protocol butterfly --peers 8 --cancel 3 --keys regular:4 --colluders 1 --sigma 1", "1"),
    ("averaging --protocol butterfly --peers 8 --masks --colluders 2 --sigma 1", "1"),
    ("averaging --graph RING --protocol walk --steps 40 --cap 2 --sigma 1", "0"),
    ("averaging --graph RING --protocol walk --steps 30 --drop 0.2 --timeout 500 --sigma 1", "0"),
    ("averaging --graph RING --protocol walk --steps 30 --epsilon 3", "0"),
    ("learning --peers 8 --rows 10 --iterations 4 --seeds 1 --method gossip --steps 2 --sigma 2", "0"),
    (
        "learning --peers 8 --rows 10 --iterations 6 --seeds 1 --method butterfly --sigma 2 --epsilon 3 --against wire-tapper",
        "0",
    ),
    ("learning --peers 8 --rows 10 --iterations 6 --seeds 1 --method walk --sigma 3 --epsilon 2", "0"),
    (
        "learning --peers 8 --rows 10 --iterations 3 --seeds 1 --method walk --sigma 3 --drop-messages 0.2 --burn-in 2",
        "0",
    ),
    (
        "learning --peers 8 --rows 10 --iterations 3 --seeds 1 --method walk --tokens 2 --burn-in 3 --epsilon 2",
        "0",
    ),
    ("learning --peers 8 --rows 10 --iterations 3 --seeds 1 --cancel 3 --colluders 1", "0"),
    ("rumor --peers 32 --curious 3", ""),
    ("rumor --peers 32 --curious 3 --muting 0.5 --drop 0.1 --seeds 2", ""),
    ("rumor --peers 32 --curious 3 --muting 0.6 --set churn=0.2 --seeds 2", ""),
    ("rumor --graph RING --curious 2 --muting 0.3 --drop 0.1 --set clocks=poisson --seeds 2", ""),
    ("personalized --agents 8 --width 3 --updates 2 --seeds 1", ""),
    (
        "deep --model mlp --agents 4 --images 120 --set task.test-images=20 --rounds 3 --lot 10 --noise-multiplier 2",
        "",
    ),
];

/// What each adversary learns at most, by a transcript; none where it is refused.
fn account(path: &Path, observers: &str) -> Option<BTreeMap<String, f64>> {
    let about =
        if observers.is_empty() { String::new() } else { format!(" --observers {observers} --delta 1e-5") };
    let answer = asked(&format!("account transcript {}{about} --json", path.display())).ok()?;
    let document: Value = serde_json::from_str(&answer.printed).unwrap();
    let mut all = BTreeMap::new();
    for stated in document["guarantees"].as_array().unwrap() {
        let number = |key: &str| stated[key].as_f64().unwrap_or(f64::INFINITY);
        let key = |what: &str| format!("{what} of {}", stated["adversary"]);
        // What is proven is claimed without conditions.
        let conditional = if stated["standing"] == "proven" { 0.0 } else { 1.0 };
        let claims = [("epsilon", number("epsilon")), ("delta", number("delta")), ("standing", conditional)];
        for (name, value) in claims.map(|(what, value)| (key(what), value)) {
            let worst = all.entry(name).or_insert(value);
            *worst = f64::max(*worst, value);
        }
    }
    for key in ["leakage", "losses", "wire_tapper"] {
        let numbers = document[key].as_array().into_iter().flatten().filter_map(Value::as_f64);
        all.insert(key.to_owned(), numbers.sum());
    }
    Some(all)
}

/// The places in a document, of everything in it.
fn places(value: &Value, here: &str, all: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let place = format!("{here}/{}", name.replace('~', "~0").replace('/', "~1"));
        all.push(place.clone());
        places(value, &place, all);
    };
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(i, one)| below(&i.to_string(), one)),
        Value::Object(fields) => fields.iter().for_each(|(name, one)| below(name, one)),
        _ => {}
    }
}

/// Changes something: a number, a word, what is said twice or in another order, or not at all.
fn edited(file: &mut Value, draw: &mut StdRng) {
    let mut all = Vec::new();
    places(file, "", &mut all);
    // By depth first, so that long lists do not drown the rest.
    let depth = |place: &str| place.matches('/').count();
    let deep = draw.random_range(1..=all.iter().map(|place| depth(place)).max().unwrap());
    let level: Vec<&String> = all.iter().filter(|place| depth(place) == deep).collect();
    let place = (*level.choose(draw).unwrap()).clone();
    let (parent, name) = place.rsplit_once('/').unwrap();
    if draw.random_bool(0.3) {
        match file.pointer_mut(parent).unwrap() {
            Value::Array(list) => {
                let at: usize = name.parse().unwrap();
                match draw.random_range(0..4) {
                    0 => drop(list.remove(at)),
                    1 => list.truncate(at),
                    2 => list.insert(at, list[at].clone()),
                    _ => {
                        let other = draw.random_range(0..list.len());
                        list.swap(at, other);
                    }
                }
            }
            Value::Object(fields) => drop(fields.remove(name)),
            _ => {}
        }
        return;
    }
    let value = file.pointer_mut(&place).unwrap();
    *value = match value.clone() {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => {
            let x = number.as_f64().unwrap();
            let whole = number.is_u64();
            let choices = [0.0, 1.0, x + 1.0, x - 1.0, 2.0 * x, 0.5 * x, -x, x * (1.0 + 1e-9), 1e9];
            let new = *choices.choose(draw).unwrap();
            if whole && new >= 0.0 { json!(new as u64) } else { json!(new) }
        }
        Value::String(text) => json!(
            *[
                "",
                "contributed",
                "NoiseOnly",
                "Relayed",
                "strict",
                &text.replacen('1', "2", 1),
                &text.replacen("true", "false", 1)
            ]
            .choose(draw)
            .unwrap()
        ),
        Value::Null => json!(0),
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
    };
}

/// Tries so many edits of the transcript of each run, every other one a pair of edits.
fn hold(edits: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (mut accepted, mut tried) = (0, 0);
    let ring = folder.path().join("ring.txt");
    std::fs::write(&ring, (0..8).map(|u| format!("{u} {}\n", (u + 1) % 8)).collect::<String>()).unwrap();
    for (number, (run, observers)) in RUNS.iter().enumerate() {
        let out = folder.path().join(number.to_string());
        let line = run.replace("RING", &ring.display().to_string());
        answered(&format!("run {line} --out {}", out.display()));
        let path = out.join("transcript.json");
        let whole: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let truth =
            account(&path, observers).unwrap_or_else(|| panic!("{run}: its own transcript is refused"));
        assert!(!truth.is_empty(), "{run}");
        let mut draw = StdRng::seed_from_u64(number as u64);
        for trial in 0..edits {
            let mut file = whole.clone();
            (0..=trial % 2).for_each(|_| edited(&mut file, &mut draw));
            if file == whole {
                continue;
            }
            tried += 1;
            std::fs::write(&path, file.to_string()).unwrap();
            let Some(found) = account(&path, observers) else { continue };
            accepted += 1;
            for (key, least) in &truth {
                // A guarantee that is gone claims nothing.
                let now = found.get(key).copied().unwrap_or(f64::INFINITY);
                if now < least * (1.0 - 1e-12) {
                    let kept = std::env::temp_dir().join("accepted.json");
                    std::fs::write(&kept, file.to_string()).unwrap();
                    panic!("{run}, edit {trial}: {key} is {now} instead of {least} ({})", kept.display());
                }
            }
        }
    }
    println!("{tried} edits, {accepted} accepted");
    assert!(tried > edits * RUNS.len() / 2 && accepted < tried / 2, "{tried} edits, {accepted} accepted");
}

#[test]
fn no_edit_makes_a_transcript_say_less() {
    hold(20);
}

#[test]
#[ignore = "second tier: 6,000 edits"]
fn no_edit_of_thousands_makes_a_transcript_say_less() {
    hold(300);
}
