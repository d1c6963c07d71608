//! A token that learns on its walk. Unlike a [`Session`](sottovoce::learning::Session), its steps and its contributions are chosen apart.

use sottovoce::learning::Task;
use sottovoce_protocol::Peer;
use sottovoce_protocol::walk::{Course, Steps};
use sottovoce_simulator::walk::{FastWalk, WalkSetup};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::walk::{Odometer, Trajectory};

use crate::Result;
use crate::statistics::choose;

/// What the first holder is drawn for.
const LAUNCH: u64 = 0x746f_6b65;

/// Everything a token's run is a function of.
#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) task: &'a Task,
    pub(crate) mixing: &'a Mixing,
    /// Steps of the token.
    pub(crate) steps: usize,
    /// Contributions of each peer; later visits add noise only.
    pub(crate) cap: usize,
    /// Step size.
    pub(crate) step: f64,
    /// Noise in sensitivities.
    pub(crate) sigma: f64,
    /// Seed of path and noise.
    pub(crate) seed: u64,
}

impl<'a> Token<'a> {
    fn setup(&self, noise: f64, start: Vec<f64>) -> WalkSetup<'a> {
        WalkSetup {
            mixing: self.mixing,
            course: Course {
                steps: self.steps,
                burn_in: 0,
                sizes: Steps::Constant(self.step),
                sensitivity: self.task.sensitivity(),
                noise,
                cap: self.cap,
            },
            launch: vec![choose(self.seed, LAUNCH, self.mixing.nodes())],
            budget: f64::INFINITY,
            start,
            worth: Vec::new(),
        }
    }

    /// Learns. Hears of every step: how many are done, who held the token, and the model it passed on.
    pub(crate) fn learn(&self, mut hear: impl FnMut(usize, Peer, &[f64])) -> Result<Vec<f64>> {
        let Self { task, seed, .. } = *self;
        let setup = self.setup(self.sigma * task.sensitivity(), task.start());
        let descend = |peer| {
            move |turn: usize, gamma: f64, token: &mut Vec<f64>| task.descend(seed, peer, turn, gamma, token)
        };
        let mut walk = FastWalk::new(setup, seed, descend)?;
        let mut at = 0;
        while walk.step(|_, holder, _| at = holder)? {
            hear(walk.state().step, at, &walk.state().tokens[0]);
        }
        Ok(walk.mean())
    }

    /// What the path of this run reveals to everyone, the token's last value included. Paths depend on no data.
    pub(crate) fn losses(&self) -> Result<Vec<Trajectory>> {
        let nothing = |_| |_: usize, _: f64, _: &mut Vec<f64>| {};
        let mut visits = Vec::with_capacity(self.steps);
        FastWalk::new(self.setup(0.0, vec![0.0]), self.seed, nothing)?
            .run(|_, holder, visit| visits.push((holder, visit)))?;
        let mut odometer = Odometer::everyone(self.mixing.nodes())?;
        for (holder, visit) in visits {
            odometer.visit(holder, visit)?;
        }
        Ok(odometer.conclude(true))
    }
}
