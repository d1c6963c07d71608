//! Gradients that Python computes: called, looked at where they lie, and what is wrong with them.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Where Python's part is.
const MODULE: &str = "sottovoce.training";

/// What is asked of Python.
pub(crate) struct Called<'a> {
    pub(crate) peer: usize,
    pub(crate) turn: usize,
    pub(crate) model: Vec<f64>,
    pub(crate) rows: Option<Vec<usize>>,
    /// The shape that is expected, in words.
    pub(crate) expected: &'a str,
}

impl Called<'_> {
    /// Calls a function with peer, turn, model and the numbers of rows; its array of doubles or singles is handed on as it lies in memory, and not copied. What is refused there, and
    /// what the function raises, is an error that names peer, iteration, and both shapes.
    pub(crate) fn by<R>(
        &mut self,
        function: &Bound<'_, PyAny>,
        double: impl FnOnce(&[f64], &[usize]) -> Result<R, String>,
        single: impl FnOnce(&[f32], &[usize]) -> Result<R, String>,
    ) -> PyResult<R> {
        let py = function.py();
        let model = PyArray1::from_vec(py, std::mem::take(&mut self.model));
        let rows = self.rows.take().map(|rows| {
            let rows: Vec<i64> = rows.into_iter().map(|row| row as i64).collect(); // fewer than 2^63
            PyArray1::from_vec(py, rows)
        });
        let found = function.call1((self.peer, self.turn, model, rows));
        let found = found.map_err(|error| self.raised(py, error))?;
        if let Ok(array) = found.cast::<PyArrayDyn<f64>>() {
            return self.read(py, &array.readonly(), double);
        }
        if let Ok(array) = found.cast::<PyArrayDyn<f32>>() {
            return self.read(py, &array.readonly(), single);
        }
        let kind = found.get_type().name().map_or_else(|_| "something".to_owned(), |name| name.to_string());
        let kind = match found.getattr("dtype") {
            Ok(dtype) if kind == "ndarray" => format!("an array of {dtype}"),
            _ => kind,
        };
        let remedy = "give an array of float64 or float32";
        Err(self.refused(py, &format!("`gradient` is {kind}: {remedy}"), &kind, None))
    }

    fn read<F: numpy::Element, R>(
        &self,
        py: Python<'_>,
        array: &PyReadonlyArrayDyn<'_, F>,
        take: impl FnOnce(&[F], &[usize]) -> Result<R, String>,
    ) -> PyResult<R> {
        let shape = array.shape().to_vec();
        // In Fortran's order, too, numbers lie side by side, and mean something else.
        let lies = array.is_c_contiguous().then(|| array.as_slice().ok()).flatten();
        let read = match lies {
            Some(numbers) => take(numbers, &shape),
            None => Err("`gradient` is not in rows: give an array in C's order".to_owned()),
        };
        read.map_err(|message| {
            let found =
                PyTuple::new(py, &shape).map_or_else(|_| format!("{shape:?}"), |shape| shape.to_string());
            self.refused(py, &message, &found, None)
        })
    }

    /// What a function raised; what is no failure, such as Ctrl-C, is left as it is.
    fn raised(&self, py: Python<'_>, error: PyErr) -> PyErr {
        if !error.is_instance_of::<PyException>(py) {
            return error;
        }
        let kind = error.get_type(py).name().map_or_else(|_| "an error".to_owned(), |name| name.to_string());
        let message = format!("`gradient` is without a result: it raised {kind}: {}", error.value(py));
        self.refused(py, &message, &kind, Some(error))
    }

    fn refused(&self, py: Python<'_>, message: &str, found: &str, cause: Option<PyErr>) -> PyErr {
        let make = || -> PyResult<PyErr> {
            let class = py.import(MODULE)?.getattr("GradientError")?;
            let error = class.call1((message, self.peer, self.turn, self.expected, found))?;
            Ok(PyErr::from_value(error))
        };
        let error = make().unwrap_or_else(|problem| problem);
        if cause.is_some() {
            error.set_cause(py, cause);
        }
        error
    }
}
