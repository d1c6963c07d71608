//! `sottovoce plan averaging`, through the real binary.

use crate::common;

use common::{json, number, refused, sottovoce};
use serde_json::Value;

fn chosen(plan: &Value) -> &Value {
    &plan["rows"][plan["chosen"].as_u64().unwrap() as usize]
}

#[test]
fn a_plan_can_be_accounted_for_with_the_numbers_it_prints() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.txt");
    let file = file.to_str().unwrap();
    sottovoce(&format!(
        "graph generate --family random-regular --peers 20 --degree 3 --connected --out {file}"
    ))
    .assert()
    .success();
    let plan = json(&format!("plan averaging --graph {file} --target-far --epsilon 1 --delta 1e-6"));
    let row = chosen(&plan);
    assert!(row["protocol"] == "relay-gossip" || row["protocol"] == "accelerated-gossip", "{row}");
    let (sigma, tau) = (number(row, "/sigma"), number(row, "/tau"));
    let bound = number(&plan, "/target/far");
    for observer in 0..20 {
        let account = json(&format!(
            "account averaging --graph {file} --weights metropolis-plus-one --steps {} --observers {observer} \
             --relay-noise {} --sigma {sigma}",
            row["steps"],
            tau / sigma
        ));
        let (losses, hops) =
            (account["leakage"].as_array().unwrap(), account["distance"].as_array().unwrap());
        for (loss, hops) in losses.iter().zip(hops) {
            let far = hops.as_u64().unwrap() >= 2;
            assert!(!far || loss.as_f64().unwrap() / (sigma * sigma) <= bound, "{observer}: {loss}");
        }
    }
    // Between the two baselines.
    assert!(number(row, "/error_over_local") < 1.0 && number(row, "/error_over_central") > 1.0);
    assert!(number(&plan, "/verified/far") <= bound);
}

#[test]
fn people_get_a_table_with_a_mark_and_a_reason() {
    let output = sottovoce("plan averaging --peers 16 --target-far --epsilon 1")
        .assert()
        .success()
        .get_output()
        .clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.stderr.is_empty());
    assert_eq!(text.lines().filter(|line| line.starts_with('>')).count(), 1, "{text}");
    for word in [
        "hypercube(dimension=4)",
        "relay gossip",
        "randomised gossip",
        "butterfly",
        "local DP",
        "central DP",
        "least predicted error",
        "guarantee for nobody",
        "wire-tapper",
        "proven",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn the_same_seed_gives_the_same_plan() {
    let once = json("plan averaging --peers 12 --target-mean 0.1 --seed 3");
    assert_eq!(once, json("plan averaging --peers 12 --target-mean 0.1 --seed 3"));
    assert_eq!(once["peers"], 12);
    let families: Vec<_> =
        once["rows"].as_array().unwrap().iter().map(|row| row["graph"].to_string()).collect();
    assert!(!families.iter().any(|name| name.contains("hypercube")), "{families:?}");
}

#[test]
fn several_targets_hold_together() {
    let plan =
        json("plan averaging --peers 16 --families hypercube --target-far --target-worst 2 --mu-squared 0.1");
    assert_eq!((number(&plan, "/target/far"), number(&plan, "/target/worst")), (0.1, 2.0));
    assert!(number(&plan, "/verified/far") <= 0.1 && number(&plan, "/verified/worst") <= 2.0);
}

#[test]
fn bad_input_is_refused_with_field_value_and_remedy() {
    let base = "plan averaging --peers 16";
    for value in ["0", "-1", "NaN", "inf"] {
        refused(&format!("{base} --target-far {value}"), &["`target-far` is", "above 0"]);
        refused(&format!("{base} --target-mean {value}"), &["`target-mean` is", "above 0"]);
        refused(&format!("{base} --mu-squared {value}"), &["`mu-squared` is", "positive"]);
        refused(&format!("{base} --epsilon {value}"), &["`epsilon` is", "positive"]);
        refused(&format!("{base} --target-worst 1 --sensitivity {value}"), &["`sensitivity` is", "positive"]);
    }
    for delta in ["0", "1", "NaN"] {
        refused(&format!("{base} --epsilon 1 --delta {delta}"), &["`delta` is", "between 0 and 1"]);
        refused(&format!("{base} --target-far 1 --delta {delta}"), &["`delta` is", "between 0 and 1"]);
    }
    refused(base, &["`target` is missing", "--target-worst"]);
    refused(&format!("{base} --target-far"), &["`target-far` is without a bound", "--epsilon"]);
    refused(&format!("{base} --target-far 1 --epsilon 1"), &["`epsilon` is 1", "remove"]);
    refused(&format!("{base} --mu-squared 1 --epsilon 1"), &["`epsilon` is 1", "remove one"]);
    refused(&format!("{base} --target-far 1 --beyond 1"), &["`beyond` is 1", "at least 2"]);
    refused(&format!("{base} --target-far 1 --beyond 9"), &["`beyond` is 9", "give at most"]);
    refused(
        &format!("{base} --target-far 1 --families ring,moebius"),
        &["`families` is moebius", "hypercube"],
    );
    refused(&format!("{base} --target-far 1 --graph x.txt"), &["--peers", "cannot be used with", "--graph"]);
    refused("plan averaging --target-far 1", &["`graph` is missing", "--peers"]);
    for nodes in ["0", "1", "3"] {
        refused(&format!("plan averaging --peers {nodes} --target-far 1"), &["`peers` is", "at least 4"]);
    }
    refused("plan averaging --peers -4 --target-far 1", &["--peers", "whole number"]);
    refused("plan averaging --peers 15 --families hypercube --target-far 1", &["hypercube", "power of two"]);
    refused(
        "plan averaging --graph no-such-file.txt --target-far 1",
        &["no-such-file.txt", "check the name"],
    );
}

#[test]
fn graphs_that_cannot_average_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.txt");
    let name = file.to_str().unwrap();
    std::fs::write(&file, "0 1\n1 2\n3 4\n").unwrap();
    refused(
        &format!("plan averaging --graph {name} --target-far 1"),
        &["components", "connected graph", "add edges"],
    );
    std::fs::write(&file, "0 1\n1 2\n2 3\n3 0\n").unwrap();
    let never = format!("plan averaging --graph {name} --target-far 1 --weights metropolis");
    refused(&never, &["`weights` is", "metropolis-plus-one", "lazy"]);
    std::fs::write(&file, "0 1\n").unwrap();
    refused(&format!("plan averaging --graph {name} --target-worst 1"), &["`peers` is 2", "at least 3"]);
}

#[test]
fn help_has_examples() {
    for command in ["plan", "plan averaging"] {
        let output = sottovoce(&format!("{command} --help")).assert().success().get_output().clone();
        assert!(String::from_utf8(output.stdout).unwrap().contains("Example"), "{command}");
    }
}

/// The coalition's column says what the experiments of the rows would reveal to it.
#[test]
fn a_coalition_has_a_column_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ring.txt");
    std::fs::write(&file, "a b\nb c\nc d\nd e\ne a\na c\n").unwrap();
    let (file, out) = (file.to_str().unwrap(), folder.path().join("best.toml"));
    let plan = format!("plan averaging --graph {file} --epsilon 1 --observers b,d --out {}", out.display());
    let found = json(&plan);
    assert_eq!(found["coalition"]["names"], serde_json::json!(["b", "d"]));
    let column = found["coalition"]["epsilon"].as_array().unwrap();
    let (rows, chosen) = (found["rows"].as_array().unwrap(), found["chosen"].as_u64().unwrap() as usize);
    assert_eq!(column.len(), rows.len());
    for (row, together) in rows.iter().zip(column) {
        let tapped = row["epsilon"]["wire_tapper"].as_f64().unwrap_or(f64::INFINITY);
        assert!(together.as_f64().unwrap() <= tapped * (1.0 + 1e-6), "{row}");
    }
    let account = json(&format!("account {}", out.display()));
    let stated = account["guarantees"].as_array().unwrap();
    let stated = stated.iter().find(|stated| stated["adversary"] == "coalition").unwrap();
    assert_eq!(stated["epsilon"], column[chosen], "{stated}");
    let text = sottovoce(&format!("{plan} --overwrite")).assert().success().get_output().stdout.clone();
    assert!(String::from_utf8(text).unwrap().contains("pooled: whoever loses most to b, d together."));
    refused(&format!("plan averaging --graph {file} --epsilon 1 --observers b,z"), &["`observers` is z"]);
    json("plan averaging --peers 8 --epsilon 1 --observers 0,3");
}

/// Bounds that fall with distance: from places, from a table of numbers, from a table of pairs; and what the experiment's account says of them.
#[test]
fn a_target_may_fall_with_a_distance_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let graph = at("town.graphml");
    sottovoce(&format!("graph generate --family geometric --peers 16 --set radius=0.5 --out {graph}"))
        .assert()
        .success();
    let (places, out) = (at("places.csv"), at("best.toml"));
    let table: String = (0..16).map(|peer| format!("{peer},{},{}\n", peer % 4, 1 + peer / 4)).collect();
    std::fs::write(&places, format!("peer,x,y\n{table}")).unwrap();
    for source in [
        "coordinates --within 0.3=4".to_owned(),
        format!("{places} --within 1=4"),
        format!("{places} --metric cosine --within 0.1=4"),
    ] {
        let plan =
            format!("plan averaging --graph {graph} --distance {source} --farther 2 --out {out} --overwrite");
        let found = json(&plan);
        let classes = found["classes"].as_array().unwrap();
        assert_eq!(classes.len(), 2);
        for class in classes {
            assert_eq!(class["kept"], true, "{class}");
            assert!(number(class, "/epsilon") <= number(class, "/allowed") * (1.0 + 1e-9));
        }
        assert!(found["binding"]["names"][0].is_string());
        assert!(found["not_covered"].to_string().contains("distances by which bounds fall"));
        // The experiment keeps the target, and its account shows the same classes.
        let account = json(&format!("account {out}"));
        for (planned, own) in classes.iter().zip(account["classes"].as_array().unwrap()) {
            assert_eq!((&planned["pairs"], &own["kept"]), (&own["pairs"], &planned["kept"]));
            assert!((number(planned, "/epsilon") / number(own, "/epsilon") - 1.0).abs() < 1e-6, "{own}");
        }
        assert!(account["guarantees"].to_string().contains("pairs farther apart"));
        assert!(account["not_covered"].to_string().contains("distances by which bounds fall"));
    }
    // Without a noise, the least that keeps the bounds is found.
    let run = json(&format!(
        "run averaging --graph {graph} --steps 3 --distance coordinates --within 0.3=4 --farther 2 --no-report"
    ));
    assert!(run["classes"].as_array().unwrap().iter().all(|class| class["kept"] == true), "{run}");
    let page = at("plan.html");
    sottovoce(&format!("plan averaging --graph {graph} --target-worst 1 --page {page}")).assert().success();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("What all pairs of peers lose")
            && page.contains("<svg")
            && page.contains("Not covered")
    );
    let base = format!("plan averaging --graph {graph}");
    refused(&format!("{base} --distance coordinates --within 0.3=1 --farther 2"), &["`farther`", "not rise"]);
    refused(
        &format!("{base} --distance coordinates --within 0.3=1 --within 0.5=2"),
        &["`within`", "not rise"],
    );
    refused(&format!("{base} --distance nowhere.csv --within 0.3=1"), &["nowhere.csv", "no such file"]);
    refused(&format!("{base} --distance hops --metric cosine --within 1=1"), &["`metric`", "leave it out"]);
    refused(
        "plan averaging --peers 16 --distance coordinates --within 1=1",
        &["`distance` is coordinates", "no places"],
    );
}
