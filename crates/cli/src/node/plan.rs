//! `sottovoce node plan`: what a run could reveal of this node.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sottovoce_node::{Forecast, Observer, Place, Signatures};

use super::{agree, up};
use crate::Global;

/// Arguments of `node plan`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce node plan ana mean.toml")]
pub(crate) struct Plan {
    /// The node's folder.
    folder: PathBuf,
    /// The agreement.
    file: PathBuf,
    /// What it would cost to begin a rumour that says this.
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
}

/// What a run could reveal of a node.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Planned {
    /// Names the agreement.
    agreement: String,
    /// The data set.
    label: String,
    /// Who could learn what.
    observers: Vec<Learns>,
    /// Whether all of it can be paid.
    affordable: bool,
    /// Why not, if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    /// Rounds.
    rounds: usize,
    /// Messages that this node sends.
    messages: u64,
    /// Their bytes, about.
    bytes: u64,
    /// Seconds, at the most.
    seconds: f64,
    /// Standard deviation that noise leaves in each number of the result, where it is known beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    /// Of what epsilons are: `all` that this node holds, or one `row` of it.
    of: &'static str,
    /// What they hold against.
    holds: &'static str,
    /// Who has not signed yet.
    missing: Vec<String>,
}

/// What one observer could learn.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Learns {
    /// Who.
    observer: String,
    /// Epsilon of this run, at the budget's delta.
    epsilon: f64,
    /// The delta.
    delta: f64,
    /// A chance beside it that this observer learns all: of rumours.
    #[serde(skip_serializing_if = "is_zero")]
    chance: f64,
    /// Epsilon of all that was spent before.
    spent: f64,
    /// The budget.
    budget: f64,
}

fn is_zero(chance: &f64) -> bool {
    *chance == 0.0
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worst = self.observers.iter().max_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
        let worst = worst.map_or_else(String::new, |worst| {
            format!("{} learns most: epsilon {:.3}", worst.observer, up(worst.epsilon))
        });
        let can = if self.affordable { "can be paid" } else { "CANNOT BE PAID" };
        writeln!(f, "{worst}; the run {can}\n")?;
        writeln!(f, "  {:<44} {:>10} {:>10} {:>10}", "who", "this run", "spent", "budget")?;
        for one in &self.observers {
            writeln!(
                f,
                "  {:<44} {:>10.4} {:>10.4} {:>10.4}",
                one.observer,
                up(one.epsilon),
                up(one.spent),
                one.budget
            )?;
        }
        if let Some(refusal) = &self.refusal {
            writeln!(f, "\n  {refusal}")?;
        }
        for one in self.observers.iter().filter(|one| one.chance > 0.0) {
            let chance = up(one.chance);
            writeln!(f, "  {:<44} a chance of {chance:.4} that it learns who began", one.observer)?;
        }
        if self.of == "row" {
            writeln!(f, "\n  Epsilons are of one row of what this node holds, and not of all of it.")?;
        }
        writeln!(f, "\n  {}", self.holds)?;
        writeln!(
            f,
            "  {} rounds, {} messages, about {} bytes, {:.0} seconds at the most",
            self.rounds, self.messages, self.bytes, self.seconds
        )?;
        if let Some(deviation) = self.deviation {
            writeln!(f, "  noise leaves {deviation:.3e} in each number of the result")?;
        }
        if !self.missing.is_empty() {
            writeln!(f, "  not signed yet: {}", self.missing.join(", "))?;
        }
        Ok(())
    }
}

impl Plan {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (agreement, place) = (agree::read(&self.file)?, Place::open(&self.folder)?);
        let part = place.role_saying(&agreement, self.say.as_deref())?;
        let config = place.config()?;
        let ledger = place.open_ledger()?;
        let (roster, names) = (agreement.roster()?, agreement.names());
        let budget = |observer: Observer| (observer.clone(), config.budget.towards(&observer));
        let budgets: Vec<_> = part.observers().into_iter().map(budget).collect();
        let spent = ledger.budgets()?;
        let known = spent.iter().filter(|one| one.label == config.label).map(|one| one.observer.clone());
        let cost = part.cost(&known.collect::<Vec<_>>())?;
        let learns = |(observer, price): &(Observer, sottovoce_node::Price)| {
            let allowed = config.budget.towards(observer);
            let of_run = price.loss.as_ref().map(|loss| loss.epsilon(allowed.delta)).transpose()?;
            let before = spent.iter().find(|one| one.label == config.label && one.observer == *observer);
            anyhow::Ok(Learns {
                observer: observer.called(&roster, &names),
                epsilon: of_run.map_or(0.0, |epsilon| epsilon.upper),
                delta: allowed.delta,
                chance: price.delta,
                spent: before.map_or(0.0, |one| one.epsilon),
                budget: allowed.epsilon,
            })
        };
        let refusal = ledger.affords(&config.label, &budgets, &cost).err().map(|error| error.to_string());
        let Forecast { rounds, messages, bytes, deviation, .. } = part.forecast()?;
        let signed = Signatures::read(&agree::signatures(&self.file))?.all();
        global.print(&Planned {
            agreement: agreement.hash()?.to_string(),
            observers: cost.prices.iter().map(learns).collect::<anyhow::Result<_>>()?,
            label: config.label,
            affordable: refusal.is_none(),
            refusal,
            rounds,
            messages,
            bytes,
            seconds: part.lasts().map_or(agreement.round * rounds as f64, |time| time.as_secs_f64()),
            deviation,
            of: if cost.unit == sottovoce::privacy::Unit::Record { "row" } else { "all" },
            holds: part.holds(),
            missing: agreement.unsigned(&signed)?,
        })
    }
}
