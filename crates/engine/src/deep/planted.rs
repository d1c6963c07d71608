//! An agent whose rows are all canaries: gradients that an attacker chose, each along a direction of its own.
//!
//! A canary's gradient is longer than may be: clipping shortens it, the very code that shortens those of images (`learning/src/net/planted.rs`). It lies along one
//! weight of a linear layer, and no two canaries along the same, so that they do not hide each other. One that is out contributes nothing, as a row that is not
//! there; rates and divisors, which are public, stay as they are.

use std::sync::{Mutex, PoisonError};

use sottovoce_learning::Net;
use sottovoce_privacy::Lots;
use sottovoce_protocol::Peer;
use sottovoce_simulator::consensus::Trainer;

use super::Gradients;

/// How many times longer than allowed a canary's gradient is, before it is clipped.
const LOUD: f64 = 4.0;

/// A mistake that an audit has to find. There is no option for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mistake {
    /// Gradients are not clipped.
    Unclipped,
    /// Noise is this share of what is claimed.
    Noise(f64),
    /// Sums are divided by the number of rows in the lot, and not by its public mean.
    TrueSize,
    /// Momentum with this memory is made of gradients before the noise.
    Momentum(f64),
}

/// A trainer in which one agent's rows are canaries.
pub struct Planted<'a> {
    trainer: &'a Gradients<'a>,
    net: &'a Net,
    target: Peer,
    lots: Lots,
    there: &'a [bool],
    mistake: Option<Mistake>,
    /// Whether everybody else has nothing to say: an attacker who knows her images takes them away.
    known: bool,
    velocity: Mutex<Vec<f32>>,
}

impl<'a> Planted<'a> {
    /// Everybody but the target computes as before. Of the target's rows the first are canaries, as many as `there` says whether they are in; there are no others.
    pub fn new(
        (trainer, net): (&'a Gradients<'a>, &'a Net),
        (target, lots): (Peer, Lots),
        there: &'a [bool],
        mistake: Option<Mistake>,
    ) -> Self {
        Self { trainer, net, target, lots, there, mistake, known: false, velocity: Mutex::default() }
    }

    /// The same against an attacker who listens to all, and knows everybody else's images: their gradients are as good as none.
    pub fn among_known(self) -> Self {
        Self { known: true, ..self }
    }

    /// The parameter along which each canary's gradient lies.
    pub fn places(&self) -> Vec<usize> {
        (0..self.there.len()).filter_map(|canary| self.net.planted_at(self.weight(canary))).collect()
    }

    /// The weight of linear layers along which a canary's gradient lies: there are at least as many as canaries.
    fn weight(&self, canary: usize) -> usize {
        canary * (self.net.plantable() / self.there.len())
    }

    fn add(&self, picked: &[u32], clip: f64, sum: &mut [f32]) {
        let picked = picked.iter().map(|row| *row as usize);
        let weights: Vec<usize> = picked
            .filter(|row| self.there.get(*row) == Some(&true))
            .map(|canary| self.weight(canary))
            .collect();
        let (length, size) = ((LOUD * clip) as f32, weights.len());
        let clip = (self.mistake != Some(Mistake::Unclipped)).then_some(clip as f32);
        let added = self.trainer.with_room(|room| self.net.planted_sum(&weights, length, clip, room, sum));
        if added.is_err() {
            // What cannot be computed is no number, and the driver refuses it.
            sum.fill(f32::NAN);
        }
        match self.mistake {
            Some(Mistake::TrueSize) if size > 0 => {
                let wrong = (self.lots.expected() / size as f64) as f32;
                sum.iter_mut().for_each(|sum| *sum *= wrong);
            }
            Some(Mistake::Momentum(beta)) => {
                let mut velocity = self.velocity.lock().unwrap_or_else(PoisonError::into_inner);
                velocity.resize(sum.len(), 0.0);
                for (v, sum) in velocity.iter_mut().zip(sum) {
                    *v = beta as f32 * *v + *sum;
                    *sum = *v;
                }
            }
            _ => {}
        }
    }
}

impl Trainer for Planted<'_> {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        match agent == self.target {
            true => self.add(picked, clip, sum),
            false if self.known => {}
            false => self.trainer.add_clipped(agent, picked, clip, model, sum),
        }
    }
}
