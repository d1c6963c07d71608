//! Dense matrices of doubles: products, factors, symmetric eigenvalues and singular values.
//!
//! Every result has the same bits on any number of threads, and with registers of any width: the order of each sum is fixed by the sizes alone.
//! Large products and decompositions use all threads of the current `rayon` pool.
//!
//! | | how |
//! | --- | --- |
//! | products | packed blocks, tiles of 16 rows and 12 columns; few columns or rows are not packed |
//! | [`cholesky`], [`Lu`] | recursive, by products |
//! | [`eigen`] | Householder tridiagonalisation by blocks, divide and conquer, back-transformation by blocks |
//! | [`eigenvalues`] | the same, then implicit QL without vectors |
//! | [`thin_svd`] | one-sided Jacobi rotations, after the eigenvectors of the Gram matrix |

mod divide;
mod eigen;
mod factor;
mod mat;
mod product;
mod simd;
mod svd;
mod triangular;
mod tridiagonal;

pub use eigen::{Eigen, eigen, eigenvalues};
pub use factor::{Lu, cholesky, solve_cholesky};
pub use mat::{Mat, MatMut, MatRef};
pub use svd::{Svd, thin_svd};
pub use triangular::solve_lower;

/// Work, in multiplications, that is worth a second thread.
const WORTH: usize = 1 << 20;

#[cfg(test)]
mod tests;
