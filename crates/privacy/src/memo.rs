//! What is computed once, and follows from everything else of the value that keeps it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::Result;

/// Computed on first use. Two of one value are equal.
pub(crate) struct Memo<T>(OnceLock<Arc<T>>);

impl<T> Memo<T> {
    pub(crate) fn get(&self, compute: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        if let Some(known) = self.0.get() {
            return Ok(Arc::clone(known));
        }
        let computed = Arc::new(compute()?);
        Ok(Arc::clone(self.0.get_or_init(|| computed)))
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Clone for Memo<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for Memo<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> fmt::Debug for Memo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}
