//! One seam between what was agreed on and whatever drives a peer: the part that it takes in a run, whatever the protocol.
//!
//! ```text
//!   agreement ──► Role: who learns what, what it costs ──► drive: machine, noise, private steps, how it stands
//! ```
//!
//! A protocol is added by one type that implements [`Priced`] and [`Part`], and one line in [`Agreement::role`](crate::Agreement::role).

use std::time::Duration;

use serde::Serialize;
use sottovoce_privacy::Guarantee;
use sottovoce_protocol::{Machine, Peer};

use crate::drive::{Driver, Ended, Open};
pub use crate::holding::Holding;
use crate::{Cost, DueOf, Hiding, Host, Ledger, Observer, Price, Record, Result};

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

/// What prices hold against besides peers who follow the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covers {
    /// Peers who send anything, at any time.
    pub malicious: bool,
    /// Peers who vanish, whenever they like.
    pub vanishing: bool,
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

    /// Refuses where a transcript of the run would tell what is to be hidden.
    fn may_be_shown(&self) -> Result<()> {
        Ok(())
    }

    /// What is promised towards an observer at this price: who attacks, what is protected, by what right, and where it ends. None where it takes no part.
    fn guarantee(&self, observer: &Observer, price: &Price) -> Result<Option<Guarantee>>;

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

    /// Whether prices hold as well against peers who send anything at any time, and whatever somebody's vanishing brings about.
    fn covers(&self) -> Covers {
        Covers { malicious: true, vanishing: true }
    }

    /// What prices hold against, in a sentence.
    fn holds(&self) -> &'static str {
        "The same holds whatever these peers send, and whatever they leave out: rounds are strict. Who vanishes leaves everybody without a result, and nobody learns more."
    }

    /// How long the run lasts, where it has no end of its own.
    fn lasts(&self) -> Option<Duration> {
        None
    }
}

/// Parts that are priced as what they are made of.
macro_rules! priced_as {
    ($($part:ty),*) => {
        $(impl $crate::part::Priced for $part {
            fn observers(&self) -> Vec<$crate::Observer> {
                self.0.observers()
            }

            fn cost(&self, declared: &[$crate::Observer]) -> $crate::Result<$crate::Cost> {
                self.0.cost(declared)
            }

            fn forecast(&self) -> $crate::Result<$crate::part::Forecast> {
                self.0.forecast()
            }

            fn links(&self) -> $crate::Result<Vec<Vec<sottovoce_protocol::Peer>>> {
                self.0.links()
            }

            fn longest(&self) -> usize {
                self.0.longest()
            }

            fn called(&self) -> String {
                self.0.called()
            }

            fn covers(&self) -> $crate::part::Covers {
                self.0.covers()
            }

            fn holds(&self) -> &'static str {
                self.0.holds()
            }

            fn may_be_shown(&self) -> $crate::Result<()> {
                self.0.may_be_shown()
            }

            fn lasts(&self) -> Option<std::time::Duration> {
                self.0.lasts()
            }

            fn guarantee(
                &self,
                observer: &$crate::Observer,
                price: &$crate::Price,
            ) -> $crate::Result<Option<sottovoce_privacy::Guarantee>> {
                self.0.guarantee(observer, price)
            }

            fn label(&self, bytes: &[u8]) -> Option<String> {
                self.0.label(bytes)
            }

            fn note(&self, bytes: &[u8], names: &[String]) -> Option<String> {
                self.0.note(bytes, names)
            }

            fn judge(
                &self,
                records: &[$crate::Record],
                names: &[String],
            ) -> $crate::Result<Option<$crate::part::Course>> {
                self.0.judge(records, names)
            }
        })*
    };
}
pub(crate) use priced_as;

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
    /// Its time is over, and these texts have come here.
    Told(Vec<String>),
    /// Its time is over, and its result is not here: a token ended with somebody else, or got lost.
    Elsewhere,
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

    /// Private steps of what it holds; they are made in a thread of their own. Where there are none, a function that would make them is refused.
    fn steps(&self, holding: &Holding) -> Result<Steps<ValueOf<Self>>> {
        holding.check_nothing_learned()?;
        Ok(Box::new(|_, _, _| Ok(())))
    }

    /// Reads what a run would read of what is held, and sends nothing: what does not suit is refused as it would be then. Programs are looked for, and not started.
    fn read(&self, holding: &Holding) -> Result<()> {
        self.steps(&Holding { only_read: true, ..holding.clone() }).map(drop)
    }

    /// Draws noise ahead while nothing else is to be done, a little at a time; whether there may be more to draw.
    fn ahead(&self, _: &mut Self::Noise, _begun: bool) -> bool {
        false
    }

    /// How the run stands here.
    fn stands(&self, machine: &Self::Machine) -> Result<Stands>;

    /// How it stands here once its time is over.
    fn ends(&self, machine: &Self::Machine) -> Result<Stands> {
        self.stands(machine)
    }

    /// Whether this note names peers who were not heard.
    fn missing(_: &<Self::Machine as Machine>::Note) -> Vec<Peer> {
        Vec::new()
    }
}

/// A part of whichever protocol.
pub trait Role: Priced {
    /// Reads what a run would read of what is held, and sends nothing.
    fn read(&self, holding: &Holding) -> Result<()>;

    /// Takes up what the ledger has of a run that has begun, and sends nothing; the ledger comes back.
    fn take_up(&self, ledger: Ledger, holding: &Holding) -> Result<Ledger>;

    /// Runs it to its end; what carries frames is opened once all that is held was read.
    fn run(self: Box<Self>, ledger: Ledger, holding: &Holding, open: Open<'_>) -> Result<Ended>;
}

impl<P: Part> Role for P {
    fn read(&self, holding: &Holding) -> Result<()> {
        Part::read(self, holding)
    }

    fn take_up(&self, ledger: Ledger, holding: &Holding) -> Result<Ledger> {
        Ok(self.open(ledger, holding)?.0.into_ledger())
    }

    fn run(self: Box<Self>, ledger: Ledger, holding: &Holding, open: Open<'_>) -> Result<Ended> {
        Driver::drive(*self, ledger, holding, open)
    }
}
