//! Masks on a ring: which experiments have them, and what their peers agree on.

use std::path::Path;

use sottovoce_privacy::Adversary;
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_protocol::ring::Ring;
use sottovoce_topology::Graph;
use sottovoce_views::ring::{Masked, Masks};

use super::{Against, Averaging, Method, NoiseSpec, Range, keys};
use crate::plan::Sums;
use crate::{Error, Result, require};

/// The largest size of a number in a range.
pub(crate) fn farthest(Range { low, high }: Range) -> f64 {
    let (low, high) = (low.abs(), high.abs());
    if low > high { low } else { high }
}

impl NoiseSpec {
    /// Whether peers share secrets.
    pub fn shares_secrets(&self) -> bool {
        self.cancel.is_some() || self.masks
    }
}

impl Averaging {
    /// Refuses what masks do not go with, and what only they have.
    pub(super) fn check_masks(&self) -> Result<()> {
        let noise = &self.noise;
        if !noise.masks {
            let remedy = "only masks are on a grid; give --masks as well, or leave it out";
            return noise.grid.map_or(Ok(()), |grid| Err(Error::parameter("grid", grid, remedy)));
        }
        if let Some(kappa) = noise.cancel {
            let remedy = "masks are given, and hide all that noise of pairs would; give one of them";
            return Err(Error::parameter("cancel", kappa, remedy));
        }
        let remedy = "masks are on integers, which are added up and never weighed; give --protocol butterfly, or take --cancel KAPPA";
        require(self.protocol.method == Method::Butterfly, "masks", true, remedy)?;
        let remedy = "sums under masks take no noise on messages; leave it out";
        require(noise.relay_noise == 0.0, "relay-noise", noise.relay_noise, remedy)?;
        let remedy = "who goes on without somebody adds up masks that do not cancel; leave it out";
        require(!self.network.lenient, "lenient", true, remedy)?;
        let remedy = "masks hide everybody from everybody alike; give epsilon instead";
        require(self.target.by_distance.is_none(), "within", "given", remedy)?;
        keys::check_colluders(self.adversary.colluders)?;
        noise.grid.map_or(Ok(()), |step| Ok(Grid::new(step).map(drop)?))
    }

    /// The masks, if there are any, with noise as given or the least that the target allows. Names of files begin in the folder.
    pub fn masks(
        &self,
        (folder, graph, seed): (&Path, &Graph, u64),
        sums: Sums,
        tapper: &Adversary,
    ) -> Result<Option<Masks>> {
        if !self.noise.masks {
            return Ok(None);
        }
        let keys = self.noise.keys().graph(folder, graph, seed)?;
        let ring = self.ring(&keys, sums, tapper)?;
        Ok(Some(Masks { keys, ring }))
    }

    /// The ring of these peers.
    pub(crate) fn ring(&self, keys: &Graph, sums: Sums, tapper: &Adversary) -> Result<Ring> {
        let (peers, grid) = (keys.nodes(), self.noise.grid);
        if let Some(sigma) = self.given(sums.sensitivity)? {
            // Whom it hides from is asked now, so that a coalition that cannot be is refused first.
            Masked::towards(keys, tapper)?;
            return sums.ring(peers, sigma, grid);
        }
        let masked = match self.against() {
            Against::WireTapper => Masked::towards(keys, tapper)?,
            Against::WorstPeer => Masked::towards(keys, &Adversary::WireTapperWithAny(1))?,
        };
        sums.calibrated(&masked, peers, grid, (self.target.epsilon(), self.target.delta))
    }
}
