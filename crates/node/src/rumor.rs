//! From an agreement to a peer who passes rumours on, and may begin one.
//!
//! Who began is what is hidden. It costs whoever begins a chance that each peer, and each coalition, finds out (`docs/theorems/rumor-source.md`, Theorem D: Poisson clocks, real delays, observers
//! with clocks who follow the protocol); someone who sees every message sees who speaks first, and is paid with all there is. Who waits pays nothing. A telling is one message that
//! is stored before it leaves and arrives once, so that none has to be acknowledged. After the agreed time all stop, whatever they know.

use std::time::Duration;

use sottovoce::experiment::{Clocks, Rumor as Asked};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_privacy::{Guarantee, Unit};
use sottovoce_protocol::Peer;
use sottovoce_protocol::rumor::{Begin, Clock, Muting, RumorRules, Start, Teller};
use sottovoce_views::rumor::Rumor;

use crate::company::Company;
use crate::error::require;
use crate::part::{Covers, Forecast, Holding, Opened, Part, Priced, Role, Stands};
use crate::{Agreement, Cost, Error, Hash, Host, Ledger, Observer, OnGrid, Price, Result};

/// Bytes of the longest text.
const LONGEST: usize = 1 << 12;

/// A rumour as one of its peers takes part in it.
#[derive(Debug, Clone)]
pub struct Telling {
    company: Company,
    muting: Muting,
    /// By how much arrivals may differ, in mean times between two tellings.
    apart: f64,
    /// What is said here, if anything is.
    says: Option<String>,
    grid: Grid,
    /// Tellings of a peer that stays active, on average.
    tellings: f64,
    lasts: Duration,
}

/// The part of a peer.
pub(crate) fn role(
    agreement: &Agreement,
    asked: &Asked,
    text: Option<&str>,
    me: Peer,
) -> Result<Box<dyn Role>> {
    Ok(Box::new(Telling::new(agreement, asked, text, me)?))
}

impl Telling {
    /// The part of a peer in what was agreed on; it begins a rumour if it has a text.
    pub fn new(agreement: &Agreement, asked: &Asked, text: Option<&str>, me: Peer) -> Result<Self> {
        let company = Company::new(agreement, me)?;
        check(agreement, asked)?;
        let share = asked.muting.unwrap_or(0.0);
        let muting = Muting::new(share)
            .map_err(|_| Error::parameter("muting", share, "give a number from 0 to below 1/2"))?;
        let remedy = format!("give a text of 1 to {LONGEST} bytes");
        let fits = text.is_none_or(|text| (1..=LONGEST).contains(&text.len()));
        require(fits, "say", text.map_or(0, str::len), remedy)?;
        let lasts = agreement.lasting()?;
        Ok(Self {
            company,
            muting,
            apart: (agreement.answer + agreement.tick) / agreement.round,
            says: text.map(str::to_owned),
            grid: Grid::new(agreement.grid)?,
            tellings: (lasts.as_secs_f64() / agreement.round).ceil(),
            lasts,
        })
    }

    /// The chance that so many peers who pool what they hear find out who began.
    fn chance(&self, curious: usize) -> Result<f64> {
        let peers = self.company.peers();
        // Nobody is left to be taken for the source.
        if curious + 2 > peers {
            return Ok(1.0);
        }
        Ok(Rumor::new(peers, curious, self.muting.s())?.delayed_delta(self.apart))
    }

    fn price(&self, observer: &Observer) -> Result<Price> {
        match (&self.says, observer) {
            (None, _) => Ok(Price::chance(0.0)),
            (Some(_), Observer::WireTapper) => Ok(Price::chance(1.0)),
            (Some(_), _) => Ok(Price::chance(self.chance(self.company.members(observer).len())?)),
        }
    }

    fn others(&self, peer: Peer) -> Vec<Peer> {
        (0..self.company.peers()).filter(|&other| other != peer).collect()
    }
}

/// Refuses what is for simulations alone, and what nothing is proven of.
fn check(agreement: &Agreement, asked: &Asked) -> Result<()> {
    let peers = agreement.peers.len();
    let told = agreement.experiment.get("peers").and_then(toml::Value::as_integer);
    let remedy = format!("{peers} have agreed; leave it out");
    require(told.is_none_or(|told| told == peers as i64), "peers", asked.peers, remedy)?;
    let graph = agreement.graph()?;
    let remedy = "the source is hidden where everybody can tell everybody; give complete";
    require(graph.edge_count() == peers * (peers - 1) / 2, "edges", graph.edge_count(), remedy)?;
    let remedy = "rounds are counted from when a peer was told, and on a network with delays they would tell how far a rumour has come; leave it out, for Poisson clocks";
    require(asked.clocks != Some(Clocks::Rounds), "clocks", "rounds", remedy)?;
    let given = [
        ("curious", asked.curious.map(|count| count.to_string()), "every observer has a price of its own"),
        (
            "delta",
            asked.delta.map(|delta| delta.to_string()),
            "what it costs follows from `muting`, and from delays",
        ),
        ("drop", asked.drop.map(|drop| drop.to_string()), "the network is a real one"),
        ("churn", asked.churn.map(|churn| churn.to_string()), "the network is a real one"),
        ("acknowledge", asked.acknowledge.then(|| "true".to_owned()), "every message arrives once"),
        ("seeds", asked.seeds.map(|seeds| seeds.to_string()), "there is one run"),
    ];
    match given.into_iter().find_map(|(field, value, remedy)| Some((field, value?, remedy))) {
        Some((field, value, remedy)) => {
            Err(Error::parameter(field, value, format!("{remedy}; leave it out")))
        }
        None => Ok(()),
    }
}

impl Priced for Telling {
    fn observers(&self) -> Vec<Observer> {
        self.company.observers()
    }

    fn cost(&self, declared: &[Observer]) -> Result<Cost> {
        self.company.cost(declared, (Unit::User, Vec::new()), |observer| self.price(observer))
    }

    fn forecast(&self) -> Result<Forecast> {
        let messages = self.tellings as u64;
        Ok(Forecast { rounds: 1, messages, bytes: messages * 200, deviation: None, exact: false, sigma: 0.0 })
    }

    fn links(&self) -> Result<Vec<Vec<Peer>>> {
        Ok((0..self.company.peers()).map(|peer| self.others(peer)).collect())
    }

    fn longest(&self) -> usize {
        64 + LONGEST
    }

    fn called(&self) -> String {
        "a rumour whose source is hidden".to_owned()
    }

    fn covers(&self) -> Covers {
        Covers { malicious: false, vanishing: false }
    }

    fn may_be_shown(&self) -> Result<()> {
        let remedy = "what was debited tells who began it, so that a transcript of it is for nobody; keep it";
        Err(Error::parameter("transcript", self.called(), remedy))
    }

    fn guarantee(&self, _: &Observer, _: &Price) -> Result<Option<Guarantee>> {
        self.may_be_shown().map(|()| None)
    }

    fn holds(&self) -> &'static str {
        "Who began is hidden from peers who follow the protocol, as long as all messages arrive within the agreed time of an answer (those by which everybody begins, too) and no peer is restarted; nothing of it is hidden from someone who sees every message. Who waits pays nothing."
    }

    fn lasts(&self) -> Option<Duration> {
        Some(self.lasts)
    }
}

impl Part for Telling {
    type Machine = Teller;
    type Noise = OnGrid;

    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>> {
        self.company.check_key(&ledger)?;
        let (me, peers) = (self.company.me, self.company.peers());
        // Everybody may have begun one, and be lucky with its clock.
        let most = (256.0 + 16.0 * self.tellings * peers as f64) as u64;
        let terms = self.company.terms(holding.named(), self.others(me), (self.longest(), most));
        let rules = RumorRules {
            muting: self.muting,
            clock: Clock::Poisson,
            start: Start::Alike,
            acknowledged: false,
        };
        Host::open(ledger, terms, Teller::in_crowd(me, peers, rules), OnGrid::deployed(self.grid)?)
    }

    /// The name of a rumour says nothing but its text.
    fn begin(&self) -> Option<Begin> {
        let text = self.says.as_ref()?;
        let hash = Hash::labelled("sottovoce rumour", &[&self.company.run.0, text.as_bytes()]);
        let mut id = [0; 8];
        id.copy_from_slice(&hash.0[..8]);
        Some(Begin { id: u64::from_le_bytes(id), payload: text.clone().into_bytes() })
    }

    fn stands(&self, machine: &Teller) -> Result<Stands> {
        let known = usize::from(machine.rumors().next().is_some());
        Ok(Stands::Going { round: known, rounds: 1 })
    }

    fn ends(&self, machine: &Teller) -> Result<Stands> {
        let text = |payload: &[u8]| String::from_utf8_lossy(payload).into_owned();
        Ok(Stands::Told(machine.rumors().map(|(_, payload)| text(payload)).collect()))
    }
}
