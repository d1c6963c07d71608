//! Independent pieces of work on all cores; the result does not depend on how many there are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Worker threads to use.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// `work(i)` for every `i` below `count`, handed out one by one; results in order. `done` is called after each, from any
/// thread, with the number finished so far.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync, done: impl Fn(usize) + Sync) -> Vec<T> {
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return mine;
            }
            mine.push((i, work(i)));
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads().min(count)).map(|_| scope.spawn(worker)).collect();
        // A panic in a worker is a bug, and goes on as one.
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Fills `slots` in pieces of `size` (the last may be shorter), handed out one by one: `work(i, piece)`.
pub(crate) fn fill<T: Send>(slots: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let pieces = Mutex::new(slots.chunks_mut(size).enumerate());
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                while let Some((i, piece)) = next() {
                    work(i, piece);
                }
            });
        }
    });
}
