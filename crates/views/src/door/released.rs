//! What agents released of their rows, composed: the whole of what whoever hears them can lose them.
//!
//! Agents whose releases are alike are accounted for once.

use sottovoce_privacy::{Accountant, Adjacency, Adversary, Composition, Guarantee, Loss, Standing, Unit};
use sottovoce_protocol::{Peer, Release};

use super::Learnt;
use crate::{Error, Result};

/// Equal releases in a row, and how many.
pub(super) type Series = Vec<(Release, u64)>;

/// Refuses observers who are no agents.
pub(super) fn check_observers(observers: &[Peer], agents: usize) -> Result<()> {
    match observers.iter().find(|observer| **observer >= agents) {
        None => Ok(()),
        Some(stranger) => {
            Err(Error::parameter("observers", stranger, format!("there are {agents} agents, from 0")))
        }
    }
}

/// What is learnt of every agent's rows.
#[derive(Debug, Clone)]
pub struct Released {
    /// Compositions of releases, each once; none where something was not hidden.
    kinds: Vec<Option<Accountant>>,
    /// The releases themselves.
    series: Vec<Series>,
    /// Which of them each agent made.
    kind: Vec<usize>,
    adjacency: Adjacency,
    not_covered: Vec<String>,
}

/// At which losses are compared.
const DELTA: f64 = 1e-6;

/// More noise than this, in units of the sensitivity, counts as this: less noise hides less. As much as mechanisms take, and more than any budget asks for.
const LOUDEST: f64 = 1e9;

/// The same release in units of its sensitivity, with noise cut to forty digits: agents whose noise differs by roundings alone are accounted for once.
fn relative(release: &Release) -> Release {
    let ratio = release.scale / release.sensitivity;
    if !(ratio > 0.0 && ratio.is_finite()) {
        return *release;
    }
    let ratio = if ratio < LOUDEST { ratio } else { LOUDEST };
    Release { sensitivity: 1.0, scale: f64::from_bits(ratio.to_bits() & !0xfff), ..*release }
}

/// All of an agent's releases; none where one of them hides nothing.
fn composed(series: &Series) -> Option<Accountant> {
    // Sensitivities are those of the neighbours that are meant, so that nothing is doubled here.
    let mut accountant = Accountant::new(Adjacency::AddRemove);
    for (release, count) in series {
        let mechanism = release.mechanism().ok().filter(|_| release.loss().is_ok())?;
        accountant.compose(mechanism, *count).ok()?;
    }
    Some(accountant)
}

/// What they lose without a delta: the largest losses are added; infinite where one of them has no bound.
fn pure(series: &Series) -> Result<f64> {
    let mut all = Composition::new(Adjacency::AddRemove);
    for (release, count) in series {
        let hidden = release.mechanism().ok().filter(|_| release.loss().is_ok());
        let Some(mechanism) = hidden else { return Ok(f64::INFINITY) };
        all.add(sottovoce_privacy::Release::Mechanism(mechanism), *count)?;
    }
    Ok(if series.is_empty() { 0.0 } else { all.epsilon(0.0)?.upper() })
}

impl Released {
    /// What all agents released, each in order, with sensitivities for this adjacency.
    pub(super) fn of(
        all: impl Iterator<Item = Series>,
        adjacency: Adjacency,
        not_covered: Vec<String>,
    ) -> Result<Self> {
        let (mut known, mut kind): (Vec<Series>, Vec<usize>) = Default::default();
        for series in all {
            let series: Series = series.iter().map(|(release, count)| (relative(release), *count)).collect();
            kind.push(known.iter().position(|same| *same == series).unwrap_or(known.len()));
            if kind.last() == Some(&known.len()) {
                known.push(series);
            }
        }
        let kinds = known.iter().map(composed).collect();
        Ok(Self { kinds, series: known, kind, adjacency, not_covered })
    }

    /// What one row of each agent loses at most, at a `delta` that may be 0; 0 without rows, infinite where something was not hidden.
    pub fn epsilons(&self, delta: f64) -> Result<Vec<f64>> {
        if delta == 0.0 {
            let all = self.series.iter().map(pure).collect::<Result<Vec<f64>>>()?;
            return Ok(self.kind.iter().map(|kind| all[*kind]).collect());
        }
        self.each(|accountant| Ok(accountant.epsilon(delta)?.upper))
    }

    /// The same by Rényi divergences alone, for comparison: never less.
    pub fn renyi(&self, delta: f64) -> Result<Vec<f64>> {
        self.each(|accountant| Ok(accountant.rdp_epsilon(delta)?.0))
    }

    fn each(&self, of: impl Fn(&Accountant) -> Result<f64>) -> Result<Vec<f64>> {
        let of_kind = |kind: &Option<Accountant>| match kind {
            Some(accountant) if accountant.events().is_empty() => Ok(0.0),
            Some(accountant) => of(accountant),
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

/// Who loses most, and how much. What is no number is no bound.
pub fn largest(epsilons: &[f64]) -> (usize, f64) {
    let mut largest = (0, 0.0);
    for (agent, &epsilon) in epsilons.iter().enumerate() {
        let epsilon = if epsilon.is_nan() { f64::INFINITY } else { epsilon };
        largest = if epsilon > largest.1 { (agent, epsilon) } else { largest };
    }
    largest
}

impl Learnt for Released {
    fn worst(&self) -> (usize, f64) {
        // What cannot be computed is no bound.
        self.epsilons(DELTA).map_or((0, f64::INFINITY), |epsilons| largest(&epsilons))
    }

    /// Releases name their own sensitivities and noises.
    fn guarantee(&self, adversary: &Adversary, u: usize, _: f64, _: f64) -> Result<Guarantee> {
        let Some(kind) = self.kind.get(u) else {
            return Err(Error::parameter(
                "agent",
                u,
                format!("there are {} agents, from 0", self.kind.len()),
            ));
        };
        let Some(accountant) = &self.kinds[*kind] else {
            return Err(Error::parameter(
                "noise",
                0,
                "nothing is hidden, so nothing can be promised; give noise",
            ));
        };
        Ok(Guarantee {
            adversary: adversary.clone(),
            unit: Unit::Record,
            adjacency: self.adjacency,
            loss: Loss::Pld(accountant.clone()),
            standing: Standing::Proven,
            not_covered: self.not_covered.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pure_losses_are_added_and_gaussian_ones_have_no_bound() {
        let pure = |series: &[(Release, u64)]| {
            let all = [series.to_vec()].into_iter();
            Released::of(all, Adjacency::Replace, Vec::new()).unwrap().epsilons(0.0).unwrap()[0]
        };
        let laplace = (Release::laplace(1.0, 4.0), 3);
        assert!((pure(&[laplace]) - 0.75).abs() < 1e-9 && pure(&[laplace]) >= 0.75);
        assert!((pure(&[(Release::radial(0.5, 5.0), 1), laplace]) - 0.85).abs() < 1e-9);
        assert_eq!(pure(&[(Release::gaussian(1.0, 9.0), 1)]), f64::INFINITY);
        assert_eq!(pure(&[(Release::laplace(1.0, 0.0), 1)]), f64::INFINITY);
        assert_eq!(pure(&[]), 0.0);
        assert_eq!(largest(&[0.5, f64::NAN, 1.0]), (1, f64::INFINITY));
    }
}
