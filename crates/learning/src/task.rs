//! What is learned: data of every peer, a model, and how gradients are bounded; or gradients that come from outside.

use std::cell::RefCell;
use std::f64::consts::SQRT_2;
use std::sync::Arc;

use rand::RngExt;
use sottovoce_privacy::limits;
use sottovoce_privacy::noise::simulation::{Seed, Stream};

use crate::houses::Houses;
use crate::outside::{Asked, Digest, Outside, PEERS_APART};
use crate::read::Source;
use crate::trivial::Trivial;
use crate::{Clip, Error, Loss, Measures, Model, Oracle, Result, Shard, Shards, Table, require};

/// Of which rows a peer computes its gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// All it has (gradient descent).
    All,
    /// So many, drawn anew with replacement each time (stochastic gradient descent).
    Rows(usize),
}

/// Whose rows they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Nobody's: they were drawn.
    Synthetic,
    /// A data set that everyone can download, taken for private to show what would happen if it were.
    Published,
    /// Somebody's.
    Private,
}

impl Origin {
    /// What no guarantee of a simulated run on such rows covers.
    pub fn not_covered(self) -> Vec<String> {
        let mut all = limits::of_a_protocol();
        all.extend(limits::list(&[limits::COUNTS, limits::MEASURED, limits::SIMULATION]));
        if self == Self::Private {
            all.push(limits::BOUNDS.to_owned());
        }
        all
    }
}

/// A task dealt out to peers.
#[derive(Debug, Clone)]
pub struct Task {
    /// What it is called.
    pub name: String,
    held: Held,
    clip: Clip,
    batch: Batch,
    sensitivity: f64,
    radius: Option<f64>,
    origin: Origin,
    assumptions: Vec<String>,
    sources: Vec<Source>,
    label_bounds: Option<(f64, f64)>,
}

/// What peers hold.
#[derive(Debug, Clone)]
// A task has one of them: there is nothing to save.
#[allow(clippy::large_enum_variant)]
enum Held {
    /// Rows, and a model that is learned from them.
    Rows(Rows),
    /// What only somebody else knows, who computes gradients of it.
    Outside(Outside),
}

#[derive(Debug, Clone)]
struct Rows {
    shards: Shards,
    test: Table,
    model: Model,
}

/// What rows that are not here are worth: nobody knows.
const UNKNOWN: Measures = Measures::Classes { accuracy: f64::NAN };

impl Task {
    /// Refuses labels outside the set, peers with no data, and gradients that nothing bounds.
    pub fn new(
        name: impl Into<String>,
        shards: Shards,
        test: Table,
        model: Model,
        clip: Clip,
        batch: Batch,
    ) -> Result<Self> {
        Self::of(name.into(), Held::Rows(Rows { shards, test, model }), clip, batch)
    }

    /// A task whose gradients somebody else computes, of so many rows of each peer, from this start; both are public. Only clipping bounds them. Objectives and measures are
    /// NaN: whoever holds the rows knows them.
    pub fn from_outside(
        name: impl Into<String>,
        oracle: Arc<dyn Oracle>,
        rows: Vec<usize>,
        start: Vec<f64>,
        clip: Clip,
        batch: Batch,
    ) -> Result<Self> {
        let held = Held::Outside(Outside::new(oracle, rows, start)?);
        Ok(Self::of(name.into(), held, clip, batch)?.assuming([PEERS_APART]))
    }

    fn of(name: String, held: Held, clip: Clip, batch: Batch) -> Result<Self> {
        Self::checked(Self {
            name,
            held,
            clip,
            batch,
            sensitivity: 0.0,
            radius: None,
            origin: Origin::Private,
            assumptions: Vec::new(),
            sources: Vec::new(),
            label_bounds: None,
        })
    }

    fn rows(&self) -> Option<&Rows> {
        match &self.held {
            Held::Rows(rows) => Some(rows),
            Held::Outside(_) => None,
        }
    }

    /// What went wrong with gradients from outside, if something did: then models are void.
    pub fn check(&self) -> Result<()> {
        match &self.held {
            Held::Outside(outside) => outside.failed().map_or(Ok(()), Err),
            Held::Rows(_) => Ok(()),
        }
    }

    /// With the promise that no row is ever longer than `radius`, whoever's data it is: rows that are longer are refused. Only such a promise bounds
    /// curvature, and gradients that are not clipped; what the data at hand happens to be bounds neither.
    pub fn within(self, radius: f64) -> Result<Self> {
        Self::checked(Self { radius: Some(radius), ..self })
    }

    fn checked(mut task: Self) -> Result<Self> {
        if let Some(Rows { shards, test, model }) = task.rows() {
            model.check(shards.table())?;
            model.check(test)?;
        }
        if let Some(idle) = (0..task.peers()).find(|&peer| task.rows_of(peer) == 0) {
            let remedy = "every peer needs a row to compute a gradient; give it some, or leave it out";
            return Err(Error::parameter("rows", format!("0 for peer {}", task.name_of(idle)), remedy));
        }
        task.clip.check()?;
        require(task.batch != Batch::Rows(0), "batch", 0, "give at least one row")?;
        task.sensitivity = match (&task.held, task.clip, task.radius) {
            (Held::Rows(_), Clip::None, None) => {
                let remedy = "gradients are bounded only if the length of rows is; say how long they may be";
                return Err(Error::parameter("clip", "none", remedy));
            }
            (Held::Outside(_), Clip::None, _) => {
                let remedy = "nothing else bounds gradients that come from outside; say what is clipped";
                return Err(Error::parameter("clip", "none", remedy));
            }
            (Held::Rows(rows), clip, radius) => {
                radius.map_or(Ok(()), |radius| Model::require_radius(rows.shards.table(), radius))?;
                rows.model.sensitivity(clip, radius.unwrap_or(1.0))?
            }
            (Held::Outside(_), clip, _) => clip.sensitivity(),
        };
        Ok(task)
    }

    /// The papers' task: logistic regression on Houses, dealt out evenly; each row's gradient clipped to 0.4.
    pub fn houses(name: impl Into<String>, houses: &Houses, peers: usize) -> Result<Self> {
        let model = Model { loss: Loss::Logistic, width: houses.train.width(), ridge: 0.0 };
        let shards = Shards::even(&houses.train, peers)?;
        let task = Self::new(name, shards, houses.test.clone(), model, Clip::Example(0.4), Batch::All)?;
        task.of_houses(houses).within(SQRT_2)
    }

    /// The same, said to be made of Houses or its look-alike.
    pub fn of_houses(self, houses: &Houses) -> Self {
        let origin = if houses.assumes.is_some() { Origin::Published } else { Origin::Synthetic };
        Self { origin, ..self }.assuming(houses.assumes)
    }

    /// The same under assumptions that every guarantee names.
    pub fn assuming(mut self, assumptions: impl IntoIterator<Item = &'static str>) -> Self {
        self.assumptions.extend(assumptions.into_iter().map(str::to_owned));
        self
    }

    /// What must be public, beyond what a proof says, for a guarantee to hold of these rows.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// The same, said to come from these files.
    pub fn from_files(self, sources: Vec<Source>) -> Self {
        Self { sources, ..self }
    }

    /// The same, whose labels were scaled from these bounds to -1..1: errors are told in units of the labels as they were.
    pub fn scaled_from(self, label_bounds: Option<(f64, f64)>) -> Self {
        Self { label_bounds, ..self }
    }

    /// The bounds from which labels were scaled: a prediction `p` stands for `low + (p + 1) (high - low) / 2`.
    pub fn label_bounds(&self) -> Option<(f64, f64)> {
        self.label_bounds
    }

    /// What a difference of 1 between labels stands for.
    fn label_unit(&self) -> f64 {
        self.label_bounds.map_or(1.0, |(low, high)| (high - low) / 2.0)
    }

    /// The files that the rows came from, with their hashes; none where they were drawn.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// What the peers are called, where they have names.
    pub fn names(&self) -> Option<&[String]> {
        self.rows().and_then(|rows| rows.shards.names())
    }

    /// What a peer is called: its name, or its number.
    pub fn name_of(&self, peer: usize) -> String {
        self.names().and_then(|names| names.get(peer)).cloned().unwrap_or_else(|| peer.to_string())
    }

    /// The same with peers in the order of these names, such as a graph's nodes have. Peers without names keep their order.
    pub fn in_order_of(self, names: &[String]) -> Result<Self> {
        let held = match self.held {
            Held::Rows(rows) => Held::Rows(Rows { shards: rows.shards.in_order_of(names)?, ..rows }),
            outside @ Held::Outside(_) => outside,
        };
        Ok(Self { held, ..self })
    }

    /// Whose rows they are.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// What no guarantee of a simulated run on these rows covers.
    pub fn not_covered(&self) -> Vec<String> {
        let mut all = self.origin.not_covered();
        if let Held::Outside(_) = self.held {
            all.extend(limits::of_a_function());
        }
        all
    }

    /// What it minimises, where that is known here.
    pub fn loss(&self) -> Option<Loss> {
        self.rows().map(|rows| rows.model.loss)
    }

    /// A peer's rows; none where they are not here.
    ///
    /// # Panics
    ///
    /// If there is no such peer.
    pub fn shard(&self, peer: usize) -> Shard<'_> {
        self.rows().map_or(Shard { features: &[], labels: &[], width: 0 }, |rows| rows.shards.shard(peer))
    }

    /// How many rows a peer holds.
    ///
    /// # Panics
    ///
    /// If there is no such peer.
    pub fn rows_of(&self, peer: usize) -> usize {
        match &self.held {
            Held::Rows(rows) => rows.shards.rows_of(peer),
            Held::Outside(outside) => outside.rows[peer],
        }
    }

    /// Two tasks that differ in the data of one peer, and far: all its rows are its longest, with opposite labels. For attacks.
    pub fn neighbours(&self, peer: usize) -> Result<[Self; 2]> {
        let remedy = format!("there are {} peers, from 0", self.peers());
        require(peer < self.peers(), "peer", peer, remedy)?;
        let Some(Rows { shards, model, .. }) = self.rows() else {
            let remedy =
                "whoever computes gradients holds the rows; give two tasks that differ in one peer's";
            return Err(Error::parameter("task", &self.name, remedy));
        };
        let labels = shards.table().labels();
        let opposite = match model.loss {
            Loss::Logistic => [1.0, -1.0],
            Loss::Softmax { .. } => [0.0, 1.0],
            Loss::Squared => [
                labels.iter().copied().fold(f64::INFINITY, f64::min),
                labels.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ],
        };
        let with = |label| {
            let mut other = self.clone();
            if let Held::Rows(rows) = &mut other.held {
                rows.shards = rows.shards.clone().alike(peer, label);
            }
            other
        };
        Ok(opposite.map(with))
    }

    /// What a model is worth that looks at no feature.
    pub fn trivial(&self) -> Trivial {
        let Some(Rows { shards, test, model }) = self.rows() else {
            return Trivial { measures: UNKNOWN, objective: f64::NAN };
        };
        let found = Trivial::new(model.loss, shards.table().labels(), test.labels());
        Trivial { measures: found.measures.in_units(self.label_unit()), ..found }
    }

    /// The same with another clipping.
    pub fn clipped(self, clip: Clip) -> Result<Self> {
        Self::checked(Self { clip, ..self })
    }

    /// The same with other batches.
    pub fn in_batches(self, batch: Batch) -> Result<Self> {
        Self::checked(Self { batch, ..self })
    }

    /// Number of peers.
    pub fn peers(&self) -> usize {
        match &self.held {
            Held::Rows(rows) => rows.shards.peers(),
            Held::Outside(outside) => outside.rows.len(),
        }
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        match &self.held {
            Held::Rows(rows) => rows.model.parameters(),
            Held::Outside(outside) => outside.start.len(),
        }
    }

    /// How far replacing all data of a user moves its gradient: `Delta`.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// An upper bound on the curvature of every peer's loss, whatever its data; infinite where nothing bounds the rows.
    pub fn smoothness(&self) -> f64 {
        let bound = self.radius.zip(self.rows());
        bound.map_or(f64::INFINITY, |(radius, rows)| rows.model.smoothness(radius))
    }

    /// Weight of the squared length of the model in the loss.
    pub fn ridge(&self) -> f64 {
        self.rows().map_or(0.0, |rows| rows.model.ridge)
    }

    /// Whether a step of this size moves no two models apart: convex losses, clipping that keeps them so, and a step of at most 2/smoothness. Of gradients from outside
    /// nothing of that is known.
    pub fn is_nonexpansive(&self, step: f64) -> bool {
        self.rows().is_some_and(|rows| rows.model.keeps_distances(self.clip, self.radius, step))
    }

    /// How gradients are bounded.
    pub fn clip(&self) -> Clip {
        self.clip
    }

    /// Where training starts.
    pub fn start(&self) -> Vec<f64> {
        match &self.held {
            Held::Rows(_) => vec![0.0; self.parameters()],
            Held::Outside(outside) => outside.start.clone(),
        }
    }

    /// The loss on all training rows.
    pub fn objective(&self, theta: &[f64]) -> f64 {
        self.rows().map_or(f64::NAN, |rows| rows.model.objective(theta, rows.shards.table().view()))
    }

    /// The share of test rows classified right.
    pub fn accuracy(&self, theta: &[f64]) -> f64 {
        self.rows().map_or(f64::NAN, |rows| rows.model.accuracy(theta, rows.test.view()))
    }

    /// What a model is worth on the test rows.
    pub fn measures(&self, theta: &[f64]) -> Measures {
        let found = self.rows().map(|rows| rows.model.measures(theta, rows.test.view()));
        found.map_or(UNKNOWN, |found| found.in_units(self.label_unit()))
    }

    /// Subtracts `step` times a peer's clipped gradient from the model. `turn` numbers the peer's gradients: each has a batch of its own.
    #[inline]
    pub fn descend(&self, seed: u64, peer: usize, turn: usize, step: f64, model: &mut [f64]) {
        thread_local! {
            static GRADIENT: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
        }
        GRADIENT.with_borrow_mut(|gradient| {
            gradient.resize(model.len(), 0.0);
            match (&self.held, self.batch) {
                (Held::Rows(Rows { shards, model: loss, .. }), Batch::All) => {
                    loss.gradient(model, shards.shard(peer), self.clip, gradient);
                }
                (Held::Rows(rows), Batch::Rows(count)) => {
                    let picked = self.picked(seed, peer, turn, count);
                    stochastic(rows, (peer, picked), self.clip, model, gradient);
                }
                (Held::Outside(outside), batch) => {
                    let picked: Option<Vec<usize>> = match batch {
                        Batch::All => None,
                        Batch::Rows(count) => Some(self.picked(seed, peer, turn, count).collect()),
                    };
                    let rows = picked.as_ref().map_or(outside.rows[peer], Vec::len);
                    let digest = Digest::mean(self.clip, rows, model.len());
                    outside.gradient(Asked { peer, turn, model, rows: picked.as_deref(), digest }, gradient);
                }
            }
            model.iter_mut().zip(&*gradient).for_each(|(x, g)| *x -= step * g);
        });
    }

    /// Rows of a batch: a function of the seed, the peer and its turn.
    fn picked(&self, seed: u64, peer: usize, turn: usize, count: usize) -> impl Iterator<Item = usize> {
        let mut rng = Seed(seed).stream(Stream::Batch, peer as u64, turn as u64);
        let all = self.rows_of(peer);
        (0..count).map(move |_| rng.random_range(0..all))
    }
}

fn stochastic(
    rows: &Rows,
    (peer, picked): (usize, impl Iterator<Item = usize>),
    clip: Clip,
    model: &[f64],
    out: &mut [f64],
) {
    let Shard { features, labels, width } = rows.shards.shard(peer);
    let (mut chosen, mut their) = (Vec::new(), Vec::new());
    for row in picked {
        chosen.extend_from_slice(&features[row * width..][..width]);
        their.push(labels[row]);
    }
    rows.model.gradient(model, Shard { features: &chosen, labels: &their, width }, clip, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(rows: Vec<f64>, labels: Vec<f64>, clip: Clip) -> Result<Task> {
        let table = Table::new(rows, 2, labels).unwrap();
        let model = Model { loss: Loss::Logistic, width: 2, ridge: 0.0 };
        Task::new("small", Shards::even(&table, 2)?, table, model, clip, Batch::All)
    }

    #[test]
    fn curvature_is_bounded_by_promise_alone() {
        let rows = || vec![1.0, 0.0, 0.0, 1.0, 0.6, 0.8, -1.0, 0.0];
        let free = task(rows(), vec![1.0, -1.0, 1.0, -1.0], Clip::Example(0.5)).unwrap();
        assert!(!free.is_nonexpansive(1e-9) && free.sensitivity() == 1.0);
        let bounded = free.clone().within(1.0).unwrap();
        assert!(bounded.is_nonexpansive(8.0) && !bounded.is_nonexpansive(8.1));
        assert!(!bounded.clone().clipped(Clip::User(0.5)).unwrap().is_nonexpansive(0.1));
        // Unclipped gradients are as long as rows may be.
        assert_eq!(bounded.clipped(Clip::None).unwrap().sensitivity(), 2.0);
        let error = free.clone().within(0.9).unwrap_err().to_string();
        assert!(error.contains("`norm` is 1 in row 0") && error.contains("normalise"), "{error}");
        assert!(free.clipped(Clip::None).unwrap_err().to_string().contains("say how long"));
    }

    #[test]
    fn neighbours_differ_in_one_peer_as_far_as_gradients_are_clipped() {
        let rows = vec![1.0, 0.0, 0.0, 2.0, 0.6, 0.8, -1.0, 0.0];
        let task = task(rows, vec![1.0, -1.0, 1.0, -1.0], Clip::Example(0.5)).unwrap();
        let [one, other] = task.neighbours(0).unwrap();
        let moved = |task: &Task, peer| {
            let mut model = vec![0.0, 0.0];
            task.descend(0, peer, 0, 1.0, &mut model);
            model
        };
        assert_eq!(moved(&one, 1), moved(&other, 1));
        let (one, other) = (moved(&one, 0), moved(&other, 0));
        let apart = one.iter().zip(&other).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
        assert!((apart - task.sensitivity()).abs() < 1e-12, "{apart}");
        assert!(task.neighbours(2).is_err());
    }

    #[test]
    fn labels_and_batches_are_checked() {
        let rows = || vec![1.0, 0.0, 0.0, 1.0];
        assert!(
            task(rows(), vec![1.0, 0.0], Clip::Example(1.0))
                .unwrap_err()
                .to_string()
                .contains("`label` is 0")
        );
        let good = task(rows(), vec![1.0, -1.0], Clip::Example(1.0)).unwrap();
        let table = Table::new(rows(), 2, vec![1.0, -1.0]).unwrap();
        let shards = Shards::some_without(&table, &[vec![0, 1], vec![]]).unwrap();
        let idle =
            Task::new("idle", shards, table, good.rows().unwrap().model, Clip::Example(1.0), Batch::All)
                .unwrap_err();
        assert!(idle.to_string().starts_with("`rows` is 0 for peer 1: "), "{idle}");
        assert!(good.in_batches(Batch::Rows(0)).is_err());
    }

    #[test]
    fn batches_are_a_function_of_seed_peer_and_turn() {
        let rows: Vec<f64> = (0..40).map(f64::from).collect();
        let labels = (0..20).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let task = task(rows, labels, Clip::Example(1.0)).unwrap().in_batches(Batch::Rows(2)).unwrap();
        let step = |seed, peer, turn| {
            let mut model = vec![0.1, -0.2];
            task.descend(seed, peer, turn, 1.0, &mut model);
            model
        };
        assert_eq!(step(1, 0, 3), step(1, 0, 3));
        assert!((0..20).any(|turn| step(1, 0, turn) != step(1, 0, 3)));
    }
}
