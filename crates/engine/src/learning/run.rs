//! A whole run: learning with checkpoints, and what was revealed in the end.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Guarantee;
use sottovoce_protocol::walk::TokenPath;
use sottovoce_topology::mixing::Mixing;

use super::calibrate::Currency;
use super::losses::{Past, Question};
use super::transcript::{Released, Transcript, limits_of};
use super::{Against, Measures, Promise, Session, Settings, State, Task};
use crate::names::Names;
use crate::origin::graphs_hash;
use crate::{Error, Result, require};

/// Points of a learning curve.
const POINTS: usize = 100;

/// A point of the learning curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Steps done.
    pub step: usize,
    /// The loss on all training rows.
    pub objective: f64,
    /// What the model is worth on the test rows.
    #[serde(flatten)]
    pub measures: Measures,
    /// Squared Gaussian loss towards a wire-tapper, of the peer that lost most.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub spent: f64,
}

/// Where a run stands, with all it needs to be continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The task's name.
    pub task: String,
    /// Number of peers.
    pub peers: usize,
    /// The settings.
    pub settings: Settings,
    /// The last step of a walk, where its odometer ends it.
    pub last_step: Option<usize>,
    /// A hash of the graphs after each step, in turn, where there are some.
    #[serde(default)]
    pub graphs: Option<String>,
    /// The curve so far.
    pub curve: Vec<Point>,
    /// After how many steps the state was written down, this time included: whoever reads the file sees it.
    pub shown: Vec<usize>,
    /// Where tokens went, if any walk.
    #[serde(default)]
    pub paths: Vec<TokenPath>,
    /// Where it stands.
    pub state: State,
    /// The weighted mean of the models so far, where the run ends with that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Vec<f64>>,
}

/// A run with its curve.
pub struct Run<'a> {
    task: &'a Task,
    mixings: &'a [Mixing],
    session: Session<'a>,
    last_step: Option<usize>,
    curve: Vec<Point>,
    shown: Vec<usize>,
    paths: Vec<TokenPath>,
}

impl<'a> Run<'a> {
    /// At its start.
    pub fn new(
        task: &'a Task,
        mixings: &'a [Mixing],
        settings: Settings,
        last_step: Option<usize>,
        threads: usize,
    ) -> Result<Self> {
        let session = Session::new(task, mixings, settings, threads)?;
        let mut run = Self {
            task,
            mixings,
            session,
            last_step,
            curve: Vec::new(),
            shown: Vec::new(),
            paths: Vec::new(),
        };
        run.note();
        Ok(run)
    }

    /// Goes on from a checkpoint of the same run.
    pub fn resume(&mut self, checkpoint: Checkpoint) -> Result<()> {
        let (task, peers) = (&self.task.name, self.task.peers());
        require(
            (&checkpoint.task, checkpoint.peers) == (task, peers),
            "checkpoint",
            format!("of {} among {} peers", checkpoint.task, checkpoint.peers),
            format!("this is {task} among {peers}; begin anew"),
        )?;
        if &checkpoint.settings != self.session.settings() || checkpoint.last_step != self.last_step {
            return Err(Error::refused(
                "`checkpoint` is of a run with other settings; give the same ones, or begin anew",
            ));
        };
        if checkpoint.graphs != self.graphs_hash() {
            return Err(Error::refused(
                "`checkpoint` is of a run on other graphs; give the same ones, or begin anew",
            ));
        }
        self.session.resume(checkpoint.state, checkpoint.mean)?;
        let told = checkpoint.paths.iter().all(|path| path.len() == self.progress().0);
        let walks = self.session.settings().method.way().tokens();
        if !told || self.progress().0 > 0 && checkpoint.paths.len() != walks {
            return Err(Error::refused("`checkpoint` does not say where its tokens went; begin anew"));
        }
        (self.curve, self.shown, self.paths) = (checkpoint.curve, checkpoint.shown, checkpoint.paths);
        // Whoever wrote the file had this state before their eyes.
        self.show();
        Ok(())
    }

    /// The state is shown as it is now: every guarantee from here on counts it.
    fn show(&mut self) {
        let now = self.progress().0;
        if !self.shown.contains(&now) {
            self.shown.push(now);
        }
    }

    /// How often the state was shown on the way.
    pub fn shown(&self) -> usize {
        self.shown.len()
    }

    /// All that is needed to go on. To write it down is to show it, and is counted.
    pub fn checkpoint(&mut self) -> Checkpoint {
        self.show();
        Checkpoint {
            task: self.task.name.clone(),
            peers: self.task.peers(),
            settings: self.session.settings().clone(),
            last_step: self.last_step,
            graphs: self.graphs_hash(),
            curve: self.curve.clone(),
            shown: self.shown.clone(),
            paths: self.paths.clone(),
            state: self.session.state(),
            mean: self.session.mean().map(<[f64]>::to_vec),
        }
    }

    /// The curve so far.
    pub fn curve(&self) -> &[Point] {
        &self.curve
    }

    /// The graphs after each step, in turn; one that stays, or none.
    pub fn mixings(&self) -> &'a [Mixing] {
        self.mixings
    }

    /// A hash of them.
    pub fn graphs_hash(&self) -> Option<String> {
        graphs_hash(self.mixings.iter().map(Mixing::graph))
    }

    /// What the peers are called.
    pub fn called(&self) -> Names {
        let of_graph = || self.mixings.first().map(|mixing| Names::of_graph(mixing.graph()));
        Names::new(self.task.names()).or(|| of_graph().unwrap_or_default())
    }

    /// The session.
    pub fn session(&self) -> &Session<'a> {
        &self.session
    }

    /// Steps done, and of how many.
    pub fn progress(&self) -> (usize, usize) {
        let (done, all) = self.session.progress();
        (done, self.last_step.map_or(all, |last| all.min(last)))
    }

    /// Goes on until the end, or for so many steps; `false` once there is nothing more to do. Hears of every point of the curve.
    pub fn go(&mut self, steps: usize, mut hear: impl FnMut(&Self)) -> Result<bool> {
        let (start, all) = self.progress();
        let every = all.div_ceil(POINTS).max(1);
        while self.progress().0 < (start.saturating_add(steps)).min(all) {
            sottovoce_fault::stop::look();
            if !self.advance()? {
                self.note();
                return Ok(false);
            }
            let done = self.progress().0;
            if done.is_multiple_of(every) || done == all {
                self.note();
                hear(self);
            }
        }
        Ok(self.progress().0 < all)
    }

    /// One step, written down.
    fn advance(&mut self) -> Result<bool> {
        let paths = &mut self.paths;
        self.session.advance(|token, holder, visit| {
            if token >= paths.len() {
                paths.resize_with(token + 1, TokenPath::default);
            }
            paths[token].push(holder, visit);
        })
    }

    fn note(&mut self) {
        let model = self.session.model();
        let point = Point {
            step: self.progress().0,
            objective: self.task.objective(&model),
            measures: self.session.measures(),
            spent: self.session.spent(),
        };
        if self.curve.last().is_none_or(|last| last.step < point.step) {
            self.curve.push(point);
        }
    }

    /// What decides how much it reveals.
    fn question(&self) -> Question<'_> {
        Question::of(self.task, self.mixings, self.session.settings())
    }

    /// Refuses to show the state of a run that was promised to lose less by its end than it then would.
    pub fn may_show(&self, promise: &Promise) -> Result<()> {
        let settings = self.session.settings();
        let (done, all) = self.progress();
        let way = settings.method.way();
        let free = promise.against == Against::WireTapper || settings.sigma == 0.0;
        if done == all || !way.state_is_secret() || free {
            return Ok(());
        }
        let mut shown = self.shown.clone();
        shown.push(done);
        let end = self.last_step.unwrap_or(usize::MAX);
        let question = self.question();
        let units = question.revealed_by(&Past { steps: end, shown: &shown, paths: &[] })?;
        let lost = if promise.against == Against::MeanPeer { units.pairs.mean } else { units.pairs.worst };
        let seen_by_all =
            promise.target.sigma(settings.iterations as f64 * question.share(), Currency::Gaussian)?;
        let needed = promise.target.sigma(lost, units.currency)?.min(seen_by_all);
        if settings.sigma >= needed {
            return Ok(());
        }
        Err(Error::refused(format!(
            "`checkpoint` would show the token after {done} steps, and the run would lose more than its target: give --sigma without a target, a \
             target against the wire-tapper, or no checkpoint"
        )))
    }

    /// What no guarantee of it speaks of.
    pub(super) fn not_covered(&self) -> Vec<String> {
        limits_of(self.task, self.session.settings())
    }

    /// What is minimised, where that is known here.
    pub fn loss(&self) -> Option<sottovoce_learning::Loss> {
        self.task.loss()
    }

    /// What happened so far, without values.
    pub fn transcript(&self) -> Transcript {
        let settings = self.session.settings().clone();
        let release = settings.method.way().release(&settings, self.task.sensitivity());
        let released = self.session.released().into_iter().enumerate().filter(|(_, count)| *count > 0);
        Transcript {
            peers: self.task.peers(),
            sensitivity: self.task.sensitivity(),
            nonexpansive: self.task.is_nonexpansive(settings.step),
            settings,
            assumptions: self.task.assumptions().to_vec(),
            not_covered: self.not_covered(),
            steps: self.progress().0,
            shown: self.shown.clone(),
            releases: released.map(|(peer, count)| Released { peer, release, count }).collect(),
            paths: self.session.paths().unwrap_or_else(|| self.paths.clone()),
        }
    }

    /// What its transcript will be when it is over: it follows from what was agreed on, whoever's rows they are.
    pub(super) fn planned(&self) -> Result<Transcript> {
        self.transcript().again(self.mixings, self.last_step)
    }

    /// What was promised, to whom, and by what right: from the transcript.
    pub fn guarantees(&self, delta: f64) -> Result<Vec<Guarantee>> {
        self.transcript().guarantees(self.mixings, delta)
    }
}
