//! Tables as people have them, through the program: labels, categories, missing values, peers by name, headers, formats.

use crate::common;

use std::path::Path;

use common::{flat, json, number, refused, sottovoce};
use serde_json::Value;

const ROWS: usize = 60;
const RUN: &str = "run learning --method central --peers 6 --iterations 3 --sigma 0.5 --seeds 1 --no-report";

fn x(i: usize) -> f64 {
    ((i * 37 + 11) % 41) as f64 / 4.0 - 5.0
}

fn positive(i: usize) -> bool {
    x(i) + x(i + 7) > 0.0
}

/// Writes rows under a header.
fn table(folder: &Path, name: &str, header: &str, row: impl Fn(usize) -> String) -> String {
    let path = folder.join(name);
    let rows: String = (0..ROWS).map(|i| row(i) + "\n").collect();
    std::fs::write(&path, format!("{header}\n{rows}").trim_start()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn model(arguments: &str) -> Value {
    json(&format!("{arguments} --quiet"))["model"].clone()
}

#[test]
fn labels_may_be_numbers_or_names() {
    let folder = tempfile::tempdir().unwrap();
    let with = |no: &str, yes: &str| {
        table(folder.path(), "t.csv", "u,v,y", |i| {
            format!("{},{},{}", x(i), x(i + 7), if positive(i) { yes } else { no })
        })
    };
    let learned =
        |no: &str, yes: &str, more: &str| model(&format!("{RUN} --data {} --norm 9 {more}", with(no, yes)));
    let signs = learned("-1", "1", "");
    assert_eq!(learned("0", "1", ""), signs);
    assert_eq!(learned("0", "1", "--classes 2"), signs);
    assert_eq!(learned("no", "yes", "--positive yes"), signs);
    assert_eq!(learned("no", "yes", "--classes no,yes"), signs);
    assert_eq!(learned("3", "8", "--label-threshold 5"), signs);
    refused(
        &format!("{RUN} --norm 9 --data {}", with("1", "2")),
        &["`label` is 2", "0 or -1, and 1", "--positive N"],
    );
    refused(&format!("{RUN} --norm 9 --data {}", with("no", "yes")), &["`positive` is missing"]);
    // More than two classes that are named are learned as such.
    let three = table(folder.path(), "three.csv", "u,v,y", |i| {
        format!("{},{},{}", x(i), x(i + 7), ["a", "b", "c"][i % 3])
    });
    let found = json(&format!("{RUN} --norm 9 --data {three} --classes a,b,c"));
    assert_eq!(number(&found, "/parameters"), 9.0);
}

#[test]
fn categories_need_a_public_list() {
    let folder = tempfile::tempdir().unwrap();
    let file =
        table(folder.path(), "t.csv", "u,ward,y", |i| format!("{},{},{}", x(i), ["a", "b"][i % 2], i % 2));
    refused(
        &format!("{RUN} --data {file} --range u=-9:9"),
        &["line 2: `ward` is `a`", "--category ward=A,B,...", "--drop ward"],
    );
    refused(
        &format!("{RUN} --data {file} --category ward=a,c --range u=-9:9"),
        &["line 3: `ward` is `b`", "a, c"],
    );
    refused(
        &format!("{RUN} --data {file} --category ward=a,a --range u=-9:9"),
        &["--category", "each value once"],
    );
    refused(
        &format!("{RUN} --data {file} --category word=a,b --range u=-9:9"),
        &["`category` is `word`", "u, ward, y"],
    );
    // Zeros and ones need no range; u, three values and the intercept.
    let found = json(&format!("{RUN} --data {file} --category ward=a,b,c --range u=-9:9"));
    assert_eq!(number(&found, "/parameters"), 5.0);
    let found = json(&format!("{RUN} --data {file} --drop ward --range u=-9:9"));
    assert_eq!(number(&found, "/parameters"), 2.0);
}

#[test]
fn missing_values_are_refused_or_a_public_number() {
    let folder = tempfile::tempdir().unwrap();
    let with = |missing: &str| {
        table(folder.path(), "t.csv", "age,v,y", |i| {
            let age = if i == 3 { missing.to_owned() } else { x(i).to_string() };
            format!("{age},{},{}", x(i + 7), i % 2)
        })
    };
    let run = |missing: &str| format!("{RUN} --norm 9 --data {}", with(missing));
    for missing in ["", "NA", "?", "nan"] {
        refused(&run(missing), &["line 5: `age` is missing", "--missing zero"]);
    }
    assert_eq!(model(&format!("{} --missing zero", run("NA"))), model(&run("0")));
    assert_eq!(model(&format!("{} --missing -2.5", run("?"))), model(&run("-2.5")));
    refused(&format!("{} --missing mean", run("NA")), &["--missing", "refuse, zero, or a public number"]);
}

#[test]
fn peers_may_be_named_by_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["north", "south", "west"];
    let file = table(folder.path(), "t.csv", "hospital,u,v,y", |i| {
        format!("{},{},{},{}", names[i * i % 3 % 2 + i % 2], x(i), x(i + 7), i % 2)
    });
    let run = "run learning --iterations 2 --sigma 0.5 --seeds 1 --no-report --norm 9";
    let named = format!("{run} --data {file} --peer-column hospital");
    let found = json(&format!("{named} --method central"));
    assert_eq!(number(&found, "/peers"), 3.0);
    assert_eq!(found["names"], serde_json::json!(["north", "west", "south"]));
    let shown =
        sottovoce(&format!("{named} --method central")).assert().success().get_output().stdout.clone();
    assert!(String::from_utf8(shown).unwrap().contains("north, west, south"));
    refused(&format!("{named} --peers 3"), &["--peer-column", "cannot be used with"]);
    refused(&format!("{named} --rows 3"), &["--peer-column", "cannot be used with"]);
    // Peers follow the graph that names them, whatever the order of its lines.
    let graph = |text: &str| {
        let path = folder.path().join("g.txt");
        std::fs::write(&path, text).unwrap();
        format!("{named} --method gossip --graph {}", path.display())
    };
    assert_eq!(
        json(&graph("west south\nsouth north\n"))["names"],
        serde_json::json!(["west", "south", "north"])
    );
    refused(&graph("west south\nsouth east\n"), &["`peer` is `north`", "no node of this name"]);
    refused(&graph("west south\nsouth north\nnorth east\n"), &["`peer` is `east`", "no row belongs"]);
    refused(&graph("0 1\n1 2\n"), &["`peer` is `north`"]);
    refused(
        &format!("{run} --data {file} --peer-column clinic"),
        &["`peer-column` is `clinic`", "hospital, u, v, y"],
    );
}

/// One peer's rows, replaced by anything, leave the names, places and rows of all others alone.
#[test]
fn a_named_peer_moves_a_step_by_no_more_than_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let learned = |wild: bool| -> Vec<f64> {
        let file = table(folder.path(), "t.csv", "hospital,u,ward,y", |i| match i % 4 {
            2 if wild => "h2,1e300,b,1".to_owned(),
            peer => format!(
                "h{peer},{},{},{}",
                if i == 5 { "NA".into() } else { x(i).to_string() },
                ["a", "b"][i / 4 % 2],
                i / 4 % 2
            ),
        });
        let found = json(&format!(
            "run learning --data {file} --peer-column hospital --category ward=a,b,c --missing zero --norm 9 --method central --iterations 1 --step-size 4 --clip 0.4 \
             --sigma 0.5 --seeds 1 --no-report"
        ));
        found["model"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let (before, after) = (learned(false), learned(true));
    let moved: f64 = before.iter().zip(&after).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let most = 4.0 * 2.0 * 0.4 / 4.0;
    assert!(moved > 0.0 && moved <= most * (1.0 + 1e-9), "{moved} of {most}");
}

#[test]
fn headers_and_indices_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let plain = table(folder.path(), "plain.csv", "", |i| format!("{},{},{}", x(i), x(i + 7), i % 2));
    let numbered =
        table(folder.path(), "numbered.csv", "0,1,2", |i| format!("{},{},{}", x(i), x(i + 7), i % 2));
    let run = |file: &str| format!("{RUN} --norm 9 --data {file}");
    refused(&run(&numbered), &["line 1: the fields are 0 to 2", "--header yes"]);
    assert_eq!(model(&format!("{} --header yes", run(&numbered))), model(&run(&plain)));
    assert_ne!(model(&format!("{} --header no --positive 1", run(&numbered))), model(&run(&plain)));
    let pandas =
        table(folder.path(), "pandas.csv", ",u,v,y", |i| format!("{i},{},{},{}", x(i), x(i + 7), i % 2));
    assert_eq!(model(&run(&pandas)), model(&run(&plain)));
    let said = |file: &str| flat(&sottovoce(&run(file)).assert().success().get_output().stderr);
    assert!(
        said(&pandas).contains("note: the first column has no name: it is taken for an index and left out")
    );
    let counted = table(folder.path(), "counted.tsv", "id\tu\ty", |i| format!("{i}\t{}\t{}", x(i), i % 2));
    assert!(
        said(&counted).contains("note: `id` counts the rows: if it is an index, leave it out (--drop id)")
    );
    let ragged =
        table(folder.path(), "ragged.csv", "u;v;y", |i| if i == 7 { "1;2".into() } else { "1;2;1".into() });
    refused(&run(&ragged), &["line 9: 2 fields (separated by semicolons)", "the first line has 3"]);
    let blanks = table(folder.path(), "blanks.txt", "u v y", |i| format!("{} 1 1", x(i)));
    refused(&run(&blanks), &["line 1", "separated by commas, semicolons or tabs"]);
}

#[test]
fn numbers_are_measured_by_their_errors() {
    let folder = tempfile::tempdir().unwrap();
    let file =
        table(folder.path(), "t.csv", "u,v,price", |i| format!("{},{},{}", x(i), x(i + 7), x(i) / 4.0 + 1.0));
    let run = format!(
        "run learning --data {file} --objective squared --norm 9 --peers 4 --method central --iterations 60 --step-size 0.5 --clip 4 --sigma 0 --seeds 2"
    );
    let found = json(&format!("{run} --no-report"));
    let (rmse, r2) = (number(&found, "/rmse/mean"), number(&found, "/r_squared/mean"));
    assert!(rmse > 0.0 && rmse < 0.3 && r2 > 0.8 && r2 < 1.0, "{found}");
    assert!(found.get("accuracy").is_none() && found.get("accuracy_of_this_run").is_none());
    assert!(found["trivial"].get("accuracy").is_none() && number(&found, "/trivial/rmse") > rmse);
    assert!(number(&found, "/curve/0/rmse") > 0.0 && number(&found, "/without_noise/r_squared") == r2);
    assert!(found["computed_without_privacy"].to_string().contains("\"rmse\""));
    let out = folder.path().join("report");
    let text =
        sottovoce(&format!("{run} --out {}", out.display())).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("RMSE *") && text.contains("R² *") && !text.contains("accuracy"), "{text}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("R² (without privacy)") && !page.contains("classified right"));
    // One class is as good as another, but an accuracy is none of a number's business.
    let plan = json(&format!(
        "plan learning --data {file} --objective squared --norm 9 --peers 4 --iterations 2 --runs 1"
    ));
    assert!(number(&plan, "/rows/0/r_squared/mean") >= number(&plan, "/rows/1/r_squared/mean"));
}

#[test]
fn no_hash_of_private_data_is_shown_and_formats_are_known_by_the_help() {
    let folder = tempfile::tempdir().unwrap();
    let file = table(folder.path(), "t.csv", "u,y", |i| format!("{},{}", i % 7, i % 2));
    let found = json(&format!("{RUN} --norm 9 --data {file}"));
    assert_eq!(found["data"][0]["file"], "t.csv");
    // Whoever knows all rows but one would find that one from a hash by guessing.
    assert!(!found.to_string().contains("22f9dc1a10713fddcaee980f7a20bbe9e0bde2e9a0d1e76846d5615f85451144"));
    assert!(found.get("data_sha256").is_none() && found["data"][0].get("sha256").is_none(), "{found}");
    let help = sottovoce("run learning --help").assert().success().get_output().stdout.clone();
    let help = String::from_utf8(help).unwrap();
    for word in ["idx3-ubyte", "--peer-column", "--missing", "--category", "--header"] {
        assert!(help.contains(word), "{word}");
    }
}

/// Numbers are learned whatever their unit, once their public bounds are known; errors are told in that unit.
#[test]
fn labels_that_are_numbers_have_public_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let prices = |unit: f64| {
        table(folder.path(), &format!("prices{unit}.csv"), "u,v,y", |i| {
            format!("{},{},{}", x(i), x(i + 7), unit * (200.0 + 20.0 * x(i) + 10.0 * x(i + 7)))
        })
    };
    let learn = |unit: f64, more: &str| {
        let data = prices(unit);
        json(&format!(
            "run learning --method central --peers 6 --iterations 80 --step-size 1 --clip 2 --sigma 0.01 --seeds 1 --no-report --norm 9 --data {data} {more}"
        ))
    };
    let (euros, cents) = (learn(1.0, "--label-bounds 0:400"), learn(100.0, "--label-bounds 0,40000"));
    assert!(number(&euros, "/r_squared/mean") > 0.9, "{euros}");
    assert_eq!(euros["model"], cents["model"]);
    assert_eq!(euros["label_bounds"], serde_json::json!([0.0, 400.0]));
    let [rmse, hundredfold] = [&euros, &cents].map(|found| number(found, "/rmse/mean"));
    assert!((hundredfold - 100.0 * rmse).abs() < 1e-9 * hundredfold && rmse > 0.1, "{rmse} {hundredfold}");
    let plain = learn(100.0, "--objective squared");
    assert!(number(&plain, "/r_squared/mean") < 0.0 && plain["label_bounds"].is_null(), "{plain}");
    // What lies outside is moved inside, row by row.
    let narrow = learn(1.0, "--label-bounds 190:210");
    assert!(number(&narrow, "/rmse/mean") <= 20.0, "{narrow}");
    for (more, words) in [
        ("--label-bounds 5:1", ["lower one first", "--label-bounds"]),
        ("--label-bounds 0:1 --classes 2", ["--label-bounds", "--classes"]),
        ("--label-bounds 0:1 --objective logistic", ["`label-bounds` is 0:1", "--objective squared"]),
    ] {
        refused(&format!("{RUN} --norm 9 --data {} {more}", prices(1.0)), &words);
    }
    refused(&format!("{RUN} --label-bounds 0:1"), &["--data"]);
}
