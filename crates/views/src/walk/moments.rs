//! Means of samples with an upper bound that holds with a stated confidence.
//!
//! Of independent samples in `[0, R]`, with sample variance `V`, the mean of the law exceeds
//! `mean + sqrt(2 V ln(2/d) / N) + 7 R ln(2/d) / (3 (N-1))` with probability at most `d` (Maurer and Pontil, 2009, Theorem 4).

/// Sums over samples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    sum: f64,
    squares: f64,
}

impl Sums {
    pub(super) fn add(&mut self, sample: f64) {
        self.sum += sample;
        self.squares += sample * sample;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// The mean of `count` samples, those of 0 included that were never added.
    pub(super) fn mean(&self, count: usize) -> f64 {
        self.sum / count as f64
    }

    /// Above the law's mean, but with probability `failure`; rounding errors are counted in. Not finite where a sum is not.
    pub(super) fn upper(&self, count: usize, range: f64, failure: f64) -> f64 {
        let n = count as f64;
        // Two sums of `n` terms, each wrong by at most `n` roundings.
        let rounding = 4.0 * n * f64::EPSILON;
        let mean = self.mean(count);
        let variance = ((self.squares - self.sum * mean).max(0.0) + rounding * self.squares) / (n - 1.0);
        let log = (2.0 / failure).ln();
        (mean + (2.0 * variance * log / n).sqrt() + 7.0 * range * log / (3.0 * (n - 1.0))) * (1.0 + rounding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::random::Random;
    use sottovoce_protocol::Chance;

    /// Of 400 bounds at 90 % no more than a tenth may fail; in fact hardly any does.
    #[test]
    fn the_bound_holds_more_often_than_it_says() {
        let (count, rate) = (200, 0.1);
        let fails = (0..400).filter(|&run| {
            let (mut random, mut sums) = (Random::new(5, run), Sums::default());
            (0..count).for_each(|_| sums.add(f64::from(u8::from(random.unit() < rate)) * 3.0));
            sums.upper(count, 3.0, 0.1) < 3.0 * rate
        });
        assert!(fails.count() <= 8);
    }

    #[test]
    fn equal_samples_have_a_bound_close_to_them() {
        let mut sums = Sums::default();
        (0..10_000).for_each(|_| sums.add(1e-9));
        let upper = sums.upper(10_000, 1e-9, 1e-6);
        assert!(upper > 1e-9 && upper < 1.01e-9, "{upper}");
    }
}
