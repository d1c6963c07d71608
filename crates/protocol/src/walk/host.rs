//! One visit of a token.

use super::Transition;
use crate::{Chance, Gate, Noise, Overspent, Peer, Release, Value};

/// The step size along the walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steps {
    /// The same at every step.
    Constant(f64),
    /// `1/(t+1)` at step `t` after burn-in. With the gradient `x - y` the token is then the mean of what was contributed: random-walk averaging.
    Running,
}

/// What the step size of Theorem 2 depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Markov {
    /// Steps of the token: `T`.
    pub steps: usize,
    /// Strong convexity: `mu`.
    pub convexity: f64,
    /// Smoothness: `L`.
    pub smoothness: f64,
    /// Steps after which a token is within 1/4 (in total variation) of being anywhere: `tau_mix`.
    pub mixing_time: f64,
    /// Bound on a peer's gradient at the optimum: `zeta`.
    pub gradient: f64,
    /// Distance of the start from the optimum.
    pub distance: f64,
}

impl Steps {
    /// The constant step size of the paper's Theorem 2, `min(1/L, ln(T mu² d² / (39 L tau zeta²)) / (T mu))`: it balances what is left of the start
    /// against the noise of the walk. `None` where numbers are not positive, or the walk is too short for its logarithm to be.
    ///
    /// The paper prints the constant in two ways; `39 = 3 · 13` is what its proof adds up to, with `L` beside it, as in the stated rate.
    ///
    /// ```
    /// use sottovoce_protocol::walk::{Markov, Steps};
    /// let long = Markov { steps: 100_000, convexity: 0.1, smoothness: 0.5, mixing_time: 10.0, gradient: 0.4, distance: 10.0 };
    /// let Some(Steps::Constant(gamma)) = Steps::markov(long) else { panic!("a step") };
    /// assert!((gamma - (100_000.0_f64 * 0.01 * 100.0 / (39.0 * 0.5 * 10.0 * 0.16)).ln() / 10_000.0).abs() < 1e-15);
    /// assert_eq!(Steps::markov(Markov { steps: 2, ..long }), None);
    /// ```
    pub fn markov(given: Markov) -> Option<Self> {
        let Markov { steps, convexity, smoothness, mixing_time, gradient, distance } = given;
        let walk = 39.0 * smoothness * mixing_time * gradient * gradient;
        let gain = steps as f64 * (convexity * distance).powi(2) / walk;
        let gamma = (gain.ln() / (steps as f64 * convexity)).min(1.0 / smoothness);
        (gamma.is_finite() && gamma > 0.0).then_some(Self::Constant(gamma))
    }

    /// `gamma_t`; steps are counted from the end of burn-in.
    pub fn at(self, step: usize) -> f64 {
        match self {
            Self::Constant(gamma) => gamma,
            Self::Running => 1.0 / (step + 1) as f64,
        }
    }
}

/// What all peers of a walk agree on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Course {
    /// Steps of each token, burn-in included.
    pub steps: usize,
    /// Steps in which the token is passed on untouched.
    pub burn_in: usize,
    /// Step sizes.
    pub sizes: Steps,
    /// How far one user can move a gradient: `Delta`.
    pub sensitivity: f64,
    /// Standard deviation of the noise on a gradient: `Delta sigma`.
    pub noise: f64,
    /// Contributions of each peer, over all tokens.
    pub cap: usize,
}

/// What a holder did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Visit {
    /// Added its gradient and noise.
    Contributed,
    /// Added noise: its contributions are used up.
    NoiseOnly,
    /// Nothing: burn-in.
    Relayed,
}

/// A peer as a token finds it. `G` subtracts `gamma g(x)` from a token: `descend(contribution, gamma, token)`.
#[derive(Debug, Clone)]
pub struct Host<G> {
    /// Who it is.
    pub peer: Peer,
    transition: Transition,
    gate: Gate,
    contributions: usize,
    /// Noises drawn: each has a number of its own, whichever copy of a token it went into.
    draws: usize,
    descend: G,
}

impl<G> Host<G> {
    /// A peer with its row, its budget and its gradients.
    pub fn new(peer: Peer, transition: Transition, gate: Gate, descend: G) -> Self {
        Self { peer, transition, gate, contributions: 0, draws: 0, descend }
    }

    /// Contributions so far.
    pub fn contributions(&self) -> usize {
        self.contributions
    }

    /// Noises drawn so far.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Goes on from an earlier run.
    pub fn resume(&mut self, contributions: usize, draws: usize, gate: Gate) {
        (self.contributions, self.draws, self.gate) = (contributions, draws, gate);
    }

    /// The gate.
    pub fn gate(&self) -> Gate {
        self.gate
    }

    /// Where a token goes from here.
    pub fn transition(&self) -> &Transition {
        &self.transition
    }

    /// Does to the token what is this holder's to do at `step`.
    ///
    /// Returns why the budget forbade a contribution, if it did: then there is noise only.
    #[inline]
    pub fn visit<V: Value>(
        &mut self,
        token: &mut V,
        step: usize,
        course: &Course,
        noise: &mut (impl Noise<V> + ?Sized),
    ) -> (Visit, Option<Overspent>)
    where
        G: FnMut(usize, f64, &mut V),
    {
        let Some(step) = step.checked_sub(course.burn_in) else { return (Visit::Relayed, None) };
        let gamma = course.sizes.at(step);
        let mut visit = Visit::NoiseOnly;
        let mut refused = None;
        // Noise of the same size in any case. It is drawn first, but added last: the gradient is that of the token as it came.
        let eta = noise.draw(self.draws, gamma * course.noise, token);
        self.draws += 1;
        if self.contributions < course.cap {
            match self.gate.admit(Release { sensitivity: course.sensitivity, noise: course.noise }) {
                Ok(()) => {
                    (self.descend)(self.contributions, gamma, token);
                    self.contributions += 1;
                    visit = Visit::Contributed;
                }
                Err(overspent) => refused = Some(overspent),
            }
        }
        token.add(1.0, &eta);
        (visit, refused)
    }

    /// Who holds the token next; this peer where there is nobody else.
    #[inline]
    pub fn next(&self, chance: &mut (impl Chance + ?Sized)) -> Peer {
        self.transition.draw(chance).unwrap_or(self.peer)
    }
}
