//! Everyone's noisy gradients are public, and everyone takes their mean: a baseline.

use sottovoce_topology::mixing::Mixing;

use super::{Entry, Method, Options, Way, butterfly};
use crate::Result;
use crate::learning::engine::{Descent, Engine};
use crate::learning::losses::Question;
use crate::learning::{Settings, Task};

pub(super) const ENTRY: Entry = Entry {
    name: "local",
    about: "everyone's noisy gradients are public (a baseline)",
    needs_graph: false,
    varying: false,
    options: &["final-model"],
    planned: Options::NONE,
    make: |_, _, _| Ok(Method::Local),
};

/// It has no parameters.
pub(super) struct Local;

impl Way for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    /// The mean is taken by a butterfly: that is quicker to simulate, and who hears what makes no difference where all is public.
    fn start<'a>(
        &self,
        task: &'a Task,
        _mixings: &'a [Mixing],
        settings: &Settings,
        threads: usize,
    ) -> Result<Box<dyn Engine + 'a>> {
        let schemes = butterfly::schemes(task.peers(), settings);
        Ok(Box::new(Descent::start(task, schemes, 0.0, settings, threads)?))
    }

    /// Everyone tells everyone.
    fn messages(&self, run: &Question) -> Result<u64> {
        let peers = run.peers as u64;
        Ok(run.iterations as u64 * peers * peers.saturating_sub(1))
    }

    fn rounds(&self, _peers: usize) -> usize {
        1
    }
}
