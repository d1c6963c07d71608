//! The program for Python: words in, one JSON document out, in this process. No mathematics, and no defaults of its own.

mod desk;
#[cfg(feature = "node")]
mod peer;
mod training;
mod vectors;

use std::ffi::OsString;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sottovoce::experiment::Experiment;

/// How often Python is asked whether somebody has pressed Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// What came of a command: its exit code, what it printed (or its error), remarks, and the field at fault with its value and remedy.
type Said = (u8, String, Vec<String>, Option<[String; 3]>);

fn said(answer: Result<sottovoce_cli::Answer, sottovoce_cli::Fault>) -> Said {
    match answer {
        Ok(answer) => (0, answer.printed, answer.notes, None),
        Err(fault) => (fault.code, fault.message, Vec::new(), fault.field),
    }
}

/// Runs a command as the program does with these words. Other threads of Python go on meanwhile; Ctrl-C ends the waiting.
#[pyfunction]
fn ask(py: Python<'_>, words: Vec<OsString>) -> PyResult<Said> {
    let (tell, told) = channel();
    let asked = std::thread::Builder::new().name("sottovoce".into()).spawn(move || {
        // Nobody may be waiting any more.
        _ = tell.send(sottovoce_cli::ask(&words));
    });
    asked.map_err(|cause| PyRuntimeError::new_err(format!("no thread could be begun: {cause}")))?;
    let mut told = told;
    loop {
        let answer;
        (told, answer) = py.detach(move || {
            let answer = told.recv_timeout(LOOK);
            (told, answer)
        });
        match answer {
            Ok(answer) => return Ok(said(answer)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the command broke off; this is a mistake in sottovoce"));
            }
        }
    }
}

/// An experiment, checked, as TOML and as JSON: from the text of a file.
#[pyfunction]
fn experiment(text: &str) -> PyResult<(String, String)> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let experiment = Experiment::parse(text).map_err(|error| wrong(&error))?;
    let toml = experiment.to_toml().map_err(|error| wrong(&error))?;
    let fields = serde_json::to_string(&experiment).map_err(|error| wrong(&error))?;
    Ok((toml, fields))
}

/// What is refused, in words: the message names the field, the value and the remedy.
fn refusal(error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A JSON object as TOML.
#[pyfunction]
fn toml_of(json: &str) -> PyResult<String> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let fields: toml::Table = serde_json::from_str(json).map_err(|error| wrong(&error))?;
    toml::to_string(&fields).map_err(|error| wrong(&error))
}

#[pymodule]
fn _sottovoce(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(ask, module)?)?;
    module.add_function(wrap_pyfunction!(experiment, module)?)?;
    module.add_function(wrap_pyfunction!(toml_of, module)?)?;
    #[cfg(feature = "node")]
    peer::register(module)?;
    training::register(module)
}
