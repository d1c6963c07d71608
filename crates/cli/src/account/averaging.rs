//! `sottovoce account averaging`: what observers learn about every peer from gossip.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde::Serialize;
use sottovoce_fault::decimal::up_to_places;
use sottovoce_privacy::{Adversary, Gdp, round_up};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_topology::Graph;
use sottovoce_topology::paths::{self, UNREACHABLE};
use sottovoce_views::door::{Overheard, account};
use sottovoce_views::exact::{Leakage, Results, WorstCoalition};

use crate::Global;
use crate::graph::count;
use crate::graph::source::{Plan, Planned};
use sottovoce::averaging::{Accounted, Cancelled, Method, Promised, answer, promise, told};
use sottovoce::names::Names;
use sottovoce::terms::{Stated, Terms, short_up};

const EXAMPLES: &str = "Examples:
  sottovoce account averaging --graph ring.txt --lazy 0.333 --steps 6 --observers 0
  sottovoce account averaging --graph ring.txt --steps 10 --observers 0,5 --relay-noise 0.1 --json
  sottovoce account averaging --schedule pairs.json --observers 2 --method exact
  sottovoce account averaging --graph ring.txt --steps 10 --all-pairs --relay-noise 0.1
  sottovoce account averaging --graph ring.txt --steps 3 --worst-coalition 2
  sottovoce account averaging --graph ring.txt --steps 10 --observers 0 --results published
  sottovoce account averaging --protocol butterfly --peers 64 --observers 0 --epsilon 1
  sottovoce account averaging --peers 64 --keys keys.txt --cancel 10 --wire-tapper --observers 3,7
  sottovoce account averaging --peers 64 --cancel 10 --colluders 6 --epsilon 4
  sottovoce account averaging --protocol butterfly --peers 64 --masks --colluders 6 --epsilon 4

Losses are in units of local DP: 1 is no protection beyond a peer's own noise, 0 is nothing learnt. Without relay noise, acceleration changes none. A schedule file is
{\"edges_per_step\": [[[u, v], ...], ...]} or {\"pairwise\": [[u, v], ...]}.";

/// Arguments of `account averaging`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("mixing").required(true).args(["graph", "schedule", "peers"]))]
#[command(group = clap::ArgGroup::new("who").required(true).multiple(true).args(["observers", "all_pairs", "worst_coalition", "wire_tapper", "colluders"]))]
pub(crate) struct AveragingArgs {
    /// Every peer on its own: the whole matrix of exact losses.
    #[arg(long, conflicts_with_all = ["observers", "worst_coalition", "wire_tapper", "colluders"])]
    all_pairs: bool,
    /// Someone who sees every message, and knows all that --observers know, if they are given.
    #[arg(long, conflicts_with = "worst_coalition")]
    wire_tapper: bool,
    /// The K peers who together learn most (without relay noise).
    #[arg(long, value_name = "K", value_parser = count, conflicts_with_all = ["observers", "cancel", "colluders"], allow_negative_numbers = true)]
    worst_coalition: Option<usize>,
    /// Which accounting to print.
    #[arg(id = "accounting", long = "method", value_enum, default_value = "all", conflicts_with_all = ["all_pairs", "worst_coalition"])]
    choice: Choice,
    #[command(flatten)]
    plan: Plan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The formula as printed (refuted; for comparison, and without an epsilon).
    Published,
    /// The authors' later correction (refuted as well).
    PublishedCorrected,
    /// The exact loss.
    Exact,
    /// All of them.
    All,
}

impl Choice {
    fn methods(self) -> Vec<Method> {
        match self {
            Self::Published => vec![Method::Published],
            Self::PublishedCorrected => vec![Method::PublishedCorrected],
            Self::Exact => vec![Method::Exact],
            Self::All => vec![Method::Exact, Method::Published, Method::PublishedCorrected],
        }
    }
}

impl AveragingArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        self.check()?;
        let _waiting = global.waiting("accounting");
        let mut found = self.plan.read(global)?;
        found.question.tapped = self.wire_tapper;
        // Noise that was found is told about towards whom it was found for.
        if let (true, true, Adversary::WireTapperWithAny(colluders)) = (
            self.wire_tapper,
            found.experiment.noise.sigma.is_none(),
            found.experiment.tapper(&found.question.observers),
        ) {
            found.question.colluders = Some(colluders);
        }
        if self.all_pairs {
            return matrix(global, &found);
        }
        if let Some(size) = self.worst_coalition {
            return coalition(global, &found, size);
        }
        let bar = global.progress(0, "accounting");
        let accounted = answer(&found.setting, &found.question, &self.choice.methods())?;
        bar.finish_and_clear();
        // Someone who sees every message is nowhere.
        let near = fixed(&found).filter(|_| !accounted.wire_tapper);
        let hops = near.map(|graph| hops(graph, &accounted.observers)).transpose()?;
        global.print(&AveragingAccount { accounted, hops, names: found.question.names })
    }

    /// What can be refused before anything is read.
    fn check(&self) -> anyhow::Result<()> {
        let experiment = self.plan.experiment();
        let printed = matches!(self.choice, Choice::Published | Choice::PublishedCorrected);
        if printed && (self.wire_tapper || experiment.noise.shares_secrets()) {
            bail!(
                "`method` is {}: the printed formulas know neither wire-tappers nor noise that cancels nor masks; use exact",
                self.choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
            );
        }
        if printed && experiment.noise.relay_noise != 0.0 {
            bail!(
                "`relay-noise` is {}: the printed formulas know none; leave it out, or use --method exact",
                experiment.noise.relay_noise
            );
        }
        if printed && experiment.adversary.results == Results::Published {
            bail!("`results` is published: the printed formulas do not know it; use --method exact");
        }
        Ok(())
    }
}

/// The graph, where messages go along its edges in every round.
fn fixed(found: &Planned) -> Option<&Graph> {
    matches!(found.setting.scheme, Scheme::Gossip { .. }).then_some(&found.graph)
}

fn matrix(global: &Global, found: &Planned) -> anyhow::Result<()> {
    let run = &found.setting;
    let bar = global.progress(run.peers(), "observers");
    let leakages = run.leakages(&|_| bar.inc(1))?;
    bar.finish_and_clear();
    let mut by_distance: BTreeMap<u32, Group> = BTreeMap::new();
    for leakage in &leakages {
        let hops = fixed(found).map(|graph| hops(graph, &leakage.observers)).transpose()?;
        for (u, loss) in leakage.losses.iter().enumerate().filter(|(u, _)| leakage.observers != [*u]) {
            by_distance.entry(hops.as_ref().map_or(1, |hops| hops[u])).or_default().add(*loss);
        }
    }
    let mean = leakages.iter().map(Leakage::mean).sum::<f64>() / leakages.len() as f64;
    let certified = leakages.iter().all(|leakage| leakage.certified);
    let worst = leakages.iter().max_by(|a, b| a.worst().1.total_cmp(&b.worst().1));
    let Some(worst) = worst else { bail!("`graph` has no peers: give one with at least two") };
    let worst = account(run, &Adversary::Peer(worst.observers[0]))?;
    let promised = promise(&worst, &found.question)?;
    global.print(&AllPairs {
        names: found.question.names.clone(),
        relay_noise: run.relay_noise,
        mean,
        certified,
        by_distance,
        statements: vec![promised.statement],
        guarantees: vec![promised.stated.of_any_peer()],
        terms: Terms { adversary: "any one peer".into(), ..promised.terms },
        exact: leakages.into_iter().map(|leakage| told(leakage.losses)).collect(),
    })
}

fn coalition(global: &Global, found: &Planned, size: usize) -> anyhow::Result<()> {
    let bar = global.progress(0, "coalitions");
    let mut worst = found.setting.worst_coalition(size, &|_| bar.inc(1))?;
    worst.leakage.losses = told(worst.leakage.losses);
    bar.finish_and_clear();
    let coalition = Adversary::Coalition(worst.leakage.observers.clone());
    let promised = promise(&account(&found.setting, &coalition)?, &found.question)?;
    let Promised { statement, stated, terms } = promised;
    let (statements, guarantees) = (vec![statement], vec![stated]);
    let names = found.question.names.clone();
    global.print(&Coalition { found: worst, statements, guarantees, terms, names })
}

/// Hops from each peer to the nearest observer.
fn hops(graph: &Graph, observers: &[usize]) -> anyhow::Result<Vec<u32>> {
    let mut nearest = vec![UNREACHABLE; graph.nodes()];
    for &v in observers {
        let distances = paths::distances(graph, v)?;
        nearest.iter_mut().zip(distances).for_each(|(near, hops)| *near = (*near).min(hops));
    }
    Ok(nearest)
}

/// What `--all-pairs` found: `exact[v][u]` is the loss of `u` towards `v`.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct AllPairs {
    /// Names of the peers.
    #[serde(rename = "labels", skip_serializing_if = "Names::are_numbers")]
    names: Names,
    /// As a share of sigma.
    relay_noise: f64,
    /// Mean of the exact losses. A guarantee for nobody.
    mean: f64,
    /// Whether the exact losses are; others count as 1.
    certified: bool,
    /// Losses of pairs by their hops.
    by_distance: BTreeMap<u32, Group>,
    /// What is promised, in words.
    statements: Vec<String>,
    /// The same as numbers.
    guarantees: Vec<Stated>,
    #[serde(flatten)]
    terms: Terms,
    /// Exact losses in units of local DP, by peer; with --all-pairs by observer and peer.
    exact: Vec<Vec<f64>>,
}

/// Losses of the pairs at one distance.
#[derive(Default, Serialize, schemars::JsonSchema)]
struct Group {
    /// How many.
    pairs: usize,
    #[serde(skip)]
    sum: f64,
    /// Their largest loss.
    largest: f64,
}

impl Group {
    fn add(&mut self, loss: f64) {
        self.pairs += 1;
        self.sum += loss;
        self.largest = self.largest.max(loss);
    }
}

impl fmt::Display for AllPairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "No peer loses more than {} to any one other; the mean over pairs, {} of local DP's, is a guarantee for nobody\n",
            epsilon(&self.guarantees),
            short_up(self.mean)
        )?;
        writeln!(f, "exact losses of all pairs, in units of local DP (mean over all: {})\n", up(self.mean))?;
        writeln!(f, "  {:>8} {:>8} {:>10} {:>10}", "distance", "pairs", "mean", "largest")?;
        for (hops, group) in &self.by_distance {
            let mean = group.sum / group.pairs as f64;
            writeln!(f, "  {hops:>8} {:>8} {:>10} {:>10}", group.pairs, up(mean), up(group.largest))?;
        }
        if f.alternate() {
            self.everybody(f)?;
        }
        writeln!(f)?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        write!(f, "{}", self.terms)
    }
}

impl AllPairs {
    /// Everybody's largest loss, and to whom.
    fn everybody(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  {:<24} {:>10}   to", "peer", "largest")?;
        (0..self.exact.len()).try_for_each(|peer| {
            let others = (0..self.exact.len()).filter(|&observer| observer != peer);
            let loss = |observer: usize| self.exact[observer][peer];
            // Among equals the first.
            let Some(worst) = others.rev().max_by(|&a, &b| loss(a).total_cmp(&loss(b))) else {
                return Ok(());
            };
            let (name, to) = (self.names.cell(peer, 24), self.names.cell(worst, 24));
            writeln!(f, "  {name} {:>10}   {to}", up(loss(worst)))
        })
    }
}

/// What `--worst-coalition` found.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Coalition {
    /// Names of the peers.
    #[serde(rename = "labels", skip_serializing_if = "Names::are_numbers")]
    names: Names,
    #[serde(flatten)]
    found: WorstCoalition,
    /// What is promised, in words.
    statements: Vec<String>,
    /// The same as numbers.
    guarantees: Vec<Stated>,
    #[serde(flatten)]
    terms: Terms,
}

impl fmt::Display for Coalition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leakage = &self.found.leakage;
        writeln!(
            f,
            "Peers {} learn most together; peer {} loses {} to them\n",
            self.names.list(&leakage.observers),
            self.names.of(leakage.worst().0),
            epsilon(&self.guarantees)
        )?;
        writeln!(f, "  mean loss      {} of local DP's", up(leakage.mean()))?;
        let how = if self.found.exhaustive {
            "all coalitions were looked at".to_owned()
        } else {
            format!("found greedily; no coalition of this size exceeds {}", up(self.found.mean_at_most))
        };
        writeln!(f, "                 ({how})")?;
        writeln!(f, "  fully exposed  {}\n", self.names.list(&sottovoce::averaging::exposed(leakage)))?;
        if f.alternate() {
            writeln!(f, "  {:<24} {:>10}", "peer", "loss")?;
            for (peer, loss) in leakage.losses.iter().enumerate() {
                writeln!(f, "  {} {:>10}", self.names.cell(peer, 24), up(*loss))?;
            }
            writeln!(f)?;
        }
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        write!(f, "{}", self.terms)
    }
}

/// What `account averaging` found.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct AveragingAccount {
    #[serde(flatten)]
    accounted: Accounted,
    /// Hops from each peer to the nearest observer.
    #[serde(rename = "distance", skip_serializing_if = "Option::is_none")]
    hops: Option<Vec<u32>>,
    /// Names of the peers.
    #[serde(rename = "labels", skip_serializing_if = "Names::are_numbers")]
    names: Names,
}

impl AveragingAccount {
    /// Mean and largest of a list over the peers at each distance (all at 1 where there is no fixed graph).
    fn by_distance(&self, losses: &[f64]) -> BTreeMap<u32, (usize, f64, f64)> {
        let mut rows = BTreeMap::new();
        for (u, loss) in losses.iter().enumerate() {
            if self.accounted.observers.binary_search(&u).is_ok() {
                continue;
            }
            let row = rows.entry(self.hops.as_ref().map_or(1, |hops| hops[u])).or_insert((0, 0.0, 0.0_f64));
            *row = (row.0 + 1, row.1 + loss, row.2.max(*loss));
        }
        rows
    }
}

/// A method's name, and its losses if it was asked for.
type Column<'a> = (&'static str, &'a Option<Vec<f64>>);

impl AveragingAccount {
    fn headline(&self) -> String {
        let found = &self.accounted;
        let who = self.attackers();
        let losses = [&found.exact, &found.published, &found.published_corrected];
        let names =
            ["", " by the printed formula, which is refuted", " by the corrected formula, which is refuted"];
        let asked = losses.iter().zip(names).find_map(|(losses, name)| Some((losses.as_ref()?, name)));
        let Some((losses, name)) = asked else { return format!("{} peers", found.peers) };
        let others = (0..losses.len()).filter(|peer| found.observers.binary_search(peer).is_err());
        let worst = others.rev().max_by(|&a, &b| losses[a].total_cmp(&losses[b]));
        let Some(worst) = worst else { return "Everybody observes: nothing is left to learn".to_owned() };
        let most = format!("Peer {} loses most to {who}", self.names.of(worst));
        match found.guarantees.first().and_then(|stated| self.local(stated.delta)) {
            Some(local) => {
                let lost = epsilon(&found.guarantees);
                format!("{most}: {lost}; plain local privacy would be {}", short_up(local))
            }
            None => format!("{most}: {} of local DP's{name}", short_up(losses[worst])),
        }
    }

    /// Who attacks.
    fn attackers(&self) -> String {
        let known = self.names.peers(&self.accounted.observers);
        match (self.accounted.wire_tapper, self.accounted.observers.is_empty()) {
            (false, _) => known,
            (true, true) => match self.accounted.colluders {
                None => "someone who sees every message".to_owned(),
                Some(1) => "someone who sees every message and knows all that any one peer knows".to_owned(),
                Some(any) => {
                    format!("someone who sees every message and knows all that any {any} peers know")
                }
            },
            (true, false) => {
                let know = if self.accounted.observers.len() == 1 { "knows" } else { "know" };
                format!("someone who sees every message and knows all that {known} {know}")
            }
        }
    }

    /// What keeps the pairs' noise in the way.
    fn pairs(&self, f: &mut fmt::Formatter<'_>, pairs: &Cancelled) -> fmt::Result {
        writeln!(
            f,
            "{} pairs share a secret, and add noise of {} sigmas that cancels",
            pairs.pairs, pairs.kappa
        )?;
        if let Some(drawn) = &pairs.at_random {
            writeln!(
                f,
                "to {} coalitions of so many, drawn without looking at the keys, nobody lost more than {}; with 99.9 % confidence less than {} of all coalitions take more",
                drawn.drawn,
                short_up(drawn.loss),
                short_up(drawn.exceeded)
            )?;
        }
        let smallest = &pairs.cut.smallest;
        match (pairs.cut.groups, smallest.len()) {
            (_, 0) => Ok(()),
            (1, n) if let Some(colluders) = self.accounted.colluders => writeln!(
                f,
                "secrets connect all {n} peers; with {colluders} of them colluding nobody can lose less than 1/{}",
                n - colluders
            ),
            (1, n) => writeln!(f, "secrets connect all {n} honest peers: nobody can lose less than 1/{n}"),
            (groups, n) => writeln!(
                f,
                "SECRETS CONNECT THE HONEST PEERS IN {groups} GROUPS ONLY; in the smallest ({}) nobody can lose less than {}",
                self.names.list(smallest),
                if n == 1 { "everything".to_owned() } else { format!("1/{n}") }
            ),
        }
    }

    /// The epsilon of a value under its own noise.
    fn local(&self, delta: f64) -> Option<f64> {
        let local = Gdp::new(self.accounted.local_mu).and_then(|gdp| gdp.epsilon(delta));
        local.ok().map(|epsilon| epsilon.upper)
    }

    /// Everybody's losses.
    fn everybody(&self, f: &mut fmt::Formatter<'_>, columns: &[Column<'_>]) -> fmt::Result {
        let asked: Vec<(&str, &Vec<f64>)> =
            columns.iter().filter_map(|(name, losses)| Some((*name, losses.as_ref()?))).collect();
        let names: String = asked.iter().map(|(name, _)| format!(" {name:>10}")).collect();
        writeln!(f, "\n  {:<24}{names}", "peer")?;
        for peer in 0..self.accounted.peers {
            let cells: String =
                asked.iter().map(|(_, losses)| format!(" {:>10}", up(losses[peer]))).collect();
            writeln!(f, "  {}{cells}", self.names.cell(peer, 24))?;
        }
        Ok(())
    }
}

impl fmt::Display for AveragingAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.accounted;
        writeln!(f, "{}\n", self.headline())?;
        writeln!(f, "{} peers, {} steps; observed by {}", found.peers, found.steps, self.attackers())?;
        if let Some(pairs) = &found.cancelling {
            self.pairs(f, pairs)?;
        }
        if let Some(masks) = &found.masks {
            writeln!(f, "masks: {}", masks.words(&self.names))?;
        }
        writeln!(
            f,
            "losses in units of local DP (mu = {}): 1 is no protection beyond a peer's own noise\n",
            found.local_mu
        )?;
        let columns = [
            ("exact", &found.exact),
            ("published", &found.published),
            ("corrected", &found.published_corrected),
        ];
        for (name, losses) in columns.iter().filter_map(|(name, losses)| Some((name, losses.as_ref()?))) {
            let heading = if found.wire_tapper { "" } else { "distance" };
            writeln!(f, "  {name:<10} {heading:>8} {:>8} {:>10} {:>10}", "peers", "mean", "largest")?;
            for (hops, (peers, sum, largest)) in self.by_distance(losses) {
                let mean = sum / peers as f64;
                let hops = if found.wire_tapper { String::new() } else { hops.to_string() };
                writeln!(f, "  {:<10} {hops:>8} {peers:>8} {:>10} {:>10}", "", up(mean), up(largest))?;
            }
        }
        match (found.colluders, &found.masks) {
            _ if found.certified != Some(false) => {}
            (Some(_), _) => {
                writeln!(f, "\n  bounds from above: there are too many coalitions to look at them all")?;
            }
            (None, Some(_)) => {
                writeln!(f, "\n  bounds from above: whoever hears only its own messages may learn less")?;
            }
            (None, None) => {}
        }
        if f.alternate() {
            self.everybody(f, &columns)?;
        }
        // Of bounds it is not known who is.
        let known = (found.colluders.is_none() && found.masks.is_none()) || found.certified == Some(true);
        if let Some(exposed) = found.exposed.as_ref().filter(|_| known) {
            writeln!(f, "\n  fully exposed: {}", self.names.list(exposed))?;
        }
        for statement in &found.statements {
            writeln!(f, "  {statement}")?;
        }
        if let Some(terms) = &found.terms {
            write!(f, "{terms}")?;
        }
        if let Some(published) = &found.worst_understatement {
            write!(
                f,
                "\n  the published formula understates the loss of peer {}: {} instead of {}",
                self.names.of(published.peer),
                round_up(published.published),
                round_up(published.exact)
            )?;
        }
        Ok(())
    }
}

/// The first guarantee's epsilon, at its delta.
fn epsilon(guarantees: &[Stated]) -> String {
    guarantees
        .first()
        .map_or_else(String::new, |stated| format!("epsilon {} at delta {:e}", stated.shown(), stated.delta))
}

/// A loss as people read it: to six places, and never smaller than it is.
fn up(loss: f64) -> String {
    up_to_places(loss, 6)
}
