//! What is wrong with a parameter, as data: its name, its value and the remedy.
//!
//! Every crate has errors of its own; all of them hold this one, and say by `at_fault` which parameter they are about, whichever
//! crate found it. So a command line can print it, and another language can show it beside the field of a form. Nothing is wrong where work is [stopped](stop).

pub mod decimal;
pub mod file;
pub mod stop;

use std::fmt::Display;

/// A parameter outside its domain.
///
/// ```
/// use sottovoce_fault::Parameter;
/// let fault = Parameter::new("sigma", -1.0, "give a positive number");
/// assert_eq!(fault.to_string(), "`sigma` is -1: give a positive number");
/// assert_eq!((fault.field, fault.value.as_str()), ("sigma", "-1"));
/// assert_eq!(Parameter::new("sigma", 1e300, "give less").value, "1e300");
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
        Self { field, value: brief(value.to_string()), remedy: remedy.into() }
    }
}

/// A number that is written out, from 1e15 on and below 1e-4, in powers of ten where that is shorter; anything else as it stands. A whole number that
/// doubles cannot hold, and a name that looks like one, keeps its digits.
///
/// ```
/// use sottovoce_fault::brief;
/// assert_eq!(brief(1e300.to_string()), "1e300");
/// assert_eq!(brief("-0.000025".into()), "-2.5e-5");
/// for same in ["0.0001", "250000", "18446744073709551615", "1234567890123456", "1e300", "inf", "NaN", "0", "peer 7"] {
///     assert_eq!(brief(same.into()), same);
/// }
/// ```
pub fn brief(text: String) -> String {
    let Ok(number) = text.parse::<f64>() else { return text };
    let size = number.abs();
    let wild = size.is_finite() && size > 0.0 && !(1e-4..1e15).contains(&size);
    let short = format!("{number:e}");
    if wild && short.len() < text.len() && number.to_string() == text { short } else { text }
}

/// Gives the error of a crate two functions: `parameter` makes one, `at_fault` finds it, also in the variants that hold errors of
/// other crates (or, in a field, of its own). And the crate a third, `require`, which refuses a parameter unless a condition holds.
///
/// ```
/// use sottovoce_fault::{Parameter, names_parameters};
/// enum Error {
///     Parameter(Parameter),
///     Inside { problem: Box<Error> },
///     Other,
/// }
/// # impl From<Parameter> for Error {
/// #     fn from(fault: Parameter) -> Self {
/// #         Self::Parameter(fault)
/// #     }
/// # }
/// names_parameters!(Error, Inside { problem });
/// let error = Error::Inside { problem: Box::new(Error::parameter("n", 0, "give at least 1")) };
/// assert_eq!(error.at_fault().map(|fault| fault.field), Some("n"));
/// assert_eq!(Error::Other.at_fault(), None);
/// assert!(require(1 > 0, "n", 1, "give at least 1").is_ok() && require(f64::NAN > 0.0, "x", f64::NAN, "give more").is_err());
/// ```
#[macro_export]
macro_rules! names_parameters {
    ($error:ident $(, $layer:ident $({ $field:ident })?)*) => {
        impl $error {
            /// A parameter outside its domain.
            pub fn parameter(
                field: &'static str,
                value: impl std::fmt::Display,
                remedy: impl Into<String>,
            ) -> Self {
                $crate::Parameter::new(field, value, remedy).into()
            }

            /// The parameter at fault, if it is one, whichever crate found it.
            pub fn at_fault(&self) -> Option<&$crate::Parameter> {
                $($crate::names_parameters!(@look self, $error, $layer $({ $field })?);)*
                if let Self::Parameter(fault) = self { Some(fault) } else { None }
            }
        }

        /// Refuses a parameter unless a condition holds. (Written so that a NaN, for which no comparison holds, is refused.)
        pub fn require(
            holds: bool,
            field: &'static str,
            value: impl std::fmt::Display,
            remedy: impl std::fmt::Display,
        ) -> std::result::Result<(), $error> {
            if holds { Ok(()) } else { Err($error::parameter(field, value, remedy.to_string())) }
        }
    };
    (@look $self:ident, $error:ident, $layer:ident) => {
        if let $error::$layer(error) = $self {
            return error.at_fault();
        }
    };
    (@look $self:ident, $error:ident, $layer:ident { $field:ident }) => {
        if let $error::$layer { $field, .. } = $self {
            return $field.at_fault();
        }
    };
}
