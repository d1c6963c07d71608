//! Personalised models: whoever hears an agent hears, at most, everything that she released.
//!
//! Her messages are functions of her releases and of what was public before, so that what she loses of a row is the composition of the releases, towards
//! everyone who sees all messages; and towards a neighbour no more (`docs/theorems/personalized.md`).

use sottovoce_privacy::{Accountant, Adjacency, Adversary, Guarantee, Loss, Standing, Unit, limits};
use sottovoce_protocol::{Peer, Release};

use super::{Learnt, Overheard};
use crate::{Error, Result};

/// Agents and what each of them released, in order.
#[derive(Debug, Clone, Copy)]
pub struct Models<'a> {
    /// The releases of each agent; none of those without rows.
    pub releases: &'a [Vec<Release>],
}

/// What is learnt of every agent's rows.
#[derive(Debug, Clone)]
pub struct Released {
    /// The composition of an agent's releases; none where something was not hidden.
    agents: Vec<Option<Accountant>>,
    /// What it comes to, for comparison: at `DELTA`.
    epsilons: Vec<f64>,
}

/// At which losses are compared.
const DELTA: f64 = 1e-6;

impl Overheard for Models<'_> {
    type Learnt = Released;

    fn peers(&self) -> usize {
        self.releases.len()
    }

    fn leakage(&self, observers: &[Peer]) -> Result<Released> {
        if let Some(stranger) = observers.iter().find(|observer| **observer >= self.releases.len()) {
            let remedy = format!("there are {} agents, from 0", self.releases.len());
            return Err(Error::parameter("observers", stranger, remedy));
        }
        self.everything()
    }

    fn everything(&self) -> Result<Released> {
        let mut known: Vec<(Vec<Release>, Option<Accountant>, f64)> = Vec::new();
        let (mut agents, mut epsilons) = (Vec::new(), Vec::new());
        for releases in self.releases {
            // Losses depend on noise over sensitivity alone, and many agents have the same.
            let place = match known.iter().position(|(same, _, _)| alike(same, releases)) {
                Some(place) => place,
                None => {
                    let composed = composed(releases);
                    let epsilon = match &composed {
                        Some(accountant) => accountant.epsilon(DELTA)?.upper,
                        None => f64::INFINITY,
                    };
                    known.push((releases.clone(), composed, epsilon));
                    known.len() - 1
                }
            };
            agents.push(known[place].1.clone());
            epsilons.push(known[place].2);
        }
        Ok(Released { agents, epsilons })
    }

    /// Who misses a message uses an older model, which changes nothing of what she releases, nor how much.
    fn counts_lost_messages(&self) -> bool {
        true
    }
}

fn alike(some: &[Release], others: &[Release]) -> bool {
    let ratio = |release: &Release| (release.scale / release.sensitivity).to_bits();
    some.len() == others.len()
        && some
            .iter()
            .zip(others)
            .all(|(one, other)| (one.law, one.rate) == (other.law, other.rate) && ratio(one) == ratio(other))
}

/// All of an agent's releases; none where one of them hides nothing.
fn composed(releases: &[Release]) -> Option<Accountant> {
    // Sensitivities are those of replacing a row, so that nothing is doubled here.
    let mut accountant = Accountant::new(Adjacency::AddRemove);
    for group in releases.chunk_by(|one, other| one == other) {
        let mechanism = group[0].mechanism().ok().filter(|_| group[0].loss().is_ok())?;
        accountant.compose(mechanism, group.len() as u64).ok()?;
    }
    Some(accountant)
}

impl Released {
    /// What one row of an agent loses at most, at `delta`; 0 without rows, infinite where something was not hidden.
    pub fn epsilon(&self, agent: usize, delta: f64) -> Result<f64> {
        match &self.agents[agent] {
            Some(accountant) if accountant.events().is_empty() => Ok(0.0),
            Some(accountant) => Ok(accountant.epsilon(delta)?.upper),
            None => Ok(f64::INFINITY),
        }
    }
}

impl Released {
    /// Whose rows lose most at `delta`, and how much.
    pub fn largest(&self, delta: f64) -> Result<(usize, f64)> {
        let mut largest = (0, 0.0);
        for agent in 0..self.agents.len() {
            let epsilon = self.epsilon(agent, delta)?;
            // What is no number is no bound.
            let epsilon = if epsilon.is_nan() { f64::INFINITY } else { epsilon };
            largest = if epsilon > largest.1 { (agent, epsilon) } else { largest };
        }
        Ok(largest)
    }
}

impl Learnt for Released {
    fn worst(&self) -> (usize, f64) {
        let mut worst = (0, 0.0);
        for (agent, epsilon) in self.epsilons.iter().enumerate() {
            if *epsilon > worst.1 {
                worst = (agent, *epsilon);
            }
        }
        worst
    }

    /// Releases name their own sensitivities and noises.
    fn guarantee(&self, adversary: &Adversary, u: usize, _: f64, _: f64) -> Result<Guarantee> {
        let Some(accountant) = &self.agents[u] else {
            return Err(Error::parameter(
                "noise",
                0,
                "nothing is hidden, so nothing can be promised; give noise",
            ));
        };
        Ok(Guarantee {
            adversary: adversary.clone(),
            unit: Unit::Record,
            adjacency: Adjacency::Replace,
            loss: Loss::Pld(accountant.clone()),
            standing: Standing::Proven,
            not_covered: limits::of_personal_models(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::door::account;

    #[test]
    fn losses_compose_and_what_is_not_hidden_is_lost() {
        let gaussian = vec![Release::gaussian(0.5, 1.0); 4];
        let same = vec![Release::gaussian(1.0, 2.0); 4];
        let laplace = vec![Release::laplace(1.0, 4.0); 3];
        let releases = [gaussian, same, laplace, Vec::new(), vec![Release::gaussian(1.0, 0.0)]];
        let all = account(&Models { releases: &releases }, &Adversary::WireTapper).unwrap().leakage;
        let one = sottovoce_privacy::Gdp::new(1.0).unwrap().epsilon(1e-5).unwrap().upper;
        assert!((all.epsilon(0, 1e-5).unwrap() - one).abs() < 1e-9 * one);
        assert_eq!(all.epsilon(0, 1e-5).unwrap(), all.epsilon(1, 1e-5).unwrap());
        let pure = all.epsilon(2, 1e-9).unwrap();
        assert!(pure <= 0.75 * (1.0 + 1e-9) && pure > 0.7, "{pure}");
        assert_eq!((all.epsilon(3, 1e-5).unwrap(), all.epsilon(4, 1e-5).unwrap()), (0.0, f64::INFINITY));
        assert_eq!(all.worst().0, 4);
        assert!(all.guarantee(&Adversary::WireTapper, 4, 1.0, 1.0).is_err());
        let promised = account(&Models { releases: &releases }, &Adversary::Peer(1)).unwrap();
        let guarantee = promised.guarantee(0, 1.0, 1.0).unwrap();
        assert_eq!((guarantee.unit, guarantee.adjacency), (Unit::Record, Adjacency::Replace));
        assert!(!guarantee.not_covered.contains(&limits::LOST_MESSAGES.to_owned()));
        assert!(account(&Models { releases: &releases }, &Adversary::Peer(5)).is_err());
    }
}
