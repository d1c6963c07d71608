//! Name the first heard if it is never heard again: the mark of a source that tells once and then waits.
//!
//! Such a protocol can be as good as any at hiding the source *on average*, and yet some of what is heard names it almost surely:
//! prediction uncertainty forbids just that, so this attack refutes it.

use std::ops::ControlFlow;

use sottovoce_protocol::rumor::Chance;
use sottovoce_simulator::rumor::{Dice, Seen};

use super::first::in_pieces;
use super::watch::{Watcher, watch};
use super::{Result, Setting, Share};

/// Among the runs in which the first peer heard was not heard again within the next `patience` tellings heard: how often it was the
/// source, which is any peer that is not curious. The share's runs are those only.
pub fn silence(
    setting: &Setting<'_>,
    patience: usize,
    runs: u64,
    seed: u64,
    done: impl Fn(u64) + Sync,
) -> Result<Share> {
    setting.check()?;
    let honest = setting.curious.honest();
    let pieces = in_pieces(runs, done, |from, to| {
        let mut crowd = setting.crowd(honest[0], Dice::new(seed, 0, 0))?;
        let mut share = Share { hits: 0, runs: 0 };
        for run in from..to {
            sottovoce_fault::stop::look();
            let mut dice = Dice::new(seed, run, 0);
            let source = honest[dice.below(honest.len())];
            crowd.again(source, dice)?;
            let mut silent = Silent { first: None, again: false, left: patience };
            watch(setting, &mut crowd, &mut silent);
            if let (Some(first), false) = (silent.first, silent.again) {
                share.runs += 1;
                share.hits += u64::from(first as usize == source);
            }
        }
        Ok(share)
    })?;
    Ok(pieces.iter().fold(Share { hits: 0, runs: 0 }, |sum, piece| Share {
        hits: sum.hits + piece.hits,
        runs: sum.runs + piece.runs,
    }))
}

struct Silent {
    first: Option<u32>,
    again: bool,
    left: usize,
}

impl Watcher for Silent {
    fn see(&mut self, seen: Seen) -> ControlFlow<()> {
        match self.first {
            None => self.first = Some(seen.sender),
            Some(first) => {
                self.again |= first == seen.sender;
                self.left = self.left.saturating_sub(1);
            }
        }
        if self.again || self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
