//! Peers of one agreement in one process, on files: they run, and may stop and come again.

use std::path::{Path, PathBuf};

use sottovoce_node::averaging::Prepared;
use sottovoce_node::memory::Rehearsal;
use sottovoce_node::transcript::{Read, Transcript};
use sottovoce_node::{
    Agreement, Allowed, Due, Hash, Hiding, Host, Key, Ledger, Priced, Recorder, Signatures, Stands,
};
use sottovoce_protocol::averaging::{Note, Start};
use sottovoce_protocol::{Machine, Peer};

pub(crate) const ALLOWED: Allowed = Allowed { epsilon: 50.0, delta: 1e-6, chances: 0.0 };

pub(crate) fn key(peer: Peer) -> Key {
    Key::simulated(100 + peer as u64)
}

/// So many peers, each with two neighbours on a ring and one across, who run this.
pub(crate) fn agreement(peers: usize, nonce: &str, grid: i32, experiment: &str) -> Agreement {
    let member = |i: usize| {
        let key = key(i).name();
        format!("[[peers]]\nname = 'p{i}'\nkey = '{key}'\naddress = '127.0.0.1:{}'\n", 4000 + i)
    };
    let members: String = (0..peers).map(member).collect();
    let edge = |i: usize| format!("['p{i}', 'p{}']", (i + 1) % peers);
    let across = format!("['p0', 'p{}']", peers / 2);
    let edges = if experiment.contains("butterfly") {
        "'complete'".to_owned()
    } else {
        format!("[{}, {across}]", (0..peers).map(edge).collect::<Vec<_>>().join(", "))
    };
    Agreement::parse(&format!(
        "version = 1\nname = 'mean'\nnonce = '{nonce}'\ngrid = {}\nwidth = 2\nedges = {edges}\ncoalitions = [['p0', 'p1']]\n{members}\
         [experiment]\nexperiment = 'averaging'\n{experiment}",
        2f64.powi(grid)
    ))
    .unwrap()
}

pub(crate) fn value(peer: Peer) -> [f64; 2] {
    [0.1 * peer as f64, 1.0 - 0.1 * peer as f64]
}

/// Everybody's ledger and recording, in one folder.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
    pub(crate) agreement: Agreement,
    pub(crate) parts: Vec<Prepared>,
}

type Opened<M, N> =
    (Host<M, N>, Vec<Due<<M as Machine>::Timer, <M as Machine>::Note, <M as Machine>::Value>>);

impl Folder {
    pub(crate) fn new(agreement: Agreement) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let parts: Vec<Prepared> =
            (0..agreement.peers.len()).map(|peer| Prepared::new(&agreement, peer).unwrap()).collect();
        let all = Self { folder, agreement, parts };
        for (peer, part) in all.parts.iter().enumerate() {
            Ledger::create(&all.path(peer), key(peer)).unwrap();
            let mut ledger = all.ledger(peer);
            for observer in part.observers() {
                ledger.declare("values", &observer, ALLOWED).unwrap();
            }
        }
        all
    }

    /// The same ledgers, for another run.
    pub(crate) fn again(self, agreement: Agreement) -> Self {
        let parts = (0..agreement.peers.len()).map(|peer| Prepared::new(&agreement, peer).unwrap()).collect();
        Self { agreement, parts, ..self }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, peer: Peer) -> PathBuf {
        self.root().join(format!("{peer}.ledger"))
    }

    pub(crate) fn recording(&self, peer: Peer) -> PathBuf {
        self.root().join(format!("{peer}.recording"))
    }

    pub(crate) fn ledger(&self, peer: Peer) -> Ledger {
        Ledger::open(&self.path(peer), key(peer)).unwrap()
    }

    /// The ledger of a peer who is recorded.
    pub(crate) fn recorded(&self, peer: Peer) -> Ledger {
        let mut ledger = self.ledger(peer);
        let begun = ledger.runs().unwrap().contains(&self.agreement.hash().unwrap());
        let recorder = Recorder::open(&self.recording(peer), &self.agreement, peer, begun).unwrap();
        ledger.record_to(recorder);
        ledger
    }

    /// How it ended is written down, too.
    pub(crate) fn ended(&self, peer: Peer, result: &[f64]) {
        let recorder = Recorder::open(&self.recording(peer), &self.agreement, peer, true).unwrap();
        recorder.ended(&Stands::Done(result.to_vec())).unwrap();
    }

    pub(crate) fn data(peer: Peer) -> Hash {
        Hash::of(format!("0.{peer}\n").as_bytes())
    }

    pub(crate) fn signatures(&self) -> Signatures {
        let path = self.root().join("signed");
        let mut all = Signatures::default();
        for peer in 0..self.parts.len() {
            let signature = self.agreement.sign(&key(peer)).unwrap();
            all.add(&path, &key(peer).name(), &signature).unwrap();
        }
        all
    }

    pub(crate) fn file(&self, peer: Peer) -> Vec<u8> {
        let ledger = self.ledger(peer);
        Transcript::of(&ledger, &self.agreement, &self.signatures()).unwrap().to_json().unwrap()
    }

    pub(crate) fn files(&self) -> Vec<Read> {
        (0..self.parts.len()).map(|peer| Transcript::parse(&self.file(peer)).unwrap()).collect()
    }
}

/// Whether the others are stopped after so many events, or one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Never,
    /// This one comes again at once.
    Again(Peer, usize),
    /// This one does not.
    For(Peer, usize),
    /// Everybody.
    All(usize),
}

/// Runs peers until nothing more happens, or they are stopped.
pub(crate) fn run<M, N>(
    parts: &[Prepared],
    stop: Stop,
    open: impl Fn(&Prepared, Peer) -> Opened<M, N>,
) -> Rehearsal<M, N>
where
    M: Machine<Command = Start, Note = Note>,
    N: Hiding<M::Value>,
{
    let mut rehearsal = Rehearsal::new(parts.len(), |_, _, _, _| ());
    for (peer, part) in parts.iter().enumerate() {
        rehearsal.arrive(peer, open(part, peer)).unwrap();
    }
    for event in 0.. {
        match stop {
            Stop::All(last) if last == event => return rehearsal,
            Stop::Again(peer, last) if last == event => {
                rehearsal.stop(peer);
                rehearsal.arrive(peer, open(&parts[peer], peer)).unwrap();
            }
            Stop::For(peer, last) if last == event => rehearsal.stop(peer),
            _ => {}
        }
        let done = rehearsal.advance();
        for (peer, part) in parts.iter().enumerate() {
            if rehearsal.host(peer).is_some_and(|host| host.is_ready() && !host.has_begun()) {
                let cost = part.cost(&[]).unwrap();
                rehearsal.with(peer, |host| host.command(Start, &cost)).unwrap();
            }
        }
        match done {
            None => break,
            Some(done) => done.unwrap(),
        }
    }
    rehearsal
}

/// Results of peers on a grid who run to the end.
pub(crate) fn on_grid(folder: &Folder, stop: Stop) -> Vec<Vec<f64>> {
    let mut rehearsal = run(&folder.parts, stop, |part, peer| {
        part.on_grid(folder.recorded(peer), &value(peer), "values", Folder::data(peer)).unwrap()
    });
    let result = |peer: Peer| {
        let host = rehearsal.host(peer);
        host.map_or_else(Vec::new, |host| host.machine().value().clone())
    };
    (0..folder.parts.len()).map(result).collect()
}

/// The same on a ring.
pub(crate) fn on_ring(folder: &Folder, stop: Stop) -> Vec<Vec<f64>> {
    let mut rehearsal = run(&folder.parts, stop, |part, peer| {
        part.on_ring(folder.recorded(peer), &value(peer), "values", Folder::data(peer)).unwrap()
    });
    let result = |peer: Peer| {
        let host = rehearsal.host(peer);
        host.map_or_else(Vec::new, |host| folder.parts[peer].mean(host.machine().value()).unwrap())
    };
    (0..folder.parts.len()).map(result).collect()
}

/// Whichever it is.
pub(crate) fn average(folder: &Folder, stop: Stop) -> Vec<Vec<f64>> {
    if folder.parts[0].is_on_ring() { on_ring(folder, stop) } else { on_grid(folder, stop) }
}
