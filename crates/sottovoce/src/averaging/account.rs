//! Guarantees of an averaging, planned or past: towards a wire-tapper, every single peer, named observers.

use sottovoce_privacy::{Adversary, Gdp, Guarantee, Loss, limits};
use sottovoce_topology::Graph;
use sottovoce_views::door::{Overheard, Past, Setting, Source, account};
use sottovoce_views::exact::Leakage;
use sottovoce_views::ring::Masks;

use super::pairs::{Pairs, hops};
use crate::experiment::Ready;
use crate::experiment::graph::peer;
use crate::names::Names;
use crate::plan::losses::squared;
use crate::plan::{Class, Falling};
use crate::terms::Stated;
use crate::{Result, require};

/// Peers up to which every pair is accounted for.
const ALL_PAIRS: usize = 300;

/// All that is public of an averaging.
#[derive(Debug, Clone, PartialEq)]
pub struct Public {
    /// The graph, with the names of its peers.
    pub graph: Graph,
    /// Who mixes with whom, under which relay noise.
    pub setting: Setting,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// How far one person can move a peer's values.
    pub sensitivity: f64,
    /// Probability with which epsilons may fail.
    pub delta: f64,
    /// Peers who pool what they hear; none: each by itself.
    pub observers: Vec<usize>,
    /// So many peers, whoever they are, tell someone who sees every message all they know, where that is asked for.
    pub colluders: Option<usize>,
    /// Someone who sees every message, with those who help.
    pub tapper: Adversary,
    /// Bounds that fall with a public distance.
    pub falling: Option<Falling>,
}

impl From<&Ready> for Public {
    fn from(ready: &Ready) -> Self {
        Self {
            graph: ready.place.graph.clone(),
            setting: ready.setting.clone(),
            sigma: ready.sigma,
            sensitivity: ready.sensitivity,
            delta: ready.experiment.target.delta,
            observers: ready.observers.clone(),
            colluders: ready.experiment.adversary.colluders,
            tapper: ready.tapper.clone(),
            falling: ready.falling.clone(),
        }
    }
}

impl Public {
    /// The same with other observers, by name, and another delta, where they are given.
    pub fn asked(mut self, observers: &[String], delta: Option<f64>) -> Result<Self> {
        if !observers.is_empty() {
            let nodes = self.graph.nodes();
            let number = |name: &String| peer("observers", name, Some(&self.graph), nodes);
            self.observers = observers.iter().map(number).collect::<Result<_>>()?;
            self.observers.sort_unstable();
            self.observers.dedup();
            self.colluders = None;
            if self.shares_secrets() {
                self.tapper = Adversary::WireTapperWith(self.observers.clone());
            }
        }
        if let Some(delta) = delta {
            require(delta > 0.0 && delta < 1.0, "delta", delta, "give a number between 0 and 1")?;
            self.delta = delta;
        }
        Ok(self)
    }
}

impl Public {
    /// What a peer's own noise alone would cost it: local privacy.
    pub(super) fn local_epsilon(&self) -> Result<f64> {
        let loss = match &self.setting.masks {
            Some(Masks { ring, .. }) => {
                Loss::Shared { shares: ring.shares(1)?, moved: ring.moved(self.sensitivity)?, releases: 1 }
            }
            None => Loss::Gdp(Gdp::new(self.sensitivity / self.sigma)?),
        };
        Ok(loss.epsilon(self.delta)?.upper)
    }

    /// The same, and without what, where noise or masks that cancel hide more.
    pub(super) fn local(&self) -> Result<Option<Local>> {
        let without = match (&self.setting.cancelling, &self.setting.masks) {
            (None, None) => return Ok(None),
            (_, Some(_)) => "masks",
            (Some(_), None) => "noise that cancels",
        };
        Ok(Some(Local { epsilon: self.local_epsilon()?, without }))
    }

    /// Whether noise or masks of pairs cancel.
    pub(super) fn shares_secrets(&self) -> bool {
        self.setting.cancelling.is_some() || self.setting.masks.is_some()
    }

    /// Who attacks, and whether that one sees every message: noise that cancels is there for those who do. Of a coalition that may be anyone, the first peers.
    pub fn attackers(&self) -> (Vec<usize>, bool) {
        let tapped = self.shares_secrets();
        let who = match &self.tapper {
            Adversary::WireTapperWithAny(colluders) => (0..*colluders).collect(),
            _ if tapped || !self.observers.is_empty() => self.observers.clone(),
            _ => vec![0],
        };
        (who, tapped)
    }
}

/// A run that is planned, or over.
pub trait Judgeable: Overheard<Learnt = Leakage> {
    /// What its losses towards these observers are computed from.
    fn source(&self, observers: &[usize]) -> Source;

    /// Losses of all pairs; `done` hears of each observer.
    fn pairs(&self, plan: &Setting, done: &(dyn Fn(usize) + Sync)) -> Result<Pairs>;
}

impl Judgeable for Setting {
    fn source(&self, _: &[usize]) -> Source {
        Source::Planned
    }

    fn pairs(&self, plan: &Setting, done: &(dyn Fn(usize) + Sync)) -> Result<Pairs> {
        Pairs::planned(plan, done)
    }
}

impl Judgeable for Past {
    fn source(&self, observers: &[usize]) -> Source {
        Past::source(self, observers)
    }

    fn pairs(&self, plan: &Setting, done: &(dyn Fn(usize) + Sync)) -> Result<Pairs> {
        match Past::source(self, &[0]) {
            Source::Planned => Pairs::planned(plan, done),
            _ => Pairs::of(self, done),
        }
    }
}

/// What a peer's own noise alone would cost it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Local {
    pub(super) epsilon: f64,
    /// Without what.
    pub(super) without: &'static str,
}

/// How the line about whoever sees every message begins.
const TAPPED: &str = "towards someone who sees everything";

/// A run, with what everyone learns from it.
pub(super) struct Views<R> {
    pub(super) public: Public,
    pub(super) run: R,
    /// Hops of all pairs; empty where there are too many.
    pub(super) hops: Vec<Vec<u32>>,
    pub(super) own: Option<Pairs>,
}

impl<R: Judgeable> Views<R> {
    pub(super) fn new(public: Public, run: R, done: &(dyn Fn(usize) + Sync)) -> Result<Self> {
        let all = run.peers() <= ALL_PAIRS;
        let own = if all { Some(run.pairs(&public.setting, done)?) } else { None };
        let hops = if all { hops(&public.setting)? } else { Vec::new() };
        Ok(Self { public, run, hops, own })
    }

    /// The same peers with another plan, whose losses are known.
    pub(super) fn elsewhere(&self, setting: Setting, own: Pairs) -> Result<Views<Setting>> {
        let public = Public { setting: setting.clone(), ..self.public.clone() };
        Ok(Views { public, run: setting, hops: self.hops.clone(), own: Some(own) })
    }

    /// Those whose view is looked at first.
    pub(super) fn observers(&self) -> Vec<usize> {
        if self.public.observers.is_empty() { vec![0] } else { self.public.observers.clone() }
    }

    fn towards(&self, adversary: &Adversary, peer: usize) -> Result<Guarantee> {
        Ok(account(&self.run, adversary)?.guarantee(peer, self.public.sensitivity, self.public.sigma)?)
    }

    /// Towards the wire-tapper, the worst pairs by distance, and the named observers together.
    pub(super) fn guarantees(&self) -> Result<Vec<(String, Guarantee)>> {
        let (sensitivity, sigma) = (self.public.sensitivity, self.public.sigma);
        let name = |peer| self.public.graph.label(peer).to_string();
        let (worst, tapped) = account(&self.run, &self.public.tapper)?.worst(sensitivity, sigma)?;
        let about = match self.public.shares_secrets() {
            true => format!("{TAPPED} (the worst off, peer {})", name(worst)),
            false => TAPPED.to_owned(),
        };
        let mut all = vec![(about, tapped)];
        // Under masks nobody is far: everybody hears the same sum.
        let distances: &[u32] = if self.public.setting.masks.is_some() { &[1] } else { &[1, 2, 4] };
        for &least in distances {
            let worst = self.own.as_ref().and_then(|own| own.worst(&self.hops, least));
            let Some((v, u)) = worst else { continue };
            let about = format!(
                "the worst pair at distance {least} or more (peer {} towards peer {})",
                name(u),
                name(v)
            );
            all.push((about, self.towards(&Adversary::Peer(v), u)?));
        }
        for class in self.classes()? {
            let Some((v, u)) = class.observer.zip(class.peer) else { continue };
            let kept = if class.kept { "its bound kept" } else { "ITS BOUND NOT KEPT" };
            let about =
                format!("{} (the worst peer {} towards peer {}; {kept})", class.step, name(u), name(v));
            all.push((about, self.towards(&Adversary::Peer(v), u)?));
        }
        if !self.public.observers.is_empty() || self.own.is_none() {
            let observers = self.observers();
            let found = account(&self.run, &Adversary::Coalition(observers.clone()))?;
            let (peer, guarantee) = found.worst(sensitivity, sigma)?;
            let who = observers.iter().map(|&v| name(v)).collect::<Vec<_>>().join(", ");
            all.push((format!("the worst off towards {who} (peer {})", name(peer)), guarantee));
        }
        if self.public.falling.is_some() {
            all.iter_mut().for_each(|(_, one)| one.not_covered.push(limits::DISTANCES.to_owned()));
        }
        Ok(all)
    }

    /// What each class of distance got; nothing where there are too many pairs.
    pub(super) fn classes(&self) -> Result<Vec<Class>> {
        let (Some(falling), Some(own)) = (&self.public.falling, &self.own) else { return Ok(Vec::new()) };
        let (sensitivity, sigma, n) = (self.public.sensitivity, self.public.sigma, self.run.peers());
        let pair = |(v, u): (usize, usize)| {
            let rounding = own.leakages[v].rounding;
            ((v, u), squared(own.loss((v, u)), rounding, sensitivity, sigma), self.hops[v][u])
        };
        let pairs = (0..n).flat_map(|v| (0..n).filter(move |u| *u != v).map(move |u| (v, u)));
        falling.classes(pairs.map(pair), self.public.delta)
    }
}

/// What the guarantees of a simulated run do not speak of.
pub(super) fn not_covered(all: &[(String, Guarantee)]) -> Vec<String> {
    let mut list = all.last().map(|(_, guarantee)| guarantee.not_covered.clone()).unwrap_or_default();
    list.push(limits::SIMULATION.to_owned());
    list
}

/// Guarantees in words, with the peers' names.
pub(super) fn statements(all: &[(String, Guarantee)], delta: f64, graph: &Graph) -> Result<Vec<String>> {
    let names = Names::of_graph(graph);
    let statement =
        |(about, guarantee): &(String, Guarantee)| Ok(format!("{about}: {}", names.state(guarantee, delta)?));
    all.iter().map(statement).collect()
}

/// The same as data.
pub(super) fn stated(all: &[(String, Guarantee)], delta: f64, graph: &Graph) -> Result<Vec<Stated>> {
    let names = Names::of_graph(graph);
    let one = |(about, guarantee): &(String, Guarantee)| {
        Ok(Stated::new(about.clone(), guarantee, delta)?.named(&names))
    };
    all.iter().map(one).collect()
}
