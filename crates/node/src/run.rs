//! From a folder and an agreement that all have signed to a run over the network, and its end.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sottovoce_protocol::Peer;

use crate::drive::{Driver, Ended, Event, Pace};
use crate::error::require;
use crate::network::{Answered, Network, Site};
use crate::page::Page;
use crate::part::{Holding, Role};
use crate::status::Board;
use crate::{
    Agreement, Config, Error, Function, Observer, Place, Recorder, Result, SharedFunction, Signatures,
};

/// How a run is begun.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// How long to wait until all neighbours are there.
    pub meeting: Duration,
    /// A file that what noise made of values is written to, for a replay. It is as secret as the values.
    pub record: Option<PathBuf>,
    /// What is said, where a rumour is begun here.
    pub say: Option<String>,
    /// Whether a data set of the same numbers as another one is another one all the same.
    pub new_data_set: bool,
}

/// What a program that runs a node has in its hand: a function that computes gradients in place of the node's own rows or program, and a way to stop. Clones share it.
#[derive(Clone, Default)]
pub struct Hand {
    function: Option<SharedFunction>,
    stop: Arc<Mutex<Stop>>,
}

/// Whether a run is to stop, and whom that is to be told.
#[derive(Default)]
struct Stop {
    asked: bool,
    events: Option<Sender<Event>>,
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hand").field("function", &self.function).finish_non_exhaustive()
    }
}

impl Hand {
    /// With a function that computes gradients. What it answers is clipped, rounded and hidden as a program's answers are.
    pub fn with(function: Arc<dyn Function>) -> Self {
        Self { function: Some(SharedFunction(function)), ..Self::default() }
    }

    /// Stops the run, now or as soon as it has begun: what was said is stored, and the same run goes on from there when it is run again.
    pub fn stop(&self) {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.asked = true;
        // A run that is over needs no stopping.
        stop.events.iter().for_each(|events| _ = events.send(Event::Stop));
    }

    fn listens(&self, events: &Sender<Event>) {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        if stop.asked {
            let _ = events.send(Event::Stop);
        }
        stop.events = Some(events.clone());
    }
}

/// Takes part in what was agreed on, to the end. What was begun before goes on.
pub fn run(
    place: &Place,
    agreement: &Agreement,
    signatures: &Signatures,
    options: &Options,
) -> Result<Ended> {
    run_by(place, agreement, signatures, options, &Hand::default())
}

/// The same by the hand of a program.
pub fn run_by(
    place: &Place,
    agreement: &Agreement,
    signatures: &Signatures,
    options: &Options,
    hand: &Hand,
) -> Result<Ended> {
    let missing = agreement.unsigned(&signatures.all())?;
    if !missing.is_empty() {
        return Err(Error::Disagreement(format!(
            "{} has not signed agreement {:?}: nothing is released before all have",
            missing.join(", "),
            agreement.hash()?
        )));
    }
    let (me, config) = (place.number(agreement)?, place.config()?);
    let role = agreement.role_saying(me, options.say.as_deref())?;
    let holding = Holding { function: hand.function.clone(), ..place.holding(&config)? };
    let site = site(agreement, me, &config, role.as_ref())?;
    let run = agreement.hash()?;
    let has_others = !place.under_way().is_empty();
    let _claim = place.claim(run)?;
    let page = match config.page.map(Page::listen).transpose() {
        Err(why) if has_others => {
            tracing::warn!("this run has no page, another one of this node may have it: {why}");
            None
        }
        listened => listened?,
    };
    let mut ledger = place.open_ledger()?;
    let begun = ledger.runs()?.contains(&run);
    let remedy = "this run has begun here already; run it without that to go on, or agree on a new one to say something";
    require(!begun || options.say.is_none(), "say", options.say.as_deref().unwrap_or_default(), remedy)?;
    let record = |path: &PathBuf| Recorder::open(path, agreement, me, begun);
    let recorder = options.record.as_ref().map(record).transpose()?;
    // What cannot be paid is said before anybody is called; what was begun is paid for.
    if !begun {
        let known = ledger.budgets()?.into_iter().filter(|one| one.label == config.label);
        let cost = role.cost(&known.map(|one| one.observer).collect::<Vec<_>>())?;
        let budget = |observer: Observer| (observer.clone(), config.budget.towards(&observer));
        let budgets: Vec<_> = role.observers().into_iter().map(budget).collect();
        ledger.affords(&config.label, &budgets, &cost)?;
        ledger.hold_all(&holding, options.new_data_set)?;
        ledger.declare_all(&config.label, &budgets)?;
    }
    let links = role.links()?;
    let about = (role.called(), role.forecast()?.rounds, &links[..]);
    let board = Arc::new(Board::new(agreement, me, about, Some(place.status_file(run)))?);
    board.spent(&ledger)?;
    let pace = Pace {
        answer: Duration::from_secs_f64(agreement.answer),
        round: Duration::from_secs_f64(agreement.round),
        meeting: options.meeting,
    };
    recorder.iter().for_each(|recorder| ledger.record_to(recorder.clone()));
    let (key, terms) = (place.read_key()?, agreement.canonical()?);
    let mut network = None;
    let open = || {
        let (events, inbox) = channel();
        hand.listens(&events);
        let opened = Network::open(&key, site, events.clone(), Arc::clone(&board))?;
        if let Some(page) = page {
            opened.spawn(page.serve(Arc::clone(&board)));
        }
        let (wire, board) = (opened.wire(), Arc::clone(&board));
        network = Some(opened);
        // One more: everybody has heard that all neighbours have all of theirs.
        Ok(Driver { inbox, events, wire, pace, board, terms })
    };
    let ended = role.run(ledger, &holding, Box::new(open));
    board.write(true);
    drop(network);
    if let (Some(recorder), Ok(ended)) = (&recorder, &ended) {
        // The result is there, whatever the disk says.
        if let Err(error) = recorder.ended(&ended.stands) {
            tracing::warn!("the recording lacks its end: {error}");
        }
    }
    ended
}

/// Asks all neighbours whether they are there, and what they have agreed to.
pub fn check(place: &Place, agreement: &Agreement, patience: Duration) -> Result<Vec<Answered>> {
    let (me, config) = (place.number(agreement)?, place.config()?);
    let role = agreement.role(me)?;
    crate::network::check(&place.read_key()?, &site(agreement, me, &config, role.as_ref())?, patience)
}

/// Where a peer is, and who it speaks to.
fn site(agreement: &Agreement, me: Peer, config: &Config, role: &dyn Role) -> Result<Site> {
    Ok(Site {
        bind: bind(&agreement.peers[me].address, config)?,
        relay: config.relay.clone(),
        local: config.local,
        roster: agreement.roster()?,
        addresses: agreement.peers.iter().map(|peer| peer.address.clone()).collect(),
        neighbours: role.links()?.swap_remove(me),
        longest: role.longest(),
        tick: Duration::from_secs_f64(agreement.tick),
        agreement: (agreement.hash()?, agreement.canonical()?),
    })
}

/// Where it listens: as its own file says, or at its address, or, where that is a name, at its port.
fn bind(address: &str, config: &Config) -> Result<SocketAddr> {
    let by_name = || {
        let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        port.map(|port: u16| SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))
    };
    let bind = config.bind.or_else(|| address.parse().ok()).or_else(by_name);
    bind.ok_or_else(|| {
        Error::parameter("bind", address, "say in node.toml where this node listens, such as 0.0.0.0:4001")
    })
}
