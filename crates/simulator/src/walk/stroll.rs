//! Tokens on a perfect network, step after step.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::walk::{Host, Visit};
use sottovoce_protocol::{Gate, Noise, Overspent, Peer, Release};

use super::{Turn, WalkSetup};
use crate::noise::PeerNoise;
use crate::{Error, Result};

/// Noise of one peer; none where its deviation is 0.
pub(super) struct Quiet(pub(super) PeerNoise);

impl Noise<Vec<f64>> for Quiet {
    #[inline]
    fn draw(&mut self, draw: usize, scale: f64, like: &Vec<f64>) -> Vec<f64> {
        if scale == 0.0 { vec![0.0; like.len()] } else { self.0.draw(draw, scale, like) }
    }
}

/// Where a walk stands: enough to continue it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrollState {
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
pub struct Stroll<'a, G> {
    setup: WalkSetup<'a>,
    hosts: Vec<Host<G>>,
    seed: u64,
    state: StrollState,
    stopped: Option<Overspent>,
}

impl<'a, G: FnMut(usize, f64, &mut Vec<f64>)> Stroll<'a, G> {
    /// All tokens at their first holders. `descend(peer)` gives a peer's gradient steps: `(contribution, gamma, token)`.
    pub fn new(setup: WalkSetup<'a>, seed: u64, descend: impl Fn(Peer) -> G) -> Result<Self> {
        setup.check()?;
        let hosts = setup.hosts(descend);
        let state = StrollState {
            step: 0,
            holders: setup.launch.clone(),
            tokens: vec![setup.start.clone(); setup.launch.len()],
            contributions: vec![0; hosts.len()],
            draws: vec![0; hosts.len()],
        };
        Ok(Self { setup, hosts, seed, state, stopped: None })
    }

    /// Goes on from where an earlier run stood.
    pub fn resume(&mut self, state: StrollState) -> Result<()> {
        let fits = state.holders.len() == self.state.holders.len()
            && state.tokens.len() == self.state.tokens.len()
            && state.tokens.iter().all(|token| token.len() == self.setup.start.len())
            && state.contributions.len() == self.hosts.len()
            && state.draws.len() == self.hosts.len()
            && state.holders.iter().all(|&peer| peer < self.hosts.len());
        if !fits || state.step > self.setup.course.steps {
            let value = format!("{} tokens after {} steps", state.tokens.len(), state.step);
            return Err(Error::parameter("checkpoint", value, "it belongs to another run; begin anew"));
        }
        let release = Release { sensitivity: self.setup.course.sensitivity, noise: self.setup.course.noise };
        for ((host, &contributions), &draws) in
            self.hosts.iter_mut().zip(&state.contributions).zip(&state.draws)
        {
            let mut gate = Gate::new(self.setup.budget);
            for _ in 0..contributions {
                gate.admit(release).map_err(|error| {
                    Error::parameter("checkpoint", error, "it belongs to another run; begin anew")
                })?;
            }
            host.resume(contributions, draws, gate);
        }
        self.state = state;
        Ok(())
    }

    /// Where the walk stands.
    pub fn state(&self) -> &StrollState {
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

    /// Squared Gaussian loss towards a wire-tapper of the peer that has lost most.
    pub fn spent(&self) -> f64 {
        self.hosts.iter().map(|host| host.gate().spent()).fold(0.0, f64::max)
    }

    /// One step of every token; shows `(token, holder, what it did)`. `false` when the walk is over.
    #[inline]
    pub fn step(&mut self, mut seen: impl FnMut(usize, Peer, Visit)) -> bool {
        let (step, course) = (self.state.step, self.setup.course);
        if step == course.steps {
            return false;
        }
        for (token, (value, holder)) in self.state.tokens.iter_mut().zip(&mut self.state.holders).enumerate()
        {
            let host = &mut self.hosts[*holder];
            let mut noise = Quiet(PeerNoise::new(self.seed, *holder));
            let (visit, refused) = host.visit(value, step, &course, &mut noise);
            self.stopped = self.stopped.or(refused);
            self.state.contributions[*holder] = host.contributions();
            self.state.draws[*holder] = host.draws();
            seen(token, *holder, visit);
            *holder = host.next(&mut Turn::new(self.seed, token, step));
        }
        self.state.step += 1;
        true
    }

    /// All remaining steps.
    pub fn run(&mut self, mut seen: impl FnMut(usize, Peer, Visit)) {
        while self.step(&mut seen) {}
    }
}
