//! All candidates, the best of them, and the proof that it keeps the target.

use sottovoce_privacy::limits;
use sottovoce_views::exact::Results;

use super::losses::unit;
use super::pairs::{Spread, dominance};
use super::verify::{Verified, binding, classes, guarantees, pairs, statements, verify};
use super::{
    ALL_OBSERVERS, Falling, Plan, Problem, Progress, Protocol, Row, Site, butterfly, cancelling, gossip,
    masked, randomised, reason,
};
use crate::{Error, Result, require};

/// Observers of a sample, where none is asked for.
const SAMPLE: usize = 64;

/// Up to so many observers there are no scouts.
const FEW: usize = 64;
const SCOUTS: usize = 12;

/// Above so many peers schedules are not drawn, and butterflies not traced: their accounts grow too long.
const RANDOMISED: usize = 512;
const BUTTERFLY: usize = 2048;

/// Up to so many observers the best row of each protocol is accounted for pair by pair, to be compared.
const COMPARED: usize = 128;

/// Who observes.
#[derive(Debug, Clone, PartialEq)]
pub struct Observers {
    /// Those whose views count.
    pub all: Vec<usize>,
    /// Those who look at everything first.
    pub scouts: Vec<usize>,
    /// Whether nobody is left out.
    pub complete: bool,
}

impl Observers {
    /// Of a problem: everybody, or a sample where one is asked for or a mean is enough.
    pub fn new(problem: &Problem, peers: usize) -> Result<Self> {
        let automatic = (peers > ALL_OBSERVERS && !problem.target.is_worst_case()).then_some(SAMPLE);
        let size = match problem.sample {
            Some(size) if size < 2 => {
                return Err(Error::parameter("sample", size, "give at least 2 observers"));
            }
            sample => sample.or(automatic).unwrap_or(peers).min(peers),
        };
        let shuffled = shuffled(peers, problem.seed);
        let scouts = if size <= FEW { size } else { SCOUTS };
        let pick = |count: usize| {
            let mut some = shuffled[..count].to_vec();
            some.sort_unstable();
            some
        };
        Ok(Self { all: pick(size), scouts: pick(scouts), complete: size == peers })
    }

    /// Whether the scouts are all there are.
    pub fn are_scouts(&self) -> bool {
        self.scouts.len() == self.all.len()
    }

    /// By what right losses found through them are stated.
    pub fn standing(&self) -> String {
        match self.complete {
            false => format!("an estimate from {} observers, no guarantee", self.all.len()),
            true => "proven, against any one peer".into(),
        }
    }
}

/// The peers in an order that is a function of the seed.
fn shuffled(peers: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..peers).collect();
    let mut state = seed;
    for i in (1..peers).rev() {
        // SplitMix64; the bias of the remainder is below 2^-50 for any graph that fits in memory.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        order.swap(i, ((z ^ (z >> 31)) % (i as u64 + 1)) as usize);
    }
    order
}

/// Finds the plan of least predicted error.
///
/// ```
/// use sottovoce_engine::plan::{Bound, Problem, Protocol, Site, Target, averaging};
/// use sottovoce_topology::family::Family;
/// let problem = Problem {
///     sites: vec![Site::of_family(&Family::Hypercube { dimension: 4 }, 0)?],
///     graph_is_given: true,
///     sensitivity: 1.0,
///     columns: 1,
///     results: Default::default(),
///     falling: None,
///     secrets: None,
///     target: Target::none(2).with(Bound::Far, 0.05).guarded(),
///     sample: None,
///     delta: 1e-5,
///     seed: 0,
/// };
/// let plan = averaging(&problem, &|_, _, _| ())?;
/// assert_eq!(plan.rows[plan.chosen].protocol, Protocol::RelayGossip);
/// assert!(plan.verified.far.is_some_and(|far| far <= 0.05));
/// # Ok::<(), sottovoce_engine::Error>(())
/// ```
pub fn averaging(problem: &Problem, progress: Progress) -> Result<Plan> {
    let peers = check(problem)?;
    let observers = Observers::new(problem, peers)?;
    let sites: Vec<&Site> = problem.sites.iter().filter(|site| suits(problem, site)).collect();
    if let (true, Some(site)) = (sites.is_empty(), problem.sites.first()) {
        let (beyond, diameter) = (problem.target.beyond, site.diameter);
        let remedy = format!("no two peers of {} are so far apart; give at most {diameter}", site.name);
        return Err(Error::parameter("beyond", beyond, remedy));
    }
    let mut rows = Vec::new();
    for site in &sites {
        rows.extend(gossip::rows(problem, site, &observers, progress)?);
        if peers <= RANDOMISED {
            rows.extend(randomised::row(problem, site, &observers, progress)?);
        }
    }
    if peers <= BUTTERFLY {
        rows.push(butterfly::row(problem, peers, &observers, progress)?);
    }
    rows.extend(cancelling::rows(problem, peers, &sites)?);
    rows.extend(masked::row(problem, peers)?);
    rows.sort_by(|a, b| a.error.total_cmp(&b.error));
    let Some(chosen) = rows.iter().position(|row| may_be_chosen(problem, row)) else {
        let remedy = "give another graph";
        return Err(Error::parameter("graph", "such that nothing can be planned on it", remedy));
    };
    rows.extend([Row::local(problem, peers), Row::central(problem, peers)]);
    let verified = verify(problem, &mut rows[chosen], &observers, progress)?;
    let mut rows: Vec<Row> = rows.into_iter().map(|row| row.with_epsilons(problem)).collect::<Result<_>>()?;
    compare(problem, &mut rows, (chosen, &verified), &observers, progress)?;
    let classes = classes(problem, &rows[chosen], &verified)?;
    Ok(Plan {
        peers,
        sensitivity: problem.sensitivity,
        columns: problem.columns,
        target: problem.target,
        results: problem.results,
        delta: problem.delta,
        reason: reason::reason(problem, &rows, chosen),
        statements: statements(problem, &rows[chosen], &verified.mu_squared, &classes, &observers)?,
        guarantees: guarantees(
            problem,
            &rows[chosen],
            &classes,
            &observers,
            &not_covered(problem, &rows[chosen]),
        )?,
        binding: binding(problem, &rows[chosen], &verified)?,
        below: dominance(&rows),
        classes,
        not_covered: not_covered(problem, &rows[chosen]),
        rows,
        chosen,
        verified: verified.mu_squared,
    })
}

/// Gives rows the losses of all their pairs: the chosen one has them; of each other protocol the best row is accounted for, where there are not too many pairs.
fn compare(
    problem: &Problem,
    rows: &mut [Row],
    (chosen, verified): (usize, &Verified),
    observers: &Observers,
    progress: Progress,
) -> Result<()> {
    let best: Vec<usize> = (0..rows.len())
        .filter(|&i| !rows[..i].iter().any(|better| better.protocol == rows[i].protocol))
        .filter(|&i| rows[i].protocol != rows[chosen].protocol)
        .collect();
    let (total, few) = (rows.len(), observers.all.len() <= COMPARED);
    for (i, row) in rows.iter_mut().enumerate() {
        let unit = unit(problem.sensitivity, row.sigma);
        let spread = |losses| Spread::new(losses, unit, problem.delta);
        let number = verified.pairs.pairs().count();
        row.pairs = match row.protocol {
            Protocol::LocalDp => Spread::equal(number, row.mu_squared.worst, 1.0, problem.delta)?,
            Protocol::CentralDp => Spread::equal(number, row.mu_squared.worst, 0.0, problem.delta)?,
            // Everybody hears the same sum, whose epsilon is not a Gaussian's.
            Protocol::MaskedButterfly => None,
            _ if i == chosen => spread(&verified.pairs)?,
            _ if few && best.contains(&i) => {
                let stage =
                    |_: &str, done: usize, of: usize| progress("comparing", i * of + done, total * of);
                spread(&pairs(problem, row, observers, &stage)?)?
            }
            _ => None,
        };
    }
    Ok(())
}

fn not_covered(problem: &Problem, chosen: &Row) -> Vec<String> {
    let mut all = limits::of_a_protocol();
    all.retain(|limit| problem.results == Results::Kept || limit != limits::RESULTS);
    all.extend(problem.falling.iter().map(|_| limits::DISTANCES.to_owned()));
    all.extend(chosen.protocol.shares_secrets().then(|| limits::SECRETS.to_owned()));
    all
}

/// Whether a graph has pairs that the target speaks of.
fn suits(problem: &Problem, site: &Site) -> bool {
    problem.target.far.is_none() || site.diameter >= problem.target.beyond
}

/// On a given graph nothing that ignores it is chosen; and nothing that has no pair to protect.
fn may_be_chosen(problem: &Problem, row: &Row) -> bool {
    let reachable = row.graph.is_some() || !problem.graph_is_given;
    let speaks = problem.target.far.is_none() || row.mu_squared.far.is_some();
    reachable && speaks && row.error.is_finite()
}

/// Beyond, squares of noises are no doubles.
const SENSITIVITIES: (f64, f64) = (1e-100, 1e100);

fn check(problem: &Problem) -> Result<usize> {
    problem.target.check()?;
    let least = problem.falling.as_ref().map(Falling::tightest);
    let remedy = "give a target the bounds that fall with distance";
    require(problem.target.falling == least, "within", "not the target's", remedy)?;
    require(
        (SENSITIVITIES.0..=SENSITIVITIES.1).contains(&problem.sensitivity),
        "sensitivity",
        problem.sensitivity,
        format!("give a positive number from {:e} to {:e}", SENSITIVITIES.0, SENSITIVITIES.1),
    )?;
    let remedy = "give a number between 0 and 1";
    require(problem.delta > 0.0 && problem.delta < 1.0, "delta", problem.delta, remedy)?;
    let Some(first) = problem.sites.first() else {
        return Err(Error::parameter("families", "empty", "give at least one graph"));
    };
    match problem.sites.iter().find(|site| site.nodes() != first.nodes()) {
        Some(odd) => Err(Error::parameter(
            "peers",
            format!("{} in {}", odd.nodes(), odd.name),
            format!("all graphs must have {}", first.nodes()),
        )),
        None => Ok(first.nodes()),
    }
}
