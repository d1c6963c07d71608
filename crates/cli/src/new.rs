//! `sottovoce new`: an experiment to begin with.

use clap::Args;
use sottovoce::experiment::{Experiment, template};

use crate::{Global, output};

/// Arguments of `new`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce run my.toml\n  sottovoce new learning --json"
)]
pub(crate) struct New {
    /// What it is about: averaging, learning, personalized, deep or rumor.
    kind: String,
}

impl New {
    /// The file as it is, or the experiment that it holds.
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let text = template(&self.kind)?;
        match global.json {
            true => output::write(format!("{}\n", global.document(&Experiment::parse(text)?)?).as_bytes()),
            false => output::write(text.as_bytes()),
        }
    }
}
