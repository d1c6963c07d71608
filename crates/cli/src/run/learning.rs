//! `sottovoce run learning`: peers learn a model together.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use clap::Args;

use super::experiment::{AGAIN, EXPERIMENT, HAPPENED, TRANSCRIPT, again};
use super::{Place, Printed};
use crate::Global;
use crate::graph::count;
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

/// Where a run's state is kept.
#[derive(Debug, Default, Args)]
pub(super) struct Checkpoints {
    /// File in which the run's state is kept.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint; all other options must be those of the first run.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// Stop after so many steps, and keep the state in the checkpoint.
    #[arg(long, value_name = "N", value_parser = count, requires = "checkpoint")]
    pause_after: Option<usize>,
}

impl Learning {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        learn(&self.experiment, Path::new(""), global.seed, &self.state, &self.place, global)
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
    input::of_task(&experiment.task, &ready.task)?;
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
    state.take_up(&mut run)?;
    let more = state.learn(&mut run, &ready.noise, global)?;
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

impl Checkpoints {
    fn take_up(&self, run: &mut Run<'_>) -> anyhow::Result<()> {
        let Some(path) = &self.checkpoint else { return Ok(()) };
        if !self.resume {
            ensure!(
                !path.exists(),
                "`checkpoint` is {}: it exists; add --resume to go on from it, or give another name",
                path.display()
            );
            return Ok(store::check_file("checkpoint", path, false)?);
        }
        let text = std::fs::read_to_string(path).map_err(|error| {
            anyhow!("`checkpoint` is {}: it cannot be read ({error}); check the name", path.display())
        })?;
        let checkpoint: Checkpoint = serde_json::from_str(&text).with_context(|| {
            format!("`checkpoint` is {}: it is not a checkpoint of a learning run", path.display())
        })?;
        Ok(run.resume(checkpoint)?)
    }

    /// Learns, showing loss and budget; whether there is more to do.
    fn learn(&self, run: &mut Run<'_>, noise: &Noise, global: &Global) -> anyhow::Result<bool> {
        let (done, all) = run.progress();
        let bar = global.progress(all, "learning");
        bar.set_position(done as u64);
        let more = run.go(self.pause_after.unwrap_or(usize::MAX), |run| {
            bar.set_position(run.progress().0 as u64);
            if let Some(point) = run.curve().last() {
                bar.set_message(format!("loss {:.3} (not private), mu² {:.3}", point.objective, point.spent));
            }
        })?;
        bar.finish_and_clear();
        if let Some(path) = &self.checkpoint {
            if let Some(promise) = noise.promise() {
                run.may_show(&promise)?;
            }
            store::write_file("checkpoint", path, true, |file| {
                Ok::<_, anyhow::Error>(serde_json::to_writer(BufWriter::new(file), &run.checkpoint())?)
            })?;
        }
        Ok(more)
    }
}
