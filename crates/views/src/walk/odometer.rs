//! The loss of a run while it goes on: what each observer has learnt from the token so far.
//!
//! ```text
//! visit(holder, what) ──► observers with that holder see the token: their gap is closed and counted, a new one begins
//! show()              ──► everybody sees it: all gaps are closed
//! fork()              ──► the same, and a second odometer for the second branch
//! conclude(shown)     ──► the losses; the rest of the path counts if the result is shown
//! ```
//!
//! The path is drawn without looking at anyone's data, so its loss needs no expectation over paths
//! (`docs/theorems/random-walks.md`).

use std::sync::Arc;

use sottovoce_protocol::walk::Visit;

use super::average::Average;
use super::gap::{Mark, Record};
use super::trajectory::Trajectory;
use crate::error::{Error, check_observers};
use crate::{Result, require};

/// Accounts for one token, for any number of observers. Losses of several tokens add ([`Trajectory::and`]).
///
/// ```
/// use sottovoce_views::walk::{Odometer, Visit};
/// let mut odometer = Odometer::new(4, &[vec![0], vec![0, 3]])?;
/// for (holder, visit) in [(1, Visit::Contributed), (2, Visit::NoiseOnly), (3, Visit::Contributed), (0, Visit::Contributed)] {
///     odometer.visit(holder, visit)?;
/// }
/// // Peer 0 sees one contribution in three noises; together with peer 3, in two.
/// let seen: Vec<f64> = odometer.losses().iter().map(|losses| losses.linear[1]).collect();
/// assert_eq!(seen, [1.0 / 3.0, 0.5]);
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Odometer {
    record: Record,
    /// By peer, the observers it is or belongs to.
    sees: Vec<Vec<usize>>,
    /// By observer, where its gap began.
    open: Vec<Mark>,
    losses: Vec<Trajectory>,
}

impl Odometer {
    /// A token at rest among `nodes` peers. Each observer is one peer or a coalition of several.
    pub fn new(nodes: usize, observers: &[Vec<usize>]) -> Result<Self> {
        require(!observers.is_empty(), "observers", "empty", "name at least one observer")?;
        let mut sees = vec![Vec::new(); nodes];
        for (i, coalition) in observers.iter().enumerate() {
            check_observers(coalition, nodes)?.into_iter().for_each(|peer| sees[peer].push(i));
        }
        let losses = vec![Trajectory::nothing(nodes); observers.len()];
        Ok(Self { record: Record::new(nodes), sees, open: vec![Mark::default(); observers.len()], losses })
    }

    /// The same for a token that is an average: both columns are then exact for its steps.
    pub fn averaging(nodes: usize, observers: &[Vec<usize>], average: Arc<Average>) -> Result<Self> {
        average.check(nodes)?;
        Ok(Self { record: Record::averaging(nodes, average), ..Self::new(nodes, observers)? })
    }

    /// The token comes with so many noises of holders before, whom nobody is asked about: it begins as a copy of another.
    pub fn begin_after(&mut self, noises: usize) {
        self.record.begin_after(noises as u64);
    }

    /// Every peer on its own, in order.
    pub fn everyone(nodes: usize) -> Result<Self> {
        Self::new(nodes, &(0..nodes).map(|peer| vec![peer]).collect::<Vec<_>>())
    }

    /// The token comes to `holder`, who sees it and then does `visit`.
    pub fn visit(&mut self, holder: usize, visit: Visit) -> Result<()> {
        let Some(observers) = self.sees.get(holder) else {
            let remedy = format!("there are {} peers, from 0", self.record.nodes());
            return Err(Error::parameter("holder", holder, remedy));
        };
        for &i in observers {
            self.record.close(self.open[i], &mut self.losses[i]);
        }
        self.record.add(holder, visit);
        for &i in observers {
            self.open[i] = self.record.mark();
        }
        Ok(())
    }

    /// All observers are shown the token as it is now, say because the model is published on the way.
    pub fn show(&mut self) {
        let now = self.record.mark();
        for (open, losses) in self.open.iter_mut().zip(&mut self.losses) {
            self.record.close(*open, losses);
            *open = now;
        }
    }

    /// The token goes on in two branches, because the same value was sent to two peers. Call it whenever a value is sent again: whether the
    /// first message arrived need not be known.
    ///
    /// This odometer goes on with one branch, the returned one with the other, and their losses add. What was added before the fork
    /// is seen through both branches, at worst as if the token had been shown; so it is counted as shown.
    pub fn fork(&mut self) -> Self {
        self.show();
        let nodes = self.record.nodes();
        Self {
            record: self.record.branch(),
            sees: self.sees.clone(),
            open: vec![Mark::default(); self.open.len()],
            losses: vec![Trajectory::nothing(nodes); self.losses.len()],
        }
    }

    /// The losses so far, in the order of the observers; what was added since an observer's last visit is not yet in them.
    pub fn losses(&self) -> &[Trajectory] {
        &self.losses
    }

    /// How often each peer has contributed: no observer's loss exceeds it, whatever the losses, the steps and the branches.
    pub fn contributions(&self) -> Vec<usize> {
        (0..self.record.nodes()).map(|peer| self.record.contributions(peer)).collect()
    }

    /// The losses of the whole run. If the token's last value is shown to the observers (as a result mostly is), the rest of the path after
    /// their last visits is a gap as well; else they never see it.
    pub fn conclude(mut self, result_shown: bool) -> Vec<Trajectory> {
        if result_shown {
            self.show();
        }
        self.losses
    }
}
