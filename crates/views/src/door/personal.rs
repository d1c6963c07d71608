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
    /// Compositions of releases, each once; none where something was not hidden.
    kinds: Vec<Option<Accountant>>,
    /// Which of them each agent made.
    kind: Vec<usize>,
    /// What they come to at `DELTA`, for comparison.
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
        let mut known: Vec<Vec<Release>> = Vec::new();
        let mut kind = Vec::new();
        for releases in self.releases {
            let releases: Vec<Release> = releases.iter().map(relative).collect();
            kind.push(known.iter().position(|same| *same == releases).unwrap_or(known.len()));
            if kind.last() == Some(&known.len()) {
                known.push(releases);
            }
        }
        let mut learnt =
            Released { kinds: known.iter().map(|all| composed(all)).collect(), kind, epsilons: Vec::new() };
        learnt.epsilons = learnt.epsilons(DELTA)?;
        Ok(learnt)
    }

    /// Who misses a message uses an older model, which changes nothing of what she releases, nor how much.
    fn counts_lost_messages(&self) -> bool {
        true
    }
}

/// The same release in units of its sensitivity, with noise cut to forty digits: agents whose noise differs by roundings alone are accounted for once.
fn relative(release: &Release) -> Release {
    let ratio = release.scale / release.sensitivity;
    if !(ratio > 0.0 && ratio.is_finite()) {
        return *release;
    }
    Release { sensitivity: 1.0, scale: f64::from_bits(ratio.to_bits() & !0xfff), ..*release }
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
    /// What one row of each agent loses at most, at `delta`; 0 without rows, infinite where something was not hidden.
    pub fn epsilons(&self, delta: f64) -> Result<Vec<f64>> {
        let of_kind = |kind: &Option<Accountant>| match kind {
            Some(accountant) if accountant.events().is_empty() => Ok(0.0),
            Some(accountant) => Ok(accountant.epsilon(delta)?.upper),
            None => Ok(f64::INFINITY),
        };
        let all = self.kinds.iter().map(of_kind).collect::<Result<Vec<f64>>>()?;
        Ok(self.kind.iter().map(|kind| all[*kind]).collect())
    }

    /// Whose rows lose most at `delta`, and how much.
    pub fn largest(&self, delta: f64) -> Result<(usize, f64)> {
        Ok(largest(&self.epsilons(delta)?))
    }
}

fn largest(epsilons: &[f64]) -> (usize, f64) {
    let mut largest = (0, 0.0);
    for (agent, &epsilon) in epsilons.iter().enumerate() {
        // What is no number is no bound.
        let epsilon = if epsilon.is_nan() { f64::INFINITY } else { epsilon };
        largest = if epsilon > largest.1 { (agent, epsilon) } else { largest };
    }
    largest
}

impl Learnt for Released {
    fn worst(&self) -> (usize, f64) {
        largest(&self.epsilons)
    }

    /// Releases name their own sensitivities and noises.
    fn guarantee(&self, adversary: &Adversary, u: usize, _: f64, _: f64) -> Result<Guarantee> {
        let Some(accountant) = &self.kinds[self.kind[u]] else {
            let remedy = "nothing is hidden, so nothing can be promised; give noise";
            return Err(Error::parameter("noise", 0, remedy));
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
        let epsilons = all.epsilons(1e-5).unwrap();
        assert!((epsilons[0] - one).abs() < 1e-9 * one);
        assert_eq!(epsilons[0], epsilons[1]);
        let pure = all.epsilons(1e-9).unwrap()[2];
        assert!(pure <= 0.75 * (1.0 + 1e-9) && pure > 0.7, "{pure}");
        assert_eq!(epsilons[3..], [0.0, f64::INFINITY]);
        assert_eq!(all.worst().0, 4);
        assert!(all.guarantee(&Adversary::WireTapper, 4, 1.0, 1.0).is_err());
        let promised = account(&Models { releases: &releases }, &Adversary::Peer(1)).unwrap();
        let guarantee = promised.guarantee(0, 1.0, 1.0).unwrap();
        assert_eq!((guarantee.unit, guarantee.adjacency), (Unit::Record, Adjacency::Replace));
        assert!(!guarantee.not_covered.contains(&limits::LOST_MESSAGES.to_owned()));
        assert!(account(&Models { releases: &releases }, &Adversary::Peer(5)).is_err());
    }
}
