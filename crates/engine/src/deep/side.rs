//! Many runs at once, by somebody who is faster so: a graphics card. The engine knows none; whoever has one gives it.

use sottovoce_learning::Images;
use sottovoce_learning::net::{Net, Tally};
use sottovoce_simulator::consensus::Course;

use crate::Result;

/// Somebody who learns many runs side by side. Lots are those of a run by itself; noise has the same law, and need not have the same bits.
pub trait SideBySide: Sync {
    /// What it is called.
    fn name(&self) -> String;

    /// Whether it computes this net.
    fn takes(&self, net: &Net) -> bool;

    /// All of them to their end, from the same images, and what everybody's model of each is worth on `test`; nothing where a model was no longer made
    /// of numbers. `told` hears how many of all rounds are made.
    fn learn(
        &self,
        train: &Images,
        test: &Images,
        courses: &[Course],
        told: &dyn Fn(usize, usize),
    ) -> Result<Vec<Option<Vec<Tally>>>>;
}
