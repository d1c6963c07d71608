//! Peers who do not follow the rules, on a real connection: strangers, liars, those who say things twice or in two ways. Each is refused or named, and nothing more is released.

use crate::common;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use common::real::{Ended, Process, RELAYED, Setting, Town, until};
use iroh::endpoint::{Connection, presets};
use iroh::{Endpoint, EndpointAddr, EndpointId, SecretKey};
use sottovoce_node::network::wire;
use sottovoce_node::{Frame, Hash, Hello, Key, Mark, Notice, Parcel, Says, VERSION};
use sottovoce_protocol::averaging::Message;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// Two peers, one exchange.
const ONCE: &str = "protocol = { method = 'gossip', steps = 1 }\nnoise = { sigma = 0.05, relay-noise = 0.5 }";

/// Somebody with a key and a connection, and no manners.
struct Rogue {
    runtime: Runtime,
    endpoint: Endpoint,
    connection: Connection,
    victim: EndpointAddr,
    key: Key,
    run: Hash,
}

fn secret(home: &Path) -> [u8; 32] {
    std::fs::read(home.join("key")).unwrap().try_into().unwrap()
}

impl Rogue {
    /// Plays peer 1 of a town, towards peer 0.
    fn new(town: &Town) -> Self {
        Self::with(town, secret(&town.home(1))).unwrap()
    }

    fn with(town: &Town, secret: [u8; 32]) -> Result<Self, String> {
        let runtime = Runtime::new().unwrap();
        let agreement = town.agreement();
        let name = agreement.roster().unwrap()[0];
        let address: SocketAddr = agreement.peers[0].address.parse().unwrap();
        let address = EndpointAddr::new(EndpointId::from_bytes(&name.0).unwrap()).with_ip_addr(address);
        let victim = address.clone();
        let (endpoint, connection) = runtime.block_on(async {
            let builder = Endpoint::builder(presets::Minimal)
                .secret_key(SecretKey::from_bytes(&secret))
                .relay_mode(iroh::RelayMode::Disabled)
                .clear_ip_transports();
            let endpoint = builder.bind_addr("127.0.0.1:0").unwrap().bind().await.unwrap();
            // The victim may not be there yet.
            for _ in 0..100 {
                if let Ok(connection) = endpoint.connect(address.clone(), b"sottovoce/run/1").await {
                    return (endpoint, Ok(connection));
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            (endpoint, Err("never reached".to_owned()))
        });
        let key = Key::read(&town.home(1).join("key")).unwrap();
        Ok(Self { runtime, endpoint, connection: connection?, victim, key, run: agreement.hash().unwrap() })
    }

    fn bytes(&self, bytes: &[u8]) {
        self.runtime.block_on(async {
            let mut stream = self.connection.open_uni().await.unwrap();
            stream.write_all(bytes).await.unwrap();
            stream.finish().unwrap();
        });
    }

    fn say(&self, frame: Frame) {
        self.bytes(&wire::encode(frame));
    }

    fn greet(&self) {
        self.say(Frame::Hello(Hello { version: VERSION, run: self.run, witness: Vec::new(), reply: false }));
        // It is there: it signs its victim's number beside its own.
        let chosen = |frame: &Frame| matches!(frame, Frame::Notice(Notice { says: Says::Here { .. }, .. }));
        let Frame::Notice(Notice { says: Says::Here { number, .. }, .. }) = self.hear(chosen) else {
            panic!()
        };
        let says = Says::Here { number: [1; 32], all: Notice::meeting(&[number, [1; 32]]) };
        self.say(Frame::Notice(Notice::new(&self.key, self.run, (1, 1), says).unwrap()));
    }

    /// A message of its own, properly sealed.
    fn parcel(&self, number: u64, value: Vec<f64>) -> Frame {
        let hash = Hash::of(&number.to_le_bytes());
        let signature = self.key.sign(&hash.0);
        let (first, second): ([u8; 32], [u8; 32]) =
            (signature[..32].try_into().unwrap(), signature[32..].try_into().unwrap());
        let mark: Mark =
            postcard::from_bytes(&postcard::to_stdvec(&(hash, (first, second))).unwrap()).unwrap();
        let body = [&[9; 32][..], &postcard::to_stdvec(&Message { round: 0, value }).unwrap()].concat();
        Frame::Parcel(Parcel { run: self.run, number, mark, body }.seal())
    }

    /// The next frame that the victim says and that is chosen.
    fn hear(&self, chosen: impl Fn(&Frame) -> bool) -> Frame {
        self.runtime.block_on(async {
            loop {
                let mut stream = self.connection.accept_uni().await.unwrap();
                let bytes = stream.read_to_end(1 << 20).await.unwrap();
                let frame = wire::decode(&bytes, 1 << 20).unwrap();
                if chosen(&frame) {
                    return frame;
                }
            }
        })
    }

    /// Exchanges what was agreed on, and the victim has its result.
    fn behave(self, victim: Process) {
        self.say(self.parcel(0, vec![0.5, 0.5]));
        self.hear(|frame| *frame == Frame::Answer { number: 0 });
        self.say(Frame::Answer { number: 0 });
        assert!(matches!(victim.end(), Ended::Done(_)));
        self.leave();
    }

    fn leave(self) {
        self.runtime.block_on(self.endpoint.close());
    }
}

/// Its victim waits for so many seconds in a round.
fn patient(round: f64) -> Town {
    Town::new(&Setting { answer: 1.0, round, ..Setting::loopback(2, ONCE) })
}

fn town() -> Town {
    patient(10.0)
}

/// Until the victim has refused something for this reason.
fn refused(victim: &Process, expected: &str) {
    until(expected, || {
        victim.status().is_some_and(|status| {
            status.neighbours[0].refused > 0
                && status.neighbours[0].refusal.as_ref().is_some_and(|why| why.contains(expected))
        })
    });
}

#[test]
fn a_stranger_is_not_let_in() {
    let town = town();
    let victim = town.start_by(&[], 0, 3.0);
    let rogue = Rogue::with(&town, [7; 32]);
    if let Ok(rogue) = rogue {
        let why = rogue.runtime.block_on(rogue.connection.closed());
        assert!(why.to_string().contains("not in the agreement"), "{why}");
    }
    let Ended::Error(4, message) = victim.end() else { panic!() };
    assert!(message.contains("p1 did not come"), "{message}");
}

#[test]
#[ignore = "second tier: waits"]
fn what_is_no_frame_is_refused_and_the_run_goes_on() {
    let town = town();
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    let mut other = wire::encode(Frame::Answer { number: 1 });
    other[0] = 9;
    rogue.bytes(&other);
    refused(&victim, "version 9 of frames");
    let [v0, v1] = VERSION.to_le_bytes();
    rogue.bytes(&[v0, v1, 1, 255, 255, 255, 255]);
    refused(&victim, "says it has 4294967295 bytes");
    rogue.bytes(&[v0, v1, 1, 9, 0, 0, 0, 1, 2]);
    refused(&victim, "fewer bytes");
    rogue.bytes(&[&wire::encode(Frame::Answer { number: 1 })[..], b"more"].concat());
    refused(&victim, "more bytes");
    rogue.bytes(&[v0, v1, 77, 0, 0, 0, 0]);
    refused(&victim, "kind 77");
    rogue.greet();
    rogue.hear(|frame| matches!(frame, Frame::Parcel(_)));
    rogue.say(Frame::Parcel(b"no parcel".to_vec()));
    refused(&victim, "no header");
    // One that is too long for what was agreed on, and honest about it.
    let long = rogue.parcel(0, vec![0.5; 50]);
    rogue.say(long);
    refused(&victim, "at most");
    // After all that it behaves, and the run ends.
    rogue.behave(victim);
}

#[test]
#[ignore = "second tier: waits"]
fn what_is_said_again_is_answered_again_and_changes_nothing() {
    let town = town();
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    rogue.greet();
    rogue.hear(|frame| matches!(frame, Frame::Parcel(_)));
    let parcel = rogue.parcel(0, vec![0.25, 0.25]);
    for _ in 0..3 {
        rogue.say(parcel.clone());
        rogue.hear(|frame| *frame == Frame::Answer { number: 0 });
    }
    rogue.say(Frame::Answer { number: 0 });
    assert!(matches!(victim.end(), Ended::Done(_)));
    let records = town.place(0).open_ledger().unwrap().records(rogue.run).unwrap();
    assert_eq!(records.iter().filter(|record| record.heard.is_some()).count(), 1);
    rogue.leave();
}

/// A member says that everybody is there, and signs for one who is not: nothing is paid, and nothing released.
#[test]
fn nobody_is_made_to_begin_alone() {
    let town = Town::new(&Setting { answer: 1.0, round: 3.0, ..Setting::loopback(3, RELAYED) });
    let victim = town.start_by(&[], 0, 4.0);
    let rogue = Rogue::new(&town);
    rogue.say(Frame::Hello(Hello { version: VERSION, run: rogue.run, witness: Vec::new(), reply: false }));
    let chosen = |frame: &Frame| matches!(frame, Frame::Notice(Notice { says: Says::Here { .. }, .. }));
    let Frame::Notice(Notice { says: Says::Here { number, .. }, .. }) = rogue.hear(chosen) else { panic!() };
    let all = Notice::meeting(&[number, [1; 32], [2; 32]]);
    for (peer, number) in [(1, [1; 32]), (2, [2; 32])] {
        let says = Says::Here { number, all };
        rogue.say(Frame::Notice(Notice::new(&rogue.key, rogue.run, (peer, 1), says).unwrap()));
    }
    refused(&victim, "a notice of peer 2 that it has not signed");
    let Ended::Error(4, message) = victim.end() else { panic!() };
    assert!(message.contains("p2 did not come in time"), "{message}");
    let ledger = town.place(0).open_ledger().unwrap();
    assert!(ledger.spent("values").unwrap().iter().all(|(_, _, loss, _)| *loss == 0.0));
    assert!(ledger.records(rogue.run).unwrap().is_empty());
    rogue.leave();
}

/// A signed notice that names nobody of the run is refused and not kept; one that says that the run is over is believed, and then nothing begins.
#[test]
fn a_run_that_is_over_does_not_begin() {
    let town = patient(3.0);
    let victim = town.start_by(&[], 0, 30.0);
    let rogue = Rogue::new(&town);
    let silent = |missing| Says::Silent { round: 0, missing };
    rogue.say(Frame::Notice(Notice::new(&rogue.key, rogue.run, (1, 0), silent(vec![77])).unwrap()));
    refused(&victim, "somebody who is not in this run");
    rogue.say(Frame::Notice(Notice::new(&rogue.key, rogue.run, (1, 0), silent(vec![0])).unwrap()));
    rogue.greet();
    let Ended::Error(6, message) = victim.end() else { panic!() };
    assert!(message.contains("over before it began") && message.contains("signed by p1"), "{message}");
    let ledger = town.place(0).open_ledger().unwrap();
    assert!(ledger.spent("values").unwrap().iter().all(|(_, _, loss, _)| *loss == 0.0));
    rogue.leave();
}

#[test]
fn who_says_one_message_in_two_ways_is_named() {
    let town = Town::new(&Setting {
        answer: 1.0,
        round: 3.0,
        ..Setting::loopback(
            2,
            "protocol = { method = 'gossip', steps = 2 }\nnoise = { sigma = 0.05, relay-noise = 0.5 }",
        )
    });
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    rogue.greet();
    rogue.hear(|frame| matches!(frame, Frame::Parcel(_)));
    rogue.say(rogue.parcel(0, vec![0.25, 0.25]));
    rogue.hear(|frame| *frame == Frame::Answer { number: 0 });
    rogue.say(rogue.parcel(0, vec![0.75, 0.25]));
    let Ended::Error(5, message) = victim.end() else { panic!() };
    assert!(message.contains("says message 0 in two ways"), "{message}");
    rogue.leave();
}

#[test]
fn what_is_no_number_does_not_spread() {
    let town = patient(3.0);
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    rogue.greet();
    rogue.hear(|frame| matches!(frame, Frame::Parcel(_)));
    rogue.say(rogue.parcel(0, vec![f64::NAN, 0.5]));
    rogue.hear(|frame| *frame == Frame::Answer { number: 0 });
    rogue.say(Frame::Answer { number: 0 });
    let Ended::Halted(missing) = victim.end() else { panic!() };
    assert!(missing.contains('1'), "{missing}");
    rogue.leave();
}

#[test]
fn another_version_is_named() {
    let town = town();
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    rogue.say(Frame::Hello(Hello {
        version: VERSION + 1,
        run: rogue.run,
        witness: Vec::new(),
        reply: false,
    }));
    let Ended::Error(5, message) = victim.end() else { panic!() };
    assert!(message.contains("`version` is 1 here and 2"), "{message}");
    rogue.leave();
}

#[test]
fn terms_that_nobody_has_named_end_no_waiting() {
    let town = town();
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    rogue.say(Frame::Terms("nonsense".to_owned()));
    rogue.say(Frame::Terms("name = 'another'".to_owned()));
    rogue.greet();
    rogue.behave(victim);
}

#[test]
#[ignore = "second tier: much traffic"]
fn whoever_sends_garbage_does_not_grow_the_victim() {
    let town = town();
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    rogue.greet();
    let resident = || {
        let text = std::fs::read_to_string(format!("/proc/{}/status", victim.id())).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: 0").to_owned();
        line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or(0)
    };
    let before = resident();
    for i in 0..3000_u32 {
        let mut bytes = wire::encode(Frame::Parcel(vec![i as u8; 80]));
        bytes[(i % 60) as usize] ^= (i >> 3) as u8;
        rogue.bytes(&bytes);
    }
    refused(&victim, "");
    assert!(resident() < before + 64 * 1024, "{before} {} kB", resident());
    rogue.behave(victim);
}

#[test]
#[ignore = "second tier: waits"]
fn whoever_is_in_another_run_by_now_stops_none_that_has_begun() {
    let town = town();
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    rogue.greet();
    rogue.hear(|frame| matches!(frame, Frame::Parcel(_)));
    let other =
        |version| Frame::Hello(Hello { version, run: Hash::of(b"next"), witness: Vec::new(), reply: false });
    rogue.say(other(VERSION));
    refused(&victim, "`agreement` is");
    let Frame::Terms(terms) = rogue.hear(|frame| matches!(frame, Frame::Terms(_))) else { panic!() };
    rogue.say(Frame::Terms(terms.replacen("name", "# name", 1)));
    rogue.say(other(VERSION + 1));
    refused(&victim, "`version` is 1 here and 2");
    rogue.say(rogue.parcel(0, vec![0.5, 0.5]));
    rogue.hear(|frame| *frame == Frame::Answer { number: 0 });
    // The result is there, and what was said to it is not answered: it goes on to its next run.
    rogue.say(other(VERSION));
    rogue.say(Frame::Terms("name = 'next'".to_owned()));
    assert!(matches!(victim.end(), Ended::Done(_)));
    rogue.leave();
}

#[test]
#[ignore = "second tier: waits"]
fn whoever_says_one_message_in_two_ways_takes_no_result_back() {
    let town = town();
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    rogue.greet();
    rogue.hear(|frame| matches!(frame, Frame::Parcel(_)));
    rogue.say(rogue.parcel(0, vec![0.25, 0.25]));
    rogue.hear(|frame| *frame == Frame::Answer { number: 0 });
    rogue.say(rogue.parcel(0, vec![0.75, 0.25]));
    assert!(matches!(victim.end(), Ended::Done(_)));
    rogue.leave();
}

#[test]
fn whoever_greets_with_too_much_or_calls_too_often_is_turned_away() {
    let town = town();
    let victim = town.start(0);
    let rogue = Rogue::new(&town);
    let Frame::Parcel(sealed) = rogue.parcel(0, vec![0.5, 0.5]) else { panic!() };
    let mark = Parcel::open(&sealed, rogue.run, 1 << 10).unwrap().mark;
    let witness = vec![mark; 1025];
    rogue.say(Frame::Hello(Hello { version: VERSION, run: rogue.run, witness, reply: false }));
    refused(&victim, "1025 marks, of at most 1024");
    let address = rogue.victim.clone();
    let closed = rogue.runtime.block_on(async {
        let mut calls = JoinSet::new();
        for _ in 0..40 {
            let (endpoint, address) = (rogue.endpoint.clone(), address.clone());
            calls.spawn(async move {
                let connection = endpoint.connect(address, b"sottovoce/run/1").await.unwrap();
                connection.closed().await.to_string()
            });
        }
        // The first of all is gone by then, whichever side decides; of these two are left at the most, and many were turned away.
        rogue.connection.closed().await;
        let mut closed = Vec::new();
        while closed.len() < 38
            && let Ok(Some(why)) = tokio::time::timeout(Duration::from_secs(20), calls.join_next()).await
        {
            closed.push(why.unwrap());
        }
        closed
    });
    assert!(closed.len() >= 38, "{closed:?}");
    assert!(closed.iter().any(|why| why.contains("called too often")), "{closed:?}");
    rogue.leave();
    drop(victim);
}
