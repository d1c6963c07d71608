//! A number that the smallest eigenvalue of a Laplacian, constants left out, is not below: by the power method from a random start.
//!
//! Let `B = c I - L` with `c` twice the largest degree: no eigenvalue of `B` is negative, and the largest beside those of the constants is `m = c - gap`.
//! After `k` products the quotient `x'Bx/x'x` is below `(1 - e) m` only if the start `b` has next to nothing of that eigenvector: with
//! probability at most `sqrt(n t)`, where `t = (1 - e)^(2k+1) / ((2k+1) e)` (`docs/theorems/cancelling.md`, Lemma 2). `k` makes that `2^-61`, as
//! likely as two residues that agree by chance.

use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};

use super::honest::Honest;

/// By how much the quotient may fall short, relatively.
const SHORT: f64 = 1.0 / 8.0;

/// The logarithm of the chance, squared.
const CHANCE: f64 = -2.0 * 61.0 * std::f64::consts::LN_2;

/// No eigenvalue of the Laplacian of the honest peers' secrets is below this, but for one chance in `2^61`, and but for those of constants on groups.
pub(super) fn at_least(honest: &Honest<'_>) -> f64 {
    let nodes = honest.group.len();
    let Some(degree) =
        (0..nodes).filter(|&v| honest.group[v].is_some()).map(|v| honest.others(v).count()).max()
    else {
        return 0.0;
    };
    let c = 2.0 * degree as f64;
    let mut x = vec![0.0; nodes];
    SimulatedNoise::new(0, 0, 0).fill(ContinuousLaw::STANDARD, &mut x);
    let mut image = vec![0.0; nodes];
    let mut quotient = c;
    for _ in 0..products(nodes as f64) {
        centre(honest, &mut x);
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length.is_nan() || length <= 0.0 {
            // Everybody is alone: there are only constants.
            return c;
        }
        x.iter_mut().for_each(|x| *x /= length);
        multiply(honest, c, &x, &mut image);
        quotient = x.iter().zip(&image).map(|(x, y)| x * y).sum();
        std::mem::swap(&mut x, &mut image);
    }
    let found = c - quotient / (1.0 - SHORT) - 1e-9 * c;
    if found > 0.0 { found } else { 0.0 }
}

/// The least `k` for which the chance is small enough.
fn products(nodes: f64) -> usize {
    let enough = |k: &usize| {
        let powers = 2.0 * *k as f64 + 1.0;
        powers * (1.0 - SHORT).ln() - powers.ln() - SHORT.ln() + nodes.ln() <= CHANCE
    };
    (1..).find(enough).unwrap_or(usize::MAX)
}

/// Takes the mean of every group out, and all of those who attack.
fn centre(honest: &Honest<'_>, x: &mut [f64]) {
    let mut sums = vec![0.0; honest.sizes.len()];
    for (x, group) in x.iter().zip(&honest.group) {
        group.iter().for_each(|&group| sums[group] += x);
    }
    for (x, group) in x.iter_mut().zip(&honest.group) {
        *x = group.map_or(0.0, |group| *x - sums[group] / honest.sizes[group] as f64);
    }
}

fn multiply(honest: &Honest<'_>, c: f64, x: &[f64], out: &mut [f64]) {
    for (v, out) in out.iter_mut().enumerate() {
        *out = match honest.group[v] {
            Some(_) => c * x[v] - honest.others(v).map(|w| x[v] - x[w]).sum::<f64>(),
            None => 0.0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    #[test]
    fn gaps_are_not_overstated_and_not_forgotten() {
        for (family, gap) in [
            (Family::Complete { n: 12 }, 12.0),
            (Family::Ring { n: 6 }, 1.0),
            (Family::Hypercube { dimension: 4 }, 2.0),
        ] {
            let keys = generate(&family, 0, true).unwrap();
            let found = at_least(&Honest::new(&keys, Vec::new()));
            assert!(found <= gap && found >= gap - 0.15 * 2.0 * keys.degree(0) as f64, "{family:?} {found}");
        }
        // Two groups: both count, and constants on either are no gap.
        let keys = sottovoce_topology::Graph::from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
            .unwrap();
        let found = at_least(&Honest::new(&keys, Vec::new()));
        assert!(found > 2.0 && found <= 3.0, "{found}");
    }
}
