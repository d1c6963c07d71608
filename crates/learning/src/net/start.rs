//! Parameters to start from, as PyTorch draws them: weights and biases uniform within `1/sqrt(inputs)`; GroupNorm starts as 1 and 0.

use rand::RngExt;
use sottovoce_privacy::noise::simulation::{Seed, Stream};

use super::Net;

impl Net {
    /// Parameters drawn from a seed. Every tensor has a stream of its own.
    pub fn start(&self, seed: u64) -> Vec<f32> {
        let mut parameters = vec![0.0; self.parameters()];
        for (number, tensor) in (0..).zip(&self.steps.tensors) {
            let slots = &mut parameters[tensor.place.clone()];
            if tensor.inputs == 0 {
                slots.fill(if tensor.name.ends_with(".weight") { 1.0 } else { 0.0 });
                continue;
            }
            let most = 1.0 / (tensor.inputs as f32).sqrt();
            let mut rng = Seed(seed).stream(Stream::Weights, number, 0);
            slots.iter_mut().for_each(|slot| *slot = rng.random_range(-most..most));
        }
        parameters
    }
}
