//! The main command stays lean: what only a real peer needs is built for nobody else.

use std::collections::BTreeSet;
use std::process::Command;

fn tree(arguments: &[&str]) -> String {
    cargo_tree(&[&["--edges", "normal,build", "--package", "sottovoce-cli"], arguments].concat())
}

fn cargo_tree(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--prefix", "none", "--locked"])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn has(tree: &str, name: &str) -> bool {
    tree.lines().any(|line| line.split_whitespace().next() == Some(name))
}

#[test]
fn the_main_command_builds_no_network() {
    let plain = tree(&[]);
    assert!(has(&plain, "clap") && plain.lines().count() > 50, "{plain}");
    for heavy in ["iroh", "tokio", "axum", "redb", "cudarc", "sottovoce-node", "sottovoce-papers"] {
        assert!(!has(&plain, heavy), "{heavy} is built for everybody");
    }
    let serve = tree(&["--features", "serve"]);
    assert!(has(&serve, "axum") && has(&serve, "tokio"));
    assert!(!has(&serve, "iroh") && !has(&serve, "redb"), "a page is no peer");
    let node = tree(&["--features", "node"]);
    assert!(has(&node, "iroh") && has(&node, "redb"));
    assert!(!has(&node, "iroh-gossip"), "who speaks to whom is part of the proof");
}

/// The layers of ARCHITECTURE.md, from the lowest: a crate links lower ones, and none beside or above it.
const LAYERS: [&[&str]; 10] = [
    &["dense", "fault"],
    &["loopback", "privacy", "report", "topology"],
    &["learning", "protocol"],
    &["simulator", "views"],
    &["audit"],
    &["engine"],
    &["gpu", "sottovoce"],
    &["node"],
    &["cli"],
    &["papers"],
];

/// So the accountant links no simulator, and the simulator no accountant.
#[test]
fn layers_do_not_cross() {
    let layer = |name: &str| LAYERS.iter().position(|crates| crates.contains(&name));
    let tree = cargo_tree(&["--workspace", "--all-features", "--edges", "normal", "--depth", "1"]);
    let mut seen = 0;
    // A paragraph for each crate: itself, then what it links.
    for paragraph in tree.split("\n\n") {
        let names = paragraph.lines().filter_map(|line| line.split_whitespace().next());
        let own = names.filter(|name| name.starts_with("sottovoce"));
        let mut own = own.map(|name| name.strip_prefix("sottovoce-").unwrap_or(name));
        let Some(own_layer) = own.next().and_then(&layer) else { continue };
        for linked in own {
            assert!(layer(linked) < Some(own_layer), "{linked} is not below: {paragraph}");
        }
        seen += 1;
    }
    assert_eq!(seen, LAYERS.iter().map(|crates| crates.len()).sum::<usize>(), "{tree}");
}

/// Machines know their own rows: graphs are for the public descriptions from which rows are read.
#[test]
fn machines_see_no_graph() {
    let protocol = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/src");
    let (mut folders, mut files) = (vec![protocol.clone()], 0);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() && path != protocol.join("public") {
                folders.push(path);
            } else if path.is_file() && path != protocol.join("error.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains("sottovoce_topology"), "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files > 30, "{files}");
}

/// Packages as they are built: name, version and features.
fn built(arguments: &[&str]) -> BTreeSet<String> {
    let tree = cargo_tree(&[&["--format", "{p} {f}"], arguments].concat());
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned());
    // The program itself is built for the tests once more, with all its commands.
    lines.filter(|line| !line.starts_with("sottovoce-cli ")).collect()
}

/// `cargo run --release`, with the papers' program or without, and `cargo test --release --workspace` share every dependency.
#[test]
fn the_program_and_the_workspace_are_one_build() {
    for (alone, all) in
        [("normal,no-proc-macro", "normal,dev,no-proc-macro"), ("normal,build", "normal,build,dev")]
    {
        let all = built(&["--edges", all, "--workspace"]);
        for package in ["sottovoce-cli", "sottovoce-papers"] {
            let alone = built(&["--edges", alone, "--package", package]);
            let twice: Vec<_> = alone.difference(&all).collect();
            assert!(alone.len() > 100, "{alone:?}");
            assert!(
                twice.is_empty(),
                "built again, with other features: {twice:?}; name them in the workspace's manifest"
            );
        }
    }
}
