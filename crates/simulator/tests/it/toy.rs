//! Another protocol in the one driver: nothing of it is known outside this file. Peers find the largest of their public numbers.

use crate::common;

use std::collections::VecDeque;
use std::fmt;

use common::{ms, stored};
use serde::{Deserialize, Serialize};
use sottovoce_protocol::{
    Input, InputOf, Machine, Means, Mismatch, Output, OutputOf, Peer, Refusal, Span, Transcript,
};
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::invariants::{Invariant, OnlyNeighboursTalk};
use sottovoce_simulator::network::{Absence, Faults, Network};

/// How often a number is repeated, in case it was dropped.
const REPEATS: u32 = 30;

#[derive(Debug, Clone)]
struct Largest {
    neighbours: Vec<Peer>,
    at: State,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    largest: u64,
    outputs: VecDeque<OutputOf<Largest>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Begin;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Number(u64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a message about {}", self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Note {
    Raised(u64),
    Refused(Peer, Refusal),
}

impl Largest {
    fn new(number: u64, neighbours: Vec<Peer>) -> Self {
        Self { neighbours, at: State { largest: number, outputs: VecDeque::new() } }
    }

    fn tell(&mut self, repeats: u32) {
        let (to, message) = (self.neighbours.clone(), Number(self.at.largest));
        self.at.outputs.push_back(Output::Send { to, message });
        if repeats > 0 {
            self.at.outputs.push_back(Output::Wait { timer: repeats - 1, span: Span::Answer });
        }
    }

    fn hear(&mut self, from: Peer, number: u64) {
        if !self.neighbours.contains(&from) {
            return self.at.outputs.push_back(Output::Note(Note::Refused(from, Refusal::Stranger)));
        }
        if number > self.at.largest {
            self.at.largest = number;
            self.at.outputs.push_back(Output::Note(Note::Raised(number)));
            self.tell(0);
        }
    }
}

impl Machine for Largest {
    type Value = ();
    type Command = Begin;
    type Message = Number;
    type Timer = u32;
    type Label = Number;
    type Note = Note;
    type State = State;

    fn handle(&mut self, input: InputOf<Self>, _: &mut dyn Means<()>) {
        match input {
            Input::Command(Begin) => self.tell(REPEATS),
            Input::Timer(repeats) => self.tell(repeats),
            Input::Message { from, message } => self.hear(from, message.0),
            Input::Computed { .. } => {}
        }
    }

    fn poll(&mut self) -> Option<OutputOf<Self>> {
        self.at.outputs.pop_front()
    }

    fn label(message: &Number) -> Number {
        *message
    }

    fn state(&self) -> State {
        self.at.clone()
    }

    fn resume(&mut self, state: State) -> Result<(), Mismatch> {
        self.at = state;
        Ok(())
    }
}

const PEERS: usize = 10;

fn peers() -> Vec<Largest> {
    let neighbours = |peer: usize| vec![(peer + PEERS - 1) % PEERS, (peer + 1) % PEERS];
    (0..PEERS).map(|peer| Largest::new(peer as u64 * 7 % 10, neighbours(peer))).collect()
}

fn is_edge(_: &Number, from: Peer, to: Peer) -> bool {
    (from + 1) % PEERS == to || (to + 1) % PEERS == from
}

fn simulation<'a>(peers: Vec<Largest>) -> Simulation<'a, Largest, ()> {
    let network = Network { drop: 0.4, duplicate: 0.3, timeout: Some(ms(10)), ..Network::perfect() };
    let faults = Faults {
        crashes: vec![(4, ms(150))],
        departures: vec![Absence { peer: 1, from: ms(0), until: ms(60) }],
        ..Faults::default()
    };
    let checks: Vec<Box<dyn Invariant<Largest>>> = vec![Box::new(OnlyNeighboursTalk::new(is_edge))];
    let begin = (0..PEERS).map(|peer| (peer, Begin)).collect();
    let simulation = Simulation::of(peers, (), network, 5, begin).unwrap();
    simulation.faults(&faults).unwrap().invariants(checks)
}

#[test]
fn a_new_protocol_runs_is_written_down_and_can_be_stored_at_every_step() {
    let mut transcript = Transcript::default();
    let ended = simulation(peers()).recorder(&mut transcript).end(|_| {});
    assert!(ended.machines.iter().all(|peer| peer.at.largest == 9));
    assert!(ended.violations.is_empty() && ended.traffic.lost > 0 && ended.traffic.repeated > 0);
    let raised = transcript.notes.iter().filter(|(_, note)| *note == Note::Raised(9)).count();
    assert_eq!(raised, PEERS - 1);
    // Copies that the network made are written down once.
    assert!((transcript.messages.len() as u64) < ended.traffic.delivered);

    let (mut again, mut steps) = (Transcript::default(), 0);
    let mut store = stored(peers());
    let between = |peer, machine: &mut Largest| {
        steps += 1;
        store(peer, machine);
    };
    let second = simulation(peers()).recorder(&mut again).between(between).end(|_| {});
    assert_eq!((&again, second.traffic, second.time), (&transcript, ended.traffic, ended.time));
    assert_eq!(steps, second.events);
}

#[test]
fn who_speaks_to_strangers_is_found_out_and_refused() {
    let mut peers = peers();
    peers[3].neighbours.push(7);
    let mut transcript = Transcript::default();
    let ended = simulation(peers).recorder(&mut transcript).end(|_| {});
    assert!(ended.violations[0].message.starts_with("peer 3 speaks in a message about 1 to peer 7"));
    assert!(transcript.notes.contains(&(7, Note::Refused(3, Refusal::Stranger))));
}
