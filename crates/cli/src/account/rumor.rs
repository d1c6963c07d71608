//! `sottovoce account rumor`: how well the source of a rumour is hidden from curious peers.

use std::fmt;
use std::path::Path;

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use sottovoce_privacy::round_up;
use sottovoce_views::rumor::{Account, Better, Method, Rumor, Spread};

use super::rumor_graph::{self, down};
use crate::Global;
use crate::graph::real;
use crate::graph::source::said;
use sottovoce::experiment;
use sottovoce::terms::Stated;

/// What is asked of a rumour beside its spec.
#[derive(Debug, Clone, Args)]
pub(crate) struct Question {
    /// Epsilon at which delta is reported.
    #[arg(long, value_name = "E", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    epsilon: f64,
    /// Rumours of one and the same source.
    #[arg(long, value_name = "K", default_value = "1", value_parser = rumors, allow_negative_numbers = true)]
    rumors: u32,
    /// Two sources on a graph, separated by a comma (default: all pairs).
    #[arg(long, value_name = "U,V", value_delimiter = ',', requires = "graph")]
    pair: Vec<String>,
}

impl Default for Question {
    fn default() -> Self {
        Self { epsilon: 0.0, rumors: 1, pair: Vec::new() }
    }
}

fn rumors(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "give a whole number from 1 to 10000".to_owned())
}

/// How well the source is hidden: among neighbours, or where everyone can reach everyone.
pub(super) fn account(
    asked: &experiment::Rumor,
    folder: &Path,
    Question { epsilon, rumors, pair }: &Question,
    global: &Global,
) -> anyhow::Result<()> {
    let question = (*epsilon, *rumors);
    // Of tellings one at a time and in rounds more is known than of other runs.
    let analysed: &[&str] = match asked.graph {
        Some(_) => &["graph", "format", "curious-peers", "drop"],
        None => &[],
    };
    let remedy = "such a run is accounted for at epsilon 0, for one rumour and all sources; leave it out, or --epsilon, --rumors and --pair";
    if let Err(fault) = asked.refuse(analysed, remedy) {
        if question != (0.0, 1) || !pair.is_empty() {
            return Err(fault.into());
        }
        let _waiting = global.waiting("accounting");
        let place = asked.place(folder)?;
        place.iter().for_each(|place| said(place.sha256.as_ref(), &place.notes));
        return global.print(&sottovoce::rumor::account(asked, place, global.seed)?);
    }
    if asked.graph.is_some() {
        return rumor_graph::print(asked, folder, pair, question, global);
    }
    if !pair.is_empty() {
        bail!(
            "`pair` is {}: where everyone reaches everyone all sources are alike; leave it out, or give --graph",
            pair.join(",")
        );
    }
    print(&asked.rumor()?, question.0, question.1, global)
}

/// Prints how well the source is hidden.
fn print(rumor: &Rumor, epsilon: f64, rumors: u32, global: &Global) -> anyhow::Result<()> {
    let account = rumor.account(epsilon, rumors)?;
    let (delta, by) = promised(&account);
    let statement = format!(
        "epsilon = {} at delta <= {} against {}, for {} ({}); {}{by}, for one telling at a time",
        account.epsilon,
        round_up(delta),
        account.adversary,
        account.unit,
        account.adjacency,
        account.standing
    );
    let guarantees = vec![
        Stated::of_source("tellings one at a time", account.epsilon, delta),
        Stated::of_source("tellings in rounds", account.epsilon, account.rounds.delta),
    ];
    global.print(&RumorAccount { account, statement, guarantees })
}

/// The delta that is promised, and by what. Of push nothing below 1 is published (Theorem 4), and ours holds; else it is the published one, which ours never exceeds.
fn promised(account: &Account) -> (f64, &'static str) {
    let ours = account.sharp.as_ref().map_or(account.improved.delta, |sharp| sharp.delta);
    match account.muting == 1.0 {
        true if ours < account.delta => (ours, " by our bound (Theorem 4 promises nothing of push)"),
        true => (account.delta, " as Theorem 4 has it"),
        false => (account.delta, ""),
    }
}

/// What `account rumor` found.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct RumorAccount {
    #[serde(flatten)]
    account: Account,
    /// What is promised, in words.
    statement: String,
    /// The same as numbers.
    guarantees: Vec<Stated>,
}

impl fmt::Display for RumorAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.account;
        let rumors = if found.rumors == 1 {
            "one rumour".to_owned()
        } else {
            format!("{} rumours of one source", found.rumors)
        };
        writeln!(
            f,
            "The source is hidden up to delta {} at epsilon {}; no attack names it with probability above {}\n",
            round_up(promised(found).0),
            found.epsilon,
            round_up(found.improved_posterior_at_most)
        )?;
        writeln!(
            f,
            "{} peers, {} of them curious; {rumors}, muting s = {}\n",
            found.nodes, found.curious, found.muting
        )?;
        writeln!(f, "  {}\n", self.statement)?;
        writeln!(f, "{}", meaning(found))?;
        writeln!(f, "\n  {:<34} {:>10} {:>12}", "", "delta", "uncertainty")?;
        row(f, printed(found), found.delta, found.prediction_uncertainty)?;
        row(f, "ours, one telling at a time", found.improved.delta, found.improved_uncertainty)?;
        if let Some(sharp) = &found.sharp {
            row(f, "ours, the same, sharper", sharp.delta, found.improved_uncertainty)?;
        }
        row(f, "ours, in synchronous rounds", found.rounds.delta, found.improved_uncertainty)?;
        writeln!(f, "  {}", note(found))?;
        writeln!(f, "\n  {}", spreading(found.spreading))?;
        sottovoce::terms::not_covered(f, &found.not_covered)
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, delta: f64, uncertainty: f64) -> fmt::Result {
    writeln!(f, "  {name:<34} {:>10} {:>12}", round_up(delta), down(uncertainty))
}

/// Where the published row comes from.
fn printed(found: &Account) -> &'static str {
    match (found.muting == 0.0, found.muting == 1.0, found.epsilon == 0.0) {
        (true, ..) => "published (Theorem 5)",
        (_, true, _) => "published (Theorem 4)",
        (.., true) => "published (Theorems 7 and 8)",
        _ => "published, chord to n / (1 - s)",
    }
}

/// The guarantee as probabilities of success.
fn meaning(found: &Account) -> String {
    format!(
        "  told one at a time, no attack names the source with probability above {} on average, and after no observation is anybody the source with \
         probability above {} (published: {})",
        round_up(found.improved.attack_success_at_most),
        round_up(found.improved_posterior_at_most),
        round_up(found.posterior_at_most)
    )
}

/// Where the sharp number comes from.
fn note(found: &Account) -> String {
    match &found.sharp {
        Some(Better { at_zero, method: Method::States | Method::Totals, .. }) => {
            let (low, high) = (down(at_zero.lower), round_up(at_zero.upper));
            format!("one telling at a time, one rumour at epsilon = 0: the truth is in [{low}, {high}]")
        }
        _ => format!("({})", found.sharp_reason),
    }
}

fn spreading(spread: Option<Spread>) -> String {
    match spread {
        None => "spreading takes more than ten million rounds".into(),
        Some(Spread { rounds, messages, .. }) => format!(
            "spreading takes about {rounds} rounds and {messages:.0} messages (mean dynamics; simulations take up to a tenth longer, a fifth where peers are few)"
        ),
    }
}
