//! Commands on threads of their own, so that Python goes on: it is asked now and then whether somebody has pressed Ctrl-C, and told how far the command is.
//!
//! Threads that have nothing to do are kept for the next command, which is then begun in microseconds and finds the command line's definition made.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sottovoce::Graph;
use sottovoce::experiment::{Inputs, PeerValue};
use sottovoce::tasks::read::Rows;
use sottovoce::topology::io::{Weighted, named};
use sottovoce_cli::{Answer, Fault, Watch, ask_with};

use crate::refusal;

/// How often Python is asked whether somebody has pressed Ctrl-C.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// How long a thread looks for what it waits for before it goes to sleep: to wake one takes as long as a small question.
const AWAKE: Duration = Duration::from_micros(200);
/// How long a command that is to end is waited for; if it takes longer, it ends when nobody waits any more.
const PATIENCE: Duration = Duration::from_millis(300);

/// What came of a command: its exit code, what it printed (or its error), remarks, the field at fault with its value and remedy, and what it had printed before
/// the error.
pub(crate) type Said = (u8, String, Vec<String>, Option<[String; 3]>, String);

/// What is told of a command; none if it broke off.
type Told = Option<Result<Answer, Fault>>;

/// A command to be run.
struct Job {
    words: Vec<OsString>,
    watch: Watch,
    inputs: Inputs,
    tell: Sender<Told>,
}

/// Threads that wait for a command, and the process they belong to: a child that was forked has none.
static IDLE: Mutex<(u32, Vec<Sender<Job>>)> = Mutex::new((0, Vec::new()));

/// Inputs in memory: graphs as names of peers and pairs of their places, values with names or in the graph's order, rows as features, labels, owners and
/// names of columns.
pub(crate) fn inputs(given: &Bound<'_, PyDict>) -> PyResult<Inputs> {
    let mut inputs = Inputs::default();
    // The fields that name them are among the words.
    let file = &mut None;
    if let Some(keys) = graph(given, "keys")? {
        let size = keys.nodes();
        inputs.keys.put(file, keys, size);
    }
    if let Some(graph) = graph(given, "graph")? {
        let size = graph.nodes();
        inputs.graph.put(file, graph, size);
    }
    if let Some(graph) = graph(given, "similar")? {
        let (size, weights) = (graph.nodes(), graph.edges().map(|(u, v)| (u, v, 1.0)).collect());
        let similar = Weighted { graph, weights, notes: Vec::new(), sha256: String::new() };
        inputs.similar.put(file, similar, size);
    }
    if let Some(values) = given.get_item("values")? {
        let values: Vec<(Option<String>, Vec<f64>)> = values.extract()?;
        let one = |(name, numbers): (Option<String>, Vec<f64>)| match name {
            Some(name) => PeerValue::from((name, numbers)),
            None => numbers.into(),
        };
        let (size, values) = (values.len(), values.into_iter().map(one).collect());
        inputs.values.put(file, values, size);
    }
    if let Some(rows) = given.get_item("rows")? {
        let (features, labels, owners, columns): (Vec<Vec<f64>>, Vec<f64>, _, _) = rows.extract()?;
        let size = labels.len();
        inputs.rows.put(file, Rows { features, labels, owners, columns }, size);
    }
    Ok(inputs)
}

fn graph(given: &Bound<'_, PyDict>, name: &str) -> PyResult<Option<Graph>> {
    let Some(found) = given.get_item(name)? else { return Ok(None) };
    let (names, pairs): (Vec<String>, Vec<(u32, u32)>) = found.extract()?;
    named(&names, &pairs).map(Some).map_err(|error| refusal(&error))
}

/// Runs a command as the program does with these words; `<memory>` among them stands for one of the inputs. Other threads of Python go on meanwhile; Ctrl-C, and an exception of `progress(what, done, total)`,
/// end the command.
#[pyfunction]
#[pyo3(signature = (words, progress = None, inputs = None))]
pub(crate) fn ask(
    py: Python<'_>,
    words: Vec<OsString>,
    progress: Option<Bound<'_, PyAny>>,
    inputs: Option<Bound<'_, PyDict>>,
) -> PyResult<Said> {
    crate::not_forked()?;
    let watch = Watch::default();
    let held = inputs.map_or_else(|| Ok(Inputs::default()), |given| self::inputs(&given))?;
    let mut told = begin(words, &watch, held)?;
    loop {
        let answer;
        (told, answer) = py.detach(move || {
            let answer = awake(&told).ok_or(()).or_else(|()| told.recv_timeout(LOOK));
            (told, answer)
        });
        match answer {
            Ok(Some(answer)) => return Ok(said(answer)),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = look(py, &watch, progress.as_ref()) {
                    watch.stop();
                    // Whether it has ended by then does not matter: it will.
                    _ = py.detach(move || told.recv_timeout(PATIENCE).is_ok());
                    return Err(interrupt);
                }
            }
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the command broke off; this is a mistake in sottovoce"));
            }
        }
    }
}

/// Seconds that a command takes without Python, the least of so many times: what a benchmark holds [`ask`] against.
#[pyfunction]
pub(crate) fn seconds(py: Python<'_>, words: Vec<OsString>, times: usize) -> f64 {
    py.detach(move || {
        let once = |_| {
            let begun = Instant::now();
            // What came of it does not matter here.
            _ = sottovoce_cli::ask(&words);
            begun.elapsed().as_secs_f64()
        };
        (0..times).map(once).fold(f64::INFINITY, f64::min)
    })
}

/// Asks for signals, and tells how far the command is.
fn look(py: Python<'_>, watch: &Watch, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let (Some(hear), Some(now)) = (progress, watch.progress()) {
        hear.call1((now.what, now.done, now.total))?;
    }
    Ok(())
}

pub(crate) fn said(answer: Result<Answer, Fault>) -> Said {
    match answer {
        Ok(answer) => (0, answer.printed, answer.notes, None, String::new()),
        Err(fault) => (fault.code, fault.message, Vec::new(), fault.field, fault.printed),
    }
}

/// Hands a command to a thread that waits for one, or to a new one.
fn begin(words: Vec<OsString>, watch: &Watch, inputs: Inputs) -> PyResult<Receiver<Told>> {
    let (tell, told) = channel();
    let mut job = Job { words, watch: watch.clone(), inputs, tell };
    while let Some(thread) = idle(Vec::pop) {
        match thread.send(job) {
            Ok(()) => return Ok(told),
            Err(back) => job = back.0,
        }
    }
    let thread = std::thread::Builder::new().name("sottovoce".into()).spawn(move || work(job));
    thread.map_err(|cause| PyRuntimeError::new_err(format!("no thread could be begun: {cause}")))?;
    Ok(told)
}

/// The threads of this process that wait.
fn idle<T>(with: impl FnOnce(&mut Vec<Sender<Job>>) -> T) -> T {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.0 != std::process::id() {
        *idle = (std::process::id(), Vec::new());
    }
    with(&mut idle.1)
}

/// Runs one command after the other.
fn work(first: Job) {
    let mut next = Some(first);
    while let Some(Job { words, watch, inputs, tell }) = next.take() {
        // What broke is said to whoever waits; nothing of it is used again.
        let told = catch_unwind(AssertUnwindSafe(|| ask_with(&words, &watch, inputs))).ok();
        let (hand, jobs) = channel();
        idle(|idle| idle.push(hand));
        // Nobody may be waiting any more.
        _ = tell.send(told);
        next = awake(&jobs).or_else(|| jobs.recv().ok());
    }
}

/// What comes within [`AWAKE`]; other threads have the processor if they want it.
fn awake<T>(from: &Receiver<T>) -> Option<T> {
    let begun = Instant::now();
    while begun.elapsed() < AWAKE {
        if let Ok(there) = from.try_recv() {
            return Some(there);
        }
        std::thread::yield_now();
    }
    None
}
