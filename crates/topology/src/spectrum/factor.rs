//! An approximate inverse of a Laplacian, by elimination with sampling.
//!
//! Eliminating a node of degree `d` exactly would connect its neighbours to a clique of `d²/2` edges. Following Kyng
//! and Sachdeva (FOCS 2016), in the practical form of Gao, Kyng and Spielman (2023), the clique is replaced by a
//! random tree of `d - 1` edges with the same expectation. The result is an exact solver where degrees stay at most 2
//! (paths, rings, trees) and a good preconditioner everywhere else, whatever the graph; it costs about as many
//! numbers as the graph has edges. Only the speed of the eigenvalue solver depends on it: its answers are judged by
//! their residuals.

use super::form::EdgeForm;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::{cmp::Reverse, collections::BinaryHeap};

/// Fixed: a spectrum is a function of the graph alone.
const SEED: u64 = 0x5077_0001;

/// One elimination: `y_i` is passed on to each neighbour in turn, a fraction at a time, the last one taking all the
/// rest.
#[derive(Debug)]
struct Pivot {
    node: u32,
    start: usize,
    weight: f64,
}

/// `M' D^-1 M`, symmetric and positive semi-definite by construction.
#[derive(Debug)]
pub(crate) struct Factor {
    pivots: Vec<Pivot>,
    passes: Vec<(u32, f64)>,
    /// Nodes of the form; a sum form is factored on its double cover, which has twice as many.
    order: usize,
}

impl Factor {
    /// Factors the form (a sum form through the Laplacian of its double cover, on which it acts antisymmetrically).
    pub(crate) fn new(form: &EdgeForm) -> Self {
        let mut elimination = Elimination::new(adjacency(form));
        let mut factor = Self { pivots: Vec::new(), passes: Vec::new(), order: form.order() };
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        while let Some(node) = elimination.next() {
            sottovoce_fault::stop::look();
            elimination.eliminate(node, &mut factor, &mut rng);
        }
        factor
    }

    /// An approximate solution of `B x = r`.
    pub(crate) fn solve(&self, r: &[f64]) -> Vec<f64> {
        let doubled = self.pivots.len() > self.order;
        let mut y = r.to_vec();
        if doubled {
            y.extend(r.iter().map(|r| -r));
        }
        self.forward(&mut y);
        self.backward(&mut y);
        if doubled { (0..self.order).map(|u| (y[u] - y[self.order + u]) / 2.0).collect() } else { y }
    }

    fn passes(&self, pivot: usize) -> &[(u32, f64)] {
        let end = self.pivots.get(pivot + 1).map_or(self.passes.len(), |next| next.start);
        &self.passes[self.pivots[pivot].start..end]
    }

    fn forward(&self, y: &mut [f64]) {
        for (i, pivot) in self.pivots.iter().enumerate() {
            let mut own = y[pivot.node as usize];
            for &(neighbor, fraction) in self.passes(i) {
                y[neighbor as usize] += fraction * own;
                // The last fraction is 1; its pivot keeps the value it passes on.
                own *= if fraction == 1.0 { 1.0 } else { 1.0 - fraction };
            }
            // The last node of each component has nothing to solve for: the solution is free up to a constant.
            y[pivot.node as usize] = if pivot.weight > 0.0 { own / pivot.weight } else { 0.0 };
        }
    }

    fn backward(&self, y: &mut [f64]) {
        for (i, pivot) in self.pivots.iter().enumerate().rev() {
            let mut own = y[pivot.node as usize];
            for &(neighbor, fraction) in self.passes(i).iter().rev() {
                let kept = if fraction == 1.0 { 1.0 } else { 1.0 - fraction };
                own = kept * own + fraction * y[neighbor as usize];
            }
            y[pivot.node as usize] = own;
        }
    }
}

/// The neighbours of each node of the Laplacian to factor.
fn adjacency(form: &EdgeForm) -> Vec<Vec<(u32, f64)>> {
    let n = form.order();
    let row = |u: usize, shift: usize| form.row(u).map(move |(v, w)| ((v + shift) as u32, w));
    if form.sign() < 0.0 {
        return (0..n).map(|u| row(u, 0).collect()).collect();
    }
    let own =
        |u: usize, copy: usize| Some(((u + copy) as u32, form.slack()[u] / 2.0)).filter(|&(_, w)| w > 0.0);
    let first = (0..n).map(|u| row(u, n).chain(own(u, n)).collect());
    let second = (0..n).map(|u| row(u, 0).chain(own(u, 0)).collect());
    first.chain(second).collect()
}

/// The graph that is left while nodes are eliminated in order of (approximate) smallest degree.
struct Elimination {
    edges: Vec<Vec<(u32, f64)>>,
    degree: Vec<u32>,
    alive: Vec<bool>,
    queue: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Elimination {
    fn new(edges: Vec<Vec<(u32, f64)>>) -> Self {
        let degree: Vec<u32> = edges.iter().map(|row| row.len() as u32).collect();
        let queue = degree.iter().enumerate().map(|(u, &d)| Reverse((d, u as u32))).collect();
        Self { alive: vec![true; edges.len()], edges, degree, queue }
    }

    /// The node of smallest degree; entries whose degree has changed since they were queued are skipped.
    fn next(&mut self) -> Option<usize> {
        while let Some(Reverse((degree, node))) = self.queue.pop() {
            let node = node as usize;
            if self.alive[node] && self.degree[node] == degree {
                return Some(node);
            }
        }
        None
    }

    fn eliminate(&mut self, node: usize, factor: &mut Factor, rng: &mut ChaCha8Rng) {
        self.alive[node] = false;
        let star = self.star(node);
        let start = factor.passes.len();
        // tails[k] is the weight of star[k..]: partners are drawn among the heavier ones that remain.
        let mut tails: Vec<f64> = star
            .iter()
            .rev()
            .scan(0.0, |sum, e| {
                *sum += e.1;
                Some(*sum)
            })
            .collect();
        tails.reverse();
        let mut scale = 1.0;
        for (k, &(neighbor, weight)) in star.iter().enumerate().take(star.len().saturating_sub(1)) {
            let fraction = weight / tails[k];
            factor.passes.push((neighbor, fraction));
            let target = rng.random::<f64>() * tails[k + 1];
            let partner = k + tails[k + 1..].partition_point(|&tail| tail > target).max(1);
            self.connect(neighbor, star[partner].0, scale * weight * (1.0 - fraction));
            scale *= 1.0 - fraction;
        }
        let weight = star.last().map_or(0.0, |&(neighbor, weight)| {
            factor.passes.push((neighbor, 1.0));
            weight * scale
        });
        factor.pivots.push(Pivot { node: node as u32, start, weight });
        for &(neighbor, _) in &star {
            self.queue.push(Reverse((self.degree[neighbor as usize], neighbor)));
        }
    }

    /// The remaining edges of `node`, parallel ones merged, light ones first; they no longer count for the
    /// neighbours.
    fn star(&mut self, node: usize) -> Vec<(u32, f64)> {
        let mut star = std::mem::take(&mut self.edges[node]);
        star.retain(|&(v, _)| self.alive[v as usize]);
        for &(v, _) in &star {
            self.degree[v as usize] -= 1;
        }
        star.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        star.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        star.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        star
    }

    fn connect(&mut self, u: u32, v: u32, weight: f64) {
        // A weight that underflows would make a pivot of zero; the edge is only a preconditioner's, so it may go.
        if weight > 0.0 {
            for (from, to) in [(u, v), (v, u)] {
                self.edges[from as usize].push((to, weight));
                self.degree[from as usize] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;

    #[test]
    fn trees_and_rings_are_solved_exactly() {
        let ring = Graph::from_edges(50, (0..50).map(|u| (u, (u + 1) % 50))).unwrap();
        let tree = Graph::from_edges(50, (1..50).map(|u| (u, (u - 1) / 2))).unwrap();
        for graph in [ring, tree] {
            let form = EdgeForm::laplacian(&graph);
            let r: Vec<f64> = (0..50).map(|u| f64::from(u % 7) - if u == 49 { 3.0 } else { 2.94 }).collect();
            let mean = r.iter().sum::<f64>() / 50.0;
            let r: Vec<f64> = r.iter().map(|r| r - mean).collect();
            let mut back = vec![0.0; 50];
            form.apply(&Factor::new(&form).solve(&r), &mut back);
            assert!(back.iter().zip(&r).all(|(a, b)| (a - b).abs() < 1e-10));
        }
    }

    #[test]
    fn the_double_cover_solves_the_sum_form() {
        // A triangle with a tail: not bipartite, so the sum form is definite; its cover is a ring with two tails.
        let graph = Graph::from_edges(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]).unwrap();
        let (offsets, targets) = graph.rows();
        let form = EdgeForm::new(offsets, targets, &[0.3; 10], vec![0.0; 5], 1.0);
        let r = [1.0, -2.0, 0.5, 3.0, 0.25];
        let mut back = [0.0; 5];
        form.apply(&Factor::new(&form).solve(&r), &mut back);
        assert!(back.iter().zip(&r).all(|(a, b)| (a - b).abs() < 1e-10), "{back:?}");
    }
}
