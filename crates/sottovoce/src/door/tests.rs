//! Inputs in memory give the bits that the same inputs in files give, and are neither written nor printed.

use std::fs;
use std::path::Path;

use sottovoce_engine::deep::Holdings;
use sottovoce_learning::images::drawn;
use sottovoce_learning::read::Rows;
use sottovoce_topology::io::{self, Format};

use super::*;
use crate::averaging::run;
use crate::experiment::{self, Experiment, Inputs, MEMORY, OWNER, PeerValue};
use crate::transcript::{File, to_json};
use crate::{Graph, personal};

const VALUES: [f64; 6] = [0.2, 0.7, 0.4, 0.912_345_678_9, -3.0, 0.1 + 0.2];
const NAMES: [&str; 6] = ["ana", "ben", "eva", "ida", "jon", "kim"];

fn ring() -> Graph {
    let ring = Graph::from_edges(6, (0..6).map(|peer| (peer, (peer + 1) % 6))).unwrap();
    ring.with_labels(NAMES.map(str::to_owned).to_vec()).unwrap()
}

/// A folder with the ring and a table of values, and a spec that names them.
fn files() -> (tempfile::TempDir, experiment::Averaging) {
    let folder = tempfile::tempdir().unwrap();
    io::write(&ring(), Format::GraphMl, fs::File::create(folder.path().join("ring.graphml")).unwrap())
        .unwrap();
    let lines = NAMES.iter().zip(VALUES).map(|(name, value)| format!("{name},{value}\n"));
    fs::write(folder.path().join("values.csv"), format!("peer,value\n{}", lines.collect::<String>()))
        .unwrap();
    let mut spec = experiment::Averaging::default();
    spec.graph.base.file = Some("ring.graphml".into());
    spec.values.file = Some("values.csv".into());
    spec.target.epsilon = Some(1.0);
    (folder, spec)
}

#[test]
fn values_and_a_graph_in_memory_are_those_of_files() {
    let (folder, spec) = files();
    let expected = run(&spec, folder.path(), 7, |_| ()).unwrap();
    let built = || Averaging::new(&ring()).epsilon(1.0);
    let shuffled = NAMES.into_iter().zip(VALUES).rev();
    for asked in [built().values(VALUES, 0.0..=1.0), built().values(shuffled, 0.0..=1.0)] {
        let found = asked.run(7).unwrap();
        assert_eq!(found.found().results, expected.results);
        assert_eq!(found.found().guarantees, expected.guarantees);
        assert_eq!(found.found().moved, 1);
        assert_eq!(
            (found.mean(), found.found().headline.as_str()),
            (expected.estimate, expected.headline.as_str())
        );
    }
}

#[test]
fn rows_in_memory_are_those_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<(String, Vec<f64>, f64)> = (0..60)
        .map(|i| {
            let x = f64::from(i * 7 % 60) / 30.0 - 1.0;
            (NAMES[i as usize % 6].to_owned(), vec![x, x * x / 3.0], f64::from(u8::from(x > 0.1)))
        })
        .collect();
    let lines: String = rows.iter().map(|(owner, x, y)| format!("{owner},{},{},{y}\n", x[0], x[1])).collect();
    fs::write(folder.path().join("rows.csv"), format!("owner,x,y,label\n{lines}")).unwrap();
    io::write(&ring(), Format::EdgeList, fs::File::create(folder.path().join("ring.txt")).unwrap()).unwrap();
    let ranges = [("x", -1.0..=1.0), ("y", 0.0..=0.25)];

    let mut spec = experiment::Learning { seeds: Some(1), ..experiment::Learning::default() };
    spec.protocol.method = Some("gossip".to_owned());
    spec.graph.base.file = Some("ring.txt".into());
    spec.task.data = Some("rows.csv".into());
    spec.task.peer_column = Some(OWNER.to_owned());
    spec.task.range = vec!["x=-1:1".to_owned(), "y=0:0.25".to_owned()];
    let ready = spec.ready(folder.path(), 7).unwrap();
    let job = spec.job(&ready, 7);
    let mut run = job.start().unwrap();
    run.go(usize::MAX, |_| ()).unwrap();
    let expected = job.conclude(&run, false, || ()).unwrap();
    let graph = Graph::read(folder.path().join("ring.txt")).unwrap();
    let found = Learning::gossip(&graph).rows(rows.clone(), ranges.clone()).seeds(1).run(7).unwrap();
    assert_eq!(found.model(), expected.model);
    assert_eq!(found.found().guarantees, expected.guarantees);
    let towards = |adversary| found.account(adversary).unwrap().guarantees()[0].adversary.to_string();
    assert_eq!(towards(Adversary::eavesdropper()), "wire-tapper");
    let epsilon = |adversary| found.account(adversary).unwrap().epsilon();
    assert!(epsilon(Adversary::every_peer()) <= epsilon(Adversary::eavesdropper()));
    assert!(found.account(Adversary::every_peer().with_colluders(1)).is_err());
    assert_eq!(towards(Adversary::peers(["ana", "eva"])), "coalition");
    // The transcript of such a run stands, and says what it cannot check.
    let File::Learning(transcript) = found.outcome.transcript().unwrap() else { panic!() };
    assert!(transcript.check().unwrap().is_empty());
    let text = String::from_utf8(to_json(&transcript).unwrap()).unwrap();
    assert!(text.contains(MEMORY) && !text.contains("0.25\\n"));

    let mut spec = experiment::Personalized { seeds: Some(1), ..experiment::Personalized::default() };
    spec.task.data = Some("rows.csv".into());
    spec.task.table.peer_column = Some(OWNER.to_owned());
    spec.task.table.similar = Some("ring.txt".into());
    spec.task.table.range = vec!["x=-1:1".to_owned(), "y=0:0.25".to_owned()];
    let expected = personal::run(&spec, folder.path(), 7, || ()).unwrap();
    let found = Personalized::new(&graph).rows(rows, ranges).seeds(1).run(7).unwrap();
    assert_eq!(**found.found(), expected);
}

#[test]
fn images_in_memory_are_those_that_are_dealt_out() {
    let mut spec = experiment::Deep::default();
    (spec.task.images, spec.task.test_images, spec.task.agents) = (Some(60), Some(20), Some(3));
    (spec.protocol.model, spec.protocol.rounds, spec.protocol.lot) = (Some(experiment::Model::Mlp), 2, 10.0);
    // Without noise there is nothing to account for, which takes long.
    spec.noise.noise_multiplier = Some(0.0);
    let all = drawn(80, 7).unwrap();
    let part = |from: usize, to: usize| all.gather(&(from..to).collect::<Vec<_>>()).unwrap();
    let held = Holdings::dealt(&part(0, 60), part(60, 80), 3, 0.5, 7).unwrap();
    let graph = spec.drawn(3, 7).unwrap().graph;
    let of = Experiment::Deep(Box::new(spec.clone()));
    let expected = Run::new(Deep::new(&graph), &of, 7).unwrap();
    let asked = Deep::new(&graph).net(experiment::Model::Mlp).rounds(2).batch(10.0).noise_multiplier(0.0);
    let found = asked.clone().images(held.rows.clone(), held.test.clone()).run(7).unwrap();
    assert_eq!((found.model(), found.accuracy()), (expected.model(), expected.accuracy()));
    let refused = asked.images(held.rows[..2].to_vec(), held.test).run(7).unwrap_err().to_string();
    assert!(refused.contains("`data` is the images of 2 agents: give those of 3"), "{refused}");
}

#[test]
fn inputs_are_neither_written_nor_printed() {
    let asked = Averaging::new(&ring()).values([0.123_456, 0.5, 0.5, 0.5, 0.5, 0.5], 0.0..=1.0).epsilon(1.0);
    let shown = format!("{asked:?}");
    assert!(shown.contains("6 in memory") && !shown.contains("0.123456"), "{shown}");
    let found = asked.run(7).unwrap();
    let file = found.outcome.transcript().unwrap();
    let unchecked = file.unchecked().unwrap();
    assert!(unchecked[0].contains("`graph` is <memory>") && unchecked[1].contains("`values` is <memory>"));
    // Nothing of them is in any file of the run.
    let folder = tempfile::tempdir().unwrap();
    found.report(folder.path().join("out")).unwrap();
    let files: Vec<_> =
        fs::read_dir(folder.path().join("out")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 4, "{files:?}");
    for file in files {
        assert!(!String::from_utf8_lossy(&fs::read(&file).unwrap()).contains("0.123456"), "{file:?}");
    }
    assert!(found.report(folder.path().join("out")).unwrap_err().to_string().contains("out"));
    let File::Averaging(transcript) = file else { panic!() };
    // Whoever has the file alone is told so.
    let Experiment::Averaging(again) = Experiment::parse(&transcript.experiment).unwrap() else { panic!() };
    assert_eq!(
        Experiment::Averaging(again.clone()).from_anywhere(Path::new("/a")).to_toml().unwrap(),
        transcript.experiment
    );
    let refused = run(&again, Path::new(""), 7, |_| ()).unwrap_err().to_string();
    assert!(refused.starts_with("`graph` is <memory>: it was given in memory"), "{refused}");
}

#[test]
fn lent_inputs_stand_for_what_words_name() {
    let (_folder, spec) = files();
    let mut named = experiment::Averaging { target: spec.target, ..experiment::Averaging::default() };
    (named.graph.base.file, named.values.file) = (Some(MEMORY.into()), Some(MEMORY.into()));
    let expected = Averaging::new(&ring()).values(VALUES, 0.0..=1.0).epsilon(1.0).run(7).unwrap();
    let lent = || {
        let mut inputs = Inputs::default();
        inputs.graph.put(&mut None, ring(), 6);
        inputs.values.put(&mut None, VALUES.map(PeerValue::from).to_vec(), 6);
        inputs
    };
    let found = lent().lend(|| run(&named, Path::new(""), 7, |_| ())).unwrap();
    assert_eq!(found.results, expected.found().results);
    assert!(run(&named, Path::new(""), 7, |_| ()).is_err());
}

#[test]
fn what_does_not_fit_is_refused_by_field_value_and_remedy() {
    let asked = || Averaging::new(&ring()).epsilon(1.0);
    let several = [vec![0.1, 0.2], vec![0.3, 0.4], vec![0.5], vec![0.1; 2], vec![0.1; 2], vec![0.1; 2]];
    for (asked, said) in [
        (asked().values([0.5; 5], 0.0..=1.0), "`values` is <memory>: 1 of 6 peers have no row (kim)"),
        (asked().values([0.5; 7], 0.0..=1.0), "`values` is 7 in number: give one for each of the 6 peers"),
        (asked().values([f64::NAN; 6], 0.0..=1.0), "`values` is a number that is not finite of peer ana"),
        (asked().values(several, 0.0..=1.0), "`values` is 1 numbers of peer eva: give 2"),
        (asked().values([("zoe", 0.5)], 0.0..=1.0), "`values` is zoe: no node of the graph has that name"),
        (asked().values([("ana", 0.5), ("ana", 0.5)], 0.0..=1.0), "`values` is a second value of peer ana"),
        (asked().values(Vec::<f64>::new(), 0.0..=1.0), "`values` is empty"),
        (asked().values(VALUES, 1.0..=0.0), "`range` is 1:0: give two finite numbers"),
        (asked().against(Adversary::peers(["ana"])), "`adversary` is peers ana: noise is found for"),
    ] {
        let refused = asked.run(7).unwrap_err().to_string();
        assert!(refused.starts_with(said), "{refused}");
    }
    let rows = Rows { features: vec![vec![0.1]], labels: vec![0.0, 1.0], ..Rows::default() };
    assert_eq!(format!("{rows:?}"), "2 rows");
    let run = asked().values(VALUES, 0.0..=1.0).run(7).unwrap();
    assert!(run.account(Adversary::peers(["zoe"])).unwrap_err().to_string().contains("zoe"));
    let together = run.account(Adversary::peers(["ana", "eva"])).unwrap().epsilon();
    assert!(together >= run.account(Adversary::peers(["ana"])).unwrap().epsilon());
}

/// What the README shows is the first example of the documentation, which runs.
#[test]
fn the_example_of_the_readme_runs() {
    let lines = include_str!("../lib.rs").lines().skip_while(|line| *line != "//! ```").skip(1);
    let shown = lines.take_while(|line| *line != "//! ```").filter(|line| !line.starts_with("//! # "));
    let code: String =
        shown.map(|line| format!("{}\n", line.trim_start_matches("//!").trim_start_matches(' '))).collect();
    let readme = include_str!("../../../../README.md");
    let flat = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert!(flat(readme).contains(&flat(&code)), "{code}");
}
