//! What was spent under another key, as `node status --json --files` says it: for a new ledger whose owner tells the truth about old data.
//!
//! Nothing is entered for less than is said, and files stay what they were: one that was held as a data set is never held as another. A ledger that others have seen more of counts as all
//! spent, towards everybody, and so do data sets that it does not know: nobody knows what it forgot.

use std::path::Path;

use serde::{Deserialize, Serialize};

use sottovoce_privacy::Unit;

use crate::{Allowed, Before, Error, Hash, Ledger, Observer, Result, Standing};

/// A budget and what was spent of it, exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exact {
    /// The keys of the observer: none is someone who sees every message.
    pub observer: Vec<String>,
    /// The budget.
    pub allowed: Allowed,
    /// What was spent, in the budget's own currency: a Rényi loss.
    pub loss: f64,
    /// The sum of deltas beside it.
    pub chances: f64,
}

impl From<&Standing> for Exact {
    fn from(one: &Standing) -> Self {
        let (observer, allowed) = (one.observer.keys(), one.allowed);
        Self { observer, allowed, loss: one.loss, chances: one.chances }
    }
}

/// All budgets of another ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Spending {
    budgets: Vec<(String, Observer, Allowed, Before)>,
    sets: Vec<(String, Option<Unit>, Vec<Hash>)>,
    forgot: bool,
}

/// A data set, and what it held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    /// The data set.
    pub label: String,
    /// What its prices are of: `user` or `record`; none where nothing was paid.
    pub unit: Option<Unit>,
    /// The hashes of all files that were ever held as it.
    pub files: Vec<String>,
}

/// What is read of `node status --json --files`.
#[derive(Deserialize)]
struct Export {
    #[serde(default)]
    doubted: Option<String>,
    budgets: Vec<Budget>,
    /// Which files were held as which data sets, where that was asked for.
    sets: Option<Vec<Set>>,
}

#[derive(Deserialize)]
struct Budget {
    label: String,
    exact: Option<Exact>,
}

impl Spending {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let refused = |remedy: String| Error::parameter("spent", path.display(), remedy);
        let text = sottovoce_fault::file::read("spent", path, 1 << 30)?;
        let export: Export = serde_json::from_slice(&text).map_err(|problem| {
            refused(format!("give what `node status --json --files` prints ({problem})"))
        })?;
        let running = || refused("the node was running; stop it, and ask for its status again".to_owned());
        let unnamed = || {
            refused(
                "it does not say which files were held; give what `node status --json --files` prints"
                    .to_owned(),
            )
        };
        let mut budgets = Vec::new();
        for Budget { label, exact } in export.budgets {
            let Exact { observer, allowed, loss, chances } = exact.ok_or_else(running)?;
            let before = if export.doubted.is_some() { Before::All } else { Before::Part { loss, chances } };
            budgets.push((label, Observer::of_keys(&observer)?, allowed, before));
        }
        let mut sets = Vec::new();
        for Set { label, unit, files } in export.sets.ok_or_else(unnamed)? {
            sets.push((label, unit, files.iter().map(|file| file.parse()).collect::<Result<_>>()?));
        }
        Ok(Self { budgets, sets, forgot: export.doubted.is_some() })
    }

    /// How many budgets there are.
    pub fn len(&self) -> usize {
        self.budgets.len()
    }

    /// Whether nothing was ever declared.
    pub fn is_empty(&self) -> bool {
        self.budgets.is_empty()
    }

    /// Enters all of it into a ledger that knows none of it.
    pub(crate) fn enter(&self, ledger: &mut Ledger) -> Result<()> {
        for (label, observer, allowed, before) in &self.budgets {
            ledger.enter(label, observer, *allowed, *before)?;
        }
        for (label, unit, files) in &self.sets {
            files.iter().try_for_each(|file| ledger.hold(label, *file))?;
            unit.map_or(Ok(()), |unit| ledger.state(label, unit))?;
        }
        if self.forgot { ledger.close() } else { Ok(()) }
    }
}
