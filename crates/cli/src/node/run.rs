//! `sottovoce node run`: takes part in what was agreed on, over the network.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use sottovoce_node::{Error, Options, Place, Signatures, Stands};

use super::agree;
use crate::Global;

/// Arguments of `node run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node run ana mean.toml\n  sottovoce node run ana mean.toml --wait 3600 --json\n\n\
                  A run that was stopped, killed or cut off goes on where it was: run it again."
)]
pub(crate) struct Run {
    /// The node's folder.
    folder: PathBuf,
    /// The agreement; signatures are read from FILE.signed.
    file: PathBuf,
    /// Wait so long until all others are there.
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    wait: f64,
    /// Write what noise makes of values to this file, for a replay in the simulator. It is as SECRET as the values: who has it knows what others were never told. Nobody else can read the file; keep it so.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Begin a rumour that says this, where a rumour was agreed on; without it this node waits for one.
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
    /// Say on standard error what happens, in lines; never a value.
    #[arg(long)]
    log: bool,
}

/// How a run ended.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Ran {
    /// Names the agreement.
    agreement: String,
    /// The result: each number of the mean, or of the model. Empty where it is with somebody else, and where texts are what has come.
    result: Vec<f64>,
    /// Texts of rumours that have come here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    texts: Vec<String>,
    /// Standard deviation that noise leaves in each of them, where it is known beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    /// Peers who have not said that they hold all that was said to them: they may be without a result.
    unanswered: Vec<String>,
    /// What went wrong with what this node brought along; others did not learn of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

/// Numbers that are shown; more are in the JSON document.
const SHOWN: usize = 8;

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.texts.iter().try_for_each(|text| writeln!(f, "heard: {text}"))?;
        if self.result.is_empty() && self.texts.is_empty() {
            writeln!(f, "over: the result is with somebody else, or there is none")?;
        }
        let shown: Vec<String> =
            self.result.iter().take(SHOWN).map(|number| format!("{number:.6}")).collect();
        let more = self.result.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let noise = self.deviation.map_or_else(String::new, |noise| format!(" ± {noise:.3e}"));
        if !shown.is_empty() {
            writeln!(f, "result: {}{more}{noise}", shown.join(", "))?;
        }
        if let Some(trouble) = &self.trouble {
            writeln!(f, "  {trouble}. Mend it before the next run; what others have heard is noise")?;
        }
        if !self.unanswered.is_empty() {
            writeln!(f, "  not heard again: {}; they may be without a result", self.unanswered.join(", "))?;
        }
        Ok(())
    }
}

impl Run {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let meeting = Duration::try_from_secs_f64(self.wait).ok().filter(|wait| *wait <= super::LONGEST);
        let meeting =
            meeting.ok_or_else(|| anyhow::anyhow!("`wait` is {}: give seconds, from 0 to 1e9", self.wait))?;
        let (agreement, place) = (agree::read(&self.file)?, Place::open(&self.folder)?);
        let signatures = Signatures::read(&agree::signatures(&self.file))?;
        if self.log {
            super::log();
        }
        let names = agreement.names();
        let called =
            |peers: &[usize]| peers.iter().filter_map(|&peer| names.get(peer).cloned()).collect::<Vec<_>>();
        let options = Options { meeting, record: self.record.clone(), say: self.say.clone() };
        let ended = sottovoce_node::run_by(&place, &agreement, &signatures, &options, &global.hand)?;
        let (result, texts) = match ended.stands {
            Stands::Done(result) => (result, Vec::new()),
            Stands::Told(texts) => (Vec::new(), texts),
            Stands::Elsewhere => (Vec::new(), Vec::new()),
            Stands::Halted { round, .. } => {
                let cause = ended.cause.map_or_else(
                    || format!("round {round} ended, and it is not known without whom"),
                    |cause| {
                        let (silent, seen) =
                            (called(&cause.silent).join(", "), called(&cause.seen_by).join(", "));
                        format!("{silent} stopped responding in round {} (signed by {seen})", cause.round)
                    },
                );
                let own =
                    ended.trouble.map_or_else(String::new, |trouble| format!(" At this node: {trouble}."));
                return Err(Error::Halted(format!(
                    "the run is over without a result: {cause}.{own} What was sent stays paid for, and reveals no more than the plan says; agree on a new run"
                ))
                .into());
            }
            Stands::Going { .. } => {
                return Err(Error::Halted("the run goes on elsewhere".to_owned()).into());
            }
        };
        global.print(&Ran {
            agreement: agreement.hash()?.to_string(),
            result,
            texts,
            deviation: place.role(&agreement)?.forecast()?.deviation,
            unanswered: called(&ended.unanswered),
            trouble: ended.trouble,
        })
    }
}
