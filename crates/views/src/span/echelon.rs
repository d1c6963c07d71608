//! Which messages are news, exactly: elimination modulo a prime.

use super::field::{Residue, Residues};
use super::rows::Source;

/// Which messages are independent of those before, and whom they expose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    /// The messages (round, sender) that are no combination of earlier ones, in order of time.
    pub(crate) messages: Vec<(usize, usize)>,
    /// Peers whose first value is a combination of the messages.
    pub(crate) exposed: Vec<usize>,
}

impl News {
    pub(crate) fn of(source: &impl Source) -> Self {
        let mut echelon = Echelon::default();
        let mut messages = Vec::new();
        source.each::<Residue>(
            |_, _| true,
            |t, w, row| {
                let new = echelon.add(row);
                if new {
                    messages.push((t, w));
                }
                new
            },
        );
        Self { messages, exposed: echelon.exposed(source.variables()) }
    }
}

/// Rows, each with a one where the later ones have zeros.
#[derive(Default)]
pub(crate) struct Echelon {
    rows: Vec<(usize, Vec<Residue>)>,
}

impl Echelon {
    /// Takes a row in, unless it is a combination of those already here.
    pub(crate) fn add(&mut self, row: &[Residue]) -> bool {
        sottovoce_fault::stop::look();
        let mut rest = row.to_vec();
        for (pivot, row) in &self.rows {
            let factor = rest[*pivot].negated();
            if factor != Residue::ZERO {
                rest.iter_mut().zip(row).for_each(|(rest, x)| *rest = rest.plus_times(factor, *x));
            }
        }
        let Some(pivot) = rest.iter().position(|x| *x != Residue::ZERO) else { return false };
        let inverse = rest[pivot].inverse();
        rest.iter_mut().for_each(|x| *x = x.times(inverse));
        self.rows.push((pivot, rest));
        true
    }

    /// Peers whose unit vector is in the span: a random vector orthogonal to the span is 0 there, and nowhere else.
    pub(crate) fn exposed(&self, nodes: usize) -> Vec<usize> {
        let mut draws = Residues::new(nodes as u64);
        let mut z: Vec<Residue> = (0..nodes).map(|_| draws.draw()).collect();
        self.rows.iter().for_each(|(pivot, _)| z[*pivot] = Residue::ZERO);
        for (pivot, row) in self.rows.iter().rev() {
            let sum = row.iter().zip(&z).fold(Residue::ZERO, |sum, (x, z)| sum.plus_times(*x, *z));
            z[*pivot] = sum.negated();
        }
        let mut exposed: Vec<usize> = self.rows.iter().map(|(pivot, _)| *pivot).collect();
        exposed.retain(|&u| z[u] == Residue::ZERO);
        exposed.sort_unstable();
        exposed
    }
}
