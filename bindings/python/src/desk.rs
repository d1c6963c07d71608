//! Rust works in a thread of its own, and what it asks of Python is answered in the thread that called. So other threads of Python go on meanwhile, and Ctrl-C is heard.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::ask::LOOK;

/// What the other thread says: a question, or what came of it all.
pub(crate) enum Word<Q, T> {
    Asked(Q),
    Done(T),
}

/// Does something in a thread of its own, which may ask questions by what it is given.
pub(crate) fn elsewhere<Q: Send + 'static, T: Send + 'static>(
    work: impl FnOnce(Sender<Word<Q, T>>) -> T + Send + 'static,
) -> PyResult<Receiver<Word<Q, T>>> {
    crate::not_forked()?;
    let (tell, told) = channel();
    let begun = std::thread::Builder::new().name("sottovoce".into()).spawn(move || {
        let done = work(tell.clone());
        // Nobody may be waiting any more.
        _ = tell.send(Word::Done(done));
    });
    begun.map_err(|cause| PyRuntimeError::new_err(format!("no thread could be begun: {cause}")))?;
    Ok(told)
}

/// Answers questions until there is a result. An answer that is an error ends the waiting, and so does Ctrl-C.
pub(crate) fn serve<Q: Send, T: Send>(
    py: Python<'_>,
    told: &mut Option<Receiver<Word<Q, T>>>,
    mut answer: impl FnMut(Q) -> PyResult<()>,
) -> PyResult<T> {
    let broken = || PyRuntimeError::new_err("the work broke off; this is a mistake in sottovoce");
    loop {
        let listening = told.take().ok_or_else(broken)?;
        let (listening, word) = py.detach(move || {
            let word = listening.recv_timeout(LOOK);
            (listening, word)
        });
        *told = Some(listening);
        match word {
            Ok(Word::Done(done)) => return Ok(done),
            Ok(Word::Asked(question)) => answer(question)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(broken()),
        }
        py.check_signals()?;
    }
}
