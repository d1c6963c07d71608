//! Noise on a sum that moves by a random amount: up under `P`, down under `Q`.
//!
//! A Poisson sample holds some of the records that only the first data set has, which move the sum up, or some of those that only the second has,
//! which move it down. All noises here are log-concave, so the loss grows with the outcome, and whatever exceeds a loss is a half-line. That this
//! pair dominates, whatever the records are: `docs/theorems/group-privacy.md`.

use super::law::{Masses, mixed_loss};
use crate::interval::{largest, smaller};
use crate::mechanism::Noise;
use crate::special::{UNIT, ln_normal_above, normal_above, tail_error};
use crate::{Error, Result};

/// Outcomes of the table from which a search starts.
const TABLE: usize = 1024;
/// Most steps of a search; four are usual.
const STEPS: usize = 200;
/// Deviations of Gaussian noise, beyond which doubles hold no probability.
const FAR: f64 = 40.0;
/// Most outcomes whose tails are kept.
const MOST_KEPT: f64 = 2e4;
/// Most deviations of discrete Gaussian noise.
const MOST_DEVIATION: f64 = 1e5;

/// The two laws.
#[derive(Debug, Clone)]
pub(crate) struct Shifts {
    noise: Centred,
    up: Moves,
    down: Moves,
    /// Losses at evenly spaced outcomes.
    table: Vec<f64>,
    first: f64,
    step: f64,
    /// Of noise on whole numbers, few enough: what lies above each outcome, and what does not.
    outcomes: Vec<Tails>,
}

/// Probabilities about an outcome: that it is exceeded, and that it is not; under `P`, and under `Q`.
#[derive(Debug, Clone, Copy)]
struct Tails {
    loss: f64,
    above: [f64; 2],
    at_most: [f64; 2],
}

/// How far a sum moves, and with what probability; the first is 0.
#[derive(Debug, Clone)]
struct Moves {
    all: Vec<(f64, f64)>,
    /// The probability that it moves.
    share: f64,
}

/// Noise about 0.
#[derive(Debug, Clone)]
enum Centred {
    Gaussian {
        sigma: f64,
    },
    Laplace {
        scale: f64,
    },
    /// With `P[X > t] / P[X = t + 1]` for `t = 0, 1, ...`, and `-ln P[X = 0]`.
    DiscreteGaussian {
        sigma: f64,
        ratios: Vec<f64>,
        ln_total: f64,
    },
    DiscreteLaplace {
        scale: f64,
    },
}

impl Shifts {
    /// Sums that move by `unit` for each record in the sample, of `up` and `down` records. `gap` numbers of records in a row count as the largest of them.
    pub(crate) fn new(noise: Noise, unit: f64, rate: f64, [up, down]: [u64; 2], gap: u64) -> Result<Self> {
        let moves = |records: u64| Moves::binomial(records, rate, gap, unit * contribution(noise));
        let (up, down) = (moves(up), moves(down));
        let noise = Centred::new(noise, up.largest() + down.largest())?;
        let beyond = noise.reach();
        let (first, last) = (-down.largest() - beyond, up.largest() + beyond);
        let step = (last - first) / TABLE as f64;
        let mut shifts = Self { noise, up, down, table: Vec::new(), first, step, outcomes: Vec::new() };
        shifts.table = (0..=TABLE).map(|i| shifts.loss(first + i as f64 * step).0).collect();
        let (low, high) = (first.floor(), last.ceil());
        if shifts.noise.is_discrete() && high - low <= MOST_KEPT {
            shifts.outcomes = (0..=(high - low) as u32).map(|i| shifts.tails(low + f64::from(i))).collect();
        }
        Ok(shifts)
    }

    fn tails(&self, x: f64) -> Tails {
        let of = |mirror: bool| {
            let place = |shift: f64| if mirror { self.noise.mirrored(x - shift) } else { x - shift };
            let p = self.up.mean(|shift| self.noise.above(place(shift)));
            [p, self.down.mean(|shift| self.noise.above(place(-shift)))]
        };
        Tails { loss: self.loss(x).0, above: of(false), at_most: of(true) }
    }

    /// The outcome that decides at a threshold, where it is kept and no probability needs its logarithm.
    fn kept(&self, y: f64) -> Option<&Tails> {
        let after = self.outcomes.partition_point(|tails| tails.loss <= y);
        // (Neither the first nor the last: others may follow.)
        let tails = (after > 0 && after < self.outcomes.len()).then(|| &self.outcomes[after - 1]);
        tails.filter(|tails| y < 300.0 && tails.above[1] > 1e-250 && tails.at_most[1] > 1e-250)
    }

    /// The loss at the outcome `x`, and its slope.
    fn loss(&self, x: f64) -> (f64, f64) {
        let (up, rise) = self.up.ln_ratio(|shift| self.noise.exponent(x, shift));
        let (down, fall) = self.down.ln_ratio(|shift| self.noise.exponent(x, -shift));
        (up - down, rise - fall)
    }

    /// The smallest and the largest loss.
    pub(super) fn range(&self) -> (f64, f64) {
        // Far to the right every upward move is more likely than it was by `e^exponent`, every downward one less.
        let end = |near: &Moves, far: &Moves| {
            let most = |shift: f64, sign: f64| match self.noise {
                Centred::Laplace { scale } | Centred::DiscreteLaplace { scale } => sign * shift / scale,
                _ if shift > 0.0 => sign * f64::INFINITY,
                _ => 0.0,
            };
            let ln = |moves: &Moves, sign: f64| match moves.largest() > 0.0 {
                true => moves.ln_ratio(|shift| (most(shift, sign), 0.0)).0,
                false => 0.0,
            };
            ln(near, 1.0) - ln(far, -1.0)
        };
        (-end(&self.down, &self.up), end(&self.up, &self.down))
    }

    /// The outcome beyond which losses exceed `y`.
    fn outcome(&self, y: f64) -> f64 {
        let (lowest, highest) = self.range();
        if y >= highest {
            return f64::INFINITY;
        }
        if y < lowest {
            return f64::NEG_INFINITY;
        }
        let x = self.crossing(y);
        if !self.noise.is_discrete() || !x.is_finite() {
            return x;
        }
        // The largest whole number whose loss is no more.
        let mut k = x.floor();
        while self.loss(k + 1.0).0 <= y && k < self.first + self.step * TABLE as f64 {
            k += 1.0;
        }
        while self.loss(k).0 > y && k > self.first {
            k -= 1.0;
        }
        k
    }

    /// Where the loss is `y`: Newton's method within a bracket, which is halved where a step leaves it.
    fn crossing(&self, y: f64) -> f64 {
        let index = self.table.partition_point(|loss| *loss <= y);
        let at = |index: usize| self.first + index as f64 * self.step;
        let (mut low, mut high, mut x) = match (index.checked_sub(1), self.table.get(index)) {
            (Some(before), Some(&above)) => {
                let below = self.table[before];
                (at(before), at(index), at(before) + self.step * (y - below) / (above - below))
            }
            // Beyond the table.
            (None, _) => match self.bracket(at(0), -self.step, |loss| loss <= y) {
                Some((near, far)) => (far, near, 0.5 * (near + far)),
                None => return f64::NEG_INFINITY,
            },
            (_, None) => match self.bracket(at(TABLE), self.step, |loss| loss > y) {
                Some((near, far)) => (near, far, 0.5 * (near + far)),
                None => return f64::INFINITY,
            },
        };
        for _ in 0..STEPS {
            let (loss, slope) = self.loss(x);
            if loss > y {
                high = x;
            } else {
                low = x;
            }
            let next = x - (loss - y) / slope;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if (next - x).abs() <= 2.0 * UNIT * x.abs() || next <= low || next >= high {
                break;
            }
            x = next;
        }
        x
    }

    /// The last of outcomes in ever longer steps at which it does not hold, and the first at which it does.
    fn bracket(&self, start: f64, step: f64, holds: impl Fn(f64) -> bool) -> Option<(f64, f64)> {
        let mut near = start;
        for doubling in 0..64 {
            let far = start + step * f64::from(doubling).exp2();
            if holds(self.loss(far).0) {
                return Some((near, far));
            }
            // Nothing is left there.
            if self.noise.above(far.abs() - self.up.largest() - self.down.largest()) == 0.0 {
                return None;
            }
            near = far;
        }
        None
    }

    /// Probabilities that the loss exceeds `y`, and that it does not.
    pub(super) fn split(&self, y: f64) -> (Masses, Masses) {
        if let Some(tails) = self.kept(y) {
            let masses = |[p, q]: [f64; 2]| Masses { p, q: q * y.exp() };
            return (masses(tails.above), masses(tails.at_most));
        }
        let x = self.outcome(y);
        let masses = |moves: [&Moves; 2],
                      tail: &dyn Fn(f64, f64) -> f64,
                      ln_tail: &dyn Fn(f64, f64) -> f64| {
            let [p, q] = [(moves[0], 1.0), (moves[1], -1.0)]
                .map(|(moves, sign)| moves.mean(|shift| tail(x, sign * shift)));
            let part = |(shift, probability): &(f64, f64)| (y + probability.ln() + ln_tail(x, -shift)).exp();
            let lifted = match () {
                () if q == 0.0 && x.is_infinite() => 0.0,
                () if y < 300.0 && q > 1e-250 => q * y.exp(),
                () => moves[1].all.iter().map(part).sum(),
            };
            Masses { p, q: lifted }
        };
        let noise = &self.noise;
        let above = masses([&self.up, &self.down], &|x, shift| noise.above(x - shift), &|x, shift| {
            noise.ln_above(x - shift)
        });
        let at_most = masses(
            [&self.up, &self.down],
            &|x, shift| noise.above(noise.mirrored(x - shift)),
            &|x, shift| noise.ln_above(noise.mirrored(x - shift)),
        );
        (above, at_most)
    }

    /// The curve at `y >= 0`, and its error but for that of the threshold.
    pub(super) fn curve(&self, y: f64) -> (f64, f64) {
        let x = self.outcome(y);
        // Beyond the largest loss there is only the rounding of it.
        if x == f64::INFINITY {
            return (0.0, self.slip(y));
        }
        let error = self.tails_error(x);
        let gain = self.up.moved(|shift| self.noise.above(x - shift));
        let at = self.noise.above(x);
        let (up, down) = (self.up.share, self.down.share);
        if y > 300.0 {
            let q =
                self.down.all.iter().map(|(shift, p)| (y + p.ln() + self.noise.ln_above(x + shift)).exp());
            let (p, q) = (gain + (1.0 - up) * at, q.sum::<f64>());
            return (p - q, error * (p + q * (1.0 + y)));
        }
        // `(1 - up) - e^y (1 - down)`, without the difference of two numbers near 1.
        let cost = y.exp() * self.down.moved(|shift| self.noise.above(x + shift));
        let (rest, other) = (y.exp_m1() * (1.0 - down) * at, (up - down) * at);
        (gain - cost - rest - other, error * (gain + other.abs() + (cost + rest) * (1.0 + y)))
    }

    /// How far rounding may move the threshold `y`.
    pub(super) fn slip(&self, y: f64) -> f64 {
        let weight = |moves: &Moves| largest(0.0, moves.all.iter().map(|(_, probability)| -probability.ln()));
        let reach = self.up.largest() + self.down.largest();
        let base = self.noise.exponent(reach, reach).0 + weight(&self.up) + weight(&self.down);
        // The slope of the loss in the logarithms of likelihood ratios: the probability, given the outcome, that the sum was moved.
        let slope = smaller(self.up.share + self.down.share + y, 1.0);
        64.0 * UNIT * (y + slope * (2.0 * base + y))
    }

    /// Relative error of sums of tails, beyond that of each, for laws on a lattice.
    pub(super) fn weight_error(&self) -> f64 {
        let parts = (self.up.all.len() + self.down.all.len()) as f64;
        UNIT * match &self.noise {
            // Each ratio is one and a share of the next: its error is that of so many roundings.
            Centred::DiscreteGaussian { sigma, .. } => 4.0 * parts + 16.0 * (1.0 + sigma),
            _ => 4.0 * parts,
        }
    }

    fn tails_error(&self, x: f64) -> f64 {
        self.weight_error() + 64.0 * UNIT + 2.0 * self.noise.tail_error(x + self.down.largest())
    }

    /// For a grid that is dense where losses are.
    pub(super) fn landmark(&self, x: f64) -> f64 {
        let mixed = |share: f64, x: f64| if share > 0.0 { mixed_loss(x, smaller(share, 1.0)) } else { 0.0 };
        mixed(self.up.share, x) - mixed(self.down.share, -x)
    }
}

impl Moves {
    /// So many units as of `records` records are in a sample, in steps of `gap` rounded up.
    fn binomial(records: u64, rate: f64, gap: u64, unit: f64) -> Self {
        let mut all = vec![(0.0, (records as f64 * (-rate).ln_1p()).exp())];
        let mut choices = 1.0;
        for i in 1..=records {
            choices *= (records - i + 1) as f64 / i as f64;
            let absent = if i == records { 1.0 } else { ((records - i) as f64 * (-rate).ln_1p()).exp() };
            let probability = choices * rate.powf(i as f64) * absent;
            let shift = unit * smaller((i.div_ceil(gap) * gap) as f64, records as f64);
            match all.last_mut() {
                Some((last, sum)) if *last == shift => *sum += probability,
                _ => all.push((shift, probability)),
            }
        }
        let share = -(records as f64 * (-rate).ln_1p()).exp_m1();
        all.retain(|(shift, probability)| *shift == 0.0 || *probability > 0.0);
        Self { all, share }
    }

    fn largest(&self) -> f64 {
        self.all.last().map_or(0.0, |(shift, _)| *shift)
    }

    fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.all.iter().map(|(shift, probability)| probability * of(*shift)).sum()
    }

    /// The same of what moves.
    fn moved(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.all[1..].iter().map(|(shift, probability)| probability * of(*shift)).sum()
    }

    /// `ln sum p e^exponent` of exponents with their slopes, and its slope. The exponent of what does not move is 0.
    fn ln_ratio(&self, exponent: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
        let top = largest(0.0, self.all[1..].iter().map(|(shift, _)| exponent(*shift).0));
        if top < 30.0 {
            let (mut excess, mut slope, mut sum) = (0.0, 0.0, self.all[0].1);
            for (shift, probability) in &self.all[1..] {
                let (exponent, steep) = exponent(*shift);
                let less_one = exponent.exp_m1();
                excess += probability * less_one;
                sum += probability * (less_one + 1.0);
                slope += probability * (less_one + 1.0) * steep;
            }
            // Near 1 by what it has above 1, elsewhere as it is.
            return (if excess < -0.5 { sum.ln() } else { excess.ln_1p() }, slope / sum);
        }
        if top == f64::INFINITY {
            return (f64::INFINITY, 0.0);
        }
        let (mut sum, mut slope) = (self.all[0].1 * (-top).exp(), 0.0);
        for (shift, probability) in &self.all[1..] {
            let (exponent, steep) = exponent(*shift);
            let weight = probability * (exponent - top).exp();
            sum += weight;
            slope += weight * steep;
        }
        (top + sum.ln(), slope / sum)
    }
}

/// What a record adds to a sum.
fn contribution(noise: Noise) -> f64 {
    match noise {
        Noise::DiscreteGaussian { contribution, .. } | Noise::DiscreteLaplace { contribution, .. } => {
            f64::from(contribution)
        }
        _ => 1.0,
    }
}

impl Centred {
    /// For sums that move by `farthest` at most.
    fn new(noise: Noise, farthest: f64) -> Result<Self> {
        Ok(match noise {
            Noise::Gaussian { noise_multiplier } => Self::Gaussian { sigma: noise_multiplier },
            Noise::Laplace { scale } => Self::Laplace { scale },
            Noise::DiscreteLaplace { scale, .. } => Self::DiscreteLaplace { scale },
            Noise::DiscreteGaussian { sigma, .. } if sigma > MOST_DEVIATION || farthest > 2e6 => {
                let remedy = "give at most 100000 and contributions of at most 2000000 together; beyond that account for it as a Gaussian of the same sigma";
                return Err(Error::parameter("sigma", sigma, remedy));
            }
            Noise::DiscreteGaussian { sigma, .. } => {
                // Beyond FAR deviations from where it may have moved there is nothing.
                let last = (FAR * sigma + 2.0 + farthest).ceil() as usize;
                let falls = |t: usize| (-(t as f64 + 1.5) / (sigma * sigma)).exp();
                let mut ratios = vec![1.0 / (1.0 - falls(last)); last + 1];
                for t in (0..last).rev() {
                    ratios[t] = 1.0 + falls(t) * ratios[t + 1];
                }
                let ln_total = (2.0 * ratios[0] * (-0.5 / (sigma * sigma)).exp()).ln_1p();
                Self::DiscreteGaussian { sigma, ratios, ln_total }
            }
            other => {
                return Err(Error::Unsupported {
                    event: format!("{other:?}"),
                    accountant: "samples of groups",
                    remedy: "such samples are known for noise that is added to a sum".into(),
                });
            }
        })
    }

    fn is_discrete(&self) -> bool {
        matches!(self, Self::DiscreteGaussian { .. } | Self::DiscreteLaplace { .. })
    }

    /// So far out a table goes.
    fn reach(&self) -> f64 {
        match self {
            Self::Gaussian { sigma } | Self::DiscreteGaussian { sigma, .. } => 12.0 * sigma,
            // Losses are the same from the farthest move on.
            Self::Laplace { scale } | Self::DiscreteLaplace { scale } => 1e-9 * scale,
        }
    }

    /// By what `x` is more likely about `shift` than about 0, in logarithms, and its slope.
    fn exponent(&self, x: f64, shift: f64) -> (f64, f64) {
        match self {
            Self::Gaussian { sigma } | Self::DiscreteGaussian { sigma, .. } => {
                let variance = sigma * sigma;
                (shift * (x - 0.5 * shift) / variance, shift / variance)
            }
            Self::Laplace { scale } | Self::DiscreteLaplace { scale } => {
                let within = (x > 0.0) != (x > shift);
                (
                    (x.abs() - (x - shift).abs()) / scale,
                    if within { 2.0_f64.copysign(shift) / scale } else { 0.0 },
                )
            }
        }
    }

    /// `P[X > x]`.
    fn above(&self, x: f64) -> f64 {
        match self {
            Self::Gaussian { sigma } => normal_above(x / sigma),
            Self::Laplace { scale } if x >= 0.0 => 0.5 * (-x / scale).exp(),
            Self::Laplace { scale } => 1.0 - 0.5 * (x / scale).exp(),
            _ if x == f64::NEG_INFINITY => 1.0,
            // `P[X > x] = P[X < -x] = 1 - P[X > -x - 1]` for whole `x`; between whole numbers there is nothing.
            _ if x < 0.0 => 1.0 - self.above(-x.floor() - 1.0),
            _ => self.ln_above(x).exp(),
        }
    }

    /// Its logarithm, also where it underflows.
    fn ln_above(&self, x: f64) -> f64 {
        match self {
            Self::Gaussian { sigma } => ln_normal_above(x / sigma),
            Self::Laplace { scale } if x >= 0.0 => -x / scale - std::f64::consts::LN_2,
            Self::Laplace { .. } => self.above(x).ln(),
            _ if x == f64::INFINITY => f64::NEG_INFINITY,
            _ if x < 0.0 => self.above(x).ln(),
            Self::DiscreteLaplace { scale } => -(x.floor() + 1.0) / scale - (-1.0 / scale).exp().ln_1p(),
            Self::DiscreteGaussian { sigma, ratios, ln_total } => {
                let next = (x.floor() + 1.0) / sigma;
                match ratios.get(x as usize) {
                    Some(ratio) => -0.5 * next * next + ratio.ln() - ln_total,
                    None => f64::NEG_INFINITY,
                }
            }
        }
    }

    /// The `y` with `P[X <= x] = P[X > y]`.
    fn mirrored(&self, x: f64) -> f64 {
        if self.is_discrete() { -x - 1.0 } else { -x }
    }

    fn tail_error(&self, x: f64) -> f64 {
        match self {
            Self::Gaussian { sigma } | Self::DiscreteGaussian { sigma, .. } => tail_error(x / sigma),
            Self::Laplace { scale } | Self::DiscreteLaplace { scale } => {
                (4.0 + 4.0 * (x / scale).abs()) * UNIT
            }
        }
    }
}
