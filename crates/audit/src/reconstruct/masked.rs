//! Under masks on a ring: what someone has who sees every message and holds the secrets of some.
//!
//! From the very messages of the machines everybody's first words are taken, from these the masks that the attacker knows, and what is left is added up over each
//! group of honest peers: its sum under its noise. There is nothing else to be had (`docs/theorems/ring.md`, Theorem 1).

use sottovoce_privacy::noise::exact::{ExactNoise, Secret};
use sottovoce_protocol::averaging::{Message, listen};
use sottovoce_protocol::public::{Scheme, Sums};
use sottovoce_protocol::ring::{Agreed, Residues, Ring};
use sottovoce_protocol::{Peer, Value};
use sottovoce_simulator::ring::RingSetup;
use sottovoce_topology::Graph;
use sottovoce_views::door::Setting;
use sottovoce_views::ring::{Masks, groups};

use super::{Prior, Result, require};

/// The release that is attacked: runs have secrets of their own.
const ROUND: u64 = 0;

/// Steps that a share of noise must have, or it varies less than it says.
const LEAST_STEPS: f64 = 2.0;

/// Sums that the attacker can have.
pub(super) struct Sight {
    agreed: Agreed,
    keys: Graph,
    positions: Vec<Peer>,
    coalition: Vec<Peer>,
    /// The honest peers of each group.
    pub(super) groups: Vec<Vec<Peer>>,
    /// How far one person moves a value.
    sensitivity: f64,
}

impl Sight {
    /// Of a setting with masks, for those in increasing order; no value is beyond `farthest`.
    pub(super) fn new(
        setting: &Setting,
        coalition: &[Peer],
        sensitivity: f64,
        farthest: f64,
    ) -> Result<Option<Self>> {
        let (Some(Masks { keys, ring }), Scheme::Butterfly { positions }) = (&setting.masks, &setting.scheme)
        else {
            return Ok(None);
        };
        let Agreed { sigma, step, range, .. } = *ring.agreed();
        let remedy = "noise of so few steps varies less than an attack expects; take a finer grid";
        require(sigma >= LEAST_STEPS * step, "grid", step, remedy)?;
        let range = if farthest > range { farthest } else { range };
        Ok(Some(Self {
            agreed: Agreed { range, ..*ring.agreed() },
            keys: keys.clone(),
            positions: positions.clone(),
            coalition: coalition.to_vec(),
            groups: groups(keys, coalition)?,
            sensitivity,
        }))
    }

    /// A value as it enters a sum.
    pub(super) fn rounded(&self, value: f64) -> f64 {
        let Agreed { step, range, .. } = self.agreed;
        (value.clamp(-range, range) / step).round_ties_even() * step
    }

    /// How far apart the two values of a game are when they enter.
    pub(super) fn gap(&self, Prior { mean, deviation }: Prior) -> f64 {
        self.rounded(mean + deviation) - self.rounded(mean - deviation)
    }

    /// A peer's shares of noise, in units of sigma: the very ones that the protocol was given.
    pub(super) fn shares(&self, seed: u64, peer: Peer, runs: usize) -> Result<Vec<f64>> {
        let ring = self.ring(runs)?;
        let mut noise = ExactNoise::simulated(seed, peer as u64, ROUND);
        let Agreed { step, sigma, .. } = self.agreed;
        Ok((0..runs).map(|_| noise.sample(ring.share()) as f64 * step / sigma).collect())
    }

    /// Coordinates are as many runs.
    fn ring(&self, runs: usize) -> Result<Ring> {
        Ok(Ring::smallest(Agreed { width: runs, ..self.agreed })?)
    }

    /// The sum of each group.
    pub(super) fn sums(&self, seed: u64, values: &[Vec<f64>], runs: usize) -> Result<Vec<Vec<f64>>> {
        let ring = self.ring(runs)?;
        let setup = RingSetup {
            values: values.to_vec(),
            ring: ring.clone(),
            keys: self.keys.clone(),
            sums: Sums::Butterfly { positions: self.positions.clone() },
            sensitivity: self.sensitivity,
            round: ROUND,
        };
        let said = first_words(&setup, seed)?;
        let zero = Residues::new(vec![0; runs], ring.agreed().bits);
        let sum = |group: &Vec<Peer>| {
            let mut sum = zero.clone();
            for &peer in group {
                sum.add(1.0, &said[peer]);
                sum.add(-1.0, &self.known(seed, peer, (runs, ring.agreed().bits)));
            }
            ring.decode(&sum)
        };
        Ok(self.groups.iter().map(sum).collect())
    }

    /// The masks of a peer that the attacker knows.
    fn known(&self, seed: u64, peer: Peer, (runs, bits): (usize, u32)) -> Residues {
        let mut words = vec![0; runs];
        for &member in self.coalition.iter().filter(|&&member| self.keys.has_edge(peer, member)) {
            let secret = Secret::simulated(seed, peer as u64, member as u64);
            if peer < member {
                secret.add(ROUND, &mut words);
            } else {
                secret.subtract(ROUND, &mut words);
            }
        }
        Residues::new(words.into_iter().map(|word| word as i64).collect(), bits)
    }
}

/// What everybody brought in: its first message, without those that it had heard before.
fn first_words(setup: &RingSetup, seed: u64) -> Result<Vec<Residues>> {
    let zero = Residues::new(vec![0; setup.ring.agreed().width], setup.ring.agreed().bits);
    let mut first: Vec<Option<(usize, Residues)>> = vec![None; setup.values.len()];
    let mut heard: Vec<(usize, Peer, Residues)> = Vec::new();
    let hear = |from: Peer, to: Peer, message: &Message<Residues>| {
        if first[from].as_ref().is_none_or(|(round, _)| message.round < *round) {
            first[from] = Some((message.round, message.value.clone()));
        }
        heard.push((message.round, to, message.value.clone()));
    };
    listen(&mut setup.peers()?, &mut setup.noises(seed), hear)?;
    let own = |(peer, first): (Peer, Option<(usize, Residues)>)| {
        let Some((round, mut own)) = first else { return zero.clone() };
        let before = heard.iter().filter(|(earlier, to, _)| *to == peer && *earlier < round);
        before.for_each(|(_, _, value)| own.add(-1.0, value));
        own
    };
    Ok(first.into_iter().enumerate().map(own).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{Claim, Prior, Question};
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    #[test]
    fn the_sum_of_a_group_is_all_that_is_found() {
        // Peers 1 and 7 leave one group of eleven, and know nothing of its parts.
        for (peers, coalition, keys) in [
            (8, vec![], Family::Complete { n: 8 }),
            (13, vec![1, 7], Family::RandomRegular { n: 13, degree: 4 }),
        ] {
            let ring = Ring::fitting(peers, 1, 1.0, 0.5).unwrap();
            let masks = Masks { keys: generate(&keys, 3, true).unwrap(), ring };
            let scheme = Scheme::Butterfly { positions: (0..peers).collect() };
            let setting = Setting { masks: Some(masks), ..Setting::of(scheme) };
            let mut question = Question {
                setting,
                observers: coalition,
                tapped: true,
                sigma: 0.5,
                sensitivity: 1.0,
                prior: Prior { mean: 3.0, deviation: 0.5 },
                values: None,
                runs: 1000,
                seed: 2,
            };
            let findings = question.reconstruct(&Claim::Exact, |_| ()).unwrap();
            assert!(findings.passed(), "{:?}", findings.failed());
            assert!(findings.exposed().is_empty());
            // Half of the loss would not stand.
            let half: Vec<f64> = question.exact().unwrap().losses.iter().map(|loss| 0.5 * loss).collect();
            assert!(!question.reconstruct(&Claim::Given(half), |_| ()).unwrap().passed());
            question.tapped = false;
            question.observers = vec![1];
            assert!(question.reconstruct(&Claim::Exact, |_| ()).is_err());
        }
    }
}
