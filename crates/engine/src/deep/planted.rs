//! An agent whose rows are all canaries: gradients that an attacker chose, each along a direction of its own.
//!
//! A canary's gradient is longer than may be: clipping shortens it. It lies along one parameter, and no two canaries along the same, so that they do not hide each
//! other. One that is out contributes nothing, as a row that is not there; rates and divisors, which are public, stay as they are.

use std::sync::{Mutex, PoisonError};

use sottovoce_privacy::Lots;
use sottovoce_protocol::Peer;
use sottovoce_simulator::consensus::Trainer;

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
pub struct Planted<'a, T> {
    trainer: &'a T,
    target: Peer,
    lots: Lots,
    there: &'a [bool],
    mistake: Option<Mistake>,
    velocity: Mutex<Vec<f32>>,
}

impl<'a, T> Planted<'a, T> {
    /// Everybody but the target computes as before. Of the target's rows the first are canaries, as many as `there` says whether they are in; there are no others.
    pub fn new(
        trainer: &'a T,
        (target, lots): (Peer, Lots),
        there: &'a [bool],
        mistake: Option<Mistake>,
    ) -> Self {
        Self { trainer, target, lots, there, mistake, velocity: Mutex::default() }
    }

    /// How many canaries there are.
    pub fn canaries(&self) -> usize {
        self.there.len()
    }

    fn add(&self, picked: &[u32], clip: f64, sum: &mut [f32]) {
        let length = if self.mistake == Some(Mistake::Unclipped) { LOUD * clip } else { clip };
        let mut size = 0;
        for row in picked.iter().map(|row| *row as usize) {
            if self.there.get(row) == Some(&true) {
                size += 1;
                sum[place(row, self.there.len(), sum.len())] += length as f32;
            }
        }
        match self.mistake {
            Some(Mistake::TrueSize) if size > 0 => {
                let wrong = (self.lots.expected() / f64::from(size)) as f32;
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

/// The parameter along which a canary's gradient lies: there are at least as many parameters as canaries.
pub(super) fn place(canary: usize, canaries: usize, parameters: usize) -> usize {
    canary * (parameters / canaries)
}

impl<T: Trainer> Trainer for Planted<'_, T> {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        match agent == self.target {
            true => self.add(picked, clip, sum),
            false => self.trainer.add_clipped(agent, picked, clip, model, sum),
        }
    }
}
