//! Gradients from outside: a function that somebody brings along computes them, and is trusted with no more than that.
//!
//! ```text
//! Task ── Asked: peer, turn, model, which rows ──► Oracle ──► a vector for each row ──► Digest: each shortened by itself, then their mean
//! ```
//!
//! Whatever the function returns, what leaves a peer is no longer than the clipping says: vectors are shortened here, after it, and an answer that was made otherwise is none
//! ([`Digested`]). What is no number is refused. What cannot be seen from here is what a vector was computed from; guarantees are stated under that condition ([`PEERS_APART`], [`ROWS_APART`]).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::linear::add_multiple;
use crate::model::Bounded;
use crate::{Clip, Error, Result, require};

/// What a guarantee of all rows of a peer rests on.
pub const PEERS_APART: &str = "the gradient function computes each peer's gradient from that peer's own rows and the model it is given: it reads no other peer's rows, and keeps nothing of them";

/// What a guarantee of one row rests on.
pub const ROWS_APART: &str = "the gradient function computes each row's gradient from that row and the model alone: no means over rows, no batch normalisation, nothing kept from one call to another";

/// What an oracle is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Whose gradients.
    pub peer: usize,
    /// How many this peer was asked for before.
    pub turn: usize,
    /// Where: only what this peer may know.
    pub model: &'a [f64],
    /// Of which of its rows, in this order and as often as they are named; all of them if none are.
    pub rows: Option<&'a [usize]>,
    /// What makes a gradient of the vectors.
    pub digest: Digest,
}

/// Computes gradients of rows that it holds itself.
pub trait Oracle: Send + Sync {
    /// What [`Asked::digest`] makes of the vectors; an error where there are none.
    fn gradient(&self, asked: Asked<'_>) -> Result<Digested>;
}

/// A gradient that a [`Digest`] has bounded. There is no other way to make one.
#[derive(Debug, Clone, PartialEq)]
pub struct Digested {
    gradient: Vec<f64>,
    by: Digest,
}

impl Asked<'_> {
    /// The gradient that an oracle has for it.
    pub fn of(self, oracle: &dyn Oracle) -> Result<Vec<f64>> {
        let Digested { gradient, by } = oracle.gradient(self)?;
        let remedy =
            "it was not made of what was asked for; make it by the digest that comes with the question";
        require(by == self.digest, "gradient", "another one", remedy)?;
        Ok(gradient)
    }
}

/// What becomes of vectors that an oracle has computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Digest {
    /// How each is bounded.
    pub clip: Clip,
    /// How many there must be.
    pub rows: usize,
    /// How many numbers each has.
    pub width: usize,
    /// What their sum is divided by.
    pub divisor: f64,
}

impl Digest {
    /// The mean of so many vectors, bounded like this.
    pub fn mean(clip: Clip, rows: usize, width: usize) -> Self {
        Self { clip, rows, width, divisor: rows as f64 }
    }

    /// Their sum.
    pub fn sum(clip: Clip, rows: usize, width: usize) -> Self {
        Self { clip, rows, width, divisor: 1.0 }
    }

    /// Whether one vector may stand for all rows: where their mean is bounded, and not each of them.
    pub fn takes_one(&self) -> bool {
        matches!(self.clip, Clip::User(_))
    }

    /// The shape that vectors must have, in words.
    pub fn expected(&self) -> String {
        let Self { rows, width, .. } = self;
        if self.takes_one() {
            format!("({rows}, {width}) or ({width},)")
        } else {
            format!("({rows}, {width})")
        }
    }

    /// Refuses arrays of another shape.
    pub fn check(&self, shape: &[usize]) -> Result<()> {
        let fits = shape == [self.rows, self.width] || self.takes_one() && shape == [self.width];
        let found = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let found = format!("({found}{})", if shape.len() == 1 { "," } else { "" });
        let remedy = format!("{} is expected: a gradient for each row", self.expected());
        require(fits, "gradient", format_args!("of shape {found}"), remedy)
    }

    /// The gradient that these vectors make, one after the other: each shortened by itself, then divided and added; or their mean, shortened. Refused where a number is none.
    pub fn of<F: Copy + Into<f64>>(&self, vectors: &[F], shape: &[usize]) -> Result<Digested> {
        self.check(shape)?;
        let (found, remedy) = (vectors.len(), "its shape says another number; give as many");
        require(
            found == shape.iter().product::<usize>(),
            "gradient",
            format_args!("{found} numbers"),
            remedy,
        )?;
        let (bounded, divisor) = (Bounded::by(self.clip), if shape.len() == 1 { 1.0 } else { self.divisor });
        let (mut sum, mut one) = (vec![0.0; self.width], vec![0.0; self.width]);
        for (row, vector) in vectors.chunks_exact(self.width.max(1)).enumerate() {
            // A copy is what is looked at: the vectors may be somebody else's memory.
            one.iter_mut().zip(vector).for_each(|(own, &x)| *own = x.into());
            if let Some((number, value)) = one.iter().enumerate().find(|(_, x)| !x.is_finite()) {
                let value = format!("{value} in row {row}, number {number}");
                return Err(Error::parameter("gradient", value, "give finite numbers"));
            }
            bounded.shorten_row(&mut one);
            add_multiple(&mut sum, 1.0 / divisor, &one);
        }
        bounded.shorten_mean(&mut sum);
        Ok(Digested { gradient: sum, by: *self })
    }
}

/// A task whose gradients come from outside: how many rows everybody has, and where training starts, both public.
#[derive(Clone)]
pub(crate) struct Outside {
    pub(crate) rows: Vec<usize>,
    pub(crate) start: Vec<f64>,
    oracle: Arc<dyn Oracle>,
    /// The first thing that went wrong: from then on nothing is asked.
    failed: Arc<Mutex<Option<Error>>>,
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside")
            .field("rows", &self.rows)
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}

impl Outside {
    pub(crate) fn new(oracle: Arc<dyn Oracle>, rows: Vec<usize>, start: Vec<f64>) -> Result<Self> {
        require(!rows.is_empty(), "data", "empty", "give the rows of each peer")?;
        require(!start.is_empty(), "start", "empty", "give a model of at least one number")?;
        let place = start.iter().position(|x| !x.is_finite());
        let value = place.map_or(0.0, |place| start[place]);
        require(place.is_none(), "start", value, "give finite numbers")?;
        Ok(Self { rows, start, oracle, failed: Arc::default() })
    }

    /// What went wrong, if something did.
    pub(crate) fn failed(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the gradient to `out`; zeros where something goes wrong, now or before.
    pub(crate) fn gradient(&self, asked: Asked<'_>, out: &mut [f64]) {
        out.fill(0.0);
        if self.failed().is_some() {
            return;
        }
        match asked.of(self.oracle.as_ref()) {
            Ok(found) => out.copy_from_slice(&found),
            Err(error) => {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Loss, Model, Shards, Table, Task};

    /// Answers what a built-in task would, in 32 or 64 bits.
    struct Same(Model, Shards, bool);

    impl Oracle for Same {
        fn gradient(&self, asked: Asked<'_>) -> Result<Digested> {
            let shard = self.1.shard(asked.peer);
            let all: Vec<usize> = (0..shard.labels.len()).collect();
            let (picked, width) = (asked.rows.unwrap_or(&all), asked.model.len());
            let mut vectors = vec![0.0; picked.len() * width];
            for (out, &row) in vectors.chunks_exact_mut(width).zip(picked) {
                let one = crate::Shard {
                    features: &shard.features[row * shard.width..][..shard.width],
                    labels: &shard.labels[row..=row],
                    width: shard.width,
                };
                self.0.gradient(asked.model, one, Clip::None, out);
            }
            let shape = [picked.len(), width];
            match self.2 {
                true => asked.digest.of(&vectors.iter().map(|x| *x as f32).collect::<Vec<_>>(), &shape),
                false => asked.digest.of(&vectors, &shape),
            }
        }
    }

    fn tasks(clip: Clip, batch: Batch, single: bool) -> [Task; 2] {
        let features = (0..48).map(|i| f64::from(i % 7) / 3.0 - 1.0).collect();
        let labels = (0..24).map(|i| if i % 5 < 2 { 1.0 } else { -1.0 }).collect();
        let table = Table::new(features, 2, labels).unwrap();
        let (model, shards) =
            (Model { loss: Loss::Logistic, width: 2, ridge: 0.0 }, Shards::even(&table, 3).unwrap());
        let rows = (0..3).map(|peer| shards.rows_of(peer)).collect();
        let oracle = Arc::new(Same(model, shards.clone(), single));
        let outside = Task::from_outside("the same", oracle, rows, vec![0.0; 2], clip, batch).unwrap();
        [Task::new("built in", shards, table, model, clip, batch).unwrap(), outside]
    }

    #[test]
    fn the_same_gradients_make_the_same_steps() {
        for (clip, batch, single, near) in [
            (Clip::Example(0.3), Batch::All, false, 1e-15),
            (Clip::User(0.1), Batch::All, false, 1e-15),
            (Clip::Example(0.3), Batch::Rows(3), false, 1e-15),
            (Clip::Example(0.3), Batch::All, true, 1e-7),
        ] {
            let all = tasks(clip, batch, single);
            for (peer, turn) in [(0, 0), (1, 5), (2, 2)] {
                let [one, other] = all.each_ref().map(|task| {
                    let mut model = vec![0.4, -0.2];
                    task.descend(7, peer, turn, 2.0, &mut model);
                    model
                });
                assert!(one.iter().zip(&other).all(|(x, y)| (x - y).abs() <= near), "{one:?} {other:?}");
            }
            assert_eq!(all[0].sensitivity(), all[1].sensitivity());
            assert!(!all[1].is_nonexpansive(1e-9) && all[1].neighbours(0).is_err());
            all[1].check().unwrap();
        }
    }

    /// Answers whatever it is told to.
    struct Says(Vec<f64>, Vec<usize>);

    impl Oracle for Says {
        fn gradient(&self, asked: Asked<'_>) -> Result<Digested> {
            asked.digest.of(&self.0, &self.1)
        }
    }

    fn after(answer: &[f64], shape: &[usize], clip: Clip) -> (Vec<f64>, Task) {
        let oracle = Arc::new(Says(answer.to_vec(), shape.to_vec()));
        let task = Task::from_outside("says", oracle, vec![2], vec![0.0; 2], clip, Batch::All).unwrap();
        let mut model = vec![0.0; 2];
        task.descend(0, 0, 0, 1.0, &mut model);
        (model, task)
    }

    #[test]
    fn nothing_is_longer_than_it_may_be() {
        let length = |model: &[f64]| model.iter().map(|x| x * x).sum::<f64>().sqrt();
        for answer in [[1e300; 4], [1e-300; 4], [-5.0, 3.0, 1e9, 0.0], [f64::MAX; 4]] {
            for clip in [Clip::Example(0.5), Clip::User(0.5)] {
                let (model, task) = after(&answer, &[2, 2], clip);
                assert!(length(&model) <= 0.5 * (1.0 + 1e-15), "{answer:?}: {model:?}");
                task.check().unwrap();
            }
        }
        // Each row by itself: one that is long does not drown the other.
        let (model, _) = after(&[1e9, 0.0, 0.0, 0.1], &[2, 2], Clip::Example(0.5));
        assert!((model[0] + 0.25).abs() < 1e-15 && (model[1] + 0.05).abs() < 1e-15, "{model:?}");
    }

    #[test]
    fn what_is_no_answer_is_refused_and_moves_nothing() {
        let example = Clip::Example(0.5);
        for (answer, shape, clip, said) in [
            (vec![1.0; 2], vec![2], example, "`gradient` is of shape (2,): (2, 2) is expected"),
            (vec![1.0; 6], vec![3, 2], example, "of shape (3, 2)"),
            (vec![1.0; 6], vec![2, 3], example, "of shape (2, 3)"),
            (vec![], vec![0, 2], example, "of shape (0, 2)"),
            (vec![1.0, 2.0, f64::NAN, 0.0], vec![2, 2], example, "`gradient` is NaN in row 1, number 0"),
            (vec![1.0, f64::INFINITY, 0.0, 0.0], vec![2, 2], example, "inf in row 0, number 1"),
            (vec![1.0; 3], vec![3], Clip::User(0.5), "(2, 2) or (2,) is expected"),
        ] {
            let (model, task) = after(&answer, &shape, clip);
            assert_eq!(model, [0.0, 0.0]);
            let error = task.check().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        // Whoever bounds otherwise has no answer.
        struct Longer;
        impl Oracle for Longer {
            fn gradient(&self, asked: Asked<'_>) -> Result<Digested> {
                Digest { clip: Clip::Example(9.0), ..asked.digest }.of(&[9.0, 9.0], &[1, 2])
            }
        }
        let task = Task::from_outside("longer", Arc::new(Longer), vec![1], vec![0.0; 2], example, Batch::All)
            .unwrap();
        let mut model = vec![0.0; 2];
        task.descend(0, 0, 0, 1.0, &mut model);
        assert!(
            model == [0.0, 0.0]
                && task.check().unwrap_err().to_string().contains("`gradient` is another one")
        );
        let (model, task) = after(&[3.0, 4.0], &[2], Clip::User(0.5));
        task.check().unwrap();
        assert!((model[0] + 0.3).abs() < 1e-15 && (model[1] + 0.4).abs() < 1e-15);
    }

    #[test]
    fn tasks_that_nothing_bounds_are_refused() {
        let make = |rows, start, clip, batch| {
            Task::from_outside("bad", Arc::new(Says(vec![], vec![])), rows, start, clip, batch)
                .unwrap_err()
                .to_string()
        };
        let (all, example) = (Batch::All, Clip::Example(1.0));
        assert!(make(vec![1], vec![0.0], Clip::None, all).starts_with("`clip` is none"));
        assert!(make(vec![1], vec![0.0], Clip::Example(f64::NAN), all).contains("`clip`"));
        assert!(make(vec![1, 0], vec![0.0], example, all).contains("0 for peer 1"));
        assert!(make(vec![], vec![0.0], example, all).contains("`data` is empty"));
        assert!(make(vec![1], vec![], example, all).contains("`start` is empty"));
        assert!(make(vec![1], vec![f64::NAN], example, all).contains("`start` is NaN"));
        assert!(make(vec![1], vec![0.0], example, Batch::Rows(0)).contains("`batch`"));
    }
}
