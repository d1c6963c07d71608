//! `sottovoce graph`.
use super::Global;
/// Arguments of `graph`.
#[derive(Debug, clap::Args)]
pub(crate) struct Graph {}
impl Graph {
    pub(crate) fn run(&self, _global: &Global) -> anyhow::Result<()> {
        Ok(())
    }
}
