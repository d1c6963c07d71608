//! Completion scripts and the manual page, generated from the command definitions.

use anyhow::bail;
use clap::Args;

use super::{Global, output};

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce completions bash > ~/.bash_completion")]
pub(crate) struct Completions {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce man > sottovoce.1")]
pub(crate) struct Man {}

impl Completions {
    pub(crate) fn run(&self, global: &Global, mut command: clap::Command) -> anyhow::Result<()> {
        refuse(global, "a script")?;
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "sottovoce", &mut script);
        output::write(&script)
    }
}

impl Man {
    /// One page: the program, then every command with its options.
    pub(crate) fn run(&self, global: &Global, command: clap::Command) -> anyhow::Result<()> {
        refuse(global, "a manual page")?;
        let mut page = Vec::new();
        let mut root = command;
        root.build();
        clap_mangen::Man::new(root.clone()).render(&mut page)?;
        append(&root, &mut page)?;
        output::write(&page)
    }
}

/// Refuses to print JSON where there is none.
fn refuse(global: &Global, what: &str) -> anyhow::Result<()> {
    match global.json {
        true => bail!("`json` is given: {what} has no JSON document; leave --json out"),
        false => Ok(()),
    }
}

fn append(command: &clap::Command, page: &mut Vec<u8>) -> anyhow::Result<()> {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let named = sub.clone().display_name(sub.get_bin_name().unwrap_or(sub.get_name()).to_owned());
        let man = clap_mangen::Man::new(named);
        man.render_name_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
        append(sub, page)?;
    }
    Ok(())
}
