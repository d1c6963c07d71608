//! The same question has the same answer: by flags, by a file, by the transcript of the run, and by the plan of the same noise.

use serde_json::Value;

use crate::common::{asked, json, number};

/// Draws from a list, the same every time.
struct Draws(u64);

impl Draws {
    fn one<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        // Knuth's generator; its upper bits.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        choices[(self.0 >> 33) as usize % choices.len()]
    }

    /// Flags of an averaging; not all go together.
    fn averaging(&mut self, graph: &str) -> String {
        let protocol = self.one(&[
            "gossip",
            "gossip",
            "accelerated",
            "randomised",
            "accelerated-randomised",
            "butterfly",
        ]);
        let on = format!("--graph {graph}");
        let place = match protocol {
            "butterfly" => self.one(&["--peers 8", "--peers 11"]),
            _ => self.one(&["--peers 12", &on]),
        };
        let place = place.to_owned();
        let steps = if protocol.contains("random") { "--steps 15" } else { self.one(&["", "--steps 3"]) };
        let steps = if protocol == "butterfly" { "" } else { steps };
        let noise =
            self.one(&["", "--sigma 2", "--epsilon 1", "--epsilon 2 --against wire-tapper", "--delta 1e-7"]);
        let hidden = self.one(&[
            "",
            "",
            "--relay-noise 0.3",
            "--cancel 3 --keys regular:4",
            "--cancel 2 --colluders 2",
            "--masks",
        ]);
        let results = self.one(&["", "", "--results published"]);
        let observers = if hidden.contains("colluders") {
            ""
        } else {
            self.one(&["", "--observers 1", "--observers 2,5"])
        };
        let faults = self.one(&["", "", "--drop 0.05 --timeout 500", "--drop 0.05 --timeout 500 --lenient"]);
        format!(
            "--protocol {protocol} {place} {steps} {noise} {hidden} {results} {observers} {faults} --seed 5"
        )
    }
}

/// What an adversary learns, and what is promised: without headings and caveats.
fn core(document: &Value) -> (Vec<f64>, Vec<String>, Vec<f64>) {
    let numbers =
        |value: &Value| value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let stated = document["guarantees"].as_array().unwrap();
    let who = stated.iter().map(|one| {
        format!(
            "{} {} {} {} {}",
            one["about"], one["adversary"], one["observers"], one["standing"], one["unit"]
        )
    });
    let losses = stated
        .iter()
        .flat_map(|one| [one["epsilon"].as_f64().unwrap_or(f64::INFINITY), number(one, "/delta")]);
    (numbers(&document["leakage"]), who.collect(), losses.collect())
}

fn same(
    (leakage, who, losses): &(Vec<f64>, Vec<String>, Vec<f64>),
    other: &(Vec<f64>, Vec<String>, Vec<f64>),
    what: &str,
) {
    assert_eq!((leakage.len(), who), (other.0.len(), &other.1), "{what}");
    let near = |a: &f64, b: &f64| a == b || (a - b).abs() <= 1e-12 * (1.0 + a.abs());
    assert!(leakage.iter().zip(&other.0).all(|(a, b)| near(a, b)), "{what}: {leakage:?} {:?}", other.0);
    assert!(losses.iter().zip(&other.2).all(|(a, b)| near(a, b)), "{what}: {losses:?} {:?}", other.2);
}

#[test]
fn averagings_have_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph.txt");
    let edges = "a b\nb c\nc d\nd e\ne f\nf g\ng h\nh a\na e\nb f\nb h\n";
    std::fs::write(&graph, edges).unwrap();
    let (mut draws, mut ran) = (Draws(1), 0);
    for i in 0..60 {
        // Names of the file's graph are no numbers.
        let flags = draws.averaging(&graph.display().to_string());
        let flags = match flags.contains("--graph") {
            true => {
                flags.replace("--observers 1", "--observers b").replace("--observers 2,5", "--observers c,f")
            }
            false => flags,
        };
        let out = folder.path().join(i.to_string());
        let planned = asked(&format!("account averaging {flags} --json"));
        if let Err(fault) = asked(&format!("run averaging {flags} --out {} --quiet", out.display())) {
            // What cannot be run is not accounted for.
            assert!(planned.is_err(), "{flags}: {fault:?}");
            continue;
        }
        ran += 1;
        let planned = core(&serde_json::from_str(&planned.unwrap().printed).unwrap());
        same(&planned, &core(&json(&format!("account {}", out.join("experiment.toml").display()))), &flags);
        let past = json(&format!("account transcript {}", out.join("transcript.json").display()));
        if past["source"] == "planned" {
            same(&planned, &core(&past), &flags);
        }
    }
    assert!(ran >= 20, "{ran}");
}
