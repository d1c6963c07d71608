//! The terms of a loss: who attacks, what is protected, by what right, and where it ends. No number is printed without them.
//!
//! [`Stated`] is one guarantee with its numbers, for programs; sentences are for people.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use sottovoce_fault::decimal;
use sottovoce_privacy::{Adjacency, Adversary, Guarantee, Risk, Standing, Unit, limits, round_up};
use sottovoce_report::GuaranteeLine;
use sottovoce_views::rumor::NOT_COVERED;

use crate::names::Names;

/// Peers who are named in a line.
const SHOWN: usize = 8;

/// Guarantees, where they end, and that a simulation does not have them.
pub fn promised(f: &mut fmt::Formatter<'_>, statements: &[String], not_covered: &[String]) -> fmt::Result {
    statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
    writeln!(f, "\n  {}", crate::SIMULATED)?;
    self::not_covered(f, not_covered)
}

/// Where guarantees end, as a list below them.
pub fn not_covered(f: &mut fmt::Formatter<'_>, limits: &[impl fmt::Display]) -> fmt::Result {
    writeln!(f, "\n  not covered:")?;
    limits.iter().try_for_each(|what| writeln!(f, "  * {what}"))
}

/// A guarantee at one `delta`, as numbers and words that programs can read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stated {
    /// Of what, in words.
    pub about: String,
    /// The loss; none where no finite one holds.
    pub epsilon: Option<f64>,
    /// The probability with which it may fail.
    pub delta: f64,
    /// Who attacks: `wire-tapper`, the same with the help of peers who are named or with that of any (`wire-tapper-with`, `wire-tapper-with-any`), `peer`, `coalition`, `any-peer`, `result-holder` or `curious-peers`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["wire-tapper", "wire-tapper-with", "wire-tapper-with-any", "peer", "coalition", "any-peer", "result-holder", "curious-peers"])))]
    pub adversary: Cow<'static, str>,
    /// Which peers, where they are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<usize>,
    /// How many peers help, where it may be anyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colluders: Option<usize>,
    /// What those are called, where peers have names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observer_names: Vec<String>,
    /// What is protected.
    pub unit: Unit,
    /// Under which adjacency.
    pub adjacency: Adjacency,
    /// What an attacker can do with such a loss.
    pub risk: Risk,
    /// By what right.
    pub standing: Standing,
    /// What it does not speak of.
    pub not_covered: Vec<String>,
}

impl Stated {
    /// Who attacks, in short.
    pub fn who(&self) -> String {
        match (self.colluders, &*self.adversary) {
            (Some(1), _) => "wire-tapper with the secrets of any one peer".to_owned(),
            (Some(several), _) => format!("wire-tapper with the secrets of any {several} peers"),
            (None, other) => other.to_owned(),
        }
    }

    /// Who attacks, with the names of those who are named.
    pub fn whom(&self) -> String {
        let numbers = || self.observers.iter().take(SHOWN).map(usize::to_string).collect();
        let names: Vec<String> = match self.observer_names.is_empty() {
            true => numbers(),
            false => self.observer_names.iter().take(SHOWN).cloned().collect(),
        };
        let more = if self.observers.len() > SHOWN { ", ..." } else { "" };
        if names.is_empty() { self.who() } else { format!("{} {}{more}", self.who(), names.join(", ")) }
    }

    /// The same as pages show it.
    pub fn line(&self) -> GuaranteeLine {
        let epsilon = self.epsilon.map_or_else(|| "without bound".to_owned(), round_up);
        GuaranteeLine {
            statement: self.about.clone(),
            adversary: self.whom(),
            unit: self.unit.to_string(),
            adjacency: self.adjacency.to_string(),
            loss: format!("epsilon <= {epsilon} at delta = {:e}", self.delta),
            risk: self.risk.to_string(),
            standing: self.standing.to_string(),
            not_covered: self.not_covered.clone(),
        }
    }

    /// A guarantee at `delta`.
    pub fn new(
        about: impl Into<String>,
        guarantee: &Guarantee,
        delta: f64,
    ) -> sottovoce_privacy::Result<Self> {
        let epsilon = guarantee.epsilon(delta)?.upper;
        Ok(Self { risk: guarantee.loss.risk()?, ..Self::at(about, guarantee, delta, epsilon) })
    }

    /// The same, of an epsilon that is known already. Of the risk no more is known than follows from it.
    pub fn at(about: impl Into<String>, guarantee: &Guarantee, delta: f64, epsilon: f64) -> Self {
        let (adversary, observers) = match &guarantee.adversary {
            Adversary::WireTapper => ("wire-tapper", Vec::new()),
            Adversary::WireTapperWith(peers) => ("wire-tapper-with", peers.clone()),
            Adversary::WireTapperWithAny(_) => ("wire-tapper-with-any", Vec::new()),
            Adversary::Peer(peer) => ("peer", vec![*peer]),
            Adversary::Coalition(peers) => ("coalition", peers.clone()),
            Adversary::ResultHolder => ("result-holder", Vec::new()),
        };
        Self {
            about: about.into(),
            epsilon: Some(epsilon).filter(|epsilon| epsilon.is_finite()),
            delta,
            adversary: adversary.into(),
            observers,
            colluders: match guarantee.adversary {
                Adversary::WireTapperWithAny(colluders) => Some(colluders),
                _ => None,
            },
            observer_names: Vec::new(),
            unit: guarantee.unit,
            adjacency: guarantee.adjacency,
            risk: Risk::of_pair(epsilon, delta),
            standing: guarantee.standing.clone(),
            not_covered: guarantee.not_covered.clone(),
        }
    }

    /// That the source of a rumour is hidden from curious peers.
    pub fn of_source(about: impl Into<String>, epsilon: f64, delta: f64) -> Self {
        Self {
            about: about.into(),
            epsilon: Some(epsilon),
            delta,
            adversary: "curious-peers".into(),
            observers: Vec::new(),
            colluders: None,
            observer_names: Vec::new(),
            unit: Unit::Source,
            adjacency: Adjacency::Replace,
            risk: Risk::of_pair(epsilon, delta),
            standing: Standing::Proven,
            not_covered: NOT_COVERED.map(str::to_owned).to_vec(),
        }
    }

    /// The same with the names of the peers who attack.
    pub fn named(self, names: &Names) -> Self {
        Self { observer_names: names.beside(&self.observers), ..self }
    }

    /// Towards any one peer, whichever it is.
    pub fn of_any_peer(self) -> Self {
        Self { adversary: "any-peer".into(), observers: Vec::new(), observer_names: Vec::new(), ..self }
    }

    /// The epsilon for people: never rounded down.
    pub fn shown(&self) -> String {
        self.epsilon.map_or_else(|| "without bound".to_owned(), short_up)
    }
}

/// Leaves out what only the output of a run needs to be warned of: nothing was run yet.
pub fn before_a_run(not_covered: &mut Vec<String>) {
    not_covered.retain(|limit| ![limits::MEASURED, limits::SIMULATION].contains(&limit.as_str()));
}

/// Three significant digits, and all before the point; never less than the value.
pub fn short_up(value: f64) -> String {
    if value.abs() < 1000.0 { decimal::up(value, 3) } else { decimal::up_to_places(value, 0) }
}

#[cfg(test)]
mod tests {
    use super::short_up;

    #[test]
    fn headlines_never_say_less_than_is_lost() {
        assert_eq!(short_up(4.3479), "4.35");
        assert_eq!(short_up(4.35), "4.35");
        assert_eq!(short_up(0.0), "0");
        assert_eq!(short_up(0.001_234_1), "0.00124");
        assert_eq!(short_up(0.000_040_446_4), "4.05e-5");
        assert_eq!(short_up(0.000_999_99), "0.00100");
        assert_eq!(short_up(12_345.2), "12346");
        for i in 1..2000 {
            let value = 1e-9 * 1.02_f64.powi(i);
            assert!(short_up(value).parse::<f64>().is_ok_and(|shown| shown >= value), "{value}");
        }
    }
}
