//! One visit of a token.

use serde::{Deserialize, Serialize};

use super::Transition;
use crate::{Chance, Law, Means, Overspent, Peer, Release, Uncovered, Value};

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

impl Course {
    /// What one contribution releases.
    pub fn release(&self) -> Release {
        Release::gaussian(self.sensitivity, self.noise)
    }
}

/// What a holder did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Visit {
    /// Added its gradient and noise.
    Contributed,
    /// Added noise: its contributions are used up.
    NoiseOnly,
    /// Nothing: burn-in.
    Relayed,
}

/// A gradient step that a visit asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gradient {
    /// Which of the peer's contributions.
    pub contribution: usize,
    /// The step size.
    pub size: f64,
}

/// A peer as a token finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// Who it is.
    pub peer: Peer,
    transition: Transition,
    /// What its contributions are worth: its noise is as many times larger as they are.
    worth: f64,
    tally: Tally,
}

/// What a peer has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Contributions.
    pub contributions: usize,
    /// Noises drawn: each has a number of its own, whichever copy of a token it went into.
    pub draws: usize,
    /// Whether the budget was found spent: from then on there is noise only.
    pub spent: bool,
}

impl Host {
    /// A peer with its row.
    pub fn new(peer: Peer, transition: Transition) -> Self {
        Self { peer, transition, worth: 1.0, tally: Tally::default() }
    }

    /// The same, if what it contributes is so many times as large as what others do: so is its noise, and a contribution reveals as much.
    pub fn worth(self, worth: f64) -> Self {
        Self { worth, ..self }
    }

    /// What it has done so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Goes on from an earlier run.
    pub fn resume(&mut self, tally: Tally) {
        self.tally = tally;
    }

    /// Where a token goes from here.
    pub fn transition(&self) -> &Transition {
        &self.transition
    }

    /// The gradient step to make before a visit at `step`, where `under_way` others were begun and not ended; none where the peer passes the token on
    /// or adds noise only.
    #[inline]
    pub fn due(&self, step: usize, under_way: usize, course: &Course) -> Option<Gradient> {
        let size = course.sizes.at(step.checked_sub(course.burn_in)?);
        let contribution = self.tally.contributions + under_way;
        (contribution < course.cap && !self.tally.spent).then_some(Gradient { contribution, size })
    }

    /// Does to the token what is this holder's to do at `step`. `stepped` is what the gradient step that was [due](Self::due) made of it; where the
    /// budget admits it the two are exchanged.
    ///
    /// Returns why the budget forbade a contribution, if it did: then there is noise only. Without noise the token must not be passed on.
    #[inline]
    pub fn visit<V: Value>(
        &mut self,
        token: &mut V,
        stepped: Option<&mut V>,
        step: usize,
        course: &Course,
        means: &mut (impl Means<V> + ?Sized),
    ) -> Result<(Visit, Option<Overspent>), Uncovered> {
        let Some(step) = step.checked_sub(course.burn_in) else { return Ok((Visit::Relayed, None)) };
        let (mut visit, mut refused) = (Visit::NoiseOnly, None);
        if let Some(stepped) = stepped {
            match means.admit(&course.release()) {
                Ok(()) => {
                    std::mem::swap(token, stepped);
                    self.tally.contributions += 1;
                    visit = Visit::Contributed;
                }
                Err(overspent) => (self.tally.spent, refused) = (true, Some(overspent)),
            }
        }
        // Noise of the same size in any case.
        let draw = self.tally.draws as u64;
        self.tally.draws += 1;
        means.hide(Law::Gaussian, draw, course.sizes.at(step) * course.noise * self.worth, token)?;
        Ok((visit, refused))
    }

    /// Who holds the token next; this peer where there is nobody else.
    #[inline]
    pub fn next(&self, chance: &mut (impl Chance + ?Sized)) -> Peer {
        self.transition.draw(chance).unwrap_or(self.peer)
    }
}
