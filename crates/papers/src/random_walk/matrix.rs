//! A matrix as a picture: a small square of colour for each pair, or for each pair of groups where there are many peers.

use sottovoce_report::{MatrixPicture, Picture};

use crate::colours::Colours;
use crate::statistics::Summary;

/// Entries along each side, at most: more make large files.
const ENTRIES: usize = 96;

/// An entry of a matrix, by row and column.
pub(super) type Entry<'a> = &'a dyn Fn(usize, usize) -> f64;

/// The means of a matrix over groups of peers, in a given order; its diagonal is left out.
pub(super) struct Matrix {
    /// By row and column; none where only a peer itself is.
    cells: Vec<Vec<Option<f64>>>,
}

impl Matrix {
    /// The matrix with the entries `value(row, column)`.
    pub(super) fn new(order: &[usize], value: impl Fn(usize, usize) -> f64) -> Self {
        let groups: Vec<&[usize]> = order.chunks(order.len().div_ceil(ENTRIES).max(1)).collect();
        let cell = |rows: &[usize], columns: &[usize]| {
            let pairs = rows.iter().flat_map(|&u| columns.iter().map(move |&v| (u, v)));
            Summary::of(pairs.filter(|(u, v)| u != v).map(|(u, v)| value(u, v))).map(|summary| summary.mean)
        };
        let cells =
            groups.iter().map(|rows| groups.iter().map(|columns| cell(rows, columns)).collect()).collect();
        Self { cells }
    }

    /// The picture, in colours by the logarithm.
    pub(super) fn picture(&self, title: &str, unit: &str) -> Picture {
        let colours = Colours::logarithmic(unit, self.cells.iter().flatten().flatten().copied());
        let place = |cell: &Option<f64>| cell.map(|value| colours.place(value));
        MatrixPicture {
            title: title.into(),
            description: format!(
                "A matrix of {} rows, each entry coloured from dark (least) to pale (most).",
                self.cells.len()
            ),
            cells: self.cells.iter().map(|row| row.iter().map(place).collect()).collect(),
            bar: colours.bar(),
        }
        .picture()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_means_without_the_diagonal() {
        let matrix = Matrix::new(&[0, 1, 2], |u, v| (10 * u + v) as f64);
        assert_eq!((matrix.cells[0][0], matrix.cells[2][1]), (None, Some(21.0)));
        let order: Vec<usize> = (0..2 * ENTRIES).collect();
        let halved = Matrix::new(&order, |u, v| (u + v) as f64);
        assert_eq!(
            (halved.cells.len(), halved.cells[0][0], halved.cells[1][0]),
            (ENTRIES, Some(1.0), Some(3.0))
        );
    }
}
