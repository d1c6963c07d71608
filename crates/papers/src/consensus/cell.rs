//! One trial of one method: what it is a function of, and what came of it.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use sottovoce_engine::deep::{Gradients, Holdings, Outcome, Run, Setting};
use sottovoce_learning::net::Tally;
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::consensus::{At, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_simulator::consensus::Course;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};

use super::graph::at_fiedler;
use super::noise::{Asked, DELTA, Draws, Noise, Noises};
use super::printed;
use super::task::{Pictures, Sizes, Task};
use crate::Result;

/// How long a gradient may be, with neighbours and at the centre.
const CLIP: f64 = 10.0;
const CENTRAL_CLIP: f64 = 1.0;
/// Decay, at the centre and with DSGD.
const DECAY: f64 = 1e-4;
/// The penalty of DiNNO, and how it grows.
const RHO: f64 = 0.5;
const GROWTH: f64 = 1.0003;

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    Central,
    Dsgd,
    Dsgt,
    Dinno,
}

impl Way {
    /// Those among neighbours.
    pub(super) const TALKING: [Self; 3] = [Self::Dsgd, Self::Dsgt, Self::Dinno];
    pub(super) const ALL: [Self; 4] = [Self::Central, Self::Dsgd, Self::Dsgt, Self::Dinno];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Central => "central",
            Self::Dsgd => "DSGD",
            Self::Dsgt => "DSGT",
            Self::Dinno => "DiNNO",
        }
    }
}

/// What text and code of the paper leave open, and other rates than the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Choice {
    /// Gradients at the own model, as the text has it; rows `1/(d + 1)` and Adam begun afresh, as the code has it.
    Usual,
    /// DSGD takes its gradient at the mixed model.
    Mixed,
    /// Adam's moments are kept.
    Kept,
    /// Doubly stochastic weights.
    Metropolis,
    /// First and last step sizes.
    Rates(f64, f64),
    /// The graph whose Fiedler value is nearest, of twenty that are near enough.
    Nearest,
}

/// One trial of one method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) task: Task,
    pub(super) way: Way,
    pub(super) noise: Noise,
    pub(super) fiedler: f64,
    pub(super) split: f64,
    pub(super) choice: Choice,
    pub(super) trial: usize,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Told {
    /// Everybody's test accuracy after the last iteration; nothing where models were no longer made of numbers.
    pub(super) accuracies: Vec<f64>,
    /// What an image of anyone lost at most, at the paper's delta.
    pub(super) spent: Option<f64>,
    /// The largest noise multiplier of anyone.
    pub(super) multiplier: f64,
    /// The graph's normalised Fiedler value.
    pub(super) fiedler: f64,
    /// How long iterations and the measurement at the end took; of trials that were learned side by side, all of them.
    pub(super) seconds: f64,
    /// The card that it was learned on, side by side with others; none on the processor.
    #[serde(default)]
    pub(super) card: Option<String>,
}

/// A cell that can be run: images dealt out, a graph drawn, noise chosen.
pub(super) struct Ready {
    pub(super) course: Course,
    /// The graph's normalised Fiedler value.
    fiedler: f64,
    /// What an image of anyone will have lost at most.
    spent: Option<f64>,
}

/// A loss so many times that of guessing is no learning.
const DIVERGED: f64 = 100.0;

impl Ready {
    /// By itself, on the processor.
    pub(super) fn setting(&self, cell: &Cell, pictures: &Pictures, sizes: &Sizes) -> Result<Setting> {
        let Course { mixing, plan, rows, hidden, draws, seed, .. } = self.course.clone();
        let gather = |rows: &Vec<usize>| Ok(pictures.train.gather(rows)?);
        let rows = rows.iter().map(gather).collect::<Result<_>>()?;
        let holdings = Holdings { rows, test: pictures.test.clone() };
        let net = cell.task.net(&holdings.test, sizes)?;
        Ok(Setting {
            net,
            holdings,
            mixing,
            plan,
            hidden,
            secrets: None,
            draws,
            delta: DELTA,
            seed,
            points: 0,
        })
    }

    /// What came of it, so much time later. A model that is worse than any guess is as good as none.
    pub(super) fn told(&self, found: Option<Vec<Tally>>, seconds: f64, card: Option<String>) -> Told {
        // (What is no number is not below anything.)
        let learns =
            |tally: &Tally| tally.lost == 0 && tally.mean_loss() < DIVERGED * std::f64::consts::LN_10;
        let found = found.filter(|all| all.iter().all(learns)).unwrap_or_default();
        let noises = self.course.hidden.iter().flatten().map(|hidden| hidden.multiplier);
        Told {
            accuracies: found.iter().map(Tally::accuracy).collect(),
            spent: self.spent,
            multiplier: noises.fold(0.0, |most, noise| if noise > most { noise } else { most }),
            fiedler: self.fiedler,
            seconds,
            card,
        }
    }
}

impl Told {
    /// The mean over agents, in percent; no number where it came to nothing.
    pub(super) fn accuracy(&self) -> f64 {
        100.0 * self.accuracies.iter().sum::<f64>() / self.accuracies.len() as f64
    }
}

impl Cell {
    /// As most are: digits, everybody a digit of her own.
    pub(super) fn new(way: Way, noise: Noise, fiedler: f64, trial: usize) -> Self {
        // (The centre has no graph.)
        let fiedler = if way == Way::Central { 1.0 } else { fiedler };
        Self { task: Task::Digits, way, noise, fiedler, split: 1.0, choice: Choice::Usual, trial }
    }

    /// In words; no two have the same.
    pub(super) fn name(&self) -> String {
        let Self { task, way, noise, fiedler, split, choice, trial } = self;
        let place = match way {
            Way::Central => String::new(),
            _ => format!(", Fiedler {fiedler}, split {split}"),
        };
        let choice = if *choice == Choice::Usual { String::new() } else { format!(", {choice:?}") };
        format!("{task:?}: {}, {}{place}{choice}, trial {}", way.name(), noise.name(), trial + 1)
    }

    /// What everybody does.
    pub(super) fn plan(&self, sizes: &Sizes) -> Plan {
        let epsilon = self.noise.epsilon();
        let cifar = self.task == Task::Cifar;
        let rates = match cifar {
            true => printed::cifar_rates(self.way, epsilon.is_some()),
            false => printed::rates(self.way, epsilon),
        };
        let rates = match self.choice {
            Choice::Rates(start, finish) => Rates { start, finish },
            _ => rates,
        };
        let at = if self.choice == Choice::Mixed { At::Mixed } else { At::Own };
        let (method, rule, decay) = match self.way {
            Way::Central => (Method::Dsgd { at }, Rule::Momentum { beta: 0.9 }, DECAY),
            Way::Dsgd => (Method::Dsgd { at }, Rule::Sgd, DECAY),
            Way::Dsgt => (Method::Dsgt, Rule::Sgd, 0.0),
            Way::Dinno => {
                let primal = if cifar { 2 } else { 1 };
                (Method::Dinno { primal, rho: RHO, growth: GROWTH }, Rule::ADAM, 0.0)
            }
        };
        let kept = self.way != Way::Dinno || self.choice == Choice::Kept;
        Plan { method, iterations: sizes.rounds, rates, optimiser: Optimiser { rule, decay, kept } }
    }

    /// Learns, on the processor.
    pub(super) fn run(&self, pictures: &Pictures, sizes: &Sizes, seed: u64, noises: &Noises) -> Result<Told> {
        let ready = self.ready(pictures, sizes, seed, noises)?;
        let setting = ready.setting(self, pictures, sizes)?;
        let began = Instant::now();
        let outcome = learned(&setting)?;
        Ok(ready.told(outcome.map(|end| end.told), began.elapsed().as_secs_f64(), None))
    }

    /// The seed of its graph, its lots and its noise: another in every trial.
    fn seed(&self, seed: u64) -> u64 {
        Seed(seed).part(self.trial as u64).0
    }

    /// Which images everybody has; the centre has them all.
    fn rows(&self, pictures: &Pictures, sizes: &Sizes, seed: u64) -> Result<Vec<Vec<usize>>> {
        let train = &pictures.train;
        Ok(match self.way {
            Way::Central => vec![(0..train.len()).collect()],
            _ => train.similarity(sizes.agents, self.split, self.seed(seed))?,
        })
    }

    /// How much noise there is for how many draws.
    fn drawn(&self, plan: &Plan, sizes: &Sizes) -> Draws {
        // The paper counts one draw an iteration, of however many there are.
        let counted = if let Noise::Published(_) = self.noise { plan.iterations } else { plan.draws() };
        let clip = if self.way == Way::Central { CENTRAL_CLIP } else { CLIP };
        Draws { lot: sizes.lot, clip, made: plan.draws(), counted }
    }

    /// What noise must be found for it: for how many images, and for which draws.
    pub(super) fn asked(&self, pictures: &Pictures, sizes: &Sizes, seed: u64) -> Result<Vec<Asked>> {
        let draws = self.drawn(&self.plan(sizes), sizes);
        let one = |rows: &Vec<usize>| Asked { noise: self.noise, rows: rows.len(), draws };
        Ok(self.rows(pictures, sizes, seed)?.iter().map(one).collect())
    }

    /// Images dealt out, a graph drawn, noise chosen.
    pub(super) fn ready(
        &self,
        pictures: &Pictures,
        sizes: &Sizes,
        seed: u64,
        noises: &Noises,
    ) -> Result<Ready> {
        let rows = self.rows(pictures, sizes, seed)?;
        let seed = self.seed(seed);
        let central = self.way == Way::Central;
        let (graph, fiedler) = match central {
            true => (Graph::from_edges(1, [])?, 1.0),
            false => {
                let of = if self.choice == Choice::Nearest { 20 } else { 1 };
                at_fiedler(sizes.agents, self.fiedler, of, seed)?
            }
        };
        let mixing = match central || self.choice == Choice::Metropolis {
            true => Mixing::new(&graph, Weights::Metropolis),
            false => Mixing::neighbourhoods(&graph),
        };
        let plan = self.plan(sizes);
        let held: Vec<usize> = rows.iter().map(Vec::len).collect();
        let (hidden, spent) = noises.hidden(self.noise, &held, self.drawn(&plan, sizes))?;
        let draws = hidden.iter().map(|hidden| hidden.map_or(0, |_| plan.draws())).collect();
        let course = Course { mixing, plan, rows, absent: None, hidden, draws, start: seed, seed };
        Ok(Ready { course, fiedler, spent })
    }
}

/// To the end; nothing where models were no longer made of numbers on the way.
pub(super) fn learned(setting: &Setting) -> Result<Option<Outcome>> {
    let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
    let mut run = Run::new(setting, &gradients)?;
    match run.go(usize::MAX) {
        Ok(_) => Ok(Some(run.outcome()?)),
        Err(error) if error.at_fault().is_some_and(|fault| fault.field == "rates") => Ok(None),
        Err(error) => Err(error),
    }
}
