//! One trial of Figure 1c: fresh random graphs, gossip after every gradient step, and the two servers beside it.

use sottovoce::learning::method::gossip_rounds;
use sottovoce::learning::{Method, Session, Settings, Task};
use sottovoce_protocol::averaging::Noising;
use sottovoce_simulator::averaging::Scheme;
use sottovoce_simulator::descent::{Descending, DescentSetup};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::spectrum::{Spectrum, chebyshev_weight};
use sottovoce_views::descent::linear;
use sottovoce_views::published::{self, Formula};
use sottovoce_views::{exact, parallel};

use crate::Result;
use crate::learners::seed_of;

/// Gradient steps of everyone.
pub(super) const ITERATIONS: usize = 10;
/// Step size.
pub(super) const STEP: f64 = 0.7;
/// Noise on a gradient, in sensitivities.
pub(super) const SIGMA: f64 = 1.5;

/// The graphs of one trial: one for each iteration, and gossip equally long on each.
pub(super) struct Graphs {
    mixings: Vec<Mixing>,
    /// Their spectral gaps.
    gaps: Vec<f64>,
    /// The most rounds that any of the graphs needs.
    rounds: usize,
}

impl Graphs {
    /// Fresh connected Erdős–Rényi graphs with edge probability `ln(n)/n`.
    pub(super) fn draw(peers: usize, seed: u64) -> Result<Self> {
        let family = Family::ErdosRenyi { n: peers, p: (peers as f64).ln() / peers as f64 };
        let draw = |iteration: usize| -> Result<Mixing> {
            let graph = generate(&family, seed_of(seed, 1 + iteration as u64), true)?;
            Ok(Mixing::new(&graph, Weights::MetropolisPlusOne))
        };
        let mixings: Vec<Mixing> = (0..ITERATIONS).map(draw).collect::<Result<_>>()?;
        let gap = |mixing: &Mixing| Spectrum::of(mixing).map(|spectrum| spectrum.gap.value.min(1.0));
        let gaps: Vec<f64> = mixings.iter().map(gap).collect::<Result<_, _>>()?;
        let rounds = gaps.iter().map(|&gap| gossip_rounds(gap, peers)).max().unwrap_or(1);
        Ok(Self { mixings, gaps, rounds })
    }

    /// Theorem 11 towards peer 0, as a share of local DP over all iterations.
    fn printed(&self) -> Result<Vec<f64>> {
        let one = |mixing: &Mixing| published::gossip(Formula::Theorem1, mixing, &[0], self.rounds);
        Ok(mean(&self.mixings.iter().map(one).collect::<Result<Vec<_>, _>>()?))
    }

    /// What the authors' code draws as the mean loss: Theorem 4's bound for those who are no neighbours, `2 T d/(n - d)`, and the share `d/n` of
    /// those who are; meaned over iterations.
    fn random_graph(&self) -> Result<f64> {
        let one = |mixing: &Mixing| -> Result<f64> {
            let (n, degree) = (mixing.nodes(), mixing.graph().degree(0));
            Ok(published::random_graph(n, degree, self.rounds)?.0 + degree as f64 / n as f64)
        };
        let all = self.mixings.iter().map(one).collect::<Result<Vec<_>>>()?;
        Ok(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Exact losses towards peer 0 of every averaging on its own (the premise of Theorem 11), meaned over iterations.
    pub(super) fn exact(&self) -> Result<Vec<f64>> {
        let one = |i: usize| exact::gossip(&self.mixings[i], &[0], self.rounds);
        let all = parallel::map(self.mixings.len(), one, |_| ());
        let all = all.into_iter().map(|found| Ok(found?.losses)).collect::<Result<Vec<_>>>()?;
        Ok(mean(&all))
    }

    /// Losses towards peer 0 of all iterations together, if gradients do not react to what is hidden from it; as shares of local DP.
    pub(super) fn together(&self) -> Result<Vec<f64>> {
        let weights = self.gaps.iter().map(|&gap| chebyshev_weight(gap)).collect::<Result<Vec<_>, _>>()?;
        let gossips: Vec<(&Mixing, f64)> = self.mixings.iter().zip(weights).collect();
        let losses = linear::accelerated(&gossips, &[0], self.rounds, ITERATIONS)?.losses;
        Ok(losses.into_iter().map(|loss| loss / ITERATIONS as f64).collect())
    }
}

/// The mean over iterations, peer by peer.
fn mean(iterations: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; iterations.first().map_or(0, Vec::len)];
    for losses in iterations {
        sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss / iterations.len() as f64);
    }
    sums
}

/// What one trial gave.
pub(super) struct Trial {
    pub(super) rounds: usize,
    /// Mean accuracy over peers before the first iteration and after each.
    pub(super) gossip: Vec<f64>,
    /// Of a server that averages the very same noisy gradients of peers.
    pub(super) averaged: Vec<f64>,
    /// Of a server that adds noise itself, once.
    pub(super) server: Vec<f64>,
    /// Losses towards peer 0, by peer: Theorem 11.
    pub(super) printed: Vec<f64>,
    /// The mean loss as the authors draw it: Theorem 4.
    pub(super) random_graph: f64,
}

impl Trial {
    pub(super) fn run(task: &Task, seed: u64) -> Result<Self> {
        let graphs = Graphs::draw(task.peers(), seed)?;
        let (rounds, printed, random_graph) = (graphs.rounds, graphs.printed()?, graphs.random_graph()?);
        Ok(Self {
            rounds,
            gossip: gossip(task, graphs, seed)?,
            averaged: by_server(task, Method::Local, seed)?,
            server: by_server(task, Method::Central, seed)?,
            printed,
            random_graph,
        })
    }
}

fn gossip(task: &Task, graphs: Graphs, seed: u64) -> Result<Vec<f64>> {
    let rounds = graphs.rounds;
    let scheme = |mixing| Scheme::Gossip { mixing, rounds, accelerated: true };
    let sensitivity = STEP * task.sensitivity();
    let setup = DescentSetup {
        schemes: graphs.mixings.into_iter().map(scheme).collect(),
        iterations: ITERATIONS,
        noising: Noising { sensitivity, local: SIGMA * sensitivity, relay: 0.0 },
        budget: f64::INFINITY,
        start: task.start(),
    };
    let mut run = Descending::new(setup, seed, 1)?;
    let descend = |peer, iteration, value: &mut [f64]| task.descend(seed, peer, iteration, STEP, value);
    let mut course = vec![accuracy(task, run.values())];
    while run.iterate(&descend)? {
        course.push(accuracy(task, run.values()));
    }
    Ok(course)
}

/// Mean over peers of the accuracy of each one's own model.
fn accuracy(task: &Task, values: &[f64]) -> f64 {
    let each = values.chunks_exact(task.parameters()).map(|model| task.accuracy(model));
    each.sum::<f64>() / task.peers() as f64
}

fn by_server(task: &Task, method: Method, seed: u64) -> Result<Vec<f64>> {
    let settings = Settings {
        method,
        iterations: ITERATIONS,
        step: STEP,
        sigma: SIGMA,
        budget: None,
        seed,
        network: None,
    };
    let mut session = Session::new(task, None, settings, 1)?;
    let mut course = vec![session.accuracy()];
    while course.len() <= ITERATIONS {
        session.advance(|_, _, _| {})?;
        course.push(session.accuracy());
    }
    Ok(course)
}
