//! From an agreement to a peer whom tokens visit: averaging by tokens, and learning by them (private random-walk gradient descent).
//!
//! A visit is one release: the holder's step, bounded and rounded to the grid, under noise on the grid as large as the step size is. There are at most as many as the
//! agreed cap, which is paid for before the first, whether they come or not. Towards everybody each of them counts as seen: what a path hides from those whom it passes by is proven for
//! real numbers, and not for integers.
//!
//! Nobody knows where a token goes. So the run is over where a token ends, and everywhere else after the agreed time.

use std::time::Duration;

use sottovoce::experiment::{Averaging, Learning, Range, check_sensitivity};
use sottovoce::learning::{Against, Method, Noise, Promise, Target, method};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_privacy::{Adversary, Guarantee, Unit, limits};
use sottovoce_protocol::walk::{
    Course, Host as Visited, Launch, Patience, Steps as Sizes, Transition, Walker,
};
use sottovoce_protocol::{FAR, Peer};
use sottovoce_topology::mixing::Mixing;

use crate::averaging::own;
use crate::bounded::{reached, within};
use crate::company::Company;
use crate::descent::{Task, chosen};
use crate::error::require;
use crate::part::{Forecast, Holding, Opened, Part, Priced, Role, Stands, Steps};
use crate::price::{self, Hidden};
use crate::{Agreement, Cost, Error, Host, Ledger, Observer, OnGrid, Price, Result};

/// How often a token is offered to a peer that does not answer, before it goes elsewhere.
const ATTEMPTS: usize = 3;

/// A product of doubles is off by less than this share.
const OFF: f64 = 4.0 * f64::EPSILON;

/// What a visit adds.
#[derive(Debug, Clone)]
enum Adds {
    /// The peer's numbers, within this range.
    Values(Range),
    /// A gradient step.
    Gradients(Box<Task>),
}

/// A walk as one of its peers takes part in it.
#[derive(Debug, Clone)]
pub struct Walk {
    company: Company,
    mixing: Mixing,
    course: Course,
    /// Who launches each token.
    launch: Vec<Peer>,
    adds: Adds,
    grid: Grid,
    width: usize,
    /// Tokens are taken to the nearest within it before anything is added: in steps of the grid.
    reach: i64,
    lasts: Duration,
}

/// Whether a learning is by tokens.
pub(crate) fn walks(learning: &Learning) -> Result<bool> {
    Ok(learning.choice()?.method.name == "walk")
}

/// The part of a peer in an averaging by tokens.
pub(crate) fn average(agreement: &Agreement, averaging: &Averaging, me: Peer) -> Result<Box<dyn Role>> {
    Ok(Box::new(Walk::averaging(agreement, averaging, me)?))
}

/// The part of a peer in learning by tokens.
pub(crate) fn learn(agreement: &Agreement, learning: &Learning, me: Peer) -> Result<Box<dyn Role>> {
    Ok(Box::new(Walk::learning(agreement, learning, me)?))
}

impl Walk {
    /// The part of a peer in an averaging by tokens that was agreed on.
    pub fn averaging(agreement: &Agreement, averaging: &Averaging, me: Peer) -> Result<Self> {
        let (company, grid, width) =
            (Company::new(agreement, me)?, Grid::new(agreement.grid)?, agreement.width);
        let mixing = averaging.graph.base.walking(&agreement.graph()?)?;
        let remedy = "the holder of a token does not know its mass, unless tokens are everywhere equally often; take other weights";
        require(mixing.is_symmetric(), "weights", "not symmetric", remedy)?;
        let agreed = averaging.agreed(&mixing, agreement.seed()?)?;
        let remedy =
            "the holder of a token does not know its mass, unless steps are running ones; leave it out";
        require(agreed.step_size.0 == Sizes::Running, "step-size", agreed.step_size, remedy)?;
        let remedy = "what is paid for is the most that a peer may contribute; give `cap`";
        let cap = agreed.cap.ok_or_else(|| Error::parameter("cap", "missing", remedy))?;
        let bound = averaging.values.sensitivity(width);
        let sensitivity = averaging.noise.sensitivity.unwrap_or(bound);
        check_sensitivity(sensitivity, bound)?;
        let noise = averaging.noise.sigma.map_or_else(
            || {
                let (epsilon, delta) = (averaging.target.epsilon(), averaging.target.delta);
                let target = Target::Approximate { epsilon, delta };
                Noise::Calibrated(Promise { target, against: Against::WireTapper })
            },
            |sigma| Noise::Given(sigma / sensitivity, None),
        );
        let course = Course { cap, ..agreed.course(sensitivity, 0.0) };
        let launch = launch(agreement, agreed.tokens)?;
        let adds = Adds::Values(averaging.values.range);
        let lasts = agreement.lasting()?;
        Self { company, mixing, course, launch, adds, grid, width, reach: 0, lasts }.under(&noise)
    }

    /// The part of a peer in learning by tokens that was agreed on.
    pub fn learning(agreement: &Agreement, learning: &Learning, me: Peer) -> Result<Self> {
        let company = Company::new(agreement, me)?;
        let (choice, noise) = chosen(learning)?;
        let mixing = learning.graph.base.walking(&agreement.graph()?)?;
        let mixings = std::slice::from_ref(&mixing);
        let settings = choice.settings_with(mixings, agreement.seed()?, |_, _| Ok(0.0))?;
        let Method::Walk(walk) = settings.method else {
            return Err(Error::parameter("method", settings.method.name(), "it is no walk"));
        };
        let task = Task::new(agreement, learning, settings.step)?;
        let course = Course {
            steps: settings.method.way().steps(company.peers(), settings.iterations),
            burn_in: walk.burn_in,
            sizes: Sizes::Constant(settings.step),
            sensitivity: 2.0 * learning.task.clip,
            noise: 0.0,
            cap: settings.iterations,
        };
        let launch = launch(agreement, walk.tokens)?;
        let (grid, width, lasts) = (task.grid, task.width, agreement.lasting()?);
        let adds = Adds::Gradients(Box::new(task));
        Self { company, mixing, course, launch, adds, grid, width, reach: 0, lasts }.under(&noise)
    }

    /// The same with its noise: as given, in sensitivities, or the least that keeps the promise.
    fn under(self, noise: &Noise) -> Result<Self> {
        let remedy = "give at least 1 contribution, and steps after burn-in";
        let steps = self.course.steps.checked_sub(self.course.burn_in).filter(|steps| *steps > 0);
        require(self.course.cap > 0 && steps.is_some(), "cap", self.course.cap, remedy)?;
        let sigma = match price::promise(noise)? {
            Ok(sigma) => sigma * self.course.sensitivity,
            Err(promise) => {
                let hidden = self.hidden();
                let moved = self.grid.l2_sensitivity(hidden.sensitivity, self.width)?;
                let steps = price::calibrated(promise, moved * (self.course.cap as f64).sqrt())?;
                steps * self.grid.step() / self.least()
            }
        };
        let walk = Self { course: Course { noise: sigma, ..self.course }, ..self };
        walk.hidden().check()?;
        // The largest steps have the loudest noise.
        Hidden { sigma: walk.course.sizes.at(0) * sigma, ..walk.hidden() }.check()?;
        let reach = match &walk.adds {
            Adds::Gradients(task) => task.reach(walk.course.steps, walk.course.sizes.at(0) * sigma)?,
            Adds::Values(range) => {
                let reach = 2.0 * walk.grid.units_of(farthest(*range) + FAR * sigma).ceil();
                let remedy = "values of so many steps are not exact; take a coarser grid";
                require(reach <= (1u64 << 50) as f64, "grid", walk.grid.step(), remedy)?;
                reach as i64
            }
        };
        Ok(Self { reach, ..walk })
    }

    /// The smallest step size: there a step of the grid is most of the noise.
    fn least(&self) -> f64 {
        self.course.sizes.at((self.course.steps - self.course.burn_in).saturating_sub(1))
    }

    /// What one contribution is, and what hides it, where it costs most.
    fn hidden(&self) -> Hidden {
        let size = self.least();
        let off = match &self.adds {
            Adds::Values(range) => farthest(*range) * (self.width as f64).sqrt() * OFF,
            Adds::Gradients(_) => 0.0,
        };
        let sensitivity = (size * self.course.sensitivity + off) * (1.0 + OFF);
        Hidden { grid: self.grid, width: self.width, sensitivity, sigma: size * self.course.noise }
    }

    /// Whom tokens come from and go to.
    fn neighbours(&self, peer: Peer) -> Vec<Peer> {
        self.mixing.row(peer).map(|(other, _)| other).filter(|&other| other != peer).collect()
    }

    /// Tokens that ended here.
    fn ended(&self, machine: &Walker<Vec<f64>>) -> Vec<Vec<f64>> {
        let ended = (0..self.launch.len()).filter_map(|id| machine.finished(id));
        ended.map(|token| token.value.clone()).collect()
    }
}

/// The largest size of a number in a range.
fn farthest(Range { low, high }: Range) -> f64 {
    if low.abs() > high.abs() { low.abs() } else { high.abs() }
}

/// Who launches each token: somebody else each.
fn launch(agreement: &Agreement, tokens: usize) -> Result<Vec<Peer>> {
    let peers = agreement.peers.len();
    let remedy = format!("each is launched by another of {peers} peers; give at most as many");
    require((1..=peers).contains(&tokens), "tokens", tokens, remedy)?;
    let mut all = method::positions(peers, agreement.seed()?, 0);
    all.truncate(tokens);
    Ok(all)
}

impl Priced for Walk {
    fn observers(&self) -> Vec<Observer> {
        self.company.observers()
    }

    fn cost(&self, declared: &[Observer]) -> Result<Cost> {
        let releases = vec![(self.course.release(), self.course.cap as u64)];
        let one = self.hidden().local()?;
        let all = price::composed(std::iter::repeat_n(one, self.course.cap))?;
        self.company.cost(declared, (Unit::User, releases), |_| Ok(all.clone()))
    }

    fn forecast(&self) -> Result<Forecast> {
        let visits = (self.course.steps * self.launch.len()).div_ceil(self.company.peers()) as u64;
        Ok(Forecast {
            rounds: self.course.cap,
            messages: 2 * visits,
            bytes: visits * (260 + 10 * self.width as u64),
            deviation: None,
            exact: false,
            sigma: self.course.noise,
        })
    }

    fn links(&self) -> Result<Vec<Vec<Peer>>> {
        Ok((0..self.company.peers()).map(|peer| self.neighbours(peer)).collect())
    }

    fn longest(&self) -> usize {
        128 + 9 * self.width
    }

    fn called(&self) -> String {
        let what = match self.adds {
            Adds::Values(_) => "averaging",
            Adds::Gradients(_) => "learning",
        };
        format!("{what} by tokens that walk; rounds are this peer's contributions")
    }

    fn holds(&self) -> &'static str {
        "The same holds whatever these peers send, and wherever tokens go: every contribution counts as seen by everybody, and there are no more than the agreed ones. All of them are paid for, also those that never come."
    }

    fn lasts(&self) -> Option<Duration> {
        Some(self.lasts)
    }

    fn guarantee(&self, observer: &Observer, price: &Price) -> Result<Option<Guarantee>> {
        let more: &[&str] = match self.adds {
            Adds::Values(_) => &[limits::COUNTS],
            Adds::Gradients(_) => &[limits::COUNTS, limits::OWN_PROGRAM],
        };
        Ok(self.company.guarantee(observer, price, Unit::User, (Adversary::WireTapper, more)))
    }
}

impl Part for Walk {
    type Machine = Walker<Vec<f64>>;
    type Noise = OnGrid;

    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>> {
        self.company.check_key(&ledger)?;
        let me = self.company.me;
        // Each step of a token comes once, with an answer to it, and again if that is late.
        let most = (self.course.steps as u64).saturating_mul(self.launch.len() as u64);
        let most = most.saturating_mul(4 * ATTEMPTS as u64).saturating_add(1024);
        let terms = self.company.terms(holding.named(), self.neighbours(me), (self.longest(), most));
        let visited = Visited::new(me, Transition::of(&self.mixing, me));
        let patience = Patience { attempts: ATTEMPTS };
        let machine = Walker::new(visited, vec![0.0; self.width], self.course, patience, self.launch.len());
        Host::open(ledger, terms, machine, OnGrid::deployed(self.grid)?)
    }

    fn begin(&self) -> Option<Launch<Vec<f64>>> {
        let id = self.launch.iter().position(|peer| *peer == self.company.me)?;
        Some(Launch { id, value: vec![0.0; self.width] })
    }

    fn steps(&self, holding: &Holding) -> Result<Steps<Vec<f64>>> {
        let (grid, reach) = (self.grid, self.reach);
        let sum = move |known: Vec<i64>, own: Vec<i64>| {
            known.into_iter().zip(own).map(|(known, own)| grid.value(known + own)).collect()
        };
        match self.adds.clone() {
            Adds::Values(range) => {
                let own = own(holding, self.width, range)?;
                Ok(Box::new(move |_, size, value| {
                    let moved = grid.round(&own.iter().map(|y| size * y).collect::<Vec<_>>())?;
                    *value = sum(within(grid, value.iter().map(|x| (1.0 - size) * x), reach), moved);
                    Ok(())
                }))
            }
            Adds::Gradients(task) => {
                let mut gradients = task.gradients(holding)?;
                Ok(Box::new(move |step, _, value| {
                    let point = reached(grid, value, reach);
                    let moved = task.private(gradients.as_mut(), step, &point)?;
                    let kept = task.kept();
                    *value = sum(within(grid, point.iter().map(|x| kept * x), reach), moved);
                    Ok(())
                }))
            }
        }
    }

    fn stands(&self, machine: &Self::Machine) -> Result<Stands> {
        match (&self.ended(machine)[..], self.launch.len()) {
            ([one], 1) => Ok(Stands::Done(one.clone())),
            _ => Ok(Stands::Going { round: machine.contributions(), rounds: self.course.cap }),
        }
    }

    /// The mean of all tokens that ended here, if any did.
    fn ends(&self, machine: &Self::Machine) -> Result<Stands> {
        let ended = self.ended(machine);
        if ended.is_empty() {
            return Ok(Stands::Elsewhere);
        }
        let share = 1.0 / ended.len() as f64;
        let mean = |i: usize| ended.iter().map(|value| share * value[i]).sum();
        Ok(Stands::Done((0..self.width).map(mean).collect()))
    }
}
