//! Peers average their private values.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sottovoce_fault::brief;
use sottovoce_privacy::Adversary;
use sottovoce_protocol::averaging::Coupling;
use sottovoce_protocol::public::Scheme;
use sottovoce_simulator::network::{Faults, Network};
use sottovoce_simulator::paired::Paired;
use sottovoce_topology::Graph;
use sottovoce_topology::schedule::Schedule;
use sottovoce_topology::spectrum::{Exchanges, Spectrum};
use sottovoce_views::door::{Overheard, Setting, account};
use sottovoce_views::exact::Results;
use sottovoce_views::utility::contraction;

use super::distance::{self, ByDistance};
#[cfg(feature = "flags")]
use super::flags::{count, real};
use super::graph::{GraphSpec, Place, peer};
use super::keys::{self, Keys};
use super::masks::farthest;
use super::network::NetworkSpec;
use super::values::{Values, ValuesSpec, check_sensitivity};
use super::walk::WalkSpec;
use crate::averaging::Public;
use crate::plan::row::up;
use crate::plan::target::mu_squared_at;
use crate::plan::{Falling, Sums};
use crate::{Error, Result, require};

/// Epsilon where neither noise nor epsilon is given.
const DEFAULT_EPSILON: f64 = 4.0;
/// Most relay noise: what is added to a message must leave digits of the message.
const MOST_RELAY_NOISE: f64 = 1e6;
/// Most that a value may be moved, in units of its noise: beyond, there is nothing to account for.
const MOST_MU: f64 = 1e4;
/// Most rounds of a run.
const MOST_STEPS: usize = 1_000_000;
/// Rounds looked for, where none are given.
const MOST_ROUNDS: usize = 10_000;

/// Averaging: who speaks to whom, how, with what noise, about what, over which network, and who listens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct Averaging {
    /// What the report is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub title: Option<String>,
    /// Seed of everything random, where the command line gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub seed: Option<u64>,
    /// Runs with so many seeds, from the first on, over which errors are given (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "K"))]
    pub seeds: Option<usize>,
    /// Who can speak to whom.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub graph: GraphSpec,
    /// How the mean is found.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub protocol: MixingSpec,
    /// Tokens, where some walk.
    #[serde(skip_serializing_if = "WalkSpec::is_none")]
    #[cfg_attr(feature = "flags", command(flatten))]
    pub walk: WalkSpec,
    /// Under which noise.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub noise: NoiseSpec,
    /// What is averaged.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub values: ValuesSpec,
    /// Over which network.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub network: NetworkSpec,
    /// Who listens.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub adversary: AdversarySpec,
    /// What may be lost.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub target: TargetSpec,
}

/// How the mean is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Method {
    /// Every round everyone mixes with its neighbours, over a graph or a schedule.
    #[default]
    Gossip,
    /// The same, accelerated by the graph's spectral gap.
    Accelerated,
    /// One pair of neighbours at a time, by a public schedule that is drawn beforehand.
    Randomised,
    /// The same, accelerated by a second value that every peer keeps.
    AcceleratedRandomised,
    /// Exact averaging in about log2 n rounds, among partners of its own, whatever the graph.
    Butterfly,
    /// Tokens that go from neighbour to neighbour and average what their holders add.
    Walk,
}

impl Method {
    /// As it is written.
    fn name(self) -> &'static str {
        match self {
            Self::Gossip => "gossip",
            Self::Accelerated => "accelerated",
            Self::Randomised => "randomised",
            Self::AcceleratedRandomised => "accelerated-randomised",
            Self::Butterfly => "butterfly",
            Self::Walk => "walk",
        }
    }
}

/// How the mean is found, and how long it takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct MixingSpec {
    /// What the peers do.
    #[cfg_attr(feature = "flags", arg(long = "protocol", value_enum, default_value = "gossip"))]
    pub method: Method,
    /// Rounds of gossip, or steps of each token (default: until values differ no more than their noise; a schedule and a butterfly have their own number;
    /// ten contributions of each peer on average).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "T", value_parser = count, allow_negative_numbers = true))]
    pub steps: Option<usize>,
}

/// The noises.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct NoiseSpec {
    /// Standard deviation of the noise on a private value (default: what the target asks for).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "SIGMA", value_parser = real, allow_negative_numbers = true))]
    pub sigma: Option<f64>,
    /// Fresh noise on every message, as a share of sigma.
    #[cfg_attr(feature = "flags", arg(long, value_name = "SHARE", default_value = "0", value_parser = real, allow_negative_numbers = true))]
    pub relay_noise: f64,
    /// How far one person can move a peer's value (default: the whole range, in every column).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "DELTA", value_parser = real, allow_negative_numbers = true))]
    pub sensitivity: Option<f64>,
    /// Noise that cancels: each two peers who share a secret add and subtract a Gaussian of so many sigmas.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "KAPPA", value_parser = real, allow_negative_numbers = true))]
    pub cancel: Option<f64>,
    /// Masks that cancel, instead: each two peers who share a secret add and subtract a uniform number on a ring of integers, and noise is exact (with a butterfly).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "flags", arg(long))]
    pub masks: bool,
    /// With masks, the step of the public grid that values are rounded to: a power of two (default: one on which rounding costs next to nothing).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub grid: Option<f64>,
    /// Who shares a secret with whom: graph, complete, regular:K (K partners each, drawn), or a file with a graph of the same peers (default: complete).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "KEYS"))]
    pub keys: Option<Keys>,
}

/// Who listens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct AdversarySpec {
    /// Peers who pool what they hear, by name, separated by commas (default: each peer by itself; the first is attacked).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "V,...", value_delimiter = ','))]
    pub observers: Vec<String>,
    /// So many peers, whoever they are, may tell someone who sees every message all they know (with noise or masks that cancel).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true))]
    pub colluders: Option<usize>,
    /// What becomes of the results: kept, or published and so known to the observers.
    #[cfg_attr(feature = "flags", arg(long, value_name = "kept|published", default_value = "kept"))]
    pub results: Results,
}

impl AdversarySpec {
    /// The peers who pool what they hear, among so many.
    pub fn peers(&self, graph: Option<&Graph>, peers: usize) -> Result<Vec<usize>> {
        let numbers = self.observers.iter().map(|name| peer("observers", name, graph, peers));
        let mut all = numbers.collect::<Result<Vec<usize>>>()?;
        all.sort_unstable();
        all.dedup();
        let remedy = "nobody is left to lose anything; leave one out";
        require(all.len() < peers, "observers", format!("all {peers} peers"), remedy)?;
        Ok(all)
    }
}

/// Towards whom a target holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Against {
    /// Any one peer.
    #[default]
    WorstPeer,
    /// Someone who sees every message, and with noise or masks that cancel knows all that observers or colluders know.
    WireTapper,
}

/// What may be lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
#[cfg_attr(feature = "flags", command(next_help_heading = "Target"))]
pub struct TargetSpec {
    /// Epsilon that a peer's value may lose, where sigma is not given (default: 4 towards someone who sees every message).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "EPS", value_parser = real, allow_negative_numbers = true))]
    pub epsilon: Option<f64>,
    /// Probability with which epsilons may fail.
    #[cfg_attr(feature = "flags", arg(long, value_name = "DELTA", default_value = "1e-5", value_parser = real, allow_negative_numbers = true))]
    pub delta: f64,
    /// To whom, where the noise is to be found (default: worst-peer; with noise or masks that cancel, or without --epsilon, wire-tapper).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_enum))]
    pub against: Option<Against>,
    /// Bounds of each pair that fall with a public distance.
    #[serde(skip_serializing_if = "ByDistance::is_none")]
    #[cfg_attr(feature = "flags", command(flatten))]
    pub by_distance: ByDistance,
}

impl TargetSpec {
    /// The epsilon that is aimed at.
    pub fn epsilon(&self) -> f64 {
        self.epsilon.unwrap_or(DEFAULT_EPSILON)
    }
}

impl Default for TargetSpec {
    fn default() -> Self {
        Self { epsilon: None, delta: 1e-5, against: None, by_distance: ByDistance::default() }
    }
}

/// An averaging that can be run: every file read, every default filled in, every noise known.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// The experiment.
    pub experiment: Averaging,
    /// The graph.
    pub place: Place,
    /// Who mixes with whom, under which relay noise.
    pub setting: Setting,
    /// What is averaged.
    pub values: Values,
    /// How far one person can move a peer's vector.
    pub sensitivity: f64,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// Peers who pool what they hear.
    pub observers: Vec<usize>,
    /// Someone who sees every message, with those who help.
    pub tapper: Adversary,
    /// The network.
    pub network: Network,
    /// What happens to peers.
    pub faults: Faults,
    /// Bounds that fall with a public distance.
    pub falling: Option<Falling>,
}

impl Averaging {
    /// A run whose values are not known, as far as it is public: everybody holds zeros.
    pub(crate) fn again(&self, public: Public, columns: usize) -> Result<Ready> {
        let Public { graph, setting, sigma, sensitivity, observers, tapper, .. } = public;
        let (network, faults) = (self.network.network()?, self.network.faults(&graph)?);
        let values = Values::zeros(graph.nodes(), columns);
        let place = Place { graph, schedule: None, sha256: None, notes: Vec::new(), name: String::new() };
        let (experiment, falling) = (self.clone(), None);
        Ok(Ready {
            experiment,
            place,
            setting,
            values,
            sensitivity,
            sigma,
            observers,
            tapper,
            network,
            faults,
            falling,
        })
    }

    /// Reads what the experiment names. `folder` is where relative names begin; `progress` hears of observers whose losses were found.
    pub fn ready(&self, folder: &Path, seed: u64, progress: &(dyn Fn(usize) + Sync)) -> Result<Ready> {
        self.check()?;
        let place = self.graph.place(folder, seed)?;
        let mut setting = self.setting(&place, seed)?;
        setting.cancelling = self.noise.cancelling(folder, &place.graph, seed)?;
        let observers = self.adversary.peers(Some(&place.graph), place.graph.nodes())?;
        let values = self.values.read(folder, &place.graph, seed)?;
        let bound = self.values.sensitivity(values.columns.len());
        let sensitivity = self.noise.sensitivity.unwrap_or(bound);
        check_sensitivity(sensitivity, bound)?;
        let (network, faults) = (self.network.network()?, self.network.faults(&place.graph)?);
        let falling = self.target.by_distance.falling(folder, &place.graph, self.target.delta)?;
        let tapper = self.tapper(&observers);
        let sums = Sums { width: values.columns.len(), range: farthest(self.values.range), sensitivity };
        setting.masks = self.masks((folder, &place.graph, seed), sums, &tapper)?;
        let sigma = self.sigma(&setting, &tapper, sensitivity, falling.as_ref(), progress)?;
        let experiment = self.clone();
        Ok(Ready {
            experiment,
            place,
            setting,
            values,
            sensitivity,
            sigma,
            observers,
            tapper,
            network,
            faults,
            falling,
        })
    }

    /// Refuses what can be seen to be wrong before anything is read: numbers that are none, and fields that go with no other.
    pub fn check(&self) -> Result<()> {
        let delta = self.target.delta;
        require(delta > 0.0 && delta < 1.0, "delta", delta, "give a number between 0 and 1")?;
        distance::check(&self.target)?;
        self.check_walk()?;
        self.check_masks()?;
        if !self.noise.masks {
            keys::check(self.noise.cancel, self.noise.keys.as_ref(), self.adversary.colluders)?;
        }
        if let Some(colluders) = self.adversary.colluders {
            let remedy = "observers are given, too; give one of them";
            require(self.adversary.observers.is_empty(), "colluders", colluders, remedy)?;
        }
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if let Some(sensitivity) = self.noise.sensitivity {
            require(positive(sensitivity), "sensitivity", sensitivity, "give a positive number")?;
        }
        let share = self.noise.relay_noise;
        let remedy = format!("give 0 or a positive number (a share of sigma), at most {MOST_RELAY_NOISE:e}");
        require((0.0..=MOST_RELAY_NOISE).contains(&share), "relay-noise", share, remedy)?;
        if self.protocol.method == Method::AcceleratedRandomised {
            let remedy =
                "accelerated randomised gossip has no noise on messages; leave it out, or take randomised";
            require(share == 0.0, "relay-noise", share, remedy)?;
        }
        let Some(sigma) = self.noise.sigma else { return Ok(()) };
        let remedy = "give a positive number; without noise nothing is private";
        require(positive(sigma), "sigma", sigma, remedy)?;
        if let Some(epsilon) = self.target.epsilon {
            let remedy = format!("sigma is given too ({sigma}); give one of them");
            return Err(Error::parameter("epsilon", epsilon, remedy));
        }
        let remedy = format!(
            "sigma is given ({sigma}), and no noise is to be found; leave it out, or give epsilon instead of sigma"
        );
        require(self.target.against.is_none(), "against", "given", remedy)
    }

    /// Who mixes with whom.
    pub fn setting(&self, place: &Place, seed: u64) -> Result<Setting> {
        let scheme = self.scheme(place, seed)?;
        scheme.check()?;
        Ok(Setting {
            scheme,
            relay_noise: self.noise.relay_noise,
            results: self.adversary.results,
            cancelling: None,
            masks: None,
        })
    }

    fn scheme(&self, place: &Place, seed: u64) -> Result<Scheme> {
        let steps = self.protocol.steps;
        require(steps != Some(0), "steps", 0, "give at least 1")?;
        if let Some(many) = steps.filter(|steps| *steps > MOST_STEPS) {
            return Err(Error::parameter("steps", many, format!("give at most {MOST_STEPS}")));
        }
        match (self.protocol.method, &place.schedule) {
            (Method::Walk, _) => {
                let remedy = "a token has no rounds: `run` walks it, `account` accounts for its way, and `account walk` for any that it may take";
                Err(Error::parameter("protocol", "walk", remedy))
            }
            (Method::Butterfly, None)
                if self.graph.base.weights.is_some() || self.graph.base.lazy.is_some() =>
            {
                let field = if self.graph.base.weights.is_some() { "weights" } else { "lazy" };
                let remedy =
                    "a butterfly has weights of its own, and of a graph takes the peers alone; leave it out";
                Err(Error::parameter(field, "given", remedy))
            }
            (Method::Butterfly, None) => {
                if let Some(steps) = steps {
                    let remedy = "a butterfly has its own number of rounds; leave it out";
                    return Err(Error::parameter("steps", steps, remedy));
                }
                Ok(Scheme::Butterfly { positions: (0..place.graph.nodes()).collect() })
            }
            (Method::Gossip, Some(schedule)) => {
                let rounds = steps.unwrap_or(schedule.period());
                Ok(Scheme::Scheduled { schedule: schedule.clone(), rounds })
            }
            (other, Some(_)) => {
                let remedy = "only gossip goes by a schedule; leave the schedule out, or take gossip";
                Err(Error::parameter("protocol", other.name(), remedy))
            }
            (method @ (Method::Randomised | Method::AcceleratedRandomised), None) => {
                let mixing = self.graph.base.exchanging(&place.graph)?;
                let missing = || Error::missing("steps", "give the number of exchanges of pairs");
                let rounds = steps.ok_or_else(missing)?;
                let schedule = Schedule::randomised(&mixing, rounds, seed)?;
                if method == Method::Randomised {
                    return Ok(Scheme::Scheduled { schedule, rounds });
                }
                let Exchanges { rate, resistance } = Exchanges::of(&mixing)?;
                Ok(Scheme::Coupled { schedule, rounds, coupling: Coupling::new(rate, resistance) })
            }
            (method, None) => {
                let mixing = self.graph.base.mixing(&place.graph)?;
                let accelerated = method == Method::Accelerated;
                let rounds = match steps {
                    Some(steps) => steps,
                    None => {
                        let nodes = place.graph.nodes() as f64;
                        // Pairs are as loud as `1 + kappa² n` own noises, at most.
                        let loud = self.noise.cancel.map_or(1.0, |kappa| 1.0 + kappa * kappa * nodes);
                        rounds(Spectrum::of(&mixing)?.gap.lower(), nodes * loud, accelerated)?
                    }
                };
                Ok(Scheme::Gossip { mixing, rounds, accelerated })
            }
        }
    }

    /// Towards whom the target holds.
    pub fn against(&self) -> Against {
        // Where nothing is asked for, what holds towards everybody, and takes no look at all pairs.
        let everybody = self.noise.shares_secrets() || self.target.epsilon.is_none();
        let usual = if everybody { Against::WireTapper } else { Against::WorstPeer };
        self.target.against.unwrap_or(usual)
    }

    /// Someone who sees every message, with those who help: whoever helps knows nothing more unless there are secrets.
    pub fn tapper(&self, observers: &[usize]) -> Adversary {
        match (self.noise.shares_secrets(), self.adversary.colluders) {
            (false, _) => Adversary::WireTapper,
            (true, Some(colluders)) => Adversary::WireTapperWithAny(colluders),
            // Every peer holds secrets of its own.
            (true, None) if observers.is_empty() => Adversary::WireTapperWithAny(1),
            (true, None) => Adversary::WireTapperWith(observers.to_vec()),
        }
    }

    /// The noise, if it is given.
    pub(super) fn given(&self, sensitivity: f64) -> Result<Option<f64>> {
        let Some(sigma) = self.noise.sigma else { return Ok(None) };
        let least = sensitivity / MOST_MU;
        let remedy = format!(
            "it hides nothing of a value that one person can move by {}; give at least {}",
            brief(sensitivity.to_string()),
            brief(least.to_string())
        );
        require(sigma >= least, "sigma", sigma, remedy)?;
        Ok(Some(sigma))
    }

    /// The noise: as given, or the least that the target allows. That of masks was found with their ring.
    pub fn sigma(
        &self,
        setting: &Setting,
        tapper: &Adversary,
        sensitivity: f64,
        falling: Option<&Falling>,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<f64> {
        if let Some(masks) = &setting.masks {
            return Ok(masks.ring.agreed().sigma);
        }
        if let Some(sigma) = self.given(sensitivity)? {
            return Ok(sigma);
        }
        let by_distance = match falling {
            Some(falling) => falling.share(&setting.graph()?, &setting.leakages(&|_| ())?)?,
            None => 0.0,
        };
        if falling.is_some() && self.target.epsilon.is_none() {
            return Ok(up(sensitivity * by_distance.sqrt() * (1.0 + 1e-9)));
        }
        let mu_squared = mu_squared_at(self.target.epsilon(), self.target.delta)?;
        let worst = |most: f64, loss: f64| if loss > most { loss } else { most };
        let each = match self.against() {
            Against::WireTapper => vec![account(setting, tapper)?.leakage],
            Against::WorstPeer => setting.leakages(progress)?,
        };
        // A hair more: rounding is added to a loss that becomes a guarantee.
        let most = each.iter().map(|one| one.worst().1 + one.rounding).fold(0.0, worst) + 2e-9;
        let loss = if most < 1.0 { most } else { 1.0 };
        // Both targets hold together.
        let needed = loss / mu_squared;
        let needed = if needed > by_distance { needed } else { by_distance };
        Ok(up(sensitivity * needed.sqrt() * (1.0 + 1e-9)))
    }
}

impl Ready {
    /// Number of peers.
    pub fn peers(&self) -> usize {
        self.setting.peers()
    }

    /// Everybody's noise in the run of a seed.
    pub fn noises(&self, seed: u64) -> Vec<Paired> {
        Paired::all(seed, self.peers(), self.setting.cancelling.as_ref())
    }

    /// Standard deviation of the relay noise.
    pub fn tau(&self) -> f64 {
        self.setting.relay_noise * self.sigma
    }

    /// The name of a peer.
    pub fn name(&self, peer: usize) -> String {
        self.place.graph.label(peer).to_string()
    }

    /// Names of all peers, where the graph has names.
    pub fn names(&self) -> Option<Vec<String>> {
        self.place.graph.labels().map(<[String]>::to_vec)
    }
}

/// Rounds after which what is left of the values' spread, or of louder noise, is no more than what averaged noise leaves.
pub(super) fn rounds(gap: f64, loudness: f64, accelerated: bool) -> Result<usize> {
    let gap = if accelerated { gap.max(0.0).sqrt() } else { gap };
    let enough = 1.0 / loudness;
    let remedy = "the graph does not mix, or too slowly; give --steps, or other --weights (metropolis-plus-one, or --lazy 0.1)";
    let found = (1..MOST_ROUNDS).find(|&t| contraction(gap, t) <= enough);
    found.ok_or_else(|| Error::parameter("steps", "missing", remedy))
}
