//! Steps of a net, and where their numbers lie: everything that a block of examples needs is in a few vectors.

use std::ops::Range;

use super::convolution::Window;
use super::group_norm::GroupNorm;
use super::layer::Shape;
use super::pool::Pool;
use super::product;
use crate::{Error, Result};

/// Gradients of a convolution are kept for each example up to this many weights (a megabyte for 16 of them).
const KEPT: usize = 1 << 14;

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Work {
    Convolution {
        window: Window,
        padding: usize,
    },
    Linear {
        inputs: usize,
        outputs: usize,
    },
    GroupNorm(GroupNorm),
    Max(Pool),
    Mean(Pool),
    MaxMish(Pool),
    Leak(f32),
    Mish,
    /// On the way back, the differences of what was added come here.
    Fork {
        from: Range<usize>,
    },
    Add {
        skip: Range<usize>,
    },
}

/// A step: ranges of rows are for numbers and differences alike.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) work: Work,
    /// What comes in.
    pub(super) from: Range<usize>,
    /// What comes out.
    pub(super) to: Range<usize>,
    /// Weights, then biases.
    pub(super) parameters: Range<usize>,
    /// What is kept for the way back: slopes, places, moments.
    pub(super) extra: Range<usize>,
    /// Gradients that are kept for each example.
    pub(super) kept: Range<usize>,
    /// Weights in the order in which they are used; forward, then backward.
    pub(super) packed: [Range<usize>; 2],
    /// Sums of a linear layer's gradients, sixteen outputs beside each other.
    pub(super) totals: Range<usize>,
}

/// A tensor of parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) sizes: Vec<usize>,
    pub(super) place: Range<usize>,
    /// Numbers that each of a layer's outputs is made of; none where parameters are not drawn (GroupNorm).
    pub(super) inputs: usize,
}

/// All steps, and how much room they take.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    pub(super) tensors: Vec<Tensor>,
    shapes: Vec<Shape>,
    /// Rows of numbers.
    pub(super) rows: usize,
    pub(super) extra: usize,
    pub(super) kept: usize,
    pub(super) packed: usize,
    pub(super) totals: usize,
    /// Rows for padding, of the step that needs most.
    pub(super) padded: usize,
    pub(super) parameters: usize,
}

/// Takes room for `size` more.
fn take(used: &mut usize, size: usize) -> Range<usize> {
    *used += size;
    *used - size..*used
}

impl Steps {
    pub(super) fn new(input: Shape) -> Self {
        Self {
            steps: Vec::new(),
            tensors: Vec::new(),
            shapes: vec![input],
            rows: input.size(),
            extra: 0,
            kept: 0,
            packed: 0,
            totals: 0,
            padded: 0,
            parameters: 0,
        }
    }

    /// The shape of what came last.
    pub(super) fn shape(&self) -> Shape {
        self.shapes[self.shapes.len() - 1]
    }

    /// Where what came last lies.
    pub(super) fn place(&self) -> Range<usize> {
        self.rows - self.shape().size()..self.rows
    }

    /// How much room is used, in rows.
    pub(super) fn numbers(&self) -> usize {
        self.rows + self.extra + self.kept + self.totals + self.padded + self.packed / 16
    }

    /// Adds a step whose parameters, if any, are named next.
    pub(super) fn push(&mut self, work: Work, shape: Shape) {
        let from = self.place();
        let to = take(&mut self.rows, shape.size());
        let extra = match &work {
            Work::GroupNorm(norm) => 2 * norm.groups,
            Work::Max(_) | Work::Mish => shape.size(),
            Work::MaxMish(_) => 2 * shape.size(),
            _ => 0,
        };
        let extra = take(&mut self.extra, extra);
        self.shapes.push(shape);
        let (none, at) = (0..0, self.parameters);
        let packed = [none.clone(), none.clone()];
        let (kept, totals) = (none.clone(), none);
        self.steps.push(Step { work, from, to, parameters: at..at, extra, kept, packed, totals });
    }

    /// Gives the last step parameters under a name, and the room that they need.
    pub(super) fn named(
        &mut self,
        name: &str,
        weight: &[usize],
        bias: &[usize],
        inputs: usize,
    ) -> Result<()> {
        let start = self.parameters;
        for (part, sizes) in [("weight", weight), ("bias", bias)] {
            let name = format!("{name}.{part}");
            if self.tensors.iter().any(|tensor| tensor.name == name) {
                return Err(Error::parameter("name", name, "two layers have it; give each its own"));
            }
            let place = take(&mut self.parameters, sizes.iter().product());
            self.tensors.push(Tensor { name, sizes: sizes.to_vec(), place, inputs });
        }
        let Some(step) = self.steps.last_mut() else { return Ok(()) };
        step.parameters = start..self.parameters;
        // Nobody asks for the differences of the images themselves.
        let first = step.from.start == 0;
        match &step.work {
            Work::Convolution { window, padding } => {
                let back = window.turned(*padding);
                let weights = step.parameters.len();
                let kept = if weights <= KEPT { weights } else { window.channels.1 };
                step.kept = take(&mut self.kept, kept);
                let packed = if first { 0 } else { back.packed_size() };
                step.packed = [take(&mut self.packed, window.packed_size()), take(&mut self.packed, packed)];
                let around = |window: &Window| window.channels.0 * window.from.0 * window.from.1;
                self.padded = self.padded.max(around(window)).max(around(&back)); // whole numbers
            }
            &Work::Linear { inputs, outputs } => {
                let back = if first { 0 } else { product::packed_size(inputs, outputs) };
                let forward = product::packed_size(outputs, inputs);
                step.packed = [take(&mut self.packed, forward), take(&mut self.packed, back)];
                step.totals = take(&mut self.totals, outputs.div_ceil(16) * inputs);
            }
            _ => step.kept = take(&mut self.kept, step.parameters.len()),
        }
        Ok(())
    }

    /// A step that waits for its [`Steps::join`].
    pub(super) fn fork(&mut self) -> usize {
        let here = self.place();
        let (none, at) = (0..0, self.parameters);
        self.steps.push(Step {
            work: Work::Fork { from: none.clone() },
            from: here.clone(),
            to: here,
            parameters: at..at,
            extra: none.clone(),
            kept: none.clone(),
            packed: [none.clone(), none.clone()],
            totals: none,
        });
        self.steps.len() - 1
    }

    /// Tells a fork what its two ways became.
    pub(super) fn join(&mut self, fork: usize) {
        let place = self.place();
        self.steps[fork].work = Work::Fork { from: place };
    }
}

impl Step {
    /// Height and width of the images that a convolution is given, without padding.
    pub(super) fn image(&self) -> (usize, usize) {
        let Work::Convolution { window, padding } = &self.work else { return (0, 0) };
        (window.from.0 - 2 * padding, window.from.1 - 2 * padding)
    }

    /// A convolution's zeros around images.
    pub(super) fn padding(&self) -> usize {
        if let Work::Convolution { padding, .. } = self.work { padding } else { 0 }
    }
}
