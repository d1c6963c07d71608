//! The smallest eigenvalue of a large form, by a Lanczos process with restarts and, where that is slow, a
//! preconditioner.
//!
//! A basis is kept orthonormal by full Gram-Schmidt passes. Each step adds one direction: the residual of the best
//! vector so far, which is the next Lanczos vector, or the approximate inverse ([`Factor`]) applied to it, which
//! turns the process into the generalised Davidson method. A full basis is condensed to its best Ritz vectors ("thick
//! restart"). Plain steps are enough for graphs that mix well; rings and grids, whose small eigenvalues crowd at 0,
//! need the factor.
//!
//! What is certain: the returned value is the Rayleigh quotient of a vector orthogonal to the constants, so the
//! eigenvalue sought is *not larger*; and some eigenvalue is within the residual of it. What is not: that no smaller
//! one was missed. For that the fixed random start would have to be orthogonal to its eigenvector by accident; tests
//! compare with closed forms and with the dense solver.
//!
//! It looks for one eigenvalue, from a random start, with restarts. The Krylov spaces of what observers hear (crate `views`) are another
//! matter: the whole space from a given start, with the number of new directions known in advance, and no eigenvalue.

use super::dense::decompose;
use super::factor::Factor;
use super::form::EdgeForm;
use crate::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sottovoce_dense::Mat;

/// The residual aimed at, relative to the eigenvalue.
const RELATIVE: f64 = 1e-9;
/// A residual above this fraction of the eigenvalue is a failure, not an answer.
const ACCEPTABLE: f64 = 1e-3;
/// Vectors in a full basis, and how many a restart keeps.
const BASIS: usize = 36;
const KEPT: usize = 12;
/// After so many plain steps the factor is built, if the value is below this fraction of the norm: where eigenvalues
/// are not small, the inverse separates them no better than the form itself.
const PLAIN_STEPS: usize = 40;
const SMALL: f64 = 0.02;
/// Plain steps from one look at the residual to the next.
const CHECK_EVERY: usize = 4;
/// So long the full accuracy is insisted on; then the goal is relaxed tenfold every hundred steps, up to the
/// acceptable. Only edges of dense bands that are not near 0 take that long, such as `lambda_n` of a long ring of
/// cliques, whose gap is `lambda_2`'s.
const PATIENCE: usize = 300;
const MAX_STEPS: usize = 900;
const SEED: u64 = 0x5077_0002;

/// An eigenvalue estimate with a bound on its distance to the nearest eigenvalue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ritz {
    pub(crate) value: f64,
    pub(crate) error_bound: f64,
}

/// The smallest eigenvalue of `form`, on the complement of the constants if it is a Laplacian.
///
/// The caller adds `offset` to the value, so the residual need only be small relative to the sum.
pub(crate) fn smallest(form: &EdgeForm, offset: f64) -> Result<Ritz> {
    let norm = form.norm();
    let goal = |value: f64, factor: f64| (factor * (value + offset)).max(8.0 * f64::EPSILON * norm);
    let mut search = Search::new(form);
    let mut factor = None;
    let mut direction = search.random();
    for step in 0..MAX_STEPS {
        sottovoce_fault::stop::look();
        let image = search.extend(direction);
        if factor.is_none() && step % CHECK_EVERY != 0 && search.basis.len() < BASIS && !search.is_complete()
        {
            // Spans the same space as the residual, which is dearer to form.
            direction = image;
            continue;
        }
        let (ritz, residual) = search.best()?;
        let relative = RELATIVE * 10f64.powi((step.max(PATIENCE) - PATIENCE) as i32 / 100);
        if ritz.error_bound <= goal(ritz.value, relative) || search.is_complete() {
            break;
        }
        if step == PLAIN_STEPS && ritz.value < SMALL * norm {
            factor = Some(Factor::new(form));
        }
        direction = factor.as_ref().map_or_else(|| residual.clone(), |factor| factor.solve(&residual));
        if search.basis.len() == BASIS {
            search.restart();
        }
    }
    let ritz = search.refined()?;
    if ritz.error_bound <= goal(ritz.value, ACCEPTABLE) { Ok(ritz) } else { Err(unresolved(form, ritz)) }
}

fn unresolved(form: &EdgeForm, ritz: Ritz) -> Error {
    let remedy = format!(
        "its spectral gap could not be certified (best estimate {:e}, residual {:e}); use a graph of at most {} nodes, or \
         weights of similar sizes",
        ritz.value,
        ritz.error_bound,
        super::dense::DENSE_LIMIT
    );
    Error::parameter("graph", format!("{} nodes", form.order()), remedy)
}

/// The state of the process: the basis, the form projected on it, and the source of random directions.
struct Search<'a> {
    form: &'a EdgeForm,
    basis: Vec<Vec<f64>>,
    projected: Vec<Vec<f64>>,
    /// The Ritz pairs of the last projection, best first: values, and vectors as columns.
    pairs: Option<(Vec<f64>, Mat)>,
    rng: ChaCha8Rng,
}

impl<'a> Search<'a> {
    fn new(form: &'a EdgeForm) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(SEED);
        Self { form, basis: Vec::new(), projected: Vec::new(), pairs: None, rng }
    }

    fn random(&mut self) -> Vec<f64> {
        (0..self.form.order()).map(|_| self.rng.random::<f64>() - 0.5).collect()
    }

    /// Whether the basis spans everything, so that the projection is the form itself.
    fn is_complete(&self) -> bool {
        let constants = usize::from(self.form.sign() < 0.0);
        self.basis.len() + constants >= self.form.order()
    }

    /// Adds a direction to the basis; one that is already spanned (a breakdown) is replaced by a random one. Returns
    /// its image.
    fn extend(&mut self, mut direction: Vec<f64>) -> Vec<f64> {
        while !self.orthonormalise(&mut direction) {
            direction = self.random();
        }
        let mut image = vec![0.0; direction.len()];
        self.form.apply(&direction, &mut image);
        self.basis.push(direction);
        self.projected.push(project(&self.basis, &image));
        image
    }

    /// Gram-Schmidt, repeated while it cancels much ("twice is enough"); false if next to nothing is left.
    fn orthonormalise(&self, x: &mut [f64]) -> bool {
        let mut left = 1.0;
        while normalise(x) && left > 1e-10 {
            if self.form.sign() < 0.0 {
                let mean = x.iter().sum::<f64>() / x.len() as f64;
                x.iter_mut().for_each(|x| *x -= mean);
            }
            let coefficients: Vec<f64> = project(&self.basis, x).iter().map(|c| -c).collect();
            accumulate(x, &self.basis, &coefficients);
            let length = dot(x, x).sqrt();
            if length > 0.7 {
                return normalise(x);
            }
            left *= length;
        }
        false
    }

    /// The best Ritz value with its bound, and the residual vector.
    fn best(&mut self) -> Result<(Ritz, Vec<f64>)> {
        let k = self.basis.len();
        let matrix = Mat::from_fn(k, k, |i, j| self.projected[i.max(j)][i.min(j)]);
        let (values, vectors) = decompose(&matrix)?;
        let value = values[0];
        let vector = self.combine(&vectors, 0);
        self.pairs = Some((values, vectors));
        let mut residual = vec![0.0; vector.len()];
        let error_bound = self.form.residual(&vector, value, &mut residual);
        Ok((Ritz { value, error_bound }, residual))
    }

    /// The best pair with its value computed edge by edge, which keeps the digits of a value far below the norm.
    fn refined(&mut self) -> Result<Ritz> {
        self.best()?;
        let vector = self.pairs.as_ref().map(|(_, vectors)| self.combine(vectors, 0)).unwrap_or_default();
        let value = self.form.quotient(&vector);
        let error_bound = self.form.residual(&vector, value, &mut vec![0.0; vector.len()]);
        Ok(Ritz { value, error_bound })
    }

    fn combine(&self, coefficients: &Mat, column: usize) -> Vec<f64> {
        let mut sum = vec![0.0; self.form.order()];
        accumulate(&mut sum, &self.basis, coefficients.col(column));
        sum
    }

    /// Condenses the basis to the best Ritz vectors, on which the projection is diagonal.
    fn restart(&mut self) {
        let Some((values, vectors)) = self.pairs.take() else { return };
        self.basis = (0..KEPT).map(|k| self.combine(&vectors, k)).collect();
        self.projected =
            (0..KEPT).map(|k| (0..=k).map(|j| if j == k { values[k] } else { 0.0 }).collect()).collect();
    }
}

/// Eight interleaved sums: a fixed order, and several times faster than a single chain of additions.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in xs.zip(ys) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Entries handled at once, so that the vector stays in the first-level cache while the basis streams past.
const BLOCK: usize = 2048;

/// The inner products of `x` with each basis vector.
fn project(basis: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; basis.len()];
    for (block, x) in x.chunks(BLOCK).enumerate() {
        for (sum, v) in sums.iter_mut().zip(basis) {
            *sum += dot(&v[block * BLOCK..][..x.len()], x);
        }
    }
    sums
}

/// Adds a combination of the basis vectors to `x`.
fn accumulate(x: &mut [f64], basis: &[Vec<f64>], coefficients: &[f64]) {
    for (block, x) in x.chunks_mut(BLOCK).enumerate() {
        for (c, v) in coefficients.iter().zip(basis) {
            x.iter_mut().zip(&v[block * BLOCK..]).for_each(|(x, v)| *x += c * v);
        }
    }
}

/// Scales to length 1; false for a vector that has no direction.
fn normalise(x: &mut [f64]) -> bool {
    let length = dot(x, x).sqrt();
    x.iter_mut().for_each(|x| *x /= length);
    length > f64::MIN_POSITIVE && length.is_finite()
}
