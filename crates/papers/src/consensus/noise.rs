//! Noise for a budget, as the paper has it and as it must be, and what either spends.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sottovoce_privacy::calibrate::Method;
use sottovoce_privacy::{Adversary, Lots};
use sottovoce_protocol::consensus::Hidden;
use sottovoce_views::door::{Drawn, account};
use sottovoce_views::parallel;

use crate::Result;

/// The paper's delta.
pub(super) const DELTA: f64 = 1e-5;

/// How much noise there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Noise {
    /// None, and nothing is clipped.
    Silent,
    /// By Rényi divergences, for images that come with probability 1 over the number of lots, rounded up.
    Published(f64),
    /// The least that is certified for lots as they are drawn.
    Certified(f64),
}

impl Noise {
    /// Under the paper's noise, or under ours.
    pub(super) fn of(epsilon: Option<f64>, published: bool) -> Self {
        match epsilon {
            None => Self::Silent,
            Some(epsilon) if published => Self::Published(epsilon),
            Some(epsilon) => Self::Certified(epsilon),
        }
    }

    pub(super) fn epsilon(self) -> Option<f64> {
        match self {
            Self::Silent => None,
            Self::Published(epsilon) | Self::Certified(epsilon) => Some(epsilon),
        }
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Silent => "no noise".into(),
            Self::Published(epsilon) => format!("epsilon {epsilon} as published"),
            Self::Certified(epsilon) => format!("epsilon {epsilon} certified"),
        }
    }
}

/// Noises that were found: most cells share theirs with others.
#[derive(Default)]
pub(super) struct Noises(Mutex<BTreeMap<String, Found>>);

/// How an agent is hidden, and what one of her images loses; nothing where there is no noise.
#[derive(Clone, Copy)]
struct Found {
    hidden: Hidden,
    spent: Option<f64>,
}

/// Draws, and what is hidden in each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Draws {
    /// The mean size of a lot.
    pub(super) lot: f64,
    /// How long a gradient may be.
    pub(super) clip: f64,
    /// How many draws there are, ...
    pub(super) made: usize,
    /// ... and how many noise is chosen for.
    pub(super) counted: usize,
}

/// Noise for an agent with so many images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Asked {
    pub(super) noise: Noise,
    pub(super) rows: usize,
    pub(super) draws: Draws,
}

impl Asked {
    fn name(&self) -> String {
        format!("{self:?}")
    }
}

impl Noises {
    /// Finds what many will ask for, on all cores.
    pub(super) fn find(&self, asked: impl IntoIterator<Item = Asked>) -> Result<()> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let asked: BTreeMap<String, Asked> = asked.into_iter().map(|one| (one.name(), one)).collect();
        let new = asked.into_iter().filter(|(name, one)| one.rows > 0 && !known.contains_key(name));
        let new: Vec<(String, Asked)> = new.collect();
        let all = parallel::map(new.len(), |at| found(&new[at].1), |_| ());
        for ((name, _), found) in new.into_iter().zip(all) {
            known.insert(name, found?);
        }
        Ok(())
    }

    /// How agents with so many images are hidden, and the most that an image of anyone loses.
    pub(super) fn hidden(
        &self,
        noise: Noise,
        sizes: &[usize],
        draws: Draws,
    ) -> Result<(Vec<Option<Hidden>>, Option<f64>)> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut all, mut most) = (Vec::new(), None);
        for &rows in sizes {
            if rows == 0 {
                all.push(None);
                continue;
            }
            let asked = Asked { noise, rows, draws };
            let found = match known.get(&asked.name()) {
                Some(found) => *found,
                None => found(&asked)?,
            };
            known.insert(asked.name(), found);
            all.push(Some(found.hidden));
            most = if found.spent > most { found.spent } else { most };
        }
        Ok((all, most))
    }
}

fn found(&Asked { noise, rows, draws }: &Asked) -> Result<Found> {
    let hidden = one(noise, rows, &draws)?;
    if noise == Noise::Silent {
        return Ok(Found { hidden, spent: None });
    }
    let (hidden_so, made) = ([Some(hidden)], [draws.made]);
    let spent = account(&Drawn::alone(&hidden_so, &made), &Adversary::WireTapper)?.leakage.largest(DELTA)?.1;
    Ok(Found { hidden, spent: Some(spent) })
}

fn one(noise: Noise, rows: usize, &Draws { lot, clip, counted, .. }: &Draws) -> Result<Hidden> {
    // (An agent with fewer images takes them all.)
    let lots = Lots::of_size(rows, if lot < rows as f64 { lot } else { rows as f64 })?;
    let plain = Hidden::new(lots, clip, 0.0);
    Ok(match noise {
        Noise::Silent => Hidden::new(lots, f64::INFINITY, 0.0),
        Noise::Certified(epsilon) => plain.calibrated(counted, (epsilon, DELTA), Method::Pld)?,
        Noise::Published(epsilon) => {
            let assumed = Lots::new(rows, 1.0 / (rows as f64 / lot).ceil())?;
            let found = Hidden::new(assumed, clip, 0.0).calibrated(counted, (epsilon, DELTA), Method::Rdp)?;
            Hidden { multiplier: found.multiplier, ..plain }
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sottovoce_privacy::{Accountant, Adjacency};

    use super::*;

    /// The agent with fewest images has the noise that the paper lists for epsilon 10. At the rate at which her images truly come Rényi divergences say 10.46 of it, and certified
    /// laws less than they.
    #[test]
    fn published_noise_is_the_papers_and_spends_what_is_told() {
        let of = |noise| {
            let draws = Draws { lot: 256.0, clip: 10.0, made: 2000, counted: 2000 };
            let (all, spent) = Noises::default().hidden(noise, &[5421], draws).unwrap();
            (all[0].unwrap(), spent.unwrap())
        };
        let (published, loss) = of(Noise::Published(10.0));
        assert!((published.multiplier - 1.296).abs() < 2e-3, "{published:?}");
        let mut renyi = Accountant::new(Adjacency::AddRemove);
        renyi.compose(published.release().mechanism().unwrap(), 2000).unwrap();
        let renyi = renyi.rdp_epsilon(DELTA).unwrap().0;
        assert!((renyi - 10.46).abs() < 0.02 && loss < renyi, "{renyi} {loss}");
        let (certified, kept) = of(Noise::Certified(10.0));
        assert!(kept <= 10.0 && kept > 9.99, "{kept}");
        assert_eq!(loss > kept, published.multiplier < certified.multiplier);
    }

    #[test]
    fn silence_spends_nothing_that_could_be_told() {
        let draws = Draws { lot: 50.0, clip: 10.0, made: 30, counted: 30 };
        let noises = Noises::default();
        let (all, spent) = noises.hidden(Noise::Silent, &[100, 0, 20], draws).unwrap();
        assert!(all[1].is_none() && all[0].unwrap().clip.is_infinite());
        assert_eq!((all[2].unwrap().lots.rate(), spent), (1.0, None));
        // What was found is found again, and counting one of two draws is spending more.
        let twice = Draws { made: 60, ..draws };
        let loss = |draws| noises.hidden(Noise::Certified(2.0), &[100, 200], draws).unwrap().1.unwrap();
        assert!(loss(draws) <= 2.0 && loss(twice) > 2.5);
        assert_eq!(loss(draws).to_bits(), loss(draws).to_bits());
    }
}
