//! `sottovoce account mechanism`, completions and the manual page, through the real binary.

use crate::common;

use common::{flat, json, number, refused, sottovoce};

const SAMPLED: &str = "account mechanism --gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000";

#[test]
fn the_documented_command_prints_the_documented_document() {
    let result = json(&format!("{SAMPLED} --delta 1e-5"));
    let (lower, upper) = (number(&result, "/epsilon/pld/lower"), number(&result, "/epsilon/pld/upper"));
    // dp-accounting 0.6 says at most 1.5153702481 (pessimistic, spacing 1e-4).
    assert!(1.5153 < lower && lower <= upper && upper <= 1.5153702481, "{result}");
    assert!(number(&result, "/epsilon/rdp/value") > upper && number(&result, "/epsilon/rdp/order") > 1.0);
    for (key, value) in [
        ("adversary", "wire-tapper"),
        ("unit", "record"),
        ("adjacency", "add-remove"),
        ("standing", "proven"),
    ] {
        assert_eq!(result[key], value, "{result}");
    }
}

#[test]
fn people_get_a_statement_that_is_never_rounded_down() {
    let output = sottovoce(SAMPLED).assert().success().get_output().clone();
    let text = flat(&output.stdout);
    assert!(text.contains("epsilon <= 1.51537 at delta = 1e-5 against a wire-tapper"), "{text}");
    assert!(text.contains("one record (add-remove); proven"), "{text}");
}

#[test]
fn every_noise_has_its_options() {
    let epsilon =
        |arguments: &str| number(&json(&format!("account mechanism {arguments}")), "/epsilon/pld/upper");
    // One Laplace release of scale 2 is 1/2-private, and delta buys next to nothing.
    assert!((epsilon("--laplace --scale 2") - 0.4999800).abs() < 1e-6);
    assert!((epsilon("--laplace --scale 2 --adjacency replace") - 0.9999800).abs() < 1e-6);
    assert!((epsilon("--gaussian --noise-multiplier 1") - 4.3771781).abs() < 1e-6);
    assert!((epsilon("--discrete-laplace --scale 1") - 0.9999863).abs() < 1e-6);
    // Finer than its published bound of 3.5761 (with twice the noise: ours is relative to one record's contribution).
    let batches =
        "--gaussian --noise-multiplier 2 --batch 100 --population 10000 --steps 1000 --adjacency replace";
    assert!(epsilon(batches) < 2.2);
    let response = epsilon("--randomized-response --random-probability 0.5 --adjacency replace");
    assert!((response - 3f64.ln()).abs() < 2e-5, "{response}");
    assert!(epsilon("--discrete-gaussian --sigma 5 --steps 100") < 9.9975);
}

#[test]
fn delta_at_an_epsilon_inverts_epsilon_at_a_delta() {
    let result = json(&format!("{SAMPLED} --epsilon 1.5153619"));
    let (low, high) =
        (number(&result, "/delta_at_epsilon/lower"), number(&result, "/delta_at_epsilon/upper"));
    assert!(low <= high && (high - 1e-5).abs() < 1e-10, "{result}");
}

#[test]
fn calibration_gives_noise_that_suffices() {
    let result =
        json("account mechanism --gaussian --sampling-rate 0.01 --steps 1000 --calibrate --epsilon 3");
    let noise = number(&result, "/noise_multiplier");
    assert!(noise <= 0.8135849040 && noise > 0.8135, "{noise}");
    let spent = json(&format!(
        "account mechanism --gaussian --noise-multiplier {noise} --sampling-rate 0.01 --steps 1000"
    ));
    assert!(number(&spent, "/epsilon/pld/upper") <= 3.0, "{spent}");

    let scale =
        number(&json("account mechanism --laplace --steps 4 --calibrate --epsilon 1 --delta 1e-9"), "/scale");
    assert!((3.9..=4.0).contains(&scale), "{scale}");
    let response =
        "account mechanism --randomized-response --adjacency replace --calibrate --epsilon 1 --delta 1e-12";
    let probability = number(&json(response), "/random_probability");
    assert!((probability - 2.0 / (1f64.exp() + 1.0)).abs() < 1e-5, "{probability}");
}

#[test]
fn bad_input_is_refused_with_field_value_and_remedy() {
    let base = "account mechanism --gaussian --noise-multiplier";
    for sigma in ["0", "-1", "NaN", "inf"] {
        refused(&format!("{base} {sigma}"), &["`noise-multiplier` is", "give a finite number"]);
    }
    for rate in ["1.5", "-0.1", "nan"] {
        refused(&format!("{base} 1 --sampling-rate {rate}"), &["`sampling-rate` is", "probability"]);
    }
    for delta in ["1", "2", "NaN", "-1e-5"] {
        refused(&format!("{base} 1 --delta {delta}"), &["`delta` is", "strictly below 1"]);
    }
    refused(&format!("{base} 1 --steps 0"), &["`steps` is 0", "from 1"]);
    for steps in ["1000000001", "18446744073709551615"] {
        refused(&format!("{base} 1 --steps {steps}"), &["`steps` is", "give a number from 1 to 1000000000"]);
    }
    for steps in ["99999999999999999999", "-1", "1.5", "many"] {
        refused(
            &format!("{base} 1 --steps {steps}"),
            &["--steps", "give a whole number from 1 to 1000000000"],
        );
    }
    refused(&format!("{base} 1 --epsilon -1"), &["`epsilon` is -1", "at least 0"]);
    refused(&format!("{base} 1 --adjacency both"), &["both", "`add-remove`, `replace` or `zero-out`"]);
    refused(
        "account mechanism --randomized-response --random-probability 0.5 --batch 1 --population 9",
        &["fixed size", "replace"],
    );
    refused(
        &format!("{base} 1 --batch 101 --population 100 --adjacency replace"),
        &["`batch` is 101", "at most"],
    );
    refused("account mechanism --gaussian", &["`noise-multiplier` is missing"]);
    refused("account mechanism --gaussian --scale 2", &["`scale` is 2", "--noise-multiplier"]);
    refused("account mechanism --noise-multiplier 1", &["--gaussian"]);
    refused("account mechanism --gaussian --calibrate", &["--epsilon"]);
    refused("account mechanism --gaussian --calibrate --epsilon 0", &["`epsilon` is 0"]);
    refused(&format!("{base} 2 --calibrate --epsilon 1"), &["`noise-multiplier` is 2", "remove one"]);
    refused("account mechanism --randomized-response --random-probability 0.5", &["replace"]);
}

#[test]
fn wide_intervals_say_why_and_lower_ends_what_they_bound() {
    let batches =
        "account mechanism --gaussian --noise-multiplier 4 --batch 250 --population 1000 --adjacency replace";
    let result = json(&format!("{batches} --steps 2"));
    assert_eq!(result["lower_end"], "dominating-pair", "{result}");
    assert_eq!(json(batches)["lower_end"], "truth");
    let output = sottovoce(&format!("{batches} --steps 2")).assert().success().get_output().clone();
    let text = flat(&output.stdout);
    assert!(
        text.contains("the true loss may be smaller than a lower end") && text.contains("not covered:"),
        "{text}"
    );

    let flat = "account mechanism --gaussian --noise-multiplier 0.13 --batch 1 --population 100000 --steps 2 \
                --adjacency replace --delta 1.9999e-5";
    let result = json(flat);
    let (lower, upper) = (number(&result, "/epsilon/pld/lower"), number(&result, "/epsilon/pld/upper"));
    assert!(lower <= 45.4318 && 45.4318 <= upper, "{result}");
    if upper - lower > 0.01 * upper {
        assert!(
            result["epsilon"]["pld"]["reason"]
                .as_str()
                .is_some_and(|reason| reason.starts_with("wide because"))
        );
        let output = sottovoce(flat).assert().success().get_output().clone();
        assert!(String::from_utf8(output.stdout).unwrap().contains("note (interval): wide because"));
    }
}

#[test]
fn the_smallest_delta_is_not_nothing() {
    let command = "account mechanism --gaussian --noise-multiplier 1 --epsilon 39";
    assert!(number(&json(command), "/delta_at_epsilon/upper") > 0.0);
    let output = sottovoce(command).assert().success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("delta at epsilon     [0, 2.00000000000e-323]"), "{text}");
}

#[test]
fn corners_have_true_answers() {
    for (arguments, truth) in [
        ("--laplace --scale 0.02 --sampling-rate 0.5 --adjacency replace", 49.99996),
        ("--gaussian --noise-multiplier 0.03 --sampling-rate 0.5 --adjacency replace", 691.52874),
        ("--gaussian --noise-multiplier 0.1 --sampling-rate 0.01 --steps 5000", 3747.88979),
        ("--gaussian --noise-multiplier 3 --sampling-rate 2e-6 --steps 16 --delta 1e-7", 4.17325e-6),
    ] {
        let result = json(&format!("account mechanism {arguments}"));
        let (lower, upper) = (number(&result, "/epsilon/pld/lower"), number(&result, "/epsilon/pld/upper"));
        assert!(lower <= truth * (1.0 + 1e-5) && truth * (1.0 - 1e-5) <= upper, "{arguments}: {result}");
        assert!(upper - lower < 0.01 * upper && number(&result, "/epsilon/rdp/value") >= lower, "{result}");
    }
}

#[test]
fn calibrating_discrete_noise_tries_smaller_parameters_too() {
    let command = "account mechanism --discrete-gaussian --delta 1e-5 --calibrate --epsilon 12";
    let sigma = number(&json(command), "/sigma");
    assert!(sigma < 0.2048 && sigma > 0.2, "{sigma}");
    let output = sottovoce(command).assert().success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("a larger parameter of discrete noise can lose more"), "{text}");
    let sampled = "account mechanism --laplace --sampling-rate 1e-6 --adjacency replace --delta 1e-8 --calibrate --epsilon 3";
    assert!((number(&json(sampled), "/scale") / 0.0595786 - 1.0).abs() < 1e-5);
}

#[test]
fn every_command_has_help_with_an_example() {
    for command in [
        "",
        "run",
        "account",
        "account mechanism",
        "account averaging",
        "account rumor",
        "account walk",
        "audit",
        "audit reconstruct",
        "audit source",
        "run quickstart",
        "run rumor",
        "plan",
        "plan averaging",
        "plan rumor",
        "graph",
        "graph generate",
        "graph inspect",
        "completions",
        "man",
    ] {
        let output = sottovoce(&format!("{command} --help")).assert().success().get_output().clone();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("Example"), "{command}");
    }
}

#[test]
fn completions_and_manual_are_generated() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = sottovoce(&format!("completions {shell}")).assert().success().get_output().clone();
        assert!(String::from_utf8(output.stdout).unwrap().contains("noise-multiplier"), "{shell}");
    }
    let page = String::from_utf8(sottovoce("man").assert().success().get_output().stdout.clone()).unwrap();
    assert!(page.contains(".TH sottovoce") && page.contains("noise") && page.contains("inspect"));
}
