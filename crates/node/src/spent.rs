//! What was spent under another key, as `node status --json` says it: for a new ledger whose owner tells the truth about old data.
//!
//! Nothing is entered for less than is said. A ledger that others have seen more of counts as all spent, towards everybody: nobody knows what it forgot.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Allowed, Before, Error, Ledger, Observer, Result, Standing};

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
pub struct Spending(Vec<(String, Observer, Allowed, Before)>);

/// What is read of `node status --json`.
#[derive(Deserialize)]
struct Export {
    #[serde(default)]
    doubted: Option<String>,
    budgets: Vec<Budget>,
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
        let text = std::fs::read(path)
            .map_err(|cause| refused(format!("it cannot be read ({cause}); check the name")))?;
        let export: Export = serde_json::from_slice(&text)
            .map_err(|problem| refused(format!("give what `node status --json` prints ({problem})")))?;
        let mut all = Vec::new();
        for Budget { label, exact } in export.budgets {
            let running =
                || refused("the node was running; stop it, and ask for its status again".to_owned());
            let Exact { observer, allowed, loss, chances } = exact.ok_or_else(running)?;
            let before = if export.doubted.is_some() { Before::All } else { Before::Part { loss, chances } };
            all.push((label, Observer::of_keys(&observer)?, allowed, before));
        }
        Ok(Self(all))
    }

    /// How many budgets there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was ever declared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Enters all of it into a ledger that knows none of it.
    pub(crate) fn enter(&self, ledger: &mut Ledger) -> Result<()> {
        self.0.iter().try_for_each(|(label, observer, allowed, before)| {
            ledger.enter(label, observer, *allowed, *before)
        })
    }
}
