//! What this program shares with others of the workspace (`sottovoce-papers`): options of every command, printing, progress, exit codes. They come in by this door.
//!
//! ```text
//! main(clap::Command, run) ──► reads the words ──► run(&its own commands, &Global) ──► print, progress, provenance
//!                                                          │ error
//!                                                          ▼
//!                                              message, document of failure, exit code
//! ```

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

pub use crate::Global;
pub use crate::device::Device;
pub use crate::output::Report;
pub use crate::schema::{Form, of as form, print as print_schema};
use crate::{ask, exit, help, input, output, seed};

/// A whole program: reads its arguments, does what its command says, prints its result or its error. `called` has its name, what it is for, and its examples;
/// its commands and the options of every command are added to it.
pub fn main<C: Subcommand>(called: Command, run: impl FnOnce(&C, &Global) -> anyhow::Result<()>) -> ExitCode {
    let (mut command, words) = (whole::<C>(called), std::env::args_os().collect::<Vec<_>>());
    output::call(command.get_name());
    let read = command.try_get_matches_from_mut(&words).and_then(|matches| {
        let (own, mut global) = (C::from_arg_matches(&matches)?, Global::from_arg_matches(&matches)?);
        global.given(words.into_iter().skip(1).collect(), &matches);
        global.is_seeded = true;
        Ok((own, global, matches))
    });
    let (own, global, matches) = read.unwrap_or_else(|error| unread(&error));
    done(&global, &command, &matches, || run(&own, &global))
}

/// With all its commands and options, and help that flows.
fn whole<C: Subcommand>(called: Command) -> Command {
    let examples = called.get_after_help().map(ToString::to_string).unwrap_or_default();
    let about = called.get_about().cloned().unwrap_or_default();
    let all = Global::augment_args(C::augment_subcommands(called)).version(env!("CARGO_PKG_VERSION"));
    let all = all.about(about).after_help(format!("{examples}\n\n{}", exit::HELP));
    help::flowing(all.subcommand_required(true).arg_required_else_help(true))
}

/// Keeps the hash of the graph's file, which a result then says it rests on.
pub fn has_read_graph(sha256: String) {
    input::keep(input::GRAPH, sha256);
}

impl Global {
    /// Takes note of how it was asked.
    pub(crate) fn given(&mut self, words: Vec<OsString>, matches: &ArgMatches) {
        self.seed_given = seed::was_given(matches);
        self.words = words;
    }
}

/// Says why the arguments cannot be read, with a document where one is asked for, and ends the program.
pub(crate) fn unread(error: &clap::Error) -> ! {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if error.use_stderr() && words.iter().any(|word| word == "--json") {
        let fault = ask::unread(error);
        let global = Global { words, ..Global::default() };
        let document = exit::document(&anyhow::Error::msg(fault.message.clone()), &fault);
        print_failure(&global, &document);
    }
    help::show(error)
}

/// Whether anybody reads it does not matter.
fn print_failure(global: &Global, failure: &exit::Failure) {
    let document = global.document(failure);
    _ = document.and_then(|text| output::write(format!("{text}\n").as_bytes()));
}

/// Runs what was read, and prints its error.
pub(crate) fn done(
    global: &Global,
    command: &Command,
    matches: &ArgMatches,
    run: impl FnOnce() -> anyhow::Result<()>,
) -> ExitCode {
    if global.quiet {
        output::hush();
    } else if seed::was_drawn(matches) {
        output::say(&seed::drawn(global.seed));
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let fault = ask::fault(&error, command, matches);
            output::say(&fault.message);
            // One document: a result that was printed before says enough.
            if global.json && !output::was_written() {
                print_failure(global, &exit::document(&error, &fault));
            }
            ExitCode::from(fault.code)
        }
    }
}
