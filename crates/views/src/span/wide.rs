//! Numbers of any size: a double times a power of two.

/// `fraction * 2^exponent`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wide(f64, i64);

impl Wide {
    pub(crate) const ZERO: Self = Self(0.0, i64::MIN / 4);

    pub(crate) fn new(fraction: f64, exponent: i64) -> Self {
        Self(fraction, exponent).normal()
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 + other.1).normal()
    }

    pub(crate) fn over(self, other: Self) -> Self {
        Self(self.0 / other.0, self.1 - other.1).normal()
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (large, small) = if self.1 >= other.1 || other.0 == 0.0 { (self, other) } else { (other, self) };
        if large.0 == 0.0 {
            return small;
        }
        let gap = large.1 - small.1;
        let scaled = if gap > 1000 { 0.0 } else { small.0 * 2_f64.powi(-(gap as i32)) };
        Self(large.0 + scaled, large.1).normal()
    }

    pub(crate) fn negated(self) -> Self {
        Self(-self.0, self.1)
    }

    pub(crate) fn log2(self) -> f64 {
        self.0.abs().log2() + self.1 as f64
    }

    fn normal(self) -> Self {
        if self.0 == 0.0 {
            return Self::ZERO;
        }
        if !self.0.is_finite() {
            return self;
        }
        let exponent = i64::from(self.0.abs().log2().floor() as i32);
        Self(self.0 * 2_f64.powi(-(exponent as i32)), self.1 + exponent)
    }
}
