//! What a coalition learns in one butterfly, in closed form.
//!
//! A peer hears means over sets of peers: the partner's subcube in every round, with the guests in it; a host its guest; a guest
//! everyone. Any two of these sets are disjoint or one contains the other, and stay so without the observers. Taking the smaller out
//! of the larger, their span is that of disjoint *rests*, and a peer in a rest of `k` loses `1/k`.

use std::collections::BTreeMap;

use crate::{Error, Result};

/// The number of hosts: a power of two.
fn hosts(nodes: usize) -> usize {
    nodes.checked_ilog2().map_or(0, |bits| 1 << bits)
}

/// For each peer its loss towards the sorted `observers`, where `positions[i]` is the peer at position `i`; and the rank.
pub(super) fn losses(positions: &[usize], observers: &[usize]) -> Result<(Vec<f64>, usize)> {
    check(positions)?;
    let (nodes, core) = (positions.len(), hosts(positions.len()));
    let watching = |place: usize| observers.binary_search(&positions[place]).is_ok();
    // Sets that are heard: bits that vary in them, and the others.
    let mut heard = vec![Vec::new(); core.checked_ilog2().map_or(0, |bits| bits as usize + 1)];
    for place in (0..nodes).filter(|&place| watching(place)) {
        if place >= core {
            heard[core.ilog2() as usize].push(0);
            continue;
        }
        (0..core.ilog2()).for_each(|bit| heard[bit as usize].push((place >> bit) ^ 1));
    }
    heard.iter_mut().for_each(|sets| sets.sort_unstable());
    let rest = |place: usize| {
        let host = place % core;
        if place >= core && watching(host) {
            return Some((host, None));
        }
        let smallest = (0..heard.len()).find(|&bit| heard[bit].binary_search(&(host >> bit)).is_ok());
        smallest.map(|bit| (host >> bit, Some(bit)))
    };
    let hidden: Vec<usize> = (0..nodes).filter(|&place| !watching(place)).collect();
    let mut sizes = BTreeMap::new();
    hidden
        .iter()
        .filter_map(|&place| rest(place))
        .for_each(|rest| *sizes.entry(rest).or_insert(0_usize) += 1);
    let mut losses = vec![0.0; nodes];
    for place in hidden {
        losses[positions[place]] = rest(place).map_or(0.0, |rest| 1.0 / sizes[&rest] as f64);
    }
    Ok((losses, sizes.len()))
}

/// For a pair of peers in random positions: each loss of one towards the other, with its probability.
pub(super) fn pair_law(nodes: usize) -> Vec<(f64, f64)> {
    let core = hosts(nodes);
    let guests = nodes - core;
    let mut pairs: BTreeMap<usize, usize> = BTreeMap::new();
    // A rest of `size` exposes `size` peers to the observer at one position.
    let mut add = |size: usize, observers: usize| *pairs.entry(size).or_insert(0) += size * observers;
    for place in 0..core {
        for bit in 0..core.ilog2() {
            let from = ((place >> bit) ^ 1) << bit;
            let to = from + (1 << bit);
            add(to - from + guests.clamp(from, to) - from, 1);
        }
    }
    if guests > 0 {
        add(1, guests);
        add(nodes - 1, guests);
    }
    let all = nodes as f64 * (nodes - 1) as f64;
    pairs.into_iter().map(|(size, count)| (1.0 / size as f64, count as f64 / all)).collect()
}

fn check(positions: &[usize]) -> Result<()> {
    let mut seen = vec![false; positions.len()];
    for (place, &peer) in positions.iter().enumerate() {
        match seen.get_mut(peer) {
            Some(slot) if !*slot => *slot = true,
            _ => {
                let remedy = format!("list each of 0 to {} once", positions.len() - 1);
                return Err(Error::parameter("positions", format!("{peer} at position {place}"), remedy));
            }
        }
    }
    Ok(())
}
