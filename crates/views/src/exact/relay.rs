//! Gossip with relay noise: every message carries fresh noise of its own, so that messages no longer pin down values.
//!
//! With the observers' own variables known, message `(t, w)` is `B^t` of the private values and noises, plus `tau` times `B^(t-s)`
//! of the relay noises of steps `s <= t`, read at `w`. In units of `sigma`, with `h_k = E' B^k E`, the Gram matrix of the
//! messages and their coefficients of peer `u` are
//!
//! ```text
//! G[(t,w),(t',w')] = h_(t+t') + tau² Σ_(s <= t,t') h_(t+t'-2s)       a_u[(t,w)] = (B^t E)_uw       f(u) = a_u' G^-1 a_u
//! ```
//!
//! As `tau` falls the matrix becomes ill-conditioned. Its rounding is bounded and added to the loss; and as more noise never
//! reveals more, the loss without relay noise is a bound too: the smaller of the two is returned. Where rounding is not little the
//! messages themselves are taken, in as many digits as it takes (`span/digits.rs`).

use sottovoce_dense::{Mat, MatRef, cholesky, solve_lower};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::Schedule;

use super::Leakage;
use super::gossip::{Hidden, gossip};
use super::scheduled_published;
use crate::error::{Error, check_observers, check_published, check_steps};
use crate::span::{Rounds, Space};
use crate::{Result, parallel, require};

/// Rounding beyond this share of a loss makes it no answer.
const LITTLE: f64 = 1e-3;

/// Messages beyond which their Gram matrix takes more than two gigabytes.
const MOST_MESSAGES: usize = 16_000;

/// What `observers` together learn in `steps` steps of gossip with relay noise of `tau` times the local noise.
pub fn relay_gossip(mixing: &Mixing, observers: &[usize], steps: usize, tau: f64) -> Result<Leakage> {
    check_tau(tau)?;
    if tau == 0.0 {
        return gossip(mixing, observers, steps);
    }
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(observers, mixing.nodes())?;
    gram(mixing, observers.clone(), steps, tau, || gossip(mixing, &observers, steps))
}

/// The same for the observers of [`gossip`], whose answer after as many steps is known already.
pub fn relay_gossip_beside(mixing: &Mixing, plain: &Leakage, steps: usize, tau: f64) -> Result<Leakage> {
    check_tau(tau)?;
    if tau == 0.0 {
        return Ok(plain.clone());
    }
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(&plain.observers, mixing.nodes())?;
    gram(mixing, observers, steps, tau, || Ok(plain.clone()))
}

/// The same for every single observer.
pub fn relay_gossip_all_pairs(
    mixing: &Mixing,
    steps: usize,
    tau: f64,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Leakage>> {
    check_tau(tau)?;
    if tau == 0.0 {
        return super::gossip_all_pairs(mixing, steps, done);
    }
    mixing.check()?;
    check_steps(steps)?;
    let one = |v: usize| gram(mixing, vec![v], steps, tau, || gossip(mixing, &[v], steps));
    parallel::map(mixing.nodes(), one, done).into_iter().collect()
}

pub(crate) fn check_tau(tau: f64) -> Result<()> {
    if tau.is_finite() && tau >= 0.0 {
        return Ok(());
    }
    Err(Error::parameter("relay-noise", tau, "give 0 or a positive number (a share of the local noise)"))
}

/// `plain` is what is learnt without relay noise, which is never less.
fn gram(
    mixing: &Mixing,
    observers: Vec<usize>,
    steps: usize,
    tau: f64,
    plain: impl FnOnce() -> Result<Leakage>,
) -> Result<Leakage> {
    let hidden = Hidden::new(mixing, &observers);
    let heard: usize = observers.iter().map(|&v| mixing.graph().degree(v)).sum();
    let remedy = format!(
        "the observers hear {heard} messages in a step, and relay noise is accounted for up to {MOST_MESSAGES} in all; give fewer steps, or no relay noise"
    );
    require(heard.saturating_mul(steps) <= MOST_MESSAGES, "steps", steps, remedy)?;
    let powers = Powers::new(&hidden, mixing.nodes(), steps);
    let solved = powers.messages(tau * tau).and_then(|messages| powers.losses(&messages));
    let Some((mut losses, rounding)) = solved else {
        let rounds = Rounds::powers(mixing, &observers, steps, &[]).relayed(tau);
        return relayed(&rounds, plain);
    };
    // Observers hear nothing of themselves; what rounding may have hidden is added.
    losses.iter_mut().for_each(|loss| *loss = (*loss * (1.0 + rounding)).min(1.0));
    if rounding > 1e-8 {
        losses.iter_mut().zip(&plain()?.losses).for_each(|(loss, bound)| *loss = loss.min(*bound));
    }
    Ok(Leakage { observers, losses, rank: None, certified: true, rounding: 0.0 })
}

/// What is learnt in rounds with relay noise, from the messages themselves; where that takes too many digits, what is learnt without
/// relay noise, which is never less.
pub(crate) fn relayed(rounds: &Rounds, plain: impl FnOnce() -> Result<Leakage>) -> Result<Leakage> {
    match Space::of(rounds) {
        Some(mut space) => {
            space.keep(rounds.nodes());
            let found = Leakage::of(Some(&space), rounds.observers().to_vec(), rounds.nodes());
            Ok(Leakage { rank: None, ..found })
        }
        None => Ok(Leakage { rank: None, certified: false, ..plain()? }),
    }
}

/// What `observers` learn in the first `steps` steps of a schedule with relay noise of `tau` times the local noise, and from the results
/// of `published` peers.
pub fn relay_scheduled(
    schedule: &Schedule,
    observers: &[usize],
    steps: usize,
    tau: f64,
    published: &[usize],
) -> Result<Leakage> {
    check_tau(tau)?;
    let plain = || scheduled_published(schedule, observers, steps, published);
    if tau == 0.0 {
        return plain();
    }
    let known = check_observers(observers, schedule.nodes())?;
    super::scheduled::check(schedule, steps)?;
    let published = check_published(published, schedule.nodes())?;
    relayed(&Rounds::scheduled(schedule, &known, steps, &published).relayed(tau), plain)
}

/// `B^t E` for all steps, as columns.
pub(crate) struct Powers {
    pub(crate) nodes: usize,
    pub(crate) steps: usize,
    pub(crate) heard: usize,
    pub(crate) columns: Vec<f64>,
}

impl Powers {
    pub(crate) fn new(hidden: &Hidden, nodes: usize, steps: usize) -> Self {
        let heard = hidden.heard();
        let mut columns = vec![0.0; nodes * heard.len()];
        heard.iter().enumerate().for_each(|(i, &w)| columns[i * nodes + w] = 1.0);
        for t in 1..steps {
            sottovoce_fault::stop::look();
            for i in 0..heard.len() {
                let from = ((t - 1) * heard.len() + i) * nodes;
                let next = hidden.apply(&columns[from..from + nodes]);
                columns.extend(next);
            }
        }
        Self { nodes, steps, heard: heard.len(), columns }
    }

    fn block(&self, t: usize) -> MatRef<'_> {
        let size = self.nodes * self.heard;
        MatRef::from_slice(&self.columns[t * size..(t + 1) * size], self.nodes, self.heard)
    }

    /// `h_k = E' B^k E`, from the two powers nearest to half of it.
    pub(crate) fn moment(&self, k: usize) -> Mat {
        sottovoce_fault::stop::look();
        self.block(k / 2).transpose() * self.block(k - k / 2)
    }

    /// The Gram matrix of all messages, factored; none if it is not positive definite in doubles.
    fn messages(&self, tau_squared: f64) -> Option<Factored> {
        let (b, steps) = (self.heard, self.steps);
        let moments: Vec<Mat> = (0..2 * steps - 1).map(|k| self.moment(k)).collect();
        let mut gram = Mat::zeros(b * steps, b * steps);
        for t in 0..steps {
            for s in 0..=t {
                sottovoce_fault::stop::look();
                let mut block = moments[t + s].clone();
                (0..=s).for_each(|r| block.add_scaled(tau_squared, &moments[t + s - 2 * r]));
                gram.set(t * b, s * b, &block);
            }
        }
        Factored::new(&gram)
    }

    /// `|L^-1 a_u|²` for every peer, and the relative rounding that may be in it.
    fn losses(&self, messages: &Factored) -> Option<(Vec<f64>, f64)> {
        let all = MatRef::from_slice(&self.columns, self.nodes, self.heard * self.steps);
        let mut solved = all.transpose().to_owned();
        solve_lower(&messages.lower, &mut solved);
        let losses = (0..self.nodes).map(|u| squared_length(solved.col(u))).collect();
        let size = messages.lower.nrows();
        let rounding = relative_rounding(messages.condition_of(size), size);
        rounding.is_finite().then_some((losses, rounding))
    }
}

/// What rounding may have hidden of a loss, relative to it, where a system of this size was solved; infinite where it is not little. Then
/// the factor, and with it the condition, may be nothing but rounding.
pub(crate) fn relative_rounding(condition: f64, size: usize) -> f64 {
    let rounding = condition * f64::EPSILON * (16.0 + size as f64);
    if rounding <= LITTLE { rounding } else { f64::INFINITY }
}

/// The sum of all squares.
pub(crate) fn squared_length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// A Cholesky factor, and what its condition follows from.
pub(crate) struct Factored {
    pub(crate) lower: Mat,
    /// Squared lengths of the rows of the factor and of its inverse, summed up to each row.
    lengths: Vec<(f64, f64)>,
}

impl Factored {
    pub(crate) fn new(gram: &Mat) -> Option<Self> {
        let lower = cholesky(gram)?;
        let mut inverse = Mat::identity(gram.nrows());
        solve_lower(&lower, &mut inverse);
        let mut lengths = vec![(0.0, 0.0); gram.nrows()];
        for j in 0..gram.nrows() {
            for (i, sum) in lengths.iter_mut().enumerate().skip(j) {
                *sum = (sum.0 + lower[(i, j)].powi(2), sum.1 + inverse[(i, j)].powi(2));
            }
        }
        for i in 1..lengths.len() {
            lengths[i] = (lengths[i].0 + lengths[i - 1].0, lengths[i].1 + lengths[i - 1].1);
        }
        Some(Self { lower, lengths })
    }

    /// A bound on the condition of the first `size` rows and columns of the matrix: a factor begins like the factor of the
    /// beginning, and so does its inverse.
    pub(crate) fn condition_of(&self, size: usize) -> f64 {
        self.lengths.get(size.wrapping_sub(1)).map_or(1.0, |(rows, inverse)| rows * inverse)
    }
}
