//! The transcript of an averaging run as a file: all that is public of the run, and what happened, without any value.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Adversary;
use sottovoce_protocol::averaging::{AveragingTranscript, Coupling};
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_protocol::ring::{Agreed, Ring};
use sottovoce_topology::Graph;
use sottovoce_topology::schedule::{Ending, Schedule, Step};
use sottovoce_views::door::{Past, Setting};
use sottovoce_views::exact::Results;
use sottovoce_views::ring::Masks;

use super::{Matrix, SCHEMA_VERSION, SHOWN, astray, differing, unlike};
use crate::averaging::{Public, happens};
use crate::experiment::{self, Experiment, Place, farthest};
use crate::plan::{Distances, Sums};
use crate::{Result, require};

/// A run, as a file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Averaging {
    pub(super) schema_version: u32,
    /// The program's version.
    pub version: String,
    /// The experiment, as its own file would have it.
    pub experiment: String,
    /// The seed of the run.
    pub seed: u64,
    peers: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    names: Option<Vec<String>>,
    edges: Vec<(usize, usize)>,
    scheme: Mixes,
    relay_noise: f64,
    results: Results,
    sigma: f64,
    pub(super) sensitivity: f64,
    delta: f64,
    observers: Vec<usize>,
    /// Public distances by which bounds fall, where hops do not tell them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    distances: Option<Distances>,
    /// Noise that cancels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    cancelling: Option<Pairs>,
    /// Masks on a ring.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    masks: Option<OnRing>,
    transcript: AveragingTranscript,
}

/// Who shares a secret with whom, and how loud the pairs are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pairs {
    kappa: f64,
    keys: Vec<(usize, usize)>,
}

/// Who shares a secret with whom, and what all agreed on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OnRing {
    keys: Vec<(usize, usize)>,
    columns: usize,
    range: f64,
    step: f64,
    bits: u32,
}

impl OnRing {
    fn of(masks: &Masks) -> Self {
        let Agreed { width, range, step, bits, .. } = *masks.ring.agreed();
        Self { keys: masks.keys.edges().collect(), columns: width, range, step, bits }
    }

    fn masks(&self, peers: usize, sigma: f64) -> Result<Masks> {
        let Self { keys, columns, range, step, bits } = self;
        let agreed = Agreed { peers, width: *columns, range: *range, sigma, step: *step, bits: *bits };
        Ok(Masks { keys: Graph::from_edges(peers, keys.iter().copied())?, ring: Ring::new(agreed)? })
    }
}

/// Who mixes with whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Mixes {
    Gossip { matrix: Matrix, rounds: usize, accelerated: bool },
    Sequence { matrices: Vec<Matrix>, rounds: usize },
    Pairs { pairs: Vec<Option<(usize, usize)>>, rounds: usize },
    Coupled { pairs: Vec<Option<(usize, usize)>>, rounds: usize, coupling: Coupling },
    Butterfly { positions: Vec<usize> },
}

impl Mixes {
    fn of(scheme: &Scheme) -> Self {
        match scheme {
            Scheme::Gossip { mixing, rounds, accelerated } => {
                Self::Gossip { matrix: Matrix::of(mixing), rounds: *rounds, accelerated: *accelerated }
            }
            Scheme::Butterfly { positions } => Self::Butterfly { positions: positions.clone() },
            Scheme::Scheduled { schedule, rounds } => {
                let steps = || (0..*rounds).map(|t| schedule.step(t).unwrap_or(Step::Idle));
                if steps().any(|step| matches!(step, Step::Mixing(_))) {
                    let matrix = |step| match step {
                        Step::Mixing(mixing) => Some(Matrix::of(mixing)),
                        Step::Pair(..) | Step::Idle => None,
                    };
                    return Self::Sequence {
                        matrices: steps().filter_map(matrix).collect(),
                        rounds: *rounds,
                    };
                }
                Self::Pairs { pairs: pairs(schedule, *rounds), rounds: *rounds }
            }
            Scheme::Coupled { schedule, rounds, coupling } => {
                Self::Coupled { pairs: pairs(schedule, *rounds), rounds: *rounds, coupling: *coupling }
            }
        }
    }

    fn scheme(&self, peers: usize) -> Result<Scheme> {
        let scheme = match self {
            Self::Gossip { matrix, rounds, accelerated } => {
                Scheme::Gossip { mixing: matrix.mixing()?, rounds: *rounds, accelerated: *accelerated }
            }
            Self::Sequence { matrices, rounds } => {
                let mixings = matrices.iter().map(Matrix::mixing).collect::<Result<_>>()?;
                Scheme::Scheduled { schedule: Schedule::sequence(mixings, Ending::Stop)?, rounds: *rounds }
            }
            Self::Pairs { pairs, rounds } => {
                let schedule = Schedule::exchanges(peers, pairs.iter().copied(), Ending::Stop)?;
                Scheme::Scheduled { schedule, rounds: *rounds }
            }
            Self::Coupled { pairs, rounds, coupling } => {
                let schedule = Schedule::exchanges(peers, pairs.iter().copied(), Ending::Stop)?;
                Scheme::Coupled { schedule, rounds: *rounds, coupling: *coupling }
            }
            Self::Butterfly { positions } => Scheme::Butterfly { positions: positions.clone() },
        };
        scheme.check()?;
        let remedy = "the file is damaged; run again";
        require(scheme.peers() == peers, "scheme", format!("of {} peers", scheme.peers()), remedy)?;
        Ok(scheme)
    }
}

/// The pair of each round, or none.
fn pairs(schedule: &Schedule, rounds: usize) -> Vec<Option<(usize, usize)>> {
    let pair = |t: usize| match schedule.step(t) {
        Some(Step::Pair(u, v)) => Some((u, v)),
        _ => None,
    };
    (0..rounds).map(pair).collect()
}

impl Averaging {
    /// A run of an experiment.
    pub fn new(
        experiment: &Experiment,
        seed: u64,
        public: &Public,
        transcript: AveragingTranscript,
    ) -> Result<Self> {
        let Public { graph, setting, sigma, sensitivity, delta, observers, falling, .. } = public;
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            experiment: experiment.clone().with_seed(seed).to_toml()?,
            seed,
            peers: graph.nodes(),
            names: graph.labels().map(<[String]>::to_vec),
            edges: graph.edges().collect(),
            scheme: Mixes::of(&setting.scheme),
            relay_noise: setting.relay_noise,
            results: setting.results,
            sigma: *sigma,
            sensitivity: *sensitivity,
            delta: *delta,
            observers: observers.clone(),
            distances: falling
                .as_ref()
                .map(|falling| falling.distances().clone())
                .filter(|distances| *distances != Distances::Hops),
            cancelling: setting
                .cancelling
                .as_ref()
                .map(|pairs| Pairs { kappa: pairs.kappa(), keys: pairs.keys().edges().collect() }),
            masks: setting.masks.as_ref().map(OnRing::of),
            transcript,
        })
    }

    /// Refuses numbers that no run has.
    pub(super) fn checked(self) -> Result<Self> {
        for (field, value) in [("sigma", self.sigma), ("sensitivity", self.sensitivity)] {
            require(value.is_finite() && value > 0.0, field, value, "the file is damaged; run again")?;
        }
        let tau = self.relay_noise;
        require(tau.is_finite() && tau >= 0.0, "relay_noise", tau, "the file is damaged; run again")?;
        Ok(self)
    }

    /// All that was public of the run.
    pub fn public(&self) -> Result<Public> {
        let mut graph = Graph::from_edges(self.peers, self.edges.iter().copied())?;
        if let Some(names) = &self.names {
            graph = graph.with_labels(names.clone())?;
        }
        let scheme = self.scheme.scheme(self.peers)?;
        let pairs = |pairs: &Pairs| {
            Ok::<_, crate::Error>(Cancelling::new(
                Graph::from_edges(self.peers, pairs.keys.iter().copied())?,
                pairs.kappa,
            )?)
        };
        let cancelling = self.cancelling.as_ref().map(pairs).transpose()?;
        let masks = self.masks.as_ref().map(|masks| masks.masks(self.peers, self.sigma)).transpose()?;
        let setting =
            Setting { scheme, relay_noise: self.relay_noise, results: self.results, cancelling, masks };
        let Experiment::Averaging(experiment) = Experiment::parse(&self.experiment)? else {
            return Err(astray("the experiment is no averaging"));
        };
        Ok(Public {
            tapper: experiment.tapper(&self.observers),
            graph,
            setting,
            sigma: self.sigma,
            sensitivity: self.sensitivity,
            delta: self.delta,
            observers: self.observers.clone(),
            colluders: experiment.adversary.colluders,
            falling: None,
        })
    }

    /// The run as it happened; refused where peers did not do what was agreed, since then no account holds.
    pub fn past(&self) -> Result<Past> {
        match self.check()?.first() {
            None => self.unjudged(),
            Some(problem) => Err(astray(problem)),
        }
    }

    /// The same of the run that writes the file.
    pub(crate) fn unjudged(&self) -> Result<Past> {
        Ok(Past::new(self.public()?.setting, &self.transcript)?)
    }

    /// Where peers did not do what was agreed: none, or the account of the run is void.
    pub fn check(&self) -> Result<Vec<String>> {
        let Experiment::Averaging(experiment) = Experiment::parse(&self.experiment)? else {
            return Ok(vec!["the experiment is no averaging".to_owned()]);
        };
        let public = self.public()?;
        let mut problems = self.other_terms(&experiment, &public.graph, &public.setting, &public.tapper)?;
        if problems.is_empty() {
            problems = self.other_messages(&experiment, public)?;
        }
        problems.truncate(SHOWN);
        Ok(problems)
    }

    /// Where the run is not the one that follows from the experiment and its seed: what happens to messages depends on no value.
    fn other_messages(&self, experiment: &experiment::Averaging, public: Public) -> Result<Vec<String>> {
        let columns = self.masks.as_ref().map_or(1, |masks| masks.columns);
        let again = match experiment.again(public, columns).and_then(|ready| happens(&ready, self.seed)) {
            Ok(again) => again,
            Err(problem) => return Ok(vec![format!("its experiment cannot have been run so: {problem}")]),
        };
        let told = &self.transcript;
        let all = [
            unlike("release", &told.releases, &again.releases),
            unlike("message", &told.messages, &again.messages),
            unlike("note", &told.notes, &again.notes),
        ];
        Ok(all.into_iter().flatten().collect())
    }

    /// Where what is said of the run is not what its experiment says. The noise that a target asks for is computed anew.
    fn other_terms(
        &self,
        experiment: &experiment::Averaging,
        graph: &Graph,
        setting: &Setting,
        tapper: &Adversary,
    ) -> Result<Vec<String>> {
        experiment.check()?;
        let observers = experiment.adversary.peers(Some(graph), self.peers)?;
        // Of one coordinate; of more it is larger, and how many there are only the values tell.
        let least = experiment.values.sensitivity(1);
        let target = &experiment.target;
        let drawn = experiment.graph.known(self.seed)?.map(|place| place.graph);
        let falling =
            target.by_distance.again(self.distances.as_ref(), drawn.as_ref(), self.peers, target.delta);
        let alike = |drawn: Graph| drawn.nodes() == graph.nodes() && drawn.edges().eq(graph.edges());
        let sigma = match &falling {
            Ok(falling) => experiment.sigma(setting, tapper, self.sensitivity, falling.as_ref(), &|_| ())?,
            Err(_) => self.sigma,
        };
        let again = self.again(experiment, setting, tapper)?;
        let sigma = again.as_ref().map_or(sigma, |ring| ring.agreed().sigma);
        let same = [
            ("relay noise", experiment.noise.relay_noise == self.relay_noise),
            ("noise that cancels", self.is_paired(experiment, graph)?),
            ("ring", again.as_ref() == setting.masks.as_ref().map(|masks| &masks.ring)),
            ("graph of secrets", self.is_masked(experiment, graph)?),
            ("number of columns", self.has_columns(experiment)),
            ("results", experiment.adversary.results == self.results),
            ("seed", experiment.seed == Some(self.seed)),
            ("graph", drawn.is_none_or(alike)),
            ("plan", self.is_planned(experiment, graph)),
            ("distances", falling.is_ok()),
            ("observers", observers == self.observers),
            ("sigma", sigma == self.sigma),
            ("sensitivity", experiment.noise.sensitivity.is_none_or(|given| given == self.sensitivity)),
            ("range of values", self.sensitivity >= least),
            ("delta", experiment.target.delta == self.delta),
        ];
        Ok(differing(&same))
    }

    /// Whether pairs are as loud as the experiment says, and those that it names. What a file said is not known here.
    fn is_paired(&self, experiment: &experiment::Averaging, graph: &Graph) -> Result<bool> {
        let (Some(kappa), Some(pairs)) = (experiment.noise.cancel, &self.cancelling) else {
            return Ok(experiment.noise.cancel.is_none() && self.cancelling.is_none());
        };
        let known = experiment.noise.keys().known(graph, self.seed)?;
        let alike = |keys: Graph| keys.edges().eq(pairs.keys.iter().copied());
        Ok(kappa == pairs.kappa && known.is_none_or(alike))
    }

    /// The ring that the experiment asks for, with the noise that its target does. How many columns there are only the values tell.
    fn again(
        &self,
        experiment: &experiment::Averaging,
        setting: &Setting,
        tapper: &Adversary,
    ) -> Result<Option<Ring>> {
        let (true, Some(masks)) = (experiment.noise.masks, &setting.masks) else { return Ok(None) };
        let width = masks.ring.agreed().width;
        let (range, sensitivity) = (farthest(experiment.values.range), self.sensitivity);
        experiment.ring(&masks.keys, Sums { width, range, sensitivity }, tapper).map(Some)
    }

    /// Whether so many numbers are moved so far, where masks depend on how many there are.
    fn has_columns(&self, experiment: &experiment::Averaging) -> bool {
        let Some(masks) = &self.masks else { return true };
        let bound = experiment.values.sensitivity(masks.columns);
        match experiment.noise.sensitivity {
            Some(_) => self.sensitivity >= bound,
            None => self.sensitivity == bound,
        }
    }

    /// Whether masks are of those pairs that the experiment names.
    fn is_masked(&self, experiment: &experiment::Averaging, graph: &Graph) -> Result<bool> {
        let (true, Some(masks)) = (experiment.noise.masks, &self.masks) else {
            return Ok(!experiment.noise.masks && self.masks.is_none());
        };
        let known = experiment.noise.keys().known(graph, self.seed)?;
        Ok(known.is_none_or(|keys| keys.edges().eq(masks.keys.iter().copied())))
    }

    /// Whether peers mixed as the experiment says: on this graph, with this seed. Of a schedule, whose file is not here, only the number of rounds is known.
    fn is_planned(&self, experiment: &experiment::Averaging, graph: &Graph) -> bool {
        if experiment.graph.schedule.is_some() {
            let steps = experiment.protocol.steps;
            return match &self.scheme {
                Mixes::Sequence { rounds, .. } | Mixes::Pairs { rounds, .. } => {
                    steps.is_none_or(|steps| steps == *rounds)
                }
                _ => false,
            };
        }
        let place = Place {
            graph: graph.clone(),
            schedule: None,
            sha256: None,
            notes: Vec::new(),
            name: String::new(),
        };
        experiment.setting(&place, self.seed).is_ok_and(|setting| Mixes::of(&setting.scheme) == self.scheme)
    }
}
