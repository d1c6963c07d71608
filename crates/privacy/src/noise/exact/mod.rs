//! Exact noise on the integers, for peers that are really deployed.
//!
//! Floats guess and integers decide: a Bernoulli of probability `exp(-gamma)` compares random digits with bounds of that number, which floats
//! give to forty bits and the series of the exponential, in whole numbers, to as many as it takes. A discrete Laplace is made of geometric pieces (Canonne, Kamath and Steinke,
//! *The Discrete Gaussian for Differential Privacy*, 2020), a discrete Gaussian by rejection from a flight of steps. No float is rounded on the way to the integer that comes
//! out, so the law is the one written here and not one close to it.
//!
//! Three departures from the ideal, stated so that they can be judged:
//!
//! - The bits come from ChaCha20 keyed by the operating system: the law is exact for whoever cannot tell ChaCha20 from
//!   random bits.
//! - A draw that would exceed `2^22` scales is drawn again (probability below `2^(-2^22)`, far below any delta), which
//!   is what makes every integer below provably fit.
//! - The *time* a draw takes depends on its value. Whoever can time single draws learns something about them: draw a
//!   whole message before sending any of it, as [`ExactNoise::release`] does.
//!
//! A simulation's generator is refused by type. This compiles:
//!
//! ```
//! use rand::SeedableRng;
//! use sottovoce_privacy::noise::exact::ExactNoise;
//! let noise = ExactNoise::new(rand_chacha::ChaCha20Rng::seed_from_u64(1));
//! ```
//!
//! and this does not, because [`SimulationRng`](super::simulation::SimulationRng) is no [`rand::CryptoRng`]:
//!
//! ```compile_fail
//! use sottovoce_privacy::noise::simulation::SimulationRng;
//! use sottovoce_privacy::noise::exact::ExactNoise;
//! let noise = ExactNoise::new(SimulationRng::new(1, 2, 3)); // E0277: a trait bound is not satisfied
//! ```
//!
//! nor does the law itself take it:
//!
//! ```compile_fail
//! use sottovoce_privacy::noise::exact::{DiscreteLaplace, ExactLaw, Rational};
//! use sottovoce_privacy::noise::simulation::SimulationRng;
//! let law = DiscreteLaplace::new(Rational::new(1, 1).unwrap()).unwrap();
//! law.sample(&mut SimulationRng::new(1, 2, 3)); // E0277
//! ```

mod bernoulli;
mod grid;
mod laws;
mod masks;
mod rational;
mod source;

pub use grid::Grid;
pub use laws::{DiscreteGaussian, DiscreteLaplace, ExactLaw};
pub use masks::Secret;
pub use rational::Rational;
pub use source::{DeployedNoise, ExactNoise, OsSeededRng};

#[cfg(test)]
mod tests;
