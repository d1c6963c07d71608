//! `audit source` as users run it.

use crate::common;

use common::{json, number, refused, sottovoce};

const CROWD: &str = "audit source --peers 40 --curious 4";

fn text(arguments: &str, code: i32) -> String {
    let output = sottovoce(arguments).assert().code(code).get_output().clone();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn attacks_respect_the_proven_bounds() {
    for muting in [0.0, 0.7, 1.0] {
        let found = json(&format!("{CROWD} --muting {muting} --runs 4000"));
        let (lower, proven) = (number(&found, "/distinguished/delta_lower"), number(&found, "/bounds/delta"));
        assert!(lower <= proven && proven < 0.6, "{muting}: {lower} {proven}");
        assert!(number(&found, "/first/lower") <= number(&found, "/bounds/success"));
        assert!(number(&found, "/first/estimate") > 1.5 / 36.0, "the attack does something");
    }
}

#[test]
fn suspects_can_be_named() {
    let found = json(&format!("{CROWD} --muting 0 --suspect-peers 3,5,3 --runs 4000"));
    assert_eq!(number(&found, "/suspects"), 2.0);
    // One half and f/n of the other.
    assert!((number(&found, "/bounds/success") - 0.55).abs() < 1e-9);
    assert!((number(&found, "/first/estimate") - 0.55).abs() < 0.04, "five standard errors");
    refused(&format!("{CROWD} --muting 0 --suspect-peers 39"), &["curious"]);
    refused(&format!("{CROWD} --muting 0 --suspect-peers 40"), &["`suspect-peers` is 40"]);
}

#[test]
fn a_delayed_start_is_caught() {
    let said = text("audit source --peers 4000 --curious 2000 --muting 1 --delayed-start --runs 1000", 1);
    assert!(said.contains("Verdict: BROKEN") && said.contains("never again"), "{said}");
}

#[test]
fn on_a_graph_the_attack_stays_within_what_is_computed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("star.txt");
    std::fs::write(&path, "0 1\n0 2\n0 3\n0 4\n0 5\n").unwrap();
    let star = format!("audit source --graph {} --muting 0.5 --runs 2000", path.display());
    let found = json(&format!("{star} --curious-peers 0"));
    assert!(number(&found, "/bounds/delta") == 1.0 && number(&found, "/distinguished/delta_lower") > 0.97);
    assert_eq!(number(&found, "/first/estimate"), 1.0);
    // The leaves of a star are all alike behind its centre.
    let leaves = json(&format!("{star} --curious-peers 5"));
    assert!(number(&leaves, "/bounds/delta") < 0.9, "{leaves}");
    // No theorem covers a clock.
    assert!(text(&format!("{star} --curious 2 --sees everything"), 0).contains("no theorem bounds it here"));
    refused(&format!("{star} --curious-peers 6"), &["6"]);
}

#[test]
fn a_walk_under_losses_is_told_to_repeat() {
    let walk = format!("{CROWD} --muting 0 --drop 0.1 --runs 400");
    assert!(text(&walk, 0).contains("add --repeated"));
    assert!(!text(&format!("{walk} --repeated"), 0).contains("add --repeated"));
}

#[test]
fn bad_input_is_refused_with_a_remedy() {
    for (more, says) in [
        ("--muting 1.5", "`muting` is 1.5"),
        ("--muting nan", "muting"),
        ("--muting 0.5 --suspects 37", "`suspects` is 37"),
        ("--muting 0.5 --pair 0,39", "curious"),
        ("--muting 0.5 --pair 3", "`pair` is 3"),
        ("--muting 0.5 --pair 3,3", "two different"),
        ("--muting 0.5 --drop 1", "`drop` is 1"),
        ("--muting 0.5 --confidence 1", "`confidence` is 1"),
        ("--muting 0.5 --runs 3", "`runs` is 3"),
        ("--muting 0.5 --epsilon -1", "epsilon"),
    ] {
        refused(&format!("{CROWD} {more}"), &[says]);
    }
    refused("audit source --peers 10 --curious 10 --muting 0", &["`curious` is 10 of 10"]);
    refused("audit source --peers 10 --curious 0 --muting 0", &["`curious` is 0"]);
    refused("audit source --peers 1 --curious 0 --muting 0", &["`peers` is 1"]);
    refused("audit source --peers 10 --muting 0", &["curious"]);
}
