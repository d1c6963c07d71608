//! The `sottovoce` program: parses, runs, prints, and turns errors into messages and exit codes.
//!
//! Each command has a file (or folder) of its own; none contains mathematics. Other programs ask it by [`ask`]: the same words, and the same JSON document;
//! by [`ask_with`] they also see how far it is, and can stop it. Programs of the
//! same kind have options, printing and exit codes from [`program`].

mod account;
mod ask;
mod audit;
mod called;
mod compare;
mod device;
mod exit;
mod files;
mod graph;
mod help;
mod input;
mod new;
#[cfg(feature = "node")]
mod node;
mod of_node;
mod options;
mod origin;
mod output;
mod plan;
pub mod program;
mod progress;
mod prose;
mod run;
mod runs;
mod schema;
mod seed;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "shell")]
mod shell;
mod spec;
mod underway;

use std::ffi::OsString;
use std::process::ExitCode;

#[cfg(feature = "node")]
pub use ask::ask_by;
pub use ask::{Answer, Fault, ask, ask_with};
pub use progress::{Progress, Watch};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

/// The heading of the options of every command.
const GLOBAL: &str = "Global options";

const EXAMPLES: &str = "Examples:
  sottovoce run quickstart
  sottovoce graph generate --family hypercube --peers 64 --out cube.txt
  sottovoce plan averaging --graph cube.txt --target-far --epsilon 1
  sottovoce account averaging --graph cube.txt --steps 6 --observers 0";

/// Private peer-to-peer learning whose privacy numbers are exact, typed and attacked.
#[derive(Debug, Parser)]
#[command(name = "sottovoce", version, about, arg_required_else_help = true)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// Print one JSON document and nothing else on standard output (its form: the command `schema`).
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed).
    #[arg(long, global = true, default_value = "0", value_name = "N|random", value_parser = seed::seed, help_heading = GLOBAL)]
    pub seed: u64,
    /// Whether the seed was given, and so goes before that of an experiment.
    #[arg(skip)]
    pub(crate) seed_given: bool,
    /// Whether anything follows from the seed.
    #[arg(skip)]
    pub(crate) is_seeded: bool,
    /// What a result rests on that could not be checked.
    #[arg(skip)]
    pub(crate) unchecked: Vec<String>,
    /// The arguments as they were given.
    #[arg(skip)]
    pub(crate) words: Vec<OsString>,
    /// How far the work is.
    #[arg(skip)]
    pub(crate) latest: progress::Latest,
    /// What the program has in its hand that runs a node by [`ask_by`].
    #[cfg(feature = "node")]
    #[arg(skip)]
    pub(crate) hand: sottovoce_node::Hand,
    /// Print the headline of the result, on one line, and nothing else: no tables, no progress, no notes.
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    pub(crate) quiet: bool,
    /// Print lists of all peers as well.
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run an experiment: `run quickstart` needs no files.
    Run(run::Run),
    /// Print a commented experiment to begin with.
    New(new::New),
    /// Privacy loss of a mechanism, without running anything.
    Account(account::Account),
    /// Choose protocol, noise and steps for a target.
    Plan(plan::Plan),
    /// Attack a run and hold the result against what was claimed.
    Audit(audit::Audit),
    /// Show where two runs differ.
    Compare(compare::Compare),
    /// Show a folder of runs, live ones too, side by side in a browser of this machine.
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    /// Generate and inspect communication graphs.
    Graph(graph::Graph),
    /// A real peer: its key, its ledger, what it agrees to and what that could reveal.
    #[cfg(feature = "node")]
    Node(node::Node),
    /// Print the form of a command's JSON document, as JSON Schema, or of its options.
    Schema(schema::Schema),
    /// Print a completion script for a shell.
    #[cfg(feature = "shell")]
    Completions(shell::Completions),
    /// Print the manual page (roff).
    #[cfg(feature = "shell")]
    Man(shell::Man),
}

/// The command line, with help that flows.
fn command() -> clap::Command {
    help::flowing(Cli::command())
}

/// Commands that this program was built without, and the feature that has them.
const ABSENT: &[(&str, &str)] = &[
    #[cfg(not(feature = "shell"))]
    ("completions", "shell"),
    #[cfg(not(feature = "shell"))]
    ("man", "shell"),
    #[cfg(not(feature = "serve"))]
    ("serve", "serve"),
    #[cfg(not(feature = "node"))]
    ("node", "node"),
];

/// Says of a command that is not in this build how to build it.
fn absent(error: clap::Error, command: &mut clap::Command) -> clap::Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let Some((name, feature)) = ABSENT.iter().find(|(absent, _)| absent == name) else { return error };
    let remedy = format!(
        "`command` is {name}: this program was built without it; build it with `--features {feature}`"
    );
    command.error(ErrorKind::InvalidSubcommand, remedy)
}

/// The command line, read.
fn read(words: Vec<OsString>, command: &mut clap::Command) -> Result<(Cli, ArgMatches), clap::Error> {
    let all = std::iter::once(OsString::from("sottovoce")).chain(words.iter().cloned());
    let matches =
        command.try_get_matches_from_mut(files::named(all)).map_err(|error| absent(error, command))?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    cli.global.given(words, &matches);
    cli.global.is_seeded = matches.subcommand_name() != Some("node");
    Ok((cli, matches))
}

/// Parses the arguments, runs the command, prints its result or its error.
pub fn main() -> ExitCode {
    let mut command = command();
    let read = read(std::env::args_os().skip(1).collect(), &mut command);
    let (cli, matches) = read.unwrap_or_else(|error| program::unread(&error));
    #[cfg(feature = "node")]
    if matches!(cli.command, Command::Node(_)) {
        sottovoce_node::guard_memory();
    }
    program::done(&cli.global, &command, &matches, || cli.run())
}

impl Cli {
    fn run(&self) -> anyhow::Result<()> {
        let global = &self.global;
        match &self.command {
            Command::Run(command) => command.run(global),
            Command::New(command) => command.run(global),
            Command::Account(command) => command.run(global),
            Command::Plan(command) => command.run(global),
            Command::Audit(command) => command.run(global),
            Command::Compare(command) => command.run(global),
            #[cfg(feature = "serve")]
            Command::Serve(command) => command.run(global),
            Command::Graph(command) => command.run(global),
            #[cfg(feature = "node")]
            Command::Node(command) => command.run(global),
            Command::Schema(schema) => schema.run(global, command()),
            #[cfg(feature = "shell")]
            Command::Completions(completions) => completions.run(global, command()),
            #[cfg(feature = "shell")]
            Command::Man(man) => man.run(global, command()),
        }
    }
}
