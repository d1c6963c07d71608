//! Sums over examples: clipped gradients, plain ones, losses.

use super::clip::factor;
use super::lanes::{LANES, Row};
use super::loss::{Told, cross_entropy};
use super::{Net, Scratch};
use crate::{Error, Images, Result};

/// What was seen on the way. It is of private examples, and for their holder alone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Examples that were asked for.
    pub examples: usize,
    /// The sum of their losses, without those that are lost.
    pub loss: f64,
    /// How many of them were classified right.
    pub correct: usize,
    /// How many gradients were shortened.
    pub clipped: usize,
    /// How many had no finite gradient, or loss where none was asked for; they count for nothing.
    pub lost: usize,
}

impl Tally {
    /// The mean loss, of those that have one.
    pub fn mean_loss(&self) -> f64 {
        self.loss / (self.examples - self.lost) as f64
    }

    /// The share that was classified right.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.examples as f64
    }

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            examples: self.examples + other.examples,
            loss: self.loss + other.loss,
            correct: self.correct + other.correct,
            clipped: self.clipped + other.clipped,
            lost: self.lost + other.lost,
        }
    }

    fn add(&mut self, told: &Told, factors: &[Option<f32>]) {
        self.examples += factors.len();
        for (lane, factor) in factors.iter().enumerate() {
            match factor {
                Some(factor) => {
                    self.loss += f64::from(told.losses[lane]);
                    self.correct += usize::from(told.right[lane]);
                    self.clipped += usize::from(*factor < 1.0);
                }
                None => self.lost += 1,
            }
        }
    }
}

impl Net {
    /// Adds the gradients of the picked images to `sum`, each shortened to at most `clip` (its length over all parameters together).
    ///
    /// A gradient that is not finite, or longer than single precision can tell, counts for nothing and is counted as lost. Without images, nothing is added.
    pub fn clipped_sum(
        &self,
        parameters: &[f32],
        images: &Images,
        picked: &[u32],
        clip: f32,
        scratch: &mut Scratch,
        sum: &mut [f32],
    ) -> Result<Tally> {
        if !(clip.is_finite() && clip > 0.0) {
            return Err(Error::parameter("clip", clip, "give a positive number"));
        }
        self.sum(parameters, images, picked, Some(clip), scratch, sum)
    }

    /// Adds the gradients of the picked images to `sum`, as they are.
    pub fn gradient_sum(
        &self,
        parameters: &[f32],
        images: &Images,
        picked: &[u32],
        scratch: &mut Scratch,
        sum: &mut [f32],
    ) -> Result<Tally> {
        self.sum(parameters, images, picked, None, scratch, sum)
    }

    /// Losses and right classifications, without gradients.
    pub fn measure(
        &self,
        parameters: &[f32],
        images: &Images,
        picked: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Tally> {
        let mut tally = Tally::default();
        self.tell(parameters, images, picked, scratch, |told, lanes| {
            let finite = |loss: &f32| loss.is_finite().then_some(1.0);
            let factors: [_; LANES] = std::array::from_fn(|lane| finite(&told.losses[lane]));
            tally.add(told, &factors[..lanes]);
        })?;
        Ok(tally)
    }

    /// The loss of each picked image.
    pub fn losses(
        &self,
        parameters: &[f32],
        images: &Images,
        picked: &[u32],
        scratch: &mut Scratch,
        losses: &mut Vec<f32>,
    ) -> Result<()> {
        self.tell(parameters, images, picked, scratch, |told, lanes| {
            losses.extend_from_slice(&told.losses[..lanes]);
        })
    }

    fn tell(
        &self,
        parameters: &[f32],
        images: &Images,
        picked: &[u32],
        scratch: &mut Scratch,
        mut each: impl FnMut(&Told, usize),
    ) -> Result<()> {
        self.check(parameters, images, picked)?;
        scratch.suit(&self.steps);
        scratch.pack(&self.steps, parameters, false);
        for picked in picked.chunks(LANES) {
            each(&self.forward(parameters, images, picked, scratch), picked.len());
        }
        Ok(())
    }

    fn sum(
        &self,
        parameters: &[f32],
        images: &Images,
        picked: &[u32],
        clip: Option<f32>,
        scratch: &mut Scratch,
        sum: &mut [f32],
    ) -> Result<Tally> {
        self.check(parameters, images, picked)?;
        if sum.len() != self.parameters() {
            let remedy = format!("the net has {} parameters; give as many", self.parameters());
            return Err(Error::parameter("sum", format!("{} numbers", sum.len()), remedy));
        }
        scratch.suit(&self.steps);
        scratch.pack(&self.steps, parameters, true);
        let mut tally = Tally::default();
        for picked in picked.chunks(LANES) {
            let told = self.forward(parameters, images, picked, scratch);
            self.backward(parameters, scratch);
            let factors = self.add_block(clip, scratch, sum);
            tally.add(&told, &factors[..picked.len()]);
        }
        self.settle(scratch, sum);
        Ok(tally)
    }

    /// Adds the gradients of a block of examples, each clipped; what each was multiplied by.
    pub(super) fn add_block(
        &self,
        clip: Option<f32>,
        scratch: &mut Scratch,
        sum: &mut [f32],
    ) -> [Option<f32>; LANES] {
        let factors = self.factors(clip, scratch);
        let row: Row = factors.map(|factor| factor.unwrap_or(0.0));
        for step in self.steps.steps.iter().filter(|step| step.has_parameters()) {
            scratch.add_sums(step, &row, sum);
        }
        factors
    }

    /// Adds what linear layers have collected over blocks.
    pub(super) fn settle(&self, scratch: &mut Scratch, sum: &mut [f32]) {
        self.steps.steps.iter().for_each(|step| scratch.settle(step, sum));
    }

    /// Everything that a call can be wrong about, before any work.
    fn check(&self, parameters: &[f32], images: &Images, picked: &[u32]) -> Result<()> {
        if parameters.len() != self.parameters() {
            let remedy = format!("the net has {}; give as many", self.parameters());
            return Err(Error::parameter("parameters", format!("{} numbers", parameters.len()), remedy));
        }
        images.check_suits(self.input(), self.classes())?;
        match picked.iter().find(|&&at| at as usize >= images.len()) {
            Some(at) => {
                let remedy = format!("there are {} images, counted from 0", images.len());
                Err(Error::parameter("picked", at, remedy))
            }
            None => Ok(()),
        }
    }

    /// From images to losses, and the differences of the scores.
    fn forward(&self, parameters: &[f32], images: &Images, picked: &[u32], scratch: &mut Scratch) -> Told {
        images.fill(picked, &mut scratch.values[..self.input().size()]);
        for step in &self.steps.steps {
            scratch.forward(step, parameters);
        }
        let mut labels = [0; LANES];
        labels.iter_mut().zip(picked).for_each(|(label, &at)| *label = images.label(at as usize));
        let scores = self.steps.place();
        let deltas = &mut scratch.deltas[scores.clone()];
        cross_entropy(&scratch.values[scores], &labels[..picked.len()], deltas)
    }

    fn backward(&self, parameters: &[f32], scratch: &mut Scratch) {
        for step in self.steps.steps.iter().rev() {
            // Nobody asks for the differences of the images themselves.
            if step.from.start > 0 {
                scratch.backward(step, parameters);
            }
        }
    }

    /// What each example's gradient is multiplied by; none where it is not finite, and then nothing of it is left.
    fn factors(&self, clip: Option<f32>, scratch: &mut Scratch) -> [Option<f32>; LANES] {
        let trained = self.steps.steps.iter().filter(|step| step.has_parameters());
        let Some(clip) = clip else {
            trained.for_each(|step| scratch.keep(step));
            return [Some(1.0); LANES];
        };
        let mut squares = [0.0; LANES];
        trained.for_each(|step| scratch.add_norms(step, &mut squares));
        let factors = squares.map(|squares| factor(squares, clip));
        let lost = factors.iter().enumerate().filter(|(_, factor)| factor.is_none());
        lost.for_each(|(lane, _)| scratch.erase(lane));
        factors
    }
}
