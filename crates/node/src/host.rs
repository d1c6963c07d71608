//! One machine and its ledger: frames and commands in, dues out. It does no network and reads no clock; whoever drives it does what it is told, and may crash at any moment.

mod lent;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sottovoce_protocol::{
    Chance, Input, InputOf, Law, Machine, Means, Output, Overspent, Peer, Release, Span, Uncovered,
};

use crate::book::{Asked, Book};
use crate::frame::{MARKS, Opened, Vouched};
use crate::ledger::{Covered, Heard, Page, Said, Waiting, encode, encode_onto, salt};
use crate::{
    Cost, Error, Frame, Hash, Hello, Hiding, Ledger, Mark, Name, Notice, Observer, Parcel, Result, VERSION,
};

use lent::Lent;

/// What a host has to know of a run besides its machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// The hash of what was agreed on.
    pub run: Hash,
    /// Everybody's key; peers are numbered by it.
    pub roster: Vec<Name>,
    /// Whom this peer exchanges messages with.
    pub neighbours: Vec<Peer>,
    /// The data set ...
    pub label: String,
    /// ... and its file.
    pub data: Hash,
    /// Bytes of the longest message.
    pub longest: usize,
    /// Messages that a neighbour may send in all.
    pub most: u64,
}

/// What a driver has to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Due<T, N, V> {
    /// Hand this to a peer. If it cannot be reached, nothing is lost: it is said again when the two meet.
    Send {
        /// To whom.
        to: Peer,
        /// What.
        frame: Frame,
    },
    /// Hand the timer back after this time.
    Wait {
        /// The timer.
        timer: T,
        /// How long.
        span: Span,
    },
    /// Make a private step, and hand the moved value back.
    Compute {
        /// Names the question.
        ticket: u64,
        /// Which of the peer's private steps.
        iteration: usize,
        /// The step size.
        size: f64,
        /// From where.
        value: V,
    },
    /// Something happened.
    Note(N),
}

/// What the driver of a machine has to do.
pub type DueOf<M> = Due<<M as Machine>::Timer, <M as Machine>::Note, <M as Machine>::Value>;
type BookOf<M> = Book<<M as Machine>::Timer, <M as Machine>::Value>;

/// Messages of one neighbour that are kept until those before them have come.
const AHEAD: u64 = 64;

/// Random bytes before every message. What is written down of it is a hash, which others may be shown: who has not heard the message must not be able to try what it says.
pub(crate) const SALT: usize = 32;

/// A message that waits for its turn.
struct Early<M> {
    message: M,
    bytes: usize,
    hash: Hash,
    mark: Mark,
}

/// A peer of one run.
pub struct Host<M: Machine, N> {
    machine: M,
    noise: N,
    ledger: Ledger,
    terms: Terms,
    book: BookOf<M>,
    greeted: BTreeSet<Peer>,
    /// Up to which of its messages each peer has answered, since the last step.
    answered: BTreeMap<Peer, u64>,
    /// Messages that overtook others, by sender and number; a crash forgets them, and they come again.
    ahead: BTreeMap<(Peer, u64), Early<M::Message>>,
    /// What was owed before a crash, until everybody was met: an old copy of a ledger must not go on with it.
    owed: Vec<DueOf<M>>,
    /// Bytes of the last message that was said: the next is about as long.
    said: usize,
    /// Why nothing more is done.
    broken: Option<Error>,
}

impl<M: Machine, N: Hiding<M::Value>> Host<M, N> {
    /// Takes up a run, from the beginning or from where the ledger says that it stands. The dues are hellos; nothing else is done before all neighbours have answered them,
    /// and said what they have seen of this ledger.
    pub fn open(ledger: Ledger, terms: Terms, machine: M, noise: N) -> Result<(Self, Vec<DueOf<M>>)> {
        let me = ledger.name();
        if !terms.roster.contains(&me) {
            return Err(Error::parameter("key", me, "it is not among those who agreed"));
        }
        let book = Book::new(terms.label.clone(), terms.data);
        let mut host = Self {
            machine,
            noise,
            ledger,
            terms,
            book,
            greeted: BTreeSet::new(),
            answered: BTreeMap::new(),
            ahead: BTreeMap::new(),
            owed: Vec::new(),
            said: 0,
            broken: None,
        };
        host.owed = host.take_up()?;
        host.ledger.hold(&host.terms.label, host.terms.data)?;
        let hello = |&to: &Peer| Ok(Due::Send { to, frame: host.greeting(to)? });
        let dues = host.terms.neighbours.iter().map(hello).collect::<Result<_>>()?;
        Ok((host, dues))
    }

    /// Goes on with what is stored.
    fn take_up(&mut self) -> Result<Vec<DueOf<M>>> {
        let Some((book, state)) = self.ledger.run::<BookOf<M>, M::State>(self.terms.run)? else {
            return Ok(Vec::new());
        };
        if (&book.label, book.data) != (&self.terms.label, self.terms.data) {
            // Not by their hashes: who can guess a file can tell it by them.
            let value = format!("another file, or another data set than `{}`", book.label);
            let remedy = "the run began with that, and what was released of it is not released again; bring it back, or agree on a new run";
            return Err(Error::parameter("data", value, remedy));
        }
        self.machine.resume(state).map_err(|mismatch| Error::disagreement(mismatch.to_string(), &[]))?;
        self.book = book;
        let waits = self.book.waits.iter().cloned().map(|(timer, span)| Due::Wait { timer, span });
        let asked = self.book.asked.iter().cloned().map(|asked| {
            let Asked { ticket, iteration, size, value } = asked;
            Due::Compute { ticket, iteration, size, value }
        });
        Ok(waits.chain(asked).collect())
    }

    /// The machine as it is.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The ledger, where nothing is to be done with it.
    pub(crate) fn into_ledger(self) -> Ledger {
        self.ledger
    }

    /// Gives the ledger up between two steps, if another process waits for it: whether it did, and how long until that is to be looked at again.
    pub(crate) fn give_way(&mut self) -> (bool, Option<std::time::Duration>) {
        (self.ledger.give_way(), self.ledger.pause())
    }

    /// Takes the ledger back: who has a budget of this data set by now.
    pub(crate) fn declared(&mut self) -> Result<Vec<Observer>> {
        self.ledger.refresh()?;
        let known = self.ledger.budgets()?.into_iter().filter(|one| one.label == self.terms.label);
        Ok(known.map(|one| one.observer).collect())
    }

    /// Refuses a cost that cannot be paid.
    pub(crate) fn affords(&self, cost: &Cost) -> Result<()> {
        self.ledger.affords(&self.terms.label, &[], cost)
    }

    /// Writes as much as the first step will, and takes it back: a disk that is full is found before others begin.
    pub(crate) fn rehearse(&mut self) -> Result<()> {
        let state = postcard::to_allocvec(&*self.machine.stands())?.len();
        self.ledger.rehearse(state * (2 + self.neighbours().len()))
    }

    /// The hash of what was agreed on.
    pub fn run(&self) -> Hash {
        self.terms.run
    }

    /// Everybody's key.
    pub fn roster(&self) -> &[Name] {
        &self.terms.roster
    }

    /// Keeps what somebody has signed of who was silent.
    pub(crate) fn keep(&mut self, notice: &Notice) -> Result<()> {
        let run = self.terms.run;
        self.guarded(|host| host.ledger.keep(run, notice))
    }

    /// Whether the run was paid for here, now or before a crash. What others say before that waits.
    pub fn has_begun(&self) -> bool {
        self.book.begun
    }

    /// Draws noise and so on while there is time.
    pub fn noise(&mut self) -> &mut N {
        &mut self.noise
    }

    /// Whether every neighbour was heard since the host was opened: nothing begins before.
    pub fn is_ready(&self) -> bool {
        self.broken.is_none() && self.terms.neighbours.iter().all(|peer| self.greeted.contains(peer))
    }

    /// Whom this peer exchanges messages with.
    pub fn neighbours(&self) -> &[Peer] {
        &self.terms.neighbours
    }

    /// A neighbour has gone. Before the run has begun here it has to come again: nothing is released on the word of who is no longer there.
    pub fn gone(&mut self, peer: Peer) {
        if !self.book.begun {
            self.greeted.remove(&peer);
        }
    }

    /// Neighbours who were not heard since the host was opened.
    pub fn absent(&self) -> Vec<Peer> {
        let absent = self.terms.neighbours.iter().filter(|peer| !self.greeted.contains(peer));
        absent.copied().collect()
    }

    /// Messages that were not answered: to whom, and their numbers.
    pub fn unanswered(&self) -> Result<Vec<(Peer, u64)>> {
        let mut all = self.ledger.unanswered(self.terms.run)?;
        all.retain(|(peer, number)| self.answered.get(peer).is_none_or(|upto| number > upto));
        Ok(all)
    }

    /// Stores what was answered since the last step, so that it is not kept for ever.
    pub fn settle(&mut self) -> Result<()> {
        if self.answered.is_empty() {
            return Ok(());
        }
        self.guarded(|host| host.step(None, None, None).map(drop))
    }

    /// What is said to a peer when it is met, also again: after a reconnection.
    pub fn greeting(&self, to: Peer) -> Result<Frame> {
        self.hello(to, false)
    }

    fn hello(&self, to: Peer, reply: bool) -> Result<Frame> {
        let witness = self.ledger.newest(&self.name_of(to)?, MARKS)?;
        Ok(Frame::Hello(Hello { version: VERSION, run: self.terms.run, witness, reply }))
    }

    fn name_of(&self, peer: Peer) -> Result<Name> {
        let name = self.terms.roster.get(peer).copied();
        name.ok_or_else(|| Error::parameter("peer", peer, "it is not among those who agreed"))
    }

    /// Refuses to go on once something broke.
    fn sound(&self) -> Result<()> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    /// A step that fails is the last one.
    fn guarded<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.sound()?;
        step(self).inspect_err(|error| self.broken = Some(error.clone()))
    }

    /// Debits what the run will cost here, before anything is asked of the machine: for protocols in which others begin.
    pub fn pay(&mut self, cost: &Cost) -> Result<Vec<DueOf<M>>> {
        self.debit(None, cost)
    }

    /// The user asks for something, at a cost that is debited with it. Refused if it cannot be paid, and if somebody is not there yet; nothing happened then.
    pub fn command(&mut self, command: M::Command, cost: &Cost) -> Result<Vec<DueOf<M>>> {
        self.debit(Some(Input::Command(command)), cost)
    }

    fn debit(&mut self, input: Option<InputOf<M>>, cost: &Cost) -> Result<Vec<DueOf<M>>> {
        self.sound()?;
        if !self.is_ready() {
            let missing: Vec<String> = self.absent().iter().map(ToString::to_string).collect();
            let remedy = format!("wait until all neighbours are there; {} is missing", missing.join(", "));
            return Err(Error::parameter("neighbours", "not all ready", remedy));
        }
        self.ledger.refresh()?;
        self.ledger.affords(&self.terms.label, &[], cost)?;
        let mut dues = self.guarded(|host| {
            host.book.pay(&cost.releases);
            host.book.begun = true;
            host.step(input, Some(cost), None)
        })?;
        dues.extend(self.catch_up_all()?);
        Ok(dues)
    }

    /// A timer has gone off.
    pub fn timer(&mut self, timer: M::Timer) -> Result<Vec<DueOf<M>>> {
        self.guarded(|host| {
            host.book.rang(&timer);
            host.step(Some(Input::Timer(timer)), None, None)
        })
    }

    /// A private step was made. One that was not asked for is left alone.
    pub fn computed(&mut self, ticket: u64, value: M::Value) -> Result<Vec<DueOf<M>>> {
        self.guarded(|host| {
            let Some(place) = host.book.asked.iter().position(|asked| asked.ticket == ticket) else {
                return Ok(Vec::new());
            };
            host.book.asked.remove(place);
            host.step(Some(Input::Computed { ticket, value }), None, None)
        })
    }

    /// A frame has arrived, from the peer whose key the network vouches for. What is no frame of this run is an error about its sender, and changes nothing.
    pub fn hear(&mut self, from: Peer, frame: Frame) -> Result<Vec<DueOf<M>>> {
        self.listens(from)?;
        match frame {
            Frame::Hello(hello) => self.meet(from, &hello),
            Frame::Answer { number } => {
                let said = self.book.said.get(&from).copied().unwrap_or(0);
                if number < said {
                    let upto = self.answered.entry(from).or_insert(number);
                    *upto = number.max(*upto); // whole numbers
                }
                Ok(Vec::new())
            }
            Frame::Parcel(bytes) => {
                let name = self.name_of(from)?;
                let vouched = Parcel::vouch(bytes, self.terms.run, self.longest(), &name);
                self.unpack(from, vouched.map_err(|what| Error::Garbled { from: name, what })?)
            }
            // Between drivers: nothing of it reaches a machine.
            Frame::Terms(_) | Frame::Notice(_) | Frame::Done => Ok(Vec::new()),
        }
    }

    /// Refuses who has no part in what this peer does, and everybody once something broke.
    fn listens(&self, from: Peer) -> Result<()> {
        self.sound()?;
        if self.terms.neighbours.contains(&from) {
            return Ok(());
        }
        Err(Error::Garbled { from: self.name_of(from)?, what: "no neighbour in this run".to_owned() })
    }

    /// Somebody says hello: is it the same run, and what has it seen of us?
    fn meet(&mut self, from: Peer, hello: &Hello) -> Result<Vec<DueOf<M>>> {
        let name = self.name_of(from)?;
        if hello.version != VERSION {
            let what = format!(
                "`version` is {VERSION} here and {} at peer {name:?}: run the same program everywhere",
                hello.version
            );
            // A run that has begun is not ended by who left it.
            let begun = self.book.begun;
            return Err(if begun {
                Error::Garbled { from: name, what }
            } else {
                Error::disagreement(what, &[])
            });
        }
        if hello.witness.len() > MARKS {
            let what = format!("a greeting with {} marks, of at most {MARKS}", hello.witness.len());
            return Err(Error::Garbled { from: name, what });
        }
        if hello.run != self.terms.run {
            return Err(Error::OtherRun { here: self.terms.run, there: hello.run, by: name });
        }
        self.guarded(|host| host.ledger.face(&name, &hello.witness))?;
        let (before, first) = (self.is_ready(), self.greeted.insert(from));
        let mut dues = Vec::new();
        if !hello.reply {
            dues.push(Due::Send { to: from, frame: self.hello(from, true)? });
        }
        // An answer to a greeting of ours is a meeting only if it is the first.
        if first || !hello.reply {
            dues.extend(self.again(from)?);
        }
        if !before && self.is_ready() {
            dues.append(&mut self.owed);
            dues.extend(self.catch_up_all()?);
        }
        Ok(dues)
    }

    /// Says again what a peer has not answered: the stored bytes.
    pub fn again(&self, to: Peer) -> Result<Vec<DueOf<M>>> {
        let again = |Waiting { number, mark, body }: Waiting| Due::Send {
            to,
            frame: self.seal(number, mark, &body, Hash::of(&body)),
        };
        Ok(self.ledger.waiting(self.terms.run, to)?.into_iter().map(again).collect())
    }

    fn seal(&self, number: u64, mark: Mark, body: &[u8], hash: Hash) -> Frame {
        Frame::Parcel(Parcel::sealed((self.terms.run, number, mark), body, hash))
    }

    /// A message: the next one is handled, and those that had overtaken it; one that was handled is answered again.
    pub fn unpack(&mut self, from: Peer, parcel: Vouched) -> Result<Vec<DueOf<M>>> {
        self.listens(from)?;
        let name = self.name_of(from)?;
        let garbled = |what: String| Error::Garbled { from: name, what };
        let Opened { number, mark, body, hash } =
            parcel.opened(self.terms.run, self.longest()).map_err(garbled)?;
        let expected = self.expected(from);
        let in_two_ways = || {
            Error::SaidTwice(format!(
                "peer {name:?} says message {number} in two ways: its key runs in two processes, or from an old copy of its ledger; stop one of them"
            ))
        };
        if self.ahead.get(&(from, number)).is_some_and(|early| early.hash != hash) {
            return Err(in_two_ways());
        }
        if number < expected {
            if self.ledger.heard(self.terms.run, from, number)? != Some(hash) {
                return Err(in_two_ways());
            }
            return Ok(vec![Due::Send { to: from, frame: Frame::Answer { number } }]);
        }
        if number >= self.terms.most {
            return Err(garbled(format!("message {number}, of at most {}", self.terms.most)));
        }
        let message = body.get(SALT..).and_then(|said| postcard::from_bytes::<M::Message>(said).ok());
        let message = message.ok_or_else(|| garbled("no message of this protocol".to_owned()))?;
        let kept: usize = self.ahead.range((from, 0)..=(from, u64::MAX)).map(|(_, early)| early.bytes).sum();
        let length = body.len();
        // What a step needs memory for comes after this.
        drop(parcel);
        let room = number - expected < AHEAD && kept + length <= 4 * self.longest();
        if number == expected || room {
            self.ahead.insert((from, number), Early { message, bytes: length, hash, mark });
        }
        self.catch_up(from)
    }

    /// Bytes of the longest message, with its salt.
    fn longest(&self) -> usize {
        self.terms.longest.saturating_add(SALT)
    }

    fn expected(&self, from: Peer) -> u64 {
        self.book.heard.get(&from).copied().unwrap_or(0)
    }

    /// Handles messages of everybody as far as none is missing.
    fn catch_up_all(&mut self) -> Result<Vec<DueOf<M>>> {
        let mut dues = Vec::new();
        for peer in self.terms.neighbours.clone() {
            dues.extend(self.catch_up(peer)?);
        }
        Ok(dues)
    }

    /// Handles messages of a peer as far as none is missing. Before the run was paid for they wait: a machine that is asked for something private then has nothing to
    /// admit it with, and would have to do without for ever.
    fn catch_up(&mut self, from: Peer) -> Result<Vec<DueOf<M>>> {
        if !self.is_ready() || !self.book.begun {
            return Ok(Vec::new());
        }
        let mut dues = Vec::new();
        while let Some(next) = self.ahead.remove(&(from, self.expected(from))) {
            dues.extend(self.take(from, next)?);
        }
        Ok(dues)
    }

    /// The next message of a peer.
    fn take(&mut self, from: Peer, early: Early<M::Message>) -> Result<Vec<DueOf<M>>> {
        let Early { message, hash, mark, .. } = early;
        let (number, name) = (self.expected(from), self.name_of(from)?);
        let heard = Heard { from, name, number, hash, label: encode(&M::label(&message))?, mark };
        self.guarded(|host| {
            host.book.heard.insert(from, number + 1);
            let input = Input::Message { from, message: Arc::new(message) };
            let mut dues = host.step(Some(input), None, Some(heard))?;
            dues.insert(0, Due::Send { to: from, frame: Frame::Answer { number } });
            Ok(dues)
        })
    }

    /// Hands an input to the machine, and stores what came of it: durable, or nothing leaves.
    fn step(
        &mut self,
        input: Option<InputOf<M>>,
        cost: Option<&Cost>,
        heard: Option<Heard>,
    ) -> Result<Vec<DueOf<M>>> {
        let recorded = self.ledger.is_recorded();
        let (about, covered, failed) = (self.said, Vec::new(), None);
        let mut lent =
            Lent { noise: &mut self.noise, book: &mut self.book, recorded, about, covered, failed };
        input.into_iter().for_each(|input| self.machine.handle(input, &mut lent));
        let (covered, failed) = (lent.covered, lent.failed);
        failed.map_or(Ok(()), Err)?;
        let outputs: Vec<_> = std::iter::from_fn(|| self.machine.poll()).collect();
        let (mut owed, mut releases, mut said, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for output in outputs {
            match output {
                Output::Release(release) => releases.push(release),
                Output::Send { to, message } => {
                    owed.push(Err(said.len()));
                    said.push(self.number(to, &message)?);
                }
                Output::Wait { timer, span } => {
                    self.book.waits.push((timer.clone(), span));
                    owed.push(Ok(Due::Wait { timer, span }));
                }
                Output::Compute { ticket, iteration, size, value } => {
                    self.book.asked.push(Asked { ticket, iteration, size, value: value.clone() });
                    owed.push(Ok(Due::Compute { ticket, iteration, size, value }));
                }
                Output::Note(note) => {
                    notes.push(encode(&note)?);
                    owed.push(Ok(Due::Note(note)));
                }
            }
        }
        let page = Page {
            run: self.terms.run,
            label: &self.terms.label,
            data: self.terms.data,
            cost,
            book: encode(&self.book)?,
            state: encode_onto(Vec::new(), self.said + (1 << 10), &*self.machine.stands())?,
            releases,
            covered,
            heard,
            said,
            notes,
            answered: std::mem::take(&mut self.answered).into_iter().collect(),
        };
        let mark = self.ledger.commit(&page)?;
        // In the order in which the machine asked for it.
        let mut dues = Vec::new();
        for owed in owed {
            match owed {
                Ok(due) => dues.push(due),
                Err(place) => {
                    let Said { body, to, hash, .. } = &page.said[place];
                    let sent = |&(to, number)| Due::Send { to, frame: self.seal(number, mark, body, *hash) };
                    dues.extend(to.iter().map(sent));
                }
            }
        }
        Ok(dues)
    }

    /// A message gets a number with each of its receivers.
    fn number(&mut self, to: Vec<Peer>, message: &M::Message) -> Result<Said> {
        let (longest, about) = (self.terms.longest, if self.said < 1 << 10 { 1 << 10 } else { self.said });
        let body = encode_onto(salt()?.to_vec(), about, message)?;
        self.said = body.len() - SALT;
        if self.said > longest {
            let remedy = format!("{longest} were agreed on: agree on more, or send less");
            return Err(Error::parameter("message", format!("of {} bytes", self.said), remedy));
        }
        let number = |peer: Peer| {
            let next = self.book.said.entry(peer).or_insert(0);
            *next += 1;
            (peer, *next - 1)
        };
        let to = to.into_iter().map(number).collect();
        let (label, hash) = (encode(&M::label(message))?, Hash::of(&body));
        let said = Said { message: self.book.messages, label, body: Arc::new(body), hash, to };
        self.book.messages += 1;
        Ok(said)
    }
}
