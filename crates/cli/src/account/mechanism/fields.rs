//! The fields of a JSON object: each is taken once, and what is left in the end is unknown.

use anyhow::{anyhow, bail};

use super::json::Json;

/// The fields of an object, taken out one by one; what remains in the end is unknown.
pub(super) struct Fields {
    left: Vec<(String, Json)>,
}

impl Fields {
    pub(super) fn of(json: Json, what: &str) -> anyhow::Result<Self> {
        match json {
            Json::Fields(left) => Ok(Self { left }),
            other => bail!("`{what}` is {other}: give an object such as {{\"scale\": 2}}"),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Json> {
        let position = self.left.iter().position(|(known, _)| known == name)?;
        Some(self.left.remove(position).1)
    }

    pub(super) fn number(&mut self, name: &str) -> anyhow::Result<Option<f64>> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Number(number)) => Ok(Some(number)),
            Some(other) => bail!("`{name}` is {other}: give a number"),
        }
    }

    pub(super) fn needed(&mut self, name: &str, of: &str) -> anyhow::Result<f64> {
        self.number(name)?
            .ok_or_else(|| anyhow!("`{name}` is missing: `{of}` needs it, as in {{\"{name}\": 2}}"))
    }

    pub(super) fn whole(&mut self, name: &str) -> anyhow::Result<Option<u64>> {
        let Some(number) = self.number(name)? else { return Ok(None) };
        // Beyond 2^53 a number that was read is not the one that was written.
        if number.fract() != 0.0 || !(0.0..9e15).contains(&number) {
            bail!("`{name}` is {number}: give a whole number of at least 0");
        }
        Ok(Some(number as u64))
    }

    /// A list of numbers; a number alone is a list of one.
    pub(super) fn numbers(&mut self, name: &str, of: &str) -> anyhow::Result<Vec<f64>> {
        let number = |json: Json| match json {
            Json::Number(number) => Ok(number),
            other => bail!("`{name}` is {other}: give numbers"),
        };
        match self.take(name) {
            Some(Json::List(items)) => items.into_iter().map(number).collect(),
            Some(other) => Ok(vec![number(other)?]),
            None => bail!("`{name}` is missing: `{of}` needs it, as in {{\"{name}\": [0, 1]}}"),
        }
    }

    pub(super) fn small(&mut self, name: &str, otherwise: u32) -> anyhow::Result<u32> {
        let Some(number) = self.whole(name)? else { return Ok(otherwise) };
        u32::try_from(number).map_err(|_| anyhow!("`{name}` is {number}: give at most {}", u32::MAX))
    }

    pub(super) fn end(self, known: &str) -> anyhow::Result<()> {
        match self.left.first() {
            Some((name, value)) => bail!("`{name}` is {value}: unknown here; known are {known}"),
            None => Ok(()),
        }
    }
}
