//! `sottovoce account averaging`: what observers learn about every peer. Flags, files and transcripts are answered by one function.

use std::path::Path;

use anyhow::bail;
use clap::Args;
use sottovoce::averaging::{Asked, Judgeable, Public, reveal, walk};
use sottovoce::experiment;
use sottovoce_privacy::Adversary;

use crate::Global;
use crate::graph::count;
use crate::graph::source::said;

/// Towards whom; nothing: the observers that are named, or else everybody.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Towards {
    /// Every peer on its own: the leakage of all pairs.
    #[arg(long, conflicts_with_all = ["observers", "worst_coalition", "wire_tapper"])]
    all_pairs: bool,
    /// Someone who sees every message, and knows all that --observers know, if they are given.
    #[arg(long, conflicts_with = "worst_coalition")]
    pub(crate) wire_tapper: bool,
    /// The K peers who together learn most (without relay noise).
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "observers", allow_negative_numbers = true)]
    worst_coalition: Option<usize>,
}

impl Towards {
    fn asked(&self, observers: &[usize], colluders: Option<usize>) -> anyhow::Result<Asked> {
        let alone = |field: &str| match colluders {
            None => Ok(()),
            Some(_) => bail!("`{field}` is given, and colluders are, too; give one of them"),
        };
        if self.all_pairs {
            alone("all-pairs")?;
            return Ok(Asked::AllPairs);
        }
        if let Some(size) = self.worst_coalition {
            alone("worst-coalition")?;
            return Ok(Asked::WorstCoalition(size));
        }
        Ok(match (self.wire_tapper, colluders, observers) {
            (_, Some(colluders), _) => Asked::Adversary(Adversary::WireTapperWithAny(colluders)),
            (true, None, []) => Asked::Adversary(Adversary::WireTapper),
            (true, None, _) => Asked::Adversary(Adversary::WireTapperWith(observers.to_vec())),
            (false, None, []) => Asked::Everybody,
            (false, None, _) => Asked::Adversary(Adversary::Coalition(observers.to_vec())),
        })
    }

    /// Refuses what only averagings in rounds know.
    pub(crate) fn unused(&self) -> anyhow::Result<()> {
        let given = [
            ("all-pairs", self.all_pairs),
            ("wire-tapper", self.wire_tapper),
            ("worst-coalition", self.worst_coalition.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((field, _)) => {
                bail!("`{field}` is given: it is for averagings in rounds; leave it out")
            }
            None => Ok(()),
        }
    }
}

/// Accounts for an averaging that is planned.
pub(crate) fn account(
    experiment: &experiment::Averaging,
    (towards, observers): (&Towards, &[String]),
    folder: &Path,
    seed: u64,
    global: &Global,
) -> anyhow::Result<()> {
    if experiment.walks() {
        towards.unused()?;
        let ready = experiment.ready_walk(folder, seed)?;
        said(ready.place.sha256.as_ref(), &ready.place.notes);
        return global.print(&walk::account(&ready, seed, observers)?);
    }
    if experiment.network.lenient {
        bail!(
            "`lenient` is true: what such a run reveals depends on who is missed; account for its transcript, or leave it out"
        );
    }
    let bar = global.progress(0, "finding the noise: observers");
    let ready = experiment.ready(folder, seed, &|_| bar.inc(1))?;
    bar.finish_and_clear();
    said(ready.place.sha256.as_ref(), &ready.place.notes);
    let setting = ready.setting.clone();
    // The noise is that of the spec, whoever is asked about.
    revealed(Public::from(&ready).asked(observers, None)?, setting, towards, global)
}

/// Prints what a run reveals, planned or past.
pub(crate) fn revealed(
    public: Public,
    run: impl Judgeable,
    towards: &Towards,
    global: &Global,
) -> anyhow::Result<()> {
    let asked = towards.asked(&public.observers, public.colluders)?;
    let bar = global.progress(run.peers(), "observers");
    let found = reveal(public, run, &asked, &|_| bar.inc(1))?;
    bar.finish_and_clear();
    global.print(&found)
}
