//! Guarantees are of replacing one user's data: then nobody else's rows, labels or places may move.

use crate::common;

use std::path::{Path, PathBuf};

use common::{json, number, refused};
use sottovoce::learning::{Batch, Bounds, Data, Task};
use sottovoce::tasks::read::Options;
use sottovoce::tasks::{Clip, Model, Shards};
use sottovoce_learning::data::{Kind, Labels};

const PEERS: usize = 8;
const ROWS: usize = 100;
/// Whose data is replaced.
const USER: usize = 2;

/// Whether the row of a file is one of the user's: ten train rows each, every fifth row is for testing.
fn is_users(row: usize) -> bool {
    row % 5 != 4 && (row / 5 * 4 + row % 5) / 10 == USER
}

/// Writes a file row by row; the user's rows are `wild`, if that is given.
fn write(path: &Path, header: &str, row: impl Fn(usize) -> String, wild: Option<&str>) {
    let rows = (0..ROWS).map(|i| match wild {
        Some(wild) if is_users(i) => wild.to_owned(),
        _ => row(i),
    });
    std::fs::write(path, header.to_owned() + &rows.map(|row| row + "\n").collect::<String>()).unwrap();
}

/// Everybody's rows and labels, bit by bit, and the rows to test on.
fn everything(data: &Data) -> Vec<(Vec<u64>, Vec<u64>)> {
    let found = data.read().unwrap();
    let model = Model { loss: found.loss, width: found.train.width(), ridge: 0.0 };
    let shards = Shards::even(&found.train, PEERS).unwrap();
    let test = found.test.clone();
    let task = Task::new("task", shards, test, model, Clip::Example(1.0), Batch::All).unwrap();
    // Rows are as short as is promised, wild or not.
    let task = task.within(2f64.sqrt()).unwrap();
    let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect();
    let peers = (0..PEERS).map(|peer| task.shard(peer));
    peers.chain([found.test.view()]).map(|rows| (bits(rows.features), bits(rows.labels))).collect()
}

fn ranges(columns: &[&str]) -> Bounds {
    Bounds::Ranges(columns.iter().map(|column| (column.to_string(), (-10.0, 10.0))).collect())
}

/// A file of each kind, the way labels are read, and something wild.
struct Case {
    name: &'static str,
    header: &'static str,
    row: fn(usize) -> String,
    wild: &'static str,
    kind: Kind,
    labels: Labels,
    bounds: Bounds,
}

fn x(i: usize) -> f64 {
    ((i * 37 + 11) % 41) as f64 / 4.0 - 5.0
}

fn class(i: usize) -> &'static str {
    ["b", "m", "y"][(i * 7 + i / 9) % 3]
}

fn cases() -> Vec<Case> {
    let named: fn(usize) -> String = |i| format!("{},{},{}", x(i), x(i + 5), class(i));
    let header = "u,v,class\n";
    let case =
        |name, labels, kind, bounds, wild| Case { name, header, row: named, wild, kind, labels, bounds };
    let list = || Labels::Classes(["y", "m", "b", "aaa"].map(String::from).to_vec());
    vec![
        case(
            "named.csv",
            Labels::Positive("m".into()),
            Kind::Logistic,
            ranges(&["u", "v"]),
            "1e300,-1e300,aaa",
        ),
        case("norm.csv", Labels::Positive("m".into()), Kind::Logistic, Bounds::Norm(5.0), "1e300,-1e300,aaa"),
        case("several.csv", list(), Kind::Softmax, ranges(&["u", "v"]), "1e300,0,aaa"),
        Case {
            header: "",
            row: |i| format!("{},{},{}", x(i), x(i + 5), 100.0 + 3.0 * x(i + 2)),
            ..case(
                "price.csv",
                Labels::Threshold(101.0),
                Kind::Logistic,
                ranges(&["0", "1"]),
                "0,1e300,1e300",
            )
        },
        Case {
            header: "",
            row: |i| format!("{},{},{}", x(i), x(i + 5), if i % 3 == 0 { 1 } else { -1 }),
            ..case("signs.csv", Labels::AsRead, Kind::Logistic, Bounds::Norm(3.0), "1e300,-1e300,1")
        },
    ]
}

fn data(case: &Case, path: PathBuf) -> Data {
    let Case { kind, labels, bounds, .. } = case;
    let (labels, bounds) = (labels.clone(), bounds.clone());
    Data { path, options: Options::default(), bounds, labels, kind: Some(*kind) }
}

#[test]
fn a_user_moves_nobody_elses_rows() {
    let folder = tempfile::tempdir().unwrap();
    for case in cases() {
        let path = folder.path().join(case.name);
        let read = |wild| {
            write(&path, case.header, case.row, wild);
            everything(&data(&case, path.clone()))
        };
        let (before, after) = (read(None), read(Some(case.wild)));
        assert_eq!(before.len(), PEERS + 1);
        for (place, rows) in before.iter().enumerate() {
            assert_eq!(place == USER, *rows != after[place], "{}: {place}", case.name);
        }
        // Not all rows are alike, so something could have moved.
        assert!(
            before[0] != before[1] && before[0].1.iter().any(|label| *label != before[0].1[0]),
            "{}",
            case.name
        );
    }
}

/// Through the program: after one step of everyone, with the same noise, models differ by no more than the sensitivity allows. Standardising
/// over all rows moves everybody's, and this one much further.
#[test]
fn a_user_moves_a_step_by_no_more_than_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let options = [
        ("named.csv", "--positive m --range u=-10:10 --range v=-10:10"),
        ("norm.csv", "--positive m --norm 5"),
        ("price.csv", "--label-threshold 101 --range 0=-10:10 --range 1=-10:10"),
        ("signs.csv", "--norm 3"),
        ("several.csv", "--objective softmax --classes y,m,b,aaa --norm 5"),
    ];
    for (name, options) in options {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let path = folder.path().join(name);
        let model = |wild| -> Vec<f64> {
            write(&path, case.header, case.row, wild);
            let found = json(&format!(
                "run learning --data {} {options} --method central --peers {PEERS} --iterations 1 --step-size 4 --clip 0.4 --sigma 0.5 --seeds 1 --no-report",
                path.display()
            ));
            let parameters = number(&found, "/parameters") as usize;
            (0..parameters).map(|place| number(&found, &format!("/model/{place}"))).collect()
        };
        let (before, after) = (model(None), model(Some(case.wild)));
        assert_eq!(before.len(), after.len(), "{name}");
        let moved: f64 = before.iter().zip(&after).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let most = 4.0 * 2.0 * 0.4 / PEERS as f64;
        assert!(moved > 0.0 && moved <= most * (1.0 + 1e-9), "{name}: {moved} of {most}");
    }
}

#[test]
fn what_would_have_to_be_read_off_the_rows_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str| {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let path = folder.path().join(name);
        write(&path, case.header, case.row, None);
        format!("run learning --peers {PEERS} --seeds 1 --no-report --data {}", path.display())
    };
    let named = written("named.csv");
    refused(
        &format!("{named} --positive m"),
        &["`range` is missing for columns u, v", "--range u=LOW:HIGH", "--norm R"],
    );
    refused(&format!("{named} --positive m --range u=0:1"), &["missing for column v:"]);
    refused(
        &format!("{named} --positive m --range u=0:1 --range v=0:1 --range w=0:1"),
        &["column w", "u, v"],
    );
    refused(&format!("{named} --positive m --range u=0:1 --range v=0:1 --range u=0:2"), &["given twice"]);
    refused(&format!("{named} --norm 5"), &["`positive` is missing", "--classes"]);
    refused(&format!("{named} --norm 5 --objective softmax"), &["`classes` is missing"]);
    refused(&format!("{named} --norm 5 --objective softmax --classes b,m"), &["`label` is y", "b, m"]);
    refused(&format!("{named} --norm 5 --objective squared"), &["`objective` is squared"]);
    refused(&format!("{named} --norm 5 --label-threshold 3"), &["labels are names"]);
    refused(
        &format!("{named} --norm 5 --positive m --split dirichlet:0.5"),
        &["`split` is by label", "--split even"],
    );
    refused(&format!("{named} --norm 5 --positive m --split similarity:0.5"), &["`split` is by label"]);
    refused(&format!("{} --norm 5", written("price.csv")), &["`label` is", "--label-threshold"]);
    refused("run learning --no-report --norm 5", &["--data"]);
    let houses = format!("run learning --no-report --data {}", folder.path().display());
    refused(&houses, &["cal_housing.data"]);
}

#[test]
fn what_is_assumed_is_said_in_every_guarantee() {
    let folder = tempfile::tempdir().unwrap();
    let case = cases().remove(0);
    let path = folder.path().join(case.name);
    write(&path, case.header, case.row, None);
    let file = format!("learning --data {} --norm 9 --positive m --peers {PEERS}", path.display());
    let found = json(&format!("run {file} --seeds 1 --iterations 2 --no-report"));
    let statements = |found: &serde_json::Value| -> Vec<String> {
        found["statements"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    };
    assert!(statements(&found).iter().all(|one| one.ends_with("; proven")), "{found}");
    let limits = found["not_covered"].to_string();
    for limit in ["read off the data", "how many rows", "choices made by looking", "public seed"] {
        assert!(limits.contains(limit), "{limit}: {limits}");
    }
    // A choice by trial on rows that may be private is not paid for.
    let plan = json(&format!("plan {file} --iterations 2 --runs 1"));
    assert_eq!(plan["public_data"], false);
    for row in plan["rows"].as_array().unwrap() {
        let standing = row["standing"]["conditional"].to_string();
        assert!(standing.contains("choice is paid for"), "{row}");
    }
    assert!(plan["computed_without_privacy"].to_string().contains("rows/accuracy"));
    let dealt = json("run learning --peers 16 --split similarity:0.5 --seeds 1 --iterations 2 --no-report");
    assert!(!statements(&dealt).is_empty());
    assert!(statements(&dealt).iter().all(|one| one.contains("proven if labels are public")), "{dealt}");
}
