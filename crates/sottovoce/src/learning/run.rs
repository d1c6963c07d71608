//! A whole run: noise for the target, learning with checkpoints, and what was revealed in the end.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::{Adjacency, Adversary, Guarantee, Loss, Standing, Unit};
use sottovoce_topology::mixing::Mixing;

use super::calibrate::Currency;
use super::losses::butterfly;
use super::path::{Pairs, Path, PathSetup, pairs};
use super::{Against, Method, Session, Settings, State, Target, Task};
use crate::{Error, Result, require};

/// Points of a learning curve.
const POINTS: usize = 100;

/// How much may be lost, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// How much.
    pub target: Target,
    /// To whom.
    pub against: Against,
}

/// What was revealed to peers, or will be: of all pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Revealed {
    /// Unit losses.
    pub pairs: Pairs,
    /// The currency they are paid in.
    pub currency: Currency,
    /// By what right.
    pub standing: Standing,
}

/// A point of the learning curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Steps done.
    pub step: usize,
    /// The loss on all training rows.
    pub objective: f64,
    /// The share of test rows classified right.
    pub accuracy: f64,
    /// Squared Gaussian loss towards a wire-tapper, of the peer that lost most.
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
    /// The curve so far.
    pub curve: Vec<Point>,
    /// After how many steps the state was written down, this time included: whoever reads the file sees it.
    pub shown: Vec<usize>,
    /// Where it stands.
    pub state: State,
}

/// What pairs lose in a run of these settings: known before it starts, since neither paths nor positions depend on data.
pub fn revealed(task: &Task, mixing: Option<&Mixing>, settings: &Settings, steps: usize) -> Result<Revealed> {
    revealed_shown(task, mixing, settings, steps, &[])
}

/// The same if the state was shown on the way, after each of the numbers of steps in `shown`.
///
/// Only walks lose by it. After an iteration of a butterfly everyone knows the state, and a wire-tapper's loss counts every iterate.
fn revealed_shown(
    task: &Task,
    mixing: Option<&Mixing>,
    settings: &Settings,
    steps: usize,
    shown: &[usize],
) -> Result<Revealed> {
    let peers = task.peers();
    let local = |currency| Revealed {
        pairs: Pairs::of(peers, |_, _| settings.iterations as f64),
        currency,
        standing: Standing::Proven,
    };
    match settings.method {
        Method::Butterfly => {
            let pairs = butterfly(peers, settings.iterations, settings.seed)?;
            Ok(Revealed { pairs, currency: Currency::Gaussian, standing: Standing::Proven })
        }
        Method::Walk { tokens, burn_in } if task.is_nonexpansive(settings.step) => {
            let mixing = mixing.ok_or_else(|| Error::missing("graph", "a walk needs one"))?;
            let course = PathSetup { tokens, burn_in, cap: settings.iterations, seed: settings.seed };
            let pairs = pairs(&Path::draw(mixing, course)?.losses_shown(steps, shown)?);
            Ok(Revealed { pairs, currency: Currency::Concentrated, standing: Standing::Proven })
        }
        _ => Ok(local(Currency::Gaussian)),
    }
}

impl Promise {
    /// The noise under which a whole run of these settings keeps the promise.
    pub fn sigma(&self, task: &Task, mixing: Option<&Mixing>, settings: &Settings) -> Result<f64> {
        let units = match self.against {
            Against::WireTapper => return self.target.sigma(settings.iterations as f64, Currency::Gaussian),
            Against::WorstPeer | Against::MeanPeer => revealed(task, mixing, settings, usize::MAX)?,
        };
        if self.against == Against::MeanPeer {
            return self.target.sigma(units.pairs.mean, units.currency);
        }
        // No peer learns more than a wire-tapper, whose loss is exactly Gaussian.
        let all = self.target.sigma(settings.iterations as f64, Currency::Gaussian)?;
        Ok(all.min(self.target.sigma(units.pairs.worst, units.currency)?))
    }

    /// Where a run with this noise must end: lowers its iterations, sets its budget, or returns the last step of a walk.
    pub fn limit(
        &self,
        task: &Task,
        mixing: Option<&Mixing>,
        settings: &mut Settings,
    ) -> Result<Option<usize>> {
        if settings.sigma == 0.0 {
            return Err(Error::parameter(
                "sigma",
                "0",
                "without noise nothing is private; leave out the target, or the 0",
            ));
        }
        if self.against == Against::WireTapper {
            settings.budget = Some(self.target.mu_squared()? * (1.0 + 1e-12));
            return Ok(None);
        }
        require(
            self.against == Against::WorstPeer,
            "against",
            "mean-peer",
            "a mean cannot end a run; leave out --sigma",
        )?;
        let fits = |settings: &Settings| -> Result<bool> {
            let units = revealed(task, mixing, settings, usize::MAX)?;
            Ok(settings.sigma * (1.0 + 1e-9)
                >= self.target.sigma(units.pairs.worst.max(1e-300), units.currency)?)
        };
        if fits(settings)? {
            return Ok(None);
        }
        if let (Method::Walk { tokens, burn_in }, Some(mixing), true) =
            (settings.method, mixing, task.is_nonexpansive(settings.step))
        {
            let course = PathSetup { tokens, burn_in, cap: settings.iterations, seed: settings.seed };
            let one = self.target.sigma(1.0, Currency::Concentrated)?;
            let most = (settings.sigma / one).powi(2);
            return Ok(Some(Path::draw(mixing, course)?.steps_within(most)?));
        }
        while settings.iterations > 0 && !fits(settings)? {
            settings.iterations -= 1;
        }
        require(
            settings.iterations > 0,
            "sigma",
            settings.sigma,
            "the budget is spent by the first step; raise the noise or the budget",
        )?;
        Ok(None)
    }
}

/// A run with its curve.
pub struct Run<'a> {
    task: &'a Task,
    session: Session<'a>,
    last_step: Option<usize>,
    curve: Vec<Point>,
    shown: Vec<usize>,
}

impl<'a> Run<'a> {
    /// At its start.
    pub fn new(
        task: &'a Task,
        mixing: Option<&'a Mixing>,
        settings: Settings,
        last_step: Option<usize>,
        threads: usize,
    ) -> Result<Self> {
        let session = Session::new(task, mixing, settings, threads)?;
        let mut run = Self { task, session, last_step, curve: Vec::new(), shown: Vec::new() };
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
        self.session.resume(checkpoint.state)?;
        (self.curve, self.shown) = (checkpoint.curve, checkpoint.shown);
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
            curve: self.curve.clone(),
            shown: self.shown.clone(),
            state: self.session.state(),
        }
    }

    /// The curve so far.
    pub fn curve(&self) -> &[Point] {
        &self.curve
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
            if !self.session.advance(|_, _, _| {})? {
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

    fn note(&mut self) {
        let model = self.session.model();
        let point = Point {
            step: self.progress().0,
            objective: self.task.objective(&model),
            accuracy: self.session.accuracy(),
            spent: self.session.spent(),
        };
        if self.curve.last().is_none_or(|last| last.step < point.step) {
            self.curve.push(point);
        }
    }

    /// Refuses to show the state of a run that was promised to lose less by its end than it then would.
    pub fn may_show(&self, mixing: Option<&Mixing>, promise: &Promise) -> Result<()> {
        let settings = self.session.settings();
        let (done, all) = self.progress();
        let walks = matches!(settings.method, Method::Walk { .. });
        if done == all || !walks || promise.against == Against::WireTapper || settings.sigma == 0.0 {
            return Ok(());
        }
        let mut shown = self.shown.clone();
        shown.push(done);
        let end = self.last_step.unwrap_or(usize::MAX);
        let units = revealed_shown(self.task, mixing, settings, end, &shown)?;
        let lost = if promise.against == Against::MeanPeer { units.pairs.mean } else { units.pairs.worst };
        let seen_by_all = promise.target.sigma(settings.iterations as f64, Currency::Gaussian)?;
        let needed = promise.target.sigma(lost, units.currency)?.min(seen_by_all);
        let enough = settings.sigma * (1.0 + 1e-9) >= needed;
        if !enough {
            return Err(Error::refused(format!(
                "`checkpoint` would show the token after {done} steps, and the run would lose more than its target: give --sigma without a target, a \
             target against the wire-tapper, or no checkpoint"
            )));
        };
        Ok(())
    }

    /// What was promised, to whom, and by what right: towards someone who sees everything, and where that is less (at `delta`), towards the
    /// peer that learns most.
    pub fn guarantees(&self, mixing: Option<&Mixing>, delta: f64) -> Result<Vec<Guarantee>> {
        let settings = self.session.settings();
        if settings.sigma == 0.0 {
            return Ok(Vec::new());
        }
        let guarantee = |adversary, loss, standing| Guarantee {
            adversary,
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss,
            standing: Standing::given(standing, self.task.assumptions()),
            not_covered: self.task.not_covered(),
        };
        let all =
            if settings.method == Method::Central { Adversary::ResultHolder } else { Adversary::WireTapper };
        let spent = Loss::Gdp(sottovoce_privacy::Gdp::of_square(self.session.spent())?);
        let mut guarantees = vec![guarantee(all, spent, Standing::Proven)];
        if matches!(settings.method, Method::Butterfly | Method::Walk { .. }) {
            let done = Settings {
                iterations: if matches!(settings.method, Method::Walk { .. }) {
                    settings.iterations
                } else {
                    self.progress().0
                },
                ..settings.clone()
            };
            let revealed = revealed_shown(self.task, mixing, &done, self.progress().0, &self.shown)?;
            let loss = revealed.currency.loss(revealed.pairs.worst, settings.sigma)?;
            let peer = guarantee(Adversary::Peer(revealed.pairs.observer), loss, revealed.standing);
            if peer.epsilon(delta)?.upper < guarantees[0].epsilon(delta)?.upper {
                guarantees.push(peer);
            }
        }
        Ok(guarantees)
    }
}
