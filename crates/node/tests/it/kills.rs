//! Peers on real files, in a process that is killed two hundred times at whatever it is doing: each message goes out in one way, everything is paid for once, and runs end.
//!
//! What is killed is `common::life`, in a process of its own.

use crate::common;

use std::collections::BTreeMap;
use std::fs::{self};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::averaging::Averaging;
use common::peers::{key, terms};
use sottovoce_node::Ledger;
use sottovoce_protocol::Peer;

/// Between two looks at a process.
const LOOK: Duration = Duration::from_micros(300);

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
    let mut child = Command::new(common::child())
        .arg("life")
        .arg(folder)
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
fn kills_leave_one_way_of_saying_things() {
    kill_until(40);
}

#[test]
#[ignore = "second tier: two hundred kills"]
fn two_hundred_kills_leave_one_way_of_saying_things() {
    kill_until(200);
}

/// Peers are killed again and again, and started again: whatever they sent, they sent once.
fn kill_until(most: usize) {
    let (mut kills, mut runs) = (0, 0);
    while kills < most {
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
    assert!(runs > most / 40, "{runs} runs ended");
}
