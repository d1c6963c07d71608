//! Gradients of lots for the drivers of the simulator: a [`Trainer`]. Lots, noise and mixing stay theirs, and so do their bits.
//!
//! Drivers ask for one lot at a time, from many threads. Whoever finds the card free computes all lots that wait by then; nobody's sum depends on who waited with
//! her.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// Who waits for the card.
    queue: Mutex<Queue>,
    /// One thread has the card at a time.
    bench: Mutex<Bench>,
}

#[derive(Default)]
struct Queue {
    tickets: u64,
    waiting: BTreeMap<u64, Asked>,
}

/// A lot that is asked for.
struct Asked {
    images: Vec<u32>,
    clip: f32,
    model: Vec<f32>,
}

/// What lots are computed on, and sums that nobody has fetched yet.
struct Bench {
    room: Room,
    models: CudaSlice<f32>,
    points: CudaSlice<u64>,
    sums: CudaSlice<f32>,
    answers: BTreeMap<u64, Vec<f32>>,
}

/// Lots that are computed together, at most.
const LOTS: usize = 64;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        let models = card.stream.alloc_zeros(LOTS * PARAMETERS)?;
        let base = models.device_ptr(&card.stream).0;
        let points: Vec<u64> =
            (0..LOTS).map(|lot| base + (lot * PARAMETERS * size_of::<f32>()) as u64).collect();
        let bench = Bench {
            room: Room::new(card, largest)?,
            points: card.stream.clone_htod(&points)?,
            models,
            sums: card.stream.alloc_zeros(LOTS * PARAMETERS)?,
            answers: BTreeMap::new(),
        };
        let pool = Pool::new(card, &rows.iter().collect::<Vec<_>>())?;
        Ok(Self { card: card.clone(), pool, begins, queue: Mutex::default(), bench: Mutex::new(bench) })
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
        let images = picked.iter().map(|&at| begin as u32 + at).collect();
        let ticket = locked(&self.queue).ask(Asked { images, clip: clip as f32, model: model.to_vec() });
        let mut bench = locked(&self.bench);
        let answer = loop {
            if let Some(answer) = bench.answers.remove(&ticket) {
                break answer;
            }
            // Nobody has computed it: it is still there, unless the card has failed.
            let next = locked(&self.queue).next();
            if next.is_empty() {
                return Err(Error::Missing("the card has stopped answering".into()));
            }
            bench.compute(&self.card, &self.pool, next)?;
        };
        drop(bench);
        sum.iter_mut().zip(&answer).for_each(|(sum, more)| *sum += more);
        Ok(())
    }
}

impl Queue {
    fn ask(&mut self, asked: Asked) -> u64 {
        self.tickets += 1;
        self.waiting.insert(self.tickets, asked);
        self.tickets
    }

    /// Those who have waited longest.
    fn next(&mut self) -> BTreeMap<u64, Asked> {
        let mut all = take(&mut self.waiting);
        if let Some(&late) = all.keys().nth(LOTS) {
            self.waiting = all.split_off(&late);
        }
        all
    }
}

impl Bench {
    fn compute(&mut self, card: &Card, pool: &Pool, asked: BTreeMap<u64, Asked>) -> Result<()> {
        let (mut batch, mut models) = (Batch::new(), Vec::new());
        for one in asked.values() {
            batch.push(one.images.iter().copied(), one.clip);
            models.extend_from_slice(&one.model);
        }
        card.stream.memcpy_htod(&models, &mut self.models)?;
        self.room.sums(card, pool, &batch, &batch.send(card)?, &self.points, &mut self.sums)?;
        let sums = card.stream.clone_dtoh(&self.sums.slice(..asked.len() * PARAMETERS))?;
        let sums = sums.chunks_exact(PARAMETERS).map(<[f32]>::to_vec);
        self.answers.extend(asked.into_keys().zip(sums));
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
