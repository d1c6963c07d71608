//! Averaging by tokens that walk: what is asked for, and what is agreed on therefore.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sottovoce_protocol::walk::{Course, Steps};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::walk::Average;

#[cfg(feature = "flags")]
use super::flags::count;
use super::graph::Place;
use super::values::{Values, check_sensitivity};
use super::{Averaging, Method};
use crate::learning::method::launches;
use crate::learning::network::Faulty;
use crate::{Error, Result, require};

/// Contributions of a peer on average, where no number of steps is given.
const VISITS: usize = 10;
/// How far from its long-run law a token may be after burn-in, in total variation.
const MIXED: f64 = 0.01;
/// Most steps of burn-in that are looked for.
const MOST_BURN_IN: usize = 100_000;
/// Visits of all tokens, at most.
const MOST_VISITS: usize = 10_000_000;

/// Tokens that walk, where an averaging is by them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
#[cfg_attr(feature = "flags", command(next_help_heading = "Tokens that walk (--protocol walk)"))]
pub struct WalkSpec {
    /// Tokens that walk in parallel; the result is their mean (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true))]
    pub tokens: Option<usize>,
    /// Steps in which a token is only passed on, at first (default: until it may be nearly anywhere).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub burn_in: Option<usize>,
    /// Most contributions of each peer; after them it adds noise only (default: no limit).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true))]
    pub cap: Option<usize>,
    /// Step sizes: `running` for 1/t, so that the token is the mean of what was contributed, or a number up to 1 (default: running).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub step_size: Option<StepSize>,
}

/// Step sizes of an average, written `running` or as a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct StepSize(pub Steps);

impl FromStr for StepSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "running" {
            return Ok(Self(Steps::Running));
        }
        match text.trim().parse::<f64>() {
            Ok(gamma) if gamma > 0.0 && gamma <= 1.0 => Ok(Self(Steps::Constant(gamma))),
            _ => Err(Error::parameter("step-size", text, "give running, or a number above 0 and up to 1")),
        }
    }
}

impl fmt::Display for StepSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Steps::Running => f.pad("running"),
            Steps::Constant(gamma) => write!(f, "{gamma}"),
        }
    }
}

impl TryFrom<String> for StepSize {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<StepSize> for String {
    fn from(size: StepSize) -> Self {
        size.to_string()
    }
}

impl WalkSpec {
    /// Whether nothing is given.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What is given, by name.
    fn given(&self) -> Option<(&'static str, String)> {
        let number = |value: Option<usize>| value.map(|value| value.to_string());
        let all = [
            ("tokens", number(self.tokens)),
            ("burn-in", number(self.burn_in)),
            ("cap", number(self.cap)),
            ("step-size", self.step_size.map(|size| size.to_string())),
        ];
        all.into_iter().find_map(|(name, value)| Some((name, value?)))
    }
}

/// What all peers of an averaging by tokens agree on. All of it is public.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreed {
    /// Tokens.
    pub tokens: usize,
    /// Steps of each, after burn-in.
    pub steps: usize,
    /// Steps in which a token is only passed on, at first.
    pub burn_in: usize,
    /// Most contributions of each peer; none: no limit.
    pub cap: Option<usize>,
    /// Step sizes: `running`, or a number.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub step_size: StepSize,
}

impl Agreed {
    /// How tokens average, among peers whose contributions are worth so much.
    pub fn average(&self, worth: Vec<f64>) -> Arc<Average> {
        Arc::new(Average { sizes: self.step_size.0, worth })
    }

    /// The same as the peers know it.
    pub fn course(&self, sensitivity: f64, noise: f64) -> Course {
        Course {
            steps: self.burn_in + self.steps,
            burn_in: self.burn_in,
            sizes: self.step_size.0,
            sensitivity,
            noise,
            cap: self.cap.unwrap_or(usize::MAX),
        }
    }
}

/// An averaging by tokens that can be run: every file read, every default filled in, all but the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyWalk {
    /// The experiment.
    pub experiment: Averaging,
    /// The graph.
    pub place: Place,
    /// Where tokens go.
    pub mixing: Mixing,
    /// How many times as large as others' each peer's contribution is; empty where a long walk is everywhere equally often.
    pub worth: Vec<f64>,
    /// What is averaged.
    pub values: Values,
    /// How far one person can move a peer's vector.
    pub sensitivity: f64,
    /// Peers who pool what they see.
    pub observers: Vec<usize>,
    /// The network, and what happens to peers.
    pub network: Faulty,
    /// What is agreed on.
    pub agreed: Agreed,
}

impl Averaging {
    /// Whether tokens walk.
    pub fn walks(&self) -> bool {
        self.protocol.method == Method::Walk
    }

    /// Refuses what an averaging by tokens has no use for, and what only it has.
    pub(super) fn check_walk(&self) -> Result<()> {
        if !self.walks() {
            return match self.walk.given() {
                Some((field, value)) => {
                    let remedy = "only `protocol` walk has a use for it; leave it out";
                    Err(Error::parameter(field, value, remedy))
                }
                None => Ok(()),
            };
        }
        let none = |given: bool, field: &'static str, remedy: &str| require(!given, field, "given", remedy);
        none(
            self.graph.schedule.is_some(),
            "schedule",
            "a token walks on a graph; give one, or a number of peers",
        )?;
        none(
            self.noise.relay_noise != 0.0,
            "relay-noise",
            "holders add noise to the token itself; leave it out",
        )?;
        none(
            self.noise.cancel.is_some(),
            "cancel",
            "noise of pairs cancels where everybody speaks at once; leave it out, or take gossip or butterfly",
        )?;
        none(self.noise.masks, "masks", "sums are under masks, not tokens; leave it out, or take butterfly")?;
        none(
            !self.target.by_distance.is_none(),
            "within",
            "bounds that fall with a distance are for gossip; give epsilon",
        )?;
        for (field, value) in
            [("tokens", self.walk.tokens), ("cap", self.walk.cap), ("steps", self.protocol.steps)]
        {
            require(value != Some(0), field, 0, "give at least 1")?;
        }
        Ok(())
    }

    /// Reads what an averaging by tokens names; `folder` is where relative names begin.
    pub fn ready_walk(&self, folder: &Path, seed: u64) -> Result<ReadyWalk> {
        self.check()?;
        let place = self.graph.place(folder, seed)?;
        let n = place.graph.nodes();
        require(n > 1, "peers", n, "a token needs somebody to go to; give at least 2")?;
        let mixing = self.graph.base.walking(&place.graph)?;
        let observers = self.adversary.peers(Some(&place.graph), n)?;
        let values = self.values.read(folder, &place.graph, seed)?;
        let bound = self.values.sensitivity(values.columns.len());
        let sensitivity = self.noise.sensitivity.unwrap_or(bound);
        check_sensitivity(sensitivity, bound)?;
        let network = self.network.of_walks(&place.graph)?;
        let agreed = self.agreed(&mixing, seed)?;
        let worth = worth(&mixing)?;
        let experiment = self.clone();
        Ok(ReadyWalk { experiment, place, mixing, worth, values, sensitivity, observers, network, agreed })
    }

    /// What is agreed on where tokens walk so, every default filled in.
    pub fn agreed(&self, mixing: &Mixing, seed: u64) -> Result<Agreed> {
        let n = mixing.nodes();
        let tokens = self.walk.tokens.unwrap_or(1);
        let steps = self.protocol.steps.unwrap_or(VISITS.saturating_mul(n).div_ceil(tokens));
        let burn_in = match self.walk.burn_in {
            Some(steps) => steps,
            None => burn_in(mixing, &launches(seed, tokens, n))?,
        };
        let visits = steps.saturating_add(burn_in).saturating_mul(tokens);
        let remedy =
            format!("{visits} visits of tokens in all are too many, {MOST_VISITS} are feasible; give less");
        require(visits <= MOST_VISITS, "steps", steps, remedy)?;
        let step_size = self.walk.step_size.unwrap_or(StepSize(Steps::Running));
        Ok(Agreed { tokens, steps, burn_in, cap: self.walk.cap, step_size })
    }
}

/// Steps after which tokens from these peers may be nearly anywhere.
fn burn_in(mixing: &Mixing, launch: &[usize]) -> Result<usize> {
    let mut most = 0;
    for &first in launch {
        let Some(steps) = mixing.steps_to_mix(first, MIXED, MOST_BURN_IN)? else {
            let remedy = "on this graph a token is not near its long-run law after that many steps; give --burn-in, or weights that keep something \
                          (metropolis-plus-one, or --lazy 0.1)";
            return Err(Error::parameter("burn-in", format!("more than {MOST_BURN_IN}"), remedy));
        };
        most = most.max(steps); // whole numbers
    }
    Ok(most)
}

/// What contributions are worth so that a token averages everyone alike: the share that a peer ought to have over the share of visits it has. Empty where that
/// is 1 for all.
pub fn worth(mixing: &Mixing) -> Result<Vec<f64>> {
    if mixing.is_symmetric() {
        return Ok(Vec::new());
    }
    let share = 1.0 / mixing.nodes() as f64;
    Ok(mixing.stationary()?.into_iter().map(|visits| share / visits).collect())
}
