//! From the law of an active set to the law of where it is stopped: at the next observation, or when it is not followed any more.
//!
//! With `M` for one unnoticed telling among followed sets, the expected numbers of visits `g` solve `g (I - M) = law`, and an outcome has the probability of
//! its telling, summed over visits. Whatever `g` a solver finds, the residual `law - g (I - M)` is a signed law whose own outcomes have no more mass than it has:
//! so its absolute values bound the error, and no condition number enters.

use std::collections::BTreeMap;

use sottovoce_dense::{Lu, Mat};

use super::sets::{Label, Set, Sets, Telling};

/// Where the chain may be stopped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Outcome {
    /// What was noticed; nothing where the set is not followed, or empty.
    pub(super) label: Option<Label>,
    /// Who is active among the honest, then.
    pub(super) honest: Set,
}

/// One stage of the chain, for a set of active curious peers.
pub(super) struct Kernel {
    /// All outcomes.
    pub(super) outcomes: Vec<Outcome>,
    /// From each followed set: where an unnoticed telling leads to, and where it is stopped.
    silent: Vec<Vec<(usize, f64)>>,
    stops: Vec<Vec<(usize, f64)>>,
    factors: Lu,
    /// Additions that one number takes at most.
    terms: f64,
}

impl Kernel {
    /// The stage in which these curious peers are active.
    pub(super) fn new(telling: &Telling<'_>, sets: &Sets, curious: &[u16]) -> Self {
        let size = sets.list.len();
        let (mut silent, mut stops) = (vec![Vec::new(); size], vec![Vec::new(); size]);
        let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
        let mut rest = Mat::identity(size);
        for (i, honest) in sets.list.iter().enumerate() {
            let mut active: Set = honest.iter().chain(curious).copied().collect();
            active.sort_unstable();
            if active.is_empty() {
                let number = outcomes.len();
                let over = Outcome { label: None, honest: Set::new() };
                stops[i].push((*outcomes.entry(over).or_insert(number), 1.0));
            }
            telling.moves(&active, |p, label, next| {
                let honest: Set = next.into_iter().filter(|&peer| !telling.is_curious(peer)).collect();
                let followed = sets.find(&honest);
                // With nobody active it is over.
                let over = honest.is_empty() && curious.is_empty();
                match (label, followed) {
                    (None, Some(j)) if !over => {
                        rest[(j, i)] -= p;
                        silent[i].push((j, p));
                    }
                    _ => {
                        let number = outcomes.len();
                        let outcome = *outcomes.entry(Outcome { label, honest }).or_insert(number);
                        stops[i].push((outcome, p));
                    }
                }
            });
        }
        let terms = most_terms(&silent, size) + most_terms(&stops, outcomes.len());
        let mut list: Vec<(usize, Outcome)> = outcomes.into_iter().map(|(outcome, i)| (i, outcome)).collect();
        list.sort_unstable_by_key(|(i, _)| *i);
        let outcomes = list.into_iter().map(|(_, outcome)| outcome).collect();
        Self { outcomes, silent, stops, factors: Lu::new(&rest), terms: terms as f64 }
    }

    /// The law of one set for certain.
    pub(super) fn unit(&self, set: usize) -> Vec<f64> {
        let mut law = vec![0.0; self.silent.len()];
        law[set] = 1.0;
        law
    }

    /// The law of outcomes, and how much of it may be wrong in all.
    pub(super) fn stopped(&self, law: &[f64]) -> (Vec<f64>, f64) {
        let mut visits = self.solve(law);
        let correction = self.solve(&self.residual(law, &visits));
        visits.iter_mut().zip(&correction).for_each(|(visit, more)| *visit += more);
        let left: f64 = self.residual(law, &visits).iter().map(|r| r.abs()).sum();
        let mut outcomes = vec![0.0; self.outcomes.len()];
        for (visit, stops) in visits.iter().zip(&self.stops) {
            stops.iter().for_each(|&(outcome, p)| outcomes[outcome] += visit * p);
        }
        // Every sum, of residuals as of outcomes, has at most so many terms, whose sizes sum to the visits; probabilities have four roundings.
        let size: f64 = visits.iter().chain(law).map(|mass| mass.abs()).sum();
        let rounding = f64::EPSILON * (self.terms + 16.0) * 2.0 * size;
        // Every law goes somewhere: what vanished on the way would be a loss that nobody counts.
        let vanished = (law.iter().sum::<f64>() - outcomes.iter().sum::<f64>()).abs();
        (outcomes, left + rounding + vanished)
    }

    fn solve(&self, law: &[f64]) -> Vec<f64> {
        let mut right = Mat::from_fn(law.len(), 1, |i, _| law[i]);
        self.factors.solve(&mut right);
        right.into_numbers()
    }

    fn residual(&self, law: &[f64], visits: &[f64]) -> Vec<f64> {
        let mut rest: Vec<f64> = law.iter().zip(visits).map(|(law, visit)| law - visit).collect();
        for (visit, silent) in visits.iter().zip(&self.silent) {
            silent.iter().for_each(|&(to, p)| rest[to] += visit * p);
        }
        rest
    }
}

/// How many terms are added up at most to get one of `count` numbers.
fn most_terms(rows: &[Vec<(usize, f64)>], count: usize) -> usize {
    let mut terms = vec![0usize; count];
    rows.iter().flatten().for_each(|&(to, _)| terms[to] += 1);
    terms.into_iter().max().unwrap_or(0)
}
