//! `sottovoce node status`: what a node has spent.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sottovoce_node::{Allowed, Error, Exact, Phase, Place, Set};

use super::up;
use crate::Global;

/// Arguments of `node status`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node status ana --json\n  sottovoce node status ana --json --files > ana.json   # for `node init --spent ana.json`"
)]
pub(crate) struct Status {
    /// The node's folder.
    folder: PathBuf,
    /// Also which files were held as which data sets, by their hashes. Whoever can guess a file can tell by its hash: for this node's owner alone.
    #[arg(long)]
    files: bool,
}

/// Where a node stands.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Stands {
    /// Its public key.
    key: String,
    /// Records of its ledger, each signed and following the one before.
    records: u64,
    /// Names of agreements that something is stored of.
    runs: Vec<Ran>,
    /// Budgets, and what was spent of them.
    budgets: Vec<Spent>,
    /// Data sets and the files that were held as them, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    sets: Option<Vec<Held>>,
    /// Why nothing is sent from it any more: others have seen more of it than it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    doubted: Option<String>,
    /// Runs that are under way now.
    under_way: Vec<Running>,
}

/// A data set.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Held {
    /// Its name.
    label: String,
    /// What its prices are of; none where nothing was paid.
    unit: Option<sottovoce::privacy::Unit>,
    /// The hashes of all files that were ever held as it.
    files: Vec<String>,
}

/// A run.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Ran {
    /// Names the agreement.
    agreement: String,
    /// Steps that were stored.
    steps: usize,
    /// Private values that were released.
    releases: usize,
    /// Messages that were sent.
    messages: usize,
    /// Who stopped responding first, where that has ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

/// A budget.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Spent {
    /// The data set.
    label: String,
    /// Towards whom.
    observer: String,
    /// Epsilon that was spent, of all runs together.
    spent: f64,
    /// The share of the budget that is used up, from 0 to 1: a budget also holds for runs whose terms follow from earlier results.
    used: f64,
    /// The budget.
    epsilon: f64,
    /// At this delta.
    delta: f64,
    /// The sum of deltas that was spent beside it: chances that whoever began a rumour is found out ...
    chances: f64,
    /// ... of so much.
    most_chances: f64,
    /// Of what all this is: `all` that is held, or one `row` of it.
    of: &'static str,
    /// The same for a new ledger (`node init --spent`).
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<Exactly>,
}

impl Spent {
    fn has_chances(&self) -> bool {
        self.chances != 0.0 || self.most_chances != 0.0
    }
}

/// A budget and what was spent of it, to the last digit.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Exactly {
    /// The keys of the observer: none is someone who sees every message.
    observer: Vec<String>,
    /// The budget.
    allowed: Limits,
    /// What was spent, in the budget's own currency: a Rényi loss.
    loss: f64,
    /// The sum of deltas beside it.
    chances: f64,
}

/// A budget.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Limits {
    /// Epsilon ...
    epsilon: f64,
    /// ... at this delta.
    delta: f64,
    /// For the sum of deltas.
    chances: f64,
}

impl From<Exact> for Exactly {
    fn from(Exact { observer, allowed, loss, chances }: Exact) -> Self {
        let Allowed { epsilon, delta, chances: most } = allowed;
        Self { observer, allowed: Limits { epsilon, delta, chances: most }, loss, chances }
    }
}

impl fmt::Display for Stands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.budgets.iter().max_by(|a, b| a.used.total_cmp(&b.used)) {
            _ if self.doubted.is_some() => {
                writeln!(
                    f,
                    "DOUBTED: others have seen more of this ledger than it holds, and what was spent counts as all\n"
                )?;
            }
            Some(most) => {
                let (who, spent) = (&most.observer, up(most.spent));
                let used = percent(most.used);
                write!(
                    f,
                    "most was spent towards {who}: epsilon {spent:.4}, {used} of a budget of {}",
                    most.epsilon
                )?;
                match most.has_chances() {
                    true => writeln!(f, ", chances {:.4} of {}\n", up(most.chances), most.most_chances)?,
                    false => writeln!(f, "\n")?,
                }
            }
            None => writeln!(f, "nothing was spent\n")?,
        }
        writeln!(f, "  key {}\n  {} records, {} runs", self.key, self.records, self.runs.len())?;
        for run in &self.runs {
            writeln!(
                f,
                "    agreement {}: {} steps, {} releases, {} messages",
                &run.agreement[..12],
                run.steps,
                run.releases,
                run.messages
            )?;
            run.cause.iter().try_for_each(|cause| writeln!(f, "      {cause}"))?;
        }
        table(f, &self.budgets)?;
        self.under_way.iter().try_for_each(|run| write!(f, "\n  {run}"))
    }
}

/// How a run stands that is under way.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Running {
    /// The run.
    run: String,
    /// Names the agreement.
    agreement: String,
    /// What is done.
    called: String,
    /// `meeting`, `running`, `done` or `halted`.
    phase: String,
    /// The round that it is in.
    round: usize,
    /// How many there are.
    rounds: usize,
    /// Neighbours who are connected.
    connected: Vec<String>,
    /// Neighbours who are not.
    absent: Vec<String>,
    /// Seconds since 1970, when this was written down ...
    written: u64,
    /// ... and how long ago that was.
    age: u64,
    /// The process that wrote it.
    process: u32,
}

impl Running {
    fn of(status: &sottovoce_node::Status) -> Self {
        let names = |connected: bool| {
            let of = status.neighbours.iter().filter(|one| one.connected == connected);
            of.map(|one| one.name.clone()).collect()
        };
        let phase = match status.phase {
            Phase::Meeting => "meeting",
            Phase::Running => "running",
            Phase::Done => "done",
            Phase::Halted => "halted",
        };
        Self {
            run: status.run.clone(),
            agreement: status.agreement.clone(),
            called: status.called.clone(),
            phase: phase.to_owned(),
            round: status.round,
            rounds: status.rounds,
            connected: names(true),
            absent: names(false),
            written: status.written,
            age: std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |now| now.as_secs().saturating_sub(status.written)),
            process: status.process,
        }
    }
}

impl fmt::Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} is {}: round {} of {} ({}), as process {} wrote {} seconds ago",
            self.run, self.phase, self.round, self.rounds, self.called, self.process, self.age
        )?;
        if !self.absent.is_empty() {
            writeln!(f, "    not connected: {}", self.absent.join(", "))?;
        }
        Ok(())
    }
}

/// A share, rounded up.
fn percent(share: f64) -> String {
    format!("{} %", sottovoce_fault::decimal::up(100.0 * share, 2))
}

/// Budgets, one a line; chances where there are any.
fn table(f: &mut fmt::Formatter<'_>, budgets: &[Spent]) -> fmt::Result {
    let chances = budgets.iter().any(Spent::has_chances);
    if !budgets.is_empty() {
        write!(f, "\n  {:<16} {:<34} {:>9} {:>9} {:>7}", "data set", "towards", "epsilon", "budget", "used")?;
        writeln!(f, "{}", if chances { "    chances" } else { "" })?;
    }
    for one in budgets {
        let (label, observer) = (&one.label, &one.observer);
        write!(f, "  {label:<16} {observer:<34} {:>9.4} {:>9.4}", up(one.spent), one.epsilon)?;
        write!(f, " {:>7}", percent(one.used))?;
        if one.of == "row" {
            write!(f, "    of one row")?;
        }
        if one.has_chances() {
            write!(f, "    {:.4} of {}", up(one.chances), one.most_chances)?;
        }
        writeln!(f)?;
    }
    Ok(())
}

impl Status {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let place = Place::open(&self.folder)?;
        let under_way = place.under_way().iter().map(Running::of).collect();
        let ledger = place.look_at_ledger()?;
        let mut runs = Vec::new();
        for run in ledger.runs()? {
            let records = ledger.records(run)?;
            runs.push(Ran {
                agreement: run.to_string(),
                steps: records.len(),
                releases: records.iter().map(|record| record.releases.len()).sum(),
                messages: records.iter().map(|record| record.said.len()).sum(),
                cause: sottovoce_node::Status::read(&place.status_file(run))
                    .ok()
                    .and_then(|known| known.cause),
            });
        }
        let spent = ledger.budgets()?.into_iter().map(|one| Spent {
            exact: Some(Exact::from(&one).into()),
            label: one.label,
            observer: one.observer.to_string(),
            spent: one.epsilon,
            used: one.used,
            epsilon: one.allowed.epsilon,
            delta: one.allowed.delta,
            chances: one.chances,
            most_chances: one.allowed.chances,
            of: if one.unit == Some(sottovoce::privacy::Unit::Record) { "row" } else { "all" },
        });
        let held = |Set { label, unit, files }: Set| Held { label, unit, files };
        let sets = self.files.then(|| ledger.sets()).transpose()?;
        let doubted = ledger.doubted().map(str::to_owned);
        global.print(&Stands {
            key: ledger.name().to_string(),
            records: ledger.head().count,
            runs,
            budgets: spent.collect(),
            sets: sets.map(|sets| sets.into_iter().map(held).collect()),
            doubted: doubted.clone(),
            under_way,
        })?;
        doubted.map_or(Ok(()), |why| Err(Error::Doubted(why).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubted_ledger_has_no_headline_of_what_it_knows() {
        let budget = Spent {
            label: "values".to_owned(),
            observer: "the wire-tapper".to_owned(),
            spent: 0.0,
            used: 0.0,
            epsilon: 8.0,
            delta: 1e-6,
            chances: 0.0,
            most_chances: 0.0,
            of: "all",
            exact: None,
        };
        let mut stands = Stands {
            key: String::new(),
            records: 0,
            runs: Vec::new(),
            budgets: vec![budget],
            sets: None,
            doubted: None,
            under_way: Vec::new(),
        };
        let headline = |stands: &Stands| stands.to_string().lines().next().unwrap().to_owned();
        assert!(headline(&stands).contains("0 %"));
        stands.doubted = Some("it is an older copy".to_owned());
        assert!(headline(&stands).starts_with("DOUBTED") && !headline(&stands).contains('0'));
    }
}
