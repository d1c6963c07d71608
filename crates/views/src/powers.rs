//! Columns of the powers of a mixing matrix, a few at a time, so that a block stays in the cache through all steps.

use sottovoce_topology::mixing::Mixing;

/// Columns per block: 64 of them and a step's worth of their neighbours stay in the second-level cache up to some thousand nodes.
pub(crate) const WIDTH: usize = 32;

/// Calls `visit(t, X)` for `t` below `steps` with `X = W^t` restricted to the given columns, row after row.
pub(crate) fn each_power(
    mixing: &Mixing,
    columns: &[usize],
    steps: usize,
    mut visit: impl FnMut(usize, &[f64]),
) {
    let (n, width) = (mixing.nodes(), columns.len());
    let mut now = vec![0.0; n * width];
    let mut next = vec![0.0; n * width];
    columns.iter().enumerate().for_each(|(i, &w)| now[w * width + i] = 1.0);
    for t in 0..steps {
        visit(t, &now);
        if t + 1 < steps {
            mixing.apply_block(&now, width, &mut next);
            std::mem::swap(&mut now, &mut next);
        }
    }
}

/// Squared length of each of the `width` columns of `x`.
pub(crate) fn squared_lengths(x: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for row in x.chunks_exact(width) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
    }
    sums
}
