//! An attack on personalised models: someone who sees every message tells two versions of one row apart.
//!
//! ```text
//! row with label +1 ─► runs (the very machines that learn) ─► models that were sent ─► gradients under noise ─┐
//! row with label -1 ─► as many, with other seeds ───────────► models that were sent ─► gradients under noise ─┴─► which? ─► epsilon at least
//! ```
//!
//! A model that was sent gives away its gradient: everything else in the update is public. The attacker knows both versions, and weighs what it heard by the law
//! of the noise (the likelihood ratio; its threshold is fixed beforehand). What its errors prove must not exceed what is claimed.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sottovoce_audit::Attack;
use sottovoce_learning::{Clip, Loss, Shards, Table};
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_privacy::{Adversary, Gdp, Law};
use sottovoce_protocol::personal::{Agent, Message, Plan};
use sottovoce_simulator::network::{Faults, Network};
use sottovoce_simulator::personal::{PersonalRun, PersonalSetup, Rows};
use sottovoce_simulator::record::{Envelope, Recorder};
use sottovoce_topology::Similarity;
use sottovoce_views::{door, parallel};

use super::{Clipped, Hiding, Problem, Terms};
use crate::terms::{Stated, short_up};
use crate::{Result, require};

/// Confidence of the lower bounds.
const CONFIDENCE: f64 = 0.999;

/// What is attacked: an agent with so many rows, of which one is at stake.
#[derive(Debug, Clone)]
pub struct Canary<'a> {
    /// How she hides.
    pub hiding: &'a Hiding,
    /// How her gradients really are clipped: as the law asks, unless a mistake is to be found.
    pub clip: Clip,
    /// What her noise really is, as a share of what it should be: 1, unless a mistake is to be found.
    pub noise: f64,
    /// Her rows.
    pub rows: usize,
    /// Features of a row.
    pub width: usize,
    /// The longest row.
    pub radius: f64,
    /// Whether the row at stake has all features alike, or a single one.
    pub dense: bool,
    /// Weight of her own loss.
    pub mu: f64,
    /// At which epsilons are.
    pub delta: f64,
    /// Logarithm of the likelihood ratio from which the first version is taken for granted: 0, or more for rare and sure bets. Fixed beforehand.
    pub threshold: f64,
}

/// What the attack proved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryFound {
    /// In a sentence.
    pub headline: String,
    /// Rows of the agent.
    pub rows: usize,
    /// Her releases in a run.
    pub releases: usize,
    /// Runs with either version of a row.
    pub runs: usize,
    /// Runs with the first version that were taken for the second.
    pub misses: u64,
    /// The reverse.
    pub false_alarms: u64,
    /// Of the lower bounds, together.
    pub confidence: f64,
    /// No smaller epsilon is true.
    pub epsilon_lower: f64,
    /// Whether the claim survived.
    pub stands: bool,
    /// What is claimed.
    pub guarantees: Vec<Stated>,
}

impl Canary<'_> {
    /// Attacks in so many runs with either version; `done` is called after each.
    pub fn attack(&self, runs: usize, seed: u64, done: impl Fn() + Sync) -> Result<CanaryFound> {
        require(runs > 0, "runs", runs, "give at least 1")?;
        let versions = [self.problem(1.0)?, self.problem(-1.0)?];
        let claimed = self.hiding.plans(&versions[0])?.plans;
        let releases = [claimed[0].releases().collect::<Vec<_>>(), Vec::new()];
        let mut plans = claimed;
        self.weaken(&mut plans[0]);
        let one = |run: usize| self.listen(&versions, &plans, run % 2, Seed(seed).part(1 + run as u64).0);
        let all = parallel::map(2 * runs, one, |_| done()).into_iter().collect::<Result<Vec<usize>>>()?;
        let wrong = |version: usize| {
            all.iter().skip(version).step_by(2).filter(|taken| **taken != version).count() as u64
        };
        let (misses, false_alarms) = (wrong(0), wrong(1));
        let rates =
            Attack::new(misses, runs as u64, false_alarms, runs as u64)?.error_rates(1.0 - CONFIDENCE)?;
        let account = door::account(&door::Models { releases: &releases }, &Adversary::WireTapper)?;
        let guarantee = account.guarantee(0, 1.0, 1.0)?;
        let claimed = account.leakage.epsilons(self.delta)?[0];
        let stated = Stated::at("one row of the agent", &guarantee, self.delta, claimed);
        let mut epsilon_lower = rates.epsilon_lower(self.delta)?;
        if self.hiding.law == Law::Gaussian && rates.mu_lower() > 0.0 && self.delta > 0.0 {
            // What is claimed of Gaussian noise is a Gaussian loss.
            let proven = Gdp::new(rates.mu_lower())?.epsilon(self.delta)?.lower;
            epsilon_lower = if proven > epsilon_lower { proven } else { epsilon_lower };
        }
        let stands = stated.epsilon.is_some_and(|claimed| epsilon_lower <= claimed);
        Ok(CanaryFound {
            headline: format!(
                "Whoever sees every message loses {} of {} bets on a row; epsilon {} at least, {} claimed: the claim {}",
                misses + false_alarms,
                2 * runs,
                // Never more than was proven.
                (epsilon_lower * 1e3).floor() / 1e3,
                stated.epsilon.map_or_else(|| "none".to_owned(), short_up),
                if stands { "stands" } else { "FELL" }
            ),
            rows: self.rows,
            releases: releases[0].len(),
            runs,
            misses,
            false_alarms,
            confidence: CONFIDENCE,
            epsilon_lower,
            stands,
            guarantees: vec![stated],
        })
    }

    /// Two agents: one whose first row has this label and whose other rows say nothing, and one without rows, who never moves.
    fn problem(&self, label: f64) -> Result<Problem> {
        require(self.rows > 0, "rows", 0, "give at least one")?;
        let mut features = vec![0.0; self.rows * self.width];
        let each = self.radius / (self.width as f64).sqrt() * (1.0 - 1e-12);
        match self.dense {
            true => features[..self.width].fill(each),
            false => features[0] = self.radius,
        }
        let mut labels = vec![1.0; self.rows];
        labels[0] = label;
        let table = Table::new(features, self.width, labels)?;
        let train = Shards::some_without(&table, &[(0..self.rows).collect(), Vec::new()])?;
        let similarity = Similarity::new(2, &[(0, 1, 1.0)])?;
        let terms = Terms::alike(&train, self.mu, 1e-3);
        Problem::over(similarity, train, Loss::Logistic, self.radius, terms)
    }

    /// Makes the mistake that is to be found.
    fn weaken(&self, plan: &mut Plan) {
        if let Some(hidden) = &mut plan.hidden {
            hidden.multipliers = hidden.multipliers.iter().map(|noise| noise * self.noise).collect();
        }
    }

    /// One run with this version of the row: for which the attacker takes it.
    fn listen(&self, versions: &[Problem; 2], plans: &[Plan], version: usize, seed: u64) -> Result<usize> {
        let mut plans = plans.to_vec();
        plans[1].updates = 0;
        let rows = [Clipped::new(&versions[0], self.clip)?, Clipped::new(&versions[1], self.clip)?];
        let setup = PersonalSetup::new(versions[0].similarity(), vec![0.0; self.width], &plans, seed)?;
        let (network, faults) = (Network::perfect(), Faults::default());
        let run = PersonalRun { setup, network, faults, newcomers: Vec::new(), deadline: Duration::MAX };
        let mut sent = Sent(Vec::new());
        run.simulation(&rows[version])?.recorder(&mut sent).end(|_| {});
        let mut before = vec![0.0; self.width];
        let mut ratio = 0.0;
        for (update, after) in sent.0.iter().enumerate() {
            let Some(release) = plans[0].release(update) else { break };
            let rule = plans[0].rule;
            let kept = 1.0 - rule.size - rule.size * rule.pull * rule.ridge;
            let (mut one, mut other) = (vec![0.0; self.width], vec![0.0; self.width]);
            rows[0].gradient(0, update, &before, &mut one);
            rows[1].gradient(0, update, &before, &mut other);
            for k in 0..self.width {
                // Her neighbour is at 0.
                let heard = (kept * before[k] - after[k]) / (rule.size * rule.pull);
                ratio += match self.hiding.law {
                    Law::Gaussian => {
                        ((heard - other[k]).powi(2) - (heard - one[k]).powi(2))
                            / (2.0 * release.scale.powi(2))
                    }
                    Law::Laplace | Law::Radial => {
                        ((heard - other[k]).abs() - (heard - one[k]).abs()) / release.scale
                    }
                };
            }
            before.clone_from(after);
        }
        Ok(usize::from(ratio < self.threshold))
    }
}

/// The models of the first agent, as they were sent.
struct Sent(Vec<Vec<f64>>);

impl Recorder<Agent> for Sent {
    fn delivered(&mut self, envelope: &Envelope<'_, Agent>) {
        if let (0, Message::Model { model, .. }) = (envelope.from, envelope.message) {
            self.0.push(model.clone());
        }
    }
}

impl fmt::Display for CanaryFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(
            f,
            "  an agent with {} rows, of which one has either label; {} releases in a run",
            self.rows, self.releases
        )?;
        writeln!(
            f,
            "  {} runs each: {} and {} taken for the other",
            self.runs, self.misses, self.false_alarms
        )?;
        writeln!(
            f,
            "  epsilon at delta {}: {:.4} at least (confidence {})",
            self.guarantees.first().map_or(0.0, |stated| stated.delta),
            self.epsilon_lower,
            self.confidence
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Amount, Budgets};
    use super::*;
    use sottovoce_privacy::allotment::{Allocation, Method};

    fn hiding(law: Law) -> Hiding {
        let method = if law == Law::Gaussian { Method::Gdp } else { Method::Pld };
        let budgets = Budgets {
            epsilon: 2.0,
            others: BTreeMap::new(),
            delta: 1e-5,
            method,
            allocation: Allocation::Uniform,
        };
        Hiding { law, clip: 0.25, centring: 0.0, updates: 3, amount: Amount::Budget(budgets), warm: None }
    }

    fn attacked(law: Law, clip: Clip, noise: f64, dense: bool) -> CanaryFound {
        sure(law, clip, (noise, dense), 0.0, 3000)
    }

    fn sure(law: Law, clip: Clip, (noise, dense): (f64, bool), threshold: f64, runs: usize) -> CanaryFound {
        let hiding = hiding(law);
        let canary = Canary {
            hiding: &hiding,
            clip,
            noise,
            rows: 12,
            width: 16,
            radius: 1.0,
            dense,
            mu: 1.0,
            delta: 1e-5,
            threshold,
        };
        canary.attack(runs, 5, || {}).unwrap()
    }

    #[test]
    fn claims_stand_and_mistakes_are_found() {
        for dense in [false, true] {
            let gaussian = attacked(Law::Gaussian, Clip::Example(0.25), 1.0, dense);
            assert!(gaussian.stands && gaussian.epsilon_lower > 1.0, "{}", gaussian.headline);
            let laplace = attacked(Law::Laplace, Clip::ExampleL1(0.25), 1.0, dense);
            assert!(laplace.stands, "{}", laplace.headline);
            assert!(!attacked(Law::Gaussian, Clip::Example(0.25), 0.5, dense).stands);
        }
        // A single coordinate shows most of what Laplace noise lets through.
        assert!(attacked(Law::Laplace, Clip::ExampleL1(0.25), 1.0, false).epsilon_lower > 0.5);
        assert!(!attacked(Law::Laplace, Clip::ExampleL1(0.25), 0.25, false).stands);
        // Clipped in the wrong norm a row moves the gradient four times as far, in all coordinates together: seen by bets that are rare and sure.
        let wrong = sure(Law::Laplace, Clip::Example(0.25), (1.0, true), 2.5, 30_000);
        assert!(!wrong.stands, "{}", wrong.headline);
        let right = sure(Law::Laplace, Clip::ExampleL1(0.25), (1.0, true), 2.5, 30_000);
        assert!(right.stands, "{}", right.headline);
    }
}
