//! Independent pieces of work on all cores; the result does not depend on how many there are.
//!
//! `RAYON_NUM_THREADS` says how many to use.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::Enumerate;
use rayon::prelude::*;
use rayon::slice::IterMut;
use sottovoce_fault::stop::{self, Stopped};

/// How many threads there are.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// `work(i)` for every `i` below `count`, handed out one by one; results in order. `done` is called after each, from any
/// thread, with the number finished so far.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync, done: impl Fn(usize) + Sync) -> Vec<T> {
    let (finished, here) = (AtomicUsize::new(0), stop::here());
    let one = |i: usize| {
        let result = work(i);
        done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        result
    };
    all(count, |slots| slots.with_max_len(1).try_for_each(|(i, slot)| put(slot, here.caught(|| one(i)).ok())))
}

/// `work(own, i)` for every `i` below `count`, results in order; `own` is something to work on for each thread, which must not matter for the results.
pub(crate) fn map_with<S, T: Send>(
    count: usize,
    own: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, usize) -> T + Sync + Send,
) -> Vec<T> {
    let here = stop::here();
    let one = |own: &mut S, (i, slot): Slot<'_, T>| put(slot, here.caught(|| work(own, i)).ok());
    all(count, |slots| slots.try_for_each_init(own, one))
}

/// A place for one result, and its number.
type Slot<'a, T> = (usize, &'a mut Option<T>);
type Slots<'a, T> = Enumerate<IterMut<'a, Option<T>>>;

/// All results, unless the work was stopped: the first that is none ends the rest, which is not even looked at.
fn all<T: Send>(count: usize, work: impl FnOnce(Slots<'_, T>) -> Option<()>) -> Vec<T> {
    let mut slots: Vec<Option<T>> = std::iter::repeat_with(|| None).take(count).collect();
    let found = work(slots.par_iter_mut().enumerate()).and_then(|()| slots.into_iter().collect());
    found.unwrap_or_else(|| resume_unwind(Box::new(Stopped)))
}

fn put<T>(slot: &mut Option<T>, found: Option<T>) -> Option<()> {
    *slot = found;
    slot.as_ref().map(|_| ())
}

/// Fills `slots` in pieces of `size` (the last may be shorter), handed out one by one: `work(i, piece)`.
pub(crate) fn fill<T: Send>(slots: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let (here, pieces) = (stop::here(), slots.par_chunks_mut(size).enumerate().with_max_len(1));
    if pieces.try_for_each(|(i, piece)| here.caught(|| work(i, piece))).is_err() {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::{Mixing, Weights};

    #[test]
    fn results_come_in_order_and_all_are_counted() {
        let most = AtomicUsize::new(0);
        let count = |finished| {
            most.fetch_max(finished, Ordering::Relaxed);
        };
        let squares = map(1000, |i| i * i, count);
        assert_eq!(squares, (0..1000).map(|i| i * i).collect::<Vec<_>>());
        assert_eq!(most.into_inner(), 1000);
        let mut slots = vec![0; 1001];
        fill(&mut slots, 10, |i, piece| piece.iter_mut().for_each(|slot| *slot = i));
        assert!(slots.iter().enumerate().all(|(i, slot)| *slot == i / 10));
    }

    /// What is left once work is stopped is not gone through piece by piece: millions of them would take a minute.
    #[test]
    fn what_is_left_is_left() {
        let (stop, begun) = (stop::Stop::default(), std::time::Instant::now());
        let work = |i: usize| {
            if i == 0 {
                stop.raise();
            }
            stop::look();
        };
        assert!(stop.over(|| map(1 << 26, work, |_| ())).is_err());
        assert!(begun.elapsed() < std::time::Duration::from_secs(20));
        let stop = stop::Stop::default();
        let work = |(): &mut (), i: usize| {
            if i == 7 {
                stop.raise();
            }
        };
        assert!(stop.over(|| map_with(1 << 20, || (), work)).is_err());
        let stop = stop::Stop::default();
        assert!(stop.over(|| fill(&mut [0; 1000], 1, |_, _| stop.raise())).is_err());
    }

    #[test]
    fn losses_have_the_same_bits_on_any_number_of_threads() {
        let graph = generate(&Family::RandomRegular { n: 60, degree: 4 }, 3, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let losses = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let all = pool.install(|| exact::gossip_all_pairs(&mixing, 9, &|_| ())).unwrap();
            all.iter().flat_map(|leakage| &leakage.losses).map(|loss| loss.to_bits()).collect::<Vec<_>>()
        };
        let alone = losses(1);
        assert!((2..5).all(|threads| losses(threads) == alone));
    }
}
