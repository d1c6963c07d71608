//! Tokens on a network with faults: the walkers' machines, driven event by event.
//!
//! A step of the run is over when every token has made it. After the last, what is still under way is awaited: copies that were sent again and are not
//! swallowed yet show something, too, and are counted.

use sottovoce_protocol::walk::{Note, Token, TokenPath, Visit, Walker};
use sottovoce_protocol::{Overspent, Peer};
use sottovoce_simulator::driver::Running;
use sottovoce_simulator::walk::{WalkState, WalkWorld, copies, copies_so_far};

use super::walk::Gradient;
use crate::learning::State;
use crate::learning::engine::{Engine, Releases};
use crate::learning::network::Traffic;
use crate::{Error, Result};

type Model = Vec<f64>;

/// A run under way.
pub(super) struct Networked<'a> {
    pub(super) running: Running<'a, Walker<Model>, WalkWorld<Gradient<'a>>>,
    /// The model that tokens start from.
    pub(super) start: Model,
    /// Whether nothing more happens.
    pub(super) over: bool,
}

impl Networked<'_> {
    fn whole(&self) -> bool {
        self.running.world().finals().iter().all(Option::is_some)
    }

    /// The tokens that count: on the way as they were last passed on, in the end those that arrived.
    fn tokens(&self) -> impl Iterator<Item = &Token<Model>> {
        let world = self.running.world();
        if self.over { world.finals() } else { world.latest() }.iter().flatten()
    }
}

impl Engine for Networked<'_> {
    fn advance(&mut self, _: &mut dyn FnMut(usize, Peer, Visit)) -> Result<bool> {
        let before = self.done();
        while self.running.advance() {
            if self.done() > before && !self.whole() {
                return Ok(true);
            }
        }
        self.over = true;
        if let Some(violation) = self.running.violations().first() {
            return Err(Error::refused(format!("an invariant broke ({violation}): please report the seed")));
        }
        Ok(self.done() > before)
    }

    fn listen(&mut self, _: &mut Releases<'_>) -> Result<bool> {
        let remedy = "the attack reads tokens on a perfect network; leave out what is said of the network";
        Err(Error::parameter("network", "given", remedy))
    }

    fn state(&self) -> State {
        let tokens = self.running.world().latest().iter();
        State::Walk(WalkState {
            step: self.done(),
            holders: Vec::new(),
            tokens: tokens
                .map(|token| token.as_ref().map_or(self.start.clone(), |token| token.value.clone()))
                .collect(),
            contributions: self.released(),
            draws: Vec::new(),
        })
    }

    fn resume(&mut self, _: State) -> Result<()> {
        let remedy = "a run by messages cannot be taken up again; begin anew, or leave out what is said of the network";
        Err(Error::parameter("checkpoint", "given", remedy))
    }

    fn model(&self) -> Model {
        let (mut sum, mut count) = (vec![0.0; self.start.len()], 0.0);
        for token in self.tokens() {
            sum.iter_mut().zip(&token.value).for_each(|(sum, x)| *sum += x);
            count += 1.0;
        }
        // Where no token arrived nothing was learned.
        if count == 0.0 { self.start.clone() } else { sum.into_iter().map(|sum| sum / count).collect() }
    }

    /// Steps that every token has made.
    fn done(&self) -> usize {
        let step = |token: &Option<Token<Model>>| token.as_ref().map_or(0, |token| token.step);
        self.running.world().latest().iter().map(step).min().unwrap_or(0)
    }

    fn released(&self) -> Vec<usize> {
        let mut counts = vec![0; self.running.allowances().len()];
        self.running.world().transcript().releases.iter().for_each(|(peer, _)| counts[*peer] += 1);
        counts
    }

    fn spent(&self) -> f64 {
        (0..self.running.allowances().len()).map(|peer| self.spent_by(peer)).fold(0.0, |most, spent| {
            // What is not a number counts.
            if spent.is_nan() || spent > most { spent } else { most }
        })
    }

    fn spent_by(&self, peer: Peer) -> f64 {
        self.running.allowances()[peer].spent()
    }

    fn stopped(&self) -> Option<Overspent> {
        let stopped =
            |(_, note): &(Peer, Note)| if let Note::Stopped(why) = note { Some(*why) } else { None };
        self.running.world().transcript().notes.iter().find_map(stopped)
    }

    fn paths(&self) -> Option<Vec<TokenPath>> {
        let transcript = self.running.world().transcript();
        Some(if self.over { copies(transcript) } else { copies_so_far(transcript) })
    }

    fn traffic(&self) -> Option<Traffic> {
        let (world, traffic) = (self.running.world(), self.running.traffic());
        let rerouted = |(_, note): &&(Peer, Note)| matches!(note, Note::Rerouted { .. });
        let (arrived, swallowed, stranded) = world.counts();
        let end = if self.whole() { arrived } else { self.running.time() };
        Some(Traffic {
            messages: traffic.sent,
            lost: traffic.lost,
            reroutings: world.transcript().notes.iter().filter(rerouted).count(),
            swallowed,
            stranded,
            finished: world.finals().iter().flatten().count(),
            virtual_seconds: end.as_secs_f64(),
        })
    }
}
