//! `sottovoce audit transcript`: did peers do what was agreed, and does the account of the run stand?

use std::path::PathBuf;

use clap::Args;
use sottovoce::names::Names;
use sottovoce::rumor;
use sottovoce::transcript::{self, Void};
use sottovoce_audit::reconstruct::{Claim, Prior, Question};
use sottovoce_topology::mixing::Weights;
use sottovoce_views::door::Source;

use super::Failed;
use super::reconstruct::{Weighing, attack};
use crate::account::{AGENTS, listeners, unused};
use crate::graph::count;
use crate::{Global, of_node};

const EXAMPLES: &str = "Examples:
  sottovoce run averaging --peers 32 --epsilon 2 --out mine
  sottovoce audit transcript mine/transcript.json
  sottovoce audit transcript ana.json ben.json eva.json

Every message must follow a release with the noise that was agreed on, and go where the plan lets it go; else the account of the run is void. Then, of an
averaging, what the observers heard is attacked: values are drawn anew, since a transcript holds none. Of learning, the releases are put through the filter
again: they must cost what the run says it spent. Of an averaging by tokens, their ways and the releases must fit together. Of a rumour, those who listened name whom they suspect, and the same attack is made on other rumours.
Of nodes (`sottovoce node transcript`), several files can be given: the chain is unbroken and signed, everything was paid for once and before it left, messages follow the plan, and what one says it sent is what the other says it heard.
Exit code 0: the account stands. 1: it does not.";

/// Arguments of `audit transcript`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Transcript {
    /// The transcript: `transcript.json` of a report; or those of nodes, several of one run.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Peers who pool what they heard, by name, separated by commas (default: those of the experiment, or the first peer).
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    observers: Vec<String>,
    /// Number of runs of the attack.
    #[arg(long, value_name = "R", default_value = "2000", value_parser = count)]
    runs: usize,
}

impl Transcript {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        if let Some(missing) = self.files.iter().find(|file| !file.exists()) {
            anyhow::bail!("`file` is {}: it is not there; give transcripts", missing.display());
        }
        if self.files.iter().any(|file| of_node::is(file)) {
            return of_node::audit(&self.files, &self.observers, global);
        }
        let [file] = &self.files[..] else {
            anyhow::bail!(
                "`file` is given {} times: only transcripts of nodes are held against each other; give one",
                self.files.len()
            )
        };
        let file = transcript::File::read(file)?;
        let global = &Global { unchecked: file.unchecked()?, ..global.clone() };
        match file {
            transcript::File::Averaging(file) => self.averaging(&file, global),
            transcript::File::Walk(file) => {
                kept(&file.check()?, global)?;
                global.print(&file.reveal(&self.observers, None)?)
            }
            transcript::File::Learning(file) => {
                let why = "what is held against a learning run is everything it released, whoever heard it";
                unused("observers", self.observers.first(), why)?;
                kept(&file.check()?, global)?;
                let found = file.audit()?;
                global.print(&found)?;
                stands(found.agrees, "the releases do not cost what the run says it spent")
            }
            transcript::File::Personalized(file) => {
                unused("observers", self.observers.first(), AGENTS)?;
                kept(&file.check()?, global)?;
                global.print(&file.account(None)?)
            }
            transcript::File::Deep(file) => {
                unused("observers", self.observers.first(), AGENTS)?;
                kept(&file.check()?, global)?;
                global.print(&file.account(None)?)
            }
            transcript::File::Rumor(file) => {
                kept(&file.check()?, global)?;
                let observers = listeners(&self.observers, file.peers)?;
                let found = rumor::audit(&file, &observers, self.runs as u64, global.seed)?;
                global.print(&found)?;
                stands(found.within_bounds, FOUND)
            }
            transcript::File::Messages(file) => {
                kept(&file.check()?, global)?;
                let bar = global.progress(2 * self.runs, "runs of the attack");
                let asked = (self.runs as u64, global.seed);
                let found = rumor::audit_messages(&file, &self.observers, asked, || bar.inc(1))?;
                bar.finish_and_clear();
                global.print(&found)?;
                stands(found.within_bounds, FOUND)
            }
        }
    }

    fn averaging(&self, file: &transcript::Averaging, global: &Global) -> anyhow::Result<()> {
        kept(&file.check()?, global)?;
        let public = file.public()?.asked(&self.observers, None)?;
        let (observers, tapped) = public.attackers();
        if file.past()?.source(&observers) != Source::Planned {
            anyhow::bail!(
                "`transcript` is of a run in which peers went on without those they missed: the attack knows planned messages only; see what was revealed by \
                 `sottovoce account transcript`"
            );
        }
        let question = Question {
            setting: public.setting.clone(),
            observers,
            tapped,
            sigma: public.sigma,
            sensitivity: public.sensitivity,
            prior: Prior { mean: 0.0, deviation: public.sensitivity / 2.0 },
            values: None,
            runs: self.runs,
            seed: global.seed,
        };
        let names = Names::of_graph(&public.graph);
        let weighing = Weighing { weights: Weights::default(), lazy: 0.0, target: 0.5, delta: public.delta };
        attack(&question, &Claim::Exact, &weighing, names, global)
    }
}

/// What an attack must not do.
const FOUND: &str = "the source was found more often than is proven possible";

/// Refuses a run in which peers did not do what was agreed, and says so in a document, too.
fn kept(problems: &[String], global: &Global) -> anyhow::Result<()> {
    let Some(void) = Void::of(problems) else { return Ok(()) };
    global.print(&void)?;
    stands(false, &format!("peers did not do what was agreed: {}", problems.join("; ")))
}

fn stands(holds: bool, reason: &str) -> anyhow::Result<()> {
    if holds { Ok(()) } else { Err(Failed(reason.to_owned()).into()) }
}
