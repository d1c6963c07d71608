//! From an agreement to a peer that averages: its machine, its noise, and what everybody could overhear of it.
//!
//! | what was agreed on | machine | noise | priced by |
//! | --- | --- | --- | --- |
//! | butterfly with masks | sums of integers on a ring | shares, and masks of pairs | `docs/theorems/ring.md` |
//! | butterfly | sums of integers | on the grid | `docs/theorems/grid.md`, Theorem 1 |
//! | butterfly with noise that cancels | sums of integers on a ring | on the grid, and of pairs | the same |
//! | gossip with relay noise | numbers, rounded before they are said | on the grid, each time | the same, Theorem 2 |
//! | anything else | numbers | on the grid, at first | local privacy |

use sottovoce::experiment::{Averaging, Place, Range, check_sensitivity};
use sottovoce::plan::Sums;
use sottovoce_privacy::noise::exact::{DiscreteGaussian, Grid};
use sottovoce_privacy::{Adversary, Guarantee, Unit, limits};
use sottovoce_protocol::averaging::{Averager, Butterfly, Noising, Note, Plan, Round, Start};
use sottovoce_protocol::public::{self, Scheme};
use sottovoce_protocol::ring::{Agreed, Cover, Residues, Ring};
use sottovoce_protocol::{FAR, Peer, Release, Value};
use sottovoce_views::door::{Setting, account};
use sottovoce_views::exact::Results;
use sottovoce_views::grid::{Gridded, Route};
use sottovoce_views::ring::Masked;

use crate::company::Company;
use crate::descent::neighbours;
use crate::error::require;
use crate::part::{Course, Forecast, Holding, Opened, Part, Priced, Role, Stands};
use crate::transcript::rounds;
use crate::{
    Agreement, Cost, Due, Error, Hash, Host, Ledger, Observer, OnGrid, OnRing, Price, Record, Result, Terms,
    price,
};

/// Rows may miss 1 by 1e-12, and sums are rounded: honest values leave their range by less than this share.
const SLACK: f64 = 2e-6;

type RingPeer = Averager<Residues, Box<dyn Plan>>;
type GridPeer = Averager<Vec<f64>, public::Part>;

/// A peer whose numbers are on a ring.
pub type OnRingHost = Host<RingPeer, OnRing>;
/// A peer whose numbers are on a grid.
pub type OnGridHost = Host<GridPeer, OnGrid>;

/// An averaging as one of its peers takes part in it.
#[derive(Debug, Clone)]
pub struct Prepared {
    company: Company,
    experiment: Averaging,
    setting: Setting,
    grid: Grid,
    width: usize,
    /// No number is larger, whatever its sign.
    farthest: f64,
    sensitivity: f64,
    sigma: f64,
}

impl Prepared {
    /// The part of a peer in what was agreed on.
    pub fn new(agreement: &Agreement, me: Peer) -> Result<Self> {
        let mut experiment = agreement.averaging()?;
        let (graph, width) = (agreement.graph()?, agreement.width);
        let company = Company::new(agreement, me)?;
        if experiment.noise.masks {
            experiment.noise.grid = Some(agreement.grid);
        }
        let place =
            Place { graph, schedule: None, sha256: None, notes: Vec::new(), name: agreement.name.clone() };
        let mut setting = experiment.setting(&place, 0)?;
        let butterfly = matches!(setting.scheme, Scheme::Butterfly { .. });
        let remedy = "noise of pairs vanishes from sums of integers, and nothing is proven of it in mixtures; give protocol.method = \"butterfly\", or take masks there, which hide more";
        require(butterfly || experiment.noise.cancel.is_none(), "cancel", "given", remedy)?;
        setting.cancelling = experiment.noise.cancelling(std::path::Path::new(""), &place.graph, 0)?;
        let remedy = "sums of integers take no noise on messages; leave it out";
        require(!butterfly || setting.relay_noise == 0.0, "relay-noise", setting.relay_noise, remedy)?;
        let bound = experiment.values.sensitivity(width);
        let sensitivity = experiment.noise.sensitivity.unwrap_or(bound);
        check_sensitivity(sensitivity, bound)?;
        let range = experiment.values.range;
        let farthest = if range.low.abs() > range.high.abs() { range.low.abs() } else { range.high.abs() };
        let tapper = experiment.tapper(&[]);
        let sums = Sums { width, range: farthest, sensitivity };
        setting.masks = experiment.masks((std::path::Path::new(""), &place.graph, 0), sums, &tapper)?;
        let sigma = experiment.sigma(&setting, &tapper, sensitivity, None, &|_| ())?;
        let grid = Grid::new(agreement.grid)?;
        let pairs = setting.cancelling.as_ref().map_or(0.0, |pairs| pairs.kappa() * sigma);
        for scale in [sigma, setting.relay_noise * sigma, pairs].into_iter().filter(|scale| *scale > 0.0) {
            let remedy = format!("noise of {scale} has more steps than can be drawn; take a coarser grid");
            let drawn = DiscreteGaussian::at_least(grid.units_of(scale)).is_ok();
            require(drawn, "grid", agreement.grid, remedy)?;
        }
        Ok(Self { company, experiment, setting, grid, width, farthest, sensitivity, sigma })
    }

    /// Whether its numbers are on a ring.
    pub fn is_on_ring(&self) -> bool {
        matches!(self.setting.scheme, Scheme::Butterfly { .. })
    }

    /// What one observer can learn at the most.
    fn price(&self, observer: &Observer) -> Result<Price> {
        let tapper = self.experiment.tapper(&[]);
        let Some(adversary) = self.company.adversary(observer, tapper) else { return Ok(Price::chance(0.0)) };
        if let Some(masks) = &self.setting.masks {
            let masked = Masked::towards(&masks.keys, &adversary)?;
            return Price::concentrated(price::shares(
                &masks.ring,
                masked.group(self.company.me),
                self.sensitivity,
            )?);
        }
        let gridded = Gridded {
            grid: self.grid,
            width: self.width,
            peers: self.company.roster.len(),
            sensitivity: self.sensitivity,
            sigma: self.sigma,
        };
        let leak = match (observer, &self.setting.cancelling) {
            (Observer::WireTapper, None) => 1.0,
            (_, Some(_)) => self.leak(&seeing_all(adversary))?,
            (_, None) => self.leak(&adversary)?,
        };
        Ok(Price { loss: Some(gridded.loss(self.route()?, leak)?), delta: 0.0 })
    }

    /// The share of local privacy's squared loss, if noises were real numbers.
    fn leak(&self, adversary: &Adversary) -> Result<f64> {
        let leakage = account(&self.setting, adversary)?.leakage;
        let leak = leakage.losses[self.company.me] + leakage.rounding;
        Ok(if leak < 1.0 { leak } else { 1.0 })
    }

    fn route(&self) -> Result<Route> {
        Ok(match (&self.setting.scheme, &self.setting.cancelling) {
            (Scheme::Butterfly { .. }, Some(noise)) => {
                Route::Pairs { pairs: noise.keys().edge_count(), kappa: noise.kappa() }
            }
            (Scheme::Butterfly { .. }, None) => Route::Sums,
            // Results that are published carry no fresh noise: then what is first said counts as seen.
            (Scheme::Gossip { accelerated: false, rounds, .. }, _)
                if self.setting.relay_noise > 0.0 && self.setting.results == Results::Kept =>
            {
                let tau = self.noising().relay;
                let part = &self.setting.scheme.parts()?[self.company.me];
                let terms = (0..*rounds).map(|round| part.row(round).from.len() + 1).max().unwrap_or(1);
                let range = (self.range() + FAR * tau * (*rounds + 1) as f64) * (1.0 + SLACK);
                // Rows of others may be longer: nobody has more neighbours than there are peers.
                let terms = terms.max(self.company.roster.len()); // whole numbers
                Route::Relay { tau, rounds: *rounds, terms, range }
            }
            _ => Route::Local,
        })
    }

    /// No first value is larger, with its noise.
    fn range(&self) -> f64 {
        self.farthest + FAR * self.sigma
    }

    fn noising(&self) -> Noising {
        let relay = if self.is_on_ring() { 0.0 } else { self.setting.relay_noise * self.sigma };
        Noising { sensitivity: self.sensitivity, local: self.sigma, relay }
    }

    /// The ring of a butterfly: that of its masks, or one on which everybody's noise is its own.
    fn ring(&self) -> Result<Ring> {
        if let Some(masks) = &self.setting.masks {
            return Ok(masks.ring.clone());
        }
        let (peers, width) = (self.company.roster.len(), self.width);
        let agreed = Agreed {
            peers,
            width,
            range: self.farthest,
            sigma: self.sigma,
            step: self.grid.step(),
            bits: 64,
        };
        Ok(Ring::smallest(agreed).map_err(sottovoce::Error::from)?)
    }

    /// What a peer does in each round.
    fn plan(&self, peer: Peer) -> Result<Box<dyn Plan>> {
        Ok(match &self.setting.scheme {
            Scheme::Butterfly { positions } => Box::new(Butterfly::sums(positions, peer)),
            scheme => Box::new(scheme.parts()?.swap_remove(peer)),
        })
    }

    fn terms(&self, plan: &dyn Plan, label: &str, data: Hash) -> Terms {
        self.company.terms((label, data), neighbours(plan), (self.longest(), plan.rounds() as u64))
    }

    fn own(&self, holding: &Holding) -> Result<Vec<f64>> {
        own(holding, self.width, self.experiment.values.range)
    }

    fn clipped(&self, values: &[f64]) -> Result<Vec<f64>> {
        clipped(values, self.width, self.experiment.values.range)
    }

    /// Takes part with these numbers, on a ring.
    #[allow(clippy::type_complexity)]
    pub fn on_ring(
        &self,
        ledger: Ledger,
        values: &[f64],
        label: &str,
        data: Hash,
    ) -> Result<(OnRingHost, Vec<Due<Round, Note, Residues>>)> {
        require(self.is_on_ring(), "protocol", "not a butterfly", "its numbers are on a grid")?;
        self.company.check_key(&ledger)?;
        let ring = self.ring()?;
        let mut secrets = Vec::new();
        let (masks, noise) = (&self.setting.masks, &self.setting.cancelling);
        let keys = masks.as_ref().map(|masks| &masks.keys).or(noise.as_ref().map(|noise| noise.keys()));
        for &other in keys.map_or(&[][..], |keys| keys.neighbors(self.company.me)) {
            let other = other as Peer;
            secrets.push((other, ledger.key().secret_with(&self.company.roster[other], self.company.run)?));
        }
        let mut cover = Cover::new(ring.clone(), self.company.me, secrets, None);
        if let Some(noise) = noise {
            let steps = self.grid.units_of(noise.kappa() * self.sigma);
            cover = cover.loud(DiscreteGaussian::at_least(steps)?);
        }
        let terms = self.terms(self.plan(self.company.me)?.as_ref(), label, data);
        let machine = self.ring_peer(&self.clipped(values)?)?;
        Host::open(ledger, terms, machine, OnRing::deployed(cover, ring.agreed().sigma)?)
    }

    /// Takes part with these numbers, on a grid.
    #[allow(clippy::type_complexity)]
    pub fn on_grid(
        &self,
        ledger: Ledger,
        values: &[f64],
        label: &str,
        data: Hash,
    ) -> Result<(OnGridHost, Vec<Due<Round, Note, Vec<f64>>>)> {
        self.company.check_key(&ledger)?;
        let terms = self.terms(self.plan(self.company.me)?.as_ref(), label, data);
        let machine = self.grid_peer(self.clipped(values)?)?;
        Host::open(ledger, terms, machine, OnGrid::deployed(self.grid)?)
    }

    /// The machine, on a ring.
    fn ring_peer(&self, values: &[f64]) -> Result<RingPeer> {
        let value = self.ring()?.encode(values).map_err(sottovoce::Error::from)?;
        Ok(Averager::new(value, self.plan(self.company.me)?, self.noising(), None))
    }

    /// The machine, on a grid.
    fn grid_peer(&self, values: Vec<f64>) -> Result<GridPeer> {
        let scheme = &self.setting.scheme;
        let part = scheme.parts()?.swap_remove(self.company.me);
        let plain = scheme.peer(values, part, self.noising(), scheme.gamma()?);
        // Rows that are not convex have no range, and are priced as local.
        Ok(match self.route()? {
            Route::Relay { .. } => plain.within(self.range()).ok_or_else(|| {
                Error::parameter(
                    "weights",
                    "not convex",
                    "relay noise hides mixtures only; take other weights",
                )
            })?,
            _ => plain,
        })
    }

    /// The machine of a peer whose values are not known, on a ring: for a replay, in which all that is said is.
    pub(crate) fn still_on_ring(&self) -> Result<RingPeer> {
        self.ring_peer(&vec![0.0; self.width])
    }

    /// The same, on a grid.
    pub(crate) fn still_on_grid(&self) -> Result<GridPeer> {
        self.grid_peer(vec![0.0; self.width])
    }

    /// The mean, from a sum on the ring.
    pub fn mean(&self, sum: &Residues) -> Result<Vec<f64>> {
        Ok(self.ring()?.mean(sum))
    }
}

impl Priced for Prepared {
    fn observers(&self) -> Vec<Observer> {
        self.company.observers()
    }

    fn cost(&self, declared: &[Observer]) -> Result<Cost> {
        let noising = self.noising();
        let release = Release::gaussian(noising.sensitivity, noising.local);
        let releases = vec![(release, 1)];
        self.company.cost(declared, (Unit::User, releases), |observer| self.price(observer))
    }

    fn forecast(&self) -> Result<Forecast> {
        let peers = self.company.roster.len() as f64;
        let parts = self.setting.scheme.parts()?;
        let rounds = self.setting.scheme.rounds();
        let sent = (0..rounds).map(|round| parts[self.company.me].row(round).to.len() as u64).sum();
        Ok(Forecast {
            rounds,
            messages: sent,
            bytes: sent * (130 + 10 * self.width as u64),
            deviation: Some(self.sigma / peers.sqrt()),
            exact: self.is_on_ring(),
            sigma: self.sigma,
        })
    }

    fn links(&self) -> Result<Vec<Vec<Peer>>> {
        (0..self.company.roster.len()).map(|peer| Ok(neighbours(self.plan(peer)?.as_ref()))).collect()
    }

    fn longest(&self) -> usize {
        64 + 8 * self.width
    }

    fn called(&self) -> String {
        let method = match &self.setting.scheme {
            Scheme::Butterfly { .. } if self.setting.masks.is_some() => "sums in a butterfly, masked",
            Scheme::Butterfly { .. } if self.setting.cancelling.is_some() => {
                "sums in a butterfly, with noise of pairs that cancels"
            }
            Scheme::Butterfly { .. } => "sums in a butterfly",
            Scheme::Gossip { accelerated: true, .. } => "accelerated gossip",
            Scheme::Gossip { .. } if self.setting.relay_noise > 0.0 => "gossip with relay noise",
            _ => "gossip",
        };
        format!("averaging by {method}")
    }

    fn guarantee(&self, observer: &Observer, price: &Price) -> Result<Option<Guarantee>> {
        // Rounds are strict, and noise is exact: peers who deviate, lost messages and rounding are covered.
        let secrets = self.setting.masks.is_some() || self.setting.cancelling.is_some();
        let more: &[&str] = match (secrets, self.setting.results) {
            (true, _) => &[limits::SECRETS],
            (false, Results::Kept) => &[limits::RESULTS],
            (false, _) => &[],
        };
        let tapper = self.experiment.tapper(&[]);
        Ok(self.company.guarantee(observer, price, Unit::User, (tapper, more)))
    }

    fn label(&self, bytes: &[u8]) -> Option<String> {
        rounds::label(bytes).map(|round| round.to_string())
    }

    fn note(&self, bytes: &[u8], names: &[String]) -> Option<String> {
        rounds::note(bytes).map(|note| rounds::told(&note, names))
    }

    fn judge(&self, records: &[Record], names: &[String]) -> Result<Option<Course>> {
        let plans = (0..self.company.roster.len()).map(|peer| self.plan(peer)).collect::<Result<Vec<_>>>()?;
        Ok(Some(rounds::follow(&plans, self.company.me, self.noising().relay > 0.0, names, records)))
    }
}

/// Whoever sees all that is first said, and knows what these peers know: at least what they can learn.
fn seeing_all(adversary: Adversary) -> Adversary {
    match adversary {
        Adversary::Peer(one) => Adversary::WireTapperWith(vec![one]),
        Adversary::Coalition(several) => Adversary::WireTapperWith(several),
        other => other,
    }
}

/// The numbers of a peer, within the range; refuses what is no number, and too few or many of them.
pub(crate) fn clipped(values: &[f64], width: usize, range: Range) -> Result<Vec<f64>> {
    let remedy = format!("{width} were agreed on");
    require(values.len() == width, "values", format_args!("{} numbers", values.len()), remedy)?;
    let wrong = values.iter().find(|value| !value.is_finite());
    require(wrong.is_none(), "values", format_args!("{wrong:?}"), "give finite numbers")?;
    Ok(values.iter().map(|value| value.clamp(range.low, range.high)).collect())
}

/// The same of what a peer holds; its owner is told how many were not within it. A function that nobody would ask is refused.
pub(crate) fn own(holding: &Holding, width: usize, range: Range) -> Result<Vec<f64>> {
    holding.check_nothing_learned()?;
    let values = holding.values()?;
    let within = clipped(&values, width, range)?;
    let moved = values.iter().zip(&within).filter(|(a, b)| a != b).count();
    holding.note_clipped(moved, width, &format!("{}:{}", range.low, range.high));
    Ok(within)
}

/// The part of a peer, on a ring or on a grid.
pub(crate) fn role(agreement: &Agreement, me: Peer) -> Result<Box<dyn Role>> {
    let part = Prepared::new(agreement, me)?;
    Ok(if part.is_on_ring() { Box::new(Ringed(part)) } else { Box::new(Rounded(part)) })
}

/// A part whose numbers are on a ring.
#[derive(Debug, Clone)]
pub struct Ringed(pub Prepared);

/// A part whose numbers are on a grid.
#[derive(Debug, Clone)]
pub struct Rounded(pub Prepared);

crate::part::priced_as!(Ringed, Rounded);

/// How an averaging stands, with the result that this function reads off.
pub(crate) fn stands<V: Value, P: Plan>(
    machine: &Averager<V, P>,
    result: impl FnOnce(&V) -> Result<Vec<f64>>,
) -> Result<Stands> {
    let round = machine.round();
    Ok(match (machine.is_over(), round == machine.rounds()) {
        (true, true) => Stands::Done(result(machine.value())?),
        (true, false) => Stands::Halted { round, missing: Vec::new() },
        (false, _) => Stands::Going { round, rounds: machine.rounds() },
    })
}

/// Who was not heard, if that is what happened.
pub(crate) fn missing(note: &Note) -> Vec<Peer> {
    match note {
        Note::Silent { missing, .. } => missing.clone(),
        _ => Vec::new(),
    }
}

impl Part for Ringed {
    type Machine = Averager<Residues, Box<dyn Plan>>;
    type Noise = OnRing;

    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>> {
        self.0.on_ring(ledger, &self.0.own(holding)?, &holding.label, holding.data)
    }

    fn read(&self, holding: &Holding) -> Result<()> {
        self.0.own(holding).map(drop)
    }

    fn begin(&self) -> Option<Start> {
        Some(Start)
    }

    fn ahead(&self, noise: &mut OnRing, begun: bool) -> bool {
        !begun && noise.ahead()
    }

    fn stands(&self, machine: &Self::Machine) -> Result<Stands> {
        stands(machine, |sum| self.0.mean(sum))
    }

    fn missing(note: &Note) -> Vec<Peer> {
        missing(note)
    }
}

impl Part for Rounded {
    type Machine = Averager<Vec<f64>, public::Part>;
    type Noise = OnGrid;

    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>> {
        self.0.on_grid(ledger, &self.0.own(holding)?, &holding.label, holding.data)
    }

    fn read(&self, holding: &Holding) -> Result<()> {
        self.0.own(holding).map(drop)
    }

    fn begin(&self) -> Option<Start> {
        Some(Start)
    }

    fn ahead(&self, noise: &mut OnGrid, begun: bool) -> bool {
        let Noising { local, relay, .. } = self.0.noising();
        let own = !begun && noise.some_ahead(local, self.0.width);
        own || relay > 0.0 && noise.some_ahead(relay, self.0.width)
    }

    fn stands(&self, machine: &Self::Machine) -> Result<Stands> {
        stands(machine, |value| Ok(value.clone()))
    }

    fn missing(note: &Note) -> Vec<Peer> {
        missing(note)
    }
}
