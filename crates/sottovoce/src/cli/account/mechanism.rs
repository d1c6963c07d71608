//! `sottovoce account mechanism`.

use std::fmt;

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use sottovoce_privacy::{
    Accountant, Adjacency, Adversary, Guarantee, Interval, Loss, LowerEnd, Mechanism, Standing, Unit,
    calibrate, limits, outward, round_up,
};

use crate::cli::Global;

const EXAMPLES: &str = "Examples:
  sottovoce account mechanism --gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000 --delta 1e-5
  sottovoce account mechanism --laplace --scale 2 --steps 10 --adjacency replace --json
  sottovoce account mechanism --gaussian --noise-multiplier 4 --batch 256 --population 60000 --steps 1000 --adjacency replace
  sottovoce account mechanism --gaussian --sampling-rate 0.01 --steps 1000 --calibrate --epsilon 3

Noise is relative to what one record may contribute (its clipping norm). Replacing a record moves a sum by twice that.";

/// Arguments of `account mechanism`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("noise").required(true))]
pub(crate) struct MechanismArgs {
    /// Gaussian noise (give --noise-multiplier).
    #[arg(long, group = "noise")]
    gaussian: bool,
    /// Laplace noise (give --scale).
    #[arg(long, group = "noise")]
    laplace: bool,
    /// Discrete Gaussian noise on the integers (give --sigma).
    #[arg(long, group = "noise")]
    discrete_gaussian: bool,
    /// Discrete Laplace noise on the integers (give --scale).
    #[arg(long, group = "noise")]
    discrete_laplace: bool,
    /// Randomised response (give --random-probability and --buckets); needs --adjacency replace.
    #[arg(long, group = "noise")]
    randomized_response: bool,

    /// Standard deviation of Gaussian noise, per contribution of one record.
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    noise_multiplier: Option<f64>,
    /// Scale of Laplace noise, per contribution of one record.
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    scale: Option<f64>,
    /// Parameter of discrete Gaussian noise, in grid steps.
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    sigma: Option<f64>,
    /// Probability of answering at random.
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    random_probability: Option<f64>,
    /// Number of possible answers.
    #[arg(long, value_name = "K", default_value_t = 2)]
    buckets: u32,
    /// Largest contribution of one record, in grid steps (discrete noise).
    #[arg(long, value_name = "C", default_value_t = 1)]
    contribution: u32,

    /// Poisson sampling: each record enters a step with this probability.
    #[arg(long, value_name = "Q", allow_hyphen_values = true, conflicts_with_all = ["batch", "population"])]
    sampling_rate: Option<f64>,
    /// Fixed batches without replacement: records in a batch.
    #[arg(long, value_name = "M", requires = "population")]
    batch: Option<u64>,
    /// Fixed batches without replacement: records in all.
    #[arg(long, value_name = "N", requires = "batch")]
    population: Option<u64>,
    /// Number of releases.
    #[arg(long, value_name = "T", default_value = "1", value_parser = whole, allow_hyphen_values = true)]
    steps: u64,
    /// Probability with which the bound may fail.
    #[arg(long, default_value_t = 1e-5, allow_hyphen_values = true)]
    delta: f64,
    /// Which data sets are neighbours: add-remove or replace.
    #[arg(long, default_value = "add-remove")]
    adjacency: Adjacency,
    /// Find the least noise for --epsilon instead.
    #[arg(long, requires = "epsilon")]
    calibrate: bool,
    /// Target of --calibrate; without it, delta at this epsilon is reported too.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<f64>,
}

/// A whole number, with a remedy where there is none.
fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "give a whole number from 1 to 1000000000".to_owned())
}

impl MechanismArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        self.refuse_strangers()?;
        if self.calibrate {
            return global.print(&self.calibration()?);
        }
        let mechanism = self.mechanism(self.noise()?)?;
        let mut accountant = Accountant::new(self.adjacency);
        accountant.compose(mechanism, self.steps)?;
        let (value, order) = accountant.rdp_epsilon(self.delta)?;
        let epsilon = Epsilon { pld: accountant.epsilon(self.delta)?, rdp: Renyi { value, order } };
        let lower_end = accountant.lower_end();
        let delta_at_epsilon = self.epsilon.map(|epsilon| accountant.delta(epsilon)).transpose()?;
        let guarantee = Guarantee {
            adversary: Adversary::WireTapper,
            unit: Unit::Record,
            adjacency: self.adjacency,
            loss: Loss::Pld(accountant),
            standing: Standing::Proven,
            not_covered: limits::of_a_release(),
        };
        let statement = guarantee.state_at(self.delta, epsilon.pld);
        global.print(&MechanismAccount {
            epsilon,
            delta: self.delta,
            delta_at_epsilon,
            steps: self.steps,
            mechanism,
            adjacency: guarantee.adjacency,
            adversary: guarantee.adversary,
            unit: guarantee.unit,
            standing: guarantee.standing,
            statement,
            lower_end,
            not_covered: guarantee.not_covered,
            name: mechanism.to_string(),
        })
    }

    /// The noise parameter of the chosen mechanism: its option's name and value.
    fn parameter(&self) -> (&'static str, Option<f64>) {
        if self.gaussian {
            ("noise-multiplier", self.noise_multiplier)
        } else if self.discrete_gaussian {
            ("sigma", self.sigma)
        } else if self.randomized_response {
            ("random-probability", self.random_probability)
        } else {
            ("scale", self.scale)
        }
    }

    fn noise(&self) -> anyhow::Result<f64> {
        match self.parameter() {
            (_, Some(noise)) => Ok(noise),
            (name, None) => {
                bail!("`{name}` is missing: give --{name}, or --calibrate with --epsilon to find it")
            }
        }
    }

    /// A parameter of another mechanism would be ignored in silence: refuse it.
    fn refuse_strangers(&self) -> anyhow::Result<()> {
        let (own, given) = self.parameter();
        let all = [
            ("noise-multiplier", self.noise_multiplier),
            ("scale", self.scale),
            ("sigma", self.sigma),
            ("random-probability", self.random_probability),
        ];
        if let Some((name, Some(value))) = all.iter().find(|(name, value)| *name != own && value.is_some()) {
            bail!("`{name}` is {value}: the chosen noise takes --{own} instead");
        }
        if let (true, Some(value)) = (self.calibrate, given) {
            bail!("`{own}` is {value}: --calibrate finds it; remove one of the two");
        }
        Ok(())
    }

    fn mechanism(&self, noise: f64) -> sottovoce_privacy::Result<Mechanism> {
        let release = if self.gaussian {
            Mechanism::gaussian(noise)
        } else if self.laplace {
            Mechanism::laplace(noise)
        } else if self.discrete_gaussian {
            Mechanism::discrete_gaussian(noise, self.contribution)
        } else if self.discrete_laplace {
            Mechanism::discrete_laplace(noise, self.contribution)
        } else {
            Mechanism::randomized_response(noise, self.buckets)
        }?;
        match (self.sampling_rate, self.batch, self.population) {
            (Some(rate), _, _) => release.poisson(rate),
            (None, Some(batch), Some(population)) => release.fixed_batch(batch, population),
            _ => Ok(release),
        }
    }

    fn calibration(&self) -> anyhow::Result<Calibration> {
        let Some(epsilon) = self.epsilon else {
            bail!("`epsilon` is missing: give the target as --epsilon E")
        };
        // The odds of answering at random grow without bound where the probability cannot.
        let odds = |noise: f64| if self.randomized_response { noise / (1.0 + noise) } else { noise };
        let build = |noise: f64| self.mechanism(odds(noise));
        let method = calibrate::Method::Pld;
        let found = calibrate::least(build, self.steps, self.adjacency, epsilon, self.delta, method)?;
        let noise = found.noise;
        let parameter = self.parameter().0;
        Ok(Calibration {
            parameter,
            noise: odds(noise),
            epsilon,
            delta: self.delta,
            steps: self.steps,
            adjacency: self.adjacency,
            mechanism: build(noise)?,
            less: less(&found),
        })
    }
}

/// Said where the composed dominating pairs need not be attained.
const BATCHES: &str = "lower ends bound the composed dominating pairs of fixed batches; the true loss may be smaller than a lower end, \
                       never larger than an upper one";

#[derive(Serialize)]
struct Epsilon {
    pld: Interval,
    rdp: Renyi,
}

#[derive(Serialize)]
struct Renyi {
    value: f64,
    order: f64,
}

/// What `account mechanism` found.
#[derive(Serialize)]
struct MechanismAccount {
    epsilon: Epsilon,
    delta: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta_at_epsilon: Option<Interval>,
    steps: u64,
    mechanism: Mechanism,
    adjacency: Adjacency,
    adversary: Adversary,
    unit: Unit,
    standing: Standing,
    statement: String,
    /// What the lower ends bound: the loss itself, or only that of the composed dominating pairs.
    lower_end: LowerEnd,
    not_covered: Vec<String>,
    #[serde(skip)]
    name: String,
}

impl fmt::Display for MechanismAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Epsilon { pld, rdp } = &self.epsilon;
        writeln!(f, "{} x {}", self.steps, self.name)?;
        writeln!(f)?;
        writeln!(f, "  {}", self.statement)?;
        writeln!(f)?;
        let (lower, upper) = outward(*pld);
        writeln!(f, "  certified interval   [{lower}, {upper}]")?;
        write!(f, "  by Rényi divergence  {} (order {:.3})", round_up(rdp.value), rdp.order)?;
        if let Some(delta) = self.delta_at_epsilon {
            let (lower, upper) = outward(delta);
            write!(f, "\n  delta at epsilon     [{lower}, {upper}]")?;
        }
        let reasons =
            [("interval", pld.reason()), ("delta", self.delta_at_epsilon.and_then(|delta| delta.reason()))];
        for (what, reason) in reasons {
            if let Some(reason) = reason {
                write!(f, "\n  note ({what}): {reason}")?;
            }
        }
        if self.lower_end == LowerEnd::DominatingPair {
            write!(f, "\n  note: {BATCHES}")?;
        }
        write!(f, "\n\n  not covered:")?;
        self.not_covered.iter().try_for_each(|limit| write!(f, "\n    - {limit}"))
    }
}

/// The noise that `--calibrate` found.
struct Calibration {
    parameter: &'static str,
    noise: f64,
    epsilon: f64,
    delta: f64,
    steps: u64,
    adjacency: Adjacency,
    mechanism: Mechanism,
    less: &'static str,
}

impl Serialize for Calibration {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(&self.parameter.replace('-', "_"), &self.noise)?;
        map.serialize_entry("target", &serde_json::json!({ "epsilon": self.epsilon, "delta": self.delta }))?;
        map.serialize_entry("steps", &self.steps)?;
        map.serialize_entry("adjacency", &self.adjacency)?;
        map.serialize_entry("mechanism", &self.mechanism)?;
        map.serialize_entry("less_noise", self.less)?;
        map.serialize_entry("not_covered", &limits::of_a_release())?;
        map.end()
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} = {}", self.parameter, round_up(self.noise))?;
        writeln!(
            f,
            "  with it, {} x {} is ({}, {:e})-private ({}), certified",
            self.steps, self.mechanism, self.epsilon, self.delta, self.adjacency
        )?;
        write!(f, "  {}", self.less)?;
        write!(f, "\n\n  not covered:")?;
        limits::of_a_release().iter().try_for_each(|limit| write!(f, "\n    - {limit}"))
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
