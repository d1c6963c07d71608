//! The path of a walk, and what it reveals to everyone.
//!
//! Where tokens go depends on no data: the path can be drawn beforehand, by the very code that learns, with gradients left out.

use std::collections::BTreeMap;

use sottovoce_protocol::Peer;
use sottovoce_protocol::walk::{Course, Steps, Visit};
use sottovoce_simulator::walk::{FastWalk, Passage, WalkSetup, WalkTranscript, passages};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::parallel;
use sottovoce_views::walk::{Odometer, Trajectory};

use super::method::{Walk, Way, launches};
use crate::{Result, require};

/// Visits of all tokens that are kept in memory at most.
const MOST_VISITS: usize = 1 << 30;

/// Who held which token, and what they did.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    peers: usize,
    tokens: usize,
    visits: Vec<(Peer, Visit)>,
}

impl Path {
    /// The path that a run of this seed takes, in which everyone contributes `cap` times at most, and as often on average.
    pub fn draw(mixing: &Mixing, walk: Walk, cap: usize, seed: u64) -> Result<Self> {
        let (peers, tokens) = (mixing.nodes(), walk.tokens);
        let steps = walk.steps(peers, cap);
        let remedy = format!(
            "{tokens} tokens would make {steps} steps each, {MOST_VISITS} in all are feasible; give less"
        );
        require(steps.saturating_mul(tokens) <= MOST_VISITS, "iterations", cap, remedy)?;
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
            launch: launches(seed, tokens, peers),
            budget: f64::INFINITY,
            start: vec![0.0],
        };
        let mut visits = Vec::with_capacity(steps * tokens);
        let nothing = |_| |_: usize, _: f64, _: &mut Vec<f64>| {};
        FastWalk::new(setup, seed, nothing)?.run(|_, holder, visit| visits.push((holder, visit)))?;
        Ok(Self { peers, tokens, visits })
    }

    /// How often a token leaves its holder.
    pub fn moves(&self) -> u64 {
        self.visits
            .iter()
            .zip(self.visits.iter().skip(self.tokens))
            .filter(|(one, next)| one.0 != next.0)
            .count() as u64
    }

    /// Steps of each token.
    pub fn steps(&self) -> usize {
        self.visits.len() / self.tokens.max(1)
    }

    /// What every peer has learnt of every other if all tokens are shown after so many steps.
    pub fn losses(&self, steps: usize) -> Result<Vec<Trajectory>> {
        self.losses_shown(steps, &[])
    }

    /// The same if all tokens were shown on the way, too: after each of the numbers of steps in `shown`.
    pub fn losses_shown(&self, steps: usize, shown: &[usize]) -> Result<Vec<Trajectory>> {
        let mut all: Option<Vec<Trajectory>> = None;
        for token in 0..self.tokens {
            let mut odometer = Odometer::everyone(self.peers)?;
            let visits = self.visits.iter().skip(token).step_by(self.tokens).take(steps);
            for (step, &(holder, visit)) in visits.enumerate() {
                if shown.contains(&step) {
                    odometer.show();
                }
                odometer.visit(holder, visit)?;
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

/// What every peer has learnt of every other from a run on a network with faults, if all tokens are shown at its end.
///
/// Where a token took a detour there may be two copies. What both can show is covered by showing the token to everyone at the fork
/// (`docs/theorems/random-walks.md`); each copy is then accounted for on its own.
pub fn with_detours(transcript: &WalkTranscript, tokens: usize, peers: usize) -> Result<Vec<Trajectory>> {
    let mut copies: BTreeMap<(usize, Epoch), Copy> = BTreeMap::new();
    for passage in passages(transcript) {
        match passage {
            Passage::Held { token, epoch, peer, step, visit } => {
                copies.entry((token, epoch)).or_default().visits.push((step, peer, visit));
            }
            Passage::Rerouted { token, epoch, detour, step } => {
                copies.entry((token, epoch)).or_default().forks.push((step, detour));
            }
        }
    }
    let mut all = vec![Odometer::everyone(peers)?.conclude(false)];
    for token in 0..tokens {
        follow(&copies, (token, (0, 0)), Odometer::everyone(peers)?, &mut all)?;
    }
    let sum = |sum: Vec<Trajectory>, more: Vec<Trajectory>| -> Result<Vec<Trajectory>> {
        sum.into_iter().zip(&more).map(|(sum, more)| Ok(sum.and(more)?)).collect()
    };
    let mut all = all.into_iter();
    let first = all.next().unwrap_or_default();
    all.try_fold(first, sum)
}

type Epoch = (usize, Peer);

/// Who held a copy of a token, and where others forked off.
#[derive(Default)]
struct Copy {
    visits: Vec<(usize, Peer, Visit)>,
    forks: Vec<(usize, Epoch)>,
}

fn follow(
    copies: &BTreeMap<(usize, Epoch), Copy>,
    which: (usize, Epoch),
    mut odometer: Odometer,
    all: &mut Vec<Vec<Trajectory>>,
) -> Result<()> {
    let nobody = Copy::default();
    let copy = copies.get(&which).unwrap_or(&nobody);
    let mut forks = copy.forks.clone();
    forks.sort_unstable();
    let mut forks = forks.into_iter().peekable();
    for &(step, holder, visit) in &copy.visits {
        while let Some((_, detour)) = forks.next_if(|(fork, _)| *fork <= step) {
            follow(copies, (which.0, detour), odometer.fork(), all)?;
        }
        odometer.visit(holder, visit)?;
    }
    for (_, detour) in forks {
        follow(copies, (which.0, detour), odometer.fork(), all)?;
    }
    all.push(odometer.conclude(true));
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::walk::Patience;
    use sottovoce_simulator::network::{Faults, Network};
    use sottovoce_simulator::walk::{WalkOutcome, WalkRun};
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;
    use sottovoce_views::walk::{ExpectedSetup, Sampling};
    use std::time::Duration;

    const PEERS: usize = 12;

    fn mixing() -> Mixing {
        let graph = generate(&Family::ErdosRenyi { n: PEERS, p: 0.4 }, 3, true).unwrap();
        Mixing::new(&graph, Weights::MetropolisPlusOne)
    }

    const WALK: Walk = Walk { tokens: 1, burn_in: 3 };
    const CAP: usize = 4;

    fn draw(mixing: &Mixing, seed: u64) -> Path {
        Path::draw(mixing, WALK, CAP, seed).unwrap()
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
        assert_eq!(outcome.path(0), drawn.visits);
        // Every move is one message and one answer.
        assert_eq!(outcome.sent, 2 * drawn.moves());
        let (before, after) =
            (drawn.losses(usize::MAX).unwrap(), with_detours(&outcome.transcript, 1, PEERS).unwrap());
        assert_eq!(before, after);
    }

    #[test]
    fn detours_are_counted_in_every_copy() {
        let mixing = mixing();
        let network = Network { drop: 0.3, timeout: Some(Duration::from_secs(1)), ..Network::perfect() };
        let outcome = run(&mixing, network);
        assert!(outcome.reroutings() > 0);
        let losses = with_detours(&outcome.transcript, 1, PEERS).unwrap();
        // Whoever contributed loses something when the result is shown, and never more than its contributions.
        for u in 0..PEERS {
            let count =
                outcome.path(0).iter().filter(|visit| **visit == (u, Visit::Contributed)).count() as f64;
            assert!(count <= 4.0);
            for (v, to) in losses.iter().enumerate().filter(|(v, _)| *v != u) {
                let loss = to.convex[u];
                assert!((loss > 0.0) == (count > 0.0) && loss <= count + 1e-12, "{u} {v}: {loss} {count}");
            }
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
            let count = path.visits.iter().filter(|visit| **visit == (u, Visit::Contributed)).count() as f64;
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
