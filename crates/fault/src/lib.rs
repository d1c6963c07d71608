//! What is wrong with a parameter, as data: its name, its value and the remedy.
//!
//! Every crate has errors of its own; all of them hold this one, and say by `at_fault` which parameter they are about, whichever
//! crate found it. So a command line can print it, and another language can show it beside the field of a form.

use std::fmt::Display;

/// A parameter outside its domain.
///
/// ```
/// use sottovoce_fault::Parameter;
/// let fault = Parameter::new("sigma", -1.0, "give a positive number");
/// assert_eq!(fault.to_string(), "`sigma` is -1: give a positive number");
/// assert_eq!((fault.field, fault.value.as_str()), ("sigma", "-1"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {value}: {remedy}")]
pub struct Parameter {
    /// Its name, as users write it.
    pub field: &'static str,
    /// The value that was given.
    pub value: String,
    /// What would be accepted.
    pub remedy: String,
}

impl Parameter {
    /// A value that is refused.
    pub fn new(field: &'static str, value: impl Display, remedy: impl Into<String>) -> Self {
        Self { field, value: value.to_string(), remedy: remedy.into() }
    }
}
