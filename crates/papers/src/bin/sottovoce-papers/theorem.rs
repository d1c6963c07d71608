//! `sottovoce-papers theorem`: what a paper states, of a case that the user gives, beside what is true.

use clap::Args;
use sottovoce_cli::program::{self, Global};
use sottovoce_papers::{Inputs, Statement, statements};

use super::reproduce::Listing;

const EXAMPLES: &str = "Examples:
  sottovoce-papers theorem
  sottovoce-papers theorem muffliato/theorem-2 --graph cube.txt --sigma 2
  sottovoce-papers theorem muffliato/theorem-7 --peers 128 --steps 20

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
        let Some(what) = &self.what else {
            let all = statements().into_iter().map(|(name, one)| (name, one.title));
            return global.print(&Listing::new("statements of the papers can be asked about a case", all));
        };
        let inputs = Inputs { seed: global.seed, ..self.inputs.clone() };
        let answer = Statement::find(what)?.answer(&inputs)?;
        if let Some(sha256) = inputs.graph_sha256.get() {
            program::has_read_graph(sha256.clone());
        }
        global.print(&answer)
    }
}
