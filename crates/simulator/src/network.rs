//! What can go wrong between peers and with them: the network's delays and drops, and the peers' faults.
//!
//! The fate of a sender's `k`-th message is a function of `(seed, sender, k)`: no other peer's messages and no order of events
//! changes it.

use std::time::Duration;

use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use serde::{Deserialize, Serialize};
use sottovoce_privacy::noise::simulation::{Seed, SimulationRng, Stream};
use sottovoce_protocol::Peer;

use crate::{Error, Result, require};

/// How long a message travels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Latency {
    /// Always as long.
    Constant(Duration),
    /// Anything between the two.
    Uniform(Duration, Duration),
    /// Without memory, with this mean.
    Exponential(Duration),
    /// A long tail, as on the Internet.
    LogNormal {
        /// Half of all messages are faster.
        median: Duration,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Latency {
    fn draw(&self, rng: &mut SimulationRng) -> f64 {
        match *self {
            Self::Constant(time) => time.as_secs_f64(),
            Self::Uniform(from, to) => {
                from.as_secs_f64() + (to.as_secs_f64() - from.as_secs_f64()) * rng.random::<f64>()
            }
            Self::Exponential(mean) => mean.as_secs_f64() * Distribution::<f64>::sample(&Exp1, rng),
            Self::LogNormal { median, sigma } => {
                median.as_secs_f64() * (sigma * Distribution::<f64>::sample(&StandardNormal, rng)).exp()
            }
        }
    }

    fn check(&self) -> Result<()> {
        match *self {
            Self::Uniform(from, to) if from > to => Err(Error::parameter(
                "latency",
                format!("uniform from {from:?} to {to:?}"),
                "exchange the two",
            )),
            Self::LogNormal { sigma, .. } if !(sigma.is_finite() && sigma >= 0.0) => {
                let remedy = "give the standard deviation of the logarithm: finite, zero or more";
                Err(Error::parameter("latency", format!("log-normal with sigma {sigma}"), remedy))
            }
            _ => Ok(()),
        }
    }
}

/// The network between the peers. Messages overtake each other wherever latencies vary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// How long a message travels.
    pub latency: Latency,
    /// Probability that a message is dropped.
    pub drop: f64,
    /// Probability that a message arrives twice, the second time after a latency of its own.
    pub duplicate: f64,
    /// Probability that a message is held up by [`Self::hold`] more, and overtaken.
    pub reorder: f64,
    /// How long it is then held up.
    pub hold: Duration,
    /// How long a round may last: a peer waits for its neighbours in round `r` until `r + 1` times this after the start of the run,
    /// and at least this long after it opened the round. `None`: for ever.
    pub timeout: Option<Duration>,
}

impl Network {
    /// Every message arrives once, after a millisecond.
    pub fn perfect() -> Self {
        Self {
            latency: Latency::Constant(Duration::from_millis(1)),
            drop: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            hold: Duration::ZERO,
            timeout: None,
        }
    }

    /// Refuses what is no network.
    pub fn check(&self) -> Result<()> {
        for (field, p) in [("drop", self.drop), ("duplicate", self.duplicate), ("reorder", self.reorder)] {
            require((0.0..=1.0).contains(&p), field, p, "give a probability from 0 to 1")?;
        }
        self.latency.check()
    }

    /// Delays after which copies of a sender's `number`-th message arrive: none, one or two.
    pub(crate) fn fate(&self, seed: u64, sender: Peer, number: u64, slowness: f64) -> [Option<u64>; 2] {
        let mut rng = Seed(seed).stream(Stream::Fate, sender as u64, number);
        // All are drawn whatever the parameters, so that changing one of them leaves the others' draws alone.
        let [lost, twice, held] = [self.drop, self.duplicate, self.reorder].map(|p| rng.random::<f64>() < p);
        let hold = if held { self.hold.as_secs_f64() } else { 0.0 };
        let [first, second] = [0, 1].map(|_| self.latency.draw(&mut rng));
        let copies = [(!lost).then_some(first + hold), (!lost && twice).then_some(second)];
        // A float too large for nanoseconds saturates: such a message arrives after every deadline.
        copies.map(|copy| copy.map(|seconds| (seconds * slowness * 1e9).round() as u64))
    }
}

/// A time during which a peer does nothing, counted from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// Who.
    pub peer: Peer,
    /// Since when.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
}

/// What happens to peers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Faults {
    /// Who stops for good, and when. Messages already sent still arrive.
    pub crashes: Vec<(Peer, Duration)>,
    /// Who sleeps: a suspended process, whose transport keeps what arrives. Messages are queued, and dealt with on waking, in order.
    pub pauses: Vec<Absence>,
    /// Who leaves the network and returns (churn): nobody keeps its mail, and messages that arrive meanwhile are lost. Its own timers
    /// wait for it.
    pub departures: Vec<Absence>,
    /// Whose messages take so many times longer (a slow uplink or processor).
    pub stragglers: Vec<(Peer, f64)>,
}

impl Faults {
    /// Refuses what cannot happen among so many peers.
    pub fn check(&self, peers: usize) -> Result<()> {
        let absent = || self.pauses.iter().chain(&self.departures);
        let named = (self.crashes.iter().map(|&(peer, _)| peer))
            .chain(absent().map(|absence| absence.peer))
            .chain(self.stragglers.iter().map(|&(peer, _)| peer));
        if let Some(stranger) = named.into_iter().find(|&peer| peer >= peers) {
            let remedy = format!("there are {peers} peers, from 0");
            return Err(Error::parameter("faults", format!("about peer {stranger}"), remedy));
        }
        if let Some(absence) = absent().find(|absence| absence.from >= absence.until) {
            let value = format!("from {:?} until {:?}", absence.from, absence.until);
            return Err(Error::parameter("faults", value, "an absence must end after it begins"));
        }
        if let Some((peer, factor)) =
            self.stragglers.iter().find(|(_, factor)| !(factor.is_finite() && *factor > 0.0))
        {
            let value = format!("a factor {factor} of peer {peer}");
            let remedy = "give how many times slower it is: positive and finite";
            return Err(Error::parameter("faults", value, remedy));
        }
        Ok(())
    }
}

/// Nanoseconds; beyond the range (584 years) it is as good as never.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn mean_seconds(latency: Latency) -> f64 {
        let network = Network { latency, ..Network::perfect() };
        let delay = |k| network.fate(5, 1, k, 1.0)[0].unwrap() as f64 / 1e9;
        (0..20_000).map(delay).sum::<f64>() / 20_000.0
    }

    #[test]
    fn latencies_have_their_means() {
        // Seeds are fixed; ten standard errors are 7 % at most.
        let cases = [
            (Latency::Constant(SECOND), 1.0),
            (Latency::Uniform(SECOND, 3 * SECOND), 2.0),
            (Latency::Exponential(2 * SECOND), 2.0),
            (Latency::LogNormal { median: SECOND, sigma: 0.5 }, 0.125f64.exp()),
        ];
        for (latency, mean) in cases {
            assert!((mean_seconds(latency) / mean - 1.0).abs() < 0.07, "{latency:?}");
        }
    }

    #[test]
    fn copies_come_at_their_rates() {
        let network = Network { drop: 0.3, duplicate: 0.2, ..Network::perfect() };
        let fates: Vec<_> = (0..20_000).map(|k| network.fate(5, 1, k, 1.0)).collect();
        let share = |test: &dyn Fn(&[Option<u64>; 2]) -> bool| {
            fates.iter().filter(|fate| test(fate)).count() as f64 / 20_000.0
        };
        // Five standard errors are 0.016.
        assert!((share(&|fate| fate[0].is_none()) - 0.3).abs() < 0.016);
        assert!((share(&|fate| fate[1].is_some()) - 0.7 * 0.2).abs() < 0.016);
        assert!(fates.iter().all(|fate| fate[0].is_some() || fate[1].is_none()));
    }

    #[test]
    fn stragglers_and_held_messages_are_slow() {
        let network = Network { reorder: 1.0, hold: SECOND, ..Network::perfect() };
        assert_eq!(network.fate(1, 0, 0, 1.0)[0], Some(1_001_000_000));
        assert_eq!(network.fate(1, 0, 0, 2.0)[0], Some(2_002_000_000));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let perfect = Network::perfect();
        for network in [
            Network { drop: 1.5, ..perfect },
            Network { duplicate: -0.1, ..perfect },
            Network { reorder: f64::NAN, ..perfect },
            Network { latency: Latency::Uniform(2 * SECOND, SECOND), ..perfect },
            Network { latency: Latency::LogNormal { median: SECOND, sigma: -1.0 }, ..perfect },
        ] {
            assert!(network.check().is_err(), "{network:?}");
        }
        perfect.check().unwrap();
        let absence = Absence { peer: 0, from: SECOND, until: SECOND };
        for faults in [
            Faults { crashes: vec![(3, SECOND)], ..Faults::default() },
            Faults { pauses: vec![absence], ..Faults::default() },
            Faults {
                departures: vec![Absence { peer: 3, from: Duration::ZERO, until: SECOND }],
                ..Faults::default()
            },
            Faults { stragglers: vec![(1, 0.0)], ..Faults::default() },
        ] {
            assert!(faults.check(3).is_err(), "{faults:?}");
        }
    }
}
