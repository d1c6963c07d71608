//! What a run reveals, planned or past: one document, whether flags, a file or a transcript ask.

use std::fmt;

use serde::Serialize;
use sottovoce_views::door::{self, Drawn, Released};

use super::{Ready, words};
use crate::Result;
use crate::experiment::Deep;
use crate::names::Names;
use crate::terms::{Stated, before_a_run, short_up};

/// What an agent loses, or would.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// Her number.
    pub agent: usize,
    /// Her images.
    pub rows: usize,
    /// How likely each of them is in a lot: with a band, so many times as likely in the draw of a cycle in which it has its turn.
    pub rate: f64,
    /// Her noise as a multiple of the largest norm of an image's gradient.
    pub noise_multiplier: f64,
    /// Her private draws: with DiNNO one for each primal step.
    pub draws: usize,
    /// What one of her images loses, certified; none where nothing is hidden.
    pub epsilon: Option<f64>,
    /// The same by Rényi divergences alone, for comparison.
    pub renyi_epsilon: Option<f64>,
}

/// What a run reveals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// The largest loss, in a sentence.
    pub headline: String,
    /// Every agent.
    pub agents: Vec<Lost>,
    /// What agents are called, where they have names.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// What is promised.
    pub guarantees: Vec<Stated>,
    /// The same in words.
    pub statements: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

/// What the experiment would reveal of everybody's images.
pub fn account(experiment: &Deep, ready: &Ready) -> Result<Revealed> {
    let setting = &ready.setting;
    let drawn = setting.drawn(&setting.draws);
    let mut found =
        reveal(experiment, &drawn, &setting.holdings.sizes(), ready.names.clone(), setting.delta)?;
    found.guarantees.iter_mut().for_each(|stated| before_a_run(&mut stated.not_covered));
    found.notes.splice(0..0, ready.notes.iter().cloned());
    Ok(found)
}

/// What agents with so many images reveal of them who draw so often.
pub(crate) fn reveal(
    experiment: &Deep,
    drawn: &Drawn<'_>,
    rows: &[usize],
    names: Names,
    delta: f64,
) -> Result<Revealed> {
    let account = door::account(drawn, &drawn.sees_all())?;
    let worst = account.leakage.largest(delta)?.1;
    let (guarantees, statements) = words::promised(&account, worst, delta)?;
    Ok(Revealed {
        headline: match worst.is_finite() {
            true => format!(
                "One image loses at most epsilon {} at delta {delta:e} to {}.",
                short_up(worst),
                words::watcher(drawn.secrets)
            ),
            false => format!("No epsilon of an image is finite at delta {delta:e}."),
        },
        agents: lost(drawn, rows, &account.leakage, delta)?,
        notes: words::notes(experiment, (rows, drawn.draws), drawn)?,
        names,
        guarantees,
        statements,
    })
}

/// What everybody loses who draws so often.
pub(super) fn lost(drawn: &Drawn<'_>, rows: &[usize], learnt: &Released, delta: f64) -> Result<Vec<Lost>> {
    let (epsilons, renyi) = (learnt.epsilons(delta)?, learnt.renyi(delta)?);
    let finite = |epsilon: f64| Some(epsilon).filter(|epsilon| epsilon.is_finite());
    let one = |agent: usize| {
        let hidden = drawn.hidden[agent];
        Lost {
            agent,
            rows: rows[agent],
            rate: hidden.map_or(0.0, |hidden| hidden.lots.rate()),
            noise_multiplier: hidden.map_or(0.0, |hidden| hidden.multiplier),
            draws: drawn.draws[agent],
            epsilon: finite(epsilons[agent]),
            renyi_epsilon: finite(renyi[agent]),
        }
    };
    Ok((0..rows.len()).map(one).collect())
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let heads = ["images", "rate", "noise", "draws", "epsilon", "by Renyi"];
        write!(f, "  {:<12}", "agent")?;
        heads.iter().try_for_each(|head| write!(f, " {head:>9}"))?;
        writeln!(f)?;
        let shown = |epsilon: Option<f64>| epsilon.map_or_else(|| "-".to_owned(), short_up);
        let most = if f.alternate() { usize::MAX } else { words::LISTED };
        for agent in self.agents.iter().take(most) {
            let Lost { rows, rate, noise_multiplier, draws, .. } = agent;
            write!(
                f,
                "  {} {rows:>9} {rate:>9.4} {noise_multiplier:>9.3}",
                self.names.cell(agent.agent, 12)
            )?;
            writeln!(f, " {draws:>9} {:>9} {:>9}", shown(agent.epsilon), shown(agent.renyi_epsilon))?;
        }
        words::more(f, self.agents.len(), most)?;
        writeln!(f)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        if let Some(stated) = self.guarantees.first() {
            crate::terms::not_covered(f, &stated.not_covered)?;
        }
        Ok(())
    }
}
