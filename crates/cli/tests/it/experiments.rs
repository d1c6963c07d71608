//! Experiments as a user has them: files and flags, plans that are run, transcripts that are judged, runs that are compared.

use crate::common;

use common::flat;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use sottovoce::experiment::{Experiment, KINDS};

fn run(folder: &Path, line: &str) -> Command {
    let mut command = Command::cargo_bin("sottovoce").unwrap();
    command.current_dir(folder).args(line.split_whitespace());
    command
}

fn output(folder: &Path, line: &str) -> String {
    String::from_utf8(run(folder, line).assert().success().get_output().stdout.clone()).unwrap()
}

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&output(folder, &format!("{line} --json"))).unwrap()
}

fn refused(folder: &Path, line: &str, code: i32) -> String {
    flat(&run(folder, line).assert().code(code).get_output().stderr)
}

fn experiments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// A ring of six with names, and two numbers each.
fn mine(folder: &Path) {
    let names = ["ada", "bo", "cy", "di", "ed", "flo"];
    let edges: String = (0..6).map(|i| format!("{} {}\n", names[i], names[(i + 1) % 6])).collect();
    std::fs::write(folder.join("mine.txt"), edges).unwrap();
    let rows: String = (0..6).rev().map(|i| format!("{},{},{}\n", names[i], i, 10 * i)).collect();
    std::fs::write(folder.join("mine.csv"), format!("peer,low,high\n{rows}")).unwrap();
}

#[test]
fn every_file_can_be_read() {
    for file in ["quickstart", "hospitals", "learning", "rumor", "band"] {
        Experiment::read(&experiments().join(format!("{file}.toml"))).unwrap();
    }
}

#[test]
fn every_template_is_an_experiment_that_says_the_same_when_written() {
    let folder = tempfile::tempdir().unwrap();
    for kind in KINDS {
        let experiment = Experiment::parse(&output(folder.path(), &format!("new {kind}"))).unwrap();
        assert_eq!(Experiment::parse(&experiment.to_toml().unwrap()).unwrap(), experiment, "{kind}");
    }
    assert!(
        refused(folder.path(), "new baking", 2).contains("averaging, learning, personalized, deep, rumor")
    );
}

#[test]
fn my_own_graph_and_values_are_averaged_and_judged_from_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    mine(folder.path());
    let line =
        "run averaging --graph mine.txt --values mine.csv --range 0:50 --sigma 20 --steps 4 --observers bo";
    let found = json(folder.path(), &format!("{line} --out first"));
    assert_eq!(found["names"][1], "bo");
    assert_eq!(found["coordinates"][1]["name"], "high");
    // Nothing is outside 0:50, and the mean of 0, 10, ..., 50 is 25.
    assert_eq!((found["moved"].as_u64(), found["coordinates"][1]["mean"].as_f64()), (Some(0), Some(25.0)));
    // The diagonal of a square of side 50.
    assert!((found["sensitivity"].as_f64().unwrap() - 50.0 * 2f64.sqrt()).abs() < 1e-9);
    for name in ["report.html", "experiment.toml", "transcript.json", "result.json", "losses.csv"] {
        assert!(folder.path().join("first").join(name).is_file(), "{name}");
    }
    let account = json(folder.path(), "account transcript first/transcript.json");
    assert_eq!(account["source"], "planned");
    assert_eq!(account["observers"], serde_json::json!([1]));
    among(&account, &found);
    let other = json(folder.path(), "account transcript first/transcript.json --observers flo,di");
    assert_eq!(other["observers"], serde_json::json!([3, 5]));
    assert!(
        output(folder.path(), "audit transcript first/transcript.json --runs 500").contains("stands for all")
    );
    assert!(
        refused(folder.path(), "account transcript first/transcript.json --observers zoe", 2).contains("zoe")
    );
    // What is written down can be run again, and gives the same.
    std::fs::copy(folder.path().join("first/experiment.toml"), folder.path().join("again.toml")).unwrap();
    let again = json(folder.path(), "run again.toml --no-report");
    for key in ["estimate", "statements", "predicted_error", "messages"] {
        assert_eq!(again[key], found[key], "{key}");
    }
}

#[test]
fn a_transcript_that_was_tampered_with_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    output(folder.path(), "run averaging --peers 8 --sigma 1 --steps 2 --out a");
    let path = folder.path().join("a/transcript.json");
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let mut quiet = whole.clone();
    quiet["transcript"]["releases"][0][1]["scale"] = serde_json::json!(0.5);
    let mut chatty = whole.clone();
    chatty["transcript"]["messages"][0]["label"] = serde_json::json!(7);
    let mut silent = whole.clone();
    silent["transcript"]["releases"].as_array_mut().unwrap().clear();
    let mut loud = whole.clone();
    loud["relay_noise"] = serde_json::json!(50.0);
    let mut gone = whole.clone();
    gone["transcript"]["messages"].as_array_mut().unwrap().remove(0);
    for (file, said) in [
        (quiet, "release 0 is"),
        (chatty, "message 0 is"),
        (silent, "release 0 is missing"),
        (gone, "message 0 is"),
        (loud, "relay noise"),
    ] {
        std::fs::write(&path, file.to_string()).unwrap();
        let message = refused(folder.path(), "audit transcript a/transcript.json", 1);
        assert!(message.contains(said), "{message}");
        assert!(
            refused(folder.path(), "account transcript a/transcript.json", 2).contains("does not follow")
        );
    }
    std::fs::write(&path, "{}").unwrap();
    assert!(refused(folder.path(), "account transcript a/transcript.json", 2).contains("no transcript"));
}

#[test]
fn who_goes_on_without_neighbours_is_accounted_for_as_it_happened() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run averaging --peers 12 --sigma 1 --steps 6 --drop 0.05 --timeout 500";
    let strict = json(folder.path(), &format!("{line} --no-report"));
    assert!(strict["finished"].as_u64().unwrap() < 12 && strict["source"] == "planned", "{strict}");
    let lenient = json(folder.path(), &format!("{line} --set network.lenient=true --out b"));
    assert_eq!(lenient["source"], "traced");
    assert_eq!(lenient["finished"], 12);
    let account = json(folder.path(), "account transcript b/transcript.json");
    assert_eq!((&account["source"], &account["statements"]), (&lenient["source"], &lenient["statements"]));
}

#[test]
fn a_plan_is_an_experiment_that_keeps_its_promise() {
    let folder = tempfile::tempdir().unwrap();
    let plan = json(folder.path(), "plan averaging --peers 16 --target-worst --epsilon 2 --out plan.toml");
    let text = std::fs::read_to_string(folder.path().join("plan.toml")).unwrap();
    assert!(text.contains("experiment = \"averaging\""), "{text}");
    let found = json(folder.path(), "run plan.toml --no-report");
    let worst = found["guarantees"].as_array().unwrap().iter().filter(|one| one["adversary"] == "peer");
    for one in worst.filter(|one| one["standing"] == "proven") {
        assert!(one["epsilon"].as_f64().unwrap() <= 2.0 + 1e-6, "{one}");
    }
    assert_eq!(found["sigma"], plan["rows"][plan["chosen"].as_u64().unwrap() as usize]["sigma"]);
    assert!(
        refused(folder.path(), "plan averaging --peers 16 --epsilon 2 --out plan.toml", 2).contains("exists")
    );
    // The same from an experiment's file, which keeps all but protocol, noise and steps.
    mine(folder.path());
    std::fs::write(
        folder.path().join("asked.toml"),
        "experiment = 'averaging'\ntitle = 'Mine'\n[graph]\nfile = 'mine.txt'\n[values]\nfile = 'mine.csv'\nrange = '0:50'\n[target]\nepsilon = 3.0\n",
    )
    .unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    output(folder.path(), "plan asked.toml --out sub/best.toml");
    let best = json(folder.path(), "run sub/best.toml --no-report");
    assert_eq!(best["coordinates"][1]["name"], "high");
    let worst = best["guarantees"].as_array().unwrap().iter().find(|one| one["adversary"] == "peer").unwrap();
    assert!(worst["epsilon"].as_f64().unwrap() <= 3.0 + 1e-6, "{worst}");
    assert!(
        output(folder.path(), "plan rumor --peers 100 --curious 10 --delta 0.3")
            .contains("experiment = \"rumor\"")
    );
}

/// What an account says of one adversary, the run says among others.
fn among(account: &Value, run: &Value) {
    let one = &account["guarantees"][0];
    let same =
        |other: &&Value| ["adversary", "observers", "epsilon"].iter().all(|key| one[key] == other[key]);
    assert!(run["guarantees"].as_array().unwrap().iter().find(same).is_some(), "{one}: {run}");
}

#[test]
fn account_and_audit_take_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    mine(folder.path());
    std::fs::write(
        folder.path().join("my.toml"),
        "experiment = 'averaging'\nseed = 3\n[graph]\nfile = 'mine.txt'\n[protocol]\nsteps = 3\n[noise]\nsigma = 1.0\nrelay-noise = 0.2\n\
         [adversary]\nobservers = ['bo']\n",
    )
    .unwrap();
    let (account, run) =
        (json(folder.path(), "account my.toml"), json(folder.path(), "run my.toml --no-report"));
    among(&account, &run);
    assert_eq!(run["seed"], 3);
    assert_eq!(json(folder.path(), "run my.toml --no-report --seed 0")["seed"], 0);
    assert!(output(folder.path(), "audit my.toml --runs 500").contains("stands for all"));
    let wrong = refused(folder.path(), "run absent.toml", 2);
    assert!(wrong.contains("no such file"), "{wrong}");
    std::fs::write(folder.path().join("bad.toml"), "experiment = 'averaging'\n[noise]\nsigam = 1\n").unwrap();
    assert!(refused(folder.path(), "run bad.toml", 2).contains("sigam"));
}

#[test]
fn two_runs_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    output(folder.path(), "run averaging --peers 8 --sigma 1 --steps 3 --out a");
    output(folder.path(), "run averaging --peers 8 --sigma 2 --steps 3 --out b --seeds 3");
    let text = output(folder.path(), "compare a b");
    assert!(text.contains("noise.sigma") && text.contains("predicted_error"), "{text}");
    assert!(text.contains("epsilon"), "what is promised is compared: {text}");
    // What an earlier run has left would be taken for the later one's.
    assert!(folder.path().join("a/report.html").exists());
    output(folder.path(), "run averaging --peers 8 --protocol walk --sigma 1 --out a --overwrite");
    assert!(!folder.path().join("a/report.html").exists() && folder.path().join("a/result.json").exists());
    assert!(refused(folder.path(), "compare a nowhere", 2).contains("no such folder"));
}

#[test]
fn fields_are_set_by_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let set = json(
        folder.path(),
        "run averaging --peers 8 --sigma 1 --steps 2 --set noise.relay-noise=0.5 --no-report",
    );
    let flag =
        json(folder.path(), "run averaging --peers 8 --sigma 1 --steps 2 --relay-noise 0.5 --no-report");
    assert_eq!((&set["guarantees"], &set["results"]), (&flag["guarantees"], &flag["results"]));
    let line = "run averaging --peers 8 --no-report --set";
    for (field, said) in [
        ("noise.sigam=1", "sigam"),
        ("noise.sigma=much", "noise.sigma"),
        ("noise.sigma", "PLACE=VALUE"),
        ("seed=3", "--seed"),
        (".seed=3", "points between"),
        ("experiment=rumor", "keeps its kind"),
    ] {
        let wrong = refused(folder.path(), &format!("{line} {field}"), 2);
        assert!(wrong.contains(said), "{field}: {wrong}");
    }
    let planned =
        refused(folder.path(), "plan learning --peers 16 --epsilon 2 --rows 20 --set noise.sigma=1", 2);
    assert!(planned.contains("what a plan chooses"), "{planned}");
}

#[test]
fn what_makes_no_sense_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    mine(folder.path());
    for (line, said) in [
        ("--graph mine.txt --values mine.csv --range 5:1", "lower one first"),
        ("--graph mine.txt --values mine.csv --range 0:50 --sensitivity 1", "`sensitivity` is 1"),
        ("--graph mine.txt --sigma 1 --epsilon 1", "`epsilon` is 1: sigma is given too"),
        ("--graph mine.txt --sigma 1 --against wire-tapper", "`against` is given: sigma is given"),
        ("--peers 8 --sigma 1 --largest-component", "`largest-component` is given"),
        ("--graph mine.txt --sigma -1", "`sigma` is -1"),
        ("--graph mine.txt --sigma 1 --steps 0", "`steps` is 0"),
        ("--graph mine.txt --protocol butterfly --steps 3 --sigma 1", "own number of rounds"),
        ("--graph mine.txt --sigma 1 --drop 2", "`drop` is 2"),
        ("--graph mine.txt --sigma 1 --crashes ada", "PEER@MILLISECONDS"),
        ("--graph mine.txt --sigma 1 --crashes zoe@5", "zoe"),
        ("--graph mine.txt --sigma 1 --relay-noise -0.1", "`relay-noise` is -0.1"),
        ("--graph mine.txt --epsilon 1 --delta 2", "`delta`"),
        ("--graph mine.txt --sigma 1 --observers ada,bo,cy,di,ed,flo", "leave one out"),
        ("--graph mine.txt --peers 5 --sigma 1", "cannot be used with"),
        ("--graph mine.txt --sigma 1 --seeds 0", "`seeds` is 0"),
    ] {
        let message = refused(folder.path(), &format!("run averaging {line} --no-report"), 2);
        assert!(message.contains(said), "{line}: {message}");
    }
}

/// Of very many peers only the observers' losses are computed: nothing is said of the others.
#[test]
fn what_one_observer_learns_is_not_said_of_everyone() {
    let folder = tempfile::tempdir().unwrap();
    let headline = |peers: usize| {
        let line = format!("run averaging --peers {peers} --sigma 1 --relay-noise 0.3 --steps 4 --no-report");
        json(folder.path(), &line)["headline"].as_str().unwrap().to_owned()
    };
    assert!(headline(40).contains("no peer learns more"));
    let many = headline(320);
    assert!(!many.contains("no peer") && many.contains("the observers learn no more"), "{many}");
}

#[test]
fn other_protocols_run_and_have_pages() {
    let folder = tempfile::tempdir().unwrap();
    for (i, line) in [
        "--protocol butterfly",
        "--protocol accelerated --steps 6",
        "--protocol randomised --steps 60",
        "--protocol accelerated-randomised --steps 60",
    ]
    .iter()
    .enumerate()
    {
        let found = json(folder.path(), &format!("run averaging --peers 10 --epsilon 3 {line} --out {i}"));
        assert_eq!(found["finished"], 10, "{line}");
        let promised = found["guarantees"].as_array().unwrap();
        let worst = promised.iter().find(|one| one["adversary"] == "peer").unwrap();
        assert!(worst["epsilon"].as_f64().unwrap() <= 3.0 + 1e-6, "{line}: {worst}");
        assert!(folder.path().join(format!("{i}/report.html")).is_file());
    }
}

/// A plan for learning takes the task, the graph and the target of a file, and what it writes can be accounted for and run.
#[test]
fn a_learning_is_planned_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "experiment = \"learning\"\nseeds = 1\n[task]\npeers = 8\nrows = 20\n[protocol]\niterations = 3\n[target]\nepsilon = 3.0\n";
    std::fs::write(folder.path().join("my.toml"), text).unwrap();
    let found = json(folder.path(), "plan my.toml --out best.toml");
    let stated = found["guarantees"].as_array().unwrap();
    assert!(!stated.is_empty(), "{found}");
    for one in stated {
        for key in ["epsilon", "delta", "adversary", "unit", "adjacency", "standing", "not_covered"] {
            assert!(!one[key].is_null(), "{key}: {one}");
        }
    }
    let least = stated.iter().map(|one| one["epsilon"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert!(least <= 3.0 * (1.0 + 1e-6), "{stated:?}");
    let chosen = &found["rows"][found["chosen"].as_u64().unwrap() as usize];
    assert!([3, 5, 10, 20].contains(&chosen["iterations"].as_u64().unwrap()), "{chosen}");
    let Experiment::Learning(best) = Experiment::read(&folder.path().join("best.toml")).unwrap() else {
        panic!("a plan for learning writes learning")
    };
    assert_eq!((best.seeds, best.task.nodes, best.target.epsilon), (Some(1), Some(8), Some(3.0)));
    let account = json(folder.path(), "account best.toml");
    assert_eq!(account["sigma"], chosen["sigma"]);
    assert_eq!(json(folder.path(), "run best.toml --no-report")["sigma"], chosen["sigma"]);
}
