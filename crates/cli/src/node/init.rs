//! `sottovoce node init`.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sottovoce_node::Place;

use crate::Global;

/// Arguments of `node init`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce node init ana")]
pub(crate) struct Init {
    /// The folder, which is made.
    folder: PathBuf,
}

/// A new node.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Made {
    /// Its folder.
    folder: PathBuf,
    /// Its public key: what others call it by.
    key: String,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.display();
        writeln!(f, "node {folder} has the key {}\n", self.key)?;
        writeln!(f, "  Fill in {folder}/node.toml: what it holds, and what that may cost.")?;
        writeln!(
            f,
            "  Keep {folder}/key secret, and never restore {folder}/ledger from a backup: others would notice."
        )
    }
}

impl Init {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (_, key) = Place::create(&self.folder)?;
        global.print(&Made { folder: self.folder.clone(), key: key.to_string() })
    }
}
