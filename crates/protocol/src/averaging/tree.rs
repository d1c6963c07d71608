//! Sums along a tree: leaves tell their parents, parents add and tell theirs, and the root's sum goes the same ways back.
//!
//! ```text
//! round     0        1              height            2 height - 1
//! speaks    deepest  next deepest   the root          parents of the deepest
//! to        parents  parents        its children      the deepest
//! ```
//!
//! Weights are whole, so that it sums on a ring too; twice as many rounds as the tree is high, and `2 (n - 1)` messages.

use super::{Plan, Row};
use crate::Peer;

/// One peer's part.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    rows: Vec<Row>,
}

impl Tree {
    /// The part of a peer `depth` steps from the root of a tree whose deepest peers are `height` steps from it. The root has no parent; children are in
    /// increasing order.
    pub fn new(parent: Option<Peer>, children: &[Peer], depth: usize, height: usize) -> Self {
        let mut rows = vec![Row::idle(); 2 * height];
        let parents = || parent.into_iter();
        let mine = children.iter().copied();
        if let (Some(up), Some(down)) = (height.checked_sub(depth), height.checked_add(depth)) {
            if up < height {
                rows[up].to = parents().collect();
            }
            if let Some(hear) = up.checked_sub(1).filter(|_| !children.is_empty()) {
                rows[hear].from = mine.clone().map(|child| (child, 1.0)).collect();
            }
            if down < 2 * height {
                rows[down].to = mine.collect();
            }
            if let Some(hear) = parent.and_then(|_| down.checked_sub(1)) {
                rows[hear] =
                    Row { own: 0.0, from: parents().map(|parent| (parent, 1.0)).collect(), to: Vec::new() };
            }
        }
        Self { rows }
    }
}

impl Plan for Tree {
    fn rounds(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, round: usize) -> &Row {
        &self.rows[round]
    }

    /// What was a part becomes the whole.
    fn conserves_mass(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everybody's values after all rounds, if each knows only its own rows.
    fn run(parts: &[Tree], mut values: Vec<f64>) -> Vec<f64> {
        for round in 0..parts[0].rounds() {
            let heard = |peer: usize| {
                let row = parts[peer].row(round);
                assert!(row.from.iter().all(|(from, _)| parts[*from].row(round).to.contains(&peer)));
                assert!(
                    row.to.iter().all(|to| parts[*to].row(round).from.iter().any(|(from, _)| *from == peer))
                );
                row.own * values[peer]
                    + row.from.iter().map(|(from, weight)| weight * values[*from]).sum::<f64>()
            };
            values = (0..values.len()).map(heard).collect();
        }
        values
    }

    #[test]
    fn everyone_ends_with_the_sum() {
        // 0 has 1 and 2; 1 has 3 and 4; 4 has 5.
        let parents = [None, Some(0), Some(0), Some(1), Some(1), Some(4)];
        let depths = [0, 1, 1, 2, 2, 3];
        let part = |peer: usize| {
            let children: Vec<usize> = (0..6).filter(|&other| parents[other] == Some(peer)).collect();
            Tree::new(parents[peer], &children, depths[peer], 3)
        };
        let parts: Vec<Tree> = (0..6).map(part).collect();
        assert_eq!(run(&parts, vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0]), [63.0; 6]);
        assert_eq!(run(&[Tree::new(None, &[], 0, 0)], vec![5.0]).len(), 1);
    }
}
