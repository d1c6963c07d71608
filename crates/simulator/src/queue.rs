//! Events in the order in which they happen: by time, and by when they were planned where times are equal.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A queue of events in virtual nanoseconds.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    heap: BinaryHeap<Reverse<Planned<E>>>,
    planned: u64,
}

#[derive(Debug)]
struct Planned<E> {
    at: (u64, u64),
    event: E,
}

impl<E> Queue<E> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), planned: 0 }
    }

    pub(crate) fn push(&mut self, time: u64, event: E) {
        self.heap.push(Reverse(Planned { at: (time, self.planned), event }));
        self.planned += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<(u64, E)> {
        self.heap.pop().map(|Reverse(planned)| (planned.at.0, planned.event))
    }

    /// All that is left, in no order.
    pub(crate) fn rest(self) -> impl Iterator<Item = E> {
        self.heap.into_iter().map(|Reverse(planned)| planned.event)
    }
}

impl<E> PartialEq for Planned<E> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl<E> Eq for Planned<E> {}

impl<E> PartialOrd for Planned<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Planned<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.cmp(&other.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_keep_their_order() {
        let mut queue = Queue::new();
        for (time, name) in [(2, 'c'), (1, 'a'), (2, 'd'), (1, 'b')] {
            queue.push(time, name);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(1, 'a'), (1, 'b'), (2, 'c'), (2, 'd')]);
    }
}
