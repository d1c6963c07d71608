//! Who mixes with whom in an averaging, and the machines of all peers, on whatever they compute with.

use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::{Schedule, Step};
use sottovoce_topology::spectrum::{Spectrum, chebyshev_weight};

use super::check;
use crate::averaging::{Averager, Butterfly, Coupling, Gossip, Noising, Plan, Row, Varying};
use crate::{Peer, Result, Value};

/// A peer of an averaging run.
pub type AveragingPeer<V> = Averager<V, Part>;

/// Who mixes with whom, and how often.
#[derive(Debug, Clone, PartialEq)]
pub enum Scheme {
    /// The same matrix in every round.
    Gossip {
        /// The matrix.
        mixing: Mixing,
        /// Number of rounds.
        rounds: usize,
        /// Whether to accelerate, by the Chebyshev weight of the matrix's spectral gap.
        accelerated: bool,
    },
    /// A schedule of matrices or pairs. Its graphs need not be connected: over time, news gets through.
    Scheduled {
        /// The schedule.
        schedule: Schedule,
        /// Number of rounds.
        rounds: usize,
    },
    /// A schedule of pairs, and for every peer a second value that runs ahead: accelerated randomised gossip.
    Coupled {
        /// The schedule.
        schedule: Schedule,
        /// Number of rounds.
        rounds: usize,
        /// How the two values of a peer lean on each other.
        coupling: Coupling,
    },
    /// Exact averaging in `log2 n` rounds.
    Butterfly {
        /// The peer at each position: a permutation.
        positions: Vec<Peer>,
    },
}

/// One peer's part in a [`Scheme`].
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Of gossip over a fixed row.
    Gossip(Gossip),
    /// Of a schedule.
    Varying(Varying),
    /// Of a butterfly.
    Butterfly(Butterfly),
}

impl Part {
    fn plan(&self) -> &dyn Plan {
        match self {
            Self::Gossip(part) => part,
            Self::Varying(part) => part,
            Self::Butterfly(part) => part,
        }
    }
}

impl Plan for Part {
    fn rounds(&self) -> usize {
        self.plan().rounds()
    }

    fn row(&self, round: usize) -> &Row {
        self.plan().row(round)
    }

    fn conserves_mass(&self) -> bool {
        self.plan().conserves_mass()
    }
}

/// What is true of every run of a scheme: for those who watch one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// Number of rounds.
    pub rounds: usize,
    /// The Chebyshev weight, if accelerated.
    pub gamma: Option<f64>,
    /// Whether every round conserves the sum of all values, and who says nothing keeps its value.
    pub conserves_mass: bool,
    /// Whether peers have a second value: the sum of all values is conserved then, but who says nothing does not keep its value.
    pub coupled: bool,
    /// Whether messages carry noise of their own.
    pub relay: bool,
}

impl Scheme {
    /// Number of peers.
    pub fn peers(&self) -> usize {
        match self {
            Self::Gossip { mixing, .. } => mixing.nodes(),
            Self::Scheduled { schedule, .. } | Self::Coupled { schedule, .. } => schedule.nodes(),
            Self::Butterfly { positions } => positions.len(),
        }
    }

    /// Number of rounds.
    pub fn rounds(&self) -> usize {
        match self {
            Self::Gossip { rounds, .. } | Self::Scheduled { rounds, .. } | Self::Coupled { rounds, .. } => {
                *rounds
            }
            Self::Butterfly { positions } => match positions.len() {
                0 => 0,
                n if n.is_power_of_two() => n.ilog2() as usize,
                n => n.ilog2() as usize + 2,
            },
        }
    }

    /// Refuses a scheme that cannot average.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Gossip { mixing, rounds, .. } => {
                check::rounds(*rounds)?;
                mixing.check()?;
                let remedy = "peers in different parts never hear of each other; add edges";
                Ok(mixing.graph().require_connected(remedy)?)
            }
            Self::Scheduled { schedule, rounds } => check::schedule(schedule, *rounds),
            Self::Coupled { schedule, rounds, coupling } => check::coupled(schedule, *rounds, coupling),
            Self::Butterfly { positions } => check::permutation(positions),
        }
    }

    /// The Chebyshev weight of an accelerated scheme; none where there is nobody to mix with.
    pub fn gamma(&self) -> Result<Option<f64>> {
        match self {
            Self::Gossip { mixing, accelerated: true, .. } if mixing.nodes() > 1 => {
                // A gap of exactly 1 may be computed a rounding error above.
                let gap = Spectrum::of(mixing)?.gap.value.min(1.0);
                Ok(Some(chebyshev_weight(gap)?))
            }
            _ => Ok(None),
        }
    }

    /// The part of every peer.
    pub fn parts(&self) -> Result<Vec<Part>> {
        self.check()?;
        let all = 0..self.peers();
        Ok(match self {
            Self::Gossip { mixing, rounds, .. } => {
                all.map(|peer| Part::Gossip(Gossip::new(Row::of(mixing, peer), *rounds))).collect()
            }
            Self::Scheduled { schedule, rounds } | Self::Coupled { schedule, rounds, .. } => {
                Varying::all(schedule, *rounds).into_iter().map(Part::Varying).collect()
            }
            Self::Butterfly { positions } => Butterfly::all(positions).map(Part::Butterfly).collect(),
        })
    }

    /// The state machine of one peer, which plays this part; `gamma` is that of [`Self::gamma`].
    pub fn peer<V: Value>(
        &self,
        value: V,
        part: Part,
        noising: Noising,
        gamma: Option<f64>,
    ) -> AveragingPeer<V> {
        let plain = Averager::new(value, part, noising, gamma);
        match self {
            Self::Coupled { coupling, .. } => plain.coupled(*coupling),
            _ => plain,
        }
    }

    /// The state machines of all peers; `noising` gives each its noises, and `private` its value.
    pub fn machines<V: Value>(
        &self,
        noising: impl Fn(Peer) -> Noising,
        private: impl Fn(Peer) -> V,
    ) -> Result<Vec<AveragingPeer<V>>> {
        let (parts, gamma) = (self.parts()?, self.gamma()?);
        let machine = |(peer, part)| {
            check::noising(noising(peer))?;
            if matches!(self, Self::Coupled { .. }) {
                check::no_relay(noising(peer))?;
            }
            Ok(self.peer(private(peer), part, noising(peer), gamma))
        };
        parts.into_iter().enumerate().map(machine).collect()
    }

    /// What those who watch a run may rely on.
    pub fn facts(&self, noising: Noising) -> Result<Facts> {
        let coupled = matches!(self, Self::Coupled { .. });
        let conserves_mass = match self {
            Self::Butterfly { positions } => positions.len().is_power_of_two(),
            _ => !coupled,
        };
        let (rounds, gamma) = (self.rounds(), self.gamma()?);
        Ok(Facts { rounds, gamma, conserves_mass, coupled, relay: noising.relay > 0.0 })
    }

    /// Whether `from` has anything to say to `to` in `round`: read from the graph, not from the peers' parts, so that it can
    /// be held against them.
    pub fn may_speak(&self, round: usize, from: Peer, to: Peer) -> bool {
        let known = from.max(to) < self.peers() && from != to && round < self.rounds();
        known
            && match self {
                Self::Gossip { mixing, .. } => mixing.graph().has_edge(from, to),
                Self::Scheduled { schedule, .. } | Self::Coupled { schedule, .. } => {
                    match schedule.step(round) {
                        Some(Step::Mixing(mixing)) => mixing.graph().has_edge(from, to),
                        Some(Step::Pair(u, v)) => (u, v) == (from, to) || (v, u) == (from, to),
                        Some(Step::Idle) | None => false,
                    }
                }
                Self::Butterfly { positions } => partners(positions, round, from, to),
            }
    }
}

/// Whether a butterfly lets `from` speak to `to` in `round`.
fn partners(positions: &[Peer], round: usize, from: Peer, to: Peer) -> bool {
    let place = |peer| positions.iter().position(|&other| other == peer);
    let (Some(a), Some(b)) = (place(from), place(to)) else { return false };
    let core = 1 << positions.len().ilog2();
    let exact = core == positions.len();
    match round.checked_sub(usize::from(!exact)) {
        None => a == b + core,
        Some(bit) if 1 << bit < core => a.max(b) < core && a ^ b == 1 << bit,
        Some(_) => b == a + core,
    }
}
