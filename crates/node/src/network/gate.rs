//! Who may begin a handshake. It costs time and memory before the key of whoever calls is known, so that strangers have few of them.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use iroh::endpoint::{Incoming, IncomingAddr};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Handshakes of callers whose address is not known: so many under way, and so many in a second. What the engine keeps of one (about 12 kB for a minute) stays below 10 MB.
const STRANGERS: usize = 8;
const STRANGERS_A_SECOND: f64 = 10.0;
/// The same of addresses at which neighbours are: several of them may share one.
const KNOWN: usize = 64;
const KNOWN_A_SECOND: f64 = 100.0;

/// So many in a second, and no more at once than that.
struct Rate {
    a_second: f64,
    left: f64,
    since: Instant,
}

impl Rate {
    fn new(a_second: f64) -> Self {
        Self { a_second, left: a_second, since: Instant::now() }
    }

    fn takes(&mut self, now: Instant) -> bool {
        let grown = self.left + self.a_second * now.duration_since(self.since).as_secs_f64();
        (self.left, self.since) = (f64::min(grown, self.a_second), now);
        let takes = self.left >= 1.0;
        self.left -= f64::from(u8::from(takes));
        takes
    }
}

/// A kind of callers.
struct Class {
    places: Arc<Semaphore>,
    rate: Mutex<Rate>,
}

impl Class {
    fn new(places: usize, a_second: f64) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), rate: Mutex::new(Rate::new(a_second)) }
    }

    fn place(&self, now: Instant) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let mut rate = self.rate.lock().unwrap_or_else(PoisonError::into_inner);
        rate.takes(now).then_some(place)
    }
}

/// Lets so many handshakes in.
pub(super) struct Gate {
    known: Mutex<BTreeSet<IpAddr>>,
    neighbours: Class,
    strangers: Class,
    turned_away: crate::quiet::Quiet<()>,
}

impl Gate {
    pub(super) fn new(neighbours: usize) -> Self {
        let more = neighbours as f64;
        Self {
            known: Mutex::default(),
            neighbours: Class::new(KNOWN, KNOWN_A_SECOND + 2.0 * more),
            strangers: Class::new(STRANGERS, STRANGERS_A_SECOND),
            turned_away: crate::quiet::Quiet::default(),
        }
    }

    /// Addresses at which a neighbour is.
    pub(super) fn know(&self, addresses: impl IntoIterator<Item = IpAddr>) {
        self.lock().extend(addresses.into_iter().map(|address| address.to_canonical()));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<IpAddr>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call arrives. A relay vouches for whom it carries; other addresses may be somebody else's, which counts when places are few: whoever calls has to show then that
    /// it is there. None if it was answered, or is left alone; else the handshake goes on, in this place.
    pub(super) fn judge(&self, call: Incoming) -> Option<(Incoming, OwnedSemaphorePermit)> {
        let known = match call.remote_addr() {
            IncomingAddr::Ip(address) => self.lock().contains(&address.ip().to_canonical()),
            IncomingAddr::Relay { .. } => true,
            _ => false,
        };
        let class = if known { &self.neighbours } else { &self.strangers };
        let busy = class.places.available_permits() <= if known { KNOWN / 2 } else { STRANGERS / 2 };
        if busy && !call.remote_addr_validated() {
            // One that cannot be asked again is left alone.
            let _ = call.retry();
            return None;
        }
        match class.place(Instant::now()) {
            Some(place) => Some((call, place)),
            None => {
                call.ignore();
                if let Some(more) = self.turned_away.due(()) {
                    tracing::warn!(
                        "calls are left alone: too many at once from addresses that are not known{}",
                        crate::quiet::told(more)
                    );
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_rate_is_kept_over_any_time() {
        let mut rate = Rate::new(10.0);
        let begun = rate.since;
        let taken = |rate: &mut Rate, at: f64, calls: usize| {
            (0..calls).filter(|_| rate.takes(begun + Duration::from_secs_f64(at))).count()
        };
        assert_eq!(taken(&mut rate, 0.0, 100), 10);
        assert_eq!(taken(&mut rate, 0.05, 100), 0);
        assert_eq!(taken(&mut rate, 0.55, 100), 5);
        assert_eq!(taken(&mut rate, 100.0, 100), 10, "nothing is saved up");
    }

    #[test]
    fn a_place_is_given_back() {
        let class = Class::new(2, 1e9);
        let now = Instant::now();
        let first = class.place(now);
        let second = class.place(now);
        assert!(first.is_some() && second.is_some() && class.place(now).is_none());
        drop(first);
        assert!(class.place(now).is_some());
    }
}
