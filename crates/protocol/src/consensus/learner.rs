//! An agent's part in any of the algorithms, without messages: what she hears and what her gradients are come as arguments.

use serde::{Deserialize, Serialize};

use super::Moments;
use super::dinno::Dinno;
use super::dsgd::Dsgd;
use super::dsgt::Dsgt;
use super::plan::{At, Method, Plan};
use crate::{Shared, Value};

/// Numbers that are mixed at a time: they stay close at hand while all neighbours' are added.
const TILE: usize = 4096;

/// What an agent says in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Her model.
    pub model: Shared,
    /// Her tracker, with DSGT.
    pub tracker: Option<Shared>,
}

/// Where an agent stands in an algorithm.
///
/// ```
/// use sottovoce_protocol::Shared;
/// use sottovoce_protocol::consensus::{At, Learner, Method, Optimiser, Plan, Rates, Rule, Said};
/// let plan = Plan {
///     method: Method::Dsgd { at: At::Own },
///     iterations: 1,
///     rates: Rates::constant(0.5),
///     optimiser: Optimiser::new(Rule::Sgd),
/// };
/// let mut learner = Learner::new(plan.method, Shared::from(vec![1.0]));
/// let other = Said { model: Shared::from(vec![3.0]), tracker: None };
/// learner.hear(&plan, 0, &[(0.25, &other)]);
/// assert_eq!(learner.point().to_vec(), [1.0]);                // the gradient is wanted here,
/// assert!(learner.step(&plan, 0, Shared::from(vec![2.0])));   // and the round is over
/// assert_eq!(learner.model().to_vec(), [1.5 - 0.5 * 2.0]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learner(Course);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Course {
    Dsgd(At, Dsgd),
    Dsgt(Dsgt),
    Dinno(Dinno),
}

impl Learner {
    /// At the public model where everybody begins.
    pub fn new(method: Method, model: Shared) -> Self {
        Self(match method {
            Method::Dsgd { at } => {
                Course::Dsgd(at, Dsgd { model, mixed: Shared::default(), moments: Moments::default() })
            }
            Method::Dsgt => {
                let (tracker, last) = (Shared::zeros(model.len()), Shared::zeros(model.len()));
                Course::Dsgt(Dsgt { model, tracker, last })
            }
            Method::Dinno { .. } => Course::Dinno(Dinno::new(model)),
        })
    }

    /// Her model.
    pub fn model(&self) -> &Shared {
        match &self.0 {
            Course::Dsgd(_, at) => &at.model,
            Course::Dsgt(at) => &at.model,
            Course::Dinno(at) => &at.model,
        }
    }

    /// What she says between two iterations. It is shared and not copied.
    pub fn said(&self) -> Said {
        let tracker = if let Course::Dsgt(at) = &self.0 { Some(at.tracker.clone()) } else { None };
        Said { model: self.model().clone(), tracker }
    }

    /// Begins iteration `k` with what was heard, each with its weight, in increasing order of peers. Who was not heard is left out, and her weight stays
    /// with the agent's own.
    pub fn hear(&mut self, plan: &Plan, k: usize, heard: &[(f64, &Said)]) {
        match (&mut self.0, plan.method) {
            (Course::Dsgd(_, at), _) => at.hear(plan, heard),
            (Course::Dsgt(at), _) => at.hear(plan, k, heard),
            (Course::Dinno(at), Method::Dinno { rho, growth, .. }) => {
                at.hear(plan, rho * growth.powf((k + 1) as f64), heard);
            }
            // A plan of another method: nobody's penalty.
            (Course::Dinno(at), _) => at.hear(plan, 0.0, heard),
        }
    }

    /// Where the next gradient is wanted, once an iteration has begun.
    pub fn point(&self) -> &Shared {
        match &self.0 {
            Course::Dsgd(at, state) => state.point(*at),
            Course::Dsgt(at) => &at.model,
            Course::Dinno(at) => &at.psi,
        }
    }

    /// Takes the noisy gradient at [`Self::point`]; says whether the iteration is over, or another one is wanted.
    pub fn step(&mut self, plan: &Plan, k: usize, gradient: Shared) -> bool {
        match &mut self.0 {
            Course::Dsgd(at, state) => state.step(plan, *at, k, gradient),
            Course::Dsgt(at) => at.step(plan, gradient),
            Course::Dinno(at) => return at.step(plan, plan.draws_each(), k, gradient),
        }
        true
    }

    /// Her model after one more exchange, without an iteration: where noise of pairs cancels, this is where it does.
    pub fn settled(&self, heard: &[(f64, &Said)]) -> Shared {
        mixed(self.model(), heard.iter().map(|(weight, said)| (*weight, &said.model)))
    }

    /// The same, for good.
    pub fn settle(&mut self, heard: &[(f64, &Said)]) {
        let settled = self.settled(heard);
        match &mut self.0 {
            Course::Dsgd(_, at) => at.model = settled,
            Course::Dsgt(at) => at.model = settled,
            Course::Dinno(at) => at.model = settled,
        }
    }

    /// Whether a learner of this method and of so many numbers can be here, between two iterations or, if `begun`, within one.
    pub fn fits(&self, method: Method, width: usize, begun: bool) -> bool {
        let long = |vectors: &[&Shared]| vectors.iter().all(|vector| vector.len() == width);
        let awaited = |vectors: &[&Shared]| !begun || long(vectors);
        match (&self.0, method) {
            (Course::Dsgd(here, at), Method::Dsgd { at: there }) => {
                *here == there && long(&[&at.model]) && awaited(&[&at.mixed]) && at.moments.fits(width)
            }
            (Course::Dsgt(at), Method::Dsgt) => long(&[&at.model, &at.tracker, &at.last]),
            (Course::Dinno(at), Method::Dinno { primal, .. }) => {
                let steps = at.made <= primal && at.moments.fits(width);
                long(&[&at.model, &at.dual]) && awaited(&[&at.psi, &at.pull]) && steps
            }
            _ => false,
        }
    }

    /// Whether all she would say is made of numbers.
    pub fn is_finite(&self) -> bool {
        match &self.0 {
            Course::Dsgt(at) => at.model.is_finite() && at.tracker.is_finite(),
            _ => self.model().is_finite(),
        }
    }
}

/// `x_i + sum_j w_ij (x_j - x_i)`, in the order given: the same as `sum_j w_ij x_j` where rows sum to one, and equal numbers stay equal, to the last bit.
pub(super) fn mixed<'v>(own: &Shared, others: impl Iterator<Item = (f64, &'v Shared)>) -> Shared {
    let others: Vec<(f32, &Shared)> = others.map(|(weight, other)| (weight as f32, other)).collect();
    let mut sum = own.clone();
    if others.is_empty() {
        return sum;
    }
    for (tile, sum) in sum.to_mut().chunks_mut(TILE).enumerate() {
        let part = tile * TILE..tile * TILE + sum.len();
        for (weight, other) in &others {
            let pairs = own[part.clone()].iter().zip(&other[part.clone()]);
            sum.iter_mut().zip(pairs).for_each(|(sum, (own, other))| *sum += weight * (other - own));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_stay_equal_and_tiles_are_not_seen() {
        let x: Shared = (0..2 * TILE + 7).map(|i| (i as f32).sin()).collect::<Vec<f32>>().into();
        let thirds = || (0..3).map(|_| (1.0 / 3.0, &x));
        assert_eq!(mixed(&x, thirds()), x);
        let y: Shared = x.iter().map(|x| 2.0 * x).collect::<Vec<f32>>().into();
        let both = mixed(&x, [(0.25, &y)].into_iter());
        assert!(both.iter().zip(x.iter()).all(|(sum, x)| *sum == x + 0.25 * (2.0 * x - x)));
        assert_eq!(mixed(&x, std::iter::empty()), x);
    }
}
