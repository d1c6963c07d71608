//! A peer who passes rumours on.
//!
//! **Lost messages.** Without acknowledgements a telling that is lost is lost, and at `s = 0` the rumour dies with it. With them
//! ([`Manner::acknowledged`]) a teller who hears nothing stays as it was and repeats *the same* telling, to the same peer, at its next
//! tick: then the tellings that succeed have the law of a network without losses, at a slower clock, and the guarantee is the same
//! (as long as acknowledgements themselves arrive). Choosing another peer after an unheard acknowledgement would let the
//! source speak more often than the guarantee allows.
//!
//! Acknowledgements say which attempt was heard. A teller that was told something after that attempt had fallen silent by then without
//! knowing it, and is active again; one that was told before it was active already, and falls silent now.

use std::collections::{BTreeMap, VecDeque};

use super::choice::{Contacts, Muting, Telling, tell};
use crate::{Chance, Peer};

/// The name of a rumour; two rumours of one name are one rumour.
pub type Id = u64;

/// When an active peer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Once in every round.
    Rounds,
    /// After exponential times of mean one: the next to tell is then any active peer, all equally likely.
    Poisson,
}

/// How the source begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Like everyone who has just been told.
    Alike,
    /// It tells once and falls silent; only then the others begin. **Not private**: the source is the one who spoke once.
    Delayed,
}

/// How a peer behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manner {
    /// Whether it stays active after a telling.
    pub muting: Muting,
    /// When it tells.
    pub clock: Clock,
    /// How it begins a rumour of its own.
    pub start: Start,
    /// Whether tellings are acknowledged and repeated.
    pub acknowledged: bool,
}

/// What peers send each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A rumour.
    Tell {
        /// Its name.
        id: Id,
        /// Its text.
        payload: Vec<u8>,
        /// A random name of this telling: a repetition has that of the first. (A count would say how often its sender has told.)
        number: u64,
        /// How many attempts went before.
        attempt: u64,
    },
    /// A telling has arrived.
    Heard {
        /// The rumour.
        id: Id,
        /// The telling.
        number: u64,
        /// The first attempt that arrived.
        attempt: u64,
    },
}

/// What a driver hands to a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Spread this.
    Begin {
        /// Its name.
        id: Id,
        /// Its text.
        payload: Vec<u8>,
    },
    /// A message has arrived.
    Message {
        /// Its sender, as the network vouches for it.
        from: Peer,
        /// The message.
        message: Message,
    },
    /// The time asked for by [`Output::Tick`] has come.
    Tick {
        /// The rumour.
        id: Id,
        /// The number of the tick.
        tick: u64,
    },
}

/// What a peer asks of its driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send a message.
    Send {
        /// To whom.
        to: Peer,
        /// What.
        message: Message,
    },
    /// Say when this time has passed.
    Tick {
        /// The rumour.
        id: Id,
        /// The number of the tick.
        tick: u64,
        /// In rounds, or in mean times between two tellings.
        after: f64,
    },
    /// A rumour was heard for the first time.
    Learned {
        /// Its name.
        id: Id,
        /// Its text.
        payload: Vec<u8>,
    },
}

/// A peer's state machine.
///
/// ```
/// use sottovoce_protocol::rumor::{Chance, Clock, Input, Manner, Muting, Output, Start, Teller};
/// struct Dice(u64);
/// impl Chance for Dice {
///     fn bits(&mut self) -> u64 {
///         self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
///         self.0
///     }
/// }
/// let muting = Muting::new(0.0)?;
/// let manner = Manner { muting, clock: Clock::Rounds, start: Start::Alike, acknowledged: false };
/// let mut teller = Teller::new(0, vec![1, 2], manner);
/// let mut dice = Dice(1);
/// teller.handle(Input::Begin { id: 7, payload: b"spring".to_vec() }, &mut dice);
/// assert!(matches!(teller.poll(), Some(Output::Tick { id: 7, tick: 0, .. })));
/// teller.handle(Input::Tick { id: 7, tick: 0 }, &mut dice);
/// assert!(matches!(teller.poll(), Some(Output::Send { to: 1 | 2, .. })));
/// assert!(!teller.is_active(7)); // It has told once.
/// # Ok::<(), sottovoce_protocol::rumor::BadMuting>(())
/// ```
#[derive(Debug, Clone)]
pub struct Teller {
    me: Peer,
    contacts: Whom,
    manner: Manner,
    rumors: BTreeMap<Id, Rumor>,
    outputs: VecDeque<Output>,
}

#[derive(Debug, Clone)]
enum Whom {
    Everyone(usize),
    Only(Vec<u32>),
}

#[derive(Debug, Clone, Default)]
struct Rumor {
    payload: Vec<u8>,
    active: bool,
    /// Begun here, and not told yet.
    first: bool,
    /// A telling without an answer.
    unheard: Option<Unheard>,
    /// Ticks asked for so far: only the last counts.
    ticks: u64,
    /// Tellings that arrived, and at which attempt.
    heard: BTreeMap<(Peer, u64), u64>,
}

#[derive(Debug, Clone, Copy)]
struct Unheard {
    telling: Telling,
    number: u64,
    attempts: u64,
    /// Told by someone after so many attempts, the last time.
    told_after: Option<u64>,
}

impl Teller {
    /// A peer that can tell these others.
    pub fn new(me: Peer, contacts: Vec<u32>, manner: Manner) -> Self {
        Self::with(me, Whom::Only(contacts), manner)
    }

    /// One of `peers` peers who can all tell each other. It may choose itself, and then nothing happens: so the theorems have it.
    pub fn in_crowd(me: Peer, peers: usize, manner: Manner) -> Self {
        Self::with(me, Whom::Everyone(peers), manner)
    }

    fn with(me: Peer, contacts: Whom, manner: Manner) -> Self {
        Self { me, contacts, manner, rumors: BTreeMap::new(), outputs: VecDeque::new() }
    }

    /// Takes an input. Outputs wait to be drained by [`Self::poll`].
    pub fn handle(&mut self, input: Input, chance: &mut dyn Chance) {
        match input {
            Input::Begin { id, payload } => {
                if !self.knows(id) {
                    self.rumors.insert(id, Rumor { payload, first: true, ..Rumor::default() });
                    self.activate(id, chance);
                }
            }
            Input::Message { from, message: Message::Tell { id, payload, number, attempt } } => {
                self.hear(from, (id, number, attempt), payload, chance);
            }
            Input::Message { from, message: Message::Heard { id, number, attempt } } => {
                self.settle(from, id, number, attempt);
            }
            Input::Tick { id, tick } => self.tick(id, tick, chance),
        }
    }

    /// The next output, in the order they arose.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Whether it knows the rumour.
    pub fn knows(&self, id: Id) -> bool {
        self.rumors.contains_key(&id)
    }

    /// Whether it is passing the rumour on.
    pub fn is_active(&self, id: Id) -> bool {
        self.rumors.get(&id).is_some_and(|rumor| rumor.active)
    }

    fn hear(
        &mut self,
        from: Peer,
        (id, number, attempt): (Id, u64, u64),
        payload: Vec<u8>,
        chance: &mut dyn Chance,
    ) {
        let new = !self.knows(id);
        let rumor = self.rumors.entry(id).or_insert_with(|| Rumor { payload, ..Rumor::default() });
        // A copy that the network made, or a repetition, is not another telling.
        let repeated = rumor.heard.contains_key(&(from, number));
        let attempt = *rumor.heard.entry((from, number)).or_insert(attempt);
        if self.manner.acknowledged {
            let message = Message::Heard { id, number, attempt };
            self.outputs.push_back(Output::Send { to: from, message });
        }
        if new {
            self.outputs.push_back(Output::Learned { id, payload: rumor.payload.clone() });
        }
        match (&mut rumor.unheard, repeated) {
            (_, true) => {}
            (Some(unheard), false) if rumor.active => unheard.told_after = Some(unheard.attempts),
            _ if rumor.active => {}
            _ => self.activate(id, chance),
        }
    }

    fn activate(&mut self, id: Id, chance: &mut dyn Chance) {
        if let Some(rumor) = self.rumors.get_mut(&id) {
            rumor.active = true;
            rumor.unheard = None;
        }
        self.plan(id, chance);
    }

    fn plan(&mut self, id: Id, chance: &mut dyn Chance) {
        let Some(rumor) = self.rumors.get_mut(&id) else { return };
        let after = match self.manner.clock {
            Clock::Rounds => 1.0,
            Clock::Poisson => -chance.unit().ln(),
        };
        self.outputs.push_back(Output::Tick { id, tick: rumor.ticks, after });
        rumor.ticks += 1;
    }

    fn tick(&mut self, id: Id, tick: u64, chance: &mut dyn Chance) {
        let contacts = match &self.contacts {
            Whom::Everyone(peers) => Contacts::Everyone(*peers),
            Whom::Only(peers) => Contacts::Only(peers),
        };
        let Some(rumor) = self.rumors.get_mut(&id).filter(|rumor| rumor.active && rumor.ticks == tick + 1)
        else {
            return;
        };
        let Unheard { telling, number, attempts, told_after } = match rumor.unheard {
            Some(unheard) => unheard,
            None => {
                let Some(mut telling) = tell(contacts, self.manner.muting, chance) else { return };
                telling.stays &= !(rumor.first && self.manner.start == Start::Delayed);
                rumor.first = false;
                if telling.to == self.me {
                    return self.plan(id, chance);
                }
                Unheard { telling, number: chance.name(), attempts: 0, told_after: None }
            }
        };
        let message = Message::Tell { id, payload: rumor.payload.clone(), number, attempt: attempts };
        self.outputs.push_back(Output::Send { to: telling.to, message });
        rumor.active = telling.stays || self.manner.acknowledged;
        if self.manner.acknowledged {
            rumor.unheard = Some(Unheard { telling, number, attempts: attempts + 1, told_after });
        }
        if rumor.active {
            self.plan(id, chance);
        }
    }

    /// A telling has arrived: now the teller may fall silent.
    fn settle(&mut self, from: Peer, id: Id, number: u64, attempt: u64) {
        let Some(rumor) = self.rumors.get_mut(&id) else { return };
        let answered = |unheard: &mut Unheard| unheard.telling.to == from && unheard.number == number;
        if let Some(unheard) = rumor.unheard.take_if(answered) {
            let told_since = unheard.told_after.is_some_and(|attempts| attempts > attempt);
            // The tick that was planned for a repetition is that of the next telling.
            rumor.active = unheard.telling.stays || told_since;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rumor::choice::tests::Weyl;
    use std::collections::BTreeSet;

    fn manner(s: f64) -> Manner {
        let muting = Muting::new(s).unwrap();
        Manner { muting, clock: Clock::Rounds, start: Start::Alike, acknowledged: false }
    }

    fn drain(teller: &mut Teller) -> Vec<Output> {
        std::iter::from_fn(|| teller.poll()).collect()
    }

    fn told(id: Id, number: u64) -> Input {
        Input::Message { from: 1, message: Message::Tell { id, payload: vec![9], number, attempt: 0 } }
    }

    /// To whom, and the names of the tellings.
    fn sent(outputs: &[Output]) -> Vec<(Peer, u64)> {
        let to = |output: &Output| match output {
            Output::Send { to, message: Message::Tell { number, .. } } => Some((*to, *number)),
            _ => None,
        };
        outputs.iter().filter_map(to).collect()
    }

    #[test]
    fn a_rumour_is_learned_once_and_told_again_after_every_telling() {
        let (mut teller, mut chance) = (Teller::new(0, vec![1, 2], manner(0.0)), Weyl(1));
        teller.handle(told(5, 1), &mut chance);
        assert!(drain(&mut teller).contains(&Output::Learned { id: 5, payload: vec![9] }));
        teller.handle(Input::Tick { id: 5, tick: 0 }, &mut chance);
        assert_eq!(sent(&drain(&mut teller)).len(), 1);
        assert!(!teller.is_active(5));
        // The same telling again changes nothing; another makes it active.
        teller.handle(told(5, 1), &mut chance);
        assert!(!teller.is_active(5) && drain(&mut teller).is_empty());
        teller.handle(told(5, 2), &mut chance);
        assert!(teller.is_active(5));
        assert_eq!(drain(&mut teller), [Output::Tick { id: 5, tick: 1, after: 1.0 }]);
    }

    #[test]
    fn a_tick_of_the_past_says_nothing() {
        let (mut teller, mut chance) = (Teller::new(0, vec![1], manner(0.0)), Weyl(1));
        teller.handle(told(5, 1), &mut chance);
        teller.handle(Input::Tick { id: 5, tick: 0 }, &mut chance);
        teller.handle(told(5, 2), &mut chance);
        drain(&mut teller);
        for stale in [Input::Tick { id: 5, tick: 0 }, Input::Tick { id: 6, tick: 0 }] {
            teller.handle(stale, &mut chance);
            assert!(drain(&mut teller).is_empty());
        }
    }

    #[test]
    fn an_unheard_telling_is_repeated_to_the_same_peer_until_it_is_heard() {
        let acknowledged = Manner { acknowledged: true, ..manner(0.0) };
        let (mut teller, mut chance) = (Teller::new(0, (1..50).collect(), acknowledged), Weyl(1));
        teller.handle(Input::Begin { id: 5, payload: vec![] }, &mut chance);
        let mut tellings = BTreeSet::new();
        for tick in 0..20 {
            teller.handle(Input::Tick { id: 5, tick }, &mut chance);
            tellings.extend(sent(&drain(&mut teller)));
        }
        assert!(tellings.len() == 1 && teller.is_active(5));
        let (target, name) = *tellings.first().unwrap();
        let heard =
            |from, number| Input::Message { from, message: Message::Heard { id: 5, number, attempt: 3 } };
        for (from, number) in [(target, name + 1), (target + 1, name)] {
            teller.handle(heard(from, number), &mut chance);
            assert!(teller.is_active(5), "that was no answer to this telling");
        }
        teller.handle(heard(target, name), &mut chance);
        assert!(!teller.is_active(5));
    }

    /// Who was told after the attempt that arrived had fallen silent before, and is active again; who was told before it is not.
    #[test]
    fn what_was_told_meanwhile_counts_from_the_attempt_that_arrived() {
        for (arrived, active) in [(0, true), (1, true), (2, false)] {
            let acknowledged = Manner { acknowledged: true, ..manner(0.0) };
            let (mut teller, mut chance) = (Teller::new(0, vec![2], acknowledged), Weyl(1));
            teller.handle(Input::Begin { id: 5, payload: vec![] }, &mut chance);
            for tick in 0..2 {
                teller.handle(Input::Tick { id: 5, tick }, &mut chance);
            }
            teller.handle(told(5, 1), &mut chance);
            teller.handle(Input::Tick { id: 5, tick: 2 }, &mut chance);
            let number = sent(&drain(&mut teller))[0].1;
            let message = Message::Heard { id: 5, number, attempt: arrived };
            teller.handle(Input::Message { from: 2, message }, &mut chance);
            assert_eq!(teller.is_active(5), active, "attempt {arrived}");
        }
    }

    #[test]
    fn whoever_is_told_answers() {
        let acknowledged = Manner { acknowledged: true, ..manner(0.5) };
        let (mut teller, mut chance) = (Teller::in_crowd(0, 4, acknowledged), Weyl(1));
        for _ in 0..2 {
            teller.handle(told(5, 3), &mut chance);
            let answer = Output::Send { to: 1, message: Message::Heard { id: 5, number: 3, attempt: 0 } };
            assert!(drain(&mut teller).contains(&answer));
        }
    }

    #[test]
    fn a_delayed_source_speaks_once() {
        let delayed = Manner { start: Start::Delayed, ..manner(1.0) };
        let (mut teller, mut chance) = (Teller::new(0, vec![1, 2], delayed), Weyl(1));
        teller.handle(Input::Begin { id: 5, payload: vec![] }, &mut chance);
        teller.handle(Input::Tick { id: 5, tick: 0 }, &mut chance);
        assert!(!teller.is_active(5));
        // Told by others it goes on like them.
        teller.handle(told(5, 1), &mut chance);
        teller.handle(Input::Tick { id: 5, tick: 1 }, &mut chance);
        assert!(teller.is_active(5));
    }

    #[test]
    fn who_tells_itself_stays_active_and_sends_nothing() {
        let (mut teller, mut chance) = (Teller::in_crowd(0, 1, manner(0.0)), Weyl(1));
        teller.handle(Input::Begin { id: 5, payload: vec![] }, &mut chance);
        drain(&mut teller);
        teller.handle(Input::Tick { id: 5, tick: 0 }, &mut chance);
        assert!(teller.is_active(5));
        assert_eq!(drain(&mut teller), [Output::Tick { id: 5, tick: 1, after: 1.0 }]);
    }
}
