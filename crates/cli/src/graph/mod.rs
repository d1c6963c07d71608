//! `sottovoce graph`: communication graphs, made from a family or read from a file.

mod centrality;
pub(crate) mod convert;
mod family;
pub(crate) mod generate;
mod inspect;
pub(crate) mod report;
pub(crate) mod schedule;
pub(crate) mod source;

use clap::{Args, Subcommand};
pub(crate) use sottovoce::experiment::flags::{count, real};

use super::Global;

/// Arguments of `graph`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  sottovoce graph generate --family hypercube --peers 64 --out cube.txt\n  \
                        sottovoce graph inspect cube.txt --lazy 0.5"
)]
pub(crate) struct Graph {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a graph of a family, to standard output or into a file.
    Generate(Box<generate::Generate>),
    /// Draw who mixes with whom at each step, into a file.
    Schedule(Box<schedule::Schedule>),
    /// Write a graph in another form.
    Convert(convert::Convert),
    /// Say how a graph is connected and how fast it mixes.
    Inspect(inspect::Inspect),
}

impl Graph {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.command {
            Command::Generate(command) => command.run(global),
            Command::Schedule(command) => command.run(global),
            Command::Convert(command) => command.run(global),
            Command::Inspect(command) => command.run(global),
        }
    }
}

/// `1 node`, `2 nodes`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
