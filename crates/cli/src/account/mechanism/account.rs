//! What is lost: epsilon, and the same loss in other currencies beside it.

use std::fmt;

use serde::Serialize;
use sottovoce_fault::decimal::up;
use sottovoce_privacy::{
    Adjacency, Adversary, Bound, Epsilon, Group, Guarantee, Interval, Loss, LowerEnd, Noise, Release, Risk,
    Route, Sampling, Standing, Unit, limits, outward, round_up,
};

use sottovoce::terms::Stated;

use super::currencies::Currencies;
use super::sampling::Passes;
use super::table::Table;

/// A question to a composition.
pub(super) struct Question {
    pub(super) delta: f64,
    pub(super) epsilon: Option<f64>,
    pub(super) table: bool,
    pub(super) risk: bool,
    pub(super) passes: Option<Passes>,
    /// Orders of Rényi losses; none: the usual ones.
    pub(super) orders: Vec<f64>,
    /// Whether the releases came from a list.
    pub(super) listed: bool,
}

/// What `account mechanism` found.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Account {
    /// What is lost.
    epsilon: Epsilons,
    /// With which epsilon may fail.
    delta: f64,
    /// At the epsilon asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta_at_epsilon: Option<Interval>,
    /// Number of releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u64>,
    /// What is released.
    #[serde(skip_serializing_if = "Option::is_none")]
    mechanism: Option<Release>,
    /// The releases of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<Event>>,
    /// Passes over the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    epochs: Option<Passes>,
    /// Records that are protected together.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Together>,
    #[serde(flatten)]
    currencies: Currencies,
    /// Curves.
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<Table>,
    /// What lower ends are bounds of.
    lower_end: LowerEnd,
    /// Which inputs are neighbours.
    adjacency: Adjacency,
    /// Who attacks.
    adversary: Adversary,
    /// What is protected.
    unit: Unit,
    /// By what right.
    standing: Standing,
    /// What is not promised.
    not_covered: Vec<String>,
    /// What is promised, in words.
    statement: String,
    /// The same as numbers.
    guarantees: Vec<Stated>,
    /// Whether the risk is printed.
    #[serde(skip)]
    risk: bool,
}

/// A risk for people.
pub(super) struct Told<'a>(pub(super) &'a Risk);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Risk {
            mu,
            true_positives_at_1_percent: low,
            true_positives_at_0_1_percent: lower,
            advantage,
            accuracy,
        } = self.0;
        let percent = |share: f64| format!("{} %", up(100.0 * share, 3));
        writeln!(f, "  risk                 what an attacker can do at most who looks for a member")?;
        writeln!(
            f,
            "    true positives     {} at 1 % false positives, {} at 0.1 %",
            percent(*low),
            percent(*lower)
        )?;
        writeln!(f, "    advantage          {} (true positives less false positives)", up(*advantage, 3))?;
        writeln!(f, "    accuracy           {} where one in two is a member", percent(*accuracy))?;
        match mu {
            Some(mu) => writeln!(f, "    Gaussian DP        mu {}", up(*mu, 3)),
            None => Ok(()),
        }
    }
}

#[derive(Serialize, schemars::JsonSchema)]
struct Event {
    release: Release,
    /// Number of releases.
    steps: u64,
}

/// Said where the composed dominating pairs need not be attained.
const BATCHES: &str = "lower ends bound the composed dominating pairs of batches, limited lots or selections; the true loss may be smaller than a lower end, \
                       never larger than an upper one";

/// A group of records, and how its loss was bounded.
#[derive(Serialize, schemars::JsonSchema)]
struct Together {
    size: u64,
    route: Route,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Epsilons {
    /// Null at both ends where no finite epsilon exists.
    pld: Ends,
    /// By Rényi divergence.
    rdp: Option<Renyi>,
    /// Why no finite one holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    infinite: Option<String>,
}

/// An interval, or two ends that are null.
#[derive(Clone, Copy, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub(super) enum Ends {
    Finite(Interval),
    Infinite { lower: Option<f64>, upper: Option<f64> },
}

impl From<&Epsilon> for Ends {
    fn from(epsilon: &Epsilon) -> Self {
        match epsilon {
            Epsilon::Within(interval) => Self::Finite(*interval),
            Epsilon::Infinite { .. } => Self::Infinite { lower: None, upper: None },
        }
    }
}

#[derive(Serialize, schemars::JsonSchema)]
struct Renyi {
    value: f64,
    order: f64,
}

impl Account {
    pub(super) fn new(group: &Group, question: &Question) -> anyhow::Result<Self> {
        let (epsilon, route) = group.epsilon(question.delta)?;
        let guarantee = guarantee(group);
        // Beside the certified interval it is one figure more; where it cannot be computed it is left out.
        let renyi = group.exactly().and_then(|composition| composition.rdp_epsilon(question.delta).ok()?);
        let releases = group.one().releases();
        let single = (!question.listed).then(|| releases.first().cloned()).flatten();
        let upper = if let Epsilon::Within(interval) = &epsilon { interval.upper } else { f64::INFINITY };
        let event = |(release, steps): &(Release, u64)| Event { release: release.clone(), steps: *steps };
        Ok(Self {
            statement: statement(&guarantee, &epsilon, question.delta),
            guarantees: vec![stated("all releases together", group, question.delta, upper)?],
            epsilon: Epsilons {
                pld: Ends::from(&epsilon),
                rdp: renyi.map(|(value, order)| Renyi { value, order }),
                infinite: if let Epsilon::Infinite { reason } = epsilon { Some(reason) } else { None },
            },
            delta: question.delta,
            delta_at_epsilon: question.epsilon.map(|epsilon| group.delta(epsilon)).transpose()?,
            steps: single.as_ref().map(|(_, steps)| *steps),
            mechanism: single.map(|(release, _)| release),
            events: question.listed.then(|| releases.iter().map(event).collect()),
            epochs: question.passes,
            group: (group.size() > 1).then_some(Together { size: group.size(), route }),
            currencies: Currencies::new(group, &question.orders),
            table: question.table.then(|| Table::new(group)).transpose()?,
            lower_end: group.one().lower_end(),
            adjacency: guarantee.adjacency,
            adversary: guarantee.adversary,
            unit: guarantee.unit,
            standing: guarantee.standing,
            not_covered: guarantee.not_covered,
            risk: question.risk,
        })
    }
}

/// A guarantee with its risk.
pub(super) fn stated(about: &str, group: &Group, delta: f64, epsilon: f64) -> anyhow::Result<Stated> {
    Ok(Stated { risk: group.risk()?, ..Stated::at(about, &guarantee(group), delta, epsilon) })
}

/// Everything about the guarantee but its epsilon.
pub(super) fn guarantee(group: &Group) -> Guarantee {
    let one = group.one();
    let assumptions = assumptions(one.releases());
    Guarantee {
        adversary: Adversary::WireTapper,
        unit: if group.size() == 1 { Unit::Record } else { Unit::Records(group.size()) },
        adjacency: one.adjacency(),
        loss: Loss::Pld(one.accountant().clone()),
        standing: if assumptions.is_empty() { Standing::Proven } else { Standing::Conditional(assumptions) },
        not_covered: not_covered(group),
    }
}

const GIVEN: &str = "each given epsilon and delta holds, whatever was released before";

/// What was said of releases, and is taken for true.
fn assumptions(releases: &[(Release, u64)]) -> Vec<String> {
    let said = |release: &Release| match release {
        Release::Given { .. } => Some(GIVEN),
        // A sample of what was given.
        Release::Mechanism(mechanism) if matches!(mechanism.noise(), Noise::Pure { .. }) => Some(GIVEN),
        Release::Mixture(_) => {
            Some("each contribution is drawn from the law that was given, whatever was released before")
        }
        Release::Bound(Bound::Zcdp { .. } | Bound::SampledZcdp { .. }) => {
            Some("each given concentrated loss holds, whatever was released before")
        }
        Release::Mechanism(_)
        | Release::Plain(_)
        | Release::Bound(Bound::DiscreteGaussian { .. } | Bound::Repeated { .. }) => None,
    };
    let mut all = Vec::new();
    for (release, _) in releases {
        let inner = match release {
            Release::Bound(Bound::Repeated { once, .. }) => assumptions(once),
            _ => said(release).map(str::to_owned).into_iter().collect(),
        };
        all.extend(inner);
    }
    all.sort();
    all.dedup();
    all
}

fn not_covered(group: &Group) -> Vec<String> {
    let one = group.one();
    let samplings = samplings(one.releases());
    let mut all = limits::of_a_release();
    if samplings.iter().any(|sampling| !matches!(sampling, Sampling::Everyone | Sampling::Nobody)) {
        all.push(limits::SAMPLING.into());
    }
    if samplings.iter().any(|sampling| matches!(sampling, Sampling::TruncatedPoisson { .. })) {
        all.push(limits::OTHER_ROWS.into());
    }
    let fixed = samplings.iter().any(|sampling| matches!(sampling, Sampling::FixedBatch { .. }));
    if fixed && one.adjacency() == Adjacency::AddRemove {
        all.push(limits::FEWER_ROWS.into());
    }
    all
}

/// How records are drawn, in the best of several runs too.
fn samplings(releases: &[(Release, u64)]) -> Vec<Sampling> {
    let each = |(release, _): &(Release, u64)| match release {
        Release::Mechanism(mechanism) => vec![mechanism.sampling()],
        Release::Bound(Bound::SampledZcdp { rate, .. } | Bound::DiscreteGaussian { rate, .. }) => {
            vec![if *rate < 1.0 { Sampling::Poisson { rate: *rate } } else { Sampling::Everyone }]
        }
        Release::Bound(Bound::Repeated { once, .. }) => samplings(once),
        Release::Bound(Bound::Zcdp { .. })
        | Release::Mixture(_)
        | Release::Plain(_)
        | Release::Given { .. } => Vec::new(),
    };
    releases.iter().flat_map(each).collect()
}

fn statement(guarantee: &Guarantee, epsilon: &Epsilon, delta: f64) -> String {
    match epsilon {
        Epsilon::Within(interval) => guarantee.state_at(delta, *interval),
        Epsilon::Infinite { reason } => {
            let delta = if delta == 0.0 { "0".to_owned() } else { format!("{delta:e}") };
            format!("no finite epsilon holds at delta = {delta} ({}): {reason}", guarantee.adjacency)
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        for (release, steps) in self.mechanism.iter().zip(&self.steps) {
            writeln!(f, "{steps} x {release}")?;
        }
        for event in self.events.iter().flatten() {
            writeln!(f, "{} x {}", event.steps, event.release)?;
        }
        if let Some(passes) = self.epochs.filter(|passes| passes.rounded_up) {
            writeln!(f, "({passes}; rounded up)")?;
        }
        writeln!(f, "\n  {}\n", self.statement)?;
        self.epsilons(f)?;
        self.currencies.fmt(f)?;
        if self.risk {
            self.guarantees.iter().try_for_each(|stated| write!(f, "{}", Told(&stated.risk)))?;
        }
        if let Some(table) = &self.table {
            write!(f, "\n{table}")?;
        }
        sottovoce::terms::not_covered(f, &self.not_covered)
    }
}

impl Account {
    fn headline(&self) -> String {
        let delta = if self.delta == 0.0 { "0".to_owned() } else { format!("{:e}", self.delta) };
        match self.epsilon.pld {
            Ends::Finite(interval) => {
                format!("Epsilon {} at delta {delta} for {}", round_up(interval.upper), self.unit)
            }
            Ends::Infinite { .. } => format!("No finite epsilon holds at delta {delta} for {}", self.unit),
        }
    }

    fn epsilons(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Ends::Finite(interval) = self.epsilon.pld {
            let (lower, upper) = outward(interval);
            writeln!(f, "  certified interval   [{lower}, {upper}]")?;
            if let Some(reason) = interval.reason() {
                writeln!(f, "  note (interval): {reason}")?;
            }
        }
        if self.lower_end == LowerEnd::DominatingPair {
            writeln!(f, "  note: {BATCHES}")?;
        }
        if let Some(group) = &self.group {
            writeln!(f, "  for {} records       {}", group.size, route(group.route))?;
        }
        if let Some(rdp) = &self.epsilon.rdp {
            writeln!(f, "  by Rényi divergence  {} (order {:.3})", round_up(rdp.value), rdp.order)?;
        }
        if let Some(delta) = self.delta_at_epsilon {
            let (lower, upper) = outward(delta);
            writeln!(f, "  delta at epsilon     [{lower}, {upper}]")?;
            if let Some(reason) = delta.reason() {
                writeln!(f, "  note (delta): {reason}")?;
            }
        }
        Ok(())
    }
}

fn route(route: Route) -> &'static str {
    match route {
        Route::Exact => "exact: the noise as it is moved by all of them",
        Route::Moved => "a bound: either none of them is in a sample, or all",
        Route::Chained => "a bound: from neighbour to neighbour, one record at a time",
    }
}
