//! `sottovoce account walk`: what a walking token reveals.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde::Serialize;
use sottovoce_privacy::{Adjacency, Adversary, Guarantee, Loss, Standing, Unit, limits, round_up};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::walk::{Average, ExpectedSetup, Odometer, Sampling, Trajectory, Visit};

use sottovoce::experiment::graph::peer;
use sottovoce::experiment::{GraphFile, StepSize, worth};
use sottovoce::learning::calibrate::Currency;
use sottovoce::names::Names;
use sottovoce::terms::Stated;

use crate::graph::source::said;
use crate::graph::{count, real};
use crate::{Global, input};

const EXAMPLES: &str = "Examples:
  sottovoce account walk --graph ring.txt --lazy 0.333 --steps 72 --observers 6
  sottovoce account walk --graph ring.txt --steps 72 --observers 6 --trajectory holders.json
  sottovoce account walk --graph ring.txt --steps 9 --observers 6 --sigma 8 --order 2 --expected 9
  sottovoce account walk --graph g.txt --steps 9 --observers 6 --trajectory p.json --averaging 0.1
  sottovoce account walk --graph g --weights uniform --steps 9 --observers 0 --trajectory p.json

A token goes from neighbour to neighbour, and every holder adds its contribution and fresh noise of deviation sigma. Losses are Rényi losses
of order alpha in units of alpha/(2 sigma²). A trajectory file is a JSON list of holders, such as [0,1,2,1]; what it reveals to the
observer is exact for linear losses, and a bound for convex ones with steps of at most 2/smoothness. Of a walk still to come the loss is
estimated from simulated paths, with an upper bound. With --weights uniform the token makes a plain random walk: its visits go by degree, and where it
averages (--averaging) contributions and their noises are scaled so that everyone counts alike. The paper's sums over all paths:
`sottovoce-papers theorem random-walk/theorem-3`, theorem-4, theorem-5.";

/// Arguments of `account walk`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WalkArgs {
    #[command(flatten)]
    graph: GraphFile,
    /// Number of steps of the token.
    #[arg(long, value_name = "T", value_parser = count, allow_negative_numbers = true)]
    steps: usize,
    /// Who watches; several pool what they see.
    #[arg(long, value_name = "V,...", value_delimiter = ',', required = true)]
    observers: Vec<String>,
    /// File with the holders of the token, in order; `steps` must be their number.
    #[arg(long, value_name = "FILE")]
    trajectory: Option<PathBuf>,
    /// The token's last value is shown to everyone, so that the rest of the trajectory after the observer's last visit counts as well.
    #[arg(long, requires = "trajectory")]
    result_shown: bool,
    /// Noise, in units of the sensitivity (default: 1, for guarantees).
    #[arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Order alpha of the Rényi losses of a walk to come (default: 2).
    #[arg(long, value_name = "ALPHA", value_parser = real, allow_negative_numbers = true)]
    order: Option<f64>,
    /// Probability with which the stated epsilons may fail.
    #[arg(long, value_name = "DELTA", default_value = "1e-5", value_parser = real, allow_negative_numbers = true)]
    delta: f64,
    /// Simulated paths from which the loss of a walk to come is estimated and bounded; its result is shown to everyone (default: 200, where no trajectory is given).
    #[arg(long, value_name = "SAMPLES", value_parser = count)]
    expected: Option<usize>,
    /// Most contributions of each peer in a walk to come; after them it adds noise only.
    #[arg(long, value_name = "N", value_parser = count, requires = "expected")]
    cap: Option<usize>,
    /// The token is an average: `running` for steps 1/t, or a step size up to 1. What it reveals is then exact in both columns.
    #[arg(long, value_name = "running|STEP", allow_negative_numbers = true)]
    averaging: Option<StepSize>,
    /// Steps before those, in which the token is only passed on.
    #[arg(long, value_name = "N", default_value = "0", value_parser = count, requires = "expected")]
    burn_in: usize,
    /// Tokens that walk in parallel.
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, requires = "expected")]
    tokens: usize,
    /// Probability with which the bounds from simulated paths hold, for all peers together.
    #[arg(long, value_name = "P", default_value = "0.999999", value_parser = real, requires = "expected")]
    confidence: f64,
}

/// Everything asked for.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Walk {
    /// What losses are counted in, but for those of a walk to come.
    loss_unit: &'static str,
    /// Who attacks.
    adversary: &'static str,
    /// What is protected, in words.
    protects: &'static str,
    /// What is protected.
    unit: Unit,
    /// Under which adjacency.
    adjacency: Adjacency,
    /// Who watches.
    observers: Vec<usize>,
    /// What the peers are called.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    names: Names,
    /// What this path reveals of each peer, with linear losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_loss_linear: Option<Vec<f64>>,
    /// The same with convex losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_loss_convex: Option<Vec<f64>>,
    /// How often each peer contributed on this path: what someone who sees every message learns of it, whatever the losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_contributions: Option<Vec<usize>>,
    /// By what right.
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_standing: Option<Standing>,
    /// Rényi losses at the order given (not in units): bounds for a walk to come, with convex losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_loss_convex: Option<Vec<f64>>,
    /// The same with linear losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_loss_linear: Option<Vec<f64>>,
    /// By what right.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_standing: Option<Standing>,
    /// What the losses of a walk to come are counted in.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_loss_unit: Option<String>,
    /// The seed of the simulated paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_seed: Option<u64>,
    /// What whoever loses most is promised, at the noise that is given.
    guarantees: Vec<Stated>,
    /// What none of these losses speaks of.
    not_covered: Vec<String>,
}

/// How a loss in units becomes one under the noise that is given.
type Paid<'a> = &'a dyn Fn(f64) -> sottovoce::Result<Loss>;
/// When, under which condition, the losses of all peers, how they are paid, by what right, and what someone who sees every message learns.
type Promised<'a> =
    (&'a str, &'a str, &'a Option<Vec<f64>>, Paid<'a>, &'a Option<Standing>, &'a Option<Guarantee>);

/// Simulated paths, where neither their number nor a trajectory is given.
const PATHS: usize = 200;
/// The order of Rényi losses, where none is given.
const ORDER: f64 = 2.0;

/// What both accounts of paths assume.
const CONVEX: &str =
    "losses are convex and smooth and steps are at most 2/smoothness (the linear column: losses are linear)";

impl WalkArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        self.check()?;
        let Some(place) = self.graph.read(Path::new(""), global.seed)? else {
            bail!("`graph` is missing: give --graph FILE")
        };
        said(place.sha256.as_ref(), &place.notes);
        let graph = place.graph;
        let mixing = self.graph.walking(&graph)?;
        let average = self.average(&mixing)?;
        let n = graph.nodes();
        let observers: Vec<usize> = self
            .observers
            .iter()
            .map(|name| peer("observers", name, Some(&graph), n))
            .collect::<Result<_, _>>()?;
        let mut walk = Walk {
            loss_unit: "alpha/(2 sigma²)",
            adversary: "the observers, who see the token at their own visits",
            protects: "a peer's contributions, replaced within the sensitivity that sigma is relative to",
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            observers,
            names: Names::of_graph(&graph),
            trajectory_loss_linear: None,
            trajectory_loss_convex: None,
            trajectory_contributions: None,
            trajectory_standing: None,
            expected_loss_convex: None,
            expected_loss_linear: None,
            expected_standing: None,
            expected_loss_unit: None,
            expected_seed: None,
            guarantees: Vec::new(),
            not_covered: limits::of_a_protocol(),
        };
        if let Some(file) = &self.trajectory {
            let (path, contributions) = self.path(file, &graph, &walk.observers, average.as_ref())?;
            walk.trajectory_contributions = Some(contributions);
            walk.trajectory_standing = Some(self.standing(&[]));
            (walk.trajectory_loss_linear, walk.trajectory_loss_convex) =
                (Some(path.linear), Some(path.convex));
        }
        self.expect(&mixing, &mut walk, average, global.seed)?;
        walk.guarantees = self.guarantees(&walk)?;
        global.print(&walk)
    }

    /// How the token averages, if it does.
    fn average(&self, mixing: &Mixing) -> anyhow::Result<Option<Arc<Average>>> {
        let average =
            |StepSize(sizes)| -> anyhow::Result<_> { Ok(Arc::new(Average { sizes, worth: worth(mixing)? })) };
        self.averaging.map(average).transpose()
    }

    /// By what right losses of paths are stated: those of an average are exact.
    fn standing(&self, further: &[String]) -> Standing {
        let own = if self.averaging.is_some() { Vec::new() } else { vec![CONVEX.to_owned()] };
        Standing::Proven.given(&own).given(further)
    }

    /// Refuses what can be seen to be wrong before anything is read.
    fn check(&self) -> anyhow::Result<()> {
        if !(self.delta > 0.0 && self.delta < 1.0) {
            bail!("`delta` is {}: give a number between 0 and 1", self.delta);
        }
        match self.sigma {
            Some(sigma) if !(sigma > 0.0 && sigma.is_finite()) => {
                bail!("`sigma` is {sigma}: give a positive number; without noise nothing is private")
            }
            _ => Ok(()),
        }
    }

    /// What whoever loses most is promised by each account that was asked for. Nobody learns more than someone who sees every message, to whom every
    /// contribution is one Gaussian release: the smaller of both holds.
    fn guarantees(&self, walk: &Walk) -> anyhow::Result<Vec<Stated>> {
        let sigma = self.sigma.unwrap_or(1.0);
        let path = |currency: Currency| move |units: f64| Ok(currency.loss(units * (1.0 + 1e-12), sigma)?);
        let order = self.order.unwrap_or(ORDER);
        let to_come = |loss: f64| Ok(Loss::rdp(vec![(order, loss)])?);
        let (exact, convex) = (path(Currency::Gaussian), path(Currency::Concentrated));
        let promise = |adversary: Adversary, paid: Paid, loss: f64, standing: &Standing| {
            let loss = paid(loss).map_err(|error| match error.at_fault() {
                Some(fault) if fault.field == "mu" || fault.field == "rho" => {
                    anyhow!("`sigma` is {sigma:e}: it hides nothing to speak of; give more noise")
                }
                _ => error.into(),
            })?;
            let (unit, adjacency, not_covered) = (walk.unit, walk.adjacency, walk.not_covered.clone());
            anyhow::Ok(Guarantee {
                adversary,
                unit,
                adjacency,
                loss,
                standing: standing.clone(),
                not_covered,
            })
        };
        let all = |most: Option<usize>| {
            let units = most.map(|most| most as f64);
            units.map(|units| promise(Adversary::WireTapper, &exact, units, &Standing::Proven)).transpose()
        };
        let (on_path, with_cap) = (all(walk.most_contributions(&walk.observers))?, all(self.cap)?);
        let (trajectory, expected) = (&walk.trajectory_standing, &walk.expected_standing);
        let [now, later] = ["on this path", "on a walk to come"];
        let rows: [Promised; 4] = [
            (now, ", if losses are linear", &walk.trajectory_loss_linear, &exact, trajectory, &on_path),
            (now, "", &walk.trajectory_loss_convex, &convex, trajectory, &on_path),
            (later, ", if losses are linear", &walk.expected_loss_linear, &to_come, expected, &with_cap),
            (later, "", &walk.expected_loss_convex, &to_come, expected, &with_cap),
        ];
        let state = |about: String, guarantee: &Guarantee| {
            let about = format!("{about}, under noise {sigma}");
            anyhow::Ok(Stated::new(about, guarantee, self.delta)?.named(&walk.names))
        };
        let mut stated = Vec::new();
        for (when, given, column, paid, standing, all) in rows {
            let worst = column.as_ref().and_then(|column| walk.worst(column));
            let (Some((peer, loss)), Some(standing)) = (worst, standing) else { continue };
            let own = promise(Adversary::Coalition(walk.observers.clone()), paid, loss, standing)?;
            let bound = match all {
                Some(all) => own.within(all, self.delta)?,
                None => own,
            };
            let no_more = match all {
                Some(all) if all.loss == bound.loss => ": no more than to someone who sees every message",
                _ => "",
            };
            let about = format!("peer {}, the worst off {when}{given}{no_more}", walk.names.of(peer));
            stated.push(state(about, &bound)?);
        }
        // The observers contribute as well.
        for (when, all) in [(now, all(walk.most_contributions(&[]))?), (later, with_cap)] {
            let about = format!("any peer {when}, towards someone who sees every message");
            stated.extend(all.map(|all| state(about, &all)).transpose()?);
        }
        Ok(stated)
    }

    /// The walk to come.
    fn expect(
        &self,
        mixing: &Mixing,
        walk: &mut Walk,
        average: Option<Arc<Average>>,
        seed: u64,
    ) -> anyhow::Result<()> {
        let usual = self.trajectory.is_none().then_some(PATHS);
        let Some(samples) = self.expected.or(usual) else { return Ok(()) };
        let (sigma, order) = (self.sigma.unwrap_or(1.0), self.order.unwrap_or(ORDER));
        let setup = ExpectedSetup {
            cap: self.cap,
            burn_in: self.burn_in,
            tokens: self.tokens,
            average,
            ..ExpectedSetup::new(mixing, self.steps)
        };
        let sampling = Sampling { samples, seed, confidence: self.confidence };
        let mut expected = setup.expected(&walk.observers, sigma, &[order], sampling)?;
        let chance = format!("{samples} simulated paths did not mislead (probability {})", self.confidence);
        walk.expected_standing = Some(self.standing(&[chance]));
        walk.expected_loss_unit = Some(format!("Rényi loss of order {order}"));
        walk.expected_seed = Some(seed);
        walk.expected_loss_linear = Some(expected.linear.orders.swap_remove(0).upper);
        walk.expected_loss_convex = Some(expected.convex.orders.swap_remove(0).upper);
        Ok(())
    }

    fn path(
        &self,
        file: &Path,
        graph: &Graph,
        observers: &[usize],
        average: Option<&Arc<Average>>,
    ) -> anyhow::Result<(Trajectory, Vec<usize>)> {
        let shown = file.display();
        let text = input::text(input::TRAJECTORY, "trajectory", file)?;
        let holders: Vec<usize> = serde_json::from_str(&text).with_context(|| {
            format!("`trajectory` is {shown}: give a JSON list of holders, such as [0,1,2,1]")
        })?;
        if holders.len() != self.steps {
            bail!(
                "`steps` is {}: the trajectory has {} holders; give that number",
                self.steps,
                holders.len()
            );
        }
        let strange = |pair: &&[usize]| pair[0] != pair[1] && !graph.has_edge(pair[0], pair[1]);
        let nodes = graph.nodes();
        if let Some(at) = holders.iter().position(|&holder| holder >= nodes) {
            bail!("`trajectory` has {} at place {at}: there are {nodes} peers, from 0", holders[at]);
        }
        if let Some(pair) = holders.windows(2).find(strange) {
            bail!(
                "`trajectory` goes from {} to {}: they are no neighbours; give a walk on this graph",
                pair[0],
                pair[1]
            );
        }
        let mut odometer = match average {
            Some(average) => Odometer::averaging(nodes, &[observers.to_vec()], Arc::clone(average))?,
            None => Odometer::new(nodes, &[observers.to_vec()])?,
        };
        holders.iter().try_for_each(|&holder| odometer.visit(holder, Visit::Contributed))?;
        let contributions = odometer.contributions();
        Ok((odometer.conclude(self.result_shown).swap_remove(0), contributions))
    }
}

impl Walk {
    fn columns(&self) -> Vec<(&'static str, &Vec<f64>)> {
        [
            ("this path, linear", &self.trajectory_loss_linear),
            ("this path, convex", &self.trajectory_loss_convex),
            ("to come, linear (Rényi)", &self.expected_loss_linear),
            ("to come, convex (Rényi)", &self.expected_loss_convex),
        ]
        .into_iter()
        .filter_map(|(name, column)| column.as_ref().map(|column| (name, column)))
        .collect()
    }

    /// The peers who lose something.
    fn others(&self, column: &[f64]) -> Vec<(usize, f64)> {
        let peers = column.iter().copied().enumerate();
        peers.filter(|(peer, _)| !self.observers.contains(peer)).collect()
    }

    /// Who loses most, and how much.
    fn worst(&self, column: &[f64]) -> Option<(usize, f64)> {
        self.others(column).into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The most contributions of one peer on this path, of all but these.
    fn most_contributions(&self, but: &[usize]) -> Option<usize> {
        let given = self.trajectory_contributions.as_ref()?.iter().enumerate();
        given.filter(|(peer, _)| !but.contains(peer)).map(|(_, &count)| count).max()
    }

    /// The loss one may rely on, if there is one; else that there is none.
    fn headline(&self) -> String {
        let found = [
            (&self.trajectory_loss_convex, "on this path", "in units of", self.loss_unit),
            (
                &self.expected_loss_convex,
                "on a walk to come",
                "as a",
                self.expected_loss_unit.as_deref().unwrap_or(""),
            ),
        ];
        let known = found.into_iter().find_map(|(column, when, how, unit)| {
            let (peer, loss) = self.worst(column.as_ref()?)?;
            Some(format!("Peer {} loses most {when}: {} {how} {unit}", self.names.of(peer), round_up(loss)))
        });
        known.unwrap_or_else(|| "Nobody but the observers has contributed".to_owned())
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns();
        let Some((_, first)) = columns.first() else { return Ok(()) };
        if f.alternate() {
            let names: String = columns.iter().map(|(name, _)| format!("{name:<26}")).collect();
            writeln!(f, "  {:<16}  {}", "peer", names.trim_end())?;
            for (peer, _) in self.others(first) {
                let cells: String =
                    columns.iter().map(|(_, column)| format!("{:<26}", round_up(column[peer]))).collect();
                writeln!(f, "  {}  {}", self.names.cell(peer, 16), cells.trim_end())?;
            }
            return writeln!(f);
        }
        writeln!(f, "  {:<26}{:>14}{:>14}   of peer", "", "mean", "largest")?;
        for (name, column) in &columns {
            let others = self.others(column);
            let mean = others.iter().map(|(_, loss)| loss).sum::<f64>() / others.len().max(1) as f64; // whole numbers
            let Some((peer, most)) = self.worst(column) else { continue };
            let peer = self.names.cell(peer, 24);
            writeln!(f, "  {name:<26}{:>14}{:>14}   {peer}", round_up(mean), round_up(most))?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        let who = format!("{}, who see the token at their own visits", self.names.peers(&self.observers));
        writeln!(f, "Losses in units of {}, to {who}, of {}", self.loss_unit, self.protects)?;
        writeln!(f, "(for {}, {})\n", self.unit, self.adjacency)?;
        self.table(f)?;
        if let Some(standing) = &self.trajectory_standing {
            writeln!(f, "  path:    {standing}")?;
        }
        if let Some(standing) = &self.expected_standing {
            let unit = self.expected_loss_unit.as_deref().unwrap_or_default();
            writeln!(f, "  to come: as a {unit}, with the result shown; {standing}")?;
        }
        for stated in &self.guarantees {
            writeln!(f, "  epsilon {} at delta {:e}: {}", stated.shown(), stated.delta, stated.about)?;
        }
        sottovoce::terms::not_covered(f, &self.not_covered)
    }
}
