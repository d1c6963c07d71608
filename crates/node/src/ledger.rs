//! What a peer must not forget, in one file: budgets, runs, messages that were not answered, and the chain of all steps.
//!
//! Every change is one transaction, committed in two phases: after a crash it is there as a whole or not at all, whichever writes the disk lost, kept or tore
//! (`tests/it/crashes.rs`).

mod accounts;
mod index;
mod runs;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rand::TryRng;
use rand::rngs::SysRng;
use redb::{
    Builder, Database, Durability, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition,
    WriteTransaction,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sottovoce_privacy::Unit;
use sottovoce_protocol::{Peer, Release};

use accounts::{debit, declare, one_unit, standings, unit_in, unit_of};
use index::Index;
use runs::{RUNS, Runs, Step};

use crate::account::Account;
use crate::chain::{of_draw, sealed};
use crate::recording::Recorder;
use crate::splice::Spliced;
use crate::{
    Allowed, Cost, Error, Hash, Head, Key, Mark, Name, Observer, Receipt, Record, Result, Set, Shown, Signed,
};

type Bytes32 = &'static [u8; 32];

const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Which data set a file belongs to.
const FILES: TableDefinition<'_, Bytes32, &str> = TableDefinition::new("files");
/// What was spent of each data set, towards each observer.
const ACCOUNTS: TableDefinition<'_, (&str, &[u8]), &[u8]> = TableDefinition::new("accounts");
const CHAIN: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("chain");
/// Whether data sets that are not known yet may be held.
const CLOSED: &str = "closed";

/// Bytes of pages that are kept in memory: what a node reads is what it has just written.
const CACHE: usize = 4 << 20;

const FORMAT: &[u8] = b"sottovoce ledger 4";

/// A peer's ledger.
pub struct Ledger {
    database: Database,
    key: Key,
    head: Head,
    /// What is looked up in the chain, once it was asked for.
    index: OnceLock<Index>,
    /// The last message that was said, in which run and under which number: states refer to it.
    spoken: Option<(Hash, u64, Arc<Vec<u8>>)>,
    /// Why nothing may be sent from it any more.
    doubted: Option<String>,
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
    /// Epsilon that was spent, at the budget's delta.
    pub epsilon: f64,
    /// The same in the currency of the budget: a Rényi loss.
    pub loss: f64,
    /// The sum of deltas beside it.
    pub chances: f64,
    /// What all of it is of: everything that is held (`User`), or one row (`Record`); none where nothing was paid yet.
    pub unit: Option<Unit>,
}

/// What was spent before a ledger began.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// Begins a ledger in a file that is not there yet, and that nobody else can read. It is there as a whole, or not at all.
    pub fn create(path: &Path, key: Key) -> Result<()> {
        let failed = |cause: &dyn std::fmt::Display| Error::file("create", path, cause);
        let draft = path.with_extension(format!("draft-{}", std::process::id()));
        let _ = std::fs::remove_file(&draft);
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&draft).map_err(|cause| failed(&cause))?;
        drop(Self::of(builder().create(&draft).map_err(|cause| failed(&cause))?, key)?);
        // A second name, which fails where there is one: what a ledger has spent is never forgotten.
        let named = std::fs::hard_link(&draft, path);
        let _ = std::fs::remove_file(&draft);
        named.map_err(|cause| failed(&format!("{cause}; what a ledger has spent is never forgotten")))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|cause| failed(&cause))
    }

    /// Opens a ledger. Nobody else may have it open. One that is missing is never begun anew: what it had spent would be forgotten.
    pub fn open(path: &Path, key: Key) -> Result<Self> {
        Self::look(path, key)?.undoubted()
    }

    /// The same to read what is in it, also where nothing may be sent from it any more: such a one is never written to.
    pub fn look(path: &Path, key: Key) -> Result<Self> {
        let database = builder().open(path).map_err(|cause| match cause {
            redb::DatabaseError::DatabaseAlreadyOpen => Error::Running(path.display().to_string()),
            cause => Error::file("open", path, cause),
        })?;
        Self::of(database, key)
    }

    /// On other storage, which is empty or holds a ledger.
    pub fn on(backend: impl StorageBackend, key: Key) -> Result<Self> {
        Self::of(builder().create_with_backend(backend)?, key)?.undoubted()
    }

    fn of(database: Database, key: Key) -> Result<Self> {
        let (head, index) = (Head::default(), OnceLock::new());
        let mut ledger = Self { database, key, head, index, spoken: None, doubted: None, recorder: None };
        ledger.claim()?;
        ledger.head = ledger.last()?;
        ledger.doubted = ledger.meta("doubted")?.map(|why| String::from_utf8_lossy(&why).into_owned());
        Ok(ledger)
    }

    fn undoubted(self) -> Result<Self> {
        self.doubted.clone().map_or(Ok(self), |why| Err(Error::Doubted(why)))
    }

    /// Why nothing may be sent from it any more, if so.
    pub fn doubted(&self) -> Option<&str> {
        self.doubted.as_deref()
    }

    /// From now on writes down what noise makes of values, before it is stored here.
    pub fn record_to(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Whether it does that.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorder.is_some()
    }

    /// Makes all tables, and sees that this is the owner's ledger.
    fn claim(&self) -> Result<()> {
        let owner = self.key.name();
        let write = self.write()?;
        {
            let mut meta = write.open_table(META)?;
            let known = |table: &redb::Table<'_, &str, &[u8]>, field: &str| -> Result<Option<Vec<u8>>> {
                Ok(table.get(field)?.map(|value| value.value().to_vec()))
            };
            match (known(&meta, "format")?, known(&meta, "owner")?) {
                (None, None) => {
                    meta.insert("format", FORMAT)?;
                    meta.insert("owner", &owner.0[..])?;
                }
                (Some(format), _) if format != FORMAT => {
                    return Err(Error::parameter(
                        "ledger",
                        "of another version",
                        "use the program that wrote it; to begin anew, `node status --files` of that one and `node init --spent` of this one bring along what was spent",
                    ));
                }
                (_, Some(other)) if other == owner.0 => {}
                _ => {
                    let remedy = "it belongs to another key; give the ledger that belongs to this one";
                    return Err(Error::parameter("ledger", "somebody else's", remedy));
                }
            }
            write.open_table(FILES)?;
            write.open_table(ACCOUNTS)?;
            write.open_table(RUNS)?;
            write.open_table(CHAIN)?;
        }
        Ok(write.commit()?)
    }

    fn write(&self) -> Result<WriteTransaction> {
        self.doubted.clone().map_or(Ok(()), |why| Err(Error::Doubted(why)))?;
        let mut write = self.database.begin_write()?;
        write.set_durability(Durability::Immediate)?;
        write.set_two_phase_commit(true);
        Ok(write)
    }

    fn meta(&self, field: &str) -> Result<Option<Vec<u8>>> {
        let read = self.database.begin_read()?;
        Ok(read.open_table(META)?.get(field)?.map(|value| value.value().to_vec()))
    }

    /// Writes down for ever that this ledger is not what others have seen.
    fn doubt(&self, why: String) -> Result<()> {
        let write = self.write()?;
        write.open_table(META)?.insert("doubted", why.as_bytes())?;
        write.commit()?;
        Err(Error::Doubted(why))
    }

    fn index(&self) -> Result<&Index> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let index = Index::read(&self.database.begin_read()?.open_table(CHAIN)?)?;
        Ok(self.index.get_or_init(|| index))
    }

    fn last(&self) -> Result<Head> {
        let read = self.database.begin_read()?;
        let chain = read.open_table(CHAIN)?;
        let Some((count, bytes)) = chain.last()? else { return Ok(Head::default()) };
        let signed: Signed = decode(bytes.value())?;
        signed.open(&self.name())?;
        if signed.link.before.count != count.value() {
            return Err(Error::storage("the ledger", "its last record is not where it was signed"));
        }
        Ok(signed.link.head())
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
        let write = self.write()?;
        declare(&write, label, observer, allowed)?;
        Ok(write.commit()?)
    }

    /// A budget of which something was spent before this ledger began: under another key, in a ledger that is lost. Once, and before anything else is known of it.
    pub fn enter(&mut self, label: &str, observer: &Observer, allowed: Allowed, spent: Before) -> Result<()> {
        let write = self.write()?;
        let who = encode(observer)?;
        {
            let mut accounts = write.open_table(ACCOUNTS)?;
            let known = accounts.get((label, &who[..]))?.is_some();
            let remedy = "it is known here already, and nothing is declared twice";
            crate::error::require(!known, "budget", format_args!("`{label}` towards {observer}"), remedy)?;
            accounts.insert((label, &who[..]), &encode(&Account::begun(allowed, spent)?)?[..])?;
        }
        Ok(write.commit()?)
    }

    /// Every data set, what its prices are of, and which files were ever held as it.
    pub fn sets(&self) -> Result<Vec<Set>> {
        let read = self.database.begin_read()?;
        let (files, meta) = (read.open_table(FILES)?, read.open_table(META)?);
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for one in self.budgets()? {
            all.entry(one.label).or_default();
        }
        for entry in files.iter()? {
            let (file, label) = entry?;
            all.entry(label.value().to_owned()).or_default().push(Hash(*file.value()).to_string());
        }
        let set = |(label, files): (String, Vec<String>)| {
            let unit = meta.get(unit_of(&label).as_str())?.map(|unit| unit_in(unit.value())).transpose()?;
            Ok(Set { label, unit, files })
        };
        all.into_iter().map(set).collect()
    }

    /// Says what prices of a data set are of, before anything was paid here.
    pub(crate) fn state(&mut self, label: &str, unit: Unit) -> Result<()> {
        let write = self.write()?;
        one_unit(&mut write.open_table(META)?, label, unit)?;
        Ok(write.commit()?)
    }

    /// Says that what came before this ledger is not known but for the data sets that it knows by now: no others are ever used with it.
    pub(crate) fn close(&mut self) -> Result<()> {
        let write = self.write()?;
        write.open_table(META)?.insert(CLOSED, &b"yes"[..])?;
        Ok(write.commit()?)
    }

    /// Says that a file is (now) what a data set holds. What was spent of the data set stays spent; a file that another data set holds is refused, since its
    /// budget is there.
    pub fn hold(&mut self, label: &str, file: Hash) -> Result<()> {
        let write = self.write()?;
        {
            let mut files = write.open_table(FILES)?;
            let known = files.get(&file.0)?.map(|label| label.value().to_owned());
            match known {
                Some(other) if other != label => {
                    let remedy =
                        format!("the same file is data set `{other}`, and so is its budget; use that label");
                    return Err(Error::parameter("data", label, remedy));
                }
                _ => files.insert(&file.0, label)?,
            };
        }
        Ok(write.commit()?)
    }

    /// What was spent of each budget: towards whom, the budget, the Rényi loss spent, the sum of deltas.
    pub fn spent(&self, label: &str) -> Result<Vec<(Observer, Allowed, f64, f64)>> {
        let read = self.database.begin_read()?;
        let accounts = read.open_table(ACCOUNTS)?;
        let mut all = Vec::new();
        for entry in accounts.iter()? {
            let (key, value) = entry?;
            let (of, who) = key.value();
            if of == label {
                let account: Account = decode(value.value())?;
                let (loss, chances) = account.spent();
                all.push((decode(who)?, account.allowed, loss, chances));
            }
        }
        Ok(all)
    }

    /// Every budget that was declared, and the epsilon that was spent of it.
    pub fn budgets(&self) -> Result<Vec<Standing>> {
        let read = self.database.begin_read()?;
        standings(&read.open_table(ACCOUNTS)?, &read.open_table(META)?)
    }

    /// Runs that something is stored of.
    pub fn runs(&self) -> Result<Vec<Hash>> {
        let read = self.database.begin_read()?;
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
        let write = self.write()?;
        let declared =
            budgets.iter().try_for_each(|(observer, allowed)| declare(&write, label, observer, *allowed));
        let paid = declared.and_then(|()| debit(&write, label, cost));
        let then = paid.and_then(|()| standings(&write.open_table(ACCOUNTS)?, &write.open_table(META)?));
        write.abort()?;
        then
    }

    /// A record of the chain, from 0.
    pub fn record(&self, index: u64) -> Result<Option<Signed>> {
        let read = self.database.begin_read()?;
        let chain = read.open_table(CHAIN)?;
        chain.get(index)?.map(|bytes| decode(bytes.value())).transpose()
    }

    /// Every record, in order; refuses a chain that was changed.
    fn each(&self, mut look: impl FnMut(Signed, Record)) -> Result<()> {
        let read = self.database.begin_read()?;
        let chain = read.open_table(CHAIN)?;
        let mut before = Head::default();
        for entry in chain.iter()? {
            let (index, bytes) = entry?;
            let signed: Signed = decode(bytes.value())?;
            let record = signed.open(&self.name())?;
            if index.value() != before.count || record.before != before {
                return Err(Error::storage(
                    "the ledger",
                    format!("record {} follows another", index.value()),
                ));
            }
            before = signed.link.head();
            look(signed, record);
        }
        Ok(())
    }

    /// The records of a run, in order; refuses a chain that was changed.
    pub fn records(&self, run: Hash) -> Result<Vec<Record>> {
        let mut all = Vec::new();
        self.each(|_, record| all.extend(Some(record).filter(|record| record.run == run)))?;
        Ok(all)
    }

    /// The chain from the first record of a run to its last, as others may see it: of other runs' records the links only.
    pub fn shown(&self, run: Hash) -> Result<Vec<Shown>> {
        let (mut all, mut between) = (Vec::new(), Vec::new());
        self.each(|signed, record| match (record.run == run, all.is_empty()) {
            (true, _) => {
                all.append(&mut between);
                all.push(Shown::Whole(signed));
            }
            (false, true) => {}
            (false, false) => between.push(Shown::Withheld(signed.link)),
        })?;
        Ok(all)
    }

    /// The last marks that were seen of a peer's ledger, one for each run.
    pub fn seen(&self, name: &Name) -> Result<Vec<Mark>> {
        self.newest(name, usize::MAX)
    }

    /// The same, of the latest runs, at most so many.
    pub(crate) fn newest(&self, name: &Name, most: usize) -> Result<Vec<Mark>> {
        let read = self.database.begin_read()?;
        let runs = read.open_table(RUNS)?;
        let all = runs.all()?.into_iter().map(|run| runs.seen(run, name));
        let mut all: Vec<_> = all.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        all.sort_by_key(|&(_, when)| std::cmp::Reverse(when));
        Ok(all.into_iter().take(most).map(|(mark, _)| mark).collect())
    }

    /// The hash of a message that was heard.
    pub(crate) fn heard(&self, run: Hash, from: Peer, number: u64) -> Result<Option<Hash>> {
        Ok(self.index()?.heard(run, from, number))
    }

    /// What a neighbour has seen of this ledger: is it a part of it? Marks that this peer never made count for nothing, or anybody could stop it.
    pub(crate) fn face(&self, by: &Name, marks: &[Mark]) -> Result<()> {
        let index = self.index()?;
        for mark in marks {
            if !index.holds(mark.hash) && mark.is_of(&self.name()) {
                return self.doubt(format!(
                    "peer {by:?} has seen a step that this ledger does not hold: it is an older copy, or its key runs elsewhere as well. Nothing is sent from it any \
                     more; bring the newest ledger back. Without it, what was spent of the data is not known, and counts as all"
                ));
            }
        }
        Ok(())
    }

    /// The book and the state of a run, if it has begun.
    pub(crate) fn run<B: DeserializeOwned, S: DeserializeOwned>(&self, run: Hash) -> Result<Option<(B, S)>> {
        let read = self.database.begin_read()?;
        let runs = read.open_table(RUNS)?;
        let Some(book) = runs.book(run)? else { return Ok(None) };
        let state = runs.state(run)?.ok_or_else(|| Error::storage("the ledger", "a state is not whole"))?;
        Ok(Some((decode(&book)?, decode(&state)?)))
    }

    /// Messages of a run that were not answered: to whom, and their numbers.
    pub(crate) fn unanswered(&self, run: Hash) -> Result<Vec<(Peer, u64)>> {
        let all = self.database.begin_read()?.open_table(RUNS)?.unanswered(run)?;
        Ok(all.into_iter().map(|(_, peer, number, _)| (peer, number)).collect())
    }

    /// Messages to a peer that it has not answered, in order.
    pub(crate) fn waiting(&self, run: Hash, to: Peer) -> Result<Vec<Waiting>> {
        self.database.begin_read()?.open_table(RUNS)?.waiting(run, to)
    }

    /// Stores a step: all of it, or nothing. Its mark.
    pub(crate) fn commit(&mut self, page: &Page<'_>) -> Result<Mark> {
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
        if let Some(draw) = self.index()?.used(page.run, &record.covered) {
            return Err(Error::Disagreement(format!(
                "draw {draw} of noise was asked for twice; nothing was sent"
            )));
        }
        let write = self.write()?;
        if let Some(cost) = page.cost {
            debit(&write, page.label, cost)?;
        }
        {
            write.open_table(CHAIN)?.insert(self.head.count, &encode(&signed)?[..])?;
            let mut step = Step { runs: write.open_table(RUNS)?, page };
            step.post(mark, refers)?;
            step.keep(&stored, self.head.count)?;
        }
        write.commit()?;
        self.head = head;
        if let Some(index) = self.index.get_mut() {
            index.add(&signed.link, &record);
        }
        // A message that is neither new nor referred to may be forgotten by now: no later state refers to it.
        if page.said.is_empty() && refers.is_none() {
            self.spoken = None;
        }
        Ok(mark)
    }
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
