//! Gradients of lots for the drivers of the simulator: a [`Trainer`]. Lots, noise and mixing stay theirs, and so do their bits.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::{CudaSlice, DevicePtr};
use sottovoce_learning::Images;
use sottovoce_learning::net::Net;
use sottovoce_protocol::Peer;
use sottovoce_simulator::consensus::Trainer;

use crate::card::PARAMETERS;
use crate::pool::Pool;
use crate::room::{Batch, Room};
use crate::{Card, Error, Result};

/// Everybody's images on a card.
pub struct Gradients {
    card: Card,
    pool: Pool,
    /// Where each agent's images begin, and where the last one's end.
    begins: Vec<usize>,
    /// One lot is computed at a time.
    bench: Mutex<Bench>,
}

/// What a lot is computed on.
struct Bench {
    room: Room,
    model: CudaSlice<f32>,
    points: CudaSlice<u64>,
    sum: CudaSlice<f32>,
    read: Vec<f32>,
}

impl Gradients {
    /// Of these images. Refused where the card's kernels are not written for the net.
    pub fn new(card: &Card, net: &Net, rows: &[Images]) -> Result<Self> {
        Card::check(net)?;
        let mut begins = vec![0];
        begins.extend(rows.iter().scan(0, |end, images| {
            *end += images.len();
            Some(*end)
        }));
        let largest = rows.iter().map(Images::len).max().unwrap_or(0); // whole numbers
        let model = card.stream.alloc_zeros(PARAMETERS)?;
        let points = card.stream.clone_htod(&[model.device_ptr(&card.stream).0])?;
        let bench = Bench {
            room: Room::new(card, largest)?,
            points,
            model,
            sum: card.stream.alloc_zeros(PARAMETERS)?,
            read: vec![0.0; PARAMETERS],
        };
        let pool = Pool::new(card, &rows.iter().collect::<Vec<_>>())?;
        Ok(Self { card: card.clone(), pool, begins, bench: Mutex::new(bench) })
    }

    fn add(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) -> Result<()> {
        let known = self.begins.get(agent).zip(self.begins.get(agent + 1));
        let (&begin, &end) =
            known.ok_or_else(|| Error::parameter("agent", agent, "she has no images here"))?;
        if let Some(at) = picked.iter().find(|&&at| at as usize >= end - begin) {
            let remedy = format!("she has {} images, counted from 0", end - begin);
            return Err(Error::parameter("picked", at, remedy));
        }
        if model.len() != PARAMETERS || sum.len() != PARAMETERS {
            let value = format!("of {} numbers", model.len());
            return Err(Error::parameter("model", value, format!("the net has {PARAMETERS}")));
        }
        let mut batch = Batch::new();
        batch.push(picked.iter().map(|&at| begin as u32 + at), clip as f32);
        let (card, stream) = (&self.card, &self.card.stream);
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let Bench { room, model: place, points, sum: sums, read } = &mut *bench;
        stream.memcpy_htod(model, place)?;
        room.sums(card, &self.pool, &batch, &batch.send(card)?, points, sums)?;
        stream.memcpy_dtoh(sums, read)?;
        stream.synchronize()?;
        sum.iter_mut().zip(read).for_each(|(sum, more)| *sum += *more);
        Ok(())
    }
}

impl Trainer for Gradients {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        if self.add(agent, picked, clip, model, sum).is_err() {
            // What cannot be computed is no number, and the driver refuses it.
            sum.fill(f32::NAN);
        }
    }
}
