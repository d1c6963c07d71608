//! Formulas as papers print them, where they are no bounds: kept to say what is printed beside what is true. The accountant knows none of them.

mod chebyshev;
pub(crate) mod descent;
pub(crate) mod gossip;
mod sums;
pub(crate) mod utility;
pub(crate) mod walk;

use sottovoce_fault::stop;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::parallel;

use crate::{Result, require};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

/// Columns of a matrix that are computed side by side: they stay in the cache.
const WIDTH: usize = 16;

/// Calls `visit(t, X_t)` for `t` below `steps`, row after row, with `X_0` the given columns of the unit matrix and `X_(t+1) = gamma B X_t + (1 - gamma) X_(t-1)`
/// for `B = (W - centre) / radius`, after a first step without `gamma`. What `visit` makes of them goes on.
fn each_iterate(
    mixing: &Mixing,
    (gamma, centre, radius): (f64, f64, f64),
    columns: &[usize],
    steps: usize,
    mut visit: impl FnMut(usize, &mut [f64]),
) {
    let (n, width) = (mixing.nodes(), columns.len());
    let mut now = vec![0.0; n * width];
    columns.iter().enumerate().for_each(|(i, &w)| now[w * width + i] = 1.0);
    let (mut before, mut mixed) = (vec![0.0; n * width], vec![0.0; n * width]);
    let plain = (gamma, centre, radius) == (1.0, 0.0, 1.0);
    for t in 0..steps {
        stop::look();
        visit(t, &mut now);
        if t + 1 == steps {
            return;
        }
        mixing.apply_block(&now, width, &mut mixed);
        if !plain {
            let gamma = if t == 0 { 1.0 } else { gamma };
            for ((mixed, x), before) in mixed.iter_mut().zip(&now).zip(&before) {
                *mixed = gamma / radius * (*mixed - centre * x) + (1.0 - gamma) * before;
            }
        }
        // What was before is written over next.
        std::mem::swap(&mut before, &mut now);
        std::mem::swap(&mut now, &mut mixed);
    }
}

/// A matrix of `n` columns, column after column, from some of them at a time, row after row: all cores compute them.
fn columns_of(n: usize, columns: impl Fn(&[usize]) -> Vec<f64> + Sync) -> Vec<f64> {
    let block = |i: usize| {
        let which: Vec<usize> = (i * WIDTH..n.min((i + 1) * WIDTH)).collect();
        let found = columns(&which);
        (0..which.len())
            .flat_map(|i| found.iter().skip(i).step_by(which.len()).copied())
            .collect::<Vec<f64>>()
    };
    parallel::map(n.div_ceil(WIDTH), block, |_| ()).concat()
}

fn check_steps(steps: usize) -> Result<()> {
    require(steps != 0, "steps", 0, "give at least one step")
}

/// Refuses observers that do not exist, are nobody or are everybody, and returns them sorted, each once.
fn check_observers(observers: &[usize], nodes: usize) -> Result<Vec<usize>> {
    let mut sorted = observers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if let Some(last) = sorted.last().filter(|last| **last >= nodes) {
        require(false, "observers", last, format!("there are {nodes} peers, from 0"))?;
    }
    let some = !sorted.is_empty() && sorted.len() < nodes;
    require(some, "observers", format_args!("{} of {nodes} peers", sorted.len()), "name some, and not all")?;
    Ok(sorted)
}
