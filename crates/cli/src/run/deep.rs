//! `sottovoce run deep`: a net learned together from images that stay where they are.

use std::path::Path;

use clap::Args;
use sottovoce::deep::{self, Gradients, Ready, Run};
use sottovoce::experiment::{self, Experiment};
use sottovoce::transcript;
use sottovoce_report::store;

use super::checkpoints::Checkpoints;
use super::experiment::{EXPERIMENT, TRANSCRIPT};
use super::{Place, Printed};
use crate::device::Device;
use crate::{Global, input};

const EXAMPLES: &str = "Examples:
  sottovoce run deep
  sottovoce run deep --method dinno --epsilon 4 --split 1 --out my-report
  sottovoce run deep --method dsgd --fiedler 0.1 --noise-multiplier 2 --epsilon 6
  sottovoce run deep --method central --noise-multiplier 0 --clip inf
  sottovoce run deep --data mnist --rounds 2000 --lot 256 --epsilon 1
  sottovoce run deep --data mnist --rounds 2000 --lot 256 --device gpu
  sottovoce run deep --fiedler 1 --epsilon 1 --cancel 30 --colluders 2
  sottovoce run deep --checkpoint net.bin --pause-after 100
  sottovoce run deep --checkpoint net.bin --resume

Without --data the images are drawn: ten figures by a shaky hand. In every round agents mix their models with their neighbours' and step against a gradient of a
few of their own images, each clipped, under noise. Everyone is promised that no image of hers loses more than epsilon to someone who sees every
message; how many images everybody has is public. Losses and accuracies are computed without privacy.";

/// Arguments of `run deep`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
// The experiment within has the same name.
#[group(skip)]
pub(super) struct DeepArgs {
    #[command(flatten)]
    experiment: experiment::Deep,
    #[command(flatten)]
    means: Means,
    #[command(flatten)]
    place: Place,
}

/// What is not of the experiment: where it is computed, and where its state is kept.
#[derive(Debug, Default, Args)]
pub(super) struct Means {
    #[command(flatten)]
    state: Checkpoints,
    /// Where gradients are computed; last digits depend on it, lots and noise do not.
    #[arg(long, value_enum, default_value_t)]
    device: Device,
}

impl DeepArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (whole, here) = (Experiment::Deep(Box::new(self.experiment.clone())), Path::new(""));
        let _underway = self.place.underway(&whole, here, global.seed, global);
        learn(&self.experiment, here, global.seed, &self.means, &self.place, global)
    }
}

/// Runs the experiment, and writes and prints what came of it.
pub(super) fn learn(
    experiment: &experiment::Deep,
    folder: &Path,
    seed: u64,
    Means { state, device }: &Means,
    place: &Place,
    global: &Global,
) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        store::check(out, &deep::FILES, place.overwrite)?;
        store::check(out, &[EXPERIMENT, TRANSCRIPT], place.overwrite)?;
    }
    let _waiting = global.waiting("learning");
    let stored = state.bytes()?;
    let ready = experiment.ready(folder, seed)?;
    input::of_images(&ready);
    let elsewhere = device.trainer(&ready)?;
    let gradients = Gradients::new(&ready.setting.net, &ready.setting.holdings.rows).by(elsewhere.as_deref());
    let mut run = Run::new(&ready.setting, &gradients)?;
    if let Some(bytes) = stored {
        run = run.resume(deep::read(&bytes, experiment, &ready)?)?;
    }
    advance(&mut run, experiment, &ready, state, global)?;
    let found = deep::concluded(experiment, &ready, &run)?;
    let mut files = Vec::new();
    if let Some(out) = &out {
        let whole = experiment::Deep { seed: Some(seed), ..experiment.clone() };
        let whole = Experiment::Deep(Box::new(whole)).from_anywhere(folder);
        let draws: Vec<usize> = found.agents.iter().map(|agent| agent.lost.draws).collect();
        let happened = transcript::Deep::new(&whole, &ready.setting, &draws)?;
        let mut provenance = global.provenance();
        provenance.seed = Some(seed);
        let json = global.document(&found)?.into_bytes();
        let mut all = deep::files(&found, json, provenance, &[EXPERIMENT, TRANSCRIPT])?;
        all.push((EXPERIMENT.into(), whole.to_toml()?.into_bytes()));
        all.push((TRANSCRIPT.into(), transcript::to_json(&happened)?));
        files = store::write(out, &all, place.overwrite)?;
    }
    global.print(&Printed { found, report: out, files })
}

/// Learns, showing how it goes. What is stored was looked at at every point of the curve: a run that diverges leaves the last good state.
fn advance(
    run: &mut Run<'_>,
    experiment: &experiment::Deep,
    ready: &Ready,
    state: &Checkpoints,
    global: &Global,
) -> anyhow::Result<()> {
    let bar = global.progress(ready.setting.plan.iterations, "learning");
    let stop = state.pause_after.map_or(usize::MAX, |more| run.round().saturating_add(more));
    loop {
        bar.set_position(run.round() as u64);
        if let Some(point) = run.curve().last() {
            let epsilon = point.epsilon.map_or_else(|| "-".to_owned(), sottovoce::terms::short_up);
            bar.set_message(format!(
                "loss {:.3}, accuracy {:.3}, distance {:.2}, epsilon {epsilon}",
                point.train_loss, point.accuracy, point.disagreement
            ));
        }
        let more = run.go(stop)?;
        state.keep(|| Ok(deep::stored(experiment, ready, run.checkpoint())?))?;
        if !more {
            bar.finish_and_clear();
            return Ok(());
        }
    }
}
