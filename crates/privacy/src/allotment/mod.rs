//! A budget spread over an agent's own wake-ups: how much noise each of them needs.
//!
//! ```text
//! Request: (epsilon, delta), law, method, how many updates, how they share ──► Allotment: noise of every wake-up, certified total
//! ```
//!
//! At wake-up `k = 0, 1, …, T-1` an agent releases something that one record moves by at most its sensitivity; noise is stated in
//! sensitivities. What a wake-up contributes to the final error is damped by a factor `C` at every later one, so late noise counts
//! most, and the best shares of a budget grow with time:
//!
//! | shares | loss of wake-up `k` |
//! | --- | --- |
//! | uniform | the same |
//! | optimal, epsilons added | `C^(-k/3)` |
//! | optimal, squares added (Gaussian noise; many small epsilons) | `C^(-k/4)` |
//! | published (Bellet et al. 2018, Proposition 2: time reversed) | `C^(+k/3)` |
//!
//! The noise is found from the safe side: the total was certified at the very numbers that are returned, and is never above the
//! budget. Proofs: `docs/theorems/personalized.md`.

mod deltas;
mod shares;
mod updates;

pub use deltas::{LargeDelta, gaussian_noise};
pub use shares::Allocation;
pub use updates::{Suggested, suggested};

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::interval::{add_up, larger, smaller};
use crate::mechanism::check_epsilon;
use crate::special::{UNIT, bisect, crossing};
use crate::{Adjacency, Composition, Error, Gdp, Mechanism, Release, Result, kov, require};

/// The law of the noise of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// In every coordinate; sensitivities are in the 1-norm.
    Laplace,
    /// In a uniform direction, and as long as to have a density proportional to `exp(-|b|/scale)`; sensitivities are in the 2-norm. Nothing is used of it but
    /// its pure loss.
    Radial,
    /// In every coordinate, its scale being the standard deviation; sensitivities are in the 2-norm.
    Gaussian,
}

/// How the losses of several wake-ups are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Epsilons are added: a pure guarantee, whatever delta.
    Sum,
    /// Theorem 1: the smallest of the sum and of two closed forms of Kairouz, Oh and Viswanath.
    #[serde(rename = "theorem-1")]
    Theorem1,
    /// Squared Gaussian losses are added: exact for Gaussian noise.
    Gdp,
    /// Privacy-loss distributions, certified: the sharpest. (For Gaussian noise with nothing before it the same as `gdp`.)
    Pld,
}

/// What is to be spread, and how.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Request {
    /// The budget ...
    pub epsilon: f64,
    /// ... up to this probability; it may be 0 with Laplace or radial noise.
    pub delta: f64,
    /// The law of the noise.
    pub law: Law,
    /// How losses are put together.
    pub method: Method,
    /// How wake-ups share.
    pub allocation: Allocation,
    /// How many wake-ups there are.
    pub updates: usize,
    /// By which factor, in `(0, 1]`, earlier errors shrink from one own wake-up to the next.
    pub factor: f64,
    /// Pure loss of what the agent released before, such as a warm start; 0 for nothing.
    pub before: f64,
}

/// Least and largest noise, in sensitivities.
const LEAST: f64 = 0.01;
const LARGEST: f64 = 4e8;
/// Most wake-ups.
const MOST: usize = 1_000_000;
/// How near the budget the total comes: where it costs nothing, and where each trial composes privacy-loss distributions.
const CLOSE: f64 = 1e-13;
const NEAR: f64 = 1e-4;

impl Request {
    /// The noise of every wake-up.
    ///
    /// ```
    /// use sottovoce_privacy::allotment::{Allocation, Law, Method, Request};
    /// let request = Request {
    ///     epsilon: 1.0,
    ///     delta: 0.0,
    ///     law: Law::Laplace,
    ///     method: Method::Sum,
    ///     allocation: Allocation::Optimal,
    ///     updates: 2,
    ///     factor: 0.125,
    ///     before: 0.0,
    /// };
    /// let allotment = request.allot()?;
    /// // The second wake-up gets twice the epsilon of the first: 1/3 and 2/3.
    /// assert!((allotment.noises()[0] - 3.0).abs() < 1e-9 && (allotment.noises()[1] - 1.5).abs() < 1e-9);
    /// assert!(allotment.total() <= 1.0);
    /// # Ok::<(), sottovoce_privacy::Error>(())
    /// ```
    pub fn allot(&self) -> Result<Allotment> {
        self.check()?;
        let rates = shares::rates(self);
        let mut best = (f64::INFINITY, rates[0]);
        // Where several rates are in question, the closed forms choose: a trial of a privacy-loss distribution is dear.
        if rates.len() > 1 {
            for &rate in rates {
                let trial = self.closed().with(&shares::of(&self.closed(), rate));
                let damped = trial.map_or(f64::INFINITY, |trial| trial.damped());
                best = if damped < best.0 { (damped, rate) } else { best };
            }
        }
        self.with(&shares::of(self, best.1))
    }

    /// The same, accounted for in closed form.
    fn closed(&self) -> Self {
        let method = match (self.law, self.method) {
            (Law::Gaussian, _) => Method::Gdp,
            (_, Method::Pld) => Method::Theorem1,
            (_, method) => method,
        };
        Self { method, ..*self }
    }

    fn check(&self) -> Result<()> {
        check_epsilon(self.epsilon)?;
        let remedy = "give a finite number of at least 0";
        require(self.before >= 0.0 && self.before.is_finite(), "before", self.before, remedy)?;
        require(self.epsilon != 0.0, "epsilon", self.epsilon, "give a positive number")?;
        let remedy = "give a probability of at least 0 and below 1, such as 1e-5";
        require((0.0..1.0).contains(&self.delta), "delta", self.delta, remedy)?;
        let remedy = format!("give a number from 1 to {MOST}");
        require(self.updates != 0 && self.updates <= MOST, "updates", self.updates, remedy)?;
        let remedy = "give a number above 0 and at most 1";
        require(self.factor > 0.0 && self.factor <= 1.0, "factor", self.factor, remedy)?;
        match (self.law, self.method) {
            (Law::Gaussian, Method::Sum | Method::Theorem1) => Err(Error::parameter(
                "method",
                "sum or theorem-1",
                "Gaussian noise has no epsilon of its own: take `gdp`, or Laplace noise",
            )),
            (Law::Laplace | Law::Radial, Method::Gdp) => Err(Error::parameter(
                "method",
                "gdp",
                "it is for Gaussian noise: take `pld`, `theorem-1` or `sum`",
            )),
            (Law::Gaussian, _) if self.delta == 0.0 => Err(Error::parameter(
                "delta",
                self.delta,
                "the losses of Gaussian noise have no bound: give a positive one, such as 1e-5, or take Laplace noise",
            )),
            _ => Ok(()),
        }
    }

    fn out_of_reach(&self) -> Error {
        let remedy = format!(
            "no noise up to {LARGEST:e} sensitivities reaches it with {} updates; give a larger epsilon or delta, or fewer updates",
            self.updates
        );
        Error::parameter("epsilon", self.epsilon, remedy)
    }

    /// Noise in inverse proportion to the shares, the largest of which is 1.
    fn noises(shares: &[f64], least: f64) -> Vec<f64> {
        shares.iter().map(|share| smaller(larger(least / share, LEAST), LARGEST)).collect()
    }

    /// The least noise with these shares whose total is certified.
    fn with(&self, shares: &[f64]) -> Result<Allotment> {
        // What cannot be certified is not enough. Nothing is composed twice.
        let tried = RefCell::new(BTreeMap::new());
        let total = |noise: f64| {
            let again = || self.certified(&Self::noises(shares, noise)).unwrap_or(f64::INFINITY);
            *tried.borrow_mut().entry(noise.to_bits()).or_insert_with(again)
        };
        let enough = |noise: f64| total(noise) <= self.epsilon;
        let dear = self.composes();
        // The closed form is never far below the truth: a good place to begin.
        let start = if dear { self.closed().with(shares).map_or(1.0, |known| known.least()) } else { 1.0 };
        let (low, high) = bracket(start, &enough).ok_or_else(|| self.out_of_reach())?;
        let noise = match low {
            None => high,
            Some(low) if dear => crossing((low, high), self.epsilon, NEAR, &total).1,
            Some(low) => bisect(low, high, CLOSE, enough).1,
        };
        // The search ends at a number that it has tried.
        let (noises, total) = (Self::noises(shares, noise), total(noise));
        if total <= self.epsilon {
            return Ok(Allotment { request: *self, noises, total });
        }
        Err(self.out_of_reach())
    }

    /// Whether a trial composes privacy-loss distributions.
    fn composes(&self) -> bool {
        self.method == Method::Pld && (self.law != Law::Gaussian || self.before > 0.0)
    }

    /// What wake-ups with these noises cost together, after what was released before.
    fn certified(&self, noises: &[f64]) -> Result<f64> {
        if self.composes() {
            return Ok(self.composition(noises)?.epsilon(self.delta)?.upper());
        }
        if self.law == Law::Gaussian {
            let mut total = Gdp::new(0.0)?;
            for &noise in noises {
                total = total.and(Gdp::of_noise(noise)?);
            }
            // What was released before is pure, and is added.
            return total.epsilon(self.delta).map(|interval| add_up(interval.upper, self.before));
        }
        let delta = if self.method == Method::Sum { 0.0 } else { self.delta };
        // A quotient, rounded up.
        let each = noises.iter().map(|noise| 1.0 / noise * (1.0 + 2.0 * UNIT));
        let all: Vec<f64> = std::iter::once(self.before).chain(each).collect();
        kov::heterogeneous(&all, delta).map(|bounds| bounds.total())
    }

    /// The wake-ups as releases. Noise is there relative to one record's contribution, of which a replacement moves two.
    fn composition(&self, noises: &[f64]) -> Result<Composition> {
        let mut all = Composition::new(Adjacency::Replace);
        if self.before > 0.0 {
            all.add(Release::Mechanism(Mechanism::pure(self.before)?), 1)?;
        }
        for alike in noises.chunk_by(|a, b| a == b) {
            let release = match self.law {
                Law::Radial => Mechanism::pure(1.0 / alike[0] * (1.0 + 2.0 * UNIT))?,
                Law::Laplace => Mechanism::laplace(2.0 * alike[0])?,
                Law::Gaussian => Mechanism::gaussian(2.0 * alike[0])?,
            };
            all.add(Release::Mechanism(release), alike.len() as u64)?;
        }
        Ok(all)
    }
}

/// Doubles or halves until the answer changes: `(too little, enough)`; the least noise may be enough.
fn bracket(start: f64, enough: &impl Fn(f64) -> bool) -> Option<(Option<f64>, f64)> {
    let mut noise = larger(start, LEAST);
    if !enough(noise) {
        while noise < LARGEST {
            let before = noise;
            noise = smaller(2.0 * noise, LARGEST);
            if enough(noise) {
                return Some((Some(before), noise));
            }
        }
        return None;
    }
    while noise > LEAST {
        let half = larger(0.5 * noise, LEAST);
        if !enough(half) {
            return Some((Some(half), noise));
        }
        noise = half;
    }
    Some((None, noise))
}

/// The noise of every wake-up, and what they cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Allotment {
    /// What was asked for.
    request: Request,
    /// Noise of each wake-up, in sensitivities.
    noises: Vec<f64>,
    /// Epsilon of everything at the budget's delta, certified: at most the budget's.
    total: f64,
}

impl Allotment {
    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Noise of each wake-up, in sensitivities.
    pub fn noises(&self) -> &[f64] {
        &self.noises
    }

    /// Epsilon of everything at the budget's delta, certified: at most the budget's.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The odometer: what the first `updates` wake-ups cost at the budget's delta, with what was released before.
    pub fn spent(&self, updates: usize) -> Result<f64> {
        let Some(first) = self.noises.get(..updates) else {
            let remedy = format!("there are {} wake-ups; give at most that", self.noises.len());
            return Err(Error::parameter("updates", updates, remedy));
        };
        // Some of them never cost more than all of them.
        Ok(smaller(self.request.certified(first)?, self.total))
    }

    /// What the wake-ups' noises come to in the end, each damped by the later ones: the sum of `factor^(T-1-k) noise_k²`.
    pub fn damped(&self) -> f64 {
        self.noises.iter().fold(0.0, |sum, noise| self.request.factor * sum + noise * noise)
    }

    /// The least noise.
    fn least(&self) -> f64 {
        crate::interval::smallest(f64::INFINITY, self.noises.iter().copied())
    }
}

#[cfg(test)]
mod tests;
