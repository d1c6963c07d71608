//! What curious peers hear of one rumour, telling by telling, and what suspects are up to.

use std::ops::ControlFlow;

use sottovoce_protocol::public::Curious;
use sottovoce_simulator::rumor::{Crowd, Seen, Told};

use super::{Pace, Setting};

/// An attacker at work.
pub(super) trait Watcher {
    /// A telling was heard.
    fn see(&mut self, seen: Seen) -> ControlFlow<()>;

    /// After a step (or a round): whether the rest can be foretold, from what only the simulation knows.
    fn foretold(&mut self, _: &Crowd<'_>, _: Option<Told>) -> bool {
        false
    }
}

/// Runs a rumour until the watcher has seen enough, the crowd falls silent, or patience ends.
pub(super) fn watch(setting: &Setting<'_>, crowd: &mut Crowd<'_>, watcher: &mut impl Watcher) {
    let patience = setting.patience();
    while crowd.active() > 0 && crowd.tellings() < patience {
        sottovoce_fault::stop::look();
        let (flow, told) = match setting.pace {
            Pace::Steps => step(setting, crowd, watcher),
            Pace::Rounds => round(setting, crowd, watcher),
        };
        if flow.is_break() || watcher.foretold(crowd, told) {
            return;
        }
    }
}

type Shown = (ControlFlow<()>, Option<Told>);

fn step(setting: &Setting<'_>, crowd: &mut Crowd<'_>, watcher: &mut impl Watcher) -> Shown {
    let time = crowd.tellings();
    let told = crowd.step();
    let seen = told.and_then(|told| heard(setting.curious, told, time));
    (seen.map_or(ControlFlow::Continue(()), |seen| watcher.see(seen)), told)
}

fn round(setting: &Setting<'_>, crowd: &mut Crowd<'_>, watcher: &mut impl Watcher) -> Shown {
    let (time, mut flow) = (crowd.rounds(), ControlFlow::Continue(()));
    crowd.round(|told| {
        if let (ControlFlow::Continue(()), Some(seen)) = (flow, heard(setting.curious, told, time)) {
            flow = watcher.see(seen);
        }
    });
    (flow, None)
}

fn heard(curious: &Curious, told: Told, time: u64) -> Option<Seen> {
    let (from, to) = (told.from as usize, told.to as usize);
    let noted = !told.lost && curious.has(to) && !curious.has(from);
    noted.then_some(Seen { sender: told.from, receiver: told.to, time })
}

/// How many of the suspects are active, kept up to date step by step.
pub(super) struct Awake {
    suspect: Vec<bool>,
    awake: Vec<bool>,
    count: usize,
}

impl Awake {
    pub(super) fn new(suspects: &[usize], peers: usize) -> Self {
        let mut suspect = vec![false; peers];
        suspects.iter().for_each(|&peer| suspect[peer] = true);
        Self { suspect, awake: vec![false; peers], count: 0 }
    }

    pub(super) fn is_suspect(&self, peer: u32) -> bool {
        self.suspect[peer as usize]
    }

    /// A new rumour.
    pub(super) fn begin(&mut self, crowd: &Crowd<'_>) {
        if self.count > 0 {
            self.awake.fill(false);
            self.count = 0;
        }
        crowd.active_peers().for_each(|peer| self.update(crowd, peer));
    }

    /// Whether no suspect is active after this step (or round).
    pub(super) fn none_after(&mut self, crowd: &Crowd<'_>, told: Option<Told>) -> bool {
        match told {
            Some(told) => {
                self.update(crowd, told.from);
                self.update(crowd, told.to);
                self.count == 0
            }
            None => !crowd.active_peers().any(|peer| self.suspect[peer as usize]),
        }
    }

    fn update(&mut self, crowd: &Crowd<'_>, peer: u32) {
        let peer = peer as usize;
        let now = self.suspect[peer] && crowd.is_active(peer);
        if now != self.awake[peer] {
            self.awake[peer] = now;
            self.count = if now { self.count + 1 } else { self.count - 1 };
        }
    }
}
