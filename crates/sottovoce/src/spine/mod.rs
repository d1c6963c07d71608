//! What every protocol does, whichever it is, and the list of them.
//!
//! ```text
//! Experiment ──► Protocol ──► run(Context) ──► Outcome: document, transcript, page ──► files
//! ```

mod context;
mod outcome;
mod page;

use std::path::PathBuf;

pub use context::{Checkpoints, Context, Elsewhere, Progress};
pub use outcome::{Beside, Document, EXPERIMENT, Files, Outcome, RESULT, TRANSCRIPT, check_folder, write};
pub(crate) use page::{Drawn, RunPage};

use crate::Result;
use crate::experiment::Experiment;

/// What a spec of any protocol answers.
pub(crate) trait Protocol {
    /// The seed that it names.
    fn seed(&self) -> Option<u64>;
    /// The same, to be set.
    fn seed_mut(&mut self) -> &mut Option<u64>;
    /// Over how many seeds it is run; none of a protocol that is run once.
    fn seeds_mut(&mut self) -> Option<&mut Option<usize>>;
    /// The files that it names, by the field that does.
    fn files(&mut self) -> Vec<(&'static str, Option<&mut PathBuf>)>;
    /// Names of the files of its page.
    fn page_files(&self) -> Vec<&'static str>;
    /// Runs it.
    fn run(&self, context: &Context<'_>) -> Result<Outcome>;
}

impl Experiment {
    /// What all protocols do.
    pub(crate) fn protocol(&self) -> &dyn Protocol {
        match self {
            Self::Averaging(spec) => &**spec,
            Self::Learning(spec) => &**spec,
            Self::Personalized(spec) => &**spec,
            Self::Deep(spec) => &**spec,
            Self::Rumor(spec) => spec,
        }
    }

    /// The same, to be changed.
    pub(crate) fn protocol_mut(&mut self) -> &mut dyn Protocol {
        match self {
            Self::Averaging(spec) => &mut **spec,
            Self::Learning(spec) => &mut **spec,
            Self::Personalized(spec) => &mut **spec,
            Self::Deep(spec) => &mut **spec,
            Self::Rumor(spec) => spec,
        }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// What its spec or the files that it names do not allow.
    pub fn run(&self, context: &Context<'_>) -> Result<Outcome> {
        self.protocol().run(context)
    }
}
