//! Personalised models: whoever hears an agent hears, at most, everything that she released.
//!
//! Her messages are functions of her releases and of what was public before, so that what she loses of a row is the composition of the releases, towards
//! everyone who sees all messages; and towards a neighbour no more (`docs/theorems/personalized.md`).

use sottovoce_privacy::{Adjacency, limits};
use sottovoce_protocol::{Peer, Release};

use super::released::check_observers;
use super::{Overheard, Released};
use crate::Result;

/// Agents and what each of them released, in order.
#[derive(Debug, Clone, Copy)]
pub struct Models<'a> {
    /// The releases of each agent; none of those without rows.
    pub releases: &'a [Vec<Release>],
}

impl Overheard for Models<'_> {
    type Learnt = Released;

    fn peers(&self) -> usize {
        self.releases.len()
    }

    fn leakage(&self, observers: &[Peer]) -> Result<Released> {
        check_observers(observers, self.releases.len())?;
        self.everything(&[])
    }

    fn everything(&self, _: &[usize]) -> Result<Released> {
        let series = |releases: &Vec<Release>| {
            let equal = releases.chunk_by(|one, other| one == other);
            equal.map(|group| (group[0], group.len() as u64)).collect()
        };
        Released::of(self.releases.iter().map(series), Adjacency::Replace, limits::of_personal_models())
    }

    /// Who misses a message uses an older model, which changes nothing of what she releases, nor how much.
    fn counts_lost_messages(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use sottovoce_privacy::{Adversary, Unit};

    use super::*;
    use crate::door::{Learnt, account};

    #[test]
    fn losses_compose_and_what_is_not_hidden_is_lost() {
        let gaussian = vec![Release::gaussian(0.5, 1.0); 4];
        let same = vec![Release::gaussian(1.0, 2.0); 4];
        let laplace = vec![Release::laplace(1.0, 4.0); 3];
        let releases = [gaussian, same, laplace, Vec::new(), vec![Release::gaussian(1.0, 0.0)]];
        let all = account(&Models { releases: &releases }, &Adversary::WireTapper).unwrap().leakage;
        let one = sottovoce_privacy::Gdp::new(1.0).unwrap().epsilon(1e-5).unwrap().upper;
        let epsilons = all.epsilons(1e-5).unwrap();
        assert!((epsilons[0] - one).abs() < 1e-9 * one);
        assert_eq!(epsilons[0], epsilons[1]);
        let pure = all.epsilons(1e-9).unwrap()[2];
        assert!(pure <= 0.75 * (1.0 + 1e-9) && pure > 0.7, "{pure}");
        assert_eq!(epsilons[3..], [0.0, f64::INFINITY]);
        assert_eq!(all.worst().0, 4);
        assert!(all.guarantee(&Adversary::WireTapper, 4, 1.0, 1.0).is_err());
        let promised = account(&Models { releases: &releases }, &Adversary::Peer(1)).unwrap();
        let guarantee = promised.guarantee(0, 1.0, 1.0).unwrap();
        assert_eq!((guarantee.unit, guarantee.adjacency), (Unit::Record, Adjacency::Replace));
        assert!(!guarantee.not_covered.contains(&limits::LOST_MESSAGES.to_owned()));
        assert!(account(&Models { releases: &releases }, &Adversary::Peer(5)).is_err());
    }
}
