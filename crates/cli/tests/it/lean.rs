//! The main command stays lean: what only a real peer needs is built for nobody else.

use std::process::Command;

fn tree(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--edges", "normal,build", "--prefix", "none", "--package", "sottovoce-cli"])
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
    for heavy in ["iroh", "tokio", "axum", "redb", "cudarc", "sottovoce-node"] {
        assert!(!has(&plain, heavy), "{heavy} is built for everybody");
    }
    let serve = tree(&["--features", "serve"]);
    assert!(has(&serve, "axum") && has(&serve, "tokio"));
    assert!(!has(&serve, "iroh") && !has(&serve, "redb"), "a page is no peer");
    let node = tree(&["--features", "node"]);
    assert!(has(&node, "iroh") && has(&node, "redb"));
    assert!(!has(&node, "iroh-gossip"), "who speaks to whom is part of the proof");
}
