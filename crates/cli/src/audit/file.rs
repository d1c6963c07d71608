//! `sottovoce audit FILE.toml`: an experiment under attack.

use std::path::PathBuf;

use clap::{Args, Parser};
use sottovoce::averaging::question;
use sottovoce::experiment::{Experiment, folder_of};
use sottovoce::learning::canary::attack as attack_release;
use sottovoce::names::Names;
use sottovoce::personal;
use sottovoce_audit::reconstruct::Claim;

use super::Failed;
use super::membership;
use super::reconstruct::{Weighing, attack};
use super::source::Source;
use crate::account::unused;
use crate::graph::count;
use crate::{Global, input};

/// Arguments of `audit FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce audit my.toml\n  sottovoce audit my.toml --runs 10000\n\n\
                  Averaging: the observers' best reconstruction of every value. Rumours: attacks that name the source. Learning: someone who sees every message tells\n\
                  two versions of one peer's rows apart, in real runs; what that proves must not exceed what is claimed. Nets: canaries in place of one agent's images, in one run."
)]
pub(crate) struct File {
    /// The experiment.
    file: PathBuf,
    /// Number of runs of each attack (default: 2000; nets are attacked in one).
    #[arg(long, value_name = "R", value_parser = count)]
    runs: Option<usize>,
}

/// The options of `audit source`, with their defaults.
#[derive(Debug, Parser)]
struct Defaults {
    #[command(flatten)]
    source: Source,
}

impl File {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::read(&self.file)?;
        let (seed, runs) = (global.seed_of(&experiment), self.runs.unwrap_or(2000));
        match &experiment {
            Experiment::Averaging(averaging) => {
                let ready = averaging.ready(&folder_of(&self.file), seed, &|_| ())?;
                let question = question(&ready, seed, runs);
                let names = Names::of_graph(&ready.place.graph);
                attack(&question, &Claim::Exact, &Weighing::of(averaging, 0.5), names, global)
            }
            Experiment::Learning(learning) => {
                let ready = learning.ready(&folder_of(&self.file), seed)?;
                let bar = global.progress(2 * runs, "runs with two versions of a peer's rows");
                let found = attack_release(&learning.job(&ready, seed), 0, runs, || bar.inc(1))?;
                bar.finish_and_clear();
                global.print(&found)?;
                match found.stands {
                    true => Ok(()),
                    false => Err(Failed(found.headline).into()),
                }
            }
            Experiment::Personalized(asked) => {
                let all = 2 * runs * personal::attacks(asked);
                let bar = global.progress(all, "runs with two versions of a row");
                let folder = folder_of(&self.file);
                let found = personal::attack(asked, &folder, seed, runs, || bar.inc(1))?;
                input::of_graph(asked.task.graph_sha256(&folder)?.as_ref());
                bar.finish_and_clear();
                global.print(&found)?;
                match found.fallen() {
                    None => Ok(()),
                    Some(headline) => Err(Failed(headline.to_owned()).into()),
                }
            }
            Experiment::Deep(deep) => {
                unused("runs", self.runs, "canaries are planted in one run")?;
                membership::canaries(deep, &folder_of(&self.file), seed, global)
            }
            Experiment::Rumor(rumor) => {
                let rumor = rumor.settings(seed)?.rumor()?;
                let [peers, curious] = [rumor.peers(), rumor.curious()].map(|n| n.to_string());
                let (muting, runs) = (rumor.muting().to_string(), runs.to_string());
                let words = [
                    "source",
                    "--peers",
                    &peers,
                    "--curious",
                    &curious,
                    "--muting",
                    &muting,
                    "--runs",
                    &runs,
                    "--rounds",
                ];
                Defaults::try_parse_from(words)?.source.run(&global.with_seed(seed))
            }
        }
    }
}
