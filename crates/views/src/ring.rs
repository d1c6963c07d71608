//! What is learnt where masks on a ring cancel (`docs/theorems/ring.md`).
//!
//! Someone who sees every message and holds the secrets of a coalition learns the sum of every group of honest peers whom secrets connect, under the shares of
//! noise of that group, and nothing else: neither a value, nor the sum of a part. So a peer is as well hidden as its group is large.

use sottovoce_privacy::{Adjacency, Adversary, Guarantee, Loss, Standing, Unit, limits};
use sottovoce_protocol::ring::Ring;
use sottovoce_topology::Graph;

use crate::cancelling::Honest;
use crate::error::check_peers;
use crate::{Error, Result};

/// The groups of honest peers that a coalition leaves.
///
/// ```
/// use sottovoce_protocol::ring::Ring;
/// use sottovoce_topology::family::{Family, generate};
/// use sottovoce_views::ring::Masked;
/// let keys = generate(&Family::Complete { n: 64 }, 0, true)?;
/// let masked = Masked::from(&keys, &[0, 1, 2, 3, 4, 5])?;
/// assert_eq!(masked.group(6), Some(58));
/// // Values that one person moves by 1; each peer's share of the noise is 0.15, and that of 58 together 1.14.
/// let ring = Ring::fitting(64, 1, 1.0, 0.15)?;
/// let epsilon = masked.guarantee(6, &ring, 1.0, 1, 1e-5)?.epsilon(1e-5)?.upper;
/// assert!((3.7..3.8).contains(&epsilon), "{epsilon}"); // as a trusted server with noise of 1.14
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// In increasing order.
    coalition: Vec<usize>,
    /// The size of each peer's group; none for the coalition.
    groups: Vec<Option<usize>>,
}

impl Masked {
    /// What is left of the graph of secrets without a coalition, which may be empty.
    pub fn from(keys: &Graph, coalition: &[usize]) -> Result<Self> {
        let coalition = check_peers(coalition, keys.nodes())?;
        let honest = Honest::new(keys, coalition.clone());
        let groups = honest.group.iter().map(|group| group.map(|group| honest.sizes[group])).collect();
        Ok(Self { coalition, groups })
    }

    /// How many honest peers hide this one, itself included; none for a member of the coalition.
    pub fn group(&self, peer: usize) -> Option<usize> {
        self.groups.get(peer).copied().flatten()
    }

    /// Who is alone: the coalition holds all its secrets, and nothing but its own share of the noise is left.
    pub fn alone(&self) -> Vec<usize> {
        (0..self.groups.len()).filter(|&peer| self.groups[peer] == Some(1)).collect()
    }

    /// The honest peer with the smallest group, and its size; none if nobody is honest.
    pub fn worst(&self) -> Option<(usize, usize)> {
        let sizes = self.groups.iter().enumerate().filter_map(|(peer, size)| Some((peer, (*size)?)));
        sizes.min_by_key(|&(peer, size)| (size, peer))
    }

    /// What a peer is promised, at `delta`, who releases so often values that one person moves by at most `sensitivity`. Refused for those who are alone, whom
    /// masks do not hide: [`Self::local`] tells what is left to them.
    pub fn guarantee(
        &self,
        peer: usize,
        ring: &Ring,
        sensitivity: f64,
        releases: u64,
        delta: f64,
    ) -> Result<Guarantee> {
        match self.group(peer) {
            None => {
                Err(Error::parameter("peer", peer, "it is no honest peer of this run; ask for one that is"))
            }
            Some(1) => {
                let value = if self.coalition.is_empty() { "nobody".into() } else { listed(&self.coalition) };
                let remedy = format!(
                    "peer {peer} shares no secret with an honest peer then, and its own share of the noise is all that hides it; give it further secrets, or ask for its local loss"
                );
                Err(Error::parameter("observers", value, remedy))
            }
            Some(size) => self.promise(size, ring, sensitivity, releases, delta),
        }
    }

    /// What a peer is promised whatever the others do: by its own share alone.
    pub fn local(&self, ring: &Ring, sensitivity: f64, releases: u64, delta: f64) -> Result<Guarantee> {
        self.promise(1, ring, sensitivity, releases, delta)
    }

    fn promise(
        &self,
        size: usize,
        ring: &Ring,
        sensitivity: f64,
        releases: u64,
        delta: f64,
    ) -> Result<Guarantee> {
        // A hair less, so that it can be told at this delta, whatever is rounded then.
        let delta = delta * (1.0 - 1e-9);
        let epsilon = ring.shares(size as u64)?.epsilon(ring.moved(sensitivity)?, releases, delta)?;
        let adversary = match &self.coalition[..] {
            [] => Adversary::WireTapper,
            several => Adversary::WireTapperWith(several.to_vec()),
        };
        // Peers who lie spoil the sum and learn nothing more; lost messages take something away; what is published is a part of what is seen; noise is exact.
        let not_covered = [
            limits::TIMING,
            limits::TUNING,
            limits::REPETITION,
            limits::CORRELATION,
            limits::BOUNDS,
            limits::SECRETS,
        ];
        Ok(Guarantee {
            adversary,
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss: Loss::approximate(epsilon, delta)?,
            standing: Standing::Proven,
            not_covered: limits::list(&not_covered),
        })
    }
}

fn listed(peers: &[usize]) -> String {
    peers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_privacy::Gdp;

    /// Two triangles that only peer 3 connects, and a pair.
    fn keys() -> Graph {
        let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (4, 6), (7, 8)];
        Graph::from_edges(9, edges).unwrap()
    }

    #[test]
    fn groups_are_what_a_coalition_leaves() {
        let masked = Masked::from(&keys(), &[]).unwrap();
        assert_eq!((masked.group(0), masked.group(7), masked.worst()), (Some(7), Some(2), Some((7, 2))));
        let masked = Masked::from(&keys(), &[8, 3, 3]).unwrap();
        assert_eq!((masked.group(0), masked.group(3), masked.alone()), (Some(3), None, vec![7]));
        assert_eq!((masked.worst(), masked.group(99)), (Some((7, 1)), None));
        assert!(Masked::from(&keys(), &[9]).is_err());
        assert_eq!(Masked::from(&keys(), &(0..9).collect::<Vec<_>>()).unwrap().worst(), None);
    }

    #[test]
    fn a_group_loses_what_a_trusted_server_with_its_noise_does() {
        let ring = Ring::fitting(9, 1, 1.0, 0.5).unwrap();
        let masked = Masked::from(&keys(), &[3]).unwrap();
        let epsilon = |guarantee: Guarantee| guarantee.epsilon(1e-5).unwrap().upper;
        let found = epsilon(masked.guarantee(0, &ring, 1.0, 1, 1e-5).unwrap());
        let server = Gdp::of_release(1.0, 0.5 * 3f64.sqrt()).unwrap().epsilon(1e-5).unwrap().upper;
        assert!(found > server && found < 1.01 * server, "{found} {server}");
        let local = epsilon(masked.local(&ring, 1.0, 1, 1e-5).unwrap());
        assert!(local > 1.5 * found);
        let often = epsilon(masked.guarantee(0, &ring, 1.0, 4, 1e-5).unwrap());
        let server = Gdp::of_release(2.0, 0.5 * 3f64.sqrt()).unwrap().epsilon(1e-5).unwrap().upper;
        assert!(often > server && often < 1.01 * server, "{often} {server}");
    }

    #[test]
    fn those_who_are_cut_off_are_named() {
        let ring = Ring::fitting(9, 1, 1.0, 0.5).unwrap();
        let masked = Masked::from(&keys(), &[8]).unwrap();
        let error = masked.guarantee(7, &ring, 1.0, 1, 1e-5).unwrap_err().to_string();
        assert!(error.starts_with("`observers` is 8: peer 7 shares no secret"), "{error}");
        assert!(masked.guarantee(8, &ring, 1.0, 1, 1e-5).is_err());
        assert!(masked.guarantee(0, &ring, f64::NAN, 1, 1e-5).is_err());
        let text = masked.guarantee(0, &ring, 1.0, 1, 1e-5).unwrap().state(1e-5).unwrap();
        assert!(text.contains("holds the secrets of peers 8") && text.contains("proven"), "{text}");
    }
}
