//! The smallest box around a set of values.

use crate::record::Coordinates;

/// Least and greatest value of every coordinate; a coordinate that a value does not have is 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Hull {
    low: Vec<f64>,
    high: Vec<f64>,
    begun: bool,
}

impl Hull {
    /// Widens the box to hold a value.
    pub(crate) fn include(&mut self, value: &impl Coordinates) {
        let coordinates = value.coordinates();
        if !self.begun {
            self.begun = true;
            (self.low, self.high) = (coordinates.to_vec(), coordinates.to_vec());
            return;
        }
        let length = self.low.len().max(coordinates.len());
        self.low.resize(length, 0.0);
        self.high.resize(length, 0.0);
        for (i, (low, high)) in self.low.iter_mut().zip(&mut self.high).enumerate() {
            let x = coordinates.get(i).copied().unwrap_or(0.0);
            (*low, *high) = (low.min(x), high.max(x));
        }
    }

    /// The first coordinate outside the box by more than the share `slack` of the box's largest number: its index and value.
    pub(crate) fn outside(&self, value: &impl Coordinates, slack: f64) -> Option<(usize, f64)> {
        let coordinates = value.coordinates();
        let inside = |i: usize, x: f64| {
            let (low, high) =
                (self.low.get(i).copied().unwrap_or(0.0), self.high.get(i).copied().unwrap_or(0.0));
            let slack = slack * low.abs().max(high.abs());
            (low - slack..=high + slack).contains(&x)
        };
        coordinates.iter().copied().enumerate().find(|&(i, x)| !inside(i, x))
    }

    /// The bounds of a coordinate.
    pub(crate) fn bounds(&self, coordinate: usize) -> (f64, f64) {
        let at = |bounds: &[f64]| bounds.get(coordinate).copied().unwrap_or(0.0);
        (at(&self.low), at(&self.high))
    }

    /// The width of every coordinate.
    pub(crate) fn widths(&self) -> Vec<f64> {
        self.low.iter().zip(&self.high).map(|(low, high)| high - low).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_holds_what_it_was_given() {
        let mut hull = Hull::default();
        hull.include(&vec![1.0, -2.0]);
        assert_eq!(hull.widths(), [0.0, 0.0]);
        hull.include(&vec![3.0, -1.0, 5.0]);
        assert_eq!(hull.widths(), [2.0, 1.0, 5.0]);
        assert_eq!(hull.outside(&vec![2.0, -1.5, 0.0], 0.0), None);
        assert_eq!(hull.outside(&vec![2.0, -2.5], 0.0), Some((1, -2.5)));
        assert_eq!(hull.outside(&vec![f64::NAN], 0.0).map(|found| found.0), Some(0));
        hull.include(&vec![0.0]);
        assert_eq!(hull.bounds(1), (-2.0, 0.0));
    }
}
