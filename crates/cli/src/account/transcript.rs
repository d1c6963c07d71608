//! `sottovoce account transcript`: what a run revealed, from what was written down of it.

use std::fmt::Display;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use sottovoce::experiment::graph::peer;
use sottovoce::{rumor, transcript};

use super::averaging::{Towards, revealed};
use crate::{Global, of_node};

const EXAMPLES: &str = "Examples:
  sottovoce run averaging --peers 32 --epsilon 2 --out mine
  sottovoce account transcript mine/transcript.json
  sottovoce account transcript mine/transcript.json --observers 3,7 --verbose

A transcript says who released what under which noise, who heard whom in which round, and who went on without whom; it holds no value. The losses are
those of the run as it happened. Averaging: of the plan if nobody went on without somebody, else of every message that arrived. Learning: of all releases,
and towards single peers of the paths that tokens took or the positions of every averaging. Rumours: of the source, towards those who listened.
A node's own record (`sottovoce node transcript`): signatures and chain are checked, and every price is computed anew; exit code 1 if another one was debited.";

/// Arguments of `account transcript`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Transcript {
    /// The transcript: `transcript.json` of a report, or a node's.
    file: PathBuf,
    /// Peers who pool what they heard, by name, separated by commas (default: those of the experiment).
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    observers: Vec<String>,
    /// Probability with which epsilons may fail (default: that of the experiment).
    #[arg(long, value_name = "DELTA")]
    delta: Option<f64>,
    #[command(flatten)]
    towards: Towards,
}

/// Peers of a rumour, who have numbers only.
pub(crate) fn listeners(names: &[String], peers: usize) -> anyhow::Result<Vec<usize>> {
    names.iter().map(|name| Ok(peer("observers", name, None, peers)?)).collect()
}

/// Why nobody is named who hears agents.
pub(crate) const AGENTS: &str = "whoever hears an agent hears all that she released";

/// Refuses what a kind of run has no use for.
pub(crate) fn unused(field: &str, given: Option<impl Display>, why: &str) -> anyhow::Result<()> {
    given.map_or(Ok(()), |value| Err(anyhow!("`{field}` is {value}: {why}; leave it out")))
}

impl Transcript {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        if of_node::is(&self.file) {
            self.towards.unused()?;
            return of_node::account(&self.file, &self.observers, self.delta, global);
        }
        let file = transcript::File::read(&self.file)?;
        let global = &Global { unchecked: file.unchecked()?, ..global.clone() };
        if !matches!(file, transcript::File::Averaging(_)) {
            self.towards.unused()?;
        }
        match file {
            transcript::File::Averaging(file) => {
                let public = file.public()?.asked(&self.observers, self.delta)?;
                revealed(public, file.past()?, &self.towards, global)
            }
            transcript::File::Walk(file) => global.print(&file.reveal(&self.observers, self.delta)?),
            transcript::File::Learning(file) => global.print(&file.reveal(&self.observers, self.delta)?),
            transcript::File::Personalized(file) => {
                unused("observers", self.observers.first(), AGENTS)?;
                global.print(&file.account(self.delta)?)
            }
            transcript::File::Deep(file) => {
                unused("observers", self.observers.first(), AGENTS)?;
                global.print(&file.account(self.delta)?)
            }
            transcript::File::Rumor(file) => {
                unused("delta", self.delta, "of a rumour it is the answer")?;
                global.print(&rumor::reveal(&file, &listeners(&self.observers, file.peers)?)?)
            }
            transcript::File::Messages(file) => {
                unused("delta", self.delta, "of a rumour it is the answer")?;
                let _waiting = global.waiting("accounting");
                global.print(&rumor::reveal_messages(&file, &self.observers)?)
            }
        }
    }
}
