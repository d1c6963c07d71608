//! What the driver needs for walkers: the dice of each step, gradients, and where tokens went.

use std::time::Duration;

use sottovoce_protocol::walk::{
    Epoch, Input, Label, Launch, Message, Note, Patience, Sent, Timer, Token, Visit, Walker,
};
use sottovoce_protocol::{Chance, Noise, Peer, Refusal, Transcript, Uncovered};

use super::{Turn, WalkSetup};
use crate::driver::{Ended, Simulation, World};
use crate::invariants::{self, Invariant, Violation};
use crate::network::{Faults, Network};
use crate::noise::PeerNoise;
use crate::record::{Envelope, Recorder, Step};
use crate::{Result, require};

/// A run that has not begun.
#[derive(Debug, Clone)]
pub struct WalkRun<'a> {
    /// The walk.
    pub setup: WalkSetup<'a>,
    /// The network; its timeout is how long a sender waits for an answer.
    pub network: Network,
    /// What happens to peers.
    pub faults: Faults,
    /// How often a token is offered to a silent peer.
    pub patience: Patience,
    /// When it ends at the latest.
    pub deadline: Duration,
    /// The seed.
    pub seed: u64,
}

/// What happened to a token, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// A peer held it.
    Held {
        /// The token.
        token: usize,
        /// Which copy of it.
        epoch: Epoch,
        /// The holder.
        peer: Peer,
        /// At which step.
        step: usize,
        /// What it did.
        visit: Visit,
    },
    /// A peer did not answer and the token went another way: there may be two copies.
    Rerouted {
        /// The token.
        token: usize,
        /// The copy that was not answered for.
        epoch: Epoch,
        /// The copy that takes the detour.
        detour: Epoch,
        /// The step that both make next.
        step: usize,
    },
}

/// The transcript of a walk.
pub type WalkTranscript = Transcript<Label, Note>;

/// All visits and detours, in the order of time.
pub fn passages(transcript: &WalkTranscript) -> Vec<Passage> {
    let passage = |(peer, note): &(Peer, Note)| match note {
        Note::Visited { token: Sent { id, epoch, step }, visit } => {
            Some(Passage::Held { token: *id, epoch: *epoch, peer: *peer, step: *step, visit: *visit })
        }
        Note::Rerouted { token: Sent { id, epoch, step }, detour, .. } => {
            Some(Passage::Rerouted { token: *id, epoch: *epoch, detour: *detour, step: *step })
        }
        _ => None,
    };
    transcript.notes.iter().filter_map(passage).collect()
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct WalkOutcome {
    /// Each token's model, once it has made all its steps; of two copies the valid one.
    pub finals: Vec<Option<Token<Vec<f64>>>>,
    /// What happened, without values: visits and detours are read from it.
    pub transcript: WalkTranscript,
    /// Messages sent, answers included.
    pub sent: u64,
    /// Of these, lost on the way or at a peer who was not there.
    pub lost: u64,
    /// Copies that were swallowed as repeated or too old.
    pub swallowed: u64,
    /// How often a token found nobody.
    pub stranded: u64,
    /// Virtual time until the last token arrived; where one did not, until nothing more happened.
    pub duration: Duration,
    /// Broken invariants: none, or the run is void.
    pub violations: Vec<Violation>,
}

impl WalkOutcome {
    /// Who held a token, in order, and what was done. Where there were detours, the path of all copies together.
    pub fn path(&self, token: usize) -> Vec<(Peer, Visit)> {
        let held = |passage: &Passage| match *passage {
            Passage::Held { token: id, peer, visit, .. } if id == token => Some((peer, visit)),
            _ => None,
        };
        passages(&self.transcript).iter().filter_map(held).collect()
    }

    /// Detours taken.
    pub fn reroutings(&self) -> usize {
        let detour = |(_, note): &&(Peer, Note)| matches!(note, Note::Rerouted { .. });
        self.transcript.notes.iter().filter(detour).count()
    }
}

type Model = Vec<f64>;

impl<'a> WalkRun<'a> {
    /// Runs until nothing more happens: every token has arrived, and every other copy of one is swallowed, given up or has arrived, too; or to the deadline. `descend(peer)` gives a peer's gradient steps: `(contribution, gamma, token)`.
    pub fn run<G>(&self, descend: impl Fn(Peer) -> G) -> Result<WalkOutcome>
    where
        G: FnMut(usize, f64, &mut Model),
    {
        Ok(WalkOutcome::of(self.simulation(descend)?.end(|_| {})))
    }

    /// The same before it begins, to be watched.
    pub fn simulation<G>(
        &self,
        descend: impl Fn(Peer) -> G,
    ) -> Result<Simulation<'a, Walker<Model>, WalkWorld<G>>>
    where
        G: FnMut(usize, f64, &mut Model),
    {
        let setup = &self.setup;
        setup.check()?;
        require(
            self.network.timeout.is_some() || (self.network.drop == 0.0 && self.faults == Faults::default()),
            "timeout",
            "none",
            "tokens get lost on this network: give a time to wait for answers",
        )?;
        let (peers, tokens) = (setup.mixing.nodes(), setup.launch.len());
        let walker = |host| Walker::new(host, setup.start.clone(), setup.course, self.patience, tokens);
        let walkers = setup.hosts().into_iter().map(walker).collect();
        let launch = |(id, &peer): (usize, &Peer)| (peer, Launch { id, value: setup.start.clone() });
        let world = WalkWorld {
            seed: self.seed,
            turn: (0, 0),
            gradients: (0..peers).map(descend).collect(),
            finals: vec![None; tokens],
            latest: vec![None; tokens],
            transcript: WalkTranscript::default(),
            swallowed: 0,
            stranded: 0,
            arrived: Duration::ZERO,
        };
        let launches = setup.launch.iter().enumerate().map(launch).collect();
        let graph = setup.mixing.graph();
        let checks: Vec<Box<dyn Invariant<Walker<Model>> + 'a>> = vec![
            Box::new(invariants::BudgetRespected::new(vec![setup.budget; peers])),
            Box::new(invariants::OnlyNeighboursTalk::new(move |_: &Label, from, to| {
                graph.has_edge(from, to)
            })),
        ];
        Ok(Simulation::of(walkers, world, self.network, self.seed, launches)?
            .faults(&self.faults)?
            .budgets(setup.allowances()?)?
            .deadline(self.deadline)
            .invariants(checks))
    }
}

impl WalkOutcome {
    /// What came of a run.
    pub fn of<G>(ended: Ended<Walker<Model>, WalkWorld<G>>) -> Self {
        let WalkWorld { finals, transcript, swallowed, stranded, arrived, .. } = ended.world;
        let whole = finals.iter().all(Option::is_some);
        Self {
            finals,
            transcript,
            sent: ended.traffic.sent,
            lost: ended.traffic.lost,
            swallowed,
            stranded,
            duration: if whole { arrived } else { ended.last },
            violations: ended.violations,
        }
    }
}

/// The world of a walk.
pub struct WalkWorld<G> {
    seed: u64,
    /// The token and the step whose dice are thrown next: anew for every step, as long as a token stays where it is.
    turn: (usize, usize),
    gradients: Vec<G>,
    finals: Vec<Option<Token<Model>>>,
    latest: Vec<Option<Token<Model>>>,
    transcript: WalkTranscript,
    swallowed: u64,
    stranded: u64,
    arrived: Duration,
}

impl<G> WalkWorld<G> {
    /// Each token as it was last passed on; of two copies the valid one. None before the first time.
    pub fn latest(&self) -> &[Option<Token<Model>>] {
        &self.latest
    }

    /// Tokens that have arrived; of two copies the valid one.
    pub fn finals(&self) -> &[Option<Token<Model>>] {
        &self.finals
    }

    /// What happened so far, without values.
    pub fn transcript(&self) -> &WalkTranscript {
        &self.transcript
    }

    /// When the last token arrived, how many copies were swallowed, and how often a token found nobody.
    pub fn counts(&self) -> (Duration, u64, u64) {
        (self.arrived, self.swallowed, self.stranded)
    }
}

/// Keeps the later of two copies of a token, or the later step of one.
fn keep(slot: &mut Option<Token<Model>>, token: &Token<Model>) {
    if slot.as_ref().is_none_or(|known| (known.epoch, known.step) < (token.epoch, token.step)) {
        *slot = Some(token.clone());
    }
}

impl<G: FnMut(usize, f64, &mut Model)> World<Walker<Model>> for WalkWorld<G> {
    fn turn(&mut self, _: Peer, input: &Input<Model>) {
        self.turn = match input {
            Input::Command(launch) => (launch.id, 0),
            Input::Message { message, .. } => match &**message {
                Message::Token(token) => (token.id, token.step),
                Message::Received(answer) => (answer.id, answer.step),
            },
            Input::Timer(Timer { id, number }) => (*id, usize::MAX - *number as usize),
            Input::Computed { .. } => self.turn,
        };
    }

    fn bits(&mut self, _: Peer) -> u64 {
        let (token, step) = self.turn;
        self.turn.1 = step.wrapping_add(1);
        Turn::new(self.seed, token, step).bits()
    }

    fn noise(
        &mut self,
        peer: Peer,
        draw: u64,
        scale: f64,
        like: &Model,
    ) -> std::result::Result<Model, Uncovered> {
        PeerNoise::new(self.seed, peer).draw(draw, scale, like)
    }

    fn compute(&mut self, peer: Peer, contribution: usize, gamma: f64, token: &mut Model) {
        (self.gradients[peer])(contribution, gamma, token);
    }

    fn heard(&mut self, envelope: &Envelope<'_, Walker<Model>>) {
        self.transcript.delivered(envelope);
    }

    fn step(&mut self, step: &Step<'_, Walker<Model>>) {
        self.transcript.step(step);
        for (_, message) in step.sends() {
            if let Message::Token(token) = message {
                keep(&mut self.latest[token.id], token);
            }
        }
        for note in step.notes() {
            match note {
                Note::Stranded { .. } => self.stranded += 1,
                Note::Refused { reason, .. } => self.swallowed += u64::from(*reason == Refusal::Late),
                Note::Finished(sent) => {
                    if let Some(token) = step.machine.finished(sent.id) {
                        keep(&mut self.finals[sent.id], token);
                        keep(&mut self.latest[sent.id], token);
                    }
                    self.arrived = step.time;
                }
                _ => {}
            }
        }
    }
}
