//! From an agreement to a peer that learns: private gradient steps, with an averaging after each (Muffliato-GD, Algorithm 3).
//!
//! | what was agreed on | machine | noise | priced by |
//! | --- | --- | --- | --- |
//! | butterfly, `masks = true` | sums of integers on a ring | shares, and masks of pairs | `docs/theorems/ring.md`, Theorem 2, for all steps |
//! | butterfly | sums of integers on a ring | on the grid | `docs/theorems/grid.md`, Theorem 3 |
//! | gossip | numbers | on the grid, in every step | local privacy, for all steps |
//!
//! All data of a peer is protected: whatever it holds instead. A gradient is clipped to the agreed length, made a step, and rounded to the grid; then it is
//! added to what everybody knows, which was rounded before. So two data sets differ by no more than two such steps, in integers, whoever computes gradients.

use std::collections::BTreeSet;
use std::time::Duration;

use sottovoce::experiment::{Clipped, Learning, TaskSpec};
use sottovoce::learning::{Against, Choice, Method, Noise, method};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_privacy::{Adversary, Guarantee, Unit, limits};
use sottovoce_protocol::averaging::{Averager, Butterfly, InTurn, Noising, Note, Plan, Start};
use sottovoce_protocol::public::{self, Scheme};
use sottovoce_protocol::ring::{Agreed, Cover, Residues, Ring};
use sottovoce_protocol::{FAR, Peer, Release};
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_views::descent::consensus::{self, Averaging};
use sottovoce_views::grid::Route;
use sottovoce_views::ring::Masked;

use crate::averaging::{missing, stands};
use crate::bounded::{Norm, reached, stepped, within};
use crate::company::Company;
use crate::error::require;
use crate::gradients::{Gradients, of_rows};
use crate::part::{Forecast, Holding, Opened, Part, Priced, Role, Stands, Steps};
use crate::price::{self, Hidden};
use crate::{Agreement, Cost, Error, Host, Ledger, Observer, OnGrid, OnRing, Price, Result};

/// Sums of so many steps of the grid are exact in doubles.
const EXACT: f64 = (1u64 << 52) as f64;

/// What is learned from, and how far one step goes: the same for everybody, and public.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) spec: TaskSpec,
    /// Numbers of a model.
    pub(crate) width: usize,
    pub(crate) grid: Grid,
    /// The step size.
    pub(crate) size: f64,
    /// How long a step of a program may last.
    pub(crate) patience: Duration,
}

impl Task {
    /// What was agreed on, with this step size.
    pub(crate) fn new(agreement: &Agreement, learning: &Learning, size: f64) -> Result<Self> {
        let spec = learning.task.clone();
        spec.check_own()?;
        let peers = agreement.peers.len();
        let (dealt, remedy) = (spec.nodes.unwrap_or(peers), format!("{peers} have agreed; leave it out"));
        require(dealt == peers, "peers", dealt, remedy)?;
        let remedy = "on a node every gradient is clipped; give example or user";
        require(spec.clipped != Clipped::Nothing, "clipped", "nothing", remedy)?;
        for (field, value) in [("clip", spec.clip), ("step-size", size)] {
            require(value > 0.0 && value.is_finite(), field, value, "give a positive, finite number")?;
        }
        let remedy = "give a number of at least 0, such that a step does not overshoot";
        require((0.0..=1.0).contains(&(spec.ridge * size)), "ridge", spec.ridge, remedy)?;
        let task = Self {
            width: agreement.width,
            grid: Grid::new(agreement.grid)?,
            size,
            patience: agreement.program_time(),
            spec,
        };
        let remedy = "steps of this length are no steps of the grid; take a finer grid";
        require(task.grid.units_of(task.longest()) >= 1.0, "grid", agreement.grid, remedy)?;
        Ok(task)
    }

    /// No private step is longer, in the 2-norm.
    pub(crate) fn longest(&self) -> f64 {
        self.size * self.spec.clip
    }

    /// How far other data moves a step, before it is rounded.
    pub(crate) fn sensitivity(&self) -> f64 {
        2.0 * self.longest()
    }

    /// How much of a model is kept in a step: what pulls it towards 0 is public.
    pub(crate) fn kept(&self) -> f64 {
        1.0 - self.size * self.spec.ridge
    }

    /// Gradients of what a peer holds.
    pub(crate) fn gradients(&self, holding: &Holding) -> Result<Box<dyn Gradients>> {
        of_rows(holding, &self.spec, (self.width, None), self.patience)
    }

    /// The private part of a step from here, in steps of the grid: never longer than was agreed on.
    pub(crate) fn private(
        &self,
        gradients: &mut dyn Gradients,
        step: usize,
        point: &[f64],
    ) -> Result<Vec<i64>> {
        let mut moved = gradients.mean(step, point, self.spec.clip)?;
        moved.iter_mut().for_each(|x| *x *= -self.size);
        stepped(self.grid, &mut moved, self.longest(), Norm::Two)
    }

    /// How far a model may go in so many steps with noise of this scale: it is taken to the nearest within that. In steps of the grid.
    pub(crate) fn reach(&self, steps: usize, sigma: f64) -> Result<i64> {
        let steps = steps as f64;
        let reach = self.grid.units_of(steps * self.longest() + FAR * sigma * steps.sqrt()).ceil();
        let remedy = "models of so many steps are not exact; take a coarser grid";
        require(4.0 * reach <= EXACT, "grid", self.grid.step(), remedy)?;
        Ok(reach as i64)
    }
}

/// Refuses what is for simulations alone. The choice of method, and the settings that follow from it but for the noise.
pub(crate) fn chosen(learning: &Learning) -> Result<(Choice, Noise)> {
    let choice = learning.choice()?;
    let given = learning.network.given().map(|(field, value)| (field, value, "the network is a real one"));
    let cancel = learning.noise.cancel.map(|kappa| {
        (
            "cancel",
            kappa.to_string(),
            "noise of pairs is no integer here; take `masks = true`, which hides more",
        )
    });
    let weighted = choice
        .options
        .weighted
        .then(|| ("final-model", "weighted".to_owned(), "a node keeps its last model"));
    let graph = learning.graph.base.is_given().then(|| ("graph", "given".to_owned(), "it is in `edges`"));
    let fresh = learning.graph.fresh_graphs.map(|c| ("fresh-graphs", c.to_string(), "pairs are in `edges`"));
    let differ = choice.options.heterogeneity.map(|z| ("heterogeneity", z.to_string(), "give `steps`"));
    let markov = choice.options.markov_step.map(|d| ("markov-step", d.to_string(), "give `size`"));
    let all = [given, cancel, weighted, graph, fresh, differ, markov];
    if let Some((field, value, remedy)) = all.into_iter().flatten().next() {
        return Err(Error::parameter(field, value, format!("{remedy}; leave it out")));
    }
    let noise = learning.target.noise(learning.noise.sigma)?;
    Ok((choice, noise))
}

/// Who averages with whom after each step.
#[derive(Debug, Clone)]
enum Way {
    /// Sums of all, in these positions; under masks of pairs who share secrets, if any do.
    Sums { positions: Vec<Vec<Peer>>, keys: Option<Graph> },
    /// Means of neighbours.
    Gossip(Scheme),
}

/// A descent as one of its peers takes part in it.
#[derive(Debug, Clone)]
pub struct Descent {
    company: Company,
    task: Task,
    iterations: usize,
    way: Way,
    /// So many may help someone who sees every message.
    colluders: usize,
    /// The noise on a step.
    sigma: f64,
    reach: i64,
}

/// The part of a peer.
pub(crate) fn role(agreement: &Agreement, learning: &Learning, me: Peer) -> Result<Box<dyn Role>> {
    let part = Descent::new(agreement, learning, me)?;
    Ok(if part.is_on_ring() { Box::new(Summed(part)) } else { Box::new(Gossiped(part)) })
}

impl Descent {
    /// The part of a peer in what was agreed on.
    pub fn new(agreement: &Agreement, learning: &Learning, me: Peer) -> Result<Self> {
        let company = Company::new(agreement, me)?;
        let (choice, noise) = chosen(learning)?;
        let (peers, graph) = (company.peers(), agreement.graph()?);
        let mixings = match choice.method.needs_graph {
            true => vec![learning.graph.base.mixing(&graph)?],
            false => Vec::new(),
        };
        let seed = agreement.seed()?;
        let markov = |_: &Method, _| Ok(0.0);
        let settings = choice.settings_with(&mixings, seed, markov)?;
        let way = match (settings.method, mixings.into_iter().next()) {
            (Method::Butterfly, _) => {
                let drawn = |iteration| method::positions(peers, seed, iteration);
                let complete = || generate(&Family::Complete { n: peers }, 0, false);
                let keys = agreement.masks.then(complete).transpose()?;
                Way::Sums { positions: (0..settings.iterations).map(drawn).collect(), keys }
            }
            (Method::Gossip(gossip), Some(mixing)) => {
                let remedy = "what is first said counts as seen, whatever is added later; leave it out";
                require(gossip.relay == 0.0, "relay-noise", gossip.relay, remedy)?;
                Way::Gossip(Scheme::Gossip { mixing, rounds: gossip.rounds, accelerated: gossip.accelerated })
            }
            (method, _) => {
                let remedy = "it is a baseline of simulations; take butterfly, gossip or walk";
                return Err(Error::parameter("method", method.name(), remedy));
            }
        };
        let summed = matches!(way, Way::Sums { .. });
        let remedy = "masks hide sums of all; take method butterfly, or leave them out";
        require(summed || !agreement.masks, "masks", true, remedy)?;
        let task = Task::new(agreement, learning, settings.step)?;
        let colluders = learning.target.colluders.unwrap_or(1);
        let part =
            Self { company, task, iterations: settings.iterations, way, colluders, sigma: 0.0, reach: 0 };
        part.under(&noise)
    }

    /// The same with its noise: as given, in sensitivities, or the least that keeps the promise.
    fn under(self, noise: &Noise) -> Result<Self> {
        let sigma = match price::promise(noise)? {
            Ok(sigma) => sigma * self.task.sensitivity(),
            Err(promise) => {
                let moved = self.moved(promise.against == Against::WireTapper)?;
                price::calibrated(promise, moved)? * self.task.grid.step()
            }
        };
        let reach = self.task.reach(self.iterations, sigma)?;
        let part = Self { sigma, reach, ..self };
        part.hidden().check()?;
        Ok(part)
    }

    /// The root of the sum of squares of how far all steps move what is seen, in steps of the grid: by someone who sees all, or by the worst peer.
    fn moved(&self, sees_all: bool) -> Result<f64> {
        let (iterations, peers) = (self.iterations as f64, self.company.peers());
        let moved = self.task.grid.l2_sensitivity(self.task.sensitivity(), self.task.width)?;
        Ok(match &self.way {
            Way::Sums { keys: Some(_), .. } => {
                let helped = if sees_all { self.colluders } else { 1 };
                let remedy = format!("{peers} have agreed, and one at least must be honest; give fewer");
                require(helped < peers, "colluders", helped, remedy)?;
                moved * (iterations / (peers - helped) as f64).sqrt()
            }
            Way::Sums { positions, .. } if !sees_all => {
                let mut worst = 0.0;
                for observer in 0..peers {
                    let losses = self.losses(positions, &[observer])?;
                    worst =
                        losses.into_iter().fold(worst, |most: f64, one| if one > most { one } else { most });
                }
                moved * worst.sqrt() + (iterations * (self.task.width * peers) as f64).sqrt()
            }
            _ => moved * iterations.sqrt(),
        })
    }

    /// Everybody's loss over all steps, in units of local privacy's squared one.
    fn losses(&self, positions: &[Vec<Peer>], observers: &[Peer]) -> Result<Vec<f64>> {
        let each = positions.iter().map(|one| Averaging::butterfly(one, observers));
        let averagings = each.collect::<sottovoce_views::Result<Vec<_>>>()?;
        Ok(consensus::loss(&averagings, self.iterations)?.losses)
    }

    /// Whether its numbers are on a ring.
    pub fn is_on_ring(&self) -> bool {
        matches!(self.way, Way::Sums { .. })
    }

    fn hidden(&self) -> Hidden {
        let Task { grid, width, .. } = self.task;
        Hidden { grid, width, sensitivity: self.task.sensitivity(), sigma: self.sigma }
    }

    fn noising(&self) -> Noising {
        Noising { sensitivity: self.task.sensitivity(), local: self.sigma, relay: 0.0 }
    }

    /// What one observer can learn at the most, of all steps.
    fn price(&self, observer: &Observer) -> Result<Price> {
        let (peers, me) = (self.company.peers(), self.company.me);
        let members = self.company.members(observer);
        let sees_all = *observer == Observer::WireTapper;
        let one = match &self.way {
            Way::Sums { keys: Some(keys), .. } => {
                let adversary = match sees_all {
                    true => Adversary::WireTapperWithAny(self.colluders),
                    false => Adversary::Coalition(members),
                };
                let group = Masked::towards(keys, &adversary)?.group(me);
                price::shares(&self.ring()?, group, self.task.sensitivity())?
            }
            Way::Sums { positions, .. } if !sees_all => {
                let mut all = Vec::new();
                for one in positions {
                    let leakage = Averaging::butterfly(one, &members)?;
                    let leak = leakage.leakage().losses[me];
                    all.push(self.hidden().rho(Route::Sums, if leak < 1.0 { leak } else { 1.0 }, peers)?);
                }
                return price::composed(all);
            }
            _ => self.hidden().local()?,
        };
        price::composed(std::iter::repeat_n(one, self.iterations))
    }

    /// The ring on which all sums of models and noises fit.
    fn ring(&self) -> Result<Ring> {
        let Task { grid, width, .. } = self.task;
        let range = grid.value(self.reach) + self.task.longest();
        let agreed = Agreed {
            peers: self.company.peers(),
            width,
            range,
            sigma: self.sigma,
            step: grid.step(),
            bits: 64,
        };
        Ok(Ring::smallest(agreed).map_err(sottovoce::Error::from)?)
    }

    /// What a peer does in each round, all steps one after the other.
    fn plan(&self, peer: Peer) -> Result<Box<dyn Plan>> {
        Ok(match &self.way {
            Way::Sums { positions, .. } => Box::new(self.butterflies(positions, peer)?),
            Way::Gossip(scheme) => Box::new(self.mixing(scheme, peer)?),
        })
    }

    fn butterflies(&self, positions: &[Vec<Peer>], peer: Peer) -> Result<InTurn<Butterfly>> {
        let parts = positions.iter().map(|one| Butterfly::sums(one, peer)).collect();
        self.in_turn(parts)
    }

    fn mixing(&self, scheme: &Scheme, peer: Peer) -> Result<InTurn<public::Part>> {
        self.in_turn(vec![scheme.parts()?.swap_remove(peer)])
    }

    fn in_turn<P: Plan>(&self, parts: Vec<P>) -> Result<InTurn<P>> {
        InTurn::new(parts, self.iterations)
            .ok_or_else(|| Error::parameter("iterations", self.iterations, "give at least 1"))
    }

    /// The model, from the sum of everybody's.
    pub fn model(&self, sum: &Residues) -> Vec<f64> {
        let peers = self.company.peers() as f64;
        sum.centred().map(|steps| self.task.grid.value(steps) / peers).collect()
    }
}

/// A peer's share of what everybody has in common: all shares add up to it, to the last unit.
fn share(sum: i64, peers: usize, me: Peer) -> i64 {
    let peers = peers as i64;
    sum.div_euclid(peers) + i64::from((me as i64) < sum.rem_euclid(peers))
}

/// A descent whose averagings are sums on a ring.
#[derive(Debug, Clone)]
pub struct Summed(pub Descent);

/// A descent whose averagings are gossip on a grid.
#[derive(Debug, Clone)]
pub struct Gossiped(pub Descent);

impl Priced for Descent {
    fn observers(&self) -> Vec<Observer> {
        self.company.observers()
    }

    fn cost(&self, declared: &[Observer]) -> Result<Cost> {
        let release = Release::gaussian(self.task.sensitivity(), self.sigma);
        let releases = vec![(release, self.iterations as u64)];
        self.company.cost(declared, (Unit::User, releases), |observer| self.price(observer))
    }

    fn forecast(&self) -> Result<Forecast> {
        let plan = self.plan(self.company.me)?;
        let rounds = plan.rounds();
        let messages = (0..rounds).map(|round| plan.row(round).to.len() as u64).sum();
        Ok(Forecast {
            rounds,
            messages,
            bytes: messages * (130 + 10 * self.task.width as u64),
            deviation: None,
            exact: self.is_on_ring(),
            sigma: self.sigma,
        })
    }

    fn links(&self) -> Result<Vec<Vec<Peer>>> {
        (0..self.company.peers()).map(|peer| Ok(neighbours(self.plan(peer)?.as_ref()))).collect()
    }

    fn longest(&self) -> usize {
        64 + 8 * self.task.width
    }

    fn called(&self) -> String {
        let how = match &self.way {
            Way::Sums { keys: Some(_), .. } => "sums in a butterfly, masked",
            Way::Sums { .. } => "sums in a butterfly",
            Way::Gossip(_) => "gossip",
        };
        format!("{} steps of descent, each with {how}", self.iterations)
    }

    fn guarantee(&self, observer: &Observer, price: &Price) -> Result<Option<Guarantee>> {
        let (tapper, limit) = match &self.way {
            Way::Sums { keys: Some(_), .. } => {
                (Adversary::WireTapperWithAny(self.colluders), limits::SECRETS)
            }
            _ => (Adversary::WireTapper, limits::RESULTS),
        };
        Ok(self.company.guarantee(
            observer,
            price,
            Unit::User,
            (tapper, &[limit, limits::COUNTS, limits::OWN_PROGRAM]),
        ))
    }
}

/// Whom a peer exchanges messages with.
pub(crate) fn neighbours(plan: &dyn Plan) -> Vec<Peer> {
    let heard = |round: usize| {
        let row = plan.row(round);
        row.from.iter().map(|(peer, _)| *peer).chain(row.to.iter().copied()).collect::<Vec<_>>()
    };
    (0..plan.rounds()).flat_map(heard).collect::<BTreeSet<Peer>>().into_iter().collect()
}

crate::part::priced_as!(Summed, Gossiped);

impl Part for Summed {
    type Machine = Averager<Residues, InTurn<Butterfly>>;
    type Noise = OnRing;

    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>> {
        let Descent { company, way, iterations, .. } = &self.0;
        let Way::Sums { positions, keys } = way else {
            return Err(Error::parameter("method", "gossip", "its numbers are on a grid"));
        };
        company.check_key(&ledger)?;
        let (ring, me) = (self.0.ring()?, company.me);
        let mut secrets = Vec::new();
        for other in keys.iter().flat_map(|keys| keys.neighbors(me)) {
            let other = *other as Peer;
            secrets.push((other, ledger.key().secret_with(&company.roster[other], company.run)?));
        }
        let cover = Cover::new(ring.clone(), me, secrets, None);
        let plan = self.0.butterflies(positions, me)?;
        let most = plan.rounds() as u64;
        let terms = company.terms(holding.named(), neighbours(&plan), (self.longest(), most));
        let start = Residues::new(vec![0; self.0.task.width], ring.agreed().bits);
        let machine = Averager::descending(start, *iterations, plan, self.0.noising(), Vec::new());
        Host::open(ledger, terms, machine, OnRing::deployed(cover, ring.agreed().sigma)?)
    }

    fn begin(&self) -> Option<Start> {
        Some(Start)
    }

    fn steps(&self, holding: &Holding) -> Result<Steps<Residues>> {
        let part = self.0.clone();
        let (bits, mut gradients) = (part.ring()?.agreed().bits, part.task.gradients(holding)?);
        Ok(Box::new(move |step, _, value| {
            let (peers, me) = (part.company.peers(), part.company.me);
            let point = part.model(value);
            let moved = part.task.private(gradients.as_mut(), step, &point)?;
            let most = part.reach.saturating_mul(peers as i64);
            let sums = value.centred().map(|sum| {
                let kept = (sum as f64 * part.task.kept()).round_ties_even();
                share((kept as i64).clamp(-most, most), peers, me)
            });
            *value = Residues::new(sums.zip(moved).map(|(sum, moved)| sum + moved).collect(), bits);
            Ok(())
        }))
    }

    fn stands(&self, machine: &Self::Machine) -> Result<Stands> {
        stands(machine, |sum| Ok(self.0.model(sum)))
    }

    fn missing(note: &Note) -> Vec<Peer> {
        missing(note)
    }
}

impl Part for Gossiped {
    type Machine = Averager<Vec<f64>, InTurn<public::Part>>;
    type Noise = OnGrid;

    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>> {
        let Descent { company, task, way, iterations, .. } = &self.0;
        let Way::Gossip(scheme) = way else {
            return Err(Error::parameter("method", "butterfly", "its numbers are on a ring"));
        };
        company.check_key(&ledger)?;
        let plan = self.0.mixing(scheme, company.me)?;
        let most = plan.rounds() as u64;
        let terms = company.terms(holding.named(), neighbours(&plan), (self.longest(), most));
        let gammas = scheme.gamma()?.into_iter().collect();
        let machine =
            Averager::descending(vec![0.0; task.width], *iterations, plan, self.0.noising(), gammas);
        Host::open(ledger, terms, machine, OnGrid::deployed(task.grid)?)
    }

    fn begin(&self) -> Option<Start> {
        Some(Start)
    }

    fn steps(&self, holding: &Holding) -> Result<Steps<Vec<f64>>> {
        let (task, reach) = (self.0.task.clone(), self.0.reach);
        let mut gradients = task.gradients(holding)?;
        Ok(Box::new(move |step, _, value| {
            let point: Vec<f64> = reached(task.grid, value, reach);
            let moved = task.private(gradients.as_mut(), step, &point)?;
            let kept = task.kept();
            let known = within(task.grid, point.iter().map(|x| kept * x), reach);
            *value =
                known.into_iter().zip(moved).map(|(known, moved)| task.grid.value(known + moved)).collect();
            Ok(())
        }))
    }

    fn stands(&self, machine: &Self::Machine) -> Result<Stands> {
        stands(machine, |value| Ok(value.clone()))
    }

    fn missing(note: &Note) -> Vec<Peer> {
        missing(note)
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_add_up() {
        for sum in [-1_000_003i64, -1, 0, 1, 5, 1 << 40] {
            for peers in 1..9 {
                assert_eq!((0..peers).map(|me| share(sum, peers, me)).sum::<i64>(), sum);
            }
        }
    }
}
