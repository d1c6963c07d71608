//! The same question has the same answer: by flags, by a file, by the transcript of the run, and by the plan of the same noise.

use std::path::Path;

use serde_json::Value;

use crate::common::{asked, json};

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
        let faults = self.one(&[
            "",
            "",
            "--drop 0.05 --timeout 500",
            "--drop 0.05 --timeout 500 --set network.lenient=true",
        ]);
        format!(
            "--protocol {protocol} {place} {steps} {noise} {hidden} {results} {observers} {faults} --seed 5"
        )
    }
}

impl Draws {
    /// Flags of learning, and towards whom it is asked.
    fn learning(&mut self, graph: &str) -> (String, &'static str) {
        let method = self.one(&[
            "",
            "--method gossip --steps 2",
            "--method gossip --steps 2 --set protocol.accelerated=true",
            "--method gossip --steps 1 --relay-noise 0.2",
            "--method gossip --fresh-graphs 2",
            "--method butterfly",
            "--method butterfly --cancel 3 --colluders 2",
            "--method walk",
            "--method walk --tokens 2 --drop-messages 0.1",
            "--method local",
            "--method central",
        ]);
        let place = if method.contains("fresh") || method.contains("butterfly") {
            "--peers 8".to_owned()
        } else {
            let on = format!("--graph {graph}");
            self.one(&["--peers 8", &on]).to_owned()
        };
        let noise = self.one(&[
            "",
            "--sigma 2",
            "--epsilon 1",
            "--epsilon 2 --against wire-tapper",
            "--sigma 3 --epsilon 2",
            "--sigma 3 --epsilon 3 --against wire-tapper",
            "--epsilon 1 --order 2",
        ]);
        let more = self.one(&[
            "",
            "",
            "--ridge 0.1 --set final-model=weighted",
            "--set task.clipped=user",
            "--delta 1e-7",
        ]);
        let towards = self.one(&["", "--observers 1", "--observers 2,5"]);
        let towards = match (place.contains("--graph"), towards) {
            (true, "--observers 1") => "--observers b",
            (true, "--observers 2,5") => "--observers c,f",
            (false, "--observers 1") => "--observers 1",
            (false, "--observers 2,5") => "--observers 2,5",
            _ => "",
        };
        (format!("{method} {place} --rows 5 --iterations 3 --seeds 1 {noise} {more}"), towards)
    }

    /// Flags of personalised models.
    fn personalized(&mut self) -> String {
        let noise = self.one(&[
            "",
            "--sigma 5",
            "--epsilon 0.5 --set target.budget=3=0.2",
            "--law laplace --delta 0",
            "--law laplace --set protocol.allocation=optimal",
            "--set protocol.warm=0.1",
            "--sigma 0",
        ]);
        let network = self.one(&["", "", "--drop 0.1", "--set network.leave=3@2", "--set network.join=2@5"]);
        format!("--agents 12 --width 4 --updates 3 --seeds 1 {noise} {network}")
    }

    /// Flags of a net learned together.
    fn deep(&mut self) -> String {
        let method = self.one(&[
            "--method dsgd",
            "--method dsgt",
            "--method dinno --set protocol.primal=2",
            "--method local",
            "--method dsgd --cancel 3 --colluders 2",
        ]);
        let noise = self.one(&[
            "--noise-multiplier 2",
            "--noise-multiplier 2 --delta 1e-6",
            "--noise-multiplier 1 --epsilon 1",
            "--noise-multiplier 0",
        ]);
        format!(
            "--model mlp --agents 4 --images 80 --set task.test-images=20 --rounds 3 --lot 8 --rate 0.01 {method} {noise}"
        )
    }
}

/// By flags, by the file that the run writes, and by its transcript; where the run is refused, so is the account.
fn asked_in_every_way(kind: &str, flags: &str, towards: &str, folder: &Path) -> bool {
    let (out, line) = (folder.display(), format!("{flags} --seed 5"));
    let planned = asked(&format!("account {kind} {line} {towards} --json"));
    if let Err(fault) = asked(&format!("run {kind} {line} --out {out} --quiet")) {
        assert!(planned.is_err(), "{kind} {flags}: {fault:?}");
        return false;
    }
    let planned = core(&serde_json::from_str(&planned.unwrap().printed).unwrap());
    for file in ["experiment.toml", "transcript.json"] {
        let verb = if file == "transcript.json" { "transcript " } else { "" };
        let found = json(&format!("account {verb}{out}/{file} {towards}"));
        same(&planned, &core(&found), &format!("{kind} {flags} {towards}: {file}"));
    }
    true
}

/// What an adversary learns, and what is promised: without headings and caveats.
fn core(document: &Value) -> (Vec<f64>, Vec<String>, Vec<f64>) {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::INFINITY);
    let list = ["leakage", "epsilons", "agents"].iter().find_map(|key| document[key].as_array());
    let learnt = list.unwrap().iter().map(|one| number(one.get("epsilon").unwrap_or(one)));
    let stated = document["guarantees"].as_array().unwrap();
    let who = stated.iter().map(|one| {
        format!(
            "{} {} {} {} {}",
            one["about"], one["adversary"], one["observers"], one["standing"], one["unit"]
        )
    });
    let losses = stated.iter().flat_map(|one| [number(&one["epsilon"]), number(&one["delta"])]);
    (learnt.collect(), who.collect(), losses.collect())
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
        let past = json(&format!("account transcript {}", out.join("transcript.json").display()));
        if flags.contains("lenient") {
            // Known afterwards only.
            assert!(planned.unwrap_err().message.contains("lenient"), "{flags}");
            continue;
        }
        let planned = core(&serde_json::from_str(&planned.unwrap().printed).unwrap());
        same(&planned, &core(&json(&format!("account {}", out.join("experiment.toml").display()))), &flags);
        if past["source"] == "planned" {
            same(&planned, &core(&past), &flags);
        }
        if !flags.contains("colluders") {
            // The noise is the run's, whoever is asked about.
            let others = if flags.contains("--graph") { "d,e,h" } else { "3,4" };
            let file = out.join("experiment.toml").display().to_string();
            let past = json(&format!(
                "account transcript {} --observers {others}",
                out.join("transcript.json").display()
            ));
            if past["source"] == "planned" || past.get("paths").is_some() {
                same(&core(&json(&format!("account {file} --observers {others}"))), &core(&past), &flags);
            }
        }
    }
    assert!(ran >= 20, "{ran}");
}

#[test]
fn learning_has_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph.txt");
    std::fs::write(&graph, "a b\nb c\nc d\nd e\ne f\nf g\ng h\nh a\na e\nb f\n").unwrap();
    let (mut draws, mut ran) = (Draws(2), 0);
    for i in 0..40 {
        let (flags, towards) = draws.learning(&graph.display().to_string());
        let out = folder.path().join(i.to_string());
        ran += usize::from(asked_in_every_way("learning", &flags, towards, &out));
    }
    assert!(ran >= 20, "{ran}");
}

#[test]
fn personalised_models_have_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (mut draws, mut ran) = (Draws(3), 0);
    for i in 0..12 {
        let out = folder.path().join(i.to_string());
        ran += usize::from(asked_in_every_way("personalized", &draws.personalized(), "", &out));
    }
    assert!(ran >= 8, "{ran}");
}

#[test]
fn nets_have_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (mut draws, mut ran) = (Draws(4), 0);
    for i in 0..4 {
        let out = folder.path().join(i.to_string());
        ran += usize::from(asked_in_every_way("deep", &draws.deep(), "", &out));
    }
    // To compute the noise for a target takes long.
    let target = "--model mlp --agents 2 --images 100 --set task.test-images=20 --rounds 2 --lot 5 --rate 0.01 --epsilon 2";
    ran += usize::from(asked_in_every_way("deep", target, "", &folder.path().join("target")));
    assert!(ran >= 4, "{ran}");
}

/// Of the pace that was run: flags and files are accounted for at both.
#[test]
fn rumours_have_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph.txt");
    std::fs::write(&graph, "a b\nb c\nc d\nd e\ne a\na c\n").unwrap();
    let graph = graph.display();
    for (i, flags) in [
        "--peers 20 --curious 3 --muting 0.4".to_owned(),
        "--peers 64 --muting 1".to_owned(),
        "--peers 50 --curious 5 --muting 0".to_owned(),
        "--peers 100 --delta 0.5".to_owned(),
        format!("--graph {graph} --curious-peers b --muting 0.3"),
        format!("--graph {graph} --curious-peers b --muting 0.3 --drop 0.1"),
        format!("--graph {graph} --curious-peers b --muting 0.3 --set clocks=poisson"),
        "--peers 20 --muting 0.5 --drop 0.1 --seeds 2".to_owned(),
        "--peers 20 --muting 0.5 --set churn=0.1".to_owned(),
        "--peers 20 --muting 0.2 --drop 0.1 --set acknowledge=true --set clocks=poisson".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let out = folder.path().join(i.to_string());
        let out = out.display();
        let planned = json(&format!("account rumor {flags} --seed 5"));
        asked(&format!("run rumor {flags} --seed 5 --out {out} --quiet")).unwrap();
        let past = json(&format!("account transcript {out}/transcript.json"))["guarantees"][0].clone();
        for found in [planned, json(&format!("account {out}/experiment.toml"))] {
            let all = found["guarantees"].as_array().unwrap();
            let same = all.iter().find(|one| one["about"] == past["about"]).unwrap();
            let delta = |one: &Value| one["delta"].as_f64().unwrap();
            assert!((delta(same) - delta(&past)).abs() <= 1e-12, "{flags}: {same} {past}");
        }
    }
}
