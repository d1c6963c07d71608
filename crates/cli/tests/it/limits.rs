//! Wild input: what would never end is refused before it begins, numbers stay short, and messages name the option that was given.

use crate::common;

use std::time::Duration;

use common::{flat, json, number, refused, sottovoce};

const RING: &str = "0 1\n1 2\n2 3\n3 0\n0 2\n";
const ENDLESS: &str = "18446744073709551615";

fn graph() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.txt");
    std::fs::write(&path, RING).unwrap();
    let shown = path.display().to_string();
    (folder, shown)
}

#[test]
fn endless_work_is_refused_before_it_begins() {
    let (_folder, graph) = graph();
    for (line, option) in [
        ("account learning --graph G --iterations 1000000000 --observers 0", "iterations"),
        ("account learning --graph G --iterations MAX --observers 0", "iterations"),
        ("account learning --graph G --iterations MAX --relay-noise 0.5 --observers 0", "iterations"),
        ("account learning --graph G --steps MAX --iterations 2 --observers 0", "steps"),
        ("account learning --method butterfly --peers 8 --iterations MAX --observers 0", "iterations"),
        ("account learning --method butterfly --peers 8 --iterations 1000000000 --observers 0", "iterations"),
        ("plan learning --graph G --peers 4 --rows 10 --iterations 1000000000 --runs 1", "iterations"),
        (
            "run learning --peers 4 --rows 10 --iterations 1000000000 --method gossip --no-report",
            "iterations",
        ),
        ("run learning --peers 4 --rows 10 --iterations 2 --seeds MAX --no-report", "seeds"),
        ("run averaging --peers 8 --seeds MAX --no-report", "seeds"),
        ("graph schedule --kind randomised --graph G --steps 1000000000", "steps"),
        ("graph schedule --kind fresh --peers 1000 --steps 100000", "steps"),
        ("graph schedule --kind fresh --peers 12 --steps 0", "steps"),
        ("account walk --graph G --steps MAX --observers 1", "steps"),
        ("account walk --graph G --steps MAX --observers 1 --sigma 8 --order 2 --expected 20", "steps"),
        ("account walk --graph G --steps 9 --observers 1 --sigma 8 --order 2 --expected MAX", "steps"),
        (
            "account walk --graph G --steps 9 --observers 1 --sigma 8 --order 2 --expected 20 --tokens MAX",
            "tokens",
        ),
    ] {
        let line = line.replace("MAX", ENDLESS).replace('G', &graph);
        let mut command = sottovoce(&line);
        let output = command.timeout(Duration::from_secs(60)).assert().code(2).get_output().clone();
        let said = flat(&output.stderr);
        assert!(said.starts_with(&format!("sottovoce: `{option}` is ")), "{line}: {said}");
        assert!(said.contains("give") || said.contains("take"), "{line}: {said}");
    }
}

/// What composes in closed form is no work, and what must end early is found by halving.
#[test]
fn many_iterations_that_compose_are_no_work() {
    let line =
        "account learning --method local --peers 4 --rows 1 --iterations 1000000 --observers 0 --sigma 4000";
    let found = json(line);
    assert_eq!(found["iterations"], 1_000_000);
    assert!(number(&found, "/guarantees/0/epsilon") < 1.5, "{found}");
    let line = "run learning --method butterfly --peers 8 --rows 5 --iterations 20000 --sigma 20 --epsilon 2 --seeds 1 --no-report";
    let steps = json(line)["steps"][0].as_u64().unwrap();
    // One more would be too much.
    assert!((1..20_000).contains(&steps), "{steps}");
}

#[test]
fn wild_numbers_are_short() {
    let (_folder, graph) = graph();
    for line in [
        "run rumor --peers 16 --muting 1e300",
        "account averaging --graph G --steps 2 --observers 0 --delta 1e300",
        "account averaging --graph G --steps 2 --observers 0 --lazy 1e300",
        "account walk --graph G --steps 9 --observers 1 --sigma 8 --order 1e-300 --expected 20",
        "graph schedule --kind fresh --peers 12 --steps 3 --factor 1e300",
        "plan averaging --graph G --target-worst 1e300",
        "account averaging --graph G --steps 2 --observers 0 --epsilon 1e300",
        "run learning --peers 8 --rows 5 --clip -1e300 --no-report",
    ] {
        let line = line.replace('G', &graph);
        let said = flat(&sottovoce(&line).assert().code(2).get_output().stderr);
        assert!(said.contains("1e300") || said.contains("1e-300"), "{line}: {said}");
        assert!(said.len() < 400, "{line}: {said}");
    }
    // Results, too.
    let line = format!("account averaging --graph {graph} --steps 2 --observers 0 --sigma 1e300");
    let said = flat(&sottovoce(&line).assert().success().get_output().stdout);
    assert!(said.contains("1e300") && !said.contains("00000000000000000000000000"), "{said}");
}

#[test]
fn messages_name_the_option_that_was_given() {
    let (_folder, graph) = graph();
    for (line, words) in [
        ("account learning --graph G --steps 0 --iterations 2 --observers 0", "`steps` is 0"),
        ("account walk --graph G --steps 9 --observers 1 --sigma 8 --order 0 --expected 20", "`order` is 0"),
        (
            "account walk --graph G --steps 9 --observers 1 --sigma 8 --order 2 --expected 0",
            "`expected` is 0",
        ),
        ("account averaging --graph G --steps 2 --observers 0 --epsilon 1e20", "`epsilon` is 1e20"),
        ("plan averaging --graph G --target-worst 1 --sensitivity 1e-300", "`sensitivity` is 1e-300"),
        (
            "run learning --peers 8 --rows 5 --step-size 1e300 --clip 1e300 --no-report",
            "`step-size` is 1e300",
        ),
        (
            "run learning --peers 8 --rows 5 --objective squared --set task.clipped=nothing --no-report",
            "`clipped` is nothing",
        ),
    ] {
        refused(&line.replace('G', &graph), &[words]);
    }
}

/// Who hears a part of the messages learns no more than who hears all of them, in whatever currency each is counted.
#[test]
fn no_peer_is_said_to_learn_more_than_a_wire_tapper() {
    let (_folder, graph) = graph();
    for options in ["--method walk --iterations 3", "--method walk --iterations 1", "--iterations 2"] {
        for sigma in ["0.7", "2", "9"] {
            let line = format!("account learning --graph {graph} {options} --observers 0 --sigma {sigma}");
            let found = json(&line);
            let all = number(&found, "/guarantees/0/epsilon");
            for peer in &found["guarantees"].as_array().unwrap()[1..] {
                assert!(number(peer, "/epsilon") <= all, "{line}: {peer} above {all}");
            }
        }
    }
}

#[test]
fn graphs_and_schedules_come_from_standard_input() {
    let (folder, _) = graph();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for line in [
        "account averaging --graph - --steps 2 --observers 0".to_owned(),
        "account learning --graph - --iterations 2 --observers 0".to_owned(),
        "account walk --graph - --steps 5 --observers 0".to_owned(),
        "account rumor --graph - --curious 1 --muting 0.3".to_owned(),
        "plan averaging --graph - --target-worst 1".to_owned(),
        "plan learning --graph - --peers 4 --rows 10 --iterations 1 --runs 1".to_owned(),
        "audit reconstruct --graph - --steps 2 --observers 0 --runs 50".to_owned(),
        "audit source --graph - --curious 1 --muting 0.5 --runs 50".to_owned(),
        "run averaging --graph - --steps 2 --no-report".to_owned(),
        "run learning --graph - --method gossip --peers 4 --rows 10 --iterations 2 --seeds 1 --no-report"
            .to_owned(),
        format!("run rumor --graph - --muting 0.5 --seeds 2 --out {}", at("r")),
        "graph inspect -".to_owned(),
        "graph schedule --kind randomised --graph - --steps 3".to_owned(),
    ] {
        sottovoce(&line).write_stdin(RING).assert().success();
    }
    // What was read lies in the transcript.
    json(&format!("account transcript {}/transcript.json", at("r")));
    let schedule = "{\"pairwise\": [[0, 1], [1, 2]]}";
    for line in ["account averaging --schedule - --observers 0", "run averaging --schedule - --no-report"] {
        sottovoce(line).write_stdin(schedule).assert().success();
    }
}

/// Nobody writes into the pipe: who opens it waits for ever.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_and_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for file in [&pipe, std::path::Path::new("/dev/zero"), folder.path()] {
        for line in [
            "account transcript FILE",
            "audit transcript FILE",
            "graph inspect FILE --format edge-list",
            "graph convert FILE --format edge-list",
            "account mechanism --events FILE --delta 1e-6",
            "account learning --graph FILE --iterations 2 --observers 0",
            "run averaging --peers 4 --values FILE --no-report",
            "run FILE",
            "node demo --values FILE --out OUT",
            "node plan FOLDER FILE",
        ] {
            let line = line
                .replace("FILE", &file.display().to_string())
                .replace("OUT", &folder.path().join("out").display().to_string())
                .replace("FOLDER", &folder.path().display().to_string());
            let done = sottovoce(&line).timeout(Duration::from_secs(60)).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{line}: {said}");
        }
    }
    assert!(!folder.path().join("out").exists());
}
