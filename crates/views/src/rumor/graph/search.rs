//! Observation after observation: what two sources differ by, from both sides.
//!
//! For what was observed so far, keep the *difference* of the two sources' laws over active sets, `d = p_source - e^epsilon p_other`. Whoever stops here learns
//! at least the positive part of its sum, and at most the sum of its positive parts. Where the two disagree, the next observation is followed; of all pairs the worst
//! is followed first. What is never opened counts with its larger value.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use super::kernel::Kernel;
use super::sets::{Label, Set, Sets, Telling};
use super::{PairLoss, capped, positive};

/// How far apart the bounds of the worst pair may stay.
const NEAR: f64 = 1e-6;
/// Observations about which less is open are not followed.
const SMALL: f64 = 1e-10;
/// Work in all, in multiplications.
const WORK: f64 = 1.5e9;
/// Observations that are opened at most.
const MOST_OPENED: usize = 10_000;

/// The difference of two sources' laws after some observations, while these curious peers are active.
struct Open {
    curious: Set,
    law: Vec<f64>,
    low: f64,
    high: f64,
    /// Its number, so that equals have an order.
    number: usize,
}

/// Two sources, what is settled, and what was not opened yet.
struct Pair {
    source: usize,
    other: usize,
    low: f64,
    high: f64,
    open: BinaryHeap<Open>,
    /// Both, with what is open.
    lower: f64,
    upper: f64,
    count: usize,
}

/// A stage, with its outcomes sorted by what was noticed.
struct Stage {
    kernel: Kernel,
    /// The active curious peers after each label, and the places of its outcomes: outcome, set.
    labels: Vec<(Set, Vec<(usize, usize)>)>,
    /// Outcomes that end the rumour.
    over: Vec<usize>,
}

/// The losses of all these pairs.
pub(super) fn search(
    telling: &Telling<'_>,
    sets: &Sets,
    pairs: &[(usize, usize)],
    epsilon: f64,
) -> Vec<PairLoss> {
    let ratio = epsilon.exp();
    let mut all: Vec<Pair> =
        pairs.iter().map(|&(source, other)| Pair::new(sets, source, other, ratio)).collect();
    let mut stages: BTreeMap<Set, Stage> = BTreeMap::new();
    let (size, mut work, mut opened) = (sets.list.len() as f64, 0.0, 0);
    while work < WORK && opened < MOST_OPENED {
        sottovoce_fault::stop::look();
        let Some(pair) = worst(&mut all) else { break };
        let Some(open) = pair.take() else { break };
        if !stages.contains_key(&open.curious) {
            work += size * size * size;
        }
        let stage = stages
            .entry(open.curious.clone())
            .or_insert_with_key(|curious| Stage::new(telling, sets, curious));
        pair.add(stage.children(&open.law));
        work += 4.0 * size * size + size * stage.labels.len() as f64;
        opened += 1;
    }
    all.iter().map(Pair::loss).collect()
}

/// Of the pairs about which something is open, the one whose loss may be largest; the earliest of equals.
fn worst(pairs: &mut [Pair]) -> Option<&mut Pair> {
    let mut best: Option<usize> = None;
    for (i, pair) in pairs.iter().enumerate() {
        let worse = best.is_none_or(|best: usize| pair.upper > pairs[best].upper);
        if worse && pair.upper - pair.lower > NEAR && !pair.open.is_empty() {
            best = Some(i);
        }
    }
    best.map(|i| &mut pairs[i])
}

impl Pair {
    fn new(sets: &Sets, source: usize, other: usize, ratio: f64) -> Self {
        let mut law = vec![0.0; sets.list.len()];
        for (peer, mass) in [(source, 1.0), (other, -ratio)] {
            if let Some(place) = sets.find(&[peer as u16]) {
                law[place] = mass;
            }
        }
        let open = BinaryHeap::from([Open::new(Set::new(), law)]);
        Self { source, other, low: 0.0, high: 0.0, open, lower: 0.0, upper: 1.0, count: 0 }
    }

    /// The observations that leave most open; the earliest of equals.
    fn take(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        self.lower -= open.low;
        self.upper -= open.high;
        Some(open)
    }

    /// What the next observation says. Where both bounds agree, or nearly, it is settled.
    fn add(&mut self, (children, over, lost): (Vec<Open>, f64, f64)) {
        for mut child in children {
            self.lower += child.low;
            self.upper += child.high;
            if child.gap() > SMALL {
                self.count += 1;
                child.number = self.count;
                self.open.push(child);
            } else {
                self.low += child.low;
                self.high += child.high;
            }
        }
        self.low += over - lost;
        self.high += over + lost;
        self.lower += over - lost;
        self.upper += over + lost;
    }

    /// Summed anew, since differences of sums drift.
    fn loss(&self) -> PairLoss {
        let sum = |of: fn(&Open) -> f64| self.open.iter().map(of).sum::<f64>();
        let rounding = 1e-12;
        PairLoss {
            source: self.source,
            other: self.other,
            at_least: positive(self.low + sum(|open| open.low) - rounding),
            at_most: capped(self.high + sum(|open| open.high) + rounding),
        }
    }
}

impl Open {
    fn new(curious: Set, law: Vec<f64>) -> Self {
        let (more, less): (f64, f64) = law
            .iter()
            .fold((0.0, 0.0), |(more, less), &mass| (more + positive(mass), less + positive(-mass)));
        Self { curious, law, low: positive(more - less), high: more, number: 0 }
    }

    /// Zero where the law has one sign.
    fn gap(&self) -> f64 {
        self.high - self.low
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gap().total_cmp(&other.gap()).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl Stage {
    fn new(telling: &Telling<'_>, sets: &Sets, curious: &[u16]) -> Self {
        let kernel = Kernel::new(telling, sets, curious);
        let mut labels: BTreeMap<Label, Vec<(usize, usize)>> = BTreeMap::new();
        let mut over = Vec::new();
        for (i, outcome) in kernel.outcomes.iter().enumerate() {
            match (outcome.label, sets.find(&outcome.honest)) {
                (Some(label), Some(set)) => labels.entry(label).or_default().push((i, set)),
                _ => over.push(i),
            }
        }
        let after = |label: Label| active_after(telling, curious, label);
        let labels = labels.into_iter().map(|(label, places)| (after(label), places)).collect();
        Self { kernel, labels, over }
    }

    /// The differences after each next observation; what is over; and what the solver may have lost.
    fn children(&self, law: &[f64]) -> (Vec<Open>, f64, f64) {
        let (masses, lost) = self.kernel.stopped(law);
        let child = |(curious, places): &(Set, Vec<(usize, usize)>)| {
            let mut next = vec![0.0; law.len()];
            places.iter().for_each(|&(outcome, set)| next[set] += masses[outcome]);
            Open::new(curious.clone(), next)
        };
        let over = self.over.iter().map(|&outcome| positive(masses[outcome])).sum();
        (self.labels.iter().map(child).collect(), over, lost)
    }
}

/// Which curious peers are active after an observation; they know.
fn active_after(telling: &Telling<'_>, curious: &[u16], label: Label) -> Set {
    let (gone, come) = match label {
        Label::Heard { to, .. } => (None, Some(to)),
        Label::Told { from, to, stays, arrived } => {
            ((!stays).then_some(from), (arrived && telling.is_curious(to)).then_some(to))
        }
    };
    let mut next: Set = curious.iter().copied().filter(|&peer| Some(peer) != gone).collect();
    if let Some(come) = come.filter(|come| !next.contains(come)) {
        next.push(come);
        next.sort_unstable();
    }
    next
}
