//! Reading `--events FILE`: a JSON list of unlike releases.
//!
//! Nothing in it is guessed or passed over: an unknown name, a name given twice, or a number of the wrong kind is refused
//! with the entry's number.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use sottovoce_privacy::{Bound, Mechanism, Mixture, Number, Plain, Release};

use super::fields::Fields;
use super::json::Json;
use super::sampling::Draw;
use crate::input;

/// What can be released, by the name of its entry.
const KINDS: [&str; 13] = [
    "gaussian",
    "laplace",
    "discrete_gaussian",
    "discrete_laplace",
    "randomized_response",
    "mixture",
    "exponential",
    "permute_and_flip",
    "tree",
    "zcdp",
    "best_of",
    "published",
    "nothing",
];

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
    releases(entries)
}

fn releases(entries: Vec<Json>) -> anyhow::Result<Vec<(Release, u64)>> {
    if entries.is_empty() {
        bail!("the list is empty; give at least one release");
    }
    let numbered = entries.into_iter().zip(1..);
    numbered
        .map(|(entry, number)| release(entry).map_err(|error| anyhow!("entry {number}: {error:#}")))
        .collect()
}

fn release(entry: Json) -> anyhow::Result<(Release, u64)> {
    let mut fields = Fields::of(entry, "entry")?;
    let steps = fields.whole("steps")?.unwrap_or(1);
    let draw = draw(&mut fields)?;
    let kind = kind(&mut fields)?;
    fields.end(
        "the noise or epsilon and delta, sampling_rate (with rows and most), batch and population, steps",
    )?;
    let release = match kind {
        Kind::Noise(mechanism) => Release::Mechanism(draw.of(mechanism)?),
        Kind::Given { epsilon, delta } => given(epsilon, delta, draw)?,
        Kind::Zcdp { rho, xi } => concentrated(rho, xi, draw)?,
        Kind::Vectors { sigma, length } => vectors(sigma, length, draw)?,
        Kind::Whole(release) => match draw {
            Draw::Everyone => release,
            _ => bail!("a sample of {release} is not known: leave the sampling out"),
        },
    };
    Ok((release, steps))
}

enum Kind {
    Noise(Mechanism),
    Given {
        epsilon: f64,
        delta: f64,
    },
    Zcdp {
        rho: f64,
        xi: f64,
    },
    /// Discrete Gaussian noise on vectors of integers.
    Vectors {
        sigma: f64,
        length: f64,
    },
    /// Not to be sampled.
    Whole(Release),
}

fn kind(fields: &mut Fields) -> anyhow::Result<Kind> {
    let (epsilon, delta) = (fields.number("epsilon")?, fields.number("delta")?);
    let mut found = KINDS.iter().filter_map(|kind| Some((*kind, fields.take(kind)?)));
    let (first, second) = (found.next(), found.next());
    let known = || format!("give one of {}, or epsilon (with delta)", KINDS.join(", "));
    match (first, second, epsilon, delta) {
        (Some((kind, json)), None, None, None) => noise(kind, json),
        (None, None, Some(epsilon), delta) => Ok(Kind::Given { epsilon, delta: delta.unwrap_or(0.0) }),
        (None, None, None, Some(delta)) => bail!("`delta` is {delta}: give the epsilon that goes with it"),
        (None, None, None, None) | (None, Some(_), ..) => bail!("what is released is missing: {}", known()),
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
    }
}

/// What an entry's own object describes.
fn noise(kind: &str, json: Json) -> anyhow::Result<Kind> {
    if matches!(kind, "published" | "nothing") {
        return match json {
            Json::Other("true") => Ok(Kind::Whole(Release::Plain(if kind == "nothing" {
                Plain::Nothing
            } else {
                Plain::Published
            }))),
            other => bail!("`{kind}` is {other}: give true"),
        };
    }
    let mut fields = Fields::of(json, kind)?;
    let (found, known) = match kind {
        "gaussian" => (Kind::Noise(gaussian(&mut fields)?), "noise_multiplier"),
        "laplace" => (Kind::Noise(Mechanism::laplace(fields.needed("scale", kind)?)?), "scale"),
        "discrete_gaussian" => discrete_gaussian(&mut fields)?,
        "discrete_laplace" => {
            let scale = fields.needed("scale", kind)?;
            let contribution = fields.small("contribution", 1)?;
            (Kind::Noise(Mechanism::discrete_laplace(scale, contribution)?), "scale, contribution")
        }
        "randomized_response" => {
            let probability = fields.needed("random_probability", kind)?;
            let mechanism = Mechanism::randomized_response(probability, fields.small("buckets", 2)?)?;
            (Kind::Noise(mechanism), "random_probability, buckets")
        }
        "mixture" => {
            let sigma = fields.needed("sigma", kind)?;
            let amounts = fields.numbers("sensitivities", kind)?;
            let probabilities = fields.numbers("probabilities", kind)?;
            let mixture = Mixture::new(sigma, &amounts, &probabilities)?;
            (Kind::Whole(Release::Mixture(mixture)), "sigma, sensitivities, probabilities")
        }
        "exponential" => (Kind::Noise(Mechanism::exponential(fields.needed("epsilon", kind)?)?), "epsilon"),
        "permute_and_flip" => {
            (Kind::Noise(Mechanism::permute_and_flip(fields.needed("epsilon", kind)?)?), "epsilon")
        }
        "tree" => {
            let noise_multiplier = fields.needed("noise_multiplier", kind)?;
            (
                Kind::Noise(Mechanism::tree(noise_multiplier, leaves(&mut fields)?)?),
                "noise_multiplier, leaves",
            )
        }
        "zcdp" => {
            let (rho, xi) = (fields.needed("rho", kind)?, fields.number("xi")?.unwrap_or(0.0));
            (Kind::Zcdp { rho, xi }, "rho, xi")
        }
        _ => (Kind::Whole(best_of(&mut fields)?), "releases, mean, number, shape"),
    };
    fields.end(known)?;
    Ok(found)
}

/// One noise multiplier, or several of queries that are answered on one sample.
fn gaussian(fields: &mut Fields) -> anyhow::Result<Mechanism> {
    match &fields.numbers("noise_multiplier", "gaussian")?[..] {
        [single] => Ok(Mechanism::gaussian(*single)?),
        several => Ok(Mechanism::gaussians(several)?),
    }
}

/// An integer with a whole contribution; or vectors of integers with a bound on their length, known as concentrated.
fn discrete_gaussian(fields: &mut Fields) -> anyhow::Result<(Kind, &'static str)> {
    let kind = "discrete_gaussian";
    let sigma = fields.needed("sigma", kind)?;
    if let Some(length) = fields.number("length")? {
        return Ok((Kind::Vectors { sigma, length }, "sigma, and contribution or length"));
    }
    let contribution = fields.small("contribution", 1)?;
    Ok((Kind::Noise(Mechanism::discrete_gaussian(sigma, contribution)?), "sigma, and contribution or length"))
}

/// Steps of a tree, or of the longest of several trees over which each record occurs once.
fn leaves(fields: &mut Fields) -> anyhow::Result<u64> {
    let mut longest = 0;
    for number in fields.numbers("leaves", "tree")? {
        if number.fract() != 0.0 || !(0.0..9e15).contains(&number) {
            bail!("`leaves` is {number}: give whole numbers of at least 0");
        }
        longest = longest.max(number as u64); // whole numbers
    }
    Ok(longest)
}

fn best_of(fields: &mut Fields) -> anyhow::Result<Release> {
    let once = match fields.take("releases") {
        Some(Json::List(entries)) => releases(entries).context("`releases`")?,
        Some(other) => bail!("`releases` is {other}: give a list of what one run releases"),
        None => bail!("`releases` is missing: give a list of what one run releases"),
    };
    let mean = fields.needed("mean", "best_of")?;
    let shape = fields.number("shape")?;
    let number = match (fields.take("number"), shape) {
        (None, Some(shape)) => Number::NegativeBinomial { shape },
        (Some(Json::Text(name)), None) => match name.as_str() {
            "poisson" => Number::Poisson,
            "geometric" => Number::NegativeBinomial { shape: 1.0 },
            "logarithmic" => Number::NegativeBinomial { shape: 0.0 },
            _ => {
                bail!("`number` is {name:?}: give \"poisson\", \"geometric\" or \"logarithmic\", or a shape")
            }
        },
        (Some(other), None) => {
            bail!("`number` is {other}: give \"poisson\", \"geometric\" or \"logarithmic\"")
        }
        (Some(other), Some(shape)) => {
            bail!("`number` is {other} beside the shape {shape}: give one of the two")
        }
        (None, None) => {
            bail!("`number` is missing: give \"poisson\", \"geometric\" or \"logarithmic\", or a shape")
        }
    };
    Ok(Release::Bound(Bound::repeated(once, mean, number)?))
}

fn draw(fields: &mut Fields) -> anyhow::Result<Draw> {
    let (rate, batch, population) =
        (fields.number("sampling_rate")?, fields.whole("batch")?, fields.whole("population")?);
    let limited = match (fields.whole("rows")?, fields.whole("most")?) {
        (None, None) => None,
        (Some(rows), Some(most)) => Some((rows, most)),
        (Some(rows), None) => bail!("`rows` is {rows}: give with it the most rows of a lot"),
        (None, Some(most)) => bail!("`most` is {most}: give the rows that lots are drawn from"),
    };
    match (rate, batch, population) {
        (None, None, None) if limited.is_some() => {
            bail!("`most` needs a sampling_rate: of how many rows a lot is drawn says nothing about everyone")
        }
        (None, None, None) => Ok(Draw::Everyone),
        (Some(rate), None, None) => match limited {
            Some((rows, most)) => Draw::at_most(rate, rows, most),
            None => Draw::at_rate(rate),
        },
        (None, Some(batch), Some(population)) if limited.is_none() => Ok(Draw::in_batches(batch, population)),
        (None, Some(batch), Some(_)) => {
            bail!("`batch` is {batch} beside `most`: a batch has that size anyway")
        }
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

/// A concentrated release. A Poisson sample of it is known where its Rényi losses have no constant part.
fn concentrated(rho: f64, xi: f64, draw: Draw) -> anyhow::Result<Release> {
    let whole = Bound::zcdp(rho, xi)?;
    match draw {
        Draw::Everyone => Ok(Release::Bound(whole)),
        Draw::Nobody => Ok(Release::Plain(Plain::Nothing)),
        Draw::Poisson { rate } if xi == 0.0 => Ok(Release::Bound(Bound::sampled_zcdp(rho, rate)?)),
        Draw::Poisson { .. } => bail!("`xi` is {xi} on a sample: a sample is known where it is 0"),
        _ => bail!("`rho` is {rho} on such a sample: known are Poisson samples (sampling_rate)"),
    }
}

/// Discrete Gaussian noise on vectors, known for everybody and for Poisson samples.
fn vectors(sigma: f64, length: f64, draw: Draw) -> anyhow::Result<Release> {
    let whole = Bound::discrete_gaussian(sigma, length, 1.0)?;
    match draw {
        Draw::Everyone => Ok(Release::Bound(whole)),
        Draw::Nobody => Ok(Release::Plain(Plain::Nothing)),
        Draw::Poisson { rate } => Ok(Release::Bound(Bound::discrete_gaussian(sigma, length, rate)?)),
        _ => bail!("`length` is {length} on such a sample: known are Poisson samples (sampling_rate)"),
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
            {"epsilon": 0.5, "sampling_rate": 0.1},
            {"mixture": {"sigma": 1, "sensitivities": [0, 1, 2], "probabilities": [0.2, 0.6, 0.2]}, "steps": 3},
            {"gaussian": {"noise_multiplier": 1}, "sampling_rate": 0.5, "rows": 4, "most": 2},
            {"exponential": {"epsilon": 1}},
            {"permute_and_flip": {"epsilon": 1}},
            {"tree": {"noise_multiplier": 2, "leaves": [10, 400]}},
            {"zcdp": {"rho": 0.1, "xi": 0.2}},
            {"zcdp": {"rho": 0.1}, "sampling_rate": 0.01},
            {"discrete_gaussian": {"sigma": 3, "length": 1.5}},
            {"best_of": {"releases": [{"laplace": {"scale": 1}}], "mean": 10, "number": "poisson"}},
            {"best_of": {"releases": [{"laplace": {"scale": 1}}], "mean": 10, "shape": 0.5}},
            {"gaussian": {"noise_multiplier": [3, 4]}, "sampling_rate": 0.1},
            {"published": true},
            {"nothing": true}
        ]"#;
        let read = parse(text).unwrap();
        let sampled = Mechanism::gaussian(1.1).unwrap().poisson(0.01).unwrap();
        assert_eq!(read[0], (Release::Mechanism(sampled), 1000));
        assert_eq!(read[5], (Release::given(0.5, 1e-6).unwrap(), 3));
        assert_eq!(read[11].0, Release::Mechanism(Mechanism::tree(2.0, 400).unwrap()));
        assert_eq!(read.len(), 20);
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
            (
                r#"[{"mixture": {"sigma": 1, "sensitivities": [1]}}]"#,
                ["`probabilities` is missing", "mixture"],
            ),
            (
                r#"[{"mixture": {"sigma": 1, "sensitivities": ["a"], "probabilities": [1]}}]"#,
                ["`sensitivities` is \"a\"", "numbers"],
            ),
            (
                r#"[{"mixture": {"sigma": 1, "sensitivities": [1], "probabilities": [1]}, "sampling_rate": 0.1}]"#,
                ["not known", "leave the sampling out"],
            ),
            (
                r#"[{"gaussian": {"noise_multiplier": 1}, "sampling_rate": 0.1, "most": 2}]"#,
                ["`most` is 2", "rows"],
            ),
            (
                r#"[{"gaussian": {"noise_multiplier": 1}, "rows": 9, "most": 2}]"#,
                ["`most` needs a sampling_rate", "lot"],
            ),
            (r#"[{"best_of": {"releases": [], "mean": 2, "shape": 1}}]"#, ["`releases`", "empty"]),
            (
                r#"[{"best_of": {"releases": [{"laplace": {"scale": 1}}], "mean": 2}}]"#,
                ["`number` is missing", "poisson"],
            ),
            (
                r#"[{"best_of": {"releases": [{"laplace": {"scale": 1}}], "mean": 2, "number": "two"}}]"#,
                ["`number` is \"two\"", "geometric"],
            ),
            (r#"[{"published": false}]"#, ["`published` is false", "give true"]),
            (r#"[{"zcdp": {"rho": 1, "xi": 1}, "sampling_rate": 0.1}]"#, ["`xi` is 1", "sample"]),
            (r#"[{"tree": {"noise_multiplier": 1, "leaves": -3}}]"#, ["`leaves` is -3", "whole"]),
            (
                r#"[{"gaussian": {"noise_multiplier": 1}, "sampling_rate": -1, "rows": 9, "most": 0}]"#,
                ["`sampling-rate` is -1", "probability"],
            ),
            (
                r#"[{"gaussian": {"noise_multiplier": 1}, "sampling_rate": 1.5, "rows": 0, "most": 2}]"#,
                ["`sampling-rate` is 1.5", "probability"],
            ),
            (r#"[{"epsilon": 0, "sampling_rate": 7}]"#, ["`sampling-rate` is 7", "probability"]),
            (
                r#"[{"discrete_gaussian": {"sigma": 3, "length": 1.5}, "batch": 2, "population": 9}]"#,
                ["`length` is 1.5", "sampling_rate"],
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
