//! Masks on a ring, through the program.

use crate::common;

use std::path::Path;

use common::{flat, json, number, refused, sottovoce};
use serde_json::Value;
use sottovoce_privacy::noise::exact::{DiscreteGaussian, ExactNoise, Grid};

const RUN: &str = "run averaging --protocol butterfly --masks --no-report";
const ACCOUNT: &str = "account averaging --protocol butterfly --masks";

fn epsilon(found: &Value) -> f64 {
    number(found, "/guarantees/0/epsilon")
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Two numbers of each of so many peers.
fn values(peers: usize) -> Vec<[f64; 2]> {
    (0..peers).map(|u| [(u * 37 % 101) as f64 / 50.0 - 1.0, (u * 53 % 97) as f64 / 96.0]).collect()
}

fn table(values: &[[f64; 2]]) -> String {
    let row = |(u, [a, b]): (usize, &[f64; 2])| format!("{u},{a},{b}\n");
    format!("peer,a,b\n{}", values.iter().enumerate().map(row).collect::<String>())
}

#[test]
fn results_are_the_sums_of_integers_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (peers, grid) in [(8, None), (13, Some(0.0625)), (3, Some(0.5))] {
        let values = values(peers);
        let file = written(folder.path(), "values.csv", &table(&values));
        let grid = grid.map_or_else(String::new, |grid| format!(" --set noise.grid={grid}"));
        let line = format!("{RUN} --peers {peers} --values {file} --range -1:1 --sigma 0.75 --seed 5{grid}");
        let found = json(&line);
        let (step, sigma) = (number(&found, "/masks/step"), number(&found, "/sigma"));
        let (grid, law) = (Grid::new(step).unwrap(), DiscreteGaussian::at_least(sigma / step).unwrap());
        let mut sums = [0_i64; 2];
        for (peer, value) in values.iter().enumerate() {
            let (own, mut noise) = (grid.round(value).unwrap(), ExactNoise::simulated(5, peer as u64, 0));
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own + noise.sample(&law));
        }
        let means = sums.map(|sum| grid.value(sum) / peers as f64);
        for peer in 0..peers {
            assert_eq!(found["results"][peer], serde_json::json!(means), "{line}");
        }
        // Whatever the number of threads.
        let again = sottovoce(&line).arg("--json").env("RAYON_NUM_THREADS", "1").output().unwrap();
        let again: Value = serde_json::from_slice(&again.stdout).unwrap();
        assert_eq!((&again["results"], &again["guarantees"]), (&found["results"], &found["guarantees"]));
    }
}

#[test]
fn a_target_is_met_and_hardly_more_than_that() {
    for (case, target, slack) in [
        ("--peers 64 --colluders 6 --epsilon 4", 4.0, 1e-3),
        ("--peers 9 --epsilon 0.5 --delta 1e-6", 0.5, 1e-3),
        ("--peers 12 --keys regular:5 --colluders 3 --epsilon 1", 1.0, 1e-3),
        ("--peers 12 --observers 1,7 --epsilon 1 --range 1000:1003", 1.0, 1e-3),
        // Rounding costs something on a coarse grid, and is charged; noise has six digits.
        ("--peers 12 --epsilon 2 --set noise.grid=0.25", 2.0, 1e-3),
        ("--peers 6 --epsilon 0.05 --against worst-peer", 0.05, 1e-3),
    ] {
        let found = json(&format!("{RUN} {case}"));
        let found = epsilon(&found);
        assert!(found <= target && found > target * (1.0 - slack), "{case}: {found}");
    }
    // A trusted server's error over the honest peers' share, at epsilon 4 and delta 1e-5.
    let found = json(&format!("{RUN} --peers 64 --colluders 6 --epsilon 4"));
    let server = number(&json("run quickstart --no-report"), "/trade/server");
    let ratio = number(&found, "/predicted_error") / server;
    assert!(ratio > 64.0 / 58.0 && ratio < 1.005 * 64.0 / 58.0, "{ratio}");
    assert_eq!((number(&found, "/masks/hidden_by"), &found["masks"]["exact"]), (58.0, &true.into()));
    assert_eq!(found["guarantees"][0]["adversary"], "wire-tapper-with-any");
    assert_eq!(found["guarantees"][0]["standing"], "proven");
    // The mean square of 60 normals, five standard errors of 18 %.
    let many = json(&format!("{RUN} --peers 64 --colluders 6 --epsilon 4 --seeds 60"));
    let rooted = number(&many, "/error/mean").powi(2) + number(&many, "/error/deviation").powi(2);
    let predicted = number(&many, "/predicted_error");
    assert!(rooted < 1.9 * predicted && rooted > 0.3 * predicted, "{rooted} {predicted}");
}

#[test]
fn more_colluders_learn_more_and_more_noise_hides_more() {
    let at = |colluders: usize, sigma: f64| {
        epsilon(&json(&format!("{ACCOUNT} --peers 16 --colluders {colluders} --sigma {sigma}")))
    };
    let by_colluders: Vec<f64> = [1, 2, 5, 9, 14].map(|colluders| at(colluders, 0.5)).to_vec();
    assert!(by_colluders.windows(2).all(|pair| pair[0] < pair[1]), "{by_colluders:?}");
    let by_sigma: Vec<f64> = [1e-3, 0.01, 0.3, 1.0, 7.0, 500.0].map(|sigma| at(3, sigma)).to_vec();
    assert!(by_sigma.windows(2).all(|pair| pair[0] > pair[1]), "{by_sigma:?}");
}

#[test]
fn what_is_accounted_for_is_what_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let case = "--peers 12 --keys regular:5 --colluders 3 --sigma 0.4 --seed 3";
    let (told, ran) = (json(&format!("{ACCOUNT} {case}")), json(&format!("{RUN} {case}")));
    assert_eq!(epsilon(&told), epsilon(&ran));
    assert_eq!(told["masks"], ran["masks"]);
    // As a file, and as a transcript.
    let out = folder.path().join("out");
    let run = RUN.replace("--no-report", &format!("--out {}", out.display()));
    sottovoce(&format!("{run} {case}")).assert().success();
    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains("masks"));
    let of_file = json(&format!("account {}", out.join("experiment.toml").display()));
    let transcript = out.join("transcript.json");
    let of_transcript = json(&format!("account transcript {}", transcript.display()));
    for found in [&of_file, &of_transcript] {
        assert_eq!(epsilon(found), epsilon(&ran));
        assert_eq!(found["masks"], ran["masks"]);
    }
    sottovoce(&format!("audit transcript {}", transcript.display())).assert().success();
    let named = json(&format!("account transcript {} --observers 0,1,2,3,4,5", transcript.display()));
    assert!(epsilon(&named) > epsilon(&ran) && number(&named, "/masks/hidden_by") <= 6.0);
    // No value and no sum is in it.
    let text = std::fs::read_to_string(&transcript).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    assert!(other.pointer("/transcript/messages/0").is_some_and(|heard| heard.get("value").is_none()));
    for (field, value) in [
        ("/sigma", serde_json::json!(0.8)),
        ("/sigma", serde_json::json!(0.39)),
        ("/masks/step", serde_json::json!(0.25)),
        ("/masks/bits", serde_json::json!(63)),
        ("/masks/columns", serde_json::json!(2)),
        ("/masks/range", serde_json::json!(0.5)),
        ("/masks/keys/0", serde_json::json!([0, 1])),
        ("/masks", Value::Null),
        ("/sensitivity", serde_json::json!(0.5)),
        ("/sensitivity", serde_json::json!(10.0)),
        ("/transcript/releases/0/1/scale", serde_json::json!(0.1)),
    ] {
        let kept = other.pointer(field).cloned().unwrap();
        let changed = if kept == value { serde_json::json!([0, 2]) } else { value };
        *other.pointer_mut(field).unwrap() = changed;
        let mutant = written(folder.path(), "mutant.json", &other.to_string());
        sottovoce(&format!("account transcript {mutant}")).assert().failure();
        sottovoce(&format!("audit transcript {mutant}")).assert().failure();
        *other.pointer_mut(field).unwrap() = kept;
    }
    // Vectors of several numbers pay more: a run of two that says it had one is found out.
    let values = written(folder.path(), "values.csv", &table(&values(12)));
    let two = folder.path().join("two");
    let run = RUN.replace("--no-report", &format!("--out {}", two.display()));
    sottovoce(&format!("{run} --peers 12 --sigma 0.4 --values {values} --range -1:1")).assert().success();
    let text = std::fs::read_to_string(two.join("transcript.json")).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["masks"]["columns"] = 1.into();
    let mutant = written(folder.path(), "mutant.json", &other.to_string());
    sottovoce(&format!("account transcript {mutant}")).assert().failure();
}

#[test]
fn who_is_cut_off_is_said_and_has_its_own_noise() {
    let folder = tempfile::tempdir().unwrap();
    let keys = written(folder.path(), "keys.txt", "0 1\n1 2\n2 3\n3 4\n");
    let line = format!("{ACCOUNT} --peers 5 --keys {keys} --sigma 0.7 --wire-tapper --observers 3");
    let found = json(&line);
    assert_eq!(found["masks"]["alone"], serde_json::json!([4]));
    assert_eq!(found["leakage"], serde_json::json!([1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 1.0]));
    // What a peer loses by its own noise, but for rounding.
    let local = json("account averaging --protocol butterfly --peers 5 --sigma 0.7 --wire-tapper");
    assert!(epsilon(&found) > epsilon(&local) && epsilon(&found) < 1.005 * epsilon(&local));
    let printed = flat(&sottovoce(&line).assert().success().get_output().stdout);
    assert!(printed.contains("CUT OFF: nothing but its own noise hides peer 4"), "{printed}");
    // Both partners of a peer on a ring.
    let ring = written(folder.path(), "ring.txt", "0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n");
    let any = json(&format!("{ACCOUNT} --peers 6 --keys {ring} --sigma 0.7 --colluders 2"));
    assert_eq!((number(&any, "/masks/hidden_by"), &any["masks"]["exact"]), (1.0, &true.into()));
    let one = json(&format!("{ACCOUNT} --peers 6 --keys {ring} --sigma 0.7 --colluders 1"));
    assert_eq!(number(&one, "/masks/hidden_by"), 5.0);
}

#[test]
fn bad_masks_are_refused() {
    let run = "run averaging --peers 8 --masks --no-report";
    refused(run, &["`masks` is true", "--protocol butterfly"]);
    refused(&format!("{run} --protocol walk"), &["`masks` is"]);
    for (options, words) in [
        ("--cancel 3", ["`cancel` is 3", "give one of them"]),
        ("--relay-noise 0.1", ["`relay-noise` is 0.1", "leave it out"]),
        ("--set network.lenient=true", ["`lenient` is true", "masks"]),
        ("--within 1=2 --distance hops", ["`within` is given", "epsilon"]),
        ("--colluders 0", ["`colluders` is 0", "at least 1"]),
        ("--colluders 7", ["`colluders` is 7", "two must be honest"]),
        ("--colluders 2 --observers 1", ["`colluders` is 2", "observers"]),
        ("--observers 0,1,2,3,4,5,6,7", ["`observers` is all 8 peers", "leave one out"]),
        ("--sigma nan", ["`sigma` is NaN", "positive"]),
        ("--sigma inf", ["`sigma` is inf", "positive"]),
        ("--sigma 0", ["`sigma` is 0", "positive"]),
        ("--sigma 1e-9", ["`sigma` is 1e-9", "at least"]),
        ("--epsilon nan", ["`epsilon` is NaN", "give"]),
        ("--epsilon -1", ["`epsilon` is -1", "give"]),
        ("--delta 1", ["`delta` is 1", "between 0 and 1"]),
        ("--sensitivity inf", ["`sensitivity` is inf", "positive"]),
        ("--sensitivity 0.5", ["`sensitivity` is 0.5", "--range"]),
        ("--set noise.grid=0.1", ["`grid` is 0.1", "power of two"]),
        ("--set noise.grid=nan", ["`grid` is NaN", "power of two"]),
        ("--set noise.grid=-0.5", ["`grid` is -0.5", "power of two"]),
        ("--set noise.grid=4 --sigma 1", ["`grid` is 4", "finer grid"]),
        ("--set noise.grid=8.077935669463161e-28 --sigma 1", ["`grid` is 8.077935669463161e-28", "take"]),
        ("--range 0:1e200", ["`sensitivity` is 1e200", "other units"]),
        ("--set noise.grid=1e300", ["`grid` is 1e300", "2^100"]),
        ("--epsilon 1e300", ["`epsilon` is 1e300", "give less"]),
        ("--keys regular:9", ["`keys` is regular:9", "8 peers"]),
    ] {
        refused(&format!("{RUN} --peers 8 {options}"), &words);
    }
    refused(
        "run averaging --peers 8 --protocol butterfly --set noise.grid=0.5 --no-report",
        &["`grid` is 0.5", "--masks"],
    );
    let attack = "audit reconstruct --protocol butterfly --peers 8 --masks --observers 1";
    refused(attack, &["`masks` is true", "bound", "--wire-tapper"]);
    refused(&format!("{attack} --wire-tapper --set noise.grid=1 --sigma 1"), &["`grid` is 1", "finer grid"]);
    // Who shares no secret is not masked at all.
    let folder = tempfile::tempdir().unwrap();
    let keys = written(folder.path(), "keys.txt", "0 1\n1 2\n");
    refused(&format!("{RUN} --peers 4 --keys {keys}"), &["`keys` is without a secret of peer 3"]);
}

#[test]
fn the_attack_agrees_with_the_account() {
    let attack = "audit reconstruct --protocol butterfly --masks --wire-tapper --runs 1000";
    for case in [
        "--peers 8",
        "--peers 13 --observers 1,7 --keys regular:4 --epsilon 2",
        "--peers 11 --observers 10,0 --set noise.grid=0.0625 --sigma 0.5 --prior-mean 40",
    ] {
        let found = json(&format!("{attack} {case}"));
        assert_eq!(found["verdict"], "agrees", "{case}");
        assert_eq!(found["exposed"].as_array().map_or(0, Vec::len), 0, "{case}");
    }
}

#[test]
fn who_vanishes_leaves_no_result_and_no_leak() {
    let found = json(&format!("{RUN} --peers 8 --colluders 1 --timeout 5000 --crashes 3@0"));
    assert_eq!(number(&found, "/finished"), 0.0);
    assert!(epsilon(&found) <= 4.0);
}

#[test]
fn plans_weigh_it_and_execute_it() {
    let folder = tempfile::tempdir().unwrap();
    let best = folder.path().join("best.toml");
    let found =
        json(&format!("plan averaging --peers 16 --epsilon 4 --colluders 3 --out {}", best.display()));
    let rows = found["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["protocol"] == "masked-butterfly").unwrap();
    let over = number(row, "/error_over_central");
    assert!(over > 16.0 / 13.0 && over < 1.005 * 16.0 / 13.0, "{over}");
    assert_eq!(found["rows"][number(&found, "/chosen") as usize], *row);
    let ran = json(&format!("run {} --no-report", best.display()));
    assert_eq!(epsilon(&ran), number(row, "/epsilon/wire_tapper"));
    assert!(epsilon(&ran) <= 4.0 && ran["guarantees"][0]["colluders"] == 3);
    // Of several numbers there is more to pay, and the plan knows.
    let values = written(folder.path(), "values.csv", &table(&values(10)));
    let text = format!(
        "experiment = \"averaging\"\n[graph]\nfamily = {{ complete = {{ n = 10 }} }}\n[protocol]\nmethod = \"butterfly\"\n[noise]\nmasks = true\n\
         [values]\nfile = \"{values}\"\nrange = \"-1:1\"\n[adversary]\ncolluders = 2\n[target]\nepsilon = 2.0\n"
    );
    let file = written(folder.path(), "mine.toml", &text);
    let found = json(&format!("plan {file}"));
    let rows = found["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["protocol"] == "masked-butterfly").unwrap();
    let ran = json(&format!("run {file} --no-report"));
    // To the sixth digit.
    assert!((number(row, "/sigma") / number(&ran, "/sigma") - 1.0).abs() < 1e-5);
    assert!(epsilon(&ran) <= 2.0 && number(row, "/epsilon/wire_tapper") <= 2.0);
}
