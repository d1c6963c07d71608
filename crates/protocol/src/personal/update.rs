//! One wake-up, as mathematics: `T <- (1 - a) T + a ( sum_j (W_ij/D_ii) T_j - mu c_i (gradient + ridge T) )`.

use serde::{Deserialize, Serialize};

/// How an agent's update weighs its parts. All of it is public.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// `mu c_i`: how much the agent's own loss counts beside its neighbours' models.
    pub pull: f64,
    /// The step `a`; at most [`Rule::step`].
    pub size: f64,
    /// Weight of `|theta|²/2` in the own loss.
    pub ridge: f64,
}

impl Rule {
    /// The step is `1/(1 + mu c_i smoothness)`, where the smoothness of the own loss, ridge included, is promised and not read off the rows.
    pub fn step(pull: f64, ridge: f64, smoothness: f64) -> Self {
        Self { pull, size: 1.0 / (1.0 + pull * smoothness), ridge }
    }

    /// Model propagation: the own loss is half the squared distance from a local model, which the update minimises exactly.
    pub fn propagation(pull: f64) -> Self {
        Self::step(pull, 0.0, 1.0)
    }
}

/// Writes `sum_j W_ij T_j` to `out`, in the order given, and returns `D_ii`, the sum of the weights.
#[inline]
pub fn pulled<'m>(others: impl Iterator<Item = (f64, &'m [f64])>, out: &mut [f64]) -> f64 {
    out.fill(0.0);
    let mut total = 0.0;
    for (weight, model) in others {
        total += weight;
        for (sum, x) in out.iter_mut().zip(model) {
            *sum += weight * x;
        }
    }
    total
}

/// Moves a model, given what its neighbours say ([`pulled`]) and the gradient of the rows' mean loss, hidden or not.
///
/// ```
/// use sottovoce_protocol::personal::{Rule, pulled, update};
/// let mut sum = [0.0];
/// let total = pulled([(1.0, &[4.0][..]), (3.0, &[8.0][..])].into_iter(), &mut sum);
/// let mut model = [1.0];
/// update(Rule { pull: 0.5, size: 0.5, ridge: 0.0 }, total, &sum, &[2.0], &mut model);
/// assert_eq!(model, [0.5 * 1.0 + 0.5 * (7.0 - 0.5 * 2.0)]);
/// ```
#[inline]
pub fn update(rule: Rule, total: f64, sum: &[f64], gradient: &[f64], model: &mut [f64]) {
    let Rule { pull, size, ridge } = rule;
    let (kept, towards, against) = (1.0 - size - size * pull * ridge, size / total, size * pull);
    for ((x, sum), slope) in model.iter_mut().zip(sum).zip(gradient) {
        *x = kept * *x + towards * sum - against * slope;
    }
}
