//! Peers with class proportions of their own, drawn from a Dirichlet law.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};

use super::classes::shuffled;
use crate::shards::even_size;
use crate::{Error, Result, Shards, Table, require};

/// Gives every peer `floor(rows/peers)` rows whose classes follow her own proportions.
///
/// The proportions are drawn from a Dirichlet law with parameters `concentration·K·f_k`, where `f_k` is the share of
/// class `k` of `K` in the table: for balanced classes, the symmetric law with this concentration. A large concentration gives
/// every peer the mixture of the table, a small one gives most peers a single class.
///
/// Rows are dealt in rounds, one to each peer, so nobody goes without, and running out of a class hurts all peers
/// alike: its weight then falls to the other classes of a peer, and if she has run out of all of hers, she draws from the rows that
/// are left. The rows that remain after the last round are left out.
pub fn dirichlet(table: &Table, peers: usize, concentration: f64, seed: u64) -> Result<Shards> {
    let remedy = "give a positive number";
    require(concentration.is_finite() && concentration > 0.0, "concentration", concentration, remedy)?;
    let size = even_size(table, peers)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut left = shuffled(table.labels(), &mut rng)?;
    let shares: Vec<f64> = left.iter().map(|rows| rows.len() as f64 / table.rows() as f64).collect();
    let mixtures: Result<Vec<_>> =
        (0..peers).map(|_| proportions(&shares, concentration, &mut rng)).collect();
    let mixtures = mixtures?;
    let mut lists = vec![Vec::with_capacity(size); peers];
    for _ in 0..size {
        for (list, mixture) in lists.iter_mut().zip(&mixtures) {
            list.extend(deal(&mut left, mixture, &mut rng));
        }
    }
    Shards::by_lists(table, &lists)
}

/// One draw from the Dirichlet law, up to a factor. Where all its numbers vanish in rounding, the limit: one class.
fn proportions(shares: &[f64], concentration: f64, rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    let classes = shares.len() as f64;
    let mut mixture = Vec::with_capacity(shares.len());
    for share in shares {
        let law = Gamma::new(concentration * classes * share, 1.0).map_err(|_| {
            Error::parameter("concentration", concentration, "give a number that is neither tiny nor huge")
        })?;
        mixture.push(law.sample(rng));
    }
    if !mixture.iter().any(|&weight: &f64| weight > 0.0) {
        let only = pick(shares.iter().copied(), rng);
        mixture.iter_mut().enumerate().for_each(|(class, weight)| *weight = f64::from(class == only));
    }
    Ok(mixture)
}

/// Takes a row for a peer with this mixture.
fn deal(left: &mut [Vec<usize>], mixture: &[f64], rng: &mut ChaCha8Rng) -> Option<usize> {
    let available = |(rows, &weight): (&Vec<usize>, &f64)| if rows.is_empty() { 0.0 } else { weight };
    let own = left.iter().zip(mixture).map(available);
    let class = match own.clone().any(|weight| weight > 0.0) {
        true => pick(own, rng),
        false => pick(left.iter().map(|rows| rows.len() as f64), rng),
    };
    left[class].pop()
}

/// An index drawn in proportion to the weights, never one of weight 0.
fn pick(weights: impl Iterator<Item = f64> + Clone, rng: &mut ChaCha8Rng) -> usize {
    let mut rest = weights.clone().sum::<f64>() * rng.random::<f64>();
    let mut last = 0;
    for (index, weight) in weights.enumerate().filter(|&(_, weight)| weight > 0.0) {
        last = index;
        rest -= weight;
        if rest < 0.0 {
            break;
        }
    }
    last
}
