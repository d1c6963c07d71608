//! `sottovoce node run`: takes part in what was agreed on, over the network.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use sottovoce_node::{Agreement, Error, Options, Place, Signatures, Standing, Stands};

use super::agree;
use crate::Global;
use crate::exit::Spent;

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
    /// Begin a rumour that says what is in this file (`-`: asks for it), where a rumour was agreed on; without it this node waits for one.
    #[arg(long, value_name = "FILE")]
    say: Option<PathBuf>,
    /// A data set with the same numbers as another one is another one all the same: other people's.
    #[arg(long)]
    new_data_set: bool,
    /// Say on standard error what happens, in lines; never a value.
    #[arg(long)]
    log: bool,
}

/// How a run ended.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Ran {
    /// Names the agreement.
    agreement: String,
    /// The result: each number of the mean, or of the model. Empty where others have it, and where texts are what has come.
    result: Vec<f64>,
    /// Who has signed that it has the result, where not everybody gets it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held_by: Vec<String>,
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
    /// What its owner should know of what the node holds: values that were clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
}

/// Numbers that are shown; more are in the JSON document.
const SHOWN: usize = 8;

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.texts.iter().try_for_each(|text| writeln!(f, "heard: {text}"))?;
        if self.result.is_empty() && self.texts.is_empty() {
            writeln!(f, "over: the result is with {}", self.held_by.join(", "))?;
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
        if let Some(remark) = &self.remark {
            writeln!(f, "  {remark}")?;
        }
        if !self.unanswered.is_empty() {
            writeln!(f, "  not heard again: {}; they may be without a result", self.unanswered.join(", "))?;
        }
        Ok(())
    }
}

/// A run that came to nothing, and what was spent by then.
#[derive(Debug)]
pub(crate) struct RunFailed {
    pub(crate) error: Error,
    pub(crate) spent: Option<Vec<Spent>>,
    /// Peers that it is about.
    pub(crate) peers: Vec<String>,
}

impl fmt::Display for RunFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for RunFailed {}

impl RunFailed {
    pub(super) fn new(error: Error, place: &Place, agreement: &Agreement) -> Self {
        let spent = || {
            let (label, roster, names) = (place.config()?.label, agreement.roster()?, agreement.names());
            let all = place.look_at_ledger()?.budgets()?.into_iter().filter(|one| one.label == label);
            let spent = |one: Standing| Spent {
                observer: one.observer.called(&roster, &names),
                epsilon: one.epsilon,
                delta: one.allowed.delta,
                budget: one.allowed.epsilon,
                used: one.used,
            };
            sottovoce_node::Result::Ok(all.map(spent).collect())
        };
        let roster = agreement.roster().unwrap_or_default();
        let (error, peers) = error.named(&roster, &agreement.names());
        // What cannot be read is not said.
        Self { spent: spent().ok(), error, peers }
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
        let say = super::said(self.say.as_deref())?;
        let options = Options { meeting, record: self.record.clone(), say, new_data_set: self.new_data_set };
        let ended = sottovoce_node::run_by(&place, &agreement, &signatures, &options, &global.hand)
            .and_then(|ended| ended.with_a_result(&names))
            .map_err(|error| RunFailed::new(error, &place, &agreement))?;
        let (result, texts) = match ended.stands {
            Stands::Done(result) => (result, Vec::new()),
            Stands::Told(texts) => (Vec::new(), texts),
            Stands::Elsewhere | Stands::Halted { .. } | Stands::Going { .. } => (Vec::new(), Vec::new()),
        };
        global.print(&Ran {
            agreement: agreement.hash()?.to_string(),
            result,
            held_by: called(&ended.held_by),
            texts,
            deviation: place.role(&agreement)?.forecast()?.deviation,
            unanswered: called(&ended.unanswered),
            trouble: ended.trouble,
            remark: ended.remark,
        })
    }
}
