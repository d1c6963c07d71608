//! The integral along one path: frequencies, tails, rounding.

use super::*;

/// The integrand at the frequencies that matter, for one tilt `c`.
pub(super) struct Contour {
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
    pub(super) fn new(direction: &Direction, delta: f64, smallest: f64) -> Option<Self> {
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
    pub(super) fn anew(&self, epsilon: f64, delta: f64) -> Option<Self> {
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

    pub(super) fn delta(&self, epsilon: f64) -> Option<Interval> {
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

    pub(super) fn epsilon(&self, delta: f64) -> Option<Interval> {
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
