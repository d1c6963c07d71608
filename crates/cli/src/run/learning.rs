//! `sottovoce run learning`: peers learn a model together.

use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::checkpoints::Checkpoints;
use super::experiment::{AGAIN, EXPERIMENT, HAPPENED, TRANSCRIPT, again};
use super::{Place, Printed};
use crate::Global;
use crate::input;
use crate::output::note;
use sottovoce::experiment::{self, Experiment};
use sottovoce::learning::{Checkpoint, Noise, Run};
use sottovoce::transcript;
use sottovoce_report::{LearningReport, store};

const EXAMPLES: &str = "Examples:
  sottovoce run learning
  sottovoce run learning --cancel 10 --colluders 6 --epsilon 1
  sottovoce run learning --method walk --epsilon 4 --against worst-peer --out my-report
  sottovoce run learning --method gossip --graph friends.txt --data DIR --sigma 2 --epsilon 8
  sottovoce run learning --method gossip --accelerated --fresh-graphs 1 --iterations 5
  sottovoce run learning --ridge 0.1 --final-model weighted --iterations 20
  sottovoce run learning --method walk --sigma 1 --checkpoint walk.json --pause-after 1000
  sottovoce run learning --method walk --sigma 1 --checkpoint walk.json --resume
  sottovoce run learning --method walk --sigma 1 --drop-messages 0.1 --crashes 3@60000 --slow 5@20
  sottovoce run learning --data visits.csv --label ill --positive yes --range age=0:120 --peers 50
  sottovoce run learning --data visits.csv --label ill --category ward=a,b --peer-column hospital
  sottovoce run learning --data houses.csv --label price --objective squared --bounds bounds.csv
  sottovoce run learning --data train-images-idx3-ubyte.gz --classes 10

Without --data the task is a synthetic look-alike of Houses (20,640 rows, 8 features, two classes). With a target and no --sigma the noise is
calibrated so that the whole run meets the target; with both the run ends, or peers fall silent, when the target is reached.

A user's data are its rows; guarantees are of replacing all of them. So that nobody's rows move another's, a file is scaled by public bounds only
(--range, --bounds or --norm), labels are made by public rules (--positive, --label-threshold or --classes; of 0 and 1, or -1 and 1, 1 is positive),
categories are those that are named (--category), and what is missing is refused or a number given beforehand (--missing). Who holds a row
(--peer-column) and how many rows there are is public. Losses, accuracies and curves are
computed without privacy; a simulation hides nothing, since its noise follows from its seed.";

/// Arguments of `run learning`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
// The experiment within has the same name.
#[group(skip)]
pub(super) struct Learning {
    #[command(flatten)]
    experiment: experiment::Learning,
    #[command(flatten)]
    state: Checkpoints,
    #[command(flatten)]
    place: Place,
}

impl Learning {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (whole, here) = (Experiment::Learning(Box::new(self.experiment.clone())), Path::new(""));
        let _underway = self.place.underway(&whole, here, global.seed, global);
        learn(&self.experiment, here, global.seed, &self.state, &self.place, global)
    }
}

/// Runs the experiment, and writes and prints what came of it.
pub(super) fn learn(
    experiment: &experiment::Learning,
    folder: &Path,
    seed: u64,
    state: &Checkpoints,
    place: &Place,
    global: &Global,
) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        LearningReport::free(out, place.overwrite)?;
        store::check(out, &[EXPERIMENT, TRANSCRIPT], place.overwrite)?;
    }
    let ready = experiment.ready(folder, seed)?;
    ready.notes.iter().for_each(|text| note(text));
    if let Some(hash) = &ready.graph_sha256 {
        input::keep(input::GRAPH, hash.clone());
    }
    if let (Some(path), Some(_)) = (&state.checkpoint, &ready.network) {
        anyhow::bail!(
            "`checkpoint` is {}: a run by messages cannot be paused; leave it out, or what is said of the network",
            path.display()
        );
    }
    let job = experiment.job(&ready, seed);
    let mut run = job.start()?;
    if let Some(bytes) = state.bytes()? {
        run.resume(checkpoint(&bytes, state)?)?;
    }
    let more = advance(&mut run, &ready.noise, state, global)?;
    let bar = global.progress(experiment.seeds(), "other seeds");
    let found = job.conclude(&run, more, || bar.inc(1))?;
    bar.finish_and_clear();
    let written = match &out {
        Some(out) => {
            let whole = Experiment::Learning(Box::new(experiment.clone()));
            let transcript = transcript::Learning::new(&whole, &run, experiment.target.delta)?;
            let mut report = found.report(global.provenance())?;
            report.beside = vec![(EXPERIMENT.into(), AGAIN.into()), (TRANSCRIPT.into(), HAPPENED.into())];
            let mut files = report.files(global.document(&found)?.into_bytes())?;
            files.push((EXPERIMENT.into(), again(whole, folder, seed)?));
            files.push((TRANSCRIPT.into(), transcript::to_json(&transcript)?));
            store::write(out, &files, place.overwrite)?
        }
        None => Vec::new(),
    };
    global.print(&Printed { found, report: out, files: written })
}

/// What an earlier run left.
fn checkpoint(bytes: &[u8], state: &Checkpoints) -> anyhow::Result<Checkpoint> {
    serde_json::from_slice(bytes).with_context(|| {
        let path = state.checkpoint.as_deref().unwrap_or(Path::new("")).display();
        format!("`checkpoint` is {path}: it is not a checkpoint of a learning run")
    })
}

/// Learns, showing loss and budget; whether there is more to do.
fn advance(run: &mut Run<'_>, noise: &Noise, state: &Checkpoints, global: &Global) -> anyhow::Result<bool> {
    let (done, all) = run.progress();
    let bar = global.progress(all, "learning");
    bar.set_position(done as u64);
    let more = run.go(state.pause_after.unwrap_or(usize::MAX), |run| {
        bar.set_position(run.progress().0 as u64);
        if let Some(point) = run.curve().last() {
            bar.set_message(format!("loss {:.3} (not private), mu² {:.3}", point.objective, point.spent));
        }
    })?;
    bar.finish_and_clear();
    state.keep(|| {
        noise.promise().map(|promise| run.may_show(&promise)).transpose()?;
        Ok(serde_json::to_vec(&run.checkpoint())?)
    })?;
    Ok(more)
}
