//! The door for programs: a builder for each protocol, and what its run returns.
//!
//! A builder fills in the spec that flags and files describe as well, so that all of them run the same preparation. Private inputs come from memory.

mod averaging;
mod deep;
mod learning;
mod personalized;
mod rows;
mod rumor;

use std::borrow::Borrow;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use sottovoce_report::{Provenance, store};

pub use averaging::Averaging;
pub use deep::Deep;
pub use learning::Learning;
pub use personalized::Personalized;
pub use rumor::{Rumor, Spread};

use crate::experiment::{Experiment, Range};
use crate::spine::{Checkpoints, Context, Outcome};
use crate::terms::Stated;
use crate::{Error, Result};

/// Who attacks.
///
/// ```
/// use sottovoce::Adversary;
/// let adversary = Adversary::eavesdropper().with_colluders(2);
/// assert_eq!(adversary.to_string(), "an eavesdropper with any 2 peers");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adversary {
    who: Who,
    colluders: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Who {
    Eavesdropper,
    EveryPeer,
    Peers(Vec<String>),
}

impl Adversary {
    /// Someone who sees every message.
    pub fn eavesdropper() -> Self {
        Self { who: Who::Eavesdropper, colluders: 0 }
    }

    /// Each peer by itself.
    pub fn every_peer() -> Self {
        Self { who: Who::EveryPeer, colluders: 0 }
    }

    /// Peers who pool what they hear, by their names in the graph, or their numbers from 0.
    pub fn peers(names: impl IntoIterator<Item: ToString>) -> Self {
        Self { who: Who::Peers(names.into_iter().map(|name| name.to_string()).collect()), colluders: 0 }
    }

    /// The same, to whom any so many peers tell all that they know.
    pub fn with_colluders(self, colluders: usize) -> Self {
        Self { colluders, ..self }
    }

    /// That nothing is known of this adversary, and whom to ask for instead.
    fn refused(&self, remedy: &str) -> Error {
        Error::parameter("adversary", self, remedy)
    }

    /// Refuses more colluders than noise that cancels was chosen for, and such as peers have.
    fn check_colluders(&self, secrets: bool, agreed: Option<usize>) -> Result<()> {
        let known = match self.who {
            Who::Eavesdropper => !secrets || self.colluders <= agreed.unwrap_or(1),
            Who::EveryPeer | Who::Peers(_) => self.colluders == 0,
        };
        let remedy = "the noise was chosen for fewer who collude; give the builder as many";
        if known { Ok(()) } else { Err(self.refused(remedy)) }
    }

    /// How many collude, where secrets of pairs are what colluders know more than an eavesdropper does.
    fn colluding(&self, secrets: bool) -> Option<usize> {
        (secrets && self.colluders > 0).then_some(self.colluders)
    }
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.who {
            Who::Eavesdropper => f.write_str("an eavesdropper")?,
            Who::EveryPeer => f.write_str("every peer")?,
            Who::Peers(names) => write!(f, "peers {}", names.join(", "))?,
        }
        match self.colluders {
            0 => Ok(()),
            1 => f.write_str(" with any one peer"),
            many => write!(f, " with any {many} peers"),
        }
    }
}

/// A protocol, as its builder describes it.
pub trait Protocol: Sized {
    /// What comes of a run.
    type Found;

    /// What came of this one.
    #[doc(hidden)]
    fn found(outcome: &Outcome) -> Option<Self::Found>;
    #[doc(hidden)]
    fn account(run: &Run<Self>, adversary: &Adversary) -> Result<Account>;
    #[doc(hidden)]
    fn attack(run: &Run<Self>, runs: usize) -> Result<Attack>;
}

/// What came of a run, who learned what from it, and what an attack on it proves.
pub struct Run<P: Protocol> {
    protocol: P,
    seed: u64,
    found: P::Found,
    outcome: Outcome,
}

impl<P: Protocol> Run<P> {
    /// Runs a builder's spec with this seed.
    fn new(protocol: P, spec: &Experiment, seed: u64) -> Result<Self> {
        let (checkpoints, elsewhere) = (Checkpoints::default(), |_: &_| Ok(None));
        let context = Context {
            folder: Path::new(""),
            seed,
            progress: &(),
            checkpoints: &checkpoints,
            elsewhere: &elsewhere,
        };
        let outcome = spec.run(&context)?;
        let remedy = "it is run by the program; give another";
        let found =
            P::found(&outcome).ok_or_else(|| Error::parameter("protocol", "of another kind", remedy))?;
        Ok(Self { protocol, seed, found, outcome })
    }

    /// All that came of it.
    pub fn found(&self) -> &P::Found {
        &self.found
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What an adversary learned.
    ///
    /// # Errors
    ///
    /// Where no peer has such a name, or nothing is known of such an adversary; the message says whom to ask for.
    pub fn account(&self, adversary: impl Borrow<Adversary>) -> Result<Account> {
        P::account(self, adversary.borrow())
    }

    /// Attacks the run so many times, as its adversary would: an averaging's values, a peer's rows, one row of personalised models, the source of a rumour. A
    /// net is attacked once, by canaries in place of the images of one peer.
    ///
    /// # Errors
    ///
    /// Where nothing is claimed, or the runs are too few to tell.
    pub fn attack(&self, runs: usize) -> Result<Attack> {
        P::attack(self, runs)
    }

    /// Writes the report to a folder: its page, if it has one, the spec, the transcript and the result. Of inputs in memory nothing is written.
    ///
    /// # Errors
    ///
    /// Where a file is there already, or cannot be written.
    pub fn report(&self, folder: impl AsRef<Path>) -> Result<()> {
        let made = Provenance {
            seed: Some(self.seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Provenance::default()
        };
        store::write(folder.as_ref(), &self.outcome.files(made, Ok)?, false)?;
        Ok(())
    }
}

impl<P: Protocol + fmt::Debug> fmt::Debug for Run<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("protocol", &self.protocol)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// What an adversary learns.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    guarantees: Vec<Stated>,
    pairs: Vec<Pair>,
}

impl Account {
    /// What is guaranteed, with adversary, proof status and caveats.
    pub fn guarantees(&self) -> &[Stated] {
        &self.guarantees
    }

    /// What each peer learns of each other one, where every peer of an averaging was asked for.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The largest epsilon; none where no finite one holds.
    pub fn epsilon(&self) -> Option<f64> {
        let all: Option<Vec<f64>> = self.guarantees.iter().map(|one| one.epsilon).collect();
        all?.into_iter().max_by(f64::total_cmp)
    }
}

/// What one peer learns of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Who learns.
    pub observer: String,
    /// Whose value it is.
    pub target: String,
    /// Share of local differential privacy that is lost, from 0 to 1.
    pub leakage: f64,
    /// Upper bound of epsilon, at the delta of the spec.
    pub epsilon: f64,
}

/// What an attack found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attack {
    headline: String,
    refuted: bool,
}

impl Attack {
    /// Whether no more was found than is claimed.
    pub fn claim_holds(&self) -> bool {
        !self.refuted
    }
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

/// A public range as a spec has it.
fn public_range(range: &RangeInclusive<f64>) -> Result<Range> {
    format!("{}:{}", range.start(), range.end()).parse()
}

/// Builder methods that set fields of the spec.
macro_rules! setters {
    ($spec:ident: $($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty)?) $body:block)*) => {
        $($(#[$doc])*
        pub fn $name(mut self $(, $argument: $type)?) -> Self {
            let $spec = &mut self.spec;
            $body;
            self
        })*
    };
}
use setters;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
