//! A matrix of residues in which equal weights are gathered: values are added up before they are multiplied.
//!
//! Weights of neighbours are mostly equal, and a product costs far more than a sum. Residues are exact, so that the order does not matter.

use super::field::Residue;
use super::rows::Counted;
use crate::parallel;

/// Rows that are worth a thread of their own.
const PIECE: usize = 1 << 14;

/// The most products that are added up before the sum is reduced.
const AT_ONCE: usize = 32;

/// A weight, and where its columns end.
type Group = (Residue, usize);

/// Rows of weights, each with its columns.
pub(crate) struct Alike {
    columns: Vec<u32>,
    groups: Vec<Group>,
    /// Where the groups of each row end.
    rows: Vec<usize>,
}

impl Alike {
    /// Of a matrix with a row for everyone, in order.
    pub(crate) fn new(matrix: &[Counted<Residue>]) -> Self {
        let mut all =
            Self { columns: Vec::new(), groups: Vec::new(), rows: Vec::with_capacity(matrix.len()) };
        for row in matrix {
            let mut entries: Vec<(Residue, u32)> =
                row.entries().map(|(v, weight)| (weight, v as u32)).collect();
            entries.sort_unstable();
            for group in entries.chunk_by(|a, b| a.0 == b.0) {
                all.columns.extend(group.iter().map(|(_, v)| *v));
                all.groups.push((group[0].0, all.columns.len()));
            }
            all.rows.push(all.groups.len());
        }
        all
    }

    /// The matrix times `W` vectors, which are stored side by side.
    pub(crate) fn times<const W: usize>(&self, x: &[Residue]) -> Vec<Residue> {
        let (x, _) = x.as_chunks::<W>();
        let mut out = vec![Residue::ZERO; self.rows.len() * W];
        parallel::fill(&mut out, PIECE * W, |i, out| self.rows_times(i * PIECE, x, out));
        out
    }

    /// The same for the rows from `first` on, as many as there is room for.
    fn rows_times<const W: usize>(&self, first: usize, x: &[[Residue; W]], out: &mut [Residue]) {
        let mut group = if first > 0 { self.rows[first - 1] } else { 0 };
        let mut column = if group > 0 { self.groups[group - 1].1 } else { 0 };
        for (&end, out) in self.rows[first..].iter().zip(out.as_chunks_mut::<W>().0) {
            let mut sums = [0; W];
            for (i, &(weight, end)) in self.groups[group..end].iter().enumerate() {
                if i > 0 && i % AT_ONCE == 0 {
                    sums = sums.map(|sum| Residue::reduced(sum).wide());
                }
                Residue::add_multiple(&mut sums, weight, &self.columns[column..end], x);
                column = end;
            }
            group = end;
            *out = sums.map(Residue::reduced);
        }
    }
}
