//! What releases on a grid or on a ring cost, in concentrated terms, which a ledger adds up.

use sottovoce::learning::{Against, Noise, Promise};
use sottovoce_privacy::Loss;
use sottovoce_privacy::noise::exact::{DiscreteGaussian, Grid};
use sottovoce_protocol::ring::Ring;
use sottovoce_views::descent::Currency;
use sottovoce_views::grid::{Gridded, Route};

use crate::error::require;
use crate::{Error, Price, Result};

/// Sums of discrete Gaussians differ so little from one that it is covered by a hair of the price.
const APART: f64 = 1e-30;
const HAIR: f64 = 1e-12;
const LEAST: f64 = 1e-14;

/// A private vector that is rounded to a grid, and the noise on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hidden {
    /// The grid.
    pub(crate) grid: Grid,
    /// Numbers of the vector.
    pub(crate) width: usize,
    /// How far what is protected moves it before it is rounded, in the 2-norm.
    pub(crate) sensitivity: f64,
    /// The scale of the noise.
    pub(crate) sigma: f64,
}

impl Hidden {
    /// Refuses noise that cannot be drawn.
    pub(crate) fn check(&self) -> Result<()> {
        let Self { grid, sigma, .. } = self;
        require(*sigma > 0.0 && sigma.is_finite(), "sigma", sigma, "give a positive, finite number")?;
        let remedy = format!("noise of {sigma} has more steps than can be drawn; take a coarser grid");
        require(DiscreteGaussian::at_least(grid.units_of(*sigma)).is_ok(), "grid", grid.step(), remedy)
    }

    /// Of one release, towards whoever sees a share of local privacy's squared loss of it, among so many peers.
    pub(crate) fn rho(&self, route: Route, leak: f64, peers: usize) -> Result<f64> {
        let Self { grid, width, sensitivity, sigma } = *self;
        match (Gridded { grid, width, peers, sensitivity, sigma }).loss(route, leak)? {
            Loss::Zcdp(rho) => Ok(rho),
            other => Err(Error::parameter("loss", format!("{other:?}"), "it has no concentrated price")),
        }
    }

    /// Of one release, towards whoever sees it.
    pub(crate) fn local(&self) -> Result<f64> {
        self.rho(Route::Local, 1.0, 1)
    }
}

/// Of one release under discrete Laplace noise, of integers that what is protected moves by at most `moved` steps in the 1-norm: pure losses are concentrated ones of half
/// their square.
pub(crate) fn laplace(grid: Grid, moved: f64, scale: f64) -> Result<f64> {
    let epsilon = (moved / grid.units_of(scale)).next_up();
    let remedy = "give a positive, finite number";
    require(epsilon > 0.0 && epsilon.is_finite(), "sigma", scale, remedy)?;
    Ok((0.5 * epsilon * epsilon).next_up())
}

/// Of a sum with the shares of a group (`docs/theorems/ring.md`, Theorem 2, in concentrated terms).
pub(crate) fn shares(ring: &Ring, group: Option<usize>, sensitivity: f64) -> Result<f64> {
    let group =
        group.ok_or_else(|| Error::parameter("observer", "oneself", "there is nothing to hide from it"))?;
    let (shares, agreed) = (ring.shares(group as u64)?, ring.agreed());
    let root = ring.moved(sensitivity)?.steps() / shares.sigma();
    let rho = 0.5 * root * root * (1.0 + 2.0 * HAIR);
    let apart = shares.apart() * agreed.width as f64;
    let remedy = "so little noise makes sums differ from what is accounted for; take a finer grid";
    require(apart <= APART && rho >= LEAST, "grid", agreed.step, remedy)?;
    Ok(rho)
}

/// All of these, chosen one after the other on what was seen before: concentrated losses add. Rounded upwards.
pub(crate) fn composed(rhos: impl IntoIterator<Item = f64>) -> Result<Price> {
    let (mut sum, mut count) = (0.0, 1.0);
    for rho in rhos {
        (sum, count) = (sum + rho, count + 1.0);
    }
    Price::concentrated(sum * (1.0 + count * f64::EPSILON))
}

/// What is promised, where noise is to be found for it.
pub(crate) fn promise(noise: &Noise) -> Result<std::result::Result<f64, Promise>> {
    match *noise {
        Noise::Given(sigma, None) => Ok(Ok(sigma)),
        Noise::Given(sigma, Some(_)) => {
            let remedy = format!(
                "epsilon is given as well; give one of them. What may be spent is in node.toml ({sigma} says all here)"
            );
            Err(Error::parameter("sigma", sigma, remedy))
        }
        Noise::Calibrated(Promise { against: Against::MeanPeer, .. }) => {
            let remedy = "a mean over peers is no promise to any of them; give worst-peer or wire-tapper";
            Err(Error::parameter("against", "mean-peer", remedy))
        }
        Noise::Calibrated(promise) => Ok(Err(promise)),
    }
}

/// The noise, in steps, under which a promise is kept whose squared concentrated loss is that of a move of so many steps in all.
pub(crate) fn calibrated(promise: Promise, moved: f64) -> Result<f64> {
    // A little more, since prices are rounded upwards.
    Ok(promise.target.sigma(1.0, Currency::Concentrated)? * moved * (1.0 + 1e-9))
}
