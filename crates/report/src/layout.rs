//! Positions for a graph that has none: Fruchterman and Reingold's forces (1991), cooled, from a seed.
//!
//! Edges pull, all nodes push, and the step allowed shrinks to nothing. Up to [`EXACT`] nodes push each other in all
//! pairs; beyond that only nodes in neighbouring cells of a grid do, since far pushes hardly matter. Every sum is
//! taken in index order, so that the same input gives the same positions.

use std::collections::{BTreeMap, VecDeque};

/// The largest graph in which every pair of nodes is looked at.
const EXACT: usize = 1000;

type Point = (f64, f64);

/// Positions in the unit square for the nodes `0..nodes`. Edges that name other nodes are ignored.
pub fn layout(nodes: usize, edges: &[(u32, u32)], seed: u64) -> Vec<Point> {
    let links: Vec<(usize, usize)> = edges
        .iter()
        .map(|(a, b)| (*a as usize, *b as usize))
        .filter(|(a, b)| a != b && *a < nodes && *b < nodes)
        .collect();
    let mut at = start(nodes, &links, seed);
    let ideal = 1.0 / (nodes.max(1) as f64).sqrt();
    let rounds = if nodes <= EXACT { 200 } else { 100 };
    for round in 0..rounds {
        let heat = 0.12 * (1.0 - f64::from(round) / f64::from(rounds)).powi(2) + 1e-4;
        let mut force = if nodes <= EXACT { push_all(&at, ideal) } else { push_near(&at, ideal) };
        pull(&mut force, &at, &links, ideal);
        for (point, force) in at.iter_mut().zip(&force) {
            // A weak pull to the middle keeps separate parts on the page.
            let force = (force.0 - 0.3 * ideal * point.0, force.1 - 0.3 * ideal * point.1);
            let size = force.0.hypot(force.1).max(1e-12);
            let step = size.min(heat) / size;
            *point = (point.0 + step * force.0, point.1 + step * force.1);
        }
    }
    to_unit_square(&at)
}

/// Where the forces begin: each node by how many hops it is from four far-apart nodes, which unfolds rings, grids and
/// trees from the outset, shaken so that no two nodes start at the same place. Nodes without a path to those four
/// begin on a circle.
fn start(nodes: usize, links: &[(usize, usize)], seed: u64) -> Vec<Point> {
    let next = neighbours(nodes, links);
    let left = farthest(&[&hops(&next, 0)]);
    let from_left = hops(&next, left);
    let from_right = hops(&next, farthest(&[&from_left]));
    let from_top = hops(&next, farthest(&[&from_left, &from_right]));
    let from_bottom = hops(&next, farthest(&[&from_top]));
    let size = from_left.iter().flatten().copied().max().unwrap_or(1).max(1) as f64;
    let between = |a: Option<usize>, b: Option<usize>| Some((a? as f64 - b? as f64) / (2.0 * size));
    let shake = |i: usize, salt: u64| hash(seed ^ (i as u64) << 2 ^ salt) * 0.1 - 0.05;
    (0..nodes)
        .map(|i| {
            let placed = between(from_left[i], from_right[i]).zip(between(from_top[i], from_bottom[i]));
            let (sin, cos) = (std::f64::consts::TAU * i as f64 / nodes as f64).sin_cos();
            let (x, y) = placed.unwrap_or((0.7 * cos, 0.7 * sin));
            (x + shake(i, 1), y + shake(i, 2))
        })
        .collect()
}

fn neighbours(nodes: usize, links: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); nodes];
    for (a, b) in links {
        next[*a].push(*b);
        next[*b].push(*a);
    }
    next
}

/// Hops from one node to every other, where there is a path.
fn hops(next: &[Vec<usize>], from: usize) -> Vec<Option<usize>> {
    let mut far = vec![None; next.len()];
    let mut queue = VecDeque::new();
    if let Some(first) = far.get_mut(from) {
        *first = Some(0);
        queue.push_back((from, 0));
    }
    while let Some((at, d)) = queue.pop_front() {
        for to in &next[at] {
            if far[*to].is_none() {
                far[*to] = Some(d + 1);
                queue.push_back((*to, d + 1));
            }
        }
    }
    far
}

/// The node whose nearest reference is farthest away; the first where there are several.
fn farthest(references: &[&Vec<Option<usize>>]) -> usize {
    let nodes = references.first().map_or(0, |r| r.len());
    let least = |i: usize| references.iter().map(|r| r[i]).min().flatten();
    (0..nodes).rev().max_by_key(|i| least(*i)).unwrap_or(0)
}

/// A number in [0, 1) from a counter (the finaliser of SplitMix64).
fn hash(counter: u64) -> f64 {
    let mut z = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// The push between two points, on the first: the ideal length squared over the distance.
fn push(a: Point, b: Point, ideal: f64) -> Point {
    let (x, y) = (a.0 - b.0, a.1 - b.1);
    let scale = ideal * ideal / (x * x + y * y).max(1e-9);
    (x * scale, y * scale)
}

fn push_all(at: &[Point], ideal: f64) -> Vec<Point> {
    let mut force = vec![(0.0, 0.0); at.len()];
    for i in 0..at.len() {
        let mut sum = (0.0, 0.0);
        for j in i + 1..at.len() {
            let (x, y) = push(at[i], at[j], ideal);
            sum = (sum.0 + x, sum.1 + y);
            force[j] = (force[j].0 - x, force[j].1 - y);
        }
        force[i] = (force[i].0 + sum.0, force[i].1 + sum.1);
    }
    force
}

fn push_near(at: &[Point], ideal: f64) -> Vec<Point> {
    let cell = |p: Point| ((p.0 / (3.0 * ideal)).floor() as i64, (p.1 / (3.0 * ideal)).floor() as i64);
    let mut grid: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for (i, point) in at.iter().enumerate() {
        grid.entry(cell(*point)).or_default().push(i);
    }
    let near = |point: Point| {
        let (x, y) = cell(point);
        let cells = (x - 1..=x + 1).flat_map(move |x| (y - 1..=y + 1).map(move |y| (x, y)));
        cells.filter_map(|key| grid.get(&key)).flatten()
    };
    let sum = |(i, point): (usize, &Point)| {
        // A crowded cell would cost the square of its size; every so many of its nodes then stand for the rest.
        let others: Vec<usize> = near(*point).copied().collect();
        let every = others.len() / 256 + 1;
        let sampled = others.iter().step_by(every).filter(|j| **j != i).map(|j| push(*point, at[*j], ideal));
        let total = sampled.fold((0.0, 0.0), |s, f| (s.0 + f.0, s.1 + f.1));
        (total.0 * every as f64, total.1 * every as f64)
    };
    at.iter().enumerate().map(sum).collect()
}

fn pull(force: &mut [Point], at: &[Point], links: &[(usize, usize)], ideal: f64) {
    for (a, b) in links {
        let (x, y) = (at[*b].0 - at[*a].0, at[*b].1 - at[*a].1);
        let scale = x.hypot(y) / ideal;
        force[*a] = (force[*a].0 + scale * x, force[*a].1 + scale * y);
        force[*b] = (force[*b].0 - scale * x, force[*b].1 - scale * y);
    }
}

fn to_unit_square(at: &[Point]) -> Vec<Point> {
    let range = |pick: fn(&Point) -> f64| {
        at.iter().map(pick).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)))
    };
    let (x, y) = (range(|p| p.0), range(|p| p.1));
    let span = (x.1 - x.0).max(y.1 - y.0).max(1e-9);
    let place = |v: f64, (low, high): Point| (0.5 + (v - (low + high) / 2.0) / span).clamp(0.0, 1.0);
    at.iter().map(|p| (place(p.0, x), place(p.1, y))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: u32) -> Vec<(u32, u32)> {
        (0..n).map(|i| (i, (i + 1) % n)).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_picture() {
        let edges = ring(30);
        assert_eq!(layout(30, &edges, 7), layout(30, &edges, 7));
        assert_ne!(layout(30, &edges, 7), layout(30, &edges, 8));
    }

    #[test]
    fn linked_nodes_end_nearer_than_others() {
        for n in [60u32, 1500] {
            let at = layout(n as usize, &ring(n), 1);
            assert!(at.iter().all(|p| (0.0..=1.0).contains(&p.0) && (0.0..=1.0).contains(&p.1)));
            let far = |a: usize, b: usize| (at[a].0 - at[b].0).hypot(at[a].1 - at[b].1);
            let n = n as usize;
            let linked: f64 = (0..n).map(|i| far(i, (i + 1) % n)).sum();
            let across: f64 = (0..n).map(|i| far(i, (i + n / 2) % n)).sum();
            assert!(linked < 0.3 * across, "{n}: {linked} {across}");
        }
    }

    #[test]
    fn odd_graphs_are_laid_out_too() {
        assert!(layout(0, &[], 1).is_empty());
        assert_eq!(layout(1, &[(0, 0), (3, 9)], 1).len(), 1);
        assert_eq!(layout(5, &[(0, 1)], 1).len(), 5);
    }
}
