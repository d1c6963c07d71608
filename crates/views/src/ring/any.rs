//! Whoever the colluders are: how many honest peers hide each one from the worst coalition of a size (`docs/theorems/ring.md`, Theorem 3).
//!
//! | keys | how | |
//! | --- | --- | --- |
//! | connected whichever `k` peers leave | disjoint paths, or for very many peers the gap of their Laplacian | exact: all `n - k` |
//! | few coalitions | every one | exact |
//! | otherwise | a peer with `d` partners keeps `d - k` of them | from below |

use std::collections::VecDeque;

use sottovoce_topology::Graph;

use crate::Result;
use crate::cancelling::check_colluders;
use crate::cancelling::{Honest, gap_at_least};

/// Edges to go along, for paths and for coalitions that are looked at one by one.
const WORK: f64 = 3e8;

/// The size of each peer's group, with the coalition that is worst for it, and whether these are exact.
pub(super) fn groups(keys: &Graph, colluders: usize) -> Result<(Vec<usize>, bool)> {
    let n = keys.nodes();
    check_colluders(colluders, n)?;
    if stays_connected(keys, colluders) {
        return Ok((vec![n - colluders; n], true));
    }
    let alone = |u: usize| keys.degree(u) <= colluders;
    let all: f64 = (0..colluders).map(|i| (n - i) as f64 / (i + 1) as f64).product();
    if !(0..n).all(alone) && all * size(keys) <= WORK {
        return Ok((every_one(keys, colluders), true));
    }
    let kept = |u: usize| keys.degree(u).saturating_sub(colluders) + 1;
    Ok(((0..n).map(kept).collect(), (0..n).all(alone)))
}

/// Vertices and edges, each seen from both ends.
fn size(keys: &Graph) -> f64 {
    (keys.nodes() + 2 * keys.edge_count()) as f64
}

/// The smallest group of each peer over all coalitions, one by one.
fn every_one(keys: &Graph, colluders: usize) -> Vec<usize> {
    let n = keys.nodes();
    let mut least = vec![n; n];
    let mut coalition: Vec<usize> = (0..colluders).collect();
    loop {
        sottovoce_fault::stop::look();
        let honest = Honest::new(keys, coalition.clone());
        for (least, group) in least.iter_mut().zip(&honest.group) {
            *least = group.map_or(*least, |group| (*least).min(honest.sizes[group])); // whole numbers
        }
        // The next coalition in the order of words.
        let Some(i) = (0..colluders).rev().find(|&i| coalition[i] < n - colluders + i) else { return least };
        let next = coalition[i] + 1;
        (i..colluders).for_each(|j| coalition[j] = next + j - i);
    }
}

/// Whether secrets connect all honest peers, whoever these `colluders` are; `false` also where that takes too long to see.
///
/// `colluders + 1` peers are chosen, of whom one is honest. If everybody else reaches all of them by paths that meet nowhere else, and each two of them reach each
/// other by as many paths or at once, no coalition stands in all ways.
fn stays_connected(keys: &Graph, colluders: usize) -> bool {
    let n = keys.nodes();
    let least = (0..n).map(|u| keys.degree(u)).min().unwrap_or(0); // whole numbers
    if least + 1 == n || least <= colluders {
        return least + 1 == n;
    }
    if (n + colluders * colluders) as f64 * (colluders + 1) as f64 * size(keys) > 10.0 * WORK {
        // Taking a peer away lowers the second eigenvalue by at most 1.
        return Honest::new(keys, Vec::new()).sizes.len() == 1
            && gap_at_least(keys) > colluders as f64 * (1.0 + 1e-9);
    }
    let mut search = Search::new(keys);
    let chosen = |u: usize| u <= colluders;
    let reach_them = (colluders + 1..n).all(|u| search.fan(u, n, chosen, colluders + 1));
    reach_them
        && (0..=colluders).all(|u| {
            (0..u).filter(|&v| !keys.has_edge(u, v)).all(|v| {
                let beside = |w: usize| keys.has_edge(v, w);
                search.fan(u, v, beside, colluders + 1)
            })
        })
}

const NOBODY: usize = usize::MAX;

/// Paths that share nothing but where they begin, found one after the other by rerouting those before (Menger).
struct Search<'a> {
    keys: &'a Graph,
    /// From whom a path comes to each peer.
    before: Vec<usize>,
    /// Of each peer's two sides, where paths arrive (`2 u`) and leave (`2 u + 1`): the side that led there.
    led: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(keys: &'a Graph) -> Self {
        Self { keys, before: vec![NOBODY; keys.nodes()], led: vec![NOBODY; 2 * keys.nodes()] }
    }

    /// Whether so many paths go from `source` to different ends without meeting each other, or `avoided`.
    fn fan(&mut self, source: usize, avoided: usize, is_end: impl Fn(usize) -> bool, wanted: usize) -> bool {
        self.before.fill(NOBODY);
        (0..wanted).all(|_| match self.arrive(source, avoided, &is_end) {
            Some(end) => {
                self.reroute(source, end);
                true
            }
            None => false,
        })
    }

    /// One end more, if there is a way.
    fn arrive(&mut self, source: usize, avoided: usize, is_end: &impl Fn(usize) -> bool) -> Option<usize> {
        self.led.fill(NOBODY);
        let start = 2 * source + 1;
        self.led[start] = start;
        let mut next = VecDeque::from([start]);
        while let Some(side) = next.pop_front() {
            let u = side / 2;
            if side % 2 == 1 {
                let others = self.keys.neighbors(u).iter().map(|&other| other as usize);
                for w in others.filter(|&w| w != source && w != avoided && self.before[w] != u) {
                    visit(&mut self.led, &mut next, side, 2 * w);
                }
                // A path through here may leave it to others.
                if u != source && self.before[u] != NOBODY {
                    visit(&mut self.led, &mut next, side, 2 * u);
                }
            } else if self.before[u] != NOBODY {
                visit(&mut self.led, &mut next, side, 2 * self.before[u] + 1);
            } else if is_end(u) {
                return Some(u);
            } else {
                visit(&mut self.led, &mut next, side, 2 * u + 1);
            }
        }
        None
    }

    /// Takes the way that was found: paths that it met go on where it led.
    fn reroute(&mut self, source: usize, end: usize) {
        let mut way = vec![2 * end];
        while let Some(&last) = way.last().filter(|&&last| last != 2 * source + 1) {
            way.push(self.led[last]);
        }
        let steps = || way.windows(2).map(|pair| (pair[1], pair[0])).filter(|(a, b)| a / 2 != b / 2);
        for (back, _) in steps().filter(|(from, _)| from % 2 == 0) {
            self.before[back / 2] = NOBODY;
        }
        for (from, to) in steps().filter(|(from, _)| from % 2 == 1) {
            self.before[to / 2] = from / 2;
        }
    }
}

fn visit(led: &mut [usize], next: &mut VecDeque<usize>, from: usize, to: usize) {
    if led[to] == NOBODY {
        led[to] = from;
        next.push_back(to);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    #[test]
    fn paths_tell_what_all_coalitions_tell() {
        let (mut whole, mut torn) = (0, 0);
        for seed in 0..120 {
            let n = 5 + seed as usize % 7;
            let keys =
                generate(&Family::ErdosRenyi { n, p: [0.3, 0.5, 0.7, 0.9][seed as usize % 4] }, seed, false)
                    .unwrap();
            for colluders in 0..4.min(n - 2) {
                let all = every_one(&keys, colluders);
                let connected = all.iter().all(|&size| size == n - colluders);
                assert_eq!(stays_connected(&keys, colluders), connected, "{seed} {colluders}");
                assert_eq!(groups(&keys, colluders).unwrap(), (all.clone(), true), "{seed} {colluders}");
                for (u, least) in all.iter().enumerate() {
                    assert!(keys.degree(u).saturating_sub(colluders) < *least);
                }
                if connected { whole += 1 } else { torn += 1 }
            }
        }
        assert!(whole > 50 && torn > 50, "{whole} {torn}");
    }

    #[test]
    fn many_peers_with_few_partners_are_hidden_by_all() {
        let keys = generate(&Family::RandomRegular { n: 400, degree: 8 }, 3, true).unwrap();
        assert_eq!(groups(&keys, 6).unwrap(), (vec![394; 400], true));
        // All of somebody's partners.
        assert_eq!(groups(&keys, 8).unwrap(), (vec![1; 400], true));
        // Two parts that three edges join: too many coalitions to look at, and a bound.
        let half = generate(&Family::RandomRegular { n: 200, degree: 8 }, 3, true).unwrap();
        let edges = half.edges().flat_map(|(u, v)| [(u, v), (u + 200, v + 200)]);
        let keys = Graph::from_edges(400, edges.chain([(0, 200), (1, 201), (2, 202)])).unwrap();
        let (sizes, exact) = groups(&keys, 4).unwrap();
        assert!(!exact && sizes[10] == 5 && sizes[0] == 6);
        assert_eq!(groups(&keys, 2).unwrap(), (vec![398; 400], true));
    }
}
