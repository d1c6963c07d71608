//! Features of items by alternating least squares with weighted ridges (Zhou, Wilkinson, Schreiber and Pan 2008).
//!
//! ```text
//! minimise  sum over ratings (r_ui - u_u·f_i)² + ridge·( sum_u n_u |u_u|² + sum_i n_i |f_i|² )       n: how many ratings
//! ```
//!
//! in turns: all users with the items held fixed, then all items. Each turn is a small linear system for each of them. The features are made from
//! everybody's ratings, so a guarantee must take them for public.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::cholesky;
use crate::linear::add_multiple;

/// Items start as their mean rating, and small numbers of this size.
const SMALL: f64 = 0.1;

/// How features are fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    pub(super) width: usize,
    pub(super) ridge: f64,
    pub(super) turns: usize,
}

/// The features of all items, one after the other; 0 for those that nobody rated. Ratings are by user: the item, and the number.
pub(super) fn features(by_user: &[Vec<(usize, f64)>], items: usize, fit: Fit, seed: u64) -> Vec<f64> {
    let by_item = transposed(by_user, items);
    let mut of_items = start(&by_item, fit.width, seed);
    for _ in 0..fit.turns {
        let of_users = solve_all(by_user, &of_items, fit);
        of_items = solve_all(&by_item, &of_users, fit);
    }
    of_items
}

/// The same ratings by item: the user, and the number.
pub(super) fn transposed(by_user: &[Vec<(usize, f64)>], items: usize) -> Vec<Vec<(usize, f64)>> {
    let mut by_item = vec![Vec::new(); items];
    for (user, own) in by_user.iter().enumerate() {
        own.iter().for_each(|&(item, value)| by_item[item].push((user, value)));
    }
    by_item
}

fn start(by_item: &[Vec<(usize, f64)>], width: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let small = |_| SMALL * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng);
    let mut features: Vec<f64> = (0..by_item.len() * width).map(small).collect();
    for (own, ratings) in features.chunks_exact_mut(width).zip(by_item) {
        if let (Some(first), false) = (own.first_mut(), ratings.is_empty()) {
            *first = ratings.iter().map(|(_, value)| value).sum::<f64>() / ratings.len() as f64;
        }
    }
    features
}

/// The best vector for each row of ratings, those of the other side held fixed.
fn solve_all(rows: &[Vec<(usize, f64)>], others: &[f64], fit: Fit) -> Vec<f64> {
    let width = fit.width;
    let mut all = vec![0.0; rows.len() * width];
    let mut gram = vec![0.0; width * width];
    for (own, ratings) in all.chunks_exact_mut(width).zip(rows).filter(|(_, ratings)| !ratings.is_empty()) {
        gram.fill(0.0);
        for &(other, value) in ratings {
            let other = &others[other * width..][..width];
            add_multiple(own, value, other);
            gram.chunks_exact_mut(width)
                .zip(other)
                .for_each(|(row, factor)| add_multiple(row, *factor, other));
        }
        (0..width).for_each(|k| gram[k * width + k] += fit.ridge * ratings.len() as f64);
        if cholesky::solve(&mut gram, own).is_none() {
            own.fill(0.0);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::dot;

    /// What is minimised, of features of items and the users that suit them best.
    fn objective(by_user: &[Vec<(usize, f64)>], items: &[f64], fit: Fit) -> f64 {
        let users = solve_all(by_user, items, fit);
        let mut sum = 0.0;
        for (user, own) in by_user.iter().enumerate() {
            let mine = &users[user * fit.width..][..fit.width];
            for &(item, value) in own {
                let other = &items[item * fit.width..][..fit.width];
                let error = value - dot(mine, other);
                sum += error * error + fit.ridge * (dot(mine, mine) + dot(other, other));
            }
        }
        sum
    }

    #[test]
    fn turns_never_cost_and_two_factors_explain_what_two_factors_made() {
        let mut by_user = Vec::new();
        for user in 0..30 {
            let rated = (0..20usize).filter(|item| (user * 7 + item * 3) % 4 != 0);
            let value =
                |item: usize| (user as f64).sin() * (item as f64).cos() + 0.5 * (item as f64 * 0.7).sin();
            by_user.push(rated.map(|item| (item, value(item))).collect::<Vec<_>>());
        }
        let fit = |turns| Fit { width: 2, ridge: 1e-5, turns };
        let costs: Vec<f64> = (0..40)
            .map(|turns| objective(&by_user, &features(&by_user, 21, fit(turns), 1), fit(turns)))
            .collect();
        assert!(costs.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)), "{costs:?}");
        assert!(costs[39] < 0.1, "{costs:?}");
        // Nobody rated the last.
        assert_eq!(features(&by_user, 21, fit(3), 1)[40..], [0.0, 0.0]);
    }
}
