//! Fields of a spec that are set by their places in a file: `noise.sigma=2`.

use toml::{Table, Value};

use super::Experiment;
use crate::{Error, Result};

impl Experiment {
    /// The same with these fields, each as `PLACE=VALUE`: the place is that in a file, and what is no TOML value is
    /// a text, or several with commas between them.
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
        fields.iter().try_fold(self, |spec, field| spec.with_field(field))
    }

    fn with_field(self, field: &str) -> Result<Self> {
        let unwritten = |error: toml::ser::Error| Error::refused(error.to_string());
        let refused = |remedy: &str| Error::parameter("set", field, remedy);
        let (place, value) = field
            .split_once('=')
            .ok_or_else(|| refused("give PLACE=VALUE, such as noise.sigma=2; see `sottovoce new`"))?;
        if place.split('.').any(str::is_empty) || field.contains(char::is_control) {
            return Err(refused("give names with points between them, and one line"));
        }
        if place == "experiment" || place == "seed" {
            return Err(refused("a spec keeps its kind, and --seed gives its seed; leave it out"));
        }
        let (above, name) = place.rsplit_once('.').unwrap_or(("", place));
        let whole = Table::try_from(&self).map_err(unwritten)?;
        let with = |value: Value| -> Result<Self> {
            let mut table = whole.clone();
            let mut inner = &mut table;
            for step in above.split('.').filter(|step| !step.is_empty()) {
                let next = inner.entry(step).or_insert_with(|| Value::Table(Table::new()));
                inner = next.as_table_mut().ok_or_else(|| refused("a part of its place is no table"))?;
            }
            inner.insert(name.to_owned(), value);
            Self::parse(&toml::to_string(&table).map_err(unwritten)?)
        };
        let words = value.split(',').map(|word| Value::String(word.to_owned())).collect();
        let text = with(Value::String(value.to_owned()))
            .or_else(|error| with(Value::Array(words)).map_err(|_| error));
        let read = format!("x = {value}").parse::<Table>().ok().and_then(|mut one| one.remove("x"));
        // Some fields are texts, or lists of them, that look like numbers.
        let texts = |value: Value| match value {
            Value::Array(all) => all.into_iter().map(|one| Value::String(one.to_string())).collect(),
            other => vec![other],
        };
        match read.clone().map(with) {
            Some(Err(error)) if value.trim_start().starts_with('[') => {
                with(Value::Array(read.map(texts).unwrap_or_default())).map_err(|_| error)
            }
            Some(Err(error)) if error.to_string().ends_with("give a text") => text,
            Some(Err(error)) => text.map_err(|_| error),
            Some(read) => read,
            None => text,
        }
    }
}
