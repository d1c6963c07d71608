//! The charts of a rumour's report.

use super::{RumorReport, Survival, Suspicion, Trade};
use crate::chart::{Chart, Curve, Series};
use crate::colour::Ink;
use crate::frame::Axis;
use crate::scene::{Anchor, Picture, Shape};
use crate::text::short;

/// Points of a curve that is a formula.
const FINE: usize = 60;

impl RumorReport {
    /// Shares informed and active by round, measured and predicted.
    pub(super) fn course_chart(&self) -> Picture {
        let measured = |name: &str, of: fn(&super::Moment) -> usize| {
            let points =
                self.course.iter().map(|moment| (moment.round as f64, self.share(of(moment)))).collect();
            Curve::line(named(name, points))
        };
        let predicted = |name: &str, of: fn(&(f64, f64)) -> f64| {
            let points =
                self.predicted.iter().enumerate().map(|(t, shares)| (t as f64, of(shares))).collect();
            Curve::line(named(name, points))
        };
        let mut curves = vec![measured("informed", |m| m.informed), measured("active", |m| m.active)];
        if !self.predicted.is_empty() {
            curves.push(predicted("informed, predicted", |shares| shares.0));
            curves.push(predicted("active, predicted", |shares| shares.1));
        }
        let last = self.course.last().map_or(1, |moment| moment.round).max(1) as f64;
        let x = Axis::whole("round").range(0.0, last);
        let y = Axis::linear("share of all peers").range(0.0, 1.0);
        let mut chart = Chart::new("Peers informed and active by round", x, y, curves);
        chart.size = (480.0, 380.0);
        let now = self.frames[self.first()].moment.round as f64;
        let mut picture = chart.picture();
        let line = Shape::line(vec![chart.place((now, 0.0)), chart.place((now, 1.0))]);
        picture.add(line.stroke(Ink::Accent, 1.4).with("class", "now").with("aria-hidden", "true"));
        picture
    }

    /// How many knew at the end of each run, those who knew least first.
    pub(super) fn survival_chart(&self, survival: &Survival) -> Picture {
        let mut knew = survival.knew.clone();
        knew.sort_unstable_by(f64::total_cmp);
        let points = (1..).map(f64::from).zip(knew.iter().copied()).collect();
        let x = Axis::whole("run, in order").range(0.0, knew.len() as f64 + 1.0);
        let y = Axis::linear("share who knew in the end").range(0.0, 1.0);
        let curves = vec![Curve::points(named("runs", points))];
        let mut chart = Chart::new("How many knew in the end", x, y, curves);
        chart.size = (480.0, 380.0);
        chart.picture()
    }

    /// Loss against spreading time, the muting parameter along the curve.
    pub(super) fn trade_chart(&self) -> Picture {
        let line = |name: &str, of: fn(&Trade) -> f64| {
            Curve::line(named(name, self.trade.iter().map(|trade| (trade.rounds, of(trade))).collect()))
        };
        let chosen = Series { name: "this run".into(), points: vec![self.place_of_run()], band: None };
        let curves = vec![
            line("delta that is guaranteed", |trade| trade.delta),
            line("as the paper's table has it", |trade| trade.printed),
            Curve::points(chosen),
        ];
        let mut chart = Chart::new("Privacy against speed", self.time_axis(), self.delta_axis(), curves);
        chart.size = (480.0, 380.0);
        let mut picture = chart.picture();
        self.label_trade(&mut picture, &chart);
        let ring = Shape::circle(chart.place(self.place_of_run()), 8.0).stroke(Ink::Accent, 2.4);
        picture.add(ring.with("class", "current").with("aria-hidden", "true"));
        picture
    }

    /// With room for labels to the left of the curve.
    fn time_axis(&self) -> Axis {
        let rounds = self.trade.iter().map(|trade| trade.rounds).chain([self.chosen.rounds]);
        let (low, high) = rounds.fold((f64::INFINITY, 1.0), |(l, h): (f64, f64), r| (l.min(r), h.max(r)));
        Axis::log10("rounds until everyone knows, predicted").range((low / 3.0).max(0.5), high * 1.5)
    }

    /// With room for labels below the curve.
    fn delta_axis(&self) -> Axis {
        let deltas = self.trade.iter().map(|trade| trade.delta).chain([self.chosen.delta]);
        let least = deltas.filter(|delta| *delta > 0.0).fold(1.0, f64::min);
        Axis::log10("delta: what two sources differ by").losses().range(0.6 * least, 1.0)
    }

    fn place_of_run(&self) -> (f64, f64) {
        (self.chosen.rounds, self.chosen.delta)
    }

    /// Writes some muting parameters beside the curve, as far apart as they can be read.
    fn label_trade(&self, picture: &mut Picture, chart: &Chart) {
        let run = chart.place(self.place_of_run());
        let mut taken = vec![run];
        for trade in &self.trade {
            let at = chart.place((trade.rounds, trade.delta));
            let free =
                taken.iter().all(|other| (other.0 - at.0).abs() > 54.0 || (other.1 - at.1).abs() > 18.0);
            if !free {
                continue;
            }
            taken.push(at);
            picture.add(Shape::circle(at, 2.6).fill(Ink::Series(0)));
            let words = format!("s = {}", short(trade.muting, 2));
            // Slow rumours lie on the flat part, below which there is room; fast ones on the steep part.
            let (place, anchor) = match trade.rounds > 3.0 * self.fastest() {
                true => ((at.0, at.1 + 17.0), Anchor::Middle),
                false => ((at.0 - 7.0, at.1 + 4.3), Anchor::End),
            };
            picture.add(Shape::text(place, words, anchor).fill(Ink::Muted));
        }
    }

    fn fastest(&self) -> f64 {
        self.trade.iter().map(|trade| trade.rounds).fold(f64::INFINITY, f64::min)
    }

    /// How often the source was found, by how many were suspected, and what could not be exceeded.
    pub(super) fn attack_chart(&self) -> Picture {
        let measured = Series {
            name: "attack, with its interval".into(),
            points: self.suspicions.iter().map(|s| (s.suspects as f64, s.found)).collect(),
            band: Some(self.suspicions.iter().map(|s| (s.low, s.high)).collect()),
        };
        let most = self.suspicions.iter().map(|s| s.suspects).max().unwrap_or(2).max(3) as f64;
        let fine = |bound: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
            let at = |i: usize| 2.0 * (most / 2.0).powf(i as f64 / FINE as f64);
            (0..=FINE).map(|i| (at(i), bound(at(i)))).collect()
        };
        let delta = self.chosen.delta;
        let mut curves = vec![
            Curve::points(measured),
            Curve::line(named("no attack exceeds this", fine(&|p| 1.0 / p + (1.0 - 1.0 / p) * delta))),
            Curve::line(named("guessing", fine(&|p| 1.0 / p))),
        ];
        let uncertain = |s: &Suspicion| Some((s.suspects as f64, s.uncertainty?));
        let points: Vec<(f64, f64)> = self.suspicions.iter().filter_map(uncertain).collect();
        if !points.is_empty() {
            curves.push(Curve::points(named("bound 1/(1 + c)", points)));
        }
        let x = Axis::log10("suspects").range(1.8, most * 1.1);
        let y = Axis::linear("source found (share of runs)").range(0.0, 1.0);
        let mut chart = Chart::new("How often the source is found", x, y, curves);
        chart.size = (480.0, 380.0);
        chart.picture()
    }
}

fn named(name: &str, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, band: None }
}
