//! What an averaging by tokens reveals: along the paths that they took.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Loss, Standing, Unit, limits};
use sottovoce_protocol::walk::TokenPath;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::exact::Results;
use sottovoce_views::walk::{Trajectory, along_averages, contributions};

use crate::experiment::graph::peer;
use crate::experiment::{Agreed, ReadyWalk};
use crate::names::Names;
use crate::terms::{Stated, short_up};
use crate::{Result, require};

/// Peers up to which every pair is accounted for.
const ALL_PAIRS: usize = 300;
/// What rounding may take from a sum of losses, as a share.
const ROUNDING: f64 = 1e-9;

/// All that is public of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Public {
    /// Where tokens go.
    pub mixing: Mixing,
    /// What contributions are worth; empty where all are alike.
    pub worth: Vec<f64>,
    /// What peers are called.
    pub names: Names,
    /// What was agreed on.
    pub agreed: Agreed,
    /// What becomes of the tokens' last values.
    pub results: Results,
    /// Standard deviation of the noise on a contribution.
    pub sigma: f64,
    /// How far one person can move a peer's values.
    pub sensitivity: f64,
    /// Probability with which epsilons may fail.
    pub delta: f64,
    /// Peers who pool what they see; none: each by itself.
    pub observers: Vec<usize>,
}

impl Public {
    /// Of a run with this noise.
    pub fn new(ready: &ReadyWalk, sigma: f64) -> Self {
        Self {
            mixing: ready.mixing.clone(),
            worth: ready.worth.clone(),
            names: Names::of_graph(&ready.place.graph),
            agreed: ready.agreed.clone(),
            results: ready.experiment.adversary.results,
            sigma,
            sensitivity: ready.sensitivity,
            delta: ready.experiment.target.delta,
            observers: ready.observers.clone(),
        }
    }

    /// The same with other observers, by name, and another delta, where they are given.
    pub fn asked(mut self, observers: &[String], delta: Option<f64>) -> Result<Self> {
        if !observers.is_empty() {
            let nodes = self.mixing.nodes();
            let graph = match self.names.all() {
                Some(names) => self.mixing.graph().clone().with_labels(names.to_vec())?,
                None => self.mixing.graph().clone(),
            };
            let number = |name: &String| peer("observers", name, Some(&graph), nodes);
            self.observers = observers.iter().map(number).collect::<Result<_>>()?;
            self.observers.sort_unstable();
            self.observers.dedup();
            let remedy = "nobody is left to lose anything; leave one out";
            require(self.observers.len() < nodes, "observers", format!("all {nodes} peers"), remedy)?;
        }
        if let Some(delta) = delta {
            require(delta > 0.0 && delta < 1.0, "delta", delta, "give a number between 0 and 1")?;
            self.delta = delta;
        }
        Ok(self)
    }

    /// What each of these learns of everyone along these paths, in units of one contribution.
    fn seen(&self, paths: &[TokenPath], observers: &[Vec<usize>]) -> Result<Vec<Vec<f64>>> {
        let (nodes, average) = (self.mixing.nodes(), self.agreed.average(self.worth.clone()));
        let shown = self.results == Results::Published;
        let all = along_averages(nodes, paths, observers, &average, self.agreed.burn_in, shown)?;
        let exact =
            |Trajectory { linear, .. }| linear.into_iter().map(|loss| loss * (1.0 + ROUNDING)).collect();
        Ok(all.into_iter().map(exact).collect())
    }
}

/// Who loses most to whom, and what pairs lose on average.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Pairs {
    pub(super) worst: f64,
    observer: usize,
    contributor: usize,
    mean: f64,
}

impl Pairs {
    fn of(losses: &[Vec<f64>]) -> Self {
        let mut pairs = Self::default();
        for (observer, row) in losses.iter().enumerate() {
            for (contributor, &loss) in row.iter().enumerate().filter(|(peer, _)| *peer != observer) {
                pairs.mean += loss;
                // What is not a number counts.
                if loss.is_nan() || loss > pairs.worst {
                    pairs = Self { worst: loss, observer, contributor, ..pairs };
                }
            }
        }
        pairs.mean /= (losses.len() * losses.len().saturating_sub(1)).max(1) as f64;
        pairs
    }
}

/// What every peer, or the first observer of a large crowd, learns along paths that do not depend on the noise.
pub(super) fn pairs(public: &Public, paths: &[TokenPath]) -> Result<Option<Pairs>> {
    let n = public.mixing.nodes();
    if n > ALL_PAIRS {
        return Ok(None);
    }
    let everyone: Vec<Vec<usize>> = (0..n).map(|peer| vec![peer]).collect();
    Ok(Some(Pairs::of(&public.seen(paths, &everyone)?)))
}

/// What an averaging by tokens revealed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WalkRevealed {
    /// Number of peers.
    pub peers: usize,
    /// Their names, where the graph has them.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// What was agreed on.
    pub agreed: Agreed,
    /// What becomes of the tokens' last values.
    pub results: sottovoce_views::exact::Results,
    /// Standard deviation of the noise on a contribution.
    pub sigma: f64,
    /// How far one person can move a peer's values.
    pub sensitivity: f64,
    /// Probability with which the stated epsilons may fail.
    pub delta: f64,
    /// How many times as large as others' each peer's contribution is, where they differ: a long walk is not everywhere equally often.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worth: Vec<f64>,
    /// Contributions of a peer: the fewest, on average, and the most.
    pub contributions: (usize, f64, usize),
    /// Copies of tokens that went ways of their own; the number of tokens where none was sent twice and got twice.
    pub copies: usize,
    /// Mean over pairs of the loss, in units of one contribution. A guarantee for nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_loss: Option<f64>,
    /// The largest loss of a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_loss: Option<f64>,
    /// Peers who pool what they see.
    pub observers: Vec<usize>,
    /// What each peer loses to them, in units of one contribution.
    pub losses: Vec<f64>,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// The same as numbers.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
}

/// What these paths revealed.
pub fn reveal(public: &Public, paths: &[TokenPath]) -> Result<WalkRevealed> {
    let n = public.mixing.nodes();
    let given = contributions(n, paths);
    let most = given.iter().copied().max().unwrap_or(0);
    let pairs = pairs(public, paths)?;
    let observers = match (&public.observers[..], pairs) {
        ([], Some(pairs)) => vec![pairs.observer],
        ([], None) => vec![0],
        (some, _) => some.to_vec(),
    };
    let losses = public.seen(paths, std::slice::from_ref(&observers))?.pop().unwrap_or_else(|| vec![0.0; n]);
    let told = Told { public, not_covered: not_covered(public) };
    let mut all = vec![told.guarantee("any peer's value", Adversary::WireTapper, most as f64)?];
    if let Some(pairs) = pairs {
        let about = format!(
            "the worst pair: peer {} learns of peer {}",
            public.names.of(pairs.observer),
            public.names.of(pairs.contributor)
        );
        all.push(told.guarantee(&about, Adversary::Peer(pairs.observer), pairs.worst)?);
    }
    if !public.observers.is_empty() || pairs.is_none() {
        let worse = |best: (usize, f64), (peer, &loss): (usize, &f64)| {
            if loss.is_nan() || loss > best.1 { (peer, loss) } else { best }
        };
        let (peer, loss) = losses.iter().enumerate().fold((0, 0.0), worse);
        let about = format!("peer {}, the worst off", public.names.of(peer));
        all.push(told.guarantee(&about, Adversary::Coalition(observers.clone()), loss)?);
    }
    let statement = |(about, guarantee): &(String, Guarantee)| {
        Ok(format!("{about}: {}", public.names.state(guarantee, public.delta)?))
    };
    let stated = |(about, guarantee): &(String, Guarantee)| {
        Ok(Stated::new(about.clone(), guarantee, public.delta)?.named(&public.names))
    };
    Ok(WalkRevealed {
        peers: n,
        names: public.names.clone(),
        agreed: public.agreed.clone(),
        results: public.results,
        sigma: public.sigma,
        sensitivity: public.sensitivity,
        delta: public.delta,
        worth: public.worth.clone(),
        contributions: (
            given.iter().copied().min().unwrap_or(0),
            given.iter().sum::<usize>() as f64 / n as f64,
            most,
        ),
        copies: paths.len(),
        mean_loss: pairs.map(|pairs| pairs.mean),
        worst_loss: pairs.map(|pairs| pairs.worst),
        observers,
        losses,
        statements: all.iter().map(statement).collect::<Result<_>>()?,
        guarantees: all.iter().map(stated).collect::<Result<_>>()?,
        not_covered: told.not_covered,
    })
}

/// What no guarantee of a path speaks of. Lost messages are counted, and so are published results.
fn not_covered(public: &Public) -> Vec<String> {
    let mut all = limits::of_a_protocol();
    let counted = |limit: &String| {
        limit == limits::LOST_MESSAGES || (public.results == Results::Published && limit == limits::RESULTS)
    };
    all.retain(|limit| !counted(limit));
    all.push(limits::SIMULATION.to_owned());
    all
}

struct Told<'a> {
    public: &'a Public,
    not_covered: Vec<String>,
}

impl Told<'_> {
    /// Losses in units of one contribution are exactly Gaussian, given the path, which depends on no data.
    fn guarantee(&self, about: &str, adversary: Adversary, units: f64) -> Result<(String, Guarantee)> {
        let Public { sensitivity, sigma, .. } = self.public;
        let guarantee = Guarantee {
            adversary,
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss: Loss::Gdp(Gdp::of_square(units * (sensitivity / sigma).powi(2))?),
            standing: Standing::Proven,
            not_covered: self.not_covered.clone(),
        };
        Ok((about.to_owned(), guarantee))
    }
}

impl WalkRevealed {
    /// What was agreed on and what came of it, as labels and values.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let Agreed { tokens, steps, burn_in, cap, step_size } = &self.agreed;
        let (least, mean, most) = self.contributions;
        let percent = |loss: f64| format!("{:.1} %", 100.0 * loss);
        let mut rows = vec![
            ("tokens", format!("{tokens}, {steps} steps each after {burn_in} of burn-in; steps {step_size}")),
            (
                "noise",
                format!(
                    "{} on a contribution, which one person moves by {}",
                    short_up(self.sigma),
                    self.sensitivity
                ),
            ),
            ("contributions", format!("{least} to {most} of a peer, {mean:.1} on average")),
        ];
        rows.extend(cap.map(|cap| ("at most", format!("{cap} of each peer; after them noise only"))));
        if !self.worth.is_empty() {
            let text = "the walk visits peers unequally often; contributions weigh as much less";
            rows.push(("corrected", text.to_owned()));
        }
        if self.copies > *tokens {
            rows.push(("copies", format!("{} ways of {tokens} tokens: some were got twice", self.copies)));
        }
        rows.extend(self.mean_loss.map(|loss| ("mean loss", format!("{} of a contribution", percent(loss)))));
        rows.extend(
            self.worst_loss.map(|loss| ("largest loss", format!("{} of a contribution", percent(loss)))),
        );
        rows
    }

    /// The peer that loses most, and to whom, in a sentence.
    pub fn headline(&self) -> String {
        let shown = |stated: &Stated| stated.epsilon.map_or("infinite".to_owned(), short_up);
        match &self.guarantees[..] {
            [all, first, ..] => format!(
                "Epsilon {} at delta {:e}: {}; someone who sees everything learns {}",
                shown(first),
                self.delta,
                first.about,
                shown(all)
            ),
            [all] => {
                format!("Epsilon {} at delta {:e} towards whoever sees everything", shown(all), self.delta)
            }
            [] => "Nothing is promised".to_owned(),
        }
    }
}

impl fmt::Display for WalkRevealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        writeln!(f, "  {:<17} {}", "peers", self.peers)?;
        self.rows().iter().try_for_each(|(label, value)| writeln!(f, "  {label:<17} {value}"))?;
        self.promised(f)
    }
}

impl WalkRevealed {
    /// The end of what is printed.
    pub(super) fn promised(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            writeln!(f, "\nLosses to {}, in units of one contribution", self.names.peers(&self.observers))?;
            let others = self.losses.iter().enumerate().filter(|(peer, _)| !self.observers.contains(peer));
            for (peer, loss) in others {
                writeln!(f, "  {} {}", self.names.cell(peer, 24), short_up(*loss))?;
            }
        }
        writeln!(f, "\nWhat is promised, given the ways of the tokens, which depend on no data")?;
        crate::terms::promised(f, &self.statements, &self.not_covered)
    }
}
