//! Who is alike: the nearest neighbours by the cosine of ratings, or of public features.

use super::factors::transposed;

/// All pairs of which one is among the `count` nearest of the other by the cosine of their features, each as many numbers, with weight 1.
pub fn nearest_profiles(profiles: &[Vec<f64>], count: usize) -> Vec<(usize, usize, f64)> {
    let width = profiles.iter().map(Vec::len).max().unwrap_or(0);
    let sparse: Vec<Vec<(usize, f64)>> =
        profiles.iter().map(|own| own.iter().copied().enumerate().collect()).collect();
    nearest(&sparse, width, count)
}

/// All pairs of which one is among the `count` nearest of the other, with weight 1. Ratings are by user: the item, and the number, whose zeros are
/// what was not rated. Of equally near users those with smaller numbers are nearer.
pub(super) fn nearest(by_user: &[Vec<(usize, f64)>], items: usize, count: usize) -> Vec<(usize, usize, f64)> {
    let by_item = transposed(by_user, items);
    let length = |own: &Vec<(usize, f64)>| own.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
    let lengths: Vec<f64> = by_user.iter().map(length).collect();
    let mut pairs = Vec::new();
    let mut products = vec![0.0; by_user.len()];
    for (user, own) in by_user.iter().enumerate() {
        products.fill(0.0);
        for &(item, value) in own {
            by_item[item].iter().for_each(|&(other, theirs)| products[other] += value * theirs);
        }
        // Who has no length is at right angles to everybody.
        let cosine = |other: usize| if lengths[other] > 0.0 { products[other] / lengths[other] } else { 0.0 };
        let mut others: Vec<(f64, usize)> =
            (0..by_user.len()).filter(|&other| other != user).map(|other| (cosine(other), other)).collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let near = others.iter().take(count);
        pairs.extend(near.map(|&(_, other)| (user.min(other), user.max(other), 1.0)));
    }
    pairs.sort_by_key(|&(i, j, _)| (i, j));
    pairs.dedup();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_union_of_everybodys_nearest() {
        let by_user = vec![
            vec![(0, 1.0), (1, 1.0)],
            vec![(0, 2.0), (1, 2.0)],  // parallel to the first
            vec![(1, 1.0)],            // at 45 degrees from both
            vec![(0, -1.0), (2, 0.1)], // away from them, at a right angle from the third
            vec![(3, 0.0)],            // nowhere
        ];
        // The fourth is nearest to the third (cosine 0), before the last; the last to the first.
        let expected = [(0, 1, 1.0), (0, 2, 1.0), (0, 4, 1.0), (2, 3, 1.0)];
        assert_eq!(nearest(&by_user, 4, 1), expected);
        assert_eq!(nearest(&by_user, 4, 9).len(), 10);
        let profiles = [vec![1.0, 0.1], vec![0.1, 1.0], vec![3.0, 0.0]];
        assert_eq!(nearest_profiles(&profiles, 1), [(0, 1, 1.0), (0, 2, 1.0)]);
    }
}
