//! Noise, in two kinds that no conversion connects.
//!
//! A deployed peer must never add floating-point noise to floating-point values: the gaps between floats give values
//! away. It rounds to a public [`exact::Grid`] and adds an integer drawn from exactly the law that the accountant
//! assumed, with randomness nobody can predict: [`exact::DeployedNoise`]. A simulation needs the opposite: noise that is
//! fast and is a function of `(seed, peer, round)`, so that a run can be repeated on any number of threads:
//! [`simulation::SimulatedNoise`].
//!
//! A function that sends anything asks for [`exact::DeployedNoise`] by name. It can be built in one way only, from the
//! operating system's entropy, so neither a simulation nor a forgotten test seed fits:
//!
//! ```
//! use sottovoce_privacy::noise::exact::{DeployedNoise, DiscreteGaussian, Rational};
//! fn send(noise: &mut DeployedNoise, law: &DiscreteGaussian) -> i64 {
//!     noise.sample(law)
//! }
//! let law = DiscreteGaussian::new(Rational::new(25, 1)?);
//! send(&mut DeployedNoise::from_os()?, &law);
//! # Ok::<(), sottovoce_privacy::Error>(())
//! ```
//!
//! ```compile_fail
//! use sottovoce_privacy::noise::exact::{DeployedNoise, DiscreteGaussian, Rational};
//! use sottovoce_privacy::noise::simulation::SimulatedNoise;
//! fn send(noise: &mut DeployedNoise, law: &DiscreteGaussian) -> i64 {
//!     noise.sample(law)
//! }
//! let law = DiscreteGaussian::new(Rational::new(25, 1)?);
//! send(&mut SimulatedNoise::new(1, 2, 3), &law); // the one difference: E0308, mismatched types
//! # Ok::<(), sottovoce_privacy::Error>(())
//! ```

pub mod exact;
mod lanes;
mod pairs;
mod seed;
pub mod simulation;

#[cfg(test)]
mod statistics;
