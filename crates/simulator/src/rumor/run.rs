//! What the driver needs for tellers: dice for each, who learned when, what curious peers saw.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use sottovoce_protocol::public::{Among, Curious, check_source};
use sottovoce_protocol::rumor::{Begin, Chance, Contacts, Id, Label, Message, Note, RumorRules, Teller};
use sottovoce_protocol::{Peer, Transcript, Uncovered};

use super::{Dice, Seen};
use crate::driver::{Ended, Simulation, World};
use crate::invariants::{Invariant, OnlyNeighboursTalk, Violation};
use crate::network::{Faults, Network, nanoseconds};
use crate::record::{Envelope, Recorder, Step};
use crate::{Result, require};

/// A run that has not begun.
///
/// ```
/// use std::time::Duration;
/// use sottovoce_protocol::rumor::{Clock, RumorRules, Muting, Start};
/// use sottovoce_simulator::network::{Faults, Network};
/// use sottovoce_protocol::public::Among;
/// use sottovoce_simulator::rumor::RumorRun;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let muting = Muting::new(0.5)?;
/// let run = RumorRun {
///     among: Among::Everyone(50),
///     rules: RumorRules { muting, clock: Clock::Poisson, start: Start::Alike, acknowledged: false },
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
    pub rules: RumorRules,
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
    /// Who passes on a rumour at the end, or is about to.
    #[serde(skip)]
    pub still: Vec<Peer>,
    /// Who told, and when, in seconds: every attempt, heard or not, of any rumour.
    #[serde(skip)]
    pub tellings: Vec<(f64, Peer)>,
    /// Messages sent, acknowledgements included.
    pub sent: u64,
    /// Of these, lost on the way or at a peer who was not there.
    pub lost: u64,
    /// What curious peers saw of each rumour.
    #[serde(skip)]
    pub seen: BTreeMap<Id, Vec<Seen>>,
    /// When the last peer learned something, in seconds.
    pub duration: f64,
    /// What happened, without texts.
    #[serde(skip)]
    pub transcript: RumorTranscript,
    /// Broken invariants: none, or the run is void.
    #[serde(skip)]
    pub violations: Vec<Violation>,
}

/// The transcript of rumours.
pub type RumorTranscript = Transcript<Label, Note>;

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
        Ok(RumorOutcome::of(self.simulation()?.end(|_| {})))
    }

    /// The same before it begins, to be watched.
    pub fn simulation(&self) -> Result<Simulation<'_, Teller, RumorWorld<'_>>> {
        self.check()?;
        let (peers, rumors) = (self.among.peers(), self.rumors.len());
        let teller = |peer| match self.among.contacts(peer) {
            Contacts::Everyone(peers) => Teller::in_crowd(peer, peers, self.rules),
            Contacts::Only(contacts) => Teller::new(peer, contacts.to_vec(), self.rules),
        };
        let begin = |(id, (source, text)): (usize, &(Peer, Vec<u8>))| {
            (*source, Begin { id: id as Id, payload: text.clone() })
        };
        let world = RumorWorld {
            dice: (0..peers).map(|peer| Dice::new(self.seed, 0, peer as u64)).collect(),
            curious: self.curious,
            missing: peers * rumors,
            outcome: RumorOutcome::new(peers, rumors),
        };
        let (tellers, begins) = ((0..peers).map(teller).collect(), self.rumors.iter().enumerate().map(begin));
        let among = self.among;
        let talk = move |_: &Label, from: Peer, to: Peer| match among.contacts(from) {
            Contacts::Everyone(peers) => to < peers && from != to,
            Contacts::Only(contacts) => contacts.binary_search(&(to as u32)).is_ok(),
        };
        let checks: Vec<Box<dyn Invariant<Teller> + '_>> = vec![Box::new(OnlyNeighboursTalk::new(talk))];
        Ok(Simulation::of(tellers, world, self.network, self.seed, begins.collect())?
            .faults(&self.faults)?
            .period(self.period)
            .deadline(self.deadline)
            .invariants(checks))
    }

    fn check(&self) -> Result<()> {
        self.among.check()?;
        require(!self.period.is_zero(), "period", "0 s", "give a time longer than nothing")?;
        for (source, _) in &self.rumors {
            match self.curious {
                Some(curious) => curious.check_source(*source)?,
                None => check_source(*source, self.among.peers())?,
            }
        }
        Ok(())
    }
}

impl RumorOutcome {
    fn new(peers: usize, rumors: usize) -> Self {
        Self {
            learned: vec![vec![None; peers]; rumors],
            active: vec![0; rumors],
            still: Vec::new(),
            tellings: Vec::new(),
            sent: 0,
            lost: 0,
            seen: BTreeMap::new(),
            duration: 0.0,
            transcript: RumorTranscript::default(),
            violations: Vec::new(),
        }
    }

    /// What came of a run.
    pub fn of(ended: Ended<Teller, RumorWorld<'_>>) -> Self {
        let mut outcome = ended.world.outcome;
        for (id, active) in outcome.active.iter_mut().enumerate() {
            let tellers = ended.machines.iter().zip(&ended.alive).enumerate();
            let telling = tellers.filter(|(_, (teller, alive))| **alive && teller.is_active(id as Id));
            let before = outcome.still.len();
            outcome.still.extend(telling.map(|(peer, _)| peer));
            *active = outcome.still.len() - before;
        }
        // Whoever is about to be told will be active.
        for message in ended.underway.iter().filter(|message| ended.alive[message.to]) {
            if let Message::Tell { told, .. } = &*message.message {
                outcome.active[told.id as usize] += 1;
                outcome.still.push(message.to);
            }
        }
        (outcome.sent, outcome.lost) = (ended.traffic.sent, ended.traffic.lost);
        outcome.violations = ended.violations;
        outcome
    }
}

/// The world of rumours.
pub struct RumorWorld<'a> {
    dice: Vec<Dice>,
    curious: Option<&'a Curious>,
    /// Peers who have yet to learn something, counted for each rumour.
    missing: usize,
    outcome: RumorOutcome,
}

impl World<Teller> for RumorWorld<'_> {
    fn bits(&mut self, peer: Peer) -> u64 {
        self.dice[peer].bits()
    }

    /// A rumour's privacy is in who tells whom: there is nothing to add to it.
    fn noise(&mut self, _: Peer, draw: u64, scale: f64, (): &()) -> std::result::Result<(), Uncovered> {
        Err(Uncovered { draw, scale })
    }

    fn heard(&mut self, envelope: &Envelope<'_, Teller>) {
        let Envelope { time, from, to, message, .. } = *envelope;
        self.outcome.transcript.delivered(envelope);
        if let (Message::Tell { told, .. }, Some(curious)) = (message, self.curious)
            && curious.has(to)
        {
            let seen = Seen { sender: from as u32, receiver: to as u32, time: nanoseconds(time) };
            self.outcome.seen.entry(told.id).or_default().push(seen);
        }
    }

    fn step(&mut self, step: &Step<'_, Teller>) {
        self.outcome.transcript.step(step);
        for (_, message) in step.sends() {
            if let Message::Tell { .. } = message {
                self.outcome.tellings.push((step.time.as_secs_f64(), step.peer));
            }
        }
        for note in step.notes() {
            if let Note::Learned { id } = note {
                let seconds = step.time.as_secs_f64();
                self.outcome.learned[*id as usize][step.peer] = Some(seconds);
                self.outcome.duration = seconds;
                self.missing -= 1;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.missing == 0
    }
}
