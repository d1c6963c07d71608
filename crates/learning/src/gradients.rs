//! Clipped gradients of one peer's rows after the other's, where there are many peers and the time goes into reading rows.
//!
//! What is kept beside the rows changes how long a gradient takes, and none of its bits:
//!
//! | kept | instead of |
//! | --- | --- |
//! | features in 32 bits, where these hold all of them exactly | reading twice the memory |
//! | the largest slope that clips none of a peer's rows | the norm of every row, every time |

use std::ops::Range;

use prefetch_index::prefetch_index;

use crate::model::{Bounded, TURN};
use crate::{Clip, Model, Result, Shard, Shards};

/// Bytes that come from memory together.
const LINE: usize = 64;

/// Everybody's rows, seen through clipped gradients.
#[derive(Debug, Clone)]
pub struct Gradients<'a> {
    shards: &'a Shards,
    narrow: Option<Vec<f32>>,
    bounded: Bounded,
    /// For each peer, the largest slope that clips none of her rows.
    free: Vec<f64>,
}

impl<'a> Gradients<'a> {
    /// Of these rows, clipped so. Refuses bounds that are not positive numbers.
    pub fn new(shards: &'a Shards, clip: Clip) -> Result<Self> {
        clip.check()?;
        let bounded = Bounded::by(clip);
        let free = (0..shards.peers()).map(|peer| bounded.free(shards.shard(peer))).collect();
        Ok(Self { shards, narrow: narrow(shards.table().view().features), bounded, free })
    }

    /// The gradient of a peer's rows: what [`Model::gradient`] gives for them, to the bit. `meanwhile` is called in turns, 0, 1, ..., of some rows each:
    /// whoever computes one gradient after the other can ask for the next one's rows there ([`fetch`](Self::fetch)).
    ///
    /// # Panics
    ///
    /// If there is no such peer, or if `theta` or `out` have other widths than the model.
    #[inline]
    pub fn of(
        &self,
        peer: usize,
        model: &Model,
        theta: &[f64],
        out: &mut [f64],
        meanwhile: impl FnMut(usize),
    ) {
        let (wide, bounded) = (self.shards.shard(peer), self.bounded.knowing(self.free[peer]));
        match &self.narrow {
            None => model.gradient_while(theta, wide, bounded, out, meanwhile),
            Some(all) => {
                let Shard { labels, width, .. } = wide;
                let rows = self.shards.range(peer);
                let features = &all[rows.start * width..rows.end * width];
                model.gradient_while(theta, Shard { features, labels, width }, bounded, out, meanwhile);
            }
        }
    }

    /// Asks the memory where a peer's rows lie. A hint, as [`fetch`](Self::fetch), for which it must be known.
    #[inline(always)]
    pub fn expect(&self, peer: usize) {
        self.shards.expect(peer);
        prefetch_index(&self.free, peer);
    }

    /// Asks the memory for the rows of a peer that have this turn, and are read soon. A hint that changes nothing else, also where she has no such rows.
    ///
    /// # Panics
    ///
    /// If there is no such peer.
    #[inline(always)]
    pub fn fetch(&self, peer: usize, turn: usize) {
        let own = self.shards.range(peer);
        let first = own.start + turn * TURN;
        let end = own.end.min(first + TURN); // whole numbers
        let all = self.shards.table().view();
        match &self.narrow {
            None => fetch(all.features, first * all.width..end * all.width),
            Some(narrow) => fetch(narrow, first * all.width..end * all.width),
        }
        if turn.is_multiple_of(LINE / size_of::<f64>() / TURN) {
            prefetch_index(all.labels, first);
        }
    }
}

#[inline(always)]
fn fetch<F>(all: &[F], wanted: Range<usize>) {
    wanted.step_by(LINE / size_of::<F>()).for_each(|k| prefetch_index(all, k));
}

/// The same numbers in half the memory, if these hold them exactly.
fn narrow(wide: &[f64]) -> Option<Vec<f32>> {
    let exact = |&x: &f64| Some(x as f32).filter(|&narrow| f64::from(narrow) == x);
    wide.iter().map(exact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loss, Table};
    use proptest::prelude::*;

    const WIDTH: usize = 7;

    /// Everybody's gradients by both ways.
    fn both(features: Vec<f64>, theta: &[f64], loss: Loss, clip: Clip) -> (bool, Vec<f64>, Vec<f64>) {
        let labels = (0..features.len() / WIDTH).map(|row| if row % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let shards = Shards::in_order(Table::new(features, WIDTH, labels).unwrap(), &[4, 0, 5, 1]);
        let (model, gradients) =
            (Model { loss, width: WIDTH, ridge: 0.1 }, Gradients::new(&shards, clip).unwrap());
        let (mut kept, mut plain) = (vec![0.0; 4 * WIDTH], vec![0.0; 4 * WIDTH]);
        for (peer, (kept, plain)) in
            kept.chunks_exact_mut(WIDTH).zip(plain.chunks_exact_mut(WIDTH)).enumerate()
        {
            gradients.expect(peer);
            gradients.of(peer, &model, theta, kept, |turn| gradients.fetch(3 - peer, turn));
            model.gradient(theta, shards.shard(peer), clip, plain);
        }
        (gradients.narrow.is_some(), kept, plain)
    }

    proptest! {
        #[test]
        fn what_is_kept_changes_no_bit(
            features in prop::collection::vec(-2.0..2.0f32, 10 * WIDTH),
            theta in prop::collection::vec(-3.0..3.0f64, WIDTH),
            size in 0.01..3.0f64,
            squared in any::<bool>(),
            wide in any::<bool>(),
        ) {
            let mut features: Vec<f64> = features.into_iter().map(f64::from).collect();
            if wide {
                features[3] = 0.1;
            }
            let loss = if squared { Loss::Squared } else { Loss::Logistic };
            for clip in [Clip::None, Clip::Example(size), Clip::ExampleL1(size), Clip::User(size)] {
                let (narrow, kept, plain) = both(features.clone(), &theta, loss, clip);
                prop_assert_eq!(narrow, !wide);
                prop_assert_eq!(kept, plain);
            }
        }
    }

    #[test]
    fn rows_are_narrowed_only_if_nothing_is_lost() {
        assert_eq!(narrow(&[0.5, -0.0, 1e-45_f32.into()]), Some(vec![0.5, -0.0, 1e-45]));
        assert!([0.1, 1e300, 1e-60].iter().all(|&x| narrow(&[1.0, x]).is_none()));
    }

    #[test]
    fn bounds_that_are_none_are_refused() {
        let shards = Shards::in_order(Table::new(vec![1.0], 1, vec![1.0]).unwrap(), &[1]);
        assert!(Gradients::new(&shards, Clip::Example(0.0)).is_err());
    }
}
