//! `sottovoce audit`: claims under attack by our own code.

mod file;
mod membership;
mod reconstruct;
mod source;
pub(crate) mod source_table;
pub(crate) mod table;
mod transcript;

use std::fmt;

use clap::{Args, Subcommand};

use super::Global;

/// A claim did not survive its attack. The result has been printed; the exit code says so too.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the audit FAILED: {}", self.0)
    }
}

impl std::error::Error for Failed {}

/// Arguments of `audit`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  sottovoce audit reconstruct --graph ring.txt --lazy 0.333 --steps 6 --observers 0\n  \
                  sottovoce audit source --peers 1000 --curious 100 --muting 0.5\n  sottovoce audit membership\n\n\
                  Exit code 0: the claim stands. 1: it does not. 2: bad input. 3: failed input or output."
)]
pub(crate) struct Audit {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Averaging: the observers' best reconstruction of every peer's value, against the accountant's loss.
    Reconstruct(Box<reconstruct::Reconstruct>),
    /// An experiment's file: `audit my.toml` is short for it.
    File(file::File),
    /// A run that is over: did peers do what was agreed, and does its account stand?
    Transcript(transcript::Transcript),
    /// Rumours: attacks that name the source, against what theorems allow.
    Source(Box<source::Source>),
    /// Nets: is an image among those that were learned from? Canaries in one run, or many runs with and without an image.
    Membership(Box<membership::Membership>),
}

impl Audit {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.what {
            What::Reconstruct(arguments) => arguments.run(global),
            What::File(arguments) => arguments.run(global),
            What::Transcript(arguments) => arguments.run(global),
            What::Source(arguments) => arguments.run(global),
            What::Membership(arguments) => arguments.run(global),
        }
    }
}
