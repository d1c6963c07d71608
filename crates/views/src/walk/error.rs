//! How far the average of walking tokens is from the mean: the exact expectation over paths and noises.
//!
//! With weights `w_k` of the steps and `f` the centred values, `h_k(u) = E[Σ_{l>=k} w_l f(v_l) | v_k = u]` and `g_k(u)`, the same of its square, go backwards:
//! `h_k = w_k f + W h_{k+1}`, `g_k = w_k² f² + 2 w_k f (W h_{k+1}) + W g_{k+1}`. Caps are left out of account.

use sottovoce_protocol::walk::Steps;
use sottovoce_topology::mixing::Mixing;

use crate::Result;
use crate::error::{Error, check_steps};

/// Tokens that average.
#[derive(Debug, Clone)]
pub struct Mean<'a> {
    /// Where tokens go.
    pub mixing: &'a Mixing,
    /// The first holder of each.
    pub launch: &'a [usize],
    /// Steps before the first contribution.
    pub burn_in: usize,
    /// Contributions to each token.
    pub steps: usize,
    /// Step sizes.
    pub sizes: Steps,
    /// What each peer's contributions are worth; empty where all are alike.
    pub worth: &'a [f64],
    /// Standard deviation of the noise on a contribution.
    pub noise: f64,
}

/// The expected squared distance from the mean of `values` of the mean of all tokens, each divided by its mass ([`Average::mass`](super::Average::mass)), which
/// is public: exact where all peers are worth the same, else to first order in what the walk leaves to chance.
pub fn squared_error(values: &[f64], mean: &Mean) -> Result<f64> {
    let n = mean.mixing.nodes();
    check_steps(mean.steps)?;
    if values.len() != n || mean.launch.is_empty() {
        return Err(Error::parameter("values", values.len(), format!("give one for each of {n} peers")));
    }
    let worth = |u: usize| mean.worth.get(u).copied().unwrap_or(1.0);
    let centre = values.iter().sum::<f64>() / n as f64;
    let centred: Vec<f64> = (0..n).map(|u| worth(u) * (values[u] - centre)).collect();
    let weights = weights(mean.sizes, mean.steps);
    let squares: Vec<f64> = (0..n).map(|u| worth(u) * worth(u)).collect();
    let walk = backwards(mean.mixing, &weights, &centred, &squares);
    // What the steps weigh together: all but what is left of the start.
    let mass: f64 = weights.iter().sum();
    let (mut sum, mut square) = (0.0, 0.0);
    let count = mean.launch.len() as f64;
    for &first in mean.launch {
        let law = after(mean.mixing, first, mean.burn_in);
        let expect = |values: &[f64]| law.iter().zip(values).map(|(p, x)| p * x).sum::<f64>();
        let own = expect(&walk.first);
        sum += own;
        square += expect(&walk.second) + mean.noise * mean.noise * expect(&walk.noise) - own * own;
    }
    Ok((square + sum * sum) / (count * mass).powi(2))
}

/// What each step's contribution weighs in the end.
fn weights(sizes: Steps, steps: usize) -> Vec<f64> {
    let mut weights = vec![0.0; steps];
    let mut left = 1.0;
    for (k, weight) in weights.iter_mut().enumerate().rev() {
        *weight = left * sizes.at(k);
        left *= 1.0 - sizes.at(k);
    }
    weights
}

/// By the holder of the first contribution: the expected sum, its square, and the variance of unit noises.
struct Backwards {
    first: Vec<f64>,
    second: Vec<f64>,
    noise: Vec<f64>,
}

fn backwards(mixing: &Mixing, weights: &[f64], values: &[f64], squares: &[f64]) -> Backwards {
    let n = mixing.nodes();
    let mut at = Backwards { first: vec![0.0; n], second: vec![0.0; n], noise: vec![0.0; n] };
    let mut next = vec![0.0; n];
    for &w in weights.iter().rev() {
        mixing.apply(&at.noise, &mut next);
        at.noise.iter_mut().zip(&next).zip(squares).for_each(|((x, next), r)| *x = next + w * w * r);
        mixing.apply(&at.second, &mut next);
        std::mem::swap(&mut at.second, &mut next);
        mixing.apply(&at.first, &mut next);
        for u in 0..n {
            let own = w * values[u];
            at.second[u] += own * own + 2.0 * own * next[u];
            at.first[u] = own + next[u];
        }
    }
    at
}

/// Where a token is after so many steps.
fn after(mixing: &Mixing, first: usize, steps: usize) -> Vec<f64> {
    let (mut now, mut next) = (vec![0.0; mixing.nodes()], vec![0.0; mixing.nodes()]);
    now[first] = 1.0;
    for _ in 0..steps {
        sottovoce_fault::stop::look();
        mixing.push(&now, &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::Graph;
    use sottovoce_topology::mixing::Weights;

    /// All paths of a short walk on a path of three, one after the other.
    #[test]
    fn the_recursion_is_the_sum_over_all_paths() {
        let graph = Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
        let values = [3.0, -1.0, 0.5];
        let centre = 2.5 / 3.0;
        for mixing in [Mixing::new(&graph, Weights::MetropolisPlusOne), Mixing::new(&graph, Weights::Uniform)]
        {
            for sizes in [Steps::Running, Steps::Constant(0.4)] {
                let mean = Mean {
                    mixing: &mixing,
                    launch: &[0],
                    burn_in: 1,
                    steps: 3,
                    sizes,
                    worth: &[],
                    noise: 0.0,
                };
                let mut written_out = 0.0;
                for path in 0..27 {
                    let holders = [0, path % 3, path / 3 % 3, path / 9 % 3];
                    let chance: f64 =
                        holders.windows(2).map(|pair| mixing.weight(pair[0], pair[1])).product();
                    let (mut x, mut mass) = (0.0, 0.0);
                    for (k, &holder) in holders[1..].iter().enumerate() {
                        x += sizes.at(k) * (values[holder] - x);
                        mass += sizes.at(k) * (1.0 - mass);
                    }
                    written_out += chance * (x / mass - centre).powi(2);
                }
                let found = squared_error(&values, &mean).unwrap();
                assert!((found - written_out).abs() < 1e-12, "{found} {written_out}");
            }
        }
    }

    /// With equal values only noise is left; two tokens have half of its variance each, and twice nothing else.
    #[test]
    fn noise_alone_has_its_own_variance() {
        let graph = Graph::from_edges(3, [(0, 1), (1, 2), (2, 0)]).unwrap();
        let mixing = Mixing::new(&graph, Weights::Metropolis);
        let mean = Mean {
            mixing: &mixing,
            launch: &[0, 2],
            burn_in: 0,
            steps: 10,
            sizes: Steps::Running,
            worth: &[],
            noise: 3.0,
        };
        assert!((squared_error(&[7.0; 3], &mean).unwrap() - 9.0 / 20.0).abs() < 1e-12);
    }
}
