//! A matrix as a picture: a small square of colour for each pair, or for each pair of groups where there are many peers.
//!
//! The squares are the nodes of a graph without edges, close enough to touch: reports draw graphs and charts only.

use sottovoce_report::{GraphPicture, Picture, text};

use crate::colours::Colours;
use crate::statistics::Summary;

/// Dots along each side, about: more make large files.
const DOTS: usize = 96;
/// From dot to dot, a little less than would leave gaps.
const SPACING: f64 = 2.4;
/// What a picture of a graph keeps around it, and below for the scale of colours.
const AROUND: (f64, f64) = (44.0, 108.0);

/// An entry of a matrix, by row and column.
pub(super) type Entry<'a> = &'a dyn Fn(usize, usize) -> f64;

/// The means of a matrix over groups of peers, in a given order; its diagonal is left out.
pub(super) struct Matrix {
    groups: Vec<Vec<usize>>,
    /// By row and column; none where only a peer itself is.
    cells: Vec<Vec<Option<f64>>>,
}

impl Matrix {
    /// The matrix with the entries `value(row, column)`.
    pub(super) fn new(order: &[usize], value: impl Fn(usize, usize) -> f64) -> Self {
        let groups: Vec<Vec<usize>> =
            order.chunks(order.len().div_ceil(DOTS).max(1)).map(<[usize]>::to_vec).collect();
        let cell = |rows: &[usize], columns: &[usize]| {
            let pairs = rows.iter().flat_map(|&u| columns.iter().map(move |&v| (u, v)));
            Summary::of(pairs.filter(|(u, v)| u != v).map(|(u, v)| value(u, v))).map(|summary| summary.mean)
        };
        let cells =
            groups.iter().map(|rows| groups.iter().map(|columns| cell(rows, columns)).collect()).collect();
        Self { groups, cells }
    }

    /// The picture, in colours by the logarithm.
    pub(super) fn picture(&self, title: &str, unit: &str, name: impl Fn(usize) -> String) -> Picture {
        let colours = Colours::logarithmic(unit, self.cells.iter().flatten().flatten().copied());
        let often = (DOTS / self.groups.len().max(1)).max(1);
        let (mut positions, mut values, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for (row, column, value) in self.entries() {
            let label = format!(
                "{}, {}: {}",
                self.named(row, &name),
                self.named(column, &name),
                text::digits(value, 3)
            );
            for dot in 0..often * often {
                let place = (column * often + dot % often, row * often + dot / often);
                positions.push((place.0 as f64, -(place.1 as f64)));
                values.push(colours.place(value));
                labels.push(label.clone());
            }
        }
        let side = (self.groups.len() * often) as f64 * SPACING;
        GraphPicture {
            title: title.into(),
            description: format!(
                "A matrix of {} rows, each entry coloured from dark (least) to pale (most).",
                self.groups.len()
            ),
            positions,
            edges: Vec::new(),
            values,
            labels,
            observer: None,
            bar: colours.bar(),
            size: (side + AROUND.0, side + AROUND.1),
        }
        .picture()
    }

    fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let row = |(row, cells): (usize, &Vec<Option<f64>>)| {
            let some =
                cells.iter().enumerate().filter_map(move |(column, cell)| Some((row, column, (*cell)?)));
            some.collect::<Vec<_>>()
        };
        self.cells.iter().enumerate().flat_map(row)
    }

    fn named(&self, group: usize, name: impl Fn(usize) -> String) -> String {
        match &self.groups[group][..] {
            [only] => name(*only),
            [first, .., last] => format!("{} … {}", name(*first), name(*last)),
            [] => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_means_without_the_diagonal() {
        let matrix = Matrix::new(&[0, 1, 2], |u, v| (10 * u + v) as f64);
        assert_eq!((matrix.cells[0][0], matrix.cells[2][1]), (None, Some(21.0)));
        let order: Vec<usize> = (0..2 * DOTS).collect();
        let halved = Matrix::new(&order, |u, v| (u + v) as f64);
        assert_eq!(
            (halved.cells.len(), halved.cells[0][0], halved.cells[1][0]),
            (DOTS, Some(1.0), Some(3.0))
        );
    }

    #[test]
    fn small_matrices_have_large_cells() {
        let svg =
            Matrix::new(&[0, 1, 2], |u, v| (1 + u + v) as f64).picture("m", "x", |u| u.to_string()).svg();
        // Six entries of 32 by 32 dots, and no diagonal.
        assert_eq!(svg.matches("class=\"node\"").count(), 6 * 32 * 32);
    }
}
