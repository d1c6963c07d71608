//! What can be wrong with a question about views. Every message names the field, the value and the remedy.

use sottovoce_fault::Parameter;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A parameter is outside its domain.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// The graph or its weights are not what the computation needs.
    #[error(transparent)]
    Topology(#[from] sottovoce_topology::Error),
    /// The protocol cannot be run as described.
    #[error(transparent)]
    Protocol(#[from] sottovoce_protocol::Error),
    /// A privacy parameter is outside its domain.
    #[error(transparent)]
    Privacy(#[from] sottovoce_privacy::Error),
}

sottovoce_fault::names_parameters!(Error, Topology, Protocol, Privacy);

/// Refuses a run without steps.
pub(crate) fn check_steps(steps: usize) -> Result<()> {
    if steps == 0 { Err(Error::parameter("steps", 0, "give at least one step")) } else { Ok(()) }
}

/// Refuses observers that do not exist, are nobody or are everybody, and returns them sorted, each once.
pub(crate) fn check_observers(observers: &[usize], nodes: usize) -> Result<Vec<usize>> {
    let sorted = check_peers(observers, nodes)?;
    if sorted.is_empty() {
        return Err(Error::parameter("observers", "empty", "name at least one peer"));
    }
    if sorted.len() == nodes {
        let remedy = "then nobody is left whose loss could be stated; leave one out";
        return Err(Error::parameter("observers", format!("all {nodes} peers"), remedy));
    }
    Ok(sorted)
}

/// Refuses peers that do not exist; returns those whose results are known sorted, each once.
pub(crate) fn check_published(published: &[usize], nodes: usize) -> Result<Vec<usize>> {
    check_peers(published, nodes)
}

pub(crate) fn check_peers(peers: &[usize], nodes: usize) -> Result<Vec<usize>> {
    let mut sorted = peers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    match sorted.last() {
        Some(&last) if last >= nodes => {
            let remedy = format!("there are {nodes} peers, numbered from 0 to {}", nodes.saturating_sub(1));
            Err(Error::parameter("observers", last, remedy))
        }
        _ => Ok(sorted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_at_fault_is_read_through_all_layers() {
        let error = Error::from(sottovoce_topology::Error::parameter("n", 0, "give at least 1"));
        let fault = error.at_fault().unwrap();
        assert_eq!((fault.field, &*fault.value, &*fault.remedy), ("n", "0", "give at least 1"));
        assert_eq!(error.to_string(), "`n` is 0: give at least 1");
        let error = Error::from(sottovoce_topology::Error::Format("not a graph".into()));
        assert_eq!(error.at_fault(), None);
    }
}
