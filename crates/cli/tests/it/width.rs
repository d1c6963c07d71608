//! Nothing that the console shows is wider than 100 columns: results, lists of peers, messages, help.

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;

use common::commands::{COMMANDS, filled, folder};
use common::{asked, sottovoce};

const WIDTH: usize = 100;

/// What a command shows.
fn fits(arguments: &str) -> String {
    let answer = asked(arguments).unwrap_or_else(|fault| panic!("{arguments}: {fault:?}"));
    let text = answer.printed + &answer.notes.join("\n");
    narrow(arguments, &text);
    text
}

fn narrow(arguments: &str, text: &str) {
    let wide = text.lines().find(|line| line.chars().count() > WIDTH);
    assert_eq!(wide, None, "{arguments}");
}

#[test]
fn every_command_fits() {
    let folder = folder();
    let mut seen = BTreeSet::new();
    // One of each kind, and those whose files others read: `schema.rs` runs them all. What is said of nets has the form of what is said of models.
    let mut needed = |name, command: &str| seen.insert(name) || command.contains("--out");
    for (_, command) in
        COMMANDS.iter().filter(|(name, command)| needed(name, command) && !name.contains("deep"))
    {
        // With the lists of all peers, too.
        let all = if command.contains("--quiet") { "" } else { " --verbose" };
        let text = fits(&format!("{}{all}", filled(command, folder.path())));
        assert!(text.len() > 30 && text.lines().all(|line| line == line.trim_end()), "{command}: {text}");
    }
    for command in [
        "account averaging --graph GRAPH --steps 2 --all-pairs",
        "run averaging --peers 9 --no-report",
        "new averaging",
        "new learning",
        "new rumor",
    ] {
        fits(&filled(command, folder.path()));
    }
}

#[test]
#[ignore = "second tier: every command twice"]
fn all_commands_fit_with_and_without_lists() {
    let folder = folder();
    for (_, command) in COMMANDS {
        let command = filled(command, folder.path());
        fits(&command);
        let again = if command.contains("--out") { " --overwrite" } else { "" };
        if !command.contains("--quiet") {
            fits(&format!("{command}{again} --verbose"));
        }
    }
}

#[test]
fn every_message_fits() {
    let folder = folder();
    for command in [
        "",
        "account mechanism",
        "account averaging --graph GRAPH --steps 2 --observers 0 --protocol nonsense",
        "account averaging --graph GRAPH --steps 2 --observers 9",
        "account averaging --graph GRAPH --steps 2 --observers 0 --sigma 0",
        "audit source --muting 0.1",
        "graph generate --family nope",
        "graph inspect nowhere.txt",
        "run learning --peers 16 --rows 20 --iterations 2 --method walk --steps 3",
        "run learning --data GRAPH --label 0 --peers 2",
        "run nothing.toml",
        "plan averaging --peers 16 --target-worst",
        "schema nonsense",
    ] {
        let command = filled(command, Path::new(""));
        let output = sottovoce(&command).current_dir(folder.path()).output().unwrap();
        assert!(!output.status.success(), "{command}");
        narrow(&command, &String::from_utf8([output.stdout, output.stderr].concat()).unwrap());
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

fn help_fits(words: &str) -> usize {
    let help = fits(&format!("{words} --help"));
    fits(&format!("{words} -h"));
    let examples: Vec<&str> = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1).collect();
    let examples = examples.iter().take_while(|line| !line.is_empty());
    for example in examples {
        assert!(example.starts_with("  sottovoce ") && example.len() <= 98, "{words}: {example}");
    }
    1 + below(&help).iter().map(|name| help_fits(&format!("{words} {name}"))).sum::<usize>()
}

#[test]
fn all_help_fits_and_examples_stay_on_their_lines() {
    assert!(help_fits("") > 30);
}

#[test]
fn a_headline_alone_stays_on_its_line() {
    let text = asked("account rumor --peers 100 --curious 10 --muting 0.1 --quiet").unwrap().printed;
    assert!(text.lines().count() == 1 && text.chars().count() > WIDTH, "{text}");
}
