//! The `sottovoce` program: parses, runs, prints, and turns errors into messages and exit codes.
//!
//! Each command has a file (or folder) of its own; none contains mathematics.

mod account;
mod audit;
mod graph;
mod learning;
mod origin;
mod output;
mod plan;
mod progress;
mod reproduce;
mod run;
mod seed;
mod shell;
mod task;

use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

/// Bad input: nothing was written.
const BAD_INPUT: u8 = 2;

/// Private peer-to-peer learning whose privacy numbers are exact, typed and attacked.
#[derive(Debug, Parser)]
#[command(name = "sottovoce", version, about, arg_required_else_help = true)]
#[command(after_help = "Example:\n  sottovoce run quickstart")]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Print one JSON document and nothing else on standard output.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed).
    #[arg(long, global = true, default_value = "0", value_name = "N|random", value_parser = seed::seed)]
    pub(crate) seed: u64,
    /// Print nothing but the result.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run an experiment: `run quickstart` needs no files.
    Run(run::Run),
    /// Privacy loss of a mechanism, without running anything.
    Account(account::Account),
    /// Choose protocol, noise and steps for a target.
    Plan(plan::Plan),
    /// Attack a run and hold the result against what was claimed.
    Audit(audit::Audit),
    /// Compute a paper's figures and tables again, and hold them against exact accounting.
    Reproduce(reproduce::Reproduce),
    /// Generate and inspect communication graphs.
    Graph(graph::Graph),
    /// Print a completion script for a shell.
    Completions(shell::Completions),
    /// Print the manual page (roff).
    Man(shell::Man),
}

/// Parses the arguments, runs the command, prints its result or its error.
fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if !cli.global.quiet && seed::was_drawn(&matches) {
        eprintln!("{}", seed::drawn(cli.global.seed));
    }
    let result = match &cli.command {
        Command::Run(command) => command.run(&cli.global),
        Command::Account(command) => command.run(&cli.global),
        Command::Plan(command) => command.run(&cli.global),
        Command::Audit(command) => command.run(&cli.global),
        Command::Reproduce(command) => command.run(&cli.global),
        Command::Graph(command) => command.run(&cli.global),
        Command::Completions(command) => command.run(Cli::command()),
        Command::Man(command) => command.run(Cli::command()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sottovoce: {error:#}");
            ExitCode::from(if error.is::<audit::Failed>() { audit::FAILED } else { BAD_INPUT })
        }
    }
}
