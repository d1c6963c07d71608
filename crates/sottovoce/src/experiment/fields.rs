//! Fields of a spec that are set by their places in a file: `noise.sigma=2`.

use toml::{Table, Value};

use super::Experiment;
use crate::{Error, Result};

impl Experiment {
    /// The same with these fields, each as `PLACE=VALUE`: the place is that in a file, and what is no TOML value is a text.
    ///
    /// ```
    /// use sottovoce::experiment::Experiment;
    /// let plain = Experiment::parse("experiment = 'averaging'")?;
    /// let set = plain.with_fields(&["network.jitter=0.2".into(), "graph.weights=uniform".into()])?;
    /// let Experiment::Averaging(averaging) = &set else { panic!("an averaging") };
    /// assert_eq!(averaging.network.jitter, 0.2);
    /// assert!(set.with_fields(&["network.jiter=0.2".into()]).is_err());
    /// # Ok::<(), sottovoce::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Names the field that there is not, or the value that it cannot have.
    pub fn with_fields(self, fields: &[String]) -> Result<Self> {
        if fields.is_empty() {
            return Ok(self);
        }
        let unwritten = |error: toml::ser::Error| Error::refused(error.to_string());
        let mut table = Table::try_from(&self).map_err(unwritten)?;
        for field in fields {
            let refused = |remedy: &str| Error::parameter("set", field, remedy);
            let (place, value) = field
                .split_once('=')
                .ok_or_else(|| refused("give PLACE=VALUE, such as noise.sigma=2; see `sottovoce new`"))?;
            let (above, name) = place.rsplit_once('.').unwrap_or(("", place));
            let mut inner = &mut table;
            for step in above.split('.').filter(|step| !step.is_empty()) {
                let next = inner.entry(step).or_insert_with(|| Value::Table(Table::new()));
                inner = next.as_table_mut().ok_or_else(|| refused("a part of its place is no table"))?;
            }
            let text = || Value::String(value.to_owned());
            let read = format!("x = {value}").parse::<Table>().ok().and_then(|mut one| one.remove("x"));
            inner.insert(name.to_owned(), read.unwrap_or_else(text));
        }
        Self::parse(&toml::to_string(&table).map_err(unwritten)?)
    }
}
