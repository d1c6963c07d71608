//! `sottovoce account`: what is lost, without running anything.

mod averaging;
mod mechanism;

use clap::{Args, Subcommand};

use super::Global;

/// Arguments of `account`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce account mechanism --gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000\n  \
                  sottovoce account averaging --graph ring.txt --lazy 0.333 --steps 6 --observers 0"
)]
pub(crate) struct Account {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A noisy release, repeated: certified epsilon, or the noise for a target epsilon.
    Mechanism(Box<mechanism::MechanismArgs>),
    /// Gossip averaging: what observers learn about every peer, exactly and as published.
    Averaging(averaging::AveragingArgs),
}

impl Account {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.what {
            What::Mechanism(arguments) => arguments.run(global),
            What::Averaging(arguments) => arguments.run(global),
        }
    }
}
