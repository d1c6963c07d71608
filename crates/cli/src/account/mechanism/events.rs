//! Reading `--events FILE`: a JSON list of unlike releases.
//!
//! Nothing in it is guessed or passed over: an unknown name, a name given twice, or a number of the wrong kind is refused
//! with the entry's number.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use sottovoce_privacy::{Mechanism, Release};

use super::json::Json;
use super::sampling::Draw;
use crate::input;

const KINDS: &str = "give one of gaussian, laplace, discrete_gaussian, discrete_laplace, randomized_response, \
                     or epsilon (with delta)";

/// The releases of a file, each with its number of steps.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<(Release, u64)>> {
    let shown = path.display();
    let text = input::text(input::EVENTS, "events", path)?;
    parse(&text).with_context(|| format!("`events` is {shown}"))
}

fn parse(text: &str) -> anyhow::Result<Vec<(Release, u64)>> {
    let json: Json = serde_json::from_str(text).map_err(|error| anyhow!("not as it should be: {error}"))?;
    let Json::List(entries) = json else {
        bail!("{json} is not a list; write [{{\"laplace\": {{\"scale\": 2}}}}, ...]")
    };
    if entries.is_empty() {
        bail!("the list is empty; give at least one release");
    }
    let numbered = entries.into_iter().zip(1..);
    numbered
        .map(|(entry, number)| release(entry).map_err(|error| anyhow!("entry {number}: {error:#}")))
        .collect()
}

/// The fields of an object, taken out one by one; what remains in the end is unknown.
struct Fields {
    left: Vec<(String, Json)>,
}

impl Fields {
    fn of(json: Json, what: &str) -> anyhow::Result<Self> {
        match json {
            Json::Fields(left) => Ok(Self { left }),
            other => bail!("`{what}` is {other}: give an object such as {{\"scale\": 2}}"),
        }
    }

    fn take(&mut self, name: &str) -> Option<Json> {
        let position = self.left.iter().position(|(known, _)| known == name)?;
        Some(self.left.remove(position).1)
    }

    fn number(&mut self, name: &str) -> anyhow::Result<Option<f64>> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Number(number)) => Ok(Some(number)),
            Some(other) => bail!("`{name}` is {other}: give a number"),
        }
    }

    fn needed(&mut self, name: &str, of: &str) -> anyhow::Result<f64> {
        self.number(name)?
            .ok_or_else(|| anyhow!("`{name}` is missing: `{of}` needs it, as in {{\"{name}\": 2}}"))
    }

    fn whole(&mut self, name: &str) -> anyhow::Result<Option<u64>> {
        let Some(number) = self.number(name)? else { return Ok(None) };
        // Beyond 2^53 a number that was read is not the one that was written.
        if number.fract() != 0.0 || !(0.0..9e15).contains(&number) {
            bail!("`{name}` is {number}: give a whole number of at least 0");
        }
        Ok(Some(number as u64))
    }

    fn small(&mut self, name: &str, otherwise: u32) -> anyhow::Result<u32> {
        let Some(number) = self.whole(name)? else { return Ok(otherwise) };
        u32::try_from(number).map_err(|_| anyhow!("`{name}` is {number}: give at most {}", u32::MAX))
    }

    fn end(self, known: &str) -> anyhow::Result<()> {
        match self.left.first() {
            Some((name, value)) => bail!("`{name}` is {value}: unknown here; known are {known}"),
            None => Ok(()),
        }
    }
}

fn release(entry: Json) -> anyhow::Result<(Release, u64)> {
    let mut fields = Fields::of(entry, "entry")?;
    let steps = fields.whole("steps")?.unwrap_or(1);
    let draw = draw(&mut fields)?;
    let kind = kind(&mut fields)?;
    fields.end("the noise or epsilon and delta, sampling_rate, batch and population, steps")?;
    let release = match kind {
        Kind::Noise(mechanism) => Release::Mechanism(draw.of(mechanism)?),
        Kind::Given { epsilon, delta } => given(epsilon, delta, draw)?,
    };
    Ok((release, steps))
}

enum Kind {
    Noise(Mechanism),
    Given { epsilon: f64, delta: f64 },
}

fn kind(fields: &mut Fields) -> anyhow::Result<Kind> {
    let (epsilon, delta) = (fields.number("epsilon")?, fields.number("delta")?);
    let kinds = ["gaussian", "laplace", "discrete_gaussian", "discrete_laplace", "randomized_response"];
    let mut found = kinds.iter().filter_map(|kind| Some((*kind, fields.take(kind)?)));
    let (first, second) = (found.next(), found.next());
    match (first, second, epsilon, delta) {
        (Some((kind, json)), None, None, None) => Ok(Kind::Noise(noise(kind, Fields::of(json, kind)?)?)),
        (None, None, Some(epsilon), delta) => Ok(Kind::Given { epsilon, delta: delta.unwrap_or(0.0) }),
        (None, None, None, Some(delta)) => bail!("`delta` is {delta}: give the epsilon that goes with it"),
        (None, None, None, None) => bail!("what is released is missing: {KINDS}"),
        (Some((kind, _)), Some((other, json)), ..) => {
            bail!("`{other}` is {json} beside `{kind}`: one entry is one release; make it two")
        }
        (Some((kind, _)), None, Some(epsilon), _) => {
            bail!(
                "`epsilon` is {epsilon} beside `{kind}`: the loss of known noise is computed; remove one of the two"
            )
        }
        (Some((kind, _)), None, None, Some(delta)) => {
            bail!("`delta` is {delta} beside `{kind}`: the loss of known noise is computed; remove it")
        }
        (None, Some(_), ..) => bail!("what is released is missing: {KINDS}"),
    }
}

fn noise(kind: &str, mut fields: Fields) -> anyhow::Result<Mechanism> {
    let (mechanism, known) = match kind {
        "gaussian" => (Mechanism::gaussian(fields.needed("noise_multiplier", kind)?)?, "noise_multiplier"),
        "laplace" => (Mechanism::laplace(fields.needed("scale", kind)?)?, "scale"),
        "discrete_gaussian" => {
            let sigma = fields.needed("sigma", kind)?;
            (Mechanism::discrete_gaussian(sigma, fields.small("contribution", 1)?)?, "sigma, contribution")
        }
        "discrete_laplace" => {
            let scale = fields.needed("scale", kind)?;
            (Mechanism::discrete_laplace(scale, fields.small("contribution", 1)?)?, "scale, contribution")
        }
        _ => {
            let probability = fields.needed("random_probability", kind)?;
            let mechanism = Mechanism::randomized_response(probability, fields.small("buckets", 2)?)?;
            (mechanism, "random_probability, buckets")
        }
    };
    fields.end(known)?;
    Ok(mechanism)
}

fn draw(fields: &mut Fields) -> anyhow::Result<Draw> {
    let (rate, batch, population) =
        (fields.number("sampling_rate")?, fields.whole("batch")?, fields.whole("population")?);
    match (rate, batch, population) {
        (None, None, None) => Ok(Draw::Everyone),
        (Some(rate), None, None) => Ok(Draw::at_rate(rate)),
        (None, Some(batch), Some(population)) => Draw::in_batches(batch, population),
        (Some(rate), ..) => bail!("`sampling_rate` is {rate} beside a batch: give one of the two"),
        (None, Some(batch), None) => bail!("`batch` is {batch}: give the population it is drawn from"),
        (None, None, Some(population)) => bail!("`population` is {population}: give the batch drawn from it"),
    }
}

/// A release of which only its guarantee is known. A sample of it is known where it reveals nothing outright.
fn given(epsilon: f64, delta: f64, draw: Draw) -> anyhow::Result<Release> {
    let release = Release::given(epsilon, delta)?;
    match draw {
        Draw::Everyone => Ok(release),
        _ if delta > 0.0 => {
            bail!("`delta` is {delta} on a sample: give the epsilon and delta that hold after sampling")
        }
        _ if epsilon == 0.0 => Ok(release),
        _ => Ok(Release::Mechanism(draw.of(Mechanism::pure(epsilon)?)?)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_release_is_read() {
        let text = r#"[
            {"gaussian": {"noise_multiplier": 1.1}, "sampling_rate": 0.01, "steps": 1e3},
            {"laplace": {"scale": 2}, "batch": 3, "population": 10},
            {"discrete_gaussian": {"sigma": 3, "contribution": 2}},
            {"discrete_laplace": {"scale": 3}, "sampling_rate": 0},
            {"randomized_response": {"random_probability": 0.5, "buckets": 3}},
            {"epsilon": 0.5, "delta": 1e-6, "steps": 3},
            {"epsilon": 0.5, "sampling_rate": 0.1}
        ]"#;
        let read = parse(text).unwrap();
        let sampled = Mechanism::gaussian(1.1).unwrap().poisson(0.01).unwrap();
        assert_eq!(read[0], (Release::Mechanism(sampled), 1000));
        assert_eq!(read[5], (Release::given(0.5, 1e-6).unwrap(), 3));
        assert_eq!(read.len(), 7);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_entry() {
        for (text, words) in [
            (r#"{"laplace": {"scale": 2}}"#, ["{laplace}", "not a list"]),
            ("[]", ["empty", "at least one"]),
            (
                r#"[{"laplace": {"scale": 2}}, {"laplace": {"scale": 0}}]"#,
                ["entry 2: `scale` is 0", "give a finite"],
            ),
            (r#"[{"laplace": {"scale": 2, "b": 1}}]"#, ["entry 1: `b` is 1", "known are scale"]),
            (r#"[{"laplace": {"scale": 2}, "step": 5}]"#, ["`step` is 5", "known are"]),
            (r#"[{"laplace": {"scale": 2}, "steps": 2.5}]"#, ["`steps` is 2.5", "whole number"]),
            (r#"[{"laplace": {"scale": 2}, "steps": -1}]"#, ["`steps` is -1", "whole number"]),
            (r#"[{"laplace": {"scale": 2}, "steps": 1, "steps": 9}]"#, ["`steps` is given twice", "once"]),
            (r#"[{"laplace": {"scale": 2, "scale": 1}}]"#, ["`scale` is given twice", "once"]),
            (r#"[{"laplace": {"scale": "2"}}]"#, ["`scale` is \"2\"", "give a number"]),
            (r#"[{"laplace": {}}]"#, ["`scale` is missing", "needs it"]),
            (r#"[{"laplace": 2}]"#, ["`laplace` is 2", "give an object"]),
            (r#"[{"steps": 2}]"#, ["missing", "give one of gaussian"]),
            (
                r#"[{"laplace": {"scale": 2}, "gaussian": {"noise_multiplier": 1}}]"#,
                ["beside", "make it two"],
            ),
            (r#"[{"laplace": {"scale": 2}, "epsilon": 1}]"#, ["`epsilon` is 1 beside `laplace`", "remove"]),
            (r#"[{"laplace": {"scale": 2}, "delta": 1e-6}]"#, ["`delta` is 0.000001 beside", "remove"]),
            (r#"[{"delta": 1e-6}]"#, ["`delta` is", "epsilon that goes with it"]),
            (r#"[{"epsilon": -1}]"#, ["`epsilon` is -1", "at least 0"]),
            (r#"[{"epsilon": 1, "delta": 1}]"#, ["`delta` is 1", "below 1"]),
            (r#"[{"epsilon": 1, "delta": 1e-6, "sampling_rate": 0.1}]"#, ["on a sample", "after sampling"]),
            (
                r#"[{"laplace": {"scale": 2}, "sampling_rate": 1.5}]"#,
                ["`sampling-rate` is 1.5", "probability"],
            ),
            (r#"[{"laplace": {"scale": 2}, "batch": 3}]"#, ["`batch` is 3", "population"]),
            (r#"[{"laplace": {"scale": 2}, "population": 3}]"#, ["`population` is 3", "batch"]),
            (
                r#"[{"laplace": {"scale": 2}, "batch": 3, "population": 9, "sampling_rate": 0.5}]"#,
                ["0.5", "one of"],
            ),
            (
                r#"[{"randomized_response": {"random_probability": 0.5, "buckets": 5e9}}]"#,
                ["`buckets`", "at most"],
            ),
            (r#"[null]"#, ["`entry` is null", "give an object"]),
            (r#"[{"laplace": {"scale": 1e999}}]"#, ["out of range", "line 1"]),
            ("[{", ["EOF", "line 1"]),
        ] {
            let message = format!("{:#}", parse(text).unwrap_err());
            assert!(words.iter().all(|word| message.contains(word)), "{text}: {message}");
        }
    }
}
