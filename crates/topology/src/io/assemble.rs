//! What all readers share: names become numbers, and a list of edges becomes a graph or a precise complaint.

use std::collections::HashMap;

use crate::{Error, Graph, Result};

/// Whether a file may list an edge a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    /// Each edge once, in either direction.
    Once,
    /// Each edge once in each direction at most; the two are merged.
    BothWays,
}

/// Positions in the list of edges of one that is repeated and of its first occurrence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    pub(super) first: usize,
    pub(super) second: usize,
}

/// Builds the graph; the first repeated edge is passed to `complain`, which knows where it was written.
pub(super) fn assemble(
    nodes: usize,
    edges: &[(u32, u32)],
    listing: Listing,
    complain: impl FnOnce(Repeat) -> Error,
) -> Result<Graph> {
    let merged;
    let once = match listing {
        Listing::Once => edges,
        Listing::BothWays => {
            merged = merge_directions(edges);
            &merged
        }
    };
    let graph = Graph::from_edges(nodes, once.iter().map(|&(u, v)| (u as usize, v as usize)));
    // Looking for the culprit costs a sort, so it is done only once there is one.
    graph.map_err(|error| first_repeat(edges, listing).map_or(error, complain))
}

/// Drops one of two listings of an edge in opposite directions; repeats in the same direction stay.
fn merge_directions(edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut directed: Vec<_> = edges.iter().map(|&(u, v)| (u.min(v), u.max(v), u > v)).collect();
    directed.sort_unstable();
    directed.dedup_by(|next, kept| (next.0, next.1) == (kept.0, kept.1) && next.2 != kept.2);
    directed.into_iter().map(|(u, v, _)| (u, v)).collect()
}

/// The earliest repetition in the list.
fn first_repeat(edges: &[(u32, u32)], listing: Listing) -> Option<Repeat> {
    let direction = |u: u32, v: u32| listing == Listing::BothWays && u > v;
    let mut keyed: Vec<_> = (edges.iter().enumerate())
        .map(|(index, &(u, v))| ((u.min(v), u.max(v), direction(u, v)), index))
        .collect();
    keyed.sort_unstable();
    let repeats = keyed.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    repeats.map(|pair| Repeat { first: pair[0].1, second: pair[1].1 }).min_by_key(|repeat| repeat.second)
}

/// Node names, numbered in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Names {
    // Looked up only, never iterated: its order cannot matter.
    numbers: HashMap<String, u32>,
    order: Vec<String>,
}

impl Names {
    /// Adds a name; none if it is already there.
    pub(super) fn add(&mut self, name: &str) -> Option<u32> {
        if self.numbers.contains_key(name) {
            return None;
        }
        let number = self.order.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.order.push(name.to_owned());
        Some(number)
    }

    pub(super) fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Decides what the nodes are called: names that are exactly the numbers `0..n`, in whatever order, mean
    /// themselves and need no labels; any others keep the order they were added in and become labels.
    pub(super) fn settle(self) -> Numbering {
        let n = self.order.len();
        // Names are distinct, so n canonical numbers below n are all of 0..n.
        let number = |name: &String| integer(name.as_bytes()).filter(|&number| number < n as u64);
        match self.order.iter().map(|name| number(name).map(|number| number as u32)).collect() {
            Some(places) => Numbering { places, labels: None },
            None => Numbering { places: (0..n as u32).collect(), labels: Some(self.order) },
        }
    }
}

/// A graph of peers with these names, whose pairs are told by their places among them, as a reader of a file makes it.
///
/// ```
/// use sottovoce_topology::io::named;
/// let names = ["ana", "ben", "eva"].map(str::to_owned);
/// let graph = named(&names, &[(0, 1), (1, 2)])?;
/// assert_eq!((graph.label(2).as_str(), graph.degree(1)), ("eva", 2));
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn named(names: &[String], pairs: &[(u32, u32)]) -> Result<Graph> {
    let mut all = Names::default();
    for name in names {
        let twice =
            || Error::parameter("graph", format!("two peers called {name}"), "give each its own name");
        all.add(name).ok_or_else(twice)?;
    }
    if let Some((u, v)) = pairs.iter().find(|(u, v)| *u.max(v) as usize >= names.len()) {
        let remedy = format!("there are {} peers, counted from 0", names.len());
        return Err(Error::parameter("graph", format!("a pair {u}, {v}"), remedy));
    }
    let numbering = all.settle();
    let graph = Graph::from_edges(
        names.len(),
        numbering.edges(pairs).iter().map(|&(u, v)| (u as usize, v as usize)),
    )?;
    numbering.dress(graph, Vec::new())
}

/// The final number of each name, and the labels if there are any.
#[derive(Debug)]
pub(super) struct Numbering {
    places: Vec<u32>,
    labels: Option<Vec<String>>,
}

impl Numbering {
    /// Renumbers edges.
    pub(super) fn edges(&self, edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
        edges.iter().map(|&(u, v)| (self.places[u as usize], self.places[v as usize])).collect()
    }

    /// Attaches labels, and coordinates if every node has some.
    pub(super) fn dress(self, mut graph: Graph, coordinates: Vec<Option<[f64; 2]>>) -> Result<Graph> {
        if let Some(coordinates) =
            coordinates.into_iter().collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
        {
            let mut placed = coordinates.clone();
            self.places.iter().zip(coordinates).for_each(|(&place, at)| placed[place as usize] = at);
            graph = graph.with_coordinates(placed)?;
        }
        match self.labels {
            Some(labels) => graph.with_labels(labels),
            None => Ok(graph),
        }
    }
}

/// A non-negative integer as a program writes it: digits without leading zeros, below 10^19.
///
/// `007` is not one: it would be printed as `7`, another name.
pub(super) fn integer(token: &[u8]) -> Option<u64> {
    if token.is_empty() || token.len() > 19 || (token[0] == b'0' && token.len() > 1) {
        return None;
    }
    token
        .iter()
        .try_fold(0u64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeat(edges: &[(u32, u32)], listing: Listing) -> Option<Repeat> {
        let mut found = None;
        let result = assemble(5, edges, listing, |repeat| {
            found = Some(repeat);
            Error::Format(String::new())
        });
        assert_eq!(result.is_err(), found.is_some());
        found
    }

    #[test]
    fn the_earliest_repeat_is_reported() {
        let edges = [(3, 4), (0, 1), (1, 2), (2, 1), (1, 0), (0, 1)];
        assert_eq!(repeat(&edges, Listing::Once), Some(Repeat { first: 2, second: 3 }));
        assert_eq!(repeat(&edges, Listing::BothWays), Some(Repeat { first: 1, second: 5 }));
        assert_eq!(repeat(&edges[..5], Listing::BothWays), None);
        assert_eq!(repeat(&edges[..3], Listing::Once), None);
    }

    #[test]
    fn integers_are_canonical() {
        assert_eq!(integer(b"0"), Some(0));
        assert_eq!(integer(b"9999999999999999999"), Some(9_999_999_999_999_999_999));
        for token in ["", "-1", "+1", "01", "1.0", "a", "10000000000000000000"] {
            assert_eq!(integer(token.as_bytes()), None, "{token}");
        }
    }

    #[test]
    fn names_that_are_the_node_numbers_mean_themselves() {
        let settled = |names: &[&str]| {
            let mut all = Names::default();
            names.iter().for_each(|name| _ = all.add(name));
            let numbering = all.settle();
            (numbering.places, numbering.labels.is_some())
        };
        assert_eq!(settled(&["2", "0", "1"]), (vec![2, 0, 1], false));
        assert_eq!(settled(&["3", "0", "1"]), (vec![0, 1, 2], true));
        assert_eq!(settled(&["b", "a"]), (vec![0, 1], true));
    }
}
