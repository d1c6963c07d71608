//! From an agreement to an agent with a model of her own (personalised learning: Bellet, Guerraoui, Taziki and Tommasi 2018).
//!
//! Whoever wakes up takes the mean of her neighbours' models and a step against the gradient of her own rows, and says where she is. Each gradient is one release: every row's part of it is
//! clipped and rounded to the grid by itself, and the sum is hidden under exact noise. What leaves is computed from that, and from what others said: so towards everybody all updates cost
//! what they cost locally, of *one row*, exchanged for another (`docs/theorems/grid.md`, Theorem 4).

use std::sync::Arc;
use std::time::Duration;

use sottovoce::experiment::{LossSpec, Personalized, TaskSpec, Tasks};
use sottovoce::learning::{Against, Noise, Promise, Target};
use sottovoce_learning::{Loss, Model};
use sottovoce_privacy::allotment::Allocation;
use sottovoce_privacy::noise::exact::{DiscreteLaplace, Rational};
use sottovoce_privacy::{Adversary, Guarantee, Law, Unit, limits};
use sottovoce_protocol::Peer;
use sottovoce_protocol::personal::{Agent, Command, Hidden, Plan, Rule};

use crate::bounded::Norm;
use crate::company::Company;
use crate::error::require;
use crate::gradients::{Entering, LONGEST, by_example, of_rows};
use crate::part::{Forecast, Holding, Opened, Part, Priced, Role, Stands, Steps};
use crate::{Agreement, Cost, Error, Host, Ledger, Observer, OnGrid, Price, Result, price};

/// An agent without rows counts as a tenth of one.
const ROWLESS: f64 = 0.1;

/// Epsilon where neither it nor noise is given.
const EPSILON: f64 = 1.0;

/// Personalised learning as one of its agents takes part in it.
#[derive(Debug, Clone)]
pub struct Personal {
    company: Company,
    task: TaskSpec,
    entering: Entering,
    width: usize,
    rows: usize,
    links: Vec<Vec<Peer>>,
    plan: Plan,
    patience: Duration,
    lasts: Option<Duration>,
}

/// The part of a peer.
pub(crate) fn role(agreement: &Agreement, personalized: &Personalized, me: Peer) -> Result<Box<dyn Role>> {
    Ok(Box::new(Personal::new(agreement, personalized, me)?))
}

impl Personal {
    /// The part of a peer in what was agreed on.
    pub fn new(agreement: &Agreement, asked: &Personalized, me: Peer) -> Result<Self> {
        check(asked)?;
        let company = Company::new(agreement, me)?;
        let (task, all, graph) = (asked.task.table.own()?, agreement.rows()?, agreement.graph()?);
        let rows = all[me];
        let norm = match asked.noise.law {
            Law::Gaussian => Norm::Two,
            Law::Laplace => Norm::One,
            Law::Radial => {
                let remedy = "it is for whole models; give gaussian or laplace";
                return Err(Error::parameter("law", "radial", remedy));
            }
        };
        let clip = asked.noise.clip;
        require(clip > 0.0 && clip.is_finite(), "clip", clip, "give a positive, finite number")?;
        let grid = sottovoce_privacy::noise::exact::Grid::new(agreement.grid)?;
        let entering = Entering { grid, clip, norm, divisor: rows.max(1) as f64 }; // whole numbers
        let links =
            (0..all.len()).map(|peer| graph.neighbors(peer).iter().map(|&other| other as Peer).collect());
        let plan = Plan {
            rule: rule(asked, &task, &all, me)?,
            updates: asked.protocol.updates,
            hidden: None,
            warm: None,
            repeats: 0,
            patience: asked.network.patience,
        };
        let part = Self {
            company,
            task,
            entering,
            width: agreement.width,
            rows,
            links: links.collect(),
            plan,
            patience: agreement.program_time(),
            lasts: agreement.time.map(Duration::from_secs_f64),
        };
        part.under(asked)
    }

    /// The same with its noise: as given, in sensitivities, or the least that keeps the promise to a row.
    fn under(self, asked: &Personalized) -> Result<Self> {
        let (sensitivity, updates) = (self.entering.sensitivity(), self.plan.updates);
        let noise = asked.noise.sigma.map_or_else(
            || {
                let (epsilon, delta) = (asked.target.epsilon.unwrap_or(EPSILON), asked.target.delta);
                let target = Target::Approximate { epsilon, delta };
                Noise::Calibrated(Promise { target, against: Against::WireTapper })
            },
            |sigma| Noise::Given(sigma, None),
        );
        let multiplier = match price::promise(&noise)? {
            Ok(sigma) => sigma,
            Err(promise) => {
                let moved = self.moved()? * (updates as f64).sqrt();
                price::calibrated(promise, moved)? * self.entering.grid.step() / sensitivity * (1.0 + 1e-11)
            }
        };
        let multipliers: Arc<[f64]> = vec![multiplier; updates].into();
        let hidden = Hidden { law: asked.noise.law, sensitivity, multipliers };
        let plan = Plan { hidden: (self.rows > 0).then_some(hidden), ..self.plan.clone() };
        let part = Self { plan, ..self };
        part.check_noise()?;
        Ok(part)
    }

    /// How far one row, exchanged, moves a sum of rounded gradients: in steps, in the law's norm.
    fn moved(&self) -> Result<f64> {
        let Entering { grid, norm, .. } = self.entering;
        let sensitivity = self.entering.sensitivity();
        Ok(match norm {
            Norm::One => grid.l1_sensitivity(sensitivity, self.width)?,
            Norm::Two => grid.l2_sensitivity(sensitivity, self.width)?,
        })
    }

    /// Refuses noise that cannot be drawn.
    fn check_noise(&self) -> Result<()> {
        let Some(release) = self.plan.release(0).filter(|_| self.plan.updates > 0) else { return Ok(()) };
        self.entering.check(self.rows)?;
        let grid = self.entering.grid;
        if release.law == Law::Gaussian {
            return self.hidden(release.scale).check();
        }
        let remedy = "give a positive, finite number";
        require(release.scale > 0.0 && release.scale.is_finite(), "sigma", release.scale, remedy)?;
        let law = Rational::from_f64(grid.units_of(release.scale)).and_then(DiscreteLaplace::new);
        let remedy = "noise of this scale has more steps than can be drawn; take a coarser grid";
        require(law.is_ok(), "grid", grid.step(), remedy)
    }

    fn hidden(&self, sigma: f64) -> price::Hidden {
        let (grid, sensitivity) = (self.entering.grid, self.entering.sensitivity());
        price::Hidden { grid, width: self.width, sensitivity, sigma }
    }

    /// What all updates cost, whoever sees them.
    fn price(&self) -> Result<Price> {
        let one = |release: sottovoce_protocol::Release| match release.law {
            Law::Gaussian => self.hidden(release.scale).local(),
            _ => price::laplace(self.entering.grid, self.moved()?, release.scale),
        };
        price::composed(self.plan.releases().map(one).collect::<Result<Vec<_>>>()?)
    }
}

/// How an agent's update weighs its parts: from how many rows everybody has, and the promised length of rows.
fn rule(asked: &Personalized, task: &TaskSpec, all: &[usize], me: Peer) -> Result<Rule> {
    let most = all.iter().copied().max().unwrap_or(1).max(1); // whole numbers
    let (rows, reference) = (all[me], asked.protocol.reference.unwrap_or(most));
    require(reference > 0, "reference", reference, "give at least one row")?;
    let squared = task.loss == Some(LossSpec::Squared) || task.label_bounds.is_some();
    let (loss, factor) = if squared { (Loss::Squared, 1.0) } else { (Loss::Logistic, 2.0) };
    let ridge = asked.protocol.ridge.unwrap_or(factor / rows.max(1) as f64); // whole numbers
    for (field, value) in [("ridge", ridge), ("mu", asked.protocol.mu)] {
        require(value > 0.0 && value.is_finite(), field, value, "give a positive, finite number")?;
    }
    let counted = if rows == 0 { ROWLESS } else { rows as f64 };
    let model = Model { loss, width: 1, ridge };
    let smoothness = if rows == 0 { ridge } else { model.smoothness(LONGEST) };
    Ok(Rule::step(asked.protocol.mu * counted / reference as f64, ridge, smoothness))
}

/// Refuses what is for simulations alone, and what nothing is proven of on integers.
fn check(asked: &Personalized) -> Result<()> {
    let (task, network, target) = (&asked.task, &asked.network, &asked.target);
    let table = task.kind.is_none_or(|kind| kind == Tasks::Table);
    let generated = [task.agents, task.width, task.fewest, task.most].iter().any(Option::is_some);
    let real = network.drop.is_none() && network.leave.is_empty() && network.join.is_empty();
    let alike = asked.protocol.allocation == Allocation::Uniform && target.budget.is_empty();
    let wrong = [
        (
            !table || generated || task.centre.is_some(),
            "task",
            "everybody learns from rows of its own; leave it out",
        ),
        (!real, "network", "the network is a real one; leave it out"),
        (asked.protocol.warm.is_some(), "warm", "a whole model has noise of no exact law here; leave it out"),
        (!alike, "allocation", "on a node all updates of everybody share alike; leave it out"),
        (target.method.is_some(), "method", "a ledger adds concentrated losses; leave it out"),
        (
            asked.noise.sigma.is_some() && target.epsilon.is_some(),
            "epsilon",
            "sigma is given as well; give one of them",
        ),
        (asked.protocol.updates > 10_000, "updates", "give at most 10,000"),
    ];
    match wrong.into_iter().find(|(wrong, ..)| *wrong) {
        Some((_, field, remedy)) => Err(Error::parameter(field, "given", remedy)),
        None => Ok(()),
    }
}

impl Priced for Personal {
    fn observers(&self) -> Vec<Observer> {
        self.company.observers()
    }

    fn cost(&self, declared: &[Observer]) -> Result<Cost> {
        let all = self.price()?;
        let mut releases: Vec<(sottovoce_protocol::Release, u64)> = Vec::new();
        for release in self.plan.releases() {
            match releases.last_mut().filter(|(last, _)| *last == release) {
                Some((_, times)) => *times += 1,
                None => releases.push((release, 1)),
            }
        }
        self.company.cost(declared, (Unit::Record, releases), |_| Ok(all.clone()))
    }

    fn forecast(&self) -> Result<Forecast> {
        let messages = (self.plan.updates * self.links[self.company.me].len()) as u64;
        let sigma = self.plan.release(0).map_or(0.0, |release| release.scale);
        let (rounds, bytes) = (self.plan.updates, messages * (130 + 9 * self.width as u64));
        Ok(Forecast { rounds, messages, bytes, deviation: None, exact: false, sigma })
    }

    fn links(&self) -> Result<Vec<Vec<Peer>>> {
        Ok(self.links.clone())
    }

    fn longest(&self) -> usize {
        64 + 8 * self.width
    }

    fn called(&self) -> String {
        format!("a model of one's own, moved {} times", self.plan.updates)
    }

    fn holds(&self) -> &'static str {
        "The same holds whatever these peers send: every update counts as seen by everybody. What it costs is told of one row, exchanged for another; how many rows there are is public."
    }

    fn lasts(&self) -> Option<Duration> {
        self.lasts
    }

    fn guarantee(&self, observer: &Observer, price: &Price) -> Result<Option<Guarantee>> {
        let more = (Adversary::WireTapper, &[limits::SIMILARITIES][..]);
        Ok(self.company.guarantee(observer, price, Unit::Record, more).map(by_example))
    }
}

impl Part for Personal {
    type Machine = Agent;
    type Noise = OnGrid;

    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>> {
        self.company.check_key(&ledger)?;
        let neighbours = self.links[self.company.me].clone();
        // Each of a neighbour's models once, and where she is for who asks.
        let most = 8 * (self.plan.wakes() as u64 + 8);
        let terms = self.company.terms(holding.named(), neighbours.clone(), (self.longest(), most));
        let row = neighbours.into_iter().map(|other| (other, 1.0)).collect();
        let machine = Agent::new(row, vec![0.0; self.width], self.plan.clone());
        Host::open(ledger, terms, machine, OnGrid::deployed(self.entering.grid)?)
    }

    fn begin(&self) -> Option<Command> {
        Some(Command::Begin)
    }

    fn steps(&self, holding: &Holding) -> Result<Steps<Vec<f64>>> {
        holding.check_one_by_one()?;
        // An agent without rows is never asked.
        if self.rows == 0 {
            return Ok(Box::new(|_, _, _| Ok(())));
        }
        let entering = self.entering;
        let picked: Vec<u32> = (0..self.rows as u32).collect();
        let mut gradients = of_rows(holding, &self.task, (self.width, Some(self.rows)), self.patience)?;
        Ok(Box::new(move |step, _, value| {
            let sum = entering.sum(gradients.as_mut(), step, value, &picked)?;
            *value = sum.into_iter().map(|steps| entering.grid.value(steps)).collect();
            Ok(())
        }))
    }

    fn stands(&self, machine: &Agent) -> Result<Stands> {
        Ok(match machine.is_done() {
            true => Stands::Done(machine.model().to_vec()),
            false => Stands::Going { round: machine.updates(), rounds: self.plan.updates },
        })
    }

    /// Her model is hers, however far it has come.
    fn ends(&self, machine: &Agent) -> Result<Stands> {
        Ok(Stands::Done(machine.model().to_vec()))
    }
}
