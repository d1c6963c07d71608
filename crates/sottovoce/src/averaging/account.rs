//! What is revealed by an averaging, planned or past: to a wire-tapper, to every single peer, to named observers.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::{Adversary, Gdp, Guarantee, Loss, Standing, limits};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_topology::Graph;
use sottovoce_views::door::{Overheard, Past, Setting, Source, account};
use sottovoce_views::exact::{Leakage, Results};
use sottovoce_views::published::{self, Formula};
use sottovoce_views::ring::Masks;

use super::MaskedSums;
use super::pairs::{Pairs, hops};
use super::question::told;
use crate::experiment::Ready;
use crate::experiment::graph::peer;
use crate::names::Names;
use crate::plan::losses::squared;
use crate::plan::{Class, Falling};
use crate::terms::{Stated, short_up};
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
    /// Whether noise or masks of pairs cancel.
    fn shares_secrets(&self) -> bool {
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

    /// Losses of all pairs.
    fn pairs(&self, plan: &Setting) -> Result<Pairs>;
}

impl Judgeable for Setting {
    fn source(&self, _: &[usize]) -> Source {
        Source::Planned
    }

    fn pairs(&self, plan: &Setting) -> Result<Pairs> {
        Pairs::planned(plan)
    }
}

impl Judgeable for Past {
    fn source(&self, observers: &[usize]) -> Source {
        Past::source(self, observers)
    }

    fn pairs(&self, plan: &Setting) -> Result<Pairs> {
        match Past::source(self, &[0]) {
            Source::Planned => Pairs::planned(plan),
            _ => Pairs::of(self),
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

/// How the line about those who are no neighbours begins.
pub(super) const FAR: &str = "the worst pair at distance 2";

/// A run, with what everyone learns from it.
pub(super) struct Views<R> {
    pub(super) public: Public,
    pub(super) run: R,
    /// Hops of all pairs; empty where there are too many.
    pub(super) hops: Vec<Vec<u32>>,
    pub(super) own: Option<Pairs>,
    /// What the published formula says of all pairs, one observer after the other.
    pub(super) printed: Option<Vec<f64>>,
}

impl<R: Judgeable> Views<R> {
    pub(super) fn new(public: Public, run: R) -> Result<Self> {
        let all = run.peers() <= ALL_PAIRS;
        let own = if all { Some(run.pairs(&public.setting)?) } else { None };
        let hops = if all { hops(&public.setting)? } else { Vec::new() };
        let printed = match &public.setting.scheme {
            Scheme::Gossip { mixing, rounds, .. } if all => {
                Some(published::gossip_all_pairs(Formula::Theorem1, mixing, *rounds)?)
            }
            _ => None,
        };
        Ok(Self { public, run, hops, own, printed })
    }

    /// The same peers with another plan, whose losses are known.
    pub(super) fn elsewhere(&self, setting: Setting, own: Pairs) -> Result<Views<Setting>> {
        let printed = match &setting.scheme {
            Scheme::Gossip { mixing, rounds, .. } => {
                Some(published::gossip_all_pairs(Formula::Theorem1, mixing, *rounds)?)
            }
            _ => None,
        };
        let public = Public { setting: setting.clone(), ..self.public.clone() };
        Ok(Views { public, run: setting, hops: self.hops.clone(), own: Some(own), printed })
    }

    /// Those whose view is looked at first.
    pub(super) fn observers(&self) -> Vec<usize> {
        if self.public.observers.is_empty() { vec![0] } else { self.public.observers.clone() }
    }

    fn towards(&self, adversary: &Adversary, peer: usize) -> Result<Guarantee> {
        Ok(account(&self.run, adversary)?.guarantee(peer, self.public.sensitivity, self.public.sigma)?)
    }

    /// Towards the wire-tapper, the worst pairs by distance, the named observers together; and the published figure.
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
        if let (Some(own), Some(printed)) = (&self.own, &self.printed)
            && let Some((v, u)) = own.worst(&self.hops, 2)
        {
            let about = format!(
                "what the published formula says of peer {} towards peer {} (it knows no relay noise)",
                name(u),
                name(v)
            );
            let exact = self.towards(&Adversary::Peer(v), u)?;
            all.push((about, refuted(exact, printed[v * self.run.peers() + u], sensitivity / sigma)?));
        }
        if self.public.falling.is_some() {
            all.iter_mut().for_each(|(_, one)| one.not_covered.push(limits::DISTANCES.to_owned()));
        }
        Ok(all)
    }

    /// What a peer's own noise alone would cost it, and without what, where noise or masks that cancel hide more.
    pub(super) fn local_epsilon(&self) -> Result<Option<Local>> {
        let (sensitivity, setting) = (self.public.sensitivity, &self.public.setting);
        let (loss, without) = match (&setting.cancelling, &setting.masks) {
            (None, None) => return Ok(None),
            (_, Some(Masks { ring, .. })) => {
                let (shares, moved) = (ring.shares(1)?, ring.moved(sensitivity)?);
                (Loss::Shared { shares, moved, releases: 1 }, "masks")
            }
            (Some(_), None) => (Loss::Gdp(Gdp::new(sensitivity / self.public.sigma)?), "noise that cancels"),
        };
        Ok(Some(Local { epsilon: loss.epsilon(self.public.delta)?.upper, without }))
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

/// A guarantee as the published formula would have it.
fn refuted(exact: Guarantee, printed: f64, local_mu: f64) -> Result<Guarantee> {
    let printed = if printed < 1.0 { printed } else { 1.0 };
    let loss = Loss::Gdp(Gdp::of_square(printed * local_mu.powi(2))?);
    Ok(Guarantee { loss, standing: Standing::Refuted, ..exact })
}

/// What the guarantees of a simulated run do not speak of.
pub(super) fn not_covered(all: &[(String, Guarantee)]) -> Vec<String> {
    let mut list = all.last().map(|(_, guarantee)| guarantee.not_covered.clone()).unwrap_or_default();
    list.push(limits::SIMULATION.to_owned());
    list
}

/// Those that may be relied on, in words, with the peers' names.
pub(super) fn statements(all: &[(String, Guarantee)], delta: f64, graph: &Graph) -> Result<Vec<String>> {
    let reliable = all.iter().filter(|(_, guarantee)| guarantee.standing.is_reliable());
    let names = Names::of_graph(graph);
    let statement =
        |(about, guarantee): &(String, Guarantee)| Ok(format!("{about}: {}", names.state(guarantee, delta)?));
    reliable.map(statement).collect()
}

/// All of them, as data.
pub(super) fn stated(all: &[(String, Guarantee)], delta: f64, graph: &Graph) -> Result<Vec<Stated>> {
    let names = Names::of_graph(graph);
    let one = |(about, guarantee): &(String, Guarantee)| {
        Ok(Stated::new(about.clone(), guarantee, delta)?.named(&names))
    };
    all.iter().map(one).collect()
}

/// What an averaging reveals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// In a sentence.
    pub headline: String,
    /// Number of peers.
    pub peers: usize,
    /// Their names, where the graph has them.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// Rounds.
    pub steps: usize,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// Relay noise as a share of it.
    pub relay_noise: f64,
    /// How far one person can move a peer's values.
    pub sensitivity: f64,
    /// What becomes of the results.
    pub results: Results,
    /// What the losses were computed from.
    pub source: Source,
    /// Mean over pairs of the loss, in units of local DP. A guarantee for nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_loss: Option<f64>,
    /// What each class of distance got, where bounds fall with a public distance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// Masks on a ring, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masks: Option<MaskedSums>,
    /// The observers who pool what they hear.
    pub observers: Vec<usize>,
    /// What each peer loses to them, in units of local DP.
    pub losses: Vec<f64>,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// The same as data, and what was published and is wrong.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
}

/// What a run reveals.
pub fn reveal(public: Public, run: impl Judgeable) -> Result<Revealed> {
    let views = Views::new(public, run)?;
    let all = views.guarantees()?;
    let (public, observers) = (&views.public, views.observers());
    let found = account(&views.run, &Adversary::Coalition(observers.clone()))?;
    let epsilon =
        |guarantee: &Guarantee| -> Result<String> { Ok(short_up(guarantee.epsilon(public.delta)?.upper)) };
    let own = all.iter().filter(|(_, guarantee)| guarantee.standing.is_reliable()).nth(1);
    let headline = match own {
        _ if let Some(local) = views.local_epsilon()? => format!(
            "Epsilon {} at delta {:e}: {}; without {} it would be {}",
            epsilon(&all[0].1)?,
            public.delta,
            all[0].0,
            local.without,
            short_up(local.epsilon)
        ),
        Some((about, guarantee)) => format!(
            "Epsilon {} at delta {:e}: {about}; plain local privacy would be {}",
            epsilon(guarantee)?,
            public.delta,
            epsilon(&all[0].1)?
        ),
        None => format!("Epsilon {} towards whoever sees everything", epsilon(&all[0].1)?),
    };
    Ok(Revealed {
        headline,
        peers: views.run.peers(),
        names: Names::of_graph(&public.graph),
        steps: public.setting.scheme.rounds(),
        sigma: public.sigma,
        relay_noise: public.setting.relay_noise,
        sensitivity: public.sensitivity,
        results: public.setting.results,
        source: views.run.source(&observers),
        mean_loss: views.own.as_ref().map(Pairs::mean),
        classes: views.classes()?,
        masks: MaskedSums::of(&public.setting, &public.tapper, public.sensitivity)?,
        losses: told(found.leakage.losses),
        observers,
        statements: statements(&all, public.delta, &public.graph)?,
        guarantees: stated(&all, public.delta, &public.graph)?,
        not_covered: all.last().map(|(_, guarantee)| guarantee.not_covered.clone()).unwrap_or_default(),
    })
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(
            f,
            "  {} peers, {} rounds; sigma {}, relay noise {} of it, sensitivity {}; losses {}",
            self.peers,
            self.steps,
            self.sigma,
            self.relay_noise,
            self.sensitivity,
            match self.source {
                Source::Planned => "as planned",
                Source::Traced => "of what was really sent: somebody went on without somebody",
                Source::Local => "of a peer's own noise alone: what was sent cannot be traced",
            }
        )?;
        if let Some(masks) = &self.masks {
            writeln!(f, "  masks: {}", masks.words(&self.names))?;
        }
        writeln!(f, "\nWhat is promised")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        if f.alternate() {
            writeln!(f, "\nLosses to {}, in units of local DP", self.names.peers(&self.observers))?;
            for (peer, loss) in
                self.losses.iter().enumerate().filter(|(peer, _)| !self.observers.contains(peer))
            {
                writeln!(f, "  {} {}", self.names.cell(peer, 24), short_up(*loss))?;
            }
        }
        crate::terms::not_covered(f, &self.not_covered)
    }
}
