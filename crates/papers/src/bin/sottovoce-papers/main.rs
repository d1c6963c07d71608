//! The `sottovoce-papers` program: figures, tables and statements of the papers, beside exact accounting. What it shares with `sottovoce` comes from there.

mod reproduce;
mod theorem;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use sottovoce_cli::program::{self, Form, Global, form};

const EXAMPLES: &str = "Examples:
  sottovoce-papers reproduce rumor --quick
  sottovoce-papers theorem muffliato/theorem-7 --peers 128 --steps 20";

#[derive(Debug, Subcommand)]
enum Command {
    /// Compute a paper's figures and tables again, and hold them against exact accounting.
    Reproduce(reproduce::Reproduce),
    /// Ask what a theorem of a paper says of a case, beside what is true.
    Theorem(Box<theorem::Theorem>),
    /// Print the form of a command's JSON document, as JSON Schema.
    Schema(Schema),
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce-papers schema theorem")]
struct Schema {
    /// The command; without it, the schemas of all.
    command: Vec<String>,
}

/// What each command prints.
const FORMS: &[(&str, &[Form])] = &[
    ("reproduce", &[form::<reproduce::Listing>, form::<reproduce::Written>]),
    ("theorem", &[form::<reproduce::Listing>, form::<sottovoce_papers::Answer>]),
];

fn main() -> ExitCode {
    let about = "Figures, tables and statements of the papers, held against exact accounting";
    program::main(clap::Command::new("sottovoce-papers").about(about).after_help(EXAMPLES), run)
}

fn run(command: &Command, global: &Global) -> anyhow::Result<()> {
    match command {
        Command::Reproduce(command) => command.run(global),
        Command::Theorem(command) => command.run(global),
        Command::Schema(schema) => program::print_schema(&schema.command, FORMS),
    }
}
