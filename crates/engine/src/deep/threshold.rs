//! The consensus paper's attack (its appendix D): many nets learned with one image and as many without it; whose loss on it is low was learned with it.
//!
//! The last row of the target is the image at stake. It has its place in either case, so that rates and divisors, which are public, are the same: without it the row
//! contributes nothing. All nets start alike; noise and lots are drawn anew. The threshold is chosen on the first fifth of the losses, and errors are counted on the rest.

use std::fmt;

use serde::Serialize;
use sottovoce_learning::Images;
use sottovoce_learning::net::Tally;
use sottovoce_privacy::Adversary;
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::{Peer, Shared};
use sottovoce_simulator::consensus::{BulkConsensus, ConsensusSetup, Course, Trainer};
use sottovoce_views::door::{self, Drawn};
use sottovoce_views::parallel;

use super::trials::{Counted, Trials};
use super::{Gradients, Setting, SideBySide};
use crate::terms::{Stated, short_up};
use crate::{Error, Result, require};

/// Confidence of the lower bound: two one-sided limits of half the rest each, as printed.
const CONFIDENCE: f64 = 0.95;
/// Bars of a histogram.
const BARS: usize = 40;
/// Fewer nets tell nothing.
const FEWEST: usize = 10;

/// What the attack proved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThresholdFound {
    /// In a sentence.
    pub headline: String,
    /// Nets that were learned with the image, and as many without it.
    pub models: usize,
    /// Rounds of each.
    pub rounds: usize,
    /// Whose image it is.
    pub agent: Peer,
    /// Her images with it.
    pub rows: usize,
    /// How likely each of them is in a lot.
    pub rate: f64,
    /// Her noise as a multiple of the largest norm of an image's gradient.
    pub noise_multiplier: f64,
    /// Losses up to this one are taken for those of nets that were learned with the image: chosen on the first fifth.
    pub threshold: f64,
    /// Nets with the image that were bet on.
    pub members: u64,
    /// Of these, taken for nets without.
    pub misses: u64,
    /// Nets without the image that were bet on.
    pub strangers: u64,
    /// Of these, taken for nets with it.
    pub false_alarms: u64,
    /// Of the lower bound.
    pub confidence: f64,
    /// No smaller epsilon is true.
    pub epsilon_lower: f64,
    /// Whether the claim survived.
    pub stands: bool,
    /// How losses on the image are spread.
    pub histogram: Histogram,
    /// What is claimed.
    pub guarantees: Vec<Stated>,
    /// Every loss on the image: of nets with it, and of nets without.
    #[serde(skip)]
    pub losses: [Vec<f64>; 2],
}

/// How many losses fall between neighbouring edges.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Histogram {
    /// Edges of the bars: one more than there are bars.
    pub edges: Vec<f64>,
    /// Losses of nets that were learned with the image.
    pub with: Vec<usize>,
    /// Losses of nets that were learned without it.
    pub without: Vec<usize>,
}

/// Attacks the last row of an agent by so many nets with it and without it; `done` is called after each. A card, if one is given that computes the net, learns them all side by side.
pub fn threshold(
    setting: &Setting,
    target: Peer,
    models: usize,
    card: Option<&dyn SideBySide>,
    done: impl Fn() + Sync,
) -> Result<ThresholdFound> {
    require(models >= FEWEST, "models", models, format!("give at least {FEWEST}"))?;
    if let Some(secrets) = &setting.secrets {
        let remedy = "who knows one net alone learns little behind the noise of pairs: attack by canaries, who listens to all";
        return Err(Error::parameter("cancel", secrets.pairs().kappa(), remedy));
    }
    let hidden = setting.hidden.get(target).copied().flatten().filter(|hidden| hidden.multiplier > 0.0);
    let hidden =
        hidden.ok_or_else(|| Error::parameter("agent", target, "nothing is claimed of her; give another"))?;
    let all = match card.filter(|card| card.takes(&setting.net)) {
        Some(card) => side_by_side(card, setting, target, 2 * models)?,
        None => {
            let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
            let start: Shared = setting.net.start(setting.seed).into();
            let one = |run: usize| learned(setting, &gradients, &start, (target, run)).map(f64::from);
            parallel::map(2 * models, one, |_| done()).into_iter().collect::<Result<Vec<f64>>>()?
        }
    };
    let of = |which: usize| all.iter().skip(which).step_by(2).copied().collect::<Vec<f64>>();
    let losses = [of(0), of(1)];
    let scores = |losses: &[f64]| losses.iter().map(|loss| -loss).collect();
    let trials = Trials { members: scores(&losses[0]), strangers: scores(&losses[1]) };
    let counted = trials.counted(1.0 - CONFIDENCE, |rates| Ok(rates.epsilon_lower(setting.delta)?))?;
    let epsilon_lower = counted.rates.epsilon_lower(setting.delta)?;
    let draws = [setting.draws[target]];
    let account = door::account(&Drawn::alone(&[Some(hidden)], &draws), &Adversary::WireTapper)?;
    let stated = Stated::new("one image", &account.guarantee(0, 1.0, 1.0)?, setting.delta)?;
    let stands = stated.epsilon.is_some_and(|claimed| epsilon_lower <= claimed);
    let Counted { misses, members, false_alarms, strangers, threshold, .. } = counted;
    Ok(ThresholdFound {
        headline: format!(
            "Who knows a net loses {} of {} bets on an image; epsilon {} at least, {} claimed at delta {}: the claim {}",
            misses + false_alarms,
            members + strangers,
            // Never more than was proven.
            (epsilon_lower * 1e3).floor() / 1e3,
            stated.epsilon.map_or_else(|| "none".to_owned(), short_up),
            setting.delta,
            if stands { "stands" } else { "FELL" }
        ),
        models,
        rounds: setting.plan.iterations,
        agent: target,
        rows: hidden.lots.rows(),
        rate: hidden.lots.rate(),
        noise_multiplier: hidden.multiplier,
        threshold: -threshold,
        members,
        misses,
        strangers,
        false_alarms,
        confidence: CONFIDENCE,
        epsilon_lower,
        stands,
        histogram: Histogram::of(&losses),
        guarantees: vec![stated],
        losses,
    })
}

/// The seed of a net's lots and noise.
fn seed(setting: &Setting, run: usize) -> u64 {
    Seed(setting.seed).part(1 + run as u64).0
}

/// The same nets as [`learned`], all at once: their losses on the image.
fn side_by_side(card: &dyn SideBySide, setting: &Setting, target: Peer, runs: usize) -> Result<Vec<f64>> {
    let held = &setting.holdings.rows;
    let begins = held.iter().scan(0, |end, images| {
        let begin = *end;
        *end += images.len();
        Some((begin..*end).collect::<Vec<usize>>())
    });
    let rows: Vec<Vec<usize>> = begins.collect();
    let last = held[target].len().saturating_sub(1);
    let course = |run: usize| Course {
        mixing: setting.mixing.clone(),
        plan: setting.plan,
        rows: rows.clone(),
        absent: (run % 2 == 1).then_some((target, last)),
        hidden: setting.hidden.clone(),
        draws: setting.draws.clone(),
        start: setting.seed,
        seed: seed(setting, run),
    };
    let courses: Vec<Course> = (0..runs).map(course).collect();
    let none = || Error::parameter("agent", target, "nobody has images");
    let train = held.iter().cloned().reduce(Images::and).ok_or_else(none)?;
    let found = card.learn(&train, &held[target].gather(&[last])?, &courses, &|_, _| ())?;
    let loss = |told: Option<Vec<Tally>>| {
        let remedy = "a model is no longer made of numbers; lower them";
        told.map(|told| told[target].loss).ok_or_else(|| Error::parameter("rates", "too large", remedy))
    };
    found.into_iter().map(loss).collect()
}

/// A net that is learned with the image, or where the number of the run is odd without it: its loss on the image.
fn learned(
    setting: &Setting,
    gradients: &Gradients<'_>,
    start: &Shared,
    (target, run): (Peer, usize),
) -> Result<f32> {
    let images = &setting.holdings.rows[target];
    let last = images.len().saturating_sub(1) as u32;
    let trainer = Without { gradients, target, row: (run % 2 == 1).then_some(last) };
    let seed = seed(setting, run);
    let setup = ConsensusSetup::new(&setting.mixing, start.clone(), setting.plan, &setting.hidden, seed)?;
    let mut bulk = BulkConsensus::new(setup, &trainer)?;
    bulk.advance(setting.plan.iterations)?;
    let mut losses = Vec::new();
    let model = bulk.models().nth(target).cloned().unwrap_or_default();
    gradients.with_room(|room| setting.net.losses(&model, images, &[last], room, &mut losses))?;
    Ok(losses[0])
}

/// A trainer to whom one row of an agent is missing, if one is.
struct Without<'a> {
    gradients: &'a Gradients<'a>,
    target: Peer,
    row: Option<u32>,
}

impl Trainer for Without<'_> {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        if agent != self.target {
            return self.gradients.add_clipped(agent, picked, clip, model, sum);
        }
        let kept: Vec<u32> = picked.iter().copied().filter(|row| Some(*row) != self.row).collect();
        self.gradients.add_clipped(agent, &kept, clip, model, sum);
    }
}

impl Histogram {
    fn of(losses: &[Vec<f64>; 2]) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &loss in losses.iter().flatten() {
            low = if loss < low { loss } else { low };
            high = if loss > high { loss } else { high };
        }
        let width = (high - low) / BARS as f64;
        let bar = |loss: f64| (((loss - low) / width) as usize).min(BARS - 1); // whole numbers
        let counts = |losses: &[f64]| {
            let mut counts = vec![0; BARS];
            losses.iter().for_each(|loss| counts[bar(*loss)] += 1);
            counts
        };
        let edges = (0..=BARS).map(|edge| low + width * edge as f64).collect();
        Self { edges, with: counts(&losses[0]), without: counts(&losses[1]) }
    }
}

impl fmt::Display for ThresholdFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let Self { models, rounds, rows, rate, noise_multiplier, confidence, .. } = self;
        writeln!(f, "  {models} nets with the image and {models} without it, of {rounds} rounds each")?;
        writeln!(
            f,
            "  its agent has {rows} images with it, drawn at rate {rate}, under noise of {noise_multiplier:.3} times the clip"
        )?;
        let Self { members, misses, strangers, false_alarms, threshold, .. } = self;
        writeln!(
            f,
            "  losses up to {threshold:.4} are taken for nets with it: {misses} of {members} missed, {false_alarms} of {strangers} false alarms"
        )?;
        let delta = self.guarantees.first().map_or(0.0, |stated| stated.delta);
        writeln!(
            f,
            "  epsilon at delta {delta}: {:.4} at least (confidence {confidence})",
            self.epsilon_lower
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_hold_every_loss() {
        let histogram = Histogram::of(&[vec![0.5, 1.0, 1.0], vec![2.5, 0.5]]);
        assert_eq!((histogram.edges[0], histogram.edges[BARS]), (0.5, 2.5));
        assert_eq!((histogram.with[0], histogram.with[BARS / 4]), (1, 2));
        assert_eq!((histogram.without[0], histogram.without[BARS - 1]), (1, 1));
        let alike = Histogram::of(&[vec![1.0; 3], vec![1.0; 2]]);
        assert_eq!((alike.with.iter().sum::<usize>(), alike.without.iter().sum::<usize>()), (3, 2));
    }
}
