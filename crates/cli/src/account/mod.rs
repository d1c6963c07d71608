//! `sottovoce account`: what is lost, without running anything.

pub(crate) mod averaging;
mod examples;
pub(crate) mod mechanism;
mod planned;
pub(crate) mod rumor;
pub(crate) mod rumor_graph;
mod transcript;
pub(crate) mod walk;

use clap::{Args, Subcommand};

pub(crate) use transcript::{AGENTS, listeners, unused};

use sottovoce::experiment::{Deep, Personalized};

use super::Global;
use super::spec::Spec;

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
    #[command(after_help = examples::AVERAGING)]
    Averaging(Box<planned::AveragingArgs>),
    /// Gradient steps with averaging in between: what observers learn over all of them.
    #[command(after_help = examples::LEARNING)]
    Learning(Box<planned::LearningArgs>),
    /// Personalised models: what a row of anyone loses over all updates.
    #[command(after_help = examples::PERSONALIZED)]
    Personalized(Box<Spec<Personalized>>),
    /// A net learned together: what an image of anyone loses over all rounds.
    #[command(after_help = examples::DEEP)]
    Deep(Box<Spec<Deep>>),
    /// Rumours: how well their source is hidden from curious peers.
    #[command(after_help = examples::RUMOR)]
    Rumor(Box<planned::RumorArgs>),
    /// An experiment's file: `account my.toml` is short for it.
    #[command(after_help = examples::FILE)]
    File(planned::File),
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
            What::Personalized(spec) => spec.account(global),
            What::Deep(spec) => spec.account(global),
            What::Rumor(arguments) => arguments.run(global),
            What::File(arguments) => arguments.run(global),
            What::Transcript(arguments) => arguments.run(global),
            What::Walk(arguments) => arguments.run(global),
        }
    }
}
