//! A real peer whose gradients a function of Python's computes: the node clips, rounds, hides, pays and speaks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use sottovoce_node::{Function, Hand, Place};

use crate::ask::{Said, said};
use crate::desk::{Word, elsewhere, serve};
use crate::refusal;
use crate::vectors::Called;

/// How long is waited for a node that was stopped.
const STOPPING: Duration = Duration::from_millis(700);

/// What a node asks.
enum Question {
    /// That this file be read; an answer once it was.
    Read { file: PathBuf, answer: SyncSender<()> },
    /// Vectors at a point.
    Vectors {
        step: usize,
        point: Vec<f64>,
        examples: Option<Vec<u32>>,
        answer: SyncSender<Result<Vec<f64>, String>>,
    },
}

/// Asks Python for vectors.
struct Asker<T>(Sender<Word<Question, T>>);

impl<T> Asker<T> {
    fn ask<A>(&self, question: impl FnOnce(SyncSender<A>) -> Question) -> Result<A, String> {
        let gone = || "whoever computes gradients has gone".to_owned();
        let (answer, answered) = sync_channel(1);
        self.0.send(Word::Asked(question(answer))).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())
    }
}

impl<T: Send> Function for Asker<T> {
    fn read(&self, file: &Path) -> Result<(), String> {
        self.ask(|answer| Question::Read { file: file.to_owned(), answer })
    }

    fn vectors(&self, step: usize, point: &[f64], examples: Option<&[u32]>) -> Result<Vec<f64>, String> {
        let (point, examples) = (point.to_vec(), examples.map(<[u32]>::to_vec));
        self.ask(|answer| Question::Vectors { step, point, examples, answer })?
    }
}

/// Vectors as a node takes them: as many as there are examples, where they are named, else any number.
fn vectors<F: Copy + Into<f64>>(
    (wanted, width): (Option<usize>, usize),
    numbers: &[F],
    shape: &[usize],
) -> Result<Vec<f64>, String> {
    let fits = match (shape, wanted) {
        ([found, numbers], Some(wanted)) => *found == wanted && *numbers == width,
        ([found, numbers], None) => *found > 0 && *numbers == width,
        ([numbers], None) => *numbers == width,
        _ => false,
    };
    let numbers: Vec<f64> = numbers.iter().map(|&x| x.into()).collect();
    match (fits, numbers.iter().position(|x| !x.is_finite())) {
        (false, _) => Err(format!("`gradient` is of shape {shape:?}: a gradient for each row is expected")),
        (true, Some(place)) => {
            let (row, number) = (place / width, place % width);
            Err(format!(
                "`gradient` is {} in row {row}, number {number}: give finite numbers",
                numbers[place]
            ))
        }
        (true, None) => Ok(numbers),
    }
}

/// Vectors by a function of Python's.
fn called(
    gradient: &Bound<'_, PyAny>,
    step: usize,
    point: Vec<f64>,
    examples: Option<Vec<u32>>,
) -> PyResult<Vec<f64>> {
    let form = (examples.as_ref().map(Vec::len), point.len());
    let expected = match form {
        (Some(wanted), width) => format!("({wanted}, {width})"),
        (None, width) => format!("(rows, {width}) or ({width},)"),
    };
    let rows = examples.map(|rows| rows.into_iter().map(|row| row as usize).collect());
    let mut called = Called { peer: 0, turn: step, model: point, rows, expected: &expected };
    called.by(
        gradient,
        |numbers, shape| vectors(form, numbers, shape),
        |numbers, shape| vectors(form, numbers, shape),
    )
}

/// Runs `node run` with these words; `load(file)` reads what is held, and `gradient(peer, turn, model, rows)` computes gradients. Returns what came of it, and what the function did
/// wrong: others do not learn of that, and the run goes on without it.
#[pyfunction]
fn take_part(
    py: Python<'_>,
    words: Vec<OsString>,
    load: Bound<'_, PyAny>,
    gradient: Bound<'_, PyAny>,
) -> PyResult<(Said, Option<Py<PyAny>>)> {
    let (give, given) = sync_channel(1);
    let mut told: Option<Receiver<_>> = Some(elsewhere(move |desk: Sender<Word<Question, _>>| {
        let hand = Hand::with(Arc::new(Asker(desk)));
        _ = give.send(hand.clone());
        sottovoce_cli::ask_by(&words, hand)
    })?);
    let hand = py.detach(move || given.recv().ok());
    let stop = || hand.iter().for_each(Hand::stop);
    let mut wrong = None;
    let answered = serve(py, &mut told, |question| {
        match question {
            Question::Read { file, answer } => {
                load.call1((file,))?;
                _ = answer.send(());
            }
            Question::Vectors { step, point, examples, answer } => {
                let found = match called(&gradient, step, point, examples) {
                    Ok(found) => Ok(found),
                    // Its owner stops the node, before it takes the question for one without an answer: no step of zeros is made of that.
                    Err(error) if !error.is_instance_of::<PyException>(py) => {
                        stop();
                        return Err(error);
                    }
                    // What is wrong with the function is for the end.
                    Err(error) => {
                        // The message may hold what is private, and words of a node end in journals.
                        wrong.get_or_insert(error);
                        Err("it has no gradient".to_owned())
                    }
                };
                _ = answer.send(found);
            }
        }
        Ok(())
    });
    match answered {
        Ok(answer) => Ok((said(answer), wrong.map(|error| error.into_value(py).into_any()))),
        Err(error) => {
            stop();
            let until = Instant::now() + STOPPING;
            py.detach(|| while Instant::now() < until && !over(&mut told) {});
            Err(error)
        }
    }
}

/// Whether the other thread is done, after a little while.
fn over<T>(told: &mut Option<Receiver<Word<Question, T>>>) -> bool {
    let Some(told) = told else { return true };
    !matches!(
        told.recv_timeout(Duration::from_millis(50)),
        Ok(Word::Asked(_)) | Err(std::sync::mpsc::RecvTimeoutError::Timeout)
    )
}

/// The file of what a node holds.
#[pyfunction]
fn held(folder: PathBuf) -> PyResult<PathBuf> {
    let config = Place::open(&folder).and_then(|place| place.config());
    Ok(folder.join(config.map_err(|error| refusal(&error))?.values))
}

/// Adds all this to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(held, module)?)?;
    module.add_function(wrap_pyfunction!(take_part, module)?)
}
