//! Peers of three protocols on disks, with noise that is other in every life: whoever drew again would say something else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use sottovoce_node::{
    Allowed, Cost, Frame, Hash, Hiding, Host, Key, Ledger, Name, Observer, OnGrid, Parcel, Price, Result,
    Terms, memory::Rehearsal,
};
use sottovoce_privacy::noise::exact::{ExactNoise, Grid};
use sottovoce_protocol::{Law, Machine, Peer, Uncovered};

use super::disk::{Disk, Mode};

/// What was covered, by peer, draw and hash: of what was not stored, too.
pub(crate) type Log = Arc<Mutex<BTreeMap<(Peer, u64, Hash), Vec<u8>>>>;

/// Grid noise of one life, written down.
pub(crate) struct Logged {
    peer: Peer,
    noise: OnGrid<ChaCha20Rng>,
    log: Log,
}

impl<V: serde::Serialize> Hiding<V> for Logged
where
    OnGrid<ChaCha20Rng>: Hiding<V>,
{
    fn cover(
        &mut self,
        law: Law,
        draw: u64,
        scale: f64,
        value: &mut V,
    ) -> std::result::Result<(), Uncovered> {
        self.noise.cover(law, draw, scale, value)?;
        let bytes = postcard::to_stdvec(value).unwrap();
        self.log.lock().unwrap().insert((self.peer, draw, Hash::of(&bytes)), bytes);
        Ok(())
    }

    fn bits(&mut self) -> u64 {
        Hiding::<V>::bits(&mut self.noise)
    }
}

/// What a protocol asks for.
pub(crate) trait Scenario: 'static {
    type Machine: Machine<Value: serde::Serialize>;
    const PEERS: usize;
    /// Events after which it has gone on for long enough, if it never ends.
    const EVENTS: Option<usize> = None;
    fn machine(peer: Peer) -> Self::Machine;
    fn cost(peer: Peer) -> Cost;
    /// The command of those who begin.
    fn begin(peer: Peer) -> Option<<Self::Machine as Machine>::Command>;
    fn compute(peer: Peer, iteration: usize, size: f64, value: &mut <Self::Machine as Machine>::Value);
}

pub(crate) fn key(peer: Peer) -> Key {
    Key::simulated(100 + peer as u64)
}

pub(crate) fn roster(peers: usize) -> Vec<Name> {
    (0..peers).map(|peer| key(peer).name()).collect()
}

pub(crate) fn terms<S: Scenario>(peer: Peer) -> Terms {
    Terms {
        run: Hash::of(b"what was agreed on"),
        roster: roster(S::PEERS),
        neighbours: (0..S::PEERS).filter(|&other| other != peer).collect(),
        label: "patients".into(),
        data: Hash::of(&[peer as u8]),
        longest: 1 << 16,
        most: 1 << 20,
    }
}

pub(crate) const ALLOWED: Allowed = Allowed { epsilon: 8.0, delta: 1e-6, chances: 0.5 };

pub(crate) fn ledger(disk: &Disk, peer: Peer) -> Result<Ledger> {
    let mut ledger = Ledger::on(disk.clone(), key(peer))?;
    ledger.declare("patients", &Observer::WireTapper, ALLOWED)?;
    Ok(ledger)
}

/// A disk with a new ledger. (In a file it is there as a whole or not at all: `Ledger::create`.)
pub(crate) fn begun(peer: Peer) -> Disk {
    let disk = Disk::default();
    drop(ledger(&disk, peer).unwrap());
    disk
}

pub(crate) fn price(price: Price) -> Vec<(Observer, Price)> {
    vec![(Observer::WireTapper, price)]
}

type Opened<M, N> = (
    Host<M, N>,
    Vec<sottovoce_node::Due<<M as Machine>::Timer, <M as Machine>::Note, <M as Machine>::Value>>,
);

/// Everybody's disks, and the peers on them.
pub(crate) struct Village<S: Scenario>
where
    OnGrid<ChaCha20Rng>: Hiding<<S::Machine as Machine>::Value>,
{
    pub(crate) rehearsal: Rehearsal<S::Machine, Logged>,
    pub(crate) disks: Vec<Disk>,
    lives: Vec<u64>,
    pub(crate) log: Log,
    pub(crate) crashes: usize,
}

impl<S: Scenario> Village<S>
where
    OnGrid<ChaCha20Rng>: Hiding<<S::Machine as Machine>::Value>,
{
    pub(crate) fn new(disks: Vec<Disk>) -> Self {
        let rehearsal = Rehearsal::new(S::PEERS, S::compute);
        Self { rehearsal, disks, lives: vec![0; S::PEERS], log: Log::default(), crashes: 0 }
    }

    pub(crate) fn open(&self, peer: Peer) -> Result<Opened<S::Machine, Logged>> {
        let seed = peer as u64 * 1000 + self.lives[peer];
        let grid = Grid::new(2f64.powi(-20)).unwrap();
        let noise = OnGrid::new(grid, ExactNoise::new(ChaCha20Rng::seed_from_u64(seed)));
        let noise = Logged { peer, noise, log: Arc::clone(&self.log) };
        Host::open(ledger(&self.disks[peer], peer)?, terms::<S>(peer), S::machine(peer), noise)
    }

    /// Opens a peer, as often as its disk breaks.
    fn arrive(&mut self, peer: Peer, mode: Mode) {
        loop {
            self.lives[peer] += 1;
            match self.open(peer).and_then(|opened| self.rehearsal.arrive(peer, opened)) {
                Ok(()) => return,
                Err(error) => self.replace(peer, mode, &error.to_string()),
            }
        }
    }

    fn replace(&mut self, peer: Peer, mode: Mode, why: &str) {
        assert!(self.disks[peer].is_dead(), "peer {peer}: {why}");
        self.crashes += 1;
        self.rehearsal.stop(peer);
        self.disks[peer] = self.disks[peer].found(mode, self.lives[peer]);
    }

    /// Runs to the end, with every crash survived.
    pub(crate) fn run(&mut self, mode: Mode) {
        (0..S::PEERS).for_each(|peer| self.arrive(peer, mode));
        for event in 0..100_000 {
            if S::EVENTS == Some(event) {
                return;
            }
            let done = self.rehearsal.advance();
            if let Some(Err((peer, error))) = &done {
                self.replace(*peer, mode, &error.to_string());
                self.arrive(*peer, mode);
            }
            let begun: Vec<_> = (0..S::PEERS).map(|peer| self.begin(peer)).collect();
            for (peer, begun) in begun.into_iter().enumerate() {
                if let Err(error) = begun {
                    self.replace(peer, mode, &error.to_string());
                    self.arrive(peer, mode);
                }
            }
            if done.is_none() && (0..S::PEERS).all(|peer| self.has_begun(peer)) {
                return;
            }
        }
        panic!("it never ends");
    }

    fn has_begun(&mut self, peer: Peer) -> bool {
        self.rehearsal.host(peer).is_some_and(|host| host.has_begun())
    }

    /// Pays, and begins, as soon as everybody is there.
    fn begin(&mut self, peer: Peer) -> Result<()> {
        let waiting = self.rehearsal.host(peer).is_some_and(|host| host.is_ready() && !host.has_begun());
        if !waiting {
            return Ok(());
        }
        let cost = S::cost(peer);
        self.rehearsal.with(peer, |host| match S::begin(peer) {
            Some(command) => host.command(command, &cost),
            None => host.pay(&cost),
        })
    }

    /// What must hold whatever broke.
    pub(crate) fn check(&mut self) {
        let mut said: BTreeMap<(Peer, Peer, u64), Vec<u8>> = BTreeMap::new();
        for letter in &self.rehearsal.wire {
            let Frame::Parcel(bytes) = &letter.frame else { continue };
            let parcel = Parcel::open(bytes, Hash::of(b"what was agreed on"), 1 << 16).unwrap();
            let before = said.entry((letter.from, letter.to, parcel.number)).or_insert_with(|| bytes.clone());
            assert_eq!(before, bytes, "peer {} says message {} in two ways", letter.from, parcel.number);
        }
        for peer in 0..S::PEERS {
            let host = self.rehearsal.host(peer).unwrap();
            let ledger = host.ledger();
            let records = ledger.records(Hash::of(b"what was agreed on")).unwrap();
            // The budget and the file are in the chain, too.
            assert_eq!(ledger.head().count as usize, records.len() + 2);
            let costs = records.iter().filter(|record| record.cost.is_some()).count();
            assert_eq!(costs, 1, "debited once");
            let (_, _, loss, chances) = ledger.spent("patients").unwrap().remove(0);
            let left = said.keys().any(|(from, ..)| *from == peer);
            assert!(!left || loss > 0.0 || chances > 0.0, "something left and nothing was spent");
            let recorded: usize = records.iter().map(|record| record.said.len()).sum();
            let numbers: std::collections::BTreeSet<_> =
                said.keys().filter(|(from, ..)| *from == peer).map(|(_, to, number)| (to, number)).collect();
            assert!(numbers.len() <= recorded, "something left that the ledger does not know");
            let releases: usize = records.iter().map(|record| record.releases.len()).sum();
            let paid: u64 = S::cost(peer).releases.iter().map(|(_, times)| times).sum();
            assert!(releases as u64 <= paid, "{releases} of {paid}");
        }
    }
}
