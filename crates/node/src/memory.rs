//! Peers in one process: a network of queues in virtual time, for tests and rehearsals.
//!
//! What is real here is everything but the wire: machines, hosts, ledgers and frames are those of a deployment. Peers may be stopped at any moment and opened again.

use std::collections::BTreeMap;

use sottovoce_protocol::{Machine, Peer, Span};

use crate::{Due, DueOf, Error, Frame, Hiding, Host, Result};

/// How long a frame is under way, and how long peers wait for an answer, in ticks.
const DELAY: u64 = 10;
const ANSWER: u64 = 1000;
const PERIOD: f64 = 100.0;

/// A frame as it went over the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter {
    /// Its sender.
    pub from: Peer,
    /// Its receiver.
    pub to: Peer,
    /// What it says.
    pub frame: Frame,
}

enum Event<T> {
    Frame(Letter),
    /// A timer, and how often its peer had been opened when it was set.
    Timer(Peer, T, u64),
}

/// A private step: whose, which, how large, from where.
type Step<V> = Box<dyn FnMut(Peer, usize, f64, &mut V)>;

/// Peers, and what is under way between them.
pub struct Rehearsal<M: Machine, N> {
    hosts: Vec<Option<Host<M, N>>>,
    lives: Vec<u64>,
    events: BTreeMap<(u64, u64), Event<M::Timer>>,
    now: u64,
    order: u64,
    step: Step<M::Value>,
    /// All frames that were sent, in order: what a wire-tapper has.
    pub wire: Vec<Letter>,
    /// What peers noted.
    pub notes: Vec<(Peer, M::Note)>,
}

impl<M: Machine, N: Hiding<M::Value>> Rehearsal<M, N> {
    /// So many peers, none of them there yet.
    pub fn new(peers: usize, step: impl FnMut(Peer, usize, f64, &mut M::Value) + 'static) -> Self {
        Self {
            hosts: (0..peers).map(|_| None).collect(),
            lives: vec![0; peers],
            events: BTreeMap::new(),
            now: 0,
            order: 0,
            step: Box::new(step),
            wire: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A peer comes, also again.
    pub fn arrive(&mut self, peer: Peer, (host, dues): (Host<M, N>, Vec<DueOf<M>>)) -> Result<()> {
        self.lives[peer] += 1;
        self.hosts[peer] = Some(host);
        self.obey(peer, dues)
    }

    /// A peer stops as if its plug was pulled: what was under way to it is lost.
    pub fn stop(&mut self, peer: Peer) {
        self.hosts[peer] = None;
    }

    /// A peer, if it is there.
    pub fn host(&mut self, peer: Peer) -> Option<&mut Host<M, N>> {
        self.hosts[peer].as_mut()
    }

    /// Asks a peer for something.
    pub fn with(
        &mut self,
        peer: Peer,
        ask: impl FnOnce(&mut Host<M, N>) -> Result<Vec<DueOf<M>>>,
    ) -> Result<()> {
        let Some(host) = self.hosts[peer].as_mut() else { return Ok(()) };
        let dues = ask(host)?;
        self.obey(peer, dues)
    }

    fn later(&mut self, ticks: u64, event: Event<M::Timer>) {
        self.order += 1;
        self.events.insert((self.now.saturating_add(ticks), self.order), event);
    }

    fn obey(&mut self, peer: Peer, dues: Vec<DueOf<M>>) -> Result<()> {
        for due in dues {
            match due {
                Due::Send { to, frame } => {
                    let letter = Letter { from: peer, to, frame };
                    self.wire.push(letter.clone());
                    self.later(DELAY, Event::Frame(letter));
                }
                Due::Wait { timer, span } => {
                    let ticks = match span {
                        Span::Answer => ANSWER,
                        Span::Round(round) => ANSWER.saturating_mul(round as u64 + 1),
                        Span::Periods(periods) => (periods * PERIOD) as u64,
                    };
                    let event = Event::Timer(peer, timer, self.lives[peer]);
                    self.later(ticks, event);
                }
                Due::Compute { ticket, iteration, size, mut value } => {
                    (self.step)(peer, iteration, size, &mut value);
                    self.with(peer, |host| host.computed(ticket, value))?;
                }
                Due::Note(note) => self.notes.push((peer, note)),
            }
        }
        Ok(())
    }

    /// One event; the peer at which something went wrong, and what. `None` once nothing is under way.
    pub fn advance(&mut self) -> Option<std::result::Result<(), (Peer, Error)>> {
        let ((time, _), event) = self.events.pop_first()?;
        self.now = time;
        let (peer, done) = match event {
            Event::Frame(Letter { from, to, frame }) => (to, self.with(to, |host| host.hear(from, frame))),
            Event::Timer(peer, timer, life) if life == self.lives[peer] => {
                (peer, self.with(peer, |host| host.timer(timer)))
            }
            Event::Timer(peer, ..) => (peer, Ok(())),
        };
        Some(done.map_err(|error| (peer, error)))
    }
}
