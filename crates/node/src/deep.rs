//! From an agreement to an agent of consensus deep learning: DSGD, gradient tracking or DiNNO, with nets of single precision.
//!
//! A draw is one release: the gradients of a lot of examples, each clipped and rounded to the grid by itself, added up as integers, and hidden under discrete Gaussian noise. Everything
//! that an agent says is computed from her draws and from what others said (`docs/theorems/consensus-descent.md`, Theorem A), so towards everybody they cost what they cost together.
//! **No draw is cheaper for its lot being drawn by coins**: that amplification is proven for real noise and not for integers, so each draw counts as one of all examples
//! (`docs/theorems/grid.md`, Theorem 4). What is protected is one example, exchanged for another.

use std::time::Duration;

use sottovoce::experiment::{Deep as Asked, DeepMethod};
use sottovoce::learning::{Against, Noise, Promise, Target};
use sottovoce_learning::net::Scratch;
use sottovoce_learning::{Images, Net, images};
use sottovoce_privacy::noise::exact::{Grid, OsSeededRng};
use sottovoce_privacy::{Adversary, Guarantee, Lots, Unit, limits};
use sottovoce_protocol::consensus::{Agent, Hidden, Note, Plan};
use sottovoce_protocol::{Peer, Shared, averaging::Start};
use sottovoce_topology::mixing::Mixing;

use crate::bounded::Norm;
use crate::company::Company;
use crate::error::require;
use crate::gradients::{Entering, Gradients, by_example, unquoted};
use crate::part::{Forecast, Holding, Opened, Part, Priced, Role, Stands, Steps};
use crate::suggested::suggested;
use crate::{Agreement, Cost, Error, Host, Ledger, Observer, OnGrid, Price, Result, price};

/// Integers up to this are exact in single precision. A sum is taken to the nearest within it, which moves no two sums apart.
const EXACT: i64 = 1 << 24;

/// Epsilon where neither it nor noise is given.
const EPSILON: f64 = 8.0;

/// Consensus learning as one of its agents takes part in it.
#[derive(Debug, Clone)]
pub struct Deep {
    company: Company,
    plan: Plan,
    mixing: Mixing,
    hidden: Hidden,
    entering: Entering,
    width: usize,
    /// The net that is built in, where the agreement says which.
    net: Option<Net>,
    start: Shared,
    patience: Duration,
}

/// The part of a peer.
pub(crate) fn role(agreement: &Agreement, asked: &Asked, me: Peer) -> Result<Box<dyn Role>> {
    Ok(Box::new(Deep::new(agreement, asked, me)?))
}

impl Deep {
    /// The part of a peer in what was agreed on.
    pub fn new(agreement: &Agreement, asked: &Asked, me: Peer) -> Result<Self> {
        check(agreement, asked)?;
        let company = Company::new(agreement, me)?;
        let (rows, plan, width) = (agreement.rows()?[me], asked.plan()?, agreement.width);
        require(rows > 0, "rows", rows, "everybody needs an example to learn from; leave it out")?;
        let net = asked.agreed_net()?;
        let start = match &net {
            Some(net) => {
                let remedy = format!("the net has {} parameters; agree on as many", net.parameters());
                require(net.parameters() == width, "width", width, remedy)?;
                Shared::from(net.start(agreement.seed()?))
            }
            // Programs add a start of their own, if their nets need one.
            None => Shared::zeros(width),
        };
        let lots = Lots::of_size(rows, asked.protocol.lot)?;
        let (grid, clip) = (Grid::new(agreement.grid)?, asked.noise.clip);
        require(clip > 0.0 && clip.is_finite(), "clip", clip, "give a positive, finite number")?;
        let entering = Entering { grid, clip, norm: Norm::Two, divisor: lots.expected() };
        let part = Self {
            company,
            plan,
            mixing: asked.mixing(&agreement.graph()?)?,
            // A lot counts as all examples, one of them exchanged: nothing more is proven on integers.
            hidden: Hidden { exchanged: true, ..Hidden::new(lots, clip, 0.0) },
            entering,
            width,
            net,
            start,
            patience: agreement.program_time(),
        };
        part.under(asked)
    }

    /// The same with its noise: a multiple of the longest gradient, as given, or the least that keeps the promise to an example.
    fn under(self, asked: &Asked) -> Result<Self> {
        let (epsilon, delta) = (asked.target.epsilon.unwrap_or(EPSILON), asked.target.delta);
        let target = Target::Approximate { epsilon, delta };
        let promise = Noise::Calibrated(Promise { target, against: Against::WireTapper });
        let noise = asked.noise.noise_multiplier.map_or(promise, |multiplier| Noise::Given(multiplier, None));
        let multiplier = match price::promise(&noise)? {
            Ok(multiplier) => multiplier,
            Err(promise) => {
                let moved = self.entering.grid.l2_sensitivity(self.entering.sensitivity(), self.width)?;
                let steps = price::calibrated(promise, moved * (self.plan.draws() as f64).sqrt())?;
                steps * self.entering.grid.step() * self.entering.divisor / self.entering.clip * (1.0 + 1e-11)
            }
        };
        let part = Self { hidden: Hidden { multiplier, ..self.hidden }, ..self };
        part.drawn().check()?;
        part.entering.check(part.hidden.lots.rows())?;
        let remedy = "gradients of so few steps are rounded away; take a finer grid";
        let steps = part.entering.grid.units_of(part.entering.sensitivity());
        require(steps >= 1.0, "grid", part.entering.grid.step(), remedy)?;
        Ok(part)
    }

    /// What one draw is, and what hides it.
    fn drawn(&self) -> price::Hidden {
        let (grid, sensitivity) = (self.entering.grid, self.entering.sensitivity());
        price::Hidden { grid, width: self.width, sensitivity, sigma: self.hidden.release().scale }
    }

    /// What all draws cost, whoever sees them.
    fn price(&self) -> Result<Price> {
        price::composed(std::iter::repeat_n(self.drawn().local()?, self.plan.draws()))
    }

    fn neighbours(&self, peer: Peer) -> Vec<Peer> {
        self.mixing.row(peer).map(|(other, _)| other).collect()
    }

    /// Gradients of what a peer holds: of images of the net that is built in, or of a program.
    fn gradients(&self, holding: &Holding) -> Result<Box<dyn Gradients>> {
        let rows = self.hidden.lots.rows();
        holding.check_one_by_one()?;
        if let Some(suggested) = suggested(holding, (self.width, Some(rows)), self.patience)? {
            return Ok(suggested);
        }
        let Some(net) = self.net.clone() else {
            let remedy = "say which images the built-in nets learn from (`kind` of the task), or name a program in node.toml";
            return Err(Error::parameter("kind", "missing", remedy));
        };
        let found = images::open(&holding.file).map_err(|error| unquoted(holding, &error))?.train;
        holding.check()?;
        let remedy = format!("{} images are in {}; agree on as many", found.len(), holding.file.display());
        require(found.len() == rows, "rows", rows, remedy)?;
        let fits = found.shape() == net.input() && found.classes() == net.classes();
        require(
            fits,
            "values",
            holding.file.display(),
            "it holds images of another kind than was agreed on",
        )?;
        Ok(Box::new(Pictures { scratch: Scratch::new(&net), net, images: found }))
    }
}

/// Refuses what is for simulations alone, and what nothing is proven of on integers.
fn check(agreement: &Agreement, asked: &Asked) -> Result<()> {
    let (task, graph, noise) = (&asked.task, &asked.graph, &asked.noise);
    let alone = matches!(asked.protocol.method, DeepMethod::Central | DeepMethod::Local);
    let dealt = task.images.is_some() || task.test_images.is_some() || task.split.is_some();
    let agents = task.agents.is_some_and(|agents| agents != agreement.peers.len());
    let drawn = task.kind == Some(sottovoce::experiment::Pictures::Drawn);
    let wrong = [
        (alone, "method", "it is a baseline of simulations; take dsgd, dsgt or dinno"),
        (dealt || drawn, "task", "everybody learns from images of its own; leave it out"),
        (agents, "agents", "as many take part as have agreed; leave it out"),
        (graph.base.is_given() || graph.fiedler.is_some(), "graph", "it is in `edges`; leave it out"),
        (
            noise.cancel.is_some() || noise.keys.is_some(),
            "cancel",
            "noise of pairs is no integer here; leave it out",
        ),
        (
            noise.band.is_some() || noise.memory.is_some(),
            "band",
            "correlated noise is no integer, and nothing is proven of it on a grid; leave it out",
        ),
        (
            noise.noise_multiplier.is_some() && asked.target.epsilon.is_some(),
            "epsilon",
            "noise is given as well; give one of them",
        ),
    ];
    match wrong.into_iter().find(|(wrong, ..)| *wrong) {
        Some((_, field, remedy)) => Err(Error::parameter(field, "given", remedy)),
        None => Ok(()),
    }
}

/// Images of one's own, and a net.
struct Pictures {
    net: Net,
    images: Images,
    scratch: Scratch,
}

impl Gradients for Pictures {
    fn mean(&mut self, _: usize, _: &[f64], _: f64) -> Result<Vec<f64>> {
        Err(Error::parameter("gradient", "of all images", "nets learn from lots"))
    }

    fn each(
        &mut self,
        _: usize,
        point: &[f64],
        picked: &[u32],
        take: &mut dyn FnMut(&mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let parameters: Vec<f32> = point.iter().map(|x| *x as f32).collect();
        let (mut narrow, mut wide) = (vec![0.0f32; point.len()], vec![0.0; point.len()]);
        for image in picked {
            narrow.fill(0.0);
            let Self { net, images, scratch } = self;
            let one = std::slice::from_ref(image);
            net.gradient_sum(&parameters, images, one, scratch, &mut narrow)
                .map_err(|error| Error::from(sottovoce::Error::from(error)))?;
            wide.iter_mut().zip(&narrow).for_each(|(wide, narrow)| *wide = f64::from(*narrow));
            take(&mut wide)?;
        }
        Ok(())
    }
}

impl Priced for Deep {
    fn observers(&self) -> Vec<Observer> {
        self.company.observers()
    }

    fn cost(&self, declared: &[Observer]) -> Result<Cost> {
        let all = self.price()?;
        let releases = vec![(self.hidden.release(), self.plan.draws() as u64)];
        self.company.cost(declared, (Unit::Record, releases), |_| Ok(all.clone()))
    }

    fn forecast(&self) -> Result<Forecast> {
        let messages = (self.plan.iterations * self.neighbours(self.company.me).len()) as u64;
        Ok(Forecast {
            rounds: self.plan.iterations,
            messages,
            bytes: messages * (130 + self.longest() as u64),
            deviation: None,
            exact: false,
            sigma: self.drawn().sigma,
        })
    }

    fn links(&self) -> Result<Vec<Vec<Peer>>> {
        Ok((0..self.company.peers()).map(|peer| self.neighbours(peer)).collect())
    }

    fn longest(&self) -> usize {
        64 + self.plan.vectors() * (16 + 4 * self.width)
    }

    fn called(&self) -> String {
        format!("consensus deep learning, {} draws in {} rounds", self.plan.draws(), self.plan.iterations)
    }

    fn holds(&self) -> &'static str {
        "The same holds whatever these peers send: every draw counts as seen by everybody, and as one of all examples. What it costs is told of one example, exchanged for another; how many there are is public."
    }

    fn guarantee(&self, observer: &Observer, price: &Price) -> Result<Option<Guarantee>> {
        let more = (Adversary::WireTapper, &[limits::ROWS, limits::OWN_PROGRAM][..]);
        Ok(self.company.guarantee(observer, price, Unit::Record, more).map(by_example))
    }
}

impl Part for Deep {
    type Machine = Agent;
    type Noise = OnGrid;

    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>> {
        self.company.check_key(&ledger)?;
        let me = self.company.me;
        let most = self.plan.iterations as u64;
        let terms = self.company.terms(holding.named(), self.neighbours(me), (self.longest(), most));
        let row = self.mixing.row(me).collect();
        let machine = Agent::new(row, self.start.clone(), self.plan, Some(self.hidden));
        Host::open(ledger, terms, machine, OnGrid::deployed(self.entering.grid)?)
    }

    fn begin(&self) -> Option<Start> {
        Some(Start)
    }

    fn steps(&self, holding: &Holding) -> Result<Steps<Shared>> {
        let (entering, lots) = (self.entering, self.hidden.lots);
        let (mut gradients, mut coins) = (self.gradients(holding)?, OsSeededRng::from_os()?);
        let mut picked = Vec::new();
        Ok(Box::new(move |step, _, value| {
            lots.draw_by(&mut coins, &mut picked);
            let point: Vec<f64> = value.iter().map(|x| f64::from(*x)).collect();
            let sum = entering.sum(gradients.as_mut(), step, &point, &picked)?;
            let single = |steps: i64| entering.grid.value(steps.clamp(-EXACT, EXACT)) as f32;
            *value = sum.into_iter().map(single).collect::<Vec<f32>>().into();
            Ok(())
        }))
    }

    fn stands(&self, machine: &Agent) -> Result<Stands> {
        let round = machine.round();
        Ok(match (machine.is_over(), round == machine.rounds()) {
            (true, true) => Stands::Done(machine.model().iter().map(|x| f64::from(*x)).collect()),
            (true, false) => Stands::Halted { round, missing: Vec::new() },
            (false, _) => Stands::Going { round, rounds: machine.rounds() },
        })
    }

    fn missing(_: &Note) -> Vec<Peer> {
        // Who is late is left out of a round, and waited for no longer: nobody ends another's run.
        Vec::new()
    }
}
