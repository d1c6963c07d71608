//! What a row says of a run: its graph, its protocol, its measures, its time.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use sottovoce::terms::Stated;

use super::found::Measure;

/// Letters of a description.
const LONG: usize = 80;

/// What is read of a result; all else, and there may be much, is skipped on the way.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Document {
    pub(super) headline: Option<String>,
    pub(super) seed: Option<u64>,
    pub(super) paused: bool,
    pub(super) fell: bool,
    pub(super) within_bounds: Option<bool>,
    pub(super) violations: Vec<IgnoredAny>,
    pub(super) guarantees: Vec<Stated>,
    /// What none of its guarantees speaks of.
    pub(super) not_covered: Vec<String>,
    /// Averaging: root of the mean squared error.
    error: Number,
    /// Learning, and nets.
    accuracy: Number,
    rmse: Number,
    r2: Number,
    /// Personalised models: what they are judged by, and ways to them.
    measure: Option<String>,
    ways: Vec<Way>,
    /// Rumours: rounds until all know; the share of runs in which all knew.
    mean_rounds: Number,
    share: Number,
}

/// A way to a model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Way {
    name: String,
    /// What it costs; none where it protects nobody.
    epsilon: Number,
    worth: Number,
}

impl Document {
    /// Numbers by which runs of its kind are judged.
    pub(super) fn measures(&self) -> Vec<Measure> {
        let own = [
            ("error", &self.error, false),
            ("accuracy", &self.accuracy, true),
            ("RMSE", &self.rmse, false),
            ("R²", &self.r2, true),
            ("rounds", &self.mean_rounds, false),
            ("share of runs in which all knew", &self.share, true),
        ];
        let own = own.into_iter().filter_map(|(name, number, more_is_better)| {
            Some(Measure { name: name.to_owned(), value: number.0?, more_is_better })
        });
        let private = self.ways.iter().filter(|way| way.epsilon.0.is_some()).take(3);
        let personal = private.filter_map(|way| {
            let measure = self.measure.as_ref()?;
            let name = format!("{measure} ({})", way.name);
            Some(Measure { name, value: way.worth.0?, more_is_better: measure != "rmse" })
        });
        own.chain(personal).collect()
    }
}

/// A number; of several, their mean; of a list, the first. Nothing of all else.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Number(Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Weigh)
    }
}

struct Weigh;

impl<'de> Visitor<'de> for Weigh {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or several")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
        Ok(Number(Some(value).filter(|value| value.is_finite())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(Number(Some(value as f64)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(Number(Some(value as f64)))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Number, A::Error> {
        let first = list.next_element()?.unwrap_or_default();
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Number, A::Error> {
        let mut mean = Number(None);
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "mean" => mean = fields.next_value()?,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(mean)
    }
}

/// Who can speak to whom.
pub(super) fn graph(experiment: &Value) -> Option<String> {
    let own = match &experiment["graph"] {
        Value::String(file) => Some(file.clone()),
        graph => brief(graph, &["weights", "lazy", "format"]),
    };
    // Some kinds have a graph of their own, drawn for so many.
    let many = ["peers", "agents"].iter().find_map(|key| {
        let many = experiment.get(key).or(experiment["task"].get(key))?.as_u64()?;
        Some(format!("{many} {key}"))
    });
    own.or(many).map(|text| cut(&text))
}

/// What peers do.
pub(super) fn protocol(experiment: &Value) -> Option<String> {
    let own = match &experiment["protocol"] {
        Value::Null => experiment["muting"].as_f64().map(|muting| format!("muting {muting}")),
        protocol => match (&protocol["method"], &protocol["steps"]) {
            (Value::String(method), Value::Number(steps)) => Some(format!("{method}, {steps} steps")),
            (Value::String(method), _) => Some(method.clone()),
            _ => brief(protocol, &[]),
        },
    };
    own.or_else(|| experiment["figure"].as_str().map(str::to_owned)).map(|text| cut(&text))
}

/// Fields and their values in a line, without those that are left out, and without what is off.
fn brief(value: &Value, without: &[&str]) -> Option<String> {
    let Value::Object(fields) = value else { return None };
    let one = |(name, value): (&String, &Value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(name.clone()),
        Value::String(text) => Some(if name == "file" { text.clone() } else { format!("{name} {text}") }),
        Value::Object(_) => {
            let inner = brief(value, without)?;
            Some(if name == "family" { inner } else { format!("{name} {inner}") })
        }
        other => Some(format!("{name} {other}")),
    };
    let parts: Vec<String> =
        fields.iter().filter(|(name, _)| !without.contains(&name.as_str())).filter_map(one).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The end of a long text tells more than its beginning: names of files.
fn cut(text: &str) -> String {
    sottovoce::names::end(text, LONG)
}

/// A time for people, and for sorting: seconds since 1970 as a date and an hour of the universal time.
pub(super) fn moment(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March, so that the day that is not always there is their last; counted from the year 0, in eras of 400.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march = (5 * day + 2) / 153;
    let day = day - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = era * 400 + year + u64::from(month < 3);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", rest / 3_600, rest / 60 % 60)
}
