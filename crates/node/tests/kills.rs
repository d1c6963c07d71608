//! Peers on real files, in a process that is killed two hundred times at whatever it is doing: each message goes out in one way, everything is paid for once, and runs end.
//!
//! The process is this very test, started again with a folder to work in.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::averaging::Averaging;
use common::peers::{ALLOWED, Scenario, key, terms};
use sottovoce_node::memory::Rehearsal;
use sottovoce_node::{Frame, Hash, Host, Ledger, Observer, OnGrid, Parcel};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_protocol::Peer;

const FOLDER: &str = "SOTTOVOCE_NODE_KILLED_IN";
const KILLS: usize = 200;
/// Between two looks at a process.
const LOOK: Duration = Duration::from_micros(300);

fn ledger(folder: &Path, peer: Peer) -> Ledger {
    let path = folder.join(format!("{peer}.ledger"));
    if !path.exists() {
        Ledger::create(&path, key(peer)).unwrap();
    }
    let mut ledger = Ledger::open(&path, key(peer)).unwrap();
    ledger.declare("patients", &Observer::WireTapper, ALLOWED).unwrap();
    ledger
}

/// What is killed: everybody averages, and whatever goes out is written down first.
#[test]
fn life() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let mut wire = OpenOptions::new().create(true).append(true).open(folder.join("wire")).unwrap();
    wire.write_all(b"\n").unwrap();
    let mut rehearsal = Rehearsal::new(4, Averaging::compute);
    for peer in 0..4 {
        let noise = OnGrid::deployed(Grid::new(2f64.powi(-20)).unwrap()).unwrap();
        let opened =
            Host::open(ledger(&folder, peer), terms::<Averaging>(peer), Averaging::machine(peer), noise);
        rehearsal.arrive(peer, opened.unwrap()).unwrap();
    }
    let mut written = 0;
    loop {
        let done = rehearsal.advance();
        done.into_iter().for_each(|done| done.unwrap());
        for peer in 0..4 {
            let waits = rehearsal.host(peer).is_some_and(|host| host.is_ready() && !host.has_begun());
            if waits {
                rehearsal
                    .with(peer, |host| host.command(Averaging::begin(peer).unwrap(), &Averaging::cost(peer)))
                    .unwrap();
            }
        }
        // Nothing is delivered before it stands here.
        for letter in &rehearsal.wire[written..] {
            if let Frame::Parcel(bytes) = &letter.frame {
                let number = Parcel::open(bytes, terms::<Averaging>(0).run, 1 << 16).unwrap().number;
                writeln!(wire, "{} {} {number} {}", letter.from, letter.to, Hash::of(bytes)).unwrap();
            }
        }
        written = rehearsal.wire.len();
        let ended = (0..4).all(|peer| rehearsal.host(peer).is_some_and(|host| host.machine().round() == 3));
        if ended {
            return fs::write(folder.join("done"), "").unwrap();
        }
    }
}

/// Each message that went out, by sender, receiver and number.
fn said(folder: &Path) -> BTreeMap<(Peer, Peer, u64), String> {
    let text = fs::read_to_string(folder.join("wire")).unwrap_or_default();
    let mut all = BTreeMap::new();
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        // A line that was torn by a kill has fewer letters.
        if let [from, to, number, hash] = words[..]
            && hash.len() == 64
        {
            let message = (from.parse().unwrap(), to.parse().unwrap(), number.parse().unwrap());
            let before = all.entry(message).or_insert_with(|| hash.to_owned());
            assert_eq!(before, hash, "message {message:?} went out in two ways");
        }
    }
    all
}

/// When a life is over, unless it comes to its end before.
enum Kill {
    /// After so many looks at it: while files are made, tables, keys.
    Looks(u64),
    /// After so many messages more.
    Messages(usize),
}

/// One life in this folder; whether it came to its end.
fn live(folder: &Path, kill: &Kill) -> bool {
    let lines = || {
        fs::read_to_string(folder.join("wire"))
            .unwrap_or_default()
            .lines()
            .filter(|line| line.len() > 60)
            .count()
    };
    let before = lines();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["life", "--exact", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut looks = 0;
    while child.try_wait().unwrap().is_none() {
        looks += 1;
        let over = match kill {
            Kill::Looks(most) => looks > *most,
            Kill::Messages(most) => lines() >= before + most,
        };
        if over {
            child.kill().unwrap();
            break;
        }
        std::thread::sleep(LOOK);
    }
    let output = child.wait_with_output().unwrap();
    let killed = !output.status.success();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!killed || !text.contains("panicked"), "{text}");
    folder.join("done").exists()
}

#[test]
fn two_hundred_kills_leave_one_way_of_saying_things() {
    let (mut kills, mut runs) = (0, 0);
    while kills < KILLS {
        let folder = tempfile::tempdir().unwrap();
        let mut lives = 0;
        // Later lives are longer, so that every run ends.
        loop {
            let kill = match kills % 3 {
                0 => Kill::Looks((kills as u64 % 60 + 1) * (lives as u64 + 1)),
                _ => Kill::Messages(1 + kills % 7 + lives),
            };
            if live(folder.path(), &kill) {
                break;
            }
            said(folder.path());
            (kills, lives) = (kills + 1, lives + 1);
        }
        runs += 1;
        let messages = said(folder.path());
        assert_eq!(messages.len(), 4 * 3 * 3, "three rounds among four");
        for peer in 0..4 {
            let ledger = Ledger::open(&folder.path().join(format!("{peer}.ledger")), key(peer)).unwrap();
            let records = ledger.records(terms::<Averaging>(0).run).unwrap();
            assert_eq!(records.iter().filter(|record| record.cost.is_some()).count(), 1, "paid once");
            assert_eq!(records.iter().map(|record| record.releases.len()).sum::<usize>(), 1, "released once");
        }
    }
    assert!(runs > 5, "{runs} runs ended");
}
