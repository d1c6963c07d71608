//! Data for personalised models: every agent learns a model of her own, and similar agents have similar tasks.
//!
//! ```text
//! Plane (the paper's synthetic task) ───────────────────────────────────┐
//! Tastes (generated ratings) ───────────────────────────────────────────┼──► Agents: rows to train and to test on, similarities
//! movielens::read ──► Ratings ──► Recommendation (features, neighbours) ┘
//! ```
//!
//! Who resembles whom, how many rows each agent has and the features of items are public: every guarantee about such agents says so.

mod circle;
mod factors;
mod holdout;
pub mod movielens;
mod nearest;
mod plane;
mod ratings;
mod recommendation;
mod tastes;

pub use holdout::hold_out;
pub use nearest::nearest_profiles;
pub use plane::Plane;
pub use ratings::{Rating, Ratings};
pub use recommendation::{Centre, Recommendation};
pub use tastes::Tastes;

use crate::{Loss, Measures, Model, Result, Shards};

/// Agents with rows of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Agents {
    /// Rows to train on. An agent may have none.
    pub train: Shards,
    /// Rows to test on.
    pub test: Shards,
    /// Who resembles whom, and how much: each pair once, the smaller number first.
    pub similar: Vec<(usize, usize, f64)>,
    /// What is learned.
    pub loss: Loss,
    /// A public bound on the 2-norm of every row, whoever's it is.
    pub radius: f64,
}

impl Agents {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.train.peers()
    }

    /// Features of a row.
    pub fn width(&self) -> usize {
        self.train.table().width()
    }

    /// What an agent's model is worth on her test rows; none where she has none.
    ///
    /// # Panics
    ///
    /// If there is no such agent, or the model has another width.
    pub fn worth(&self, agent: usize, model: &[f64]) -> Option<Measures> {
        let shard = self.test.shard(agent);
        let linear = Model { loss: self.loss, width: self.width(), ridge: 0.0 };
        (!shard.labels.is_empty()).then(|| linear.measures(model, shard))
    }

    /// The mean over the agents with test rows of the accuracy or the RMSE of their models, which follow each other.
    ///
    /// # Panics
    ///
    /// If there are not as many models of this width as agents.
    pub fn mean_worth(&self, models: &[f64]) -> f64 {
        assert_eq!(models.len(), self.count() * self.width(), "every agent has a model");
        let each = models.chunks_exact(self.width()).enumerate();
        let worths: Vec<f64> =
            each.filter_map(|(agent, model)| self.worth(agent, model)).map(number).collect();
        worths.iter().sum::<f64>() / worths.len() as f64
    }

    /// The same agents where a fifth of everybody's training rows takes the place of her test rows: to choose parameters without a look at the latter.
    pub fn validation(&self, seed: u64) -> Result<Self> {
        let (train, test) = hold_out(&self.train, seed)?;
        Ok(Self { train, test, ..self.clone() })
    }
}

/// The accuracy, or the RMSE.
fn number(measures: Measures) -> f64 {
    match measures {
        Measures::Classes { accuracy } => accuracy,
        Measures::Numbers { rmse, .. } => rmse,
    }
}
