//! Gradients that somebody chose in place of images': what an audit plants. They enter where images' gradients are, between the way back and the norms, so that the
//! very code that clips images clips them.
//!
//! A linear layer's gradient is what came in times its differences. One input and one difference alone make a gradient along one weight, and along the bias of
//! that output, where it is shorter by the input's size.

use super::lanes::{LANES, ZERO};
use super::step::{Step, Work};
use super::{Net, Scratch};
use crate::{Error, Result};

/// How many times longer along the weight than along the bias.
const INPUT: f32 = 1024.0;

impl Net {
    /// How many weights gradients can be planted along: those of linear layers.
    pub fn plantable(&self) -> usize {
        self.linear().map(|(_, inputs, outputs)| inputs * outputs).sum()
    }

    /// The parameter that the weight `at`, counted from 0 over linear layers, is; none where there are fewer.
    pub fn planted_at(&self, at: usize) -> Option<usize> {
        self.weight(at).map(|(step, inputs, (output, input))| step.parameters.start + output * inputs + input)
    }

    /// Adds a gradient of this length along each of these weights, clipped as an image's is; as it is without a bound.
    pub fn planted_sum(
        &self,
        weights: &[usize],
        length: f32,
        clip: Option<f32>,
        scratch: &mut Scratch,
        sum: &mut [f32],
    ) -> Result<()> {
        // Before any work: what is half done would stay in the room.
        let known = |&at: &usize| {
            let remedy = || format!("linear layers have {} weights, counted from 0", self.plantable());
            self.weight(at).ok_or_else(|| Error::parameter("weights", at, remedy()))
        };
        let known = weights.iter().map(known).collect::<Result<Vec<_>>>()?;
        scratch.suit(&self.steps);
        for few in known.chunks(LANES) {
            scratch.clear();
            for (lane, (step, _, (output, input))) in few.iter().enumerate() {
                scratch.values[step.from.start + input][lane] = INPUT;
                scratch.deltas[step.to.start + output][lane] = length / INPUT;
            }
            self.add_block(clip, scratch, sum);
        }
        self.settle(scratch, sum);
        Ok(())
    }

    /// Linear layers with their inputs and outputs.
    fn linear(&self) -> impl Iterator<Item = (&Step, usize, usize)> {
        self.steps.steps.iter().filter_map(|step| match step.work {
            Work::Linear { inputs, outputs } => Some((step, inputs, outputs)),
            _ => None,
        })
    }

    /// The layer of a weight and its number of inputs, and the weight's output and input.
    fn weight(&self, mut at: usize) -> Option<(&Step, usize, (usize, usize))> {
        for (step, inputs, outputs) in self.linear() {
            if at < inputs * outputs {
                return Some((step, inputs, (at / inputs, at % inputs)));
            }
            at -= inputs * outputs;
        }
        None
    }
}

impl Scratch {
    /// Nothing came in, and nothing differs.
    fn clear(&mut self) {
        for rows in [&mut self.values, &mut self.deltas, &mut self.kept, &mut self.extra] {
            rows.fill(ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_gradients_are_clipped_as_images_are() {
        let net = Net::consensus_cnn();
        let (mut scratch, count) = (Scratch::new(&net), net.plantable());
        assert!(count > 1000 && net.planted_at(count).is_none());
        // Whatever a room was used for.
        [&mut scratch.values, &mut scratch.extra]
            .into_iter()
            .flatten()
            .for_each(|row| row.fill(f32::INFINITY));
        let weights: Vec<usize> = (0..20).map(|k| k * (count / 20)).collect();
        let mut planted = |length: f32, clip: Option<f32>| {
            let mut sum = vec![0.0; net.parameters()];
            net.planted_sum(&weights, length, clip, &mut scratch, &mut sum).unwrap();
            let along: Vec<f32> = weights.iter().map(|&at| sum[net.planted_at(at).unwrap()]).collect();
            let elsewhere = sum.iter().filter(|x| **x != 0.0).count() - along.len();
            (along, elsewhere)
        };
        let ((clipped, biases), (plain, _)) = (planted(2.0, Some(0.5)), planted(2.0, None));
        assert!(clipped.iter().all(|x| *x <= 0.5 && *x > 0.5 - 1e-5) && biases <= 20, "{clipped:?} {biases}");
        assert!(plain.iter().all(|x| *x == 2.0));
        // What is short enough stays.
        assert!(planted(0.25, Some(0.5)).0.iter().all(|x| *x == 0.25));
        let mut sum = vec![0.0; net.parameters()];
        assert!(net.planted_sum(&[count], 1.0, None, &mut Scratch::new(&net), &mut sum).is_err());
    }
}
