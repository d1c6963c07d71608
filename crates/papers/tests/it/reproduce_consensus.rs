//! `sottovoce-papers reproduce consensus-deep-learning`, through the real binary, on drawn figures and on generated files.

use crate::common;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn reproduced(arguments: &[&str], out: &Path) -> Value {
    let mut command = Command::cargo_bin("sottovoce-papers").unwrap();
    command.arg("reproduce").args(arguments).args(["--quick", "--json", "--out"]).arg(out);
    let output = command.assert().success().get_output().clone();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn item<'a>(result: &'a Value, id: &str) -> &'a Value {
    result["items"].as_array().unwrap().iter().find(|item| item["id"] == id).unwrap()
}

/// Names and contents of kept cells.
fn kept(out: &Path) -> Vec<(String, Value)> {
    let files = fs::read_dir(out.join("cells")).unwrap().map(Result::unwrap);
    let read = |path: &Path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut all: Vec<(String, Value)> =
        files.map(|file| (file.file_name().into_string().unwrap(), read(&file.path()))).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

/// The smallest of its tables.
#[test]
fn an_attack_on_membership_has_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let result = reproduced(&["consensus-deep-learning/table5"], &folder.path().join("out"));
    let table = item(&result, "table5");
    assert!(table["verdict"]["reproduced"].is_boolean() && table["verdict"]["holds"].is_boolean(), "{table}");
    assert!(
        table["numbers"].as_object().unwrap().values().all(|number| number.as_f64().unwrap().is_finite())
    );
}

/// All of the paper at once, then again with some cells lost and one forged: what is there is taken, what is not is made, and the numbers are the same.
#[test]
#[ignore = "second tier: whole tables"]
fn finished_cells_are_kept_and_what_was_interrupted_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let result = reproduced(&["consensus-deep-learning"], &out);
    for id in ["table1", "1", "table2", "table3", "table5", "3", "choices", "rates"] {
        let verdict = &item(&result, id)["verdict"];
        assert!(verdict["reproduced"].is_boolean() && verdict["holds"].is_boolean(), "{id}");
    }
    for id in ["table4", "2", "fashion"] {
        assert!(item(&result, id)["skipped"].is_string(), "{id}");
    }
    // What is certified keeps its epsilon; what is published says what it spends.
    let cells = kept(&out);
    let spent = |cell: &Value| cell["told"]["spent"].as_f64();
    let noise = |cell: &Value, kind: &str| cell["of"]["cell"]["noise"][kind].as_f64();
    let certified = cells.iter().filter_map(|(_, cell)| Some((noise(cell, "certified")?, spent(cell)?)));
    assert!(certified.clone().count() > 10);
    for (epsilon, spent) in certified {
        assert!(spent <= epsilon && spent > 0.99 * epsilon, "{spent} of {epsilon}");
    }
    let published = cells.iter().filter_map(|(_, cell)| Some((noise(cell, "published")?, spent(cell)?)));
    assert!(published.clone().count() > 10 && published.into_iter().all(|(_, spent)| spent > 0.0));
    let silent = cells.iter().filter(|(_, cell)| cell["of"]["cell"]["noise"] == "silent");
    assert!(silent.into_iter().all(|(_, cell)| spent(cell).is_none()));

    // The first is lost. The second is told to be another's; the third says what it could not have found, and is believed, as it is just what is asked for.
    let place = |at: usize| out.join("cells").join(&cells[at].0);
    fs::remove_file(place(0)).unwrap();
    let mut forged = cells[1].1.clone();
    forged["of"]["seed"] = 7.into();
    fs::write(place(1), serde_json::to_vec(&forged).unwrap()).unwrap();
    let mut slow = cells[2].1.clone();
    slow["told"]["seconds"] = 12345.0.into();
    fs::write(place(2), serde_json::to_vec(&slow).unwrap()).unwrap();
    let again = reproduced(&["consensus-deep-learning", "--overwrite"], &out);
    for id in ["table1", "1", "table2", "choices", "rates"] {
        assert_eq!(item(&again, id)["numbers"], item(&result, id)["numbers"], "{id}");
    }
    let now = kept(&out);
    assert_eq!(now.len(), cells.len());
    assert_eq!(now[2].1["told"]["seconds"], 12345.0);
    for at in [0, 1] {
        assert_eq!(now[at].1["of"], cells[at].1["of"]);
        assert_eq!(now[at].1["told"]["accuracies"], cells[at].1["told"]["accuracies"]);
    }
}

/// Two trials differ, in graph and noise; one alone has the same bits as the first of two.
#[test]
#[ignore = "second tier: whole tables"]
fn trials_differ_and_the_first_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    reproduced(&["consensus-deep-learning/choices"], &one);
    reproduced(&["consensus-deep-learning/choices", "--trials", "2"], &two);
    let (one, two) = (kept(&one), kept(&two));
    assert_eq!((one.len() * 2, one.len()), (two.len(), 18));
    for (name, cell) in &one {
        let same = &two.iter().find(|other| other.0 == *name).unwrap().1;
        assert_eq!(same["told"]["accuracies"], cell["told"]["accuracies"]);
    }
    let second = two.iter().find(|(_, cell)| cell["of"]["cell"]["trial"] == 1).unwrap();
    assert!(one.iter().all(|(name, _)| *name != second.0));
}

/// Where there is no card it is said, and the processor finds the same numbers; papers without nets refuse it.
#[test]
#[ignore = "second tier: whole tables"]
fn a_card_that_is_not_there_is_noted_and_one_that_is_of_no_use_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::cargo_bin("sottovoce-papers").unwrap();
    command.args([
        "reproduce",
        "consensus-deep-learning/choices",
        "--quick",
        "--json",
        "--device",
        "gpu",
        "--out",
    ]);
    let output = command.arg(folder.path().join("there")).assert().success().get_output().clone();
    let cells = kept(&folder.path().join("there"));
    let note = common::flat(&output.stderr);
    match cells[0].1["told"]["card"].as_str() {
        Some(card) => assert!(!card.is_empty() && note.is_empty(), "{note}"),
        None => {
            assert!(note.contains("`device` is gpu: ") && note.contains("on the processor"), "{note}");
            let here = reproduced(&["consensus-deep-learning/choices"], &folder.path().join("here"));
            let there: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(item(&here, "choices")["numbers"], item(&there, "choices")["numbers"]);
        }
    }
    let mut command = Command::cargo_bin("sottovoce-papers").unwrap();
    command.args(["reproduce", "rumor/2a", "--quick", "--device", "gpu", "--out"]);
    let output = command.arg(folder.path().join("rumor")).assert().code(2).get_output().clone();
    assert!(common::flat(&output.stderr).contains("`device` is gpu: no nets are learned for rumor"));
}

/// Files of the form of CIFAR-100: a coarse label, a label, and 3072 bytes an image.
fn cifar(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for (name, count) in [("train.bin", 80u32), ("test.bin", 20)] {
        let record = |image: u32| {
            let label = image % 4;
            let pixel = move |at: u32| (at.wrapping_mul(31 + 7 * label) ^ image.wrapping_mul(97)) as u8;
            [0, label as u8].into_iter().chain((0..3072).map(pixel))
        };
        fs::write(folder.join(name), (0..count).flat_map(record).collect::<Vec<u8>>()).unwrap();
    }
}

#[test]
#[ignore = "second tier: whole tables"]
fn cifar_is_learned_where_its_files_are_and_sizes_small() {
    let folder = tempfile::tempdir().unwrap();
    cifar(&folder.path().join("cifar-100-binary"));
    let out = folder.path().join("out");
    let data = folder.path().to_str().unwrap();
    let result = reproduced(&["consensus-deep-learning/table4", "--data", data], &out);
    let table = item(&result, "table4");
    assert!(table["verdict"]["holds"].is_boolean(), "{table}");
    // Two primal steps are two draws, and the certified noise keeps its epsilon with both.
    let cells = kept(&out);
    let dinno = cells.iter().find(|(_, cell)| {
        cell["of"]["cell"]["way"] == "dinno" && cell["of"]["cell"]["noise"]["certified"] == 10.0
    });
    let told = &dinno.unwrap().1;
    assert_eq!(told["of"]["plan"]["method"]["dinno"]["primal"], 2);
    assert!(told["told"]["spent"].as_f64().unwrap() <= 10.0);
    // Cut short, they are refused before anything is learned.
    let train = folder.path().join("cifar-100-binary/train.bin");
    let whole = fs::read(&train).unwrap();
    fs::write(&train, &whole[..whole.len() - 1]).unwrap();
    let mut command = Command::cargo_bin("sottovoce-papers").unwrap();
    command.args(["reproduce", "consensus-deep-learning/2", "--quick", "--data", data, "--out"]);
    let output = command.arg(folder.path().join("other")).assert().code(2).get_output().clone();
    assert!(common::flat(&output.stderr).contains("train.bin"));
}
