//! What can go wrong between peers, as people write it: milliseconds, probabilities, names.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sottovoce_simulator::network::{Faults, Latency, Network};
use sottovoce_topology::Graph;

#[cfg(feature = "flags")]
use super::flags::real;
use super::graph::peer;
use crate::learning::network::Faulty;
use crate::{Error, Result, require};

/// Median delays that an answer to a token is waited for, at least.
const ANSWERED: f64 = 4.0;

/// The network between the peers, and what happens to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
#[cfg_attr(feature = "flags", command(next_help_heading = "Network and faults"))]
pub struct NetworkSpec {
    /// Median delay of a message, in milliseconds.
    #[cfg_attr(feature = "flags", arg(long, value_name = "MS", default_value_t = 40.0))]
    pub delay: f64,
    /// How much delays vary: standard deviation of their logarithm; 0 for none.
    #[cfg_attr(feature = "flags", arg(skip = 0.5))]
    pub jitter: f64,
    /// Probability that a message is dropped.
    #[cfg_attr(feature = "flags", arg(long, value_name = "P", default_value_t = 0.0))]
    pub drop: f64,
    /// Probability that a message arrives twice.
    #[cfg_attr(feature = "flags", arg(skip))]
    pub duplicate: f64,
    /// How long a round may last, or who passes a token on waits for an answer, in milliseconds.
    #[cfg_attr(feature = "flags", arg(long, value_name = "MS", default_value_t = 30_000.0))]
    pub timeout: f64,
    /// Peers that stop for good, and when, in milliseconds: PEER@MS, separated by commas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "PEER@MS,...", value_delimiter = ','))]
    pub crashes: Vec<String>,
    /// Peers whose messages take so many times longer: PEER@FACTOR, separated by commas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "PEER@FACTOR,...", value_delimiter = ','))]
    pub slow: Vec<String>,
    /// Go on without neighbours that are not heard in time. What was planned is promised no longer: the run is accounted for as it happened.
    #[cfg_attr(feature = "flags", arg(skip))]
    pub lenient: bool,
}

impl Default for NetworkSpec {
    fn default() -> Self {
        Self {
            delay: 40.0,
            jitter: 0.5,
            drop: 0.0,
            duplicate: 0.0,
            timeout: 30_000.0,
            crashes: Vec::new(),
            slow: Vec::new(),
            lenient: false,
        }
    }
}

impl NetworkSpec {
    /// The network.
    pub fn network(&self) -> Result<Network> {
        let sigma = self.jitter;
        require(sigma.is_finite() && sigma >= 0.0, "jitter", sigma, "give 0 or a positive number")?;
        let median = milliseconds("delay", self.delay)?;
        for (field, p) in [("drop", self.drop), ("duplicate", self.duplicate)] {
            require((0.0..=1.0).contains(&p), field, p, "give a probability from 0 to 1")?;
        }
        let latency =
            if sigma == 0.0 { Latency::Constant(median) } else { Latency::LogNormal { median, sigma } };
        let timeout = Some(milliseconds("timeout", self.timeout)?);
        Ok(Network { latency, drop: self.drop, duplicate: self.duplicate, timeout, ..Network::perfect() })
    }

    /// The network of a token, whose timeout is how long a sender waits for an answer: so that answers mostly come in time.
    pub fn of_walks(&self, graph: &Graph) -> Result<Faulty> {
        let remedy = "it is for rounds, and a token has none; leave it out";
        require(!self.lenient, "lenient", "given", remedy)?;
        let network = self.network()?;
        let least = ANSWERED * self.delay;
        let remedy =
            format!("a token and its answer take two delays; give at least {ANSWERED} of them, {least}");
        require(self.timeout >= least && self.timeout > 0.0, "timeout", self.timeout, remedy)?;
        Ok(Faulty { network, faults: self.faults(graph)? })
    }

    /// What happens to peers.
    pub fn faults(&self, graph: &Graph) -> Result<Faults> {
        let crash = |text: &String| {
            let wrong = || Error::parameter("crashes", text, "give PEER@MILLISECONDS, such as 3@500");
            let (name, time) = text.rsplit_once('@').ok_or_else(wrong)?;
            let time = time.trim().parse().map_err(|_| wrong())?;
            Ok((peer("crashes", name, Some(graph), graph.nodes())?, milliseconds("crashes", time)?))
        };
        let slow = |text: &String| {
            let wrong = || Error::parameter("slow", text, "give PEER@FACTOR, such as 3@10");
            let (name, factor) = text.rsplit_once('@').ok_or_else(wrong)?;
            let factor: f64 = factor.trim().parse().map_err(|_| wrong())?;
            let remedy = "give how many times slower it is: from 1 to 1000";
            require((1.0..=1000.0).contains(&factor), "slow", text, remedy)?;
            Ok((peer("slow", name, Some(graph), graph.nodes())?, factor))
        };
        Ok(Faults {
            crashes: self.crashes.iter().map(crash).collect::<Result<_>>()?,
            stragglers: self.slow.iter().map(slow).collect::<Result<_>>()?,
            ..Faults::default()
        })
    }
}

/// The network under tokens that learn, as far as something is said of it: what is not is as [`NetworkSpec`] has it. (Columns have a `--drop` of their own.)
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
#[cfg_attr(
    feature = "flags",
    command(next_help_heading = "Network and faults (--method walk; default: a perfect network)")
)]
pub struct TokenNetwork {
    /// Median delay of a message, in milliseconds (default: 40).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "MS", value_parser = real, allow_negative_numbers = true))]
    pub delay: Option<f64>,
    /// How much delays vary: standard deviation of their logarithm; 0 for none (default: 0.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true))]
    pub jitter: Option<f64>,
    /// Probability that a message is dropped (default: 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(id = "drop_messages", long = "drop-messages", value_name = "P", value_parser = real, allow_negative_numbers = true))]
    pub drop: Option<f64>,
    /// How long who passes a token on waits for an answer before it is sent again, in milliseconds (default: 30000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "MS", value_parser = real, allow_negative_numbers = true))]
    pub timeout: Option<f64>,
    /// Peers that stop for good, and when, in milliseconds: PEER@MS, separated by commas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "PEER@MS,...", value_delimiter = ','))]
    pub crashes: Vec<String>,
    /// Peers whose messages take so many times longer: PEER@FACTOR, separated by commas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "PEER@FACTOR,...", value_delimiter = ','))]
    pub slow: Vec<String>,
}

impl TokenNetwork {
    /// What is said, by name, if anything is.
    pub fn given(&self) -> Option<(&'static str, String)> {
        let number = |value: Option<f64>| value.map(|value| value.to_string());
        let list = |own: &[String]| (!own.is_empty()).then(|| own.join(","));
        let all = [
            ("delay", number(self.delay)),
            ("jitter", number(self.jitter)),
            ("drop-messages", number(self.drop)),
            ("timeout", number(self.timeout)),
            ("crashes", list(&self.crashes)),
            ("slow", list(&self.slow)),
        ];
        all.into_iter().find_map(|(name, value)| Some((name, value?)))
    }

    /// Whether nothing is.
    pub fn is_none(&self) -> bool {
        self.given().is_none()
    }

    /// The network among the peers of a graph; none where nothing is said: a perfect one.
    pub fn faulty(&self, graph: &Graph) -> Result<Option<Faulty>> {
        if self.is_none() {
            return Ok(None);
        }
        let usual = NetworkSpec::default();
        let whole = NetworkSpec {
            delay: self.delay.unwrap_or(usual.delay),
            jitter: self.jitter.unwrap_or(usual.jitter),
            drop: self.drop.unwrap_or(usual.drop),
            timeout: self.timeout.unwrap_or(usual.timeout),
            crashes: self.crashes.clone(),
            slow: self.slow.clone(),
            ..usual
        };
        whole.of_walks(graph).map(Some)
    }
}

/// A time of at most a year.
fn milliseconds(field: &'static str, value: f64) -> Result<Duration> {
    require((0.0..=3.2e10).contains(&value), field, value, "give milliseconds, 0 or more")?;
    Ok(Duration::from_secs_f64(value / 1000.0))
}
