//! A plan and the experiment that executes its choice: printed, and written where a file is named.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use sottovoce::experiment::Experiment;
use sottovoce_report::store;

use crate::{Global, output};

/// Where the experiment goes.
#[derive(Debug, Args)]
pub(super) struct Out {
    /// File for the experiment that executes the choice (`sottovoce run FILE.toml`); without it the experiment is printed.
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Replace a file of that name.
    #[arg(long)]
    pub(super) overwrite: bool,
}

/// A plan, with its experiment.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Written<P> {
    #[serde(flatten)]
    plan: P,
    /// The experiment that executes the choice.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    experiment: Experiment,
    /// The file it was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<PathBuf>,
}

impl Out {
    /// Refuses a name that is taken, before any work is done.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        self.check_beside(None)
    }

    /// The same, where there may be another file beside the experiment's.
    pub(super) fn check_beside(&self, page: Option<&Path>) -> anyhow::Result<()> {
        if self.overwrite && self.out.is_none() && page.is_none() {
            bail!(
                "`overwrite` is given: no file is written that could replace another; give --out, or leave it out"
            );
        }
        if let Some(page) = page {
            store::check_file("page", page, self.overwrite)?;
        }
        match &self.out {
            Some(out) if out.extension().is_none_or(|end| end != "toml") => {
                bail!("`out` is {}: an experiment's file ends in .toml; give such a name", out.display())
            }
            Some(out) => Ok(store::check_file("out", out, self.overwrite)?),
            None => Ok(()),
        }
    }

    /// Prints a plan, and its experiment or where that was written.
    pub(super) fn print<P: output::Report>(
        &self,
        plan: P,
        experiment: &Experiment,
        global: &Global,
    ) -> anyhow::Result<()> {
        let experiment = experiment.from_anywhere(Path::new(""));
        let text = experiment.to_toml()?;
        if let Some(out) = &self.out {
            store::write_file("out", out, self.overwrite, |file| {
                Ok::<_, anyhow::Error>(file.write_all(text.as_bytes())?)
            })?;
        }
        global.print(&Written { plan, experiment, out: self.out.clone() })?;
        // A file's text stays as it is, however wide.
        match self.out.is_none() && !global.json && !global.quiet {
            true => output::write(format!("\n{text}").as_bytes()),
            false => Ok(()),
        }
    }
}

impl<P: fmt::Display> fmt::Display for Written<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            write!(f, "{:#}", self.plan)?;
        } else {
            write!(f, "{}", self.plan)?;
        }
        match &self.out {
            Some(out) => write!(f, "\nexperiment: {0}   (run it: sottovoce run {0})", out.display()),
            None => write!(f, "\nThe experiment that executes the choice (--out FILE.toml writes it):"),
        }
    }
}
