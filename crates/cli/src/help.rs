//! Help texts as people see them: prose flows to the width of the terminal, examples stay on their lines.

use std::io::Write;

use clap::Command;

use crate::prose::{self, WIDTH};

/// The same command with prose that flows, and so for all commands below it.
pub(crate) fn flowing(command: Command) -> Command {
    let below: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let text = command.get_after_help().map(|text| flow(&text.to_string()));
    let command = command.max_term_width(WIDTH);
    let command = text.into_iter().fold(command, Command::after_help);
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, flowing))
}

/// Help, or what is wrong with the arguments. A list of alternatives may be wider than everything else; then lines are broken.
pub(crate) fn text(error: &clap::Error) -> String {
    let text = error.render().to_string();
    if narrow(&text) {
        return text;
    }
    let spaced = |line: &str| match narrow(line) {
        true => line.to_owned(),
        false => line.replace('|', " | "),
    };
    prose::wrapped(&text.lines().map(spaced).collect::<Vec<_>>().join("\n"))
}

fn narrow(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= WIDTH)
}

/// Shows it, with colours where no line had to be broken, and ends the program.
pub(crate) fn show(error: &clap::Error) -> ! {
    if narrow(&error.render().to_string()) {
        error.exit();
    }
    let text = text(error);
    // Whether anybody reads it does not matter.
    _ = match error.use_stderr() {
        true => writeln!(std::io::stderr().lock(), "{text}"),
        false => writeln!(std::io::stdout().lock(), "{text}"),
    };
    std::process::exit(error.exit_code());
}

/// Joins the lines of a paragraph. What is indented, or follows a colon, keeps its line.
fn flow(text: &str) -> String {
    let mut flowed = String::new();
    let mut open = false;
    for line in text.lines() {
        let prose = !line.is_empty() && !line.starts_with(' ');
        flowed.push_str(if open && prose { " " } else { "\n" });
        flowed.push_str(line);
        open = prose && !line.ends_with(':');
    }
    flowed.trim_start_matches('\n').to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn prose_flows_and_examples_stay() {
        let text = "Examples:\n  one --two\n  three\n\nSome prose\nthat goes on.\n\nMore.";
        assert_eq!(flow(text), "Examples:\n  one --two\n  three\n\nSome prose that goes on.\n\nMore.");
    }

    /// Every command, with the words that lead to it.
    fn all(command: &Command, words: &[String]) -> Vec<(Vec<String>, Command)> {
        let mut found = vec![(words.to_vec(), command.clone())];
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            found.extend(all(sub, &[words, &[sub.get_name().to_owned()]].concat()));
        }
        found
    }

    #[test]
    fn every_command_has_examples_that_fit_and_parse() {
        let root = flowing(crate::Cli::command());
        for (words, command) in all(&root, &["sottovoce".to_owned()]) {
            let help = command.clone().render_help().to_string();
            let examples: Vec<&str> =
                help.lines().map(str::trim).filter(|line| line.starts_with("sottovoce ")).collect();
            assert!(!examples.is_empty(), "{words:?} has no example");
            for example in examples {
                assert!(example.len() + 4 <= WIDTH, "{words:?}: {example} is too long");
                let line = example.split(" > ").next().unwrap().split(" | ").next().unwrap();
                let arguments = crate::files::named(line.split_whitespace().map(Into::into));
                let parsed = crate::Cli::command().try_get_matches_from(arguments);
                assert!(parsed.is_ok(), "{words:?}: {example}: {}", parsed.unwrap_err());
            }
        }
    }
}
