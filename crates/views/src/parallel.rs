//! Independent pieces of work on all cores; the result does not depend on how many there are.
//!
//! `RAYON_NUM_THREADS` says how many to use.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
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
    all((0..count).into_par_iter().with_max_len(1).map(|i| here.caught(|| one(i)).ok()).collect())
}

/// `work(own, i)` for every `i` below `count`, results in order; `own` is something to work on for each thread, which must not matter for the results.
pub(crate) fn map_with<S, T: Send>(
    count: usize,
    own: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, usize) -> T + Sync + Send,
) -> Vec<T> {
    let here = stop::here();
    let one = |own: &mut S, i: usize| here.caught(|| work(own, i)).ok();
    all((0..count).into_par_iter().map_init(own, one).collect())
}

/// All of them, unless the work was stopped. Pieces end one by one where they are, since a pool goes through all that it was given.
fn all<T>(found: Vec<Option<T>>) -> Vec<T> {
    found.into_iter().collect::<Option<Vec<T>>>().unwrap_or_else(|| resume_unwind(Box::new(Stopped)))
}

/// Fills `slots` in pieces of `size` (the last may be shorter), handed out one by one: `work(i, piece)`.
pub(crate) fn fill<T: Send>(slots: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let (here, pieces) = (stop::here(), slots.par_chunks_mut(size).enumerate().with_max_len(1));
    pieces.for_each(|(i, piece)| _ = here.caught(|| work(i, piece)));
    here.look();
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

    #[test]
    fn losses_have_the_same_bits_on_any_number_of_threads() {
        let graph = generate(&Family::RandomRegular { n: 60, degree: 4 }, 3, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let losses = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let all = pool.install(|| exact::gossip_all_pairs(&mixing, 9, |_| ())).unwrap();
            all.iter().flat_map(|leakage| &leakage.losses).map(|loss| loss.to_bits()).collect::<Vec<_>>()
        };
        let alone = losses(1);
        assert!((2..5).all(|threads| losses(threads) == alone));
    }
}
