//! Connections to peers: one each, the newest, and what waits to be sent on it. Whoever cannot be reached is told when the two meet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_core::Stream;
use iroh::endpoint::{Connection, ConnectionError, Path, PathEvent, VarInt};
use sottovoce_protocol::Peer;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::Instant;

use super::window::Window;
use super::wire::{self, HEAD, Head};
use crate::drive::{Event, Wire};
use crate::host::SALT;
use crate::quiet::{self, Quiet};
use crate::status::Board;
use crate::{Frame, Hash, Name, Parcel, Vouched};

/// A connection that a newer one has taken the place of.
const REPLACED: u32 = 1;

/// A connection whose way through the network is gone: what was on that way would be waited for as long as it was away, several times over.
const MOVED: u32 = 4;

/// Connections with one peer, at the most: two that were made at the same time.
const OPEN: usize = 2;

/// A peer may call so often ...
const CALLS: usize = 16;
/// ... in this time: who calls more often is not let in for now.
const WHILE: Duration = Duration::from_secs(1);
const TOO_OFTEN: u32 = 3;

/// Frames that wait for one connection; more are dropped, and said again later.
const QUEUE: usize = 4096;

/// Bytes of a message that takes a while to look at.
const LONG: usize = 1 << 16;

/// Frames of a peer that are read and not handled yet.
const UNHANDLED: usize = 2;

/// A connection, and the queues of who writes to it.
struct Link {
    connection: Connection,
    parcels: mpsc::Sender<Frame>,
    others: mpsc::Sender<Frame>,
    /// Messages that are on their way, or have arrived: a connection loses none, so that they need not be said on it again.
    said: BTreeSet<u64>,
}

/// All connections of a peer.
pub(crate) struct Links {
    pub(super) me: Name,
    pub(super) roster: Vec<Name>,
    run: Hash,
    pub(super) longest: usize,
    tick: Duration,
    start: Instant,
    links: Mutex<BTreeMap<Peer, Vec<Link>>>,
    handled: BTreeMap<Peer, Arc<Semaphore>>,
    /// When each peer has called lately.
    calls: Mutex<BTreeMap<Peer, VecDeque<Instant>>>,
    /// Tells who dials that a connection is gone.
    pub(super) gone: BTreeMap<Peer, Notify>,
    /// Frames that were handed over and have not arrived.
    pending: AtomicUsize,
    events: Sender<Event>,
    board: Arc<Board>,
    gone_lines: Quiet<Peer>,
}

impl Links {
    pub(crate) fn new(
        (me, roster, neighbours): (Name, Vec<Name>, &[Peer]),
        (run, longest): (Hash, usize),
        tick: Duration,
        events: Sender<Event>,
        board: Arc<Board>,
    ) -> Self {
        Self {
            me,
            roster,
            run,
            longest,
            tick,
            start: Instant::now(),
            links: Mutex::default(),
            handled: neighbours.iter().map(|&peer| (peer, Arc::new(Semaphore::new(UNHANDLED)))).collect(),
            calls: Mutex::default(),
            gone: neighbours.iter().map(|&peer| (peer, Notify::new())).collect(),
            pending: AtomicUsize::new(0),
            events,
            board,
            gone_lines: Quiet::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Peer, Vec<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, event: Event) {
        // Nobody listens any more once the run is over.
        let _ = self.events.send(event);
    }

    /// Whether there is a connection.
    pub(super) fn holds(&self, peer: Peer) -> bool {
        self.lock().get(&peer).is_some_and(|links| !links.is_empty())
    }

    /// Whether a peer has called so often that it is let in no more for now: every connection takes memory, and is news for the driver.
    fn calls_too_often(&self, peer: Peer) -> bool {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (calls, now) = (calls.entry(peer).or_default(), Instant::now());
        calls.retain(|&call| now.duration_since(call) < WHILE);
        let too_often = calls.len() >= CALLS;
        if !too_often {
            calls.push_back(now);
        }
        too_often
    }

    /// A new connection. Of two peers the one with the smaller key decides which is kept: the newest. The other one uses the newest that is open.
    pub(super) fn add(self: &Arc<Self>, peer: Peer, connection: Connection) {
        if self.calls_too_often(peer) {
            return connection.close(VarInt::from_u32(TOO_OFTEN), b"called too often");
        }
        let (parcels, waiting) = mpsc::channel(QUEUE);
        let (others, ready) = mpsc::channel(QUEUE);
        {
            let mut links = self.lock();
            let all = links.entry(peer).or_default();
            let kept = if self.me < self.roster[peer] { 0 } else { OPEN - 1 };
            let old = all.drain(..all.len().saturating_sub(kept));
            old.for_each(|link| link.connection.close(VarInt::from_u32(REPLACED), b"a newer connection"));
            all.push(Link { connection: connection.clone(), parcels, others, said: BTreeSet::new() });
        }
        // One frame at a time: what is not read yet of a second one could take the window that the first needs.
        let turn = Arc::new(tokio::sync::Mutex::new(()));
        tokio::spawn(Arc::clone(self).write(connection.clone(), waiting, Some(self.tick), Arc::clone(&turn)));
        tokio::spawn(Arc::clone(self).write(connection.clone(), ready, None, turn));
        tokio::spawn(Arc::clone(self).read(peer, connection.clone()));
        tokio::spawn(Arc::clone(self).watch(peer, connection));
        self.tell(Event::Met(peer));
    }

    /// Waits until a connection is gone, or the way that it has used. What was on its way in it may be lost: if there is another, the two meet again.
    async fn watch(self: Arc<Self>, peer: Peer, connection: Connection) {
        let why = tokio::select! {
            why = connection.closed() => why,
            () = way_gone(&connection) => {
                connection.close(VarInt::from_u32(MOVED), b"its way is gone");
                ConnectionError::LocallyClosed
            }
        };
        self.log_gone(peer, &why);
        let left = {
            let mut links = self.lock();
            let all = links.entry(peer).or_default();
            all.retain(|link| link.connection.stable_id() != connection.stable_id());
            !all.is_empty()
        };
        self.tell(if left { Event::Met(peer) } else { Event::Lost(peer) });
        if let Some(gone) = self.gone.get(&peer) {
            gone.notify_one();
        }
    }

    /// Says that a connection has gone: that who is done leaves is no fault, and what is replaced no news.
    fn log_gone(&self, peer: Peer, why: &ConnectionError) {
        let code = match why {
            ConnectionError::ApplicationClosed(close) => u64::from(close.error_code),
            ConnectionError::LocallyClosed => return,
            _ => u64::MAX,
        };
        if code == u64::from(REPLACED) || code == u64::from(MOVED) {
            return;
        }
        let Some(more) = self.gone_lines.due(peer) else { return };
        let (name, more) = (self.called(peer), quiet::told(more));
        match code {
            0 => tracing::info!("{name} has left: it needs nothing more{more}"),
            _ => tracing::info!("the connection to {name} is gone: {why}{more}"),
        }
    }

    /// What people call a peer.
    pub(super) fn called(&self, peer: Peer) -> String {
        self.board.names_of(&[peer])
    }

    /// Writes frames, each on a stream of its own; messages at the next tick.
    async fn write(
        self: Arc<Self>,
        connection: Connection,
        mut frames: mpsc::Receiver<Frame>,
        tick: Option<Duration>,
        turn: Arc<tokio::sync::Mutex<()>>,
    ) {
        while let Some(frame) = frames.recv().await {
            if let Some(tick) = tick {
                let passed = self.start.elapsed().as_nanos() / tick.as_nanos().max(1); // whole numbers
                let next = tick.saturating_mul(u32::try_from(passed + 1).unwrap_or(u32::MAX));
                tokio::time::sleep_until(self.start + next).await;
            }
            let _turn = turn.lock().await;
            if let Err(why) = self.write_one(&connection, frame).await {
                tracing::trace!("a frame was not sent: {why}");
                self.pending.fetch_sub(1, SeqCst);
            }
        }
    }

    async fn write_one(self: &Arc<Self>, connection: &Connection, frame: Frame) -> Result<(), String> {
        let said = |why: &dyn std::fmt::Display| why.to_string();
        let (head, body) = wire::bytes(frame);
        let length = (HEAD + body.len()) as u64;
        let mut stream = connection.open_uni().await.map_err(|why| said(&why))?;
        stream.write_all(&head).await.map_err(|why| said(&why))?;
        stream.write_chunk(body.into()).await.map_err(|why| said(&why))?;
        stream.finish().map_err(|why| said(&why))?;
        self.board.count_sent(length);
        let links = Arc::clone(self);
        tokio::spawn(async move {
            let _ = stream.stopped().await;
            links.pending.fetch_sub(1, SeqCst);
        });
        Ok(())
    }

    /// Reads frames one after the other, and no more of them than are handled.
    async fn read(self: Arc<Self>, peer: Peer, connection: Connection) {
        let mut window = Window::new();
        while let Ok(mut stream) = connection.accept_uni().await {
            window.suit(&connection);
            let Some(handled) = self.handled.get(&peer) else { return };
            let Ok(guard) = Arc::clone(handled).acquire_owned().await else { return };
            let read = match self.read_one(&mut stream).await {
                Ok(Frame::Parcel(bytes)) => self.vouch(peer, bytes).await.map(Err).map_err(Some),
                other => other.map(Ok),
            };
            match read {
                Ok(Err(parcel)) => self.tell(Event::Parcel { from: peer, parcel, guard: Box::new(guard) }),
                Ok(Ok(frame)) => self.tell(Event::Frame { from: peer, frame, guard: Box::new(guard) }),
                Err(Some(what)) => {
                    let _ = stream.stop(VarInt::from_u32(0));
                    self.tell(Event::Garbled { from: peer, what, guard: Box::new(guard) });
                }
                // The connection broke: what was under way comes again.
                Err(None) => {}
            }
        }
    }

    /// Looks at the hash and the mark of a message: who handles it has enough to do. Of a long one in another thread, so that packets go on meanwhile.
    async fn vouch(&self, peer: Peer, bytes: Vec<u8>) -> Result<Vouched, String> {
        let (run, longest, by) = (self.run, self.longest.saturating_add(SALT), self.roster[peer]);
        if bytes.len() < LONG {
            return Parcel::vouch(bytes, run, longest, &by);
        }
        let vouched = tokio::task::spawn_blocking(move || Parcel::vouch(bytes, run, longest, &by)).await;
        vouched.map_err(|_| "no thread to look at it".to_owned())?
    }

    async fn read_one(&self, stream: &mut iroh::endpoint::RecvStream) -> Result<Frame, Option<String>> {
        let mut head = [0; HEAD];
        stream.read_exact(&mut head).await.map_err(|why| short(&why))?;
        let head = Head::read(&head, self.longest).map_err(Some)?;
        let mut body = vec![0; head.length];
        stream.read_exact(&mut body).await.map_err(|why| short(&why))?;
        if !matches!(stream.read(&mut [0]).await, Ok(None | Some(0))) {
            return Err(Some("more bytes than a frame says it has".to_owned()));
        }
        self.board.count_received((HEAD + body.len()) as u64);
        head.frame(body).map_err(Some)
    }

    /// Closes everything.
    pub(super) fn close(&self) {
        for link in std::mem::take(&mut *self.lock()).into_values().flatten() {
            link.connection.close(VarInt::from_u32(0), b"done");
        }
    }
}

/// Waits until the way that a connection has chosen through the network is no more: its host has another address, or the network was down. A way that it has
/// left for a better one may go.
async fn way_gone(connection: &Connection) {
    let mut events = connection.path_events();
    let chosen = || connection.paths().iter().find(Path::is_selected).map(|way| way.id());
    let mut way = chosen();
    loop {
        match std::future::poll_fn(|context| Pin::new(&mut events).poll_next(context)).await {
            Some(PathEvent::Selected { id, .. }) => way = Some(id),
            Some(PathEvent::Closed { id, .. }) => {
                way = way.or_else(chosen);
                if way.is_none_or(|way| way == id) {
                    return;
                }
            }
            Some(PathEvent::Lagged { .. }) => way = chosen(),
            Some(_) => {}
            None => std::future::pending().await,
        }
    }
}

/// Fewer bytes than a frame says it has, if that is what happened.
fn short(why: &iroh::endpoint::ReadExactError) -> Option<String> {
    let early = matches!(why, iroh::endpoint::ReadExactError::FinishedEarly(_));
    early.then(|| "fewer bytes than a frame says it has".to_owned())
}

impl Wire for Arc<Links> {
    fn send(&self, to: Peer, frame: Frame) {
        let mut links = self.lock();
        let Some(link) = links.get_mut(&to).and_then(|links| links.last_mut()) else { return };
        let number = match &frame {
            Frame::Parcel(bytes) => Parcel::number_of(bytes),
            _ => None,
        };
        if number.is_some_and(|number| link.said.contains(&number)) {
            return;
        }
        let queue = if number.is_some() { &link.parcels } else { &link.others };
        self.pending.fetch_add(1, SeqCst);
        match queue.try_send(frame) {
            Ok(()) => link.said.extend(number),
            Err(_) => drop(self.pending.fetch_sub(1, SeqCst)),
        }
    }

    fn forget(&self, to: Peer) {
        self.lock().get_mut(&to).into_iter().flatten().for_each(|link| link.said.clear());
    }

    fn flush(&self, at_most: Duration) {
        let until = std::time::Instant::now() + at_most;
        while self.pending.load(SeqCst) > 0 && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
