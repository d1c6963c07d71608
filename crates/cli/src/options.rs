//! `sottovoce schema --options`: every command with its options, defaults and help as data, for whoever writes a reference or wraps the program.
//!
//! It is read off the definitions that parse the command line, so that it cannot say anything else than they do.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};
use schemars::JsonSchema;
use serde::Serialize;

/// All commands.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Options {
    /// Every command, those above before those below.
    pub(crate) commands: Vec<OneCommand>,
}

/// A command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneCommand {
    /// Its words, such as `account averaging`; empty for the program itself.
    pub(crate) name: String,
    /// What it is for.
    about: String,
    /// How it is called.
    usage: String,
    /// Lines that can be run.
    examples: Vec<String>,
    /// What its help says after the options, without the examples.
    notes: String,
    /// Whether other commands follow it, and it does nothing by itself.
    group: bool,
    /// Its arguments in the order of its help.
    options: Vec<OneOption>,
}

/// An option, or an argument that has a place and no name.
#[derive(Debug, Serialize, JsonSchema)]
struct OneOption {
    /// Without dashes.
    name: String,
    /// In one letter.
    short: Option<char>,
    /// Whether it is given by its place, without a name.
    positional: bool,
    /// What is written for its value; none, if it takes no value.
    value: Option<String>,
    /// What its value is.
    kind: Kind,
    /// Whether it may also be given without a value.
    optional: bool,
    /// Whether it takes several values, with commas between them.
    many: bool,
    /// Whether there is no command without it.
    required: bool,
    /// What it is if it is not given, where that is one value whatever else is given.
    default: Option<String>,
    /// The values it can have, where they are few.
    possible: Vec<Possible>,
    /// What it is for.
    help: String,
    /// The heading it stands under.
    heading: Option<String>,
}

/// A value that an option can have.
#[derive(Debug, Serialize, JsonSchema)]
struct Possible {
    /// As it is written.
    value: String,
    /// What it means.
    help: String,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// None: it is given or not.
    Flag,
    /// One of a few words.
    Choice,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A file or a folder.
    Path,
    /// Anything else; what, its help says.
    Text,
}

impl Options {
    /// All of them, or those whose name begins with these words.
    pub(crate) fn of(mut root: Command, words: &[String]) -> Self {
        root.build();
        let mut commands = Vec::new();
        walk(&root, &mut Vec::new(), &mut commands);
        commands.retain(|one| {
            one.name.split_whitespace().zip(words).filter(|(a, b)| a == b).count() == words.len()
        });
        Self { commands }
    }
}

fn walk(command: &Command, words: &mut Vec<String>, found: &mut Vec<OneCommand>) {
    found.push(one(command, words.join(" ")));
    for below in command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
    {
        words.push(below.get_name().to_owned());
        walk(below, words, found);
        words.pop();
    }
}

fn one(command: &Command, name: String) -> OneCommand {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, notes) = parted(&after);
    let usage = command.clone().render_usage().to_string();
    OneCommand {
        name,
        about: text(command.get_long_about().or(command.get_about())),
        usage: usage.trim_start_matches("Usage:").trim().to_owned(),
        examples,
        notes,
        group: command.is_subcommand_required_set() || command.is_arg_required_else_help_set(),
        options: command.get_arguments().filter(|one| !one.is_hide_set() && own(one)).map(option).collect(),
    }
}

/// Not those that only show help.
fn own(argument: &Arg) -> bool {
    use ArgAction::{Help, HelpLong, HelpShort, Version};
    !matches!(argument.get_action(), Help | HelpLong | HelpShort | Version)
}

fn option(argument: &Arg) -> OneOption {
    let kind = kind(argument);
    let names = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let several = argument.get_num_args().is_some_and(|range| range.max_values() > 1);
    OneOption {
        name: argument.get_long().unwrap_or(argument.get_id().as_str()).to_owned(),
        short: argument.get_short(),
        positional: argument.is_positional(),
        value: (kind != Kind::Flag && !names.is_empty()).then(|| names.join(" ")),
        kind,
        optional: kind != Kind::Flag && argument.get_num_args().is_some_and(|range| range.min_values() == 0),
        many: several
            || argument.get_value_delimiter().is_some()
            || matches!(argument.get_action(), ArgAction::Append),
        required: argument.is_required_set(),
        default: (!values.is_empty() && kind != Kind::Flag).then(|| values.join(",")),
        possible: if kind == Kind::Choice {
            argument.get_possible_values().iter().map(possible).collect()
        } else {
            vec![]
        },
        help: text(argument.get_long_help().or(argument.get_help())),
        heading: argument.get_help_heading().map(str::to_owned),
    }
}

fn possible(value: &clap::builder::PossibleValue) -> Possible {
    Possible { value: value.get_name().to_owned(), help: text(value.get_help()) }
}

/// What the parser of its values makes of them.
fn kind(argument: &Arg) -> Kind {
    let made = argument.get_value_parser().type_id();
    let is = |kinds: &[TypeId]| kinds.iter().any(|kind| made == *kind);
    if !argument.get_action().takes_values() {
        Kind::Flag
    } else if !argument.get_possible_values().is_empty() {
        Kind::Choice
    } else if is(&[TypeId::of::<usize>(), TypeId::of::<u64>(), TypeId::of::<u32>(), TypeId::of::<i64>()]) {
        Kind::Integer
    } else if is(&[TypeId::of::<f64>(), TypeId::of::<f32>()]) {
        Kind::Number
    } else if is(&[TypeId::of::<PathBuf>()]) {
        Kind::Path
    } else {
        Kind::Text
    }
}

fn text(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|text| text.to_string().trim().to_owned()).unwrap_or_default()
}

/// Lines that can be run, and the rest.
fn parted(after: &str) -> (Vec<String>, String) {
    let example = |line: &&str| line.trim_start().starts_with("sottovoce ");
    let examples = after.lines().filter(example).map(|line| line.trim().to_owned()).collect();
    let rest = after.lines().filter(|line| !example(line) && !["Example:", "Examples:"].contains(line));
    (examples, rest.collect::<Vec<_>>().join("\n").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_says_what_it_is_for_and_every_option_what_it_does() {
        let found = Options::of(crate::command(), &[]);
        assert!(found.commands.len() > 30, "{}", found.commands.len());
        for command in &found.commands {
            assert!(!command.about.is_empty() && command.usage.starts_with("sottovoce"), "{command:?}");
            assert!(!command.examples.is_empty(), "{} has no example", command.name);
            for option in &command.options {
                assert!(!option.help.is_empty(), "{} {}", command.name, option.name);
                assert_eq!(option.kind == Kind::Flag, option.value.is_none(), "{} {option:?}", command.name);
                assert!(!(option.required && option.default.is_some()), "{} {option:?}", command.name);
            }
        }
    }

    #[test]
    fn words_choose_a_command_and_those_below() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let names = |line: &str| -> Vec<String> {
            Options::of(crate::command(), &words(line)).commands.into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names("account averaging"), ["account averaging"]);
        assert!(
            names("account").len() > 5 && names("account").iter().all(|name| name.starts_with("account"))
        );
        assert!(names("acc").is_empty());
    }

    #[test]
    fn kinds_are_those_of_the_parsers() {
        let found = Options::of(crate::command(), &["account".into(), "rumor".into()]);
        let kind = |name: &str| {
            let options = &found.commands[0].options;
            options.iter().find(|option| option.name == name).map(|option| option.kind)
        };
        assert_eq!(kind("peers"), Some(Kind::Integer));
        assert_eq!(kind("muting"), Some(Kind::Number));
        assert_eq!(kind("json"), Some(Kind::Flag));
    }

    #[test]
    fn some_options_may_have_a_value() {
        let found = Options::of(crate::command(), &[]);
        let optional = |command: &OneCommand| {
            let options = command.options.iter().filter(|option| option.optional);
            options.map(|option| format!("{} --{}", command.name, option.name)).collect::<Vec<_>>()
        };
        let all: Vec<String> = found.commands.iter().flat_map(optional).collect();
        let some = ["mean", "worst", "far"].map(|of| format!("plan averaging --target-{of}"));
        assert!(some.iter().all(|one| all.contains(one)), "{all:?}");
        assert!(all.iter().all(|one| !one.contains("--json") && !one.contains("--peers")), "{all:?}");
    }
}
