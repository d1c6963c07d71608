//! An attack on a net in one run: someone who sees every message bets on many canaries at once.
//!
//! ```text
//! coins: which canaries are in ─► one run (the very driver that learns) ─► messages ─► draws (heard.rs) ─► a score for each canary ─► in or out? ─► epsilon at least
//! ```
//!
//! All rows of one agent are canaries (`planted.rs`), each in or out by a fair coin of its own. A canary's score is what the draws have along its direction. Two tests
//! are made of the scores, at a joint confidence (`docs/theorems/audit-bounds.md`, section 3):
//!
//! * **in one run**: the surest tenth of guesses either way; holds whatever the mechanism is;
//! * **as trials**: canaries taken for independent trials, against the *whole* claimed curve of epsilons. It assumes that noises of different parameters are independent;
//!   it sees noise that is half of what is claimed, which the first test, made for any mechanism, often cannot.

use std::fmt;

use rand::RngExt;
use serde::Serialize;
use sottovoce_audit::OneRun;
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_privacy::{Adversary, Guarantee, limits};
use sottovoce_protocol::Peer;
use sottovoce_protocol::consensus::{Band, Hidden, Plan, Rule};
use sottovoce_simulator::consensus::BulkConsensus;
use sottovoce_views::door::{self, Drawn, hidden_by_pairs};

use super::adam::Unstepped;
use super::heard::adam_alone;
use super::trials::{Counted, Trials};
use super::{Gradients, Mistake, Planted, Setting};
use crate::terms::{Stated, short_up};
use crate::{Error, Result, require};

mod ears;

use ears::Ears;

/// Confidence of both tests together.
const CONFIDENCE: f64 = 0.999;
/// More canaries are not planted.
const MOST: usize = 20_000;
/// Fewer tell nothing.
const FEWEST: usize = 20;
/// The deltas at which the claimed curve is tested, beside its own.
const DELTAS: [f64; 14] = [0.8, 0.6, 0.5, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.02, 1e-2, 1e-3];

/// What the attack proved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanariesFound {
    /// In a sentence.
    pub headline: String,
    /// Whose rows are canaries.
    pub agent: Peer,
    /// How many there are, each in or out by a fair coin.
    pub canaries: usize,
    /// How many are in.
    pub planted: usize,
    /// Her private draws in the run.
    pub draws: usize,
    /// The surest guesses: a tenth for in, and a tenth for out.
    pub guesses: u64,
    /// Of these, right.
    pub correct: u64,
    /// No smaller epsilon is true, whatever the mechanism.
    pub epsilon_lower: f64,
    /// Canaries that were bet on as independent trials: those that are in.
    pub members: u64,
    /// Of these, taken for out.
    pub misses: u64,
    /// Those that are out.
    pub strangers: u64,
    /// Of these, taken for in.
    pub false_alarms: u64,
    /// No smaller Gaussian loss is true, if trials are independent.
    pub mu_lower: f64,
    /// Where on the claimed curve the trials come closest to it, or pass it.
    pub closest: Closest,
    /// Of all lower bounds together.
    pub confidence: f64,
    /// Whether the claim survived.
    pub stands: bool,
    /// What is claimed.
    pub guarantees: Vec<Stated>,
}

/// A point of the claimed curve, and what trials prove there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Closest {
    /// At which epsilons are.
    pub delta: f64,
    /// Claimed there.
    pub claimed: f64,
    /// No smaller one is true there, if trials are independent.
    pub epsilon_lower: f64,
}

/// Whom the attack is on: the agent with most rows whose gradients are hidden, the first of them.
pub fn target(setting: &Setting) -> Result<Peer> {
    let rows =
        |agent: &Peer| setting.hidden[*agent].filter(|hidden| hidden.multiplier > 0.0).map(|h| h.lots.rows());
    let hidden = (0..setting.hidden.len()).rev().filter(|agent| rows(agent).is_some());
    hidden
        .max_by_key(rows)
        .ok_or_else(|| Error::parameter("noise-multiplier", 0, "without noise nothing is claimed; give some"))
}

/// Attacks an agent in one run with canaries in place of her rows; `done` is called after every round.
pub fn canaries(
    setting: &Setting,
    gradients: &Gradients<'_>,
    target: Peer,
    mistake: Option<Mistake>,
    done: impl FnMut(),
) -> Result<CanariesFound> {
    let (there, scores, draws) = scored(setting, gradients, target, mistake, done)?;
    judged(&claim(setting, target)?, &scores, &there, (target, draws))
}

fn hidden_of(setting: &Setting, target: Peer) -> Result<Hidden> {
    let hidden = setting.hidden.get(target).copied().flatten().filter(|hidden| hidden.multiplier > 0.0);
    hidden.ok_or_else(|| Error::parameter("agent", target, "nothing is claimed of her; give another"))
}

/// Which canaries are in, the score of each, and how many draws there were.
fn scored(
    setting: &Setting,
    gradients: &Gradients<'_>,
    target: Peer,
    mistake: Option<Mistake>,
    done: impl FnMut(),
) -> Result<(Vec<bool>, Vec<f64>, usize)> {
    let hidden = hidden_of(setting, target)?;
    let count = hidden.lots.rows().min(setting.net.plantable()).min(MOST); // whole numbers
    let few = format!("canaries take the place of images; give the agent at least {FEWEST}");
    require(count >= FEWEST, "images", count, few)?;
    let mut coins = Seed(setting.seed).stream(Stream::Coins, target as u64, 0);
    let there: Vec<bool> = (0..count).map(|_| coins.random_bool(0.5)).collect();
    let mut planted = Planted::new((gradients, &setting.net), (target, hidden.lots), &there, mistake);
    if setting.secrets.is_some() {
        planted = planted.among_known();
    }
    let (scores, draws) = listened(setting, &planted, (target, hidden.band), mistake, done)?;
    Ok((there, scores, draws))
}

/// What is claimed.
struct Claim {
    guarantee: Guarantee,
    delta: f64,
    /// Pairs of delta and epsilon, all claimed together.
    curve: Vec<(f64, f64)>,
}

fn claim(setting: &Setting, target: Peer) -> Result<Claim> {
    let hidden = match &setting.secrets {
        // As if by louder noise of her own.
        Some(secrets) => hidden_by_pairs(&setting.hidden, secrets.losses()).get(target).copied().flatten(),
        None => None,
    };
    let hidden = hidden.map_or_else(|| hidden_of(setting, target), Ok)?;
    let draws = [setting.draws[target]];
    let account = door::account(&Drawn::alone(&[Some(hidden)], &draws), &Adversary::WireTapper)?;
    let mut guarantee = account.guarantee(0, 1.0, 1.0)?;
    if let Some(secrets) = &setting.secrets {
        guarantee.adversary = secrets.adversary();
        guarantee.not_covered.push(limits::SECRETS.to_owned());
    }
    let at = |delta: f64| Ok((delta, account.leakage.epsilons(delta)?[0]));
    let mut curve = [setting.delta].into_iter().chain(DELTAS).map(at).collect::<Result<Vec<_>>>()?;
    // Where epsilon is 0 nothing is compared: the next smaller delta says more.
    curve.retain(|(delta, epsilon)| *epsilon > 0.0 || *delta == setting.delta);
    Ok(Claim { guarantee, delta: setting.delta, curve })
}

/// One run: what the draws have along each canary, and how many there were.
fn listened(
    setting: &Setting,
    planted: &Planted<'_>,
    (target, band): (Peer, Band),
    mistake: Option<Mistake>,
    mut done: impl FnMut(),
) -> Result<(Vec<f64>, usize)> {
    let mut hidden = setting.hidden.clone();
    if let Some(Mistake::Noise(share)) = mistake {
        hidden.iter_mut().flatten().for_each(|hidden| hidden.multiplier *= share);
    }
    let start = setting.net.start(setting.seed).into();
    let mut ears = Ears::new(setting, target, &hidden)?;
    let mut bulk = BulkConsensus::new(setting.setup(&hidden, start)?, planted)?;
    let mut scores = Scores::new(planted.places(), band, &setting.plan);
    while bulk.round() < setting.plan.iterations {
        scores.add(&ears.round(setting, &mut bulk)?);
        done();
    }
    Ok((scores.best(), bulk.draws()[target]))
}

/// What draws have along canaries. Where noises are correlated they are made independent first, and what is added up is what a row with its turn in one draw of every cycle
/// adds; the attacker does not know the turn, and takes the one that fits best.
struct Scores {
    /// The parameter of each canary.
    places: Vec<usize>,
    diagonals: Vec<f64>,
    /// The last draws along the canaries, the latest first.
    past: std::collections::VecDeque<Vec<f64>>,
    round: usize,
    /// For each turn, and each canary.
    sums: Vec<Vec<f64>>,
    /// For each canary, where sums are measured by it: behind Adam's steps draws are known up to a unit of their own along each parameter.
    squares: Option<Vec<f64>>,
    /// What Adam keeps of its means, and what is behind its steps along each canary, where they are heard one by one.
    adam: Option<((f64, f64), Vec<Unstepped>)>,
}

impl Scores {
    fn new(places: Vec<usize>, band: Band, plan: &Plan) -> Self {
        let (diagonals, canaries) = (band.diagonals(), places.len());
        let sums = vec![vec![0.0; canaries]; diagonals.len()];
        let squares = matches!(plan.optimiser.rule, Rule::Adam { .. }).then(|| vec![0.0; canaries]);
        let adam = adam_alone(plan).map(|keeps| (keeps, vec![Unstepped::default(); canaries]));
        Self { places, diagonals, past: Default::default(), round: 0, sums, squares, adam }
    }

    fn add(&mut self, draw: &[f64]) {
        let mut draw: Vec<f64> = self.places.iter().map(|place| draw[*place]).collect();
        if let Some((keeps, canaries)) = &mut self.adam {
            draw.iter_mut().zip(canaries).for_each(|(draw, canary)| *draw = canary.hear(*keeps, *draw));
        }
        self.past.push_front(draw);
        self.past.truncate(self.diagonals.len());
        let width = self.diagonals.len();
        for canary in 0..self.places.len() {
            let fresh: f64 = self.past.iter().zip(&self.diagonals).map(|(draw, c)| c * draw[canary]).sum();
            if let Some(squares) = &mut self.squares {
                squares[canary] += fresh * fresh;
            }
            for (k, c) in self.diagonals.iter().enumerate().take(self.round + 1) {
                self.sums[(self.round - k) % width][canary] += c * fresh;
            }
        }
        self.round += 1;
    }

    fn best(self) -> Vec<f64> {
        let larger = |one: f64, other: f64| if other > one { other } else { one };
        let best = |canary: usize| self.sums.iter().map(|sums| sums[canary]).fold(f64::NEG_INFINITY, larger);
        let length = |canary: usize| match &self.squares {
            Some(squares) if squares[canary] > 0.0 => squares[canary].sqrt(),
            _ => 1.0,
        };
        (0..self.places.len()).map(|canary| best(canary) / length(canary)).collect()
    }
}

/// Both tests.
fn judged(
    claim: &Claim,
    scores: &[f64],
    there: &[bool],
    (agent, draws): (Peer, usize),
) -> Result<CanariesFound> {
    let significance = (1.0 - CONFIDENCE) / 2.0;
    let (guesses, correct) = surest(scores, there);
    let epsilon_lower = OneRun::new(scores.len() as u64, guesses, correct)?.epsilon_lower(
        claim.delta,
        significance,
        sottovoce_audit::Rule::Sharp,
    )?;
    let trials = |which: bool| {
        let same = scores.iter().zip(there).filter(|(_, there)| **there == which);
        same.map(|(score, _)| *score).collect::<Vec<f64>>()
    };
    let trials = Trials { members: trials(true), strangers: trials(false) };
    let counted =
        trials.counted(significance, |rates| Ok(1.0 - rates.false_negative() - rates.false_positive()))?;
    let closest = closest(claim, &counted)?;
    let stated = Stated::new("one row of the agent", &claim.guarantee, claim.delta)?;
    let whole = closest.epsilon_lower <= closest.claimed;
    let stands = whole && stated.epsilon.is_some_and(|claimed| epsilon_lower <= claimed);
    // Where the trials pass the curve, that is the news; else what holds whatever the mechanism is.
    let (lower, claimed, delta) = match (whole, stated.epsilon) {
        (true, Some(claimed)) => (epsilon_lower, claimed, claim.delta),
        _ => (closest.epsilon_lower, closest.claimed, closest.delta),
    };
    let Counted { misses, members, false_alarms, strangers, rates, .. } = counted;
    Ok(CanariesFound {
        headline: format!(
            "Whoever sees every message loses {} of {} bets on canaries in one run; epsilon {} at least, {} claimed at delta {}: the claim {}",
            misses + false_alarms,
            members + strangers,
            // Never more than was proven.
            (lower * 1e3).floor() / 1e3,
            short_up(claimed),
            delta,
            if stands { "stands" } else { "FELL" }
        ),
        agent,
        canaries: scores.len(),
        planted: there.iter().filter(|there| **there).count(),
        draws,
        guesses,
        correct,
        epsilon_lower,
        members,
        misses,
        strangers,
        false_alarms,
        mu_lower: rates.mu_lower(),
        closest,
        confidence: CONFIDENCE,
        stands,
        guarantees: vec![stated],
    })
}

/// Guesses about the tenth with the highest scores, which are in, and the tenth with the lowest, which are out: how many, and how many are right.
fn surest(scores: &[f64], there: &[bool]) -> (u64, u64) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let tenth = scores.len() / 10;
    let right = |canaries: &[usize], which: bool| canaries.iter().filter(|c| there[**c] == which).count();
    let correct = right(&order[..tenth], true) + right(&order[order.len() - tenth..], false);
    (2 * tenth as u64, correct as u64)
}

/// The point of the claimed curve that is passed by most, or comes closest. All points are claimed together, and the limits on both rates hold together.
fn closest(claim: &Claim, counted: &Counted) -> Result<Closest> {
    let mut closest: Option<(f64, Closest)> = None;
    for &(delta, claimed) in &claim.curve {
        let here = Closest { delta, claimed, epsilon_lower: counted.rates.epsilon_lower(delta)? };
        let over = over(counted, claimed) - delta;
        if closest.is_none_or(|(most, _)| over > most) {
            closest = Some((over, here));
        }
    }
    let nothing = || Error::parameter("delta", claim.delta, "nothing is claimed; give another");
    closest.map(|(_, point)| point).ok_or_else(nothing)
}

/// How far trials are from an epsilon: no mechanism with it and such rates has a smaller delta than this; below 0 where they prove nothing.
fn over(counted: &Counted, epsilon: f64) -> f64 {
    let (miss, alarm) = (counted.rates.false_negative(), counted.rates.false_positive());
    let (one, other) = (1.0 - miss - epsilon.exp() * alarm, 1.0 - alarm - epsilon.exp() * miss);
    if one > other { one } else { other }
}

impl fmt::Display for CanariesFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let Self { canaries, planted, draws, guesses, correct, confidence, .. } = self;
        writeln!(
            f,
            "  {canaries} canaries in place of an agent's images, {planted} of them in; {draws} private draws"
        )?;
        let delta = self.guarantees.first().map_or(0.0, |stated| stated.delta);
        writeln!(
            f,
            "  in one run, whatever the mechanism: {correct} of the {guesses} surest guesses are right;\n  \
             epsilon at delta {delta:e} is {:.4} at least",
            self.epsilon_lower
        )?;
        let Self { members, misses, strangers, false_alarms, .. } = self;
        writeln!(
            f,
            "  as independent trials: {misses} of {members} taken for out, {false_alarms} of {strangers} for in;\n  \
             Gaussian loss {:.4} at least; at delta {:.3e} epsilon {:.4} at least, {} claimed",
            self.mu_lower,
            self.closest.delta,
            self.closest.epsilon_lower,
            short_up(self.closest.claimed)
        )?;
        writeln!(f, "  confidence of both together: {confidence}")
    }
}

#[cfg(test)]
mod tests;
