//! `sottovoce node init`.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sottovoce_node::{Place, Spending};

use crate::Global;

/// Arguments of `node init`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node init ana\n  sottovoce node status old --json --files > old.json\n  sottovoce node init new --spent old.json\n\n\
                        What was spent under another key stays spent: every budget of the old ledger is entered as it stood, never for less. If others have seen more of \
                        the old ledger than it holds, everything counts as spent, also of data sets that it does not know; bring its newest copy back."
)]
pub(crate) struct Init {
    /// The folder, which is made.
    folder: PathBuf,
    /// What was spent of the same data under another key, as `node status --json --files` printed it.
    #[arg(long, value_name = "FILE")]
    spent: Option<PathBuf>,
}

/// A new node.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Made {
    /// Its folder.
    folder: PathBuf,
    /// Its public key: what others call it by.
    key: String,
    /// Budgets of which something may have been spent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    entered: Option<usize>,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.display();
        writeln!(f, "node {folder} has the key {}\n", self.key)?;
        if let Some(entered) = self.entered {
            writeln!(f, "  {entered} budgets were entered with what was spent of them before.")?;
        }
        writeln!(f, "  Fill in {folder}/node.toml: what it holds, and what that may cost.")?;
        writeln!(
            f,
            "  Keep {folder}/key secret, and never restore {folder}/ledger from a backup: others would notice."
        )
    }
}

impl Init {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let spent = self.spent.as_deref().map(Spending::read).transpose()?;
        let (_, key) = Place::create_after(&self.folder, spent.as_ref())?;
        let entered = spent.map(|spent| spent.len());
        global.print(&Made { folder: self.folder.clone(), key: key.to_string(), entered })
    }
}
