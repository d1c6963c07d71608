//! Parameters that stand for others: a number of nodes for sides, a mean degree for a probability or a radius.

use crate::{Result, require};

/// The whole number whose power is `n`, if there is one.
pub fn root(n: usize, power: u32) -> Option<usize> {
    let near = (n as f64).powf(1.0 / f64::from(power)).round() as usize;
    (power > 0 && near.checked_pow(power) == Some(n)).then_some(near)
}

/// The probability of an edge at which nodes have so many neighbours on average.
pub fn share_of_pairs(nodes: usize, degree: f64) -> Result<f64> {
    let others = nodes.saturating_sub(1);
    require(others != 0, "nodes", nodes, "a mean degree needs at least 2 nodes")?;
    let remedy = format!("give a number above 0 and up to {others}, the number of other nodes");
    require(degree > 0.0 && degree <= others as f64, "mean-degree", degree, remedy)?;
    Ok(degree / others as f64)
}

/// The radius within which a share of the pairs of random points of the unit square lies, found by bisection.
///
/// Two points are within `r <= 1` with probability `pi r² - 8 r³/3 + r⁴/2`; none for shares above 0.975, that of 1.
pub fn radius_reaching(share: f64) -> Option<f64> {
    let within = |r: f64| r * r * (std::f64::consts::PI - r * (8.0 / 3.0 - r / 2.0));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        *(if within(middle) < share { &mut low } else { &mut high }) = middle;
    }
    (share <= within(1.0)).then_some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_whole_or_none() {
        assert_eq!((root(64, 3), root(64, 2), root(64, 1)), (Some(4), Some(8), Some(64)));
        assert_eq!((root(63, 2), root(64, 0), root(0, 2)), (None, None, Some(0)));
        assert_eq!(root(usize::MAX, 2), None);
    }

    #[test]
    fn radii_reach_the_share_asked_for() {
        // pi/4 - 1/3 + 1/32 at r = 1/2.
        let half = radius_reaching(std::f64::consts::FRAC_PI_4 - 1.0 / 3.0 + 1.0 / 32.0);
        assert!(half.is_some_and(|radius| (radius - 0.5).abs() < 1e-12));
        assert_eq!(radius_reaching(0.98), None);
    }
}
