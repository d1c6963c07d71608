//! A part of everybody's own rows held out, drawn by each agent for herself.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::{Result, Shards};

/// One in so many is held out.
const PART: usize = 5;

/// Which of `count` things are kept and which are held out: a fifth, rounded down, but one of two or more. Both in increasing order.
pub(super) fn parts(count: usize, rng: &mut ChaCha8Rng) -> (Vec<usize>, Vec<usize>) {
    let mut places: Vec<usize> = (0..count).collect();
    places.shuffle(rng);
    let held = if count < 2 { 0 } else { (count / PART).max(1) };
    let mut held = places.split_off(count - held);
    places.sort_unstable();
    held.sort_unstable();
    (places, held)
}

/// Everybody's rows in two: four fifths to keep, and a fifth held out. Who has one row keeps it.
pub fn hold_out(shards: &Shards, seed: u64) -> Result<(Shards, Shards)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut start, mut kept, mut held) = (0, Vec::new(), Vec::new());
    for agent in 0..shards.peers() {
        let count = shards.rows_of(agent);
        let (keep, hold) = parts(count, &mut rng);
        kept.push(keep.iter().map(|row| start + row).collect());
        held.push(hold.iter().map(|row| start + row).collect());
        start += count;
    }
    let some = |lists: &[Vec<usize>]| Shards::some_without(shards.table(), lists);
    Ok((some(&kept)?, some(&held)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn a_fifth_is_held_out_and_nothing_lost() {
        let table =
            Table::new((0..19).map(f64::from).collect(), 1, (0..19).map(f64::from).collect()).unwrap();
        let lists = [vec![], vec![3], vec![4, 5], (6..18).collect()];
        let shards = Shards::some_without(&table, &lists).unwrap();
        let (kept, held) = hold_out(&shards, 4).unwrap();
        for (agent, (most, fifth)) in [(0, 0), (1, 0), (1, 1), (10, 2)].into_iter().enumerate() {
            assert_eq!((kept.rows_of(agent), held.rows_of(agent)), (most, fifth), "{agent}");
            let mut both = [kept.shard(agent).labels, held.shard(agent).labels].concat();
            both.sort_by(f64::total_cmp);
            assert_eq!(both, shards.shard(agent).labels);
        }
        assert_eq!(hold_out(&shards, 4).unwrap(), (kept.clone(), held));
        assert!((0..9).any(|seed| hold_out(&shards, seed).unwrap().0 != kept));
    }
}
