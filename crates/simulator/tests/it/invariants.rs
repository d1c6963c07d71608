//! Every invariant fires, by its name, on a peer that breaks it.

use crate::common;

use common::*;
use sottovoce_protocol::averaging::{Averages, Input, Message, Noising, Note, Output, Round, Start, State};
use sottovoce_protocol::public::AveragingPeer;
use sottovoce_protocol::{Machine, Means, Mismatch, Peer, Release};
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::invariants;
use sottovoce_simulator::network::Network;
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::outcome::Outcome;

type Word = Output<Vec<f64>>;

/// A good peer whose outputs are tampered with on their way out.
struct Tampered<F> {
    peer: AveragingPeer<Vec<f64>>,
    tamper: F,
    waiting: Vec<Word>,
    shown: Vec<f64>,
}

impl<F: FnMut(Word, &mut Vec<f64>) -> Vec<Word>> Machine for Tampered<F> {
    type Value = Vec<f64>;
    type Command = Start;
    type Message = Message<Vec<f64>>;
    type Timer = Round;
    type Label = Round;
    type Note = Note;
    type State = State<Vec<f64>>;

    fn handle(&mut self, input: Input<Vec<f64>>, means: &mut dyn Means<Vec<f64>>) {
        self.peer.handle(input, means);
        self.shown = self.peer.value().clone();
        while let Some(output) = self.peer.poll() {
            self.waiting.extend((self.tamper)(output, &mut self.shown));
        }
    }

    fn poll(&mut self) -> Option<Word> {
        if self.waiting.is_empty() { None } else { Some(self.waiting.remove(0)) }
    }

    fn label(message: &Message<Vec<f64>>) -> Round {
        Round(message.round)
    }

    fn state(&self) -> State<Vec<f64>> {
        self.peer.state()
    }

    fn resume(&mut self, state: State<Vec<f64>>) -> Result<(), Mismatch> {
        self.peer.resume(state)
    }
}

impl<F: FnMut(Word, &mut Vec<f64>) -> Vec<Word>> Averages for Tampered<F> {
    fn value(&self) -> &Vec<f64> {
        &self.shown
    }
}

const CULPRIT: Peer = 3;

/// Runs with one culprit and returns the names of what it broke, and the first message under `name`.
fn broken(
    setup: &AveragingSetup,
    name: &str,
    tamper: impl Fn(Word, &mut Vec<f64>) -> Vec<Word> + Clone,
) -> (Outcome<Vec<f64>>, String) {
    let guard = |peer| {
        let tamper = tamper.clone();
        move |word, shown: &mut Vec<f64>| if peer == CULPRIT { tamper(word, shown) } else { vec![word] }
    };
    let peers = setup.numbers().unwrap().into_iter().enumerate().map(|(i, peer)| Tampered {
        shown: peer.value().clone(),
        peer,
        tamper: guard(i),
        waiting: Vec::new(),
    });
    let network = Network { timeout: Some(ms(20)), ..Network::perfect() };
    let outcome = Simulation::new(peers.collect(), PeerNoise::all(1, setup.values.len()), network, 1)
        .unwrap()
        .invariants(invariants::of_averaging(setup).unwrap())
        .run();
    let found = outcome.violations.iter().find(|violation| violation.invariant == name);
    let message = found.unwrap_or_else(|| panic!("{name} in {:?}", outcome.violations)).to_string();
    (outcome, message)
}

fn sends(word: Word, change: impl Fn(Vec<Peer>, Message<Vec<f64>>) -> Vec<Word>) -> Vec<Word> {
    match word {
        Output::Send { to, message } => change(to, message),
        other => vec![other],
    }
}

#[test]
fn an_honest_run_breaks_nothing() {
    for setup in [
        gossip(8, 2, 5, false, PLAIN),
        gossip(8, 2, 5, true, RELAY),
        butterfly(8, PLAIN),
        pairs(8, 30, RELAY),
    ] {
        let peers = setup.numbers().unwrap();
        let outcome = Simulation::new(peers, PeerNoise::all(1, 8), Network::perfect(), 1)
            .unwrap()
            .invariants(invariants::of_averaging(&setup).unwrap())
            .run();
        assert!(outcome.complete && outcome.violations.is_empty(), "{:?}", outcome.violations);
    }
}

#[test]
fn mass_must_be_conserved() {
    // Lies to everyone by the same amount: the sum of what is said is off from the next round on.
    for setup in [
        gossip(8, 1, 5, false, PLAIN),
        gossip(8, 1, 5, true, RELAY),
        butterfly(8, PLAIN),
        pairs(8, 60, PLAIN),
    ] {
        let (_, message) = broken(&setup, "mass-conserved", |word, _| {
            sends(word, |to, mut message| {
                message.value[0] += if message.round > 0 { 1e-3 } else { 0.0 };
                vec![Output::Send { to, message }]
            })
        });
        assert!(
            message.contains("opens with the sum") && message.contains("at coordinate 0, off by 0.00"),
            "{message}"
        );
    }
}

#[test]
fn mass_must_be_conserved_at_the_entry_too() {
    let (_, message) = broken(&gossip(8, 1, 5, false, PLAIN), "mass-conserved", |word, _| {
        sends(word, |to, mut message| {
            message.value[0] += 0.5;
            vec![Output::Send { to, message }]
        })
    });
    assert!(message.starts_with("mass-conserved at 0ns: round 0 opens with the sum"), "{message}");
}

#[test]
fn only_neighbours_may_talk() {
    let (outcome, message) = broken(&gossip(8, 1, 3, false, PLAIN), "only-neighbours-talk", |word, _| {
        sends(word, |to, message| {
            let stranger = Output::Send { to: vec![6], message: message.clone() };
            vec![Output::Send { to, message }, stranger]
        })
    });
    assert!(message.contains("peer 3 speaks in round 0 to peer 6, who is no neighbour then"), "{message}");
    assert!(outcome.traffic.refused.stranger > 0);
    // In a butterfly a partner of another round is no neighbour.
    let (_, message) = broken(&butterfly(8, PLAIN), "only-neighbours-talk", |word, _| {
        sends(word, |_, message| vec![Output::Send { to: vec![CULPRIT ^ 4], message }])
    });
    assert!(message.contains("in round 0 to peer 7"), "{message}");
}

#[test]
fn nothing_is_said_before_a_release() {
    let (_, message) = broken(&gossip(8, 1, 3, false, PLAIN), "release-before-send", |word, _| match word {
        Output::Release(_) => vec![],
        other => vec![other],
    });
    assert!(message.contains("peer 3 tells peer 2 something in round 0 without a release"), "{message}");
}

#[test]
fn nobody_spends_more_than_the_budget() {
    let setup = AveragingSetup { budget: 4.5, ..gossip(8, 1, 3, false, PLAIN) };
    let (outcome, message) = broken(&setup, "budget-respected", |word, _| match word {
        Output::Release(release) => {
            let another = Release { scale: release.scale * 2.0, ..release };
            vec![Output::Release(release), Output::Release(another)]
        }
        other => vec![other],
    });
    assert!(message.contains("peer 3 has spent 5 of a budget of 4.5"), "{message}");
    assert!(outcome.violations.iter().all(|violation| violation.peer == CULPRIT));
}

#[test]
fn values_stay_within_the_range_of_the_first_ones() {
    let setup = gossip(8, 1, 5, false, PLAIN);
    let (_, message) = broken(&setup, "within-range", |word, _| {
        sends(word, |to, mut message| {
            message.value[0] += 50.0;
            vec![Output::Send { to, message }]
        })
    });
    assert!(
        message.contains("peer 3 says in round 0") && message.contains("at coordinate 0, outside"),
        "{message}"
    );
    let (_, message) = broken(&setup, "within-range", |word, shown| {
        shown[0] -= 1e6;
        vec![word]
    });
    assert!(message.contains("peer 3 holds -"), "{message}");
}

#[test]
fn nothing_is_infinite_or_not_a_number() {
    let noising = Noising { relay: 0.1, ..PLAIN };
    let (outcome, message) = broken(&gossip(8, 1, 3, false, noising), "all-finite", |word, _| {
        sends(word, |to, mut message| {
            message.value[0] = f64::NAN;
            vec![Output::Send { to, message }]
        })
    });
    assert!(message.contains("peer 3 tells peer 2 in round 0 that coordinate 0 is NaN"), "{message}");
    assert!(outcome.traffic.refused.not_finite > 0);
    let (_, message) = broken(&gossip(8, 1, 3, false, noising), "all-finite", |word, shown| {
        shown[0] = f64::INFINITY;
        vec![word]
    });
    assert!(message.contains("coordinate 0 of peer 3 is inf"), "{message}");
}

#[test]
fn violations_are_kept_up_to_a_limit() {
    let (outcome, _) = broken(&gossip(8, 1, 200, false, PLAIN), "all-finite", |word, shown| {
        shown[0] = f64::NAN;
        vec![word]
    });
    assert_eq!(outcome.violations.len(), Outcome::<Vec<f64>>::MOST_VIOLATIONS);
}
