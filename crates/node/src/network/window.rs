//! How many bytes a peer may send ahead of what was read: as many as come in a round trip, and no more.
//!
//! The engine handles at most 128 events of a connection at a time; where more packets wait, those that it would send next are dropped, and count as lost. So where peers
//! are near each other, fewer are let on their way. Far away, where a round trip takes long, a small window would slow them down, and packets come one by one.

use std::time::Duration;

use iroh::endpoint::{Connection, VarInt};

/// At the least: some 110 packets.
pub(super) const LEAST: u32 = 160 << 10;
/// At the most.
pub(super) const MOST: u32 = 4 << 20;
/// Bytes a second: a gigabit.
const SPEED: f64 = 125e6;

/// The window of one connection.
pub(super) struct Window {
    /// The shortest round trip so far: longer ones are those of queues, which a larger window would make longer still.
    trip: Duration,
    bytes: u32,
}

impl Window {
    pub(super) fn new() -> Self {
        Self { trip: Duration::MAX, bytes: LEAST }
    }

    /// Suits it to the round trips of the path in use.
    pub(super) fn suit(&mut self, connection: &Connection) {
        let trips = connection.paths().iter().filter(|path| path.is_selected()).map(|path| path.rtt()).min();
        let Some(trip) = trips else { return };
        self.trip = self.trip.min(trip);
        let bytes = fitting(self.trip);
        if bytes != self.bytes {
            self.bytes = bytes;
            connection.set_receive_window(VarInt::from_u32(bytes));
        }
    }
}

/// What comes in a round trip, in steps of two, so that it is not changed all the time.
fn fitting(trip: Duration) -> u32 {
    let bytes = SPEED * trip.as_secs_f64();
    let mut fits = LEAST;
    while fits < MOST && f64::from(fits) < bytes {
        fits *= 2;
    }
    if fits < MOST { fits } else { MOST }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_peers_have_small_windows_and_far_ones_large() {
        assert_eq!(fitting(Duration::ZERO), LEAST);
        assert_eq!(fitting(Duration::from_millis(1)), LEAST);
        assert_eq!(fitting(Duration::from_millis(10)), 8 * LEAST);
        assert_eq!(fitting(Duration::from_millis(100)), MOST);
        assert_eq!(fitting(Duration::MAX), MOST);
    }
}
