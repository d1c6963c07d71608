//! Privacy-loss laws: the distribution of `ln(dP/dQ)` under `P` for a dominating pair `(P, Q)`, asked for by threshold.
//!
//! Every mechanism is described by the two tails of its loss under `P` and under `Q`; discretisation needs nothing
//! else. Tails are computed from the side on which they are small, so that they keep their *relative* accuracy; and those
//! under `Q` are multiplied by `e^y` at the threshold `y`, which keeps them in the range of doubles whatever the loss.
//! The pairs themselves are derived in `docs/theorems/dominating-pairs.md`.

use std::sync::Arc;

use super::atoms::Atoms;
use super::bells::Bells;
use super::either::Either;
use super::range::Range;
use super::shifts::Shifts;
use crate::interval::{larger, smaller, within};
use crate::special::{UNIT, ln_add, ln_normal_above, mills, normal_above, tail_error};

/// Probabilities of one event at a threshold `y`: under `P`, and `e^y` times that under `Q`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Masses {
    pub(crate) p: f64,
    pub(crate) q: f64,
}

pub(super) const NOTHING: Masses = Masses { p: 0.0, q: 0.0 };

pub(super) fn everything(y: f64) -> Masses {
    Masses { p: 1.0, q: y.exp() }
}

/// The same with the probability under `Q` as it is, too. Above a large threshold that one underflows, and below it the other overflows: neither can be
/// had from the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chances {
    pub(crate) p: f64,
    pub(crate) q: f64,
    /// `q` times `e^y`.
    pub(crate) lifted: f64,
}

impl Chances {
    pub(super) const NONE: Self = Self { p: 0.0, q: 0.0, lifted: 0.0 };

    pub(super) fn all(y: f64) -> Self {
        Self { p: 1.0, q: 1.0, lifted: y.exp() }
    }

    pub(super) fn masses(self) -> Masses {
        Masses { p: self.p, q: self.lifted }
    }

    /// The same event at the threshold `-y` of the exchanged laws; `self` is stated at `y`.
    pub(super) fn exchanged(self, y: f64) -> Masses {
        // An empty event stays empty, whatever the factor.
        Masses { p: self.q, q: if self.p == 0.0 { 0.0 } else { self.p * (-y).exp() } }
    }
}

/// One direction of a dominating pair.
#[derive(Debug, Clone)]
pub(crate) enum Law {
    /// Shifted Gaussians: `P = N(shift, 1)`, `Q = N(0, 1)`.
    Gaussian { shift: f64 },
    /// Shifted Laplace laws of scale 1; the loss lies in `[-shift, shift]` with atoms at both ends.
    Laplace { shift: f64 },
    /// Finitely many outcomes.
    Atoms(Atoms),
    /// The record is present with probability `rate`, and removed: `P = (1-rate) Q0 + rate P0`, `Q = Q0`.
    Remove { base: Box<Law>, rate: f64 },
    /// The record is added: the same two laws, exchanged.
    Add { base: Box<Law>, rate: f64 },
    /// Poisson sampling when the record is replaced by its opposite: three laws at -1, 0 and 1.
    Opposite { noise: Bell, rate: f64 },
    /// A fixed batch when a record is replaced: the worse of both directions at every threshold (an atom at 0 remains).
    Symmetric { one_sided: Box<Law> },
    /// Losses within `epsilon` of each other, wherever they lie.
    Range(Range),
    /// Gaussian noise on a contribution that is drawn, removed or (`added`) added.
    Mixture { bells: Arc<Bells>, added: bool },
    /// One of two laws, and it is known which.
    Either(Box<Either>),
    /// Noise on a sum that records in a sample move up or down.
    Shifts(Arc<Shifts>),
}

/// A centred noise law of scale `scale` (its density falls in `|x|`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bell {
    Gaussian { scale: f64 },
    Laplace { scale: f64 },
}

impl Law {
    /// Probabilities that the loss exceeds `y`, and that it does not. The smaller of the two is always computed directly,
    /// never as a complement.
    pub(crate) fn split(&self, y: f64) -> (Masses, Masses) {
        match self {
            Self::Gaussian { shift } => gaussian_split(*shift, y),
            Self::Laplace { shift } if y < -shift => (everything(y), NOTHING),
            Self::Laplace { shift } if y >= *shift => (NOTHING, everything(y)),
            Self::Laplace { shift } => {
                // `Q` above the threshold, times e^y, is what `P` has below it.
                let down = 0.5 * ((y - shift) / 2.0).exp();
                let up = Masses { p: 1.0 - down, q: down };
                (up, Masses { p: down, q: y.exp() - down })
            }
            Self::Atoms(atoms) => (atoms.above(y), atoms.at_most(y)),
            Self::Remove { base, rate } => {
                let (above, at_most) = removed_split(base, *rate, y);
                (above.masses(), at_most.masses())
            }
            Self::Add { base, rate } => {
                let (above, at_most) = removed_split(base, *rate, -y);
                (at_most.exchanged(-y), above.exchanged(-y))
            }
            Self::Opposite { noise, rate } => {
                let x = noise.outcome(y, *rate);
                // The same laws seen from the other side: whoever has the outcome `x` of one has `-x` of the other.
                (noise.three_above(x, y, *rate).masses(), noise.three_above(-x, -y, *rate).exchanged(-y))
            }
            Self::Symmetric { one_sided } if y >= 0.0 => {
                let above = one_sided.above(y);
                (above, above.complement(y))
            }
            Self::Symmetric { one_sided } => {
                let at_most = one_sided.above(-y).swapped(-y);
                (at_most.complement(y), at_most)
            }
            Self::Range(range) => range.split(y),
            Self::Mixture { bells, added: false } => {
                let (above, at_most) = bells.split(y);
                (above.masses(), at_most.masses())
            }
            Self::Mixture { bells, added: true } => {
                let (above, at_most) = bells.split(-y);
                (at_most.exchanged(-y), above.exchanged(-y))
            }
            Self::Either(either) => either.split(y),
            Self::Shifts(shifts) => shifts.split(y),
        }
    }

    /// Probabilities that the loss exceeds `y`.
    pub(crate) fn above(&self, y: f64) -> Masses {
        self.split(y).0
    }

    /// Probabilities that the loss is at most `y`.
    pub(crate) fn at_most(&self, y: f64) -> Masses {
        self.split(y).1
    }

    /// Losses from `first` to `last` that are dense where the law is: evenly spaced before sampling.
    pub(crate) fn landmarks(&self, first: f64, last: f64, count: usize) -> Vec<f64> {
        if let Self::Either(either) = self {
            return either.landmarks(first, last, count);
        }
        let map = |x: f64| match self {
            Self::Remove { rate, .. } => mixed_loss(x, *rate),
            Self::Add { rate, .. } => -mixed_loss(-x, *rate),
            Self::Opposite { rate, .. } => mixed_loss(x, *rate) - mixed_loss(-x, *rate),
            Self::Mixture { bells, added: false } => mixed_loss(x, bells.present()),
            Self::Mixture { bells, added: true } => -mixed_loss(-x, bells.present()),
            Self::Shifts(shifts) => shifts.landmark(x),
            Self::Symmetric { one_sided } => match **one_sided {
                Self::Remove { rate, .. } => mixed_loss(x.abs(), rate).copysign(x),
                _ => x,
            },
            _ => x,
        };
        // Where sampling maps a half-line to a point, the last 60 nats before sampling hold everything.
        let unmap = |y: f64| {
            let (mut a, mut b) = (-larger(660.0, 2.0 * y), larger(660.0, 2.0 * y));
            for _ in 0..80 {
                let middle = 0.5 * (a + b);
                if map(middle) < y { a = middle } else { b = middle }
            }
            0.5 * (a + b)
        };
        let (a, b) = (larger(unmap(first), -60.0), unmap(last));
        let inner = (1..count).map(|i| map(a + (b - a) * i as f64 / count as f64));
        std::iter::once(first).chain(inner).chain(std::iter::once(last)).collect()
    }

    /// The loss before sampling that has the loss `y` after it.
    pub(crate) fn base_loss(&self, y: f64) -> f64 {
        match self {
            Self::Remove { rate, .. } => base_threshold(y, *rate),
            Self::Symmetric { one_sided } => one_sided.base_loss(y),
            _ => y,
        }
    }

    /// The logarithm of `(1 - rate) e^-b + rate`: what sampling makes of likelihood ratios of at least `e^b`, as a share of them.
    pub(crate) fn ln_share(&self, base: f64) -> f64 {
        match self {
            Self::Remove { rate, .. } if base > 0.0 => {
                smaller((rate + (1.0 - rate) * (-base).exp()).ln() + 8.0 * UNIT, 0.0)
            }
            _ => 0.0,
        }
    }

    /// Mass that was cut off the support of a discrete law, under whichever law it counts.
    pub(crate) fn left_out(&self) -> f64 {
        match self {
            Self::Atoms(atoms) => atoms.left_out,
            Self::Remove { base, .. } | Self::Add { base, .. } => base.left_out(),
            Self::Symmetric { one_sided } => one_sided.left_out(),
            Self::Either(either) => either.left_out(),
            Self::Gaussian { .. }
            | Self::Laplace { .. }
            | Self::Opposite { .. }
            | Self::Range(_)
            | Self::Mixture { .. }
            | Self::Shifts(_) => 0.0,
        }
    }

    /// The largest loss, where it is truly bounded (and not only cut, as that of the discrete Gaussian).
    pub(crate) fn bounded(&self) -> Option<f64> {
        match self {
            Self::Atoms(atoms) if atoms.left_out > 0.0 => None,
            Self::Remove { base, .. } => base.bounded().map(|_| self.range().1),
            Self::Symmetric { one_sided } => one_sided.bounded(),
            // Whatever was cut off, an added record loses no more than one that is never left out.
            Self::Add { base, rate } if base.left_out() > 0.0 => Some(-(-rate).ln_1p()),
            Self::Add { .. } => Some(self.range().1),
            Self::Either(either) => either.bounded(),
            _ => Some(self.range().1).filter(|largest| largest.is_finite()),
        }
    }

    /// The smallest and largest possible loss (infinite where unbounded).
    pub(crate) fn range(&self) -> (f64, f64) {
        match self {
            Self::Gaussian { .. } => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Laplace { shift } => (-shift, *shift),
            Self::Atoms(atoms) => atoms.range(),
            Self::Remove { base, rate } => {
                let (low, high) = base.range();
                (mixed_loss(low, *rate), mixed_loss(high, *rate))
            }
            Self::Add { base, rate } => {
                let (low, high) = base.range();
                (-mixed_loss(high, *rate), -mixed_loss(low, *rate))
            }
            Self::Opposite { noise, rate } => {
                let top = noise.largest_loss(*rate);
                (-top, top)
            }
            Self::Symmetric { one_sided } => {
                let (_, high) = one_sided.range();
                (-high, high)
            }
            Self::Range(range) => range.range(),
            Self::Mixture { bells, added: false } => (bells.lowest(), f64::INFINITY),
            Self::Mixture { bells, added: true } => (f64::NEG_INFINITY, -bells.lowest()),
            Self::Either(either) => either.range(),
            Self::Shifts(shifts) => shifts.range(),
        }
    }

    /// How far rounding may move a threshold up to `y`, beyond what the losses themselves round by.
    pub(crate) fn outcome_error(&self, y: f64) -> f64 {
        match self {
            Self::Mixture { bells, .. } => bells.slip(y),
            Self::Shifts(shifts) => shifts.slip(y),
            _ => 0.0,
        }
    }

    /// Relative error of both tails together, beyond the rounding of each.
    pub(crate) fn weight_error(&self) -> f64 {
        match self {
            Self::Either(either) => either.error(),
            Self::Shifts(shifts) => shifts.weight_error(),
            _ => 0.0,
        }
    }
}

impl Masses {
    /// The same event at the threshold `-y` of the exchanged laws; `self` is stated at `y`.
    fn swapped(self, y: f64) -> Self {
        // An empty event stays empty, whatever the factor.
        let times = |mass: f64| if mass == 0.0 { 0.0 } else { mass * (-y).exp() };
        Self { p: times(self.q), q: times(self.p) }
    }

    /// All the rest, at the threshold `y`.
    fn complement(self, y: f64) -> Self {
        Self { p: 1.0 - self.p, q: y.exp() - self.q }
    }
}

/// `P[N(0,1) > x]` and `P[N(0,1) <= x]`.
fn normal_split(x: f64) -> (f64, f64) {
    let tail = normal_above(x.abs());
    if x > 0.0 { (tail, 1.0 - tail) } else { (1.0 - tail, tail) }
}

fn gaussian_split(shift: f64, y: f64) -> (Masses, Masses) {
    let x = y / shift + shift / 2.0;
    let (above, at_most) = normal_split(x - shift);
    // Far out, e^y Q[Y > y] is a density of `P` times Mills' ratio.
    let lift = y.exp();
    let (tail, rest) = if x < 5.0 {
        let (tail, rest) = normal_split(x);
        (lift * tail, lift * rest)
    } else {
        let tail = density(x - shift) * mills(x);
        (tail, lift - tail)
    };
    (Masses { p: above, q: tail }, Masses { p: at_most, q: rest })
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// A law mixed with its own `Q`, at the threshold `y`.
fn removed_split(base: &Law, rate: f64, y: f64) -> (Chances, Chances) {
    let threshold = base_threshold(y, rate);
    if threshold == f64::NEG_INFINITY {
        return (Chances::all(y), Chances::NONE);
    }
    let (above, at_most) = base.split(threshold);
    // `Q` of the base comes times e^threshold.
    let times = |q: f64, factor: f64| if q == 0.0 { 0.0 } else { q * factor };
    let (lower, lift) = ((-threshold).exp(), (y - threshold).exp());
    let beyond = times(above.q, lower);
    // Below a large threshold that is more than doubles hold; above it hardly anything is left.
    let rest = if threshold > 300.0 { 1.0 - beyond } else { times(at_most.q, lower) };
    let mixed = |base: Masses, q: f64| Chances {
        p: (1.0 - rate) * q + rate * base.p,
        q,
        lifted: times(base.q, lift),
    };
    (mixed(above, beyond), mixed(at_most, rest))
}

/// `ln(1 - rate + rate e^loss)`.
pub(crate) fn mixed_loss(base: f64, rate: f64) -> f64 {
    if base > 700.0 {
        let ln = base + rate.ln();
        return if ln < 30.0 { (ln.exp() - rate).ln_1p() } else { ln + ((1.0 - rate) * (-ln).exp()).ln_1p() };
    }
    // Near 1 the logarithm wants the difference from 1; near 0 (a rate near 1) that difference would cancel.
    let excess = rate * base.exp_m1();
    if excess < -0.5 { ((1.0 - rate) + rate * base.exp()).ln() } else { excess.ln_1p() }
}

/// The base loss at which the mixed loss is `y`; minus infinity where every base loss exceeds it.
pub(crate) fn base_threshold(y: f64, rate: f64) -> f64 {
    if y > 30.0 {
        return y + ((1.0 - (1.0 - rate) * (-y).exp()) / rate).ln();
    }
    if y < -0.7 {
        let odds = (y.exp() - (1.0 - rate)) / rate;
        return if odds <= 0.0 { f64::NEG_INFINITY } else { odds.ln() };
    }
    let excess = y.exp_m1() / rate;
    match excess {
        _ if excess <= -1.0 => f64::NEG_INFINITY,
        f64::INFINITY => y.exp_m1().ln() - rate.ln(),
        _ => excess.ln_1p(),
    }
}

impl Bell {
    /// The largest logarithm of a ratio of two neighbouring densities near the centre.
    pub(crate) fn exponent(self) -> f64 {
        match self {
            Self::Gaussian { scale } => 1.0 / (scale * scale),
            Self::Laplace { scale } => 1.0 / scale,
        }
    }

    pub(crate) fn above(self, x: f64) -> f64 {
        match self {
            Self::Gaussian { scale } => normal_above(x / scale),
            Self::Laplace { scale } if x >= 0.0 => 0.5 * (-x / scale).exp(),
            Self::Laplace { scale } => 1.0 - 0.5 * (x / scale).exp(),
        }
    }

    /// `ln P[outcome > x]`, also where that underflows.
    fn ln_above(self, x: f64) -> f64 {
        match self {
            Self::Gaussian { scale } => ln_normal_above(x / scale),
            Self::Laplace { scale } if x >= 0.0 => -x / scale - std::f64::consts::LN_2,
            Self::Laplace { .. } => self.above(x).ln(),
        }
    }

    /// Whether so little is above `x` that doubles lose its digits.
    pub(crate) fn is_far(self, x: f64) -> bool {
        self.above(x) < 1e-250
    }

    /// Relative error of [`Self::above`] and of the exponential of its logarithm.
    pub(crate) fn tail_error(self, x: f64) -> f64 {
        match self {
            Self::Gaussian { scale } => tail_error(x / scale),
            Self::Laplace { scale } => (4.0 + 4.0 * (x / scale).abs()) * UNIT,
        }
    }

    /// The event that the outcome exceeds `x`, whose loss is `y`, under the mixture with centre 1 (`P`) and with centre -1.
    pub(crate) fn three_above(self, x: f64, y: f64, rate: f64) -> Chances {
        let p = (1.0 - rate) * self.above(x) + rate * self.above(x - 1.0);
        let q = (1.0 - rate) * self.above(x) + rate * self.above(x + 1.0);
        let lifted = if y < 300.0 && !self.is_far(x + 1.0) {
            if q == 0.0 { 0.0 } else { q * y.exp() }
        } else {
            // In logarithms: far out each factor leaves the range of doubles, and their product does not.
            let part = |weight: f64, at: f64| (y + weight.ln() + self.ln_above(at)).exp();
            part(1.0 - rate, x) + part(rate, x + 1.0)
        };
        Chances { p, q, lifted }
    }

    fn largest_loss(self, rate: f64) -> f64 {
        match self {
            Self::Gaussian { .. } => f64::INFINITY,
            Self::Laplace { scale } => mixed_loss(1.0 / scale, rate) - mixed_loss(-1.0 / scale, rate),
        }
    }

    /// The outcome `x` whose loss is `y` (odd in `y`); infinite beyond the range of losses.
    pub(crate) fn outcome(self, y: f64, rate: f64) -> f64 {
        if y < 0.0 {
            return -self.outcome(-y, rate);
        }
        match self {
            Self::Gaussian { scale } => {
                // With w = e^(x/scale²) the loss is a ratio of two lines in w and 1/w: a quadratic, divided through by
                // e^y: a e^-y w² - 2 half w - a = 0. In logarithms, relative to the larger of the two terms of its root.
                let variance = scale * scale;
                let ln_a = rate.ln() - 0.5 / variance;
                let ln_half = (0.5 * (1.0 - rate)).ln() + (-(-y).exp_m1()).ln();
                let ln_other = ln_a - 0.5 * y;
                let top = larger(ln_half, ln_other);
                let half = (ln_half - top).exp();
                let root = top + (half + half.hypot((ln_other - top).exp())).ln();
                larger(variance * (root - ln_a + y), 0.0)
            }
            Self::Laplace { .. } if y >= self.largest_loss(rate) => f64::INFINITY,
            Self::Laplace { scale } => {
                // The loss at x in [0, 1] is that of the ratio e^((2x-1)/scale) to the floor under the other law.
                let inverse = 1.0 / scale;
                let excess = (1.0 - rate) / rate * y.exp_m1();
                let ln_ratio = if y > 300.0 {
                    // Bounded by `largest_loss`, so that neither term overflows on its own.
                    ln_add(y - inverse, ((1.0 - rate) / rate).ln() + y)
                } else {
                    ln_add(y - inverse, excess.ln())
                };
                // Between 0 and 1 whatever the rounding.
                within(0.5 * (1.0 + scale * ln_ratio), 0.0, 1.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pld::pairs::laws_of;
    use crate::{Adjacency, Event, Mechanism, Mixture};

    fn laws(mechanism: &Mechanism, adjacency: Adjacency) -> crate::Result<Vec<Law>> {
        laws_of(&Event::from(*mechanism), adjacency)
    }

    fn all_laws() -> Vec<Law> {
        let mut all = Vec::new();
        for (sigma, probabilities) in
            [(1.0, [0.3, 0.5, 0.2]), (0.7, [0.97, 0.02, 0.01]), (2.0, [0.0, 0.1, 0.9])]
        {
            let mixture = Mixture::new(sigma, &[0.0, 1.0, 2.5], &probabilities).unwrap();
            all.extend(laws_of(&mixture.into(), Adjacency::AddRemove).unwrap());
        }
        for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut, Adjacency::Replace] {
            let lots = Mechanism::gaussian(1.1).unwrap().truncated_poisson(0.2, 30, 7).unwrap();
            all.extend(laws(&lots, adjacency).unwrap());
            all.extend(laws(&Mechanism::exponential(1.3).unwrap(), adjacency).unwrap());
            all.extend(laws(&Mechanism::permute_and_flip(1.3).unwrap(), adjacency).unwrap());
        }
        all.extend(
            laws(&Mechanism::exponential(0.7).unwrap().poisson(0.3).unwrap(), Adjacency::AddRemove).unwrap(),
        );
        all.extend(laws(&Mechanism::randomized_response(0.3, 4).unwrap(), Adjacency::ZeroOut).unwrap());
        for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
            for noise in [Mechanism::gaussian(0.9).unwrap(), Mechanism::laplace(1.4).unwrap()] {
                all.extend(laws(&noise, adjacency).unwrap());
                all.extend(laws(&noise.poisson(0.2).unwrap(), adjacency).unwrap());
            }
            all.extend(laws(&Mechanism::discrete_gaussian(1.5, 1).unwrap(), adjacency).unwrap());
            all.extend(laws(&Mechanism::discrete_laplace(0.7, 2).unwrap(), adjacency).unwrap());
        }
        for noise in [Mechanism::gaussian(0.9).unwrap(), Mechanism::laplace(1.4).unwrap()] {
            all.extend(laws(&noise.fixed_batch(3, 10).unwrap(), Adjacency::Replace).unwrap());
        }
        all.extend(laws(&Mechanism::randomized_response(0.3, 4).unwrap(), Adjacency::Replace).unwrap());
        all
    }

    /// Against sixty digits: where a base loss above 30 met a tiny rate, the excess was lost.
    #[test]
    fn mixed_losses_have_their_digits_at_any_rate() {
        for (base, rate, truth) in [
            (93.457_943_925_233_64, 1e-60, 3.874_978_852_890_438e-20),
            (31.0, 1e-16, 0.002_900_673_941_248_552),
            (40.0, 1e-30, 2.353_852_668_369_923e-13),
            (29.0, 1e-13, 0.331_555_476_078_624_7),
            (700.5, 1e-300, 9.724_531_901_959_415),
            (705.0, 1e-306, 0.918_390_059_967_382_6),
        ] {
            let found = mixed_loss(base, rate);
            // An ulp of the base moves the loss by as much.
            assert!((found / truth - 1.0).abs() < 4.0 * UNIT * base, "{base} {rate:e}: {found:e} {truth:e}");
        }
    }

    #[test]
    fn tails_are_complementary_and_monotone() {
        for law in all_laws() {
            let mut last = Masses { p: 1.0, q: 1.0 };
            for i in -400..400 {
                let y = f64::from(i) * 0.013 + 1e-7;
                let plain = |masses: Masses| Masses { p: masses.p, q: masses.q * (-y).exp() };
                let (up, down) = (plain(law.above(y)), plain(law.at_most(y)));
                assert!((up.p + down.p - 1.0).abs() < 1e-12, "{law:?} at {y}: {up:?} {down:?}");
                assert!((up.q + down.q - 1.0).abs() < 1e-12, "{law:?} at {y}: {up:?} {down:?}");
                assert!(up.p <= last.p + 1e-15 && up.q <= last.q + 1e-15, "{law:?} at {y}");
                last = up;
            }
        }
    }

    /// Losses beyond the range of exponents: every tail is a probability, and both are all.
    #[test]
    fn far_tails_are_numbers() {
        let mut all = Vec::new();
        for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut, Adjacency::Replace] {
            for noise in [Mechanism::gaussian(0.03), Mechanism::laplace(0.0011)].map(Result::unwrap) {
                all.extend(laws(&noise, adjacency).unwrap());
                for rate in [0.999, 0.6, 1e-3] {
                    all.extend(laws(&noise.poisson(rate).unwrap(), adjacency).unwrap());
                    let lots = noise.truncated_poisson(rate, 1000, 900).unwrap();
                    all.extend(laws(&lots, adjacency).unwrap());
                }
                if adjacency == Adjacency::Replace {
                    all.extend(laws(&noise.fixed_batch(14, 17).unwrap(), adjacency).unwrap());
                }
            }
            all.extend(laws(&Mechanism::exponential(500.0).unwrap(), adjacency).unwrap());
        }
        for noise in [Mechanism::discrete_laplace(1.0, 1000), Mechanism::discrete_gaussian(0.5, 30)] {
            for rate in [0.9, 1e-3] {
                let sampled = noise.as_ref().unwrap().poisson(rate).unwrap();
                all.extend(laws(&sampled, Adjacency::AddRemove).unwrap());
            }
        }
        let mixture = Mixture::new(0.02, &[0.0, 0.5, 1.0], &[0.1, 0.1, 0.8]).unwrap();
        all.extend(laws_of(&mixture.into(), Adjacency::AddRemove).unwrap());
        for law in all {
            for i in -300..=300 {
                let y = f64::from(i).powi(3) * 1e-4 + 1e-7;
                let (up, down) = law.split(y);
                assert!((up.p + down.p - 1.0).abs() < 1e-12, "{law:?} at {y}: {up:?} {down:?}");
                // Beyond the range of doubles it is infinite, and not a number nowhere.
                assert!(
                    up.q >= 0.0 && up.q <= up.p + 1e-12 && down.q >= 0.0,
                    "{law:?} at {y}: {up:?} {down:?}"
                );
            }
        }
    }

    /// On a thin slice of losses around `y` the masses must stand in the ratio `e^y`: this is what a loss *is*.
    #[test]
    fn slices_have_the_likelihood_ratio_they_are_named_after() {
        for law in all_laws() {
            for i in -300..300 {
                let (y, width) = (f64::from(i) * 0.0171 + 3e-4, 1e-3);
                let (a, b) = (law.above(y), law.above(y + width));
                let (p, q) = (a.p - b.p, a.q * (-y).exp() - b.q * (-y - width).exp());
                if p > 1e-9 && q > 1e-9 {
                    let loss = (p / q).ln();
                    assert!(loss > y - 1e-5 && loss < y + width + 1e-5, "{law:?} at {y}: {loss}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let batch = Mechanism::gaussian(1.0).unwrap().fixed_batch(1, 10).unwrap();
        assert!(laws(&batch, Adjacency::AddRemove).is_err());
        let response = Mechanism::randomized_response(0.5, 2).unwrap();
        assert!(laws(&response, Adjacency::AddRemove).is_err());
        let sampled = Mechanism::discrete_laplace(1.0, 1).unwrap().poisson(0.5).unwrap();
        assert!(laws(&sampled, Adjacency::Replace).is_err());
        // A coin that decides whether anything is computed hides nothing of what is, when a record is zeroed.
        for private in [Mechanism::pure(1.0), Mechanism::exponential(1.0), Mechanism::permute_and_flip(1.0)] {
            let sampled = private.unwrap().poisson(0.1).unwrap();
            let message = laws(&sampled, Adjacency::ZeroOut).unwrap_err().to_string();
            assert!(message.contains("added to a sum"), "{message}");
            assert!(laws(&sampled, Adjacency::AddRemove).is_ok());
        }
    }
}
