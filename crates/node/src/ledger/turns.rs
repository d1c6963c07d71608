//! Who has the storage: one process at a time. Who wants it holds a lock beside it; who has it looks for that now and then, and gives it up.

use std::cell::{Cell, RefCell, RefMut};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use redb::{Database, ReadTransaction, ReadableDatabase};
use sottovoce_fault::file;

use super::{builder, damage};
use crate::{Error, Result};

/// How long another process is waited for: it may be in the middle of a step.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same where a run goes on: what ends it are its own deadlines, and no reader that was stopped.
const AGAIN_PATIENCE: Duration = Duration::from_secs(3600);
/// Between two tries.
const AGAIN: Duration = Duration::from_millis(4);
/// How often somebody is looked for: seldom, and more often after somebody has come.
const SELDOM: Duration = Duration::from_millis(200);
const OFTEN: Duration = Duration::from_millis(10);
const LATELY: Duration = Duration::from_secs(5);

/// Storage that is open, or was given up and is opened again when it is needed.
pub(super) struct Turns {
    open: RefCell<Option<Database>>,
    file: Option<(PathBuf, File)>,
    looked: Cell<Instant>,
    wanted: Cell<Option<Instant>>,
}

impl Turns {
    /// Storage that nobody else can have.
    pub(super) fn alone(database: Database) -> Self {
        Self {
            open: RefCell::new(Some(database)),
            file: None,
            looked: Cell::new(Instant::now()),
            wanted: Cell::new(None),
        }
    }

    /// A file, once nobody else has it.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let name = path.with_extension("turn");
        // Of what is no file nothing would ever come. (One that is missing is told of below.)
        for (field, path) in [("ledger", path), ("turn", &name)] {
            match file::regular(path) {
                Err(cause) if cause.kind() == ErrorKind::InvalidInput => {
                    return Err(file::refused(field, path, &cause).into());
                }
                _ => {}
            }
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let lock = options.open(&name).map_err(|cause| Error::file("open", &name, cause))?;
        let database = take(path, &lock, PATIENCE)?;
        Ok(Self { file: Some((path.to_owned(), lock)), ..Self::alone(database) })
    }

    /// The storage.
    pub(super) fn database(&self) -> Result<RefMut<'_, Database>> {
        let mut open = self.open.borrow_mut();
        if open.is_none() {
            let Some((path, lock)) = &self.file else {
                return Err(Error::storage("the ledger", "it was given up"));
            };
            *open = Some(take(path, lock, AGAIN_PATIENCE)?);
        }
        RefMut::filter_map(open, Option::as_mut).map_err(|_| Error::storage("the ledger", "it was given up"))
    }

    pub(super) fn read(&self) -> Result<ReadTransaction> {
        Ok(self.database()?.begin_read()?)
    }

    /// Gives the storage up if another process waits for it; whether it did.
    pub(super) fn give_way(&self) -> bool {
        let Some((_, lock)) = &self.file else { return false };
        if self.looked.get().elapsed() < OFTEN || self.open.borrow().is_none() {
            return false;
        }
        self.looked.set(Instant::now());
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                self.wanted.set(Some(Instant::now()));
                drop(self.open.take());
                true
            }
            // (Where there are no locks, nobody waits by one.)
            Err(TryLockError::Error(_)) => false,
            Ok(()) => {
                let _ = lock.unlock();
                false
            }
        }
    }

    /// How long its owner may look elsewhere.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.file.as_ref()?;
        let lately = self.wanted.get().is_some_and(|when| when.elapsed() < LATELY);
        self.open.borrow().is_some().then_some(if lately { OFTEN } else { SELDOM })
    }
}

/// Opens a file once nobody else has it. Who has it sees the lock meanwhile.
fn take(path: &Path, lock: &File, patience: Duration) -> Result<Database> {
    let until = Instant::now() + patience;
    let running = || Error::Running(path.display().to_string());
    while let Err(TryLockError::WouldBlock) = lock.try_lock() {
        if Instant::now() > until {
            return Err(running());
        }
        std::thread::sleep(AGAIN);
    }
    let opened = loop {
        match damage::contained(|| builder().open(path)) {
            Ok(Err(redb::DatabaseError::DatabaseAlreadyOpen)) if Instant::now() < until => {
                std::thread::sleep(AGAIN);
            }
            other => break other,
        }
    };
    let _ = lock.unlock();
    opened?.map_err(|cause| match cause {
        redb::DatabaseError::DatabaseAlreadyOpen => running(),
        cause => match Error::from(cause) {
            Error::Damaged(cause) => damage::damaged(&cause),
            Error::Storage { cause, .. } => Error::file("open", path, cause),
            other => other,
        },
    })
}
