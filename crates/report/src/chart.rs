//! Line and scatter charts.
//!
//! One type serves both: a curve is drawn as a line, as a line with its points, or as points alone, and the spread
//! of its points as a band or as bars.

use serde::Serialize;

use crate::colour::{Ink, dash};
use crate::frame::{Axis, Frame};
use crate::scene::{Anchor, Picture, Shape, text_width};
use crate::thin;

/// A named sequence of points, with the range of each where it is known.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// The smallest and largest value at each point.
    pub band: Option<Vec<(f64, f64)>>,
}

/// How the points of a curve are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mark {
    /// Joined.
    #[default]
    Line,
    /// Joined and marked.
    LineAndPoints,
    /// Marked only: a scatter chart.
    Points,
}

/// How the range of each point is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spread {
    /// As a shaded area.
    #[default]
    Band,
    /// As a bar at each point.
    Bars,
}

/// A series and how it is drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// The data.
    pub series: Series,
    /// How its points are drawn.
    pub mark: Mark,
    /// How their ranges are drawn.
    pub spread: Spread,
}

impl Curve {
    /// A line, with a shaded area where ranges are known.
    pub fn line(series: Series) -> Self {
        Self { series, mark: Mark::Line, spread: Spread::Band }
    }

    /// A line with its points marked.
    pub fn marked(series: Series) -> Self {
        Self { series, mark: Mark::LineAndPoints, spread: Spread::Band }
    }

    /// Points alone, with bars where ranges are known.
    pub fn points(series: Series) -> Self {
        Self { series, mark: Mark::Points, spread: Spread::Bars }
    }
}

/// A line or scatter chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows: read out, and shown as a tooltip, but not drawn, since captions belong to the page.
    pub title: String,
    /// What there is to see, for those who cannot see it.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
    /// Width and height in units of about one screen pixel.
    pub size: (f64, f64),
}

const LEGEND_ROW: f64 = 20.0;
const LEGEND_SAMPLE: f64 = 26.0;

impl Chart {
    /// A chart of the usual size.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, curves: Vec<Curve>) -> Self {
        Self { title: title.into(), description: String::new(), x, y, curves, size: (480.0, 350.0) }
    }

    /// Draws it.
    pub fn picture(&self) -> Picture {
        let rows = self.legend();
        let frame = self.frame();
        let mut picture = Picture::new(self.size, &self.title, &self.describe());
        frame.draw(&mut picture, (&self.x, &self.y));
        for (i, curve) in self.curves.iter().enumerate() {
            let kept = drawn(&frame, curve);
            let mut attributes = vec![("class", format!("curve curve-{i}"))];
            if !curve.series.name.is_empty() && !kept.is_empty() {
                attributes.push(("data-name", curve.series.name.clone()));
                attributes.push(("data-tips", self.tips(&curve.series, &kept)));
            }
            picture.group(attributes, |p| draw_curve(p, &frame, curve, &kept, i));
        }
        picture.group(vec![("class", "legend".into()), ("aria-hidden", "true".into())], |p| {
            rows.iter().for_each(|entry| entry.draw(p, &self.curves[entry.curve]));
        });
        picture
    }

    /// Where a point of the data lies in the picture.
    pub(crate) fn place(&self, point: (f64, f64)) -> (f64, f64) {
        self.frame().place(point)
    }

    fn frame(&self) -> Frame {
        let rows = self.legend().last().map_or(0, |entry| entry.row + 1);
        Frame::new(self.size, 16.0 + rows as f64 * LEGEND_ROW, (&self.x, &self.y), &self.extremes())
    }

    /// What is said of each point that is drawn, for the page's script: across, up, and the range where there is one.
    fn tips(&self, series: &Series, kept: &[usize]) -> String {
        let tip = |&i: &usize| {
            let (x, y) = series.points[i];
            let range = series.band.as_ref().and_then(|band| band.get(i));
            let range = range.map_or(String::new(), |(low, high)| {
                format!("|{} to {}", self.y.tell(*low), self.y.tell(*high))
            });
            format!("{}|{}{range}", self.x.tell(x), self.y.tell(y))
        };
        kept.iter().map(tip).collect::<Vec<_>>().join(";")
    }

    /// Every point and every end of a range: what the frame must hold.
    fn extremes(&self) -> Vec<(f64, f64)> {
        let all = self.curves.iter().map(|c| &c.series);
        let bands = all.clone().flat_map(|s| {
            let ranges = s.points.iter().zip(s.band.iter().flatten());
            ranges.flat_map(|(p, b)| [(p.0, b.0), (p.0, b.1)])
        });
        all.clone().flat_map(|s| s.points.iter().copied()).chain(bands).collect()
    }

    fn describe(&self) -> String {
        if !self.description.is_empty() {
            return self.description.clone();
        }
        let names: Vec<&str> = self.curves.iter().map(|c| c.series.name.as_str()).collect();
        format!("{} against {}: {}.", self.y.title, self.x.title, names.join(", "))
    }

    /// Places names from left to right, and starts a new row where one is full.
    fn legend(&self) -> Vec<Entry> {
        let (mut row, mut x) = (0, LEGEND_LEFT);
        let mut entries = Vec::new();
        for (curve, name) in self.curves.iter().map(|c| c.series.name.as_str()).enumerate() {
            if name.is_empty() {
                continue;
            }
            let width = LEGEND_SAMPLE + 6.0 + text_width(name, 13.0) + 14.0;
            if x > LEGEND_LEFT && x + width > self.size.0 {
                (row, x) = (row + 1, LEGEND_LEFT);
            }
            entries.push(Entry { curve, row, x });
            x += width;
        }
        entries
    }
}

const LEGEND_LEFT: f64 = 10.0;

/// A name in the legend.
struct Entry {
    curve: usize,
    row: usize,
    x: f64,
}

impl Entry {
    fn draw(&self, picture: &mut Picture, curve: &Curve) {
        let y = 15.0 + self.row as f64 * LEGEND_ROW;
        let ink = Ink::Series(self.curve);
        if curve.mark != Mark::Points {
            let sample = vec![(self.x, y), (self.x + LEGEND_SAMPLE, y)];
            picture.add(Shape::line(sample).stroke(ink, 2.0).dash(dash(self.curve)));
        }
        if curve.mark != Mark::Line {
            picture.add(Shape::circle((self.x + LEGEND_SAMPLE / 2.0, y), 3.2).fill(ink));
        }
        let at = (self.x + LEGEND_SAMPLE + 6.0, y + 4.3);
        picture.add(Shape::text(at, curve.series.name.as_str(), Anchor::Start));
    }
}

/// The points of a line without which it would look different; all points that are marked.
fn drawn(frame: &Frame, curve: &Curve) -> Vec<usize> {
    let points = &curve.series.points;
    if curve.mark != Mark::Line {
        return (0..points.len()).collect();
    }
    let mut lines = vec![points.iter().map(|p| frame.place(*p)).collect::<Vec<_>>()];
    if let Some(band) = &curve.series.band {
        for end in [|b: &(f64, f64)| b.0, |b: &(f64, f64)| b.1] {
            lines.push(points.iter().zip(band).map(|(p, b)| frame.place((p.0, end(b)))).collect());
        }
    }
    thin::kept(&lines)
}

fn draw_curve(picture: &mut Picture, frame: &Frame, curve: &Curve, kept: &[usize], number: usize) {
    let ink = Ink::Series(number);
    let points = &curve.series.points;
    let places: Vec<(f64, f64)> = kept.iter().map(|&i| frame.place(points[i])).collect();
    if let Some(band) = &curve.series.band {
        let ranges = kept.iter().filter_map(|&i| Some((points[i].0, band.get(i)?)));
        let (low, high): (Vec<_>, Vec<_>) =
            ranges.map(|(x, b)| (frame.place((x, b.0)), frame.place((x, b.1)))).unzip();
        picture.add(draw_spread(low, high, curve.spread, ink));
    }
    if curve.mark != Mark::Points {
        let line = Shape::line(places.clone()).stroke(ink, 2.0).dash(dash(number));
        picture.add(line.with("class", "line"));
    }
    if curve.mark != Mark::Line {
        for place in places {
            picture.add(Shape::circle(place, 3.2).fill(ink).with("class", "point"));
        }
    }
}

fn draw_spread(low: Vec<(f64, f64)>, high: Vec<(f64, f64)>, spread: Spread, ink: Ink) -> Shape {
    match spread {
        Spread::Band => {
            let outline = high.into_iter().chain(low.into_iter().rev()).collect();
            Shape::area(outline).fill(ink).opacity(0.16).with("class", "band")
        }
        Spread::Bars => {
            let bars = low.into_iter().zip(high).map(|(a, b)| vec![a, b]).collect();
            Shape::lines(bars).stroke(ink, 1.3).opacity(0.6).with("class", "bars")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::tests::elements;

    fn chart() -> Chart {
        let points: Vec<(f64, f64)> = (1..20).map(|i| (f64::from(i), 1.0 / f64::from(i))).collect();
        let band = points.iter().map(|p| (p.1 * 0.8, p.1 * 1.2)).collect();
        let series =
            |name: &str| Series { name: name.into(), points: points.clone(), band: Some(Vec::clone(&band)) };
        let curves = vec![
            Curve::line(series("one <1>")),
            Curve::points(series("two")),
            Curve::marked(series("three")),
        ];
        Chart::new("Title & all", Axis::linear("step"), Axis::log10("error"), curves)
    }

    #[test]
    fn a_chart_is_valid_and_the_same_every_time() {
        let svg = chart().picture().svg();
        assert!(elements(&svg) > 60);
        assert_eq!(svg, chart().picture().svg());
        assert!(svg.contains("one &lt;1&gt;") && svg.contains("Title &amp; all"));
        assert!(svg.contains("class=\"band\"") && svg.contains("class=\"bars\""));
    }

    #[test]
    fn two_charts_stand_side_by_side() {
        let (one, both) = (chart().picture(), chart().picture().beside(chart().picture()));
        assert_eq!(both.size(), (2.0 * one.size().0, one.size().1));
        let (alone, together) = (elements(&one.svg()), elements(&both.svg()));
        assert!(together > 2 * alone - 10, "{alone} {together}");
        assert!(both.png(1.0).is_ok());
    }

    #[test]
    fn long_legends_take_more_rows() {
        let mut long = chart();
        long.curves.iter_mut().for_each(|c| c.series.name = "a rather long name for a curve".into());
        let rows: Vec<usize> = long.legend().iter().map(|e| e.row).collect();
        assert_eq!(rows, [0, 1, 2]);
    }

    #[test]
    fn nothing_to_draw_is_still_a_chart() {
        let empty = Chart::new("Empty", Axis::linear("x"), Axis::log10("y"), Vec::new());
        assert!(elements(&empty.picture().svg()) > 5);
    }
}
