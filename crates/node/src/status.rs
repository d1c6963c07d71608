//! How a peer stands, for whoever looks: its page, its metrics, a file in its folder. Never a value, a noise or a gradient.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Unit;
use sottovoce_protocol::Peer;

use crate::{Agreement, Cause, Error, Frame, Ledger, Name, Observer, Result};

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Not everybody is there yet; nothing was released.
    Meeting,
    /// It goes on.
    Running,
    /// It has a result.
    Done,
    /// It says nothing more, and has no result.
    Halted,
}

/// A neighbour, as it is seen from here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// Its number.
    pub peer: Peer,
    /// What people call it.
    pub name: String,
    /// Whether there is a connection.
    pub connected: bool,
    /// Messages that were handed to the network for it, repetitions included.
    pub sent: u64,
    /// What it sent that was refused.
    pub refused: u64,
    /// Why, the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// A budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// The data set.
    pub label: String,
    /// Towards whom, as people call it.
    pub observer: String,
    /// The peer's number, where it is one of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// Epsilon that was spent, at the budget's delta.
    pub epsilon: f64,
    /// The share of the budget that is used up, from 0 to 1.
    #[serde(default)]
    pub used: f64,
    /// The budget.
    pub allowed: f64,
    /// At this delta.
    pub delta: f64,
    /// The sum of deltas that was spent beside it: chances that whoever began a rumour is found out ...
    #[serde(default)]
    pub chances: f64,
    /// ... of so much.
    #[serde(default)]
    pub most: f64,
    /// Whether all this is of one row of what is held, and not of all of it.
    #[serde(default)]
    pub of_a_row: bool,
}

/// How a peer stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The program's version.
    pub version: String,
    /// The run.
    pub run: String,
    /// The hash of what was agreed on.
    pub agreement: String,
    /// What is done, in a few words.
    pub called: String,
    /// This peer's number ...
    pub peer: Peer,
    /// ... and everybody's names.
    pub names: Vec<String>,
    /// Who exchanges messages with whom.
    pub links: Vec<(Peer, Peer)>,
    /// Where the run is.
    pub phase: Phase,
    /// The round that it is in.
    pub round: usize,
    /// How many there are.
    pub rounds: usize,
    /// Who stopped responding first, where that has ended the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Its neighbours.
    pub neighbours: Vec<Neighbour>,
    /// Bytes that went out and came in, as frames.
    pub bytes_sent: u64,
    /// See above.
    pub bytes_received: u64,
    /// Budgets, and what was spent of them.
    pub budgets: Vec<Spent>,
    /// Records of the ledger.
    #[serde(default)]
    pub records: u64,
    /// Seconds since 1970, when this was written.
    pub written: u64,
    /// The process.
    pub process: u32,
}

/// Where everybody can see how a peer stands.
pub struct Board {
    status: Mutex<Status>,
    roster: Vec<Name>,
    sent: AtomicU64,
    received: AtomicU64,
    file: Option<PathBuf>,
    written: Mutex<Option<Instant>>,
    /// Whether something has changed since then.
    stale: AtomicBool,
}

/// Files are written no more often.
const OFTEN: Duration = Duration::from_millis(500);

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Board {
    /// Of a peer in a run; `file` is written now and then.
    pub fn new(
        agreement: &Agreement,
        me: Peer,
        (called, rounds, links): (String, usize, &[Vec<Peer>]),
        file: Option<PathBuf>,
    ) -> Result<Self> {
        let names = agreement.names();
        let neighbour = |&peer: &Peer| Neighbour {
            peer,
            name: names[peer].clone(),
            connected: false,
            sent: 0,
            refused: 0,
            refusal: None,
        };
        let pairs = |(a, all): (Peer, &Vec<Peer>)| {
            all.iter().filter(move |&&b| a < b).map(move |&b| (a, b)).collect::<Vec<_>>()
        };
        let status = Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run: agreement.name.clone(),
            agreement: agreement.hash()?.to_string(),
            called,
            peer: me,
            links: links.iter().enumerate().flat_map(pairs).collect(),
            phase: Phase::Meeting,
            round: 0,
            rounds,
            cause: None,
            neighbours: links[me].iter().map(neighbour).collect(),
            names,
            bytes_sent: 0,
            bytes_received: 0,
            budgets: Vec::new(),
            records: 0,
            written: now(),
            process: std::process::id(),
        };
        let (sent, received) = (AtomicU64::new(0), AtomicU64::new(0));
        let roster = agreement.roster()?;
        let (status, written, stale) = (Mutex::new(status), Mutex::new(None), AtomicBool::new(false));
        Ok(Self { status, roster, sent, received, file, written, stale })
    }

    fn lock(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As it is now.
    pub fn status(&self) -> Status {
        let mut status = self.lock().clone();
        (status.bytes_sent, status.bytes_received) = (self.sent.load(Relaxed), self.received.load(Relaxed));
        status.written = now();
        status
    }

    fn with(&self, peer: Peer, change: impl FnOnce(&mut Neighbour)) {
        let mut status = self.lock();
        if let Some(neighbour) = status.neighbours.iter_mut().find(|known| known.peer == peer) {
            change(neighbour);
        }
        drop(status);
        self.write(false);
    }

    /// Bytes went out.
    pub(crate) fn count_sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Relaxed);
    }

    /// Bytes came in.
    pub(crate) fn count_received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn met(&self, peer: Peer, connected: bool) {
        self.with(peer, |neighbour| neighbour.connected = connected);
    }

    pub(crate) fn said(&self, to: Peer, frame: &Frame) {
        if matches!(frame, Frame::Parcel(_)) {
            self.with(to, |neighbour| neighbour.sent += 1);
        }
    }

    pub(crate) fn refused(&self, from: Peer, what: &str) {
        self.with(from, |neighbour| {
            neighbour.refused += 1;
            neighbour.refusal = Some(what.to_owned());
        });
    }

    pub(crate) fn stands(&self, phase: Phase, round: Option<usize>) {
        let mut status = self.lock();
        let round = round.unwrap_or(status.rounds);
        let changed = (status.phase, status.round) != (phase, round);
        let turned = status.phase != phase;
        (status.phase, status.round) = (phase, round);
        drop(status);
        if changed {
            self.write(turned);
        }
    }

    /// Who stopped responding first, by everything that was signed.
    pub(crate) fn cause(&self, cause: &Cause) {
        let told = self.told(cause);
        self.lock().cause = Some(told);
        self.write(true);
    }

    /// The same in a sentence.
    pub(crate) fn told(&self, cause: &Cause) -> String {
        cause.told(&self.lock().names)
    }

    /// How long the ledger is by now.
    pub(crate) fn records(&self, count: u64) {
        self.lock().records = count;
    }

    /// What was spent by now.
    pub(crate) fn spent(&self, ledger: &Ledger) -> Result<()> {
        let budgets = ledger.budgets()?;
        let mut status = self.lock();
        let number = |observer: &Observer| match observer {
            Observer::Peer(name) => self.roster.iter().position(|known| known == name),
            _ => None,
        };
        let spent = budgets.into_iter().map(|one| Spent {
            peer: number(&one.observer),
            observer: one.observer.called(&self.roster, &status.names),
            label: one.label,
            epsilon: one.epsilon,
            used: one.used,
            allowed: one.allowed.epsilon,
            delta: one.allowed.delta,
            chances: one.chances,
            most: one.allowed.chances,
            of_a_row: one.unit == Some(Unit::Record),
        });
        status.budgets = spent.collect();
        status.records = ledger.head().count;
        drop(status);
        self.write(true);
        Ok(())
    }

    /// Everybody's names.
    pub(crate) fn names(&self) -> Vec<String> {
        self.lock().names.clone()
    }

    /// Names of peers.
    pub(crate) fn list(&self, peers: &[Peer]) -> Vec<String> {
        crate::bulletin::called(peers, &self.lock().names)
    }

    /// The same, one after the other.
    pub(crate) fn names_of(&self, peers: &[Peer]) -> String {
        self.list(peers).join(", ")
    }

    /// Writes what was not written lately; how long to wait before it is time to.
    pub(crate) fn settle(&self) -> Option<Duration> {
        if self.stale.load(Relaxed) {
            self.write(false);
        }
        self.stale.load(Relaxed).then_some(OFTEN)
    }

    /// Writes the file: at once, or if it was not written lately. Failing to is no reason to stop.
    pub(crate) fn write(&self, at_once: bool) {
        let Some(path) = &self.file else { return };
        let mut last = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if !at_once && last.is_some_and(|last| last.elapsed() < OFTEN) {
            return self.stale.store(true, Relaxed);
        }
        self.stale.store(false, Relaxed);
        *last = Some(Instant::now());
        let draft = path.with_extension("draft");
        let written = serde_json::to_vec(&self.status())
            .map_err(std::io::Error::other)
            .and_then(|text| crate::write_private(&draft, &text).map_err(std::io::Error::other))
            .and_then(|()| fs::rename(&draft, path));
        if let Err(cause) = written {
            tracing::warn!("could not write {}: {cause}", path.display());
        }
    }
}

/// Bytes of the longest status.
const MOST: u64 = 1 << 26;

impl Status {
    /// As a running peer last wrote it.
    pub fn read(path: &Path) -> Result<Self> {
        let text = sottovoce_fault::file::read("status", path, MOST)?;
        serde_json::from_slice(&text).map_err(|cause| Error::file("read", path, cause))
    }
}
