//! The pictures of an averaging report.
//!
//! Colour and height tell losses on the same logarithmic scale, which is the same for every observer and every cell,
//! so that pictures can be compared.

use std::collections::BTreeMap;

use super::pack::SMALLEST;
use super::{AveragingReport, NO_PATH, Traded, honest};
use crate::chart::{Chart, Curve, Mark, Series, Spread};
use crate::colour::Ink;
use crate::frame::{Axis, rounded};
use crate::graph_picture::{ColourBar, GraphPicture};
use crate::scene::{Picture, Shape};
use crate::text::up;
use crate::ticks;

/// The scale of losses: from a power of ten up to one, by the logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shade {
    low: f64,
}

impl Shade {
    /// How far along the scale a loss is, from zero to one.
    pub(super) fn part(self, loss: f64) -> f64 {
        if loss <= self.low { 0.0 } else { (loss / self.low).log10() / -self.low.log10() }
    }

    fn bar(self) -> ColourBar {
        let ticks = ticks::log10(self.low, 1.0, 6);
        let mut ticks: Vec<(f64, String)> =
            ticks.into_iter().map(|t| (self.part(t.value), t.label)).collect();
        if let Some(first) = ticks.first_mut() {
            first.1.insert_str(0, "≤ ");
        }
        ColourBar { title: "loss (local DP is 1)".into(), ticks }
    }
}

impl AveragingReport {
    /// The scale of this report's losses.
    pub(super) fn shade(&self) -> Shade {
        let losses = self.cells.iter().flat_map(|c| c.losses.iter().flatten()).map(|l| honest(*l));
        let smallest = losses.chain([self.central]).filter(|l| *l > 0.0).fold(0.1, f64::min);
        Shade { low: 10f64.powf(smallest.max(SMALLEST).log10().floor()) }
    }

    /// The graph as the observer sees it.
    pub(super) fn graph(&self) -> Picture {
        let shade = self.shade();
        let losses: Vec<f64> = self.chosen_cell().losses[self.observer].iter().map(|l| honest(*l)).collect();
        let labels = (0..self.positions.len()).map(|i| self.describe(i, losses[i])).collect();
        let picture = GraphPicture {
            title: format!("What {} could learn of each other peer", self.name(self.observer)),
            description:
                "Peers as dots, links as lines; the lighter a dot, the more the ringed observer could learn \
                          of that peer's value."
                    .into(),
            positions: self.positions.clone(),
            edges: self.edges.clone(),
            values: losses.iter().map(|l| shade.part(*l)).collect(),
            labels,
            observer: Some(self.observer),
            bar: shade.bar(),
            size: (480.0, 520.0),
        };
        picture.picture()
    }

    /// One peer in words, as the observer sees it.
    fn describe(&self, peer: usize, loss: f64) -> String {
        let name = self.name(peer);
        if peer == self.observer {
            return format!("{name}, the observer");
        }
        let distance = match self.distances[self.observer][peer] {
            NO_PATH => "no path".into(),
            1 => "1 hop".into(),
            hops => format!("{hops} hops"),
        };
        format!("{name}, {distance}, loss {}", up(loss, 3))
    }

    /// Losses of the peers at each distance.
    fn rings(&self, observer: usize) -> BTreeMap<u16, Vec<f64>> {
        let mut rings: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
        let losses = &self.chosen_cell().losses[observer];
        for (peer, distance) in self.distances[observer].iter().enumerate() {
            if peer == observer || *distance == NO_PATH {
                continue;
            }
            rings.entry(*distance).or_default().push(honest(losses[peer]));
        }
        rings
    }

    /// Loss by distance from the observer.
    pub(super) fn loss_by_distance(&self) -> Picture {
        let rings = self.rings(self.observer);
        let far = f64::from(self.farthest().max(1));
        let ours = Series {
            name: "accounted here (mean, range)".into(),
            points: rings.iter().map(|(d, r)| (f64::from(*d), mean(r))).collect(),
            band: Some(rings.values().map(|r| range(r)).collect()),
        };
        let level = |name: &str, y: f64| named(name, vec![(0.5, y), (far + 0.5, y)]);
        let curves = vec![
            Curve { series: ours, mark: Mark::LineAndPoints, spread: Spread::Band },
            Curve::line(level("local DP", 1.0)),
            Curve::line(level("trusted aggregator", self.central)),
        ];
        let title = format!("Loss by distance from {}", self.name(self.observer));
        let x = Axis::whole("distance from the observer (hops)").range(0.5, far + 0.5);
        let y = Axis::log10("loss (local DP is 1)").losses().range(self.shade().low, 2.0);
        let mut chart = Chart::new(title, x, y, curves);
        chart.size.1 = 400.0;
        chart.picture()
    }

    /// Mean squared error by step.
    pub(super) fn error_by_step(&self) -> Picture {
        let curves = self.errors.iter().cloned().map(Curve::line).collect();
        let chart = Chart::new(
            "Mean squared error by step",
            Axis::whole("step"),
            Axis::log10("mean squared error"),
            curves,
        );
        chart.picture()
    }

    /// Mean squared error by the number of peers who collude.
    pub(super) fn errors_by_colluders(&self, traded: &Traded) -> Picture {
        let curves = traded.series.iter().cloned().map(Curve::line).collect();
        let chart = Chart::new(
            "Mean squared error at the same epsilon, by the number of peers who collude",
            Axis::whole("peers who collude"),
            Axis::log10("mean squared error"),
            curves,
        );
        chart.picture()
    }

    /// Error against mean loss: every cell of the grid, the run's own ringed.
    pub(super) fn trade(&self) -> Picture {
        let cells = self.cells.iter().map(|c| (c.mean, c.error)).collect();
        let curves = vec![Curve::points(named("", cells))];
        let mut chart = Chart::new(
            "Error against mean loss, one dot for each relay noise and number of steps",
            Axis::log10("mean loss (local DP is 1)").losses(),
            Axis::log10("mean squared error"),
            curves,
        );
        chart.size = (480.0, 300.0);
        let mut picture = chart.picture();
        let chosen = chart.place((self.chosen_cell().mean, self.chosen_cell().error));
        let ring = Shape::circle(chosen, 7.0).stroke(Ink::Accent, 2.4);
        picture.add(ring.with("class", "current").with("aria-hidden", "true"));
        picture
    }

    /// What the attack measured against what the account predicts.
    pub(super) fn attack_chart(&self) -> Picture {
        let rows = |exposed: bool, name: &str| {
            let rows: Vec<_> = self.attack.rows.iter().filter(|r| r.exposed == exposed).collect();
            Series {
                name: if rows.is_empty() { String::new() } else { name.into() },
                points: rows.iter().map(|r| (r.predicted, r.measured)).collect(),
                band: Some(rows.iter().map(|r| (r.low, r.high)).collect()),
            }
        };
        // Both axes show the same range, so that the line of agreement is the diagonal.
        let all = self.attack.rows.iter().flat_map(|r| [r.predicted, r.measured, r.low, r.high]);
        let finite: Vec<f64> = all.filter(|v| v.is_finite()).collect();
        let (low, high) = if finite.is_empty() { (0.0, 1.0) } else { rounded(range(&finite)) };
        let ideal = vec![(low, low), (high, high)];
        let curves = vec![
            Curve::points(rows(false, "measured, with its interval")),
            Curve::points(rows(true, "exposed peers")),
            Curve::line(named("as predicted", ideal)),
        ];
        let x = Axis::linear("predicted").range(low, high);
        let y = Axis::linear("measured").range(low, high);
        let mut chart = Chart::new("What the attack measured against the prediction", x, y, curves);
        chart.size.1 = 330.0;
        chart.picture()
    }
}

fn named(name: &str, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, band: None }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)))
}
