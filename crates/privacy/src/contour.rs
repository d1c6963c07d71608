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

mod path;

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

use path::Contour;

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
