//! Columns of the powers of a mixing matrix, a few at a time, so that a block stays in the cache through all steps.
//!
//! The work is bound by the second-level cache: per step and peer it reads one line for each neighbour and writes one. Widths
//! are fixed so that a line is one or two vector registers, whatever the processor (`pulp` picks the instructions at run
//! time).

use std::cell::RefCell;

use sottovoce_topology::mixing::Mixing;

use crate::parallel::fill;

/// Columns per block: one cache line.
pub(crate) const WIDTH: usize = 16;

/// A row of a block.
pub(crate) type Row = [f64; WIDTH];

thread_local! {
    /// Blocks to use again: the allocator would hand each back to the system, and all threads would wait for that.
    static SPARE: RefCell<Vec<Vec<Row>>> = const { RefCell::new(Vec::new()) };
}

/// A block of zeros.
fn zeros(nodes: usize) -> Vec<Row> {
    let mut block = used(nodes);
    block.fill([0.0; WIDTH]);
    block
}

/// A block of whatever it was last used for.
fn used(nodes: usize) -> Vec<Row> {
    let mut block = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
    block.resize(nodes, [0.0; WIDTH]);
    block
}

/// Keeps a block for the next who asks this thread for one.
fn spare(block: Vec<Row>) {
    SPARE.with_borrow_mut(|spare| spare.push(block));
}

/// Calls `visit(t, X_t)` for `t` below `steps`, row after row, with `X_0` the given columns of the unit matrix (at most [`WIDTH`]; the rest are zero) and
/// `X_(t+1) = gamma W X_t + (1 - gamma) X_(t-1)`, after a first step without `gamma`: powers where it is 1.
pub(crate) fn each_iterate(
    mixing: &Mixing,
    gamma: f64,
    columns: &[usize],
    steps: usize,
    mut visit: impl FnMut(usize, &[Row]),
) {
    let mut now = zeros(mixing.nodes());
    // What came before, and is replaced by what comes after.
    let mut other = zeros(mixing.nodes());
    columns.iter().enumerate().for_each(|(i, &w)| now[w][i] = 1.0);
    let arch = pulp::Arch::new();
    for t in 0..steps {
        sottovoce_fault::stop::look();
        visit(t, &now);
        if t + 1 < steps {
            let gamma = if t == 0 { 1.0 } else { gamma };
            arch.dispatch(Mix { mixing, gamma, x: &now, first: 0, out: &mut other });
            std::mem::swap(&mut now, &mut other);
        }
    }
    spare(now);
    spare(other);
}

/// Peers that are worth a thread of their own.
const PIECE: usize = 1 << 13;

/// `W` times each of the columns, which are stored one after the other; a few at a time, side by side.
pub(crate) fn apply_columns(mixing: &Mixing, columns: &[f64]) -> Vec<f64> {
    let n = mixing.nodes();
    let mut out = vec![0.0; columns.len()];
    let (mut block, mut mixed) = (used(n), used(n));
    let arch = pulp::Arch::new();
    for (from, to) in columns.chunks(WIDTH * n).zip(out.chunks_mut(WIDTH * n)) {
        fill(&mut block, PIECE, |i, rows| side_by_side(from, n, i * PIECE, rows));
        let x = &*block;
        fill(&mut mixed, PIECE, |i, out| arch.dispatch(Mix { mixing, gamma: 1.0, x, first: i * PIECE, out }));
        fill(to, 4 * n, |i, columns| transpose_group(&mixed, 4 * i, columns));
    }
    spare(block);
    spare(mixed);
    out
}

/// Writes up to [`WIDTH`] columns of `n` numbers side by side, four at a time, from row `first` on; what is beside them stays as it was.
fn side_by_side(columns: &[f64], n: usize, first: usize, rows: &mut [Row]) {
    for (i, group) in columns.chunks(4 * n.max(1)).enumerate() {
        let columns: Vec<&[f64]> = group.chunks_exact(n.max(1)).map(|column| &column[first..]).collect();
        if let [a, b, c, d] = columns[..] {
            for ((((row, a), b), c), d) in rows.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                row[4 * i..4 * i + 4].copy_from_slice(&[*a, *b, *c, *d]);
            }
        } else {
            for (j, column) in columns.into_iter().enumerate() {
                rows.iter_mut().zip(column).for_each(|(row, x)| row[4 * i + j] = *x);
            }
        }
    }
}

/// Writes up to four columns one after the other, from `first` on.
fn transpose_group(rows: &[Row], first: usize, group: &mut [f64]) {
    let mut columns: Vec<&mut [f64]> = group.chunks_exact_mut(rows.len().max(1)).collect();
    if let [a, b, c, d] = &mut columns[..] {
        for ((((row, a), b), c), d) in
            rows.iter().zip(a.iter_mut()).zip(b.iter_mut()).zip(c.iter_mut()).zip(d.iter_mut())
        {
            (*a, *b, *c, *d) = (row[first], row[first + 1], row[first + 2], row[first + 3]);
        }
    } else {
        for (j, column) in columns.into_iter().enumerate() {
            column.iter_mut().zip(rows).for_each(|(slot, row)| *slot = row[first + j]);
        }
    }
}

/// `out = gamma W x + (1 - gamma) out`. A type of its own rather than a closure, which would not be inlined where the wide
/// instructions are.
struct Mix<'a> {
    mixing: &'a Mixing,
    gamma: f64,
    x: &'a [Row],
    /// The first row of `out`.
    first: usize,
    out: &'a mut [Row],
}

impl pulp::WithSimd for Mix<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        mix(self.mixing, self.gamma, self.x, self.first, self.out);
    }
}

#[inline(always)]
fn mix(mixing: &Mixing, gamma: f64, x: &[Row], first: usize, out: &mut [Row]) {
    let (offsets, neighbours) = mixing.graph().rows();
    for (u, out) in (first..).zip(out) {
        let own = mixing.diagonal()[u];
        let mut sum = x[u].map(|x| own * x);
        let range = offsets[u]..offsets[u + 1];
        for (&v, &weight) in neighbours[range.clone()].iter().zip(&mixing.weights()[range]) {
            let other = &x[v as usize];
            for i in 0..WIDTH {
                sum[i] += weight * other[i];
            }
        }
        if gamma == 1.0 {
            *out = sum;
        } else {
            for i in 0..WIDTH {
                out[i] = gamma * sum[i] + (1.0 - gamma) * out[i];
            }
        }
    }
}

/// Squared length of each column.
#[inline(always)]
pub(crate) fn squared_lengths(x: &[Row]) -> Row {
    let mut sums = [0.0; WIDTH];
    for row in x {
        for i in 0..WIDTH {
            sums[i] += row[i] * row[i];
        }
    }
    sums
}
