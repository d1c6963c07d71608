//! `sottovoce account mechanism`.

use std::fmt;

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use sottovoce_privacy::{
    Accountant, Adjacency, Adversary, Guarantee, Interval, Loss, Mechanism, Standing, Unit, calibrate,
    limits, outward, round_up,
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
        let delta_at_epsilon = self.epsilon.map(|epsilon| accountant.delta(epsilon)).transpose()?;
        let guarantee = Guarantee {
            adversary: Adversary::WireTapper,
            unit: Unit::Record,
            adjacency: self.adjacency,
            loss: Loss::Pld(accountant),
            standing: Standing::Proven,
            not_covered: limits::of_a_release(),
        };
        let statement = guarantee.state(self.delta)?;
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
        let noise = calibrate::noise(build, self.steps, self.adjacency, epsilon, self.delta, method)?;
        let parameter = self.parameter().0;
        Ok(Calibration {
            parameter,
            noise: odds(noise),
            epsilon,
            delta: self.delta,
            steps: self.steps,
            adjacency: self.adjacency,
            mechanism: build(noise)?,
        })
    }
}

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
            write!(f, "\n  delta at epsilon     [{:.6e}, {:.6e}]", delta.lower, delta.upper)?;
        }
        Ok(())
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
        map.end()
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} = {}", self.parameter, round_up(self.noise))?;
        write!(
            f,
            "  with it, {} x {} is ({}, {:e})-private ({}), certified; less noise by a millionth is not",
            self.steps, self.mechanism, self.epsilon, self.delta, self.adjacency
        )
    }
}
