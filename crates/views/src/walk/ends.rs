//! Where the spectrum of a mixing matrix ends, from inside: Lanczos' process from a random start.
//!
//! What it finds is there: an eigenvalue is as close to each value as its residual says. What it does not find may be there as well (of
//! several eigenvectors with one eigenvalue it finds one), so that `probe.rs` has the last word.

use faer::{Mat, Side};
use sottovoce_topology::mixing::Mixing;

/// Steps of the process: enough where polynomials pay.
const STEPS: usize = 72;

/// Most eigenvectors to return.
const MOST_SLOW: usize = 4;

/// How far off a returned eigenvector may be.
const PRECISE: f64 = 1e-11;

/// The ends of the spectrum, the eigenvalue 1 of the constant vector aside.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    pub(super) lowest: f64,
    /// The largest eigenvalues, each once; at least one.
    pub(super) highest: Vec<f64>,
    /// Eigenvectors of the first of these.
    pub(super) slow: Vec<Vec<f64>>,
}

/// `None` where the distance of the largest from 1 is not settled within some percent.
pub(super) fn estimate(mixing: &Mixing) -> Option<Ends> {
    let Process { basis, diagonal, beside } = Process::run(mixing);
    let k = diagonal.len();
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => beside[i.min(j)],
        _ => 0.0,
    };
    let eigen = Mat::from_fn(k, k, entry).self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (eigen.S(), eigen.U());
    let residual = |i: usize| beside[k - 1] * vectors[(k - 1, i)].abs();
    let settled = |i: &usize| residual(*i) <= 0.01 * (1.0 - values[*i]);
    let highest: Vec<f64> = (0..k).rev().take(MOST_SLOW + 1).take_while(settled).map(|i| values[i]).collect();
    let precise = |i: &usize| *i > 0 && residual(*i) <= PRECISE * (values[*i] - values[*i - 1]);
    let vector = |i: usize| combine(&basis, |j| vectors[(j, i)]);
    let known = highest.len().saturating_sub(1);
    let slow = (0..k).rev().take(known).take_while(precise).map(vector).collect();
    (!highest.is_empty()).then_some(Ends { lowest: values[0], highest, slow })
}

/// An orthonormal basis, and the matrix in it: its diagonal, and what is beside it, with one more for the residual.
struct Process {
    basis: Vec<Vec<f64>>,
    diagonal: Vec<f64>,
    beside: Vec<f64>,
}

impl Process {
    fn run(mixing: &Mixing) -> Self {
        let n = mixing.nodes();
        let mut all = Self { basis: Vec::new(), diagonal: Vec::new(), beside: Vec::new() };
        // Not constant, whatever the signs.
        let mut now: Vec<f64> = (0..n).map(|u| sign(u) + u as f64 / n as f64).collect();
        centre(&mut now);
        scale(&mut now);
        for _ in 0..STEPS.min(n - 1) {
            let mut next = vec![0.0; n];
            mixing.apply(&now, &mut next);
            all.diagonal.push(dot(&now, &next));
            all.basis.push(now);
            centre(&mut next);
            for before in all.basis.iter().rev() {
                let part = dot(&next, before);
                subtract(&mut next, part, before);
            }
            let length = scale(&mut next);
            all.beside.push(length);
            if length < 1e-10 {
                // Nothing new: all eigenvalues are there.
                break;
            }
            now = next;
        }
        all
    }
}

fn combine(basis: &[Vec<f64>], coefficient: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; basis[0].len()];
    basis.iter().enumerate().for_each(|(j, vector)| subtract(&mut sum, -coefficient(j), vector));
    scale(&mut sum);
    sum
}

fn subtract(x: &mut [f64], c: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x -= c * y);
}

fn centre(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|x| *x -= mean);
}

/// Scales to length 1 and returns what it was.
fn scale(x: &mut [f64]) -> f64 {
    let length = dot(x, x).sqrt();
    if length > 0.0 {
        x.iter_mut().for_each(|x| *x /= length);
    }
    length
}

/// Eight interleaved sums: a fixed order, and several times faster than a single chain of additions.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (x, y) in x.chunks(8).zip(y.chunks(8)) {
        sums.iter_mut().zip(x).zip(y).for_each(|((sum, x), y)| *sum += x * y);
    }
    sums.iter().sum()
}

/// One of a fixed sequence of random signs (Steele, Lea and Flood's `SplitMix64`).
pub(super) fn sign(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    if (z ^ (z >> 31)) & 1 == 0 { 1.0 } else { -1.0 }
}
