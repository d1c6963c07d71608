//! What is learned: data of every peer, a model, and how gradients are bounded.

use std::cell::RefCell;

use anyhow::ensure;
use rand::RngExt;
use sottovoce_learning::houses::Houses;
use sottovoce_learning::{Clip, Loss, Model, Shard, Shards, Table};
use sottovoce_privacy::noise::simulation::SimulationRng;
use sottovoce_protocol::Peer;

/// The stream of batches; 0 is noise.
const BATCH: u64 = 0x6261_7463;

/// Of which rows a peer computes its gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// All it has (gradient descent).
    All,
    /// So many, drawn anew with replacement each time (stochastic gradient descent).
    Rows(usize),
}

/// A task dealt out to peers.
#[derive(Debug, Clone)]
pub struct Task {
    /// What it is called.
    pub name: String,
    shards: Shards,
    test: Table,
    model: Model,
    clip: Clip,
    batch: Batch,
    sensitivity: f64,
    radius: f64,
}

impl Task {
    /// Refuses labels outside the set, peers with no data, and gradients that nothing bounds.
    pub fn new(
        name: impl Into<String>,
        shards: Shards,
        test: Table,
        model: Model,
        clip: Clip,
        batch: Batch,
    ) -> anyhow::Result<Self> {
        model.check(shards.table())?;
        model.check(&test)?;
        clip.check()?;
        ensure!(batch != Batch::Rows(0), "`batch` is 0: give at least one row");
        let radius = shards.table().radius();
        let sensitivity = model.sensitivity(clip, radius)?;
        Ok(Self { name: name.into(), shards, test, model, clip, batch, sensitivity, radius })
    }

    /// The papers' task: logistic regression on Houses, dealt out evenly; each row's gradient clipped to 0.4.
    pub fn houses(name: impl Into<String>, houses: &Houses, peers: usize) -> anyhow::Result<Self> {
        let model = Model { loss: Loss::Logistic, width: houses.train.width(), ridge: 0.0 };
        let shards = Shards::even(&houses.train, peers)?;
        Self::new(name, shards, houses.test.clone(), model, Clip::Example(0.4), Batch::All)
    }

    /// The same with another clipping.
    pub fn clipped(self, clip: Clip) -> anyhow::Result<Self> {
        Self::new(self.name, self.shards, self.test, self.model, clip, self.batch)
    }

    /// The same with other batches.
    pub fn in_batches(self, batch: Batch) -> anyhow::Result<Self> {
        Self::new(self.name, self.shards, self.test, self.model, self.clip, batch)
    }

    /// Number of peers.
    pub fn peers(&self) -> usize {
        self.shards.peers()
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.model.parameters()
    }

    /// How far replacing all data of a user moves its gradient: `Delta`.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// An upper bound on the curvature of every peer's loss.
    pub fn smoothness(&self) -> f64 {
        self.model.smoothness(self.radius)
    }

    /// Weight of the squared length of the model in the loss.
    pub fn ridge(&self) -> f64 {
        self.model.ridge
    }

    /// Whether a step of this size moves no two models apart: convex losses, clipping that keeps them so, and a step of at most 2/smoothness.
    pub fn is_nonexpansive(&self, step: f64) -> bool {
        self.model.clipping_keeps_convex(self.clip) && step <= 2.0 / self.smoothness()
    }

    /// How gradients are bounded.
    pub fn clip(&self) -> Clip {
        self.clip
    }

    /// Where training starts.
    pub fn start(&self) -> Vec<f64> {
        vec![0.0; self.parameters()]
    }

    /// The loss on all training rows.
    pub fn objective(&self, theta: &[f64]) -> f64 {
        self.model.objective(theta, self.shards.table().view())
    }

    /// The share of test rows classified right.
    pub fn accuracy(&self, theta: &[f64]) -> f64 {
        self.model.accuracy(theta, self.test.view())
    }

    /// Subtracts `step` times a peer's clipped gradient from the model. `turn` numbers the peer's gradients: each has a batch of its own.
    #[inline]
    pub fn descend(&self, seed: u64, peer: Peer, turn: usize, step: f64, model: &mut [f64]) {
        thread_local! {
            static GRADIENT: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
        }
        GRADIENT.with_borrow_mut(|gradient| {
            gradient.resize(model.len(), 0.0);
            match self.batch {
                Batch::All => self.model.gradient(model, self.shards.shard(peer), self.clip, gradient),
                Batch::Rows(rows) => self.stochastic(seed, peer, turn, rows, model, gradient),
            }
            model.iter_mut().zip(&*gradient).for_each(|(x, g)| *x -= step * g);
        });
    }

    fn stochastic(&self, seed: u64, peer: Peer, turn: usize, rows: usize, model: &[f64], out: &mut [f64]) {
        let Shard { features, labels, width } = self.shards.shard(peer);
        let mut rng = SimulationRng::new(seed, peer as u64, turn as u64).purpose(BATCH);
        let (mut chosen, mut their) = (Vec::with_capacity(rows * width), Vec::with_capacity(rows));
        for _ in 0..rows {
            let row = rng.random_range(0..labels.len());
            chosen.extend_from_slice(&features[row * width..][..width]);
            their.push(labels[row]);
        }
        self.model.gradient(model, Shard { features: &chosen, labels: &their, width }, self.clip, out);
    }
}
