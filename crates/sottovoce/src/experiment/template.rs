//! Experiments to begin with: every field, with its meaning and its default.

use super::KINDS;
use crate::{Error, Result};

const DEEP: &str = include_str!("deep.toml");
const LEARNING: &str = include_str!("learning.toml");
const PERSONALIZED: &str = include_str!("personalized.toml");
const RUMOR: &str = include_str!("rumor.toml");
const AVERAGING: &str = include_str!("averaging.toml");

/// A commented file of this kind, which runs as it is.
///
/// ```
/// use sottovoce::experiment::{Experiment, template};
/// for kind in sottovoce::experiment::KINDS {
///     assert!(Experiment::parse(template(kind)?).is_ok());
/// }
/// assert!(template("baking").is_err());
/// # Ok::<(), sottovoce::Error>(())
/// ```
pub fn template(kind: &str) -> Result<&'static str> {
    match kind {
        "averaging" => Ok(AVERAGING),
        "learning" => Ok(LEARNING),
        "personalized" => Ok(PERSONALIZED),
        "deep" => Ok(DEEP),
        "rumor" => Ok(RUMOR),
        _ => Err(Error::parameter("kind", kind, format!("give one of {}", KINDS.join(", ")))),
    }
}
