//! Consensus learning: whoever sees all messages sees, at most, what every draw released.
//!
//! An agent's messages are functions of her noisy gradients and of what was public before, however many vectors they have. So what she loses of a row is the
//! composition of her draws, each a sampled Gaussian with the rate of her own lots (`docs/theorems/consensus-descent.md`). A neighbour may see all
//! messages of a small graph: no more is promised towards her.
//!
//! Where pairs of agents add noise that cancels, all agents' draws of one number are one Gaussian vector. What it tells of an agent is what her own noise would tell that is
//! louder by `1/sqrt(f)`, `f` her loss by one release in units of a local one (`docs/theorems/cancelling.md`, Theorem 6).

use sottovoce_privacy::{Adjacency, Adversary, limits};
use sottovoce_protocol::Peer;
use sottovoce_protocol::consensus::{Hidden, loudness};

use super::released::{Series, check_observers};
use super::{Overheard, Released};
use crate::cancelling::{self, Secrets};
use crate::{Error, Result};

/// Agents, and how often each of them drew: as planned, or as it happened.
///
/// ```
/// use sottovoce_privacy::{Adversary, Lots};
/// use sottovoce_protocol::consensus::Hidden;
/// use sottovoce_views::door::{Drawn, account};
/// let hidden = |rows| Some(Hidden::new(Lots::of_size(rows, 256.0).unwrap(), 10.0, 8.36));
/// let agents = [hidden(5421), hidden(6742), None];
/// let run = Drawn::alone(&agents, &[2000, 2000, 0]);
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
    /// Who shares secrets, where noise cancels.
    pub secrets: Option<&'a Secrets>,
}

impl<'a> Drawn<'a> {
    /// Everybody hides in her own noise alone.
    pub fn alone(hidden: &'a [Option<Hidden>], draws: &'a [usize]) -> Self {
        Self { hidden, draws, secrets: None }
    }

    /// Who sees all there is to see.
    pub fn sees_all(&self) -> Adversary {
        self.secrets.map_or(Adversary::WireTapper, Secrets::adversary)
    }

    /// What everybody's draws release, where each of them loses so much of a local release.
    fn released(&self, losses: Option<&[f64]>) -> Result<Released> {
        if self.draws.len() != self.hidden.len() {
            let remedy = format!("give a number of draws for each of the {} agents", self.hidden.len());
            return Err(Error::parameter("draws", self.draws.len(), remedy));
        }
        let hidden = match losses {
            Some(losses) => hidden_by_pairs(self.hidden, losses),
            None => self.hidden.to_vec(),
        };
        let series = |(hidden, draws): (&Option<Hidden>, &usize)| -> Series {
            let drawn = hidden.filter(|_| *draws > 0);
            drawn.map(|hidden| (hidden.release(), hidden.releases(*draws) as u64)).into_iter().collect()
        };
        let all = hidden.iter().zip(self.draws).map(series);
        Released::of(all, Adjacency::AddRemove, limits::of_consensus_learning())
    }

    fn check(&self) -> Result<()> {
        match self.secrets {
            Some(secrets) => Ok(secrets.pairs().check_gradients(self.hidden)?),
            None => Ok(()),
        }
    }
}

/// How gradients are hidden from someone to whom a release of everybody loses so much of a local one: each as if by louder noise of her own.
pub fn hidden_by_pairs(hidden: &[Option<Hidden>], losses: &[f64]) -> Vec<Option<Hidden>> {
    let loud = loudness(hidden);
    let louder = |hidden: &Hidden, loss: f64| {
        let multiplier = loud / hidden.release().sensitivity / loss.sqrt();
        // The own noise is never less, and what is no number is none.
        Hidden {
            multiplier: if multiplier > hidden.multiplier { multiplier } else { hidden.multiplier },
            ..*hidden
        }
    };
    let one = |(hidden, loss): (&Option<Hidden>, &f64)| hidden.as_ref().map(|hidden| louder(hidden, *loss));
    hidden.iter().zip(losses).map(one).collect()
}

impl Overheard for Drawn<'_> {
    type Learnt = Released;

    fn peers(&self) -> usize {
        self.hidden.len()
    }

    fn leakage(&self, observers: &[Peer]) -> Result<Released> {
        check_observers(observers, self.hidden.len())?;
        self.everything(observers)
    }

    fn everything(&self, coalition: &[usize]) -> Result<Released> {
        self.check()?;
        let Some(secrets) = self.secrets else { return self.released(None) };
        let losses = cancelling::upward(&cancelling::everything(secrets.pairs(), coalition)?);
        // Those who pool what they know count as if they lost all to each other: of several, each still has images that the others do not know.
        let of = |agent: usize| if coalition.contains(&agent) { 1.0 } else { losses[agent] };
        self.released(Some(&(0..losses.len()).map(of).collect::<Vec<f64>>()))
    }

    fn everything_with_any(&self, colluders: usize) -> Result<Released> {
        self.check()?;
        let Some(secrets) = self.secrets else { return self.released(None) };
        if colluders == secrets.colluders() {
            return self.released(Some(secrets.losses()));
        }
        self.released(Some(&cancelling::upward(&cancelling::with_any(secrets.pairs(), colluders)?)))
    }

    fn cancels(&self) -> bool {
        self.secrets.is_some()
    }

    /// Who misses a message mixes without it, which changes nothing of what she draws, nor how often.
    fn counts_lost_messages(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use sottovoce_privacy::{Accountant, Lots, Standing, Unit};

    use super::*;
    use crate::door::{Learnt, account};
    use sottovoce_protocol::public::Cancelling;
    use sottovoce_topology::Graph;

    fn hidden(rows: usize, clip: f64, multiplier: f64) -> Option<Hidden> {
        Some(Hidden::new(Lots::of_size(rows, 50.0).unwrap(), clip, multiplier))
    }

    #[test]
    fn everybody_loses_what_her_own_draws_lose() {
        let agents = [hidden(1000, 10.0, 1.1), hidden(500, 0.1, 1.1), None, hidden(1000, f64::INFINITY, 0.0)];
        let run = Drawn::alone(&agents, &[300, 300, 0, 300]);
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

    /// What pairs add is worth louder noise of one's own: against the covariance of what everybody says, inverted by hand for two honest agents.
    #[test]
    fn behind_pairs_everybody_is_hidden_as_if_by_louder_noise() {
        let keys = Graph::from_edges(3, [(0, 1), (1, 2), (0, 2)]).unwrap();
        let secrets = Secrets::new(Cancelling::new(keys, 2.0).unwrap(), 1).unwrap();
        // The second has more noise of her own; pairs are measured by the least.
        let agents = [hidden(1000, 1.0, 1.0), hidden(1000, 1.0, 3.0), hidden(500, 1.0, 1.0)];
        let run = Drawn { secrets: Some(&secrets), ..Drawn::alone(&agents, &[50, 50, 50]) };
        let epsilons = |adversary: &Adversary| {
            let account = account(&run, adversary).unwrap();
            assert!(
                account.guarantee(0, 1.0, 1.0).unwrap().not_covered.contains(&limits::SECRETS.to_owned())
            );
            account.leakage.epsilons(1e-5).unwrap()
        };
        let (any, one, nobody) = (
            epsilons(&run.sees_all()),
            epsilons(&Adversary::WireTapperWith(vec![2])),
            epsilons(&Adversary::WireTapper),
        );
        // With the third's secrets known the others' covariance is [[1 + 4, -4], [-4, 9 + 4]]; with equal noises f is 5/9.
        let known = |noise: f64, rate: f64| {
            let mut known = Accountant::new(Adjacency::AddRemove);
            known
                .compose(sottovoce_privacy::Mechanism::gaussian(noise).unwrap().poisson(rate).unwrap(), 50)
                .unwrap();
            known.epsilon(1e-5).unwrap().upper
        };
        let alike = known((9.0_f64 / 5.0).sqrt(), 0.05);
        assert!((one[0] - alike).abs() < 1e-5 * alike, "{} {alike}", one[0]);
        // Her covariance says that even less is lost: what is said of equal noises is a bound.
        assert!(known((1.0 / (13.0 / 49.0_f64)).sqrt(), 0.05) < one[0]);
        // Who has more noise of her own than pairs give her has that.
        assert!((one[1] - known(3.0, 0.05)).abs() < 1e-5);
        assert!(nobody[0] < one[0] && (one[0] - any[0]).abs() < 1e-9 && any[2] > any[0]);
        // The third's own images are known to herself: nothing is gained for them.
        assert!((one[2] - known(1.0, 0.1)).abs() < 1e-4 * one[2]);
        let few = [agents[0], None, agents[2]];
        assert!(account(&Drawn { hidden: &few, ..run }, &Adversary::WireTapper).is_err());
    }

    /// Draws are what is counted: two primal steps lose as much as twice the iterations.
    #[test]
    fn what_does_not_fit_is_refused_and_no_draw_costs_nothing() {
        let agents = [hidden(1000, 1.0, 1.0); 2];
        assert!(account(&Drawn::alone(&agents, &[3]), &Adversary::WireTapper).is_err());
        assert!(account(&Drawn::alone(&agents, &[3, 3]), &Adversary::Peer(2)).is_err());
        let run = Drawn::alone(&agents, &[0, 4]);
        let epsilons = account(&run, &Adversary::Peer(0)).unwrap().leakage.epsilons(1e-5).unwrap();
        assert!(epsilons[0] == 0.0 && epsilons[1] > 0.0);
    }
}
