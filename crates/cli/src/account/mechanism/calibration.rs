//! From a target epsilon to noise, steps or a batch.

use std::fmt;

use anyhow::bail;
use serde::Serialize;
use serde::ser::SerializeMap;
use sottovoce_privacy::{
    Adjacency, Epsilon, Interval, Mechanism, Release, Standing, Unit, calibrate, most, outward, round_up,
};

use sottovoce::terms::Stated;

use super::account::guarantee;
use super::sampling::Draw;
use super::{Goal, MechanismArgs};

/// Most releases of one kind.
const MOST_STEPS: u64 = 1_000_000_000;

/// What was looked for, and found.
pub(super) struct Calibration {
    parameter: &'static str,
    found: Found,
    target: (f64, f64),
    steps: u64,
    adjacency: Adjacency,
    mechanism: Mechanism,
    spent: Interval,
    unit: Unit,
    standing: Standing,
    not_covered: Vec<String>,
    guarantees: Vec<Stated>,
}

enum Found {
    /// The least noise, to a millionth, and what is known of less.
    Noise(f64, &'static str),
    /// The largest number, and the epsilon at one more where there can be one.
    Number(u64, Option<Interval>),
}

impl MechanismArgs {
    pub(super) fn calibration(&self, goal: Goal) -> anyhow::Result<Calibration> {
        let Some(epsilon) = self.epsilon else {
            bail!("`epsilon` is missing: give the target as --epsilon E")
        };
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            bail!("`epsilon` is {epsilon}: give a positive, finite number");
        }
        match goal {
            Goal::Noise => self.least_noise(epsilon),
            Goal::Steps => self.most_steps(epsilon),
            Goal::Batch => self.largest_batch(epsilon),
        }
    }

    fn least_noise(&self, epsilon: f64) -> anyhow::Result<Calibration> {
        let (draw, steps) = (self.sampling.draw()?, self.sampling.steps()?);
        if matches!(draw, Draw::Nobody) {
            bail!("`sampling-rate` or `batch` is 0: nothing is lost whatever the noise; give a positive one");
        }
        let build = |odds: f64| draw.of(self.noise.release(self.noise.of_odds(odds))?);
        let (odds, less) = if self.delta > 0.0 && self.group == 1 {
            let method = calibrate::Method::Pld;
            let found = calibrate::least(build, steps, self.adjacency, epsilon, self.delta, method)?;
            (found.noise, less(&found))
        } else {
            self.check_bounded(build(1.0)?, steps)?;
            (
                most::noise(epsilon, |odds| self.spent(build(odds)?, steps))?,
                "less noise was not certified to be enough",
            )
        };
        self.calibrated(build(odds)?, steps, epsilon, |_| Found::Noise(self.noise.of_odds(odds), less))
    }

    /// Where no noise at all can help, say why instead of searching.
    fn check_bounded(&self, mechanism: Mechanism, steps: u64) -> anyhow::Result<()> {
        if let Epsilon::Infinite { reason } = self.spent(mechanism, steps)? {
            bail!("`delta` is {}: no noise is enough, {reason}; give a larger delta", self.delta);
        }
        Ok(())
    }

    fn most_steps(&self, epsilon: f64) -> anyhow::Result<Calibration> {
        self.sampling.refuse_steps()?;
        let mechanism = self.sampling.draw()?.of(self.noise.given()?)?;
        let found = most::number("steps", MOST_STEPS, epsilon, |steps| self.spent(mechanism, steps))?;
        self.calibrated(mechanism, found.number, epsilon, |_| number(&found))
    }

    fn largest_batch(&self, epsilon: f64) -> anyhow::Result<Calibration> {
        let steps = self.sampling.steps()?;
        let release = self.noise.given()?;
        let (name, rows, draw) = self.sampling.batches()?;
        if rows == 0 {
            let (field, least) = if name == "batch" { ("population", 2) } else { ("rows", 1) };
            bail!("`{field}` is too small for a batch: give at least {least}");
        }
        // A batch of everybody is no sample; it is the last that is tried.
        let build = |size: u64| draw(size).and_then(|draw| Ok(draw.of(release)?));
        let tried = |size: u64| match build(size) {
            Ok(mechanism) => self.spent(mechanism, steps),
            Err(error) => Err(sottovoce_privacy::Error::parameter("batch", size, error.to_string())),
        };
        let found = most::number(name, rows, epsilon, tried)?;
        let mut calibration = self.calibrated(build(found.number)?, steps, epsilon, |_| number(&found))?;
        calibration.parameter = name;
        Ok(calibration)
    }

    /// The epsilon of so many releases.
    fn spent(&self, mechanism: Mechanism, steps: u64) -> sottovoce_privacy::Result<Epsilon> {
        let group = self.compose(&[(Release::Mechanism(mechanism), steps)])?;
        Ok(group.epsilon(self.delta)?.0)
    }

    fn calibrated(
        &self,
        mechanism: Mechanism,
        steps: u64,
        epsilon: f64,
        found: impl FnOnce(Interval) -> Found,
    ) -> anyhow::Result<Calibration> {
        let group = self.compose(&[(Release::Mechanism(mechanism), steps)])?;
        let Epsilon::Within(spent) = group.epsilon(self.delta)?.0 else {
            bail!(
                "`epsilon` is {epsilon}: what was found does not hold when looked at again; give a larger one"
            )
        };
        let guarantee = guarantee(&group);
        let about = "all releases together, with what was found";
        Ok(Calibration {
            guarantees: vec![Stated::at(about, &guarantee, self.delta, spent.upper)],
            parameter: if self.calibrate { self.noise.parameter().0 } else { "steps" },
            found: found(spent),
            target: (epsilon, self.delta),
            steps,
            adjacency: self.adjacency,
            mechanism,
            spent,
            unit: guarantee.unit,
            standing: guarantee.standing,
            not_covered: guarantee.not_covered,
        })
    }
}

/// What is known of less noise.
fn less(found: &calibrate::Calibrated) -> &'static str {
    match (found.short.is_some(), found.monotone) {
        (true, true) => "with less noise by a millionth that could not be certified",
        (false, true) => "less noise than this is not admitted",
        (_, false) => {
            "a larger parameter of discrete noise can lose more: smaller ones were tried in steps of 1 %, and no smaller one of those suffices"
        }
    }
}

fn number(found: &most::Most) -> Found {
    let beyond = match &found.beyond {
        Some(Epsilon::Within(interval)) => Some(*interval),
        _ => None,
    };
    Found::Number(found.number, beyond)
}

impl Serialize for Calibration {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let name = self.parameter.replace('-', "_");
        match &self.found {
            Found::Noise(noise, less) => {
                map.serialize_entry(&name, noise)?;
                map.serialize_entry("less_noise", less)?;
            }
            Found::Number(number, beyond) => {
                map.serialize_entry(&name, number)?;
                map.serialize_entry("one_more", beyond)?;
            }
        }
        let (epsilon, delta) = self.target;
        map.serialize_entry("target", &serde_json::json!({ "epsilon": epsilon, "delta": delta }))?;
        map.serialize_entry("epsilon", &self.spent)?;
        if self.parameter != "steps" {
            map.serialize_entry("steps", &self.steps)?;
        }
        map.serialize_entry("adjacency", &self.adjacency)?;
        map.serialize_entry("mechanism", &self.mechanism)?;
        map.serialize_entry("unit", &self.unit)?;
        map.serialize_entry("standing", &self.standing)?;
        map.serialize_entry("not_covered", &self.not_covered)?;
        map.serialize_entry("guarantees", &self.guarantees)?;
        map.end()
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (epsilon, delta) = self.target;
        let delta = if delta == 0.0 { "0".to_owned() } else { format!("{delta:e}") };
        let (least, found) = match &self.found {
            Found::Noise(noise, _) => ("least", round_up(*noise)),
            Found::Number(number, _) => ("most", number.to_string()),
        };
        writeln!(f, "{} = {found}: the {least} for epsilon {epsilon} at delta {delta}", self.parameter)?;
        writeln!(
            f,
            "  with it, {} x {} is ({epsilon}, {delta})-private for {} ({}); {}",
            self.steps, self.mechanism, self.unit, self.adjacency, self.standing
        )?;
        let (lower, upper) = outward(self.spent);
        writeln!(f, "  certified interval   [{lower}, {upper}]")?;
        self.beyond(f)?;
        writeln!(f, "\n  not covered:")?;
        self.not_covered.iter().try_for_each(|what| writeln!(f, "  * {what}"))
    }
}

impl Calibration {
    /// What one more would do.
    fn beyond(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beyond = match &self.found {
            Found::Number(_, beyond) => beyond,
            Found::Noise(_, less) => return writeln!(f, "  {less}"),
        };
        let Some(beyond) = beyond else {
            return writeln!(f, "  one more              is not possible, or loses without bound");
        };
        let (lower, upper) = outward(*beyond);
        let verdict =
            if beyond.lower > self.target.0 { "too much" } else { "not certified to be within the target" };
        writeln!(f, "  one more             [{lower}, {upper}]: {verdict}")
    }
}
