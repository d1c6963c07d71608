//! What a run of any method would reveal to some of its peers, without running it: no task, no data.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use sottovoce_privacy::{Adversary, limits, round_up};
use sottovoce_views::descent::DescentLoss;
use sottovoce_views::door;

use super::losses::{Past, Question};
use super::{Secrets, Task};
use crate::names::Names;
use crate::terms::Stated;
use crate::{Result, require};

/// Everything found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Accounted {
    /// What losses are counted in.
    pub unit: &'static str,
    /// What the peers are called.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// The method's name.
    pub method: &'static str,
    /// Rounds of averaging after each gradient step.
    pub rounds: usize,
    /// Noise on a gradient, in units of its sensitivity.
    pub sigma: f64,
    /// What may be relied on.
    pub ours: DescentLoss,
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
/// let run = Question { method, mixings: &[], peers: 16, iterations: 3, nonexpansive: true, sample: 1, seed: 0, network: None, secrets: None };
/// let found = account(&run, &[0], 4.0, 1e-5)?;
/// assert!(found.ours.mean() < found.wire_tapper.mean());
/// # Ok::<(), sottovoce_engine::Error>(())
/// ```
pub fn account(run: &Question, observers: &[usize], sigma: f64, delta: f64) -> Result<Accounted> {
    let names = run.mixings.first().map(|mixing| Names::of_graph(mixing.graph())).unwrap_or_default();
    account_of(run, observers, (sigma, delta), names, None)
}

/// The same, of peers with names of their own, and of a task whose assumptions every guarantee rests on.
pub fn account_of(
    run: &Question,
    observers: &[usize],
    (sigma, delta): (f64, f64),
    names: Names,
    task: Option<&Task>,
) -> Result<Accounted> {
    require(run.iterations > 0, "iterations", 0, "give at least 1 gradient step")?;
    let way = run.method.way();
    let overheard = run.overheard(&Past::PLANNED)?;
    let towards = match observers {
        [one] => Adversary::Peer(*one),
        _ => Adversary::Coalition(observers.to_vec()),
    };
    let mut ours = door::account(&overheard, &towards)?;
    let tapper = run.secrets.map_or(Adversary::WireTapper, Secrets::adversary);
    let mut wire_tapper = door::account(&overheard, &tapper)?;
    // With a server, whoever hears the messages hears what has no noise: only those who see the result are spoken of, and all peers lose to them.
    let everything = way.sees_all();
    if everything != Adversary::WireTapper {
        wire_tapper.leakage.adversary = everything.clone();
        ours.leakage = wire_tapper.leakage.clone();
    }
    let worst = ours.leakage.worst().0;
    // Someone who sees every message may learn most of another peer.
    let exposed = wire_tapper.leakage.worst().0;
    let (mut statements, mut guarantees, mut not_covered) = (Vec::new(), Vec::new(), Vec::new());
    let further = limits::list(&[limits::BOUNDS, limits::COUNTS, limits::MEASURED]);
    let all = if everything == Adversary::WireTapper {
        vec![(&ours, worst), (&wire_tapper, exposed)]
    } else {
        vec![(&wire_tapper, exposed)]
    };
    for (account, worst) in all {
        let most = wire_tapper.guarantee(worst, 1.0, sigma)?;
        let mut guarantee = account.guarantee(worst, 1.0, sigma)?;
        // No peer hears more than someone who sees every message; but many may know more secrets.
        if run.secrets.is_none() {
            guarantee = guarantee.within(&most, delta)?;
        }
        if everything != Adversary::WireTapper {
            guarantee.adversary = everything.clone();
        }
        if let Some(task) = task {
            guarantee.standing = guarantee.standing.given(task.assumptions());
            guarantee.not_covered.extend(task.not_covered());
        }
        let who = format!("peer {}", names.of(worst));
        statements.push(format!("{who}: {}", names.state(&guarantee, delta)?));
        guarantee.not_covered.extend(further.clone());
        let mut said = BTreeSet::new();
        guarantee.not_covered.retain(|limit| said.insert(limit.clone()));
        guarantees.push(Stated::new(format!("{who}, the worst off"), &guarantee, delta)?.named(&names));
        not_covered = guarantee.not_covered;
    }
    Ok(Accounted {
        unit: "one local release",
        names,
        method: way.name(),
        rounds: way.rounds(run.peers),
        sigma,
        ours: ours.leakage,
        wire_tapper: wire_tapper.leakage,
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
        if self.guarantees.len() == 1 {
            let who = self.names.adversary(&self.ours.adversary);
            return format!("No peer loses more than epsilon {} at delta {delta:e} to {who}", shown(0));
        }
        format!(
            "No peer loses more than epsilon {} at delta {delta:e} to {}; to {} it is {}",
            shown(0),
            self.names.adversary(&self.ours.adversary),
            match &self.wire_tapper.adversary {
                Adversary::WireTapper => "someone who sees every message".to_owned(),
                other => self.names.adversary(other),
            },
            shown(1)
        )
    }

    /// Losses of all peers.
    fn list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:<24} leakage", "peer")?;
        for (peer, loss) in self.ours.losses.iter().enumerate() {
            writeln!(f, "  {} {}", self.names.cell(peer, 24), round_up(*loss))?;
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
            self.names.adversary(&self.ours.adversary)
        )?;
        if f.alternate() {
            self.list(f)?;
        }
        let Self { ours, .. } = self;
        let (mean, largest) = (round_up(ours.mean()), round_up(ours.worst().1));
        writeln!(f, "  mean {mean:<12} largest {largest}\n  {}", ours.standing)?;
        writeln!(f, "\nWhat is promised of the peer that loses most")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        crate::terms::not_covered(f, &self.not_covered)
    }
}
