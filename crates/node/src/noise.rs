//! What hides values on a node: exact noise on the integers, from the operating system's entropy, drawn ahead.
//!
//! Tests may bring a generator of their own, as long as it is a cryptographic one: a simulation's noise cannot be had here at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::CryptoRng;
use sottovoce_privacy::noise::exact::{
    DiscreteGaussian, DiscreteLaplace, ExactNoise, Grid, OsSeededRng, Rational,
};
use sottovoce_protocol::ring::{Cover, Residues};
use sottovoce_protocol::{FAR, Law, Shared, Uncovered};

use crate::Result;

/// Draws that are made before looking up.
const AT_ONCE: usize = 4096;

/// Hides values, and throws dice.
pub trait Hiding<V> {
    /// Rounds a value and adds fresh noise, or fails and nothing may be sent.
    fn cover(&mut self, law: Law, draw: u64, scale: f64, value: &mut V)
    -> std::result::Result<(), Uncovered>;

    /// The same for a private value, which may be hidden in what is shared with others, too.
    fn hide(&mut self, law: Law, draw: u64, scale: f64, value: &mut V) -> std::result::Result<(), Uncovered> {
        self.cover(law, draw, scale, value)
    }

    /// 64 bits that nobody can foresee.
    fn bits(&mut self) -> u64;
}

/// A law on the integers.
#[derive(Clone)]
enum Drawn {
    Gaussian(Arc<DiscreteGaussian>),
    Laplace(DiscreteLaplace),
}

impl Drawn {
    /// Of this scale in steps, or a little more.
    fn new(law: Law, steps: f64) -> Option<Self> {
        match law {
            Law::Gaussian => Some(Self::Gaussian(Arc::new(DiscreteGaussian::at_least(steps).ok()?))),
            Law::Laplace => Some(Self::Laplace(DiscreteLaplace::new(Rational::from_f64(steps).ok()?).ok()?)),
            Law::Radial => None,
        }
    }

    fn sample<R: CryptoRng>(&self, noise: &mut ExactNoise<R>) -> i64 {
        match self {
            Self::Gaussian(law) => noise.sample(&**law),
            Self::Laplace(law) => noise.sample(law),
        }
    }
}

/// Numbers on a public grid under discrete Gaussian or Laplace noise (`docs/theorems/grid.md`).
pub struct OnGrid<R: CryptoRng = OsSeededRng> {
    grid: Grid,
    noise: ExactNoise<R>,
    /// By the name of the law and the bits of the scale: the law, and what was drawn ahead.
    laws: BTreeMap<(bool, u64), (Drawn, Vec<i64>)>,
}

impl OnGrid {
    /// From the operating system's entropy.
    pub fn deployed(grid: Grid) -> Result<Self> {
        Ok(Self::new(grid, ExactNoise::from_os()?))
    }
}

impl<R: CryptoRng> OnGrid<R> {
    /// From this generator.
    pub fn new(grid: Grid, noise: ExactNoise<R>) -> Self {
        Self { grid, noise, laws: BTreeMap::new() }
    }

    fn law(&mut self, law: Law, scale: f64) -> Option<&mut (Drawn, Vec<i64>)> {
        let units = self.grid.units_of(scale);
        match self.laws.entry((law == Law::Gaussian, scale.to_bits())) {
            std::collections::btree_map::Entry::Occupied(known) => Some(known.into_mut()),
            std::collections::btree_map::Entry::Vacant(free) => {
                Some(free.insert((Drawn::new(law, units)?, Vec::new())))
            }
        }
    }

    /// Draws so much Gaussian noise of this scale while there is time: it is in memory only, used once, and lost in a crash.
    pub fn ahead(&mut self, scale: f64, count: usize) {
        self.draw(Law::Gaussian, scale, count);
    }

    fn draw(&mut self, law: Law, scale: f64, count: usize) {
        let Some((drawn, ready)) = self.law(law, scale) else { return };
        let (drawn, missing) = (drawn.clone(), count.saturating_sub(ready.len()));
        let more: Vec<i64> = (0..missing).map(|_| drawn.sample(&mut self.noise)).collect();
        if let Some((_, ready)) = self.law(law, scale) {
            ready.extend(more);
        }
    }

    /// A part of that, so that whoever draws can look up in between; whether anything was missing.
    pub fn some_ahead(&mut self, scale: f64, count: usize) -> bool {
        let ready = self.law(Law::Gaussian, scale).map_or(count, |(_, ready)| ready.len());
        let next = if ready + AT_ONCE < count { ready + AT_ONCE } else { count };
        self.ahead(scale, next);
        ready < count
    }

    /// Numbers in steps of the grid, with fresh noise; none if a law is unknown, or a number too far out.
    fn noised(&mut self, law: Law, scale: f64, value: &[f64]) -> Option<Vec<f64>> {
        if law == Law::Radial || !(scale > 0.0 && scale.is_finite()) {
            return None;
        }
        let units = self.grid.round(value).ok()?;
        self.draw(law, scale, value.len());
        // The tails of Laplace noise are what makes its loss pure: they are not cut.
        let far = if law == Law::Gaussian { FAR * self.grid.units_of(scale) } else { f64::INFINITY };
        let step = self.grid.step();
        let (_, ready) = self.law(law, scale)?;
        let fresh = ready.split_off(ready.len().checked_sub(value.len())?);
        let sum = |(unit, noise): (i64, i64)| {
            let near = (noise as f64).abs() <= far;
            let sum = unit.checked_add(noise).filter(|sum| near && sum.unsigned_abs() <= 1 << 53)?;
            Some(sum as f64 * step)
        };
        units.into_iter().zip(fresh).map(sum).collect()
    }
}

impl<R: CryptoRng> Hiding<Vec<f64>> for OnGrid<R> {
    fn cover(
        &mut self,
        law: Law,
        draw: u64,
        scale: f64,
        value: &mut Vec<f64>,
    ) -> std::result::Result<(), Uncovered> {
        *value = self.noised(law, scale, value).ok_or(Uncovered { draw, scale })?;
        Ok(())
    }

    fn bits(&mut self) -> u64 {
        self.noise.bits()
    }
}

/// Numbers of single precision: hidden as integers, and made single again afterwards.
impl<R: CryptoRng> Hiding<Shared> for OnGrid<R> {
    fn cover(
        &mut self,
        law: Law,
        draw: u64,
        scale: f64,
        value: &mut Shared,
    ) -> std::result::Result<(), Uncovered> {
        let wide: Vec<f64> = value.iter().map(|x| f64::from(*x)).collect();
        let noised = self.noised(law, scale, &wide).ok_or(Uncovered { draw, scale })?;
        *value = noised.into_iter().map(|x| x as f32).collect::<Vec<f32>>().into();
        Ok(())
    }

    fn bits(&mut self) -> u64 {
        self.noise.bits()
    }
}

/// A protocol that hides no value has dice all the same.
impl<R: CryptoRng> Hiding<()> for OnGrid<R> {
    fn cover(&mut self, _: Law, draw: u64, scale: f64, _: &mut ()) -> std::result::Result<(), Uncovered> {
        Err(Uncovered { draw, scale })
    }

    fn bits(&mut self) -> u64 {
        self.noise.bits()
    }
}

/// Sums on a ring under masks that cancel (`docs/theorems/ring.md`).
pub struct OnRing<R: CryptoRng = OsSeededRng> {
    cover: Cover,
    scale: f64,
    noise: ExactNoise<R>,
    /// A share that was drawn ahead: in memory only, used once, and lost in a crash.
    ready: Option<Residues>,
}

impl OnRing {
    /// From the operating system's entropy; `scale` is the one that the ring was agreed on for.
    pub fn deployed(cover: Cover, scale: f64) -> Result<Self> {
        Ok(Self::new(cover, scale, ExactNoise::from_os()?))
    }
}

impl<R: CryptoRng> OnRing<R> {
    /// From this generator.
    pub fn new(cover: Cover, scale: f64, noise: ExactNoise<R>) -> Self {
        Self { cover, scale, noise, ready: None }
    }

    /// Draws a share while there is time; whether there was none.
    pub fn ahead(&mut self) -> bool {
        let none = self.ready.is_none();
        if none {
            self.ready = Some(self.cover.share(&mut self.noise));
        }
        none
    }
}

impl<R: CryptoRng> Hiding<Residues> for OnRing<R> {
    fn cover(
        &mut self,
        law: Law,
        draw: u64,
        scale: f64,
        value: &mut Residues,
    ) -> std::result::Result<(), Uncovered> {
        if law != Law::Gaussian || scale != self.scale {
            return Err(Uncovered { draw, scale });
        }
        let share = self.ready.take().unwrap_or_else(|| self.cover.share(&mut self.noise));
        sottovoce_protocol::Value::add(value, 1.0, &share);
        Ok(())
    }

    fn hide(
        &mut self,
        law: Law,
        draw: u64,
        scale: f64,
        value: &mut Residues,
    ) -> std::result::Result<(), Uncovered> {
        self.cover(law, draw, scale, value)?;
        self.cover.mask(draw, value).map_err(|_| Uncovered { draw, scale })
    }

    fn bits(&mut self) -> u64 {
        self.noise.bits()
    }
}
