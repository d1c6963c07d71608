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
