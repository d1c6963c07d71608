//! One telling among neighbours as the curious see it, and the sets of active peers that are followed.

use std::collections::BTreeMap;

use sottovoce_topology::Graph;

/// Peers in increasing order.
pub(super) type Set = Vec<u16>;

/// What the curious notice of a telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// One of them was told.
    Heard { from: u16, to: u16 },
    /// One of them told; it knows its coin, and whether the telling arrived.
    Told { from: u16, to: u16, stays: bool, arrived: bool },
}

/// The protocol on a graph.
#[derive(Debug, Clone)]
pub(super) struct Telling<'g> {
    pub(super) graph: &'g Graph,
    pub(super) curious: Vec<bool>,
    pub(super) muting: f64,
    pub(super) drop: f64,
}

impl Telling<'_> {
    /// All that the next telling may do to a set of active peers: its probability, what is noticed, and who is active then.
    pub(super) fn moves(&self, active: &[u16], mut each: impl FnMut(f64, Option<Label>, Set)) {
        for &from in active {
            let neighbors = self.graph.neighbors(usize::from(from));
            let one = 1.0 / (active.len() as f64 * neighbors.len() as f64);
            for &to in neighbors {
                for (stays, coin) in [(true, self.muting), (false, 1.0 - self.muting)] {
                    for (arrived, fate) in [(true, 1.0 - self.drop), (false, self.drop)] {
                        let p = one * coin * fate;
                        if p > 0.0 {
                            let to = to as u16;
                            each(
                                p,
                                self.noticed(from, to, stays, arrived),
                                after(active, from, to, stays, arrived),
                            );
                        }
                    }
                }
            }
        }
    }

    fn noticed(&self, from: u16, to: u16, stays: bool, arrived: bool) -> Option<Label> {
        match (self.is_curious(from), self.is_curious(to)) {
            (true, _) => Some(Label::Told { from, to, stays, arrived }),
            (false, true) if arrived => Some(Label::Heard { from, to }),
            _ => None,
        }
    }

    pub(super) fn is_curious(&self, peer: u16) -> bool {
        self.curious[usize::from(peer)]
    }
}

fn after(active: &[u16], from: u16, to: u16, stays: bool, arrived: bool) -> Set {
    let mut next: Set = active.iter().copied().filter(|&peer| stays || peer != from).collect();
    if arrived && let Err(place) = next.binary_search(&to) {
        next.insert(place, to);
    }
    next
}

/// The sets of honest peers that are followed, the empty one first, then by size.
#[derive(Debug)]
pub(super) struct Sets {
    pub(super) list: Vec<Set>,
    place: BTreeMap<Set, usize>,
    largest: usize,
    all: bool,
}

impl Sets {
    /// Sets of up to `largest` of these peers, smaller ones where there would be more than `most`; single peers always.
    pub(super) fn new(peers: &[usize], largest: usize, most: usize) -> Self {
        let (mut list, mut size) = (vec![Set::new()], 0);
        let mut last = list.clone();
        while size < largest {
            sottovoce_fault::stop::look();
            let grow = |set: &Set| {
                let begin =
                    set.last().map_or(0, |&last| peers.partition_point(|&peer| peer <= usize::from(last)));
                let with = |&peer: &usize| set.iter().copied().chain([peer as u16]).collect::<Set>();
                peers[begin..].iter().map(with).collect::<Vec<_>>()
            };
            let count = choices(peers.len(), size + 1);
            if size > 0 && list.len().saturating_add(count) > most {
                break;
            }
            last = last.iter().flat_map(grow).collect();
            list.extend(last.iter().cloned());
            size += 1;
        }
        let place = list.iter().cloned().zip(0..).collect();
        Self { list, place, largest: size, all: size == peers.len() }
    }

    /// Whether every set is followed.
    pub(super) fn is_all(&self) -> bool {
        self.all
    }

    /// The size of the largest.
    pub(super) fn largest(&self) -> usize {
        self.largest
    }

    /// The place of a set.
    pub(super) fn find(&self, set: &[u16]) -> Option<usize> {
        self.place.get(set).copied()
    }
}

/// How many sets of this size there are; saturates.
fn choices(peers: usize, size: usize) -> usize {
    (0..size).fold(1usize, |count, i| count.saturating_mul(peers.saturating_sub(i)) / (i + 1))
}
