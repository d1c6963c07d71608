//! Formulas as papers print them, where they are no bounds: kept to say what is printed beside what is true. The accountant knows none of them.

mod chebyshev;
pub(crate) mod descent;
pub(crate) mod gossip;
mod sums;
pub(crate) mod utility;
pub(crate) mod walk;

use sottovoce_dense::Mat;
use sottovoce_fault::stop;
use sottovoce_topology::mixing::Mixing;

use crate::{Result, require};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

/// Calls `visit(t, x_t)` for `t` below `steps` with `x_0` a column of the unit matrix, and `x_(t+1) = W x_t`. With the centre and the radius of an interval
/// it is Chebyshev's polynomials, `x_(t+1) = 2 B x_t - x_(t-1)` for `B = (W - centre) / radius`, after a first step `B x_0`. What `visit` makes of them goes on.
fn each_iterate(
    mixing: &Mixing,
    interval: Option<(f64, f64)>,
    column: usize,
    steps: usize,
    mut visit: impl FnMut(usize, &mut Mat),
) {
    // What is done to matrices is compiled with optimisation, and this crate is not.
    let zeros = || Mat::zeros(mixing.nodes(), 1);
    let (mut now, mut before) = (zeros(), zeros());
    now[(column, 0)] = 1.0;
    for t in 0..steps {
        stop::look();
        visit(t, &mut now);
        let mut next = zeros();
        mixing.apply(now.as_slice(), next.as_mut_slice());
        if let Some((centre, radius)) = interval {
            let (mixed, factor) = (next, if t == 0 { 1.0 } else { 2.0 } / radius);
            next = zeros();
            next.add_scaled(factor, &mixed);
            next.add_scaled(-factor * centre, &now);
            next.add_scaled(if t == 0 { 0.0 } else { -1.0 }, &before);
        }
        before = std::mem::replace(&mut now, next);
    }
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
