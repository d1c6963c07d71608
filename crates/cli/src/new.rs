//! `sottovoce new`: an experiment to begin with.

use std::io::Write;

use clap::Args;
use sottovoce::experiment::template;

/// Arguments of `new`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce run my.toml")]
pub(crate) struct New {
    /// What it is about: averaging, learning or rumor.
    kind: String,
}

impl New {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let text = template(&self.kind)?;
        match std::io::stdout().lock().write_all(text.as_bytes()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }
}
