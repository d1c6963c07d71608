//! Curves as tables: delta by epsilon, epsilon by delta, and the trade-off of the two errors of a test.

use std::fmt;

use serde::Serialize;
use sottovoce_fault::decimal::{scientific, up_value};
use sottovoce_privacy::{Epsilon, Group, Interval, TradeOff, round_up};

/// Deltas of the table.
const DELTAS: [f64; 11] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12];
/// Further ones that make the trade-off curve round.
const LARGE: [f64; 14] = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.04, 0.02];
/// Type I errors of the table.
const TYPE_ONE: [f64; 14] = [0.0001, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// Steps of the column of epsilons.
const STEPS: u32 = 8;

/// The three tables.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Table {
    delta_by_epsilon: Vec<DeltaRow>,
    epsilon_by_delta: Vec<EpsilonRow>,
    trade_off: Vec<Errors>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct DeltaRow {
    epsilon: f64,
    delta: Interval,
}

#[derive(Serialize, schemars::JsonSchema)]
struct EpsilonRow {
    delta: f64,
    /// Nothing where no finite one holds.
    epsilon: Option<f64>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Errors {
    type_one: f64,
    /// Every test misses at least this often.
    type_two: f64,
}

impl Table {
    pub(super) fn new(group: &Group) -> anyhow::Result<Self> {
        let epsilons = group.upper_epsilons(&DELTAS)?;
        let finite = epsilons.iter().copied().filter(|upper| upper.is_finite());
        let most = finite.fold(0.0, |most, upper| if upper > most { upper } else { most });
        let step = up_value(most / f64::from(STEPS), 2);
        let row = |epsilon: f64| Ok(DeltaRow { epsilon, delta: group.delta(epsilon)? });
        let grid = (0..=STEPS).map(|i| f64::from(i) * step).take(if step > 0.0 { usize::MAX } else { 1 });
        let curve = curve(group)?;
        let errors = |type_one: f64| Errors { type_one, type_two: curve.type_two(type_one) };
        Ok(Self {
            delta_by_epsilon: grid.map(row).collect::<anyhow::Result<_>>()?,
            epsilon_by_delta: (DELTAS.into_iter().zip(epsilons))
                .map(|(delta, epsilon)| EpsilonRow {
                    delta,
                    epsilon: Some(epsilon).filter(|e| e.is_finite()),
                })
                .collect(),
            trade_off: TYPE_ONE.into_iter().map(errors).collect(),
        })
    }
}

/// Pairs `(epsilon, delta)` that hold, from the largest delta to the smallest.
pub(super) fn guarantees(group: &Group) -> anyhow::Result<Vec<(f64, f64)>> {
    let deltas: Vec<f64> = LARGE.into_iter().chain(DELTAS).collect();
    let mut pairs = group.guarantees(&deltas)?;
    let at_zero = group.delta(0.0)?.upper;
    // Deltas above that of epsilon 0 say nothing more than it does.
    pairs.retain(|(epsilon, delta)| *epsilon > 0.0 && *delta < at_zero);
    pairs.push((0.0, at_zero));
    if let (Epsilon::Within(pure), _) = group.epsilon(0.0)? {
        pairs.push((pure.upper, 0.0));
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(pairs)
}

/// The trade-off curve that those pairs make.
pub(super) fn curve(group: &Group) -> anyhow::Result<TradeOff> {
    Ok(TradeOff::new(guarantees(group)?))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:>12}  {:>16}", "epsilon", "delta at most")?;
        for row in &self.delta_by_epsilon {
            writeln!(f, "  {:>12}  {:>16}", plain(row.epsilon), scientific(row.delta.upper))?;
        }
        writeln!(f, "\n  {:>12}  {:>16}", "delta", "epsilon at most")?;
        for row in &self.epsilon_by_delta {
            let epsilon = row.epsilon.map_or_else(|| "none".to_owned(), round_up);
            writeln!(f, "  {:>12}  {epsilon:>16}", format!("{:e}", row.delta))?;
        }
        writeln!(f, "\n  {:>12}  {:>16}", "type I error", "type II at least")?;
        for row in &self.trade_off {
            writeln!(f, "  {:>12}  {:>16.6}", row.type_one, (row.type_two * 1e6).floor() / 1e6)?;
        }
        Ok(())
    }
}

/// A multiple of the step as it was meant.
fn plain(epsilon: f64) -> String {
    format!("{}", (epsilon * 1e9).round() / 1e9)
}
