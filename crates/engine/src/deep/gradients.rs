//! Gradients of lots as agents compute them: every image's clipped by itself.

use std::sync::{Mutex, PoisonError};

use sottovoce_learning::Images;
use sottovoce_learning::net::{Net, Scratch};
use sottovoce_protocol::Peer;
use sottovoce_simulator::consensus::Trainer;

/// A net and everybody's images. Room to compute in is kept: in the steady state nothing is allocated for a lot.
pub struct Gradients<'a> {
    net: &'a Net,
    rows: &'a [Images],
    /// One for each thread that has ever been here. What was left in one changes nothing.
    rooms: Mutex<Vec<Scratch>>,
    elsewhere: Option<&'a dyn Trainer>,
}

impl<'a> Gradients<'a> {
    /// Of these images.
    pub fn new(net: &'a Net, rows: &'a [Images]) -> Self {
        Self { net, rows, rooms: Mutex::default(), elsewhere: None }
    }

    /// The same, computed by somebody else if one is given: a graphics card. What models are worth is still measured here.
    pub fn by(self, elsewhere: Option<&'a dyn Trainer>) -> Self {
        Self { elsewhere, ..self }
    }

    /// Lends room to compute in.
    pub(super) fn with_room<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let kept = || self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let room = kept().pop();
        let mut room = room.unwrap_or_else(|| Scratch::new(self.net));
        let result = work(&mut room);
        kept().push(room);
        result
    }
}

impl Trainer for Gradients<'_> {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        if let Some(elsewhere) = self.elsewhere {
            return elsewhere.add_clipped(agent, picked, clip, model, sum);
        }
        let Some(images) = self.rows.get(agent) else { return sum.fill(f32::NAN) };
        let told = self.with_room(|room| match clip.is_finite() {
            true => self.net.clipped_sum(model, images, picked, clip as f32, room, &mut *sum),
            false => self.net.gradient_sum(model, images, picked, room, &mut *sum),
        });
        if told.is_err() {
            // What cannot be computed is no number, and the driver refuses it.
            sum.fill(f32::NAN);
        }
    }
}
