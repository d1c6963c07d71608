//! Who takes part in a run, seen from one of them: what every protocol needs to state its prices.

use sottovoce_privacy::{Adjacency, Adversary, Guarantee, Standing, Unit, limits};
use sottovoce_protocol::{Peer, Release};

use crate::error::require;
use crate::{Agreement, Cost, Hash, Ledger, Name, Observer, Price, Result, Terms};

/// Everybody, and which of them this is.
#[derive(Debug, Clone)]
pub(crate) struct Company {
    /// The hash of what was agreed on.
    pub(crate) run: Hash,
    /// Everybody's key.
    pub(crate) roster: Vec<Name>,
    /// This one.
    pub(crate) me: Peer,
    coalitions: Vec<Vec<Peer>>,
}

impl Company {
    pub(crate) fn new(agreement: &Agreement, me: Peer) -> Result<Self> {
        let roster = agreement.roster()?;
        require(me < roster.len(), "peer", me, "it is not among those who agreed")?;
        let coalition = |names: &Vec<String>| names.iter().map(|name| agreement.number(name)).collect();
        let coalitions = agreement.coalitions.iter().map(coalition).collect::<Result<_>>()?;
        Ok(Self { run: agreement.hash()?, roster, me, coalitions })
    }

    /// How many there are.
    pub(crate) fn peers(&self) -> usize {
        self.roster.len()
    }

    /// From whom something is hidden: see [`Priced::observers`](crate::Priced::observers).
    pub(crate) fn observers(&self) -> Vec<Observer> {
        let others = (0..self.peers()).filter(|&peer| peer != self.me);
        let others = others.map(|peer| Observer::Peer(self.roster[peer]));
        let foreign = self.coalitions.iter().filter(|members| !members.contains(&self.me));
        let pooled = foreign
            .map(|members| Observer::coalition(members.iter().map(|&peer| self.roster[peer]).collect()));
        others.chain(pooled).chain([Observer::WireTapper]).collect()
    }

    /// Who of an observer takes part; all do of one who sees every message. Nobody learns anything of a run that it has no part in.
    pub(crate) fn members(&self, observer: &Observer) -> Vec<Peer> {
        let number = |name: &Name| self.roster.iter().position(|known| known == name);
        match observer {
            Observer::Peer(name) => number(name).into_iter().collect(),
            Observer::Coalition(names) => names.iter().filter_map(number).collect(),
            Observer::WireTapper => (0..self.peers()).collect(),
        }
    }

    /// An observer as the accountant knows it, and who sees every message as `tapper`; none where it takes no part.
    pub(crate) fn adversary(&self, observer: &Observer, tapper: Adversary) -> Option<Adversary> {
        let members = self.members(observer);
        match (observer, &members[..]) {
            (Observer::WireTapper, _) => Some(tapper),
            (_, []) => None,
            (_, [one]) => Some(Adversary::Peer(*one)),
            _ => Some(Adversary::Coalition(members)),
        }
    }

    /// What is promised towards an observer at this price, and where it ends; none where it takes no part. Prices of integers under exact noise: lies, losses and rounding are covered.
    pub(crate) fn guarantee(
        &self,
        observer: &Observer,
        price: &Price,
        unit: Unit,
        (tapper, more): (Adversary, &[&str]),
    ) -> Option<Guarantee> {
        let (adversary, loss) = (self.adversary(observer, tapper)?, price.loss.clone()?);
        let always = [
            limits::TIMING,
            limits::REFUSALS,
            limits::TUNING,
            limits::REPETITION,
            limits::CORRELATION,
            limits::BOUNDS,
        ];
        let not_covered = limits::list(&[&always[..], more].concat());
        let (adjacency, standing) = (Adjacency::Replace, Standing::Proven);
        Some(Guarantee { adversary, unit, adjacency, loss, standing, not_covered })
    }

    /// What these releases cost, all together, towards everybody who takes part and all of these. Nobody who has no part in it learns anything.
    pub(crate) fn cost(
        &self,
        declared: &[Observer],
        (unit, releases): (Unit, Vec<(Release, u64)>),
        price: impl Fn(&Observer) -> Result<Price>,
    ) -> Result<Cost> {
        let own = self.observers();
        let others = declared.iter().filter(|observer| !own.contains(observer)).cloned();
        let all: Vec<Observer> = own.iter().cloned().chain(others).collect();
        let one = |observer: Observer| {
            let price =
                if self.members(&observer).is_empty() { Price::chance(0.0) } else { price(&observer)? };
            Ok((observer, price))
        };
        let prices = all.into_iter().map(one).collect::<Result<_>>()?;
        Ok(Cost { adjacency: Adjacency::Replace, unit, releases, prices })
    }

    /// Refuses the ledger of somebody else.
    pub(crate) fn check_key(&self, ledger: &Ledger) -> Result<()> {
        let remedy = "it belongs to another peer of the run than this part does";
        require(ledger.name() == self.roster[self.me], "ledger", ledger.name(), remedy)
    }

    /// What a host has to know: neighbours, bytes of the longest message, and how many of them each neighbour may send.
    pub(crate) fn terms(
        &self,
        (label, data): (&str, Hash),
        neighbours: Vec<Peer>,
        (longest, most): (usize, u64),
    ) -> Terms {
        let label = label.to_owned();
        Terms { run: self.run, roster: self.roster.clone(), neighbours, label, data, longest, most }
    }
}
