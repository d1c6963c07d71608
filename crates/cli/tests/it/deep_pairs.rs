//! Noise that cancels while a net is learned together, through the program.

use crate::common;

use common::{json, number, refused, sottovoce};
use serde_json::Value;

const SMALL: &str = "--model mlp --agents 6 --images 600 --set task.test-images=100 --rounds 20 --lot 30";

fn small(more: &str) -> String {
    format!("run deep {SMALL} {more}")
}

/// Complete keys among six, of whom `k` tell: the loss of a release in units of a local one.
fn loss(kappa: f64, k: usize) -> f64 {
    let m = (6 - k) as f64;
    1.0 / m + (1.0 - 1.0 / m) / (1.0 + kappa * kappa * m)
}

#[test]
fn pairs_are_worth_louder_noise() {
    let of = |more: &str| json(&format!("account deep {SMALL} {more}"));
    let epsilon = |found: &Value| number(found, "/guarantees/0/epsilon");
    let mut last = 0.0;
    for k in [1, 2, 4] {
        let paired = of(&format!("--noise-multiplier 1 --cancel 3 --colluders {k}"));
        let alone = of(&format!("--noise-multiplier {}", 1.0 / loss(3.0, k).sqrt()));
        let (paired_epsilon, alone_epsilon) = (epsilon(&paired), epsilon(&alone));
        assert!(paired_epsilon >= alone_epsilon && paired_epsilon < alone_epsilon * (1.0 + 1e-6), "{k}");
        assert!(paired_epsilon > last);
        last = paired_epsilon;
        let stated = &paired["guarantees"][0];
        assert_eq!((&stated["adversary"], &stated["colluders"]), (&"wire-tapper-with-any".into(), &k.into()));
        assert!(stated["not_covered"].to_string().contains("stream cipher"));
    }
    // Who shares no secret with anyone has her own noise.
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.txt");
    std::fs::write(&keys, "0 1\n1 2\n2 3\n3 4\n4 0\n").unwrap();
    let cut = of(&format!("--noise-multiplier 1 --cancel 3 --keys {}", keys.display()));
    let alone = of("--noise-multiplier 1");
    assert_eq!(cut["agents"][5]["epsilon"], alone["agents"][5]["epsilon"]);
    assert!(cut["notes"].to_string().contains("1 of 6 agents may be cut off"), "{}", cut["notes"]);
}

#[test]
fn a_target_takes_less_noise_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    for more in
        ["--cancel 10", "--cancel 2 --keys regular:4 --colluders 2 --method dsgd --set protocol.at=mixed"]
    {
        let found = json(&small(&format!("--epsilon 2 {more} --out {out} --overwrite")));
        let epsilon = number(&found, "/guarantees/0/epsilon");
        assert!(epsilon <= 2.0 && epsilon > 1.99, "{epsilon}");
        let alone = json(&small("--epsilon 2 --no-report"));
        let noise = |found: &Value| number(found, "/agents/0/noise_multiplier");
        assert!(noise(&found) < 0.85 * noise(&alone));
        assert!(found["setup"].to_string().contains("noise that cancels"));
        let told = json(&format!("account transcript {out}/transcript.json"));
        assert_eq!(number(&told, "/guarantees/0/epsilon"), epsilon);
        sottovoce(&format!("audit transcript {out}/transcript.json")).assert().success();
        assert_eq!(
            number(&json(&format!("account {out}/experiment.toml")), "/guarantees/0/epsilon"),
            epsilon
        );
        let again = json(&format!("run {out}/experiment.toml --no-report"));
        assert_eq!((&again["curve"], &again["agents"]), (&found["curve"], &found["agents"]));
        let whole: Value =
            serde_json::from_str(&std::fs::read_to_string(format!("{out}/transcript.json")).unwrap())
                .unwrap();
        for (pointer, value) in [
            ("/secrets/kappa", Value::from(100.0)),
            ("/secrets/keys/0", serde_json::json!([4, 5])),
            ("/secrets/colluders", 3.into()),
            ("/secrets", Value::Null),
            ("/agents/3/hidden/multiplier", 0.1.into()),
        ] {
            let mut other = whole.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            let path = folder.path().join("mutant.json");
            std::fs::write(&path, other.to_string()).unwrap();
            sottovoce(&format!("account transcript {}", path.display())).assert().failure();
        }
    }
}

/// Where everybody hears everybody, agents who trust nobody learn as a centre does.
#[test]
#[ignore = "second tier: many nets are trained"]
fn among_all_it_is_as_good_as_a_centre() {
    let accuracy = |more: &str| {
        let line = format!("run deep --model mlp --images 3000 --rounds 60 --epsilon 1 --no-report {more}");
        let of = |seed: u64| number(&json(&format!("{line} --seed {seed}")), "/accuracy");
        (0..3).map(of).sum::<f64>() / 3.0
    };
    let paired = accuracy("--fiedler 1 --cancel 30");
    let (alone, centre) =
        (accuracy("--fiedler 1"), accuracy("--method central --rate 1 --set protocol.optimiser=sgd"));
    assert!(paired > alone + 0.03 && paired > centre - 0.03, "{paired} {alone} {centre}");
}

#[test]
fn runs_stop_and_go_on_bit_for_bit_and_not_with_other_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.txt");
    std::fs::write(&keys, "0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n").unwrap();
    let line = small(&format!("--method dsgd --cancel 2 --keys {} --no-report", keys.display()));
    let state = folder.path().join("state");
    let whole = json(&line);
    json(&format!("{line} --checkpoint {} --pause-after 7", state.display()));
    let rest = json(&format!("{line} --checkpoint {} --resume", state.display()));
    assert_eq!((&rest["curve"], &rest["agents"]), (&whole["curve"], &whole["agents"]));
    let state = folder.path().join("other");
    json(&format!("{line} --checkpoint {} --pause-after 7", state.display()));
    std::fs::write(&keys, "0 2\n1 2\n2 3\n3 4\n4 5\n5 0\n0 1\n").unwrap();
    refused(&format!("{line} --checkpoint {} --resume", state.display()), &["checkpoint"]);
}

#[test]
fn whoever_listens_to_all_leaves_the_claim_standing() {
    let line = small("--method dsgd --cancel 5 --colluders 2").replace("run deep", "audit membership");
    let found = json(&line);
    assert_eq!(found["stands"], true, "{found}");
    assert_eq!(found["guarantees"][0]["adversary"], "wire-tapper-with-any");
}

#[test]
fn pairs_that_would_not_cancel_are_refused() {
    for (more, why) in [
        ("--method central --cancel 3", "nobody talks"),
        ("--method local --agents 6 --cancel 3", "nobody talks"),
        ("--method dinno --cancel 3", "Adam"),
        ("--noise-multiplier 0 --cancel 3", "as loud as there is noise"),
        ("--cancel 2000", "single precision"),
        ("--cancel -1", "`cancel` is -1"),
        ("--cancel nan", "cancel"),
        ("--keys complete", "no noise cancels"),
        ("--colluders 2", "--cancel"),
        ("--cancel 3 --colluders 0", "at least 1"),
        ("--cancel 3 --colluders 6", "`colluders` is 6"),
        ("--cancel 3 --keys regular:6", "there are 6 peers"),
        ("--cancel 3 --keys nowhere.txt", "no such file"),
    ] {
        let line = format!("account deep --images 600 --rounds 5 --lot 30 {more}");
        let line = if more.contains("--agents") || more.contains("central") {
            line
        } else {
            format!("{line} --agents 6")
        };
        refused(&line, &[why]);
    }
}
