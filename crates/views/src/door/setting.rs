//! A run that is planned: which accountant is exact for it.

use sottovoce_privacy::Adversary;
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_protocol::ring::Ring;
use sottovoce_topology::schedule::Schedule;

use super::Overheard;
use crate::error::check_observers;
use crate::exact::{self, Leakage, Results, WorstCoalition};
use crate::ring::{Masked, Masks};
use crate::span::{Coupled, Rounds, Space, krylov};
use crate::trace::trace;
use crate::{Error, Result, cancelling, parallel};

/// All that is public of an averaging run to come. Noises are in units of the local one.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Who mixes with whom.
    pub scheme: Scheme,
    /// Relay noise, as a share of the local noise.
    pub relay_noise: f64,
    /// What becomes of the results.
    pub results: Results,
    /// Noise of pairs that cancels, on the private values.
    pub cancelling: Option<Cancelling>,
    /// Masks on a ring, instead: then peers add integers up.
    pub masks: Option<Masks>,
}

impl Setting {
    /// Without relay noise, and with results that are kept.
    pub fn of(scheme: Scheme) -> Self {
        Self { scheme, relay_noise: 0.0, results: Results::Kept, cancelling: None, masks: None }
    }

    /// What every single peer learns of everyone; `done` hears of each.
    pub fn leakages(&self, done: &(dyn Fn(usize) + Sync)) -> Result<Vec<Leakage>> {
        match &self.scheme {
            Scheme::Gossip { mixing, rounds, accelerated }
                if self.results == Results::Kept
                    && (self.relay_noise == 0.0 || !accelerated)
                    && self.cancelling.is_none()
                    && self.masks.is_none() =>
            {
                exact::relay_gossip_all_pairs(mixing, *rounds, self.relay_noise, done)
            }
            _ => parallel::map(self.peers(), |v| self.leakage(&[v]), done).into_iter().collect(),
        }
    }

    /// The coalition of `size` peers that learns most (gossip on a fixed graph, results kept, no relay noise).
    pub fn worst_coalition(&self, size: usize, done: &(dyn Fn(usize) + Sync)) -> Result<WorstCoalition> {
        let unknown = |field, value: String, why: &str| {
            let remedy = format!("the worst coalition is found {why}; name it with --observers");
            Err(Error::parameter(field, value, remedy))
        };
        match &self.scheme {
            _ if self.results == Results::Published => {
                unknown("results", "published".into(), "for kept results")
            }
            _ if self.relay_noise != 0.0 => {
                unknown("relay-noise", self.relay_noise.to_string(), "without relay noise")
            }
            _ if self.cancelling.is_some() => unknown("cancel", "given".into(), "without noise that cancels"),
            _ if self.masks.is_some() => unknown("masks", "given".into(), "without masks"),
            Scheme::Gossip { mixing, rounds, .. } => exact::worst_coalition(mixing, size, *rounds, done),
            _ => unknown("worst-coalition", size.to_string(), "for gossip on a fixed graph"),
        }
    }

    /// What `observers`, in increasing order, hear, over all noises that are not of pairs; none if it cannot be certified.
    fn heard(&self, observers: &[usize]) -> Result<Option<Space>> {
        let (tau, published) = (self.relay_noise, self.results.of(self.peers()));
        let same = tau == 0.0 && published.is_empty();
        let relayed = |rounds: Rounds| Space::of(&if tau > 0.0 { rounds.relayed(tau) } else { rounds });
        Ok(match &self.scheme {
            Scheme::Gossip { mixing, rounds, accelerated } if !accelerated || same => {
                mixing.check()?;
                match same {
                    true => krylov(mixing, observers, *rounds),
                    false => relayed(Rounds::powers(mixing, observers, *rounds, &published)),
                }
            }
            Scheme::Scheduled { schedule, rounds } => {
                exact::check_schedule(schedule, *rounds)?;
                relayed(Rounds::scheduled(schedule, observers, *rounds, &published))
            }
            Scheme::Coupled { schedule, rounds, coupling } if tau == 0.0 => {
                exact::check_schedule(schedule, *rounds)?;
                Space::of(&Coupled::new(schedule, *rounds, *coupling, observers, &published))
            }
            _ => {
                let (messages, peers) = (self.messages(observers)?, self.peers());
                let rows: Vec<&[f64]> = messages.iter().map(|row| &row[..]).collect();
                exact::span(&rows, peers, |i| observers.contains(&(i % peers)))?
            }
        })
    }

    /// The messages themselves, and published results: right for every linear protocol.
    fn messages(&self, observers: &[usize]) -> Result<Vec<Vec<f64>>> {
        let noising = Noising { sensitivity: 1.0, local: 1.0, relay: self.relay_noise };
        let trace = trace(&self.scheme, noising, observers)?;
        let heard = trace.heard.into_iter().map(|message| message.coefficients.0);
        let shown = self.results == Results::Published;
        Ok(heard.chain(trace.finals.into_iter().map(|last| last.0).filter(|_| shown)).collect())
    }

    fn traced(&self, observers: &[usize]) -> Result<Leakage> {
        let peers = self.peers();
        let messages = self.messages(observers)?;
        let rows: Vec<&[f64]> = messages.iter().map(|row| &row[..]).collect();
        exact::traced(&rows, observers, peers, |i| observers.contains(&(i % peers)))
    }
}

impl Overheard for Setting {
    type Learnt = Leakage;

    fn everything(&self, coalition: &[usize]) -> Result<Leakage> {
        if let Some(masks) = &self.masks {
            return Ok(
                Masked::towards(&masks.keys, &Adversary::WireTapperWith(coalition.to_vec()))?.leakage()
            );
        }
        match &self.cancelling {
            // With relay noise it is a bound.
            Some(pairs) => {
                let found = cancelling::everything(pairs, coalition)?;
                Ok(Leakage { certified: found.certified && self.relay_noise == 0.0, ..found })
            }
            None => Ok(Leakage::everything(self.peers())),
        }
    }

    fn everything_with_any(&self, colluders: usize) -> Result<Leakage> {
        if let Some(masks) = &self.masks {
            return Ok(Masked::towards(&masks.keys, &Adversary::WireTapperWithAny(colluders))?.leakage());
        }
        match &self.cancelling {
            Some(pairs) => {
                let found = cancelling::with_any(pairs, colluders)?;
                Ok(Leakage { certified: found.certified && self.relay_noise == 0.0, ..found })
            }
            None => self.everything(&[]),
        }
    }

    fn peers(&self) -> usize {
        self.scheme.peers()
    }

    fn results(&self) -> Results {
        self.results
    }

    fn cancels(&self) -> bool {
        self.cancelling.is_some()
    }

    fn masked(&self, adversary: &Adversary) -> Result<Option<(Ring, Masked)>> {
        let Some(masks) = &self.masks else { return Ok(None) };
        Ok(Some((masks.ring.clone(), Masked::towards(&masks.keys, adversary)?)))
    }

    /// Acceleration costs nothing without relay noise, since messages span the same space; with relay noise it does (each message also carries the
    /// value before last, whose relay noise was never added). Results are no messages: those of accelerated gossip are `p_T(W)` of the values and not `W^T`, and may show
    /// what `W^T` takes to 0. In both cases only tracing is exact.
    fn leakage(&self, observers: &[usize]) -> Result<Leakage> {
        if let Some(masks) = &self.masks {
            // Who hears a part learns no more than who hears everything.
            let observers = check_observers(observers, self.peers())?;
            return Ok(Masked::towards(&masks.keys, &Adversary::Coalition(observers))?.leakage());
        }
        if let Some(pairs) = &self.cancelling {
            let observers = check_observers(observers, self.peers())?;
            let found = cancelling::under(self.heard(&observers)?.as_ref(), pairs, &observers);
            return match found.certified {
                true => Ok(found),
                // Nobody who hears a part learns more than who hears everything.
                false => Ok(found.at_most(&cancelling::everything(pairs, &observers)?)),
            };
        }
        let (tau, published) = (self.relay_noise, self.results.of(self.peers()));
        match &self.scheme {
            Scheme::Gossip { mixing, rounds, accelerated }
                if tau == 0.0 && (!accelerated || published.is_empty()) =>
            {
                exact::gossip_published(mixing, observers, *rounds, &published)
            }
            Scheme::Gossip { mixing, rounds, accelerated: false } if published.is_empty() => {
                exact::relay_gossip(mixing, observers, *rounds, tau)
            }
            Scheme::Scheduled { schedule, rounds } if tau == 0.0 => {
                exact::scheduled_published(schedule, observers, *rounds, &published)
            }
            Scheme::Gossip { mixing, rounds, accelerated: false } => {
                let constant = Schedule::constant(mixing.clone());
                exact::relay_scheduled(&constant, observers, *rounds, tau, &published)
            }
            Scheme::Scheduled { schedule, rounds } => {
                exact::relay_scheduled(schedule, observers, *rounds, tau, &published)
            }
            Scheme::Coupled { schedule, rounds, coupling } if tau == 0.0 => {
                exact::coupled(schedule, *coupling, observers, *rounds, &published)
            }
            _ => self.traced(observers),
        }
    }
}
