//! `sottovoce new`: an experiment to begin with.

use clap::Args;
use sottovoce::experiment::template;

use crate::output;

/// Arguments of `new`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce run my.toml")]
pub(crate) struct New {
    /// What it is about: averaging, learning or rumor.
    kind: String,
}

impl New {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        output::write(template(&self.kind)?.as_bytes())
    }
}
