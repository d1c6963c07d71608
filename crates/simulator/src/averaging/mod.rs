//! Sets up the peers of an averaging run, on whatever they compute with.
//!
//! A [`Scheme`] says who mixes with whom and is public; an [`AveragingSetup`] adds the values, which are private, the noise and the
//! budget. Everything a user can get wrong is refused here, before any peer exists.

mod run;

pub use run::AveragingWorld;

use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::{AveragingPeer, Facts, Scheme, check};
use sottovoce_protocol::{Peer, Value};

use crate::{Allowance, Result, require};

/// Everything an averaging run needs.
///
/// ```
/// use sottovoce_protocol::averaging::Noising;
/// use sottovoce_protocol::public::Scheme;
/// use sottovoce_simulator::averaging::AveragingSetup;
/// let setup = AveragingSetup {
///     values: vec![vec![1.0], vec![f64::NAN]],
///     scheme: Scheme::Butterfly { positions: vec![0, 1] },
///     noising: Noising { sensitivity: 1.0, local: 2.0, relay: 0.0 },
///     budget: f64::INFINITY,
/// };
/// let error = setup.check().unwrap_err().to_string();
/// assert_eq!(error, "`values` is NaN at coordinate 0 of peer 1: every coordinate must be a finite number");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AveragingSetup {
    /// The private value of each peer.
    pub values: Vec<Vec<f64>>,
    /// Who mixes with whom.
    pub scheme: Scheme,
    /// The noises.
    pub noising: Noising,
    /// Each peer's budget of squared Gaussian loss; infinite for none.
    pub budget: f64,
}

impl AveragingSetup {
    /// Refuses what cannot be run, naming the field, the value and the remedy.
    pub fn check(&self) -> Result<()> {
        check::values(&self.values)?;
        let remedy = format!("give one vector for each of the scheme's {} peers", self.scheme.peers());
        let value = format_args!("{} vectors", self.values.len());
        require(self.values.len() == self.scheme.peers(), "values", value, remedy)?;
        check::noising(self.noising)?;
        crate::budget::check(self.budget)?;
        self.scheme.check()
    }

    /// The state machines of all peers; `private` turns a peer's vector into what it computes with.
    pub fn peers<V: Value>(&self, private: impl Fn(Peer, &[f64]) -> V) -> Result<Vec<AveragingPeer<V>>> {
        self.check()?;
        self.scheme.machines(|_| self.noising, |peer| private(peer, &self.values[peer]))
    }

    /// The peers on plain numbers.
    pub fn numbers(&self) -> Result<Vec<AveragingPeer<Vec<f64>>>> {
        self.peers(|_, value| value.to_vec())
    }

    /// What each peer may release.
    pub fn allowances(&self) -> Result<Vec<Allowance>> {
        Ok(vec![Allowance::gaussian(self.budget)?; self.values.len()])
    }

    /// What those who watch the run may rely on.
    pub fn facts(&self) -> Result<Facts> {
        self.scheme.facts(self.noising)
    }
}
