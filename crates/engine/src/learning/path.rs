//! The path of a walk, and what it reveals to everyone.
//!
//! Where tokens go depends on no data: the path can be drawn beforehand, by the very code that learns, with gradients left out.

use sottovoce_protocol::Peer;
use sottovoce_protocol::walk::{Course, Steps, TokenPath};
use sottovoce_simulator::walk::{FastWalk, WalkSetup, copies};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::parallel;
use sottovoce_views::walk::{Trajectory, along};

use super::method::{Walk, Way, launches};
use super::network::Faulty;
use crate::{Result, require};

/// Visits of all tokens that are kept in memory at most.
const MOST_VISITS: usize = 1 << 30;

/// Who held which token, and what they did.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    peers: usize,
    tokens: Vec<TokenPath>,
}

impl Path {
    /// A path that was taken, or is drawn.
    pub fn of(peers: usize, tokens: Vec<TokenPath>) -> Self {
        Self { peers, tokens }
    }

    /// The path that a run of this seed takes, in which everyone contributes `cap` times at most, and as often on average.
    pub fn draw(
        mixing: &Mixing,
        walk: Walk,
        cap: usize,
        seed: u64,
        network: Option<&Faulty>,
    ) -> Result<Self> {
        let (peers, count) = (mixing.nodes(), walk.tokens);
        let steps = walk.steps(peers, cap);
        let remedy = format!(
            "{count} tokens would make {steps} steps each, {MOST_VISITS} in all are feasible; give less"
        );
        require(steps.saturating_mul(count) <= MOST_VISITS, "iterations", cap, remedy)?;
        let setup = WalkSetup {
            mixing,
            course: Course {
                steps,
                burn_in: walk.burn_in,
                sizes: Steps::Constant(1.0),
                sensitivity: 1.0,
                noise: 0.0,
                cap,
            },
            launch: launches(seed, count, peers),
            budget: f64::INFINITY,
            start: vec![0.0],
            worth: Vec::new(),
        };
        if let Some(network) = network {
            let nothing = |_| |_: usize, _: f64, _: &mut Vec<f64>| {};
            return Ok(Self { peers, tokens: copies(&network.run(setup, seed).run(nothing)?.transcript) });
        }
        let mut tokens = vec![TokenPath::default(); count];
        let nothing = |_| |_: usize, _: f64, _: &mut Vec<f64>| {};
        FastWalk::new(setup, seed, nothing)?.run(|token, holder, visit| tokens[token].push(holder, visit))?;
        Ok(Self { peers, tokens })
    }

    /// One after the other.
    pub fn into_tokens(self) -> Vec<TokenPath> {
        self.tokens
    }

    /// How often a token leaves its holder.
    pub fn moves(&self) -> u64 {
        let moves = |token: &TokenPath| {
            token.iter().zip(token.iter().skip(1)).filter(|(one, next)| one.0 != next.0).count()
        };
        self.tokens.iter().map(moves).sum::<usize>() as u64
    }

    /// Steps of each token.
    pub fn steps(&self) -> usize {
        self.tokens.first().map_or(0, TokenPath::len)
    }

    /// What every peer has learnt of every other if all tokens are shown after so many steps.
    pub fn losses(&self, steps: usize) -> Result<Vec<Trajectory>> {
        self.losses_shown(steps, &[])
    }

    /// The same if all tokens were shown on the way, too: after each of the numbers of steps in `shown`.
    pub fn losses_shown(&self, steps: usize, shown: &[usize]) -> Result<Vec<Trajectory>> {
        let everyone: Vec<Vec<usize>> = (0..self.peers).map(|peer| vec![peer]).collect();
        Ok(along(self.peers, &self.tokens, &everyone, steps, shown)?)
    }

    /// Steps after which no pair has lost more than `most` units: all of them, or else about as many as can be.
    pub fn steps_within(&self, most: f64) -> Result<usize> {
        let fits = |steps: usize| -> Result<bool> { Ok(pairs(&self.losses(steps)?).worst <= most) };
        let (mut low, mut high) = (0, self.steps());
        if fits(high)? {
            return Ok(high);
        }
        // What is found fits. (Losses need not grow with the steps: more noise may come before the token is shown.)
        while high - low > 1 {
            let middle = low.midpoint(high);
            if fits(middle)? { low = middle } else { high = middle }
        }
        Ok(low)
    }
}

/// Losses of all pairs, in short.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pairs {
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub worst: f64,
    /// Who learns it.
    pub observer: Peer,
    /// Of whom.
    pub contributor: Peer,
}

impl Pairs {
    /// Of `n` peers, by `loss(observer, contributor)`, in order.
    pub fn of(n: usize, loss: impl Fn(Peer, Peer) -> f64 + Sync) -> Self {
        let row = |v: usize| {
            let mut row = Self { observer: v, ..Self::default() };
            for u in (0..n).filter(|&u| u != v) {
                let loss = loss(v, u);
                row.mean += loss;
                if loss > row.worst || loss.is_nan() {
                    (row.worst, row.contributor) = (loss, u);
                }
            }
            row
        };
        let mut all = Self::default();
        for row in parallel::map(n, row, |_| {}) {
            let sum = all.mean + row.mean;
            if row.worst > all.worst || row.worst.is_nan() {
                all = row;
            }
            all.mean = sum;
        }
        all.mean /= (n * n.saturating_sub(1)).max(1) as f64;
        all
    }
}

/// The losses of convex objectives.
pub fn pairs(losses: &[Trajectory]) -> Pairs {
    Pairs::of(losses.len(), |v, u| losses[v].convex[u])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::walk::{Patience, Visit};
    use sottovoce_simulator::network::{Faults, Network};
    use sottovoce_simulator::walk::{WalkOutcome, WalkRun};
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;
    use sottovoce_views::walk::{ExpectedSetup, Sampling, contributions};
    use std::time::Duration;

    const PEERS: usize = 12;

    fn mixing() -> Mixing {
        let graph = generate(&Family::ErdosRenyi { n: PEERS, p: 0.4 }, 3, true).unwrap();
        Mixing::new(&graph, Weights::MetropolisPlusOne)
    }

    const WALK: Walk = Walk { tokens: 1, burn_in: 3 };
    const CAP: usize = 4;

    fn draw(mixing: &Mixing, seed: u64) -> Path {
        Path::draw(mixing, WALK, CAP, seed, None).unwrap()
    }

    fn visits(path: &Path) -> Vec<(Peer, Visit)> {
        path.tokens[0].iter().collect()
    }

    fn run(mixing: &Mixing, network: Network) -> WalkOutcome {
        let setup = WalkSetup {
            mixing,
            course: Course {
                steps: WALK.steps(PEERS, CAP),
                burn_in: WALK.burn_in,
                sizes: Steps::Constant(0.1),
                sensitivity: 1.0,
                noise: 1.0,
                cap: CAP,
            },
            launch: launches(7, 1, PEERS),
            budget: f64::INFINITY,
            start: vec![0.0],
            worth: Vec::new(),
        };
        let (patience, deadline) = (Patience { attempts: 2 }, Duration::from_secs(100_000));
        let run = WalkRun { setup, network, faults: Faults::default(), patience, deadline, seed: 7 };
        run.run(|_| |_: usize, _: f64, _: &mut Vec<f64>| {}).unwrap()
    }

    #[test]
    fn the_path_drawn_beforehand_is_the_path_of_the_run() {
        let mixing = mixing();
        let drawn = draw(&mixing, 7);
        let outcome = run(&mixing, Network::perfect());
        assert_eq!(outcome.path(0), visits(&drawn));
        // Every move is one message and one answer.
        assert_eq!(outcome.sent, 2 * drawn.moves());
    }

    /// On a network that loses nothing the machines take the same way; where answers get lost, more is seen.
    #[test]
    fn faults_change_paths_and_are_accounted_for() {
        let (mixing, faults) = (mixing(), Faults::default());
        let drawn = |network: Network| {
            let network = Faulty { network, faults: faults.clone() };
            Path::draw(&mixing, WALK, CAP, 7, Some(&network)).unwrap()
        };
        let whole = drawn(Network { timeout: Some(Duration::from_secs(1)), ..Network::perfect() });
        assert_eq!(whole, draw(&mixing, 7));
        let lossy = drawn(Network { drop: 0.6, timeout: Some(Duration::from_secs(1)), ..Network::perfect() });
        assert!(lossy.tokens.len() > 1, "{}", lossy.tokens.len());
        let given = contributions(PEERS, &lossy.tokens);
        for (v, losses) in lossy.losses(usize::MAX).unwrap().iter().enumerate() {
            let within = |u: usize| losses.convex[u] <= given[u] as f64 + 1e-12;
            assert!((0..PEERS).filter(|&u| u != v).all(within), "{v}");
        }
    }

    /// A token that is shown after every step hides nothing: each contribution is seen in its own noise alone.
    #[test]
    fn what_is_shown_on_the_way_is_counted() {
        let path = draw(&mixing(), 7);
        let unseen = path.losses(usize::MAX).unwrap();
        let all: Vec<usize> = (0..path.steps()).collect();
        let (some, seen) = (
            path.losses_shown(usize::MAX, &all[20..25]).unwrap(),
            path.losses_shown(usize::MAX, &all).unwrap(),
        );
        for u in 0..PEERS {
            let count =
                visits(&path).iter().filter(|visit| **visit == (u, Visit::Contributed)).count() as f64;
            for v in (0..PEERS).filter(|&v| v != u) {
                let [none, some, all] = [&unseen, &some, &seen].map(|losses| losses[v].convex[u]);
                assert!(
                    none <= some + 1e-12 && some <= all + 1e-12 && (all - count).abs() < 1e-12,
                    "{none} {some} {all}"
                );
            }
        }
        assert!(pairs(&some).mean > pairs(&unseen).mean);
    }

    #[test]
    fn steps_within_a_budget_keep_it() {
        let path = draw(&mixing(), 7);
        let whole = pairs(&path.losses(usize::MAX).unwrap());
        assert_eq!(path.steps_within(whole.worst).unwrap(), path.steps());
        let fewer = path.steps_within(0.6 * whole.worst).unwrap();
        assert!(fewer < path.steps() && pairs(&path.losses(fewer).unwrap()).worst <= 0.6 * whole.worst);
    }

    /// The accountant of walks to come and the protocol's own code draw paths of the same law.
    #[test]
    fn walks_to_come_are_those_that_come() {
        let mixing = mixing();
        let (samples, observer) = (4000, 2);
        let mut means = [0.0; PEERS];
        for seed in 0..samples {
            let losses = draw(&mixing, seed).losses(usize::MAX).unwrap();
            means
                .iter_mut()
                .zip(&losses[observer].convex)
                .for_each(|(sum, loss)| *sum += loss / samples as f64);
        }
        let setup = ExpectedSetup { cap: Some(4), burn_in: 3, ..ExpectedSetup::new(&mixing, 4 * PEERS) };
        let sampling = Sampling { samples: 20_000, seed: 1, confidence: 0.9 };
        let expected = setup.expected(&[observer], 4.0, &[2.0], sampling).unwrap().convex.mean;
        for u in (0..PEERS).filter(|&u| u != observer) {
            // Losses of a path have a standard deviation below 1: five of those of 4000 and 20,000 samples together.
            assert!((means[u] - expected[u]).abs() < 5.0 * (1.0_f64 / 4000.0 + 1.0 / 20_000.0).sqrt(), "{u}");
        }
    }
}
