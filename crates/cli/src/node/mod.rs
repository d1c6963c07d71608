//! `sottovoce node`: a real peer. What it holds, what it agrees to, what that could reveal, what it has spent.

mod agree;
mod check;
mod demo;
mod init;
mod kinds;
mod plan;
mod run;
mod status;
pub(crate) use run::RunFailed;
pub(crate) mod transcript;

use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::Context;
use clap::{Args, Subcommand};
use sottovoce_fault::decimal::{Decimal, Rounding};

use crate::Global;

/// Arguments of `node`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  sottovoce node init ana\n  sottovoce node agree new --name mean --peer ana=KEY@10.0.0.1:4001 > mean.toml\n  \
                  sottovoce node agree sign ana mean.toml --yes\n  sottovoce node plan ana mean.toml\n  sottovoce node check ana mean.toml\n  \
                  sottovoce node run ana mean.toml\n  sottovoce node status ana\n  sottovoce node transcript ana mean.toml --out ana.json\n  sottovoce node demo --peers 8\n\n\
                  Exit code 2: bad input. 3: the budget, or the disk. 4: run it again. 5: peers do not agree.\n6: over for good. 7: over without a result here. 8: the ledger is damaged."
)]
pub(crate) struct Node {
    // In place of the seed of all commands, which would say that noise follows from it.
    #[arg(long, global = true, hide = true, value_name = "N", value_parser = no_seed)]
    seed: Option<u64>,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a node: a key that nobody else can read, an empty ledger, a commented file to fill in.
    Init(init::Init),
    /// Write down what peers agree on, sign it, compare two versions of it.
    Agree(agree::Agree),
    /// Who could learn what of this node in a run that was agreed on, and what of the budget would be left.
    Plan(plan::Plan),
    /// Whether neighbours can be reached, and have agreed to the same.
    Check(check::Check),
    /// Take part in what was agreed on, over the network, to the end.
    Run(run::Run),
    /// Real peers on this machine, from their keys to their results: what a deployment does.
    Demo(demo::Demo),
    /// What the node has spent, and on what. It need not be running.
    Status(status::Status),
    /// The node's own record of a run, as a file that others can judge.
    Transcript(transcript::Transcript),
}

/// Nodes draw from the system's entropy.
fn no_seed(_: &str) -> Result<u64, String> {
    Err("a node's noise comes from the system's entropy, and nothing of it is seeded; leave it out"
        .to_owned())
}

/// The longest wait: thirty years.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(1_000_000_000);

/// A loss for people: four digits after the point, rounded up.
fn up(loss: f64) -> f64 {
    Decimal::places(loss, 4, Rounding::Up).map_or(loss, |shown| shown.value())
}

/// What is to be said: the text of a file, or what somebody types, and never an option: everybody on the machine can read those.
fn said(file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(file) = file else { return Ok(None) };
    let text = if file == Path::new("-") {
        if std::io::stdin().is_terminal() {
            crate::output::say("what is to be said, in one line:");
        }
        let text = std::io::read_to_string(std::io::stdin().take(MOST));
        text.context("`say` is -: standard input cannot be read")?
    } else {
        sottovoce_fault::file::text("say", file, MOST).map_err(sottovoce_node::Error::from)?
    };
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Bytes of a text that are read: more than can be said.
const MOST: u64 = 1 << 20;

/// Lines on standard error; what is in them is public, and never a value. `RUST_LOG` does not count: other crates say nothing here.
fn log() {
    let own = tracing_subscriber::filter::Targets::new().with_target("sottovoce_node", tracing::Level::INFO);
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let _ = tracing_subscriber::registry().with(lines).with(own).try_init();
}

impl Node {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.what {
            What::Init(arguments) => arguments.run(global),
            What::Agree(arguments) => arguments.run(global),
            What::Plan(arguments) => arguments.run(global),
            What::Check(arguments) => arguments.run(global),
            What::Run(arguments) => arguments.run(global),
            What::Demo(arguments) => arguments.run(global),
            What::Status(arguments) => arguments.run(global),
            What::Transcript(arguments) => arguments.run(global),
        }
    }
}
