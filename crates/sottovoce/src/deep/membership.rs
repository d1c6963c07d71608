//! Attacks on membership: is an image among those that a net was learned from?
//!
//! [`attack`] is the wire-tapper's, on any experiment: canaries in place of one agent's images, in one run. [`membership`] is the consensus paper's (its appendix D and
//! Table 5): 300 images of three figures, one of them for each agent, and a blank image labelled 0 in or out, in many runs.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sottovoce_engine::deep::{
    CanariesFound, Gradients, Holdings, Setting, SideBySide, ThresholdFound, canaries, target, threshold,
};
use sottovoce_learning::images;
use sottovoce_learning::net::Net;
use sottovoce_learning::read::Source;
use sottovoce_privacy::{Lots, calibrate};
use sottovoce_protocol::consensus::{At, Hidden, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;

use super::{Ready, words};
use crate::experiment::DeepMethod;
use crate::names::Names;
use crate::{Error, Result};

/// Canaries in place of the images of the agent who has most of them; `done` is called after every round.
pub fn attack(ready: &Ready, done: impl FnMut()) -> Result<Attacked> {
    let setting = &ready.setting;
    let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
    let found = canaries(setting, &gradients, target(setting)?, None, done)?;
    Ok(Attacked { found, names: ready.names.clone() })
}

/// What an attack by canaries proved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attacked {
    /// In one run.
    #[serde(flatten)]
    pub found: CanariesFound,
    /// What agents are called, where they have names.
    pub names: Names,
}

impl fmt::Display for Attacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.found)?;
        writeln!(f, "  attacked: agent {}", self.names.of(self.found.agent))
    }
}

/// The paper's attack, as it was printed.
pub const MEMBERSHIP: Membership =
    Membership { images: 100, rounds: 100, clip: 10.0, epsilon: 1.0, delta: 1e-2 };

/// What the paper's attack is made on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Membership {
    /// Images of each figure: as many as [`Images::new`] was asked for.
    pub images: usize,
    /// Rounds of each net.
    pub rounds: usize,
    /// The largest norm of an image's gradient.
    pub clip: f64,
    /// What is claimed ...
    pub epsilon: f64,
    /// ... at this delta.
    pub delta: f64,
}

/// The images of the paper's attack.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// Figures 0, 1 and 2, as many of each, then a blank image labelled 0.
    all: sottovoce_learning::Images,
    /// Files that were read.
    pub sources: Vec<Source>,
}

/// What the paper's attack proved of a method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MembershipFound {
    /// The algorithm.
    pub method: DeepMethod,
    /// By a threshold.
    #[serde(flatten)]
    pub found: ThresholdFound,
}

impl fmt::Display for MembershipFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.found)?;
        writeln!(f, "  attacked: {}", words::called(self.method))
    }
}

/// Attacks nets of a method, so many with the blank image and as many without it; `done` is called after each. A result is a function of the arguments, whatever the number of
/// threads; a card, if one is given, learns all nets side by side, with the same lots and noise of the same law.
pub fn membership(
    asked: &Membership,
    images: &Images,
    method: DeepMethod,
    models: usize,
    seed: u64,
    card: Option<&dyn SideBySide>,
    done: impl Fn() + Sync,
) -> Result<MembershipFound> {
    let setting = asked.setting(images, method, seed)?;
    Ok(MembershipFound { method, found: threshold(&setting, 0, models, card, done)? })
}

impl Images {
    /// So many of each figure: drawn, or the first ones of a folder.
    pub fn new(each: usize, data: Option<&Path>, seed: u64) -> Result<Self> {
        let (all, sources) = match data {
            Some(folder) => {
                let found = images::open(folder)?;
                (found.train, found.sources)
            }
            // Of ten figures, one after the other.
            None => (images::drawn(10 * each, seed)?, Vec::new()),
        };
        let (mut pixels, mut labels) = (Vec::new(), Vec::new());
        for label in 0..3 {
            let same: Vec<usize> =
                (0..all.len()).filter(|image| all.label(*image) == label).take(each).collect();
            if same.len() < each {
                let remedy =
                    format!("it has {} images of class {label}, {each} are wanted; give MNIST", same.len());
                let folder = data.map(PathBuf::from).unwrap_or_default();
                return Err(Error::parameter("data", folder.display(), remedy));
            }
            pixels.extend(same.iter().flat_map(|image| all.pixels(*image)));
            labels.extend(same.iter().map(|_| label));
        }
        pixels.resize(pixels.len() + all.shape().size(), 0);
        labels.push(0);
        let all = sottovoce_learning::Images::new(all.shape(), pixels, labels, all.classes())?;
        Ok(Self { all: all.normalised(&images::MNIST)?, sources })
    }
}

impl Membership {
    /// Three agents who all hear each other, a figure each, the blank image last among those of the first; or a centre with all.
    fn setting(&self, images: &Images, method: DeepMethod, seed: u64) -> Result<Setting> {
        let central = method == DeepMethod::Central;
        let (each, blank) = (self.images, images.all.len() - 1);
        let figure = |figure: usize| figure * each..(figure + 1) * each;
        let rows = match central {
            true => vec![(0..=blank).collect::<Vec<_>>()],
            false => vec![figure(0).chain([blank]).collect(), figure(1).collect(), figure(2).collect()],
        };
        let gather = |rows: &[usize]| Ok(images.all.gather(rows)?);
        let holdings = Holdings {
            rows: rows.iter().map(|rows| gather(rows)).collect::<Result<_>>()?,
            test: gather(&[blank])?,
        };
        let plan = self.plan(method)?;
        // Everybody's lot is all she has. The authors' centre takes half.
        let rate = if central { 0.5 } else { 1.0 };
        let hide = |rows: usize| -> Result<Option<Hidden>> {
            let plain = Hidden::new(Lots::new(rows, rate)?, self.clip, 0.0);
            Ok(Some(plain.calibrated(plan.draws(), (self.epsilon, self.delta), calibrate::Method::Pld)?))
        };
        let hidden = holdings.sizes().into_iter().map(hide).collect::<Result<Vec<_>>>()?;
        let agents = hidden.len();
        let pairs = (0..agents).flat_map(|u| (0..u).map(move |v| (v, u)));
        let mixing = Mixing::neighbourhoods(&Graph::from_edges(agents, pairs)?);
        let draws = vec![plan.draws(); agents];
        Ok(Setting {
            net: Net::consensus_cnn(),
            holdings,
            mixing,
            plan,
            hidden,
            secrets: None,
            draws,
            delta: self.delta,
            seed,
            points: 0,
        })
    }

    /// The paper's rates for this epsilon.
    fn plan(&self, method: DeepMethod) -> Result<Plan> {
        let dsgd = Method::Dsgd { at: At::Own };
        let decay = 1e-4;
        let (method, rates, optimiser) = match method {
            DeepMethod::Central => {
                let momentum = Optimiser { decay, ..Optimiser::new(Rule::Momentum { beta: 0.9 }) };
                (dsgd, (0.194, 0.194), momentum)
            }
            DeepMethod::Dsgd => (dsgd, (0.0365, 0.005), Optimiser { decay, ..Optimiser::new(Rule::Sgd) }),
            DeepMethod::Dsgt => (Method::Dsgt, (0.0602, 0.005), Optimiser::new(Rule::Sgd)),
            DeepMethod::Dinno => {
                let fresh = Optimiser { kept: false, ..Optimiser::new(Rule::ADAM) };
                (Method::Dinno { primal: 1, rho: 0.5, growth: 1.0003 }, (0.01, 0.0005), fresh)
            }
            DeepMethod::Local => {
                let remedy = "the paper attacks central, dsgd, dsgt and dinno; give one of them";
                return Err(Error::parameter("method", "local", remedy));
            }
        };
        let rates = Rates { start: rates.0, finish: rates.1 };
        Ok(Plan { method, iterations: self.rounds, rates, optimiser })
    }
}
