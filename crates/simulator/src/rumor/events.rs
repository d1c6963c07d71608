//! Rumours in virtual time: every peer a state machine, on a network that delays, loses and repeats, among peers who crash and leave.
//!
//! ```text
//! queue ──(time, event)──► teller.handle ──► outputs ──► queue      send: a fate from the network; tick: the clock
//!                               │
//!                               └──► who learned when, what curious peers saw
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use sottovoce_protocol::Peer;
use sottovoce_protocol::rumor::{Contacts, Id, Input, Manner, Message, Output, Teller};

use super::curious::{Curious, Seen};
use super::{Among, Dice, check_source};
use crate::network::{Faults, Network, nanoseconds};
use crate::presence::Presence;
use crate::queue::Queue;
use crate::{Error, Result};

/// A run that has not begun.
///
/// ```
/// use std::time::Duration;
/// use sottovoce_protocol::rumor::{Clock, Manner, Muting, Start};
/// use sottovoce_simulator::network::{Faults, Network};
/// use sottovoce_simulator::rumor::{Among, RumorRun};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let muting = Muting::new(0.5)?;
/// let run = RumorRun {
///     among: Among::Everyone(50),
///     manner: Manner { muting, clock: Clock::Poisson, start: Start::Alike, acknowledged: false },
///     network: Network::perfect(),
///     faults: Faults::default(),
///     rumors: vec![(3, b"spring".to_vec())],
///     curious: None,
///     period: Duration::from_secs(1),
///     deadline: Duration::from_secs(60),
///     seed: 7,
/// };
/// let outcome = run.run()?;
/// assert_eq!(outcome.informed(0), 50);
/// assert!(!outcome.died(0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RumorRun<'a> {
    /// Who can tell whom.
    pub among: Among<'a>,
    /// How everyone behaves.
    pub manner: Manner,
    /// The network; its timeout has no meaning here.
    pub network: Network,
    /// What happens to peers.
    pub faults: Faults,
    /// Each rumour's source and text; the first is rumour 0.
    pub rumors: Vec<(Peer, Vec<u8>)>,
    /// Who listens, if anyone.
    pub curious: Option<&'a Curious>,
    /// A round, or the mean time between two tellings of an active peer.
    pub period: Duration,
    /// When it ends at the latest.
    pub deadline: Duration,
    /// The seed.
    pub seed: u64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RumorOutcome {
    /// For each rumour and each peer: when it learned of it, in seconds.
    pub learned: Vec<Vec<Option<f64>>>,
    /// For each rumour: peers still passing it on, and tellings under way.
    pub active: Vec<usize>,
    /// Messages sent, acknowledgements included.
    pub sent: u64,
    /// Of these, lost on the way or at a peer who was not there.
    pub lost: u64,
    /// What curious peers saw of each rumour.
    #[serde(skip)]
    pub seen: BTreeMap<Id, Vec<Seen>>,
    /// When the last peer learned something, in seconds.
    pub duration: f64,
}

impl RumorOutcome {
    /// Peers who know a rumour.
    pub fn informed(&self, rumor: usize) -> usize {
        self.learned[rumor].iter().flatten().count()
    }

    /// Whether nobody passes a rumour on although somebody has not heard it: it was lost with a message, or with whoever held it.
    pub fn died(&self, rumor: usize) -> bool {
        self.active[rumor] == 0 && self.informed(rumor) < self.learned[rumor].len()
    }
}

impl RumorRun<'_> {
    /// Runs to the deadline, or until every living peer knows everything or nobody tells anything any more.
    pub fn run(&self) -> Result<RumorOutcome> {
        self.check()?;
        let mut run = Run::new(self);
        run.go();
        Ok(run.conclude())
    }

    fn check(&self) -> Result<()> {
        self.among.check()?;
        self.network.check()?;
        self.faults.check(self.among.peers())?;
        if self.period.is_zero() {
            return Err(Error::parameter("period", "0 s", "give a time longer than nothing"));
        }
        for (source, _) in &self.rumors {
            match self.curious {
                Some(curious) => curious.check_source(*source)?,
                None => check_source(*source, self.among.peers())?,
            }
        }
        Ok(())
    }
}

enum Event {
    Deliver { from: Peer, to: Peer, message: Message },
    Tick { peer: Peer, id: Id, tick: u64 },
    Begin { peer: Peer, id: Id },
}

impl Event {
    fn peer(&self) -> Peer {
        match self {
            Self::Deliver { to: peer, .. } | Self::Tick { peer, .. } | Self::Begin { peer, .. } => *peer,
        }
    }
}

struct Run<'r, 'a> {
    given: &'r RumorRun<'a>,
    tellers: Vec<Teller>,
    dice: Vec<Dice>,
    presence: Vec<Presence>,
    slowness: Vec<f64>,
    sent: Vec<u64>,
    queue: Queue<Event>,
    now: u64,
    /// Peers who have yet to learn something, counted for each rumour.
    missing: usize,
    outcome: RumorOutcome,
}

impl<'r, 'a> Run<'r, 'a> {
    fn new(given: &'r RumorRun<'a>) -> Self {
        let (peers, rumors) = (given.among.peers(), given.rumors.len());
        let teller = |peer| match given.among.contacts(peer) {
            Contacts::Everyone(peers) => Teller::in_crowd(peer, peers, given.manner),
            Contacts::Only(contacts) => Teller::new(peer, contacts.to_vec(), given.manner),
        };
        let mut slowness = vec![1.0; peers];
        given.faults.stragglers.iter().for_each(|&(peer, factor)| slowness[peer] *= factor);
        let mut queue = Queue::new();
        for (id, (source, _)) in given.rumors.iter().enumerate() {
            queue.push(0, Event::Begin { peer: *source, id: id as Id });
        }
        Self {
            tellers: (0..peers).map(teller).collect(),
            dice: (0..peers).map(|peer| Dice::new(given.seed, 0, peer as u64)).collect(),
            presence: Presence::of(&given.faults, peers),
            slowness,
            sent: vec![0; peers],
            queue,
            now: 0,
            missing: peers * rumors,
            outcome: RumorOutcome {
                learned: vec![vec![None; peers]; rumors],
                active: vec![0; rumors],
                sent: 0,
                lost: 0,
                seen: BTreeMap::new(),
                duration: 0.0,
            },
            given,
        }
    }

    fn go(&mut self) {
        let deadline = nanoseconds(self.given.deadline);
        while self.missing > 0
            && let Some((time, event)) = self.queue.pop()
            && time <= deadline
        {
            self.now = time;
            let presence = &self.presence[event.peer()];
            let is_message = matches!(event, Event::Deliver { .. });
            if presence.is_dead(time) || is_message && presence.is_away(time) {
                self.outcome.lost += u64::from(is_message);
                continue;
            }
            match presence.back(time) {
                Some(later) => self.queue.push(later, event),
                None => self.handle(event),
            }
        }
    }

    fn handle(&mut self, event: Event) {
        let peer = event.peer();
        let input = match event {
            Event::Begin { id, .. } => {
                self.learn(peer, id);
                Input::Begin { id, payload: self.given.rumors[id as usize].1.clone() }
            }
            Event::Tick { id, tick, .. } => Input::Tick { id, tick },
            Event::Deliver { from, message, .. } => {
                self.note(from, peer, &message);
                Input::Message { from, message }
            }
        };
        self.tellers[peer].handle(input, &mut self.dice[peer]);
        while let Some(output) = self.tellers[peer].poll() {
            match output {
                Output::Send { to, message } => self.send(peer, to, &message),
                Output::Tick { id, tick, after } => {
                    let after = (after * self.given.period.as_nanos() as f64).round() as u64;
                    self.queue.push(self.now.saturating_add(after), Event::Tick { peer, id, tick });
                }
                Output::Learned { id, .. } => self.learn(peer, id),
            }
        }
    }

    fn learn(&mut self, peer: Peer, id: Id) {
        let seconds = Duration::from_nanos(self.now).as_secs_f64();
        self.outcome.learned[id as usize][peer] = Some(seconds);
        self.outcome.duration = seconds;
        self.missing -= 1;
    }

    fn note(&mut self, from: Peer, to: Peer, message: &Message) {
        if let (Message::Tell { id, .. }, Some(curious)) = (message, self.given.curious)
            && curious.has(to)
        {
            let seen = Seen { sender: from as u32, receiver: to as u32, time: self.now };
            self.outcome.seen.entry(*id).or_default().push(seen);
        }
    }

    fn send(&mut self, from: Peer, to: Peer, message: &Message) {
        let number = self.sent[from];
        self.sent[from] += 1;
        self.outcome.sent += 1;
        let fate = self.given.network.fate(self.given.seed, from, number, self.slowness[from]);
        self.outcome.lost += u64::from(fate[0].is_none());
        for delay in fate.into_iter().flatten() {
            let event = Event::Deliver { from, to, message: message.clone() };
            self.queue.push(self.now.saturating_add(delay), event);
        }
    }

    fn conclude(mut self) -> RumorOutcome {
        for id in 0..self.given.rumors.len() {
            let alive = |&peer: &usize| !self.presence[peer].is_dead(self.now);
            let active = |&peer: &usize| self.tellers[peer].is_active(id as Id);
            let holders = (0..self.tellers.len()).filter(alive).filter(active).count();
            self.outcome.active[id] = holders;
        }
        // Whoever is about to be told will be active.
        for event in self.queue.rest() {
            if let Event::Deliver { message: Message::Tell { id, .. }, to, .. } = event
                && !self.presence[to].is_dead(self.now)
            {
                self.outcome.active[id as usize] += 1;
            }
        }
        self.outcome
    }
}
