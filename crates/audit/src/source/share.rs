//! A share of runs, with limits that hold with a stated confidence.

use serde::Serialize;

use crate::rates::upper_limit;

/// So many hits in so many independent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Runs that counted as hits.
    pub hits: u64,
    /// All runs.
    pub runs: u64,
}

impl Share {
    /// Of runs that were told apart.
    pub fn of(runs: &[bool]) -> Self {
        Self { hits: runs.iter().filter(|&&hit| hit).count() as u64, runs: runs.len() as u64 }
    }

    /// The share itself.
    pub fn estimate(self) -> f64 {
        if self.runs == 0 { f64::NAN } else { self.hits as f64 / self.runs as f64 }
    }

    /// Clopper-Pearson limits that hold together with this confidence, such as 0.99.
    pub fn interval(self, confidence: f64) -> (f64, f64) {
        if self.runs == 0 {
            return (0.0, 1.0);
        }
        let tail = (0.5 * (1.0 - confidence)).clamp(f64::MIN_POSITIVE, 0.5);
        let upper = upper_limit(self.hits, self.runs, tail);
        // The limit on misses is rounded up, so this is rounded down.
        let lower = 1.0 - upper_limit(self.runs - self.hits, self.runs, tail);
        (lower.max(0.0), upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_enclose_the_share() {
        let share = Share { hits: 30, runs: 100 };
        let (lower, upper) = share.interval(0.95);
        // Clopper and Pearson's limits for 30 of 100.
        assert!((lower - 0.212_406).abs() < 1e-5 && (upper - 0.399_811).abs() < 1e-5, "{lower} {upper}");
        assert_eq!(Share { hits: 0, runs: 0 }.interval(0.95), (0.0, 1.0));
        assert_eq!(Share { hits: 5, runs: 5 }.interval(0.95).1, 1.0);
    }
}
