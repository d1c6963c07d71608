//! From a target epsilon to noise, steps or a batch.

use std::fmt;

use anyhow::bail;
use serde::Serialize;
use sottovoce_privacy::{
    Adjacency, Epsilon, Group, Interval, Mechanism, Release, Standing, TradeOff, Unit, calibrate, most,
    outward, round_up,
};

use sottovoce::terms::Stated;

use super::account::{guarantee, stated};
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
    /// The certified interval of its epsilon.
    epsilon: Interval,
    /// How much of the target it uses.
    used: Interval,
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
    #[serde(flatten)]
    aim: Aim,
    /// Of an epsilon.
    delta: f64,
}

/// What may not be exceeded.
#[derive(Clone, Copy, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Aim {
    Epsilon {
        epsilon: f64,
    },
    /// An attacker's true-positive rate less its false-positive rate.
    Advantage {
        advantage: f64,
    },
    /// Its true-positive rate at this false-positive rate.
    TruePositives {
        tpr: f64,
        fpr: f64,
    },
}

impl Aim {
    fn value(self) -> f64 {
        match self {
            Self::Epsilon { epsilon } => epsilon,
            Self::Advantage { advantage } => advantage,
            Self::TruePositives { tpr, .. } => tpr,
        }
    }

    /// How much of it a composition uses.
    fn used(self, group: &Group, delta: f64) -> sottovoce_privacy::Result<Epsilon> {
        match self {
            Self::Epsilon { .. } => Ok(group.epsilon(delta)?.0),
            Self::Advantage { .. } => Ok(Epsilon::Within(group.delta(0.0)?)),
            Self::TruePositives { fpr, .. } => {
                let curve = TradeOff::of_curve(&[fpr], &group.curve()?)?;
                Ok(Epsilon::Within(Interval::new(0.0, curve.true_positives(fpr))?))
            }
        }
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Epsilon { epsilon } => write!(f, "epsilon {epsilon}"),
            Self::Advantage { advantage } => write!(f, "advantage {advantage}"),
            Self::TruePositives { tpr, fpr } => {
                write!(f, "true-positive rate {tpr} at false-positive rate {fpr}")
            }
        }
    }
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
        let aim = self.aim()?;
        match goal {
            Goal::Noise => self.least_noise(aim),
            Goal::Steps => self.most_steps(aim),
            Goal::Batch => self.largest_batch(aim),
        }
    }

    fn aim(&self) -> anyhow::Result<Aim> {
        let share = |field: &str, value: f64| match value > 0.0 && value < 1.0 {
            true => Ok(value),
            false => bail!("`{field}` is {value}: give a number between 0 and 1"),
        };
        match (self.epsilon, self.advantage, self.tpr.zip(self.fpr)) {
            (Some(epsilon), ..) if !(epsilon > 0.0 && epsilon.is_finite()) => {
                bail!("`epsilon` is {epsilon}: give a positive, finite number")
            }
            (Some(epsilon), ..) => Ok(Aim::Epsilon { epsilon }),
            (_, Some(advantage), _) => Ok(Aim::Advantage { advantage: share("advantage", advantage)? }),
            (.., Some((tpr, fpr))) => {
                let (tpr, fpr) = (share("tpr", tpr)?, share("fpr", fpr)?);
                match tpr > fpr {
                    true => Ok(Aim::TruePositives { tpr, fpr }),
                    false => bail!("`tpr` is {tpr}: whoever guesses reaches {fpr}; give more"),
                }
            }
            _ => bail!(
                "`epsilon` is missing: give the target as --epsilon E, --advantage A, or --tpr T with --fpr F"
            ),
        }
    }

    fn least_noise(&self, aim: Aim) -> anyhow::Result<Calibration> {
        let (draw, steps) = (self.sampling.draw()?, self.sampling.steps()?);
        if matches!(draw, Draw::Nobody) {
            bail!("`sampling-rate` or `batch` is 0: nothing is lost whatever the noise; give a positive one");
        }
        let build = |odds: f64| draw.of(self.noise.release(self.noise.of_odds(odds))?);
        let (odds, less) = match aim {
            Aim::Epsilon { epsilon } if self.delta > 0.0 && self.group == 1 => {
                let method = calibrate::Method::Pld;
                let found = calibrate::least(build, steps, self.adjacency, epsilon, self.delta, method)?;
                (found.noise, less(&found))
            }
            _ => {
                self.check_bounded(build(1.0)?, steps, aim)?;
                let found = most::noise(aim.value(), |odds| self.spent(build(odds)?, steps, aim))?;
                (found, "less noise was not certified to be enough")
            }
        };
        let name = self.noise.parameter().0;
        let found = Found::noise(name, self.noise.of_odds(odds), less);
        self.calibrated(build(odds)?, steps, aim, (name, found))
    }

    /// Where no noise at all can help, say why instead of searching.
    fn check_bounded(&self, mechanism: Mechanism, steps: u64, aim: Aim) -> anyhow::Result<()> {
        if let Epsilon::Infinite { reason } = self.spent(mechanism, steps, aim)? {
            bail!("`delta` is {}: no noise is enough, {reason}; give a larger delta", self.delta);
        }
        Ok(())
    }

    fn most_steps(&self, aim: Aim) -> anyhow::Result<Calibration> {
        self.sampling.refuse_steps()?;
        let mechanism = self.sampling.draw()?.of(self.noise.given()?)?;
        let found =
            most::number("steps", MOST_STEPS, aim.value(), |steps| self.spent(mechanism, steps, aim))?;
        self.calibrated(mechanism, found.number, aim, ("steps", Found::number("steps", &found)))
    }

    fn largest_batch(&self, aim: Aim) -> anyhow::Result<Calibration> {
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
            Ok(mechanism) => self.spent(mechanism, steps, aim),
            Err(error) => Err(sottovoce_privacy::Error::parameter("batch", size, error.to_string())),
        };
        let found = most::number(name, rows, aim.value(), tried)?;
        self.calibrated(build(found.number)?, steps, aim, (name, Found::number(name, &found)))
    }

    /// How much of the target so many releases use.
    fn spent(&self, mechanism: Mechanism, steps: u64, aim: Aim) -> sottovoce_privacy::Result<Epsilon> {
        aim.used(&self.compose(&[(Release::Mechanism(mechanism), steps)])?, self.delta)
    }

    fn calibrated(
        &self,
        mechanism: Mechanism,
        steps: u64,
        aim: Aim,
        (parameter, found): (&'static str, Found),
    ) -> anyhow::Result<Calibration> {
        let group = self.compose(&[(Release::Mechanism(mechanism), steps)])?;
        let Epsilon::Within(spent) = group.epsilon(self.delta)?.0 else {
            bail!("`target` is {aim}: what was found does not hold when looked at again; give a larger one")
        };
        let guarantee = guarantee(&group);
        let used = match aim.used(&group, self.delta)? {
            Epsilon::Within(used) if used.upper <= aim.value() => used,
            _ => bail!(
                "`target` is {aim}: what was found does not hold when looked at again; give a larger one"
            ),
        };
        let about = "all releases together, with what was found";
        Ok(Calibration {
            guarantees: vec![stated(about, &group, self.delta, spent.upper)?],
            used,
            parameter,
            found,
            target: Target { aim, delta: self.delta },
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
        let Target { aim, delta } = self.target;
        let delta = if delta == 0.0 { "0".to_owned() } else { format!("{delta:e}") };
        let at = if let Aim::Epsilon { .. } = aim { format!(" at delta {delta}") } else { String::new() };
        writeln!(f, "{} = {} for {aim}{at}", self.parameter, self.found.text)?;
        let (_, epsilon) = outward(self.epsilon);
        writeln!(
            f,
            "  with it, {} x {} is ({epsilon}, {delta})-private for {} ({}); {}",
            self.steps, self.mechanism, self.unit, self.adjacency, self.standing
        )?;
        let (lower, upper) = outward(self.used);
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
        let verdict = if beyond.lower > self.target.aim.value() {
            "too much"
        } else {
            "not certified to be within the target"
        };
        writeln!(f, "  one more             [{lower}, {upper}]: {verdict}")
    }
}
