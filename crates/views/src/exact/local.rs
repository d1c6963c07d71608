//! What always holds, whatever was sent: a peer loses no more than its own noise lets through.

use super::Leakage;
use crate::Result;
use crate::error::check_observers;

/// No amplification: everyone but the observers loses 1. For runs that cannot be traced.
pub fn local(nodes: usize, observers: &[usize]) -> Result<Leakage> {
    Ok(Leakage::local(check_observers(observers, nodes)?, nodes))
}
