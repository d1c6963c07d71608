//! Tokens on a perfect network, step after step.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::walk::{Host, Tally, Visit};
use sottovoce_protocol::{Chance, Means, Noise, Overspent, Peer, Release, Uncovered, Value};

use super::{Turn, WalkSetup};
use crate::noise::PeerNoise;
use crate::{Allowance, Error, Result, require};

/// What the present holder is lent. A visit throws no dice.
struct Lent<'w> {
    noise: PeerNoise,
    allowance: &'w mut Allowance,
}

impl Chance for Lent<'_> {
    fn bits(&mut self) -> u64 {
        0
    }
}

impl Means<Vec<f64>> for Lent<'_> {
    #[inline]
    fn admit(&mut self, release: &Release) -> std::result::Result<(), Overspent> {
        self.allowance.admit(release)
    }

    #[inline]
    fn cover(&mut self, draw: u64, scale: f64, value: &mut Vec<f64>) -> std::result::Result<(), Uncovered> {
        value.add(1.0, &self.noise.draw(draw, scale, value)?);
        Ok(())
    }
}

/// Where a walk stands: enough to continue it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WalkState {
    /// Steps that every token has made.
    pub step: usize,
    /// The holder of each token in the next step.
    pub holders: Vec<Peer>,
    /// Each token's model.
    pub tokens: Vec<Vec<f64>>,
    /// Contributions of each peer.
    pub contributions: Vec<usize>,
    /// Noises drawn by each peer.
    pub draws: Vec<usize>,
}

/// A walk under way.
pub struct FastWalk<'a, G> {
    setup: WalkSetup<'a>,
    hosts: Vec<Host>,
    gradients: Vec<G>,
    allowances: Vec<Allowance>,
    seed: u64,
    state: WalkState,
    stopped: Option<Overspent>,
    /// What a gradient step makes of a token, before it is admitted.
    stepped: Vec<f64>,
}

impl<'a, G: FnMut(usize, f64, &mut Vec<f64>)> FastWalk<'a, G> {
    /// All tokens at their first holders. `descend(peer)` gives a peer's gradient steps: `(contribution, gamma, token)`.
    pub fn new(setup: WalkSetup<'a>, seed: u64, descend: impl Fn(Peer) -> G) -> Result<Self> {
        setup.check()?;
        let hosts = setup.hosts();
        let gradients = (0..hosts.len()).map(descend).collect();
        let (allowances, stepped) = (setup.allowances()?, setup.start.clone());
        let state = WalkState {
            step: 0,
            holders: setup.launch.clone(),
            tokens: vec![setup.start.clone(); setup.launch.len()],
            contributions: vec![0; hosts.len()],
            draws: vec![0; hosts.len()],
        };
        Ok(Self { setup, hosts, gradients, allowances, seed, state, stopped: None, stepped })
    }

    /// Goes on from where an earlier run stood.
    pub fn resume(&mut self, state: WalkState) -> Result<()> {
        let fits = state.holders.len() == self.state.holders.len()
            && state.tokens.len() == self.state.tokens.len()
            && state.tokens.iter().all(|token| token.len() == self.setup.start.len())
            && state.contributions.len() == self.hosts.len()
            && state.draws.len() == self.hosts.len()
            && state.holders.iter().all(|&peer| peer < self.hosts.len());
        let value = format!("{} tokens after {} steps", state.tokens.len(), state.step);
        let remedy = "it belongs to another run; begin anew";
        require(fits && state.step <= self.setup.course.steps, "checkpoint", value, remedy)?;
        let (release, mut allowances) = (self.setup.course.release(), self.setup.allowances()?);
        for (allowance, &contributions) in allowances.iter_mut().zip(&state.contributions) {
            for _ in 0..contributions {
                allowance.admit(&release).map_err(|error| {
                    Error::parameter("checkpoint", error, "it belongs to another run; begin anew")
                })?;
            }
        }
        let tallies = state.contributions.iter().zip(&state.draws);
        for (host, (&contributions, &draws)) in self.hosts.iter_mut().zip(tallies) {
            host.resume(Tally { contributions, draws, spent: false });
        }
        self.allowances = allowances;
        self.state = state;
        Ok(())
    }

    /// Where the walk stands.
    pub fn state(&self) -> &WalkState {
        &self.state
    }

    /// The mean of the tokens.
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.setup.start.len()];
        for token in &self.state.tokens {
            mean.iter_mut().zip(token).for_each(|(mean, x)| *mean += x / self.state.tokens.len() as f64);
        }
        mean
    }

    /// The first refusal of a budget, if there was one.
    pub fn stopped(&self) -> Option<Overspent> {
        self.stopped
    }

    /// Squared Gaussian loss towards a wire-tapper of the peer that has lost most, rounded up.
    pub fn spent(&self) -> f64 {
        self.allowances.iter().map(Allowance::spent).fold(0.0, f64::max)
    }

    /// The same of one peer.
    ///
    /// # Panics
    ///
    /// If there is no such peer.
    pub fn spent_by(&self, peer: Peer) -> f64 {
        self.allowances[peer].spent()
    }

    /// One step of every token; shows `(token, holder, what it did)`. `false` when the walk is over.
    #[inline]
    pub fn step(&mut self, seen: impl FnMut(usize, Peer, Visit)) -> Result<bool> {
        self.step_heard(seen, |_, _, _| {})
    }

    /// The same; shows each contribution, too, as someone sees it who reads the token on its way: `(holder, the token before, and after)`.
    #[inline]
    pub fn step_heard(
        &mut self,
        mut seen: impl FnMut(usize, Peer, Visit),
        mut hear: impl FnMut(Peer, &[f64], &[f64]),
    ) -> Result<bool> {
        sottovoce_fault::stop::look();
        let (step, course) = (self.state.step, self.setup.course);
        if step == course.steps {
            return Ok(false);
        }
        for (token, (value, holder)) in self.state.tokens.iter_mut().zip(&mut self.state.holders).enumerate()
        {
            let host = &mut self.hosts[*holder];
            let stepped = host.due(step, 0, &course).map(|due| {
                self.stepped.clone_from(value);
                (self.gradients[*holder])(due.contribution, due.size, &mut self.stepped);
                &mut self.stepped
            });
            let noise = PeerNoise::new(self.seed, *holder);
            let mut lent = Lent { noise, allowance: &mut self.allowances[*holder] };
            let (visit, refused) = host.visit(value, stepped, step, &course, &mut lent).map_err(|error| {
                Error::parameter("sigma", error.scale, "give a positive, finite standard deviation")
            })?;
            self.stopped = self.stopped.or(refused);
            let Tally { contributions, draws, .. } = host.tally();
            (self.state.contributions[*holder], self.state.draws[*holder]) = (contributions, draws);
            seen(token, *holder, visit);
            if visit == Visit::Contributed {
                // The visit exchanged the token with what the step made of it.
                hear(*holder, &self.stepped, value);
            }
            *holder = host.next(&mut Turn::new(self.seed, token, step));
        }
        self.state.step += 1;
        Ok(true)
    }

    /// All remaining steps.
    pub fn run(&mut self, mut seen: impl FnMut(usize, Peer, Visit)) -> Result<()> {
        while self.step(&mut seen)? {}
        Ok(())
    }
}
