//! From a noisy gradient to a step: plain, with momentum, or by Adam. All of it happens after the noise, and reveals nothing more.

use serde::{Deserialize, Serialize};

/// What becomes of a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Optimiser {
    /// How.
    pub rule: Rule,
    /// Weight of `|theta|²/2`, whose gradient is added to that of the rows: no row moves it, so it is neither clipped nor hidden.
    pub decay: f64,
    /// Whether moments are kept from round to round, or begun afresh in each.
    pub kept: bool,
}

/// How a direction is made of gradients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The gradient itself.
    Sgd,
    /// `v <- beta v + g`, beginning with the first gradient.
    Momentum {
        /// What is kept of the direction before.
        beta: f64,
    },
    /// Means of gradients and of their squares, both made up for their beginning at 0.
    Adam {
        /// What is kept of the mean.
        beta: f64,
        /// What is kept of the mean square.
        square: f64,
        /// What is added to the root of the mean square.
        epsilon: f64,
    },
}

impl Rule {
    /// Adam with its usual constants.
    pub const ADAM: Self = Self::Adam { beta: 0.9, square: 0.999, epsilon: 1e-8 };
}

/// What an optimiser remembers. Nothing is stored of what is not used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    steps: u64,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Optimiser {
    /// Without decay, and with moments that are kept.
    pub fn new(rule: Rule) -> Self {
        Self { rule, decay: 0.0, kept: true }
    }

    /// A round begins.
    pub(super) fn begin(&self, moments: &mut Moments) {
        if !self.kept {
            *moments = Moments::default();
        }
    }

    /// Adds the decay at `point` to a gradient.
    pub(super) fn decayed(&self, point: &[f32], gradient: &mut [f32]) {
        let decay = self.decay as f32;
        if decay != 0.0 {
            gradient.iter_mut().zip(point).for_each(|(g, x)| *g += decay * x);
        }
    }

    /// `x <- x - rate * direction`.
    ///
    /// ```
    /// use sottovoce_protocol::consensus::{Moments, Optimiser, Rule};
    /// let (mut moments, mut x) = (Moments::default(), [1.0]);
    /// let optimiser = Optimiser::new(Rule::Momentum { beta: 0.5 });
    /// optimiser.step(&mut moments, 0.25, &[2.0], &mut x);
    /// assert_eq!(x, [0.5]);
    /// optimiser.step(&mut moments, 0.25, &[0.0], &mut x); // half of the last direction
    /// assert_eq!(x, [0.25]);
    /// ```
    pub fn step(&self, moments: &mut Moments, rate: f64, gradient: &[f32], x: &mut [f32]) {
        moments.steps += 1;
        match self.rule {
            Rule::Sgd => {
                let rate = rate as f32;
                x.iter_mut().zip(gradient).for_each(|(x, g)| *x -= rate * g);
            }
            Rule::Momentum { beta } => {
                let (rate, beta) = (rate as f32, beta as f32);
                moments.first.resize(x.len(), 0.0);
                for ((x, g), v) in x.iter_mut().zip(gradient).zip(&mut moments.first) {
                    *v = beta * *v + g;
                    *x -= rate * *v;
                }
            }
            Rule::Adam { beta, square, epsilon } => moments.adam((beta, square, epsilon), rate, gradient, x),
        }
    }
}

impl Moments {
    fn adam(&mut self, (beta, square, epsilon): (f64, f64, f64), rate: f64, gradient: &[f32], x: &mut [f32]) {
        self.first.resize(x.len(), 0.0);
        self.second.resize(x.len(), 0.0);
        // Both means begin at 0: after `t` steps they lack these shares.
        let [mean, root] = [beta, square].map(|kept| 1.0 - kept.powf(self.steps as f64));
        let (size, root) = ((rate / mean) as f32, (1.0 / root.sqrt()) as f32);
        // Taken from one before they are rounded: of 0.001 single precision would lose four digits.
        let [new, more] = [beta, square].map(|kept| (1.0 - kept) as f32);
        let [beta, square, epsilon] = [beta, square, epsilon].map(|constant| constant as f32);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((x, g), (m, v)) in x.iter_mut().zip(gradient).zip(moments) {
            *m = beta * *m + new * g;
            *v = square * *v + more * g * g;
            *x -= size * *m / (v.sqrt() * root + epsilon);
        }
    }

    /// Whether an optimiser of so many numbers can be here.
    pub(super) fn fits(&self, width: usize) -> bool {
        [&self.first, &self.second].iter().all(|moment| moment.is_empty() || moment.len() == width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first step of Adam is a step of the rate's length in every coordinate, whatever the gradient; the second was computed by hand.
    #[test]
    fn adam_takes_its_steps() {
        let optimiser = Optimiser { kept: false, ..Optimiser::new(Rule::ADAM) };
        let (mut moments, mut x) = (Moments::default(), [0.0f32; 2]);
        optimiser.step(&mut moments, 0.1, &[5.0, -0.01], &mut x);
        assert!((x[0] + 0.1).abs() < 1e-6 && (x[1] - 0.1).abs() < 1e-5, "{x:?}");
        optimiser.step(&mut moments, 0.1, &[-5.0, -0.01], &mut x);
        let mean = (0.09 * 5.0 - 0.1 * 5.0) / (1.0 - 0.81);
        assert!((f64::from(x[0]) + 0.1 + 0.1 * mean / 5.0).abs() < 1e-6, "{x:?}");
        optimiser.begin(&mut moments);
        assert_eq!(moments, Moments::default());
    }

    #[test]
    fn decay_is_added_to_the_gradient() {
        let mut gradient = [1.0];
        Optimiser { decay: 0.5, ..Optimiser::new(Rule::Sgd) }.decayed(&[4.0], &mut gradient);
        assert_eq!(gradient, [3.0]);
    }
}
