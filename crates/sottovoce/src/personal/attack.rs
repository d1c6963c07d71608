//! Someone who sees every message bets on one row: of an agent with the usual budget, and of those with the largest and the smallest.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use sottovoce_engine::personal::{Amount, Budgets, Canary, CanaryFound, Hiding};
use sottovoce_privacy::Law;

use crate::experiment::Personalized;
use crate::{Error, Result, require};

/// What the attacks proved: the usual budget first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attacked {
    /// On an agent with the usual budget, or with the noise that is given.
    #[serde(flatten)]
    pub usual: CanaryFound,
    /// Whose budget that is.
    pub whose: String,
    /// On agents with other budgets: the largest and the smallest of them.
    pub others: Vec<Another>,
}

/// The attack on another budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Another {
    /// The epsilon that was agreed on.
    pub budget: f64,
    /// With whom.
    pub whose: String,
    /// What the attack proved.
    #[serde(flatten)]
    pub found: CanaryFound,
}

impl Attacked {
    /// The first attack that proved more than is claimed; none where all claims stand.
    pub fn fallen(&self) -> Option<&str> {
        let mut all = std::iter::once(&self.usual).chain(self.others.iter().map(|other| &other.found));
        all.find(|found| !found.stands).map(|found| found.headline.as_str())
    }
}

impl fmt::Display for Attacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A claim that fell comes first.
        if let (Some(fallen), true) = (self.fallen(), self.usual.stands) {
            writeln!(f, "{fallen}\n")?;
        }
        write!(f, "{}", self.usual)?;
        writeln!(f, "  attacked: {}", self.whose)?;
        for Another { whose, found, .. } in &self.others {
            writeln!(f, "\n{found}  attacked: {whose}")?;
        }
        Ok(())
    }
}

/// How many attacks there are, for a progress bar.
pub fn attacks(experiment: &Personalized) -> usize {
    1 + experiment.target.budget.len().min(2) // whole numbers
}

/// Attacks an agent who has as many rows as the one in the middle, with each of these budgets; `progress` hears of every run.
pub fn attack(
    experiment: &Personalized,
    folder: &Path,
    seed: u64,
    runs: usize,
    progress: impl Fn() + Sync,
) -> Result<Attacked> {
    let ready = experiment.ready(folder, seed)?;
    if let Some(warm) = ready.hiding.warm {
        let remedy = "the attack is on updates; leave the warm start out";
        return Err(Error::parameter("warm", warm.epsilon, remedy));
    }
    require(experiment.noise.sigma != Some(0.0), "sigma", 0, "without noise nothing is claimed; give some")?;
    let mut rows: Vec<usize> =
        (0..ready.agents.count()).map(|agent| ready.agents.train.rows_of(agent)).collect();
    rows.retain(|rows| *rows > 0);
    rows.sort_unstable();
    let Some(&rows) = rows.get(rows.len() / 2) else {
        return Err(Error::parameter("rows", 0, "nobody has any; there is nothing to attack"));
    };
    let on = |hiding: &Hiding| {
        let canary = Canary {
            hiding,
            clip: ready.clip(),
            noise: 1.0,
            rows,
            width: ready.agents.width(),
            radius: ready.agents.radius,
            dense: hiding.law == Law::Gaussian,
            mu: experiment.protocol.mu,
            delta: experiment.target.delta,
            threshold: 0.0,
        };
        canary.attack(runs, seed, &progress)
    };
    let Amount::Budget(budgets) = &ready.hiding.amount else {
        let whose = "the noise that is given, which is everybody's".to_owned();
        return Ok(Attacked { usual: on(&ready.hiding)?, whose, others: Vec::new() });
    };
    let with = |epsilon: f64| {
        let amount = Amount::Budget(Budgets { epsilon, others: Default::default(), ..budgets.clone() });
        on(&Hiding { amount, ..ready.hiding.clone() })
    };
    let mut others = Vec::new();
    for (size, budget) in extremes(budgets) {
        let agents: Vec<usize> =
            budgets.others.iter().filter(|(_, own)| **own == budget).map(|(agent, _)| *agent).collect();
        let whose = format!("the {size} of other budgets, epsilon {budget}: {}", ready.names().list(&agents));
        others.push(Another { budget, whose, found: with(budget)? });
    }
    let whose = format!("the usual budget, epsilon {}", budgets.epsilon);
    Ok(Attacked { usual: with(budgets.epsilon)?, whose, others })
}

/// The largest and the smallest of the budgets that are not the usual one.
fn extremes(budgets: &Budgets) -> Vec<(&'static str, f64)> {
    let mut all: Vec<f64> = budgets.others.values().copied().filter(|own| *own != budgets.epsilon).collect();
    all.sort_by(f64::total_cmp);
    match (all.first(), all.last()) {
        (Some(&least), Some(&most)) if least != most => vec![("largest", most), ("smallest", least)],
        (Some(&only), _) => vec![("only one", only)],
        _ => Vec::new(),
    }
}
