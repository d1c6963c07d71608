//! What came of it, in sentences. Losses are rounded up.

use std::fmt;

use sottovoce_privacy::allotment::LargeDelta;
use sottovoce_privacy::{Adversary, Guarantee, Law, limits};
use sottovoce_report::text;
use sottovoce_views::door::{Account, Learnt, Released};

use super::{Found, Ready};
use crate::experiment::Personalized;
use crate::names::end;
use crate::terms::{self, Stated, short_up};
use crate::{Result, SIMULATED};

/// What is promised to whoever loses most, as data and in words; nothing where something was not hidden.
pub(super) fn promised(
    experiment: &Personalized,
    account: &Account<Released>,
    worst: f64,
    delta: f64,
) -> Result<(Vec<Stated>, Vec<String>)> {
    promised_of("any row of anyone, in the whole run", account, (worst, delta), |guarantee| {
        guarantee.standing = guarantee.standing.clone().given(&experiment.task.assumptions());
        guarantee.not_covered.extend(experiment.task.not_covered());
    })
}

/// The same of whatever was hidden, with further conditions.
pub(crate) fn promised_of(
    what: &str,
    account: &Account<Released>,
    (worst, delta): (f64, f64),
    conditions: impl FnOnce(&mut Guarantee),
) -> Result<(Vec<Stated>, Vec<String>)> {
    if !worst.is_finite() {
        return Ok((Vec::new(), vec!["Nothing is promised: gradients left without noise.".into()]));
    }
    let (agent, _) = account.leakage.worst();
    let mut guarantee = account.guarantee(agent, 1.0, 1.0)?;
    conditions(&mut guarantee);
    guarantee.not_covered.extend([limits::MEASURED.to_owned(), limits::SIMULATION.to_owned()]);
    let stated = Stated::at(what, &guarantee, delta, worst);
    let said = statement(&guarantee, worst, delta);
    Ok((vec![stated], vec![said]))
}

/// A probability, which may be 0.
pub(super) fn written(delta: f64) -> String {
    if delta == 0.0 { "0".to_owned() } else { format!("{delta:e}") }
}

/// A guarantee in a line.
fn statement(guarantee: &Guarantee, epsilon: f64, delta: f64) -> String {
    let delta = written(delta);
    let adversary = match guarantee.adversary {
        Adversary::WireTapper => "someone who sees every message".to_owned(),
        ref other => other.to_string(),
    };
    format!(
        "epsilon <= {} at delta = {delta} against {adversary}, for {} ({}); {}",
        short_up(epsilon),
        guarantee.unit,
        guarantee.adjacency,
        guarantee.standing
    )
}

/// What came of it.
pub(super) fn headline(found: &Found, worst: f64, delta: f64) -> String {
    let way =
        |name: &str| found.ways.iter().find(|way| way.name == name).map_or(f64::NAN, |way| way.worth.mean);
    let (own, tuned) = (way("own"), way("tuned"));
    let less = found.measure == "rmse";
    let better = if less { own < tuned } else { own > tuned };
    let what = if less { "RMSE" } else { "accuracy" };
    let loss = match worst.is_finite() {
        true => format!("no row loses more than epsilon {} at delta {}", short_up(worst), written(delta)),
        false => "rows are not protected".to_owned(),
    };
    let verdict = if better { "collaboration helps" } else { "collaboration adds nothing over that" };
    format!(
        "Mean {what} {} for {} agents, where everybody alone has {} at best: {verdict}; {loss}.",
        text::digits(own, 3),
        found.agents,
        text::digits(tuned, 3)
    )
}

/// How it was set up.
pub(super) fn setup(experiment: &Personalized, ready: &Ready) -> Vec<(String, String)> {
    let (agents, problem, hiding) = (&ready.agents, &ready.problem, &ready.hiding);
    let (least, most) = problem.smoothnesses();
    let law = match hiding.law {
        Law::Gaussian => "Gaussian, gradients clipped in the 2-norm",
        Law::Laplace | Law::Radial => "Laplace, gradients clipped in the 1-norm",
    };
    let mut all = vec![
        (
            "agents",
            format!(
                "{} with {} rows in all, {} pairs of similar ones",
                agents.count(),
                agents.train.table().rows(),
                agents.similar.len()
            ),
        ),
        ("model", format!("{} numbers, mu = {}", agents.width(), experiment.protocol.mu)),
        ("updates", format!("{} of each agent, by Poisson clocks", experiment.protocol.updates)),
        ("noise", format!("{law} to {}", hiding.clip)),
        (
            "steps",
            format!(
                "from rows promised to be no longer than {}: smoothness {} to {}",
                text::digits(agents.radius, 3),
                text::digits(least, 3),
                text::digits(most, 3)
            ),
        ),
    ];
    if hiding.centring > 0.0 {
        let wider = 1.0 + hiding.centring / (2.0 * hiding.clip);
        all.push(("centring", format!("labels are centred by their own mean, so that one moves all: sensitivities are {} times as large", text::digits(wider, 3))));
    }
    if let Some(warm) = hiding.warm {
        all.push((
            "warm start",
            format!(
                "epsilon {} of the budget, ridge {}, smoothed {} times",
                warm.epsilon, warm.ridge, warm.wakes
            ),
        ));
    }
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What else there is to know of agents with so many rows.
pub(super) fn notes(experiment: &Personalized, rows: &[usize]) -> Vec<String> {
    let mut notes = Vec::new();
    let most = rows.iter().copied().max().unwrap_or(0);
    if experiment.noise.sigma.is_none() {
        notes.extend(LargeDelta::of(experiment.target.delta, most as u64).map(|warning| warning.to_string()));
    }
    let without = rows.iter().filter(|rows| **rows == 0).count();
    if without > 0 {
        notes.push(format!(
            "{without} agents have no rows: they release nothing, and are drawn to their neighbours"
        ));
    }
    notes
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let what = if self.measure == "rmse" { "RMSE" } else { "accuracy" };
        writeln!(f, "  {:<10} {:>9} {:>10}   what they are", "models", what, "epsilon")?;
        for way in &self.ways {
            let epsilon = way.epsilon.map_or_else(
                || "-".to_owned(),
                |epsilon| if epsilon == 0.0 { "0".into() } else { short_up(epsilon) },
            );
            let worth = way.worth.mean;
            writeln!(f, "  {:<10} {worth:>9.4} {epsilon:>10}   {}", way.name, cut(&way.about, 64))?;
        }
        writeln!(
            f,
            "\n  {:<12} {:>7} {:>9} {:>9} {:>9} {:>9}",
            "rows", "agents", "released", "own", "local", "tuned"
        )?;
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
        for group in &self.by_size {
            let rows = format!("{} to {}", group.fewest, group.most);
            let [released, own, local, tuned] =
                [group.released, group.own, group.local, group.tuned].map(number);
            writeln!(f, "  {rows:<12} {:>7} {released:>9} {own:>9} {local:>9} {tuned:>9}", group.agents)?;
        }
        if f.alternate() {
            self.list(f)?;
        }
        writeln!(f)?;
        for (name, value) in &self.setup {
            writeln!(f, "  {name}: {value}")?;
        }
        if self.lost > 0 {
            writeln!(f, "  messages: {} sent, {} of them lost", self.sent, self.lost)?;
        }
        for note in &self.notes {
            writeln!(f, "  note: {note}")?;
        }
        writeln!(f)?;
        match self.guarantees.first() {
            Some(stated) => terms::promised(f, &self.statements, &stated.not_covered),
            None => {
                self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
                writeln!(f, "\n  {SIMULATED}")
            }
        }
    }
}

impl Found {
    /// Everybody, by name.
    fn list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n  {:<20} {:>6} {:>8} {:>10} {:>9} {:>9}",
            "agent", "rows", "updates", "epsilon", "own", "tuned"
        )?;
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
        for person in &self.people {
            let name = end(&person.called(), 20);
            let epsilon = person.epsilon.map_or_else(|| "-".to_owned(), short_up);
            let (rows, updates, own, tuned) =
                (person.rows, person.updates, number(person.own), number(person.tuned));
            writeln!(f, "  {name:<20} {rows:>6} {updates:>8} {epsilon:>10} {own:>9} {tuned:>9}")?;
        }
        Ok(())
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 3).chain("...".chars()).collect(),
        false => text.to_owned(),
    }
}
