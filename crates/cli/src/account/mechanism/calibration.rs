//! From a target epsilon to noise, steps or a batch.

use std::fmt;

use anyhow::bail;
use serde::Serialize;
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
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Calibration {
    /// The option that takes what was found.
    #[serde(skip)]
    parameter: &'static str,
    #[serde(flatten)]
    found: Found,
    /// What was aimed at.
    target: Target,
    /// The certified interval of what was found.
    epsilon: Interval,
    /// Number of releases.
    steps: u64,
    /// Which inputs are neighbours.
    adjacency: Adjacency,
    /// What is released.
    mechanism: Mechanism,
    /// What is protected.
    unit: Unit,
    /// By what right.
    standing: Standing,
    /// What is not promised.
    not_covered: Vec<String>,
    /// What is promised, as numbers.
    guarantees: Vec<Stated>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Target {
    epsilon: f64,
    delta: f64,
}

/// The least noise to a millionth, or the largest number, under the name of the option that takes it.
#[derive(Default, Serialize, schemars::JsonSchema)]
struct Found {
    /// The least noise of a Gaussian.
    #[serde(skip_serializing_if = "Option::is_none")]
    noise_multiplier: Option<f64>,
    /// The least Laplace noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
    /// The least discrete Gaussian noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    sigma: Option<f64>,
    /// The least probability of a random answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    random_probability: Option<f64>,
    /// What is known of less noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    less_noise: Option<&'static str>,
    /// The largest fixed batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u64>,
    /// The largest batch on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_size: Option<u64>,
    /// Epsilon at one more; none where that is not possible, or loses without bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    one_more: Option<Option<Interval>>,
    /// For people.
    #[serde(skip)]
    text: String,
}

impl Found {
    fn noise(name: &str, noise: f64, less: &'static str) -> Self {
        let named = |own: &str| (own == name).then_some(noise);
        Self {
            noise_multiplier: named("noise-multiplier"),
            scale: named("scale"),
            sigma: named("sigma"),
            random_probability: named("random-probability"),
            less_noise: Some(less),
            text: format!("{}: the least", round_up(noise)),
            ..Self::default()
        }
    }

    fn number(name: &str, found: &most::Most) -> Self {
        let named = |own: &str| (own == name).then_some(found.number);
        let beyond = match &found.beyond {
            Some(Epsilon::Within(interval)) => Some(*interval),
            _ => None,
        };
        Self {
            batch: named("batch"),
            batch_size: named("batch-size"),
            one_more: Some(beyond),
            text: format!("{}: the most", found.number),
            ..Self::default()
        }
    }
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
        let name = self.noise.parameter().0;
        let found = Found::noise(name, self.noise.of_odds(odds), less);
        self.calibrated(build(odds)?, steps, epsilon, (name, found))
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
        self.calibrated(mechanism, found.number, epsilon, ("steps", Found::number("steps", &found)))
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
        self.calibrated(build(found.number)?, steps, epsilon, (name, Found::number(name, &found)))
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
        (parameter, found): (&'static str, Found),
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
            parameter,
            found,
            target: Target { epsilon, delta: self.delta },
            steps,
            adjacency: self.adjacency,
            mechanism,
            epsilon: spent,
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

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target { epsilon, delta } = self.target;
        let delta = if delta == 0.0 { "0".to_owned() } else { format!("{delta:e}") };
        writeln!(f, "{} = {} for epsilon {epsilon} at delta {delta}", self.parameter, self.found.text)?;
        writeln!(
            f,
            "  with it, {} x {} is ({epsilon}, {delta})-private for {} ({}); {}",
            self.steps, self.mechanism, self.unit, self.adjacency, self.standing
        )?;
        let (lower, upper) = outward(self.epsilon);
        writeln!(f, "  certified interval   [{lower}, {upper}]")?;
        self.beyond(f)?;
        sottovoce::terms::not_covered(f, &self.not_covered)
    }
}

impl Calibration {
    /// What one more would do.
    fn beyond(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(less) = self.found.less_noise {
            return writeln!(f, "  {less}");
        }
        let Some(Some(beyond)) = self.found.one_more else {
            return writeln!(f, "  one more              is not possible, or loses without bound");
        };
        let (lower, upper) = outward(beyond);
        let verdict = if beyond.lower > self.target.epsilon {
            "too much"
        } else {
            "not certified to be within the target"
        };
        writeln!(f, "  one more             [{lower}, {upper}]: {verdict}")
    }
}
