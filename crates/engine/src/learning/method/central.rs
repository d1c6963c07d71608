//! A trusted party adds noise to the mean of all clipped gradients: what a server would do, as a baseline.

use sottovoce_privacy::Adversary;
use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};
use sottovoce_protocol::walk::Visit;
use sottovoce_protocol::{Overspent, Peer, Release};
use sottovoce_simulator::Allowance;
use sottovoce_topology::mixing::Mixing;

use super::{Entry, Method, Options, Way};
use crate::learning::engine::{Engine, Releases, other_method};
use crate::learning::losses::Question;
use crate::learning::{Settings, State, Task};
use crate::{Error, Result};

/// The trusted party's number among noises: no peer has it.
const SERVER: u64 = u64::MAX;

pub(super) const ENTRY: Entry = Entry {
    name: "central",
    about: "a trusted server (a baseline)",
    needs_graph: false,
    varying: false,
    options: &["final-model"],
    planned: Options::NONE,
    make: |_, _, _| Ok(Method::Central),
};

/// It has no parameters.
pub(super) struct Central;

impl Way for Central {
    fn name(&self) -> &'static str {
        "central"
    }

    fn start<'a>(
        &self,
        task: &'a Task,
        _mixings: &'a [Mixing],
        settings: &Settings,
        _threads: usize,
    ) -> Result<Box<dyn Engine + 'a>> {
        let allowance = Allowance::gaussian(settings.budget())?;
        Ok(Box::new(Server {
            task,
            settings: settings.clone(),
            iteration: 0,
            model: task.start(),
            allowance,
            stopped: None,
        }))
    }

    /// Everyone sends a gradient, and is told the model.
    fn messages(&self, run: &Question) -> Result<u64> {
        Ok(2 * (run.iterations * run.peers) as u64)
    }

    fn release(&self, settings: &Settings, sensitivity: f64) -> Release {
        Release::gaussian(sensitivity, settings.sigma * sensitivity)
    }

    fn sees_all(&self) -> Adversary {
        Adversary::ResultHolder
    }

    fn is_serverless(&self) -> bool {
        false
    }
}

/// A run under way.
struct Server<'a> {
    task: &'a Task,
    settings: Settings,
    iteration: usize,
    model: Vec<f64>,
    allowance: Allowance,
    stopped: Option<Overspent>,
}

impl Server<'_> {
    /// What one contribution releases, to someone who sees every model.
    fn release(&self) -> Release {
        Central.release(&self.settings, self.task.sensitivity())
    }

    /// The mean of all clipped gradients, with noise on their sum.
    fn serve(&mut self) -> Result<()> {
        let Settings { seed, step, sigma, .. } = self.settings;
        let (task, peers) = (self.task, self.task.peers());
        let before = self.model.clone();
        let mut moved = before.clone();
        for peer in 0..peers {
            moved.copy_from_slice(&before);
            task.descend(seed, peer, self.iteration, step / peers as f64, &mut moved);
            self.model.iter_mut().zip(&moved).zip(&before).for_each(|((x, new), old)| *x += new - old);
        }
        let law = ContinuousLaw::gaussian(step * sigma * task.sensitivity() / peers as f64)?;
        SimulatedNoise::new(seed, SERVER, self.iteration as u64).add(law, &mut self.model);
        Ok(())
    }
}

impl Engine for Server<'_> {
    fn advance(&mut self, _seen: &mut dyn FnMut(usize, Peer, Visit)) -> Result<bool> {
        if self.iteration == self.settings.iterations || self.stopped.is_some() {
            return Ok(false);
        }
        if let Err(overspent) = self.allowance.admit(&self.release()) {
            self.stopped = Some(overspent);
            return Ok(false);
        }
        self.serve()?;
        self.iteration += 1;
        Ok(true)
    }

    fn listen(&mut self, _hear: &mut Releases<'_>) -> Result<bool> {
        let remedy =
            "only the trusted server hears a peer, without noise; there is no release of a peer to attack";
        Err(Error::parameter("method", "central", remedy))
    }

    fn state(&self) -> State {
        State::Central { iteration: self.iteration, model: self.model.clone() }
    }

    fn resume(&mut self, state: State) -> Result<()> {
        let State::Central { iteration, model } = state else { return Err(other_method()) };
        if model.len() != self.model.len() {
            let (theirs, ours) = (model.len(), self.model.len());
            return Err(Error::refused(format!("`checkpoint` has {theirs} parameters: the task has {ours}")));
        }
        let other = |_| Error::refused("`checkpoint` is of a run with another budget; begin anew");
        let release = self.release();
        (0..iteration).try_for_each(|_| self.allowance.admit(&release).map_err(other))?;
        (self.iteration, self.model) = (iteration, model);
        Ok(())
    }

    fn model(&self) -> Vec<f64> {
        self.model.clone()
    }

    fn done(&self) -> usize {
        self.iteration
    }

    fn released(&self) -> Vec<usize> {
        vec![self.iteration; self.task.peers()]
    }

    fn spent(&self) -> f64 {
        self.allowance.spent()
    }

    fn stopped(&self) -> Option<Overspent> {
        self.stopped
    }
}
