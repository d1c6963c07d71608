//! A graph with a value at each node: who overhears whom, at a glance.

use crate::colour::{Ink, scale};
use crate::scene::{Anchor, Picture, Shape};

/// The marks beside the colour scale.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColourBar {
    /// What the colour measures.
    pub title: String,
    /// Places along the scale, from zero to one, and their labels.
    pub ticks: Vec<(f64, String)>,
}

/// A graph drawn at given positions, its nodes coloured by a value.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphPicture {
    /// What it shows.
    pub title: String,
    /// What there is to see, for those who cannot see it.
    pub description: String,
    /// Where each node lies, in any unit; the picture keeps the proportions.
    pub positions: Vec<(f64, f64)>,
    /// Pairs of nodes. Pairs that name no node are left out.
    pub edges: Vec<(u32, u32)>,
    /// The value of each node, from zero to one; a node without one counts as one.
    pub values: Vec<f64>,
    /// What is said of each node when it is pointed at.
    pub labels: Vec<String>,
    /// The node to stand out.
    pub observer: Option<usize>,
    /// The marks beside the colour scale.
    pub bar: ColourBar,
    /// Width and height in units of about one screen pixel.
    pub size: (f64, f64),
}

pub(crate) const MARGIN: f64 = 22.0;
pub(crate) const BAR: f64 = 64.0;
const BAR_STEPS: usize = 96;
/// Letters of a name in a picture; what is said of a node has all of them.
const LONGEST: usize = 18;

impl GraphPicture {
    /// Draws it, with nodes that can be pointed at.
    pub fn picture(&self) -> Picture {
        self.draw(true, &[], &[])
    }

    /// Draws it with a name below each node, and these edges each by itself, over the others: a page that is looked at while things happen shows by them what is
    /// connected.
    pub fn named(&self, names: &[String], apart: &[(u32, u32)]) -> Picture {
        self.draw(true, names, apart)
    }

    /// Draws it as one image: nobody is told of single nodes, and the picture is less than half as large.
    pub fn still(&self) -> Picture {
        self.draw(false, &[], &[])
    }

    fn draw(&self, interactive: bool, names: &[String], apart: &[(u32, u32)]) -> Picture {
        let mut picture = Picture::new(self.size, &self.title, &self.description);
        picture.interactive = interactive;
        // A tenth of a unit is finer than anyone can see, and shorter to write.
        let tenth = |v: f64| (v * 10.0).round() / 10.0;
        let places: Vec<(f64, f64)> = self.places().into_iter().map(|(x, y)| (tenth(x), tenth(y))).collect();
        let radius = self.radius();
        let between = |(a, b): &(u32, u32)| Some(vec![*places.get(*a as usize)?, *places.get(*b as usize)?]);
        let lines = self.edges.iter().filter_map(between).collect();
        let width = (radius / 6.0).clamp(0.35, 1.2);
        picture.add(
            Shape::lines(lines).stroke(Ink::Edge, width).with("class", "edges").with("aria-hidden", "true"),
        );
        for pair in apart {
            let Some(line) = between(pair) else { continue };
            let line = Shape::line(line).stroke(Ink::Muted, width + 0.9).with("class", "link");
            picture.add(line.with("data-link", format!("{}-{}", pair.0, pair.1)).with("aria-hidden", "true"));
        }
        picture.group(vec![("class", "nodes".into())], |p| {
            places.iter().enumerate().for_each(|(i, place)| p.add(self.node(i, *place, radius, interactive)));
        });
        if let Some(place) = self.observer.and_then(|o| places.get(o)) {
            let ring = Shape::circle(*place, radius + 4.0).stroke(Ink::Accent, 2.6);
            picture.add(ring.with("class", "observer").with("aria-hidden", "true"));
        }
        for (place, name) in places.iter().zip(names) {
            picture.add(self.name(*place, radius, name));
        }
        self.bar(&mut picture);
        picture
    }

    fn node(&self, i: usize, place: (f64, f64), radius: f64, interactive: bool) -> Shape {
        let observer = self.observer == Some(i);
        // The observer is not coloured: it knows its own value, which is no loss.
        let fill =
            if observer { Ink::Paper } else { Ink::Fixed(scale(self.values.get(i).copied().unwrap_or(1.0))) };
        let label = self.labels.get(i).cloned().unwrap_or_else(|| format!("node {i}"));
        let node = Shape::circle(place, radius).fill(fill).stroke(Ink::Muted, (radius / 9.0).clamp(0.3, 1.0));
        if !interactive {
            return node;
        }
        node.with("class", "node").with("data-node", i.to_string()).with("aria-label", label)
    }

    /// A name below its node; at the sides it leans inwards, so that it stays in the picture.
    fn name(&self, (x, y): (f64, f64), radius: f64, name: &str) -> Shape {
        let short = match name.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name.to_owned(),
        };
        let (x, anchor) = match x / self.size.0 {
            side if side < 0.2 => (x - radius, Anchor::Start),
            side if side > 0.8 => (x + radius, Anchor::End),
            _ => (x, Anchor::Middle),
        };
        let name = Shape::text((x, y + radius + 16.0), short, anchor);
        name.with("class", "name").with("aria-hidden", "true")
    }

    /// Smaller where there are many, so that they do not cover each other.
    fn radius(&self) -> f64 {
        (0.2 * self.size.0 / (self.positions.len().max(1) as f64).sqrt()).clamp(1.6, 9.0)
    }

    /// Positions in the picture: as large as fits, in the middle, with the proportions kept.
    fn places(&self) -> Vec<(f64, f64)> {
        let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
        let range = |pick: fn(&(f64, f64)) -> f64| {
            let values = self.positions.iter().map(|p| finite(pick(p)));
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)))
        };
        let (x, y) = (range(|p| p.0), range(|p| p.1));
        let room = (self.size.0 - 2.0 * MARGIN, self.size.1 - 2.0 * MARGIN - BAR);
        let fit =
            |room: f64, (low, high): (f64, f64)| if high > low { room / (high - low) } else { f64::INFINITY };
        let zoom = Some(fit(room.0, x).min(fit(room.1, y))).filter(|z| z.is_finite()).unwrap_or(1.0);
        let place = |p: &(f64, f64)| {
            let across = MARGIN + room.0 / 2.0 + zoom * (finite(p.0) - (x.0 + x.1) / 2.0);
            // Pictures count downwards, maps upwards.
            (across, MARGIN + room.1 / 2.0 - zoom * (finite(p.1) - (y.0 + y.1) / 2.0))
        };
        self.positions.iter().map(place).collect()
    }

    fn bar(&self, picture: &mut Picture) {
        self.bar.draw(picture, self.size);
    }
}

impl ColourBar {
    /// Draws the scale at the foot of a picture.
    pub(crate) fn draw(&self, picture: &mut Picture, size: (f64, f64)) {
        let (left, width) = (size.0 * 0.16, size.0 * 0.68);
        let top = size.1 - BAR + 24.0;
        picture.group(vec![("class", "bar".into()), ("aria-hidden", "true".into())], |p| {
            p.add(Shape::text((left + width / 2.0, top - 7.0), self.title.as_str(), Anchor::Middle));
            let step = width / BAR_STEPS as f64;
            for i in 0..BAR_STEPS {
                let colour = Ink::Fixed(scale((i as f64 + 0.5) / BAR_STEPS as f64));
                // A little overlap hides the seams between the pieces.
                let size = (step + if i + 1 < BAR_STEPS { 0.6 } else { 0.0 }, 10.0);
                p.add(Shape::rectangle((left + i as f64 * step, top), size).fill(colour));
            }
            for (at, label) in &self.ticks {
                let x = left + at.clamp(0.0, 1.0) * width;
                p.add(Shape::line(vec![(x, top + 10.0), (x, top + 14.0)]).stroke(Ink::Muted, 1.0));
                p.add(Shape::text((x, top + 28.0), label.as_str(), Anchor::Middle).fill(Ink::Muted));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::tests::elements;

    fn graph(positions: Vec<(f64, f64)>) -> GraphPicture {
        GraphPicture {
            title: "Graph".into(),
            description: "A graph.".into(),
            values: vec![0.5; positions.len()],
            labels: vec!["<peer> \"0\"".into()],
            positions,
            edges: vec![(0, 1), (7, 9)],
            observer: Some(1),
            bar: ColourBar { title: "loss".into(), ticks: vec![(0.0, "0".into()), (1.0, "1".into())] },
            size: (480.0, 500.0),
        }
    }

    #[test]
    fn nodes_lie_inside_the_picture() {
        let odd = vec![(1e9, -3.0), (f64::NAN, f64::INFINITY), (-1e9, 4.0)];
        for positions in [odd, vec![(2.0, 2.0)], Vec::new(), vec![(0.0, 1.0), (5.0, 1.0)]] {
            let graph = graph(positions);
            assert!(
                graph.places().iter().all(|p| (0.0..=480.0).contains(&p.0) && (0.0..=440.0).contains(&p.1))
            );
            assert!(elements(&graph.picture().svg()) > BAR_STEPS);
        }
    }

    #[test]
    fn names_and_links_are_drawn_apart() {
        let names = ["ana".to_owned(), "<ben>".to_owned()];
        let svg = graph(vec![(0.0, 0.0), (1.0, 1.0)]).named(&names, &[(0, 1), (0, 9)]).embedded("g");
        assert_eq!(svg.matches("class=\"name\"").count(), 2);
        assert!(svg.contains("&lt;ben&gt;") && svg.contains("data-link=\"0-1\""));
        assert!(!svg.contains("0-9"), "there is no such node");
    }

    #[test]
    fn the_observer_has_a_ring_and_labels_are_escaped() {
        let svg = graph(vec![(0.0, 0.0), (1.0, 1.0)]).picture().embedded("g");
        assert_eq!(svg.matches("class=\"observer\"").count(), 1);
        assert!(svg.contains("&lt;peer&gt; &quot;0&quot;"));
    }
}
