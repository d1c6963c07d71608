//! Plugs are pulled in every operation of a disk, and what was not synced is lost, kept in part or torn: each message is said in one way, everything that left was paid
//! for once, and a strict averaging ends with the bits of a run that nothing disturbed.

use crate::common;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use common::averaging::Averaging;
use common::disk::{Disk, MODES, Mode};
use common::peers::{Scenario, Village, begun, key, price};
use rand_chacha::ChaCha20Rng;
use sottovoce_node::{Cost, Hash, Hiding, OnGrid, Price};
use sottovoce_privacy::{Adjacency, Unit};
use sottovoce_protocol::averaging::Start;
use sottovoce_protocol::rumor::{Begin, Clock, Muting, RumorRules, Teller};
use sottovoce_protocol::walk::{Course, Host as Visited, Launch, Patience, Steps, Transition, Walker};
use sottovoce_protocol::{Chance, Input, Machine, Means, Output, Overspent, Peer, Release, Uncovered};

/// Operations in which a plug is pulled, for each protocol and mode: in the first tier, and in the second.
const FEW: u64 = 40;
const STORM: u64 = 1000;

/// A token on a walk.
struct Walking;

const COURSE: Course =
    Course { steps: 12, burn_in: 1, sizes: Steps::Constant(0.5), sensitivity: 1.0, noise: 2.0, cap: 2 };

impl Scenario for Walking {
    type Machine = Walker<Vec<f64>>;
    const PEERS: usize = 4;

    fn machine(peer: Peer) -> Self::Machine {
        let others = (0..4).filter(|&other| other != peer);
        let host = Visited::new(peer, Transition::new(others.map(|other| (other, 1.0 / 3.0))));
        Walker::new(host, vec![0.0], COURSE, Patience { attempts: 100 }, 1)
    }

    fn cost(_: Peer) -> Cost {
        Cost {
            adjacency: Adjacency::Replace,
            unit: Unit::User,
            releases: vec![(COURSE.release(), 2)],
            prices: price(Price::concentrated(0.25).unwrap()),
        }
    }

    fn begin(peer: Peer) -> Option<Launch<Vec<f64>>> {
        (peer == 0).then(|| Launch { id: 0, value: vec![0.0] })
    }

    fn compute(peer: Peer, _: usize, size: f64, value: &mut Vec<f64>) {
        value[0] += size * peer as f64;
    }
}

/// A rumour.
struct Telling;

impl Scenario for Telling {
    type Machine = Teller;
    const PEERS: usize = 4;
    const EVENTS: Option<usize> = Some(300);

    fn machine(peer: Peer) -> Teller {
        let muting = Muting::new(0.2).unwrap();
        let rules = RumorRules {
            muting,
            clock: Clock::Rounds,
            start: sottovoce_protocol::rumor::Start::Alike,
            acknowledged: true,
        };
        Teller::new(peer, (0..4).filter(|&other| other as Peer != peer).collect(), rules)
    }

    fn cost(_: Peer) -> Cost {
        Cost {
            adjacency: Adjacency::Replace,
            unit: Unit::User,
            releases: Vec::new(),
            prices: price(Price::chance(0.2)),
        }
    }

    fn begin(peer: Peer) -> Option<Begin> {
        (peer == 0).then(|| Begin { id: 7, payload: b"spring".to_vec() })
    }

    fn compute(_: Peer, _: usize, _: f64, _: &mut ()) {}
}

/// How many operations each disk sees where nothing breaks.
fn undisturbed<S: Scenario>() -> Vec<u64>
where
    OnGrid<ChaCha20Rng>: Hiding<<S::Machine as Machine>::Value>,
{
    let mut village = Village::<S>::new((0..S::PEERS).map(|peer| begun(peer).until(None)).collect());
    village.run(Mode::Lost);
    village.check();
    assert_eq!(village.crashes, 0);
    village.disks.iter().map(Disk::operations).collect()
}

/// Pulls a plug in each of so many operations, spread over all disks, and in each mode.
fn storm<S: Scenario>(plugs: u64, then: impl Fn(&mut Village<S>) + Sync)
where
    OnGrid<ChaCha20Rng>: Hiding<<S::Machine as Machine>::Value>,
{
    let operations = undisturbed::<S>();
    let all: Vec<(Peer, u64)> = operations
        .iter()
        .enumerate()
        .flat_map(|(peer, &count)| (1..=count).map(move |at| (peer, at)))
        .collect();
    let total = all.len() as u64;
    assert!(total > 300, "{total} operations only");
    let plugs = plugs.min(total);
    let chosen: Vec<(Peer, u64, Mode)> = (0..plugs)
        .map(|place| all[(place * total / plugs) as usize])
        .flat_map(|(peer, at)| MODES.map(|mode| (peer, at, mode)))
        .collect();
    let once = |&(victim, at, mode): &(Peer, u64, Mode)| {
        let disk = |peer| begun(peer).until((peer == victim).then_some(at));
        let mut village = Village::<S>::new((0..S::PEERS).map(disk).collect());
        village.run(mode);
        village.check();
        then(&mut village);
        village.crashes
    };
    let half = chosen.len() / 2;
    let crashes = std::thread::scope(|scope| {
        let first = scope.spawn(|| chosen[..half].iter().map(once).sum::<usize>());
        let second: usize = chosen[half..].iter().map(once).sum();
        first.join().unwrap() + second
    });
    assert!(crashes as u64 >= plugs, "{crashes} crashes only");
}

/// Covers every value with what was stored in its place.
struct Again<'a> {
    peer: Peer,
    stored: &'a BTreeMap<(Peer, u64), Vec<f64>>,
}

impl Chance for Again<'_> {
    fn bits(&mut self) -> u64 {
        unreachable!("an averaging throws no dice")
    }
}

impl Means<Vec<f64>> for Again<'_> {
    fn admit(&mut self, _: &Release) -> Result<(), Overspent> {
        Ok(())
    }

    fn cover(&mut self, draw: u64, _: f64, value: &mut Vec<f64>) -> Result<(), Uncovered> {
        value.clone_from(&self.stored[&(self.peer, draw)]);
        Ok(())
    }
}

/// The run that nothing disturbed, with the noise that was stored.
fn replay(stored: &BTreeMap<(Peer, u64), Vec<f64>>) -> Vec<Vec<f64>> {
    let mut machines: Vec<_> = (0..4).map(Averaging::machine).collect();
    let mut mail = VecDeque::new();
    let step =
        |machines: &mut Vec<<Averaging as Scenario>::Machine>, peer: Peer, input, mail: &mut VecDeque<_>| {
            machines[peer].handle(input, &mut Again { peer, stored });
            while let Some(output) = machines[peer].poll() {
                if let Output::Send { to, message } = output {
                    let message = Arc::new(message);
                    to.into_iter().for_each(|to| mail.push_back((peer, to, Arc::clone(&message))));
                }
            }
        };
    (0..4).for_each(|peer| step(&mut machines, peer, Input::Command(Start), &mut mail));
    while let Some((from, to, message)) = mail.pop_front() {
        step(&mut machines, to, Input::Message { from, message }, &mut mail);
    }
    machines.iter().map(|machine| machine.value().clone()).collect()
}

fn averagings(plugs: u64) {
    storm::<Averaging>(plugs, |village| {
        let run = Hash::of(b"what was agreed on");
        let log = Arc::clone(&village.log);
        let mut stored = BTreeMap::new();
        for peer in 0..4 {
            let host = village.rehearsal.host(peer).unwrap();
            for record in host.ledger().records(run).unwrap() {
                for (draw, _) in &record.covered {
                    // Of what was covered in several lives, that which was stored.
                    let (log, draw) = (log.lock().unwrap(), *draw);
                    let mut lives =
                        log.range((peer, draw, Hash([0; 32]))..=(peer, draw, Hash([u8::MAX; 32])));
                    let (_, bytes) = lives.find(|(_, bytes)| record.covers(&key(peer), draw, bytes)).unwrap();
                    let value: Vec<f64> = postcard::from_bytes(bytes).unwrap();
                    assert!(stored.insert((peer, draw), value).is_none(), "one draw, one value");
                }
            }
        }
        let known = replay(&stored);
        for (peer, known) in known.iter().enumerate() {
            let machine = village.rehearsal.host(peer).unwrap().machine();
            assert_eq!(machine.round(), 3, "peer {peer} has not finished");
            assert_eq!(machine.value(), known, "peer {peer}");
        }
    });
}

fn tokens(plugs: u64) {
    storm::<Walking>(plugs, |village| {
        let finished = (0..4).filter(|&peer| {
            let machine = village.rehearsal.host(peer).unwrap().machine();
            assert!(machine.contributions() <= COURSE.cap);
            machine.finished(0).is_some()
        });
        let finished: Vec<Peer> = finished.collect();
        assert_eq!(finished.len(), 1, "{finished:?} {:?}", &village.rehearsal.notes[..20]);
    });
}

fn rumours(plugs: u64) {
    storm::<Telling>(plugs, |village| {
        let mut knows = |peer: &Peer| village.rehearsal.host(*peer).unwrap().machine().text(7).is_some();
        assert!((0..4).filter(|peer| knows(peer)).count() >= 2);
    });
}

#[test]
fn an_averaging_ends_as_if_nothing_had_happened() {
    averagings(FEW);
}

#[test]
fn a_token_goes_on_and_nobody_contributes_twice() {
    tokens(FEW);
}

#[test]
fn a_rumour_goes_on() {
    rumours(FEW);
}

#[test]
#[ignore = "second tier: thousands of crashes"]
fn every_protocol_goes_on_after_a_crash_in_any_operation() {
    averagings(STORM);
    tokens(STORM);
    rumours(STORM);
}
