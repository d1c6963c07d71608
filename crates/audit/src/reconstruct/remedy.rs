//! What could be done about it: an edge less at the observers, or fresh noise on every message, and what either costs.

use serde::Serialize;
use sottovoce_fault::decimal::up_value;
use sottovoce_protocol::Peer;
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::door::{Overheard, Setting};
use sottovoce_views::exact::Leakage;

use super::finding::is_exposed;
use super::{Error, Result};

/// Most edges to try.
pub const MOST_EDGES: usize = 64;
/// Relay noise is looked for between these shares of the local noise.
const SHARES: (f64, f64) = (1e-4, 100.0);
/// A loss may exceed a target by this much, which is rounding.
const HAIR: f64 = 1e-9;

/// The edge at an observer whose loss protects most of those who are exposed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edge {
    /// The observer.
    pub observer: Peer,
    /// Its neighbour.
    pub neighbour: Peer,
    /// Peers that are exposed with the edge and not without it.
    pub protected: Vec<Peer>,
    /// Number of peers exposed without it.
    pub exposed: usize,
    /// Mean loss over all peers, with and without it.
    pub mean_loss: (f64, f64),
    /// Noise error (mean square, per coordinate), with and without it.
    pub error: (f64, f64),
}

/// A search for an [`Edge`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EdgeSearch {
    /// Edges between an observer and somebody else.
    pub edges: usize,
    /// How many were looked at (the first [`MOST_EDGES`]).
    pub examined: usize,
    /// How many of them can go: the graph stays connected, and the weights exist.
    pub droppable: usize,
    /// The best, if it helps at all.
    pub best: Option<Edge>,
}

/// Drops each edge at an observer in turn and asks the accountant again. Nothing to drop where there is no fixed graph: none.
pub fn edge(
    setting: &Setting,
    observers: &[Peer],
    weights: Weights,
    lazy: f64,
    sigma: f64,
) -> Result<Option<EdgeSearch>> {
    let Scheme::Gossip { mixing, rounds, accelerated } = &setting.scheme else { return Ok(None) };
    let before = setting.leakage(observers)?;
    let watching = |peer: Peer| before.observers.binary_search(&peer).is_ok();
    let graph = mixing.graph();
    let all: Vec<(Peer, Peer)> = (before.observers.iter())
        .flat_map(|&v| graph.neighbors(v).iter().map(move |&w| (v, w as usize)))
        .filter(|&(_, w)| !watching(w))
        .collect();
    let mut search =
        EdgeSearch { edges: all.len(), examined: all.len().min(MOST_EDGES), droppable: 0, best: None };
    let mut best = (exposed(&before).len(), before.mean());
    for &(observer, neighbour) in all.iter().take(MOST_EDGES) {
        let Some(mixing) = without(graph, observer, neighbour, weights, lazy)? else { continue };
        search.droppable += 1;
        let thinner = Scheme::Gossip { mixing, rounds: *rounds, accelerated: *accelerated };
        let thinner = Setting { scheme: thinner, ..setting.clone() };
        let after = thinner.leakage(&before.observers)?;
        let found = (exposed(&after).len(), after.mean());
        if found.0 < best.0 || (found.0 == best.0 && found.1 < best.1 - 1e-9) {
            best = found;
            let error = (setting.noise_error(sigma)?, thinner.noise_error(sigma)?);
            search.best = Some(improvement(observer, neighbour, &before, &after, error));
        }
    }
    Ok(Some(search))
}

fn improvement(
    observer: Peer,
    neighbour: Peer,
    before: &Leakage,
    after: &Leakage,
    error: (f64, f64),
) -> Edge {
    let still = exposed(after);
    let protected = exposed(before).into_iter().filter(|peer| !still.contains(peer)).collect();
    let mean_loss = (before.mean(), after.mean());
    Edge { observer, neighbour, protected, exposed: still.len(), mean_loss, error }
}

fn exposed(leakage: &Leakage) -> Vec<Peer> {
    (0..leakage.losses.len()).filter(|&peer| is_exposed(leakage.losses[peer])).collect()
}

/// The weights without an edge; none if the graph falls apart or the weights need it.
fn without(graph: &Graph, u: Peer, v: Peer, weights: Weights, lazy: f64) -> Result<Option<Mixing>> {
    let left = graph.edges().filter(|&edge| edge != (u.min(v), u.max(v)));
    let graph = Graph::from_edges(graph.nodes(), left)?;
    if !graph.is_connected() {
        return Ok(None);
    }
    let mixing = Mixing::new(&graph, weights).lazy(lazy)?;
    Ok(mixing.check().is_ok().then_some(mixing))
}

/// The least relay noise that protects everybody who is not next to an observer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelayNoise {
    /// The loss that no such peer should exceed.
    pub target: f64,
    /// Number of such peers.
    pub peers: usize,
    /// Their largest loss as things are.
    pub loss: f64,
    /// Whether that is within the target already.
    pub met: bool,
    /// Relay noise as a share of the local noise: what there is already if that is enough; none if no amount is.
    pub share: Option<f64>,
    /// Their largest loss with it.
    pub loss_after: f64,
    /// Noise error (mean square, per coordinate) as things are, and with it.
    pub error: (f64, f64),
}

/// Finds the least relay noise (to three digits, rounded up) with which nobody two or more hops from the observers loses more
/// than `target`. Loss falls as noise grows, so bisection finds it.
pub fn relay_noise(setting: &Setting, observers: &[Peer], sigma: f64, target: f64) -> Result<RelayNoise> {
    check_target(target)?;
    let present = setting.relay_noise;
    let hops = setting.hops(observers)?;
    let far: Vec<Peer> = (0..hops.len()).filter(|&peer| hops[peer].is_none_or(|hops| hops >= 2)).collect();
    let worst = |share: f64| -> Result<f64> {
        let leakage = Setting { relay_noise: share, ..setting.clone() }.leakage(observers)?;
        Ok(far.iter().map(|&peer| leakage.losses[peer]).fold(0.0, f64::max))
    };
    let loss = worst(present)?;
    let met = loss <= target + HAIR;
    // Second values cannot bear it: it would move the mean of one and not of the other.
    let bearable = !matches!(setting.scheme, Scheme::Coupled { .. });
    let share = match met {
        true => Some(present),
        false if bearable => least(present, target, &worst)?,
        false => None,
    };
    let after = share.unwrap_or(if bearable { SHARES.1 } else { present });
    Ok(RelayNoise {
        target,
        peers: far.len(),
        loss,
        met,
        share,
        loss_after: worst(after)?,
        error: (
            setting.noise_error(sigma)?,
            Setting { relay_noise: after, ..setting.clone() }.noise_error(sigma)?,
        ),
    })
}

/// Refuses a target that is no loss between 0 and 1.
pub fn check_target(target: f64) -> Result<()> {
    if target > 0.0 && target < 1.0 {
        return Ok(());
    }
    Err(Error::parameter("target", target, "give a loss between 0 and 1, such as 0.5"))
}

/// The least share above `present`, in the geometry of ratios.
fn least(present: f64, target: f64, worst: &impl Fn(f64) -> Result<f64>) -> Result<Option<f64>> {
    let (mut low, mut high) = (present.max(SHARES.0), SHARES.1);
    if low >= high || worst(high)? > target {
        return Ok(None);
    }
    while high / low > 1.002 {
        let middle = (low * high).sqrt();
        if worst(middle)? <= target { high = middle } else { low = middle }
    }
    Ok(Some(up_value(high, 3)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    fn ring(n: usize, rounds: usize) -> Scheme {
        let graph = generate(&Family::Ring { n }, 0, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::Metropolis).lazy(1.0 / 3.0).unwrap();
        Scheme::Gossip { mixing, rounds, accelerated: false }
    }

    fn plain(scheme: Scheme) -> Setting {
        Setting::of(scheme)
    }

    #[test]
    fn an_edge_less_halves_what_a_ring_exposes() {
        let search = edge(&plain(ring(12, 5)), &[0], Weights::Metropolis, 1.0 / 3.0, 1.0).unwrap().unwrap();
        assert_eq!((search.edges, search.examined, search.droppable), (2, 2, 2));
        let best = search.best.unwrap();
        // Ten of eleven were exposed, five on either side; a path shows one side only.
        assert_eq!((best.exposed, best.protected.len()), (5, 5));
        assert!(best.error.1 > best.error.0);
    }

    #[test]
    fn bridges_stay_and_uniform_weights_need_their_edges() {
        let path = generate(&Family::Path { n: 4 }, 0, true).unwrap();
        let mixing = Mixing::new(&path, Weights::Metropolis);
        let scheme = Scheme::Gossip { mixing, rounds: 2, accelerated: false };
        let search = edge(&plain(scheme), &[1], Weights::Metropolis, 0.0, 1.0).unwrap().unwrap();
        assert_eq!((search.edges, search.droppable, search.best), (2, 0, None));
        let search = edge(&plain(ring(6, 2)), &[0], Weights::Uniform, 0.5, 1.0).unwrap().unwrap();
        assert_eq!(search.droppable, 0);
        assert_eq!(
            edge(&plain(Scheme::Butterfly { positions: vec![0, 1] }), &[0], Weights::Uniform, 0.0, 1.0)
                .unwrap(),
            None
        );
    }

    #[test]
    fn the_least_relay_noise_suffices_and_a_little_less_does_not() {
        for scheme in [ring(12, 6), Scheme::Butterfly { positions: (0..8).collect() }] {
            let found = relay_noise(&plain(scheme.clone()), &[0], 2.0, 0.2).unwrap();
            let share = found.share.unwrap();
            let worst = |share: f64| {
                let losses =
                    Setting { relay_noise: share, ..plain(scheme.clone()) }.leakage(&[0]).unwrap().losses;
                let hops = plain(scheme.clone()).hops(&[0]).unwrap();
                (0..losses.len()).filter(|&u| hops[u] >= Some(2)).map(|u| losses[u]).fold(0.0, f64::max)
            };
            assert!(worst(share) <= 0.2 && found.loss_after == worst(share));
            assert!(found.met || worst(0.99 * share) > 0.2, "{found:?}");
        }
    }

    #[test]
    fn rounding_is_no_reason_for_noise() {
        // Those two hops from peer 0 lose exactly one half to it, but for the last digits.
        let six = Scheme::Butterfly { positions: (0..6).collect() };
        let found = relay_noise(&plain(six), &[0], 1.0, 0.5).unwrap();
        assert!(found.met && found.share == Some(0.0) && found.error.0 == found.error.1, "{found:?}");
    }

    #[test]
    fn the_price_by_powers_is_the_price_by_tracing() {
        for (scheme, share) in [(ring(12, 6), 0.0), (ring(9, 4), 0.3)] {
            let setting = Setting { relay_noise: share, ..plain(scheme) };
            let (powers, traced) = (setting.noise_error(2.0).unwrap(), 4.0 * setting.traced_noise().unwrap());
            assert!((powers / traced - 1.0).abs() < 1e-12, "{powers} {traced}");
        }
    }

    #[test]
    fn targets_outside_their_range_are_refused() {
        for target in [0.0, 1.0, -0.1, f64::NAN] {
            let error = relay_noise(&plain(ring(6, 2)), &[0], 1.0, target).unwrap_err().to_string();
            assert!(error.contains("`target` is"), "{error}");
        }
    }
}
