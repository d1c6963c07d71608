//! Sums on a ring: integers modulo a power of two, under masks that cancel (`docs/theorems/ring.md`).
//!
//! ```text
//! value      clipped to a public range, rounded to a public grid                       Ring::encode
//! + share    of discrete Gaussian noise, exact                                         Cover
//! ± masks    of all pairs that share a secret: uniform words, the same at both ends    Cover
//! ─────────────────────────────────────────────────────────────────────────────
//! what a peer first sends: uniform to everybody else. Sums of all are sums of values and shares, bit for bit.
//! ```
//!
//! It is one more thing that an [`Averager`](crate::averaging::Averager) computes with: [`Residues`] are its values, [`Cover`] its noise, and its plans are
//! those whose weights are whole, [`Butterfly::sums`](crate::averaging::Butterfly::sums) and [`Tree`](crate::averaging::Tree).
//!
//! Whether sums fit is checked beforehand, from public numbers, and never on values: a peer that looked at its value would tell something of it. Should a sum
//! leave the ring, it is wrong by the modulus; nothing more is revealed.

mod cover;
mod residues;

pub use cover::{Cover, Reused};
pub use residues::Residues;

use sottovoce_privacy::noise::exact::{DiscreteGaussian, Grid};
use sottovoce_privacy::{Error, Moved, Result, Shares};

/// How likely a sum may leave the ring at most.
pub const RARE: f64 = 1e-12;

/// Shares of noise, and what one person moves, have at least so many grid steps where the grid can be chosen.
const FINE: f64 = 1024.0;

/// What all peers agree on beforehand. Nothing of it may depend on private values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreed {
    /// Number of peers.
    pub peers: usize,
    /// Numbers in a value.
    pub width: usize,
    /// Values are clipped to `-range..=range` in every coordinate.
    pub range: f64,
    /// Each peer's share of the noise: the parameter `sigma` of a discrete Gaussian, in the values' units.
    pub sigma: f64,
    /// The step of the grid: a power of two.
    pub step: f64,
    /// The ring is that of the integers modulo `2^bits`.
    pub bits: u32,
}

/// A ring on which the sums of all peers fit.
///
/// ```
/// use sottovoce_protocol::ring::{Agreed, Ring};
/// let ring = Ring::fitting(64, 1, 1.0, 0.25)?;
/// assert_eq!(ring.agreed(), &Agreed { peers: 64, width: 1, range: 1.0, sigma: 0.25, step: 1.0 / 4096.0, bits: 20 });
/// assert_eq!(ring.decode(&ring.encode(&[-0.5])?), [-0.5]);
/// let error = Ring::new(Agreed { bits: 16, ..*ring.agreed() }).unwrap_err().to_string();
/// assert!(error.starts_with("`bits` is 16: 64 peers with values up to 1 in steps of 0.000244140625 need 20"), "{error}");
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ring {
    agreed: Agreed,
    grid: Grid,
    share: DiscreteGaussian,
    /// The largest size of a value, in steps.
    reach: i64,
}

impl Ring {
    /// Refuses what cannot be agreed on, and a ring that is too small, with the bits that are needed.
    pub fn new(agreed: Agreed) -> Result<Self> {
        let Agreed { peers, width, range, sigma, step, bits } = agreed;
        require(peers > 0, "peers", peers, "give at least one")?;
        require(width > 0, "width", width, "give at least one number to each peer")?;
        require(
            range > 0.0 && range.is_finite(),
            "range",
            range,
            "give a positive, finite bound on all values",
        )?;
        let grid = Grid::new(step)?;
        let share = DiscreteGaussian::at_least(grid.units_of(sigma));
        let remedy = "noise of this size cannot be counted in such steps; take another";
        let share = share
            .map_err(|error| if sigma > 0.0 { Error::parameter("grid", step, remedy) } else { error })?;
        let remedy = format!("values up to {range} have too many of these steps; take a coarser grid");
        let reach = grid.round(&[range]).map_err(|_| Error::parameter("grid", step, remedy))?[0];
        let ring = Self { agreed, grid, share, reach };
        let needed = (1..=64).find(|&bits| ring.chance(bits) <= RARE);
        let case = format!("{peers} peers with values up to {range} in steps of {step}");
        let Some(needed) = needed else {
            return Err(Error::parameter(
                "grid",
                step,
                format!("{case} need more than 64 bits; take a coarser grid"),
            ));
        };
        require(
            (needed..=64).contains(&bits),
            "bits",
            bits,
            format!("{case} need {needed}; give at least so many, and 64 at most"),
        )?;
        Ok(ring)
    }

    /// The smallest ring on a grid that is fine for the noise: see [`Self::step`].
    pub fn fitting(peers: usize, width: usize, range: f64, sigma: f64) -> Result<Self> {
        require(sigma > 0.0 && sigma.is_finite(), "sigma", sigma, "give a positive, finite number")?;
        Self::smallest(Agreed { peers, width, range, sigma, step: Self::step(peers, sigma, sigma), bits: 64 })
    }

    /// The smallest ring on a grid that was agreed on. Its bits are chosen here.
    pub fn smallest(agreed: Agreed) -> Result<Self> {
        let most = Self::new(Agreed { bits: 64, ..agreed })?;
        // The last is enough: it was just accepted.
        let bits = (1..64).find(|&bits| most.chance(bits) <= RARE).unwrap_or(64);
        Ok(Self { agreed: Agreed { bits, ..most.agreed }, ..most })
    }

    /// The step of a grid on which rounding costs next to nothing: a thousandth of a share of noise and of what one person can move in a coordinate, coarser only
    /// where the noise of very many is counted in steps.
    pub fn step(peers: usize, sigma: f64, moved: f64) -> f64 {
        let fine = power_of_two(if sigma < moved { sigma } else { moved } / FINE);
        // The losses of single integers are listed up to a hundred thousand steps of the whole noise.
        let most = 5e4 / (peers as f64).sqrt();
        let coarse = power_of_two(sigma / if most < 4.0 { 4.0 } else { most });
        if fine < coarse { coarse } else { fine }
    }

    /// What was agreed on.
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// A bound, from public numbers, on the probability that a sum of everybody's values and shares leaves the ring, in any coordinate.
    pub fn wraps(&self) -> f64 {
        self.chance(self.agreed.bits)
    }

    /// `2 width exp(-room²/(2 peers sigma²))`: a discrete Gaussian's moments are no larger than a Gaussian's.
    fn chance(&self, bits: u32) -> f64 {
        let (peers, width) = (self.agreed.peers as f64, self.agreed.width as f64);
        let room = (1_i128 << (bits - 1)) - 1 - self.agreed.peers as i128 * i128::from(self.reach);
        if room <= 0 {
            return 1.0;
        }
        let room = (room as f64).next_down();
        let bound = 2.0
            * width
            * (-room * room / (2.0 * peers * self.share.variance().to_f64())).exp()
            * (1.0 + 1e-9);
        if bound < 1.0 { bound } else { 1.0 }
    }

    /// The law of a share, in steps of the grid.
    pub fn share(&self) -> &DiscreteGaussian {
        &self.share
    }

    /// The noise of so many shares, for the accountant: never more than there is.
    pub fn shares(&self, count: u64) -> Result<Shares> {
        Shares::new(self.share.variance().to_f64().sqrt().next_down(), count)
    }

    /// The variance of a share, in the values' units, from above.
    pub fn variance(&self) -> f64 {
        self.share.variance().to_f64() * self.agreed.step.powi(2)
    }

    /// A number as it enters a sum.
    pub fn rounded(&self, value: f64) -> Result<f64> {
        let clipped = value.clamp(-self.agreed.range, self.agreed.range);
        Ok(self.grid.value(self.grid.round(&[clipped])?[0]))
    }

    /// How far someone moves a sum who moves one value by at most `sensitivity`, in the 2-norm: rounding moves it further.
    pub fn moved(&self, sensitivity: f64) -> Result<Moved> {
        let width = self.agreed.width;
        Moved::vector(self.grid.l2_sensitivity(sensitivity, width)?, width)
    }

    /// A value on the ring: clipped, rounded, and not hidden yet.
    pub fn encode(&self, value: &[f64]) -> Result<Residues> {
        let (width, range) = (self.agreed.width, self.agreed.range);
        require(
            value.len() == width,
            "values",
            format_args!("{} numbers", value.len()),
            format!("give {width} to each peer"),
        )?;
        let clipped: Vec<f64> = value.iter().map(|x| x.clamp(-range, range)).collect();
        Ok(Residues::new(self.grid.round(&clipped)?, self.agreed.bits))
    }

    /// What a sum stands for, if it did not leave the ring.
    pub fn decode(&self, sum: &Residues) -> Vec<f64> {
        sum.centred().map(|steps| self.grid.value(steps)).collect()
    }

    /// The mean of all peers, from their sum.
    pub fn mean(&self, sum: &Residues) -> Vec<f64> {
        self.decode(sum).into_iter().map(|x| x / self.agreed.peers as f64).collect()
    }
}

/// The largest power of two that is not above.
fn power_of_two(x: f64) -> f64 {
    f64::from_bits(x.to_bits() >> 52 << 52)
}

fn require(
    holds: bool,
    field: &'static str,
    value: impl std::fmt::Display,
    remedy: impl Into<String>,
) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::parameter(field, value, remedy)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agreed() -> Agreed {
        Agreed { peers: 10, width: 2, range: 3.0, sigma: 1.0, step: 0.125, bits: 32 }
    }

    #[test]
    fn what_cannot_be_agreed_on_is_refused() {
        for (agreed, expected) in [
            (Agreed { peers: 0, ..agreed() }, "`peers` is 0"),
            (Agreed { width: 0, ..agreed() }, "`width` is 0"),
            (Agreed { range: 0.0, ..agreed() }, "`range` is 0"),
            (Agreed { range: f64::NAN, ..agreed() }, "`range` is NaN"),
            (Agreed { sigma: -1.0, ..agreed() }, "`std_dev` is -8"),
            (Agreed { step: 0.1, ..agreed() }, "`grid` is 0.1"),
            (Agreed { bits: 0, ..agreed() }, "`bits` is 0"),
            (
                Agreed { bits: 9, ..agreed() },
                "`bits` is 9: 10 peers with values up to 3 in steps of 0.125 need 10",
            ),
            (Agreed { bits: 65, ..agreed() }, "`bits` is 65"),
            (
                Agreed { peers: 1 << 40, step: 2f64.powi(-60), sigma: 2f64.powi(-50), ..agreed() },
                "`grid` is 8.67",
            ),
        ] {
            let error = Ring::new(agreed).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let ring = Ring::new(agreed()).unwrap();
        assert!(ring.encode(&[1.0]).is_err() && ring.encode(&[1.0, f64::NAN]).is_err());
    }

    #[test]
    fn values_are_clipped_and_rounded() {
        let ring = Ring::new(agreed()).unwrap();
        assert_eq!(ring.decode(&ring.encode(&[7.0, -0.3]).unwrap()), [3.0, -0.25]);
        assert_eq!(ring.decode(&ring.encode(&[f64::INFINITY, -9.0]).unwrap()), [3.0, -3.0]);
    }

    #[test]
    fn very_many_peers_have_a_ring_whose_noise_is_listed() {
        let ring = Ring::fitting(100_000, 1, 1.0, 0.5).unwrap();
        assert!(ring.shares(100_000).unwrap().sigma() <= 1e5 && ring.wraps() <= RARE);
        assert!(Ring::fitting(10, 1, 1.0, f64::NAN).is_err() && Ring::fitting(10, 1, 1.0, 0.0).is_err());
    }

    proptest! {
        #[test]
        fn the_smallest_ring_is_just_large_enough(peers in 1usize..2000, range in 0.01f64..1e4, sigma in 0.01f64..1e3) {
            let ring = Ring::fitting(peers, 3, range, sigma).unwrap();
            prop_assert!(ring.wraps() <= RARE);
            let Agreed { bits, .. } = *ring.agreed();
            let smaller = Ring::new(Agreed { bits: bits - 1, ..*ring.agreed() });
            prop_assert!(smaller.is_err());
            // The largest sum of values alone comes back.
            let top = Residues::new(vec![ring.reach * peers as i64; 3], bits);
            prop_assert_eq!(top.centred().next(), Some(ring.reach * peers as i64));
        }
    }
}
