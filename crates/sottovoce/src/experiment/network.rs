//! What can go wrong between peers, as people write it: milliseconds, probabilities, names.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sottovoce_simulator::network::{Faults, Latency, Network};
use sottovoce_topology::Graph;

use super::graph::peer;
use crate::{Error, Result, require};

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
    #[cfg_attr(feature = "flags", arg(long, value_name = "S", default_value_t = 0.5))]
    pub jitter: f64,
    /// Probability that a message is dropped.
    #[cfg_attr(feature = "flags", arg(long, value_name = "P", default_value_t = 0.0))]
    pub drop: f64,
    /// Probability that a message arrives twice.
    #[cfg_attr(feature = "flags", arg(long, value_name = "P", default_value_t = 0.0))]
    pub duplicate: f64,
    /// How long a round may last, in milliseconds.
    #[cfg_attr(feature = "flags", arg(long, value_name = "MS", default_value_t = 30_000.0))]
    pub timeout: f64,
    /// Peers that stop for good, and when, in milliseconds: PEER@MS, separated by commas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "PEER@MS,...", value_delimiter = ','))]
    pub crashes: Vec<String>,
    /// Go on without neighbours that are not heard in time. What was planned is promised no longer: the run is accounted for as it happened.
    #[cfg_attr(feature = "flags", arg(long))]
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

    /// What happens to peers.
    pub fn faults(&self, graph: &Graph) -> Result<Faults> {
        let crash = |text: &String| {
            let wrong = || Error::parameter("crashes", text, "give PEER@MILLISECONDS, such as 3@500");
            let (name, time) = text.rsplit_once('@').ok_or_else(wrong)?;
            let time = time.trim().parse().map_err(|_| wrong())?;
            Ok((peer("crashes", name, Some(graph), graph.nodes())?, milliseconds("crashes", time)?))
        };
        Ok(Faults { crashes: self.crashes.iter().map(crash).collect::<Result<_>>()?, ..Faults::default() })
    }
}

/// A time of at most a year.
fn milliseconds(field: &'static str, value: f64) -> Result<Duration> {
    require((0.0..=3.2e10).contains(&value), field, value, "give milliseconds, 0 or more")?;
    Ok(Duration::from_secs_f64(value / 1000.0))
}
