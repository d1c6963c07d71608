//! What a field that an error names is called where the user wrote it: libraries speak of nodes, rounds and orders alpha, users gave `--peers`, `--steps`
//! and `--order`, or a file with `noise.sigma`.

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use sottovoce::experiment::places;

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

/// Options and names in libraries that a file has otherwise.
const IN_FILES: [(&str, &str); 6] = [
    ("drop-messages", "drop"),
    ("step-size", "size"),
    ("step", "size"),
    ("relay", "relay-noise"),
    ("loss", "objective"),
    ("protocol", "method"),
];

/// Experiments are shorter.
const MOST_BYTES: u64 = 1 << 20;

/// The message with the name that the user gave the field, where the message has another: the option's, or its place in a file.
pub(crate) fn by_user(message: &str, command: &Command, matches: &ArgMatches) -> String {
    let (command, matches) = innermost(command, matches);
    let named = message.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    let Some((field, rest)) = named.filter(|(field, _)| !has(command, field)) else {
        return message.to_owned();
    };
    let option = || CALLED.iter().find(|(name, option)| *name == field && has(command, option));
    match in_file(field, rest, matches).or_else(|| option().map(|(_, option)| (*option).to_owned())) {
        Some(name) => format!("`{name}`{rest}"),
        None => message.to_owned(),
    }
}

/// Where the experiment that was given has a field with the value that is complained about, if it has it in one place.
fn in_file(field: &str, rest: &str, matches: &ArgMatches) -> Option<String> {
    let said = rest.strip_prefix(" is ")?;
    let file = matches.try_get_one::<PathBuf>("file").ok()??;
    // A pipe cannot be read twice.
    let known = std::fs::metadata(file).ok()?;
    let small = known.is_file() && known.len() <= MOST_BYTES && file.as_os_str() != "-";
    place(field, said, &small.then(|| std::fs::read_to_string(file).ok())??)
}

fn place(field: &str, said: &str, text: &str) -> Option<String> {
    let number = |text: &str| text.split([':', ';']).next()?.parse::<f64>().ok();
    let whole = |text: &str| said.strip_prefix(text).is_some_and(|rest| rest.starts_with([':', ';']));
    let meant = |value: &str| {
        whole("given") || whole(value) || number(value).is_some_and(|is| number(said) == Some(is))
    };
    let others = CALLED.iter().chain(&IN_FILES).filter(|(name, _)| *name == field).map(|(_, other)| *other);
    [field].into_iter().chain(others).find_map(|name| {
        let [(place, value)] = places(text, name).try_into().ok()?;
        meant(&value).then_some(place)
    })
}

/// The command that was run, and what it was given.
fn innermost<'a>(command: &'a Command, matches: &'a ArgMatches) -> (&'a Command, &'a ArgMatches) {
    let inner = matches.subcommand().and_then(|(name, inner)| Some((command.find_subcommand(name)?, inner)));
    inner.map_or((command, matches), |(command, matches)| innermost(command, matches))
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
        let said =
            |name: &str, message: &str| by_user(message, &all, &all.clone().get_matches_from(["all", name]));
        assert_eq!(said("walk", "`nodes` is 0: give more"), "`peers` is 0: give more");
        assert_eq!(said("walk", "`alpha` is 1: give more"), "`order` is 1: give more");
        assert_eq!(said("walk", "`rounds` is 0: give more"), "`rounds` is 0: give more");
        assert_eq!(said("other", "`nodes` is 0: give more"), "`nodes` is 0: give more");
        assert_eq!(said("walk", "no field"), "no field");
    }

    #[test]
    fn a_field_of_a_file_is_called_by_its_place() {
        let file = "experiment = 'learning'\nseed = 1\n[noise]\nsigma = 1\n[network]\ndrop = 2\n[graph.family.ring]\nn = 3\n[walk]\nrate = 1\n[clock]\nrate = 2\n[protocol]\nmethod = 'walk'";
        let said =
            |message: &str| message.split_once(" is ").and_then(|(field, said)| place(field, said, file));
        assert_eq!(said("sigma is 1: give more").as_deref(), Some("noise.sigma"));
        assert_eq!(said("drop-messages is 2.0: give less").as_deref(), Some("network.drop"));
        assert_eq!(said("n is 3; give more").as_deref(), Some("graph.family.ring.n"));
        assert_eq!(said("seed is given: leave it out").as_deref(), Some("seed"));
        assert_eq!(said("protocol is walk: give another").as_deref(), Some("protocol.method"));
        // Another value, in two places, or in none: it is not said which.
        assert_eq!(said("sigma is 12: give less"), None);
        assert_eq!(said("rate is 1: give more"), None);
        assert_eq!(said("delta is 1: give less"), None);
    }
}
