//! Small crowds by brute force: every set of active peers is a state, every sequence of observations is enumerated.

use std::collections::BTreeMap;

use sottovoce_dense::{Lu, Mat};

/// What an observer may notice of one step; `None` is nothing at all.
pub(crate) type Label = Option<usize>;

/// A Markov chain whose steps may be noticed.
#[derive(Default)]
pub(crate) struct Machine<S: Ord + Clone> {
    index: BTreeMap<S, usize>,
    /// Probabilities by label, from state to state.
    steps: BTreeMap<Label, Vec<(usize, usize, f64)>>,
}

impl<S: Ord + Clone> Machine<S> {
    /// All states that can be reached, by a function that lists what one step may do.
    pub(crate) fn explore(starts: &[S], step: impl Fn(&S) -> Vec<(Label, S, f64)>) -> Self {
        let mut machine = Self { index: BTreeMap::new(), steps: BTreeMap::new() };
        let mut open: Vec<S> = starts.to_vec();
        starts.iter().for_each(|state| _ = machine.number(state));
        while let Some(state) = open.pop() {
            let from = machine.number(&state);
            for (label, to, p) in step(&state) {
                if !machine.index.contains_key(&to) {
                    open.push(to.clone());
                }
                let to = machine.number(&to);
                machine.steps.entry(label).or_default().push((from, to, p));
            }
        }
        machine
    }

    fn number(&mut self, state: &S) -> usize {
        let next = self.index.len();
        *self.index.entry(state.clone()).or_insert(next)
    }

    /// Leaves out how many steps passed unnoticed: from one observation to the next.
    pub(crate) fn without_clock(mut self) -> Self {
        let size = self.index.len();
        let mut rest = Mat::identity(size);
        for (from, to, p) in self.steps.remove(&None).unwrap_or_default() {
            rest[(from, to)] -= p;
        }
        let factors = Lu::new(&rest);
        for steps in self.steps.values_mut() {
            let mut dense = Mat::zeros(size, size);
            steps.iter().for_each(|&(from, to, p)| dense[(from, to)] += p);
            factors.solve(&mut dense);
            let entries = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
            *steps = entries.map(|(i, j)| (i, j, dense[(i, j)])).filter(|step| step.2 != 0.0).collect();
        }
        self
    }

    /// Calls `each(sequence, probabilities by start)` for all sequences of so many labels.
    pub(crate) fn sequences(&self, starts: &[S], length: usize, mut each: impl FnMut(&[Label], &[f64])) {
        let unit = |start: &S| {
            let mut law = vec![0.0; self.index.len()];
            law[self.index[start]] = 1.0;
            law
        };
        let laws: Vec<Vec<f64>> = starts.iter().map(unit).collect();
        self.follow(&mut Vec::new(), &laws, length, &mut each);
    }

    fn follow(
        &self,
        sequence: &mut Vec<Label>,
        laws: &[Vec<f64>],
        length: usize,
        each: &mut impl FnMut(&[Label], &[f64]),
    ) {
        if sequence.len() == length {
            let masses: Vec<f64> = laws.iter().map(|law| law.iter().sum()).collect();
            return each(sequence, &masses);
        }
        for (label, steps) in &self.steps {
            let next = |law: &Vec<f64>| {
                let mut next = vec![0.0; law.len()];
                steps.iter().for_each(|&(from, to, p)| next[to] += law[from] * p);
                next
            };
            let laws: Vec<Vec<f64>> = laws.iter().map(next).collect();
            sequence.push(*label);
            self.follow(sequence, &laws, length, each);
            sequence.pop();
        }
    }

    /// The hockey stick `Σ (p_0 - ratio p_1)+` over all sequences of so many labels.
    pub(crate) fn hockey_stick(&self, starts: &[S; 2], length: usize, ratio: f64) -> f64 {
        let mut sum = 0.0;
        self.sequences(starts, length, |_, p| sum += (p[0] - ratio * p[1]).max(0.0));
        sum
    }
}

/// Peers who follow the protocol; the last `curious` of them log.
#[derive(Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) peers: usize,
    pub(crate) curious: usize,
    pub(crate) muting: f64,
}

impl Crowd {
    pub(crate) fn is_curious(&self, peer: usize) -> bool {
        peer >= self.peers - self.curious
    }

    /// The tellings of an active set: who, whom, the next active set, its probability. Peers tell all, or all but themselves.
    pub(crate) fn tellings(&self, active: u32, itself: bool) -> Vec<(usize, usize, u32, f64)> {
        let mut all = Vec::new();
        let tellers = (0..self.peers).filter(|i| active >> i & 1 == 1);
        for teller in tellers {
            for told in (0..self.peers).filter(|&told| itself || told != teller) {
                let choices = self.peers - usize::from(!itself);
                let p = 1.0 / f64::from(active.count_ones()) / choices as f64;
                all.push((teller, told, active | 1 << told, p * self.muting));
                all.push((teller, told, active & !(1 << teller) | 1 << told, p * (1.0 - self.muting)));
            }
        }
        all.retain(|telling| telling.3 > 0.0);
        all
    }

    /// One telling after the other; the curious log the sender.
    pub(crate) fn asynchronous(&self, itself: bool) -> Machine<u32> {
        let step = |active: &u32| {
            let seen = |(teller, told, next, p)| (self.is_curious(told).then_some(teller), next, p);
            self.tellings(*active, itself).into_iter().map(seen).collect()
        };
        let sources: Vec<u32> = (0..self.peers - self.curious).map(|source| 1 << source).collect();
        Machine::explore(&sources, step)
    }

    /// All active peers tell at once; the label is the set of honest peers who told somebody curious.
    pub(crate) fn rounds(&self) -> Machine<u32> {
        Machine::explore(&[1, 2], |active: &u32| {
            let mut all: Vec<(u32, u32, f64)> = vec![(0, 0, 1.0)];
            for teller in (0..self.peers).filter(|i| active >> i & 1 == 1) {
                let mut next = BTreeMap::new();
                for &(seen, after, p) in &all {
                    for told in 0..self.peers {
                        let heard = self.is_curious(told) && !self.is_curious(teller);
                        let seen = seen | u32::from(heard) << teller;
                        for (stays, chance) in [(1, self.muting), (0, 1.0 - self.muting)] {
                            let after = after | 1 << told | stays << teller;
                            *next.entry((seen, after)).or_insert(0.0) += p * chance / self.peers as f64;
                        }
                    }
                }
                all = next.into_iter().map(|((seen, after), p)| (seen, after, p)).collect();
            }
            all.into_iter()
                .filter(|all| all.2 > 0.0)
                .map(|(seen, after, p)| (Some(seen as usize), after, p))
                .collect()
        })
    }
}
