//! The few statistics that verdicts are made of.

/// Number, mean, smallest and largest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) count: usize,
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Summary {
    /// None of no values.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (mut count, mut sum, mut low, mut high) = (0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            (count, sum, low, high) = (count + 1, sum + value, low.min(value), high.max(value));
        }
        (count > 0).then(|| Self { count, mean: sum / count as f64, low, high })
    }
}

/// Spearman's rank correlation; ties share the mean of their ranks. Zero where either side is constant.
pub(super) fn rank_correlation(x: &[f64], y: &[f64]) -> f64 {
    let (x, y) = (ranks(x), ranks(y));
    let middle = (x.len() as f64 - 1.0) / 2.0;
    let product =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum() };
    let scale = (product(&x, &x) * product(&y, &y)).sqrt();
    if scale > 0.0 { product(&x, &y) / scale } else { 0.0 }
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let below = order.partition_point(|&i| values[i].total_cmp(&values[tied[0]]).is_lt());
        tied.iter().for_each(|&i| ranks[i] = below as f64 + (tied.len() as f64 - 1.0) / 2.0);
    }
    ranks
}

/// The exponent of a power law through points, by least squares of logarithms.
pub(super) fn exponent(points: &[(f64, f64)]) -> f64 {
    slope(&points.iter().map(|(x, y)| (x.ln(), y.ln())).collect::<Vec<_>>())
}

/// The slope of the straight line closest to some points.
pub(super) fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let over = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>();
    over / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// The value with this part of all values below it, one of those that there are; not a number of none.
pub(super) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (part * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// A whole number below `bound` from a seed and what it is for (the finaliser of SplitMix64).
pub(super) fn choose(seed: u64, purpose: u64, bound: usize) -> usize {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(purpose.wrapping_add(1));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn correlations_by_hand() {
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 20.0, 90.0]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 2.0, 3.0, 4.0], &[4.0, 3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5.
        let tied = rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]);
        assert!((tied - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(rank_correlation(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
    }

    #[test]
    fn a_power_law_gives_its_exponent_back() {
        let points: Vec<(f64, f64)> = (1..9).map(|i| (f64::from(i), 3.0 * f64::from(i).powf(-1.5))).collect();
        assert!((exponent(&points) + 1.5).abs() < 1e-12);
        let summary = Summary::of([1.0, 4.0, 1.0]).unwrap();
        assert_eq!((summary.count, summary.mean, summary.low, summary.high), (3, 2.0, 1.0, 4.0));
        assert_eq!(Summary::of([]), None);
    }

    #[test]
    fn quantiles_are_values_that_there_are() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!([0.0, 0.1, 0.5, 0.9, 1.0].map(|part| quantile(&values, part)), [1.0, 1.0, 3.0, 5.0, 5.0]);
        assert!(quantile(&[], 0.5).is_nan());
        assert!((slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn choices_stay_below_the_bound_and_differ_by_purpose() {
        let drawn: Vec<usize> = (0..200).map(|purpose| choose(7, purpose, 10)).collect();
        assert!(drawn.iter().all(|&i| i < 10) && (0..10).all(|i| drawn.contains(&i)));
    }
}
