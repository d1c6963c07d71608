//! The frame of a chart: axes, grid and the map from data to picture.
//!
//! The map is written on the picture as attributes as well, so that the page's script can move a curve without
//! knowing how axes are chosen.

use crate::colour::Ink;
use crate::scene::{Anchor, Picture, Shape};
use crate::text;
use crate::ticks::{self, Tick};

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// Evenly, and marked at whole numbers only.
    Whole,
    /// By their logarithm to base ten. Values of zero or less are drawn at the axis' lower end.
    Log10,
}

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it measures, with the unit.
    pub title: String,
    /// How values are spread along it.
    pub scale: Scale,
    /// What it shows; chosen from the data where nothing is given.
    pub range: Option<(f64, f64)>,
    /// Whether its values are privacy losses: where they are shortened to be read, they are rounded up.
    pub losses: bool,
}

impl Axis {
    /// A linear axis whose range is chosen from the data.
    pub fn linear(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Linear, ..Self::default() }
    }

    /// An axis of whole numbers, such as hops or steps, whose range is chosen from the data.
    pub fn whole(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Whole, ..Self::default() }
    }

    /// A logarithmic axis whose range is chosen from the data.
    pub fn log10(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Log10, ..Self::default() }
    }

    /// The same axis with this range.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// The same axis, of privacy losses.
    #[must_use]
    pub fn losses(mut self) -> Self {
        self.losses = true;
        self
    }

    /// A value of this axis as a reader is told it.
    pub(crate) fn tell(&self, value: f64) -> String {
        match self.losses {
            true => text::up(value, 3),
            false if value.fract() == 0.0 && value.abs() < 1e6 => text::short(value, 6),
            false => text::short(value, 4),
        }
    }

    /// The range given, or a round one that holds these values.
    fn resolve(&self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        let valid = |v: f64| v.is_finite() && (self.scale != Scale::Log10 || v > 0.0);
        if let Some((low, high)) = self.range.filter(|(l, h)| valid(*l) && valid(*h) && h > l) {
            return (low, high);
        }
        let (low, high) = values
            .filter(|v| valid(*v))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        match self.scale {
            _ if low > high => [(0.0, 1.0), (0.1, 1.0)][usize::from(self.scale == Scale::Log10)],
            Scale::Linear | Scale::Whole => round_linear(low, high),
            Scale::Log10 => round_log(low, high),
        }
    }
}

/// Starts at zero where the data come near it, since a length that starts elsewhere misleads.
fn round_linear(low: f64, high: f64) -> (f64, f64) {
    rounded((if low > 0.0 && low < 0.6 * high { 0.0 } else { low }, high))
}

/// The smallest range with round ends that holds this one.
pub(crate) fn rounded((low, high): (f64, f64)) -> (f64, f64) {
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    let step = ticks::step(span, 5);
    let top = (high / step - 1e-9).ceil() * step;
    let bottom = (low / step + 1e-9).floor() * step;
    if top > bottom { (bottom, top) } else { (bottom, bottom + step) }
}

/// Ends at 1, 2 or 5 times a power of ten.
fn round_log(low: f64, high: f64) -> (f64, f64) {
    let power = |v: f64| 10f64.powf(v.log10().floor());
    let down = |v: f64| {
        let p = power(v);
        [5.0, 2.0, 1.0].into_iter().map(|m| m * p).find(|b| *b <= v * (1.0 + 1e-9)).unwrap_or(p)
    };
    let up = |v: f64| {
        let p = power(v);
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * p).find(|b| *b >= v * (1.0 - 1e-9)).unwrap_or(10.0 * p)
    };
    let (bottom, top) = (down(low), up(high));
    if top > bottom { (bottom, top) } else { (bottom / 2.0, bottom * 2.0) }
}

/// The plotting area and the map onto it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: (Scale, f64, f64),
    y: (Scale, f64, f64),
}

/// Space around the plotting area: tick labels and titles to the left and below.
const LEFT: f64 = 66.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 50.0;

impl Frame {
    /// A frame that holds these points; `top` is the space kept for the legend.
    pub(crate) fn new(size: (f64, f64), top: f64, axes: (&Axis, &Axis), points: &[(f64, f64)]) -> Self {
        let x = axes.0.resolve(points.iter().map(|p| p.0));
        let y = axes.1.resolve(points.iter().map(|p| p.1));
        Self {
            left: LEFT,
            top,
            width: size.0 - LEFT - RIGHT,
            height: (size.1 - top - BOTTOM).max(40.0),
            x: (axes.0.scale, x.0, x.1),
            y: (axes.1.scale, y.0, y.1),
        }
    }

    /// Where a point of the data lies in the picture. What lies outside is moved to the frame's edge.
    pub(crate) fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + part(self.x, x) * self.width, self.top + (1.0 - part(self.y, y)) * self.height)
    }

    /// Draws grid, axes and titles, and notes the map on the picture.
    pub(crate) fn draw(&self, picture: &mut Picture, axes: (&Axis, &Axis)) {
        let numbers = |v: &[f64]| v.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let log = |scale: Scale| f64::from(u8::from(scale == Scale::Log10));
        picture.attributes.push(("data-plot", numbers(&[self.left, self.top, self.width, self.height])));
        picture.attributes.push(("data-x", numbers(&[self.x.1, self.x.2, log(self.x.0)])));
        picture.attributes.push(("data-y", numbers(&[self.y.1, self.y.2, log(self.y.0)])));
        picture.attributes.push(("data-across", axes.0.title.clone()));
        picture.attributes.push(("data-up", axes.1.title.clone()));
        picture.group(vec![("class", "axes".into()), ("aria-hidden", "true".into())], |p| {
            self.vertical(p, &axes.1.title);
            self.horizontal(p, &axes.0.title);
        });
    }

    fn vertical(&self, picture: &mut Picture, title: &str) {
        let right = self.left + self.width;
        for tick in marks(self.y, (self.height / 38.0) as usize) {
            let y = self.place((self.x.1, tick.value)).1;
            picture.add(Shape::line(vec![(self.left, y), (right, y)]).stroke(Ink::Grid, 1.0));
            picture.add(Shape::text((self.left - 8.0, y + 4.3), tick.label, Anchor::End).fill(Ink::Muted));
        }
        let middle = (16.0, self.top + self.height / 2.0);
        picture.add(Shape::text(middle, title, Anchor::Middle).upwards());
    }

    fn horizontal(&self, picture: &mut Picture, title: &str) {
        let bottom = self.top + self.height;
        for tick in marks(self.x, (self.width / 62.0) as usize) {
            let x = self.place((tick.value, self.y.1)).0;
            picture.add(Shape::line(vec![(x, bottom), (x, bottom + 5.0)]).stroke(Ink::Muted, 1.0));
            picture.add(Shape::text((x, bottom + 19.0), tick.label, Anchor::Middle).fill(Ink::Muted));
        }
        let axis = vec![(self.left, bottom), (self.left + self.width, bottom)];
        picture.add(Shape::line(axis).stroke(Ink::Muted, 1.2));
        let middle = (self.left + self.width / 2.0, bottom + 41.0);
        picture.add(Shape::text(middle, title, Anchor::Middle));
    }
}

fn marks((scale, low, high): (Scale, f64, f64), wanted: usize) -> Vec<Tick> {
    match scale {
        Scale::Linear => ticks::linear(low, high, wanted),
        Scale::Whole => ticks::linear(low, high, wanted.min((high - low).ceil() as usize)),
        Scale::Log10 => ticks::log10(low, high, wanted),
    }
}

/// How far along its axis a value lies, from zero to one.
fn part((scale, low, high): (Scale, f64, f64), value: f64) -> f64 {
    let part = match scale {
        Scale::Linear | Scale::Whole => (value - low) / (high - low),
        Scale::Log10 if value <= 0.0 => 0.0,
        Scale::Log10 => (value / low).log10() / (high / low).log10(),
    };
    // What cannot be computed is drawn at the top, where it cannot look harmless.
    if part.is_nan() { 1.0 } else { part.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_round_and_hold_the_data() {
        let range = |axis: Axis, data: &[f64]| axis.resolve(data.iter().copied());
        assert_eq!(range(Axis::linear(""), &[3.0, 87.0]), (0.0, 100.0));
        assert_eq!(range(Axis::log10(""), &[0.0, 0.03, 7.0]), (0.02, 10.0));
        assert_eq!(range(Axis::linear(""), &[]), (0.0, 1.0));
        assert_eq!(range(Axis::linear("").range(-1.0, 2.0), &[9.0]), (-1.0, 2.0));
        let (low, high) = range(Axis::linear(""), &[5.0, 5.0]);
        assert!(low <= 5.0 && high >= 5.0 && high > low);
    }

    #[test]
    fn what_is_outside_or_unknown_is_drawn_at_the_edge() {
        let axes = (Axis::linear("").range(0.0, 1.0), Axis::log10("").range(0.01, 1.0));
        let frame = Frame::new((100.0, 150.0), 10.0, (&axes.0, &axes.1), &[]);
        let (_, bottom) = frame.place((0.5, 0.0));
        let (_, top) = frame.place((0.5, f64::NAN));
        assert_eq!((bottom, top), (100.0, 10.0));
        assert_eq!(frame.place((0.0, 0.1)).1, 55.0);
    }
}
