//! Drivers for tokens that walk.
//!
//! | file | what |
//! | --- | --- |
//! | `fast` | a perfect network: step after step, as fast as gradients are computed; can be stopped and continued |
//! | `run` | what the event driver needs for walkers: their dice, their noise, and where tokens went |
//! | `copies` | the path of every copy of every token, from a transcript |
//!
//! Both do to a token what [`sottovoce_protocol::walk::Host::visit`] does, and draw the same noise; on a perfect network one token takes the same
//! way in both, bit for bit (a test).

mod copies;
mod fast;
mod run;

pub use copies::{copies, copies_so_far, lineage};
pub use fast::{FastWalk, WalkState};
pub use run::{Passage, WalkOutcome, WalkRun, WalkTranscript, WalkWorld, passages};

use rand::Rng;
use sottovoce_privacy::noise::simulation::{Seed, SimulationRng, Stream};
use sottovoce_protocol::public::check;
use sottovoce_protocol::walk::{Course, Host, Steps, Transition};
use sottovoce_protocol::{Chance, Peer};
use sottovoce_topology::mixing::Mixing;

use crate::{Allowance, Error, Result, require};

/// The choices of one holder at one step of a token: a function of `(seed, token, step)`, so that a run can be continued anywhere.
struct Turn(SimulationRng);

impl Turn {
    fn new(seed: u64, token: usize, step: usize) -> Self {
        Self(Seed(seed).stream(Stream::Walk, token as u64, step as u64))
    }
}

impl Chance for Turn {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Everything a walk needs but the gradients.
#[derive(Debug, Clone)]
pub struct WalkSetup<'a> {
    /// Where tokens go.
    pub mixing: &'a Mixing,
    /// What all peers agree on.
    pub course: Course,
    /// The first holder of each token.
    pub launch: Vec<Peer>,
    /// Each peer's budget of squared Gaussian loss towards a wire-tapper; infinite for none.
    pub budget: f64,
    /// The model that tokens start from.
    pub start: Vec<f64>,
    /// How many times as large as others' each peer's contribution is, and its noise; empty where all are alike.
    pub worth: Vec<f64>,
}

impl WalkSetup<'_> {
    /// Refuses what cannot be run, naming the field, the value and the remedy.
    pub fn check(&self) -> Result<()> {
        let Course { steps, burn_in, sizes, sensitivity, noise, .. } = self.course;
        let peers = self.mixing.nodes();
        self.mixing.check_walk()?;
        if let Some(worth) = self.worth.iter().find(|worth| !(worth.is_finite() && **worth > 0.0)) {
            return Err(Error::parameter("worth", worth, "give positive, finite numbers"));
        }
        let remedy = format!("give one for each of {peers} peers");
        require(self.worth.is_empty() || self.worth.len() == peers, "worth", self.worth.len(), remedy)?;
        self.mixing.graph().require_connected("a token never reaches the other parts; add edges")?;
        if let Some(stranger) = self.launch.iter().find(|&&peer| peer >= peers) {
            return Err(Error::parameter("launch", stranger, format!("there are {peers} peers, from 0")));
        }
        require(!self.launch.is_empty(), "launch", "empty", "give the first holder of at least one token")?;
        require(steps > burn_in, "steps", steps, format!("give more than the {burn_in} of burn-in"))?;
        if let Steps::Constant(gamma) = sizes
            && !(gamma.is_finite() && gamma > 0.0)
        {
            return Err(Error::parameter("step", gamma, "give a positive, finite step size"));
        }
        let noising = sottovoce_protocol::averaging::Noising { sensitivity, local: noise, relay: 0.0 };
        check::noising_or_none(noising, self.budget)?;
        crate::budget::check(self.budget)?;
        check::values(std::slice::from_ref(&self.start))
    }

    /// Every peer as a token finds it.
    fn hosts(&self) -> Vec<Host> {
        let worth = |peer: Peer| self.worth.get(peer).copied().unwrap_or(1.0);
        let host = |peer| Host::new(peer, Transition::of(self.mixing, peer)).worth(worth(peer));
        (0..self.mixing.nodes()).map(host).collect()
    }

    /// What each peer may release.
    pub fn allowances(&self) -> Result<Vec<Allowance>> {
        Ok(vec![Allowance::gaussian(self.budget)?; self.mixing.nodes()])
    }
}
