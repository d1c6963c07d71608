//! Eigenvectors of tridiagonal matrices by divide and conquer, after Cuppen, with vectors after Gu and Eisenstat.
//!
//! A matrix is two smaller ones beside each other, plus a multiple of a vector times itself. In the eigenvectors of the two it is a diagonal `D` plus
//! `rho z z'`; its eigenvalues are the roots of `1/rho + Σ z_i² / (d_i - x)`, one between each two neighbours of `D`. Where `z` is next to nothing, or two
//! entries of `D` are next to equal, one pair is known already. The roots found are exact for another `z` nearby, and its vectors are orthogonal.

use fearless_simd::prelude::*;
use rayon::prelude::*;

use crate::eigen::by_ql;
use crate::simd::{Kernel, LANES, fma, go, go_narrow, load, rotate, total};
use crate::tridiagonal::columns;
use crate::{Mat, MatMut};

/// Up to this order QL is quicker.
pub(crate) const LEAF: usize = 32;
/// From this order on, halves are solved side by side.
const LARGE: usize = 192;
/// Roots that are a piece of work.
const GROUP: usize = 32;
/// Steps in which a root must be found.
const STEPS: usize = 120;

/// Eigenvalues in increasing order, and eigenvectors, of a tridiagonal matrix of norm near 1.
pub(crate) fn eigen(diagonal: &[f64], beside: &[f64]) -> Option<(Vec<f64>, Mat)> {
    let n = diagonal.len();
    if n <= LEAF {
        let (mut values, mut vectors) = (diagonal.to_vec(), Mat::identity(n));
        by_ql(&mut values, beside, Some(&mut vectors))?;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
        let sorted = Mat::from_fn(n, n, |i, k| vectors[(i, order[k])]);
        return Some((order.iter().map(|&i| values[i]).collect(), sorted));
    }
    let middle = n / 2;
    let link = beside[middle - 1];
    let (mut upper, mut lower) = (diagonal[..middle].to_vec(), diagonal[middle..].to_vec());
    upper[middle - 1] -= link.abs();
    lower[0] -= link.abs();
    let one = || eigen(&upper, &beside[..middle - 1]);
    let other = || eigen(&lower, &beside[middle..]);
    let (one, other) = if n < LARGE { (one(), other()) } else { rayon::join(one, other) };
    let ((mut values, first), (more, second)) = (one?, other?);
    values.extend(more);
    let last = first.row(middle - 1).chain(second.row(0).map(|x| x * 1_f64.copysign(link)));
    let z = last.map(|x| x * std::f64::consts::FRAC_1_SQRT_2).collect();
    let mut vectors = Mat::zeros(n, n);
    vectors.set(0, 0, &first);
    vectors.set(middle, middle, &second);
    Merge { middle, rho: 2.0 * link.abs(), values, z, vectors, both: vec![false; n] }.solve()
}

/// Two solved matrices, to be one.
struct Merge {
    middle: usize,
    rho: f64,
    values: Vec<f64>,
    z: Vec<f64>,
    vectors: Mat,
    /// Which vectors have entries in both halves.
    both: Vec<bool>,
}

impl Merge {
    fn solve(mut self) -> Option<(Vec<f64>, Mat)> {
        let n = self.values.len();
        let (kept, known) = self.deflate();
        let poles: Vec<f64> = kept.iter().map(|&i| self.values[i]).collect();
        let z: Vec<f64> = kept.iter().map(|&i| self.z[i]).collect();
        let (roots, mut deltas) = roots(&poles, &z, self.rho)?;
        // Upper vectors, those with both halves, and lower ones.
        let kind = |i: usize| match self.both[i] {
            true => 1,
            false if i < self.middle => 0,
            false => 2,
        };
        let mut order: Vec<usize> = (0..kept.len()).collect();
        order.sort_by_key(|&i| kind(kept[i]));
        let count = |wanted: usize| kept.iter().filter(|&&i| kind(i) == wanted).count();
        let (only_upper, only_lower) = (count(0), count(2));
        combine(&poles, &z, &order, &mut deltas)?;
        // The new vectors, among those that were known.
        let root = |k: usize| (roots[k], None);
        let mut all: Vec<(f64, Option<usize>)> = (0..kept.len()).map(root).collect();
        all.extend(known.iter().map(|&i| (self.values[i], Some(i))));
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut out = Mat::zeros(n, n);
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for (column, (_, known)) in columns(&mut out).into_iter().zip(&all) {
            match known {
                Some(i) => column.copy_from_slice(self.vectors.col(*i)),
                None => {
                    let (upper, lower) = column.split_at_mut(self.middle);
                    above.push(upper);
                    below.push(lower);
                }
            }
        }
        let multiply = |from: usize, to: usize, row: usize, columns: Vec<&mut [f64]>| {
            let rows = if row == 0 { self.middle } else { n - self.middle };
            let mut vectors = Vec::with_capacity(rows * (to - from));
            order[from..to].iter().for_each(|&i| vectors.extend(&self.vectors.col(kept[i])[row..row + rows]));
            let vectors = crate::MatRef::from_slice(&vectors, rows, to - from);
            let part = deltas.submatrix(from, 0, to - from, kept.len());
            MatMut { rows, columns }.add_product(1.0, vectors, part);
        };
        multiply(0, kept.len() - only_lower, 0, above);
        multiply(only_upper, kept.len(), self.middle, below);
        Some((all.into_iter().map(|(value, _)| value).collect(), out))
    }

    /// Which eigenpairs are still to be found, by increasing value, and which are known.
    fn deflate(&mut self) -> (Vec<usize>, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&i, &j| self.values[i].total_cmp(&self.values[j]));
        let norm = self.values.iter().fold(self.rho, |most, value| value.abs().max(most));
        let tolerance = 4.0 * f64::EPSILON * norm;
        let (mut kept, mut known): (Vec<usize>, _) = (Vec::new(), Vec::new());
        for i in order {
            if self.rho * self.z[i].abs() <= tolerance {
                known.push(i);
                continue;
            }
            if let Some(&before) = kept.last() {
                let length = self.z[before].hypot(self.z[i]);
                let (c, s) = (self.z[i] / length, self.z[before] / length);
                let gap = self.values[i] - self.values[before];
                if (gap * c * s).abs() <= tolerance {
                    self.turn(before, i, c, s);
                    self.z[i] = length;
                    known.push(before);
                    kept.pop();
                    let (low, high) = (self.values[before], self.values[i]);
                    self.values[before] = low * c * c + high * s * s;
                    self.values[i] = low * s * s + high * c * c;
                }
            }
            kept.push(i);
        }
        (kept, known)
    }

    /// Turns two vectors so that the first has nothing of `z`.
    fn turn(&mut self, before: usize, i: usize, c: f64, s: f64) {
        let n = self.values.len();
        let (lesser, greater) = (before.min(i), before.max(i));
        let (left, right) = self.vectors.as_mut_slice().split_at_mut(greater * n);
        let (left, right) = (&mut left[lesser * n..][..n], &mut right[..n]);
        let upper = |i: usize| i < self.middle;
        let mixed = self.both[before] || self.both[i] || upper(before) != upper(i);
        let range = match mixed {
            true => 0..n,
            false if upper(i) => 0..self.middle,
            false => self.middle..n,
        };
        let (left, right) = (&mut left[range.clone()], &mut right[range]);
        let (x, y) = if before < i { (left, right) } else { (right, left) };
        // `x` is the one before: `(c x - s y, c y + s x)`.
        rotate(x, y, c, -s);
        (self.both[before], self.both[i]) = (mixed, mixed);
    }
}

/// The roots, and for each a column of its distances from the poles, `d_i - x`.
fn roots(poles: &[f64], z: &[f64], rho: f64) -> Option<(Vec<f64>, Mat)> {
    let count = poles.len();
    let squares: Vec<f64> = z.iter().map(|z| z * z).collect();
    let (mut roots, mut deltas) = (vec![0.0; count], Mat::zeros(count, count));
    let mut columns = columns(&mut deltas);
    let work = |(i, (roots, columns)): (usize, (&mut [f64], &mut [&mut [f64]]))| {
        go(Roots { poles, squares: &squares, rho, first: i * GROUP, roots, columns })
    };
    let found = if count < LARGE {
        roots.chunks_mut(GROUP).zip(columns.chunks_mut(GROUP)).enumerate().all(work)
    } else {
        roots.par_chunks_mut(GROUP).zip(columns.par_chunks_mut(GROUP)).enumerate().all(work)
    };
    found.then_some((roots, deltas))
}

/// Some of the roots.
struct Roots<'a, 'c> {
    poles: &'a [f64],
    squares: &'a [f64],
    rho: f64,
    first: usize,
    roots: &'a mut [f64],
    columns: &'a mut [&'c mut [f64]],
}

impl Kernel for Roots<'_, '_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        for (k, (root, delta)) in self.roots.iter_mut().zip(self.columns).enumerate() {
            match find(simd, self.poles, self.squares, self.rho, self.first + k, delta) {
                Some(found) => *root = found,
                None => return false,
            }
        }
        true
    }
}

/// Root `j`, and its distances from the poles.
///
/// The function is interpolated by one with the two poles next to it, whose parts from the left and from the right have the right slopes ("the middle
/// way"). Whatever steps outside of where the root must be is halved instead.
#[inline(always)]
fn find<S: Simd>(
    simd: S,
    poles: &[f64],
    squares: &[f64],
    rho: f64,
    j: usize,
    delta: &mut [f64],
) -> Option<f64> {
    let (count, constant, last) = (poles.len(), 1.0 / rho, j + 1 == poles.len());
    if count == 1 {
        delta[0] = -rho * squares[0];
        return Some(poles[0] - delta[0]);
    }
    let (left, right) = if last { (j - 1, j) } else { (j, j + 1) };
    let gap = match last {
        // A bound on the last root, and something for rounding.
        true => rho * squares.iter().sum::<f64>() * (1.0 + 1e-14),
        false => poles[right] - poles[left],
    };
    let mut shift = poles[j];
    delta.iter_mut().zip(poles).for_each(|(delta, pole)| *delta = pole - shift);
    let (mut low, mut high, mut x) = (0.0, gap, 0.5 * gap);
    for step in 0..STEPS {
        let (psi, mut psi_slope) = sums(simd, &delta[..right], &squares[..right], x);
        let (phi, mut phi_slope) = sums(simd, &delta[right..], &squares[right..], x);
        let value = constant + psi + phi;
        if step == 0 && value < 0.0 && !last {
            // Nearer to the right pole.
            shift = poles[right];
            delta.iter_mut().zip(poles).for_each(|(delta, pole)| *delta = pole - shift);
            (low, high, x) = (-gap, 0.0, -0.5 * gap);
        }
        if value.abs() <= 4.0 * f64::EPSILON * (constant + psi.abs() + phi.abs()) {
            break;
        }
        if value < 0.0 {
            low = x;
        } else {
            high = x;
        }
        let (one, other) = (delta[left] - x, delta[right] - x);
        let mut rest = value - one * psi_slope - other * phi_slope;
        if step == 0 {
            // Far away the two poles alone say more.
            (psi_slope, phi_slope) = (squares[left] / (one * one), squares[right] / (other * other));
            rest = value - one * psi_slope - other * phi_slope;
        }
        let linear = (one + other) * value - one * other * (psi_slope + phi_slope);
        let product = one * other * value;
        let root = (linear * linear - 4.0 * product * rest).abs().sqrt();
        let move_by = match last {
            true if linear >= 0.0 => (linear + root) / (2.0 * rest),
            true => 2.0 * product / (linear - root),
            false if linear <= 0.0 => (linear - root) / (2.0 * rest),
            false => 2.0 * product / (linear + root),
        };
        let mut next = x + move_by;
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        let moved = (next - x).abs();
        x = next;
        if moved <= f64::EPSILON * x.abs() {
            break;
        }
        if step + 1 == STEPS {
            return None;
        }
    }
    delta.iter_mut().for_each(|delta| *delta -= x);
    Some(shift + x)
}

/// `Σ z² / (d - x)` and `Σ z² / (d - x)²`.
#[inline(always)]
fn sums<S: Simd>(simd: S, delta: &[f64], squares: &[f64], x: f64) -> (f64, f64) {
    let ((ds, d_rest), (zs, z_rest)) = (delta.as_chunks::<LANES>(), squares.as_chunks::<LANES>());
    let (one, at) = (simd.splat_f64x8(1.0), simd.splat_f64x8(x));
    let (mut value, mut slope) = (simd.splat_f64x8(0.0), simd.splat_f64x8(0.0));
    for (d, z) in ds.iter().zip(zs) {
        let inverse = one / (load(simd, d) - at);
        let part = load(simd, z) * inverse;
        value += part;
        fma(simd, &mut slope, part, inverse);
    }
    let (mut value, mut slope) = (total(value), total(slope));
    for (d, z) in d_rest.iter().zip(z_rest) {
        let part = z / (d - x);
        value += part;
        slope += part / (d - x);
    }
    (value, slope)
}

/// Makes each column of distances a vector of length one: `z_i / (d_i - x)`, for the `z` of which the roots are exact, in this order.
fn combine(poles: &[f64], z: &[f64], order: &[usize], deltas: &mut Mat) -> Option<()> {
    let count = poles.len();
    let mut exact = vec![1.0; count];
    let piece = |(i, exact): (usize, &mut [f64])| go_narrow(Exact { poles, first: i * GROUP, exact, deltas });
    if count < LARGE {
        exact.chunks_mut(GROUP).enumerate().for_each(piece);
    } else {
        exact.par_chunks_mut(GROUP).enumerate().for_each(piece);
    }
    exact.iter_mut().zip(z).for_each(|(exact, z)| *exact = exact.abs().sqrt().copysign(*z));
    let mut columns = columns(deltas);
    let work = |columns: &mut [&mut [f64]]| go_narrow(Vectors { exact: &exact, order, columns });
    let found = if count < LARGE { work(&mut columns) } else { columns.par_chunks_mut(GROUP).all(work) };
    found.then_some(())
}

/// The squares of `z` by what the roots say, some of them.
struct Exact<'a> {
    poles: &'a [f64],
    first: usize,
    exact: &'a mut [f64],
    deltas: &'a Mat,
}

impl Kernel for Exact<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { poles, first, exact, deltas } = self;
        let own = &poles[first..first + exact.len()];
        for (j, pole) in poles.iter().enumerate() {
            let column = &deltas.col(j)[first..];
            for ((exact, own), delta) in exact.iter_mut().zip(own).zip(column) {
                let gap = own - pole;
                *exact *= delta / if gap == 0.0 { 1.0 } else { gap };
            }
        }
    }
}

/// Some of the vectors.
struct Vectors<'a, 'c> {
    exact: &'a [f64],
    order: &'a [usize],
    columns: &'a mut [&'c mut [f64]],
}

impl Kernel for Vectors<'_, '_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let mut vector = vec![0.0; self.exact.len()];
        for column in self.columns {
            vector.iter_mut().zip(self.exact).zip(&**column).for_each(|((x, z), delta)| *x = z / delta);
            let (chunks, rest) = vector.as_chunks::<LANES>();
            let mut sums = simd.splat_f64x8(0.0);
            for chunk in chunks {
                let chunk = load(simd, chunk);
                fma(simd, &mut sums, chunk, chunk);
            }
            let length = (total(sums) + rest.iter().map(|x| x * x).sum::<f64>()).sqrt();
            if !(length > 0.0 && length.is_finite()) {
                return false;
            }
            column.iter_mut().zip(self.order).for_each(|(x, &i)| *x = vector[i] / length);
        }
        true
    }
}
