//! Work that may end before it is done, because nobody waits for it any more.
//!
//! Whoever waits holds a [`Stop`] and raises it. The work looks at it now and then ([`look`]), and where it is raised unwinds to [`Stop::over`]: no function
//! in between has to know, no result is given back half done, and files that were begun are removed by whoever began them. What is handed to other threads
//! takes the flag along: [`here`] before, [`Here::go_on`] there. Where nobody can stop the work, as in a process of its own, looking costs a nanosecond.
//!
//! ```
//! use sottovoce_fault::stop::{Stop, Stopped, look};
//! let stop = Stop::default();
//! assert_eq!(stop.over(|| 1 + 1), Ok(2));
//! let mut rounds = 0;
//! let ended: Result<(), Stopped> = stop.over(|| loop {
//!     look();
//!     rounds += 1;
//!     if rounds == 3 { stop.raise(); }
//! });
//! assert_eq!(ended, Err(Stopped));
//! assert_eq!(rounds, 3);
//! ```

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that whoever waits for work raises to end it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Work ended because its flag was raised; whatever it was to make is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was done")]
pub struct Stopped;

thread_local! {
    /// The flag of the work that this thread does just now.
    static HERE: RefCell<Here> = const { RefCell::new(Here(None)) };
}

impl Stop {
    /// Asks the work to end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does work that this flag ends.
    ///
    /// # Errors
    ///
    /// [`Stopped`] where the work met the flag raised. A panic of the work stays one.
    pub fn over<T>(&self, work: impl FnOnce() -> T) -> Result<T, Stopped> {
        Here(Some(self.clone())).caught(work)
    }
}

/// Ends the work of this thread, if that was asked for.
#[inline]
pub fn look() {
    HERE.with_borrow(Here::look);
}

/// The flag of this thread's work, for other threads that do a part of it.
pub fn here() -> Here {
    HERE.with_borrow(Clone::clone)
}

/// Work's own flag, or none where nobody can stop it.
#[derive(Debug, Clone, Default)]
pub struct Here(Option<Stop>);

impl Here {
    /// Ends the work here, if that was asked for.
    #[inline]
    pub fn look(&self) {
        if self.0.as_ref().is_some_and(Stop::is_raised) && !std::thread::panicking() {
            // Without a word on standard error: nothing is wrong.
            resume_unwind(Box::new(Stopped));
        }
    }

    /// Does a part of the work on this thread, unless it is to end.
    pub fn go_on<T>(&self, work: impl FnOnce() -> T) -> T {
        self.look();
        if HERE.with_borrow(|here| here.is(self)) {
            return work();
        }
        let _back = Back(HERE.replace(self.clone()));
        work()
    }

    fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(&one.0, &other.0),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// The same where unwinding must not go on, as at the end of a thread.
    ///
    /// # Errors
    ///
    /// [`Stopped`] where the work met the flag raised.
    pub fn caught<T>(&self, work: impl FnOnce() -> T) -> Result<T, Stopped> {
        // What was half done is dropped on the way, and nobody sees it.
        catch_unwind(AssertUnwindSafe(|| self.go_on(work))).map_err(|cause| {
            match cause.downcast::<Stopped>() {
                Ok(stopped) => *stopped,
                Err(other) => resume_unwind(other),
            }
        })
    }
}

/// What this thread worked on before; a thread of a pool may take up other work while it waits.
struct Back(Here);

impl Drop for Back {
    fn drop(&mut self) {
        HERE.set(std::mem::take(&mut self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_threads_end_as_well_and_their_files_are_dropped() {
        struct File<'a>(&'a AtomicBool);
        impl Drop for File<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let (stop, removed) = (Stop::default(), AtomicBool::new(false));
        let ended = stop.over(|| {
            let here = here();
            std::thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    here.caught(|| {
                        let _file = File(&removed);
                        stop.raise();
                        loop {
                            look();
                        }
                    })
                });
                let found: Result<(), Stopped> = thread.join().unwrap_or(Ok(()));
                assert_eq!(found, Err(Stopped));
            });
            look();
        });
        assert_eq!(ended, Err(Stopped));
        assert!(removed.into_inner());
        // The thread is free of it again.
        look();
    }

    #[test]
    fn work_within_work_has_a_flag_of_its_own() {
        let (outer, inner) = (Stop::default(), Stop::default());
        let done = outer.over(|| {
            inner.raise();
            assert_eq!(inner.over(|| 1), Err(Stopped));
            look();
            2
        });
        assert_eq!(done, Ok(2));
    }

    #[test]
    fn a_panic_is_no_stop() {
        let stop = Stop::default();
        let broken = catch_unwind(|| stop.over(|| resume_unwind(Box::new("broken"))).map(|()| 1));
        assert!(broken.is_err_and(|cause| cause.downcast_ref::<&str>() == Some(&"broken")));
    }
}
