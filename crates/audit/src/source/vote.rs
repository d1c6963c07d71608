//! Several rumours of one source: name whoever is most often among the first heard.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use sottovoce_protocol::rumor::Chance;
use sottovoce_simulator::rumor::{Dice, Seen};

use super::first::in_pieces;
use super::watch::{Watcher, watch};
use super::{Result, Setting, Share};
use crate::reconstruct::require;

/// How often the vote names the source, which is any peer that is not curious, and spreads `rumors` rumours. Of each the first
/// `first` peers heard get a vote; among those with most votes it is the one heard earliest (by its best place), then any.
pub fn vote(
    setting: &Setting<'_>,
    rumors: usize,
    first: usize,
    runs: u64,
    seed: u64,
    done: impl Fn(u64) + Sync,
) -> Result<Share> {
    setting.check()?;
    for (field, count) in [("rumors", rumors), ("first", first)] {
        require(count != 0, field, count, "give one at least")?;
    }
    let honest = setting.curious.honest();
    let hits = in_pieces(runs, done, |from, to| {
        let mut crowd = setting.crowd(honest[0], Dice::new(seed, 0, 0))?;
        let mut hits = 0;
        for run in from..to {
            sottovoce_fault::stop::look();
            let mut dice = Dice::new(seed, run, 0);
            let source = honest[dice.below(honest.len())];
            let mut votes = Votes::new(first);
            for rumor in 0..rumors {
                crowd.again(source, Dice::new(seed, run, 1 + rumor as u64))?;
                votes.heard.clear();
                watch(setting, &mut crowd, &mut votes);
            }
            hits += u64::from(votes.winner(&mut dice) == Some(source));
        }
        Ok(hits)
    })?;
    Ok(Share { hits: hits.iter().sum(), runs })
}

struct Votes {
    first: usize,
    /// The first heard of the present rumour.
    heard: Vec<u32>,
    /// Votes, and the best place.
    votes: BTreeMap<u32, (usize, usize)>,
}

impl Votes {
    fn new(first: usize) -> Self {
        Self { first, heard: Vec::new(), votes: BTreeMap::new() }
    }

    fn winner(&self, dice: &mut Dice) -> Option<usize> {
        let rank = |&(votes, place): &(usize, usize)| (votes, std::cmp::Reverse(place));
        let best = self.votes.values().map(rank).max()?;
        let winners: Vec<u32> =
            self.votes.iter().filter(|(_, votes)| rank(votes) == best).map(|(&peer, _)| peer).collect();
        Some(winners[dice.below(winners.len())] as usize)
    }
}

impl Watcher for Votes {
    fn see(&mut self, seen: Seen) -> ControlFlow<()> {
        if !self.heard.contains(&seen.sender) {
            let place = self.heard.len();
            self.heard.push(seen.sender);
            let (votes, best) = self.votes.entry(seen.sender).or_insert((0, place));
            *votes += 1;
            *best = place.min(*best);
        }
        if self.heard.len() < self.first { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
