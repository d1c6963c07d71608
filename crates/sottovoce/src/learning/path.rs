//! The path of a walk, and what it reveals to everyone.
//!
//! Where tokens go depends on no data: the path can be drawn beforehand, by the very code that learns, with gradients left out.

use sottovoce_protocol::Peer;
use sottovoce_protocol::walk::{Course, Steps, Visit};
use sottovoce_simulator::walk::{Stroll, WalkSetup};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::parallel;
use sottovoce_views::walk::{self as walks, Odometer, Trajectory};

use super::session::launches;

/// What the path of a walk is a function of, but for the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excursion {
    /// Tokens in parallel.
    pub tokens: usize,
    /// Steps in which they are only passed on.
    pub burn_in: usize,
    /// Contributions of each peer, of which there are as many steps on average.
    pub cap: usize,
    /// The seed of the run.
    pub seed: u64,
}

impl Excursion {
    /// Steps of each token.
    pub fn steps(&self, peers: usize) -> usize {
        self.burn_in + (self.cap * peers).div_ceil(self.tokens.max(1))
    }
}

/// Who held which token, and what they did.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    peers: usize,
    tokens: usize,
    visits: Vec<(Peer, Visit)>,
}

impl Path {
    /// The path that a run of this seed takes.
    pub fn draw(mixing: &Mixing, course: Excursion) -> anyhow::Result<Self> {
        let peers = mixing.nodes();
        let setup = WalkSetup {
            mixing,
            course: Course {
                steps: course.steps(peers),
                burn_in: course.burn_in,
                sizes: Steps::Constant(1.0),
                sensitivity: 1.0,
                noise: 0.0,
                cap: course.cap,
            },
            launch: launches(course.seed, course.tokens, peers),
            budget: f64::INFINITY,
            start: vec![0.0],
        };
        let mut visits = Vec::with_capacity(setup.course.steps * course.tokens);
        let nothing = |_| |_: usize, _: f64, _: &mut Vec<f64>| {};
        Stroll::new(setup, course.seed, nothing)?.run(|_, holder, visit| visits.push((holder, visit)));
        Ok(Self { peers, tokens: course.tokens, visits })
    }

    /// Steps of each token.
    pub fn steps(&self) -> usize {
        self.visits.len() / self.tokens.max(1)
    }

    /// What every peer has learnt of every other if all tokens are shown after so many steps.
    pub fn losses(&self, steps: usize) -> anyhow::Result<Vec<Trajectory>> {
        let mut all: Option<Vec<Trajectory>> = None;
        for token in 0..self.tokens {
            let mut odometer = Odometer::everyone(self.peers)?;
            for &(holder, visit) in self.visits.iter().skip(token).step_by(self.tokens).take(steps) {
                odometer.visit(holder, of_views(visit))?;
            }
            let losses = odometer.conclude(true);
            all = Some(match all {
                None => losses,
                Some(sums) => sums
                    .into_iter()
                    .zip(&losses)
                    .map(|(sum, token)| sum.and(token))
                    .collect::<Result<_, _>>()?,
            });
        }
        Ok(all.unwrap_or_default())
    }

    /// Steps after which no pair has lost more than `most` units: all of them, or else about as many as can be.
    pub fn steps_within(&self, most: f64) -> anyhow::Result<usize> {
        let fits = |steps: usize| -> anyhow::Result<bool> { Ok(pairs(&self.losses(steps)?).worst <= most) };
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

fn of_views(visit: Visit) -> walks::Visit {
    match visit {
        Visit::Contributed => walks::Visit::Contributes,
        Visit::NoiseOnly => walks::Visit::NoiseOnly,
        Visit::Relayed => walks::Visit::Relays,
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
                if loss > row.worst {
                    (row.worst, row.contributor) = (loss, u);
                }
            }
            row
        };
        let mut all = Self::default();
        for row in parallel::map(n, row, |_| {}) {
            let sum = all.mean + row.mean;
            if row.worst > all.worst {
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
