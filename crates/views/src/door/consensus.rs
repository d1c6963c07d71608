//! Consensus learning: whoever sees all messages sees, at most, what every draw released.
//!
//! An agent's messages are functions of her noisy gradients and of what was public before, however many vectors they have. So what she loses of a row is the
//! composition of her draws, each a sampled Gaussian with the rate of her own lots (`docs/theorems/consensus-descent.md`). A neighbour may see all
//! messages of a small graph: no more is promised towards her.

use sottovoce_privacy::{Adjacency, limits};
use sottovoce_protocol::Peer;
use sottovoce_protocol::consensus::Hidden;

use super::released::{Series, check_observers};
use super::{Overheard, Released};
use crate::{Error, Result};

/// Agents, and how often each of them drew: as planned, or as it happened.
///
/// ```
/// use sottovoce_privacy::{Adversary, Lots};
/// use sottovoce_protocol::consensus::Hidden;
/// use sottovoce_views::door::{Drawn, account};
/// let hidden = |rows| Some(Hidden::new(Lots::of_size(rows, 256.0).unwrap(), 10.0, 8.36));
/// let run = Drawn { hidden: &[hidden(5421), hidden(6742), None], draws: &[2000, 2000, 0] };
/// let learnt = account(&run, &Adversary::WireTapper)?.leakage;
/// let (epsilons, renyi) = (learnt.epsilons(1e-5)?, learnt.renyi(1e-5)?);
/// assert!(epsilons[0] > 0.9 && epsilons[0] < renyi[0] && renyi[0] < 1.05);
/// assert!(epsilons[1] < epsilons[0] && epsilons[2] == 0.0); // of more rows each is drawn less often
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// How each agent's gradients are hidden; none without rows.
    pub hidden: &'a [Option<Hidden>],
    /// Everybody's private draws: with DiNNO one for each primal step.
    pub draws: &'a [usize],
}

impl Overheard for Drawn<'_> {
    type Learnt = Released;

    fn peers(&self) -> usize {
        self.hidden.len()
    }

    fn leakage(&self, observers: &[Peer]) -> Result<Released> {
        check_observers(observers, self.hidden.len())?;
        self.everything(&[])
    }

    fn everything(&self, _: &[usize]) -> Result<Released> {
        if self.draws.len() != self.hidden.len() {
            let remedy = format!("give a number of draws for each of the {} agents", self.hidden.len());
            return Err(Error::parameter("draws", self.draws.len(), remedy));
        }
        let series = |(hidden, draws): (&Option<Hidden>, &usize)| -> Series {
            let drawn = hidden.filter(|_| *draws > 0);
            drawn.map(|hidden| (hidden.release(), hidden.releases(*draws) as u64)).into_iter().collect()
        };
        let all = self.hidden.iter().zip(self.draws).map(series);
        Released::of(all, Adjacency::AddRemove, limits::of_consensus_learning())
    }

    /// Who misses a message mixes without it, which changes nothing of what she draws, nor how often.
    fn counts_lost_messages(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use sottovoce_privacy::{Accountant, Adversary, Lots, Standing, Unit};

    use super::*;
    use crate::door::{Learnt, account};

    fn hidden(rows: usize, clip: f64, multiplier: f64) -> Option<Hidden> {
        Some(Hidden::new(Lots::of_size(rows, 50.0).unwrap(), clip, multiplier))
    }

    #[test]
    fn everybody_loses_what_her_own_draws_lose() {
        let agents = [hidden(1000, 10.0, 1.1), hidden(500, 0.1, 1.1), None, hidden(1000, f64::INFINITY, 0.0)];
        let run = Drawn { hidden: &agents, draws: &[300, 300, 0, 300] };
        let account = account(&run, &Adversary::WireTapper).unwrap();
        let (epsilons, renyi) =
            (account.leakage.epsilons(1e-5).unwrap(), account.leakage.renyi(1e-5).unwrap());
        for (agent, rate) in [(0, 0.05), (1, 0.1)] {
            let mut known = Accountant::new(Adjacency::AddRemove);
            known
                .compose(sottovoce_privacy::Mechanism::gaussian(1.1).unwrap().poisson(rate).unwrap(), 300)
                .unwrap();
            let known = known.epsilon(1e-5).unwrap();
            assert!(epsilons[agent] >= known.lower && epsilons[agent] < known.upper * (1.0 + 1e-6));
            assert!(renyi[agent] >= epsilons[agent]);
        }
        assert_eq!((epsilons[2], epsilons[3], renyi[3]), (0.0, f64::INFINITY, f64::INFINITY));
        assert_eq!(account.leakage.worst().0, 3);
        assert!(account.guarantee(3, 1.0, 1.0).is_err());
        let guarantee = account.guarantee(0, 1.0, 1.0).unwrap();
        assert_eq!((guarantee.unit, guarantee.adjacency), (Unit::Record, Adjacency::AddRemove));
        assert_eq!(guarantee.standing, Standing::Proven);
        assert!(guarantee.not_covered.contains(&limits::ROWS.to_owned()));
        assert!(!guarantee.not_covered.contains(&limits::LOST_MESSAGES.to_owned()));
    }

    /// Draws are what is counted: two primal steps lose as much as twice the iterations.
    #[test]
    fn what_does_not_fit_is_refused_and_no_draw_costs_nothing() {
        let agents = [hidden(1000, 1.0, 1.0); 2];
        assert!(account(&Drawn { hidden: &agents, draws: &[3] }, &Adversary::WireTapper).is_err());
        assert!(account(&Drawn { hidden: &agents, draws: &[3, 3] }, &Adversary::Peer(2)).is_err());
        let run = Drawn { hidden: &agents, draws: &[0, 4] };
        let epsilons = account(&run, &Adversary::Peer(0)).unwrap().leakage.epsilons(1e-5).unwrap();
        assert!(epsilons[0] == 0.0 && epsilons[1] > 0.0);
    }
}
