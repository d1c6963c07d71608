//! A peer who passes rumours on.
//!
//! **Lost messages.** Without acknowledgements a telling that is lost is lost, and at `s = 0` the rumour dies with it. With them
//! ([`RumorRules::acknowledged`]) a teller who hears nothing stays as it was and repeats *the same* telling, to the same peer, at its next
//! tick: then the tellings that succeed have the law of a network without losses, at a slower clock, and the guarantee is the same
//! (as long as acknowledgements themselves arrive). Choosing another peer after an unheard acknowledgement would let the
//! source speak more often than the guarantee allows.
//!
//! Acknowledgements say which attempt was heard. A teller that was told something after that attempt had fallen silent by then without
//! knowing it, and is active again; one that was told before it was active already, and falls silent now.
//!
//! **What is kept.** A repetition must not count as another telling, so the names of tellings are remembered: the last [`REMEMBERED`] of each
//! sender. Who waits for answers repeats one telling until it is answered, so that one would do but for copies that the network holds
//! back; a copy that so many later tellings of its sender overtook counts as a telling, which makes the rumour spread a little faster and says nothing of its
//! source. No sender can make a peer forget the tellings of another. Rumours are at most [`MOST_RUMORS`], with texts of at most [`LONGEST`] bytes; a
//! peer with a contact list refuses everyone else. There is one unanswered telling a rumour.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::choice::{Contacts, Telling, tell};
use super::words::{Begin, Clock, Id, Input, Label, Message, Note, Output, RumorRules, Start, Tick, Told};
use crate::{Machine, Means, Mismatch, Peer, Refusal, Span};

/// Tellings of one sender that a peer remembers, for each rumour.
pub const REMEMBERED: usize = 64;

/// Rumours that a peer keeps.
pub const MOST_RUMORS: usize = 1 << 16;

/// Bytes of the longest text.
pub const LONGEST: usize = 1 << 20;

/// A peer's state machine.
///
/// ```
/// use sottovoce_protocol::rumor::{Begin, Clock, Input, Muting, Output, RumorRules, Start, Teller, Tick};
/// use sottovoce_protocol::{Chance, Machine, Means, Overspent, Release, Uncovered};
/// struct Dice(u64);
/// impl Chance for Dice {
///     fn bits(&mut self) -> u64 {
///         self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
///         self.0
///     }
/// }
/// impl Means<()> for Dice {
///     fn admit(&mut self, _: &Release) -> Result<(), Overspent> { Ok(()) }
///     fn cover(&mut self, _: u64, _: f64, _: &mut ()) -> Result<(), Uncovered> { Ok(()) }
/// }
/// let muting = Muting::new(0.0)?;
/// let rules = RumorRules { muting, clock: Clock::Rounds, start: Start::Alike, acknowledged: false };
/// let mut teller = Teller::new(0, vec![1, 2], rules);
/// let mut dice = Dice(1);
/// teller.handle(Input::Command(Begin { id: 7, payload: b"spring".to_vec() }), &mut dice);
/// assert_eq!(teller.text(7), Some(&b"spring"[..]));
/// teller.handle(Input::Timer(Tick { id: 7, tick: 0 }), &mut dice);
/// let outputs: Vec<Output> = std::iter::from_fn(|| teller.poll()).collect();
/// assert!(outputs.iter().any(|output| matches!(output, Output::Send { to, .. } if [[1], [2]].contains(&[to[0]]))));
/// assert!(!teller.is_active(7)); // It has told once.
/// # Ok::<(), sottovoce_protocol::rumor::BadMuting>(())
/// ```
#[derive(Debug, Clone)]
pub struct Teller {
    me: Peer,
    contacts: Whom,
    rules: RumorRules,
    at: State,
}

/// All that must survive a crash.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    rumors: BTreeMap<Id, Rumor>,
    outputs: VecDeque<Output>,
}

#[derive(Debug, Clone)]
enum Whom {
    Everyone(usize),
    Only(Vec<u32>),
}

impl Whom {
    fn has(&self, peer: Peer) -> bool {
        match self {
            Self::Everyone(peers) => peer < *peers,
            Self::Only(peers) => u32::try_from(peer).is_ok_and(|peer| peers.contains(&peer)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Rumor {
    payload: Vec<u8>,
    active: bool,
    /// Begun here, and not told yet.
    first: bool,
    /// A telling without an answer.
    unheard: Option<Unheard>,
    /// Ticks asked for so far: only the last counts.
    ticks: u64,
    /// The last tellings of each sender, in the order they came: their names, and the attempts that arrived first.
    heard: BTreeMap<Peer, VecDeque<(u64, u64)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Unheard {
    to: Peer,
    stays: bool,
    number: u64,
    attempts: u64,
    /// Told by someone after so many attempts, the last time.
    told_after: Option<u64>,
}

impl Rumor {
    /// The attempt at which a telling arrived first, and whether that was before now.
    fn remember(&mut self, from: Peer, told: Told) -> (u64, bool) {
        let heard = self.heard.entry(from).or_default();
        if let Some(&(_, first)) = heard.iter().find(|(number, _)| *number == told.number) {
            return (first, true);
        }
        if heard.len() == REMEMBERED {
            heard.pop_front();
        }
        heard.push_back((told.number, told.attempt));
        (told.attempt, false)
    }
}

impl Teller {
    /// A peer that can tell these others, and is told by no one else.
    pub fn new(me: Peer, contacts: Vec<u32>, rules: RumorRules) -> Self {
        Self::with(me, Whom::Only(contacts), rules)
    }

    /// One of `peers` peers who can all tell each other. It may choose itself, and then nothing happens: so the theorems have it.
    pub fn in_crowd(me: Peer, peers: usize, rules: RumorRules) -> Self {
        Self::with(me, Whom::Everyone(peers), rules)
    }

    fn with(me: Peer, contacts: Whom, rules: RumorRules) -> Self {
        Self { me, contacts, rules, at: State::default() }
    }

    /// Whether it knows the rumour.
    pub fn knows(&self, id: Id) -> bool {
        self.at.rumors.contains_key(&id)
    }

    /// What a rumour says, if it is known.
    pub fn text(&self, id: Id) -> Option<&[u8]> {
        self.at.rumors.get(&id).map(|rumor| &rumor.payload[..])
    }

    /// All that it knows, by name.
    pub fn rumors(&self) -> impl Iterator<Item = (Id, &[u8])> {
        self.at.rumors.iter().map(|(id, rumor)| (*id, &rumor.payload[..]))
    }

    /// Whether it is passing the rumour on.
    pub fn is_active(&self, id: Id) -> bool {
        self.at.rumors.get(&id).is_some_and(|rumor| rumor.active)
    }

    fn note(&mut self, note: Note) {
        self.at.outputs.push_back(Output::Note(note));
    }

    /// Whether there is room for a rumour.
    fn check(&self, id: Id, payload: &[u8]) -> Result<(), Refusal> {
        match () {
            () if payload.len() > LONGEST => Err(Refusal::Shape),
            () if self.at.rumors.len() >= MOST_RUMORS && !self.knows(id) => Err(Refusal::Flood),
            () => Ok(()),
        }
    }

    fn begin(&mut self, id: Id, payload: Vec<u8>, chance: &mut dyn Means<()>) {
        if self.knows(id) {
            return;
        }
        if let Err(reason) = self.check(id, &payload) {
            return self.note(Note::Refused { from: self.me, reason });
        }
        self.at.rumors.insert(id, Rumor { payload, first: true, ..Rumor::default() });
        self.note(Note::Learned { id });
        self.activate(id, chance);
    }

    fn hear(&mut self, from: Peer, told: Told, payload: &[u8], chance: &mut dyn Means<()>) {
        let stranger = !self.contacts.has(from) || from == self.me;
        let checked = if stranger { Err(Refusal::Stranger) } else { self.check(told.id, payload) };
        if let Err(reason) = checked {
            return self.note(Note::Refused { from, reason });
        }
        let id = told.id;
        let new = !self.knows(id);
        let fresh = || Rumor { payload: payload.to_vec(), ..Rumor::default() };
        let rumor = self.at.rumors.entry(id).or_insert_with(fresh);
        // A copy that the network made, or a repetition, is not another telling.
        let (attempt, repeated) = rumor.remember(from, told);
        if self.rules.acknowledged {
            let message = Message::Heard(Told { attempt, ..told });
            self.at.outputs.push_back(Output::Send { to: vec![from], message });
        }
        if new {
            self.at.outputs.push_back(Output::Note(Note::Learned { id }));
        }
        match (&mut rumor.unheard, repeated) {
            (_, true) => {}
            (Some(unheard), false) if rumor.active => unheard.told_after = Some(unheard.attempts),
            _ if rumor.active => {}
            _ => self.activate(id, chance),
        }
    }

    fn activate(&mut self, id: Id, chance: &mut dyn Means<()>) {
        if let Some(rumor) = self.at.rumors.get_mut(&id) {
            rumor.active = true;
            rumor.unheard = None;
        }
        self.plan(id, chance);
    }

    fn plan(&mut self, id: Id, chance: &mut dyn Means<()>) {
        let Some(rumor) = self.at.rumors.get_mut(&id) else { return };
        let span = match self.rules.clock {
            Clock::Rounds => Span::Periods(1.0),
            Clock::Poisson => Span::Periods(-chance.unit().ln()),
        };
        self.at.outputs.push_back(Output::Wait { timer: Tick { id, tick: rumor.ticks }, span });
        rumor.ticks += 1;
    }

    fn tick(&mut self, Tick { id, tick }: Tick, chance: &mut dyn Means<()>) {
        let contacts = match &self.contacts {
            Whom::Everyone(peers) => Contacts::Everyone(*peers),
            Whom::Only(peers) => Contacts::Only(peers),
        };
        let last = |rumor: &&mut Rumor| rumor.active && tick.checked_add(1) == Some(rumor.ticks);
        let Some(rumor) = self.at.rumors.get_mut(&id).filter(last) else { return };
        let Unheard { to, stays, number, attempts, told_after } = match rumor.unheard {
            Some(unheard) => unheard,
            None => {
                let Some(Telling { to, mut stays }) = tell(contacts, self.rules.muting, chance) else {
                    return;
                };
                stays &= !(rumor.first && self.rules.start == Start::Delayed);
                rumor.first = false;
                if to == self.me {
                    return self.plan(id, chance);
                }
                Unheard { to, stays, number: chance.name(), attempts: 0, told_after: None }
            }
        };
        let told = Told { id, number, attempt: attempts };
        let message = Message::Tell { told, payload: rumor.payload.clone() };
        self.at.outputs.push_back(Output::Send { to: vec![to], message });
        rumor.active = stays || self.rules.acknowledged;
        if self.rules.acknowledged {
            rumor.unheard = Some(Unheard { to, stays, number, attempts: attempts + 1, told_after });
        }
        if rumor.active {
            self.plan(id, chance);
        }
    }

    /// A telling has arrived: now the teller may fall silent.
    fn settle(&mut self, from: Peer, told: Told) {
        let Some(rumor) = self.at.rumors.get_mut(&told.id) else { return };
        let answered = |unheard: &mut Unheard| unheard.to == from && unheard.number == told.number;
        if let Some(unheard) = rumor.unheard.take_if(answered) {
            let told_since = unheard.told_after.is_some_and(|attempts| attempts > told.attempt);
            // The tick that was planned for a repetition is that of the next telling.
            rumor.active = unheard.stays || told_since;
        }
    }
}

impl Machine for Teller {
    type Value = ();
    type Command = Begin;
    type Message = Message;
    type Timer = Tick;
    type Label = Label;
    type Note = Note;
    type State = State;

    fn handle(&mut self, input: Input, means: &mut dyn Means<()>) {
        match input {
            Input::Command(Begin { id, payload }) => self.begin(id, payload, means),
            Input::Message { from, message } => match &*message {
                Message::Tell { told, payload } => self.hear(from, *told, payload, means),
                Message::Heard(told) => self.settle(from, *told),
            },
            Input::Timer(tick) => self.tick(tick, means),
            Input::Computed { .. } => {}
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.at.outputs.pop_front()
    }

    fn label(message: &Message) -> Label {
        match message {
            Message::Tell { told, .. } => Label::Tell(*told),
            Message::Heard(told) => Label::Heard(*told),
        }
    }

    fn state(&self) -> State {
        self.at.clone()
    }

    fn resume(&mut self, state: State) -> Result<(), Mismatch> {
        if state.rumors.len() > MOST_RUMORS {
            return Err(Mismatch::new("rumors", state.rumors.len()));
        }
        for (id, rumor) in &state.rumors {
            let told = rumor.unheard.iter().map(|unheard| unheard.to);
            if let Some(stranger) =
                told.chain(rumor.heard.keys().copied()).find(|peer| !self.contacts.has(*peer))
            {
                return Err(Mismatch::new(
                    "rumors",
                    format!("rumour {id} with peer {stranger}, who is no contact"),
                ));
            }
            if rumor.payload.len() > LONGEST || rumor.heard.values().any(|heard| heard.len() > REMEMBERED) {
                return Err(Mismatch::new("rumors", format!("rumour {id}, which is too long")));
            }
        }
        self.at = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
