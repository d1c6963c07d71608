//! Words and curves that several figures share.

use sottovoce_report::text;
use sottovoce_report::{Axis, Curve, Series};

use super::theory::Held;

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", text::short(100.0 * share, 3))
}

/// A share, or a number of rounds.
pub(super) fn number(value: f64) -> String {
    text::digits(value, 3)
}

/// A bound on a loss: never shown smaller than it is.
pub(super) fn bound(value: f64) -> String {
    text::up(value, 3)
}

/// `s = 0.5`, as curves are named.
pub(super) fn named(muting: f64) -> String {
    format!("s = {}", text::short(muting, 3))
}

/// `x at s = 0.1, y at 0.25`.
pub(super) fn by_muting(values: impl Iterator<Item = (f64, String)>) -> String {
    let one = |(place, (s, value)): (usize, (f64, String))| {
        let name = if place == 0 { named(s) } else { text::short(s, 3) };
        format!("{value} at {name}")
    };
    values.enumerate().map(one).collect::<Vec<_>>().join(", ")
}

/// The vertical axis of all attacks.
pub(super) fn found_axis() -> Axis {
    Axis::linear("source found (share of runs)").range(0.0, 1.0)
}

/// Estimates with their intervals, along some number.
pub(super) fn measured(name: String, points: impl Iterator<Item = (f64, Held)> + Clone) -> Curve {
    Curve::marked(Series {
        name,
        points: points.clone().map(|(x, held)| (x, held.estimate)).collect(),
        band: Some(points.map(|(_, held)| (held.low, held.high)).collect()),
    })
}

/// A formula along some number.
pub(super) fn line(name: &str, points: Vec<(f64, f64)>) -> Curve {
    Curve::line(Series { name: name.into(), points, band: None })
}

/// How many of some attacks are surely above their bounds.
pub(super) fn above(all: &[Held]) -> String {
    let count = |refutes: fn(&Held) -> bool| match all.iter().filter(|held| refutes(held)).count() {
        0 => "none".to_owned(),
        n => n.to_string(),
    };
    let (published, ours) = (count(Held::refutes), count(Held::refutes_ours));
    format!(
        "of {} measurements {published} lies surely above the published bounds, and {ours} above those from the exact delta",
        all.len()
    )
}
