//! One trial of Figure 1c: fresh random graphs, gossip after every gradient step, and the two servers beside it.

use sottovoce::learning::graphs::fresh;
use sottovoce::learning::method::usual_rounds;
use sottovoce::learning::{Gossip, Method, Session, Settings, Task};
use sottovoce_privacy::Adversary;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::door::{Learning, account};
use sottovoce_views::{exact, parallel};

use crate::Result;
use crate::printed::gossip;

/// Gradient steps of everyone.
pub(super) const ITERATIONS: usize = 10;
/// Step size.
pub(super) const STEP: f64 = 0.7;
/// Noise on a gradient, in sensitivities.
pub(super) const SIGMA: f64 = 1.5;

/// The graphs of one trial: one for each iteration, and gossip equally long on each.
pub(super) struct Graphs {
    mixings: Vec<Mixing>,
    /// The most rounds that any of the graphs needs.
    rounds: usize,
}

impl Graphs {
    /// Fresh connected Erdős–Rényi graphs with edge probability `ln(n)/n`.
    pub(super) fn draw(peers: usize, seed: u64) -> Result<Self> {
        let graphs = fresh(peers, 1.0, ITERATIONS, seed)?;
        let weighted = |graph: &Graph| Mixing::new(graph, Weights::MetropolisPlusOne);
        let mixings: Vec<Mixing> = graphs.iter().map(weighted).collect();
        let rounds = usual_rounds(&mixings, 0.0, f64::INFINITY)?;
        Ok(Self { mixings, rounds })
    }

    /// Theorem 11 towards peer 0, as a share of local DP over all iterations.
    fn printed(&self) -> Result<Vec<f64>> {
        let one = |mixing: &Mixing| gossip::theorem1(mixing, &[0], self.rounds);
        Ok(mean(&self.mixings.iter().map(one).collect::<Result<Vec<_>, _>>()?))
    }

    /// What the authors' code draws as the mean loss: Theorem 4's bound for those who are no neighbours, `2 T d/(n - d)`, and the share `d/n` of
    /// those who are; meaned over iterations.
    fn random_graph(&self) -> Result<f64> {
        let one = |mixing: &Mixing| -> Result<f64> {
            let (n, degree) = (mixing.nodes(), mixing.graph().degree(0));
            Ok(gossip::random_graph(n, degree, self.rounds)?.0 + degree as f64 / n as f64)
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
        let run = Learning::Gossip {
            mixings: &self.mixings,
            rounds: self.rounds,
            accelerated: true,
            relay_noise: 0.0,
            iterations: ITERATIONS,
        };
        let losses = account(&run, &Adversary::Peer(0))?.leakage.losses;
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
        let gossip = Gossip { rounds, accelerated: true, relay: 0.0 };
        Ok(Self {
            rounds,
            gossip: course(task, &graphs.mixings, Method::Gossip(gossip), seed)?,
            averaged: course(task, &[], Method::Local, seed)?,
            server: course(task, &[], Method::Central, seed)?,
            printed,
            random_graph,
        })
    }
}

/// Mean accuracy over peers, before the first gradient step and after each.
fn course(task: &Task, mixings: &[Mixing], method: Method, seed: u64) -> Result<Vec<f64>> {
    let settings = Settings::plain(method, (ITERATIONS, STEP), SIGMA, seed);
    let mut session = Session::new(task, mixings, settings, 1)?;
    let mut course = vec![session.accuracy()];
    while course.len() <= ITERATIONS {
        session.advance(|_, _, _| {})?;
        course.push(session.accuracy());
    }
    Ok(course)
}
