//! A disk in memory whose plug is pulled: what was not synced is lost, kept in part, or torn.

use std::io::{Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What happens to writes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Lost,
    /// A random subset is kept.
    Some,
    /// Of every write a random subset of its sectors.
    Torn,
}

pub(crate) const MODES: [Mode; 3] = [Mode::Lost, Mode::Some, Mode::Torn];

const SECTOR: u64 = 512;

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

#[derive(Debug, Default)]
struct Inner {
    durable: Vec<u8>,
    now: Vec<u8>,
    unsynced: Vec<Change>,
    operations: u64,
    last: Option<u64>,
    dead: bool,
}

/// A disk; clones are the same disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Inner>>);

impl Disk {
    /// The plug will be pulled in the operation of this number, from 1, counted from now.
    pub(crate) fn until(self, last: Option<u64>) -> Self {
        let mut inner = self.inner();
        (inner.operations, inner.last) = (0, last);
        drop(inner);
        self
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes, syncs and changes of length so far.
    pub(crate) fn operations(&self) -> u64 {
        self.inner().operations
    }

    /// Whether the plug was pulled.
    pub(crate) fn is_dead(&self) -> bool {
        self.inner().dead
    }

    /// Pulls the plug now.
    pub(crate) fn kill(&self) {
        self.inner().dead = true;
    }

    /// A copy as it is: a backup, or a clone of the machine.
    pub(crate) fn copy(&self) -> Self {
        let inner = self.inner();
        let copy = Inner { durable: inner.now.clone(), now: inner.now.clone(), ..Inner::default() };
        Self(Arc::new(Mutex::new(copy)))
    }

    /// The disk as it is found afterwards.
    pub(crate) fn found(&self, mode: Mode, seed: u64) -> Self {
        let inner = self.inner();
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        let mut found = inner.durable.clone();
        for change in &inner.unsynced {
            let keep = mode == Mode::Torn || (mode == Mode::Some && dice.next_u32() & 1 == 1);
            match change {
                Change::Length(length) if keep => found.resize(*length as usize, 0),
                Change::Write(offset, data) if keep => {
                    let mut at = 0;
                    while at < data.len() {
                        let place = offset + at as u64;
                        let end = data.len().min(at + (SECTOR - place % SECTOR) as usize);
                        if mode != Mode::Torn || dice.next_u32() & 1 == 1 {
                            put(&mut found, place, &data[at..end]);
                        }
                        at = end;
                    }
                }
                _ => {}
            }
        }
        Self(Arc::new(Mutex::new(Inner { durable: found.clone(), now: found, ..Inner::default() })))
    }
}

fn put(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let end = offset as usize + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset as usize..end].copy_from_slice(data);
}

impl Inner {
    /// Counts an operation; `false` if the plug is pulled in it.
    fn count(&mut self) -> Result<bool> {
        if self.dead {
            return Err(Error::other("the plug was pulled"));
        }
        self.operations += 1;
        self.dead = Some(self.operations) == self.last;
        Ok(!self.dead)
    }

    fn change(&mut self, change: Change) -> Result<()> {
        let alive = self.count()?;
        match &change {
            Change::Write(offset, data) => put(&mut self.now, *offset, data),
            Change::Length(length) => self.now.resize(*length as usize, 0),
        }
        self.unsynced.push(change);
        if alive { Ok(()) } else { Err(Error::other("the plug was pulled")) }
    }
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> Result<u64> {
        Ok(self.inner().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let inner = self.inner();
        if inner.dead {
            return Err(Error::other("the plug was pulled"));
        }
        let place = offset as usize;
        let bytes = inner.now.get(place..place + out.len()).ok_or_else(|| Error::other("beyond the end"))?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.inner().change(Change::Length(len))
    }

    fn sync_data(&self) -> Result<()> {
        let mut inner = self.inner();
        if !inner.count()? {
            return Err(Error::other("the plug was pulled"));
        }
        inner.durable = inner.now.clone();
        inner.unsynced.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.inner().change(Change::Write(offset, data.to_vec()))
    }
}
