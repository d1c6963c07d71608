//! A matrix as a picture: a square of colour for each entry.
//!
//! Entries of one colour are one shape, and neighbours in a row are joined: a matrix of ten thousand entries is written in a hundred
//! kilobytes.

use std::collections::BTreeMap;

use crate::colour::{Ink, scale};
use crate::graph_picture::{BAR, ColourBar, MARGIN};
use crate::scene::{Picture, Shape};

/// A matrix whose entries are coloured by a value.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixPicture {
    /// What it shows.
    pub title: String,
    /// What there is to see, for those who cannot see it.
    pub description: String,
    /// The value of each entry, from zero to one, by row and column; nothing is drawn where there is none.
    pub cells: Vec<Vec<Option<f64>>>,
    /// The marks beside the colour scale.
    pub bar: ColourBar,
}

/// Side of the picture without its margin, about.
const SIDE: f64 = 384.0;
/// Colours: more than anyone can tell apart in small squares.
const COLOURS: f64 = 127.0;

impl MatrixPicture {
    /// Draws it.
    pub fn picture(&self) -> Picture {
        let rows = self.cells.len();
        let columns = self.cells.iter().map(Vec::len).max().unwrap_or(0);
        let most = rows.max(columns).max(1) as f64; // whole numbers
        // Whole units keep the edges of squares sharp, and their coordinates short.
        let pitch = if most > SIDE { 1.0 } else { (SIDE / most).floor() };
        let size = (columns as f64 * pitch + 2.0 * MARGIN, rows as f64 * pitch + MARGIN + BAR);
        let mut picture = Picture::new(size, &self.title, &self.description);
        let attributes = vec![("class", "cells".into()), ("shape-rendering", "crispEdges".into())];
        picture.group(attributes, |p| {
            for (colour, pieces) in self.runs(pitch) {
                let shade = scale(f64::from(colour) / COLOURS);
                p.add(Shape::lines(pieces).stroke(Ink::Fixed(shade), pitch));
            }
        });
        self.bar.draw(&mut picture, size);
        picture
    }

    /// Level pieces by their colour: neighbours of one colour are one piece.
    fn runs(&self, pitch: f64) -> BTreeMap<u8, Vec<Vec<(f64, f64)>>> {
        let mut all: BTreeMap<u8, Vec<Vec<(f64, f64)>>> = BTreeMap::new();
        for (row, cells) in self.cells.iter().enumerate() {
            let y = MARGIN + (row as f64 + 0.5) * pitch;
            let codes: Vec<Option<u8>> = cells.iter().map(|cell| cell.map(code)).collect();
            let mut start = 0;
            for run in codes.chunk_by(|a, b| a == b) {
                let at = |column: usize| (MARGIN + column as f64 * pitch, y);
                if let Some(colour) = run[0] {
                    all.entry(colour).or_default().push(vec![at(start), at(start + run.len())]);
                }
                start += run.len();
            }
        }
        all
    }
}

/// The colour of a value; what is not a number counts as the most.
fn code(value: f64) -> u8 {
    let value = if value >= 0.0 {
        value
    } else if value < 0.0 {
        0.0
    } else {
        1.0
    };
    (if value < 1.0 { value * COLOURS } else { COLOURS }).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::tests::elements;

    fn matrix(cells: Vec<Vec<Option<f64>>>) -> MatrixPicture {
        let bar = ColourBar { title: "loss".into(), ticks: vec![(0.0, "0".into())] };
        MatrixPicture { title: "M".into(), description: "A matrix.".into(), cells, bar }
    }

    #[test]
    fn neighbours_of_one_colour_are_one_piece() {
        let picture = matrix(vec![vec![Some(0.5), Some(0.5), None, Some(0.5)], vec![Some(1.0); 4]]);
        let runs = picture.runs(10.0);
        assert_eq!(runs.values().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(runs[&127][0], [(MARGIN, MARGIN + 15.0), (MARGIN + 40.0, MARGIN + 15.0)]);
        assert!(elements(&picture.picture().svg()) > 3);
    }

    #[test]
    fn what_is_unknown_looks_like_the_most_and_large_matrices_are_small_files() {
        assert_eq!([f64::NAN, 2.0, -1.0, 0.0].map(code), [127, 127, 0, 0]);
        let cell = |i: usize, j: usize| Some(((i * 31 + j * 17) % 101) as f64 / 100.0);
        let cells = (0..96).map(|i| (0..96).map(|j| cell(i, j)).collect()).collect();
        assert!(matrix(cells).picture().embedded("m").len() < 130_000);
        matrix(Vec::new()).picture();
    }
}
