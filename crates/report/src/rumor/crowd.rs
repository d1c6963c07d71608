//! Peers as dots.
//!
//! What a peer is doing shows in its size as well as in its colour; the curious ones have rings. Where a dot lies means
//! nothing, since everyone can tell everyone.

use super::{Frame, RumorReport, State};
use crate::colour::Ink;
use crate::scene::{Anchor, Picture, Shape};

const WIDTH: f64 = 480.0;
const MARGIN: f64 = 12.0;
const LEGEND: f64 = 64.0;
/// Side of a panel of the small multiples.
const PANEL: f64 = 160.0;
/// How many of them there are.
const PANELS: usize = 8;

impl State {
    /// How large a dot is, as a share of the room it has, and its colour.
    pub(super) fn look(self) -> (f64, Ink) {
        match self {
            Self::Unaware => (0.13, Ink::Edge),
            Self::Informed => (0.25, Ink::Series(0)),
            Self::Active => (0.38, Ink::Series(1)),
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Unaware => "not informed",
            Self::Informed => "informed, silent",
            Self::Active => "active",
        }
    }

    pub(super) const ALL: [Self; 3] = [Self::Unaware, Self::Informed, Self::Active];
}

impl RumorReport {
    /// All dots at the frame that is shown first; the script makes it move.
    pub(super) fn crowd(&self) -> Picture {
        let frame = &self.frames[self.first()];
        let (columns, pitch) = self.lattice(WIDTH - 2.0 * MARGIN);
        let rows = self.dots.len().div_ceil(columns);
        let bottom = 2.0 * MARGIN + rows as f64 * pitch;
        let mut picture = Picture::new((WIDTH, bottom + LEGEND), "The peers as dots", &self.describe(frame));
        let places: Vec<(f64, f64)> = (0..self.dots.len())
            .map(|i| centre(i, columns, pitch))
            .map(|(x, y)| (x + MARGIN, y + MARGIN))
            .collect();
        picture.group(vec![("class", "dots".into())], |p| {
            let dots = places.iter().zip(&self.dots).zip(&frame.states);
            dots.for_each(|((place, dot), state)| p.add(one(*place, pitch, *state, dot.curious)));
        });
        self.mark(&mut picture, &places, pitch);
        legend(&mut picture, bottom + 6.0);
        picture
    }

    fn describe(&self, frame: &Frame) -> String {
        format!("A dot for each peer, larger where it knows and tells; {}.", frame.moment.words(self.peers))
    }

    /// Rings around the source, and around whom the attack names.
    fn mark(&self, picture: &mut Picture, places: &[(f64, f64)], pitch: f64) {
        let radius = (0.62 * pitch).max(6.0);
        picture.add(source_ring(places[self.source], radius));
        if let Some(guess) = self.guess {
            picture.add(guess_frame(places[guess], radius + 1.0));
        }
    }

    /// The room of a dot in the large picture.
    pub(super) fn pitch(&self) -> f64 {
        self.lattice(WIDTH - 2.0 * MARGIN).1
    }

    /// Columns of a square of dots, and the room each has.
    fn lattice(&self, width: f64) -> (usize, f64) {
        let columns = (self.dots.len() as f64).sqrt().ceil().max(1.0);
        (columns as usize, (width / columns).min(40.0))
    }

    /// The frames of the small multiples: the first, the last, and between them those at which as many more are informed.
    pub(super) fn milestones(&self) -> Vec<usize> {
        let last = self.frames.len() - 1;
        let at = |k: usize| {
            let wanted = (self.frames[last].moment.informed * k / (PANELS - 1)).max(1);
            self.frames.partition_point(|frame| frame.moment.informed < wanted).min(last)
        };
        let mut chosen: Vec<usize> = (0..PANELS - 1).map(at).chain([last]).collect();
        chosen.dedup();
        chosen
    }

    /// One of the small multiples.
    pub(super) fn panel(&self, frame: &Frame) -> Picture {
        let title = frame.moment.words(self.peers);
        let mut picture = Picture::new((PANEL, PANEL), &title, &title);
        self.draw_panel(&mut picture, (0.0, 0.0), frame);
        picture
    }

    /// All small multiples as one picture.
    pub(super) fn spread(&self) -> Picture {
        let chosen = self.milestones();
        let columns = PANELS / 2;
        let (step, row) = (PANEL + 16.0, PANEL + 34.0);
        let size = (columns as f64 * step + 16.0, 12.0 + chosen.len().div_ceil(columns) as f64 * row);
        let mut picture =
            Picture::new(size, "How the rumour spread", "Dots for peers, after several rounds.");
        for (place, frame) in chosen.iter().map(|&i| &self.frames[i]).enumerate() {
            let at = (16.0 + (place % columns) as f64 * step, 12.0 + (place / columns) as f64 * row);
            self.draw_panel(&mut picture, at, frame);
            let words = format!("round {}: {} informed", frame.moment.round, frame.moment.informed);
            picture.add(Shape::text((at.0, at.1 + PANEL + 16.0), words, Anchor::Start).fill(Ink::Muted));
        }
        picture
    }

    /// Squares, since circles would be lost at this size: the unaware are the background.
    fn draw_panel(&self, picture: &mut Picture, (left, top): (f64, f64), frame: &Frame) {
        let (columns, pitch) = self.lattice(PANEL);
        let rows = self.dots.len().div_ceil(columns) as f64;
        picture.add(Shape::rectangle((left, top), (columns as f64 * pitch, rows * pitch)).fill(Ink::Grid));
        for state in [State::Informed, State::Active] {
            let squares = (0..self.dots.len()).filter(|&i| frame.states[i] == state).map(|i| {
                let (x, y) = centre(i, columns, pitch);
                square((left + x, top + y), 0.42 * pitch)
            });
            picture.add(Shape::areas(squares.collect()).fill(state.look().1));
        }
    }

    /// What is said of a dot that is pointed at.
    pub(super) fn name(&self, i: usize) -> String {
        let mut name = format!("peer {}", self.dots[i].peer);
        let roles = [
            (self.dots[i].curious, ", curious"),
            (i == self.source, ", the source"),
            (self.guess == Some(i), ", the first to tell a curious peer"),
        ];
        roles.iter().filter(|(is, _)| *is).for_each(|(_, role)| name.push_str(role));
        name
    }
}

fn centre(i: usize, columns: usize, pitch: f64) -> (f64, f64) {
    (((i % columns) as f64 + 0.5) * pitch, ((i / columns) as f64 + 0.5) * pitch)
}

fn square((x, y): (f64, f64), half: f64) -> Vec<(f64, f64)> {
    vec![(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]
}

fn one(place: (f64, f64), pitch: f64, state: State, curious: bool) -> Shape {
    let (size, ink) = state.look();
    let dot = Shape::circle(place, size * pitch).fill(ink).with("class", "dot");
    if curious { dot.stroke(Ink::Accent, (0.11 * pitch).clamp(0.8, 2.0)) } else { dot }
}

fn source_ring(place: (f64, f64), radius: f64) -> Shape {
    Shape::circle(place, radius).stroke(Ink::Text, 2.2).with("class", "mark")
}

fn guess_frame((x, y): (f64, f64), half: f64) -> Shape {
    let frame = Shape::rectangle((x - half, y - half), (2.0 * half, 2.0 * half));
    frame.stroke(Ink::Text, 1.6).dash(&[4.0, 3.0]).with("class", "mark")
}

fn legend(picture: &mut Picture, top: f64) {
    let size = 15.0;
    picture.group(vec![("class", "legend".into()), ("aria-hidden", "true".into())], |p| {
        let entry = |p: &mut Picture, place: usize, words: &str, draw: &dyn Fn((f64, f64)) -> Shape| {
            let at = (24.0 + (place % 3) as f64 * 150.0, top + 14.0 + (place / 3) as f64 * 28.0);
            p.add(draw(at));
            p.add(Shape::text((at.0 + 14.0, at.1 + 4.5), words, Anchor::Start));
        };
        for (i, state) in State::ALL.into_iter().enumerate() {
            entry(p, i, state.words(), &|at| one(at, size, state, false));
        }
        entry(p, 3, "curious", &|at| one(at, size, State::Unaware, true));
        entry(p, 4, "source", &|at| source_ring(at, 8.0));
        entry(p, 5, "first heard of", &|at| guess_frame(at, 8.0));
    });
}
