//! `sottovoce account`.
use super::Global;
/// Arguments of `account`.
#[derive(Debug, clap::Args)]
pub(crate) struct Account {}
impl Account {
    pub(crate) fn run(&self, _global: &Global) -> anyhow::Result<()> {
        Ok(())
    }
}
