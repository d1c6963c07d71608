//! The wire of real peers: an endpoint of `iroh` that dials neighbours by their keys, at the addresses of the agreement, and lets nobody else in.
//!
//! No relays, no look-ups, no other hosts, unless the node's own file names a relay, or asks for look-ups on the local network. The network has a thread of its own; it hands frames to the driver, and the driver
//! never waits for it.

mod check;
mod gate;
mod links;
mod window;
pub mod wire;

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use iroh::endpoint::{
    AfterHandshakeOutcome, Connection, EndpointHooks, QuicTransportConfig, VarInt, presets,
};
use iroh::{Endpoint, EndpointAddr, EndpointId, RelayMode, SecretKey};
use iroh_mdns_address_lookup::MdnsAddressLookup;
use sottovoce_protocol::Peer;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

pub use check::{Answered, check};
use gate::Gate;
use links::Links;

use crate::drive::{Event, Wire};
use crate::quiet::{self, Quiet};
use crate::status::Board;
use crate::{Error, Key, Name, Result};

/// What is spoken: frames of a run, and questions of who checks whether a peer can be reached.
const RUN: &[u8] = b"sottovoce/run/1";
const CHECK: &[u8] = b"sottovoce/check/1";
/// What peers are looked for as, on a local network.
const SERVICE: &str = "sottovoce";

/// A connection on which nothing is heard so long is gone; who is connected says so more often.
const IDLE: Duration = Duration::from_secs(6);
const ALIVE: Duration = Duration::from_secs(1);
/// Bytes of one message that a peer may send before they are read: fewer packets than the engine keeps pieces of a stream, or a burst of losses would end a connection.
const WINDOW: u32 = 1 << 20;
/// How much later the second of two calls the first.
const LATER: Duration = Duration::from_millis(300);
/// Between two attempts to reach a peer.
const FIRST: Duration = Duration::from_millis(50);
const LAST: Duration = Duration::from_secs(2);

/// Where a peer is, and who it speaks to.
#[derive(Debug, Clone)]
pub struct Site {
    /// Where it listens.
    pub bind: SocketAddr,
    /// Its own relay, for peers that cannot be reached directly.
    pub relay: Option<String>,
    /// Whether peers are looked for on the local network, by multicast: then they need no address, and others there see that this one is there.
    pub local: bool,
    /// Everybody's key.
    pub roster: Vec<Name>,
    /// Everybody's address: a host and a port.
    pub addresses: Vec<String>,
    /// Whom it speaks to.
    pub neighbours: Vec<Peer>,
    /// Bytes of the longest message.
    pub longest: usize,
    /// Messages leave at multiples of this time.
    pub tick: Duration,
    /// What is answered to who checks: the hash and the text of what was agreed on.
    pub agreement: (crate::Hash, String),
}

impl Site {
    /// Refuses what can never work: a neighbour without an address is not tried for ever.
    pub(crate) fn check(&self) -> Result<()> {
        self.relay_mode()?;
        for &peer in &self.neighbours {
            let address = &self.addresses[peer];
            let port = address.rsplit_once(':').and_then(|(host, port)| {
                (!host.is_empty()).then(|| port.parse::<u16>().ok()).flatten().filter(|&port| port != 0)
            });
            let remedy =
                format!("give a host and a port, such as 10.0.0.1:4001 (peer {peer}), and sign again");
            let found = port.is_some() || self.relay.is_some() || self.local;
            crate::error::require(found, "address", address, remedy)?;
        }
        Ok(())
    }

    fn relay_mode(&self) -> Result<RelayMode> {
        let Some(url) = &self.relay else { return Ok(RelayMode::Disabled) };
        let parsed: std::result::Result<iroh::RelayUrl, _> = url.parse();
        let known = parsed.ok().filter(|url| matches!(url.scheme(), "https" | "http") && url.has_host());
        let known = known.ok_or_else(|| Error::parameter("relay", url, "give an https URL"))?;
        Ok(RelayMode::custom([known]))
    }

    fn number(&self, id: &EndpointId) -> Option<Peer> {
        self.roster.iter().position(|name| name.0 == *id.as_bytes())
    }

    /// Where a neighbour is, as far as is known now: names are looked up each time.
    async fn address(&self, peer: Peer) -> std::result::Result<EndpointAddr, String> {
        let id = EndpointId::from_bytes(&self.roster[peer].0).map_err(|why| why.to_string())?;
        let mut address = EndpointAddr::new(id);
        let text = self.addresses[peer].clone();
        let found = tokio::task::spawn_blocking(move || text.to_socket_addrs().map(Iterator::collect)).await;
        let found: Vec<SocketAddr> = match found {
            Ok(Ok(found)) => found,
            Ok(Err(why)) if self.relay.is_none() && !self.local => return Err(why.to_string()),
            _ => Vec::new(),
        };
        for place in found {
            address = address.with_ip_addr(place);
        }
        if let Some(relay) = self.relay.as_ref().and_then(|url| url.parse().ok()) {
            address = address.with_relay_url(relay);
        }
        Ok(address)
    }
}

/// Lets nobody in whose key is not among the neighbours'.
struct Door {
    known: Vec<[u8; 32]>,
    turned_away: Quiet<()>,
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").finish_non_exhaustive()
    }
}

impl EndpointHooks for Door {
    async fn after_handshake<'a>(&'a self, connection: &'a Connection) -> AfterHandshakeOutcome {
        let id = connection.remote_id();
        if self.known.contains(id.as_bytes()) {
            return AfterHandshakeOutcome::Accept;
        }
        if let Some(more) = self.turned_away.due(()) {
            let told = quiet::told(more);
            tracing::warn!("turned away: a key that is not in the agreement, {}{told}", id.fmt_short());
        }
        AfterHandshakeOutcome::Reject {
            error_code: VarInt::from_u32(2),
            reason: b"not in the agreement".to_vec(),
        }
    }
}

/// An endpoint that listens, and dials.
async fn endpoint(key: &Key, place: &Site) -> Result<Endpoint> {
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        Error::parameter("bind", place.bind, format!("{what} ({why}); see `bind` in node.toml"))
    };
    let idle = IDLE.try_into().map_err(|why| failed("no such idle time", &why))?;
    let transport = QuicTransportConfig::builder()
        .max_idle_timeout(Some(idle))
        .keep_alive_interval(ALIVE)
        // A connection can have several ways, and one that died with an old network must not hold up what was sent on it.
        .default_path_max_idle_timeout(IDLE)
        .default_path_keep_alive_interval(ALIVE)
        .max_concurrent_bidi_streams(VarInt::from_u32(4))
        .max_concurrent_uni_streams(VarInt::from_u32(64))
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(window::LEAST))
        .send_window(u64::from(window::MOST))
        .build();
    let known = place.neighbours.iter().map(|&peer| place.roster[peer].0).collect();
    let builder = Endpoint::builder(presets::Minimal)
        .secret_key(SecretKey::from_bytes(key.bytes()))
        .alpns(vec![RUN.to_vec(), CHECK.to_vec()])
        .relay_mode(place.relay_mode()?)
        .transport_config(transport)
        .hooks(Door { known, turned_away: Quiet::default() })
        .clear_ip_transports()
        .bind_addr(place.bind)
        .map_err(|why| failed("no such address", &why))?;
    let endpoint = builder.bind().await.map_err(|why| {
        failed(
            "this address cannot be listened on; if another program or run has it, agree on another port",
            &why,
        )
    })?;
    if place.local {
        let failed = |why: &dyn std::fmt::Display| {
            let remedy = format!(
                "peers cannot be looked for on this network ({why}); give addresses, and leave it out"
            );
            Error::parameter("local", true, remedy)
        };
        let lookup = MdnsAddressLookup::builder().service_name(SERVICE).build(endpoint.id());
        let lookup = lookup.map_err(|why| failed(&why))?;
        endpoint.address_lookup().map_err(|why| failed(&why))?.add(lookup);
    }
    Ok(endpoint)
}

/// The network of one peer, in a thread of its own.
pub struct Network {
    links: Arc<Links>,
    endpoint: Endpoint,
    runtime: Option<Runtime>,
}

impl Network {
    /// Listens, and begins to dial neighbours; what happens is told to the driver.
    pub fn open(key: &Key, place: Site, events: Sender<Event>, board: Arc<Board>) -> Result<Self> {
        place.check()?;
        let runtime = runtime()?;
        let endpoint = crate::identity::wiped(|| runtime.block_on(endpoint(key, &place)))?;
        let known = (key.name(), place.roster.clone(), &place.neighbours[..]);
        let links =
            Arc::new(Links::new(known, (place.agreement.0, place.longest), place.tick, events, board));
        let gate = Arc::new(Gate::new(place.neighbours.len()));
        let place = Arc::new(place);
        runtime.spawn(accept(endpoint.clone(), Arc::clone(&place), Arc::clone(&links), Arc::clone(&gate)));
        for &peer in &place.neighbours {
            let (place, gate) = (Arc::clone(&place), Arc::clone(&gate));
            runtime.spawn(dial(endpoint.clone(), place, Arc::clone(&links), (peer, gate)));
        }
        runtime.spawn(stop(Arc::clone(&links)));
        Ok(Self { links, endpoint, runtime: Some(runtime) })
    }

    /// What carries frames.
    pub fn wire(&self) -> Arc<dyn Wire> {
        Arc::new(Arc::clone(&self.links))
    }

    /// Where it listens.
    pub fn sockets(&self) -> Vec<SocketAddr> {
        self.endpoint.bound_sockets()
    }

    /// Runs something beside it: a page.
    pub fn spawn(&self, beside: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(beside);
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.links.close();
        if let Some(runtime) = self.runtime.take() {
            // Everything has arrived by now: others need not be waited for.
            let closed =
                async { tokio::time::timeout(Duration::from_millis(200), self.endpoint.close()).await };
            let _ = runtime.block_on(closed);
            runtime.shutdown_background();
        }
    }
}

fn runtime() -> Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|why| Error::storage("no thread for the network", why))
}

/// Whoever presses Ctrl-C, and whoever sends a signal to end, stops the run; it can be taken up again.
async fn stop(links: Arc<Links>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut end)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        tokio::select! { _ = interrupt.recv() => (), _ = end.recv() => () }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    links.tell(Event::Stop);
}

/// Takes connections in.
async fn accept(endpoint: Endpoint, place: Arc<Site>, links: Arc<Links>, gate: Arc<Gate>) {
    let mut checks = JoinSet::new();
    let failed = Arc::new(Quiet::default());
    while let Some(incoming) = endpoint.accept().await {
        let Some((incoming, turn)) = gate.judge(incoming) else { continue };
        let (place, links, failed) = (Arc::clone(&place), Arc::clone(&links), Arc::clone(&failed));
        checks.spawn(async move {
            let Ok(accepting) = incoming.accept() else { return };
            let accepted = tokio::time::timeout(IDLE, accepting).await;
            // Its place is free for the next one.
            drop(turn);
            let connection = match accepted {
                Ok(Ok(connection)) => connection,
                Ok(Err(why)) => {
                    if let Some(more) = failed.due(()) {
                        tracing::debug!("a connection was not made: {why}{}", quiet::told(more));
                    }
                    return;
                }
                Err(_) => return,
            };
            let Some(peer) = place.number(&connection.remote_id()) else { return };
            match connection.alpn() {
                RUN => links.add(peer, connection),
                _ => check::answer(&connection, &place.agreement).await,
            }
        });
        while checks.try_join_next().is_some() {}
    }
}

/// Keeps a connection to a neighbour: tries until there is one, and again once it is gone.
async fn dial(endpoint: Endpoint, place: Arc<Site>, links: Arc<Links>, (peer, gate): (Peer, Arc<Gate>)) {
    let (mut pause, missed) = (FIRST, Quiet::default());
    let name = links.called(peer);
    // Of two who begin at the same time one calls, so that there are not two connections; the other one is a little later.
    if links.me > links.roster[peer] {
        tokio::time::sleep(LATER).await;
    }
    loop {
        if links.holds(peer) {
            pause = FIRST;
            if let Some(gone) = links.gone.get(&peer) {
                gone.notified().await;
            }
            continue;
        }
        let reached = match place.address(peer).await {
            Ok(address) => {
                gate.know(address.ip_addrs().map(SocketAddr::ip));
                connect(&endpoint, address, RUN).await
            }
            Err(why) => Err(why),
        };
        match reached {
            Ok(connection) => links.add(peer, connection),
            Err(why) => {
                if let Some(more) = missed.due(()) {
                    tracing::info!("{name} is not there yet ({why}){}", quiet::told(more));
                }
                tokio::time::sleep(pause).await;
                pause = if pause * 2 < LAST { pause * 2 } else { LAST };
            }
        }
    }
}

async fn reach(
    endpoint: &Endpoint,
    place: &Site,
    peer: Peer,
    what: &[u8],
) -> std::result::Result<Connection, String> {
    connect(endpoint, place.address(peer).await?, what).await
}

async fn connect(
    endpoint: &Endpoint,
    address: EndpointAddr,
    what: &[u8],
) -> std::result::Result<Connection, String> {
    let connected = tokio::time::timeout(IDLE, endpoint.connect(address, what)).await;
    connected.map_err(|_| "no answer".to_owned())?.map_err(|why| why.to_string())
}
