//! Noise that cancels, through the program.

use crate::common;

use std::path::Path;

use common::{flat, json, number, refused, sottovoce};

fn written(folder: &Path, name: &str, edges: impl IntoIterator<Item = (usize, usize)>) -> String {
    let path = folder.join(name);
    let text: String = edges.into_iter().map(|(u, v)| format!("{u} {v}\n")).collect();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn complete(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |u| (u + 1..n).map(move |v| (u, v)))
}

#[test]
fn a_complete_graph_of_secrets_leaves_one_over_n() {
    let folder = tempfile::tempdir().unwrap();
    let keys = written(folder.path(), "keys.txt", complete(10));
    let line = format!("account averaging --peers 10 --keys {keys} --cancel 3 --wire-tapper");
    let found = json(&line);
    let expected = 0.1 + 0.9 / (1.0 + 9.0 * 10.0);
    for peer in 0..10 {
        assert!((number(&found, &format!("/leakage/{peer}")) - expected).abs() < 1e-12);
    }
    assert_eq!(found["guarantees"][0]["adversary"], "wire-tapper");
    assert_eq!(number(&found, "/cancelling/groups"), 1.0);
    let with = json(&format!("{line} --observers 2,5"));
    assert!((number(&with, "/leakage/0") - (1.0 / 8.0 + 7.0 / 8.0 / (1.0 + 9.0 * 8.0))).abs() < 1e-12);
    assert_eq!(with["guarantees"][0]["adversary"], "wire-tapper-with");
    assert_eq!(with["guarantees"][0]["observers"], serde_json::json!([2, 5]));
    // No more than that for one who hears only its own messages.
    let peer = json(&line.replace("--wire-tapper", "--observers 2 --steps 2"));
    assert!((0..10).all(|u| number(&peer, &format!("/leakage/{u}")) <= expected + 0.02));
}

#[test]
fn a_coalition_that_cuts_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let keys = written(folder.path(), "keys.txt", [(0, 1), (1, 2), (2, 3), (3, 4)]);
    let line = format!("account averaging --peers 5 --keys {keys} --cancel 100 --wire-tapper --observers 3");
    let printed = flat(&sottovoce(&line).assert().success().get_output().stdout);
    assert!(
        printed.contains("IN 2 GROUPS ONLY; in the smallest (4) nobody can lose less than everything"),
        "{printed}"
    );
    assert!(printed.contains("holds the secrets of peers 3"), "{printed}");
    assert!(printed.contains("as secret as their stream cipher"), "{printed}");
}

#[test]
fn bad_secrets_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let keys = written(folder.path(), "keys.txt", complete(6));
    let base = "account averaging --peers 5 --wire-tapper --cancel 2 --keys";
    refused(&format!("{base} {keys}"), &["`keys` is 5", "from 0 to 4"]);
    refused(&format!("{base} {keys}.none"), &["`keys` is", "no such file"]);
    refused(
        "run averaging --peers 8 --cancel 2 --colluders 0 --no-report",
        &["`colluders` is 0", "at least 1"],
    );
    refused(
        "run averaging --protocol walk --peers 8 --cancel 2 --no-report",
        &["`cancel` is given", "butterfly"],
    );
    let attack = "audit reconstruct --protocol butterfly --peers 8 --cancel 2 --wire-tapper";
    refused(&format!("{attack} --colluders 2"), &["`colluders` is 2", "--observers"]);
    refused(&format!("{attack} --relay-noise 0.5"), &["`relay-noise` is 0.5", "bound"]);
    let line = format!("account averaging --peers 6 --wire-tapper --keys {keys}");
    refused(&line, &["--cancel"]);
    for kappa in ["-1", "1e7", "nan", "inf"] {
        refused(&format!("{line} --cancel {kappa}"), &["`cancel` is", "from 0 to 1e6"]);
    }
    refused(&format!("{line} --cancel 2 --observers 0,1,2,3,4,5"), &["observers"]);
    refused(&format!("{line} --cancel 2 --colluders 2 --observers 1"), &["`colluders` is 2", "observers"]);
    refused("run averaging --peers 8 --colluders 2 --no-report", &["`colluders` is 2", "--cancel"]);
    refused("run averaging --peers 8 --keys complete --no-report", &["`keys` is complete", "--cancel"]);
    let run = "run averaging --peers 9 --protocol butterfly --cancel 3 --no-report";
    refused(&format!("{run} --colluders 8"), &["`colluders` is 8", "two must be honest"]);
    refused(&format!("{run} --keys regular:9"), &["`keys` is regular:9", "9 peers"]);
    refused(&format!("{run} --keys regular:3"), &["`keys` is regular:3", "odd"]);
    refused(&format!("{run} --keys regular:x"), &["regular:8"]);
    refused("run learning --cancel 3 --method walk --no-report", &["`cancel` is 3", "gossip and butterfly"]);
    let folder = tempfile::tempdir().unwrap();
    let walk = folder.path().join("walk.toml");
    std::fs::write(
        &walk,
        "experiment = \"learning\"\n[protocol]\nmethod = \"walk\"\n[noise]\ncancel = 3.0\n",
    )
    .unwrap();
    for command in ["run", "account"] {
        refused(&format!("{command} {}", walk.display()), &["`noise.cancel` is 3", "gossip and butterfly"]);
    }
    refused("run learning --cancel 3 --colluders 0 --no-report", &["`colluders` is 0", "at least 1"]);
    refused(
        "run learning --cancel 3 --method gossip --peers 32 --no-report",
        &["`steps` is missing", "butterfly"],
    );
    refused("run learning --cancel 3 --keys graph --peers 32 --no-report", &["`keys` is graph", "regular:K"]);
    refused("run learning --colluders 3 --peers 32 --no-report", &["`colluders` is 3", "--cancel"]);
}

#[test]
fn sixty_four_peers_pay_hardly_more_than_a_trusted_server() {
    // The best that a server can do at epsilon 4 and delta 1e-5, against fifty times that with own noise alone.
    let found = json("run quickstart --no-report");
    let (server, cancelling) = (number(&found, "/trade/server"), number(&found, "/trade/cancelling"));
    assert_eq!(number(&found, "/trade/epsilon"), 4.0);
    assert_eq!(number(&found, "/trade/colluders"), 6.0);
    assert!(cancelling > server && cancelling < 1.2 * server, "{cancelling} {server}");
    assert!((number(&found, "/trade/own_noise") / server - 64.0).abs() < 1e-9);
    // A mean over 200 runs of a square: 10 % off is one standard error.
    let measured = number(&found, "/trade/cancelling_measured");
    assert!((measured / cancelling - 1.0).abs() < 0.4 && measured < 1.5 * server, "{measured} {cancelling}");
    // The same by itself, over 50 seeds: the mean square of 50 normals, five standard errors of 20 %.
    let line = "run averaging --protocol butterfly --peers 64 --cancel 10 --colluders 6 --epsilon 4 --seeds 50 --no-report";
    let own = json(line);
    assert!((number(&own, "/predicted_error") / cancelling - 1.0).abs() < 1e-3);
    let rooted = number(&own, "/error/mean").powi(2) + number(&own, "/error/deviation").powi(2);
    assert!(rooted < 2.0 * cancelling && rooted > 0.3 * cancelling, "{rooted} {cancelling}");
    let stated = &own["guarantees"][0];
    assert_eq!((&stated["adversary"], &stated["colluders"]), (&"wire-tapper-with-any".into(), &6.into()));
    assert!(number(stated, "/epsilon") <= 4.0 && number(stated, "/epsilon") > 3.99);
}

#[test]
fn the_attack_agrees_with_the_account() {
    let folder = tempfile::tempdir().unwrap();
    let ring = written(folder.path(), "ring.txt", (0..10).map(|u| (u, (u + 1) % 10)));
    for line in [
        "audit reconstruct --protocol butterfly --peers 12 --cancel 5 --wire-tapper --runs 1000",
        "audit reconstruct --protocol butterfly --peers 12 --cancel 5 --keys regular:4 --wire-tapper --observers 1,7 --runs 1000",
        "audit reconstruct --protocol butterfly --peers 12 --cancel 2 --keys regular:4 --observers 1,7 --runs 1000",
        "audit reconstruct --graph RING --steps 3 --cancel 2 --keys graph --observers 4 --relay-noise 0.5 --runs 1000",
        "audit reconstruct --graph RING --steps 3 --cancel 2 --keys complete --observers 4 --results published --runs 1000",
    ] {
        let found = json(&line.replace("RING", &ring));
        assert_eq!(found["verdict"], "agrees", "{line}");
    }
}

#[test]
fn a_transcript_holds_the_pairs_and_others_are_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    sottovoce(&format!(
        "run averaging --protocol butterfly --peers 16 --cancel 10 --keys regular:5 --colluders 2 --seed 3 --out {out}"
    ))
    .assert()
    .success();
    let path = format!("{out}/transcript.json");
    let said = json(&format!("account transcript {path}"));
    let stated = &said["guarantees"][0];
    assert_eq!((&stated["adversary"], &stated["colluders"]), (&"wire-tapper-with-any".into(), &2.into()));
    assert!(number(stated, "/epsilon") <= 4.0);
    sottovoce(&format!("audit transcript {path}")).assert().success();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut other: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (field, value) in [
        ("/cancelling/kappa", serde_json::json!(20.0)),
        ("/cancelling/keys/0", serde_json::json!([0, 1])),
        ("/cancelling", serde_json::Value::Null),
    ] {
        let kept = other.pointer(field).cloned().unwrap();
        let changed = if kept == value { serde_json::json!([0, 2]) } else { value };
        *other.pointer_mut(field).unwrap() = changed;
        let mutant = folder.path().join("mutant.json");
        std::fs::write(&mutant, other.to_string()).unwrap();
        sottovoce(&format!("account transcript {}", mutant.display())).assert().failure();
        *other.pointer_mut(field).unwrap() = kept;
    }
}

#[test]
fn a_file_of_secrets_goes_with_the_experiment_and_is_not_taken_for_checked() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "keys.txt", complete(8));
    let text = "experiment = \"averaging\"\n[graph]\npeers = 8\n[protocol]\nmethod = \"butterfly\"\n[noise]\ncancel = 3.0\nkeys = \"keys.txt\"\n";
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, text).unwrap();
    let out = folder.path().join("deep/out");
    let ran = json(&format!("run {} --out {}", file.display(), out.display()));
    let again = json(&format!("run {} --no-report", out.join("experiment.toml").display()));
    assert_eq!(number(&ran, "/sigma"), number(&again, "/sigma"));
    let told = json(&format!("account transcript {}", out.join("transcript.json").display()));
    assert!(told["unchecked"].to_string().contains("`keys` is"), "{}", told["unchecked"]);
    // One peer's releases tell nothing of pairs: that attack is not made.
    let learning = format!("{}/learn", folder.path().display());
    sottovoce(&format!("run learning --peers 8 --iterations 2 --seeds 1 --cancel 3 --out {learning}"))
        .assert()
        .success();
    refused(
        &format!("audit {learning}/experiment.toml --runs 20"),
        &["`noise.cancel` is 3", "--wire-tapper"],
    );
}

#[test]
fn who_vanishes_leaves_no_wrong_result_and_no_leak_in_strict_rounds() {
    let line = "run averaging --protocol butterfly --peers 8 --cancel 100 --colluders 1 --delay 40 --timeout 5000 --no-report --crashes 3@";
    let never = json(&format!("{line}0"));
    assert_eq!(number(&never, "/finished"), 0.0, "nobody has a result without peer 3");
    // What it said first is in the results of those who need no more of it: the pairs are whole.
    let late = json(&format!("{line}0.05"));
    let results: Vec<f64> = (0..8).filter_map(|peer| late["results"][peer][0].as_f64()).collect();
    assert!(!results.is_empty() && results.len() < 8, "{results:?}");
    let (mean, sigma) = (number(&late, "/mean"), number(&late, "/sigma"));
    assert!(results.iter().all(|result| (result - mean).abs() < 5.0 * sigma / 8.0_f64.sqrt()), "{results:?}");
    // What was promised holds for what was said, whatever became of it.
    for found in [&never, &late] {
        assert!(number(found, "/guarantees/0/epsilon") <= 4.0);
    }
}

#[test]
#[ignore = "second tier: many models are trained"]
fn learning_with_noise_that_cancels_is_as_good_as_with_a_curator() {
    let learned = |how: &str| {
        let line = format!(
            "run learning {how} --epsilon 1 --against wire-tapper --peers 256 --seeds 60 --no-report"
        );
        json(&line)
    };
    let (curator, cancelling) = (learned("--method central"), learned("--cancel 10 --colluders 6"));
    // Deviations are near 0.02: the difference of two means over 60 seeds has a standard error of 0.004.
    let short = number(&curator, "/accuracy/mean") - number(&cancelling, "/accuracy/mean");
    assert!(short < 0.015, "{short}");
    assert!(number(&cancelling, "/guarantees/0/epsilon") <= 1.0);
    assert_eq!(cancelling["guarantees"][0]["colluders"], 6);
    assert_eq!(cancelling["guarantees"].as_array().unwrap().len(), 1);
    // The file of the run is accounted for as the run was.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let line = "run learning --peers 16 --iterations 3 --seeds 1 --cancel 3 --colluders 2 --epsilon 2 --out";
    let ran = json(&format!("{line} {}", out.display()));
    let told = json(&format!("account {}", out.join("experiment.toml").display()));
    assert_eq!(number(&told, "/sigma"), number(&ran, "/sigma"));
    assert_eq!(told["guarantees"], ran["guarantees"]);
    assert!(told["guarantees"][0]["colluders"] == 2 && number(&told, "/guarantees/0/epsilon") <= 2.0);
}

#[test]
fn plans_weigh_it_and_execute_it() {
    let folder = tempfile::tempdir().unwrap();
    let (best, learn) = (folder.path().join("best.toml"), folder.path().join("learn.toml"));
    let found =
        json(&format!("plan averaging --peers 16 --epsilon 4 --colluders 3 --out {}", best.display()));
    // Masks are a little better, and are chosen.
    let chosen = number(&found, "/chosen") as usize;
    assert_eq!(found["rows"][chosen]["protocol"], "masked-butterfly");
    let rows = found["rows"].as_array().unwrap();
    let chosen = rows.iter().position(|row| row["protocol"] == "cancelling-butterfly").unwrap();
    assert!(number(&found, &format!("/rows/{chosen}/error_over_central")) < 1.5);
    assert!(number(&found, &format!("/rows/{chosen}/epsilon/wire_tapper")) <= 4.0);
    // What one peer learns is not said of a wire-tapper.
    let said = found["statements"].as_array().unwrap();
    let helped: Vec<_> = said.iter().filter(|line| line.as_str().unwrap().contains("any 3 peers")).collect();
    assert!(helped.len() == 1 && helped[0].as_str().unwrap().starts_with("a wire-tapper"), "{said:?}");
    let ran = json(&format!("run {} --no-report", best.display()));
    assert_eq!(ran["guarantees"][0]["colluders"], 3);
    assert!(number(&ran, "/guarantees/0/epsilon") <= 4.0);
    let line = format!(
        "plan learning --peers 64 --epsilon 1 --colluders 3 --against wire-tapper --iterations 5 --runs 2 --out {}",
        learn.display()
    );
    let found = json(&line);
    assert_eq!(found["rows"][number(&found, "/chosen") as usize]["cancels"], true);
    let ran = json(&format!("run {} --seeds 1 --no-report", learn.display()).replace(" --seeds 1", ""));
    assert_eq!(ran["guarantees"][0]["colluders"], 3);
}

/// Where some share fewer secrets than others, the peer of whom someone who sees every message learns most is not the one of whom a single peer does.
#[test]
fn uneven_secrets_are_accounted_for_as_they_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, file) = (folder.path().join("keys.txt"), folder.path().join("e.toml"));
    std::fs::write(&keys, "3 1\n1 5\n1 6\n1 7\n2 0\n2 6\n2 7\n0 4\n0 5\n4 5\n6 7\n").unwrap();
    let text = "experiment = 'learning'\nseeds = 1\n[task]\npeers = 8\n[protocol]\nmethod = 'butterfly'\n[noise]\ncancel = 10.0\nkeys = 'keys.txt'\n[target]\nepsilon = 4.0\nagainst = 'wire-tapper'\n";
    std::fs::write(&file, text).unwrap();
    let epsilon = |command: &str, more: &str| {
        let found = json(&format!("{command} {} {more}", file.display()));
        let all = found["guarantees"].as_array().unwrap();
        let one = all.iter().find(|one| one["adversary"] == "wire-tapper-with-any").unwrap();
        one["epsilon"].as_f64().unwrap()
    };
    let (run, account) = (epsilon("run", "--no-report"), epsilon("account", ""));
    assert!(
        run <= 4.0 && account <= 4.0 && (account / run - 1.0).abs() < 1e-7,
        "{run} by the run, {account}"
    );
}
