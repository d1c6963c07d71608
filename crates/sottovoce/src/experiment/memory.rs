//! Inputs in memory, instead of the names of files.
//!
//! A spec keeps such an input beside its field for a file, which then reads [`MEMORY`]: so it is written, and so a transcript names it. The input itself is
//! never written, and only its size is printed.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sottovoce_engine::deep::Holdings;
use sottovoce_learning::read::Rows;
use sottovoce_topology::Graph;
use sottovoce_topology::io::Weighted;

use super::values::PeerValue;
use crate::{Error, Result};

/// What stands for the name of a file where the input was given in memory.
pub const MEMORY: &str = "<memory>";

/// The column that names the owner of a row, where rows in memory have owners.
pub const OWNER: &str = "owner";

/// Whether a name stands for an input in memory.
pub fn is_memory(file: &Path) -> bool {
    file == Path::new(MEMORY)
}

/// An input in memory, where there is one, and its size. Two are equal where they are the same.
pub struct Memory<T>(Option<Arc<(T, usize)>>);

impl<T> Memory<T> {
    /// Keeps an input of this size, and lets the field for its file say so.
    pub fn put(&mut self, file: &mut Option<PathBuf>, input: T, size: usize) {
        self.0 = Some(Arc::new((input, size)));
        *file = Some(MEMORY.into());
    }

    /// The input with its size, where `file` stands for one: the spec's own, or else the one that was lent.
    pub fn of(
        &self,
        field: &'static str,
        file: &Path,
        lent: fn(&Inputs) -> &Self,
    ) -> Result<Option<Arc<(T, usize)>>> {
        if !is_memory(file) {
            return Ok(None);
        }
        let found = self.0.clone().or_else(|| LENT.with_borrow(|all| lent(all).0.clone()));
        let remedy = "it was given in memory, and is not written down; give it again, or a file";
        found.map(Some).ok_or_else(|| Error::parameter(field, MEMORY, remedy))
    }
}

impl<T> Clone for Memory<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> PartialEq for Memory<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<T> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(input) => write!(f, "{} in memory", input.1),
            None => f.write_str("none"),
        }
    }
}

/// Inputs that go with a command's words or with a file: another program has them in memory, and `<memory>` stands for each.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Who can speak to whom.
    pub graph: Memory<Graph>,
    /// Who shares a secret with whom.
    pub keys: Memory<Graph>,
    /// Who resembles whom.
    pub similar: Memory<Weighted>,
    /// Private values.
    pub values: Memory<Vec<PeerValue>>,
    /// Private rows.
    pub rows: Memory<Rows>,
    /// Private images.
    pub images: Memory<Holdings>,
}

thread_local! {
    /// Inputs lent to what this thread does.
    static LENT: RefCell<Inputs> = RefCell::default();
}

impl Inputs {
    /// Lends them to some work on this thread: its specs are made from words, which hold no inputs.
    pub fn lend<R>(self, work: impl FnOnce() -> R) -> R {
        /// Takes the inputs back, also where the work breaks off.
        struct Back(Inputs);
        impl Drop for Back {
            fn drop(&mut self) {
                LENT.set(std::mem::take(&mut self.0));
            }
        }
        let _back = Back(LENT.replace(self));
        work()
    }
}
