//! Dot products, sums of vectors and norms, on slices: written so that the compiler uses vector instructions.

/// Independent partial sums, so that additions need not wait for each other.
const LANES: usize = 4;

/// `a·b`, over the shorter of the two.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// `to += factor·from`.
#[inline(always)]
pub(crate) fn add_multiple(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// The 1-norm.
#[inline(always)]
pub(crate) fn sum_of_sizes(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x.abs()).sum()
}

/// The 2-norm, also where squares overflow or vanish.
#[inline(always)]
pub(crate) fn norm(vector: &[f64]) -> f64 {
    let square = dot(vector, vector);
    if square > 1e-280 && square < f64::INFINITY { square.sqrt() } else { careful_norm(vector) }
}

#[cold]
fn careful_norm(vector: &[f64]) -> f64 {
    let largest = vector.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let square: f64 = vector.iter().map(|x| (x / largest) * (x / largest)).sum();
    largest * square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_products_of_every_length() {
        for length in 0..20 {
            let a: Vec<f64> = (0..length).map(f64::from).collect();
            let expected: f64 = (0..length).map(|k| f64::from(k * k)).sum();
            assert_eq!(dot(&a, &a), expected);
        }
    }

    #[test]
    fn norms_neither_overflow_nor_vanish() {
        assert_eq!(norm(&[3.0, 4.0]), 5.0);
        assert_eq!(norm(&[]), 0.0);
        assert_eq!(norm(&[0.0, 0.0]), 0.0);
        assert!((norm(&[3e300, 4e300]) / 5e300 - 1.0).abs() < 1e-15);
        assert!((norm(&[3e-300, 4e-300]) / 5e-300 - 1.0).abs() < 1e-15);
    }
}
