//! The Houses task, from a user's own copy of the files or from a synthetic look-alike.

use std::path::Path;

use sottovoce::learning::Task;
use sottovoce_learning::Clip;
use sottovoce_learning::houses::{self, Houses, Split};

use crate::Options;
use crate::Result;

/// Seed of the look-alike: the same data whatever the run's seed.
const LOOK_ALIKE: u64 = 823;

/// Houses, or something like it.
pub(crate) struct Data {
    houses: Houses,
    real: bool,
}

impl Data {
    /// The real set with this split, where the data folder has it; else the look-alike, which has a split of its own.
    pub(crate) fn read(options: &Options, split: Split) -> Result<Self> {
        match options.data.as_deref().filter(|folder| holds_houses(folder)) {
            Some(folder) => Ok(Self { houses: houses::read(folder, split)?, real: true }),
            None => Ok(Self { houses: houses::look_alike(LOOK_ALIKE), real: false }),
        }
    }

    /// Logistic regression, dealt out evenly to so many peers.
    pub(crate) fn task(&self, peers: usize, clip: Clip) -> Result<Task> {
        let name = if self.real { "Houses" } else { "A look-alike of Houses" };
        Ok(Task::houses(name, &self.houses, peers)?.clipped(clip)?)
    }

    /// Where the rows come from, for verdicts.
    pub(crate) fn source(&self) -> &'static str {
        if self.real {
            "on the Houses set"
        } else {
            "on a synthetic look-alike of the Houses set (the real one is read from houses/ in the folder given with --data)"
        }
    }

    /// What is not private about it, for every page that shows it.
    pub(crate) fn terms(&self) -> String {
        let rows = match self.houses.assumes {
            Some(assumed) => format!("Losses are those of rows as if they were private, if {assumed}."),
            None => "Rows are drawn, and scaled and labelled by constants.".to_owned(),
        };
        format!(
            "{rows} Accuracies, training losses and whatever was tuned by them are computed without privacy."
        )
    }

    /// Rows to train on and to test on.
    pub(crate) fn rows(&self) -> (usize, usize) {
        (self.houses.train.rows(), self.houses.test.rows())
    }
}

fn holds_houses(folder: &Path) -> bool {
    folder.join("houses").is_dir() || folder.join("cal_housing.data").is_file()
}
