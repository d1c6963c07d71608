//! Releases that are known by bounds on their Rényi losses, and by nothing else: concentrated ones, and the best of a random
//! number of repetitions.
//!
//! With `f` the generating function of the number of repetitions, and one of them `(order, loss)`-Rényi private, the best of
//! all loses at most that and what `f'` makes of the tests between two neighbours. For a truncated negative binomial number
//! this is a constant and `ln(mean) / (order - 1)`; for a Poisson number it is `ln(1 + mean e^(..) (moment - 1))`, sharper than
//! what is published and true for means below 1 too. Proofs: `docs/theorems/repeat-and-select.md`.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::interval::{best_bound, larger, smaller};
use crate::mechanism::{Adjacency, positive};
use crate::pld::{descend, minimum};
use crate::rdp::Total;
use crate::special::{UNIT, bisect, ln_add};
use crate::{Composition, Error, Release, Result, require};

/// So many selections may stand in each other.
const DEEPEST: usize = 4;

/// A release that is known by a bound on its Rényi losses.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Rényi loss at most `xi + rho * order` at every order, both ways.
    Zcdp {
        /// The loss per order.
        rho: f64,
        /// The constant part.
        xi: f64,
    },
    /// Discrete Gaussian noise on vectors of integers, on a Poisson sample or on everybody.
    DiscreteGaussian {
        /// The parameter sigma (not exactly the standard deviation).
        sigma: f64,
        /// Largest L2 length of what one record contributes.
        length: f64,
        /// The probability with which a record enters; 1: everybody.
        rate: f64,
    },
    /// A concentrated release with no constant part, on a Poisson sample.
    SampledZcdp {
        /// The loss per order before sampling.
        rho: f64,
        /// The probability with which a record enters.
        rate: f64,
    },
    /// The best of a random number of runs; the others are not released.
    Repeated {
        /// What one run releases.
        once: Vec<(Release, u64)>,
        /// The mean number of runs.
        mean: f64,
        /// How their number is drawn.
        number: Number,
    },
}

/// How a number of repetitions is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// From a Poisson law: possibly none at all, of which the answer is independent of the data.
    Poisson,
    /// From a negative binomial law without 0: logarithmic at shape 0, geometric at shape 1.
    NegativeBinomial {
        /// Its shape.
        shape: f64,
    },
}

impl Bound {
    /// Rényi loss at most `xi + rho * order`.
    pub fn zcdp(rho: f64, xi: f64) -> Result<Self> {
        for (field, value) in [("rho", rho), ("xi", xi)] {
            require((0.0..=1e12).contains(&value), field, value, "give a number from 0 to 1e12")?;
        }
        Ok(Self::Zcdp { rho, xi })
    }

    /// Discrete Gaussian noise on a sum of vectors of integers to which a record contributes at most `length`: concentrated as
    /// the continuous one (Canonne, Kamath and Steinke 2020). A record enters with probability `rate`.
    pub fn discrete_gaussian(sigma: f64, length: f64, rate: f64) -> Result<Self> {
        positive("sigma", sigma)?;
        positive("length", length)?;
        check_rate(rate)?;
        Ok(Self::DiscreteGaussian { sigma, length, rate })
    }

    /// A concentrated release on a Poisson sample.
    pub fn sampled_zcdp(rho: f64, rate: f64) -> Result<Self> {
        Self::zcdp(rho, 0.0)?;
        check_rate(rate)?;
        Ok(if rate == 1.0 { Self::Zcdp { rho, xi: 0.0 } } else { Self::SampledZcdp { rho, rate } })
    }

    /// The best of a random number of runs.
    pub fn repeated(once: Vec<(Release, u64)>, mean: f64, number: Number) -> Result<Self> {
        require(!once.is_empty(), "releases", "an empty list", "give at least one")?;
        match number {
            Number::Poisson => {
                require((1e-9..=1e15).contains(&mean), "mean", mean, "give a number from 1e-9 to 1e15")?;
            }
            Number::NegativeBinomial { shape } => {
                let remedy = "give a number from 1 to 1e15: there is at least one run";
                require((1.0..=1e15).contains(&mean), "mean", mean, remedy)?;
                require((0.0..=1e6).contains(&shape), "shape", shape, "give a number from 0 to 1e6")?;
            }
        }
        let repeated = Self::Repeated { once, mean, number };
        let (depth, remedy) =
            (repeated.depth(), format!("a bound on a bound says less each time; give at most {DEEPEST}"));
        require(depth <= DEEPEST, "releases", format_args!("{depth} selections in each other"), remedy)?;
        Ok(repeated)
    }

    /// Selections in each other.
    fn depth(&self) -> usize {
        let Self::Repeated { once, .. } = self else { return 0 };
        let below = once.iter().map(|(release, _)| match release {
            Release::Bound(bound) => bound.depth(),
            _ => 0,
        });
        1 + below.max().unwrap_or(0) // whole numbers
    }

    fn no_sample(&self, accountant: &'static str, remedy: &str) -> Error {
        Error::Unsupported { event: self.to_string(), accountant, remedy: remedy.into() }
    }

    /// Prepared for evaluation at many orders; refused where one run is not known by Rényi losses.
    pub(crate) fn prepared(&self, adjacency: Adjacency) -> Result<Prepared> {
        match self {
            Self::Zcdp { rho, xi } => Ok(Prepared::Zcdp { rho: *rho, xi: *xi }),
            Self::DiscreteGaussian { sigma, length, rate } => {
                // A replaced record moves the sum twice as far.
                let rho = 0.5 * (adjacency.distance() * length / sigma).powi(2) * (1.0 + 8.0 * UNIT);
                match (*rate >= 1.0, adjacency) {
                    (true, _) => Ok(Prepared::Zcdp { rho, xi: 0.0 }),
                    // Of noise that is added to a sum, a record that contributes 0 is as good as absent.
                    (false, Adjacency::AddRemove | Adjacency::ZeroOut) => {
                        Ok(Prepared::Sampled { rho, rate: *rate })
                    }
                    (false, Adjacency::Replace) => Err(self.no_sample(
                        "replace adjacency",
                        "a sample of it is known under `add-remove` and `zero-out`",
                    )),
                }
            }
            Self::SampledZcdp { rho, rate } => match adjacency {
                Adjacency::AddRemove => Ok(Prepared::Sampled { rho: *rho, rate: *rate }),
                Adjacency::Replace => {
                    Err(self.no_sample("replace adjacency", "a sample of it is known under `add-remove`"))
                }
                // A record that is drawn and says nothing may be as far from one that is not drawn as it likes.
                Adjacency::ZeroOut => Err(self.no_sample(
                    "zero-out adjacency",
                    "a sample of it is known under `add-remove`; give the loss that holds after sampling",
                )),
            },
            Self::Repeated { once, mean, number } => {
                let mut one = Composition::new(adjacency);
                once.iter().try_for_each(|(release, count)| one.add(release.clone(), *count))?;
                if one.reveals() {
                    return Err(Error::Unsupported {
                        event: self.to_string(),
                        accountant: "the Rényi accountant",
                        remedy: "a run that may reveal its record outright has no Rényi loss; give runs without a delta"
                            .into(),
                    });
                }
                Prepared::repeated(one, *mean, *number)
            }
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zcdp { rho, xi } => write!(f, "anything ({xi}, {rho})-concentrated"),
            Self::DiscreteGaussian { sigma, length, rate } => {
                write!(f, "discrete-gaussian(sigma={sigma}, length={length})")?;
                if *rate < 1.0 { write!(f, " on a poisson sample (rate={rate})") } else { Ok(()) }
            }
            Self::SampledZcdp { rho, rate } => {
                write!(f, "anything {rho}-concentrated on a poisson sample (rate={rate})")
            }
            Self::Repeated { once, mean, number } => {
                let runs: Vec<String> =
                    once.iter().map(|(release, count)| format!("{count} x {release}")).collect();
                let law = match number {
                    Number::Poisson => "poisson".to_owned(),
                    Number::NegativeBinomial { shape } => format!("negative binomial of shape {shape}"),
                };
                write!(f, "best of several runs (mean={mean}, {law}) of [{}]", runs.join(", "))
            }
        }
    }
}

/// A bound that is ready to be evaluated.
pub(crate) enum Prepared {
    Zcdp { rho: f64, xi: f64 },
    Sampled { rho: f64, rate: f64 },
    Negative(Negative),
    Poisson(Poisson),
}

/// The best of a negative binomial number of runs.
pub(crate) struct Negative {
    once: Arc<Total>,
    ln_mean: f64,
    /// The order at which `loss + ln(mean)/(order - 1)` is least, about.
    best: f64,
    /// What is lost beyond one run, whatever the order.
    constant: f64,
    largest: Option<f64>,
}

/// The best of a Poisson number of runs.
pub(crate) struct Poisson {
    once: Arc<Total>,
    one: Composition,
    mean: f64,
    largest: Option<f64>,
    /// An order at which its loss is small, and that loss: losses grow with the order.
    least: (f64, f64),
}

impl Prepared {
    fn repeated(one: Composition, mean: f64, number: Number) -> Result<Self> {
        let once = one.total()?;
        let largest = one.largest();
        match number {
            Number::Poisson => {
                let certain = one.quick_delta(&once, 0.0)?;
                // The limit of large orders.
                let largest = largest.map(|largest| (largest + mean * certain) * (1.0 + 8.0 * UNIT));
                let mut poisson = Poisson { once, one, mean, largest, least: (1.0, f64::INFINITY) };
                let at = |ln_c: f64| poisson.at(1.0 + ln_c.exp());
                let best = 1.0 + descend(0.5, 0.5, -12.0, 12.0, at).exp();
                poisson.least = (best, poisson.at(best));
                Ok(Self::Poisson(poisson))
            }
            Number::NegativeBinomial { shape } => {
                let exponent = exponent(mean, shape);
                // `(1 - 1/order) loss + ln(1/gamma)/order` at the best order, from 1 (where only the last term is left) to
                // infinity (where it is the largest loss).
                let at = |ln_c: f64| {
                    let order = 1.0 + ln_c.exp();
                    ((1.0 - 1.0 / order) * once.at(order) + exponent / order) * (1.0 + 8.0 * UNIT)
                };
                let ln_c = descend(1.5, 0.5, -25.0, 12.0, at);
                let refined = minimum(ln_c - 0.5, ln_c + 0.5, 24, at);
                let least = best_bound([at(ln_c), at(refined), exponent, largest.unwrap_or(f64::INFINITY)]);
                let constant = (1.0 + shape) * least * (1.0 + 4.0 * UNIT);
                let ln_mean = mean.ln() * (1.0 + 4.0 * UNIT);
                let sum = |ln_c: f64| once.at(1.0 + ln_c.exp()) + ln_mean / ln_c.exp();
                let ln_c = descend(1.5, 0.5, -25.0, 12.0, sum);
                let best = 1.0 + minimum(ln_c - 0.5, ln_c + 0.5, 24, sum).exp();
                let largest = largest.map(|largest| (largest + constant) * (1.0 + 4.0 * UNIT));
                Ok(Self::Negative(Negative { once, ln_mean, best, constant, largest }))
            }
        }
    }

    /// The Rényi loss at an order above 1, from above.
    pub(crate) fn at(&self, order: f64) -> f64 {
        match self {
            Self::Zcdp { rho, xi } => xi + rho * order,
            Self::Sampled { rho, rate } => sampled(*rho, *rate, order),
            Self::Negative(negative) => {
                // Losses grow with the order: a larger one bounds them too.
                let order = larger(order, negative.best);
                let loss = negative.once.at(order) + negative.ln_mean / (order - 1.0) + negative.constant;
                best_bound([loss, negative.largest.unwrap_or(f64::INFINITY)]) * (1.0 + 8.0 * UNIT)
            }
            Self::Poisson(poisson) => poisson.at(order),
        }
    }

    /// The largest loss, where there is one.
    pub(crate) fn largest(&self) -> Option<f64> {
        match self {
            Self::Zcdp { rho: 0.0, xi } => Some(*xi),
            Self::Zcdp { .. } | Self::Sampled { .. } => None,
            Self::Negative(negative) => negative.largest,
            Self::Poisson(poisson) => poisson.largest,
        }
    }
}

impl Poisson {
    /// `ln(1 + mean e^(c mean delta) (e^(c loss) - 1)) / c` with `c = order - 1` and delta at `ln(order / c)`.
    fn at(&self, order: f64) -> f64 {
        let c = order - 1.0;
        let at = (1.0 / c).ln_1p() * (1.0 - 4.0 * UNIT);
        let delta = self.one.quick_delta(&self.once, at).unwrap_or(1.0);
        let (lifted, moment) = (c * self.mean * delta, c * self.once.at(order));
        let ln_excess = moment + (-(-moment).exp_m1()).ln();
        let z = self.mean.ln() + lifted + ln_excess;
        let rounding = 64.0 * UNIT * (1.0 + self.mean.ln().abs() + lifted + moment);
        let ln = if moment == 0.0 { 0.0 } else { ln_add(0.0, z) + rounding * smaller(z.exp(), 1.0) };
        let least = if order <= self.least.0 { self.least.1 } else { f64::INFINITY };
        best_bound([ln / c, self.largest.unwrap_or(f64::INFINITY), least])
    }
}

fn check_rate(rate: f64) -> Result<()> {
    require((0.0..=1.0).contains(&rate), "sampling-rate", rate, "give a probability")
}

/// `-ln(gamma)` of the negative binomial law of this mean and shape, rounded up.
fn exponent(mean: f64, shape: f64) -> f64 {
    if mean == 1.0 {
        return 0.0;
    }
    // The mean grows with it: `expm1(t) / t` at shape 0, else `shape expm1(t) / (1 - e^(-shape t))`.
    let enough = |t: f64| {
        let shrink = if shape * t < 1e-12 { t } else { -(-shape * t).exp_m1() / shape };
        t.exp_m1() / shrink >= mean * (1.0 + 1e-12)
    };
    bisect(0.0, 100.0, 1e-14, enough).1
}

/// Rényi loss of a sample of something concentrated (`docs/theorems/repeat-and-select.md`, section 4).
fn sampled(rho: f64, rate: f64, order: f64) -> f64 {
    let c = order - 1.0;
    let unsampled = order * rho;
    if order > 1024.0 {
        return unsampled;
    }
    // Removed: moments of whole orders, and between them on the chord.
    let below = order.floor();
    let share = order - below;
    let removed = (1.0 - share) * ln_whole(rho, rate, below) + share * ln_whole(rho, rate, below + 1.0);
    // Added: by the second order around no loss, and by the least likelihood.
    let excess =
        0.5 * order * c * rate * rate * (2.0 * rho).exp_m1() * (-(order + 1.0) * (-rate).ln_1p()).exp();
    let added = best_bound([excess.ln_1p() + f64::MIN_POSITIVE, -c * (-rate).ln_1p()]);
    best_bound([larger(removed, added) / c * (1.0 + 1e-12), unsampled])
}

/// `ln sum C(n,k) (1-q)^(n-k) q^k e^(rho k (k-1))`, from above.
fn ln_whole(rho: f64, rate: f64, n: f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    // All but the moments' excess over 1 adds up to 1.
    let mut ln_excess = f64::NEG_INFINITY;
    let none = n * (-rate).ln_1p();
    let odds = rate.ln() - (-rate).ln_1p();
    let mut ln_weight = none;
    for k in 1..=n as u64 {
        let k = k as f64;
        ln_weight += ((n - k + 1.0) / k).ln() + odds;
        let moment = rho * k * (k - 1.0);
        if moment > 0.0 {
            // Weights rise and then fall, so on the way none is lighter than the first or the last.
            let rounding = 4.0 * UNIT * (k + 2.0) * (none.abs() + ln_weight.abs() + odds.abs() + 8.0)
                + 8.0 * UNIT * moment;
            let ln = ln_weight + moment + (-(-moment).exp_m1()).ln();
            ln_excess = ln_add(ln_excess, ln + rounding);
        }
    }
    ln_add(0.0, ln_excess + 1e-11)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mechanism, rdp};

    fn gaussian(sigma: f64) -> Vec<(Release, u64)> {
        vec![(Release::Mechanism(Mechanism::gaussian(sigma).unwrap()), 1)]
    }

    fn best(once: Vec<(Release, u64)>, mean: f64, number: Number) -> Prepared {
        Bound::repeated(once, mean, number).unwrap().prepared(Adjacency::AddRemove).unwrap()
    }

    #[test]
    fn selections_in_each_other_are_few() {
        let nested = |depth: usize| {
            let mut release = Release::Bound(Bound::zcdp(0.1, 0.0).unwrap());
            for _ in 0..depth {
                release = Release::Bound(Bound::repeated(vec![(release, 1)], 2.0, Number::Poisson)?);
            }
            Ok::<_, Error>(release)
        };
        assert!(nested(DEEPEST).is_ok());
        let error = nested(DEEPEST + 1).unwrap_err().to_string();
        assert!(error.starts_with("`releases` is 5 selections in each other"), "{error}");
    }

    #[test]
    fn losses_grow_with_the_order() {
        let once = vec![(Release::Mechanism(Mechanism::pure(0.1).unwrap()), 1)];
        let inner = Bound::repeated(once, 3.0, Number::NegativeBinomial { shape: 1.0 }).unwrap();
        let nested = best(vec![(Release::Bound(inner), 1)], 5.0, Number::Poisson);
        let losses = [1.01, 1.5, 2.0, 4.0, 30.0].map(|order| nested.at(order));
        assert!(losses.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-12)), "{losses:?}");
    }

    #[test]
    fn a_single_run_is_a_single_run() {
        let once = rdp::loss(&Mechanism::gaussian(1.3).unwrap(), Adjacency::AddRemove, 5.0).unwrap();
        for shape in [0.0, 0.5, 1.0, 2.0] {
            let value = best(gaussian(1.3), 1.0, Number::NegativeBinomial { shape }).at(5.0);
            assert!((value / once - 1.0).abs() < 1e-12, "{shape}: {value} {once}");
        }
    }

    /// Two answers, the better one with probability `s` or `t`: everything by hand.
    #[test]
    fn bounds_contain_what_two_answers_lose() {
        for (s, t) in [(0.5_f64, 0.1_f64), (0.1, 0.5), (1e-3, 1e-5), (0.999, 0.9), (1e-9, 1e-4)] {
            let epsilon =
                [(s / t).ln(), ((1.0 - s) / (1.0 - t)).ln()].iter().fold(0.0, |a, b| larger(a, b.abs()));
            let once = vec![(Release::Mechanism(Mechanism::pure(epsilon).unwrap()), 1)];
            for mean in [1e-3, 0.5, 1.0, 2.0, 30.0_f64] {
                let poisson = best(once.clone(), mean, Number::Poisson);
                let law = |p: f64| {
                    [(-mean).exp(), (-mean * p).exp() * -(-mean * (1.0 - p)).exp_m1(), -(-mean * p).exp_m1()]
                };
                for order in [1.1, 2.0, 7.0, 60.0] {
                    let truth = renyi(&law(s), &law(t), order);
                    assert!(poisson.at(order) >= truth - 1e-12, "{s} {t} {mean} {order}: {truth}");
                }
                if mean < 1.0 {
                    continue;
                }
                // Geometric, from 1 on.
                let geometric = best(once.clone(), mean, Number::NegativeBinomial { shape: 1.0 });
                let gamma = 1.0 / mean;
                let none = |p: f64| gamma * (1.0 - p) / (1.0 - (1.0 - gamma) * (1.0 - p));
                for order in [1.1, 2.0, 7.0, 60.0] {
                    let truth = renyi(&[none(s), 1.0 - none(s)], &[none(t), 1.0 - none(t)], order);
                    assert!(geometric.at(order) >= truth - 1e-12, "{s} {t} {mean} {order}: {truth}");
                }
            }
        }
    }

    fn renyi(p: &[f64], q: &[f64], order: f64) -> f64 {
        let terms = p.iter().zip(q).map(|(p, q)| order * p.ln() + (1.0 - order) * q.ln());
        // What rounding has made 0 under either is left out: the sum is then a little too small.
        terms.filter(|term| term.is_finite()).fold(f64::NEG_INFINITY, ln_add) / (order - 1.0)
    }

    #[test]
    fn samples_of_concentrated_releases_lose_at_least_what_a_gaussian_does() {
        for (sigma, rate) in [(2.5, 0.01), (1.0, 0.3), (5.0, 1e-4)] {
            let gaussian = Mechanism::gaussian(sigma).unwrap().poisson(rate).unwrap();
            for order in [1.5, 2.0, 3.0, 5.5, 16.0, 100.0] {
                let least = rdp::loss(&gaussian, Adjacency::AddRemove, order).unwrap();
                let bound = sampled(0.5 / (sigma * sigma), rate, order);
                assert!(bound >= least * (1.0 - 1e-9), "{sigma} {rate} {order}: {bound} {least}");
                // Near by where the order is whole, but for the second order's factor.
                let factor = 1.05 * (1.0 - rate).powf(-order - 1.0);
                let whole = order.fract() == 0.0 && rate < 0.1;
                assert!(!whole || bound <= least * factor, "{sigma} {rate} {order}: {bound} {least}");
            }
        }
    }

    /// A replaced record takes its own contribution away and brings another.
    #[test]
    fn vectors_move_twice_as_far_when_a_record_is_replaced() {
        let vector = Bound::discrete_gaussian(3.0, 1.5, 1.0).unwrap();
        let at = |adjacency| vector.prepared(adjacency).unwrap().at(8.0);
        for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut] {
            assert!((at(adjacency) - 1.0).abs() < 1e-14, "{}", at(adjacency));
        }
        assert!((at(Adjacency::Replace) - 4.0).abs() < 1e-14, "{}", at(Adjacency::Replace));
        // The integers are such vectors: what is known of them exactly is no more.
        let integers = Mechanism::discrete_gaussian(3.0, 2).unwrap();
        for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut, Adjacency::Replace] {
            let bound = Bound::discrete_gaussian(3.0, 2.0, 1.0).unwrap().prepared(adjacency).unwrap();
            for order in [1.5, 2.0, 8.0, 100.0] {
                let truth = rdp::loss(&integers, adjacency, order).unwrap();
                assert!(bound.at(order) >= truth * (1.0 - 1e-9), "{adjacency} {order}: {truth}");
            }
        }
    }

    /// Two data sets of one record: what is released says nothing of it while it is not drawn, is far from that when it is
    /// zeroed, and moves little between a value and zero. Sampling hides nothing of the little.
    #[test]
    fn samples_of_what_is_only_known_to_be_concentrated_are_refused_under_zeroing() {
        let sampled = Bound::sampled_zcdp(0.1, 0.1).unwrap();
        assert!(sampled.prepared(Adjacency::AddRemove).is_ok());
        for adjacency in [Adjacency::ZeroOut, Adjacency::Replace] {
            let message = sampled.prepared(adjacency).err().unwrap().to_string();
            assert!(message.contains("`add-remove`"), "{message}");
        }
        // Noise that is added to a sum is known there.
        let vector = Bound::discrete_gaussian(3.0, 1.5, 0.1).unwrap();
        assert!(vector.prepared(Adjacency::ZeroOut).is_ok() && vector.prepared(Adjacency::Replace).is_err());
    }

    /// Weights and moments of which each is huge and their product is not.
    #[test]
    fn rounding_of_rare_samples_is_on_the_safe_side() {
        for (rho, rate, n) in [(1.0, 1e-300, 692.0), (0.7, 1e-300, 988.0), (2.0, 1e-150, 174.0)] {
            // The last term alone, in one go.
            let last = rho * n * (n - 1.0) + n * f64::ln(rate);
            let found = ln_whole(rho, rate, n);
            assert!(found >= last && found < last + 1e-5 * (1.0 + last.abs()), "{found} {last}");
        }
        assert_eq!(ln_whole(1.0, 0.0, 5.0), 0.0);
        // Rates whose squares underflow are not rates of 0, and those that overflow are not numbers of 0.
        assert!(sampled(1e-3, 1e-200, 2.0) > 0.0 && sampled(1e3, 1e-200, 2.0) > 0.0);
    }

    #[test]
    fn refusals_name_the_field() {
        let number = Number::NegativeBinomial { shape: 1.0 };
        for (bound, field) in [
            (Bound::repeated(gaussian(1.0), 0.5, number), "mean"),
            (Bound::repeated(gaussian(1.0), f64::NAN, Number::Poisson), "mean"),
            (Bound::repeated(gaussian(1.0), 2.0, Number::NegativeBinomial { shape: -1.0 }), "shape"),
            (Bound::repeated(Vec::new(), 2.0, number), "releases"),
            (Bound::zcdp(-1.0, 0.0), "rho"),
            (Bound::zcdp(1.0, f64::NAN), "xi"),
            (Bound::sampled_zcdp(1.0, 1.5), "sampling-rate"),
            (Bound::sampled_zcdp(1.0, f64::NAN), "sampling-rate"),
            (Bound::discrete_gaussian(1.0, 1.0, -0.1), "sampling-rate"),
            (Bound::discrete_gaussian(0.0, 1.0, 1.0), "sigma"),
            (Bound::discrete_gaussian(1.0, f64::NAN, 1.0), "length"),
        ] {
            let message = bound.unwrap_err().to_string();
            assert!(message.contains(&format!("`{field}` is")), "{message}");
        }
        let given = vec![(Release::given(1.0, 1e-6).unwrap(), 1)];
        assert!(Bound::repeated(given, 2.0, number).unwrap().prepared(Adjacency::Replace).is_err());
    }
}
