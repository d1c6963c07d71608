//! What is learnt where masks on a ring cancel (`docs/theorems/ring.md`).
//!
//! Someone who sees every message and holds the secrets of a coalition learns the sum of every group of honest peers whom secrets connect, under the shares of
//! noise of that group, and nothing else: neither a value, nor the sum of a part. So a peer is as well hidden as its group is large.

mod any;

use sottovoce_privacy::{Adjacency, Adversary, Guarantee, Loss, Standing, Unit, limits};
use sottovoce_protocol::ring::Ring;
use sottovoce_topology::Graph;

use crate::cancelling::Honest;
use crate::error::check_peers;
use crate::exact::Leakage;
use crate::{Error, Result};

/// The groups of honest peers that a coalition leaves.
pub fn groups(keys: &Graph, coalition: &[usize]) -> Result<Vec<Vec<usize>>> {
    let honest = Honest::new(keys, check_peers(coalition, keys.nodes())?);
    let mut groups = vec![Vec::new(); honest.sizes.len()];
    for (peer, group) in honest.group.iter().enumerate() {
        group.iter().for_each(|&group| groups[group].push(peer));
    }
    Ok(groups)
}

/// Masks on a ring, all that is public of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Masks {
    /// Who shares a secret with whom.
    pub keys: Graph,
    /// What was agreed on.
    pub ring: Ring,
}

impl Masks {
    /// How far one person moves what enters a sum, in the values' units: rounding may move it further than the value.
    pub fn moved(&self, sensitivity: f64) -> Result<f64> {
        Ok(self.ring.moved(sensitivity)?.steps() * self.ring.agreed().step)
    }
}

/// The groups of honest peers that an adversary leaves.
///
/// ```
/// use sottovoce_privacy::Adversary;
/// use sottovoce_protocol::ring::Ring;
/// use sottovoce_topology::family::{Family, generate};
/// use sottovoce_views::ring::Masked;
/// let keys = generate(&Family::Complete { n: 64 }, 0, true)?;
/// let masked = Masked::towards(&keys, &Adversary::WireTapperWithAny(6))?;
/// assert_eq!(masked.group(6), Some(58));
/// // Values that one person moves by 1; each peer's share of the noise is 0.15, and that of 58 together 1.14.
/// let ring = Ring::fitting(64, 1, 1.0, 0.15)?;
/// let epsilon = masked.guarantee(6, &ring, 1.0, 1)?.epsilon(1e-5)?.upper;
/// assert!((3.7..3.8).contains(&epsilon), "{epsilon}"); // as a trusted server with noise of 1.14
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Masked {
    adversary: Adversary,
    /// Those named, in increasing order.
    coalition: Vec<usize>,
    /// The size of each peer's group; none for the coalition.
    groups: Vec<Option<usize>>,
    exact: bool,
}

impl Masked {
    /// What is left of the graph of secrets without those who help: nobody, these, or any so many. Peers who hear only their own messages are given all of them,
    /// which is a bound.
    pub fn towards(keys: &Graph, adversary: &Adversary) -> Result<Self> {
        let (coalition, sees_all) = match adversary {
            Adversary::WireTapper => (Vec::new(), true),
            Adversary::WireTapperWith(several) => (several.clone(), true),
            Adversary::Peer(one) => (vec![*one], false),
            Adversary::Coalition(several) => (several.clone(), false),
            Adversary::WireTapperWithAny(colluders) => {
                let (sizes, exact) = any::groups(keys, *colluders)?;
                let groups = sizes.into_iter().map(Some).collect();
                return Ok(Self { adversary: adversary.clone(), coalition: Vec::new(), groups, exact });
            }
            Adversary::ResultHolder => {
                let remedy = "ask for a peer, a coalition or the wire-tapper";
                return Err(Error::parameter("adversary", "whoever holds the result", remedy));
            }
        };
        let coalition = check_peers(&coalition, keys.nodes())?;
        let honest = Honest::new(keys, coalition.clone());
        let groups = honest.group.iter().map(|group| group.map(|group| honest.sizes[group])).collect();
        Ok(Self { adversary: adversary.clone(), coalition, groups, exact: sees_all })
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

    /// Whether the sizes are what they are, and not bounds from below.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The variance of a peer's own share over that of its group's: what it loses, in units of local DP.
    pub fn leakage(&self) -> Leakage {
        let loss = |group: &Option<usize>| group.map_or(0.0, |size| 1.0 / size as f64);
        Leakage {
            observers: self.coalition.clone(),
            losses: self.groups.iter().map(loss).collect(),
            rank: None,
            certified: self.exact,
            rounding: 0.0,
        }
    }

    /// What a peer is promised who releases so often values that one person moves by at most `sensitivity`. Who is alone has its own share of noise and no more:
    /// that is local privacy.
    pub fn guarantee(&self, peer: usize, ring: &Ring, sensitivity: f64, releases: u64) -> Result<Guarantee> {
        let Some(size) = self.group(peer) else {
            let remedy = "it is no honest peer of this run; ask for one that is";
            return Err(Error::parameter("peer", peer, remedy));
        };
        let loss =
            Loss::Shared { shares: ring.shares(size as u64)?, moved: ring.moved(sensitivity)?, releases };
        loss.check()?;
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
            adversary: self.adversary.clone(),
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss,
            standing: Standing::Proven,
            not_covered: limits::list(&not_covered),
        })
    }
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

    fn towards(coalition: &[usize]) -> Result<Masked> {
        Masked::towards(&keys(), &Adversary::WireTapperWith(coalition.to_vec()))
    }

    #[test]
    fn groups_are_what_a_coalition_leaves() {
        let masked = towards(&[]).unwrap();
        assert_eq!((masked.group(0), masked.group(7), masked.worst()), (Some(7), Some(2), Some((7, 2))));
        let masked = towards(&[8, 3, 3]).unwrap();
        assert_eq!((masked.group(0), masked.group(3), masked.alone()), (Some(3), None, vec![7]));
        assert_eq!((masked.worst(), masked.group(99)), (Some((7, 1)), None));
        assert!(towards(&[9]).is_err());
        assert_eq!(towards(&(0..9).collect::<Vec<_>>()).unwrap().worst(), None);
    }

    #[test]
    fn a_group_loses_what_a_trusted_server_with_its_noise_does() {
        let ring = Ring::fitting(9, 1, 1.0, 0.5).unwrap();
        let masked = towards(&[3]).unwrap();
        let epsilon = |guarantee: Guarantee| guarantee.epsilon(1e-5).unwrap().upper;
        let found = epsilon(masked.guarantee(0, &ring, 1.0, 1).unwrap());
        let server = Gdp::of_release(1.0, 0.5 * 3f64.sqrt()).unwrap().epsilon(1e-5).unwrap().upper;
        assert!(found > server && found < 1.01 * server, "{found} {server}");
        let local = epsilon(towards(&[8]).unwrap().guarantee(7, &ring, 1.0, 1).unwrap());
        assert!(local > 1.5 * found);
        let often = epsilon(masked.guarantee(0, &ring, 1.0, 4).unwrap());
        let server = Gdp::of_release(2.0, 0.5 * 3f64.sqrt()).unwrap().epsilon(1e-5).unwrap().upper;
        assert!(often > server && often < 1.01 * server, "{often} {server}");
    }

    #[test]
    fn those_who_are_cut_off_have_their_own_share() {
        let ring = Ring::fitting(9, 1, 1.0, 0.5).unwrap();
        let masked = towards(&[8]).unwrap();
        assert_eq!(masked.alone(), [7]);
        let own = masked.guarantee(7, &ring, 1.0, 1).unwrap().epsilon(1e-5).unwrap().upper;
        let local = Gdp::of_release(1.0, 0.5).unwrap().epsilon(1e-5).unwrap().upper;
        assert!(own > local && own < 1.01 * local, "{own} {local}");
        assert!(masked.guarantee(8, &ring, 1.0, 1).is_err() && masked.guarantee(9, &ring, 1.0, 1).is_err());
        assert!(masked.guarantee(0, &ring, f64::NAN, 1).is_err());
        assert!(masked.guarantee(0, &ring, 1.0, 0).is_err());
        let text = masked.guarantee(0, &ring, 1.0, 1).unwrap().state(1e-5).unwrap();
        assert!(text.contains("holds the secrets of peers 8") && text.contains("proven"), "{text}");
        assert!(Masked::towards(&keys(), &Adversary::ResultHolder).is_err());
        assert!(!Masked::towards(&keys(), &Adversary::Peer(0)).unwrap().is_exact());
    }
}
