//! The loss of a walk that is still to come: the mean over random paths, as the Rényi loss has it.
//!
//! Showing the path to the adversary only helps it, and the path is drawn without looking at data. So if a path reveals `m` in units of
//! `alpha / (2 sigma²)`, the whole run loses at most `ln E[exp((alpha-1) alpha m / (2 sigma²))] / (alpha-1)` at order `alpha`. The mean
//! is estimated from simulated paths, with an upper bound that holds for all peers, orders and columns at once with the
//! stated confidence (`moments.rs`), and never exceeds the loss of the most contributions that are possible. Without a cap on
//! contributions that most is large, and so is the bound.

use std::sync::Arc;

use sottovoce_protocol::Chance;
use sottovoce_protocol::walk::{Transition, Visit};
use sottovoce_topology::mixing::Mixing;

use super::average::Average;
use super::bounds::{Expected, Moments, Order, Sampling};
use super::odometer::Odometer;
use super::random::{Random, transitions};
use super::trajectory::Trajectory;
use crate::error::{Error, check_observers, check_steps};
use crate::{Result, parallel, require};

/// Visits of all simulated paths together, at most: minutes.
const MOST_VISITS: usize = 10_000_000_000;

/// Most tokens of a walk.
const MOST_TOKENS: usize = 100_000;

/// Where a token begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At a uniformly random peer, each token for itself.
    Uniform,
    /// At this peer.
    At(usize),
}

/// A walk to come.
#[derive(Debug, Clone)]
pub struct ExpectedSetup<'a> {
    /// Probabilities of the token's steps.
    pub mixing: &'a Mixing,
    /// Number of holders that add noise, for each token.
    pub steps: usize,
    /// Where tokens begin.
    pub start: Start,
    /// Most contributions of a peer, to all tokens together; after them it adds noise only.
    pub cap: Option<usize>,
    /// Number of holders before those, who pass the token on as it is.
    pub burn_in: usize,
    /// Number of tokens; they move in turn.
    pub tokens: usize,
    /// Whether the observers are shown the tokens' last values.
    pub result_shown: bool,
    /// How the tokens average, if they do: then both columns are of that.
    pub average: Option<Arc<Average>>,
}

/// A token on its way.
struct Token {
    holder: usize,
    odometer: Odometer,
}

/// Samples are summed in at most so many pieces, whatever the number of threads.
const PIECES: usize = 128;

impl<'a> ExpectedSetup<'a> {
    /// One token from a random peer, everyone contributes at every visit, and the result is shown.
    pub fn new(mixing: &'a Mixing, steps: usize) -> Self {
        let (start, cap, burn_in, tokens) = (Start::Uniform, None, 0, 1);
        Self { mixing, steps, start, cap, burn_in, tokens, result_shown: true, average: None }
    }

    /// Every peer's loss to `coalition`, at each of `orders`, with noise of deviation `sigma` in units of the sensitivity.
    ///
    /// ```
    /// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
    /// use sottovoce_views::walk::{ExpectedSetup, Sampling};
    /// let mixing = Mixing::new(&generate(&Family::Complete { n: 8 }, 0, true)?, Weights::MetropolisPlusOne);
    /// let setup = ExpectedSetup { cap: Some(4), ..ExpectedSetup::new(&mixing, 24) };
    /// let loss = setup.expected(&[0], 4.0, &[2.0], Sampling { samples: 500, seed: 1, confidence: 0.99 })?;
    /// let at = &loss.convex.orders[0];
    /// // Never above four contributions without any amplification.
    /// assert!(at.estimate[3] < at.upper[3] && at.upper[3] <= 2.0 * 4.0 / 32.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expected(
        &self,
        coalition: &[usize],
        sigma: f64,
        orders: &[f64],
        sampling: Sampling,
    ) -> Result<Expected> {
        let coalition = check_observers(coalition, self.mixing.nodes())?;
        self.check()?;
        sampling.check()?;
        let each = self.burn_in.saturating_add(self.steps).saturating_mul(self.tokens);
        let remedy = format!(
            "{} simulated paths of so many make more than {MOST_VISITS} visits in all; give fewer steps, tokens or paths",
            sampling.samples
        );
        require(each.saturating_mul(sampling.samples) <= MOST_VISITS, "steps", self.steps, remedy)?;
        require(!orders.is_empty(), "orders", "empty", "give at least one order above 1")?;
        let orders = orders.iter().map(|&alpha| Order::new(sigma, alpha)).collect::<Result<Vec<_>>>()?;
        let moments = self.sample(&coalition, &orders, sampling)?;
        // Each peer outside, at each order, in both columns.
        let bounds = 2 * orders.len() * (self.mixing.nodes() - coalition.len());
        let failure = (1.0 - sampling.confidence) / bounds.max(1) as f64;
        let mut most: Vec<f64> = (0..self.mixing.nodes()).map(|u| self.most(u)).collect();
        coalition.iter().for_each(|&member| most[member] = 0.0);
        Ok(moments.expected(&orders, &most, failure))
    }

    fn check(&self) -> Result<()> {
        check_steps(self.steps)?;
        require(self.tokens != 0, "tokens", 0, "give at least one token")?;
        require(self.tokens <= MOST_TOKENS, "tokens", self.tokens, format!("give at most {MOST_TOKENS}"))?;
        match self.start {
            Start::At(peer) if peer >= self.mixing.nodes() => {
                let remedy = format!("there are {} peers, from 0", self.mixing.nodes());
                Err(Error::parameter("start", peer, remedy))
            }
            _ => Ok(()),
        }
    }

    /// What a peer can contribute at most. One that cannot keep a token has it at every other step at most.
    fn most(&self, peer: usize) -> f64 {
        let keeps = self.mixing.diagonal()[peer] > 0.0;
        let visits = self.tokens.saturating_mul(if keeps { self.steps } else { self.steps.div_ceil(2) });
        self.cap.map_or(visits, |cap| cap.min(visits)) as f64
    }

    fn sample(&self, coalition: &[usize], orders: &[Order], sampling: Sampling) -> Result<Moments> {
        let nodes = self.mixing.nodes();
        let transitions = transitions(self.mixing)?;
        let fresh = match &self.average {
            Some(average) => Odometer::averaging(nodes, &[coalition.to_vec()], Arc::clone(average))?,
            None => Odometer::new(nodes, &[coalition.to_vec()])?,
        };
        let size = sampling.samples.div_ceil(PIECES);
        let piece = |piece: usize| -> Result<Moments> {
            let mut moments = Moments::new(nodes, orders.len());
            for sample in piece * size..((piece + 1) * size).min(sampling.samples) {
                let mut random = Random::new(sampling.seed, sample as u64);
                moments.add(&self.run(&transitions, &fresh, &mut random)?, orders);
            }
            Ok(moments)
        };
        let mut all = Moments::new(nodes, orders.len());
        for moments in parallel::map(sampling.samples.div_ceil(size), piece, |_| {}) {
            all.merge(&moments?);
        }
        Ok(all)
    }

    /// What one simulated run reveals.
    fn run(&self, transitions: &[Transition], fresh: &Odometer, random: &mut Random) -> Result<Trajectory> {
        let nodes = self.mixing.nodes();
        let mut contributions = vec![0; nodes];
        let begin = |_| match self.start {
            Start::Uniform => random.below(nodes),
            Start::At(peer) => peer,
        };
        let holders: Vec<usize> = (0..self.tokens).map(begin).collect();
        let mut tokens: Vec<Token> =
            holders.into_iter().map(|holder| Token { holder, odometer: fresh.clone() }).collect();
        for step in 0..self.burn_in.saturating_add(self.steps) {
            sottovoce_fault::stop::look();
            for token in &mut tokens {
                if step > 0 {
                    token.holder = transitions[token.holder].draw(random).unwrap_or(token.holder);
                }
                let visit = self.visit(step, &mut contributions[token.holder]);
                token.odometer.visit(token.holder, visit)?;
            }
        }
        let seen = tokens.into_iter().flat_map(|token| token.odometer.conclude(self.result_shown));
        seen.map(Ok).reduce(|sum, token| sum?.and(&token?)).unwrap_or_else(|| Ok(Trajectory::nothing(nodes)))
    }

    /// What a holder does that has contributed so often.
    fn visit(&self, step: usize, contributions: &mut usize) -> Visit {
        if step < self.burn_in {
            return Visit::Relayed;
        }
        if self.cap.is_some_and(|cap| *contributions >= cap) {
            return Visit::NoiseOnly;
        }
        *contributions += 1;
        Visit::Contributed
    }
}
