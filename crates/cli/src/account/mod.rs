//! `sottovoce account`: what is lost, without running anything.

pub(crate) mod averaging;
mod deep;
mod file;
mod learning;
pub(crate) mod mechanism;
mod personalized;
pub(crate) mod rumor;
pub(crate) mod rumor_graph;
mod transcript;
pub(crate) mod walk;

use clap::{Args, Subcommand};

pub(crate) use transcript::{AGENTS, listeners, unused};

use super::Global;

/// Arguments of `account`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce account mechanism --gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000\n  \
                  sottovoce account averaging --graph ring.txt --lazy 0.333 --steps 6 --observers 0\n  \
                  sottovoce account learning --graph friends.txt --iterations 10 --observers 0\n  \
                  sottovoce account rumor --peers 100 --curious 10 --muting 0.1\n  \
                  sottovoce account walk --graph ring.txt --lazy 0.333 --steps 72 --observers 6"
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
    Averaging(Box<averaging::AveragingArgs>),
    /// Gradient steps with averaging in between: what observers learn over all of them.
    Learning(Box<learning::LearningArgs>),
    /// Personalised models: what a row of anyone loses over all updates.
    Personalized(Box<personalized::PersonalizedArgs>),
    /// A net learned together: what an image of anyone loses over all rounds.
    Deep(Box<deep::DeepArgs>),
    /// Rumours: how well their source is hidden from curious peers.
    Rumor(rumor::RumorArgs),
    /// An experiment's file: `account my.toml` is short for it.
    File(file::File),
    /// A run that is over: what it revealed, from its transcript.
    Transcript(transcript::Transcript),
    /// A token that walks: what a path of it reveals, and the printed sums over all paths.
    Walk(Box<walk::WalkArgs>),
}

impl Account {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.what {
            What::Mechanism(arguments) => arguments.run(global),
            What::Averaging(arguments) => arguments.run(global),
            What::Learning(arguments) => arguments.run(global),
            What::Personalized(arguments) => arguments.run(global),
            What::Deep(arguments) => arguments.run(global),
            What::Rumor(arguments) => arguments.run(global),
            What::File(arguments) => arguments.run(global),
            What::Transcript(arguments) => arguments.run(global),
            What::Walk(arguments) => arguments.run(global),
        }
    }
}
