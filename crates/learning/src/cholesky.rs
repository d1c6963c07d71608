//! Small symmetric positive definite systems, as fits of a few dozen features pose them.

use crate::linear::dot;

/// Solves `matrix·x = rhs` in place: `rhs` becomes `x`, and of `matrix` (row by row; only its lower half is read) remains its factor.
///
/// `None` where the matrix is not positive definite, or not made of numbers; then `rhs` is of no use.
///
/// # Panics
///
/// If the matrix is not as high and as wide as `rhs` is long.
///
/// ```
/// use sottovoce_learning::cholesky::solve;
/// let (mut matrix, mut x) = (vec![4.0, 0.0, 2.0, 3.0], vec![2.0, 5.0]);
/// assert!(solve(&mut matrix, &mut x).is_some());
/// assert!((x[0] + 0.5).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn solve(matrix: &mut [f64], rhs: &mut [f64]) -> Option<()> {
    let size = rhs.len();
    factor(matrix, size)?;
    for row in 0..size {
        let known = dot(&matrix[row * size..][..row], &rhs[..row]);
        rhs[row] = (rhs[row] - known) / matrix[row * size + row];
    }
    for row in (0..size).rev() {
        rhs[row] /= matrix[row * size + row];
        let value = rhs[row];
        let (before, factors) = (&mut rhs[..row], &matrix[row * size..][..row]);
        before.iter_mut().zip(factors).for_each(|(x, factor)| *x -= factor * value);
    }
    Some(())
}

/// The lower triangular `L` with `L·L^T` the matrix, over its lower half.
fn factor(matrix: &mut [f64], size: usize) -> Option<()> {
    assert_eq!(matrix.len(), size * size, "the matrix is as high and as wide as the right side");
    for row in 0..size {
        let (above, below) = matrix.split_at_mut(row * size);
        let own = &mut below[..=row];
        for column in 0..row {
            let other = &above[column * size..][..=column];
            own[column] = (own[column] - dot(&own[..column], &other[..column])) / other[column];
        }
        let pivot = own[row] - dot(&own[..row], &own[..row]);
        if !(pivot.is_finite() && pivot > 0.0) {
            return None;
        }
        own[row] = pivot.sqrt();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_solve() {
        for size in 1..12usize {
            let entry = |i: usize, j: usize| 1.0 / (1 + i + j) as f64 + if i == j { 0.5 } else { 0.0 };
            let wanted: Vec<f64> = (0..size).map(|i| i as f64 - 2.5).collect();
            let product = |i: usize| (0..size).map(|j| entry(i, j) * wanted[j]).sum();
            let mut x: Vec<f64> = (0..size).map(product).collect();
            let mut matrix: Vec<f64> = (0..size * size).map(|at| entry(at / size, at % size)).collect();
            solve(&mut matrix, &mut x).unwrap();
            assert!(x.iter().zip(&wanted).all(|(x, wanted)| (x - wanted).abs() < 1e-13), "{size}: {x:?}");
        }
    }

    #[test]
    fn what_is_not_definite_is_not_solved() {
        for matrix in [[1.0, 0.0, 2.0, 1.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, f64::NAN, 1.0]] {
            assert!(solve(&mut matrix.clone(), &mut [1.0, 1.0]).is_none());
        }
    }
}
