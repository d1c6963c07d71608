//! Columns of the powers of a mixing matrix, a few at a time, so that a block stays in the cache through all steps.
//!
//! The work is bound by the second-level cache: per step and peer it reads one line for each neighbour and writes one. Widths
//! are fixed so that a line is one or two vector registers, whatever the processor (`pulp` picks the instructions at run
//! time).

use sottovoce_topology::mixing::Mixing;

/// Columns per block: one cache line.
pub(crate) const WIDTH: usize = 8;

/// A row of a block.
pub(crate) type Row = [f64; WIDTH];

/// Calls `visit(t, X)` for `t` below `steps` with `X = W^t` restricted to the given columns (at most [`WIDTH`]; the rest are
/// zero), row after row.
pub(crate) fn each_power(
    mixing: &Mixing,
    columns: &[usize],
    steps: usize,
    mut visit: impl FnMut(usize, &[Row]),
) {
    let mut now = vec![[0.0; WIDTH]; mixing.nodes()];
    let mut next = now.clone();
    columns.iter().enumerate().for_each(|(i, &w)| now[w][i] = 1.0);
    let arch = pulp::Arch::new();
    for t in 0..steps {
        arch.dispatch(|| visit(t, &now));
        if t + 1 < steps {
            arch.dispatch(|| mix(mixing, &now, &mut next));
            std::mem::swap(&mut now, &mut next);
        }
    }
}

#[inline(always)]
fn mix(mixing: &Mixing, x: &[Row], out: &mut [Row]) {
    let (offsets, neighbours) = mixing.graph().rows();
    for (u, out) in out.iter_mut().enumerate() {
        let own = mixing.diagonal()[u];
        let mut sum = x[u].map(|x| own * x);
        let range = offsets[u]..offsets[u + 1];
        for (&v, &weight) in neighbours[range.clone()].iter().zip(&mixing.weights()[range]) {
            let other = &x[v as usize];
            for i in 0..WIDTH {
                sum[i] += weight * other[i];
            }
        }
        *out = sum;
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
