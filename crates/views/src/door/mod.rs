//! The accountant's door: what an adversary learns from a run, planned or past, and what is promised therefore.
//!
//! ```text
//! Setting (averaging: scheme, relay noise, results) ─┐
//! Past (an averaging as it happened) ────────────────┤
//! Learning (gossip, butterfly, walk, public) ────────┼─► account(run, adversary) ─► Account: losses, guarantees
//! Models (personalised: everybody's releases) ───────┤
//! Drawn (consensus learning: everybody's draws) ─────┤
//! Told, ToldOn (a rumour, among all or on a graph) ──┘
//! ```
//!
//! Everyone who wants to know asks here: commands, planners, pages, attacks, and whoever reads a transcript. Which accountant fits is decided in one
//! place for each (`setting.rs`, `learning.rs`, `personal.rs`, `consensus.rs`, `rumor.rs`), and what cannot be computed exactly counts as lost.

mod consensus;
mod error;
mod learning;
mod past;
mod personal;
mod released;
mod rumor;
mod setting;

pub use consensus::{Drawn, hidden_by_pairs};
pub use learning::Learning;
pub use past::{Past, Source};
pub use personal::Models;
pub use released::{Released, largest};
pub use rumor::{ProvenOn, Told, ToldOn};
pub use setting::Setting;

use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Loss, Standing, Unit, limits};
use sottovoce_protocol::ring::Ring;

use crate::descent::DescentLoss;
use crate::exact::{Leakage, Results};
use crate::ring::Masked;
use crate::{Error, Result, require};

/// What an adversary learns of everyone, before any noise is chosen.
pub trait Learnt {
    /// Who loses most, and how much.
    fn worst(&self) -> (usize, f64);

    /// What peer `u` is promised, for a value that one person moves by `sensitivity`, under noise `sigma`.
    fn guarantee(&self, adversary: &Adversary, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee>;
}

/// Something that was, or will be, overheard.
pub trait Overheard {
    /// What is learnt from it.
    type Learnt: Learnt;

    /// Number of peers.
    fn peers(&self) -> usize;

    /// What becomes of the results.
    fn results(&self) -> Results {
        Results::Kept
    }

    /// What observers who pool all they hear learn of everyone.
    fn leakage(&self, observers: &[usize]) -> Result<Self::Learnt>;

    /// What someone learns who sees every message, and knows all that the peers of a coalition know, which may be empty.
    fn everything(&self, coalition: &[usize]) -> Result<Self::Learnt>;

    /// What someone learns who sees every message, and knows all that any so many peers know: of each peer, with those who are worst for it. Who has no secrets
    /// loses no more by them.
    fn everything_with_any(&self, _colluders: usize) -> Result<Self::Learnt> {
        self.everything(&[])
    }

    /// Whether pairs of peers add noise that cancels, which only their secrets hide.
    fn cancels(&self) -> bool {
        false
    }

    /// Where masks on a ring hide: the ring, and who is hidden by how many from this adversary.
    fn masked(&self, _: &Adversary) -> Result<Option<(Ring, Masked)>> {
        Ok(None)
    }

    /// Whether messages that got lost are accounted for.
    fn counts_lost_messages(&self) -> bool {
        false
    }
}

/// What an adversary learns of everyone.
#[derive(Debug, Clone, PartialEq)]
pub struct Account<L = Leakage> {
    /// Who attacks.
    pub adversary: Adversary,
    /// What it learns: of averaging and learning, losses in units of one local release.
    pub leakage: L,
    /// Whether the adversary knows everybody's result, too.
    pub results: Results,
    lost_messages_counted: bool,
    cancels: bool,
    /// The ring, and the groups that are left, where masks hide.
    pub masked: Option<(Ring, Masked)>,
}

/// What `adversary` learns from `run`.
///
/// ```
/// use sottovoce_privacy::Adversary;
/// use sottovoce_protocol::public::Scheme;
/// use sottovoce_views::door::{Setting, account};
/// let run = Setting::of(Scheme::Butterfly { positions: (0..8).collect() });
/// let peer = account(&run, &Adversary::Peer(0))?;
/// assert_eq!(peer.leakage.worst().0, 1); // the first partner
/// let tapper = account(&run, &Adversary::WireTapper)?;
/// assert!(tapper.leakage.losses.iter().all(|loss| *loss == 1.0));
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
pub fn account<R: Overheard + ?Sized>(run: &R, adversary: &Adversary) -> Result<Account<R::Learnt>> {
    let leakage = match adversary {
        Adversary::WireTapper => run.everything(&[])?,
        Adversary::WireTapperWith(several) => run.everything(several)?,
        Adversary::WireTapperWithAny(colluders) => run.everything_with_any(*colluders)?,
        Adversary::Peer(one) => run.leakage(&[*one])?,
        Adversary::Coalition(several) => run.leakage(several)?,
        Adversary::ResultHolder => {
            let remedy = "ask for a peer, a coalition or the wire-tapper, with results published";
            return Err(Error::parameter("adversary", "whoever holds the result", remedy));
        }
    };
    Ok(Account {
        adversary: adversary.clone(),
        leakage,
        results: run.results(),
        lost_messages_counted: run.counts_lost_messages(),
        cancels: run.cancels(),
        masked: run.masked(adversary)?,
    })
}

impl<L: Learnt> Account<L> {
    /// What peer `u` is promised, for a value that one person moves by `sensitivity`, under noise `sigma`.
    pub fn guarantee(&self, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee> {
        if let Some((ring, masked)) = &self.masked {
            let agreed = ring.agreed().sigma;
            require(sigma == agreed, "sigma", sigma, format!("the ring was agreed on for {agreed}"))?;
            return masked.guarantee(u, ring, sensitivity, 1);
        }
        let mut guarantee = self.leakage.guarantee(&self.adversary, u, sensitivity, sigma)?;
        if self.lost_messages_counted {
            guarantee.not_covered.retain(|limit| limit != limits::LOST_MESSAGES);
        }
        if self.cancels {
            guarantee.not_covered.push(limits::SECRETS.to_owned());
        }
        if self.results == Results::Published {
            guarantee.not_covered.retain(|limit| limit != limits::RESULTS);
        }
        Ok(guarantee)
    }

    /// What the peer that loses most is promised.
    pub fn worst(&self, sensitivity: f64, sigma: f64) -> Result<(usize, Guarantee)> {
        let (peer, _) = self.leakage.worst();
        Ok((peer, self.guarantee(peer, sensitivity, sigma)?))
    }
}

impl Learnt for Leakage {
    fn worst(&self) -> (usize, f64) {
        Self::worst(self)
    }

    fn guarantee(&self, adversary: &Adversary, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee> {
        match adversary {
            Adversary::WireTapper if self.losses[u] >= 1.0 => wire_tapper(sensitivity, sigma),
            Adversary::WireTapper | Adversary::WireTapperWith(_) | Adversary::WireTapperWithAny(_) => {
                let guarantee = Self::guarantee(self, u, sensitivity, sigma)?;
                Ok(Guarantee { adversary: adversary.clone(), ..guarantee })
            }
            _ => Self::guarantee(self, u, sensitivity, sigma),
        }
    }
}

impl Learnt for DescentLoss {
    fn worst(&self) -> (usize, f64) {
        Self::worst(self)
    }

    fn guarantee(&self, _: &Adversary, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee> {
        Self::guarantee(self, u, sensitivity, sigma)
    }
}

/// What everyone is promised towards someone who sees every message: the loss of its own noise.
pub fn wire_tapper(sensitivity: f64, sigma: f64) -> Result<Guarantee> {
    Ok(Guarantee {
        adversary: Adversary::WireTapper,
        unit: Unit::User,
        adjacency: Adjacency::Replace,
        loss: Loss::Gdp(Gdp::new(sensitivity / sigma)?),
        standing: Standing::Proven,
        not_covered: limits::of_a_protocol(),
    })
}
