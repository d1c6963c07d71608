//! Domains of family parameters, checked before anything is allocated.

use crate::{Error, MOST_NODES, Result, require};

/// Graphs with more edges than this are refused: beyond it a typing error, not a plan, is the likely cause.
/// (Building so many takes some ten gigabytes.)
pub(super) const MOST_EDGES: f64 = 2.5e8;

/// The number of nodes `n` is at least `least`, and within reason.
pub(super) fn nodes(n: usize, least: usize, remedy: &str) -> Result<()> {
    require(n >= least, "n", n, remedy)?;
    require(n <= MOST_NODES, "n", n, format!("give at most {MOST_NODES} nodes"))
}

/// A count is at least `least`.
pub(super) fn at_least(field: &'static str, value: usize, least: usize) -> Result<()> {
    require(value >= least, field, value, format!("give at least {least}"))
}

/// The (expected) number of edges is within reason.
pub(super) fn edges(field: &'static str, value: impl std::fmt::Display, expected: f64) -> Result<()> {
    if expected > MOST_EDGES {
        let remedy = format!("the graph would have more than {MOST_EDGES} edges; choose a smaller one");
        return Err(Error::parameter(field, value, remedy));
    }
    Ok(())
}

/// A probability is a number in `[0, 1]`.
pub(super) fn probability(field: &'static str, p: f64) -> Result<()> {
    // Written so that NaN, which compares as false, is refused.
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(Error::parameter(field, p, "give a probability from 0 to 1"))
}

/// The product of the factors, if it is a possible number of nodes.
pub(super) fn product(field: &'static str, factors: &[usize]) -> Result<usize> {
    let product = factors.iter().try_fold(1usize, |product, &factor| product.checked_mul(factor));
    match product {
        Some(n) if n <= MOST_NODES => Ok(n),
        _ => {
            let value = factors.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            Err(Error::parameter(field, value, format!("give at most {MOST_NODES} nodes in all")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_outside_their_domain_are_refused() {
        for p in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(probability("p", p).unwrap_err().to_string().starts_with(&format!("`p` is {p}")), "{p}");
        }
        probability("p", 0.0).unwrap();
        probability("p", 1.0).unwrap();
    }

    #[test]
    fn overflowing_products_are_refused() {
        assert_eq!(product("sides", &[3, 4, 5]).unwrap(), 60);
        assert!(product("sides", &[1 << 40, 1 << 40]).is_err());
        assert!(product("sides", &[1 << 32]).is_err());
    }
}
