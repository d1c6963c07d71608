//! What a protocol computes with: numbers, or coefficients over noises.

use serde::{Deserialize, Serialize};

use crate::Data;

/// Something that can be mixed. Sums are taken in the order in which they are written.
pub trait Value: Data {
    /// `self = weight * self`.
    fn scale(&mut self, weight: f64);

    /// `self += weight * other`.
    fn add(&mut self, weight: f64, other: &Self);

    /// Whether every coordinate is a finite number.
    fn is_finite(&self) -> bool;

    /// Whether the two can be added.
    fn same_shape(&self, other: &Self) -> bool;

    /// Whether no coordinate exceeds `range` in size.
    fn is_within(&self, range: f64) -> bool;

    /// Takes every coordinate to the nearest number between `-range` and `range`.
    fn clamp(&mut self, range: f64);
}

impl Value for Vec<f64> {
    fn scale(&mut self, weight: f64) {
        self.iter_mut().for_each(|x| *x *= weight);
    }

    fn add(&mut self, weight: f64, other: &Self) {
        self.iter_mut().zip(other).for_each(|(x, y)| *x += weight * y);
    }

    fn is_finite(&self) -> bool {
        self.iter().all(|x| x.is_finite())
    }

    fn same_shape(&self, other: &Self) -> bool {
        self.len() == other.len()
    }

    fn is_within(&self, range: f64) -> bool {
        self.iter().all(|x| x.abs() <= range)
    }

    fn clamp(&mut self, range: f64) {
        self.iter_mut().for_each(|x| *x = x.clamp(-range, range));
    }
}

/// A linear combination of base variables: variable `i` has the coefficient `self.0[i]`, and those beyond the end have 0.
///
/// Variables are standardised: the coefficient of a noise of standard deviation `s` is `s`.
///
/// ```
/// use sottovoce_protocol::{Coefficients, Value};
/// let mut x = Coefficients::variable(0, 2.0);
/// x.scale(0.5);
/// x.add(0.25, &Coefficients::variable(2, 1.0));
/// assert_eq!(x.0, [1.0, 0.0, 0.25]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Coefficients(pub Vec<f64>);

impl Coefficients {
    /// One variable alone.
    pub fn variable(index: usize, coefficient: f64) -> Self {
        let mut all = vec![0.0; index + 1];
        all[index] = coefficient;
        Self(all)
    }
}

impl Value for Coefficients {
    fn scale(&mut self, weight: f64) {
        self.0.scale(weight);
    }

    fn add(&mut self, weight: f64, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0.0);
        }
        self.0.add(weight, &other.0);
    }

    fn is_finite(&self) -> bool {
        self.0.is_finite()
    }

    fn same_shape(&self, _: &Self) -> bool {
        true
    }

    /// Coefficients say nothing of the size of what they stand for.
    fn is_within(&self, _: f64) -> bool {
        true
    }

    fn clamp(&mut self, _: f64) {}
}

/// For protocols that hide no value.
impl Value for () {
    fn scale(&mut self, _: f64) {}

    fn add(&mut self, _: f64, (): &Self) {}

    fn is_finite(&self) -> bool {
        true
    }

    fn same_shape(&self, (): &Self) -> bool {
        true
    }

    fn is_within(&self, _: f64) -> bool {
        true
    }

    fn clamp(&mut self, _: f64) {}
}
