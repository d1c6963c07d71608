//! `sottovoce run learning`: peers learn a model together.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use serde::Serialize;
use sottovoce_privacy::round_up;
use sottovoce_topology::mixing::Mixing;

use super::{Place, Printed};
use crate::Global;
use crate::graph::{count, real};
use crate::learning::{MethodArgs, TargetArgs};
use crate::task::TaskArgs;
use sottovoce::learning::report::{STARRED, Shown};
use sottovoce::learning::run::{Checkpoint, Point, Run};
use sottovoce::learning::{Session, Settings, Spread, Task, Trivial};
use sottovoce::terms::promised;
use sottovoce_papers::files;

const EXAMPLES: &str = "Examples:
  sottovoce run learning
  sottovoce run learning --method walk --epsilon 4 --against worst-peer --out my-report
  sottovoce run learning --method gossip --graph friends.txt --data DIR --sigma 2 --epsilon 8
  sottovoce run learning --method walk --sigma 1 --checkpoint walk.json --pause-after 1000
  sottovoce run learning --method walk --sigma 1 --checkpoint walk.json --resume
  sottovoce run learning --data visits.csv --label ill --positive yes --range age=0:120 --range weight=30:200 --peers 50

Without --data the task is a synthetic look-alike of Houses (20,640 rows, 8 features, two classes). With a target and no --sigma the noise is
calibrated so that the whole run meets the target; with both the run ends, or peers fall silent, when the target is reached.

A user's data are its rows; guarantees are of replacing all of them. So that nobody's rows move another's, a file is scaled by public bounds only
(--range, --bounds or --norm), and labels are made by public rules (--positive, --label-threshold or --classes). Losses, accuracies and curves are
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
    target: TargetArgs,
    /// Noise on a gradient, in units of its sensitivity; 0 for a run that protects nobody.
    #[arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Runs with this and the following seeds over which the accuracy is measured: one alone may be lucky.
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

/// What is measured on the rows as they are.
const WITHOUT_PRIVACY: [&str; 6] =
    ["accuracy", "accuracy_of_this_run", "accuracy_without_noise", "trivial", "objective", "curve"];
/// What came of it.
#[derive(Debug, Serialize)]
struct Learned {
    seed: u64,
    task: String,
    method: &'static str,
    peers: usize,
    parameters: usize,
    /// Contributions of each peer.
    iterations: usize,
    step: f64,
    /// Noise in units of the sensitivity.
    sigma: f64,
    sensitivity: f64,
    /// Steps done, and planned.
    steps: (usize, usize),
    /// Whether there is more to do: the run was paused.
    paused: bool,
    /// How often the state was written down on the way. Each time is counted in the guarantees.
    shown: usize,
    objective: f64,
    /// Over several seeds; of this run alone, where it was paused.
    accuracy: Spread,
    accuracy_of_this_run: f64,
    /// The same method without noise.
    accuracy_without_noise: f64,
    /// What a model is worth that looks at no feature.
    trivial: Trivial,
    /// Which of these numbers no noise protects.
    computed_without_privacy: [&'static str; 6],
    /// Squared Gaussian loss towards a wire-tapper of the peer that lost most.
    spent: f64,
    /// Why contributions ended early, if they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    /// Guarantees, with their standing.
    statements: Vec<String>,
    /// What they do not speak of.
    not_covered: Vec<String>,
    model: Vec<f64>,
    curve: Vec<Point>,
}

impl Learning {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let folder = self.place.folder()?;
        let names = ["report.html", "learning.json", "learning.svg", "learning.png"];
        if let Some(folder) = &folder {
            files::check(folder, names.into_iter(), self.place.overwrite)?;
        }
        let task = self.task.read()?;
        let mixing = self.method.mixing(&task, global.seed)?;
        let (settings, last_step) = self.settings(&task, mixing.as_ref(), global.seed)?;
        ensure!(self.seeds > 0, "`seeds` is 0: give at least 1");
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut run = Run::new(&task, mixing.as_ref(), settings.clone(), last_step, threads)?;
        self.take_up(&mut run)?;
        let more = self.learn(&mut run, mixing.as_ref(), global)?;
        let mut found = self.conclude(&task, mixing.as_ref(), &run, more)?;
        let silent = Settings { sigma: 0.0, budget: None, ..settings };
        found.accuracy_without_noise = accuracy(&task, mixing.as_ref(), silent, None, threads)?;
        if !more {
            found.accuracy = self.over_seeds(&task, mixing.as_ref(), found.accuracy_of_this_run, global)?;
        }
        let written = match &folder {
            Some(folder) => {
                let shown = Shown {
                    title: &found.title(),
                    facts: &found.facts(),
                    statements: &found.statements,
                    not_covered: &found.not_covered,
                    curve: &found.curve,
                    trivial: found.trivial,
                };
                let contents = shown.files()?;
                let data = serde_json::to_vec(&found)?;
                let [page, svg, png] = contents;
                let all = [(names[0], page), (names[1], data), (names[2], svg), (names[3], png)];
                files::write(folder, &all, self.place.overwrite)?
            }
            None => Vec::new(),
        };
        global.print(&Printed { found, report: folder, files: written })
    }

    /// The accuracy of this run and of those with the next seeds, each with the noise that it needs.
    fn over_seeds(
        &self,
        task: &Task,
        mixing: Option<&Mixing>,
        own: f64,
        global: &Global,
    ) -> anyhow::Result<Spread> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let bar = global.progress(self.seeds, "other seeds");
        let mut all = vec![own];
        for further in 1..self.seeds as u64 {
            bar.inc(1);
            let (settings, last_step) = self.settings(task, mixing, global.seed.wrapping_add(further))?;
            all.push(accuracy(task, mixing, settings, last_step, threads)?);
        }
        bar.finish_and_clear();
        Ok(Spread::of(&all))
    }

    /// The settings, calibrated where a target is given, and the last step that the target allows.
    fn settings(
        &self,
        task: &Task,
        mixing: Option<&Mixing>,
        seed: u64,
    ) -> anyhow::Result<(Settings, Option<usize>)> {
        let mut settings = self.method.settings(task, mixing, seed)?;
        let mut last_step = None;
        match (self.sigma, self.target.given()?) {
            (Some(sigma), None) => settings.sigma = sigma,
            (Some(sigma), Some(promise)) => {
                settings.sigma = sigma;
                last_step = promise.limit(task, mixing, &mut settings)?;
            }
            (None, _) => settings.sigma = self.target.promise()?.sigma(task, mixing, &settings)?,
        }
        ensure!(
            last_step != Some(0),
            "`sigma` is {}: the budget is spent by the first step; raise the noise or the budget",
            settings.sigma
        );
        Ok((settings, last_step))
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
    fn learn(&self, run: &mut Run<'_>, mixing: Option<&Mixing>, global: &Global) -> anyhow::Result<bool> {
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
            let promise =
                if self.sigma.is_some() { self.target.given()? } else { Some(self.target.promise()?) };
            if let Some(promise) = promise {
                run.may_show(mixing, &promise)?;
            }
            save(path, &run.checkpoint())?;
        }
        Ok(more)
    }

    fn conclude(
        &self,
        task: &Task,
        mixing: Option<&Mixing>,
        run: &Run<'_>,
        paused: bool,
    ) -> anyhow::Result<Learned> {
        let session = run.session();
        let settings = session.settings();
        let model = session.model();
        let guarantees = run.guarantees(mixing, self.target.delta)?;
        let statements =
            guarantees.iter().map(|one| one.state(self.target.delta)).collect::<Result<_, _>>()?;
        Ok(Learned {
            seed: settings.seed,
            task: task.name.clone(),
            method: settings.method.name(),
            peers: task.peers(),
            parameters: task.parameters(),
            iterations: settings.iterations,
            step: settings.step,
            sigma: settings.sigma,
            sensitivity: task.sensitivity(),
            steps: run.progress(),
            paused,
            shown: run.shown(),
            objective: task.objective(&model),
            accuracy: Spread::of(&[session.accuracy()]),
            accuracy_of_this_run: session.accuracy(),
            accuracy_without_noise: f64::NAN,
            trivial: task.trivial(),
            computed_without_privacy: WITHOUT_PRIVACY,
            spent: session.spent(),
            ended: session.stopped().map(|overspent| overspent.to_string()),
            statements,
            not_covered: task.not_covered(),
            model,
            curve: run.curve().to_vec(),
        })
    }
}

/// The accuracy that a whole run ends with.
fn accuracy(
    task: &Task,
    mixing: Option<&Mixing>,
    settings: Settings,
    last_step: Option<usize>,
    threads: usize,
) -> anyhow::Result<f64> {
    let mut session = Session::new(task, mixing, settings, threads)?;
    let last = last_step.unwrap_or(usize::MAX);
    while session.progress().0 < last && session.advance(|_, _, _| {})? {}
    Ok(session.accuracy())
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

impl Learned {
    fn title(&self) -> String {
        format!("{}, learned by {} among {} peers", self.task, self.method, self.peers)
    }

    fn facts(&self) -> Vec<(String, String)> {
        let own = if self.accuracy.runs > 1 {
            format!(", {:.3} in this run", self.accuracy_of_this_run)
        } else {
            String::new()
        };
        let mut facts = vec![
            ("accuracy *".to_owned(), format!("{}{own}", self.accuracy.words())),
            ("without looking at features *".to_owned(), format!("{:.3}", self.trivial.accuracy)),
            ("without noise *".to_owned(), format!("{:.3}", self.accuracy_without_noise)),
            (
                "training loss *".to_owned(),
                format!("{:.4} ({:.4} without features)", self.objective, self.trivial.objective),
            ),
            ("contributions of each peer".to_owned(), self.iterations.to_string()),
            ("steps done".to_owned(), format!("{} of {}", self.steps.0, self.steps.1)),
            ("noise (in sensitivities)".to_owned(), round_up(self.sigma)),
            ("step size".to_owned(), self.step.to_string()),
            ("seed".to_owned(), self.seed.to_string()),
        ];
        if let Some(ended) = &self.ended {
            facts.push(("contributions ended".to_owned(), ended.clone()));
        }
        if self.shown > 0 {
            facts.push((
                "state written down".to_owned(),
                format!("{} times, each of them counted", self.shown),
            ));
        }
        if self.paused {
            facts.push(("paused".to_owned(), "go on with --resume".to_owned()));
        }
        facts
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title())?;
        for (label, value) in self.facts() {
            writeln!(f, "  {label:<30} {value}")?;
        }
        writeln!(f, "\n{STARRED}\n\nWhat is promised")?;
        if self.statements.is_empty() {
            return writeln!(f, "  nothing: there was no noise");
        }
        promised(f, &self.statements, &self.not_covered)
    }
}
