//! `sottovoce run`.
use super::Global;
/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {}
impl Run {
    pub(crate) fn run(&self, _global: &Global) -> anyhow::Result<()> {
        Ok(())
    }
}
