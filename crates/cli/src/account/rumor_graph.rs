//! `sottovoce account rumor --graph`: how well the source of a rumour is hidden where only neighbours tell each other.

use std::fmt;
use std::path::Path;

use anyhow::{anyhow, bail};
use serde::Serialize;
use sottovoce::experiment::Rumor;
use sottovoce::experiment::graph::peer;
use sottovoce::names::Names;
use sottovoce::rumor::listeners;
use sottovoce::terms::Stated;
use sottovoce_fault::decimal;
use sottovoce_privacy::round_up;
use sottovoce_views::rumor::{Hidden, MOST_RUMORS, ON_GRAPHS, OnGraph, PairLoss, Question, attack_success};

use crate::Global;
use crate::graph::source::said;

/// Pairs that are shown without `--verbose`.
const SHOWN: usize = 8;

/// What `account rumor --graph` found.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct GraphAccount {
    /// All peers.
    peers: usize,
    /// How many of them listen.
    curious: usize,
    /// Which.
    curious_peers: Vec<usize>,
    /// What those are called, where peers have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curious_names: Vec<String>,
    /// The muting parameter.
    muting: f64,
    /// Probability that a telling is lost.
    drop: f64,
    /// Rumours of the one source.
    rumors: u32,
    /// The epsilon that was asked for.
    epsilon: f64,
    /// The delta at it of all rumours, told one at a time.
    delta: f64,
    /// Told one at a time, one rumour.
    steps: Hidden,
    /// Told in rounds, one rumour.
    rounds: Hidden,
    /// No attack names a source, any honest peer alike, with a larger probability; none where epsilon is above 0 or two sources are named.
    attack_success_at_most: Option<f64>,
    /// What is promised, in words.
    statement: String,
    /// The same as numbers.
    guarantees: Vec<Stated>,
    /// What is not promised.
    not_covered: [&'static str; 5],
    #[serde(skip)]
    names: Names,
}

/// Accounts for a rumour on its graph.
pub(super) fn print(
    asked: &Rumor,
    folder: &Path,
    pair: &[String],
    (epsilon, rumors): (f64, u32),
    global: &Global,
) -> anyhow::Result<()> {
    let muting = asked.muting.ok_or_else(|| anyhow!("`muting` is missing: give a number from 0 to 1"))?;
    if !(1..=MOST_RUMORS).contains(&rumors) {
        bail!("`rumors` is {rumors}: give a number from 1 to {MOST_RUMORS}");
    }
    if rumors > 1 && epsilon > 0.0 {
        bail!("`rumors` is {rumors}: on a graph several are accounted for at epsilon 0; leave out --epsilon");
    }
    let Some(place) = asked.place(folder)? else { bail!("`graph` is missing: give a file") };
    said(place.sha256.as_ref(), &place.notes);
    let (graph, peers) = (&place.graph, place.graph.nodes());
    let count = asked.curious.unwrap_or((peers / 16).max(1));
    let curious = listeners(&asked.curious_peers, count, Some(graph), peers, global.seed)?.members();
    let pair = match pair {
        [] => None,
        [one, other] => {
            Some((peer("pair", one, Some(graph), peers)?, peer("pair", other, Some(graph), peers)?))
        }
        more => bail!("`pair` is {}: give two peers, such as 0,1", more.join(",")),
    };
    let _waiting = global.waiting("following active sets");
    let rumor = OnGraph::new(graph, &curious, muting, asked.drop.unwrap_or(0.0))?;
    let hidden = |rounds| rumor.hidden(&Question { epsilon, rounds, pair });
    let (steps, rounds) = (hidden(false)?, hidden(true)?);
    // Couple each pair of rumours so that they differ with probability delta.
    let several = |delta: f64| -(f64::from(rumors) * (-delta).ln_1p()).exp_m1();
    let of = |delta: f64| if rumors == 1 { delta } else { several(delta) };
    let names = Names::of_graph(graph);
    let stated = |about, delta| Stated {
        observers: curious.clone(),
        observer_names: names.beside(&curious),
        not_covered: ON_GRAPHS.map(str::to_owned).to_vec(),
        ..Stated::of_source(about, epsilon, delta)
    };
    let guarantees = vec![
        stated("tellings one at a time", of(steps.at_most)),
        stated("tellings in rounds", of(rounds.at_most)),
    ];
    let found = GraphAccount {
        peers,
        curious: curious.len(),
        curious_names: names.beside(&curious),
        muting,
        drop: asked.drop.unwrap_or(0.0),
        rumors,
        epsilon,
        delta: of(steps.at_most),
        attack_success_at_most: (epsilon == 0.0 && pair.is_none())
            .then(|| attack_success(peers - curious.len(), of(steps.at_most))),
        statement: format!(
            "epsilon = {epsilon} at delta <= {} against {}, who log who tells them and whom they tell, in order, without a clock, for {}; proven ({})",
            round_up(of(steps.at_most)),
            names.peers(&curious),
            if pair.is_some() { "these two sources" } else { "any two honest sources" },
            steps.by
        ),
        curious_peers: curious,
        steps,
        rounds,
        guarantees,
        not_covered: ON_GRAPHS,
        names,
    };
    global.print(&found)
}

impl fmt::Display for GraphAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, other) = self.steps.pair;
        let [one, other] = [one, other].map(|peer| self.names.of(peer));
        writeln!(
            f,
            "The source is hidden up to delta {} at epsilon {}; {one} and {other} are told apart best\n",
            round_up(self.delta),
            self.epsilon
        )?;
        writeln!(
            f,
            "{} peers, {} of them curious; muting s = {}, losses {}\n\n  {}\n",
            self.peers, self.curious, self.muting, self.drop, self.statement
        )?;
        if let Some(success) = self.attack_success_at_most {
            writeln!(
                f,
                "  told one at a time, no attack names the source with probability above {}\n",
                round_up(success)
            )?;
        }
        writeln!(f, "  {:<26} {:>12} {:>12}   followed", "one rumour, worst pair", "at least", "at most")?;
        for (name, hidden) in [("told one at a time", &self.steps), ("told in rounds", &self.rounds)] {
            let followed = match hidden.all_observations {
                true => "all active sets, all observations".to_owned(),
                false => format!("up to {} active, until heard", hidden.followed),
            };
            let (least, most) = (down(hidden.at_least), round_up(hidden.at_most));
            writeln!(f, "  {name:<26} {least:>12} {most:>12}   {followed}")?;
        }
        self.pairs(f)?;
        sottovoce::terms::not_covered(f, &self.not_covered)
    }
}

impl GraphAccount {
    fn pairs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, shown) = (&self.steps.pairs, if f.alternate() { usize::MAX } else { SHOWN });
        if all.len() < 2 {
            return Ok(());
        }
        writeln!(f, "\n  {:<16} {:<16} {:>12} {:>12}", "source", "or", "at least", "at most")?;
        for PairLoss { source, other, at_least, at_most } in all.iter().take(shown) {
            let [source, other] = [source, other].map(|&peer| self.names.cell(peer, 16));
            writeln!(f, "  {source:<16} {other:<16} {:>12} {:>12}", down(*at_least), round_up(*at_most))?;
        }
        if all.len() > shown {
            writeln!(f, "  and {} more (--verbose shows them)", all.len() - shown)?;
        }
        Ok(())
    }
}

/// Six significant digits, never rounded up.
pub(super) fn down(value: f64) -> String {
    decimal::down(value, 6)
}
