//! Gradient descent with an averaging after every step (Muffliato-GD and -SGD), on a perfect network.
//!
//! [`DescentSetup::machines`] makes the peers' state machines, for any driver. [`Descending`] runs the same descent iteration by iteration, so
//! that it can be watched, stopped and continued: gossip in bulk, anything else by the machines of averaging. The numbers are the same
//! bit for bit (a test).

use std::ops::Range;
use std::sync::OnceLock;

use sottovoce_protocol::averaging::{Averager, InTurn, Noising, listen};
use sottovoce_protocol::public::{Cancelling, Part, Scheme, check};
use sottovoce_protocol::{Noise, Overspent, Peer, Release, Uncovered};

use crate::bulk::{Bulk, in_parallel};
use crate::ear::Ear;
use crate::paired::Paired;
use crate::{Allowance, Error, Result, require};

/// A private gradient step: subtracts `nu g(value)` from the value of a peer in an iteration.
pub type Descend<'a> = dyn Fn(Peer, usize, &mut [f64]) + Sync + 'a;

/// Hears what a peer says.
pub type Hear<'a> = dyn FnMut(Peer, &[f64]) + 'a;

/// A peer of a descent.
pub type DescendingPeer<V> = Averager<V, InTurn<Part>>;

/// Everything a descent needs but the gradients.
#[derive(Debug, Clone, PartialEq)]
pub struct DescentSetup {
    /// The averaging of each iteration, in turn: equally many rounds each.
    pub schemes: Vec<Scheme>,
    /// Number of gradient steps: `T`.
    pub iterations: usize,
    /// The noises of one step, and how far one user can move a step (`nu` times a gradient). No noise at all: not private.
    pub noising: Noising,
    /// Noise of pairs that cancels, on every step.
    pub cancelling: Option<Cancelling>,
    /// Each peer's budget of squared Gaussian loss towards a wire-tapper; infinite for none.
    pub budget: f64,
    /// Where everyone begins.
    pub start: Vec<f64>,
}

impl DescentSetup {
    /// Refuses what cannot be run, naming the field, the value and the remedy.
    pub fn check(&self) -> Result<()> {
        let Some(first) = self.schemes.first() else {
            let remedy = "give one for all iterations, or several in turn";
            return Err(Error::parameter("schemes", "empty", remedy));
        };
        require(self.iterations != 0, "iterations", 0, "give at least 1 gradient step")?;
        for scheme in &self.schemes {
            sottovoce_fault::stop::look();
            scheme.check()?;
            let value = format!("of {} peers and {} rounds", scheme.peers(), scheme.rounds());
            let remedy = format!(
                "every averaging must have {} peers and {} rounds, more than 0",
                first.peers(),
                first.rounds()
            );
            let alone = "one peer alone has nobody to speak to; give at least 2";
            require(scheme.rounds() != 0 || scheme.peers() > 1, "peers", scheme.peers(), alone)?;
            require(
                (scheme.peers(), scheme.rounds()) == (first.peers(), first.rounds()) && scheme.rounds() != 0,
                "schemes",
                value,
                remedy,
            )?;
        }
        check::values(std::slice::from_ref(&self.start))?;
        check::noising_or_none(self.noising, self.budget)?;
        crate::budget::check(self.budget)
    }

    /// Number of peers.
    pub fn peers(&self) -> usize {
        self.schemes.first().map_or(0, Scheme::peers)
    }

    /// Averaging rounds after each gradient step: `K`.
    pub fn rounds(&self) -> usize {
        self.schemes.first().map_or(0, Scheme::rounds)
    }

    /// The peers' state machines, on whatever they compute with: `start` is everyone's first value. Their driver makes the gradient steps.
    pub fn machines<V: sottovoce_protocol::Value>(&self, start: &V) -> Result<Vec<DescendingPeer<V>>> {
        self.check()?;
        let gammas: Vec<Option<f64>> = self.schemes.iter().map(Scheme::gamma).collect::<Result<_>>()?;
        // All are accelerated, or none.
        let gammas: Vec<f64> = gammas.into_iter().flatten().collect();
        let remedy = "accelerate the gossip of every iteration, or of none";
        require(
            gammas.is_empty() || gammas.len() >= self.schemes.len(),
            "schemes",
            "accelerated in some iterations",
            remedy,
        )?;
        let all: Vec<Vec<Part>> = self.schemes.iter().map(Scheme::parts).collect::<Result<_>>()?;
        let machine = |peer: Peer| {
            let parts = all.iter().map(|parts| parts[peer].clone()).collect();
            let plan = InTurn::new(parts, self.iterations).ok_or(Error::Stuck { peer })?;
            Ok(Averager::descending(start.clone(), self.iterations, plan, self.noising, gammas.clone()))
        };
        (0..self.peers()).map(machine).collect()
    }

    /// What each peer may release.
    pub fn allowances(&self) -> Result<Vec<Allowance>> {
        Ok(vec![Allowance::gaussian(self.budget)?; self.peers()])
    }
}

/// Draws of a peer from some number on.
struct Later(Paired, usize);

impl Noise<Vec<f64>> for Later {
    fn draw(&mut self, draw: u64, scale: f64, like: &Vec<f64>) -> std::result::Result<Vec<f64>, Uncovered> {
        self.0.draw(self.1 as u64 + draw, scale, like)
    }

    fn share(&mut self, draw: u64, scale: f64, noise: &mut Vec<f64>) -> std::result::Result<(), Uncovered> {
        self.0.share(self.1 as u64 + draw, scale, noise)
    }
}

/// A descent under way.
#[derive(Debug, Clone)]
pub struct Descending {
    setup: DescentSetup,
    gammas: Vec<Option<f64>>,
    seed: u64,
    threads: usize,
    noises: Vec<Paired>,
    allowance: Allowance,
    stopped: Option<Overspent>,
    released: usize,
    iteration: usize,
    values: Vec<f64>,
}

impl Descending {
    /// Everyone at the start.
    pub fn new(setup: DescentSetup, seed: u64, threads: usize) -> Result<Self> {
        setup.check()?;
        let gammas = setup.schemes.iter().map(Scheme::gamma).collect::<Result<_>>()?;
        let values = setup.start.repeat(setup.peers());
        let allowance = Allowance::gaussian(setup.budget)?;
        let noises = Paired::all(seed, setup.peers(), setup.cancelling.as_ref());
        Ok(Self {
            setup,
            gammas,
            seed,
            threads,
            noises,
            allowance,
            stopped: None,
            released: 0,
            iteration: 0,
            values,
        })
    }

    /// Goes on from the values after so many iterations.
    pub fn resume(&mut self, iteration: usize, values: Vec<f64>) -> Result<()> {
        let value = format!("{} numbers after {iteration} iterations", values.len());
        let remedy = format!(
            "{} numbers and at most {} iterations belong to this run",
            self.values.len(),
            self.setup.iterations
        );
        require(
            values.len() == self.values.len() && iteration <= self.setup.iterations,
            "checkpoint",
            value,
            remedy,
        )?;
        (self.allowance, self.stopped, self.released) = (Allowance::gaussian(self.setup.budget)?, None, 0);
        (0..iteration).for_each(|_| self.admit());
        (self.iteration, self.values) = (iteration, values);
        Ok(())
    }

    /// Iterations so far.
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    /// Everyone's values, one peer after the other.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The mean over peers, summed in their order.
    pub fn mean(&self) -> Vec<f64> {
        let width = self.setup.start.len();
        let mut mean = vec![0.0; width];
        for value in self.values.chunks_exact(width) {
            mean.iter_mut().zip(value).for_each(|(mean, x)| *mean += x);
        }
        mean.iter_mut().for_each(|x| *x /= self.setup.peers() as f64);
        mean
    }

    /// How often every peer has released something.
    pub fn released(&self) -> usize {
        self.released
    }

    /// Squared Gaussian loss of every peer towards a wire-tapper so far, rounded up.
    pub fn spent(&self) -> f64 {
        self.allowance.spent()
    }

    /// Why peers no longer contribute, if they do not.
    pub fn stopped(&self) -> Option<Overspent> {
        self.stopped
    }

    fn admit(&mut self) {
        if self.stopped.is_none() {
            let Noising { sensitivity, local, .. } = self.setup.noising;
            self.stopped = self.allowance.admit(&Release::gaussian(sensitivity, local)).err();
            self.released += usize::from(self.stopped.is_none());
        }
    }

    /// One gradient step of everyone and the averaging after it. `false` when all are done, or the budget forbids even the first.
    pub fn iterate(&mut self, descend: &Descend<'_>) -> Result<bool> {
        self.iterate_heard(descend, None)
    }

    /// The same; `hear` hears what peers say in the first round, before any relay noise: what they release. (Guests of a butterfly speak first, and their
    /// hosts not.)
    pub fn iterate_heard(&mut self, descend: &Descend<'_>, hear: Option<&mut Hear<'_>>) -> Result<bool> {
        if self.iteration == self.setup.iterations {
            return Ok(false);
        }
        self.admit();
        let mut noising = self.setup.noising;
        match self.stopped {
            Some(_) if self.iteration == 0 => return Ok(false),
            Some(_) => noising.local = 0.0,
            None => self.descend(descend),
        }
        let at = self.iteration % self.setup.schemes.len();
        let (scheme, gamma) = (&self.setup.schemes[at], self.gammas[at]);
        let first = self.iteration * (scheme.rounds() + 1);
        let values = std::mem::take(&mut self.values);
        let (hear, width) = (hear.filter(|_| self.stopped.is_none()), self.setup.start.len());
        self.values = match scheme {
            Scheme::Gossip { mixing, rounds, .. } => {
                let (mut values, mut noising) = (values, noising);
                if self.setup.cancelling.is_some() {
                    // Own noise and the pairs' are one noise, as a machine adds it.
                    self.hide(first as u64, noising.local, &mut values)?;
                    noising.local = 0.0;
                }
                let mut bulk =
                    Bulk::from_draw(first as u64, mixing, values, noising, gamma, self.seed, self.threads)?;
                if let Some(hear) = hear {
                    bulk.values().chunks_exact(width).enumerate().for_each(|(peer, value)| hear(peer, value));
                }
                bulk.run(*rounds);
                bulk.into_values()
            }
            _ => average(scheme, &values, noising, &self.noises, first, hear)?,
        };
        self.iteration += 1;
        Ok(true)
    }

    /// Hides every peer's value, all noises of a peer together.
    fn hide(&self, draw: u64, scale: f64, values: &mut [f64]) -> Result<()> {
        let (peers, width) = (self.setup.peers(), self.setup.start.len());
        let failed = OnceLock::new();
        in_parallel(&split(peers, self.threads), width, values, |part, values| {
            for (peer, value) in part.zip(values.chunks_exact_mut(width)) {
                if let Err(uncovered) = self.noises[peer].hide(draw, scale, value) {
                    // Which of them is the first to say so makes no difference.
                    let _ = failed.set(uncovered);
                }
            }
        });
        match failed.into_inner() {
            Some(uncovered) => Err(Error::parameter("sigma", scale, uncovered.to_string())),
            None => Ok(()),
        }
    }

    fn descend(&mut self, descend: &Descend<'_>) {
        let (peers, width, iteration) = (self.setup.peers(), self.setup.start.len(), self.iteration);
        let parts = split(peers, self.threads);
        in_parallel(&parts, width, &mut self.values, |part, values| {
            part.zip(values.chunks_exact_mut(width))
                .for_each(|(peer, value)| descend(peer, iteration, value));
        });
    }
}

/// As many parts as there are threads.
fn split(peers: usize, threads: usize) -> Vec<Range<usize>> {
    let threads = threads.clamp(1, peers);
    let bound = |i: usize| peers * i / threads;
    (0..threads).map(|i| bound(i)..bound(i + 1)).collect()
}

/// One averaging by the peers' machines.
fn average(
    scheme: &Scheme,
    values: &[f64],
    noising: Noising,
    noises: &[Paired],
    first: usize,
    mut hear: Option<&mut Hear<'_>>,
) -> Result<Vec<f64>> {
    let (peers, gamma) = (scheme.peers(), scheme.gamma()?);
    let width = values.len() / peers;
    // Without noise, too: that is how a model is learned for comparison.
    let parts = scheme.parts()?;
    let machine = |(part, value): (Part, &[f64])| scheme.peer(value.to_vec(), part, noising, gamma);
    let mut machines: Vec<_> = parts.iter().cloned().zip(values.chunks_exact(width)).map(machine).collect();
    let mut noises: Vec<_> = noises.iter().map(|noise| Later(noise.clone(), first)).collect();
    let mut ear = Ear::new(&parts);
    let results = listen(&mut machines, &mut noises, |from, to, message| {
        if let Some(hear) = &mut hear
            && let Some(hidden) = ear.hears(from, to, message)
        {
            hear(from, &hidden);
        }
    })?;
    Ok(results.concat())
}
