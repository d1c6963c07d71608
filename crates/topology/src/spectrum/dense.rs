//! All eigenvalues of a small matrix, each with a bound on its error that is checked after the fact.
//!
//! `sottovoce-dense` computes `B = V diag(theta) V'`; then the residual `R = B V - V diag(theta)` is formed from the sparse rows.
//! By Kahan's theorem (Parlett, *The Symmetric Eigenvalue Problem*, chapter 11) the sorted `theta` match the sorted
//! eigenvalues one to one within `sqrt(2) |R| / sigma_min(V)`. So here, unlike for an iterative method, it is certain
//! *which* eigenvalue each number is.

use super::form::{EdgeForm, ROUNDING};
use crate::{Error, Result};
use sottovoce_dense::{Eigen, Mat, eigen};

/// Above this order the iterative solver takes over; a full decomposition of 1000 rows takes half a second.
pub(crate) const DENSE_LIMIT: usize = 1000;

/// Eigenvalues in increasing order and one bound on the error of each.
pub(crate) struct DenseSpectrum {
    pub(crate) values: Vec<f64>,
    pub(crate) error_bound: f64,
}

/// Every eigenvalue of `form`.
pub(crate) fn eigenvalues(form: &EdgeForm) -> Result<DenseSpectrum> {
    let n = form.order();
    let mut matrix = Mat::zeros(n, n);
    for u in 0..n {
        for (v, value) in form.entries(u) {
            matrix[(u, v)] = value;
        }
    }
    let (values, vectors) = decompose(&matrix)?;
    let error_bound = error_bound(form, &values, &vectors)?;
    Ok(DenseSpectrum { values, error_bound })
}

/// Eigenvalues in increasing order and orthonormal eigenvectors, as columns, of a symmetric matrix.
pub(crate) fn decompose(matrix: &Mat) -> Result<(Vec<f64>, Mat)> {
    let unsolved =
        || Error::Format(format!("the eigenvalues of a matrix of order {} did not converge", matrix.nrows()));
    let Eigen { values, vectors } = eigen(matrix).ok_or_else(unsolved)?;
    Ok((values, vectors))
}

/// `sqrt(2) |R|_F / sigma_min(V)`, rounding included.
fn error_bound(form: &EdgeForm, values: &[f64], vectors: &Mat) -> Result<f64> {
    let n = values.len();
    let (mut squares, mut residual) = (0.0, vec![0.0; n]);
    for (k, &theta) in values.iter().enumerate() {
        squares += form.residual(vectors.col(k), theta, &mut residual).powi(2);
    }
    let departure = vectors.transpose() * vectors - &Mat::identity(n);
    // Rounding of the product: each entry is a sum of n products of entries of unit columns.
    let departure = departure.norm_l2() + (n * n) as f64 * ROUNDING;
    if !(departure < 0.5 && squares.is_finite()) {
        return Err(Error::Format(format!(
            "the eigenvectors of a matrix of order {n} are not orthogonal to {departure:e}"
        )));
    }
    Ok((2.0 * squares * (1.0 + departure) / (1.0 - departure)).sqrt())
}
