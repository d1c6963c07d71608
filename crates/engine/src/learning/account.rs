//! What a run of any method would reveal to some of its peers, without running it: no task, no data.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::{limits, round_up};
use sottovoce_views::descent::{self, DescentLoss};

use super::calibrate::Currency;
use super::losses::Question;
use crate::terms::Stated;
use crate::{Result, require};

/// Room for rounding, for each iteration, when a loss becomes a guarantee.
const ROUNDING: f64 = 1e-9;

/// Everything found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Accounted {
    /// What losses are counted in.
    pub unit: &'static str,
    /// The method's name.
    pub method: &'static str,
    /// Rounds of averaging after each gradient step.
    pub rounds: usize,
    /// Noise on a gradient, in units of its sensitivity.
    pub sigma: f64,
    /// What may be relied on.
    pub ours: DescentLoss,
    /// As printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<DescentLoss>,
    /// To someone who sees every message.
    pub wire_tapper: DescentLoss,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// The same as numbers.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
}

/// What observers who pool all they hear learn from a run, and what the peer that loses most is promised.
///
/// ```
/// use sottovoce_engine::learning::Method;
/// use sottovoce_engine::learning::account::account;
/// use sottovoce_engine::learning::losses::Question;
/// let method = Method::Butterfly;
/// let run = Question { method, mixing: None, peers: 16, iterations: 3, nonexpansive: true, sample: 1, seed: 0 };
/// let found = account(&run, &[0], 4.0, 1e-5)?;
/// assert!(found.ours.mean() < found.wire_tapper.mean());
/// # Ok::<(), sottovoce_engine::Error>(())
/// ```
pub fn account(run: &Question, observers: &[usize], sigma: f64, delta: f64) -> Result<Accounted> {
    require(run.iterations > 0, "iterations", 0, "give at least 1 gradient step")?;
    let way = run.method.way();
    let ours = way.to_observers(run, observers)?;
    let wire_tapper = descent::wire_tapper(run.peers, run.iterations)?;
    let worst = ours.worst().0;
    let (mut statements, mut guarantees, mut not_covered) = (Vec::new(), Vec::new(), Vec::new());
    let further = limits::list(&[limits::BOUNDS, limits::COUNTS, limits::MEASURED]);
    for (loss, currency) in [(&ours, way.currency()), (&wire_tapper, Currency::Gaussian)] {
        let mut guarantee = loss.guarantee(worst, 1.0, sigma)?;
        if currency == Currency::Concentrated {
            let units = loss.losses[worst] + ROUNDING * run.iterations as f64;
            guarantee.loss = currency.loss(units, sigma)?;
        }
        statements.push(format!("peer {worst}: {}", guarantee.state(delta)?));
        guarantee.not_covered.extend(further.clone());
        guarantees.push(Stated::new(format!("peer {worst}, the worst off"), &guarantee, delta)?);
        not_covered = guarantee.not_covered;
    }
    Ok(Accounted {
        unit: "one local release",
        method: way.name(),
        rounds: way.rounds(run.peers),
        sigma,
        published: way.published_to_observers(run, observers)?,
        ours,
        wire_tapper,
        statements,
        guarantees,
        not_covered,
    })
}

impl Accounted {
    /// What came of it, in a sentence.
    pub fn headline(&self) -> String {
        let shown = |place: usize| self.guarantees.get(place).map_or_else(|| "-".to_owned(), Stated::shown);
        let delta = self.guarantees.first().map_or(0.0, |stated| stated.delta);
        format!(
            "No peer loses more than epsilon {} at delta {delta:e} to {}; to someone who sees every message it is {}",
            shown(0),
            self.ours.adversary,
            shown(1)
        )
    }

    /// Losses of all peers.
    fn list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printed = if self.published.is_some() { "printed" } else { "" };
        writeln!(f, "  peer    ours            {printed}")?;
        for (peer, loss) in self.ours.losses.iter().enumerate() {
            let printed = self
                .published
                .as_ref()
                .map_or_else(String::new, |published| round_up(published.losses[peer]));
            writeln!(f, "  {peer:<8}{:<16}{printed}", round_up(*loss))?;
        }
        writeln!(f)
    }

    fn averaged(&self) -> String {
        match self.rounds {
            0 => format!(" of a {}", self.method),
            rounds => format!(" with {rounds} rounds of averaging after each"),
        }
    }
}

impl fmt::Display for Accounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        writeln!(
            f,
            "Losses in units of {}, over {} gradient steps{}, to {}\n",
            self.unit,
            self.ours.iterations,
            self.averaged(),
            self.ours.adversary
        )?;
        if f.alternate() {
            self.list(f)?;
        }
        let row = |loss: &DescentLoss| {
            format!("mean {:<12} largest {:<12}", round_up(loss.mean()), round_up(loss.worst().1))
        };
        writeln!(f, "  ours:    {}\n           {}", row(&self.ours).trim_end(), self.ours.standing)?;
        if let Some(published) = &self.published {
            writeln!(f, "  printed: {}\n           {}", row(published).trim_end(), published.standing)?;
        }
        writeln!(f, "\nWhat is promised of the peer that loses most")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        writeln!(f, "\n  not covered:")?;
        self.not_covered.iter().try_for_each(|what| writeln!(f, "  * {what}"))
    }
}
