//! `sottovoce theorem`: what a paper states, of a case that the user gives, beside what is true.

use std::fmt;

use clap::Args;
use serde::Serialize;
use sottovoce_papers::{Inputs, Statement, statements};

use super::{Global, input};

const EXAMPLES: &str = "Examples:
  sottovoce theorem
  sottovoce theorem muffliato/theorem-2 --graph cube.txt --sigma 2
  sottovoce theorem muffliato/theorem-7 --peers 128 --steps 20

Everything that a statement is asked about has a default. Options that a statement does not use are refused.";

/// Arguments of `theorem`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Theorem {
    /// A statement of a paper; without it, all are listed.
    #[arg(value_name = "PAPER/STATEMENT")]
    what: Option<String>,
    #[command(flatten)]
    inputs: Inputs,
}

impl Theorem {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let Some(what) = &self.what else { return global.print(&Listing::new()) };
        let answer = Statement::find(what)?.answer(&self.inputs)?;
        if let Some(file) = &self.inputs.graph.base.file {
            input::hash(input::GRAPH, file)?;
        }
        global.print(&answer)
    }
}

/// All statements.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Listing {
    /// Their names and titles.
    items: Vec<Listed>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Listed {
    /// As `theorem` takes it.
    name: String,
    /// What it is about.
    title: &'static str,
}

impl Listing {
    fn new() -> Self {
        Self {
            items: statements().into_iter().map(|(name, one)| Listed { name, title: one.title }).collect(),
        }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} statements of the papers can be asked about a case\n", self.items.len())?;
        self.items.iter().try_for_each(|item| writeln!(f, "{:<26} {}", item.name, item.title))
    }
}
