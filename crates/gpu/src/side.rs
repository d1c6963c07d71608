//! Runs side by side for the engine: as many at a time as there is memory for.

use sottovoce_engine::deep::SideBySide;
use sottovoce_engine::{Error, Result};
use sottovoce_learning::Images;
use sottovoce_learning::net::{Net, Tally};
use sottovoce_simulator::consensus::Course;

use crate::{Card, Together};

/// Vectors of all parameters that are kept on the card at a time: about 12 GB. An agent has seven, and her last noises where they are correlated.
const VECTORS: usize = 80_000;
/// Iterations between two looks at how it goes.
const EVERY: usize = 50;

impl SideBySide for Card {
    fn name(&self) -> String {
        Self::name(self).to_owned()
    }

    fn takes(&self, net: &Net) -> bool {
        Self::check(net).is_ok()
    }

    fn learn(
        &self,
        train: &Images,
        test: &Images,
        courses: &[Course],
        told: &dyn Fn(usize, usize),
    ) -> Result<Vec<Option<Vec<Tally>>>> {
        let (mut all, mut made) = (Vec::new(), 0);
        let parts = parts(courses);
        let longest = |part: &&[Course]| part.iter().map(|course| course.plan.iterations).max().unwrap_or(0);
        let rounds: usize = parts.iter().map(longest).sum();
        for part in parts {
            let mut one = || -> crate::Result<Vec<Option<Vec<Tally>>>> {
                let mut together = Together::new(self, train, test, part)?;
                while together.remaining() > 0 {
                    let before = together.round();
                    together.advance(EVERY)?;
                    // (The answer is waited for: so many are made.)
                    together.diverged()?;
                    made += together.round() - before;
                    told(made, rounds);
                }
                let lost = together.diverged()?.into_iter();
                Ok(together
                    .measure()?
                    .into_iter()
                    .zip(lost)
                    .map(|(told, lost)| (!lost).then_some(told))
                    .collect())
            };
            all.extend(one().map_err(|error| Error::refused(error.to_string()))?);
        }
        Ok(all)
    }
}

/// Runs that fit at a time.
fn parts(courses: &[Course]) -> Vec<&[Course]> {
    let vectors = |course: &Course| -> usize {
        let past = course.hidden.iter().flatten().map(|hidden| hidden.band.cycle() - 1);
        7 * course.mixing.nodes() + past.sum::<usize>()
    };
    let (mut parts, mut begin, mut taken) = (Vec::new(), 0, 0);
    for (at, course) in courses.iter().enumerate() {
        let more = vectors(course);
        if at > begin && taken + more > VECTORS {
            parts.push(&courses[begin..at]);
            (begin, taken) = (at, 0);
        }
        taken += more;
    }
    if begin < courses.len() {
        parts.push(&courses[begin..]);
    }
    parts
}
