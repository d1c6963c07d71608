//! What every run is under way, whatever the method; and the engine of all methods in which everyone steps at once.

use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::Scheme;
use sottovoce_protocol::walk::{TokenPath, Visit};
use sottovoce_protocol::{Overspent, Peer};
use sottovoce_simulator::descent::{Descending, DescentSetup, Hear};

use super::network::Traffic;
use super::{Secrets, Settings, State, Task};
use crate::{Error, Result};

/// Hears of releases: the peer, its model before, which is known by then, and after.
pub type Releases<'a> = dyn FnMut(Peer, &[f64], &[f64]) + 'a;

/// A run under way.
pub trait Engine {
    /// One step; shows a walk's visits `(token, holder, what it did)`. `false` when the run is over: all steps done, or the budget of everyone
    /// spent.
    fn advance(&mut self, seen: &mut dyn FnMut(usize, Peer, Visit)) -> Result<bool>;

    /// One step; shows what peers release, to someone who sees every message.
    fn listen(&mut self, hear: &mut Releases<'_>) -> Result<bool>;

    /// Where it stands.
    fn state(&self) -> State;

    /// Goes on from where a run of the same settings stood.
    fn resume(&mut self, state: State) -> Result<()>;

    /// The model: the mean over peers, or over tokens.
    fn model(&self) -> Vec<f64>;

    /// The models that are used in the end, one after the other: each peer's own, where they differ.
    fn models(&self) -> Vec<f64> {
        self.model()
    }

    /// Steps done.
    fn done(&self) -> usize;

    /// How often each peer has released something.
    fn released(&self) -> Vec<usize>;

    /// Squared Gaussian loss towards a wire-tapper of the peer that lost most so far.
    fn spent(&self) -> f64;

    /// The same of one peer: where all contribute alike, that of any.
    fn spent_by(&self, _peer: Peer) -> f64 {
        self.spent()
    }

    /// Why somebody no longer contributes, if so.
    fn stopped(&self) -> Option<Overspent>;

    /// Where tokens went on a network with faults, each copy by itself.
    fn paths(&self) -> Option<Vec<TokenPath>> {
        None
    }

    /// What went over such a network.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
}

/// Refuses a state of another method.
pub(super) fn other_method() -> Error {
    Error::refused("`checkpoint` is of another method; begin anew")
}

/// Gradient steps of all, with an averaging after each.
pub(super) struct Descent<'a> {
    task: &'a Task,
    seed: u64,
    step: f64,
    run: Descending,
    secrets: Option<Secrets>,
    consensus: bool,
}

impl<'a> Descent<'a> {
    /// At its start; `relay` is the noise on messages, as a share of that on a gradient.
    pub(super) fn start(
        task: &'a Task,
        schemes: Vec<Scheme>,
        relay: f64,
        settings: &Settings,
        threads: usize,
    ) -> Result<Self> {
        let Settings { iterations, step, sigma, seed, .. } = *settings;
        let sensitivity = step * task.sensitivity();
        let noising = Noising { sensitivity, local: sigma * sensitivity, relay: relay * sigma * sensitivity };
        let setup = DescentSetup {
            schemes,
            iterations,
            noising,
            cancelling: settings.secrets.as_ref().map(|secrets| secrets.pairs().clone()),
            budget: settings.budget(),
            start: task.start(),
        };
        let run = Descending::new(setup, seed, threads)?;
        Ok(Self { task, seed, step, run, secrets: settings.secrets.clone(), consensus: true })
    }

    /// Peers end with models of their own.
    pub(super) fn without_consensus(self) -> Self {
        Self { consensus: false, ..self }
    }
}

impl Descent<'_> {
    fn iterate(&mut self, hear: Option<&mut Hear<'_>>) -> Result<bool> {
        let Self { task, seed, step, run, .. } = self;
        let descend = |peer, iteration, value: &mut [f64]| task.descend(*seed, peer, iteration, *step, value);
        // Everyone has the same budget: once it is spent, nothing new is learned.
        Ok(run.stopped().is_none() && run.iterate_heard(&descend, hear)? && run.stopped().is_none())
    }
}

impl Engine for Descent<'_> {
    fn advance(&mut self, _seen: &mut dyn FnMut(usize, Peer, Visit)) -> Result<bool> {
        self.iterate(None)
    }

    fn listen(&mut self, hear: &mut Releases<'_>) -> Result<bool> {
        let (before, width) = (self.run.values().to_vec(), self.task.parameters());
        self.iterate(Some(&mut |peer: Peer, after: &[f64]| {
            hear(peer, &before[peer * width..][..width], after);
        }))
    }

    fn state(&self) -> State {
        State::Descent { iteration: self.run.iteration(), values: self.run.values().to_vec() }
    }

    fn resume(&mut self, state: State) -> Result<()> {
        let State::Descent { iteration, values } = state else { return Err(other_method()) };
        Ok(self.run.resume(iteration, values)?)
    }

    fn model(&self) -> Vec<f64> {
        self.run.mean()
    }

    fn models(&self) -> Vec<f64> {
        if self.consensus { self.run.mean() } else { self.run.values().to_vec() }
    }

    fn done(&self) -> usize {
        self.run.iteration()
    }

    fn released(&self) -> Vec<usize> {
        vec![self.run.released(); self.task.peers()]
    }

    fn spent(&self) -> f64 {
        self.run.spent() * self.secrets.as_ref().map_or(1.0, Secrets::worst)
    }

    fn spent_by(&self, peer: Peer) -> f64 {
        self.run.spent() * self.secrets.as_ref().map_or(1.0, |secrets| secrets.of(peer))
    }

    fn stopped(&self) -> Option<Overspent> {
        self.run.stopped()
    }
}
