//! `sottovoce plan rumor`: the muting parameter for a target.

use std::fmt;

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use sottovoce_fault::decimal::{Decimal, Rounding};
use sottovoce_privacy::round_up;

use super::written::Out;
use crate::Global;
use crate::spec::Spec;
use sottovoce::experiment::{Experiment, Rumor};
use sottovoce::plan::rumor::shown;
use sottovoce::plan::{self, RumorPlan, RumorRow};

const EXAMPLES: &str = "Examples:
  sottovoce plan rumor --peers 1000 --curious 100 --delta 0.2
  sottovoce plan rumor --peers 65536 --curious 6553 --delta 0.15 --json

Delta bounds by how much curious peers can tell two sources apart (at epsilon = 0): asked to choose between two, they are right
with probability at most (1 + delta) / 2. No protocol in which the source acts like everyone else gets below F/N.";

/// Arguments of `plan rumor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RumorArgs {
    #[command(flatten)]
    spec: Spec<Rumor>,
    #[command(flatten)]
    out: Out,
}

impl RumorArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        plan(&self.spec.get()?, global.seed, &self.out, global)
    }
}

/// The muting parameter for a rumour.
pub(super) fn plan(asked: &Rumor, seed: u64, out: &Out, global: &Global) -> anyhow::Result<()> {
    out.check()?;
    if let Some(muting) = asked.muting {
        bail!("`muting` is {muting}: it is what a plan chooses; leave it out, or account for it");
    }
    asked.refuse(&[], "a plan is for peers who can all reach each other and lose nothing; leave it out")?;
    let (peers, curious) = (asked.peers, asked.curious());
    let delta = asked.delta.unwrap_or(2.0 * curious as f64 / peers as f64);
    let found = plan::rumor(peers, curious, delta)?;
    let experiment = Experiment::of_rumor_plan(&found, seed);
    out.print(Planned(found), &experiment, global)
}

/// What `plan rumor` found.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub(super) struct Planned(pub(super) RumorPlan);

impl Planned {
    fn headline(&self) -> String {
        let plan = &self.0;
        let row = &plan.rows[plan.chosen];
        let rounds = row.rounds.map_or_else(String::new, |rounds| format!("; about {rounds:.0} rounds"));
        format!(
            "Muting s = {}: {} curious peers of {} tell two sources apart with delta {} at most{rounds}",
            shown(row.muting),
            plan.curious,
            plan.nodes,
            round_up(row.delta)
        )
    }
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.0;
        writeln!(f, "{}\n", self.headline())?;
        writeln!(
            f,
            "{} peers, {} of them curious; delta <= {} at epsilon = 0\n",
            plan.nodes, plan.curious, plan.target
        )?;
        let names = ["s", "delta", "ours", "in rounds", "sharp", "uncertainty", "ours", "rounds", "messages"];
        writeln!(f, "  {}", line(&names.map(str::to_owned)))?;
        for (i, row) in plan.rows.iter().enumerate() {
            let mark = if i == plan.chosen { '>' } else { ' ' };
            writeln!(f, "{mark} {}", line(&cells(row)))?;
        }
        writeln!(
            f,
            "\ndelta and uncertainty: Theorems 5, 7 and 8; ours and sharp: one telling at a time; in rounds: ours where all active peers \
             tell at once; rounds and messages: predicted by mean dynamics (simulations take up to a tenth longer, a fifth where peers \
             are few)"
        )?;
        writeln!(f, "\n{}", plan.reason)?;
        writeln!(f, "  against {}, for {}; {}", plan.adversary, plan.unit, plan.standing)?;
        sottovoce::terms::not_covered(f, &plan.not_covered)
    }
}

fn line(cells: &[String; 9]) -> String {
    let widths = [8, 9, 9, 9, 9, 11, 9, 9, 11];
    cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}")).collect::<Vec<_>>().join(" ")
}

fn cells(row: &RumorRow) -> [String; 9] {
    let unknown = || "-".to_owned();
    [
        shown(row.muting),
        round_up(row.delta),
        round_up(row.improved_delta),
        round_up(row.rounds_delta),
        row.sharp_delta.map_or_else(unknown, round_up),
        down(row.prediction_uncertainty),
        down(row.improved_uncertainty),
        row.rounds.map_or_else(unknown, |rounds| format!("{rounds:.0}")),
        row.messages.map_or_else(unknown, |messages| format!("{messages:.0}")),
    ]
}

/// Four places, never rounded up.
fn down(value: f64) -> String {
    Decimal::places(value, 4, Rounding::Down).map_or_else(|| value.to_string(), |shown| shown.to_string())
}
