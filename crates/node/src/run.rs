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
    Agreement, Allowed, Config, Cost, Error, Function, Ledger, Observer, Place, Recorder, Result,
    SharedFunction, Signatures, Standing,
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
        let (who, run) = (missing.join(", "), agreement.hash()?);
        let why = format!("{who} has not signed agreement {run:?}: nothing is released before all have");
        return Err(Error::disagreement(why, &missing));
    }
    let run = agreement.hash()?;
    let me = place.number(agreement)?;
    let Ready { bill, holding, site, page } = Ready::of(place, agreement, options, hand)?;
    let Bill { role, config, mut ledger, begun, budgets, then, .. } = bill;
    then?;
    let _claim = place.claim(run)?;
    let record = |path: &PathBuf| Recorder::open(path, agreement, me, begun);
    let recorder = options.record.as_ref().map(record).transpose()?;
    if !begun {
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

/// What a run costs a node, and what its ledger says to that. Nothing is written.
pub struct Bill {
    /// Its part.
    pub role: Box<dyn Role>,
    /// What it holds, and what that may cost.
    pub config: Config,
    /// Its ledger.
    pub ledger: Ledger,
    /// Whether the run has begun here: then it is paid for.
    pub begun: bool,
    /// The budgets that the run needs.
    pub budgets: Vec<(Observer, Allowed)>,
    /// What it costs.
    pub cost: Cost,
    /// How all budgets stand once it is paid; or why it cannot be paid.
    pub then: Result<Vec<Standing>>,
}

impl Bill {
    /// The bill of what was agreed on, for a node that says this, where it says something.
    pub fn of(place: &Place, agreement: &Agreement, say: Option<&str>) -> Result<Self> {
        let (role, config, ledger) =
            (place.role_saying(agreement, say)?, place.config()?, place.open_ledger()?);
        let begun = ledger.runs()?.contains(&agreement.hash()?);
        let remedy = "this run has begun here already; run it without that to go on, or agree on a new one to say something";
        require(!begun || say.is_none(), "say", say.unwrap_or_default(), remedy)?;
        let known = ledger.budgets()?;
        let declared = known.iter().filter(|one| one.label == config.label).map(|one| one.observer.clone());
        let cost = role.cost(&declared.collect::<Vec<_>>())?;
        let budget = |observer: Observer| (observer.clone(), config.budget.towards(&observer));
        let budgets: Vec<_> = role.observers().into_iter().map(budget).collect();
        let then = if begun { Ok(known) } else { ledger.foresee(&config.label, &budgets, &cost) };
        Ok(Self { role, config, ledger, begun, budgets, cost, then })
    }
}

/// A node that may open the network: all was done that a run does before it, and nothing was written.
pub struct Ready {
    /// What the run costs.
    pub bill: Bill,
    /// What the node holds.
    pub holding: Holding,
    site: Site,
    page: Option<Page>,
}

impl Ready {
    /// Does all that a run does before it opens the network. What cannot be paid is in the [`Bill`]; whatever else a run would refuse is refused here.
    pub fn of(place: &Place, agreement: &Agreement, options: &Options, hand: &Hand) -> Result<Self> {
        let mut bill = Bill::of(place, agreement, options.say.as_deref())?;
        let holding = Holding { function: hand.function.clone(), ..place.holding(&bill.config)? };
        if bill.begun {
            bill.ledger = bill.role.take_up(bill.ledger, &holding)?;
        } else {
            bill.ledger.may_hold(&holding, options.new_data_set)?;
        }
        bill.role.read(&holding)?;
        let site = site(agreement, place.number(agreement)?, &bill.config, bill.role.as_ref())?;
        site.check()?;
        let has_others = !place.under_way().is_empty();
        let page = match bill.config.page.map(Page::listen).transpose() {
            Err(why) if has_others => {
                tracing::warn!("this run has no page, another one of this node may have it: {why}");
                None
            }
            listened => listened?,
        };
        Ok(Self { bill, holding, site, page })
    }
}

/// Asks all neighbours whether they are there, and what they have agreed to; before that it refuses whatever a run would refuse.
pub fn check(
    place: &Place,
    agreement: &Agreement,
    options: &Options,
    patience: Duration,
) -> Result<Vec<Answered>> {
    // (The ledger and the page are for others meanwhile.)
    let Ready { bill: Bill { then, .. }, site, .. } = Ready::of(place, agreement, options, &Hand::default())?;
    then?;
    crate::network::check(&place.read_key()?, &site, patience)
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
