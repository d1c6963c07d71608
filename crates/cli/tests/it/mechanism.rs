//! `sottovoce account mechanism` beyond a single epsilon: delta 0, nobody, lists, batches, groups, tables, plots and
//! calibration, through the real binary.

use crate::common;

use common::{flat, json, number, refused, sottovoce};
use serde_json::Value;

fn account(arguments: &str) -> Value {
    json(&format!("account mechanism {arguments}"))
}

fn upper(arguments: &str) -> f64 {
    number(&account(arguments), "/epsilon/pld/upper")
}

fn text(arguments: &str) -> String {
    let output = sottovoce(&format!("account mechanism {arguments}")).assert().success().get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

fn file(name: &str, content: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn a_delta_without_digits_is_refused() {
    for noise in ["--laplace --scale 2", "--discrete-laplace --scale 2", "--gaussian --noise-multiplier 1"] {
        for delta in ["5e-324", "1e-320", "2e-308"] {
            refused(
                &format!("account mechanism {noise} --delta {delta}"),
                &["`delta` is", "at least 2.3e-308"],
            );
        }
    }
    assert!((upper("--laplace --scale 2 --delta 2.3e-308") - 0.5).abs() < 1e-9);
}

#[test]
fn at_delta_zero_there_is_the_largest_loss() {
    for (arguments, epsilon) in [
        ("--laplace --scale 2 --steps 10 --adjacency replace", 10.0),
        ("--laplace --scale 0.25", 4.0),
        ("--discrete-laplace --scale 4 --contribution 2", 0.5),
    ] {
        let result = account(&format!("{arguments} --delta 0"));
        assert_eq!(number(&result, "/epsilon/pld/lower"), epsilon, "{result}");
        assert_eq!(number(&result, "/epsilon/pld/upper"), epsilon, "{result}");
        assert!(result["statement"].as_str().unwrap().contains("at delta = 0 against"), "{result}");
    }
    let odds = 1f64.exp();
    let sampled = upper("--laplace --scale 1 --sampling-rate 0.25 --delta 0");
    assert!((sampled - (0.75 + 0.25 * odds).ln()).abs() < 1e-14 && sampled >= (0.75 + 0.25 * odds).ln());
    let response = upper("--randomized-response --random-probability 0.5 --adjacency replace --delta 0");
    assert!((response - 3f64.ln()).abs() < 1e-14);
}

#[test]
fn a_loss_without_bound_is_called_that() {
    for noise in ["--gaussian --noise-multiplier 1000", "--discrete-gaussian --sigma 5"] {
        for sampling in ["", "--sampling-rate 0.001", "--steps 7"] {
            let result = account(&format!("{noise} {sampling} --delta 0"));
            assert!(result["epsilon"]["pld"]["upper"].is_null(), "{result}");
            assert!(result["epsilon"]["infinite"].as_str().unwrap().contains("no bound"), "{result}");
            let shown = text(&format!("{noise} {sampling} --delta 0"));
            assert!(
                shown.contains("no finite epsilon holds at delta = 0 (add-remove): the losses of"),
                "{shown}"
            );
            assert!(!shown.contains("epsilon <="), "{shown}");
        }
    }
}

#[test]
fn nobody_loses_nothing() {
    for sampling in ["--sampling-rate 0", "--batch 0 --population 10", "--rows 10 --batch-size 0"] {
        for delta in ["0", "1e-14", "0.5"] {
            let result = account(&format!(
                "--gaussian --noise-multiplier 0.01 {sampling} --steps 1000000 --delta {delta} --epsilon 0"
            ));
            assert_eq!(number(&result, "/epsilon/pld/upper"), 0.0, "{result}");
            assert_eq!(number(&result, "/delta_at_epsilon/upper"), 0.0, "{result}");
            assert_eq!(result["standing"], "proven", "{result}");
            assert_eq!(result["mechanism"]["sampling"], "nobody", "{result}");
        }
    }
    refused(
        "account mechanism --gaussian --sampling-rate 0 --calibrate --epsilon 1",
        &["`sampling-rate`", "nothing is lost"],
    );
}

#[test]
fn a_list_composes_as_its_entries_do() {
    let entries = r#"[
        {"gaussian": {"noise_multiplier": 1.1}, "sampling_rate": 0.01, "steps": 400},
        {"gaussian": {"noise_multiplier": 1.1}, "sampling_rate": 0.01, "steps": 600}
    ]"#;
    let (_folder, path) = file("events.json", entries);
    let listed = account(&format!("--events {path}"));
    let single = account("--gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000");
    assert_eq!(listed["epsilon"], single["epsilon"]);
    assert_eq!(listed["events"].as_array().unwrap().len(), 2);
    assert_eq!(listed["standing"], "proven");
}

#[test]
fn unlike_releases_are_sharper_together_than_one_by_one() {
    let entries = r#"[
        {"gaussian": {"noise_multiplier": 1.1}, "sampling_rate": 0.01, "steps": 1000},
        {"laplace": {"scale": 2}},
        {"discrete_laplace": {"scale": 3}, "sampling_rate": 0.2, "steps": 4},
        {"gaussian": {"noise_multiplier": 9}, "batch": 5, "population": 50, "steps": 20},
        {"epsilon": 0.5, "delta": 1e-6, "steps": 3},
        {"gaussian": {"noise_multiplier": 1}, "sampling_rate": 0}
    ]"#;
    let (_folder, path) = file("events.json", entries);
    let result = account(&format!("--events {path} --delta 1e-5"));
    let (low, high) = (number(&result, "/epsilon/pld/lower"), number(&result, "/epsilon/pld/upper"));
    let naive = upper("--gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000 --delta 3e-6")
        + 0.5
        + upper("--discrete-laplace --scale 3 --sampling-rate 0.2 --steps 4 --delta 0")
        + upper("--gaussian --noise-multiplier 9 --batch 5 --population 50 --steps 20 --delta 3e-6")
        + 1.5;
    assert!(low > 2.0 && high < naive && high - low < 1e-3 * high, "{low} {high} {naive}");
    assert!(result["standing"]["conditional"][0].as_str().unwrap().contains("given epsilon"), "{result}");
    assert!(result["zcdp"]["none"].is_string() && result["renyi"]["none"].is_string(), "{result}");
    let short = account(&format!("--events {path} --delta 2e-6"));
    assert!(short["epsilon"]["infinite"].as_str().unwrap().contains("deltas"), "{short}");
}

/// What is inside the best of several runs is looked at as what is outside.
#[test]
fn the_best_of_several_runs_is_not_covered_for_what_one_run_is_not() {
    let best = |inner: &str| {
        format!(r#"[{{"best_of": {{"releases": [{inner}], "mean": 3, "number": "poisson"}}}}]"#)
    };
    let not_covered = |inner: &str, options: &str| {
        let (_folder, path) = file("events.json", &best(inner));
        let (inside, outside) = (account(&format!("--events {path} {options}")), {
            let (_folder, path) = file("events.json", &format!("[{inner}]"));
            account(&format!("--events {path} {options}"))
        });
        assert_eq!(inside["not_covered"], outside["not_covered"], "{inner}");
        assert_eq!(inside["standing"], outside["standing"], "{inner}");
        inside["not_covered"].as_array().unwrap().len()
    };
    let plain = not_covered(r#"{"laplace": {"scale": 2}}"#, "");
    for inner in [
        r#"{"laplace": {"scale": 2}, "sampling_rate": 0.1}"#,
        r#"{"gaussian": {"noise_multiplier": 2}, "batch": 2, "population": 9}"#,
        r#"{"gaussian": {"noise_multiplier": 2}, "sampling_rate": 0.1, "rows": 50, "most": 9}"#,
        r#"{"epsilon": 0.5, "sampling_rate": 0.1}"#,
        r#"{"zcdp": {"rho": 0.1}, "sampling_rate": 0.1}"#,
        r#"{"discrete_gaussian": {"sigma": 3, "length": 1.5}, "sampling_rate": 0.1}"#,
    ] {
        assert!(not_covered(inner, "") > plain, "{inner}");
    }
    let (_folder, path) =
        file("events.json", &best(r#"{"gaussian": {"noise_multiplier": 8}, "batch": 2, "population": 4}"#));
    refused(
        &format!("account mechanism --events {path} --group 3"),
        &["`group` is 3", "no longer fill a batch"],
    );
}

/// A given epsilon is taken for true, on a sample too.
#[test]
fn what_is_given_is_a_condition_on_samples_too() {
    let (_folder, path) = file("events.json", r#"[{"epsilon": 1, "sampling_rate": 0.1}]"#);
    let result = account(&format!("--events {path}"));
    assert!(result["standing"]["conditional"][0].as_str().unwrap().contains("given epsilon"), "{result}");
    // Zeroed, a record is drawn as before: then sampling says nothing.
    for entry in [
        r#"{"epsilon": 1, "sampling_rate": 0.1}"#,
        r#"{"exponential": {"epsilon": 1}, "sampling_rate": 0.1}"#,
        r#"{"zcdp": {"rho": 0.1}, "sampling_rate": 0.1}"#,
    ] {
        let (_folder, path) = file("events.json", &format!("[{entry}]"));
        refused(
            &format!("account mechanism --events {path} --adjacency zero-out"),
            &["entry 1", "after sampling"],
        );
    }
}

#[test]
fn a_batch_of_everybody_is_known_where_rows_are_replaced() {
    let base = "--gaussian --noise-multiplier 4";
    let whole = format!("{base} --batch 9 --population 9");
    refused(
        &format!("account mechanism {whole}"),
        &["batch of 9 out of 9", "leave batch and population out"],
    );
    for adjacency in ["replace", "zero-out"] {
        let (found, plain) = (
            upper(&format!("{whole} --adjacency {adjacency}")),
            upper(&format!("{base} --adjacency {adjacency}")),
        );
        assert_eq!(found, plain);
    }
}

#[test]
fn lists_are_refused_with_entry_field_value_and_remedy() {
    for (content, words) in [
        (
            r#"[{"laplace": {"scale": 2}}, {"laplace": {"scale": -1}}]"#,
            ["entry 2: `scale` is -1", "finite number"],
        ),
        (r#"[{"laplace": {"scale": 2}, "step": 3}]"#, ["entry 1: `step` is 3", "known are"]),
        (r#"[{"laplace": {"scale": 2}, "steps": 0}]"#, ["entry 1: `steps` is 0", "from 1"]),
        (r#"[{"randomized_response": {"random_probability": 0.5}}]"#, ["entry 1", "`replace`"]),
        (r#"[{"laplace": {"scale": 2}, "steps": 1, "steps": 2}]"#, ["`steps` is given twice", "once"]),
        ("{}", ["not a list", "write ["]),
    ] {
        let (_folder, path) = file("events.json", content);
        refused(&format!("account mechanism --events {path}"), &["`events` is", words[0], words[1]]);
    }
    refused(
        "account mechanism --events nowhere.json",
        &["`events` is nowhere.json", "there is no such file"],
    );
    refused("account mechanism --events a.json --steps 3", &["--steps"]);
    refused("account mechanism --events a.json --gaussian", &["--gaussian"]);
    refused("account mechanism --events a.json --calibrate --epsilon 1", &["--calibrate"]);
}

#[test]
fn epochs_and_rows_are_a_rate_and_steps() {
    let passes = account("--gaussian --noise-multiplier 1.1 --rows 60000 --batch-size 256 --epochs 15");
    assert_eq!(number(&passes, "/steps"), 3516.0);
    assert_eq!(number(&passes, "/mechanism/rate"), 256.0 / 60000.0);
    assert_eq!(passes["epochs"]["rounded_up"], true);
    let whole = account("--gaussian --noise-multiplier 1.1 --rows 1000 --batch-size 10 --epochs 2");
    assert_eq!((number(&whole, "/steps"), &whole["epochs"]["rounded_up"]), (200.0, &Value::Bool(false)));
    let shown = text("--gaussian --noise-multiplier 1.1 --rows 1000 --batch-size 300 --epochs 0.5");
    assert!(shown.contains("2 x gaussian") && shown.contains("rounded up"), "{shown}");
    assert!(shown.contains("not covered:") && shown.contains("shuffled"), "{shown}");
    let base = "account mechanism --gaussian --noise-multiplier 1";
    refused(&format!("{base} --rows 10 --batch-size 11"), &["`batch-size` is 11", "at most the rows, 10"]);
    refused(&format!("{base} --rows 10 --batch-size 0 --epochs 1"), &["`batch-size` is 0", "at least 1"]);
    refused(&format!("{base} --rows 10 --batch-size 2 --epochs -1"), &["`epochs` is -1", "from 1 to"]);
    refused(&format!("{base} --rows 10 --batch-size 2 --epochs nan"), &["`epochs` is NaN", "from 1 to"]);
    refused(&format!("{base} --rows 10"), &["`rows` is 10", "--batch-size"]);
    refused(&format!("{base} --population 10"), &["`population` is 10", "--batch"]);
    refused(&format!("{base} --rows 10 --batch-size 2 --epochs 1 --steps 3"), &["--steps"]);
}

#[test]
fn fixed_batches_know_both_adjacencies() {
    let base = "--gaussian --noise-multiplier 4 --batch 256 --population 60000 --steps 1000";
    let added = account(base);
    let halved = upper("--gaussian --noise-multiplier 2 --rows 60000 --batch-size 256 --steps 1000");
    assert!((number(&added, "/epsilon/pld/upper") - halved).abs() < 1e-9 * halved, "{added}");
    assert_eq!(added["lower_end"], "truth");
    assert!(
        added["not_covered"]
            .as_array()
            .unwrap()
            .iter()
            .any(|what| what.as_str().unwrap().contains("fewer rows"))
    );
    let replaced = account(&format!("{base} --adjacency replace"));
    assert_eq!(replaced["lower_end"], "dominating-pair");
    assert!(
        flat(text(&format!("{base} --adjacency replace")).as_bytes())
            .contains("the true loss may be smaller than a lower end")
    );
}

#[test]
fn groups_name_their_route() {
    let exact = account("--gaussian --noise-multiplier 8 --steps 4 --group 2");
    assert_eq!(exact["epsilon"], account("--gaussian --noise-multiplier 4 --steps 4")["epsilon"]);
    assert_eq!(
        (&exact["group"]["route"], &exact["unit"]["records"]),
        (&"exact".into(), &2.into()),
        "{exact}"
    );
    let pure = upper("--laplace --scale 6 --group 3 --delta 0");
    assert_eq!(pure, 0.5);
    let sampled = "--gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000";
    let together = account(&format!("{sampled} --group 3"));
    assert_eq!(together["group"]["route"], "exact");
    let (one, three) = (upper(sampled), number(&together, "/epsilon/pld/upper"));
    assert!(three > 3.0 * one && three < 4.0 * one, "{three} {one}");
    let batches = "--gaussian --noise-multiplier 4 --batch 5 --population 50 --steps 20 --group 3";
    assert_eq!(account(batches)["group"]["route"], "chained");
    assert!(text(&format!("{sampled} --group 3")).contains("any 3 records together"));
    refused("account mechanism --gaussian --noise-multiplier 1 --group 0", &["`group` is 0", "from 1"]);
}

#[test]
fn other_currencies_stand_beside_epsilon() {
    let result = account("--gaussian --noise-multiplier 2 --steps 4");
    assert!((number(&result, "/zcdp/rho") - 0.5).abs() < 1e-14 && number(&result, "/zcdp/rho") >= 0.5);
    assert!((number(&result, "/gdp/mu") - 1.0).abs() < 1e-14 && number(&result, "/gdp/mu") >= 1.0);
    assert_eq!(result["gdp"]["kind"], "exact");
    let renyi = result["renyi"].as_array().unwrap();
    assert!(renyi.len() >= 6);
    for point in renyi {
        let (order, loss) = (number(point, "/order"), number(point, "/loss"));
        assert!((loss / (0.5 * order) - 1.0).abs() < 1e-13 && loss >= 0.5 * order, "{point}");
    }
    let discrete = account("--discrete-gaussian --sigma 2");
    assert!(discrete["gdp"]["none"].as_str().unwrap().contains("no Gaussian is known"), "{discrete}");
    let shown = text("--gaussian --noise-multiplier 2 --steps 4");
    for words in ["Rényi order", "zCDP                 rho <= 0.5", "mu <= 1.0000", "(exact)", "not covered:"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn tables_agree_with_single_answers() {
    let base = "--gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000";
    let table = account(&format!("{base} --table"));
    let at = table["table"]["epsilon_by_delta"].as_array().unwrap();
    let row = at.iter().find(|row| number(row, "/delta") == 1e-5).unwrap();
    let alone = upper(base);
    assert!((number(row, "/epsilon") / alone - 1.0).abs() < 1e-6, "{row} {alone}");
    for row in table["table"]["delta_by_epsilon"].as_array().unwrap() {
        let alone = account(&format!("{base} --epsilon {}", number(row, "/epsilon")));
        assert_eq!(row["delta"], alone["delta_at_epsilon"], "{row}");
    }
    let errors = table["table"]["trade_off"].as_array().unwrap();
    for pair in errors.windows(2) {
        assert!(number(&pair[0], "/type_two") > number(&pair[1], "/type_two"));
        let sum = number(&pair[0], "/type_one") + number(&pair[0], "/type_two");
        // The advantage of any test is at most delta at epsilon 0.
        assert!(sum >= 1.0 - number(&table, "/table/delta_by_epsilon/0/delta/upper") - 1e-12 && sum <= 1.0);
    }
    let shown = text("--laplace --scale 1 --table");
    for words in ["delta at most", "epsilon at most", "type II at least"] {
        assert!(shown.contains(words), "{shown}");
    }
}

#[test]
fn plots_are_written_once_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let base = "--laplace --scale 1 --steps 3";
    account(&format!("{base} --plot {}", path("curve.svg")));
    let svg = std::fs::read_to_string(path("curve.svg")).unwrap();
    assert!(
        svg.starts_with("<?xml") && svg.contains("type II error at least") && svg.contains("delta at most")
    );
    account(&format!("{base} --plot {}", path("curve.png")));
    assert!(std::fs::read(path("curve.png")).unwrap().starts_with(b"\x89PNG"));
    let again = format!("account mechanism --laplace --scale 2 --plot {}", path("curve.svg"));
    refused(&again, &["`plot` is", "exists", "--overwrite"]);
    assert_eq!(std::fs::read_to_string(path("curve.svg")).unwrap(), svg);
    sottovoce(&format!("{again} --overwrite")).assert().success();
    assert_ne!(std::fs::read_to_string(path("curve.svg")).unwrap(), svg);
    refused(
        &format!("account mechanism {base} --plot {}", path("curve.pdf")),
        &["`plot` is", ".svg or .png"],
    );
    refused(
        &format!("account mechanism {base} --plot {}", path("no/curve.svg")),
        &["`plot` is", "no folder"],
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no drafts are left behind");
}

#[test]
fn the_most_steps_and_the_largest_batch_are_checked_at_both_sides() {
    let base = "--gaussian --noise-multiplier 1";
    let found = account(&format!("{base} --sampling-rate 0.01 --calibrate-steps --epsilon 3"));
    let steps = number(&found, "/steps") as u64;
    let at = |steps: u64| account(&format!("{base} --sampling-rate 0.01 --steps {steps}"));
    assert!(
        number(&at(steps), "/epsilon/pld/upper") <= 3.0 && number(&at(steps + 1), "/epsilon/pld/lower") > 3.0
    );
    assert_eq!(found["epsilon"], at(steps)["epsilon"]["pld"]);
    assert_eq!(found["one_more"], at(steps + 1)["epsilon"]["pld"]);

    let found = account(&format!("{base} --rows 60000 --steps 1000 --calibrate-batch --epsilon 3"));
    let size = number(&found, "/batch_size") as u64;
    let at = |size: u64| account(&format!("{base} --rows 60000 --batch-size {size} --steps 1000"));
    assert!(
        number(&at(size), "/epsilon/pld/upper") <= 3.0 && number(&at(size + 1), "/epsilon/pld/lower") > 3.0
    );

    let found = account(&format!("{base} --population 500 --steps 10 --calibrate-batch --epsilon 3"));
    let size = number(&found, "/batch") as u64;
    let at = |size: u64| account(&format!("{base} --population 500 --batch {size} --steps 10"));
    assert!(
        number(&at(size), "/epsilon/pld/upper") <= 3.0 && number(&at(size + 1), "/epsilon/pld/lower") > 3.0
    );

    // Where even everybody at every step is within the target, there is nothing beyond.
    let all = account("--gaussian --noise-multiplier 100 --rows 50 --steps 2 --calibrate-batch --epsilon 3");
    assert_eq!((number(&all, "/batch_size"), &all["one_more"]), (50.0, &Value::Null));
    let pure = account("--laplace --scale 4 --calibrate-steps --epsilon 3 --delta 0");
    assert_eq!(number(&pure, "/steps"), 12.0);

    let base = "account mechanism --gaussian --noise-multiplier 1 --epsilon 3";
    refused(&format!("{base} --calibrate-steps --steps 4"), &["`steps` is 4", "remove one"]);
    refused(&format!("{base} --calibrate-batch --steps 4"), &["`population` is missing", "--rows"]);
    refused(
        &format!("{base} --calibrate-batch --rows 9 --batch-size 3"),
        &["`batch-size` is 3", "remove one"],
    );
    refused(&format!("{base} --calibrate-batch --calibrate-steps"), &["--calibrate-steps"]);
    let little = "account mechanism --gaussian --noise-multiplier 0.5 --calibrate-steps --epsilon 0.1";
    refused(little, &["`epsilon` is 0.1", "not even 1", "more noise"]);
}

#[test]
fn calibration_says_what_it_found_and_no_more() {
    let pure = account("--laplace --steps 3 --calibrate --epsilon 1 --delta 0");
    let scale = number(&pure, "/scale");
    assert!((3.0..3.00001).contains(&scale) && number(&pure, "/epsilon/upper") <= 1.0, "{pure}");
    refused(
        "account mechanism --gaussian --calibrate --epsilon 1 --delta 0",
        &["`delta` is 0", "no noise is enough"],
    );
    let group = account("--gaussian --steps 3 --calibrate --epsilon 1 --group 4");
    let one = account("--gaussian --steps 3 --calibrate --epsilon 1");
    let ratio = number(&group, "/noise_multiplier") / number(&one, "/noise_multiplier");
    assert!((ratio - 4.0).abs() < 1e-5, "{ratio}");
    assert!(one["not_covered"].is_array() && one["standing"] == "proven", "{one}");
}

#[test]
fn help_shows_a_list_of_releases() {
    let shown = text("--help");
    assert!(
        shown.contains("--events releases.json") && shown.contains("\"noise_multiplier\": 1.1"),
        "{shown}"
    );
}
