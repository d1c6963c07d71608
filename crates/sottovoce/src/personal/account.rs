//! What a plan would reveal, before anything is run.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use sottovoce_privacy::{Adversary, limits};
use sottovoce_views::door::{self, Models};

use super::{Ready, words};
use crate::Result;
use crate::experiment::Personalized;
use crate::names::Names;
use crate::terms::{Stated, short_up};

/// What a plan would reveal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// How many agents there are.
    pub agents: usize,
    /// How it is set up, in words.
    pub setup: Vec<(String, String)>,
    /// Noise of each update of the agent who loses most, in sensitivities.
    pub noises: Vec<f64>,
    /// The odometer: what such an agent has lost after so many of her updates.
    pub odometer: Vec<Reading>,
    /// Agents by what a row of theirs loses.
    pub epsilons: Vec<Share>,
    /// What is promised.
    pub guarantees: Vec<Stated>,
    /// The same in words.
    pub statements: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

/// What an agent has lost by then.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading {
    /// After so many updates.
    pub updates: usize,
    /// What a row of hers has lost; none where it was not hidden.
    pub epsilon: Option<f64>,
}

/// Agents who lose the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// What a row of theirs loses; none where it is not hidden.
    pub epsilon: Option<f64>,
    /// How many they are.
    pub agents: usize,
    /// What they are called; none where agents have no names but their numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub names: Vec<String>,
}

/// What the experiment would reveal of everybody's rows.
pub fn account(experiment: &Personalized, folder: &Path, seed: u64) -> Result<Revealed> {
    let ready = experiment.ready(folder, seed)?;
    let delta = experiment.target.delta;
    let releases = ready.releases();
    let account = door::account(&Models { releases: &releases }, &Adversary::WireTapper)?;
    let mut epsilons: Vec<(f64, Vec<usize>)> = Vec::new();
    let lost = account.leakage.epsilons(delta)?;
    for (agent, &epsilon) in lost.iter().enumerate() {
        // Sensitivities differ by roundings.
        match epsilons.iter_mut().find(|(known, _)| short_up(*known) == short_up(epsilon)) {
            Some((known, agents)) => {
                *known = if epsilon > *known { epsilon } else { *known };
                agents.push(agent);
            }
            None => epsilons.push((epsilon, vec![agent])),
        }
    }
    epsilons.sort_by(|one, other| one.0.total_cmp(&other.0));
    let worst = epsilons.last().map_or(0.0, |(epsilon, _)| *epsilon);
    let (mut guarantees, statements) = words::promised(experiment, &account, worst, delta)?;
    // Nothing was run yet.
    let run = [limits::MEASURED, limits::SIMULATION];
    guarantees
        .iter_mut()
        .for_each(|stated| stated.not_covered.retain(|limit| !run.contains(&limit.as_str())));
    let (noises, odometer) = odometer(&ready, door::largest(&lost).0, delta)?;
    let finite = |epsilon: f64| Some(epsilon).filter(|epsilon| epsilon.is_finite());
    Ok(Revealed {
        agents: ready.agents.count(),
        setup: words::setup(experiment, &ready),
        noises,
        odometer,
        epsilons: epsilons
            .into_iter()
            .map(|(epsilon, agents)| Share {
                epsilon: finite(epsilon),
                agents: agents.len(),
                names: ready.names().beside(&agents),
            })
            .collect(),
        guarantees,
        statements,
        notes: words::notes(experiment, &ready),
    })
}

/// Noises of the agent who loses most, and what she has lost after 1, 2, 4, ... updates, and in the end.
fn odometer(ready: &Ready, agent: usize, delta: f64) -> Result<(Vec<f64>, Vec<Reading>)> {
    let Some(plan) = ready.hidings.plans.get(agent).filter(|plan| plan.hidden.is_some()) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let noises = plan.hidden.as_ref().map_or(Vec::new(), |hidden| hidden.multipliers.to_vec());
    let mut after: Vec<usize> =
        std::iter::successors(Some(1), |k| Some(2 * k)).take_while(|k| *k < plan.updates).collect();
    after.extend((plan.updates > 0).then_some(plan.updates));
    let releases: Vec<Vec<_>> = after.iter().map(|&updates| plan.released(updates).collect()).collect();
    let account = door::account(&Models { releases: &releases }, &Adversary::WireTapper)?;
    let spent = account.leakage.epsilons(delta)?;
    let reading = |(&updates, epsilon): (&usize, f64)| Reading {
        updates,
        epsilon: Some(epsilon).filter(|epsilon| epsilon.is_finite()),
    };
    let odometer = after.iter().zip(spent).map(reading);
    Ok((noises, odometer.collect()))
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |epsilon: Option<f64>| epsilon.map_or_else(|| "without bound".to_owned(), short_up);
        let most = self.guarantees.first().and_then(|stated| Some((stated.epsilon?, stated.delta)));
        match most {
            Some((epsilon, delta)) => {
                let (epsilon, delta) = (short_up(epsilon), words::written(delta));
                writeln!(
                    f,
                    "No row loses more than epsilon {epsilon} at delta {delta} to someone who sees every message\n"
                )?;
            }
            None => writeln!(f, "Rows are not protected: gradients leave without noise\n")?,
        }
        for Share { epsilon, agents, names } in &self.epsilons {
            let called = match names.is_empty() || self.epsilons.len() == 1 {
                true => String::new(),
                false => format!(": {}", Names::new(Some(names)).list(&(0..names.len()).collect::<Vec<_>>())),
            };
            writeln!(f, "  epsilon {} for {agents} of {} agents{called}", shown(*epsilon), self.agents)?;
        }
        if let (Some(first), Some(last)) = (self.noises.first(), self.noises.last()) {
            writeln!(f, "\n  noise of the first update {first:.3} sensitivities, of the last {last:.3}")?;
            for Reading { updates, epsilon } in &self.odometer {
                writeln!(f, "  after {updates} updates: epsilon {}", shown(*epsilon))?;
            }
        }
        writeln!(f)?;
        self.setup.iter().try_for_each(|(name, value)| writeln!(f, "  {name}: {value}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))?;
        writeln!(f)?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        if let Some(stated) = self.guarantees.first() {
            crate::terms::not_covered(f, &stated.not_covered)?;
        }
        Ok(())
    }
}
