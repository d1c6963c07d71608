//! The muting parameter for a target: as quick as the theorems allow, with what other choices would cost.
//!
//! The rumour is the quicker the larger `s` is, and the better hidden the smaller. Chosen is the largest `s` whose published delta
//! (Theorem 7) is at most the target, or less where rounds would exceed it; our sharper bounds allow more, and say how much more.

use serde::Serialize;
use sottovoce_privacy::{Standing, Unit};
use sottovoce_views::rumor::{NOT_COVERED, Rumor, improved_muting_for, rounds_muting_for, sharp_muting_for};

use crate::Result;
use crate::terms::Stated;

/// Values of `s` that are shown for comparison.
const SHOWN: [f64; 10] = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0];
/// Effort of a sharp loss in the table.
const EFFORT: f64 = 2e7;

/// A value of `s` and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RumorRow {
    /// The muting parameter.
    pub muting: f64,
    /// Theorem 5's or 7's delta at `epsilon = 0`.
    pub delta: f64,
    /// Ours in closed form, of asynchronous tellings.
    pub improved_delta: f64,
    /// The same in rounds.
    pub rounds_delta: f64,
    /// The certified upper end of the delta of asynchronous tellings.
    pub sharp_delta: Option<f64>,
    /// Theorem 5's or 8's prediction uncertainty.
    pub prediction_uncertainty: f64,
    /// Ours.
    pub improved_uncertainty: f64,
    /// Predicted rounds until everybody knows.
    pub rounds: Option<f64>,
    /// Predicted messages until everybody knows.
    pub messages: Option<f64>,
}

/// What was planned.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RumorPlan {
    /// All peers.
    pub nodes: usize,
    /// Those who log.
    pub curious: usize,
    /// The delta asked for, at `epsilon = 0`.
    pub target: f64,
    /// The muting parameter that was chosen.
    pub muting: f64,
    /// The largest one for our closed form, of asynchronous tellings.
    pub improved_muting: f64,
    /// The largest one for our sharp bound on asynchronous tellings.
    pub sharp_muting: f64,
    /// By muting parameter.
    pub rows: Vec<RumorRow>,
    /// The row that was chosen.
    pub chosen: usize,
    /// Why.
    pub reason: String,
    /// Who attacks.
    pub adversary: String,
    /// What is protected.
    pub unit: Unit,
    /// By what right.
    pub standing: Standing,
    /// What is not promised.
    pub not_covered: [&'static str; 6],
    /// What is, as numbers.
    pub guarantees: Vec<Stated>,
}

/// The largest muting parameter that keeps `(0, delta)`, and the trade-off around it.
///
/// ```
/// let plan = sottovoce_engine::plan::rumor(100, 10, 0.2)?;
/// assert!((plan.muting - 5.0 / 9.0).abs() < 1e-12 && plan.sharp_muting > plan.improved_muting);
/// assert!(plan.rows[plan.chosen].delta <= 0.2);
/// # Ok::<(), sottovoce_engine::Error>(())
/// ```
pub fn rumor(nodes: usize, curious: usize, delta: f64) -> Result<RumorPlan> {
    let muting = rounds_muting_for(nodes, curious, delta)?;
    let improved_muting = improved_muting_for(nodes, curious, delta)?;
    let sharp_muting = sharp_muting_for(nodes, curious, delta)?;
    let mut mutings: Vec<f64> = SHOWN.into_iter().chain([muting]).collect();
    mutings.sort_by(f64::total_cmp);
    mutings.dedup();
    let rumor = |s: f64| Rumor::new(nodes, curious, s);
    let rows = mutings.iter().map(|&s| row(rumor(s)?)).collect::<Result<Vec<_>>>()?;
    let chosen = mutings.iter().position(|&s| s == muting).unwrap_or(0);
    Ok(RumorPlan {
        nodes,
        curious,
        target: delta,
        muting,
        improved_muting,
        sharp_muting,
        reason: reason(&rows[chosen], delta, improved_muting, sharp_muting),
        guarantees: vec![
            Stated::of_source("tellings one at a time", 0.0, rows[chosen].delta),
            Stated::of_source("tellings in rounds", 0.0, rows[chosen].rounds_delta),
        ],
        rows,
        chosen,
        adversary: rumor(muting)?.adversary(),
        unit: Unit::Source,
        standing: Standing::Proven,
        not_covered: NOT_COVERED,
    })
}

fn row(rumor: Rumor) -> Result<RumorRow> {
    let spread = rumor.spread();
    Ok(RumorRow {
        muting: rumor.muting(),
        delta: rumor.delta(0.0, 1)?,
        improved_delta: rumor.improved_delta(),
        rounds_delta: rumor.rounds_delta(),
        sharp_delta: rumor.sharp_within(EFFORT).map(|sharp| sharp.at_zero.upper),
        prediction_uncertainty: rumor.prediction_uncertainty(1),
        improved_uncertainty: rumor.improved_uncertainty(1),
        rounds: spread.map(|spread| spread.rounds),
        messages: spread.map(|spread| spread.messages),
    })
}

/// A muting parameter for people: six places, and never less private than it is.
pub fn shown(muting: f64) -> String {
    format!("{:.6}", (muting * 1e6).floor() / 1e6)
}

fn reason(row: &RumorRow, target: f64, improved: f64, sharp: f64) -> String {
    match row.muting {
        1.0 => "nobody is curious: push, the quickest".into(),
        0.0 => format!("s = 0: the rumour must walk, as delta <= {target} leaves no room above f/n"),
        s => format!(
            "s = {}: the largest s with delta <= {target} by Theorem 7 that keeps it in rounds as well, hence the quickest. For one telling at \
             a time our bounds would allow s = {} in closed form, and s = {} by the sharp one.",
            shown(s),
            shown(improved),
            shown(sharp)
        ),
    }
}
