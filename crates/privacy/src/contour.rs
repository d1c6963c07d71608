//! Hockey-stick values of sampled Gaussians by a contour integral, exact to about ten digits.
//!
//! For a total loss `Y` with moment generating function `M`, and any `c > 0`,
//!
//! ```text
//! delta(epsilon) = E[(1 - e^(epsilon - Y))+] = 1/2pi ∫ M(c+it) e^(-(c+it) epsilon) / ((c+it)(c+1+it)) dt
//! ```
//!
//! Losses add, so `M` is a product of powers: composing costs nothing. The trapezoidal rule with spacing `w` returns
//! *exactly* `Σ_m e^(c m L) delta(epsilon + m L)`, `L = 2 pi / w`: the truth plus terms that are positive (so the sum is an
//! upper bound) and that Chernoff's inequality makes as small as one likes. Near the saddle point a few dozen frequencies
//! are enough, against a million lattice points. What remains is a tail of frequencies, bounded by the variation of the
//! loss density, and rounding. `docs/theorems/contour.md` has the proofs.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use realfft::num_complex::Complex64;

use crate::decay::Decay;
use crate::event::Event;
use crate::gdp::VANISHING;
use crate::interval::{best_bound, larger, probability_above, probability_below, smaller, smallest};
use crate::mechanism::{Adjacency, Noise, Sampling};
use crate::pld::{Lattice, descend, ln_peak, middle, minimum};
use crate::quadrature::{ANCHOR, Nodes, SampledGaussian, Side, less_one};
use crate::special::{Interval, UNIT, crossing};

/// What a contour may cost before the lattice takes over, and where that has not resolved the question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Most frequencies.
    frequencies: f64,
    /// Most multiply-adds for the sampled characteristic function.
    work: f64,
}

pub(crate) const CHEAP: Effort = Effort { frequencies: 12_000.0, work: 8e6 };
pub(crate) const DEAR: Effort = Effort { frequencies: 400_000.0, work: 3e7 };

/// What a node costs where only one frequency is asked for (against one of many).
const PROBE: f64 = 8.0;
/// How far (in logarithms) the integral's scale may lie above delta: its rounding does so by the same factor.
const HIGHEST: f64 = 24.0;
/// Most steps in certifying that the integrand does not come back.
const MOST_STEPS: usize = 300;
/// Logarithm of the share of delta that aliases and the cut tail may take.
const LN_SHARE: f64 = -28.0;

/// One kind of release in a direction.
enum Factor {
    /// Unsampled Gaussian releases together: `ln M(z) = mu² z (z + 1) / 2`.
    Gaussian {
        mu_squared: f64,
    },
    Other {
        law: Kind,
        count: u64,
    },
}

/// A law whose moments are sums over nodes.
enum Kind {
    Sampled(SampledGaussian),
    /// A law on a lattice, from one side.
    Lattice(Lattice),
}

impl Kind {
    fn nodes(&self, c: f64, frequency: f64) -> Option<Nodes> {
        match self {
            Self::Sampled(law) => law.nodes(c, frequency),
            Self::Lattice(lattice) => Nodes::of_lattice(lattice, c, frequency),
        }
    }

    /// `ln M(c)` and a bound on its error.
    fn ln_moment(&self, c: f64) -> Option<(f64, f64)> {
        Some(self.nodes(c, 0.0)?.ln_moment())
    }

    fn decay(&self, c: f64) -> Decay {
        match self {
            Self::Sampled(law) => Decay::of(law, c),
            Self::Lattice(lattice) => Decay::of_lattice(lattice, c),
        }
    }
}

/// One direction of a composition.
#[derive(Clone)]
pub(crate) struct Direction {
    factors: Arc<Vec<Factor>>,
    /// No loss is larger (infinite where there is no such bound).
    largest: f64,
    effort: Effort,
    /// Of laws on a lattice: its step, and what rounding and cutting them may have done.
    lattice: Option<Cut>,
}

/// What separates the sum of laws on a lattice from what they stand for.
#[derive(Debug, Clone, Copy)]
struct Cut {
    step: f64,
    /// Mass at infinity.
    infinity: f64,
    /// Relative error of the curve.
    relative: f64,
    /// How far rounding may have moved the threshold.
    slip: f64,
}

impl Direction {
    /// Nothing where this method does not apply: other noise, or batches of fixed size.
    pub(crate) fn new(
        events: &[(Event, u64)],
        side: Side,
        adjacency: Adjacency,
        effort: Effort,
    ) -> Option<Self> {
        let factors = factors(events, side, adjacency)?;
        let largest = factors.iter().map(Factor::largest).sum::<f64>() * (1.0 + 1e-12);
        Some(Self { factors: factors.into(), largest, effort, lattice: None })
    }

    /// Of laws on a lattice, all of the same step: what is computed from above or from below of these is so of what they stand for.
    pub(crate) fn of_lattices(laws: Vec<(Lattice, u64)>, largest: f64) -> Option<Self> {
        let mut cut = Cut { step: laws.first()?.0.step, infinity: 0.0, relative: 0.0, slip: 0.0 };
        for (lattice, count) in &laws {
            let n = *count as f64;
            cut.infinity += n * lattice.infinity;
            cut.relative += n * lattice.rounding;
            cut.slip += n * lattice.slip;
        }
        cut.relative = cut.relative.exp_m1();
        let factor = |(lattice, count)| Factor::Other { law: Kind::Lattice(lattice), count };
        let factors: Vec<Factor> = laws.into_iter().map(factor).collect();
        Some(Self { factors: factors.into(), largest, effort: CHEAP, lattice: Some(cut) })
    }

    /// Certified epsilons, or nothing where there are too few releases to smooth the law.
    pub(crate) fn epsilons(&self, deltas: &[f64]) -> Vec<Option<Interval>> {
        let smallest = smallest(1.0, deltas.iter().copied());
        let Some(contour) = Contour::new(self, middle(deltas), smallest) else {
            return vec![None; deltas.len()];
        };
        deltas.iter().map(|&delta| self.epsilon(&contour, delta)).collect()
    }

    fn epsilon(&self, contour: &Contour, delta: f64) -> Option<Interval> {
        let first = contour.epsilon(delta);
        if let Some(interval) = first
            && sharp(interval)
        {
            return first;
        }
        let again = contour.anew(first?.upper, delta).and_then(|contour| contour.epsilon(delta));
        // A poor interval is the lattice's to improve; it is true nevertheless.
        match again {
            Some(again) => first?.meet(again).ok(),
            None => first,
        }
    }

    /// The certified delta at `epsilon`.
    pub(crate) fn delta(&self, epsilon: f64) -> Option<Interval> {
        if epsilon >= self.largest {
            return Some(Interval::ZERO);
        }
        self.contour_at(epsilon)?.delta(epsilon)
    }

    fn contour_at(&self, epsilon: f64) -> Option<Contour> {
        let height = |ln_c: f64| {
            let c = ln_c.exp();
            self.cumulant(c) - c * epsilon + ln_peak(c)
        };
        let chernoff = smaller(height(descend(1.5, 0.3, -12.0, 12.0, height)), -1e-3).exp();
        Contour::new(self, chernoff, 1e-2 * chernoff)
    }

    /// `ln M(c)`, rounded up (infinite where it is beyond computing).
    fn cumulant(&self, c: f64) -> f64 {
        self.factors.iter().map(|factor| factor.cumulant(c)).sum()
    }
}

/// Deltas of a direction at many epsilons: contours are kept for those that come later.
pub(crate) struct Curve {
    direction: Direction,
    contours: RefCell<Vec<Contour>>,
    /// Whether some contour was not sharp: of laws on a lattice no other will be.
    hopeless: Cell<bool>,
}

impl Curve {
    pub(crate) fn new(direction: Direction) -> Self {
        Self { direction, contours: RefCell::default(), hopeless: Cell::new(false) }
    }

    /// From above, and nothing where it is not sharp.
    pub(crate) fn delta(&self, epsilon: f64) -> Option<f64> {
        if epsilon >= self.direction.largest {
            return Some(0.0);
        }
        // Laws on a lattice are further away from what they stand for than that.
        let share = if self.direction.lattice.is_some() { 1e-6 } else { 1e-8 };
        let fine = |found: &Interval| found.width() <= 1e-9 + share * found.upper;
        let known = self.contours.borrow().iter().find_map(|one| one.delta(epsilon).filter(fine));
        if let Some(known) = known {
            return Some(known.upper);
        }
        if self.hopeless.get() {
            return None;
        }
        let contour = self.direction.contour_at(epsilon);
        let found = contour.as_ref().and_then(|contour| contour.delta(epsilon));
        let found = found.filter(|found| fine(found) || sharp(*found));
        self.contours.borrow_mut().extend(contour);
        self.hopeless.set(found.is_none() && self.direction.lattice.is_some());
        found.map(|found| found.upper)
    }
}

/// Whether nothing need be improved.
pub(crate) fn sharp(interval: Interval) -> bool {
    interval.is_within(1e-4) || interval.upper < 1e-9
}

fn factors(events: &[(Event, u64)], side: Side, adjacency: Adjacency) -> Option<Vec<Factor>> {
    let mut mu_squared = 0.0;
    let mut factors = Vec::new();
    for (event, count) in events {
        let Some(Noise::Gaussian { noise_multiplier: sigma }) = event.noise() else { return None };
        match event.sampling()? {
            Sampling::Everyone => mu_squared += *count as f64 * (adjacency.distance() / sigma).powi(2),
            Sampling::Poisson { rate } => {
                let law = Kind::Sampled(SampledGaussian { sigma, rate, side });
                factors.push(Factor::Other { law, count: *count });
            }
            Sampling::FixedBatch { .. } | Sampling::TruncatedPoisson { .. } => return None,
            Sampling::Nobody => {}
        }
    }
    if mu_squared > 0.0 {
        factors.push(Factor::Gaussian { mu_squared });
    }
    Some(factors)
}

impl Factor {
    fn count(&self) -> f64 {
        match self {
            Self::Gaussian { .. } => 1.0,
            Self::Other { count, .. } => *count as f64,
        }
    }

    /// The largest loss of all its releases: only adding a record is bounded.
    fn largest(&self) -> f64 {
        match self {
            Self::Other { law: Kind::Sampled(law), count } if law.side == Side::Add => {
                -(-law.rate).ln_1p() * *count as f64
            }
            _ => f64::INFINITY,
        }
    }

    /// `ln M(c)` of all its releases, rounded up.
    fn cumulant(&self, c: f64) -> f64 {
        match self {
            Self::Gaussian { mu_squared } => 0.5 * mu_squared * c * (c + 1.0),
            Self::Other { law, count } => {
                let moment = law.ln_moment(c).map(|(ln, error)| *count as f64 * (ln + error));
                moment.filter(|ln| !ln.is_nan()).unwrap_or(f64::INFINITY)
            }
        }
    }

    /// `ln` of a bound on `|M(c+it)/M(c)|`, falling in `t`.
    fn ln_tail(&self, decay: Option<&Decay>, t: f64) -> f64 {
        match self {
            Self::Gaussian { mu_squared } => -0.5 * mu_squared * t * t,
            Self::Other { count, .. } => *count as f64 * decay.map_or(0.0, |decay| decay.size(t).ln()),
        }
    }

    fn decay(&self, c: f64) -> Option<Decay> {
        match self {
            Self::Gaussian { .. } => None,
            Self::Other { law, .. } => Some(law.decay(c)),
        }
    }

    /// An upper bound on `|M(c+it)/M(c)|` of one release.
    fn size(&self, c: f64, t: f64, effort: &mut f64) -> f64 {
        match self {
            Self::Gaussian { .. } => 1.0,
            Self::Other { law, .. } => {
                let Some(nodes) = law.nodes(c, t) else {
                    *effort = f64::INFINITY;
                    return 1.0;
                };
                *effort += PROBE * nodes.losses.len() as f64;
                let mut state = vec![Complex64::ZERO; nodes.losses.len()];
                nodes.turn(t, &mut state);
                (1.0 + nodes.chi_less_one(&state)).norm() + nodes.chi_error + 1e-12
            }
        }
    }
}

/// The integrand at the frequencies that matter, for one tilt `c`.
struct Contour {
    direction: Direction,
    c: f64,
    /// Distance of frequencies.
    spacing: f64,
    ln_total: f64,
    /// By how much `ln_total` was rounded up.
    allowance: f64,
    /// Integrand at `0, spacing, 2 spacing, ...` without `exp(ln_total - (c+it) epsilon)`.
    values: Vec<Complex64>,
    /// What multiplies `exp(ln_total - c epsilon)` in the absolute error: tail, rounding, dropped frequencies.
    scatter: f64,
    /// Chernoff parameters on either side of `c`, with the cumulants there.
    sidesteps: Vec<(f64, f64)>,
}

impl Contour {
    fn new(direction: &Direction, delta: f64, smallest: f64) -> Option<Self> {
        let foreseen = |ln_c: f64| {
            let c = ln_c.exp();
            (direction.cumulant(c) - delta.ln() + ln_peak(c)) / c
        };
        let ln_c = descend(1.5, 0.6, -12.0, 12.0, foreseen);
        let c = minimum(ln_c - 0.6, ln_c + 0.6, 6, foreseen).exp();
        let epsilon = smaller(foreseen(c.ln()), direction.largest);
        if !(epsilon.is_finite() && c.is_finite()) {
            return None;
        }
        // Chernoff's tilt may stand at the foot of a wall, where rare large losses take over; a milder one then has
        // shorter aliases. Its epsilon is too large by some tenths; aliases are certified later, at the true one.
        let mut contour =
            Self::shortest(&[1.0, 0.8], |share| Self::tilted(direction, share * c, 0.7 * epsilon, smallest))?;
        contour.fill(epsilon, smallest)?;
        Some(contour)
    }

    /// Of the contours that there are, the one with the fewest frequencies.
    fn shortest(shares: &[f64], contour: impl Fn(f64) -> Option<Self>) -> Option<Self> {
        let all = shares.iter().filter_map(|&share| contour(share));
        all.reduce(|one, other| if one.spacing >= other.spacing { one } else { other })
    }

    /// A contour for one question, whose epsilon is now known better than Chernoff's bound had foreseen.
    fn anew(&self, epsilon: f64, delta: f64) -> Option<Self> {
        let mut contour = Self::shortest(&[1.0, 0.8, 0.6, 0.4, 0.25], |share| {
            let contour = Self::tilted(&self.direction, share * self.c, 0.98 * epsilon, delta);
            contour.filter(|contour| contour.ln_total - contour.c * epsilon - delta.ln() < HIGHEST)
        })?;
        contour.fill(epsilon, delta)?;
        Some(contour)
    }

    /// A contour through `c`, spaced for aliases to be negligible at `epsilon` beside `delta`.
    fn tilted(direction: &Direction, c: f64, epsilon: f64, delta: f64) -> Option<Self> {
        let sidesteps = [-0.9, -0.6, -0.3, 0.03, 0.08, 0.2, 0.5, 1.0]
            .iter()
            .map(|share| (share * c, direction.cumulant(c * (1.0 + share))))
            .collect();
        let mut contour = Self {
            direction: direction.clone(),
            c,
            spacing: 0.0,
            ln_total: direction.cumulant(c),
            allowance: direction.factors.iter().map(|factor| factor.allowance(c)).sum(),
            values: Vec::new(),
            scatter: 0.0,
            sidesteps,
        };
        contour.spacing = 2.0 * std::f64::consts::PI / contour.period(epsilon, delta)?;
        contour.ln_total.is_finite().then_some(contour)
    }

    /// The shortest period at which the aliases of `epsilon` are negligible beside `delta`, upwards and downwards.
    fn period(&self, epsilon: f64, delta: f64) -> Option<f64> {
        let needed = |(s, cumulant): &(f64, f64)| {
            let at = self.c + s;
            (cumulant - at * epsilon + ln_peak(at) - delta.ln() - LN_SHARE) / s.abs()
        };
        let shortest =
            |up: bool| best_bound(self.sidesteps.iter().filter(|step| (step.0 > 0.0) == up).map(needed));
        let period = larger(shortest(true), shortest(false));
        // A shorter one than any loss that matters would only be slow.
        let period = larger(period, 1e-3 * smaller(epsilon, 1.0));
        (period.is_finite() && period > 0.0).then_some(period)
    }

    /// Evaluates the integrand until the rest is certified to vanish.
    fn fill(&mut self, epsilon: f64, delta: f64) -> Option<()> {
        let height = self.ln_total - self.c * epsilon - delta.ln();
        let negligible = LN_SHARE - larger(height, 0.0);
        let decays: Vec<Option<Decay>> =
            self.direction.factors.iter().map(|factor| factor.decay(self.c)).collect();
        // Atoms that are too large for so few releases are known before anything is computed.
        let hopeless = |cut: Cut| self.ln_tail(&decays, std::f64::consts::PI / cut.step) > negligible;
        if self.direction.lattice.is_some_and(hopeless) || !self.affordable(negligible) {
            return None;
        }
        let mut effort = 0.0;
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        let mut until = 64;
        loop {
            sottovoce_fault::stop::look();
            let from = values.len();
            values.resize(until, Complex64::ONE);
            let mut together = 0.0;
            for factor in self.direction.factors.iter() {
                together += factor.count() * self.multiply(factor, &mut values, from, &mut effort)?;
            }
            if together > 0.1 {
                return None;
            }
            errors.resize(until, together);
            let last = (until - 1) as f64 * self.spacing;
            let small = values[until - 16..].iter().all(|value| value.norm() < negligible.exp());
            if self.ln_tail(&decays, last) <= negligible
                || (small && self.certify(&decays, last, negligible, &mut effort).is_some())
            {
                break;
            }
            until *= 2;
            if until as f64 > self.direction.effort.frequencies {
                return None;
            }
        }
        self.weigh(values, &errors, negligible)
    }

    /// Foresees what filling will cost, from the last frequency of each doubling alone.
    fn affordable(&self, negligible: f64) -> bool {
        let (mut until, mut effort) = (64.0, 0.0);
        while until <= self.direction.effort.frequencies && effort <= self.direction.effort.work {
            let t = until * self.spacing;
            let mut probe = 0.0;
            let sizes = self.direction.factors.iter().map(|factor| match factor {
                Factor::Gaussian { .. } => factor.ln_tail(None, t),
                Factor::Other { count, .. } => *count as f64 * factor.size(self.c, t, &mut probe).ln(),
            });
            let ln_size: f64 = sizes.sum();
            effort += probe / PROBE * until / 2.0;
            if ln_size <= negligible {
                return effort <= self.direction.effort.work;
            }
            until *= 2.0;
        }
        false
    }

    /// The integrand's size beyond frequency `t`, by the variation of the loss densities.
    fn ln_tail(&self, decays: &[Option<Decay>], t: f64) -> f64 {
        self.direction
            .factors
            .iter()
            .zip(decays)
            .map(|(factor, decay)| factor.ln_tail(decay.as_ref(), t))
            .sum()
    }

    /// Shows that the integrand's size stays below `e^negligible` from frequency `t` on: step by step, since the
    /// characteristic function of a release changes little from one frequency to the next; and finally by the variation
    /// of the loss density. Gives up where that would take longer than it is worth.
    fn certify(&self, decays: &[Option<Decay>], mut t: f64, negligible: f64, effort: &mut f64) -> Option<()> {
        for _ in 0..MOST_STEPS {
            if self.ln_tail(decays, t) <= negligible {
                return Some(());
            }
            let here: Vec<f64> =
                self.direction.factors.iter().map(|factor| factor.size(self.c, t, effort)).collect();
            // The longest step whose every point is certified from here.
            let certain = |step: f64| {
                let each =
                    self.direction.factors.iter().zip(decays).zip(&here).map(|((factor, decay), size)| {
                        let change = decay.as_ref().map(|decay| decay.change(step));
                        change.map_or(factor.ln_tail(None, t), |change| {
                            factor.count() * smaller((size + change).ln(), 0.0)
                        })
                    });
                each.sum::<f64>() <= negligible
            };
            let mut step = 4.0 * t;
            while !certain(step) {
                step *= 0.7;
                if step < 0.5 * self.spacing {
                    return None;
                }
            }
            t += step;
            if *effort > self.direction.effort.work {
                return None;
            }
        }
        None
    }

    /// Divides by the kernel and adds up what may be wrong.
    fn weigh(&mut self, mut values: Vec<Complex64>, errors: &[f64], negligible: f64) -> Option<()> {
        let fewest = smallest(f64::INFINITY, self.direction.factors.iter().map(Factor::count));
        let count = values.len();
        let mut wrong = 0.0;
        for (j, (value, error)) in values.iter_mut().zip(errors).enumerate() {
            let z = Complex64::new(self.c, j as f64 * self.spacing);
            let kernel = 1.0 / (z * (z + 1.0));
            *value *= kernel;
            // The power lemma (in terms of the computed value): relative where the factors are at least 1/2 in size, absolute elsewhere.
            let power = error * (2.0 * error).exp();
            let relative = 2.0 * power * (1.0 + 4.0 * power) + UNIT * (64.0 + count as f64);
            wrong += relative * value.norm() + power * (1.0 - fewest).exp2() * kernel.norm();
        }
        let useful =
            values.iter().rposition(|value| value.norm() > 1e-17 * values[0].norm() / count as f64)?;
        let dropped: f64 = values[useful + 1..].iter().map(|value| value.norm()).sum();
        values.truncate(useful + 1);
        self.values = values;
        let per_term = self.spacing / std::f64::consts::PI;
        // Beyond the last frequency the terms are at most e^negligible over the square of the frequency.
        let last = (count - 1) as f64 * self.spacing;
        let tail = negligible.exp() / last;
        self.scatter = per_term * (wrong + dropped) + tail + self.echoes(last)?;
        Some(())
    }

    /// The characteristic function of a lattice law comes back with the period `2 pi / step`: where it is large up to `last`, it is so about
    /// every multiple of the period, where the kernel is small. Nothing where the period is too short for that.
    fn echoes(&self, last: f64) -> Option<f64> {
        let Some(cut) = self.direction.lattice else { return Some(0.0) };
        let turn = last * cut.step;
        // (Tails are certified up to half a period.)
        if turn > 1.0 {
            return None;
        }
        let nearest = cut.step / (2.0 * std::f64::consts::PI - turn);
        Some((2.0 * last + self.spacing) / std::f64::consts::PI * nearest * nearest * 1.645)
    }

    /// Multiplies the powers of a factor's characteristic function into `values[from..]`; returns the error of one release.
    fn multiply(
        &self,
        factor: &Factor,
        values: &mut [Complex64],
        from: usize,
        effort: &mut f64,
    ) -> Option<f64> {
        match factor {
            Factor::Gaussian { mu_squared } => {
                for (j, value) in values.iter_mut().enumerate().skip(from) {
                    let t = j as f64 * self.spacing;
                    let exponent = Complex64::new(
                        -0.5 * mu_squared * t * t,
                        0.5 * mu_squared * t * (2.0 * self.c + 1.0),
                    );
                    *value *= exponent.exp();
                }
                let phase = mu_squared * (self.c + 1.0) * (1.0 + values.len() as f64 * self.spacing);
                Some(16.0 * UNIT * (1.0 + phase))
            }
            Factor::Other { law, count } => self.multiply_powers(law, *count, values, from, effort),
        }
    }

    fn multiply_powers(
        &self,
        law: &Kind,
        count: u64,
        values: &mut [Complex64],
        from: usize,
        effort: &mut f64,
    ) -> Option<f64> {
        let nodes = law.nodes(self.c, values.len() as f64 * self.spacing)?;
        *effort += nodes.losses.len() as f64 * (values.len() - from) as f64;
        if *effort > self.direction.effort.work {
            return None;
        }
        let steps: Vec<Complex64> = nodes.losses.iter().map(|loss| less_one(loss * self.spacing)).collect();
        let mut state = vec![Complex64::ZERO; steps.len()];
        for (j, value) in values.iter_mut().enumerate().skip(from) {
            if (j - from).is_multiple_of(ANCHOR) {
                nodes.turn(j as f64 * self.spacing, &mut state);
            } else {
                for ((term, step), weight) in state.iter_mut().zip(&steps).zip(&nodes.weights) {
                    *term += *term * step + step * weight;
                }
            }
            *value *= power_of_one_plus(nodes.chi_less_one(&state), count as f64);
        }
        // Logarithm and exponential of the power.
        let unrest = nodes.losses.iter().zip(&nodes.weights);
        let largest = values.len() as f64 * self.spacing;
        let unrest: f64 = unrest.map(|(loss, weight)| weight * smaller(largest * loss.abs(), 1.0)).sum();
        Some(nodes.chi_error + 40.0 * UNIT * unrest / nodes.total + 4.0 * UNIT / count as f64)
    }

    /// The trapezoidal sum at `epsilon`, its absolute error, and what aliases may have added.
    fn value(&self, epsilon: f64) -> (f64, f64, f64) {
        let scale = (self.ln_total - self.c * epsilon).exp();
        let mut sum = 0.5 * self.values[0].re;
        for (j, value) in self.values.iter().enumerate().skip(1) {
            let (sin, cos) = (j as f64 * self.spacing * epsilon).sin_cos();
            sum += value.re * cos + value.im * sin;
        }
        let period = 2.0 * std::f64::consts::PI / self.spacing;
        let alias = |up: bool| {
            let bounds = self.sidesteps.iter().filter(|step| (step.0 > 0.0) == up).map(|(s, cumulant)| {
                let at = self.c + s;
                let ratio = (-s.abs() * period).exp();
                (cumulant - at * epsilon + ln_peak(at)).exp() * ratio / (1.0 - ratio)
            });
            best_bound(bounds)
        };
        // The angles' own rounding belongs to the sum.
        let angles = 4.0 * UNIT * self.values.len() as f64 * self.spacing * epsilon;
        let size: f64 = self.values.iter().map(|value| value.norm()).sum();
        let per_term = self.spacing / std::f64::consts::PI;
        // The exponent of the scale, a sum of many cumulants, is rounded as well.
        let exponent = UNIT * (8.0 + 2.0 * self.ln_total.abs() + 2.0 * self.c * epsilon);
        let value = scale * per_term * sum;
        let error = scale * (self.scatter + per_term * angles * size) + exponent * value.abs();
        (value, error, alias(true) + alias(false))
    }

    fn delta(&self, epsilon: f64) -> Option<Interval> {
        Interval::of_rounded(self.lower(epsilon), self.upper(epsilon)).ok()
    }

    fn upper(&self, epsilon: f64) -> f64 {
        if epsilon >= self.direction.largest {
            return 0.0;
        }
        let Some(cut) = self.direction.lattice else {
            let (value, error, _) = self.value(epsilon);
            return probability_above(value + error + VANISHING);
        };
        // Below 0 the curve rises by no more than the threshold falls.
        let (below, epsilon) = (larger(cut.slip - epsilon, 0.0), larger(epsilon - cut.slip, 0.0));
        let (value, error, _) = self.value(epsilon);
        probability_above((value + error + below) * (1.0 + cut.relative) + cut.infinity + VANISHING)
    }

    /// The cumulants are rounded up, so the lower bound takes their allowance back.
    fn lower(&self, epsilon: f64) -> f64 {
        let (slip, relative) = self.direction.lattice.map_or((0.0, 0.0), |cut| (cut.slip, cut.relative));
        let (value, error, alias) = self.value(epsilon + slip);
        probability_below((value * (-2.0 * self.allowance).exp() - error - alias) * (1.0 - relative))
    }

    fn epsilon(&self, delta: f64) -> Option<Interval> {
        const TOLERANCE: f64 = 1e-13;
        if self.upper(0.0) <= delta {
            return Some(Interval::ZERO);
        }
        let mut top = 1e-12;
        while self.upper(top) > delta {
            top *= 2.0;
            if top > 1e9 {
                return None;
            }
        }
        let (_, upper) = crossing((0.0, top), delta, TOLERANCE, |epsilon| self.upper(epsilon));
        let back = (0..45).rev().map(|halvings| upper * (1.0 - (-f64::from(halvings)).exp2()));
        let start = back.into_iter().find(|&epsilon| self.lower(epsilon) > delta);
        let lower = start
            .map_or(0.0, |start| crossing((start, upper), delta, TOLERANCE, |epsilon| self.lower(epsilon)).0);
        Interval::of_rounded(lower, upper).ok()
    }
}

impl Factor {
    /// By how much [`Self::cumulant`] was rounded up.
    fn allowance(&self, c: f64) -> f64 {
        match self {
            Self::Gaussian { .. } => 0.0,
            Self::Other { law, count } => {
                law.ln_moment(c).map_or(f64::INFINITY, |(_, error)| *count as f64 * error)
            }
        }
    }
}

/// `(1 + z)^n`, for small `z` accurate to `n |z|` round-offs rather than `n`.
fn power_of_one_plus(z: Complex64, n: f64) -> Complex64 {
    let gain = 2.0 * z.re + z.norm_sqr();
    // Far from 1 the difference from 1 would cancel.
    let ln_size = if gain < -0.5 { (1.0 + z).norm().ln() } else { 0.5 * gain.ln_1p() };
    Complex64::from_polar((n * ln_size).exp(), n * z.im.atan2(1.0 + z.re))
}

/// The larger of all directions, or nothing where one of them is out of reach.
#[cfg(test)]
pub(crate) fn all_epsilons(
    events: &[(Event, u64)],
    adjacency: Adjacency,
    deltas: &[f64],
) -> Option<Vec<Interval>> {
    let mut result = vec![Interval::ZERO; deltas.len()];
    for &side in crate::quadrature::sides(adjacency) {
        let each = Direction::new(events, side, adjacency, CHEAP)?.epsilons(deltas);
        for (slot, interval) in result.iter_mut().zip(each) {
            *slot = slot.larger(interval?);
        }
    }
    Some(result)
}
