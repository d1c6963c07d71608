//! What a run reveals, planned or past: one document, whether flags, a file or a transcript ask.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::Adversary;
use sottovoce_protocol::Release;
use sottovoce_views::door::{self, Models};

use super::{Ready, words};
use crate::Result;
use crate::experiment::Personalized;
use crate::names::Names;
use crate::terms::{Stated, before_a_run, short_up};

/// What a run reveals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// In a sentence.
    pub headline: String,
    /// How many agents there are.
    pub agents: usize,
    /// What they are called, where they have names.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// Releases of all of them.
    pub releases: usize,
    /// Epsilon of every agent's rows; none where something is not hidden.
    pub epsilons: Vec<Option<f64>>,
    /// Noise of each update of the agent who loses most, in sensitivities.
    pub noises: Vec<f64>,
    /// The odometer: what such an agent has lost after so many of her updates.
    pub odometer: Vec<Reading>,
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

/// What the experiment would reveal of everybody's rows.
pub fn account(experiment: &Personalized, ready: &Ready) -> Result<Revealed> {
    let delta = experiment.target.delta;
    let mut found = reveal(experiment, &ready.releases(), &ready.rows_of(), ready.names(), delta)?;
    found.guarantees.iter_mut().for_each(|stated| before_a_run(&mut stated.not_covered));
    found.notes.splice(0..0, ready.notes.iter().cloned());
    Ok(found)
}

/// What agents with so many rows reveal of them by these releases, each in order, to someone who sees every message.
pub(crate) fn reveal(
    experiment: &Personalized,
    releases: &[Vec<Release>],
    rows: &[usize],
    names: Names,
    delta: f64,
) -> Result<Revealed> {
    let account = door::account(&Models { releases }, &Adversary::WireTapper)?;
    let mut epsilons = account.leakage.epsilons(delta)?;
    if experiment.task.is_read() && experiment.noise.sigma.is_none() {
        // Without the rows the noise cannot be computed anew: nobody is said to lose less than she agreed to.
        for (agent, epsilon) in epsilons.iter_mut().enumerate() {
            let agreed = experiment.agreed(agent, (rows.len(), &names))?;
            *epsilon = if agreed > *epsilon { agreed } else { *epsilon };
        }
    }
    let (loser, worst) = door::largest(&epsilons);
    let (guarantees, statements) = words::promised(experiment, &account, worst, delta)?;
    let made: usize = releases.iter().map(Vec::len).sum();
    let lost = match worst.is_finite() {
        true => {
            format!("no row loses more than epsilon {} at delta {}", short_up(worst), words::written(delta))
        }
        false => format!("no epsilon is finite at delta {}", words::written(delta)),
    };
    // Her warm start comes first.
    let starts = usize::from(experiment.protocol.warm.is_some());
    let hers = releases.get(loser).filter(|_| worst.is_finite()).map_or(&[][..], Vec::as_slice);
    Ok(Revealed {
        headline: format!("{} agents make {made} releases, and {lost}", rows.len()),
        agents: rows.len(),
        releases: made,
        epsilons: epsilons.into_iter().map(|epsilon| Some(epsilon).filter(|one| one.is_finite())).collect(),
        noises: hers.iter().skip(starts).map(|release| release.scale / release.sensitivity).collect(),
        odometer: odometer(hers, starts, delta)?,
        guarantees,
        statements,
        notes: words::notes(experiment, rows),
        names,
    })
}

/// What an agent with these releases has lost after 1, 2, 4, ... updates, and in the end.
fn odometer(releases: &[Release], starts: usize, delta: f64) -> Result<Vec<Reading>> {
    let updates = releases.len().saturating_sub(starts);
    let mut after: Vec<usize> =
        std::iter::successors(Some(1), |k| Some(2 * k)).take_while(|k| *k < updates).collect();
    after.extend((updates > 0).then_some(updates));
    let parts: Vec<Vec<Release>> =
        after.iter().map(|updates| releases[..starts + updates].to_vec()).collect();
    let account = door::account(&Models { releases: &parts }, &Adversary::WireTapper)?;
    let spent = account.leakage.epsilons(delta)?;
    let reading = |(updates, epsilon): (usize, f64)| Reading {
        updates,
        epsilon: Some(epsilon).filter(|epsilon| epsilon.is_finite()),
    };
    Ok(after.into_iter().zip(spent).map(reading).collect())
}

impl Revealed {
    /// Agents by what a row of theirs loses: what is shown alike stands together, from the least on.
    fn alike(&self) -> Vec<(String, Vec<usize>)> {
        let shown = |agent: usize| self.epsilons[agent].map_or_else(|| "without bound".to_owned(), short_up);
        let mut order: Vec<usize> = (0..self.agents).collect();
        order.sort_by(|&one, &other| {
            let of = |agent: usize| self.epsilons[agent].unwrap_or(f64::INFINITY);
            of(one).total_cmp(&of(other)).then(one.cmp(&other))
        });
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for agent in order {
            match groups.last_mut().filter(|(known, _)| *known == shown(agent)) {
                Some((_, agents)) => agents.push(agent),
                None => groups.push((shown(agent), vec![agent])),
            }
        }
        groups
    }
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let groups = self.alike();
        for (epsilon, agents) in &groups {
            let called = match self.names.are_numbers() || groups.len() == 1 {
                true => String::new(),
                false => format!(": {}", self.names.list(agents)),
            };
            writeln!(f, "  epsilon {epsilon} for {} of {} agents{called}", agents.len(), self.agents)?;
        }
        if let (Some(first), Some(last)) = (self.noises.first(), self.noises.last()) {
            writeln!(f, "\n  noise of the first update {first:.3} sensitivities, of the last {last:.3}")?;
            for Reading { updates, epsilon } in &self.odometer {
                let epsilon = epsilon.map_or_else(|| "without bound".to_owned(), short_up);
                writeln!(f, "  after {updates} updates: epsilon {epsilon}")?;
            }
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))?;
        writeln!(f)?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        if let Some(stated) = self.guarantees.first() {
            crate::terms::not_covered(f, &stated.not_covered)?;
        }
        Ok(())
    }
}
