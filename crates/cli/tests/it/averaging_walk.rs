//! Tokens that average, and tokens on networks with faults, as users run them.

use crate::common;

use common::{json, number, refused, sottovoce};
use serde_json::Value;

fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A star of nine, whose centre alone has a one.
fn star() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let edges: String = (1..9).map(|leaf| format!("0 {leaf}\n")).collect();
    let values: String = (0..9).map(|peer| format!("{peer},{}\n", u8::from(peer == 0))).collect();
    let graph = write(&folder, "star.txt", &edges);
    let values = write(&folder, "values.csv", &format!("peer,value\n{values}"));
    (folder, graph, values)
}

#[test]
fn errors_are_as_predicted_by_every_walk() {
    let (_folder, graph, values) = star();
    let run = format!(
        "run averaging --graph {graph} --values {values} --protocol walk --steps 150 --sigma 0.5 --seeds 200 --no-report"
    );
    for walk in ["", " --set walk.step-size=0.05", " --tokens 3", " --weights uniform --lazy 0.1"] {
        let found = json(&format!("{run}{walk}"));
        let (predicted, measured) = (number(&found, "/predicted_error"), number(&found, "/measured_error"));
        // Of 200 squared errors of about one degree of freedom the mean is off by a tenth; three of these.
        assert!((measured / predicted - 1.0).abs() < 0.35, "{walk}: {predicted} {measured}");
    }
}

/// Half of a plain walk's visits are to the centre; uncorrected its mean would be near a half.
#[test]
fn a_plain_walk_is_corrected() {
    let (_folder, graph, values) = star();
    let found = json(&format!(
        "run averaging --graph {graph} --values {values} --protocol walk --weights uniform --lazy 0.1 --steps 4000 --sigma 0.01 --no-report"
    ));
    assert!((number(&found, "/coordinates/0/estimate") - 1.0 / 9.0).abs() < 0.02, "{found}");
    assert!((number(&found, "/worth/0") - 2.0 / 9.0).abs() < 1e-12, "{found}");
    let account = format!("account walk --graph {graph} --weights uniform --steps 9 --observers 0");
    let found = json(&format!("{account} --sigma 8 --order 2 --expected 99"));
    assert!(number(&found, "/expected_loss_convex/1") > 0.0, "{found}");
}

/// A target is met on the paths of the run, by peers and by who sees everything.
#[test]
fn targets_are_met() {
    let run = "run averaging --peers 16 --protocol walk --epsilon 2 --no-report";
    let found = json(&format!("{run} --drop 0.2 --timeout 400"));
    let (worst, all) = (number(&found, "/guarantees/1/epsilon"), number(&found, "/guarantees/0/epsilon"));
    assert!(worst <= 2.0 && worst > 1.99 && all > worst, "{worst} {all}");
    assert!(number(&found, "/traffic/reroutings") > 0.0 && number(&found, "/traffic/finished") == 1.0);
    let found = json(&format!("{run} --against wire-tapper --cap 4"));
    let all = number(&found, "/guarantees/0/epsilon");
    assert!(all <= 2.0 && number(&found, "/contributions/2") <= 4.0, "{all}");
}

fn epsilons(found: &Value) -> Vec<f64> {
    found["guarantees"].as_array().unwrap().iter().map(|one| one["epsilon"].as_f64().unwrap()).collect()
}

#[test]
fn transcripts_tell_what_was_revealed_and_changed_ones_are_found_out() {
    let folder = tempfile::tempdir().unwrap();
    for (name, run) in [
        ("averaging", "run averaging --peers 16 --protocol walk --cap 5 --sigma 1 --drop 0.2 --timeout 400"),
        (
            "learning",
            "run learning --method walk --peers 16 --rows 20 --iterations 3 --seeds 1 --sigma 2 --drop-messages 0.2 --timeout 400",
        ),
    ] {
        let out = folder.path().join(name);
        let file = out.join("transcript.json");
        let found = json(&format!("{run} --out {}", out.display()));
        let told = json(&format!("account transcript {}", file.display()));
        assert_eq!(epsilons(&found), epsilons(&told), "{run}");
        assert!(number(&found, "/traffic/lost") > 0.0);
        sottovoce(&format!("audit transcript {}", file.display())).assert().success();
        let mut changed: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let releases = if changed["releases"].is_array() { "/releases" } else { "/transcript/releases" };
        let count = changed.pointer_mut(&format!("{releases}/0/count")).unwrap();
        *count = Value::from(count.as_u64().unwrap() - 1);
        std::fs::write(&file, changed.to_string()).unwrap();
        sottovoce(&format!("audit transcript {}", file.display())).assert().code(1);
        refused(&format!("account transcript {}", file.display()), &["does not follow its plan"]);
    }
}

/// Slow and crashed peers cost time and messages, and the run still ends.
#[test]
fn tokens_survive_losses_slow_peers_and_crashes() {
    let run =
        "run learning --method walk --peers 16 --rows 20 --iterations 2 --seeds 1 --sigma 2 --no-report";
    let plain = json(&format!("{run} --delay 41"));
    let faulty =
        json(&format!("{run} --delay 41 --drop-messages 0.1 --slow 3@20 --crashes 5@3000 --timeout 1000"));
    assert_eq!(number(&plain, "/traffic/lost"), 0.0);
    assert!(number(&faulty, "/traffic/virtual_seconds") > number(&plain, "/traffic/virtual_seconds"));
    assert_eq!(number(&faulty, "/traffic/finished"), 1.0);
    // Without a word on the network it is perfect, and the walk goes the same way.
    let perfect = json(run);
    assert_eq!((&perfect["model"], perfect.get("traffic")), (&plain["model"], None));
    assert_eq!(epsilons(&perfect), epsilons(&plain));
}

#[test]
fn what_is_of_no_use_is_refused() {
    let run = "run averaging --peers 16 --no-report";
    refused(&format!("{run} --tokens 2"), &["`tokens` is 2", "only `protocol` walk"]);
    let walk = format!("{run} --protocol walk");
    refused(&format!("{walk} --relay-noise 0.1"), &["`relay-noise`", "leave it out"]);
    refused(&format!("{walk} --set network.lenient=true"), &["`lenient`", "leave it out"]);
    refused(&format!("{walk} --set walk.step-size=2"), &["step-size", "up to 1"]);
    refused(&format!("{walk} --against wire-tapper"), &["`cap` is missing"]);
    refused(&format!("{walk} --timeout 50"), &["`timeout` is 50", "160"]);
    refused(&format!("{walk} --slow 3@0.1"), &["`slow` is 3@0.1"]);
    let learn = "run learning --peers 16 --rows 20 --iterations 2 --seeds 1 --no-report";
    refused(
        &format!("{learn} --method gossip --drop-messages 0.1"),
        &["`drop-messages` is 0.1", "only walk"],
    );
    refused(
        &format!("{learn} --method walk --drop-messages 0.1 --checkpoint x.json"),
        &["`checkpoint` is x.json"],
    );
    let (_folder, graph, _) = star();
    let account = format!("account averaging --graph {graph} --protocol walk --steps 9 --sigma 1");
    refused(&format!("{account} --wire-tapper"), &["`wire-tapper` is given", "leave it out"]);
    assert!(number(&json(&account), "/worst_loss") >= 0.0);
    refused(
        &format!("run averaging --graph {graph} --protocol walk --weights uniform --no-report"),
        &["`burn-in`", "--lazy"],
    );
}

/// What a run on a network with losses will reveal is accounted for with its losses: as the run of that seed has it, and more than on a perfect network.
#[test]
fn lost_tokens_are_accounted_for_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let lossy = "[network]\ndrop = 0.6\ntimeout = 1000.0\n";
    let learning = "experiment = 'learning'\n[task]\npeers = 12\nrows = 10\n[protocol]\nmethod = 'walk'\niterations = 4\n[noise]\nsigma = 4.0\n";
    let averaging = "experiment = 'averaging'\n[graph]\npeers = 12\n[protocol]\nmethod = 'walk'\nsteps = 40\n[noise]\nsigma = 4.0\n";
    for (name, text, losses) in [("l", learning, "/leakage"), ("a", averaging, "/losses")] {
        let perfect = write(&folder, &format!("{name}.toml"), text);
        let lossy = write(&folder, &format!("{name}-lossy.toml"), &format!("{text}{lossy}"));
        let mut sums = [0.0, 0.0];
        for seed in 0..4 {
            for (file, sum) in [&perfect, &lossy].into_iter().zip(&mut sums) {
                let found = json(&format!("account {file} --seed {seed}"));
                let all = found.pointer(losses).unwrap().as_array().unwrap();
                *sum += all.iter().map(|loss| loss.as_f64().unwrap()).sum::<f64>();
                let ran = json(&format!("run {file} --seed {seed} --seeds 1 --no-report"));
                let mut both = [epsilons(&found), epsilons(&ran)];
                both.iter_mut().for_each(|all| all.sort_by(f64::total_cmp));
                for (account, run) in both[0].iter().zip(&both[1]) {
                    assert!(
                        account / run > 1.0 - 1e-12 && account / run < 1.0 + 1e-8,
                        "{file} {seed}: {both:?}"
                    );
                }
            }
        }
        assert!(sums[1] > 1.3 * sums[0], "{name}: {sums:?}");
    }
}
