//! Four peers on real files in one process, to be killed at whatever it is doing.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use sottovoce_node::memory::Rehearsal;
use sottovoce_node::{Frame, Hash, Host, Ledger, Observer, OnGrid, Parcel};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_protocol::Peer;

use super::averaging::Averaging;
use super::peers::{ALLOWED, Scenario, key, terms};

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
pub(crate) fn life(folder: &Path) {
    let mut wire = OpenOptions::new().create(true).append(true).open(folder.join("wire")).unwrap();
    wire.write_all(b"\n").unwrap();
    let mut rehearsal = Rehearsal::new(4, Averaging::compute);
    for peer in 0..4 {
        let noise = OnGrid::deployed(Grid::new(2f64.powi(-20)).unwrap()).unwrap();
        let opened =
            Host::open(ledger(folder, peer), terms::<Averaging>(peer), Averaging::machine(peer), noise);
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
