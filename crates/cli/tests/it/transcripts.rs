//! Learning runs and rumours leave transcripts: what they revealed is read from them, and whoever changes one is caught.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

fn run(folder: &Path, line: &str) -> Command {
    let mut command = Command::cargo_bin("sottovoce").unwrap();
    command.current_dir(folder).args(line.split_whitespace());
    command
}

fn found(folder: &Path, line: &str) -> Value {
    let line = format!("{line} --json");
    serde_json::from_slice(&run(folder, &line).assert().success().get_output().stdout).unwrap()
}

/// What is said, wherever its lines break.
fn refused(folder: &Path, line: &str, code: i32) -> String {
    let said = run(folder, line).assert().code(code).get_output().stderr.clone();
    String::from_utf8(said).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A change to a file.
type Change = dyn Fn(&mut Value);

/// Each change is found by the audit, as something that was agreed on otherwise or that a replay has otherwise, and nothing is said of the run.
fn caught(folder: &Path, name: &str, changes: &[(&Change, &str)]) {
    let path = folder.join(name).join("transcript.json");
    let whole = read(&path);
    for (change, said) in changes {
        let mut file = whole.clone();
        change(&mut file);
        std::fs::write(&path, file.to_string()).unwrap();
        let message = refused(folder, &format!("audit transcript {name}/transcript.json"), 1);
        assert!(message.contains(said) || message.contains("when the run is replayed"), "{message}");
        let message = refused(folder, &format!("account transcript {name}/transcript.json"), 2);
        assert!(message.contains("does not follow"), "{message}");
    }
    std::fs::write(&path, whole.to_string()).unwrap();
}

const SMALL: &str = "run learning --peers 12 --rows 20 --iterations 4 --seeds 1";

#[test]
fn the_guarantees_of_a_learning_run_follow_from_its_transcript() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options, source) in [
        ("butterfly", "--method butterfly", "positions"),
        ("gossip", "--method gossip --steps 3 --sigma 2", "releases"),
        ("relay", "--method gossip --steps 2 --relay-noise 0.5", "releases"),
        ("walk", "--method walk --tokens 2 --burn-in 3 --epsilon 2", "paths"),
        ("limited", "--method walk --sigma 3 --epsilon 2", "paths"),
        ("budget", "--method butterfly --sigma 2 --epsilon 3 --against wire-tapper", "positions"),
        ("local", "--method local", "releases"),
        ("central", "--method central", "releases"),
    ] {
        let ran = found(folder.path(), &format!("{SMALL} {options} --out {name}"));
        let account = found(folder.path(), &format!("account transcript {name}/transcript.json"));
        for key in ["guarantees", "statements", "spent", "sigma", "not_covered"] {
            assert_eq!(account[key], ran[key], "{name}: {key}");
        }
        assert_eq!((&account["source"], &account["steps"]), (&json!(source), &ran["steps"][0]), "{name}");
        let audit = found(folder.path(), &format!("audit transcript {name}/transcript.json"));
        assert_eq!((&audit["agrees"], &audit["spent"]), (&json!(true), &ran["spent"]), "{name}");
    }
    // Observers who pool what they heard.
    let pooled = found(folder.path(), "account transcript gossip/transcript.json --observers 0,3");
    assert_eq!(pooled["guarantees"][1]["adversary"], "coalition");
    assert!(
        refused(folder.path(), "account transcript gossip/transcript.json --observers 12", 2).contains("12")
    );
    // Nobody is protected by a run without noise.
    let open = found(folder.path(), &format!("{SMALL} --sigma 0 --out open"));
    let account = found(folder.path(), "account transcript open/transcript.json");
    assert_eq!((&account["guarantees"], &open["guarantees"]), (&json!([]), &json!([])));
}

#[test]
fn many_iterations_make_no_large_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        "run learning --method local --peers 8 --rows 2 --iterations 10000 --seeds 1 --sigma 50 --out long";
    found(folder.path(), line);
    let size = std::fs::metadata(folder.path().join("long/transcript.json")).unwrap().len();
    assert!(size < 10_000, "{size}");
}

#[test]
fn a_resumed_walk_knows_its_whole_path() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("{SMALL} --method walk --sigma 3");
    let whole = found(folder.path(), &format!("{line} --out whole"));
    found(folder.path(), &format!("{line} --no-report --checkpoint half.json --pause-after 20"));
    let resumed = found(folder.path(), &format!("{line} --checkpoint half.json --resume --out resumed"));
    let [one, other] =
        ["whole", "resumed"].map(|name| read(&folder.path().join(name).join("transcript.json")));
    assert_eq!(one["transcript"]["paths"], other["transcript"]["paths"]);
    let account = found(folder.path(), "account transcript resumed/transcript.json");
    assert_eq!(account["guarantees"], resumed["guarantees"]);
    assert_ne!(one["transcript"]["shown"], other["transcript"]["shown"]);
    assert_eq!(whole["model"], resumed["model"]);
}

#[test]
fn a_learning_transcript_that_was_tampered_with_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    found(folder.path(), &format!("{SMALL} --method butterfly --out b"));
    caught(
        folder.path(),
        "b",
        &[
            (
                &|file| file["transcript"]["releases"][0]["count"] = json!(3),
                "released 3 times, and contributed 4 times",
            ),
            (&|file| file["transcript"]["releases"][0]["scale"] = json!(0.1), "under noise 0.1"),
            (&|file| file["transcript"]["releases"][0]["peer"] = json!(12), "of whom there is none"),
            (&|file| file["transcript"]["settings"]["sigma"] = json!(9.0), "the noise of the run"),
            (&|file| file["transcript"]["settings"]["sigma"] = json!(0.9), "the noise of the run"),
            (&|file| file["transcript"]["settings"]["method"] = json!("local"), "the method of the run"),
            (&|file| file["transcript"]["steps"] = json!(3), "released 4 times, and contributed 3 times"),
            (&|file| file["transcript"]["peers"] = json!(u64::MAX), "the number of peers"),
            (&|file| file["transcript"]["settings"]["iterations"] = json!(3), "the number of iterations"),
            (&|file| file["seed"] = json!(1), "seed"),
            (&|file| file["delta"] = json!(0.1), "the delta of the run"),
        ],
    );
    // The run says that it spent less than it did.
    let path = folder.path().join("b/transcript.json");
    let mut thrifty = read(&path);
    thrifty["spent"] = json!(0.01);
    std::fs::write(&path, thrifty.to_string()).unwrap();
    assert!(refused(folder.path(), "audit transcript b/transcript.json", 1).contains("do not cost"));

    found(folder.path(), &format!("{SMALL} --method walk --sigma 3 --out w"));
    caught(
        folder.path(),
        "w",
        &[
            (&|file| file["transcript"]["paths"][0]["holders"][5] = json!(99), "where none can go"),
            (
                &|file| file["transcript"]["paths"][0]["visits"] = json!([["NoiseOnly", 48]]),
                "where Contributed was agreed on",
            ),
            (&|file| file["transcript"]["paths"] = json!([]), "not every one of 1 tokens"),
        ],
    );
}

/// Multiplies a number in a file.
fn scaled(file: &mut Value, at: &str, factor: f64) {
    let value = file.pointer(at).unwrap().as_f64().unwrap();
    *file.pointer_mut(at).unwrap() = json!(value * factor);
}

/// Where a learning run's releases are.
fn released(at: usize, key: &str) -> String {
    format!("/transcript/releases/{at}/{key}")
}

/// Where those of an averaging are.
fn of(at: usize, key: &str) -> String {
    format!("/transcript/releases/{at}/1/{key}")
}

/// Whoever changes everything alike is caught by the experiment that the file carries.
#[test]
fn a_transcript_that_was_changed_throughout_is_held_against_its_experiment() {
    let folder = tempfile::tempdir().unwrap();
    found(folder.path(), &format!("{SMALL} --method local --out l"));
    caught(
        folder.path(),
        "l",
        &[
            (
                &|file| {
                    scaled(file, "/transcript/sensitivity", 0.01);
                    (0..12).for_each(|i| scaled(file, &released(i, "sensitivity"), 0.01));
                },
                "the sensitivity of the run",
            ),
            (
                &|file| {
                    file["transcript"]["steps"] = json!(1);
                    (0..12).for_each(|i| file["transcript"]["releases"][i]["count"] = json!(1));
                },
                "the end of the run",
            ),
        ],
    );
    found(folder.path(), "run averaging --peers 12 --steps 3 --epsilon 2 --observers 0,5 --out a");
    caught(
        folder.path(),
        "a",
        &[
            (
                &|file| {
                    scaled(file, "/sensitivity", 0.1);
                    scaled(file, "/sigma", 0.1);
                    (0..12).for_each(|i| {
                        scaled(file, &of(i, "sensitivity"), 0.1);
                        scaled(file, &of(i, "scale"), 0.1);
                    });
                },
                "the range of values of the run",
            ),
            (
                &|file| {
                    scaled(file, "/sigma", 10.0);
                    (0..12).for_each(|i| scaled(file, &of(i, "scale"), 10.0));
                },
                "the sigma of the run",
            ),
            (
                &|file| {
                    (0..12).for_each(|i| file["transcript"]["releases"][i][1]["law"] = json!("laplace"));
                },
                "released with",
            ),
            (&|file| file["observers"] = json!([0]), "the observers of the run"),
        ],
    );
}

#[test]
fn a_rumour_is_judged_from_its_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let ran = found(folder.path(), "run rumor --peers 64 --curious 6 --out r");
    let account = found(folder.path(), "account transcript r/transcript.json");
    for key in ["guarantees", "statements", "rounds", "not_covered"] {
        assert_eq!(account[key], ran[key], "{key}");
    }
    let audit = found(folder.path(), "audit transcript r/transcript.json --runs 500");
    assert_eq!((&audit["source"], &audit["suspect"]), (&ran["source"], &ran["heard"]));
    assert_eq!((&audit["wire_tapper"], &audit["within_bounds"]), (&ran["source"], &json!(true)));
    // Fewer listen, and learn less.
    let two = found(folder.path(), "account transcript r/transcript.json --observers 3,4");
    let delta = |account: &Value| account["guarantees"][0]["delta"].as_f64().unwrap();
    assert!(two["curious"] == 2 && delta(&two) < delta(&account));
    assert!(refused(folder.path(), "account transcript r/transcript.json --observers 64", 2).contains("64"));
    caught(
        folder.path(),
        "r",
        &[
            (&|file| file["muting"] = json!(0.5), "the muting parameter of the run"),
            (&|file| file["curious"] = json!(3), "the number of curious peers"),
            (&|file| file["tellings"]["rounds"][1][0][0] = json!(64), "of whom there is none"),
            (
                &|file| file["tellings"]["rounds"][0].as_array_mut().unwrap().push(json!([1, 2])),
                "not one peer alone began",
            ),
            (&|file| drop(file["tellings"]["rounds"].as_array_mut().unwrap().pop()), "was never told"),
            (&|file| file["tellings"]["rounds"][3] = json!([]), "fell silent"),
        ],
    );
}

/// A file is run as flags are.
#[test]
fn experiments_in_files_leave_transcripts_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.toml"), "experiment = 'rumor'\npeers = 40\n").unwrap();
    found(folder.path(), "run r.toml --out r");
    found(folder.path(), "account transcript r/transcript.json");
    let text = "experiment = 'learning'\n[task]\npeers = 8\nrows = 10\n[protocol]\niterations = 2\n";
    std::fs::write(folder.path().join("l.toml"), text).unwrap();
    let ran = found(folder.path(), "run l.toml --out l");
    let account = found(folder.path(), "account transcript l/transcript.json");
    assert_eq!(account["guarantees"], ran["guarantees"]);
}

#[test]
fn learning_is_attacked_and_its_claim_stands() {
    let folder = tempfile::tempdir().unwrap();
    let text = "experiment = 'learning'\n[task]\npeers = 8\nrows = 10\n[protocol]\niterations = 3\n";
    std::fs::write(folder.path().join("l.toml"), text).unwrap();
    let found = found(folder.path(), "audit l.toml --runs 2000");
    assert_eq!((&found["stands"], &found["releases"]), (&json!(true), &json!(3)));
    let number = |key: &str| found[key].as_f64().unwrap();
    // The attack is worth something, and no more than what it heard.
    assert!(number("mu_lower") > 0.5 * number("mu") && number("mu_lower") <= number("mu"), "{found}");
    let text = text.replace("iterations = 3", "iterations = 3\nmethod = 'central'");
    std::fs::write(folder.path().join("c.toml"), text).unwrap();
    assert!(refused(folder.path(), "audit c.toml --runs 20", 2).contains("`protocol.method` is central"));
}

#[test]
fn a_rumour_by_messages_is_judged_from_its_transcript() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("named.txt"), "ann bob\nbob cy\ncy dan\ndan ann\nann cy\ncy eve\n")
        .unwrap();
    for (name, options) in [
        ("drop", "--peers 32 --curious 3 --muting 0.5 --drop 0.1"),
        ("clocks", "--peers 32 --curious 3 --muting 0.4 --set clocks=poisson"),
        ("churn", "--peers 32 --curious 3 --muting 0.6 --set churn=0.2"),
        ("answers", "--peers 16 --curious 2 --muting 0 --drop 0.2 --set acknowledge=true"),
        ("graph", "--graph named.txt --curious-peers bob --muting 0.3 --drop 0.1 --set clocks=poisson"),
    ] {
        let ran = found(folder.path(), &format!("run rumor {options} --seeds 3 --out {name}"));
        let account = found(folder.path(), &format!("account transcript {name}/transcript.json"));
        for key in ["guarantees", "not_covered", "muting", "curious"] {
            assert_eq!(account[key], ran[key], "{name}: {key}");
        }
        assert_eq!(account["statements"][0], ran["statement"], "{name}");
        let audit = found(folder.path(), &format!("audit transcript {name}/transcript.json --runs 300"));
        assert_eq!((&audit["source"], &audit["within_bounds"]), (&ran["each"][0]["source"], &json!(true)));
        assert_eq!(audit["guarantees"], ran["guarantees"], "{name}");
    }
    // Others listen, by their names; whoever began hides from others only.
    let source = found(folder.path(), "audit transcript graph/transcript.json --runs 20");
    let names = ["ann", "bob", "cy", "dan", "eve"];
    let (began, other) = (
        names[source["source"].as_u64().unwrap() as usize],
        if source["source"] == 4 { "ann" } else { "eve" },
    );
    let line = "account transcript graph/transcript.json --observers";
    assert_eq!(found(folder.path(), &format!("{line} {other}"))["curious"], 1);
    assert!(
        refused(folder.path(), &format!("{line} {began}"), 2).contains(&format!("`observers` is {began}"))
    );
    assert!(refused(folder.path(), &format!("{line} zoe"), 2).contains("zoe"));
    let said = run(folder.path(), "audit transcript graph/transcript.json --runs 20").assert().success();
    let said = String::from_utf8(said.get_output().stdout.clone()).unwrap();
    assert!(said.contains(&format!("the source                     {began}")), "{said}");
}

/// The first message once more, with a change.
fn copied(file: &mut Value, change: &Change) {
    let messages = file["transcript"]["messages"].as_array_mut().unwrap();
    let mut copy = messages[0].clone();
    change(&mut copy);
    messages.push(copy);
}

#[test]
fn a_rumour_by_messages_that_was_tampered_with_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    found(folder.path(), "run rumor --peers 24 --curious 3 --muting 0 --set clocks=rounds --seeds 1 --out m");
    caught(
        folder.path(),
        "m",
        &[
            (&|file| file["muting"] = json!(0.5), "the muting parameter of the run"),
            (&|file| file["curious"] = json!([0, 1, 2]), "the list of curious peers"),
            (&|file| file["seed"] = json!(9), "seed of the run"),
            (&|file| file["peers"] = json!(25), "the number of peers"),
            (&|file| file["edges"] = json!([[0, 1]]), "experiment cannot have been run so"),
            (&|file| file["transcript"]["messages"][0]["to"] = json!(24), "of whom there is none"),
            (
                &|file| drop(file["transcript"]["messages"].as_array_mut().unwrap().remove(0)),
                "without having been told",
            ),
            (&|file| drop(file["transcript"]["messages"].as_array_mut().unwrap().pop()), "never told"),
            (&|file| copied(file, &|_| ()), "repeated a telling"),
            (&|file| copied(file, &|copy| copy["label"]["tell"]["number"] = json!(1)), "told again without"),
            (
                &|file| copied(file, &|copy| copy["label"] = json!({ "heard": copy["label"]["tell"] })),
                "no answers were agreed on",
            ),
            (&|file| file["transcript"]["notes"].as_array_mut().unwrap().swap(0, 1), "the source of the run"),
        ],
    );
}

/// What is read by programs says what fell, too.
#[test]
fn a_claim_that_fell_is_in_the_document() {
    let folder = tempfile::tempdir().unwrap();
    found(folder.path(), "run rumor --peers 24 --curious 3 --muting 0.5 --drop 0.1 --seeds 1 --out m");
    let path = folder.path().join("m/transcript.json");
    let mut file = read(&path);
    file["muting"] = json!(0.25);
    std::fs::write(&path, file.to_string()).unwrap();
    let output =
        run(folder.path(), "audit transcript m/transcript.json --json").assert().code(1).get_output().clone();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["stands"], document["found"].as_array().unwrap().len()), (&json!(false), 1));
    assert!(document["found"][0].as_str().unwrap().contains("muting parameter"), "{document}");
    assert!(document["claimed"].is_string() && document["schema_version"].is_number());
}

#[test]
fn what_a_learning_run_claims_beside_its_numbers_is_computed_anew() {
    let folder = tempfile::tempdir().unwrap();
    found(folder.path(), &format!("{SMALL} --method walk --sigma 3 --set task.clipped=user --out w"));
    assert_eq!(read(&folder.path().join("w/transcript.json"))["transcript"]["nonexpansive"], false);
    caught(
        folder.path(),
        "w",
        &[
            (&|file| file["transcript"]["nonexpansive"] = json!(true), "the claim that steps keep distances"),
            (&|file| file["transcript"]["not_covered"] = json!([]), "assumptions and limits"),
            (&|file| file["transcript"]["assumptions"] = json!(["all is well"]), "assumptions and limits"),
        ],
    );
    // Gradients that are not clipped move by what rows and objective admit.
    let ran = found(folder.path(), &format!("{SMALL} --method local --set task.clipped=nothing --out n"));
    assert_eq!(found(folder.path(), "account transcript n/transcript.json")["guarantees"], ran["guarantees"]);
    let split = found(folder.path(), &format!("{SMALL} --method local --split dirichlet:0.5 --out d"));
    assert_eq!(
        found(folder.path(), "account transcript d/transcript.json")["guarantees"],
        split["guarantees"]
    );
    caught(
        folder.path(),
        "d",
        &[(&|file| file["transcript"]["assumptions"] = json!([]), "assumptions and limits")],
    );
}

/// Where the objective is told by the rows alone, and they are not here, the weaker reading holds.
#[test]
fn what_cannot_be_computed_anew_is_read_as_the_weaker() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String =
        (0..48).map(|i| format!("{},{},{}\n", i % 7, i % 5, if i % 3 == 0 { "no" } else { "yes" })).collect();
    std::fs::write(folder.path().join("own.csv"), format!("a,b,label\n{rows}")).unwrap();
    let line = "run learning --data own.csv --label label --positive yes --norm 10 --peers 6 --iterations 3 --seeds 1";
    let ran = found(folder.path(), &format!("{line} --method walk --sigma 4 --out own"));
    let account = |name: &str| found(folder.path(), &format!("account transcript {name}/transcript.json"));
    assert_eq!(account("own")["guarantees"], ran["guarantees"]);
    assert_eq!(account("own")["source"], "paths");
    let path = folder.path().join("own/transcript.json");
    let mut file = read(&path);
    let text = file["experiment"].as_str().unwrap().replace("objective = \"logistic\"\n", "");
    assert_ne!(text, file["experiment"].as_str().unwrap());
    file["experiment"] = json!(text);
    std::fs::write(&path, file.to_string()).unwrap();
    // Towards one peer nothing is promised beyond what holds towards everyone: as many releases, summed up in another order.
    let weaker = account("own");
    assert_eq!((&weaker["source"], &weaker["guarantees"][0]), (&json!("releases"), &ran["guarantees"][0]));
    let all = weaker["guarantees"][0]["epsilon"].as_f64().unwrap();
    for one in weaker["guarantees"].as_array().unwrap() {
        assert!((one["epsilon"].as_f64().unwrap() - all).abs() < 1e-12 * all, "{one}");
    }
}

#[test]
fn couplings_and_noise_by_a_table_of_distances_are_computed_anew() {
    let folder = tempfile::tempdir().unwrap();
    found(
        folder.path(),
        "run averaging --protocol accelerated-randomised --peers 12 --steps 40 --sigma 1 --out c",
    );
    caught(
        folder.path(),
        "c",
        &[(
            &|file| {
                let coupling = file["scheme"]["coupled"]["coupling"].as_object_mut().unwrap();
                coupling.values_mut().for_each(|number| *number = json!(0.9 * number.as_f64().unwrap()));
            },
            "the plan of the run",
        )],
    );
    let table: String = (0..12).map(|peer| format!("{peer},{}\n", peer % 4)).collect();
    std::fs::write(folder.path().join("places.csv"), format!("peer,x\n{table}")).unwrap();
    let line = "run averaging --peers 12 --steps 3 --distance places.csv --within 1=4 --farther 2 --out d";
    let ran = found(folder.path(), line);
    assert_eq!(found(folder.path(), "account transcript d/transcript.json")["sigma"], ran["sigma"]);
    caught(
        folder.path(),
        "d",
        &[
            (
                &|file| {
                    scaled(file, "/sigma", 10.0);
                    (0..12).for_each(|i| scaled(file, &of(i, "scale"), 10.0));
                },
                "the sigma of the run",
            ),
            (&|file| drop(file.as_object_mut().unwrap().remove("distances")), "the distances of the run"),
            (&|file| file["distances"] = json!({ "given": [[0.0]] }), "the distances of the run"),
        ],
    );
}

/// The seed of a run is that of its experiment, whichever of the two was given.
#[test]
fn another_seed_or_graph_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    let other: &Change = &|file| file["seed"] = json!(8);
    for (name, line) in [
        ("gossip", "run averaging --peers 12 --steps 3 --sigma 1"),
        ("pairs", "run averaging --peers 12 --steps 9 --sigma 1 --protocol randomised"),
        ("tokens", "run averaging --peers 12 --protocol walk --epsilon 2"),
        ("learning", &format!("{SMALL} --method gossip --steps 2 --sigma 2")),
        ("rumor", "run rumor --peers 16 --curious 2"),
        ("messages", "run rumor --peers 16 --curious 2 --muting 0.5 --drop 0.1 --seeds 2"),
    ] {
        found(folder.path(), &format!("{line} --seed 7 --out {name}"));
        found(folder.path(), &format!("account transcript {name}/transcript.json"));
        caught(folder.path(), name, &[(other, "seed of the run")]);
        let written = std::fs::read_to_string(folder.path().join(name).join("experiment.toml")).unwrap();
        assert!(written.contains("seed = 7"), "{name}: {written}");
    }
    // A seed that is given goes before that of the file, and both are told apart from any other.
    std::fs::write(folder.path().join("a.toml"), "experiment = 'averaging'\nseed = 3\n[graph]\npeers = 12\n")
        .unwrap();
    found(folder.path(), "run a.toml --seed 5 --out a");
    assert_eq!(read(&folder.path().join("a/transcript.json"))["seed"], 5);
    found(folder.path(), "account transcript a/transcript.json");
    // Graphs that were drawn are drawn again.
    let fewer: &Change = &|file| drop(file["edges"].as_array_mut().unwrap().pop());
    caught(folder.path(), "gossip", &[(fewer, "the graph of the run")]);
    let heavier: &Change = &|file| {
        file["graph"]["diagonal"].as_array_mut().unwrap().iter_mut().for_each(|weight| {
            *weight = json!(0.9 + 0.1 * weight.as_f64().unwrap());
        });
        file["graph"]["entries"].as_array_mut().unwrap().iter_mut().for_each(|entry| {
            entry[2] = json!(0.1 * entry[2].as_f64().unwrap());
        });
    };
    caught(folder.path(), "learning", &[(heavier, "the sequence of graphs of the run")]);
    caught(folder.path(), "tokens", &[(heavier, "the graph of the run")]);
    let louder: &Change = &|file| {
        scaled(file, "/sigma", 10.0);
        let releases = file["releases"].as_array_mut().unwrap();
        releases.iter_mut().for_each(|one| scaled(one, "/scale", 10.0));
    };
    // Nothing as long as that is replayed to find out that it is another run.
    let longer: &Change = &|file| file["agreed"]["burn_in"] = json!(1_u64 << 53);
    let more: &Change = &|file| file["agreed"]["tokens"] = json!(1_000_000_000);
    caught(folder.path(), "tokens", &[(longer, "the burn-in of the run"), (more, "the number of tokens")]);
    caught(folder.path(), "tokens", &[(louder, "the noise of the run")]);
}

/// Peers whom only the graph's file names are named in the transcript, too, so that faults are held against the experiment. What was in files is said to be
/// unchecked.
#[test]
fn faults_of_named_peers_are_checked_and_files_are_not() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("named.txt"), "ann bob\nbob cy\ncy dan\ndan ann\nann cy\ncy eve\n")
        .unwrap();
    let line = "run learning --method walk --graph named.txt --lazy 0.1 --peers 5 --rows 20 --iterations 3 --seeds 1 --sigma 2";
    let ran = found(folder.path(), &format!("{line} --slow eve@20 --timeout 1000 --out n"));
    let account = found(folder.path(), "account transcript n/transcript.json");
    assert_eq!((&account["guarantees"], &account["statements"]), (&ran["guarantees"], &ran["statements"]));
    let unchecked = account["unchecked"].as_array().unwrap();
    assert!(
        unchecked.iter().any(|what| what.as_str().unwrap().contains("`graph` is named.txt")),
        "{account}"
    );
    let text = run(folder.path(), "audit transcript n/transcript.json")
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    assert!(String::from_utf8(text).unwrap().contains("unchecked:"));
    let slow = |peer: &'static str| {
        move |file: &mut Value| {
            let text = file["experiment"].as_str().unwrap().replace("eve@20", peer);
            file["experiment"] = json!(text);
        }
    };
    caught(
        folder.path(),
        "n",
        &[
            (&slow("dan@20"), "the network of the run"),
            (&slow("zoe@20"), "none of its peers"),
            (&|file| drop(file.as_object_mut().unwrap().remove("names")), "none of its peers"),
        ],
    );
    // Nothing is unchecked where no file was read and no step size follows from rows.
    found(folder.path(), "run averaging --peers 12 --steps 3 --sigma 1 --out a");
    assert_eq!(found(folder.path(), "account transcript a/transcript.json").get("unchecked"), None);
}

/// An experiment on standard input is an experiment, and so is a graph; not both at once.
#[test]
fn experiments_come_from_standard_input_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = "experiment = 'averaging'\n[graph]\npeers = 12\n[protocol]\nsteps = 3\n[noise]\nsigma = 1.0\n";
    std::fs::write(folder.path().join("a.toml"), text).unwrap();
    run(folder.path(), "run - --out piped").write_stdin(text).assert().success();
    found(folder.path(), "run a.toml --out named");
    for name in ["transcript.json", "experiment.toml"] {
        let bytes = |out: &str| std::fs::read(folder.path().join(out).join(name)).unwrap();
        assert_eq!(bytes("piped"), bytes("named"), "{name}");
    }
    run(folder.path(), "account -").write_stdin(text).assert().success();
    let ring: String = (0..6).map(|i| format!("{i} {}\n", (i + 1) % 6)).collect();
    run(folder.path(), "run averaging --graph - --steps 3 --sigma 1 --out graph")
        .write_stdin(ring)
        .assert()
        .success();
    let account = found(folder.path(), "account transcript graph/transcript.json");
    assert!(account["unchecked"][0].as_str().unwrap().contains("standard input"), "{account}");
    found(folder.path(), "audit transcript graph/transcript.json --runs 20");
    let both = text.replace("peers = 12", "file = '-'");
    let said = run(folder.path(), "run -").write_stdin(both).assert().code(2).get_output().stderr.clone();
    assert!(String::from_utf8(said).unwrap().contains("standard input is the experiment"));
}
