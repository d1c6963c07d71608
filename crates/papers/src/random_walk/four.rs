//! The four graphs of figures 1 and 4: losses of all pairs by distance, as printed, and over random paths.

use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::{Graph, paths as hops};

use super::paths::watch;
use super::tally::Tally;
use super::walk::{SIGMA, Walk};
use crate::graphs;
use crate::muffliato::study::stopping_time;
use crate::printed::gossip::theorem1_all_pairs;
use crate::printed::walk::PublishedWalk;
use crate::statistics::{Summary, choose};
use crate::{Options, Result, Watch};

/// The random graph's edges have probability this times `ln(n)/n`.
const FACTOR: f64 = 1.2;
/// Runs of a random graph.
const RUNS: usize = 5;
/// Peers who watch random paths, in each run.
const OBSERVERS: usize = 16;
/// Steps of all random paths on one graph.
const STEPS: usize = 2_000_000;
/// The same of walks that reach most peers a few times at most: what they reveal is rare, and much when it happens.
const SHORT: usize = 20_000_000;
/// Paths in a run, at least and at most.
const PATHS: (usize, usize) = (16, 4000);

/// One of the graphs. Numbers are means over runs, losses are in units of local DP.
#[derive(Default)]
pub(super) struct Study {
    pub(super) name: &'static str,
    pub(super) peers: usize,
    pub(super) runs: usize,
    pub(super) replaced: bool,
    pub(super) steps: f64,
    /// With the weights of the authors' code.
    pub(super) steps_by_code: f64,
    pub(super) gossip_steps: f64,
    pub(super) contributions: f64,
    pub(super) paths: usize,
    /// As printed: the walk, the walk whose senders are known, and gossip clipped to local DP and not.
    pub(super) walk: Tally,
    pub(super) sender: Tally,
    /// The walks as the authors draw them: weights `1/(max(d_u, d_v) + 1)`, clipped to local DP.
    pub(super) walk_by_code: Tally,
    pub(super) sender_by_code: Tally,
    pub(super) gossip: Tally,
    pub(super) gossip_sum: Tally,
    /// The pairs that random paths were watched by: as printed, mean over paths, and at order 2 if told the path.
    pub(super) sampled: Tally,
    pub(super) sampled_sender: Tally,
    pub(super) path: Tally,
    pub(super) told: Tally,
    /// Those of them who surely lose more than printed on average: without and with senders known.
    pub(super) above: Above,
    pub(super) above_sender: Above,
}

/// Pairs who surely lose more than printed.
#[derive(Default)]
pub(super) struct Above {
    pairs: usize,
    above: usize,
    /// The largest ratio.
    pub(super) ratio: f64,
}

impl Above {
    fn add(&mut self, path: f64, printed: f64, surely: bool) {
        self.pairs += 1;
        if surely {
            self.above += 1;
            self.ratio = self.ratio.max(path / printed);
        }
    }

    /// Their share of all pairs that were watched.
    pub(super) fn share(&self) -> f64 {
        self.above as f64 / self.pairs.max(1) as f64
    }
}

/// All four.
pub(super) fn studies(options: &Options, watch: &Watch) -> Result<Vec<Study>> {
    let all = graphs::four(options.quick, FACTOR);
    all.into_iter().map(|(name, family)| Study::new(name, &family, options, watch)).collect()
}

impl Study {
    fn new(name: &'static str, family: &Family, options: &Options, watch: &Watch) -> Result<Self> {
        let runs = match (family.is_random(), options.quick) {
            (false, _) => 1,
            (true, true) => 2,
            (true, false) => RUNS,
        };
        let mut study = Self { name, runs, ..Self::default() };
        for run in 0..runs as u64 {
            (watch.doing)(&format!("1, 4: {name}, run {}", run + 1));
            let graph = generate(family, options.seed.wrapping_add(run), true)?;
            study.run(&graph, run, options)?;
        }
        Ok(study)
    }

    fn run(&mut self, graph: &Graph, run: u64, options: &Options) -> Result<()> {
        let (walk, share) = (Walk::new(graph, SIGMA)?, 1.0 / self.runs as f64);
        self.peers = graph.nodes();
        self.replaced |= walk.replaced;
        self.steps += share * walk.steps as f64;
        self.contributions += share * walk.contributions();
        let by_code = Walk::by_code(graph, SIGMA)?;
        self.steps_by_code += share * by_code.steps as f64;
        let printed = walk.printed()?;
        add_walk(graph, &printed, f64::INFINITY, (&mut self.walk, &mut self.sender))?;
        add_walk(graph, &by_code.printed()?, 1.0, (&mut self.walk_by_code, &mut self.sender_by_code))?;
        self.add_gossip(graph)?;
        self.add_paths(graph, &walk, &printed, run, options)
    }

    fn add_gossip(&mut self, graph: &Graph) -> Result<()> {
        let mixing = Mixing::new(graph, Weights::MetropolisPlusOne);
        let (_, steps) = stopping_time(&mixing)?;
        self.gossip_steps += steps as f64 / self.runs as f64;
        let all = theorem1_all_pairs(&mixing, steps)?;
        for (v, losses) in all.chunks_exact(graph.nodes()).enumerate() {
            let far = hops::distances(graph, v)?;
            for u in (0..graph.nodes()).filter(|&u| u != v) {
                self.gossip.add(far[u], losses[u].min(1.0));
                self.gossip_sum.add(far[u], losses[u]);
            }
        }
        Ok(())
    }

    fn add_paths(
        &mut self,
        graph: &Graph,
        walk: &Walk,
        printed: &PublishedWalk,
        run: u64,
        options: &Options,
    ) -> Result<()> {
        let n = graph.nodes();
        let steps = if walk.steps < 10 * n { SHORT } else { STEPS };
        let (observers, steps) = if options.quick { (4, STEPS / 10) } else { (OBSERVERS, steps) };
        let first = choose(options.seed, run, n);
        let observers: Vec<usize> = (0..observers).map(|i| (first + i * n / observers) % n).collect();
        let paths = (steps / self.runs / walk.steps).clamp(PATHS.0, PATHS.1);
        self.paths += paths;
        for seen in watch(walk, &observers, paths, options.seed.wrapping_add(run))? {
            let far = hops::distances(graph, seen.observer)?;
            let anonymous = printed.contribution(seen.observer)?;
            let known = printed.sender_known(seen.observer)?;
            for u in (0..n).filter(|&u| u != seen.observer) {
                self.sampled.add(far[u], anonymous[u]);
                self.sampled_sender.add(far[u], known[u]);
                self.path.add(far[u], seen.mean(u));
                self.told.add(far[u], seen.told(u));
                self.above.add(seen.mean(u), anonymous[u], seen.above(u, anonymous[u]));
                self.above_sender.add(seen.mean(u), known[u], seen.above(u, known[u]));
            }
        }
        Ok(())
    }

    /// The largest ratio of the mean over paths to what is printed, and at which distance.
    pub(super) fn worst(&self, printed: &Tally) -> (f64, u32) {
        let ratio = |hops: u32| (self.path.mean(hops) / printed.mean(hops), hops);
        let all = self.path.common().into_iter().map(|(hops, _)| ratio(hops));
        all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0))
    }

    /// From which distance on printed losses, times `scale`, are above those of gossip, all the way; none where they are not at the end.
    pub(super) fn overtakes(&self, walk: &Tally, scale: f64) -> Option<u32> {
        let rows = walk.common();
        let below = rows.iter().rposition(|(hops, row)| scale * row.mean <= self.gossip.mean(*hops));
        rows.get(below.map_or(0, |place| place + 1)).map(|(hops, _)| *hops)
    }

    /// Whether printed losses, times `scale`, are below those of gossip at every distance.
    pub(super) fn below_gossip(&self, walk: &Tally, scale: f64) -> bool {
        walk.common().iter().all(|(hops, row)| scale * row.mean < self.gossip.mean(*hops))
    }

    /// One line for each distance.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |(hops, row): &(u32, Summary)| {
            let means = [&self.sender, &self.gossip, &self.gossip_sum, &self.sampled, &self.path, &self.told];
            let means: Vec<String> = means.iter().map(|tally| tally.mean(*hops).to_string()).collect();
            format!(
                "{},{hops},{},{},{},{},{}",
                self.name,
                row.count,
                row.mean,
                row.low,
                row.high,
                means.join(",")
            )
        };
        self.walk.rows().iter().map(line).collect()
    }
}

/// Adds the printed losses of all pairs, clipped: without and with senders known.
fn add_walk(
    graph: &Graph,
    printed: &PublishedWalk,
    most: f64,
    (walk, sender): (&mut Tally, &mut Tally),
) -> Result<()> {
    for v in 0..graph.nodes() {
        let far = hops::distances(graph, v)?;
        let (anonymous, known) = (printed.contribution(v)?, printed.sender_known(v)?);
        for u in (0..graph.nodes()).filter(|&u| u != v) {
            walk.add(far[u], anonymous[u].min(most));
            sender.add(far[u], known[u].min(most));
        }
    }
    Ok(())
}

/// The header of [`Study::lines`].
pub(super) const HEADER: &str = "graph,hops,pairs,walk_published,walk_published_least,walk_published_most,walk_published_sender_known,\
                                 gossip_published_clipped,gossip_published,walk_published_sampled_pairs,walk_mean_over_paths,walk_path_told";
