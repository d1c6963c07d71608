//! Second derivatives of losses with one score, for solvers that look at everything: nothing here is clipped or hidden.

use super::{Loss, Model};
use crate::Shard;
use crate::linear::{add_multiple, dot};

impl Model {
    /// The second derivative of each row's loss in its score, written to `out`.
    ///
    /// # Panics
    ///
    /// If shapes do not fit, or rows have several scores ([`Loss::Softmax`]).
    pub fn bends(&self, theta: &[f64], data: Shard<'_>, out: &mut [f64]) {
        self.check_shapes(theta, data);
        assert_eq!(out.len(), data.labels.len(), "every row has a second derivative");
        let scores = data.features.chunks_exact(data.width).map(|row| dot(theta, row));
        for (bend, score) in out.iter_mut().zip(scores) {
            *bend = match self.loss {
                Loss::Squared => 1.0,
                Loss::Logistic => {
                    // p·(1-p), where neither factor cancels.
                    let small = (-score.abs()).exp();
                    small / ((1.0 + small) * (1.0 + small))
                }
                Loss::Softmax { .. } => panic!("softmax has several scores"),
            };
        }
    }

    /// Adds `factor` times the second derivative of the objective, ridge included, at the model whose [`Model::bends`] these are, times `vector` to `out`.
    pub fn add_curvature_along(
        &self,
        bends: &[f64],
        data: Shard<'_>,
        factor: f64,
        vector: &[f64],
        out: &mut [f64],
    ) {
        let share = factor / data.labels.len() as f64;
        for (row, bend) in data.features.chunks_exact(data.width).zip(bends) {
            add_multiple(out, share * bend * dot(row, vector), row);
        }
        add_multiple(out, factor * self.ridge, vector);
    }

    /// Adds `factor` times the same to a matrix, row by row.
    pub fn add_curvature(&self, bends: &[f64], data: Shard<'_>, factor: f64, out: &mut [f64]) {
        let (width, share) = (data.width, factor / data.labels.len() as f64);
        for (row, bend) in data.features.chunks_exact(width).zip(bends) {
            for (place, x) in out.chunks_exact_mut(width).zip(row) {
                add_multiple(place, share * bend * x, row);
            }
        }
        (0..width).for_each(|k| out[k * width + k] += factor * self.ridge);
    }

    /// Adds `factor` times its diagonal.
    pub fn add_curvature_diagonal(&self, bends: &[f64], data: Shard<'_>, factor: f64, out: &mut [f64]) {
        let share = factor / data.labels.len() as f64;
        for (row, bend) in data.features.chunks_exact(data.width).zip(bends) {
            out.iter_mut().zip(row).for_each(|(place, x)| *place += share * bend * x * x);
        }
        out.iter_mut().for_each(|place| *place += factor * self.ridge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clip;

    #[test]
    fn curvatures_are_differences_of_gradients() {
        let features = [0.5, -1.0, 2.0, 1.5, 0.25, -0.75, -1.0, 0.1, 0.9];
        let data = Shard { features: &features, labels: &[1.0, -1.0, 1.0], width: 3 };
        let (theta, step) = ([0.3, -0.2, 0.7], 1e-5);
        for loss in [Loss::Logistic, Loss::Squared] {
            let model = Model { loss, width: 3, ridge: 0.4 };
            let mut bends = [0.0; 3];
            model.bends(&theta, data, &mut bends);
            let (mut matrix, mut diagonal) = ([0.0; 9], [0.0; 3]);
            model.add_curvature(&bends, data, 2.0, &mut matrix);
            model.add_curvature_diagonal(&bends, data, 2.0, &mut diagonal);
            for k in 0..3 {
                let at = |shift: f64| {
                    let (mut theta, mut out) = (theta, [0.0; 3]);
                    theta[k] += shift;
                    model.gradient(&theta, data, Clip::None, &mut out);
                    out
                };
                let (above, below) = (at(step), at(-step));
                let (mut unit, mut along) = ([0.0; 3], [0.0; 3]);
                unit[k] = 1.0;
                model.add_curvature_along(&bends, data, 2.0, &unit, &mut along);
                for j in 0..3 {
                    let difference = 2.0 * (above[j] - below[j]) / (2.0 * step);
                    assert!((matrix[j * 3 + k] - difference).abs() < 1e-8, "{loss:?} {j} {k}");
                    assert!((along[j] - matrix[j * 3 + k]).abs() < 1e-14);
                }
                assert!((diagonal[k] - matrix[4 * k]).abs() < 1e-14);
            }
        }
    }
}
