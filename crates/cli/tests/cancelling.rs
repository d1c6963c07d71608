//! Noise that cancels, through the program.
#![allow(clippy::unwrap_used)]

mod common;

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
        assert!((number(&found, &format!("/exact/{peer}")) - expected).abs() < 1e-12);
    }
    assert_eq!(found["guarantees"][0]["adversary"], "wire-tapper");
    assert_eq!(number(&found, "/cancelling/groups"), 1.0);
    let with = json(&format!("{line} --observers 2,5"));
    assert!((number(&with, "/exact/0") - (1.0 / 8.0 + 7.0 / 8.0 / (1.0 + 9.0 * 8.0))).abs() < 1e-12);
    assert_eq!(with["guarantees"][0]["adversary"], "wire-tapper-with");
    assert_eq!(with["guarantees"][0]["observers"], serde_json::json!([2, 5]));
    // No more than that for one who hears only its own messages.
    let peer = json(&line.replace("--wire-tapper", "--observers 2 --steps 2"));
    assert!((0..10).all(|u| number(&peer, &format!("/exact/{u}")) <= expected + 0.02));
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
    refused(&format!("{base} {keys}.none"), &["no such file"]);
    let line = format!("account averaging --peers 6 --wire-tapper --keys {keys}");
    refused(&line, &["--cancel"]);
    for kappa in ["-1", "1e7", "nan", "inf"] {
        refused(&format!("{line} --cancel {kappa}"), &["`cancel` is", "from 0 to 1e6"]);
    }
    refused(&format!("{line} --cancel 2 --method published"), &["noise that cancels", "exact"]);
    refused(&format!("{line} --cancel 2 --observers 0,1,2,3,4,5"), &["observers"]);
    refused(&line.replace("--keys", "--cancel 2 --epsilon 1 --keys"), &["--epsilon"]);
}
