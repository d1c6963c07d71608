//! The program for Python: words in, one JSON document out, in this process. No mathematics, and no defaults of its own.

mod ask;
mod desk;
#[cfg(feature = "node")]
mod peer;
mod training;
mod vectors;

use std::sync::OnceLock;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sottovoce::experiment::Experiment;
use sottovoce_cli::Fault;

/// An experiment, checked, as TOML and as JSON: from the text of a file.
#[pyfunction]
fn experiment(text: &str) -> PyResult<(String, String)> {
    let experiment = Experiment::parse(text).map_err(wrong)?;
    let toml = experiment.to_toml().map_err(wrong)?;
    let fields = serde_json::to_string(&experiment).map_err(wrong)?;
    Ok((toml, fields))
}

/// What is refused, in words: the message names the field, the value and the remedy.
fn refusal(error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Refuses work in a fork of a process that has worked: threads do not survive a fork, and the child would wait for them for ever.
fn not_forked() -> PyResult<()> {
    static WORKED_IN: OnceLock<u32> = OnceLock::new();
    if *WORKED_IN.get_or_init(std::process::id) == std::process::id() {
        return Ok(());
    }
    let message = "this process is a fork of one in which sottovoce has run, and its threads are not here: start workers by \
                   multiprocessing.set_start_method(\"spawn\"), or fork before the first call";
    Err(PyRuntimeError::new_err(message))
}

/// A JSON object as TOML.
#[pyfunction]
fn toml_of(json: &str) -> PyResult<String> {
    let fields: serde_json::Value = serde_json::from_str(json).map_err(wrong)?;
    if let Some((field, number)) = too_large(&fields, "") {
        let most = i64::MAX;
        return Err(wrong(format!(
            "`{field}` is {number}: whole numbers in a file are at most {most}; give less"
        )));
    }
    let fields: toml::Table = serde_json::from_value(fields).map_err(wrong)?;
    toml::to_string(&fields).map_err(wrong)
}

/// The first whole number that TOML does not have, and where it is.
fn too_large(value: &serde_json::Value, path: &str) -> Option<(String, u64)> {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        serde_json::Value::Object(fields) => {
            fields.iter().find_map(|(name, field)| too_large(field, &below(name)))
        }
        serde_json::Value::Array(all) => all.iter().find_map(|one| too_large(one, path)),
        serde_json::Value::Number(number) if !number.is_i64() => {
            number.as_u64().map(|number| (path.to_owned(), number))
        }
        _ => None,
    }
}

/// What is wrong, and the field at fault with its value and remedy, where it names one.
fn wrong(error: impl std::fmt::Display) -> PyErr {
    let fault = Fault::new(error.to_string(), 2);
    PyValueError::new_err((fault.message, fault.field))
}

#[pymodule]
fn _sottovoce(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(ask::ask, module)?)?;
    module.add_function(wrap_pyfunction!(ask::seconds, module)?)?;
    module.add_function(wrap_pyfunction!(experiment, module)?)?;
    module.add_function(wrap_pyfunction!(toml_of, module)?)?;
    #[cfg(feature = "node")]
    peer::register(module)?;
    training::register(module)
}
