//! Dot products, sums of vectors and norms, on slices: written so that the compiler uses vector instructions. Numbers may be stored in 32 bits; they are
//! widened, which is exact, before anything is computed.

/// Independent partial sums, so that additions need not wait for each other.
pub(crate) const LANES: usize = 4;

/// `a·b`, over the shorter of the two.
#[inline(always)]
pub(crate) fn dot<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane].into() * b[lane].into();
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(&a, &b)| a.into() * b.into()).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// `to += factor·from`.
#[inline(always)]
pub(crate) fn add_multiple<F: Copy + Into<f64>>(to: &mut [f64], factor: f64, from: &[F]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += factor * from.into();
    }
}

/// The 1-norm.
#[inline(always)]
pub(crate) fn sum_of_sizes<F: Copy + Into<f64>>(vector: &[F]) -> f64 {
    vector.iter().map(|&x| x.into().abs()).sum()
}

/// The 2-norm, also where squares overflow or vanish.
#[inline(always)]
pub(crate) fn norm<F: Copy + Into<f64>>(vector: &[F]) -> f64 {
    let square = dot(vector, vector);
    if square > 1e-280 && square < f64::INFINITY { square.sqrt() } else { careful_norm(vector) }
}

#[cold]
fn careful_norm<F: Copy + Into<f64>>(vector: &[F]) -> f64 {
    let numbers = || vector.iter().map(|&x| x.into());
    // What is no number has no length, whatever stands beside it.
    let larger = |largest: f64, x: f64| if x.abs() > largest || x.is_nan() { x.abs() } else { largest };
    let largest = numbers().fold(0.0, larger);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let square: f64 = numbers().map(|x| (x / largest) * (x / largest)).sum();
    largest * square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_has_no_length() {
        for other in [0.0, 1e-200, 1.0, 1e200, f64::INFINITY] {
            for vector in [[f64::NAN, other], [other, f64::NAN], [f64::NAN; 2]] {
                assert!(norm(&vector).is_nan(), "{vector:?}");
            }
        }
    }

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
        assert_eq!(norm::<f64>(&[]), 0.0);
        assert_eq!(norm(&[0.0, 0.0]), 0.0);
        assert!((norm(&[3e300, 4e300]) / 5e300 - 1.0).abs() < 1e-15);
        assert!((norm(&[3e-300, 4e-300]) / 5e-300 - 1.0).abs() < 1e-15);
    }
}
