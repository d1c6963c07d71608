//! Gradients that somebody else suggests: a program of the node's owner, or a function in this process.
//!
//! What is answered is a suggestion: the node clips every vector, takes the mean, rounds it and hides it. An answer that is none (another length, too late, an end) counts as zeros, from then on, and so
//! does a vector that is none of numbers: what others see is noise as before, and its owner is told. Who stopped instead would tell everybody something that no noise hides, at a point that
//! others choose.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::gradients::{Gradients, mean_of};
use crate::holding::Trouble;
use crate::part::Holding;
use crate::program::{Program, found};
use crate::{Error, Result};

/// Numbers, or what is wrong with them.
pub(crate) type Answer = std::result::Result<Vec<f64>, String>;

/// A function in this process that stands where a program of the node's owner does (`docs/node-program.md`): asked for vectors, and trusted with nothing else.
pub trait Function: Send + Sync {
    /// Reads what its vectors are of, before anybody is called: between two looks at the name of its bytes, which the ledger pays for. What is wrong, in words, ends the run.
    fn read(&self, _file: &Path) -> std::result::Result<(), String> {
        Ok(())
    }

    /// Vectors of as many numbers as the point has, one after the other: the gradients of these examples, in this order; or, where none are named, one for each of all examples, or one
    /// alone. What is wrong, in words, where there are none.
    fn vectors(
        &self,
        step: usize,
        point: &[f64],
        examples: Option<&[u32]>,
    ) -> std::result::Result<Vec<f64>, String>;
}

/// A function that a holding brings along. Clones share it; what it computes makes no difference to what is held.
#[derive(Clone)]
pub struct Shared(pub Arc<dyn Function>);

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function")
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Shared {}

/// Whoever is asked.
pub(crate) trait Ask: Send {
    /// What it is called.
    fn called(&self) -> String;

    /// Vectors at a point.
    fn ask(&mut self, step: usize, point: &[f64], examples: Option<&[u32]>) -> Answer;
}

/// An answer that did not come in time.
pub(crate) fn late(step: usize, patience: Duration) -> String {
    format!("it has not answered step {step} within {} seconds", patience.as_secs_f64())
}

/// A question to a function.
type Question = (usize, Vec<f64>, Option<Vec<u32>>);

/// A function, called in a thread of its own: whoever asks waits no longer than was agreed on.
struct Called {
    asks: Sender<Question>,
    answers: Receiver<Answer>,
    patience: Duration,
}

impl Called {
    fn start(function: Arc<dyn Function>, patience: Duration) -> Self {
        let (asks, asked) = channel::<Question>();
        let (answers, answered) = channel();
        std::thread::spawn(move || {
            for (step, point, examples) in asked {
                if answers.send(function.vectors(step, &point, examples.as_deref())).is_err() {
                    return;
                }
            }
        });
        Self { asks, answers: answered, patience }
    }
}

impl Ask for Called {
    fn called(&self) -> String {
        "a function".to_owned()
    }

    fn ask(&mut self, step: usize, point: &[f64], examples: Option<&[u32]>) -> Answer {
        let question = (step, point.to_vec(), examples.map(<[u32]>::to_vec));
        self.asks.send(question).map_err(|_| "it broke off".to_owned())?;
        match self.answers.recv_timeout(self.patience) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(late(step, self.patience)),
            Err(RecvTimeoutError::Disconnected) => Err("it broke off".to_owned()),
        }
    }
}

/// Stands for whoever would be asked, where nothing is asked.
struct Nobody;

impl Ask for Nobody {
    fn called(&self) -> String {
        "nobody".to_owned()
    }

    fn ask(&mut self, _: usize, _: &[f64], _: Option<&[u32]>) -> Answer {
        Err("it was not started".to_owned())
    }
}

/// What is made of suggestions.
struct Suggested {
    who: Box<dyn Ask>,
    width: usize,
    /// Where their owner is told what is wrong.
    trouble: Trouble,
    failed: bool,
}

/// Whoever computes gradients for this holding, if it is not the node itself: a function, or else a program. A step lasts no longer than `patience`.
pub(crate) fn suggested(
    holding: &Holding,
    (width, rows): (usize, Option<usize>),
    patience: Duration,
) -> Result<Option<Box<dyn Gradients>>> {
    let who: Box<dyn Ask> = match (&holding.function, &holding.program) {
        (Some(_), _) if holding.only_read => Box::new(Nobody),
        (None, Some(command)) if holding.only_read => {
            found(command, &holding.folder)?;
            Box::new(Nobody)
        }
        (Some(Shared(function)), _) => {
            read(function.as_ref(), holding)?;
            Box::new(Called::start(Arc::clone(function), patience))
        }
        (None, Some(command)) => Box::new(Program::start(command, holding, (width, rows), patience)?),
        (None, None) => return Ok(None),
    };
    Ok(Some(Box::new(Suggested { who, width, trouble: holding.trouble.clone(), failed: false })))
}

/// Lets a function read what is held, if it is what was named, before and afterwards.
fn read(function: &dyn Function, holding: &Holding) -> Result<()> {
    let unread = |what| Error::parameter("values", holding.file.display(), what);
    function.read(&holding.file).map_err(unread)?;
    holding.check()
}

impl Suggested {
    /// As many vectors as are `wanted` (any number but 0, if that is not said); zeros where there is no such answer, now or before. What is no number is zeros later.
    fn vectors(&mut self, step: usize, point: &[f64], examples: Option<&[u32]>) -> Vec<f64> {
        let wanted = examples.map(<[u32]>::len);
        if wanted == Some(0) {
            return Vec::new();
        }
        let zeros = vec![0.0; wanted.unwrap_or(1) * self.width];
        if self.failed {
            return zeros;
        }
        let answer = self.who.ask(step, point, examples).and_then(|vectors| {
            let (found, rest) = (vectors.len() / self.width, vectors.len() % self.width);
            match wanted {
                _ if rest > 0 => {
                    Err(format!("it has {} numbers for vectors of {}", vectors.len(), self.width))
                }
                Some(wanted) if found != wanted => {
                    Err(format!("it has {found} vectors for {wanted} examples of step {step}"))
                }
                None if found == 0 => {
                    Err(format!("it has no vector for step {step}; one at least is needed"))
                }
                _ => Ok(vectors),
            }
        });
        match answer {
            Ok(vectors) => {
                if let Some(place) = vectors.iter().position(|x| !x.is_finite()) {
                    let (vector, number) = (place / self.width, place % self.width);
                    let what = format!("number {number} of vector {vector} of step {step} is none");
                    self.trouble.tell(format!(
                        "`program` is {}: {what}; such vectors count as zeros",
                        self.who.called()
                    ));
                }
                vectors
            }
            Err(what) => {
                self.failed = true;
                let called = self.who.called();
                self.trouble
                    .tell(format!("`program` is {called}: {what}; zeros are taken from step {step} on"));
                zeros
            }
        }
    }
}

impl Gradients for Suggested {
    fn mean(&mut self, step: usize, point: &[f64], clip: f64) -> Result<Vec<f64>> {
        let mut vectors = self.vectors(step, point, None);
        Ok(mean_of(&mut vectors, self.width, clip))
    }

    fn each(
        &mut self,
        step: usize,
        point: &[f64],
        picked: &[u32],
        take: &mut dyn FnMut(&mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let mut vectors = self.vectors(step, point, Some(picked));
        vectors.chunks_exact_mut(self.width).try_for_each(take)
    }
}
