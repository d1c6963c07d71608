//! `account walk` as users run it.

use crate::common;

use common::{json, number, refused, sottovoce};

/// A ring of six in a file, and a path of a token on it.
fn files() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let ring = write("ring.txt", "0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n");
    let path = write("path.json", "[1,2,1,0,5,5,4,5,0,1]");
    (folder, ring, path)
}

#[test]
fn a_path_is_accounted_for() {
    let (_folder, ring, path) = files();
    let walk = format!("account walk --graph {ring} --lazy 0.2 --steps 10 --observers 0 --trajectory {path}");
    let found = json(&walk);
    // Two gaps: 1,2,1 and 5,5,4,5; what comes after the last visit is not seen.
    assert!((number(&found, "/trajectory_loss_linear/1") - 4.0 / 3.0).abs() < 1e-12);
    assert!((number(&found, "/trajectory_loss_linear/5") - 9.0 / 4.0).abs() < 1e-12);
    assert!((number(&found, "/trajectory_loss_convex/1") - 1.5).abs() < 1e-12);
    let walk = format!("{walk} --verbose");
    let text = String::from_utf8(sottovoce(&walk).assert().success().get_output().stdout.clone()).unwrap();
    assert!(text.contains("1.33334") && text.contains("2.25"), "{text}");
}

#[test]
fn bad_input_is_refused_with_a_remedy() {
    let (folder, ring, path) = files();
    let walk = format!("account walk --graph {ring} --lazy 0.2");
    let expected = "--sigma 4 --order 2 --expected 9";
    refused(&format!("{walk} --steps 10 {expected}"), &["observer"]);
    refused(&format!("{walk} --steps 0 --observers 0 {expected}"), &["`steps` is 0"]);
    refused(&format!("{walk} --steps 10 --observers 6 {expected}"), &["`observers` is 6"]);
    let pieces = folder.path().join("pieces.txt");
    std::fs::write(&pieces, "0 1\n2 3\n").unwrap();
    let pieces = format!("account walk --graph {}", pieces.display());
    refused(&format!("{pieces} --steps 3 --observers 0 {expected}"), &["connected"]);
    refused(&format!("{walk} --steps 9 --observers 0 --trajectory {path}"), &["`steps` is 9", "10 holders"]);
    for (text, says) in [("[0,3]", "from 0 to 3"), ("[0,6]", "6 at place 1"), ("{}", "JSON list")] {
        let file = folder.path().join("bad.json");
        std::fs::write(&file, text).unwrap();
        refused(&format!("{walk} --steps 2 --observers 0 --trajectory {}", file.display()), &[says]);
    }
}

#[test]
fn walks_to_come_follow_the_seed_and_state_their_terms() {
    let (_folder, ring, _) = files();
    let walk = format!(
        "account walk --graph {ring} --lazy 0.2 --steps 12 --observers 0 --sigma 4 --order 2 --cap 2 --expected 400"
    );
    let [one, again, other] = ["1", "1", "2"].map(|seed| json(&format!("{walk} --seed {seed}")));
    assert_eq!(one["expected_loss_convex"], again["expected_loss_convex"]);
    assert_ne!(one["expected_loss_convex"], other["expected_loss_convex"]);
    assert_eq!((&one["unit"], &one["adjacency"]), (&"user".into(), &"replace".into()), "{one}");
    assert_eq!((&one["expected_seed"], &other["expected_seed"]), (&1.into(), &2.into()));
    assert!(one["expected_loss_unit"].as_str().unwrap().contains("order 2"), "{one}");
    assert!(one["expected_standing"]["conditional"].as_array().unwrap().len() == 2, "{one}");
    assert!(!one["not_covered"].as_array().unwrap().is_empty(), "{one}");
    let text = String::from_utf8(sottovoce(&walk).assert().success().get_output().stdout.clone()).unwrap();
    for words in ["Rényi loss of order 2", "one user's data, replace", "not covered:", "proven if"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_coalition_of_everybody_is_refused() {
    let (_folder, ring, path) = files();
    let walk = format!("account walk --graph {ring} --lazy 0.2 --steps 10 --observers 0,1,2,3,4,5");
    let all = ["all 6 peers", "leave one out"];
    refused(&walk, &all);
    refused(&format!("{walk} --trajectory {path}"), &all);
    refused(&format!("{walk} --sigma 4 --order 2 --expected 100"), &all);
    refused(
        &format!("account learning --graph {ring} --lazy 0.2 --iterations 2 --observers 0,1,2,3,4,5"),
        &all,
    );
    refused(
        "account learning --method butterfly --peers 4 --iterations 2 --observers 0,1,2,3",
        &["all 4 peers"],
    );
}

/// With a cap, neither does an observer of a walk to come learn more than whoever sees every message.
#[test]
fn no_peer_learns_more_than_whoever_sees_every_message() {
    let (_folder, ring, path) = files();
    let walk =
        format!("account walk --graph {ring} --lazy 0.2 --steps 10 --sigma 4 --order 2 --expected 100");
    for observers in ["0", "1", "3", "0,2", "1,3,5"] {
        let found =
            json(&format!("{walk} --cap 2 --trajectory {path} --result-shown --observers {observers}"));
        let stated = found["guarantees"].as_array().unwrap();
        let to = |who: &str, when: &str| {
            let about = |one: &&serde_json::Value| {
                one["adversary"] == who && one["about"].as_str().unwrap().contains(when)
            };
            let found: Vec<f64> = stated.iter().filter(about).map(|one| number(one, "/epsilon")).collect();
            (found.iter().copied().fold(0.0, f64::max), found.len())
        };
        for when in ["on this path", "on a walk to come"] {
            let (all, seen) = (to("wire-tapper", when), to("coalition", when));
            assert!(seen.0 > 0.0 && seen.0 <= all.0, "{observers} {when}: {stated:?}");
            assert_eq!((all.1, seen.1), (1, 2), "{stated:?}");
        }
    }
}

/// The hub of a star holds the token every other time. It was once left out of what any peer loses, because it is an observer.
#[test]
fn observers_are_peers_too() {
    let folder = tempfile::tempdir().unwrap();
    let [star, path] = ["star.txt", "path.json"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&star, (1..=12).map(|leaf| format!("0 {leaf}\n")).collect::<String>()).unwrap();
    let holders: Vec<usize> = (0..72).map(|step| if step % 2 == 0 { 0 } else { 1 + step / 2 % 12 }).collect();
    std::fs::write(&path, serde_json::to_string(&holders).unwrap()).unwrap();
    let found = json(&format!(
        "account walk --graph {star} --steps 72 --observers 0 --sigma 8 --delta 1e-6 --trajectory {path}"
    ));
    let stated = found["guarantees"].as_array().unwrap();
    let any = stated.iter().find(|one| one["about"].as_str().unwrap().starts_with("any peer on this path"));
    let all = json("account mechanism --gaussian --noise-multiplier 8 --steps 36 --delta 1e-6");
    let (any, all) = (number(any.unwrap(), "/epsilon"), number(&all, "/epsilon/pld/upper"));
    assert!((any / all - 1.0).abs() < 1e-6, "{any} {all}");
}

/// Losses become epsilons under the noise that is given: exactly Gaussian if losses are linear, a little more if they are convex.
#[test]
fn guarantees_are_stated_as_data() {
    let (folder, ring, path) = files();
    let walk = format!("account walk --graph {ring} --lazy 0.2 --steps 10 --observers 0 --trajectory {path}");
    let found = json(&format!("{walk} --sigma 3 --delta 1e-6"));
    let stated = found["guarantees"].as_array().unwrap();
    assert_eq!(stated.len(), 3, "{found}");
    assert_eq!((&stated[2]["adversary"], &stated[2]["standing"]), (&"wire-tapper".into(), &"proven".into()));
    for one in &stated[..2] {
        assert_eq!(
            (&one["adversary"], &one["unit"], &one["adjacency"]),
            (&"coalition".into(), &"user".into(), &"replace".into())
        );
        assert_eq!((number(one, "/delta"), one["not_covered"].is_array()), (1e-6, true), "{one}");
    }
    let epsilon = |place: usize| number(&stated[place], "/epsilon");
    let gaussian = json("account mechanism --gaussian --noise-multiplier 2 --delta 1e-6");
    // The worst off loses 9/4 units: mu² = 2.25 / 9, the noise of 2 for a sensitivity of 1.
    assert!((epsilon(0) - number(&gaussian, "/epsilon/pld/upper")).abs() < 1e-6, "{stated:?}");
    assert!(epsilon(1) > epsilon(0));
    assert!(stated[0]["standing"]["conditional"].is_array(), "{stated:?}");
    let all = json("account mechanism --gaussian --noise-multiplier 3 --steps 3 --delta 1e-6");
    assert!((epsilon(2) - number(&all, "/epsilon/pld/upper")).abs() < 1e-6, "{stated:?}");
    assert_eq!(found["trajectory_contributions"], serde_json::json!([2, 3, 1, 0, 1, 3]));
    // Seen at once, contributions cost what they cost whoever sees them all, and no more, although the bound for convex losses and its conversion is larger.
    let path = folder.path().join("there and back.json");
    std::fs::write(&path, "[1,0,1,0]").unwrap();
    let mut command =
        sottovoce(&format!("account walk --graph {ring} --steps 4 --observers 0 --json --trajectory"));
    let output = command.arg(path).output().unwrap().stdout;
    let found: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let (seen, all) = (&found["guarantees"][1], &found["guarantees"][2]);
    assert_eq!((&seen["epsilon"], &seen["standing"]), (&all["epsilon"], &"proven".into()), "{found}");
    assert!(seen["about"].as_str().unwrap().contains("no more than to someone who sees every message"));
    refused(&format!("{walk} --sigma 0"), &["`sigma` is 0", "positive"]);
    refused(&format!("{walk} --delta 1"), &["`delta` is 1", "between 0 and 1"]);
}
