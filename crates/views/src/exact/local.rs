//! What always holds, whatever was sent: a peer loses no more than its own noise lets through.

use super::Leakage;
use crate::Result;
use crate::error::check_observers;

/// No amplification: everyone but the observers loses 1. For runs that cannot be traced.
pub fn local(nodes: usize, observers: &[usize]) -> Result<Leakage> {
    let observers = check_observers(observers, nodes)?;
    let loss = |u| f64::from(u8::from(observers.binary_search(&u).is_err()));
    let losses = (0..nodes).map(loss).collect();
    Ok(Leakage { observers, losses, rank: None, ambiguous: 0 })
}
