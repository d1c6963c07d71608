//! `sottovoce node status`: what a node has spent.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sottovoce_node::Place;

use super::up;
use crate::Global;

/// Arguments of `node status`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce node status ana --json")]
pub(crate) struct Status {
    /// The node's folder.
    folder: PathBuf,
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
}

/// A budget.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Spent {
    /// The data set.
    label: String,
    /// Towards whom.
    observer: String,
    /// Epsilon that was spent.
    spent: f64,
    /// The budget.
    epsilon: f64,
    /// At this delta.
    delta: f64,
}

impl fmt::Display for Stands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |one: &Spent| one.spent / one.epsilon;
        match self.budgets.iter().max_by(|a, b| share(a).total_cmp(&share(b))) {
            Some(most) => writeln!(
                f,
                "most was spent towards {}: epsilon {:.4} of {}\n",
                most.observer,
                up(most.spent),
                most.epsilon
            )?,
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
        }
        if !self.budgets.is_empty() {
            writeln!(f, "\n  {:<16} {:<36} {:>10} {:>10}", "data set", "towards", "spent", "budget")?;
        }
        for one in &self.budgets {
            writeln!(
                f,
                "  {:<16} {:<36} {:>10.4} {:>10.4}",
                one.label,
                one.observer,
                up(one.spent),
                one.epsilon
            )?;
        }
        Ok(())
    }
}

impl Status {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let ledger = Place::open(&self.folder)?.open_ledger()?;
        let mut runs = Vec::new();
        for run in ledger.runs()? {
            let records = ledger.records(run)?;
            runs.push(Ran {
                agreement: run.to_string(),
                steps: records.len(),
                releases: records.iter().map(|record| record.releases.len()).sum(),
                messages: records.iter().map(|record| record.said.len()).sum(),
            });
        }
        let spent = ledger.budgets()?.into_iter().map(|one| Spent {
            label: one.label,
            observer: one.observer.to_string(),
            spent: one.epsilon,
            epsilon: one.allowed.epsilon,
            delta: one.allowed.delta,
        });
        let budgets = spent.collect();
        global.print(&Stands { key: ledger.name().to_string(), records: ledger.head().count, runs, budgets })
    }
}
