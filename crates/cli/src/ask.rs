//! The program for other programs in the same process: the same words, the same documents, and errors in parts.
//!
//! ```text
//! words, inputs ──► ask_with ──► Answer: what it prints, remarks
//!                      │  ▲        Fault: message, exit code, field, value, remedy, and what was printed before a claim fell
//!          progress ◄──┘  └── stop     (Watch: looked at and raised by another thread)
//! ```

use std::cell::RefCell;
use std::error::Error as _;
use std::ffi::OsString;

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use sottovoce::experiment::Inputs;

use crate::progress::Watch;
use crate::{Cli, Global, called, exit, help, input, output, read, seed};

/// Why a command came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What the program says.
    pub message: String,
    /// What it exits with; [`STOPPED`](Fault::STOPPED) where somebody stopped it.
    pub code: u8,
    /// The field that is at fault, what it is, and what would be right, where the message names one.
    pub field: Option<[String; 3]>,
    /// What it had printed by then: the document of an audit whose claim fell.
    pub printed: String,
}

impl Fault {
    /// The code of a command that was stopped, as shells have it.
    pub const STOPPED: u8 = 130;

    /// From what the program says, and what it exits with.
    pub fn new(message: String, code: u8) -> Self {
        Self { field: parts(&message), message, code, printed: String::new() }
    }
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it prints on standard output.
    pub printed: String,
    /// Remarks, which it prints on standard error.
    pub notes: Vec<String>,
}

/// Runs a command in this process, as the program does with these words: `ask(&["account", "rumor", "--peers", "40", "--json"])`.
///
/// # Errors
///
/// What the program says where it exits with another code than 0.
///
/// # Examples
///
/// ```
/// let answer = sottovoce_cli::ask(&["account", "rumor", "--peers", "40", "--curious", "4", "--json"]).unwrap();
/// assert!(answer.printed.contains("\"schema_version\":1"));
/// let fault = sottovoce_cli::ask(&["account", "rumor", "--peers", "1", "--curious", "0"]).unwrap_err();
/// assert_eq!((fault.code, fault.field.unwrap()[0].as_str()), (2, "peers"));
/// ```
pub fn ask<W: Into<OsString> + Clone>(words: &[W]) -> Result<Answer, Fault> {
    ask_with(words, &Watch::default(), Inputs::default())
}

/// The same, watched: another thread sees how far it is, and may stop it. Then nothing is left half written. Where the words, or a file that they name,
/// have `<memory>` for the name of a file, it stands for one of the inputs.
///
/// # Errors
///
/// As for [`ask`], and [`Fault::STOPPED`].
///
/// # Examples
///
/// ```
/// use sottovoce_cli::{Fault, Watch, ask_with};
/// let watch = Watch::default();
/// watch.stop();
/// let words = ["account", "rumor", "--peers", "40", "--curious", "4"];
/// let fault = ask_with(&words, &watch, Default::default()).unwrap_err();
/// assert_eq!(fault.code, Fault::STOPPED);
/// ```
pub fn ask_with<W: Into<OsString> + Clone>(
    words: &[W],
    watch: &Watch,
    inputs: Inputs,
) -> Result<Answer, Fault> {
    inputs.lend(|| asked(words, watch, |_| ()))
}

/// The same of `node run`, with a function that computes gradients, and a way to stop it.
///
/// # Errors
///
/// As for [`ask`].
#[cfg(feature = "node")]
pub fn ask_by<W: Into<OsString> + Clone>(words: &[W], hand: sottovoce_node::Hand) -> Result<Answer, Fault> {
    asked(words, &Watch::default(), |global| global.hand = hand)
}

fn asked<W: Into<OsString> + Clone>(
    words: &[W],
    watch: &Watch,
    given: impl FnOnce(&mut Global),
) -> Result<Answer, Fault> {
    let words: Vec<OsString> = words.iter().map(|word| word.clone().into()).collect();
    input::forget();
    let (result, said) = output::heard(|| watch.over(|| done(words, given)));
    match result {
        Err(stopped) => Err(Fault::new(stopped.to_string(), Fault::STOPPED)),
        Ok(Ok(())) => Ok(Answer { printed: said.printed, notes: said.notes }),
        // Help is what was asked for.
        Ok(Err(fault)) if fault.code == 0 => Ok(Answer { printed: fault.message, notes: said.notes }),
        Ok(Err(fault)) => Err(Fault { printed: said.printed, ..fault }),
    }
}

thread_local! {
    /// The definition of the command line, which takes longer to make than most commands take to run.
    static COMMAND: RefCell<Option<clap::Command>> = const { RefCell::new(None) };
}

fn done(words: Vec<OsString>, given: impl FnOnce(&mut Global)) -> Result<(), Fault> {
    let mut command = COMMAND.take().unwrap_or_else(crate::command);
    let told = match read(words, &mut command) {
        Ok((mut cli, matches)) => {
            given(&mut cli.global);
            run(&cli, &matches, &command)
        }
        Err(error) => Err(unread(&error)),
    };
    COMMAND.set(Some(command));
    told
}

/// A command line that cannot be read.
pub(crate) fn unread(error: &clap::Error) -> Fault {
    let fault = Fault::new(help::text(error), error.exit_code() as u8);
    Fault { field: of_clap(error), ..fault }
}

fn run(cli: &Cli, matches: &ArgMatches, command: &clap::Command) -> Result<(), Fault> {
    if seed::was_drawn(matches) {
        output::say(&seed::drawn(cli.global.seed));
    }
    cli.run().map_err(|error| fault(&error, command, matches))
}

/// An error in the user's words.
pub(crate) fn fault(error: &anyhow::Error, command: &clap::Command, matches: &ArgMatches) -> Fault {
    let message = called::by_user(&format!("{error:#}"), command, matches);
    Fault::new(message, exit::code(error))
}

/// The parts of a message: `field` is value: remedy. What stands before, such as the file in which the field is, and a semicolon instead of the colon do no harm.
fn parts(message: &str) -> Option<[String; 3]> {
    let (_, rest) = message.split_once('`')?;
    let (field, rest) = rest.split_once("` is ")?;
    let (value, remedy) = rest.split_once(": ").or_else(|| rest.split_once("; "))?;
    // A field is a name.
    let named = !field.is_empty() && !field.contains(['`', ' ', '\n']);
    named.then(|| [field, value, remedy].map(str::to_owned))
}

/// The option that the parser complains about, what it is, and what would be right.
fn of_clap(error: &clap::Error) -> Option<[String; 3]> {
    let text = |kind: ContextKind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        other => Some(other.to_string()),
    };
    let option = text(ContextKind::InvalidArg).unwrap_or_default();
    let named = |text: &str| bare(text.split(", ").next().unwrap_or_default());
    let hint = |kind: ContextKind| text(kind).map(|close| format!("; there is {close}")).unwrap_or_default();
    let value = || text(ContextKind::InvalidValue).unwrap_or_default();
    let [field, value, remedy] = match error.kind() {
        ErrorKind::InvalidValue => {
            let all = text(ContextKind::ValidValue).filter(|all| !all.is_empty());
            [named(&option), value(), all.map_or("give a value".into(), |all| format!("give one of {all}"))]
        }
        ErrorKind::ValueValidation => {
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            [named(&option), value(), cause]
        }
        ErrorKind::UnknownArgument => {
            let remedy = format!("this command has no such option{}", hint(ContextKind::SuggestedArg));
            [named(&option), "given".into(), remedy]
        }
        ErrorKind::MissingRequiredArgument => [named(&option), "missing".into(), format!("give {option}")],
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).unwrap_or_default();
            [named(&option), "given".into(), format!("it does not go with {other}; leave one of them out")]
        }
        ErrorKind::InvalidSubcommand => {
            let close = hint(ContextKind::SuggestedSubcommand);
            let name = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            ["command".into(), name, format!("there is no such command{close}")]
        }
        ErrorKind::MissingSubcommand => {
            let all = text(ContextKind::ValidSubcommand).unwrap_or_default();
            ["command".into(), "missing".into(), format!("give one of {all}")]
        }
        ErrorKind::WrongNumberOfValues
        | ErrorKind::TooManyValues
        | ErrorKind::TooFewValues
        | ErrorKind::NoEquals => [named(&option), value(), "give as many values as it takes".into()],
        _ => return None,
    };
    Some([field, value, remedy])
}

/// The name of an option alone: `--peers <N>` is `peers`.
fn bare(option: &str) -> String {
    let first = option.split([' ', '=']).next().unwrap_or_default();
    first.trim_start_matches('-').trim_matches(['<', '>', '[', ']', '.']).to_lowercase()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Answer, Fault> {
        ask(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn the_same_words_say_the_same_whatever_was_asked_before() {
        let good = "account rumor --peers 40 --curious 4 --json";
        let first = asked(good).unwrap();
        for other in
            ["account rumor --pears 4", "graph generate --family ring --peers 5", "--help", "account"]
        {
            _ = asked(other);
            assert_eq!(asked(good).unwrap(), first, "after {other}");
        }
        let help = asked("account rumor --help").unwrap().printed;
        assert!(help.contains("--curious"), "{help}");
        assert_eq!(asked("account rumor --help").unwrap().printed, help);
    }

    #[test]
    fn a_message_has_parts() {
        let three = |message: &str| parts(message).map(|parts| parts.join("|"));
        assert_eq!(three("`peers` is 1: give 2").as_deref(), Some("peers|1|give 2"));
        assert_eq!(
            three("x.json (read as y): `nodes` is empty; give one").as_deref(),
            Some("nodes|empty|give one")
        );
        assert_eq!(three("nothing is wrong"), None);
        assert_eq!(three("see `sottovoce --help`; `it` is there: x"), None);
    }

    #[test]
    fn the_parser_names_the_option_too() {
        for (line, field, value, remedy) in [
            ("account rumor --pears 4", "pears", "given", "no such option; there is --peers"),
            ("account rumor --peers x --curious 1", "peers", "x", ""),
            ("account rumour", "command", "rumour", "no such command; there is rumor"),
            ("graph generate --family nothing", "family", "nothing", "give one of"),
            ("graph inspect", "file", "missing", "give "),
            (
                "account rumor --peers 4 --curious 1 --quiet --verbose",
                "quiet",
                "given",
                "leave one of them out",
            ),
        ] {
            let fault = asked(line).unwrap_err();
            let found = fault.field.unwrap_or_else(|| panic!("{line}: {}", fault.message));
            assert_eq!((found[0].as_str(), found[1].as_str(), fault.code), (field, value, 2), "{line}");
            assert!(found[2].contains(remedy), "{line}: {}", found[2]);
        }
    }

    #[test]
    fn a_claim_that_fell_is_an_error_with_a_document() {
        let folder = tempfile::tempdir().unwrap();
        let ring = folder.path().join("ring.txt");
        std::fs::write(&ring, (0..12).map(|i| format!("{i} {}\n", (i + 1) % 12)).collect::<String>())
            .unwrap();
        let claim = folder.path().join("claim.json");
        std::fs::write(&claim, "[0,1,1,1,1,1,0.0003,1,1,1,1,1]").unwrap();
        let line =
            format!("--lazy .3 --steps 6 --observers 0 --claim {} --runs 2000 --json", claim.display());
        let fault = asked(&format!("audit reconstruct --graph {} {line}", ring.display())).unwrap_err();
        assert_eq!(fault.code, 1, "{}", fault.message);
        assert!(fault.printed.contains("\"schema_version\":1"), "{}", fault.printed);
    }
}
