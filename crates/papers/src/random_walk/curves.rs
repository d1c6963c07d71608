//! The charts of figures 1 and 4: losses by distance on one graph.

use sottovoce_report::{Axis, Chart, Curve, Picture, Series};

use super::four::Study;
use super::tally::Tally;

/// More points than this are not marked one by one.
const MARKED: usize = 25;

/// The walk as printed, gossip beside it, and what random paths reveal.
pub(super) fn chart(study: &Study, title: &str, printed: &Tally) -> Picture {
    let least = |tally: &Tally| tally.rows().iter().map(|(_, row)| row.mean).fold(f64::INFINITY, f64::min);
    let floor = 0.3 * least(printed).min(least(&study.path)).max(1e-6);
    let ceiling = printed.rows().iter().map(|(_, row)| row.high).fold(1.0, f64::max) * 1.5;
    let far = f64::from(printed.rows().last().map_or(2, |(hops, _)| *hops).max(2));
    let local = Series { name: "local DP".into(), points: vec![(1.0, 1.0), (far, 1.0)], band: None };
    let curves = vec![
        curve("walk, printed", printed, floor, true),
        curve("gossip, printed", &study.gossip, floor, false),
        curve("walk, mean over paths", &study.path, floor, false),
        curve("walk, path told", &study.told, floor, false),
        Curve::line(local),
    ];
    Chart::new(
        format!("{title}, {}", study.name),
        Axis::whole("hops").range(1.0, far),
        Axis::log10("loss (local DP = 1)").range(floor, ceiling),
        curves,
    )
    .picture()
}

/// Means by distance, up to the first that is below the floor.
fn curve(name: &str, tally: &Tally, floor: f64, band: bool) -> Curve {
    let rows = tally.rows();
    let last = rows.iter().position(|(_, row)| row.mean < floor).map_or(rows.len(), |place| place + 1);
    let rows = &rows[..last];
    let series = Series {
        name: name.into(),
        points: rows.iter().map(|(hops, row)| (f64::from(*hops), row.mean)).collect(),
        band: band.then(|| rows.iter().map(|(_, row)| (row.low.max(floor), row.high)).collect()),
    };
    if rows.len() > MARKED { Curve::line(series) } else { Curve::marked(series) }
}
