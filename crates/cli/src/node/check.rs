//! `sottovoce node check`: whether neighbours can be reached, and have agreed to the same.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use sottovoce_node::{Agreement, Error, Options, Place, Signatures, VERSION};

use super::agree;
use super::run::RunFailed;
use crate::Global;

/// Arguments of `node check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node check ana mean.toml --wait 30\n\nOthers must be checking, too, or running. It reads what the node holds, as a run would. Exit codes 2, 3 and 8: this node could not run it, for what a run would say. 4: somebody was not reached. 5: somebody has agreed to something else, or has not signed."
)]
pub(crate) struct Check {
    /// The node's folder.
    folder: PathBuf,
    /// The agreement.
    file: PathBuf,
    /// Try so long.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    wait: f64,
    /// A data set with the same numbers as another one is another one all the same: other people's.
    #[arg(long)]
    new_data_set: bool,
}

/// What neighbours said.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Checked {
    /// Names the agreement.
    agreement: String,
    /// Whether all is well.
    ready: bool,
    /// Who has not signed yet.
    missing: Vec<String>,
    /// Each neighbour.
    neighbours: Vec<Neighbour>,
}

/// A neighbour.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Neighbour {
    /// What people call it.
    name: String,
    /// Where it should be.
    address: String,
    /// Whether it answered.
    reached: bool,
    /// Milliseconds from a question to its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    round_trip: Option<f64>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Fields in which it has agreed to something else.
    differences: Vec<String>,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ready = self.neighbours.iter().filter(|one| one.reached && one.differences.is_empty()).count();
        match &self.missing[..] {
            [] => writeln!(f, "{ready} of {} neighbours are ready\n", self.neighbours.len())?,
            missing => writeln!(f, "NOT READY: {} has not signed\n", missing.join(", "))?,
        }
        writeln!(f, "  {:<16} {:<24} {:>10}  agreement", "neighbour", "address", "answer")?;
        for one in &self.neighbours {
            let answer = one.round_trip.map_or_else(|| "none".to_owned(), |time| format!("{time:.2} ms"));
            let agreed = match (&one.differences[..], &one.problem) {
                (_, Some(problem)) => problem.lines().next().unwrap_or_default().chars().take(42).collect(),
                ([], None) => "the same".to_owned(),
                (all, None) => format!("differs in {} fields", all.len()),
            };
            writeln!(f, "  {:<16} {:<24} {answer:>10}  {agreed}", one.name, one.address)?;
        }
        for one in &self.neighbours {
            for difference in &one.differences {
                writeln!(f, "\n  {}: {difference}", one.name)?;
            }
        }
        Ok(())
    }
}

impl Check {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let patience = Duration::try_from_secs_f64(self.wait).ok().filter(|wait| *wait <= super::LONGEST);
        let patience = patience
            .ok_or_else(|| anyhow::anyhow!("`wait` is {}: give seconds, from 0 to 1e9", self.wait))?;
        let (agreement, place) = (agree::read(&self.file)?, Place::open(&self.folder)?);
        let missing = agreement.unsigned(&Signatures::read(&agree::signatures(&self.file))?.all())?;
        let options = Options { new_data_set: self.new_data_set, ..Options::default() };
        let answers = sottovoce_node::check(&place, &agreement, &options, patience)
            .map_err(|error| RunFailed::new(error, &place, &agreement))?;
        let neighbour = |one: sottovoce_node::network::Answered| {
            let member = &agreement.peers[one.peer];
            let spoken = one.version.filter(|&version| version != VERSION);
            let differences = match (one.same, &one.terms) {
                (Some(false), Some(text)) => differences(&agreement, text),
                _ => Vec::new(),
            };
            Neighbour {
                name: member.name.clone(),
                address: member.address.clone(),
                reached: one.round_trip.is_ok(),
                round_trip: one.round_trip.as_ref().ok().map(|time| time.as_secs_f64() * 1e3),
                problem: one.round_trip.err().or_else(|| {
                    spoken.map(|version| format!("it speaks version {version}, and this is {VERSION}"))
                }),
                differences,
            }
        };
        let neighbours: Vec<Neighbour> = answers.into_iter().map(neighbour).collect();
        let unreached: Vec<String> =
            neighbours.iter().filter(|one| !one.reached).map(|one| one.name.clone()).collect();
        let differ = neighbours
            .iter()
            .filter(|one| !one.differences.is_empty() || one.reached && one.problem.is_some());
        let differ: Vec<String> = differ.map(|one| one.name.clone()).collect();
        let ready = unreached.is_empty() && differ.is_empty() && missing.is_empty();
        let agreed = agreement.hash()?.to_string();
        global.print(&Checked { agreement: agreed, ready, missing: missing.clone(), neighbours })?;
        if !differ.is_empty() {
            let who = differ.join(", ");
            let why =
                format!("not all have agreed to the same, here and at {who}: sign the same text everywhere");
            return Err(Error::disagreement(why, &differ).into());
        }
        if !missing.is_empty() {
            return Err(agree::unsigned(&missing).into());
        }
        if !unreached.is_empty() {
            let who = unreached.join(", ");
            let why = format!("{who} was not reached: start it, or check its address and what lies between");
            return Err(Error::Halted { why, peers: unreached, begun: false }.into());
        }
        Ok(())
    }
}

/// Every field in which a neighbour's text is another one.
fn differences(here: &Agreement, there: &str) -> Vec<String> {
    match Agreement::parse(there).and_then(|there| here.diff(&there)) {
        Ok(all) if !all.is_empty() => all,
        Ok(_) => vec!["its hash is another one".to_owned()],
        Err(problem) => vec![format!("it cannot be read here: {problem}")],
    }
}
