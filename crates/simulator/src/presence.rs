//! When a peer is there: not before it crashed, asleep or away.

use crate::network::{Absence, Faults, nanoseconds};

/// The times at which one peer is not there, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Presence {
    death: Option<u64>,
    asleep: Vec<(u64, u64)>,
    away: Vec<(u64, u64)>,
}

impl Presence {
    /// That of every peer.
    pub(crate) fn of(faults: &Faults, peers: usize) -> Vec<Self> {
        let mut all = vec![Self::default(); peers];
        for &(peer, time) in &faults.crashes {
            let time = nanoseconds(time);
            let death = &mut all[peer].death;
            *death = Some(death.map_or(time, |earlier| earlier.min(time)));
        }
        let span = |absence: &Absence| (nanoseconds(absence.from), nanoseconds(absence.until));
        let mut each = |absences: &[Absence], place: fn(&mut Self) -> &mut Vec<(u64, u64)>| {
            absences.iter().for_each(|absence| place(&mut all[absence.peer]).push(span(absence)));
        };
        each(&faults.pauses, |presence| &mut presence.asleep);
        each(&faults.departures, |presence| &mut presence.away);
        all
    }

    pub(crate) fn is_dead(&self, now: u64) -> bool {
        self.death.is_some_and(|death| death <= now)
    }

    pub(crate) fn is_away(&self, now: u64) -> bool {
        covering(&self.away, now).is_some()
    }

    /// When the absence ends that covers `now`, if one does; another may then have begun.
    pub(crate) fn back(&self, now: u64) -> Option<u64> {
        covering(&self.asleep, now).or_else(|| covering(&self.away, now))
    }
}

fn covering(spans: &[(u64, u64)], now: u64) -> Option<u64> {
    spans.iter().find(|(from, until)| (*from..*until).contains(&now)).map(|&(_, until)| until)
}
