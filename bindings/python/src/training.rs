//! Own training: gradients by a function of Python's, everything else by Rust.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use sottovoce::experiment::{Experiment, Inputs};
use sottovoce::tasks::outside::{Asked, Digest, Digested};
use sottovoce::tasks::{Error, Oracle};
use sottovoce::training::{self, Moment, Outside};

use crate::ask::inputs;
use crate::desk::{Word, elsewhere, serve};
use crate::refusal;
use crate::vectors::Called;

/// The form of what is returned; new keys do not change it.
const SCHEMA_VERSION: u32 = 1;

/// What the other thread asks.
enum Question {
    /// A gradient, of this version of the data.
    Gradient {
        version: usize,
        peer: usize,
        turn: usize,
        model: Vec<f64>,
        rows: Option<Vec<usize>>,
        digest: Digest,
        answer: SyncSender<Result<Digested, Error>>,
    },
    /// Whoever watches is told how it stands.
    Watch { moment: Moment, models: Vec<Vec<f64>>, answer: SyncSender<()> },
}

/// Asks Python for gradients.
struct Asker<T> {
    desk: Sender<Word<Question, T>>,
    version: usize,
}

impl<T: Send> Oracle for Asker<T> {
    fn gradient(&self, asked: Asked<'_>) -> Result<Digested, Error> {
        let gone = || Error::parameter("gradient", "missing", "whoever computes gradients has gone");
        let (answer, answered) = sync_channel(1);
        let question = Question::Gradient {
            version: self.version,
            peer: asked.peer,
            turn: asked.turn,
            model: asked.model.to_vec(),
            rows: asked.rows.map(<[usize]>::to_vec),
            digest: asked.digest,
            answer,
        };
        self.desk.send(Word::Asked(question)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

/// A document as commands print it.
#[derive(Serialize)]
struct Document<R> {
    schema_version: u32,
    version: &'static str,
    #[serde(flatten)]
    result: R,
}

fn document(result: impl Serialize) -> PyResult<String> {
    let document = Document { schema_version: SCHEMA_VERSION, version: env!("CARGO_PKG_VERSION"), result };
    serde_json::to_string(&document).map_err(|error| refusal(&error))
}

/// What is run, of what.
struct Setting {
    experiment: Experiment,
    inputs: Inputs,
    folder: PathBuf,
    seed: Option<u64>,
    rows: Vec<usize>,
    start: Vec<f64>,
}

impl Setting {
    fn read(
        text: &str,
        given: &Bound<'_, PyDict>,
        folder: PathBuf,
        seed: Option<u64>,
        rows: Vec<usize>,
        start: Vec<f64>,
    ) -> PyResult<Self> {
        let experiment = Experiment::parse(text).map_err(|error| refusal(&error))?;
        let seed = seed.or(experiment.seed());
        Ok(Self { experiment, inputs: inputs(given)?, folder, seed, rows, start })
    }

    fn outside<T: Send + 'static>(&self, desk: &Sender<Word<Question, T>>, version: usize) -> Outside {
        let oracle = Arc::new(Asker { desk: desk.clone(), version });
        Outside { oracle, rows: self.rows.clone(), start: self.start.clone() }
    }
}

/// Answers one question.
fn answer(question: Question, gradients: &[Bound<'_, PyAny>], watch: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = watch.py();
    match question {
        Question::Gradient { version, peer, turn, model, rows, digest, answer } => {
            let expected = digest.expected();
            let mut called = Called { peer, turn, model, rows, expected: &expected };
            let told = |error: Error| error.to_string();
            let found = called.by(
                &gradients[version],
                |numbers, shape| digest.of(numbers, shape).map_err(told),
                |numbers, shape| digest.of(numbers, shape).map_err(told),
            )?;
            _ = answer.send(Ok(found));
        }
        Question::Watch { moment, models, answer } => {
            watch.call1((moment.step, PyArray2::from_vec2(py, &models)?))?;
            _ = answer.send(());
        }
    }
    Ok(())
}

/// Trains; returns the document and everybody's model, one row each. `gradient(peer, turn, model, rows)` computes gradients, `watch(step, models)` sees how it goes.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // Python's names for them are in `training.py`.
fn train<'py>(
    py: Python<'py>,
    text: &str,
    held: Bound<'_, PyDict>,
    folder: PathBuf,
    seed: Option<u64>,
    rows: Vec<usize>,
    start: Vec<f64>,
    gradient: Bound<'py, PyAny>,
    watch: Bound<'py, PyAny>,
) -> PyResult<(String, Bound<'py, PyArray2<f64>>)> {
    let setting = Setting::read(text, &held, folder, seed, rows, start)?;
    let watched = !watch.is_none();
    let mut told: Option<Receiver<_>> = Some(elsewhere(move |desk: Sender<Word<Question, _>>| {
        let outside = setting.outside(&desk, 0);
        let Setting { experiment, inputs, folder, seed, .. } = setting;
        let mut watch = |moment: &Moment, models: &dyn Fn() -> Vec<Vec<f64>>| {
            if !watched {
                return true;
            }
            let (answer, answered) = sync_channel(1);
            let question = Question::Watch { moment: *moment, models: models(), answer };
            desk.send(Word::Asked(question)).is_ok() && answered.recv().is_ok()
        };
        inputs.lend(|| training::train(&experiment, &folder, seed, outside, &mut watch))
    })?);
    let gradients = [gradient];
    let trained = serve(py, &mut told, |question| answer(question, &gradients, &watch))?;
    let mut trained = trained.map_err(|error| refusal(&error))?;
    let models = std::mem::take(&mut trained.models);
    Ok((document(&trained)?, PyArray2::from_vec2(py, &models)?))
}

/// Attacks a peer: `gradient` and `instead` compute gradients of two versions of its rows.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // Python's names for them are in `training.py`.
fn audit(
    py: Python<'_>,
    text: &str,
    held: Bound<'_, PyDict>,
    folder: PathBuf,
    seed: Option<u64>,
    rows: Vec<usize>,
    start: Vec<f64>,
    versions: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    peer: usize,
    runs: usize,
) -> PyResult<String> {
    let setting = Setting::read(text, &held, folder, seed, rows, start)?;
    let mut told: Option<Receiver<_>> = Some(elsewhere(move |desk: Sender<Word<Question, _>>| {
        let versions = [setting.outside(&desk, 0), setting.outside(&desk, 1)];
        let Setting { experiment, inputs, folder, seed, .. } = setting;
        let seed = seed.unwrap_or(0);
        inputs.lend(|| training::audit(&experiment, &folder, seed, versions, (peer, runs), || ()))
    })?);
    let (gradients, nobody) = ([versions.0, versions.1], py.None().into_bound(py));
    let caught = serve(py, &mut told, |question| answer(question, &gradients, &nobody))?;
    document(caught.map_err(|error| refusal(&error))?)
}

/// Adds all this to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(train, module)?)?;
    module.add_function(wrap_pyfunction!(audit, module)?)
}
