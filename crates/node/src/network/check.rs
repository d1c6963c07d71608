//! Whether neighbours can be reached, how far away they are, and whether they have agreed to the same.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use iroh::endpoint::{Connection, VarInt};
use sottovoce_protocol::Peer;
use tokio::task::JoinSet;

use super::{CHECK, Site, endpoint, reach, runtime};
use crate::{Hash, Key, Result, VERSION};

/// So long who has found everybody stays for those who have not asked yet.
const STAYS: Duration = Duration::from_secs(3);

/// The longest agreement that is read.
const LONGEST: usize = 4 << 20;

/// What a neighbour said.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Which.
    pub peer: Peer,
    /// How long a question and its answer take; or why there was none.
    pub round_trip: std::result::Result<Duration, String>,
    /// The version that it speaks.
    pub version: Option<u16>,
    /// Whether it has agreed to the same; else its text.
    pub same: Option<bool>,
    /// What it has agreed to, if that is something else.
    pub terms: Option<String>,
}

/// Answers who checks: version, hash and text of what was agreed on here. Nothing else is said, and nothing is stored.
pub(super) async fn answer(connection: &Connection, (hash, text): &(Hash, String)) {
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        let Ok(asked) = receive.read_to_end(32).await else { return };
        let mut said = [&VERSION.to_le_bytes()[..], &hash.0].concat();
        // The text only where it is another one.
        if asked != hash.0 {
            said.extend_from_slice(text.as_bytes());
        }
        if send.write_all(&said).await.is_err() || send.finish().is_err() {
            return;
        }
    }
}

/// Asks all neighbours, for so long. Whoever checks answers others' checks meanwhile, so that two who check at the same time find each other.
pub fn check(key: &Key, place: &Site, patience: Duration) -> Result<Vec<Answered>> {
    place.check()?;
    let runtime = runtime()?;
    runtime.block_on(async {
        let endpoint = endpoint(key, place).await?;
        let listening = endpoint.clone();
        let place = Arc::new(place.clone());
        let asked = Arc::new(Mutex::new(BTreeSet::new()));
        let (here, heard) = (Arc::clone(&place), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Some(incoming) = listening.accept().await {
                let (here, heard) = (Arc::clone(&here), Arc::clone(&heard));
                tokio::spawn(async move {
                    let Ok(accepting) = incoming.accept() else { return };
                    let Ok(connection) = accepting.await else { return };
                    if connection.alpn() != CHECK {
                        return connection.close(VarInt::from_u32(3), b"only checking");
                    }
                    answer(&connection, &here.agreement).await;
                    heard.lock().unwrap_or_else(PoisonError::into_inner).insert(connection.remote_id());
                });
            }
        });
        // All at once: one that is not there keeps nobody from the others.
        let until = Instant::now() + patience;
        let mut asking = JoinSet::new();
        for &peer in &place.neighbours {
            let (endpoint, place) = (endpoint.clone(), Arc::clone(&place));
            asking.spawn(async move { async_ask(&endpoint, &place, peer, until).await });
        }
        let mut all = asking.join_all().await;
        all.sort_by_key(|one| one.peer);
        // Others may be a little later.
        let until = Instant::now() + STAYS;
        let missed = all.iter().any(|one| one.round_trip.is_err());
        let waits = || asked.lock().unwrap_or_else(PoisonError::into_inner).len() < place.neighbours.len();
        while !missed && waits() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let _ = tokio::time::timeout(Duration::from_secs(2), endpoint.close()).await;
        Ok(all)
    })
}

/// Asks one neighbour until it answers or the time is over.
async fn async_ask(endpoint: &iroh::Endpoint, place: &Site, peer: Peer, until: Instant) -> Answered {
    loop {
        match ask(endpoint, place, peer).await {
            Ok(answered) => return answered,
            Err(why) if Instant::now() >= until => {
                return Answered { peer, round_trip: Err(why), version: None, same: None, terms: None };
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

async fn ask(endpoint: &iroh::Endpoint, place: &Site, peer: Peer) -> std::result::Result<Answered, String> {
    let connection = reach(endpoint, place, peer, CHECK).await?;
    let mut last = None;
    // The first question waits for the handshake to settle.
    for _ in 0..3 {
        let began = Instant::now();
        let said = |why: &dyn std::fmt::Display| why.to_string();
        let (mut send, mut receive) = connection.open_bi().await.map_err(|why| said(&why))?;
        send.write_all(&place.agreement.0.0).await.map_err(|why| said(&why))?;
        send.finish().map_err(|why| said(&why))?;
        let bytes = receive.read_to_end(LONGEST).await.map_err(|why| said(&why))?;
        last = Some((began.elapsed(), bytes));
    }
    connection.close(VarInt::from_u32(0), b"checked");
    let (took, bytes) = last.ok_or("no answer")?;
    let (version, rest) = bytes.split_first_chunk::<2>().ok_or("no answer")?;
    let (hash, text) = rest.split_first_chunk::<32>().ok_or("no answer")?;
    let same = *hash == place.agreement.0.0;
    Ok(Answered {
        peer,
        round_trip: Ok(took),
        version: Some(u16::from_le_bytes(*version)),
        same: Some(same),
        terms: (!same).then(|| String::from_utf8_lossy(text).into_owned()),
    })
}
