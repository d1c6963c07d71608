//! `sottovoce graph` and files: every format, what is written and what is kept, every refusal.

// Helpers outside the test functions unwrap as well.

use crate::common;

use std::fs;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use common::graphs::{Session, ended, known, parse};

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let session = Session::new();
    for family in [
        "erdos-renyi --peers 50 --set probability=0.2",
        "random-regular --peers 50 --degree 3",
        "geometric --peers 50 --set radius=0.3",
        "geometric-fiedler --peers 12 --set fiedler=0.1",
        "stochastic-block --set sizes=25,25 --set p-in=0.4 --set p-out=0.1",
        "barabasi-albert --peers 50 --set attach=2",
        "watts-strogatz --peers 50 --set neighbors=4 --set rewire=0.3",
    ] {
        let at = |seed: u64| {
            session.run(&format!("generate --family {family} --format graphml --seed {seed}")).stdout
        };
        assert_eq!(at(7), at(7), "{family}");
        assert_ne!(at(7), at(8), "{family}");
        let name = family.split(' ').next().unwrap();
        session.run(&format!("generate --family {family} --seed 7 --out {name}.graphml --quiet"));
        assert_eq!(fs::read_to_string(session.path(&format!("{name}.graphml"))).unwrap(), at(7));
    }
}

#[test]
fn standard_output_gets_an_edge_list_or_one_document() {
    let session = Session::new();
    assert_eq!(session.ok("generate --family path --peers 3"), "# nodes: 3\n0 1\n1 2\n");
    assert_eq!(session.ok("generate --family path --peers 3 --out -"), "# nodes: 3\n0 1\n1 2\n");
    let document = session.json("generate --family path --peers 3 --seed 5");
    assert_eq!(document["edges"], serde_json::json!([[0, 1], [1, 2]]));
    assert_eq!(
        (&document["family"], &document["nodes"], &document["seed"]),
        (&"path".into(), &3.into(), &5.into())
    );
    assert_eq!(session.json("generate --family davis")["labels"].as_array().unwrap().len(), 32);
    let coordinates = &session.json("generate --family geometric --peers 4 --set radius=2")["coordinates"];
    assert_eq!(coordinates.as_array().unwrap().len(), 4);
    assert!(session.files().is_empty());
}

#[test]
fn every_format_is_known_by_its_extension() {
    let session = Session::new();
    let drawn = known(10, 16);
    for (extension, format) in [
        ("txt", "edge-list"),
        ("tsv", "edge-list"),
        ("edges", "snap"),
        ("edgelist", "edge-list"),
        ("el", "edge-list"),
        ("snap", "snap"),
        ("graphml", "graphml"),
        ("xml", "graphml"),
        ("json", "node-link"),
        ("csv", "edge-list"),
    ] {
        let generate =
            format!("generate --family barabasi-albert --peers 10 --set attach=2 --out g.{extension}");
        assert_eq!(session.json(&generate)["format"], format);
        drawn.check(&session.json(&format!("inspect g.{extension}")), extension);
        // The same under a name that says nothing.
        fs::copy(session.path(&format!("g.{extension}")), session.path("graph")).unwrap();
        drawn.check(&session.json(&format!("inspect graph --format {format}")), format);
        let text = fs::read_to_string(session.path("graph")).unwrap();
        let piped = session.run_with(&format!("inspect - --format {format} --json"), &text);
        drawn.check(&parse(&piped.stdout), format);
    }
    session.ok("generate --family ring --peers 5 --out ring --format snap");
    assert!(fs::read_to_string(session.path("ring")).unwrap().starts_with("# Nodes: 5 Edges: 5"));
}

#[test]
fn standard_input_is_an_edge_list_unless_said_otherwise() {
    let session = Session::new();
    let ended = session.run_with("inspect - --json", "ann bob\nbob eve\n");
    known(3, 2).check(&parse(&ended.stdout), &ended.stderr);
    let ended = session.run_with("inspect -", "0 1\n1 0\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("standard input: line 2: `1 0` repeats the edge of line 1"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_summary_says_what_was_written() {
    let session = Session::new();
    assert_eq!(
        session.ok("generate --family ring --peers 5 --out ring.txt"),
        "wrote ring.txt (edge-list): ring(n=5), 5 nodes, 5 edges, connected\n"
    );
    assert_eq!(
        session.ok("generate --family barabasi-albert --peers 5 --set attach=1 --seed 3 --out tree.csv"),
        "wrote tree.csv (edge-list): barabasi-albert(n=5, m=1), 5 nodes, 4 edges, connected, seed 3\n"
    );
    let mut written = session.json("generate --family ring --peers 5 --out again.txt --seed 4");
    for key in ["schema_version", "version", "command"] {
        written.as_object_mut().unwrap().remove(key).unwrap();
    }
    let expected = serde_json::json!({
        "family": "ring", "description": "ring(n=5)", "seed": 4, "nodes": 5, "edges": 5, "connected": true,
        "components": 1, "out": "again.txt", "format": "edge-list"
    });
    assert_eq!(written, expected);
    assert!(
        session.ok("generate --family ring --peers 5 --out quiet.txt --quiet").starts_with("wrote quiet.txt")
    );
    assert!(session.path("quiet.txt").exists());
}

#[test]
fn pieces_are_noted_and_can_be_redrawn() {
    let session = Session::new();
    let sparse = "generate --family erdos-renyi --peers 40 --mean-degree 3 --out g.txt --overwrite";
    let ended = session.run(sparse);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("note: the graph is in ") && ended.stderr.contains("--connected"));
    assert_eq!(session.run(&format!("{sparse} --quiet")).stderr, "");
    let ended = session.run(&format!("{sparse} --connected --json"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(parse(&ended.stdout)["connected"], true);
}

#[test]
fn existing_files_are_replaced_only_by_force() {
    let session = Session::new();
    fs::write(session.path("g.txt"), "mine").unwrap();
    session.refused(
        "generate --family ring --peers 5 --out g.txt",
        "`out` is g.txt: the file exists; give another",
    );
    session.ok("generate --family ring --peers 5 --out g.txt --overwrite");
    assert!(fs::read_to_string(session.path("g.txt")).unwrap().starts_with("# nodes: 5\n"));
    assert_eq!(session.files().len(), 1);
    // What cannot be drawn leaves the old file as it was: checked by `refused`.
    let hopeless = "generate --family erdos-renyi --peers 40 --set probability=0.001 --connected --out g.txt --overwrite";
    session.refused(hopeless, "`connected` cannot be had: the graph is not connected");
}

#[cfg(unix)]
#[test]
fn a_write_that_fails_half_way_leaves_nothing_behind() {
    let session = Session::new();
    fs::write(session.path("g.txt"), "mine").unwrap();
    // At most one block of 512 (or 1024) bytes per file, and an error instead of a signal beyond.
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(cargo_bin_cmd!("sottovoce").get_program());
    command.args("graph generate --family ring --peers 100000 --out g.txt --overwrite".split(' '));
    let ended = ended(command.current_dir(session.folder.path()));
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("`out` is g.txt: cannot write in ."), "{}", ended.stderr);
    assert_eq!(session.files(), [("g.txt".to_owned(), b"mine".to_vec())]);
}

#[test]
fn parameters_must_fit_the_family() {
    let session = Session::new();
    for (arguments, expected) in [
        (
            "ring --peers 9 --set radius=0.1",
            "`radius` is not a parameter of ring: leave it out; ring takes --peers",
        ),
        ("davis --peers 32", "`peers` is not a parameter of davis"),
        ("geometric --peers 9 --set radius", "`set` is radius: give NAME=VALUE"),
        ("geometric --peers 9 --set radius=0.1 --set radius=0.2", "`radius` is given twice"),
        ("geometric --peers 9 --set probability=0.5", "`probability` is not a parameter of geometric"),
        ("ring", "`peers` is missing: ring needs it, such as --peers 16"),
        ("random-regular --peers 8", "`degree` is missing: random-regular needs it, such as --degree 4"),
        (
            "erdos-renyi --peers 8",
            "`probability` is missing: erdos-renyi needs it, such as --set probability=0.2",
        ),
        ("geometric --peers 8", "`radius` is missing"),
        ("geometric-fiedler --peers 8", "`fiedler` is missing"),
        ("stochastic-block --set sizes=4,4 --set p-in=1", "`p-out` is missing"),
        ("stochastic-block --set p-in=1 --set p-out=0", "`sizes` is missing"),
        ("barabasi-albert --peers 8", "`attach` is missing"),
        ("watts-strogatz --peers 8 --set neighbors=2", "`rewire` is missing"),
        ("grid --set rows=3", "`cols` is missing"),
        ("grid --set cols=3", "`rows` is missing"),
        ("grid", "`rows` is missing: grid needs rows and cols, or --peers (a perfect square)"),
        ("torus --peers 64", "`dimensions` is missing"),
        ("torus", "`sides` is missing"),
        ("hypercube", "`peers` is missing: hypercube needs --peers (a power of two) or --set dimensions=D"),
        (
            "erdos-renyi --peers 8 --set probability=0.5 --mean-degree 3",
            "`mean-degree` is 3: probability is given too",
        ),
        ("torus --set sides=4,4 --set dimensions=2", "`dimensions` is 2: sides have it already"),
        (
            "grid --set rows=3 --set cols=4 --peers 11",
            "`peers` is 11: the other parameters make 12; give 12 or leave",
        ),
    ] {
        session.refused(&format!("generate --out g.txt --family {arguments}"), expected);
    }
}

#[test]
fn values_out_of_range_are_refused_under_the_name_of_the_option() {
    let session = Session::new();
    for (arguments, expected) in [
        ("ring --peers 2", "`peers` is 2: a ring needs at least 3 nodes"),
        ("ring --peers -3", "'-3' for '--peers <N>': give a whole number"),
        ("ring --peers ten", "'ten' for '--peers <N>': give a whole number"),
        ("complete --peers 1000000", "`peers` is 1000000: the graph would have more than"),
        ("grid --peers 10", "`peers` is 10: it is not a perfect square; give --set rows=R"),
        (
            "torus --peers 63 --set dimensions=3",
            "`peers` is 63: it is not the power 3 of a whole number; give --set sides",
        ),
        (
            "torus --peers 1 --set dimensions=4000000000",
            "`peers` is 1: in 4000000000 dimensions each side would be 1",
        ),
        ("torus --peers 64 --set dimensions=0", "`dimensions` is 0: give at least 1"),
        ("torus --set sides=4,2", "`sides` is 2: each side of a torus must be at least 3"),
        ("hypercube --peers 12", "`peers` is 12: give a power of two"),
        ("hypercube --set dimensions=40", "`dimensions` is 40: give a number from 1 to 26"),
        (
            "erdos-renyi --peers 9 --set probability=1.5",
            "`probability` is 1.5: give a probability from 0 to 1",
        ),
        (
            "erdos-renyi --peers 9 --set probability=-0.1",
            "`probability` is -0.1: give a probability from 0 to 1",
        ),
        (
            "erdos-renyi --peers 9 --set probability=nan",
            "`probability` is NaN: give a probability from 0 to 1",
        ),
        ("erdos-renyi --peers 9 --set probability=half", "`probability` is half: give a number"),
        ("erdos-renyi --peers 9 --mean-degree 9", "`mean-degree` is 9: give a number above 0 and up to 8"),
        ("erdos-renyi --peers 9 --mean-degree nan", "`mean-degree` is NaN: give a number"),
        ("erdos-renyi --peers 1 --mean-degree 1", "`peers` is 1: a mean degree needs at least 2 nodes"),
        ("geometric --peers 9 --mean-degree 7.9", "`mean-degree` is 7.9: so few pairs"),
        ("geometric --peers 9 --set radius=inf", "`radius` is inf: give a positive distance"),
        ("geometric-fiedler --peers 9 --set fiedler=0", "`fiedler` is 0: give a number above 0"),
        (
            "random-regular --peers 5 --degree 3",
            "`degree` is 3: the number of nodes (5) times the degree must",
        ),
        (
            "stochastic-block --set sizes=4,4 --set p-in=2 --set p-out=0",
            "`p-in` is 2: give a probability from 0 to 1",
        ),
        (
            "stochastic-block --set sizes=4,4 --set p-in=1 --set p-out=nan",
            "`p-out` is NaN: give a probability",
        ),
        (
            "barabasi-albert --peers 5 --set attach=5",
            "`attach` is 5: it must be below the number of nodes, 5",
        ),
        (
            "watts-strogatz --peers 9 --set neighbors=3 --set rewire=0",
            "`neighbors` is 3: give an even number from 2",
        ),
        (
            "watts-strogatz --peers 9 --set neighbors=4 --set rewire=1.1",
            "`rewire` is 1.1: give a probability",
        ),
        ("wheel --peers 9", "'wheel' for '--family <F>'"),
        (
            "erdos-renyi --peers 40 --set probability=0.001 --connected",
            "erdos-renyi(n=40, p=0.001) was drawn 100 times; raise p above ln(n)/n = 9.222e-2",
        ),
    ] {
        session.refused(&format!("generate --out g.txt --family {arguments}"), expected);
    }
}

#[test]
fn places_that_cannot_be_written_are_refused() {
    let session = Session::new();
    fs::write(session.path("file"), "").unwrap();
    fs::create_dir(session.path("folder")).unwrap();
    for (options, expected) in [
        ("--out nowhere/g.txt", "`out` is nowhere/g.txt: there is no folder nowhere; create it first"),
        ("--out file/g.txt", "`out` is file/g.txt: there is no folder file; create it first"),
        ("--out folder --overwrite --format snap", "`out` is folder: it is a folder; give a file name"),
        ("--out g.docx", "`out` is g.docx: use .txt, .tsv"),
        ("--out g", "`out` is g: use .txt, .tsv"),
        ("--out g.txt --format word", "'word' for '--format <FORMAT>'"),
        ("--overwrite", "--out <FILE>"),
        ("--json --format snap", "`format` is snap: --json has its own on standard output"),
    ] {
        session.refused(&format!("generate --family ring --peers 5 {options}"), expected);
    }
    #[cfg(target_os = "linux")]
    for (options, expected) in [
        // Not even the superuser makes files there.
        ("--out /proc/g.txt", "`out` is /proc/g.txt: cannot write in /proc;"),
        ("--out /dev/null --overwrite --format snap", "`out` is /dev/null: it is not a plain file"),
    ] {
        session.refused(&format!("generate --family ring --peers 5 {options}"), expected);
    }
}

#[test]
fn files_that_are_no_graphs_are_refused_with_the_line() {
    let session = Session::new();
    for (file, text, expected) in [
        ("loop.txt", "0 1\n1 1\n", "loop.txt (read as edge-list): line 2: `1` is joined to itself"),
        ("twice.txt", "0 1\n\n1 0\n", "line 3: `1 0` repeats the edge of line 1; list each edge once"),
        ("weights.txt", "0 1\n1 2 0.5\n", "line 2: a third column (separated by blanks), but none on line 1"),
        ("half.txt", "0 1\n# fine\n2\n", "line 3: `2` is not an edge (separated by blanks); give two names"),
        ("empty.txt", "", "empty.txt (read as edge-list): no edges found"),
        ("bad.csv", "0,1,0,0\n", "bad.csv (read as edge-list): line 1: `0` is a fourth column"),
        ("net.gml", "graph [ ]", "`file` is net.gml: GML is not read; convert it to GraphML or an edge list"),
        ("bad.json", "{\n\"nodes\": 3}", "bad.json (read as node-link): line 2: invalid type"),
        ("bad.graphml", "0 1\n", "bad.graphml (read as graphml): "),
        ("what.ever", "0 1\n", "`file` is what.ever: use .txt"),
        ("net.zip", "0 1\n", "`file` is net.zip: unpack it first"),
    ] {
        fs::write(session.path(file), text).unwrap();
        session.refused(&format!("inspect {file}"), expected);
    }
    session.refused("inspect missing.txt", "`file` is missing.txt: there is no such file; check the name");
    session.refused("inspect .", "`file` is .: it is a folder; give a file in it");
}

#[test]
fn mixing_options_out_of_range_are_refused() {
    let session = Session::new();
    session.ok("generate --family star --peers 4 --out star.txt");
    for (options, expected) in [
        ("--lazy 1", "`lazy` is 1: give a share from 0 to below 1"),
        ("--lazy -0.1", "`lazy` is -0.1: give a share from 0 to below 1"),
        ("--lazy nan", "`lazy` is NaN: give a share from 0 to below 1"),
        ("--lazy much", "'much' for '--lazy <L>': give a number"),
        ("--weights equal", "'equal' for '--weights <WEIGHTS>'"),
        ("--weights uniform", "here it runs from 1 to 3; use --weights metropolis"),
    ] {
        session.refused(&format!("inspect star.txt {options}"), expected);
    }
}

#[test]
fn every_help_has_an_example() {
    let session = Session::new();
    for command in ["", "generate", "inspect"] {
        for flag in ["-h", "--help"] {
            let text = session.ok(&format!("{command} {flag}"));
            assert!(text.contains("Example:\n  sottovoce graph "), "{command}: {text}");
        }
    }
}
