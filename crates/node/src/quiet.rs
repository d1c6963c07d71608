//! Lines of a log that outsiders can cause: one for each kind and minute, with a count of those that were left out.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How far two lines of one kind are apart.
const APART: Duration = Duration::from_secs(60);

/// When something was last said of each.
pub(crate) struct Quiet<K>(Mutex<BTreeMap<K, (Instant, u64)>>);

impl<K> Default for Quiet<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord> Quiet<K> {
    /// How many were left out since the last one, if another line is due.
    pub(crate) fn due(&self, of: K) -> Option<u64> {
        self.due_at(of, Instant::now())
    }

    fn due_at(&self, of: K, now: Instant) -> Option<u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(&of) {
            Some((last, left)) if now.duration_since(*last) < APART => {
                *left += 1;
                None
            }
            Some(known) => Some(std::mem::replace(known, (now, 0)).1),
            None => {
                all.insert(of, (now, 0));
                Some(0)
            }
        }
    }
}

/// So many more, behind a line.
pub(crate) fn told(more: u64) -> String {
    if more == 0 {
        String::new()
    } else {
        format!(" (and {more} times more since the last line of this kind)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_line_a_minute_and_nothing_is_forgotten() {
        let (quiet, begun) = (Quiet::default(), Instant::now());
        let due = |of, after| quiet.due_at(of, begun + Duration::from_secs(after));
        assert_eq!((due(1, 0), due(2, 0)), (Some(0), Some(0)));
        assert!((1..60).all(|after| due(1, after).is_none()));
        assert_eq!((due(1, 60), due(2, 60), due(1, 61)), (Some(59), Some(0), None));
        assert_eq!(due(1, 1000), Some(1));
    }
}
