//! `sottovoce plan`: from a target to a protocol and its parameters.

pub(crate) mod averaging;
mod file;
mod learning;
mod page;
mod personalized;
mod rumor;
pub(crate) mod written;

use clap::{Args, Subcommand};

use super::Global;

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:\n  sottovoce plan averaging --peers 64 --target-far --epsilon 1\n  \
                  sottovoce plan learning --peers 256 --epsilon 2\n  \
                  sottovoce plan rumor --peers 1000 --curious 100 --delta 0.2")]
pub(crate) struct Plan {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Private averaging: the protocol, noise and steps of least error for a target, with the trade-off table.
    Averaging(Box<averaging::AveragingArgs>),
    /// Learning together: gossip, butterfly, walk, local and central, each with the noise that the target asks of it.
    Learning(Box<learning::LearningArgs>),
    /// An experiment's file: `plan my.toml` is short for it.
    File(file::File),
    /// Personalised models: law, weight, updates and clipping for a budget.
    Personalized(Box<personalized::PersonalizedArgs>),
    /// Rumours with a private source: the muting parameter for a target, with the trade-off table.
    Rumor(Box<rumor::RumorArgs>),
}

impl Plan {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.what {
            What::Averaging(arguments) => arguments.run(global),
            What::Learning(arguments) => arguments.run(global),
            What::File(arguments) => arguments.run(global),
            What::Personalized(arguments) => arguments.run(global),
            What::Rumor(arguments) => arguments.run(global),
        }
    }
}
