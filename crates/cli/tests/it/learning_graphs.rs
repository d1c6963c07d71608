//! Learning by gossip on graphs that vary, rounds for gradients that differ, and models that are means.

use crate::common;

use common::{json, number, refused, sottovoce};

const RUN: &str = "run learning --method gossip --peers 16 --rows 20 --iterations 3 --seeds 1";

fn file(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

#[test]
fn fresh_graphs_are_accounted_for_as_they_run() {
    let fresh = "--fresh-graphs 1.5 --set protocol.accelerated=true";
    let account = json(&format!(
        "account learning --peers 16 --iterations 3 --observers 2 --epsilon 2 --against worst-peer {fresh}"
    ));
    let run = json(&format!("{RUN} {fresh} --epsilon 2 --no-report"));
    assert!((number(&run, "/sigma") - number(&account, "/sigma")).abs() < 1e-9, "{run}");
    // Towards a wire-tapper it is proven; towards a peer if gradients do not react.
    assert_eq!(run["guarantees"].as_array().unwrap().len(), 1);
    assert_eq!(run["guarantees"][0]["standing"], "proven");
    assert!(account["standing"]["conditional"].to_string().contains("reacts"), "{account}");
    assert_eq!(account["guarantees"][0]["standing"], "proven");
    let losses = account["leakage"].as_array().unwrap();
    assert!(losses.iter().all(|loss| loss.as_f64().unwrap() <= 3.0 + 1e-9) && losses[2] == 0.0);
    // A fresh graph hides more than one that stays: whoever is a neighbour now will hardly be next time.
    let (plain, sparse) = ("--peers 64 --iterations 4 --steps 1 --observers 0", "--fresh-graphs 1");
    let varying = json(&format!("account learning {plain} {sparse}"));
    assert!(number(&varying, "/leakage/5") < 4.0, "{varying}");
    // Other seeds, other graphs; the same seed, the same.
    let line = format!("account learning {plain} {sparse}");
    assert_eq!(json(&line), varying);
    assert_ne!(json(&format!("{line} --seed 1"))["leakage"], varying["leakage"]);
}

#[test]
fn graphs_of_a_file_come_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let schedule = file(&folder, "graphs.json");
    sottovoce(&format!(
        "graph schedule --kind fresh --peers 16 --factor 2.5 --steps 2 --seed 3 --out {schedule}"
    ))
    .assert()
    .success();
    let line = format!(
        "account learning --schedule {schedule} --weights metropolis-plus-one --steps 4 --observers 0"
    );
    let three = json(&format!("{line} --iterations 3"));
    let two = json(&format!("{line} --iterations 2"));
    let (of_three, of_two) = (number(&three, "/leakage/7"), number(&two, "/leakage/7"));
    assert!(of_two > 0.0 && of_three > of_two && of_three <= 3.0, "{of_two} {of_three}");
    let run = json(&format!("{RUN} --schedule {schedule} --steps 4 --epsilon 2 --no-report"));
    assert!(number(&run, "/guarantees/0/epsilon") <= 2.0 + 1e-6, "{run}");
    // The same graph twice is a graph that stays, bit for bit.
    let edges: Vec<String> =
        (0..16).flat_map(|u| [1, 4].map(|d| format!("[{u},{}]", (u + d) % 16))).collect();
    let edges = edges.join(",");
    std::fs::write(&schedule, format!("{{\"edges_per_step\": [[{edges}], [{edges}]]}}")).unwrap();
    let graph = file(&folder, "graph.txt");
    let lines: String = (0..16).map(|u| format!("{u} {}\n{u} {}\n", (u + 1) % 16, (u + 4) % 16)).collect();
    std::fs::write(&graph, lines).unwrap();
    for more in ["--set protocol.accelerated=true", "--relay-noise 0.1", "--set final-model=weighted"] {
        let [stays, varies] = [format!("--graph {graph}"), format!("--schedule {schedule}")]
            .map(|place| json(&format!("{RUN} {place} --steps 3 --sigma 1 {more} --no-report")));
        for key in ["model", "guarantees", "curve"] {
            assert_eq!(stays[key], varies[key], "{more} {key}");
        }
    }
}

#[test]
fn a_run_on_fresh_graphs_can_be_paused_and_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let [kept, out] = ["kept.json", "out"].map(|name| file(&folder, name));
    let run = format!("{RUN} --fresh-graphs 1.5 --sigma 2 --set final-model=weighted --ridge 0.1 --seed 5");
    let whole = json(&format!("{run} --no-report"));
    json(&format!("{run} --no-report --checkpoint {kept} --pause-after 1"));
    let resumed = json(&format!("{run} --checkpoint {kept} --resume --out {out}"));
    for key in ["model", "last", "objective", "guarantees"] {
        assert_eq!(whole[key], resumed[key], "{key}");
    }
    let account = json(&format!("account transcript {out}/transcript.json --observers 0"));
    assert_eq!(account["guarantees"][0], resumed["guarantees"][0]);
    assert_eq!(json(&format!("audit transcript {out}/transcript.json"))["agrees"], true);
    assert_eq!(json(&format!("audit {out}/experiment.toml --runs 50"))["stands"], true);
    assert_eq!(json(&format!("account {out}/experiment.toml"))["sigma"], 2.0);
    let again = file(&folder, "again");
    assert_eq!(json(&format!("run {out}/experiment.toml --out {again}"))["model"], whole["model"]);
    // Whoever tells of other graphs, or of another ending, is caught.
    let path = format!("{out}/transcript.json");
    let told: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(told["graphs"].as_array().unwrap().len(), 3);
    for (place, value, said) in [
        ("/graphs/1", told["graphs"][0].clone(), "the sequence of graphs"),
        ("/transcript/settings/weighted", false.into(), "the final model"),
    ] {
        let mut other = told.clone();
        *other.pointer_mut(place).unwrap() = value;
        std::fs::write(&path, other.to_string()).unwrap();
        let stderr =
            sottovoce(&format!("audit transcript {path}")).assert().code(1).get_output().stderr.clone();
        assert!(String::from_utf8(stderr).unwrap().contains(said), "{place}");
    }
}

#[test]
fn a_plan_for_graphs_that_vary_leaves_walks_out() {
    let plan = "plan learning --peers 16 --rows 20 --iterations 2 --runs 1 --epsilon 4";
    let found = json(&format!("{plan} --fresh-graphs 2"));
    let methods: Vec<&str> =
        found["rows"].as_array().unwrap().iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert!(
        methods.len() == 4 && methods.contains(&"gossip") && !methods.contains(&"random walk"),
        "{methods:?}"
    );
    // Gradients that differ far more than their noise need more rounds.
    let messages = |more: &str| {
        let found = json(&format!("{plan} {more}"));
        let rows = found["rows"].as_array().unwrap().clone();
        rows.iter().find(|row| row["method"] == "gossip").unwrap()["messages"].as_u64().unwrap()
    };
    assert!(
        messages("--set protocol.heterogeneity=1e6") > messages("")
            && messages("--set protocol.heterogeneity=0.2") == messages("")
    );
}

#[test]
fn rounds_are_the_papers_for_gradients_that_differ() {
    let folder = tempfile::tempdir().unwrap();
    let graph = file(&folder, "graph.txt");
    sottovoce(&format!("graph generate --family hypercube --peers 16 --out {graph}")).assert().success();
    let weights = format!("--graph {graph} --weights metropolis-plus-one");
    let gap = number(&json(&format!("graph inspect {graph} --weights metropolis-plus-one")), "/spectral_gap");
    let rounds = |more: &str| {
        number(&json(&format!("account learning {weights} --iterations 2 --observers 0 {more}")), "/rounds")
    };
    let formula = |most: f64| (most.ln() / gap.sqrt()).ceil();
    assert_eq!(rounds(""), formula(16.0));
    assert_eq!(rounds("--sigma 0.5 --set protocol.heterogeneity=2"), formula(16.0));
    assert_eq!(rounds("--sigma 0.01 --set protocol.heterogeneity=0.2"), formula(2000.0));
    // The noise that a target asks for counts, as in a run.
    let asked = "--epsilon 2 --set protocol.heterogeneity=1e5";
    let found = json(&format!("account learning {weights} --iterations 2 --observers 0 {asked}"));
    let sigma = number(&found, "/sigma");
    assert_eq!(number(&found, "/rounds"), formula(1e5 / (sigma * sigma)));
    let out = file(&folder, "out");
    let run = format!(
        "run learning --method gossip --peers 16 --rows 20 --iterations 2 --seeds 1 {weights} {asked}"
    );
    assert!((number(&json(&format!("{run} --out {out}")), "/sigma") - sigma).abs() < 1e-9);
    let told = std::fs::read_to_string(format!("{out}/transcript.json")).unwrap();
    assert!(told.contains(&format!("\"rounds\":{}", number(&found, "/rounds"))), "{told}");
    json(&format!("account transcript {out}/transcript.json"));
    assert_eq!(
        number(&json(&format!("account {out}/experiment.toml")), "/rounds"),
        number(&found, "/rounds")
    );
    refused(&format!("{run} --steps 3"), &["heterogeneity", "steps"]);
    refused(
        &format!("{run} --no-report").replace("--epsilon 2", "--sigma 0"),
        &["`sigma` is 0", "give --steps"],
    );
    refused(&format!("{run} --no-report").replace("1e5", "-1"), &["`heterogeneity` is -1"]);
}

#[test]
fn a_model_may_be_the_weighted_mean() {
    let run = "run learning --peers 16 --rows 20 --iterations 6 --seeds 1 --sigma 0.5 --no-report";
    for method in ["gossip", "butterfly", "local", "central"] {
        let line = format!("{run} --method {method} --ridge 0.1");
        let [last, mean] =
            ["last", "weighted"].map(|which| json(&format!("{line} --set final-model={which}")));
        assert_eq!((&last["final_model"], &mean["final_model"]), (&"last".into(), &"weighted".into()));
        assert_ne!(last["model"], mean["model"], "{method}");
        // Nobody says more than without, and the last models stand beside it.
        assert_eq!(last["guarantees"], mean["guarantees"], "{method}");
        assert_eq!(mean["last"]["objective"], last["objective"], "{method}");
        assert_eq!(mean["last"]["accuracy"], last["accuracy_of_this_run"], "{method}");
        assert!(last["last"].is_null(), "{method}");
        assert_eq!(last["model"], json(&line)["model"]);
    }
    refused(
        &format!("{run} --method walk --set final-model=weighted"),
        &["`final-model` is weighted", "have a use"],
    );
    refused(
        &format!("{run} --ridge 1 --step-size 2 --set final-model=weighted"),
        &["`step-size` is 2", "below 2"],
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [pairs, few] = ["pairs.json", "few.json"].map(|name| file(&folder, name));
    std::fs::write(&pairs, "{\"pairwise\": [[0, 1], [1, 2]]}").unwrap();
    std::fs::write(&few, "{\"edges_per_step\": [[[0, 1], [1, 2]], [[0, 2]]]}").unwrap();
    let run = format!("{RUN} --no-report");
    refused(&format!("{run} --fresh-graphs 0"), &["`fresh-graphs` is 0", "positive"]);
    refused(&format!("{run} --fresh-graphs 0.01"), &["`fresh-graphs` is 0.01", "raise it"]);
    refused(&format!("{run} --schedule {pairs}"), &["`schedule` is ", "edges_per_step"]);
    refused(&format!("{run} --schedule {few}"), &["`schedule` has 3 peers", "--peers 3"]);
    refused(&format!("{run} --fresh-graphs 1 --schedule {few}"), &["--fresh-graphs", "--schedule"]);
    refused(&format!("{run} --lazy 0.2 --schedule {few}"), &["--lazy", "--schedule"]);
    // The second graph leaves a peer alone: nothing is averaged there in any number of rounds.
    let three = format!("account learning --schedule {few} --observers 0 --iterations 2");
    refused(&three, &["never mixes", "--steps"]);
    refused(&format!("{three} --steps 2"), &["not connected"]);
    for method in ["walk", "butterfly", "local", "central"] {
        for (name, value) in [("fresh-graphs", "1"), ("schedule", few.as_str())] {
            let line = run.replace("--method gossip", &format!("--method {method}"));
            let said = [&format!("`{name}` is given")[..], "only gossip has a use for it"];
            refused(&format!("{line} --{name} {value}"), &said);
        }
        let line = run.replace("--method gossip", &format!("--method {method}"));
        refused(&format!("{line} --set protocol.heterogeneity=1"), &["`heterogeneity` is 1", "only gossip"]);
    }
}
