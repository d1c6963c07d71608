//! Which clipped gradients leave a step non-expansive, as amplification by iteration needs it (`docs/theorems/random-walks.md`).

use proptest::prelude::*;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Scaled down to length `most`.
fn clip(mut gradient: Vec<f64>, most: f64) -> Vec<f64> {
    let scale = (most / dot(&gradient, &gradient).sqrt().max(1e-300)).min(1.0);
    gradient.iter_mut().for_each(|g| *g *= scale);
    gradient
}

/// The derivatives of the logistic and of the squared loss, which grow by at most 1/4 and 1.
fn logistic(margin: f64) -> f64 {
    -1.0 / (1.0 + margin.exp())
}

proptest! {
    /// One example of a linear model, clipped by itself, with a ridge that is not clipped: steps up to 2/smoothness do not expand.
    #[test]
    fn clipped_linear_models_do_not_expand(
        x in prop::collection::vec(-2.0..2.0f64, 3), a in prop::collection::vec(-5.0..5.0f64, 3),
        b in prop::collection::vec(-5.0..5.0f64, 3), most in 0.01..3.0f64, ridge in 0.0..2.0f64, squared: bool,
    ) {
        let smoothness = if squared { 1.0 } else { 0.25 } * dot(&x, &x) + ridge;
        let step = 2.0 / smoothness.max(1e-9);
        let map = |theta: &[f64]| {
            let slope = if squared { dot(&x, theta) - 1.0 } else { logistic(dot(&x, theta)) };
            let gradient = clip(x.iter().map(|x| slope * x).collect(), most);
            theta.iter().zip(gradient).map(|(t, g)| t - step * (g + ridge * t)).collect::<Vec<_>>()
        };
        let (before, after) = (minus(&a, &b), minus(&map(&a), &map(&b)));
        prop_assert!(dot(&after, &after) <= dot(&before, &before) * (1.0 + 1e-9) + 1e-9);
    }
}

/// `(F(a) - F(b))·(a - b)`: below 0, every step along `-F`, however short, drives some points apart.
fn monotone(field: impl Fn(&[f64]) -> Vec<f64>, a: &[f64], b: &[f64]) -> f64 {
    dot(&minus(&field(a), &field(b)), &minus(a, b))
}

/// Two squared losses, along the axes, one ten times as steep: clipping their mean is not monotone, clipping each of them is.
#[test]
fn clipping_a_mean_gradient_expands() {
    let of_mean = |theta: &[f64]| clip(vec![theta[0], 10.0 * theta[1]], 0.5);
    let of_each = |theta: &[f64]| vec![theta[0].clamp(-0.5, 0.5), (10.0 * theta[1]).clamp(-0.5, 0.5)];
    let (a, b) = ([1.0, 0.1], [1.0 + 0.1, 0.1 + 0.02]);
    assert!(monotone(of_mean, &a, &b) < -1e-4 && monotone(of_each, &a, &b) >= 0.0);
    // A short step ends further apart than it began.
    let map = |theta: &[f64]| theta.iter().zip(of_mean(theta)).map(|(t, g)| t - 0.01 * g).collect::<Vec<_>>();
    let (before, after) = (minus(&a, &b), minus(&map(&a), &map(&b)));
    assert!(dot(&after, &after) > dot(&before, &before) * (1.0 + 1e-6));
}

/// Three classes, one example: the clipped gradient of the softmax loss is not monotone in the scores.
#[test]
fn clipping_softmax_gradients_expands() {
    let softmax = |scores: &[f64]| {
        let sum: f64 = scores.iter().map(|z| z.exp()).sum();
        let gradient = scores.iter().enumerate().map(|(k, z)| z.exp() / sum - f64::from(u8::from(k == 0)));
        gradient.collect::<Vec<_>>()
    };
    let (a, b) = ([0.0, -1.0, 1.0], [0.08, -1.025, 0.945]);
    assert!(monotone(softmax, &a, &b) > 0.0);
    assert!(monotone(|scores| clip(softmax(scores), 0.5), &a, &b) < -1e-5);
}
