//! Rounds of consensus learning on a net, measured now and then; a run stops and goes on bit for bit.

use serde::{Deserialize, Serialize};
use sottovoce_learning::Images;
use sottovoce_learning::net::{Net, Tally};
use sottovoce_protocol::Shared;
use sottovoce_protocol::consensus::{Hidden, Plan};
use sottovoce_simulator::consensus::{self, BulkConsensus, ConsensusSetup, allowance};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::cancelling::Secrets;
use sottovoce_views::door::{self, Drawn};
use sottovoce_views::parallel;

use super::{Gradients, Holdings};
use crate::{Error, Result};

/// Points of a curve that is looked at.
pub const POINTS: usize = 20;
/// Images of each agent, and test images, that a point of a curve is measured on.
const LOOKED_AT: usize = 1000;
/// A loss so many times that of guessing is no learning.
const DIVERGED: f64 = 100.0;

/// All that a run is a function of.
pub struct Setting {
    /// What is learned.
    pub net: Net,
    /// From what.
    pub holdings: Holdings,
    /// Who hears whom.
    pub mixing: Mixing,
    /// What everybody does.
    pub plan: Plan,
    /// How each agent's gradients are hidden.
    pub hidden: Vec<Option<Hidden>>,
    /// Who shares secrets, where noise cancels.
    pub secrets: Option<Secrets>,
    /// How many draws each may make; then she goes on without a gradient.
    pub draws: Vec<usize>,
    /// At which losses are told.
    pub delta: f64,
    /// The seed of the start, of lots and of noise.
    pub seed: u64,
    /// Points of the curve, besides the first: each costs a measurement of all models and an account. None where only the end counts.
    pub points: usize,
}

/// Where a run stood, for whoever simulates: not private.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// After so many rounds.
    pub round: usize,
    /// The mean over agents of the loss of their models on their own images.
    pub train_loss: f64,
    /// The mean over agents of their models' accuracy on test images.
    pub accuracy: f64,
    /// The least of any agent.
    pub least: f64,
    /// The most of any agent.
    pub most: f64,
    /// How far models are from their mean: the root of the mean squared distance.
    pub disagreement: f64,
    /// What one row of anyone has lost at most, never above what is certified for the whole run; none where something was not hidden.
    pub epsilon: Option<f64>,
}

/// A run under way.
pub struct Run<'a> {
    setting: &'a Setting,
    gradients: &'a Gradients<'a>,
    bulk: BulkConsensus<'a, Gradients<'a>>,
    /// What everybody loses at most by the end: a run that is under way has lost no more.
    promised: Vec<f64>,
    curve: Vec<Point>,
}

/// All of a run that must survive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    bulk: consensus::Checkpoint,
    curve: Vec<Point>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Everybody's model.
    pub models: Vec<Shared>,
    /// Everybody's test accuracy and loss, on all test images.
    pub told: Vec<Tally>,
    /// Everybody's private draws.
    pub draws: Vec<usize>,
    /// How it went.
    pub curve: Vec<Point>,
    /// Numbers sent, counted once for each receiver.
    pub sent: u64,
}

/// What agents do who hide their gradients in this way, each drawing so often.
pub(super) fn setup<'a>(
    (mixing, plan, secrets): (&'a Mixing, Plan, Option<&'a Secrets>),
    (hidden, draws): (&'a [Option<Hidden>], &[usize]),
    start: Shared,
    seed: u64,
) -> Result<ConsensusSetup<'a>> {
    let mut setup = ConsensusSetup::new(mixing, start, plan, hidden, seed)?;
    setup.pairs = secrets.map(Secrets::pairs);
    let budgets = hidden.iter().zip(draws).map(|(hidden, &draws)| allowance(hidden.as_ref(), draws));
    setup.allowances = budgets.collect::<std::result::Result<_, _>>()?;
    Ok(setup)
}

impl Setting {
    /// What agents do who hide their gradients in this way, and how often each may draw.
    pub(super) fn setup<'a>(
        &'a self,
        hidden: &'a [Option<Hidden>],
        start: Shared,
    ) -> Result<ConsensusSetup<'a>> {
        let around = (&self.mixing, self.plan, self.secrets.as_ref());
        setup(around, (hidden, &self.draws), start, self.seed)
    }

    /// What is overheard of so many draws of everybody.
    pub fn drawn<'a>(&'a self, draws: &'a [usize]) -> Drawn<'a> {
        Drawn { hidden: &self.hidden, draws, secrets: self.secrets.as_ref() }
    }
}

/// What everybody loses at most to someone who sees every message.
pub(super) fn certified(drawn: &Drawn<'_>, delta: f64) -> Result<Vec<f64>> {
    Ok(door::account(drawn, &drawn.sees_all())?.leakage.epsilons(delta)?)
}

/// What one row of anyone has lost so far: by Rényi divergences, which is quick, and no more than what is `promised` by the end.
pub(super) fn under_way(drawn: &Drawn<'_>, delta: f64, promised: &[f64]) -> Result<Option<f64>> {
    let so_far = door::account(drawn, &drawn.sees_all())?.leakage.renyi(delta)?;
    let lost = so_far.iter().zip(promised).map(|(&so_far, &whole)| f64::min(so_far, whole)); // NaN: no Rényi bound
    Ok(worst(&lost.collect::<Vec<_>>()))
}

/// The largest, where there is a bound.
fn worst(lost: &[f64]) -> Option<f64> {
    Some(door::largest(lost).1).filter(|epsilon| epsilon.is_finite())
}

impl<'a> Run<'a> {
    /// Everybody at the public start.
    pub fn new(setting: &'a Setting, gradients: &'a Gradients<'a>) -> Result<Self> {
        // A net that these images are not made for is refused before anything is computed.
        let start = setting.net.start(setting.seed);
        for images in setting.holdings.rows.iter().chain([&setting.holdings.test]) {
            gradients.with_room(|room| setting.net.measure(&start, images, &[], room))?;
        }
        let bulk = BulkConsensus::new(setting.setup(&setting.hidden, start.into())?, gradients)?;
        let draws: Vec<usize> = setting.draws.iter().map(|&draws| draws.min(setting.plan.draws())).collect(); // whole numbers
        let promised = match setting.points {
            0 => Vec::new(),
            _ => certified(&setting.drawn(&draws), setting.delta)?,
        };
        let mut run = Self { setting, gradients, bulk, promised, curve: Vec::new() };
        if setting.points > 0 {
            run.look()?;
        }
        Ok(run)
    }

    /// Goes on from where a run of the same setting stood.
    pub fn resume(self, checkpoint: Checkpoint) -> Result<Self> {
        let bulk = self.bulk.resume(checkpoint.bulk)?;
        Ok(Self { bulk, curve: checkpoint.curve, ..self })
    }

    /// Where it stands.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { bulk: self.bulk.checkpoint(), curve: self.curve.clone() }
    }

    /// Rounds made, but for a last exchange.
    pub fn round(&self) -> usize {
        self.bulk.round().min(self.setting.plan.iterations) // whole numbers
    }

    /// How it went so far.
    pub fn curve(&self) -> &[Point] {
        &self.curve
    }

    /// Rounds until the next point of the curve, or until `stop` where that comes first; whether there is more to do. Refused where models are no longer
    /// of use: what was stored before is the last that is.
    pub fn go(&mut self, stop: usize) -> Result<bool> {
        let (round, all) = (self.round(), self.setting.plan.iterations);
        let every = all.div_ceil(self.setting.points.max(1)).max(1); // whole numbers
        let next = ((round / every + 1) * every).min(all).min(stop); // whole numbers
        self.bulk.advance(next.saturating_sub(round))?;
        let here = self.round();
        if here == all {
            // The last exchange, where there is one.
            self.bulk.advance(self.bulk.remaining())?;
        }
        let due = here > round && (here == all || here.is_multiple_of(every));
        if due && self.setting.points > 0 {
            self.look()?;
        } else {
            self.own()?;
        }
        Ok(here < all && here < stop)
    }

    /// What came of it.
    pub fn outcome(&self) -> Result<Outcome> {
        let models = self.bulk.settled();
        let test = &self.setting.holdings.test;
        let told = self.measured(&models, |_| (test, test.len()))?;
        let (draws, curve, sent) = (self.bulk.draws(), self.curve.clone(), self.bulk.sent());
        Ok(Outcome { models, told, draws, curve, sent })
    }

    /// What a model is worth on all test images.
    pub fn judge(&self, model: &Shared) -> Result<Tally> {
        let test = &self.setting.holdings.test;
        Ok(self.measured(std::slice::from_ref(model), |_| (test, test.len()))?[0])
    }

    /// Measures everybody's model on the first of some images.
    fn measured<'i>(
        &self,
        models: &[Shared],
        images: impl Fn(usize) -> (&'i Images, usize) + Sync,
    ) -> Result<Vec<Tally>> {
        let one = |agent: usize| {
            let (images, most) = images(agent);
            let picked: Vec<u32> = (0..images.len().min(most) as u32).collect(); // whole numbers
            self.gradients.with_room(|room| self.setting.net.measure(&models[agent], images, &picked, room))
        };
        Ok(parallel::map(models.len(), one, |_| ()).into_iter().collect::<std::result::Result<_, _>>()?)
    }

    /// What models are worth on their agents' own images. Refused where one is of no use any more.
    fn own(&self) -> Result<Vec<Tally>> {
        let models = self.bulk.settled();
        let own = self.measured(&models, |agent| (&self.setting.holdings.rows[agent], LOOKED_AT))?;
        let guessing = (self.setting.net.classes() as f64).ln();
        for (agent, tally) in own.iter().enumerate() {
            let loss = tally.loss / tally.examples as f64;
            // (What is no number is not below anything.)
            let learns = loss < DIVERGED * guessing;
            if tally.lost > 0 || !learns {
                let value = format!("too large for agent {agent} by round {}", self.round());
                let remedy = format!(
                    "her loss is {loss:.1e} where guessing has {guessing:.2}; lower the rates, or clip more"
                );
                return Err(Error::parameter("rates", value, remedy));
            }
        }
        Ok(own)
    }

    /// Adds a point to the curve.
    fn look(&mut self) -> Result<()> {
        let models = self.bulk.settled();
        let holdings = &self.setting.holdings;
        let own = self.own()?;
        let test = self.measured(&models, |_| (&holdings.test, LOOKED_AT))?;
        let agents = models.len() as f64;
        let accuracies: Vec<f64> = test.iter().map(Tally::accuracy).collect();
        let (mut least, mut most) = (1.0, 0.0);
        for &accuracy in &accuracies {
            least = if accuracy < least { accuracy } else { least };
            most = if accuracy > most { accuracy } else { most };
        }
        self.curve.push(Point {
            round: self.round(),
            train_loss: own.iter().map(Tally::mean_loss).sum::<f64>() / agents,
            accuracy: accuracies.iter().sum::<f64>() / agents,
            least,
            most,
            disagreement: self.bulk.disagreement(),
            epsilon: self.spent()?,
        });
        Ok(())
    }

    /// What one row of anyone has lost at most.
    fn spent(&self) -> Result<Option<f64>> {
        let (draws, delta) = (self.bulk.draws(), self.setting.delta);
        let drawn = self.setting.drawn(&draws);
        match self.bulk.remaining() {
            0 => Ok(worst(&certified(&drawn, delta)?)),
            _ => under_way(&drawn, delta, &self.promised),
        }
    }
}
