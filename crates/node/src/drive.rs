//! Runs one peer to its end, whatever the protocol and whatever carries its frames: events in, frames out, alarms in between. No mathematics, and no peer is ever waited for.
//!
//! ```text
//!   Wire ──► Event ──► Driver ──► Host (durable) ──► dues ──► Wire: frames; alarms; private steps in a thread of their own
//! ```
//!
//! A frame that cannot be handed over is dropped: the ledger holds it, and it is said again when the two meet. So every change of a connection is a meeting.

mod running;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use sottovoce_protocol::{Machine, Peer, Span};

use crate::bulletin::{Bulletin, called};
use crate::part::{Holding, HostOf, Part, Stands, Steps, ValueOf};
use crate::quiet::{self, Quiet};
use crate::status::{Board, Phase};
use crate::{Cause, Cost, Due, DueOf, Error, Frame, Hash, Ledger, Notice, Observer, Result, Says, Vouched};

use running::Running;

/// Carries frames to peers.
pub trait Wire: Send + Sync {
    /// Hands a frame over, or drops it where the peer cannot be reached now; it never waits.
    fn send(&self, to: Peer, frame: Frame);

    /// Forgets what is on its way to a peer: what is handed over again may have been dropped by it.
    fn forget(&self, to: Peer);

    /// Waits until what was handed over has arrived, or so long.
    fn flush(&self, at_most: Duration);
}

/// What happens to a peer.
pub enum Event {
    /// A frame has arrived.
    Frame {
        /// From whom: the wire vouches for it.
        from: Peer,
        /// What it says.
        frame: Frame,
        /// Dropped once the frame was handled: until then no more is read from this peer than was agreed on.
        guard: Box<dyn Send>,
    },
    /// A message has arrived, and its hash and mark were looked at.
    Parcel {
        /// From whom.
        from: Peer,
        /// The message.
        parcel: Vouched,
        /// As above.
        guard: Box<dyn Send>,
    },
    /// What has arrived is no frame.
    Garbled {
        /// From whom.
        from: Peer,
        /// What is wrong with it.
        what: String,
        /// As above.
        guard: Box<dyn Send>,
    },
    /// There is a (new) connection to a peer.
    Met(Peer),
    /// There is none any more.
    Lost(Peer),
    /// A private step was made.
    Computed,
    /// Its user stops it.
    Stop,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// An answer.
    pub answer: Duration,
    /// A round.
    pub round: Duration,
    /// Until all neighbours are there.
    pub meeting: Duration,
}

/// How a run ended at this peer.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Its result, or who was missing.
    pub stands: Stands,
    /// Neighbours who have not said that they hold all that was said to them.
    pub unanswered: Vec<Peer>,
    /// Who stopped responding first, where it has no result for that.
    pub cause: Option<Cause>,
    /// Who has signed that it has the result, where not everybody gets it.
    pub held_by: Vec<Peer>,
    /// What went wrong with what its owner brought along; others do not learn of it.
    pub trouble: Option<String>,
    /// What its owner should know of what it holds: values that were clipped.
    pub remark: Option<String>,
    /// How long it took, from when everybody was there (or it was taken up again) to the result.
    pub took: Duration,
}

impl Ended {
    /// Itself where there is a result, here or with somebody who has signed that it has it; else why there is none. Peers by these names.
    pub fn with_a_result(self, names: &[String]) -> Result<Self> {
        let own = self.trouble.as_ref().map_or_else(String::new, |what| format!(" At this node: {what}."));
        match &self.stands {
            Stands::Done(_) => Ok(self),
            Stands::Told(texts) if !texts.is_empty() => Ok(self),
            Stands::Elsewhere if !self.held_by.is_empty() => Ok(self),
            Stands::Told(_) => {
                Err(Error::NoResult(format!("the agreed time is over, and no text has come here.{own}")))
            }
            Stands::Elsewhere | Stands::Going { .. } => Err(Error::NoResult(format!(
                "the agreed time is over, and nobody has signed that it has the result: a token may be lost.{own} What was sent stays paid for; ask the others, or agree on a new run"
            ))),
            Stands::Halted { round, .. } => Err(over(self.cause.as_ref(), *round as u64, &own, names)),
        }
    }
}

/// That a run is over without a result, in this round if no cause of it is known. Peers by these names.
fn over(cause: Option<&Cause>, round: u64, own: &str, names: &[String]) -> Error {
    let unknown = || format!("round {round} ended, and it is not known without whom");
    let why = cause.map_or_else(unknown, |cause| cause.told(names));
    Error::Over {
        why: format!(
            "the run is over without a result: {why}.{own} What was sent stays paid for, and reveals no more than the plan says; agree on a new run"
        ),
        peers: cause.iter().flat_map(|cause| called(&cause.silent, names)).collect(),
        round: Some(cause.map_or(round, |cause| cause.round)),
    }
}

/// Drives a peer.
pub struct Driver {
    /// What happens.
    pub inbox: Receiver<Event>,
    /// Where private steps report.
    pub events: Sender<Event>,
    /// Carries frames.
    pub wire: Arc<dyn Wire>,
    /// How long things may take.
    pub pace: Pace,
    /// Where everybody can see how it stands.
    pub board: Arc<Board>,
    /// What was agreed on, as text: for a neighbour who has agreed to something else.
    pub terms: String,
}

/// What time brings.
enum Alarm<T> {
    /// The machine asked for it.
    Timer(T),
    /// Not everybody came.
    Meeting,
    /// Unanswered messages are said again.
    Again,
    /// The agreed time is over.
    Over,
}

/// A private step that is asked for, or was made.
type Asked<V> = (u64, usize, f64, V);
type Made<V> = (u64, Result<V>);

/// Opens what carries frames.
pub type Open<'a> = Box<dyn FnOnce() -> Result<Driver> + 'a>;

impl Driver {
    /// Runs a part to its end: until it has a result, or cannot have one. What it holds is read before anybody is called: nobody sees whether it could be.
    pub fn drive<P: Part>(part: P, ledger: Ledger, holding: &Holding, open: Open<'_>) -> Result<Ended> {
        let known = ledger.budgets()?.into_iter().filter(|one| one.label == holding.label);
        let declared: Vec<Observer> = known.map(|one| one.observer).collect();
        let cost = part.cost(&declared)?;
        let steps = part.steps(holding)?;
        let (mut host, dues) = part.open(ledger, holding)?;
        if !host.has_begun() {
            host.rehearse()?;
        }
        let driver = open()?;
        let (asks, made) = stepper(steps, driver.events.clone());
        let (ledger, run) = (host.ledger(), host.run());
        let bulletin = Bulletin::new(run, host.roster().to_vec(), ledger.key(), ledger.silent(run))?;
        let mut running = Running {
            part,
            host,
            cost,
            asks,
            made,
            alarms: BTreeMap::new(),
            order: 0,
            bulletin,
            began: Instant::now(),
            refusals: Quiet::default(),
            missing: BTreeSet::new(),
            met: BTreeSet::new(),
            others: BTreeMap::new(),
            done: BTreeSet::new(),
            over: false,
            returned: false,
            postponed: 0,
            signed: None,
            stood_still: None,
            driver,
        };
        running.alarm(running.driver.pace.meeting, Alarm::Meeting);
        running.alarm(running.driver.pace.answer, Alarm::Again);
        if running.host.has_begun() {
            running.lasts();
            running.returned = !matches!(running.part.stands(running.host.machine())?, Stands::Going { .. });
        }
        running.obey(dues)?;
        let ended = running.run().and_then(|stands| {
            let took = running.began.elapsed();
            running.linger(stands, took)
        });
        // Whatever has ended the run: the thread that asks it may wait for it still.
        holding.programs.end_all();
        Ok(Ended { trouble: holding.trouble.told(), remark: holding.remark.told(), ..ended? })
    }
}

/// A thread that makes private steps, one after the other.
fn stepper<V: Send + 'static>(
    mut steps: Steps<V>,
    events: Sender<Event>,
) -> (Sender<Asked<V>>, Receiver<Made<V>>) {
    let (asks, asked) = channel::<Asked<V>>();
    let (makes, made) = channel();
    std::thread::spawn(move || {
        for (ticket, iteration, size, mut value) in asked {
            let step = std::panic::AssertUnwindSafe(|| steps(iteration, size, &mut value));
            // What breaks must not be waited for: nothing is said of what it was made from.
            let broken = |_| Err(Error::storage("a private step", "it broke off"));
            let done = std::panic::catch_unwind(step).unwrap_or_else(broken).map(|()| value);
            if makes.send((ticket, done)).is_err() || events.send(Event::Computed).is_err() {
                return;
            }
        }
    });
    (asks, made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_step_that_breaks_is_an_error_and_says_nothing_of_what_broke() {
        let (events, inbox) = channel();
        let (asks, made) = stepper::<u8>(Box::new(|_, _, value| panic!("it was {value}")), events);
        asks.send((3, 0, 1.0, 77)).unwrap();
        assert!(matches!(inbox.recv_timeout(Duration::from_secs(10)), Ok(Event::Computed)));
        let (ticket, result) = made.try_recv().unwrap();
        let error = result.unwrap_err().to_string();
        assert!(ticket == 3 && error.contains("broke off") && !error.contains("77"), "{error}");
    }
}
