//! What a protocol computes with: numbers, or coefficients over noises.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Data;

/// Something that can be mixed. Sums are taken in the order in which they are written.
pub trait Value: Data + Send + 'static {
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

/// Numbers of single precision that many may hold: a clone is no copy, and who changes them while others hold them changes a copy of its own.
///
/// ```
/// use sottovoce_protocol::Shared;
/// let (mine, mut hers) = (Shared::from(vec![1.0, 2.0]), Shared::default());
/// hers.clone_from(&mine);
/// assert!(std::ptr::eq(&mine[..], &hers[..]));
/// hers.to_mut()[0] = 5.0;
/// assert_eq!((mine[0], hers[0]), (1.0, 5.0));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shared(Arc<[f32]>);

impl Shared {
    /// So many zeros.
    pub fn zeros(width: usize) -> Self {
        Self(std::iter::repeat_n(0.0, width).collect())
    }

    /// The numbers, to be changed: copied first if others hold them.
    pub fn to_mut(&mut self) -> &mut [f32] {
        Arc::make_mut(&mut self.0)
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::zeros(0)
    }
}

impl From<Vec<f32>> for Shared {
    fn from(numbers: Vec<f32>) -> Self {
        Self(numbers.into())
    }
}

impl Deref for Shared {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl Value for Shared {
    fn scale(&mut self, weight: f64) {
        let weight = weight as f32;
        self.to_mut().iter_mut().for_each(|x| *x *= weight);
    }

    fn add(&mut self, weight: f64, other: &Self) {
        let weight = weight as f32;
        self.to_mut().iter_mut().zip(other.iter()).for_each(|(x, y)| *x += weight * y);
    }

    fn is_finite(&self) -> bool {
        // Without a way out in the middle several are looked at in one instruction.
        self.chunks(1024).all(|part| part.iter().fold(true, |all, x| all & x.is_finite()))
    }

    fn same_shape(&self, other: &Self) -> bool {
        self.len() == other.len()
    }

    fn is_within(&self, range: f64) -> bool {
        self.iter().all(|x| f64::from(x.abs()) <= range)
    }

    fn clamp(&mut self, range: f64) {
        let range = range as f32;
        self.to_mut().iter_mut().for_each(|x| *x = x.clamp(-range, range));
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
