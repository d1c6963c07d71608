//! Groups: what is lost about `k` records at once, where neighbouring data sets differ in up to `k` of them.
//!
//! Three routes, and an answer says which it took:
//!
//! * *exact*: unsampled noise that is moved `k` times as far; a Poisson sample that holds some of the `r` records that were removed,
//!   or some of the `k - r` that were added, for the worst `r`;
//! * *moved*: pairs that dominate, and that no data need attain: a fixed batch that may be all of the group; a response for each record; a given
//!   guarantee at `k` times its epsilon;
//! * *chained*: from neighbour to neighbour, `k` times: `(k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1))` of the
//!   whole composition, at the best epsilon; `k mu` and `k^2 rho` where a Gaussian or a concentrated loss is known.
//!
//! Of the last two the smallest counts. Proofs: `docs/theorems/group-privacy.md`.

use serde::Serialize;

use crate::event::Together;
use crate::interval::{larger, smaller, smallest};
use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling};
use crate::special::{Interval, UNIT, crossing};
use crate::{Bound, Composition, Curve, Epsilon, Error, Gdp, Loss, Release, Result, Risk, require};

/// How the loss of a group was bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// By the laws of the group themselves.
    Exact,
    /// By a pair of laws that dominates the group's.
    Moved,
    /// From neighbour to neighbour.
    Chained,
}

/// A composition as it looks to a group of `size` records (1: one record).
///
/// ```
/// use sottovoce_privacy::{Adjacency, Composition, Gdp, Group, Mechanism, Release, Route};
/// let mut one = Composition::new(Adjacency::AddRemove);
/// one.add(Release::Mechanism(Mechanism::gaussian(12.0)?), 4)?;
/// let three = Group::new(one, 3)?;
/// let (epsilon, route) = three.epsilon(1e-5)?;
/// let same = Gdp::of_noise(4.0)?.times(4).epsilon(1e-5)?;
/// assert!(route == Route::Exact && (epsilon.upper() / same.upper - 1.0).abs() < 1e-12);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Group {
    size: u64,
    one: Composition,
    /// One record of the smallest data sets that a chain of neighbours passes through.
    link: Composition,
    moved: Option<Moved>,
}

/// The releases as the group moves them, with noise rounded down (`least`) and, where that is another number, up (`most`).
#[derive(Debug, Clone)]
struct Moved {
    least: Composition,
    most: Option<Composition>,
    exact: bool,
}

impl Group {
    /// The composition, for groups of `size` records.
    pub fn new(one: Composition, size: u64) -> Result<Self> {
        require(size != 0 && size <= 1_000_000, "group", size, "give a number of records from 1 to 1000000")?;
        let moved = if size == 1 {
            Some(Moved { least: one.clone(), most: None, exact: true })
        } else {
            Moved::new(&one, size)
        };
        let link = if size == 1 { one.clone() } else { link(&one, size)? };
        Ok(Self { size, one, link, moved })
    }

    /// How many records.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The composition for a single record.
    pub fn one(&self) -> &Composition {
        &self.one
    }

    /// The composition whose laws are those of the group, where there is one; its noise is rounded down.
    pub fn exactly(&self) -> Option<&Composition> {
        self.moved.as_ref().filter(|moved| moved.exact).map(|moved| &moved.least)
    }

    /// Epsilon at `delta`, which may be 0, and how it was found.
    pub fn epsilon(&self, delta: f64) -> Result<(Epsilon, Route)> {
        // So little noise that the moved pairs are beyond computing: then they give no bound.
        let moved = |of: &Moved| {
            let least = of.least.epsilon(delta)?;
            match of.most.as_ref().filter(|_| of.exact) {
                Some(most) => lowered(least, most.epsilon(delta)?),
                None => Ok(least),
            }
        };
        let moved = match &self.moved {
            Some(of) if of.exact => match moved(of) {
                Ok(exact) => return Ok((exact, Route::Exact)),
                Err(error) if self.size == 1 => return Err(error),
                Err(_) => None,
            },
            Some(of) => moved(of).ok(),
            None => None,
        };
        let routes = [
            moved.map(|moved| (Ok(moved), Route::Moved)),
            self.concentrated(delta).map(|best| (Ok(best), Route::Chained)),
        ];
        let routes = routes.into_iter().flatten().chain([(self.chained(delta), Route::Chained)]);
        let mut best: Result<(Epsilon, Route)> = Err(self.no_chain());
        for (found, route) in routes {
            best = match (best, found) {
                (Ok(best), Ok(found)) if best.0.upper() <= found.upper() => Ok(best),
                (Ok(best), Err(Error::Accuracy { .. })) => Ok(best),
                (_, found) => found.map(|found| (found, route)),
            };
        }
        let (best, route) = best?;
        Ok((lowered(best, self.one.epsilon(delta)?)?, route))
    }

    /// By the Gaussian or the concentrated loss of the group, where there is one.
    fn concentrated(&self, delta: f64) -> Option<Epsilon> {
        let gaussian = self.gaussian().ok().and_then(|bound| Gdp::new(bound.mu).ok()?.epsilon(delta).ok());
        let concentrated = self.zcdp().and_then(|rho| Loss::Zcdp(rho).epsilon(delta).ok());
        let uppers = gaussian
            .into_iter()
            .chain(concentrated)
            .map(|interval| interval.upper)
            .filter(|upper| upper.is_finite());
        let best = smallest(f64::INFINITY, uppers);
        Interval::new(0.0, best).ok().filter(|_| best.is_finite()).map(Epsilon::Within)
    }

    /// Delta at `epsilon`.
    pub fn delta(&self, epsilon: f64) -> Result<Interval> {
        if let Some(exact) = self.moved.as_ref().filter(|moved| moved.exact) {
            let least = exact.least.delta(epsilon)?;
            let most = exact.most.as_ref().map(|most| most.delta(epsilon)).transpose()?;
            return Interval::new(most.unwrap_or(least).lower, least.upper);
        }
        let each = (epsilon / self.size as f64).next_down();
        let each = if each > 0.0 { each } else { 0.0 };
        let one = self.link.delta(each)?.upper;
        let chained = if one > 0.0 { one * growth(self.size, each.next_up()) } else { 0.0 };
        let moved = self.moved.as_ref().and_then(|moved| moved.least.delta(epsilon).ok());
        let best = [moved.map(|interval| interval.upper), Some(chained)].into_iter().flatten();
        let upper = best.fold(1.0, |least, bound| if bound < least { bound } else { least });
        Interval::new(self.one.delta(epsilon)?.lower, upper)
    }

    /// Values to promise at several deltas, infinite where there is none; cheaper than one by one where that is exact.
    pub fn upper_epsilons(&self, deltas: &[f64]) -> Result<Vec<f64>> {
        match self.exactly() {
            Some(exact) => exact.upper_epsilons(deltas),
            None => deltas.iter().map(|&delta| Ok(self.epsilon(delta)?.0.upper())).collect(),
        }
    }

    /// Pairs `(epsilon, delta)` that all hold, near the given deltas.
    pub fn guarantees(&self, deltas: &[f64]) -> Result<Vec<(f64, f64)>> {
        let pairs = |composition: &Composition| -> Result<Vec<(f64, f64)>> {
            Ok(composition.upper_epsilons(deltas)?.into_iter().zip(deltas.iter().copied()).collect())
        };
        if let Some(exact) = self.exactly() {
            return Ok(holding(pairs(exact)?));
        }
        let chain = |(epsilon, delta): (f64, f64)| (self.times(epsilon), delta * growth(self.size, epsilon));
        let mut all: Vec<(f64, f64)> = pairs(&self.link)?.into_iter().map(chain).collect();
        all.extend(self.moved.as_ref().and_then(|moved| pairs(&moved.least).ok()).unwrap_or_default());
        Ok(holding(all))
    }

    /// What an attacker can do who looks for the whole group.
    pub fn risk(&self) -> Result<Risk> {
        Risk::new(&self.curve()?, self.gaussian().ok().map(|bound| bound.mu))
    }

    /// Deltas from above at whatever epsilons, for what a few cost.
    pub fn curve(&self) -> Result<Curve<'_>> {
        let mut bounds = Vec::new();
        if let Some(moved) = &self.moved {
            match moved.least.curve() {
                Ok(curve) if moved.exact => return Ok(curve),
                Ok(curve) => bounds.push(curve),
                Err(error) if self.size == 1 => return Err(error),
                Err(_) => {}
            }
        }
        if let Some(gdp) = self.gaussian().ok().and_then(|bound| Gdp::new(bound.mu).ok()) {
            bounds.push(Box::new(move |epsilon| Ok(gdp.delta(epsilon)?.upper)));
        }
        let link = self.link.curve()?;
        Ok(Box::new(move |epsilon| {
            let each = (epsilon / self.size as f64).next_down();
            let one = link(larger(each, 0.0))?;
            let chained = if one > 0.0 { one * growth(self.size, each.next_up()) } else { 0.0 };
            bounds.iter().try_fold(smaller(chained, 1.0), |least, bound| Ok(smaller(least, bound(epsilon)?)))
        }))
    }

    /// The concentrated loss of the group: `k²` times that of one record.
    pub fn zcdp(&self) -> Option<f64> {
        let k = self.size as f64;
        match self.exactly() {
            Some(exact) => exact.zcdp(),
            None => self.link.zcdp().map(|rho| rho * k * k * (1.0 + 4.0 * UNIT)),
        }
    }

    /// The Gaussian of the group: `k` times the parameter of one record's.
    pub fn gaussian(&self) -> std::result::Result<crate::GaussianBound, String> {
        if let Some(exact) = self.exactly() {
            return exact.gaussian();
        }
        let one = self.link.gaussian()?;
        Ok(crate::GaussianBound { mu: self.times(one.mu), kind: crate::Kind::Bound })
    }

    fn times(&self, value: f64) -> f64 {
        value * self.size as f64 * (1.0 + 2.0 * UNIT)
    }

    /// From neighbour to neighbour.
    fn chained(&self, delta: f64) -> Result<Epsilon> {
        let one = self.link.epsilon(delta)?;
        if delta == 0.0 || matches!(one, Epsilon::Infinite { .. }) {
            return self.scaled(one);
        }
        // At `delta e^-t / k` for one record; what cannot be computed is not enough.
        let each = |t: f64| delta / self.size as f64 * (-t).exp();
        let epsilon = |t: f64| self.link.epsilon(each(t)).map_or(f64::INFINITY, |epsilon| epsilon.upper());
        let total = |t: f64| each(t) * growth(self.size, epsilon(t)) * (1.0 + 8.0 * UNIT);
        let pure = self.link.epsilon(0.0)?;
        if total(0.0) <= delta {
            return self.scaled(self.link.epsilon(each(0.0))?);
        }
        let mut ends = (0..10).map(|i| f64::from(1 << i)).map(|t| (t / 2.0, t));
        let Some((low, high)) = ends.find(|&(_, t)| total(t) <= delta) else {
            return match pure {
                Epsilon::Within(_) => self.scaled(pure),
                Epsilon::Infinite { .. } => Err(self.no_chain()),
            };
        };
        let low = if high == 1.0 { 0.0 } else { low };
        let found = crossing((low, high), delta, 1e-4, total).1;
        let t = if total(found) <= delta { found } else { high };
        let best = self.scaled(self.link.epsilon(each(t))?)?;
        let pure = self.scaled(pure)?;
        Ok(if pure.upper() < best.upper() { pure } else { best })
    }

    fn no_chain(&self) -> Error {
        Error::Accuracy {
            computation: format!("the loss of {} records together", self.size),
            remedy: "from neighbour to neighbour more delta is lost than there is; give a smaller group, a larger \
                     delta, or more noise"
                .into(),
        }
    }

    /// The epsilon of one record, `k` times.
    fn scaled(&self, epsilon: Epsilon) -> Result<Epsilon> {
        match epsilon {
            Epsilon::Within(one) => Ok(Epsilon::Within(Interval::new(one.lower, self.times(one.upper))?)),
            infinite @ Epsilon::Infinite { .. } => Ok(infinite),
        }
    }
}

/// Removing `k` records one by one passes through data sets of `k - 1` fewer rows, in which a batch of fixed size takes a
/// larger share.
fn link(one: &Composition, size: u64) -> Result<Composition> {
    let mut link = Composition::new(one.adjacency());
    for (release, steps) in one.releases() {
        let release = match one.adjacency() {
            Adjacency::AddRemove => of_fewer_rows(release, size)?,
            Adjacency::Replace | Adjacency::ZeroOut => release.clone(),
        };
        link.add(release, *steps)?;
    }
    Ok(link)
}

/// The release on `size - 1` fewer rows; of the best of several runs, each of them.
fn of_fewer_rows(release: &Release, size: u64) -> Result<Release> {
    match release {
        Release::Mechanism(mechanism) => fewer_rows(*mechanism, size).map(Release::Mechanism),
        Release::Bound(Bound::Repeated { once, mean, number }) => {
            let fewer = |(release, count): &(Release, u64)| Ok((of_fewer_rows(release, size)?, *count));
            let once = once.iter().map(fewer).collect::<Result<Vec<_>>>()?;
            Bound::repeated(once, *mean, *number).map(Release::Bound)
        }
        // Neither knows of rows: what is given holds for each pair of neighbours.
        Release::Bound(Bound::Zcdp { .. } | Bound::SampledZcdp { .. } | Bound::DiscreteGaussian { .. })
        | Release::Mixture(_)
        | Release::Plain(_)
        | Release::Given { .. } => Ok(release.clone()),
    }
}

fn fewer_rows(mechanism: Mechanism, size: u64) -> Result<Mechanism> {
    if let Sampling::TruncatedPoisson { .. } = mechanism.sampling() {
        // Neither fewer nor more rows lose less in every way.
        return Err(Error::Unsupported {
            event: mechanism.to_string(),
            accountant: "groups under add-remove adjacency",
            remedy:
                "lots of limited size depend on the number of rows: use `zero-out` or `replace` adjacency"
                    .into(),
        });
    }
    let Sampling::FixedBatch { population, batch } = mechanism.sampling() else { return Ok(mechanism) };
    let rows = population.saturating_sub(size - 1);
    let remedy = format!("without them {population} rows no longer fill a batch of {batch}: give fewer");
    require(rows > batch, "group", size, remedy)?;
    mechanism.fixed_batch(batch, rows)
}

/// The upper end of one answer with the lower end of another.
fn lowered(upper: Epsilon, lower: Epsilon) -> Result<Epsilon> {
    match (upper, lower) {
        (Epsilon::Within(found), Epsilon::Within(other)) if other.lower < found.upper => {
            Ok(Epsilon::Within(Interval::new(other.lower, found.upper)?))
        }
        (upper, _) => Ok(upper),
    }
}

/// Those pairs that say something.
fn holding(pairs: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    pairs.into_iter().filter(|(epsilon, delta)| epsilon.is_finite() && *delta < 1.0).collect()
}

/// `1 + e^epsilon + ... + e^((k-1) epsilon)`, rounded up.
fn growth(size: u64, epsilon: f64) -> f64 {
    let k = size as f64;
    let sum = if epsilon > 0.0 { (k * epsilon).exp_m1() / epsilon.exp_m1() } else { k };
    // Beyond the largest number, and where both powers are, there is no bound.
    if !sum.is_finite() {
        return f64::INFINITY;
    }
    let sum = if sum < k { k } else { sum };
    sum * (1.0 + 16.0 * UNIT * (1.0 + k * epsilon))
}

impl Moved {
    /// Nothing where some release is known only from neighbour to neighbour.
    fn new(one: &Composition, size: u64) -> Option<Self> {
        let mut exact = true;
        let mut both = [Composition::new(one.adjacency()), Composition::new(one.adjacency())];
        for (release, steps) in one.releases() {
            for (composition, up) in both.iter_mut().zip([false, true]) {
                exact &= add_moved(composition, (release, *steps), size, up)?;
            }
        }
        let [least, most] = both;
        let most = (most != least).then_some(most);
        Some(Self { least, most, exact })
    }
}

/// Adds so many releases as a group moves them; whether that is exact.
fn add_moved(to: &mut Composition, (release, steps): (&Release, u64), size: u64, up: bool) -> Option<bool> {
    let (moved, times, exact) = match *release {
        Release::Plain(_) => (release.clone(), 1, true),
        Release::Mixture(_) | Release::Bound(_) => return None,
        Release::Given { epsilon, delta } => {
            let delta = delta * growth(size, epsilon);
            (Release::given(epsilon * size as f64 * (1.0 + 2.0 * UNIT), delta).ok()?, 1, false)
        }
        Release::Mechanism(mechanism) => match (mechanism.sampling(), mechanism.noise()) {
            (Sampling::Nobody, _) => (release.clone(), 1, true),
            // Some records may be zeroed and others come back: neither direction of a product covers both.
            (Sampling::Everyone, Noise::RandomizedResponse { .. })
                if to.adjacency() == Adjacency::ZeroOut =>
            {
                return None;
            }
            (Sampling::Everyone, Noise::RandomizedResponse { .. }) => (release.clone(), size, false),
            (Sampling::Everyone, noise) => {
                (Release::Mechanism(farther(noise, size, up)?), 1, noise.is_additive())
            }
            (Sampling::Poisson { .. }, _) => {
                let group = Together { mechanism, records: size };
                to.add_group(group, steps).ok()?;
                return Some(group.is_exact());
            }
            // At most the whole batch is of the group, whatever batch is drawn.
            (Sampling::FixedBatch { batch, .. }, noise)
                if noise.is_additive() && to.adjacency() != Adjacency::AddRemove =>
            {
                (Release::Mechanism(farther(noise, size.min(batch), up)?), 1, false) // whole numbers
            }
            (Sampling::FixedBatch { .. } | Sampling::TruncatedPoisson { .. }, _) => return None,
        },
    };
    to.add(moved, steps.checked_mul(times)?).ok()?;
    Some(exact)
}

/// The unsampled release of which records move the sum `size` times as far.
fn farther(noise: Noise, size: u64, up: bool) -> Option<Mechanism> {
    let contributions = |one: u32| u32::try_from(size).ok().and_then(|size| one.checked_mul(size));
    match noise {
        Noise::Gaussian { noise_multiplier } => Mechanism::gaussian(divided(noise_multiplier, size, up)),
        Noise::Laplace { scale } => Mechanism::laplace(divided(scale, size, up)),
        Noise::DiscreteGaussian { sigma, contribution } => {
            Mechanism::discrete_gaussian(sigma, contributions(contribution)?)
        }
        Noise::DiscreteLaplace { scale, contribution } => {
            Mechanism::discrete_laplace(scale, contributions(contribution)?)
        }
        Noise::Pure { epsilon } => Mechanism::pure(epsilon * size as f64 * (1.0 + 2.0 * UNIT)),
        Noise::Exponential { epsilon } => Mechanism::exponential(epsilon * size as f64 * (1.0 + 2.0 * UNIT)),
        Noise::PermuteAndFlip { epsilon } => {
            Mechanism::permute_and_flip(epsilon * size as f64 * (1.0 + 2.0 * UNIT))
        }
        Noise::Tree { noise_multiplier, leaves } => {
            Mechanism::tree(divided(noise_multiplier, size, up), leaves)
        }
        Noise::RandomizedResponse { .. } => return None,
    }
    .ok()
}

/// `value / size`, rounded up or down.
fn divided(value: f64, size: u64, up: bool) -> f64 {
    let quotient = value / size as f64;
    let exact = quotient.mul_add(size as f64, -value) == 0.0;
    match (exact, up) {
        (true, _) => quotient,
        (false, true) => quotient.next_up(),
        (false, false) => quotient.next_down(),
    }
}
