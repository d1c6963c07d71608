//! Consensus learning whose gradients come from outside: the driver, the lots, the clipping, the noise and the account are those of nets.
//!
//! The function that computes gradients is asked for the rows of a lot that was drawn here, and its answer is bounded here, each row by itself. So what is accounted for holds
//! whatever it answers, as long as a row's gradient is that row's alone ([`ROWS_APART`](sottovoce_learning::outside::ROWS_APART)).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sottovoce_learning::outside::{Asked, Digest};
use sottovoce_learning::{Clip, Error as Wrong, Oracle};
use sottovoce_protocol::consensus::{Hidden, Plan};
use sottovoce_protocol::{Peer, Shared};
use sottovoce_simulator::consensus::{BulkConsensus, Trainer};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::cancelling::Secrets;
use sottovoce_views::door::{self, Account, Drawn, Released};

use super::run::{certified, setup, under_way};
use crate::Result;

/// All that a run is a function of, but for the gradients.
#[derive(Debug, Clone)]
pub struct Own {
    /// The public model at which everybody begins.
    pub start: Vec<f32>,
    /// Who hears whom.
    pub mixing: Mixing,
    /// What everybody does.
    pub plan: Plan,
    /// How each agent's gradients are hidden; it says how many rows she has.
    pub hidden: Vec<Option<Hidden>>,
    /// Who shares secrets, where noise cancels.
    pub secrets: Option<Secrets>,
    /// How many draws each may make; then she goes on without a gradient.
    pub draws: Vec<usize>,
    /// At which losses are told.
    pub delta: f64,
    /// The seed of lots and of noise.
    pub seed: u64,
}

/// Asks an oracle for gradients of lots.
pub struct Asking {
    oracle: Arc<dyn Oracle>,
    /// How often each agent was asked.
    turns: Vec<AtomicUsize>,
    failed: Mutex<Option<Wrong>>,
}

impl Asking {
    /// On behalf of so many agents.
    pub fn new(oracle: Arc<dyn Oracle>, agents: usize) -> Self {
        Self { oracle, turns: (0..agents).map(|_| AtomicUsize::new(0)).collect(), failed: Mutex::default() }
    }

    fn ask(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32]) -> Result<Vec<f64>, Wrong> {
        let turn = self.turns.get(agent).map_or(0, |turns| turns.fetch_add(1, Ordering::Relaxed));
        let model: Vec<f64> = model.iter().map(|x| f64::from(*x)).collect();
        let rows: Vec<usize> = picked.iter().map(|row| *row as usize).collect();
        // Nothing is clipped where nothing is hidden, and that was asked for.
        let clip = if clip.is_finite() { Clip::Example(clip) } else { Clip::None };
        let digest = Digest::sum(clip, rows.len(), model.len());
        Asked { peer: agent, turn, model: &model, rows: Some(&rows), digest }.of(self.oracle.as_ref())
    }
}

impl Trainer for Asking {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        if picked.is_empty() {
            return;
        }
        match self.ask(agent, picked, clip, model) {
            Ok(found) => sum.iter_mut().zip(found).for_each(|(sum, x)| *sum += x as f32),
            Err(wrong) => {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(wrong);
                // What cannot be computed is no number, and the driver refuses it.
                sum.fill(f32::NAN);
            }
        }
    }
}

/// A run under way.
pub struct OwnRun<'a> {
    own: &'a Own,
    asking: &'a Asking,
    bulk: BulkConsensus<'a, Asking>,
    /// What everybody loses at most by the end.
    promised: Vec<f64>,
}

impl<'a> OwnRun<'a> {
    /// Everybody at the start. Agents are asked one after the other.
    pub fn new(own: &'a Own, asking: &'a Asking) -> Result<Self> {
        let around = (&own.mixing, own.plan, own.secrets.as_ref());
        let start = Shared::from(own.start.clone());
        let bulk = BulkConsensus::new(setup(around, (&own.hidden, &own.draws), start, own.seed)?, asking)?;
        let draws: Vec<usize> = own.draws.iter().map(|&draws| draws.min(own.plan.draws())).collect(); // whole numbers
        let promised = certified(&own.drawn(&draws), own.delta)?;
        Ok(Self { own, asking, bulk: bulk.in_turn(), promised })
    }

    /// Rounds made, but for a last exchange.
    pub fn round(&self) -> usize {
        self.bulk.round().min(self.own.plan.iterations) // whole numbers
    }

    /// One round; `false` once all are made. Refused where there is no gradient, or a model is no longer made of numbers.
    pub fn advance(&mut self) -> Result<bool> {
        let advanced = self.bulk.advance(1);
        if let Some(wrong) = self.asking.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(wrong.into());
        }
        advanced?;
        if self.round() == self.own.plan.iterations {
            // The last exchange, where there is one.
            self.bulk.advance(self.bulk.remaining())?;
        }
        Ok(self.bulk.remaining() > 0)
    }

    /// Everybody's model.
    pub fn models(&self) -> Vec<Shared> {
        self.bulk.settled()
    }

    /// Everybody's private draws.
    pub fn draws(&self) -> Vec<usize> {
        self.bulk.draws()
    }

    /// Numbers sent, counted once for each receiver.
    pub fn sent(&self) -> u64 {
        self.bulk.sent()
    }

    /// How far models are from their mean: the root of the mean squared distance.
    pub fn disagreement(&self) -> f64 {
        self.bulk.disagreement()
    }

    /// What one row of anyone has lost so far, never above what is certified for the whole run; none where something was not hidden.
    pub fn spent(&self) -> Result<Option<f64>> {
        under_way(&self.own.drawn(&self.draws()), self.own.delta, &self.promised)
    }
}

impl Own {
    /// What so many draws of everybody lose to someone who sees every message, with the help of those who may collude.
    pub fn account(&self, draws: &[usize]) -> Result<Account<Released>> {
        let drawn = self.drawn(draws);
        Ok(door::account(&drawn, &drawn.sees_all())?)
    }

    fn drawn<'a>(&'a self, draws: &'a [usize]) -> Drawn<'a> {
        Drawn { hidden: &self.hidden, draws, secrets: self.secrets.as_ref() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::deep::{Amount, draws, hidden};
    use sottovoce_learning::outside::Digested;
    use sottovoce_protocol::consensus::{Band, Method, Optimiser, Rates, Rule};
    use sottovoce_topology::Graph;
    use sottovoce_topology::mixing::Weights;

    const ROWS: [usize; 3] = [40, 60, 50];

    /// Numbers to take the mean of: a row is one number, and the loss its squared distance.
    struct Numbers {
        broken: bool,
    }

    impl Oracle for Numbers {
        fn gradient(&self, asked: Asked<'_>) -> Result<Digested, Wrong> {
            let rows = asked.rows.unwrap();
            let broken = self.broken && asked.peer == 1 && asked.turn == 2;
            let value =
                |row: usize| if row.is_multiple_of(2) { 1e30 } else { -1.0 + 0.01 * asked.peer as f64 };
            let one = |row: &usize| if broken { f64::NAN } else { asked.model[0] - value(*row) };
            asked.digest.of(&rows.iter().map(one).collect::<Vec<f64>>(), &[rows.len(), 1])
        }
    }

    fn own(amount: Amount) -> Own {
        let graph = Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
        let (rates, optimiser) =
            (Rates { start: 0.5, finish: 0.5 }, Optimiser { rule: Rule::Sgd, decay: 0.0, kept: true });
        let plan = Plan { method: Method::Dsgt, iterations: 30, rates, optimiser };
        let hidden = hidden(&ROWS, (20.0, 1.0), Band::NONE, (amount, plan.draws()), None).unwrap();
        Own {
            start: vec![0.0],
            mixing: Mixing::new(&graph, Weights::Metropolis),
            plan,
            draws: draws(&hidden, &plan, None, None).unwrap(),
            hidden,
            secrets: None,
            delta: 1e-5,
            seed: 3,
        }
    }

    #[test]
    fn rows_are_bounded_each_by_itself_and_losses_are_those_of_the_door() {
        // Half of the rows pull to infinity, and half to about -1: each with a force of at most 1, so models stay between them.
        let own = own(Amount::Multiplier(0.0));
        let asking = Asking::new(Arc::new(Numbers { broken: false }), 3);
        let mut run = OwnRun::new(&own, &asking).unwrap();
        while run.advance().unwrap() {}
        assert!(run.models().iter().all(|model| model[0].abs() < 6.0), "{:?}", run.models());
        assert_eq!((run.round(), run.spent().unwrap()), (30, None));
        let own = super::tests::own(Amount::Target { epsilon: 2.0, delta: 1e-5 });
        let asking = Asking::new(Arc::new(Numbers { broken: false }), 3);
        let mut run = OwnRun::new(&own, &asking).unwrap();
        while run.advance().unwrap() {}
        let lost = own.account(&run.draws()).unwrap().leakage.largest(1e-5).unwrap().1;
        assert!((1.9..=2.0).contains(&lost) && run.spent().unwrap().unwrap() >= lost, "{lost}");
    }

    #[test]
    fn a_gradient_that_is_none_ends_the_run() {
        let own = own(Amount::Multiplier(1.0));
        let asking = Asking::new(Arc::new(Numbers { broken: true }), 3);
        let mut run = OwnRun::new(&own, &asking).unwrap();
        let error = loop {
            if let Err(error) = run.advance() {
                break error.to_string();
            }
        };
        assert!(error.starts_with("`gradient` is NaN in row 0"), "{error}");
        assert_eq!(run.round(), 2);
    }
}
