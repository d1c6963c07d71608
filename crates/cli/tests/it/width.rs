//! Nothing that the console shows is wider than 100 columns: results, lists of peers, messages, help.

use crate::common;

use std::path::Path;

use common::commands::{COMMANDS, filled, folder};
use common::sottovoce;

const WIDTH: usize = 100;

/// Both streams of a command that is run in a folder.
fn printed(arguments: &str, folder: &Path) -> String {
    let output = sottovoce(arguments).current_dir(folder).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn fits(arguments: &str, folder: &Path) -> String {
    let text = printed(arguments, folder);
    let wide = text.lines().find(|line| line.chars().count() > WIDTH);
    assert_eq!(wide, None, "{arguments}");
    text
}

#[test]
fn every_command_fits() {
    let folder = folder();
    for (_, command) in COMMANDS {
        let command = filled(command, Path::new(""));
        let again = if command.contains("--out") { " --overwrite" } else { "" };
        let text = fits(&command, folder.path());
        assert!(text.len() > 30 && text.lines().all(|line| line == line.trim_end()), "{command}: {text}");
        if !command.contains("--quiet") {
            fits(&format!("{command}{again} --verbose"), folder.path());
        }
    }
    for kind in ["averaging", "learning", "rumor"] {
        fits(&format!("new {kind}"), folder.path());
    }
}

#[test]
fn every_message_fits() {
    let folder = folder();
    for command in [
        "",
        "account averaging",
        "account mechanism",
        "account averaging --graph GRAPH --steps 2 --observers 0 --method nonsense",
        "account averaging --graph GRAPH --steps 2 --observers 9",
        "account averaging --graph GRAPH --steps 2 --observers 0 --sigma 0",
        "audit source --muting 0.1",
        "graph generate --family nope",
        "graph inspect nowhere.txt",
        "run learning --peers 16 --rows 20 --iterations 2 --method walk --rounds 3",
        "run learning --data GRAPH --label 0 --peers 2",
        "run nothing.toml",
        "plan averaging --peers 16 --target-worst",
        "schema nonsense",
    ] {
        let command = filled(command, Path::new(""));
        assert!(!sottovoce(&command).current_dir(folder.path()).output().unwrap().status.success());
        fits(&command, folder.path());
    }
}

/// The commands below one, as its help lists them.
fn below(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    list.filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

fn help_fits(words: &str, folder: &Path) -> usize {
    let help = fits(&format!("{words} --help"), folder);
    fits(&format!("{words} -h"), folder);
    let examples: Vec<&str> = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1).collect();
    let examples = examples.iter().take_while(|line| !line.is_empty());
    for example in examples {
        assert!(example.starts_with("  sottovoce ") && example.len() <= 98, "{words}: {example}");
    }
    1 + below(&help).iter().map(|name| help_fits(&format!("{words} {name}"), folder)).sum::<usize>()
}

#[test]
fn all_help_fits_and_examples_stay_on_their_lines() {
    let folder = folder();
    assert!(help_fits("", folder.path()) > 30);
}

#[test]
fn a_headline_alone_stays_on_its_line() {
    let command = "account rumor --peers 100 --curious 10 --muting 0.1 --quiet";
    let text = printed(command, Path::new("."));
    assert!(text.lines().count() == 1 && text.chars().count() > WIDTH, "{text}");
}
