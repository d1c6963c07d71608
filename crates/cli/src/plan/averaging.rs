//! `sottovoce plan averaging`: from a graph and a target to a protocol, its noise and its number of steps.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;
use sottovoce_report::{Page, store};
use sottovoce_topology::Graph;
use sottovoce_topology::family::Family;

use super::page;
use super::written::Out;
use crate::Global;
use crate::graph::source::said;
use crate::graph::{count, real};
use sottovoce::experiment::{
    AdversarySpec, Averaging, ByDistance, Chosen, Coalition, Experiment, GraphFile, GraphSpec, Keys,
    NoiseSpec, Place, TargetSpec,
};
use sottovoce::learning::Secrets;
use sottovoce::names::end;
use sottovoce::plan::{self, Bound, Falling, Problem, Row, Site, Target, site, target};
use sottovoce::terms::short_up;

const EXAMPLES: &str = "Examples:
  sottovoce plan averaging --peers 64 --target-far --epsilon 1
  sottovoce plan averaging --graph er.txt --target-far --epsilon 1 --target-worst 4
  sottovoce plan averaging --peers 64 --target-worst --epsilon 1 --results published
  sottovoce plan averaging --peers 100 --families torus,random-regular --target-mean 0.1 --json
  sottovoce plan averaging --graph er.txt --epsilon 1 --observers 3,7
  sottovoce plan averaging --graph town.graphml --distance coordinates --within 0.3=4 --farther 1
  sottovoce plan averaging --peers 64 --target-worst --epsilon 1 --page plan.html
  sottovoce plan averaging --peers 64 --epsilon 4 --colluders 6

A target bounds mu² = f Delta²/sigma², where f is the exact loss in units of local DP: of the mean over pairs of peers (a
guarantee for nobody: some pairs lose more), of the worst pair, or of the worst pair at --beyond hops or more. The bound
is the number after the option; without one it is the largest mu² that is private at --epsilon and --delta, or --mu-squared.
Several targets hold together; with
--target-far alone the worst pair is bounded too, at mu² = 4, as neighbours would else hear naked values. With --distance each pair has a bound of its own,
which falls with a public distance: pairs within D may lose EPS, those farther apart less. The error is bounded for values in an interval of width --sensitivity.

On a given graph the butterfly is shown for comparison and not chosen, since its partners are not the graph's.";

/// Arguments of `plan averaging`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("peers", |arg| arg.short('n').help("Number of peers, instead of a graph: the graph is chosen too")))]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "weights" | "lazy" => arg.conflicts_with("peers"),
    "schedule" => arg.hide(true),
    "observers" => arg.help(COALITION),
    _ => arg,
}))]
pub(super) struct AveragingArgs {
    #[command(flatten)]
    graph: GraphSpec,
    /// Families of graphs to choose from, separated by commas (default: those that suit the number of peers).
    #[arg(long, value_name = "F,..", value_delimiter = ',', conflicts_with = "graph")]
    families: Vec<String>,
    /// Neighbours of each peer in a random-regular graph (default: about log2 of the number of peers).
    #[arg(long, value_name = "D", value_parser = count, allow_negative_numbers = true, conflicts_with = "graph")]
    degree: Option<usize>,
    /// How far one person can move a peer's value; values lie in an interval of this width.
    #[arg(long, value_name = "DELTA", default_value = "1", value_parser = real, allow_negative_numbers = true)]
    sensitivity: f64,
    #[command(flatten)]
    bounds: Bounds,
    #[command(flatten)]
    adversary: AdversarySpec,
    /// Noise of a pair, where noise and masks that cancel are weighed with the others (with --colluders), in sigmas (default: 10).
    #[arg(long, value_name = "KAPPA", value_parser = real, requires = "colluders", allow_negative_numbers = true)]
    cancel: Option<f64>,
    /// Who shares a secret with whom: graph, complete, regular:K or a file (default: complete).
    #[arg(long, value_name = "KEYS", requires = "colluders")]
    keys: Option<Keys>,
    /// Look at so many observers only: an estimate, no guarantee.
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true)]
    sample: Option<usize>,
    /// File for a page: the table, and a picture of what all pairs of peers lose, protocol by protocol.
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    #[command(flatten)]
    out: Out,
}

/// Loudness of pairs where none is given: what they leave of the loss is a hundredth of what there must be, if everyone shares secrets with everyone.
pub(super) const KAPPA: f64 = 10.0;

/// What the observers of an experiment are to a plan.
const COALITION: &str = "Peers who pool what they hear, by name, separated by commas: the table says what each row would \
                         reveal to them; nothing is chosen by it";

/// What must hold.
#[derive(Debug, Args)]
#[command(next_help_heading = "Target")]
struct Bounds {
    /// Bound the mean over pairs of peers. A guarantee for nobody.
    #[arg(long, value_name = "MU2", value_parser = real, allow_negative_numbers = true)]
    target_mean: Option<Option<f64>>,
    /// Bound the worst pair of peers (the default).
    #[arg(long, value_name = "MU2", value_parser = real, allow_negative_numbers = true)]
    target_worst: Option<Option<f64>>,
    /// Bound the worst pair of peers that are far apart.
    #[arg(long, value_name = "MU2", value_parser = real, allow_negative_numbers = true)]
    target_far: Option<Option<f64>>,
    /// Hops from which on two peers are far apart.
    #[arg(long, value_name = "D", default_value = "2", allow_negative_numbers = true)]
    beyond: u32,
    /// Epsilon of the targets that have no number of their own.
    #[arg(long, value_parser = real, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Probability with which epsilons may fail.
    #[arg(long, default_value = "1e-5", value_parser = real, allow_negative_numbers = true)]
    delta: f64,
    /// mu² of the targets that have no number of their own.
    #[arg(long, value_name = "MU2", value_parser = real, allow_negative_numbers = true)]
    mu_squared: Option<f64>,
    #[command(flatten)]
    by_distance: ByDistance,
}

impl AveragingArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        self.out.check_beside(self.page.as_deref())?;
        // Refuses a delta outside (0, 1) before any graph is drawn.
        if !(self.bounds.delta > 0.0 && self.bounds.delta < 1.0) {
            bail!("`delta` is {}: give a number between 0 and 1", self.bounds.delta);
        }
        let target = self.bounds.target()?;
        let asked = Asked {
            experiment: self.experiment(),
            families: self.families()?,
            place: None,
            sensitivity: self.sensitivity,
            columns: 1,
            sample: self.sample,
            seed: global.seed,
        };
        let (found, experiment) = asked.plan(target, global)?;
        if let Some(file) = &self.page {
            let page = Page { provenance: global.provenance(), ..page::of(&found.plan, found.headline()) };
            store::write_file("page", file, self.out.overwrite, |out| {
                Ok::<_, anyhow::Error>(out.write_all(page.html().as_bytes())?)
            })?;
        }
        self.out.print(found, &experiment, global)
    }

    fn experiment(&self) -> Averaging {
        Averaging {
            graph: GraphSpec {
                // Every site has the same weights, and what is written says which.
                base: GraphFile { weights: Some(self.graph.base.weights()), ..self.graph.base.clone() },
                ..self.graph.clone()
            },
            adversary: self.adversary.clone(),
            noise: NoiseSpec {
                cancel: self.cancel.or(self.adversary.colluders.map(|_| KAPPA)),
                keys: self.keys.clone(),
                ..NoiseSpec::default()
            },
            target: TargetSpec {
                delta: self.bounds.delta,
                by_distance: self.bounds.by_distance.clone(),
                ..TargetSpec::default()
            },
            ..Averaging::default()
        }
    }

    /// The families to choose from, if no graph is given.
    fn families(&self) -> anyhow::Result<Vec<Family>> {
        let nodes = match (self.graph.peers, self.graph.base.is_given()) {
            (Some(nodes), _) => nodes,
            (None, true) => return Ok(Vec::new()),
            (None, false) => {
                bail!("`graph` is missing: give --graph FILE, or --peers N to choose from families")
            }
        };
        let names = match &self.families[..] {
            [] => site::default_families(nodes),
            named => named.iter().map(|name| name.trim()).collect(),
        };
        if let Some(degree) = self.degree.filter(|_| !names.contains(&"random-regular")) {
            bail!("`degree` is {degree}: only random-regular graphs take it, and none is among --families");
        }
        Ok(names.iter().map(|name| site::family(name, nodes, self.degree)).collect::<Result<_, _>>()?)
    }
}

/// An averaging whose protocol, noise and steps are to be chosen, and its graph, where there are families to choose from.
pub(super) struct Asked {
    pub(super) experiment: Averaging,
    pub(super) families: Vec<Family>,
    /// The graph, where it was read already.
    pub(super) place: Option<Place>,
    pub(super) sensitivity: f64,
    /// Numbers of each peer.
    pub(super) columns: usize,
    pub(super) sample: Option<usize>,
    pub(super) seed: u64,
}

impl Asked {
    /// The plan, and the experiment that executes its choice.
    pub(super) fn plan(mut self, target: Target, global: &Global) -> anyhow::Result<(Planned, Experiment)> {
        let GraphSpec { base, schedule, .. } = &self.experiment.graph;
        if schedule.is_some() {
            bail!("`schedule` is given: a plan is made for a graph; give a file or a family");
        }
        let given = self.families.is_empty();
        let place = match self.place.take() {
            None if given => Some(self.experiment.graph.place(Path::new(""), self.seed)?),
            known => known,
        };
        let sites = match &place {
            Some(place) => {
                said(place.sha256.as_ref(), &place.notes);
                vec![Site::new(place.name.clone(), base.mixing(&place.graph)?)?]
            }
            None => {
                let make = |family: &Family| Site::of_family(family, self.seed);
                self.families.iter().map(make).collect::<Result<_, _>>()?
            }
        };
        let problem = Problem {
            target,
            falling: self.falling(place.as_ref(), &sites)?,
            secrets: self.secrets(place.as_ref(), &sites)?,
            sites,
            graph_is_given: given,
            sensitivity: self.sensitivity,
            columns: self.columns,
            results: self.experiment.adversary.results,
            sample: self.sample,
            delta: self.experiment.target.delta,
            seed: self.seed,
        };
        // Names are checked before the work.
        let chosen = Chosen { asked: &self.experiment, families: &self.families, place, seed: self.seed };
        let observers = chosen.observers(problem.sites[0].mixing.nodes())?;
        let plan = search(&problem, global)?;
        let experiment = Experiment::Averaging(Box::new(chosen.experiment(&plan, plan.chosen)?));
        let coalition = match observers.is_empty() {
            true => None,
            false => Some(chosen.coalition(&plan, observers)?),
        };
        Ok((Planned { plan, coalition }, experiment))
    }

    /// Who shares secrets, where some may collude.
    fn secrets(&self, place: Option<&Place>, sites: &[Site]) -> anyhow::Result<Option<Secrets>> {
        let (Some(_), Some(site)) = (self.experiment.noise.cancel, sites.first()) else { return Ok(None) };
        let colluders = self.experiment.adversary.colluders.unwrap_or(1);
        let none = Graph::from_edges(site.nodes(), [])?;
        let graph = place.map_or(&none, |place| &place.graph);
        if place.is_none() && self.experiment.noise.keys() == &Keys::Graph {
            bail!("`keys` is graph: the graph is yet to be chosen; give complete, regular:K or a file");
        }
        let found = self.experiment.noise.cancelling(Path::new(""), graph, self.seed)?;
        Ok(found.map(|pairs| Secrets::new(pairs, colluders)).transpose()?)
    }

    /// The bounds that fall with distance, read before the work.
    fn falling(&self, place: Option<&Place>, sites: &[Site]) -> anyhow::Result<Option<Falling>> {
        let asked = &self.experiment.target;
        let graph = match (place, sites.first()) {
            (Some(place), _) => place.graph.clone(),
            // Peers of families are numbered, and have no places.
            (None, Some(site)) => Graph::from_edges(site.nodes(), [])?,
            (None, None) => return Ok(None),
        };
        Ok(asked.by_distance.falling(Path::new(""), &graph, asked.delta)?)
    }
}

impl Bounds {
    fn target(&self) -> anyhow::Result<Target> {
        let named = [
            ("target-mean", Bound::Mean, self.target_mean),
            ("target-worst", Bound::Worst, self.target_worst),
            ("target-far", Bound::Far, self.target_far),
        ];
        let common = self.common()?;
        let falling = self.by_distance.bounds(self.delta)?.map(|falling| falling.tightest());
        let mut target = Target { falling, ..Target::none(self.beyond) };
        let mut used = false;
        for (field, bound, given) in named {
            match (given, common) {
                (None, _) => {}
                (Some(Some(mu_squared)), _) => target = target.with(bound, mu_squared),
                (Some(None), Some((_, _, mu_squared))) => {
                    (target, used) = (target.with(bound, mu_squared), true);
                }
                (Some(None), None) => bail!(
                    "`{field}` is without a bound: give a mu² after it, or --epsilon (and --delta), or --mu-squared"
                ),
            }
        }
        if let Some((field, value, mu_squared)) = common.filter(|_| !used) {
            if target.worst.is_some() || target.far.is_some() || target.mean.is_some() {
                bail!(
                    "`{field}` is {value}: every target has a number of its own; remove --{field} or a number"
                );
            }
            target = target.with(Bound::Worst, mu_squared);
        }
        target.check()?;
        Ok(target.guarded())
    }

    /// The bound of targets without a number of their own: its option, as given, and as `mu²`.
    fn common(&self) -> anyhow::Result<Option<(&'static str, f64, f64)>> {
        match (self.epsilon, self.mu_squared) {
            (Some(epsilon), Some(_)) => {
                bail!("`epsilon` is {epsilon}: --mu-squared is given too; remove one of them")
            }
            (Some(epsilon), None) => {
                Ok(Some(("epsilon", epsilon, target::mu_squared_at(epsilon, self.delta)?)))
            }
            (None, Some(mu_squared)) if !(mu_squared > 0.0 && mu_squared.is_finite()) => {
                bail!("`mu-squared` is {mu_squared}: give a positive, finite number")
            }
            (None, mu_squared) => Ok(mu_squared.map(|mu_squared| ("mu-squared", mu_squared, mu_squared))),
        }
    }
}

/// Searches, showing how far it is.
fn search(problem: &Problem, global: &Global) -> anyhow::Result<plan::Plan> {
    let bar = global.progress(0, "planning");
    let found = plan::averaging(problem, &|stage, done, total| show(&bar, stage, done, total));
    bar.finish_and_clear();
    Ok(found?)
}

fn show(bar: &ProgressBar, stage: &str, done: usize, total: usize) {
    bar.set_length(total as u64);
    bar.set_position(done as u64);
    if bar.message() != stage {
        bar.set_message(stage.to_owned());
    }
}

/// What `plan averaging` found.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Planned {
    #[serde(flatten)]
    plan: plan::Plan,
    /// What peers who pool what they hear would learn.
    #[serde(skip_serializing_if = "Option::is_none")]
    coalition: Option<Coalition>,
}

impl Planned {
    fn headline(&self) -> String {
        let plan = &self.plan;
        let row = &plan.rows[plan.chosen];
        let graph = row.graph.as_ref().map_or_else(String::new, |graph| format!(" on {graph}"));
        let relay = if row.tau > 0.0 { format!(", tau {}", row.tau) } else { String::new() };
        format!(
            "{}{graph}: sigma {}{relay}, {} steps; error ± {:.3}; epsilon {} towards any one peer, {} towards a wire-tapper",
            capital(row.protocol.name()),
            row.sigma,
            row.steps,
            row.error.sqrt(),
            shown(row.epsilon.peer),
            shown(row.epsilon.wire_tapper)
        )
    }

    /// The trade-off table, in 100 columns.
    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.plan;
        // One column more leaves less room for names.
        let widest = if self.coalition.is_some() { WIDEST - 7 } else { WIDEST };
        let width =
            plan.rows.iter().map(|row| graph(row).chars().count()).max().unwrap_or(0).clamp(5, widest); // whole numbers
        let heading = format!("epsilon at delta = {:e}", plan.delta);
        let together = self.coalition.as_ref().map_or_else(String::new, |_| format!(" {:>6}", "pooled"));
        writeln!(f, "{heading:>0$}", width + 77 + together.len())?;
        writeln!(
            f,
            "  {:<18} {:<width$} {:>6} {:>7} {:>4} {:>6} {:>6} {:>6} {:>7} {:>6}{together}",
            "protocol",
            "graph",
            "sigma",
            "tau",
            "T",
            "error",
            "/local",
            "peer",
            format!("dist>={}", plan.target.beyond),
            "tapper"
        )?;
        for (i, row) in plan.rows.iter().enumerate() {
            let mark = if i == plan.chosen { '>' } else { ' ' };
            let together = self.coalition.as_ref().map(|all| format!(" {:>6}", shown(all.epsilon[i])));
            let together = together.unwrap_or_default();
            writeln!(
                f,
                "{mark} {:<18} {:<width$} {:>6} {:>7} {:>4} {:>6.1e} {:>6} {:>6} {:>7} {:>6}{together}",
                row.protocol.name(),
                end(graph(row), width),
                short_up(row.sigma),
                short_up(row.tau),
                row.steps,
                row.error,
                format!("{:.3}", row.error_over_local),
                shown(row.epsilon.peer),
                shown(row.epsilon.far),
                shown(row.epsilon.wire_tapper)
            )?;
        }
        writeln!(
            f,
            "\nerror: predicted mean squared error, and relative to local DP's; peer: the worst pair of peers; tapper: whoever sees \
             every message. --verbose shows means, losses and messages."
        )?;
        match &self.coalition {
            Some(coalition) => {
                writeln!(f, "pooled: whoever loses most to {} together.", coalition.names.join(", "))
            }
            None => Ok(()),
        }
    }

    /// What so many of the pairs lose at most, row by row.
    fn quantiles(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nEpsilons that so many of all pairs of peers lose at most; local: share of pairs that lose what local DP loses\n"
        )?;
        let columns =
            ["least", "10 %", "50 %", "90 %", "99 %", "all", "local"].map(|name| format!("{name:>8}"));
        writeln!(f, "  {:<40}{}", "protocol", columns.concat())?;
        for row in &self.plan.rows {
            let Some(pairs) = &row.pairs else { continue };
            let cells = pairs.epsilon.all().map(|one| format!("{:>8}", shown(one)));
            let local = format!("{:>7.1}%", 100.0 * pairs.at_local);
            writeln!(f, "  {:<40}{}{local}", end(&page::name(row), 40), cells.concat())?;
        }
        Ok(())
    }

    /// What the table leaves out.
    fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.plan;
        writeln!(
            f,
            "\nLosses in units of local DP (mu² = loss Delta²/sigma²); a mean is a guarantee for nobody\n"
        )?;
        writeln!(
            f,
            "  {:<18} {:>9} {:>9} {:>9} {:>9} {:>9}",
            "protocol", "/central", "mean", "worst", "far", "messages"
        )?;
        let of = |loss: Option<f64>| loss.map_or_else(|| "-".to_owned(), short);
        plan.rows.iter().try_for_each(|row| {
            writeln!(
                f,
                "  {:<18} {:>9} {:>9} {:>9} {:>9} {:>9.1}",
                row.protocol.name(),
                short(row.error_over_central),
                of(row.loss.map(|loss| loss.mean)),
                of(row.loss.map(|loss| loss.worst)),
                of(row.loss.and_then(|loss| loss.far)),
                row.messages
            )
        })
    }
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.plan;
        writeln!(f, "{}\n", self.headline())?;
        writeln!(f, "{} peers, sensitivity {}; {}\n", plan.peers, plan.sensitivity, plan.target)?;
        self.table(f)?;
        if f.alternate() {
            self.details(f)?;
            self.quantiles(f)?;
        }
        writeln!(f, "\n{}", plan.reason)?;
        for said in compared(plan) {
            writeln!(f, "{said}")?;
        }
        for statement in &plan.statements {
            writeln!(f, "  {statement}")?;
        }
        sottovoce::terms::not_covered(f, &plan.not_covered)
    }
}

/// How the pairs of the chosen row fare, and which rows it is below, or above, at every rank.
fn compared(plan: &plan::Plan) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(binding) = &plan.binding {
        let [observer, peer] = &binding.names;
        all.push(format!(
            "The pair that decides: peer {peer} towards peer {observer}, mu² {} of {} allowed.",
            short_up(binding.mu_squared),
            short_up(binding.bound)
        ));
    }
    if let Some(pairs) = &plan.rows[plan.chosen].pairs {
        let of = pairs.epsilon;
        all.push(format!(
            "Of {} pairs half lose epsilon {} or less, 90 % {}, 99 % {}, all {}; {:.1} % lose what local DP loses.",
            pairs.pairs,
            shown(of.p50),
            shown(of.p90),
            shown(of.p99),
            shown(of.max),
            100.0 * pairs.at_local
        ));
    }
    let named = |i: &usize| page::name(&plan.rows[*i]);
    let list = |rows: Vec<usize>, words: &str| {
        let names = rows.iter().map(named).collect::<Vec<_>>().join(", ");
        (!rows.is_empty()).then(|| format!("{words} {names}."))
    };
    let chosen = plan.chosen;
    let below = plan.below.iter().filter(|one| one.row == chosen).map(|one| one.than).collect();
    let above = plan.below.iter().filter(|one| one.than == chosen).map(|one| one.row).collect();
    all.extend(list(below, "At every rank its pairs lose less than those of"));
    all.extend(list(above, "At every rank its pairs lose more than those of"));
    all
}

/// Widest name of a graph in the table.
const WIDEST: usize = 22;

fn graph(row: &Row) -> &str {
    row.graph.as_deref().unwrap_or("-")
}

/// An epsilon, never rounded down.
fn shown(epsilon: Option<f64>) -> String {
    epsilon.map_or_else(|| "-".to_owned(), short_up)
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Four digits or so.
fn short(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        v if v < 1e-3 => format!("{v:.1e}"),
        v if v < 10.0 => format!("{v:.4}"),
        v if v < 1e5 => format!("{v:.1}"),
        v => format!("{v:.1e}"),
    }
}
