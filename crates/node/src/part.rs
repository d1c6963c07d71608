//! One seam between what was agreed on and whatever drives a peer: the part that it takes in a run, whatever the protocol.
//!
//! ```text
//!   agreement ──► Role: who learns what, what it costs ──► drive: machine, noise, private steps, how it stands
//! ```
//!
//! A protocol is added by one type that implements [`Priced`] and [`Part`], and one line in [`Agreement::role`](crate::Agreement::role).

use serde::Serialize;
use sottovoce_privacy::Guarantee;
use sottovoce_protocol::{Machine, Peer};

use crate::drive::{Driver, Ended};
use crate::{Cost, DueOf, Error, Hash, Hiding, Host, Ledger, Observer, Price, Record, Result};

/// What a run takes, and how far its result is off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Rounds.
    pub rounds: usize,
    /// Messages that this peer sends.
    pub messages: u64,
    /// Their bytes, about.
    pub bytes: u64,
    /// Standard deviation that noise leaves in each number of the result; none where it is not known beforehand.
    pub deviation: Option<f64>,
    /// Whether everybody has the same result in the end.
    pub exact: bool,
    /// The noise that this peer adds to its own numbers.
    pub sigma: f64,
}

/// What a peer's records say of the way it took.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    /// Where something was done that was not agreed on, each in a sentence.
    pub problems: Vec<String>,
    /// What is worth knowing all the same.
    pub remarks: Vec<String>,
    /// Whether it has a result.
    pub finished: bool,
}

/// What a run could reveal of a peer, and what it takes.
pub trait Priced {
    /// From whom something is hidden: everybody else, coalitions that were named and of which it is none, and someone who sees every message.
    fn observers(&self) -> Vec<Observer>;

    /// What the run costs, towards everybody who takes part, and towards all of these.
    fn cost(&self, declared: &[Observer]) -> Result<Cost>;

    /// What the run takes.
    fn forecast(&self) -> Result<Forecast>;

    /// Who exchanges messages with whom, for everybody.
    fn links(&self) -> Result<Vec<Vec<Peer>>>;

    /// Bytes of the longest message.
    fn longest(&self) -> usize;

    /// What it is to who asks, in a few words: `averaging by butterfly, masked`.
    fn called(&self) -> String;

    /// What is promised towards an observer at this price: who attacks, what is protected, by what right, and where it ends. None where it takes no part.
    fn guarantee(&self, _: &Observer, _: &Price) -> Result<Option<Guarantee>> {
        let remedy = "what is promised of it cannot be stated from a transcript yet";
        Err(Error::parameter("transcript", self.called(), remedy))
    }

    /// What a message is called in a record, in words.
    fn label(&self, _: &[u8]) -> Option<String> {
        None
    }

    /// What was noted in a record, in words; peers by these names.
    fn note(&self, _: &[u8], _: &[String]) -> Option<String> {
        None
    }

    /// Whether a peer's records follow what was agreed on; none where that cannot be told from them.
    fn judge(&self, _: &[Record], _: &[String]) -> Result<Option<Course>> {
        Ok(None)
    }
}

/// What a peer brings along.
#[derive(Debug, Clone, PartialEq)]
pub struct Holding {
    /// The data set, as budgets know it ...
    pub label: String,
    /// ... and its file.
    pub data: Hash,
    /// Its numbers.
    pub values: Vec<f64>,
}

/// How a run stands at one peer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stands {
    /// It goes on.
    Going {
        /// The round that it is in ...
        round: usize,
        /// ... of so many.
        rounds: usize,
    },
    /// It is over, and these numbers are its result.
    Done(Vec<f64>),
    /// It says nothing more, and has no result: these were missing, as far as is known.
    Halted {
        /// In which round.
        round: usize,
        /// Who was not heard.
        missing: Vec<Peer>,
    },
}

/// The value of a part's machine.
pub type ValueOf<P> = <<P as Part>::Machine as Machine>::Value;
/// The host of a part's machine.
pub type HostOf<P> = Host<<P as Part>::Machine, <P as Part>::Noise>;
/// A host, and what its driver has to do at first.
pub type Opened<P> = (HostOf<P>, Vec<DueOf<<P as Part>::Machine>>);
/// Makes private steps: which, how large, from where.
pub type Steps<V> = Box<dyn FnMut(usize, f64, &mut V) -> Result<()> + Send>;

/// The part that a peer takes in a run.
pub trait Part: Priced {
    /// Its protocol.
    type Machine: Machine;
    /// What hides its values.
    type Noise: Hiding<ValueOf<Self>>;

    /// Takes part with what the ledger's owner holds, from the beginning or from where the ledger says that the run stands.
    fn open(&self, ledger: Ledger, holding: &Holding) -> Result<Opened<Self>>;

    /// What this peer asks of its machine once everybody is there; none where it waits for others to begin.
    fn begin(&self) -> Option<<Self::Machine as Machine>::Command>;

    /// Private steps of what it holds; they are made in a thread of their own.
    fn steps(&self, _: &Holding) -> Result<Steps<ValueOf<Self>>> {
        Ok(Box::new(|_, _, _| Ok(())))
    }

    /// Draws noise ahead while nothing else is to be done, a little at a time; whether there may be more to draw.
    fn ahead(&self, _: &mut Self::Noise, _begun: bool) -> bool {
        false
    }

    /// How the run stands here.
    fn stands(&self, machine: &Self::Machine) -> Result<Stands>;

    /// Whether this note names peers who were not heard.
    fn missing(_: &<Self::Machine as Machine>::Note) -> Vec<Peer> {
        Vec::new()
    }
}

/// A part of whichever protocol.
pub trait Role: Priced {
    /// Runs it to its end.
    fn run(self: Box<Self>, ledger: Ledger, holding: &Holding, driver: Driver) -> Result<Ended>;
}

impl<P: Part> Role for P {
    fn run(self: Box<Self>, ledger: Ledger, holding: &Holding, driver: Driver) -> Result<Ended> {
        driver.drive(*self, ledger, holding)
    }
}
