//! Storage that cannot be read: an error with a message, whatever it does.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::{Error, Result};

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// What a ledger is called that holds what was not written.
pub(super) fn damaged(cause: &str) -> Error {
    Error::Damaged(format!(
        "{cause}; bring the newest whole copy back, or count everything as spent (`node init --spent`)"
    ))
}

/// Does something with storage, which panics where bytes are not what it wrote. Then nothing is printed, and that is the error.
pub(super) fn contained<T>(work: impl FnOnce() -> T) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !CONTAINED.get() {
                others(panic);
            }
        }));
    });
    let before = CONTAINED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(before);
    done.map_err(|_| damaged("the storage engine cannot read it"))
}
