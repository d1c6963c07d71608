//! From lots to sums of clipped gradients, and from images to losses: the kernels, one after the other, on as many lots at a time as there is room for.

use std::ops::Range;

use cudarc::driver::{CudaSlice, DeviceRepr};

use crate::card::{PARAMETERS, WEIGHTS, launch};
use crate::pool::Pool;
use crate::{Card, Result};

/// Images that are computed at a time, where lots are not larger: enough to fill a card, in less than a gigabyte.
const SLOTS: usize = 1 << 17;

/// Lots of a launch, at most (a limit of cards).
const LOTS: usize = 65_535;

/// What a batch of lots is made of, on the host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batch {
    /// Where each lot begins, and where the last one ends.
    pub(crate) first: Vec<u32>,
    /// Images, lot after lot, as they lie in the pool.
    pub(crate) images: Vec<u32>,
    /// How long one image's gradient may be, for each lot; infinite: it is not clipped.
    pub(crate) bounds: Vec<f32>,
}

impl Batch {
    /// Without lots.
    pub(crate) fn new() -> Self {
        Self { first: vec![0], ..Self::default() }
    }

    /// One more lot.
    pub(crate) fn push(&mut self, images: impl Iterator<Item = u32>, bound: f32) {
        self.images.extend(images);
        self.first.push(self.images.len() as u32);
        self.bounds.push(bound);
    }

    fn size(&self, lot: usize) -> usize {
        (self.first[lot + 1] - self.first[lot]) as usize
    }

    /// Ranges of lots that fit into so many slots, each with its largest lot.
    fn parts(&self, slots: usize) -> Vec<(Range<usize>, usize)> {
        let (mut parts, mut begin, mut largest) = (Vec::new(), 0, 0);
        for lot in 0..self.bounds.len() {
            let taken = (self.first[lot + 1] - self.first[begin]) as usize;
            if lot > begin && (taken > slots || lot - begin == LOTS) {
                parts.push((begin..lot, largest));
                (begin, largest) = (lot, 0);
            }
            largest = largest.max(self.size(lot)); // whole numbers
        }
        if begin < self.bounds.len() {
            parts.push((begin..self.bounds.len(), largest));
        }
        parts
    }
}

/// A batch on the card.
pub(crate) struct Sent {
    first: CudaSlice<u32>,
    images: CudaSlice<u32>,
    bounds: CudaSlice<f32>,
}

/// What is kept of each image between two kernels.
pub(crate) struct Room {
    slots: usize,
    h: CudaSlice<f32>,
    slope: CudaSlice<f32>,
    place: CudaSlice<u8>,
    a: CudaSlice<f32>,
    d1: CudaSlice<f32>,
    d2: CudaSlice<f32>,
    square1: CudaSlice<f32>,
    square2: CudaSlice<f32>,
    kept: CudaSlice<f32>,
    loss: CudaSlice<f32>,
    right: CudaSlice<u8>,
}

/// What was seen of a lot.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) loss: f32,
    pub(crate) right: u32,
    pub(crate) lost: u32,
}

impl Room {
    /// Room for lots of at most `largest` images.
    pub(crate) fn new(card: &Card, largest: usize) -> Result<Self> {
        let slots = SLOTS.max(largest); // whole numbers
        let floats = |each: usize| card.stream.alloc_zeros::<f32>(slots * each);
        Ok(Self {
            slots,
            h: floats(588)?,
            slope: floats(588)?,
            place: card.stream.alloc_zeros(slots * 588)?,
            a: floats(64)?,
            d1: floats(64)?,
            d2: floats(10)?,
            square1: floats(1)?,
            square2: floats(1)?,
            kept: floats(78)?,
            loss: floats(1)?,
            right: card.stream.alloc_zeros(slots)?,
        })
    }

    /// Images that fit at a time.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Writes the sum of each lot's clipped gradients to `sums`, one lot after the other; that of an empty lot is 0. `points` are the addresses of each lot's
    /// parameters.
    pub(crate) fn sums(
        &mut self,
        card: &Card,
        pool: &Pool,
        batch: &Batch,
        sent: &Sent,
        points: &CudaSlice<u64>,
        sums: &mut CudaSlice<f32>,
    ) -> Result<()> {
        for (lots, largest) in batch.parts(self.slots) {
            let count = lots.len();
            self.forward(card, pool, sent, points, &lots, largest, true)?;
            let (first, points) = (sent.first.slice(lots.start..), points.slice(lots.start..));
            let bounds = sent.bounds.slice(lots.start..);
            let mut sums = sums.slice_mut(lots.start * PARAMETERS..lots.end * PARAMETERS);
            if largest > 0 {
                launch!(card, back, (3, count), (224, WEIGHTS), [&points, &first, &self.d1, &mut self.slope]);
                launch!(
                    card,
                    clip,
                    (largest.div_ceil(4), count),
                    128,
                    [
                        &first,
                        &sent.images,
                        &pool.pixels,
                        &pool.table,
                        &bounds,
                        &mut self.h,
                        &self.slope,
                        &self.place,
                        &mut self.a,
                        &mut self.d1,
                        &mut self.d2,
                        &self.square1,
                        &self.square2,
                        &mut self.kept,
                    ]
                );
            }
            launch!(card, outer, (3, count), 224, [&first, &self.h, &self.d1, &mut sums]);
            launch!(
                card,
                small,
                (4, count),
                256,
                [&first, &self.a, &self.d1, &self.d2, &self.kept, &mut sums]
            );
        }
        Ok(())
    }

    /// Losses and right classifications of each lot.
    pub(crate) fn measure(
        &mut self,
        card: &Card,
        pool: &Pool,
        batch: &Batch,
        points: &CudaSlice<u64>,
    ) -> Result<Vec<Seen>> {
        let sent = batch.send(card)?;
        let mut all = Vec::new();
        for (lots, largest) in batch.parts(self.slots) {
            let count = lots.len();
            self.forward(card, pool, &sent, points, &lots, largest, false)?;
            let first = sent.first.slice(lots.start..);
            let mut losses = card.stream.alloc_zeros::<f32>(count)?;
            let mut rights = card.stream.alloc_zeros::<u32>(count)?;
            let mut lost = card.stream.alloc_zeros::<u32>(count)?;
            launch!(
                card,
                tally,
                (1, count),
                256,
                [&first, &self.loss, &self.right, &mut losses, &mut rights, &mut lost]
            );
            let numbers = (card.stream.clone_dtoh(&losses)?, card.stream.clone_dtoh(&rights)?);
            let seen = numbers.0.into_iter().zip(numbers.1).zip(card.stream.clone_dtoh(&lost)?);
            all.extend(seen.map(|((loss, right), lost)| Seen { loss, right, lost }));
        }
        Ok(all)
    }

    #[expect(clippy::too_many_arguments, reason = "what a launch is made of")]
    fn forward(
        &mut self,
        card: &Card,
        pool: &Pool,
        sent: &Sent,
        points: &CudaSlice<u64>,
        lots: &Range<usize>,
        largest: usize,
        learn: bool,
    ) -> Result<()> {
        if largest == 0 {
            return Ok(());
        }
        let (first, points) = (sent.first.slice(lots.start..), points.slice(lots.start..));
        let (count, learn) = (lots.len(), i32::from(learn));
        launch!(
            card,
            convolve,
            (largest.div_ceil(32), count),
            256,
            [
                &points,
                &first,
                &sent.images,
                &pool.pixels,
                &pool.table,
                &mut self.h,
                &mut self.slope,
                &mut self.place,
            ]
        );
        launch!(
            card,
            classify,
            (largest.div_ceil(64), count),
            128,
            [
                &points,
                &first,
                &sent.images,
                &pool.labels,
                &self.h,
                &mut self.a,
                &mut self.d1,
                &mut self.d2,
                &mut self.square1,
                &mut self.square2,
                &mut self.loss,
                &mut self.right,
                &learn,
            ]
        );
        Ok(())
    }
}

impl Batch {
    /// Copies it to the card.
    pub(crate) fn send(&self, card: &Card) -> Result<Sent> {
        Ok(Sent {
            first: sent(card, &self.first)?,
            images: sent(card, &self.images)?,
            bounds: sent(card, &self.bounds)?,
        })
    }
}

/// A copy on the card, never of no length.
pub(crate) fn sent<T: DeviceRepr + Copy + Default>(card: &Card, numbers: &[T]) -> Result<CudaSlice<T>> {
    Ok(if numbers.is_empty() {
        card.stream.clone_htod(&[T::default()])?
    } else {
        card.stream.clone_htod(numbers)?
    })
}
