//! What the pictures of several figures share: losses by distance, and places for the peers of a graph.

use std::f64::consts::TAU;

use sottovoce_report::{Axis, Chart, Curve, Picture, Series};
use sottovoce_topology::Graph;

use crate::statistics::Summary;

/// Smaller losses are drawn at the axis.
const FLOOR: f64 = 1e-5;
/// The largest printed sums are far above local DP.
const CEILING: f64 = 50.0;
/// Peers further away are left out of charts (not of the data).
pub(super) const REACH: u32 = 20;

/// The vertical axis of all losses.
pub(super) fn losses() -> Axis {
    Axis::log10("loss (local DP = 1)").range(FLOOR, CEILING)
}

/// A line at local DP.
pub(super) fn local(from: f64, to: f64) -> Curve {
    Curve::line(Series { name: "local DP".into(), points: vec![(from, 1.0), (to, 1.0)], band: None })
}

/// Mean losses at each distance, with their range.
pub(super) fn by_distance(name: &str, rows: &[(u32, Summary)]) -> Curve {
    let near: Vec<&(u32, Summary)> = rows.iter().filter(|(hops, _)| *hops <= REACH).collect();
    Curve::marked(Series {
        name: name.into(),
        points: near.iter().map(|(hops, summary)| (f64::from(*hops), summary.mean)).collect(),
        band: Some(near.iter().map(|(_, summary)| (summary.low.max(FLOOR), summary.high)).collect()),
    })
}

/// A chart of losses against hops, local DP included.
pub(super) fn distance_chart(title: &str, mut curves: Vec<Curve>) -> Picture {
    let ends = curves.iter().flat_map(|curve| &curve.series.points).map(|point| point.0);
    let last = ends.fold(1.0, f64::max);
    curves.push(local(1.0, last));
    Chart::new(title, Axis::whole("hops").range(1.0, last.max(2.0)), losses(), curves).picture()
}

/// A ring for each distance; around it, peers in the order of the neighbours that lead to them.
pub(super) fn rings(graph: &Graph, hops: &[u32]) -> Vec<(f64, f64)> {
    let farthest = hops.iter().copied().max().unwrap_or(0);
    let mut angles = vec![0.0; graph.nodes()];
    for d in 1..=farthest {
        let inner = |u: usize| {
            let before = graph.neighbors(u).iter().filter(|&&v| hops[v as usize] + 1 == d);
            Summary::of(before.map(|&v| angles[v as usize])).map_or(0.0, |summary| summary.mean)
        };
        let mut ring: Vec<(f64, usize)> =
            (0..hops.len()).filter(|&u| hops[u] == d).map(|u| (inner(u), u)).collect();
        ring.sort_by(|a, b| a.0.total_cmp(&b.0));
        let step = TAU / ring.len() as f64;
        ring.iter().enumerate().for_each(|(i, (_, u))| angles[*u] = (i as f64 + 0.5) * step);
    }
    let place = |(angle, &hops): (f64, &u32)| (f64::from(hops) * angle.cos(), f64::from(hops) * angle.sin());
    angles.into_iter().zip(hops).map(place).collect()
}
