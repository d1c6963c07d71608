//! Sums on a ring, under masks that cancel: the peers of an averaging run, on integers (`docs/theorems/ring.md`).
//!
//! Peers, plans and driver are those of every averaging; what differs is what they compute with ([`Residues`]) and what covers it ([`RingNoise`]). Rounds are
//! strict: who misses somebody says nothing more. So whoever vanishes leaves the others without a result, and nobody learns more.

use sottovoce_privacy::noise::exact::{ExactNoise, Secret};
use sottovoce_protocol::averaging::{Averager, Noising, Plan};
use sottovoce_protocol::public::{Sums, check};
use sottovoce_protocol::ring::{Cover, Residues, Ring};
use sottovoce_protocol::{Noise, Peer, Uncovered};
use sottovoce_topology::Graph;

use crate::driver::Simulation;
use crate::network::Network;
use crate::outcome::Outcome;
use crate::record::Coordinates;
use crate::{Error, Result, require};

/// A peer that adds up on the ring.
pub type RingPeer = Averager<Residues, Box<dyn Plan>>;

/// Everything a run on a ring needs.
///
/// ```
/// use sottovoce_protocol::public::Sums;
/// use sottovoce_protocol::ring::Ring;
/// use sottovoce_simulator::{network::Network, ring::RingSetup};
/// use sottovoce_topology::family::{Family, generate};
/// let ring = Ring::fitting(6, 1, 10.0, 1e-3)?; // six peers, one number each, up to 10; noise of 0.001
/// let setup = RingSetup {
///     values: (1..=6).map(|x| vec![f64::from(x)]).collect(),
///     keys: generate(&Family::Complete { n: 6 }, 0, true)?,
///     sums: Sums::Butterfly { positions: (0..6).collect() },
///     sensitivity: 1.0,
///     ring,
///     round: 0,
/// };
/// let outcome = setup.run(Network::perfect(), 7)?;
/// let mean = setup.ring.mean(outcome.finals[3].as_ref().unwrap());
/// assert!((mean[0] - 3.5).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RingSetup {
    /// The private value of each peer.
    pub values: Vec<Vec<f64>>,
    /// What was agreed on.
    pub ring: Ring,
    /// Who shares a secret with whom.
    pub keys: Graph,
    /// Who adds up with whom.
    pub sums: Sums,
    /// How far one person can move a value, in the 2-norm.
    pub sensitivity: f64,
    /// The number of the run's release among all that use the same secrets: no two may share one.
    pub round: u64,
}

impl RingSetup {
    /// Refuses what cannot be run, naming the field, the value and the remedy.
    pub fn check(&self) -> Result<()> {
        check::values(&self.values)?;
        check::noising(self.noising())?;
        let agreed = self.ring.agreed();
        let given = format_args!("{} vectors of {}", self.values.len(), self.values[0].len());
        let remedy =
            format!("the ring was agreed on for {} peers with {} numbers each", agreed.peers, agreed.width);
        require(
            (self.values.len(), self.values[0].len()) == (agreed.peers, agreed.width),
            "values",
            given,
            remedy,
        )?;
        let remedy = format!("give everybody a place: there are {} peers", agreed.peers);
        require(
            self.sums.peers() == agreed.peers,
            "sums",
            format_args!("of {} peers", self.sums.peers()),
            remedy,
        )?;
        let remedy = format!("there are {} peers; secrets with strangers stay in the sum", agreed.peers);
        require(
            self.keys.nodes() == agreed.peers,
            "keys",
            format_args!("of {} peers", self.keys.nodes()),
            remedy,
        )?;
        match (0..agreed.peers).find(|&peer| self.keys.degree(peer) == 0) {
            None => Ok(()),
            Some(alone) => {
                let value = format!("without a secret of peer {alone}");
                Err(Error::parameter(
                    "keys",
                    value,
                    "nothing would mask what it sends; give it a secret with somebody",
                ))
            }
        }
    }

    fn noising(&self) -> Noising {
        Noising { sensitivity: self.sensitivity, local: self.ring.agreed().sigma, relay: 0.0 }
    }

    /// The state machines of all peers, with their values clipped and rounded.
    pub fn peers(&self) -> Result<Vec<RingPeer>> {
        self.check()?;
        let machine = |(value, part): (&Vec<f64>, _)| {
            Ok(Averager::new(self.ring.encode(value)?, part, self.noising(), None))
        };
        self.values.iter().zip(self.sums.parts()?).map(machine).collect()
    }

    /// What covers everybody's value in the run `seed`.
    pub fn noises(&self, seed: u64) -> Vec<RingNoise> {
        (0..self.keys.nodes()).map(|peer| RingNoise::new(self, seed, peer)).collect()
    }

    /// Runs the peers. Their results are sums; [`Ring::mean`] reads them.
    pub fn run(&self, network: Network, seed: u64) -> Result<Outcome<Residues>> {
        Ok(Simulation::new(self.peers()?, self.noises(seed), network, seed)?.run())
    }
}

/// What covers one peer's value: its share of exact noise, and the masks of its pairs. All follow from the seed, and protect nobody.
#[derive(Debug, Clone)]
pub struct RingNoise {
    cover: Cover,
    /// What the ring was agreed on for: other noise is not to be had.
    scale: f64,
    seed: u64,
    peer: Peer,
    round: u64,
}

impl RingNoise {
    fn new(setup: &RingSetup, seed: u64, peer: Peer) -> Self {
        let others = setup.keys.neighbors(peer).iter().map(|&other| other as Peer);
        let secrets = others.map(|other| (other, Secret::simulated(seed, peer as u64, other as u64)));
        let (ring, round) = (setup.ring.clone(), setup.round);
        let scale = ring.agreed().sigma;
        Self { cover: Cover::new(ring, peer, secrets, round.checked_sub(1)), scale, seed, peer, round }
    }
}

impl Noise<Residues> for RingNoise {
    fn draw(&mut self, draw: u64, scale: f64, _: &Residues) -> std::result::Result<Residues, Uncovered> {
        let round = self.round.checked_add(draw).filter(|_| scale == self.scale);
        let round = round.ok_or(Uncovered { draw, scale })?;
        Ok(self.cover.share(&mut ExactNoise::simulated(self.seed, self.peer as u64, round)))
    }

    fn share(&mut self, draw: u64, scale: f64, noise: &mut Residues) -> std::result::Result<(), Uncovered> {
        let round = self.round.checked_add(draw).ok_or(Uncovered { draw, scale })?;
        self.cover.mask(round, noise).map_err(|_| Uncovered { draw, scale })
    }
}

/// A residue is no number: there is nothing to look at.
impl Coordinates for Residues {
    fn coordinates(&self) -> &[f64] {
        &[]
    }
}
