//! What hides values on a node: exact noise on the integers, from the operating system's entropy, drawn ahead.
//!
//! Tests may bring a generator of their own, as long as it is a cryptographic one: a simulation's noise cannot be had here at all.

use std::collections::BTreeMap;

use rand::CryptoRng;
use sottovoce_privacy::noise::exact::{DiscreteGaussian, ExactNoise, Grid, OsSeededRng};
use sottovoce_protocol::ring::{Cover, Residues};
use sottovoce_protocol::{FAR, Law, Uncovered};

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

/// Numbers on a public grid under discrete Gaussian noise (`docs/theorems/grid.md`).
pub struct OnGrid<R: CryptoRng = OsSeededRng> {
    grid: Grid,
    noise: ExactNoise<R>,
    /// By the bits of the scale: the law, and what was drawn ahead.
    laws: BTreeMap<u64, (DiscreteGaussian, Vec<i64>)>,
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

    fn law(&mut self, scale: f64) -> Option<&mut (DiscreteGaussian, Vec<i64>)> {
        let units = self.grid.units_of(scale);
        match self.laws.entry(scale.to_bits()) {
            std::collections::btree_map::Entry::Occupied(known) => Some(known.into_mut()),
            std::collections::btree_map::Entry::Vacant(free) => {
                let law = DiscreteGaussian::at_least(units).ok()?;
                Some(free.insert((law, Vec::new())))
            }
        }
    }

    /// Draws so much noise of this scale while there is time: it is in memory only, used once, and lost in a crash.
    pub fn ahead(&mut self, scale: f64, count: usize) {
        let Some((law, ready)) = self.law(scale) else { return };
        let (law, missing) = (law.clone(), count.saturating_sub(ready.len()));
        let drawn: Vec<i64> = (0..missing).map(|_| self.noise.sample(&law)).collect();
        if let Some((_, ready)) = self.law(scale) {
            ready.extend(drawn);
        }
    }

    /// A part of that, so that whoever draws can look up in between; whether anything was missing.
    pub fn some_ahead(&mut self, scale: f64, count: usize) -> bool {
        let ready = self.law(scale).map_or(count, |(_, ready)| ready.len());
        let next = if ready + AT_ONCE < count { ready + AT_ONCE } else { count };
        self.ahead(scale, next);
        ready < count
    }

    fn noised(&mut self, scale: f64, value: &[f64]) -> Option<Vec<f64>> {
        let units = self.grid.round(value).ok()?;
        self.ahead(scale, value.len());
        let far = FAR * self.grid.units_of(scale);
        let step = self.grid.step();
        let (_, ready) = self.law(scale)?;
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
        let gaussian = law == Law::Gaussian && scale > 0.0 && scale.is_finite();
        let noised = gaussian.then(|| self.noised(scale, value)).flatten();
        *value = noised.ok_or(Uncovered { draw, scale })?;
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
