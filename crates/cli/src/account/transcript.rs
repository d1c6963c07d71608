//! `sottovoce account transcript`: what a run revealed, from what was written down of it.

use std::path::PathBuf;

use clap::Args;
use sottovoce::averaging::reveal;
use sottovoce::transcript;

use crate::Global;

const EXAMPLES: &str = "Examples:
  sottovoce run averaging --peers 32 --epsilon 2 --out mine
  sottovoce account transcript mine/transcript.json
  sottovoce account transcript mine/transcript.json --observers 3,7 --verbose

A transcript says who released what under which noise, who heard whom in which round, and who went on without whom; it holds no value. The losses are
those of the run as it happened: of the plan if nobody went on without somebody, else of every message that arrived.";

/// Arguments of `account transcript`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Transcript {
    /// The transcript: `transcript.json` of a report.
    file: PathBuf,
    /// Peers who pool what they heard, by name, separated by commas (default: those of the experiment).
    #[arg(long, alias = "observer", value_name = "V,...", value_delimiter = ',')]
    observers: Vec<String>,
    /// Probability with which epsilons may fail (default: that of the experiment).
    #[arg(long, value_name = "DELTA")]
    delta: Option<f64>,
}

impl Transcript {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let file = transcript::File::read(&self.file)?;
        let public = file.public()?.asked(&self.observers, self.delta)?;
        global.print(&reveal(public, file.past()?)?)
    }
}
