//! What a peer must not forget, in one file: the chain of all records, and of runs their states and the messages that were not answered.
//!
//! Budgets and what was spent of them are in the chain alone: they are added up from it whenever the ledger is opened ([`books`]), after the checksums of all pages and
//! the hashes and the last signature of the chain were verified. A file in which anything differs is refused, and never believed.
//!
//! Every change is one transaction, committed in two phases: after a crash it is there as a whole or not at all, whichever writes the disk lost, kept or tore
//! (`tests/it/crashes.rs`).

mod books;
mod damage;
mod index;
mod open;
mod read;
mod runs;
mod turns;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rand::TryRng;
use rand::rngs::SysRng;
use redb::{Builder, Durability, ReadableTable, StorageBackend, TableDefinition, WriteTransaction};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sottovoce_privacy::Unit;
use sottovoce_protocol::{Peer, Release};

use books::Books;
use index::Index;
use runs::{RUNS, Runs, Step};
use turns::Turns;

use crate::chain::{Content, Entry, Own, of_draw, sealed};
use crate::recording::Recorder;
use crate::splice::Spliced;
use crate::{
    Allowed, Cost, Error, Hash, Head, Holding, Key, Mark, Name, Notice, Observer, Receipt, Record, Result,
    Set, Shown, Signed,
};

type Bytes32 = &'static [u8; 32];

const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// What a rehearsal writes.
const ROOM: &str = "room";
const CHAIN: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("chain");

/// Bytes of pages that are kept in memory: what a node reads is what it has just written.
const CACHE: usize = 4 << 20;

const FORMAT: &[u8] = b"sottovoce ledger 5";

/// A peer's ledger.
pub struct Ledger {
    turns: Turns,
    /// Whether the chain was read to its end since the storage was last given up.
    is_current: bool,
    key: Key,
    head: Head,
    /// What is looked up in the chain.
    index: Index,
    /// What the chain comes to.
    books: Books,
    /// The last message that was said, in which run and under which number: states refer to it.
    spoken: Option<(Hash, u64, Arc<Vec<u8>>)>,
    recorder: Option<Recorder>,
}

/// A budget, and what was spent of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The data set.
    pub label: String,
    /// Towards whom.
    pub observer: Observer,
    /// The budget.
    pub allowed: Allowed,
    /// Epsilon that was spent, at the budget's delta: the least that is known of all runs together.
    pub epsilon: f64,
    /// The share of the budget that is used up, from 0 to 1. It is larger than epsilon's: a budget also holds for runs whose terms follow from earlier results.
    pub used: f64,
    /// What was spent in the currency of the budget: a Rényi loss.
    pub loss: f64,
    /// The sum of deltas beside it.
    pub chances: f64,
    /// What all of it is of: everything that is held (`User`), or one row (`Record`); none where nothing was paid yet.
    pub unit: Option<Unit>,
}

/// What was spent before a ledger began.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Before {
    /// So much: a Rényi loss in the budget's own currency, and a sum of deltas.
    Part {
        /// The loss.
        loss: f64,
        /// The sum of deltas.
        chances: f64,
    },
    /// Everything: nobody knows how much.
    All,
}

/// One step, to be stored as a whole.
pub(crate) struct Page<'a> {
    pub(crate) run: Hash,
    pub(crate) label: &'a str,
    pub(crate) data: Hash,
    pub(crate) cost: Option<&'a Cost>,
    pub(crate) book: Vec<u8>,
    pub(crate) state: Vec<u8>,
    pub(crate) releases: Vec<Release>,
    pub(crate) covered: Vec<Covered>,
    pub(crate) heard: Option<Heard>,
    pub(crate) said: Vec<Said>,
    pub(crate) notes: Vec<Vec<u8>>,
    pub(crate) answered: Vec<(Peer, u64)>,
}

/// A draw of noise: its number, what it was put on (if that is to be written down, and was no private value), and what it made of it.
pub(crate) struct Covered {
    pub(crate) draw: u64,
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Vec<u8>,
}

/// A message that was heard, and its sender's ledger.
pub(crate) struct Heard {
    pub(crate) from: Peer,
    pub(crate) name: Name,
    pub(crate) number: u64,
    pub(crate) hash: Hash,
    pub(crate) label: Vec<u8>,
    pub(crate) mark: Mark,
}

/// A message, and its number with each receiver.
pub(crate) struct Said {
    pub(crate) message: u64,
    pub(crate) label: Vec<u8>,
    pub(crate) body: Arc<Vec<u8>>,
    pub(crate) hash: Hash,
    pub(crate) to: Vec<(Peer, u64)>,
}

/// A message that was not answered yet.
pub(crate) struct Waiting {
    pub(crate) number: u64,
    pub(crate) mark: Mark,
    pub(crate) body: Vec<u8>,
}

impl Ledger {
    /// From now on writes down what noise makes of values, before it is stored here.
    pub fn record_to(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Whether it does that.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorder.is_some()
    }

    fn write(&self) -> Result<WriteTransaction> {
        self.sure()?;
        let mut write = self.turns.database()?.begin_write()?;
        write.set_durability(Durability::Immediate)?;
        write.set_two_phase_commit(true);
        Ok(write)
    }

    fn meta(&self, field: &str) -> Result<Option<Vec<u8>>> {
        let read = self.turns.read()?;
        Ok(read.open_table(META)?.get(field)?.map(|value| value.value().to_vec()))
    }

    /// Gives the storage up if another process waits for it: to look at what was spent, or for another run. It is opened again when it is needed.
    pub(crate) fn give_way(&mut self) -> bool {
        let gave = self.turns.give_way();
        self.is_current &= !gave;
        gave
    }

    /// How long its owner may look elsewhere, where other processes may want it.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.turns.pause()
    }

    /// Reads what another process has added meanwhile.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        if self.is_current {
            return Ok(());
        }
        let newest = self.head.count.checked_sub(1).map(|last| self.record(last)).transpose()?;
        if newest.is_some_and(|newest| newest.is_none_or(|newest| newest.link.head() != self.head)) {
            return Err(damage::damaged("it is another one than before"));
        }
        damage::contained(|| self.fold())??;
        self.is_current = true;
        self.sure()
    }

    /// Adds up the chain from where it is known. Each record's hash is in the next one, so the last signature is for all of them.
    fn fold(&mut self) -> Result<()> {
        let read = self.turns.read()?;
        let mut last = None;
        for entry in read.open_table(CHAIN)?.range(self.head.count..)? {
            let (count, bytes) = entry?;
            let signed: Signed = decode(bytes.value())?;
            let content = signed.content()?;
            if signed.link.before != self.head || self.head.count != count.value() {
                return Err(damage::damaged(&format!("record {} follows another", count.value())));
            }
            match &content {
                Content::Entry(entry) => drop(self.books.enter(entry)?),
                Content::Step(record) => self.books.settle(record)?,
            }
            let step = if let Content::Step(record) = &content { Some(&**record) } else { None };
            self.index.add(&signed.link, step);
            self.head = signed.link.head();
            last = Some(signed.link);
        }
        if last.is_some_and(|link| !link.is_of(&self.name())) {
            return Err(damage::damaged("its last record was not signed by its owner"));
        }
        Ok(())
    }

    /// Writes down what is new of these.
    fn append(&mut self, entries: impl IntoIterator<Item = Entry>) -> Result<()> {
        self.refresh()?;
        let (mut books, mut head, mut links) = (self.books.clone(), self.head, Vec::new());
        let write = self.write()?;
        for entry in entries {
            if !books.enter(&entry)? {
                continue;
            }
            let signed = Own { before: head, salt: salt()?, entry }.sign(&self.key)?;
            write.open_table(CHAIN)?.insert(head.count, &encode(&signed)?[..])?;
            head = signed.link.head();
            links.push(signed.link);
        }
        if links.is_empty() {
            return Ok(write.abort()?);
        }
        write.commit()?;
        links.iter().for_each(|link| self.index.add(link, None));
        (self.books, self.head) = (books, head);
        self.settle()
    }

    /// Storage keeps its last two states, and one damaged byte may bring back the one before. After this both hold what was spent.
    fn settle(&self) -> Result<()> {
        // (A ledger that is doubted from now on is not written to.)
        let Ok(write) = self.write() else { return Ok(()) };
        write.open_table(META)?.insert("settled", &self.head.count.to_le_bytes()[..])?;
        Ok(write.commit()?)
    }

    /// Writes down for ever that this ledger is not what others have seen.
    fn doubt(&mut self, why: String) -> Result<()> {
        self.append([Entry::Doubted(why.clone())])?;
        Err(Error::Doubted(why))
    }

    /// Whose ledger it is.
    pub fn name(&self) -> Name {
        self.key.name()
    }

    /// How far it has come.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The owner's key: for secrets that two peers share.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// A budget towards an observer, of a data set. One that was declared before keeps what was spent of it; another budget is refused.
    pub fn declare(&mut self, label: &str, observer: &Observer, allowed: Allowed) -> Result<()> {
        self.declare_all(label, &[(observer.clone(), allowed)])
    }

    /// The same towards several at once.
    pub fn declare_all(&mut self, label: &str, budgets: &[(Observer, Allowed)]) -> Result<()> {
        self.append(budgets.iter().map(|one| declared(label, one)))
    }

    /// A budget of which something was spent before this ledger began: under another key, in a ledger that is lost. Once, and before anything else is known of it.
    pub fn enter(&mut self, label: &str, observer: &Observer, allowed: Allowed, spent: Before) -> Result<()> {
        self.append([Entry::Begun { label: label.to_owned(), observer: observer.clone(), allowed, spent }])
    }

    /// Every data set, what its prices are of, and which files were ever held as it.
    pub fn sets(&self) -> Result<Vec<Set>> {
        Ok(self.books.sets())
    }

    /// Says what prices of a data set are of, before anything was paid here.
    pub(crate) fn state(&mut self, label: &str, unit: Unit) -> Result<()> {
        self.append([Entry::Priced { label: label.to_owned(), unit }])
    }

    /// Says that what came before this ledger is not known but for the data sets that it knows by now: no others are ever used with it.
    pub(crate) fn close(&mut self) -> Result<()> {
        self.append([Entry::Closed])
    }

    /// Says that a file is (now) what a data set holds. What was spent of the data set stays spent; a file that another data set holds is refused, since its
    /// budget is there.
    pub fn hold(&mut self, label: &str, file: Hash) -> Result<()> {
        self.append([Entry::Held { label: label.to_owned(), file }])
    }

    /// The same of a file and of the numbers in it: these are found however they are written. `another` says that a data set of the same numbers is another one.
    pub fn hold_all(&mut self, holding: &Holding, another: bool) -> Result<()> {
        self.append(self.held(holding, another)?)
    }

    /// Refuses what [`hold_all`](Self::hold_all) would refuse; nothing changes.
    pub fn may_hold(&self, holding: &Holding, another: bool) -> Result<()> {
        let mut then = self.books.clone();
        self.held(holding, another)?.iter().try_for_each(|entry| then.enter(entry).map(drop))
    }

    fn held(&self, holding: &Holding, another: bool) -> Result<Vec<Entry>> {
        let entry = |file| Entry::Held { label: holding.label.clone(), file };
        let mut all = vec![entry(holding.data)];
        let Some(numbers) = holding.numbers else { return Ok(all) };
        match self.books.holder(numbers) {
            Some(other) if other != holding.label => {
                let remedy = format!(
                    "its numbers are those of data set `{other}`, and so is its budget; use that label, or say `--new-data-set` if they are other people's"
                );
                let known = self.books.holder(holding.data).is_some();
                crate::error::require(another || known, "data", &holding.label, remedy)?;
            }
            _ => all.push(entry(numbers)),
        }
        Ok(all)
    }

    /// Keeps what somebody has signed of who was silent in a run.
    pub(crate) fn keep(&mut self, run: Hash, notice: &Notice) -> Result<()> {
        self.append([Entry::Silent { run, notice: notice.clone() }])
    }

    /// What was kept of who was silent in a run.
    pub(crate) fn silent(&self, run: Hash) -> Vec<Notice> {
        self.books.silent(run)
    }

    /// What was spent of each budget: towards whom, the budget, the Rényi loss spent, the sum of deltas.
    pub fn spent(&self, label: &str) -> Result<Vec<(Observer, Allowed, f64, f64)>> {
        let all = self.books.standings().into_iter().filter(|one| one.label == label);
        Ok(all.map(|one| (one.observer, one.allowed, one.loss, one.chances)).collect())
    }

    /// Every budget that was declared, and the epsilon that was spent of it.
    pub fn budgets(&self) -> Result<Vec<Standing>> {
        Ok(self.books.standings())
    }

    /// Runs that something is stored of.
    pub fn runs(&self) -> Result<Vec<Hash>> {
        let read = self.turns.read()?;
        read.open_table(RUNS)?.all()
    }

    /// Whether a cost can be paid, were these budgets declared as well; nothing changes.
    pub fn affords(&self, label: &str, budgets: &[(Observer, Allowed)], cost: &Cost) -> Result<()> {
        self.foresee(label, budgets, cost).map(drop)
    }

    /// What was spent of each budget once a cost is paid, were these budgets declared as well; nothing changes.
    pub fn foresee(
        &self,
        label: &str,
        budgets: &[(Observer, Allowed)],
        cost: &Cost,
    ) -> Result<Vec<Standing>> {
        self.sure()?;
        let mut then = self.books.clone();
        for one in budgets {
            then.enter(&declared(label, one))?;
        }
        then.debit(label, cost)?;
        Ok(then.standings())
    }

    /// What a neighbour has seen of this ledger: is it a part of it? Marks that this peer never made count for nothing, or anybody could stop it.
    pub(crate) fn face(&mut self, by: &Name, marks: &[Mark]) -> Result<()> {
        self.refresh()?;
        for mark in marks {
            if !self.index.holds(mark.hash) && mark.is_of(&self.name()) {
                return self.doubt(format!(
                    "peer {by:?} has seen a step that this ledger does not hold: it is an older copy, or its key runs elsewhere as well. Nothing is sent from it any \
                     more; bring the newest ledger back. Without it, what was spent of the data is not known, and counts as all"
                ));
            }
        }
        Ok(())
    }

    /// Writes so many bytes, and takes them back.
    pub(crate) fn rehearse(&mut self, bytes: usize) -> Result<()> {
        self.refresh()?;
        let write = self.write()?;
        write.open_table(META)?.insert(ROOM, &vec![0; bytes][..])?;
        write.commit()?;
        let write = self.write()?;
        write.open_table(META)?.remove(ROOM)?;
        Ok(write.commit()?)
    }

    /// Stores a step: all of it, or nothing. Its mark.
    pub(crate) fn commit(&mut self, page: &Page<'_>) -> Result<Mark> {
        self.refresh()?;
        let salt = salt()?;
        let blind = self.key.blind(&salt);
        if let Some(said) = page.said.last() {
            self.spoken = Some((page.run, said.message, Arc::clone(&said.body)));
        }
        let spoken = self.spoken.as_ref().filter(|(run, ..)| *run == page.run);
        let state = Spliced::of(&page.state, spoken.map(|(_, message, body)| (*message, &body[..])));
        let (refers, stored) = (state.message(), state.to_bytes());
        let seal = |one: &Covered| (one.draw, sealed(blind, &of_draw(one.draw), &one.after));
        let said = |said: &Said| {
            let (hash, label) = (said.hash, &said.label);
            let receipt = |&(peer, number): &(Peer, u64)| Receipt {
                peer,
                number,
                label: label.clone(),
                hash,
                mark: None,
            };
            said.to.iter().map(receipt).collect::<Vec<_>>()
        };
        let record = Record {
            before: self.head,
            salt,
            run: page.run,
            label: page.label.to_owned(),
            data: sealed(blind, "data", &page.data.0),
            cost: page.cost.cloned(),
            releases: page.releases.clone(),
            covered: page.covered.iter().map(seal).collect(),
            heard: page.heard.as_ref().map(|heard| {
                let Heard { from, number, hash, label, mark, .. } = heard;
                let (label, mark) = (label.clone(), Some(mark.hash));
                Receipt { peer: *from, number: *number, label, hash: *hash, mark }
            }),
            said: page.said.iter().flat_map(said).collect(),
            notes: page.notes.clone(),
            // Whatever a state refers to is in the chain by its hash.
            state: sealed(blind, "state", &stored),
        };
        let signed = record.sign(&self.key)?;
        let head = signed.link.head();
        let mark = signed.link.mark();
        // What leaves is written down before; what was written down and never stored is drawn anew, under the same number.
        if let Some(recorder) = self.recorder.as_ref().filter(|_| !page.covered.is_empty()) {
            recorder.covered(&page.covered)?;
        }
        if let Some(draw) = self.index.used(page.run, &record.covered) {
            let why = format!("draw {draw} of noise was asked for twice; nothing was sent");
            return Err(Error::disagreement(why, &[]));
        }
        let mut books = None;
        if let Some(cost) = page.cost {
            books.insert(self.books.clone()).debit(page.label, cost)?;
        }
        let write = self.write()?;
        {
            write.open_table(CHAIN)?.insert(self.head.count, &encode(&signed)?[..])?;
            let mut step = Step { runs: write.open_table(RUNS)?, page };
            step.post(mark, refers)?;
            step.keep(&stored, self.head.count)?;
        }
        write.commit()?;
        self.head = head;
        self.index.add(&signed.link, Some(&record));
        if let Some(books) = books {
            self.books = books;
            self.settle()?;
        }
        // A message that is neither new nor referred to may be forgotten by now: no later state refers to it.
        if page.said.is_empty() && refers.is_none() {
            self.spoken = None;
        }
        Ok(mark)
    }
}

fn declared(label: &str, (observer, allowed): &(Observer, Allowed)) -> Entry {
    Entry::Declared { label: label.to_owned(), observer: observer.clone(), allowed: *allowed }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    builder
}

/// Random bytes.
pub(crate) fn salt() -> Result<[u8; 32]> {
    let mut salt = [0; 32];
    let drawn = SysRng.try_fill_bytes(&mut salt);
    drawn.map_err(|cause| Error::storage("no entropy from the operating system", cause))?;
    Ok(salt)
}

pub(crate) fn encode(value: &impl Serialize) -> Result<Vec<u8>> {
    Ok(postcard::to_stdvec(value)?)
}

/// The same behind these bytes, where about so many more are to come: large vectors are written once.
pub(crate) fn encode_onto(mut bytes: Vec<u8>, about: usize, value: &impl Serialize) -> Result<Vec<u8>> {
    bytes.reserve(about);
    Ok(postcard::to_extend(value, bytes)?)
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    Ok(postcard::from_bytes(bytes)?)
}

#[cfg(test)]
mod tests;
