//! What a field that an error names is called on this command line: libraries speak of nodes, rounds and orders alpha, users gave `--peers`, `--steps`
//! and `--order`.

use clap::{ArgMatches, Command};

/// Names in libraries, and the options that stand for them.
const CALLED: [(&str, &str); 12] = [
    ("n", "peers"),
    ("nodes", "peers"),
    ("rounds", "steps"),
    ("tau", "relay-noise"),
    ("alpha", "order"),
    ("mixing", "weights"),
    ("mixings", "schedule"),
    ("schemes", "schedule"),
    ("samples", "expected"),
    ("t", "split"),
    ("rates", "rate"),
    ("peers", "agents"),
];

/// The message with the option's name instead of the field's, where the command has the one and not the other.
pub(crate) fn by_option(message: &str, command: &Command, matches: &ArgMatches) -> String {
    let command = innermost(command, matches);
    let named = message.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    let Some((field, rest)) = named.filter(|(field, _)| !has(command, field)) else {
        return message.to_owned();
    };
    match CALLED.iter().find(|(name, option)| *name == field && has(command, option)) {
        Some((_, option)) => format!("`{option}`{rest}"),
        None => message.to_owned(),
    }
}

/// The command that was run.
fn innermost<'a>(command: &'a Command, matches: &ArgMatches) -> &'a Command {
    let inner = matches.subcommand().and_then(|(name, inner)| Some((command.find_subcommand(name)?, inner)));
    inner.map_or(command, |(command, matches)| innermost(command, matches))
}

/// Whether a command has an option of this name.
fn has(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(option))
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn a_field_is_called_by_the_option_that_there_is() {
        let walk = Command::new("walk").args([Arg::new("p").long("peers"), Arg::new("o").long("order")]);
        let other = Command::new("other").args([Arg::new("n").long("nodes"), Arg::new("p").long("peers")]);
        let all = Command::new("all").subcommands([walk, other]);
        let said = |name: &str, message: &str| {
            by_option(message, &all, &all.clone().get_matches_from(["all", name]))
        };
        assert_eq!(said("walk", "`nodes` is 0: give more"), "`peers` is 0: give more");
        assert_eq!(said("walk", "`alpha` is 1: give more"), "`order` is 1: give more");
        assert_eq!(said("walk", "`rounds` is 0: give more"), "`rounds` is 0: give more");
        assert_eq!(said("other", "`nodes` is 0: give more"), "`nodes` is 0: give more");
        assert_eq!(said("walk", "no field"), "no field");
    }
}
