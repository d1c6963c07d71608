//! `sottovoce run learning`: peers learn a model together.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use clap::Args;

use super::{Place, Printed};
use crate::Global;
use crate::graph::{count, real};
use crate::learning::{MethodArgs, StepArgs, TargetArgs};
use crate::task::TaskArgs;
use sottovoce::learning::{Checkpoint, Job, Noise, Run};
use sottovoce_papers::files;

const EXAMPLES: &str = "Examples:
  sottovoce run learning
  sottovoce run learning --method walk --epsilon 4 --against worst-peer --out my-report
  sottovoce run learning --method gossip --graph friends.txt --data DIR --sigma 2 --epsilon 8
  sottovoce run learning --method walk --sigma 1 --checkpoint walk.json --pause-after 1000
  sottovoce run learning --method walk --sigma 1 --checkpoint walk.json --resume
  sottovoce run learning --data visits.csv --label ill --positive yes --range age=0:120 --peers 50
  sottovoce run learning --data visits.csv --label ill --category ward=a,b,c --peer-column hospital
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
pub(super) struct Learning {
    #[command(flatten)]
    task: TaskArgs,
    #[command(flatten)]
    method: MethodArgs,
    #[command(flatten)]
    step: StepArgs,
    #[command(flatten)]
    target: TargetArgs,
    /// Noise on a gradient, in units of its sensitivity; 0 for a run that protects nobody.
    #[arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Runs with this and the following seeds over which the accuracy, or the error, is measured: one alone may be lucky.
    #[arg(long, value_name = "N", default_value = "10", value_parser = count)]
    seeds: usize,
    /// File in which the run's state is kept.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint; all other options must be those of the first run.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// Stop after so many steps, and keep the state in the checkpoint.
    #[arg(long, value_name = "N", value_parser = count, requires = "checkpoint")]
    pause_after: Option<usize>,
    #[command(flatten)]
    place: Place,
}

impl Learning {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let folder = self.place.folder()?;
        let names = ["report.html", "learning.json", "learning.svg", "learning.png"];
        if let Some(folder) = &folder {
            files::check(folder, names.into_iter(), self.place.overwrite)?;
        }
        let choice = self.step.of(self.method.choice("butterfly")?)?;
        let noise = self.target.noise(self.sigma)?;
        let (task, mixing) = self.method.mixing(choice.method, self.task.read()?, global.seed)?;
        let job = Job {
            task: &task,
            mixing: mixing.as_ref(),
            choice,
            noise,
            seeds: self.seeds,
            seed: global.seed,
            delta: self.target.delta,
            threads: sottovoce_views::parallel::threads(),
        };
        let mut run = job.start()?;
        self.take_up(&mut run)?;
        let more = self.learn(&mut run, &noise, global)?;
        let bar = global.progress(self.seeds, "other seeds");
        let found = job.conclude(&run, more, || bar.inc(1))?;
        bar.finish_and_clear();
        let written = match &folder {
            Some(folder) => {
                let [page, svg, png] = found.files()?;
                let data = serde_json::to_vec(&found)?;
                let all = [(names[0], page), (names[1], data), (names[2], svg), (names[3], png)];
                files::write(folder, &all, self.place.overwrite)?
            }
            None => Vec::new(),
        };
        global.print(&Printed { found, report: folder, files: written })
    }

    fn take_up(&self, run: &mut Run<'_>) -> anyhow::Result<()> {
        let Some(path) = &self.checkpoint else { return Ok(()) };
        if !self.resume {
            ensure!(
                !path.exists(),
                "`checkpoint` is {}: it exists; add --resume to go on from it, or give another name",
                path.display()
            );
            return Ok(());
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
            save(path, &run.checkpoint())?;
        }
        Ok(more)
    }
}

/// Writes a checkpoint whole or not at all.
fn save(path: &Path, checkpoint: &Checkpoint) -> anyhow::Result<()> {
    let name = path
        .file_name()
        .with_context(|| format!("`checkpoint` is {}: give the name of a file", path.display()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files::write(folder, &[(&name.to_string_lossy(), serde_json::to_vec(checkpoint)?)], true)?;
    Ok(())
}
