//! What an averaging reveals, planned or past: one document, whether flags, a file or a transcript ask.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use sottovoce_fault::decimal::up_to_places;
use sottovoce_privacy::{Adversary, Guarantee};
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_topology::paths::{self, UNREACHABLE};
use sottovoce_views::cancelling::{AtRandom, Cut};
use sottovoce_views::door::{Source, account};
use sottovoce_views::exact::{Leakage, Results, WorstCoalition};

use super::MaskedSums;
use super::account::{Judgeable, Public, Views, stated, statements};
use super::pairs::Pairs;
use crate::names::Names;
use crate::plan::Class;
use crate::terms::{Stated, short_up};
use crate::{Error, Result};

/// A leakage above this counts as fully exposed.
const EXPOSED: f64 = 1.0 - 1e-9;

/// Towards whom an account is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Asked {
    /// Someone who sees every message, the worst pairs by distance, and the observers that the experiment names.
    #[default]
    Everybody,
    /// One adversary.
    Adversary(Adversary),
    /// Every single peer: the leakage of all pairs.
    AllPairs,
    /// The so many peers who learn most together.
    WorstCoalition(usize),
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
    /// The Gaussian loss `sensitivity / sigma` that a leakage of 1 stands for; under masks, of what is moved after rounding.
    pub local_mu: f64,
    /// What becomes of the results.
    pub results: Results,
    /// What the leakage was computed from.
    pub source: Source,
    /// Noise of pairs that cancels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelling: Option<Cancelled>,
    /// Masks on a ring, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masks: Option<MaskedSums>,
    /// Towards whom the leakage is.
    pub adversary: String,
    /// The observers who pool what they hear.
    pub observers: Vec<usize>,
    /// What each peer reveals to that adversary, as a share of local DP from 0 to 1; 0 of the observers.
    pub leakage: Vec<f64>,
    /// Independent things the adversary learns (without relay noise).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Whether the leakage was certified to be exact; otherwise it is a bound.
    pub certified: bool,
    /// Mean of the leakage over all peers. A guarantee for nobody.
    pub mean: f64,
    /// Peers whose noisy value the adversary can compute.
    pub exposed: Vec<usize>,
    /// Hops from each peer to the nearest observer, where messages go along the edges of one graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Vec<u32>>,
    /// Of the worst coalition: whether all of its size were looked at, and what the mean leakage to none of them exceeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coalitions: Option<Coalitions>,
    /// Leakage of all pairs, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Vec<Vec<f64>>>,
    /// Mean over pairs of the leakage, where all are known. A guarantee for nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_of_pairs: Option<f64>,
    /// Leakage by hops: of the pairs where they were asked for, else to the adversary.
    pub by_distance: BTreeMap<u32, Group>,
    /// What each class of distance got, where bounds fall with a public distance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// The same as data.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
}

/// How the worst coalition was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coalitions {
    /// Whether all coalitions of its size were looked at.
    pub exhaustive: bool,
    /// The mean leakage to no coalition of its size exceeds this.
    pub mean_at_most: f64,
}

/// Leakage at one distance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Of how many peers, or pairs.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub largest: f64,
}

impl Group {
    fn add(&mut self, leakage: f64) {
        self.count += 1;
        self.mean += (leakage - self.mean) / self.count as f64;
        self.largest = if leakage > self.largest { leakage } else { self.largest };
    }
}

/// Noise of pairs, and what the attackers leave of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cancelled {
    /// Standard deviation of a pair's noise, in units of sigma.
    pub kappa: f64,
    /// Pairs who share a secret.
    pub pairs: usize,
    /// How many peers collude, where anybody may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colluders: Option<usize>,
    /// Honest peers whom secrets connect.
    #[serde(flatten)]
    pub cut: Cut,
    /// What coalitions learn that were drawn without looking at the keys, where anybody may collude.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_random: Option<AtRandom>,
}

impl Cancelled {
    fn of(pairs: &Cancelling, adversary: &Adversary) -> Result<Self> {
        let (attackers, colluders) = match adversary {
            Adversary::WireTapperWithAny(colluders) => (&[][..], Some(*colluders)),
            Adversary::WireTapperWith(several) | Adversary::Coalition(several) => (&several[..], None),
            Adversary::Peer(one) => (std::slice::from_ref(one), None),
            _ => (&[][..], None),
        };
        let at_random = match colluders {
            Some(colluders @ 1..) => sottovoce_views::cancelling::at_random(pairs, colluders, 0)?,
            _ => None,
        };
        let cut = sottovoce_views::cancelling::cut(pairs, attackers)?;
        Ok(Self { kappa: pairs.kappa(), pairs: pairs.keys().edge_count(), colluders, cut, at_random })
    }
}

/// What an account rests on, before it is written down.
struct Found {
    /// Towards whom the leakage is told.
    adversary: Adversary,
    guarantees: Vec<(String, Guarantee)>,
    headline: String,
    pairs: Option<Pairs>,
    coalitions: Option<Coalitions>,
    classes: Vec<Class>,
}

/// What a run reveals. `done` hears of observers whose leakage is known, where all are looked at.
pub fn reveal<R: Judgeable>(
    public: Public,
    run: R,
    asked: &Asked,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Revealed> {
    let (found, public, run) = match asked {
        Asked::Everybody => overview(public, run, done)?,
        Asked::Adversary(adversary) => (towards(&public, &run, adversary)?, public, run),
        Asked::AllPairs => {
            let pairs = run.pairs(&public.setting, done)?;
            // Among equals the first.
            let worst = pairs.leakages.iter().rev().max_by(|a, b| a.worst().1.total_cmp(&b.worst().1));
            let observer = worst.map_or(0, |worst| worst.observers[0]);
            let found = towards(&public, &run, &Adversary::Peer(observer))?;
            (Found { pairs: Some(pairs), ..found }, public, run)
        }
        Asked::WorstCoalition(size) => {
            if run.source(&[0]) != Source::Planned {
                let remedy =
                    "somebody went on without somebody in this run; name the coalition with --observers";
                return Err(Error::parameter("worst-coalition", size, remedy));
            }
            let WorstCoalition { leakage, exhaustive, mean_at_most } =
                public.setting.worst_coalition(*size, done)?;
            let found = towards(&public, &run, &Adversary::Coalition(leakage.observers))?;
            (Found { coalitions: Some(Coalitions { exhaustive, mean_at_most }), ..found }, public, run)
        }
    };
    found.written(&public, &run, *asked == Asked::AllPairs)
}

/// Towards one adversary: what it learns most about.
fn towards(public: &Public, run: &impl Judgeable, adversary: &Adversary) -> Result<Found> {
    let names = Names::of_graph(&public.graph);
    let (peer, guarantee) = account(run, adversary)?.worst(public.sensitivity, public.sigma)?;
    let headline = format!(
        "Peer {} loses most to {}: epsilon {} at delta {:e}; plain local privacy would be {}",
        names.of(peer),
        attackers(adversary, &names),
        short_up(guarantee.epsilon(public.delta)?.upper),
        public.delta,
        short_up(public.local_epsilon()?)
    );
    Ok(Found {
        adversary: adversary.clone(),
        guarantees: vec![(format!("peer {}, the worst off", names.of(peer)), guarantee)],
        headline,
        pairs: None,
        coalitions: None,
        classes: Vec::new(),
    })
}

/// Towards everybody; the leakage is that to the named observers, or to the peer that learns most.
fn overview<R: Judgeable>(
    public: Public,
    run: R,
    done: &(dyn Fn(usize) + Sync),
) -> Result<(Found, Public, R)> {
    let views = Views::new(public, run, done)?;
    let (all, public) = (views.guarantees()?, &views.public);
    let epsilon =
        |guarantee: &Guarantee| -> Result<String> { Ok(short_up(guarantee.epsilon(public.delta)?.upper)) };
    let headline = match all.get(1) {
        _ if let Some(local) = public.local()? => format!(
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
    let worst = views.own.as_ref().and_then(|own| own.worst(&views.hops, 1));
    let adversary = match worst {
        _ if !public.observers.is_empty() => Adversary::Coalition(public.observers.clone()),
        Some((observer, _)) => Adversary::Peer(observer),
        None => public.tapper.clone(),
    };
    let classes = views.classes()?;
    let Views { public, run, own, .. } = views;
    let found = Found { adversary, guarantees: all, headline, pairs: own, coalitions: None, classes };
    Ok((found, public, run))
}

impl Found {
    /// As a document; with the leakage of all pairs, or of their mean alone.
    fn written(self, public: &Public, run: &impl Judgeable, all_pairs: bool) -> Result<Revealed> {
        let Public { setting, graph, sigma, sensitivity, delta, .. } = public;
        let leakage = account(run, &self.adversary)?.leakage;
        let names = Names::of_graph(graph);
        let moved = setting.masks.as_ref().map(|masks| masks.moved(*sensitivity)).transpose()?;
        let near = matches!(setting.scheme, Scheme::Gossip { .. }) && !leakage.observers.is_empty();
        let distance = if near { Some(hops(public, &leakage.observers)?) } else { None };
        let by_distance = match self.pairs.as_ref().filter(|_| all_pairs) {
            Some(pairs) => of_pairs(public, pairs)?,
            None => of_peers(&leakage, distance.as_deref()),
        };
        let mut guarantees = stated(&self.guarantees, *delta, graph)?;
        if all_pairs {
            guarantees = guarantees.into_iter().map(Stated::of_any_peer).collect();
        }
        Ok(Revealed {
            headline: self.headline,
            peers: run.peers(),
            steps: setting.scheme.rounds(),
            sigma: *sigma,
            relay_noise: setting.relay_noise,
            sensitivity: *sensitivity,
            local_mu: moved.unwrap_or(*sensitivity) / sigma,
            results: setting.results,
            source: run.source(&leakage.observers),
            cancelling: setting
                .cancelling
                .as_ref()
                .map(|pairs| Cancelled::of(pairs, &self.adversary))
                .transpose()?,
            masks: MaskedSums::of(setting, &self.adversary, *sensitivity)?,
            adversary: attackers(&self.adversary, &names),
            names,
            rank: leakage.rank,
            certified: leakage.certified,
            mean: leakage.mean(),
            exposed: (0..leakage.losses.len()).filter(|&u| leakage.losses[u] > EXPOSED).collect(),
            observers: leakage.observers,
            leakage: told(leakage.losses),
            distance,
            coalitions: self.coalitions,
            mean_of_pairs: self.pairs.as_ref().map(Pairs::mean),
            pairs: self
                .pairs
                .filter(|_| all_pairs)
                .map(|pairs| pairs.leakages.into_iter().map(|leakage| told(leakage.losses)).collect()),
            by_distance,
            classes: self.classes,
            statements: statements(&self.guarantees, *delta, graph)?,
            guarantees,
            not_covered: self
                .guarantees
                .last()
                .map(|(_, guarantee)| guarantee.not_covered.clone())
                .unwrap_or_default(),
        })
    }
}

/// Who attacks, in words.
fn attackers(adversary: &Adversary, names: &Names) -> String {
    const TAPPER: &str = "someone who sees every message";
    match adversary {
        Adversary::WireTapper => TAPPER.to_owned(),
        Adversary::WireTapperWith(peers) => {
            let know = if peers.len() == 1 { "knows" } else { "know" };
            format!("{TAPPER} and knows all that {} {know}", names.peers(peers))
        }
        Adversary::WireTapperWithAny(1) => format!("{TAPPER} and knows all that any one peer knows"),
        Adversary::WireTapperWithAny(any) => format!("{TAPPER} and knows all that any {any} peers know"),
        Adversary::Coalition(peers) => names.peers(peers),
        Adversary::Peer(peer) => names.peers(&[*peer]),
        other @ Adversary::ResultHolder => names.adversary(other),
    }
}

/// Hops from each peer to the nearest observer.
fn hops(public: &Public, observers: &[usize]) -> Result<Vec<u32>> {
    let mut nearest = vec![UNREACHABLE; public.graph.nodes()];
    for &v in observers {
        let distances = paths::distances(&public.graph, v)?;
        nearest.iter_mut().zip(distances).for_each(|(near, hops)| *near = (*near).min(hops));
    }
    Ok(nearest)
}

/// The leakage of all pairs by their hops; all at 1 where there is no fixed graph.
fn of_pairs(public: &Public, pairs: &Pairs) -> Result<BTreeMap<u32, Group>> {
    let fixed = matches!(public.setting.scheme, Scheme::Gossip { .. });
    let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
    for (v, leakage) in pairs.leakages.iter().enumerate() {
        let hops = if fixed { Some(paths::distances(&public.graph, v)?) } else { None };
        for (u, loss) in leakage.losses.iter().enumerate().filter(|(u, _)| *u != v) {
            groups.entry(hops.as_ref().map_or(1, |hops| hops[u])).or_default().add(*loss);
        }
    }
    Ok(groups)
}

/// The leakage to one adversary by hops to it; all at 1 where it is nowhere.
fn of_peers(leakage: &Leakage, hops: Option<&[u32]>) -> BTreeMap<u32, Group> {
    let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
    for (u, loss) in leakage.losses.iter().enumerate() {
        if leakage.observers.binary_search(&u).is_err() {
            groups.entry(hops.map_or(1, |hops| hops[u])).or_default().add(*loss);
        }
    }
    groups
}

/// Leakage as it is told: what cannot be distinguished from all is all. Never smaller than it is.
pub fn told(losses: Vec<f64>) -> Vec<f64> {
    losses.into_iter().map(|loss| if loss > EXPOSED && loss < 1.0 { 1.0 } else { loss }).collect()
}

/// A leakage as people read it: to six places, and never smaller than it is.
fn up(loss: f64) -> String {
    up_to_places(loss, 6)
}

impl Cancelled {
    fn show(&self, f: &mut fmt::Formatter<'_>, names: &Names) -> fmt::Result {
        writeln!(
            f,
            "  {} pairs share a secret, and add noise of {} sigmas that cancels",
            self.pairs, self.kappa
        )?;
        if let Some(drawn) = &self.at_random {
            writeln!(
                f,
                "  to {} coalitions of so many, drawn without looking at the keys, nobody lost more than {}; with 99.9 % confidence less than {} of all coalitions take more",
                drawn.drawn,
                short_up(drawn.loss),
                short_up(drawn.exceeded)
            )?;
        }
        let smallest = &self.cut.smallest;
        match (self.cut.groups, smallest.len()) {
            (_, 0) => Ok(()),
            (1, n) if let Some(colluders) = self.colluders => writeln!(
                f,
                "  secrets connect all {n} peers; with {colluders} of them colluding nobody can lose less than 1/{}",
                n - colluders
            ),
            (1, n) => writeln!(f, "  secrets connect all {n} honest peers: nobody can lose less than 1/{n}"),
            (groups, n) => writeln!(
                f,
                "  SECRETS CONNECT THE HONEST PEERS IN {groups} GROUPS ONLY; in the smallest ({}) nobody can lose less than {}",
                names.list(smallest),
                if n == 1 { "everything".to_owned() } else { format!("1/{n}") }
            ),
        }
    }
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(
            f,
            "  {} peers, {} rounds; sigma {}, relay noise {} of it, sensitivity {}; {}",
            self.peers,
            self.steps,
            self.sigma,
            self.relay_noise,
            self.sensitivity,
            match self.source {
                Source::Planned => "as planned",
                Source::Traced => "computed from delivered messages (a peer timed out on a neighbour)",
                Source::Local => "local privacy: what was sent cannot be traced",
            }
        )?;
        if let Some(pairs) = &self.cancelling {
            pairs.show(f, &self.names)?;
        }
        if let Some(masks) = &self.masks {
            writeln!(f, "  masks: {}", masks.words(&self.names))?;
        }
        let of = if self.pairs.is_some() { "Leakage of all pairs" } else { "Leakage" };
        let to = if self.pairs.is_some() { String::new() } else { format!(" to {}", self.adversary) };
        writeln!(f, "\n{of}{to} (1: no more than a peer's own noise protects it)")?;
        let what = if self.pairs.is_some() { "pairs" } else { "peers" };
        let near = self.distance.is_some();
        let heading = if near { "distance" } else { "" };
        writeln!(f, "  {heading:>8} {what:>8} {:>10} {:>10}", "mean", "largest")?;
        for (hops, group) in &self.by_distance {
            let hops = if near { hops.to_string() } else { String::new() };
            writeln!(f, "  {hops:>8} {:>8} {:>10} {:>10}", group.count, up(group.mean), up(group.largest))?;
        }
        if let Some(Coalitions { exhaustive, mean_at_most }) = &self.coalitions {
            match exhaustive {
                true => writeln!(f, "  all coalitions were looked at")?,
                false => writeln!(
                    f,
                    "  found greedily; the mean leakage to no coalition of this size exceeds {}",
                    up(*mean_at_most)
                )?,
            }
        }
        if !self.certified {
            writeln!(f, "  bounds from above: whoever hears only its own messages may learn less")?;
        } else if !self.exposed.is_empty() {
            writeln!(f, "  fully exposed: {}", self.names.list(&self.exposed))?;
        }
        if f.alternate() {
            self.everybody(f)?;
        }
        writeln!(f, "\nWhat is promised")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        crate::terms::not_covered(f, &self.not_covered)
    }
}

impl Revealed {
    /// Everybody's leakage; of pairs the largest, and to whom.
    fn everybody(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(pairs) = &self.pairs else {
            writeln!(f, "\n  {:<24} {:>10}", "peer", "leakage")?;
            return self.leakage.iter().enumerate().try_for_each(|(peer, leakage)| {
                writeln!(f, "  {} {:>10}", self.names.cell(peer, 24), up(*leakage))
            });
        };
        writeln!(f, "\n  {:<24} {:>10}   to", "peer", "largest")?;
        (0..self.peers).try_for_each(|peer| {
            let others = (0..self.peers).filter(|&observer| observer != peer);
            // Among equals the first.
            let worst = others.rev().max_by(|&a, &b| pairs[a][peer].total_cmp(&pairs[b][peer]));
            let Some(worst) = worst else { return Ok(()) };
            let (name, to) = (self.names.cell(peer, 24), self.names.cell(worst, 24));
            writeln!(f, "  {name} {:>10}   {to}", up(pairs[worst][peer]))
        })
    }
}
